"""The seed of a test's chance. One case of a test does not depend on what ran before it."""

import sys


def seed(default=1):
    """The number that the test was given, or the default: bazel run //tests/cluster:TEST -- 7"""
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        return int(sys.argv.pop(1))
    return default
