#!/usr/bin/env bash
# Installs what Bazel has built into a prefix with a blank in its name, and checks what a user has
# then. A check that fails prints why, and the next one runs.
#
#   install_test.sh [CHECK...]     runs these checks only: functions' names without "check_"
#
# Outside Bazel, ROOT names the source tree and ARTEFACTS the bazel-bin directory.
set -euo pipefail

root=${ROOT:-$PWD}
artefacts=${ARTEFACTS:-$root}
here=$root/tests/install
# shellcheck source=tests/install/expect.sh
source "$here/expect.sh"
# shellcheck source=tests/install/check_tree.sh
source "$here/check_tree.sh"
# shellcheck source=tests/install/check_wrappers.sh
source "$here/check_wrappers.sh"
# shellcheck source=tests/install/check_builds.sh
source "$here/check_builds.sh"
# shellcheck source=tests/install/check_manual.sh
source "$here/check_manual.sh"
# shellcheck source=tests/install/check_pages.sh
source "$here/check_pages.sh"

work=$(mktemp -d "${TEST_TMPDIR:-${TMPDIR:-/tmp}}/install test.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
prefix="$work/a prefix/bspnow"
bin=$prefix/bin
libdir=lib

# Variables that a user's shell may have set must not change the result.
unset BSP_CC BSP_CXX BSP_FC BSP_NPROCS BSP_CHECK BSPRUN DESTDIR PKG_CONFIG_PATH CMAKE_PREFIX_PATH
unset CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH CFLAGS CXXFLAGS FFLAGS
export LC_ALL=C.UTF-8

require_tools() {
  local tool
  for tool in cc c++ clang gfortran cmake make pkg-config mandoc scdoc readelf; do
    command -v "$tool" >/dev/null || {
      printf '%s is not installed; deploy/install-deps does that\n' "$tool" >&2
      exit 1
    }
  done
}

deploy_install() {
  "$root/deploy/install" --from-bazel-bin "$artefacts" "$@"
}

# Makes a directory for one check, with the hello programs in it.
new_directory() {
  directory=$(mktemp -d "$work/check.XXXXXX")
  cp -- "$here"/hello* "$directory"
  cp -- "$directory/hello.c" "$directory/hello.cc"
  cd -- "$directory"
}

# The first check installs what the others use, and the last one removes it.
all_checks=(relative_prefix files coordinator_that_cannot_listen libraries_need_only_libc
  program_starts_itself reinstall_replaces_whole_files failed_install_changes_nothing destdir
  wrong_arguments languages show own_header_goes_first arguments_pass_through toolset_options
  questions choice_of_compiler links_to_the_wrapper pkg_config python cmake_with_wrapper
  cmake_with_package library_directory moved_prefix manual_is_clean manual_has_every_call
  manual_examples_run tutorial readme completion options_are_documented uninstall)

# A check that nobody calls passes for ever.
require_all_are_listed() {
  local unlisted
  unlisted=$(comm -3 <(declare -F | sed -n 's/^declare -f check_//p' | sort) \
    <(printf '%s\n' "${all_checks[@]}" | sort))
  [[ -z $unlisted ]] || {
    printf 'not in all_checks, or no function: %s\n' "${unlisted//[[:space:]]/ }" >&2
    exit 1
  }
}

main() {
  require_tools
  require_all_are_listed
  if (($# > 0)); then all_checks=(relative_prefix "$@"); fi
  run_checks "${all_checks[@]}"
}

main "$@"
