"""Bazel can run a test as several shards: which of its cases belong to this one."""

import os
import unittest


def mine(everything):
    """Those elements of a list that belong to this shard."""
    index = int(os.environ.get("TEST_SHARD_INDEX", "0"))
    total = int(os.environ.get("TEST_TOTAL_SHARDS", "1"))
    if "TEST_SHARD_STATUS_FILE" in os.environ:
        with open(os.environ["TEST_SHARD_STATUS_FILE"], "w", encoding="ascii"):
            pass
    return everything[index::total]


def tests_of(suite):
    """The tests of a suite of suites, one by one."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


def load_tests(loader, tests, pattern):
    """A test that imports this name is sharded: unittest calls it to get the module's tests."""
    return unittest.TestSuite(mine(list(tests_of(tests))))
