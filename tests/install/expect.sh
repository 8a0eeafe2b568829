# What the checks of install_test.sh consist of. Each function prints what is wrong and ends its
# check, which runs in a subshell.
# shellcheck shell=bash

die() {
  printf '  %s\n' "$@" >&2
  exit 1
}

# must COMMAND...: it succeeds; if not, its output is printed.
must() {
  local output status=0
  output=$("$@" 2>&1) || status=$?
  ((status == 0)) || die "exit status $status: $*" "$output"
}

# must_fail STATUS TEXT COMMAND...: it exits with this status and prints this text.
must_fail() {
  local wanted=$1 text=$2 output status=0
  shift 2
  output=$("$@" 2>&1) || status=$?
  ((status == wanted)) || die "exit status $status, wanted $wanted: $*" "$output"
  [[ $output == *"$text"* ]] || die "does not print '$text': $*" "$output"
}

# equal WHAT GOT WANTED
equal() {
  [[ $2 == "$3" ]] || die "$1 differs" "got:    ${2//$'\n'/$'\n'          }" \
    "wanted: ${3//$'\n'/$'\n'          }"
}

# contains WHAT TEXT PART
contains() {
  [[ $2 == *"$3"* ]] || die "$1 does not contain '$3':" "$2"
}

is_file() {
  local path
  for path in "$@"; do
    [[ -s $path ]] || die "$path is missing or empty"
  done
}

is_absent() {
  local path
  for path in "$@"; do
    [[ ! -e $path && ! -L $path ]] || die "$path exists"
  done
}

# greets P COMMAND...: one of the hello programs; its P processes print what they should.
greets() {
  local p=$1 wanted='' pid output
  shift
  for ((pid = 0; pid < p; pid++)); do
    wanted+="$pid of $p, left $(((pid + p - 1) % p))"$'\n'
  done
  output=$("$@" 2>&1) || die "$* ended with status $?: $output"
  output=$(LC_ALL=C sort -n <<<"$output")
  equal "the output of $*" "$output" "${wanted%$'\n'}"
}

# listing DIRECTORY: names, types, sizes and contents of all that is in it.
listing() {
  (
    cd -- "$1" || exit
    find . -printf '%y %m %P -> %l\n' | LC_ALL=C sort
    find . -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum
  )
}

# run_checks NAME...: runs each function check_NAME; fails if one does.
run_checks() {
  local check failures=0
  for check in "$@"; do
    # "set -e" is off in a subshell whose status is tested: the checks end themselves, by die.
    if ("check_$check"); then
      printf 'ok      %s\n' "$check"
    else
      printf 'FAILED  %s\n' "$check"
      failures=$((failures + 1))
    fi
  done
  printf '%d of %d checks failed\n' "$failures" "$#"
  ((failures == 0))
}
