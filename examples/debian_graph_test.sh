#!/usr/bin/env bash
# debian_graph_test.sh DEBIAN_GRAPH PACKAGES: what debian-graph makes of a small Packages file in
# which every form of a dependency occurs.
set -euo pipefail

debian_graph=$1
packages=$2

expected=$(
  cat <<'END'
console console-font
console-font
editor console
editor libtext2
editor loader
editor mta-full
editor mta-light
editor terminal
libbase
libtext2 libbase
loader console-font
loader mta-full
loader mta-light
manual
mta-full libbase
mta-full mta-light
mta-light libbase
mta-light mta-full
terminal libbase
terminal libtext2
END
)

check() {
  if ! diff <(echo "$expected") - > "$TEST_TMPDIR/difference"; then
    echo "$1: expected (<) and found (>) differ:"
    cat "$TEST_TMPDIR/difference"
    exit 1
  fi
}

"$debian_graph" "$packages" | check "a file"
"$debian_graph" - < "$packages" | check "standard input"
# Half of the packages in each of two files, so that names are resolved across them.
awk -v RS= -v ORS='\n\n' -v half="$TEST_TMPDIR/half" '{ print > (half NR % 2) }' "$packages"
"$debian_graph" "$TEST_TMPDIR/half0" "$TEST_TMPDIR/half1" | check "two files"

expect_failure() {
  local message=$1 status=0
  shift
  "$debian_graph" "$@" > /dev/null 2> "$TEST_TMPDIR/message" || status=$?
  if ((status != 1)) || ! grep -qF -- "$message" "$TEST_TMPDIR/message"; then
    echo "debian-graph $*: status $status, said: $(cat "$TEST_TMPDIR/message")"
    exit 1
  fi
}

expect_failure "cannot read $TEST_TMPDIR/none" "$TEST_TMPDIR/none"
expect_failure "no packages found" /dev/null
