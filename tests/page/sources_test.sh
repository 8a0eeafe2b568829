#!/usr/bin/env bash
# sources_test PAGE_JS SOURCE...: whether the page was made of these, sorted by name: its first line
# has their digest, which coordinator/web/page/build computes in the same way.
set -euo pipefail
export LC_ALL=C

page=$1
shift
digest=$(printf '%s\0' "$@" | sort -z | xargs -0 cat -- | sha256sum | cut -d ' ' -f 1)
if ! head -n 1 -- "$page" | grep -qF -- "$digest"; then
  printf '%s was not made of the sources beside it; run coordinator/web/page/build\n' "$page" >&2
  exit 1
fi
