#!/usr/bin/env bash
# The bench of scale runs to its end, in a small cluster.
set -euo pipefail

tests/bench/scale --small
