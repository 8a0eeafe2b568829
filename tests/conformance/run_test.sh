#!/usr/bin/env bash
# Shows that tests/conformance/run sees what is wrong: a launcher of our own, a few lines of shell,
# plays programs that do not do what their headers say, and each must be found out.
# shellcheck disable=SC2016  # The programs are text here; it is the launcher that expands them.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
failures=0
seconds=60

# The launcher: `launcher -n P PROGRAM`, where PROGRAM is a piece of shell in a file.
cat >"$scratch/launcher" <<'END'
#!/usr/bin/env bash
p=$2
. "$3" "${@:4}"
END
chmod +x "$scratch/launcher"

# judge HEADER BEHAVIOUR: the runner's verdict on a program with this header and this behaviour.
judge() {
  printf '/* Source: x\n * Claim: y\n%s */\n' "$1" >"$scratch/program.c"
  printf '%s\n' "$2" >"$scratch/program"
  BSP_CONFORMANCE_PROCS="1 2 4 7 64" BSP_CONFORMANCE_SECONDS=$seconds BSP_LAUNCH='' \
    "$here/run" "$scratch/launcher" "$scratch/program" "$scratch/program.c" >"$scratch/verdict" 2>&1
}

# accepts NAME HEADER BEHAVIOUR
accepts() {
  if ! judge "$2" "$3"; then
    echo "FAILED: $1 should be accepted"
    cat "$scratch/verdict"
    failures=$((failures + 1))
  fi
}

# finds NAME HEADER BEHAVIOUR COMPLAINT
finds() {
  if judge "$2" "$3"; then
    echo "FAILED: $1 should be found out"
    failures=$((failures + 1))
  elif ! grep -q -e "$4" "$scratch/verdict"; then
    echo "FAILED: $1 should be reported as '$4'"
    cat "$scratch/verdict"
    failures=$((failures + 1))
  fi
}

p1=$' * Procs: 1\n'
p3=$' * Procs: 2 4\n'

accepts 'the plain case' '' 'echo ok'
finds 'no output' '' ':' 'stdout differs'
finds 'more output' '' 'echo ok; echo more' 'stdout differs'
finds 'no last newline' "$p1" 'printf ok' 'does not end with a newline'
finds 'a status' "$p1" 'echo ok; exit 3' 'exit status 3, expected 0'
finds 'a signal' "$p1" 'kill -9 $$' 'exit status 137, expected 0'
finds 'noise on stderr' "$p1" 'echo ok; echo noise >&2' "unexpected on stderr: 'noise'"
finds 'one wrong p of five' '' '[[ $p == 7 ]] || echo ok' 'p = 7'
accepts 'an expected status' "$p1"$' * Exit: 6\n' 'exit 6'
finds 'an expected status that is 0' "$p1"$' * Exit: 6\n' 'exit 0' 'expected 6'
finds 'output where none is due' "$p1"$' * Exit: 6\n' 'echo ok; exit 6' 'stdout differs'
finds 'success where none is due' "$p1"$' * Exit: nonzero\n' ':' 'expected another'
accepts 'stderr of all pids' "$p3"$' * Stderr: ^pid {pid} of {p}$\n' \
  'echo ok; for ((i = p - 1; i >= 0; i--)); do echo "pid $i of $p" >&2; done'
finds 'stderr of all pids but one' "$p3"$' * Stderr: ^pid {pid} of {p}$\n' \
  'echo ok; for ((i = 1; i < p; i++)); do echo "pid $i of $p" >&2; done' "no line of stderr"
finds 'a pid that speaks twice' "$p3"$' * Stderr: ^pid [0-9] died$\n' \
  'echo ok; echo "pid 1 died" >&2; echo "pid 1 died" >&2' '2 times on stderr'
finds 'a text more often than p times' "$p1"$' * Stderr: ^gone$\n' \
  'echo ok; echo gone >&2; echo gone >&2' '2 times on stderr'
accepts 'lines in any order' "$p3"$' * Stdout: line {pid}\n * Order: any\n' \
  'for ((i = p - 1; i >= 0; i--)); do echo "line $i"; done'
finds 'lines in the wrong order' "$p3"$' * Stdout: line {pid}\n' \
  'for ((i = p - 1; i >= 0; i--)); do echo "line $i"; done' 'stdout differs'
answers=$' * Stdout if case == "a": a1x y,in\n * Stdout if case == "b": b1x y,in\n'
accepts 'cases, arguments and input' \
  "$p1"$' * Cases: a b\n * Args: {p} "x y"\n * Stdin: in\n'"$answers" \
  'read -r line; echo "$1$2$3,$line"'
finds 'a process left behind' "$p1" 'echo ok; sleep 1000 & ' 'left behind: process'
finds 'a file left behind' "$p1" 'echo ok; : >core' 'left behind: file core'
seconds=1 finds 'a hang' "$p1" 'echo ok; exec sleep 1000' 'still running after 1'
finds 'an unknown key' $' * Proc: 1\n' 'echo ok' 'cannot read the header'

if ((failures > 0)); then
  echo "$failures failed"
  exit 1
fi
echo "all found"
