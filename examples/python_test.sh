#!/usr/bin/env bash
# python_test.sh BSPRUN PACKAGE_INIT VERIFY_TEST PROGRAM ARGUMENT...: what verify_test.sh checks of
# a program, of one in Python. PACKAGE_INIT is the __init__.py of the package bsp.
set -euo pipefail

bsprun=$1
PYTHONPATH=$PWD/$(dirname -- "$(dirname -- "$2")")
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1
verify_test=$3
shift 3
"$verify_test" "$bsprun" /usr/bin/python3 "$@"
