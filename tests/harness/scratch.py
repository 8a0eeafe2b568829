"""Directories that tests write to, and that go away with them."""

import os
import tempfile

# No name of bspnow's begins like this: some tests look in /tmp for what bspnow left there, while
# others are at work. base/testing/scratch_directory.h uses the same.
PREFIX = "scratch-"


def scratch_directory():
    """A new tempfile.TemporaryDirectory, for `with` or until its cleanup()."""
    return tempfile.TemporaryDirectory(prefix=PREFIX, dir=os.environ.get("TEST_TMPDIR"),
                                       ignore_cleanup_errors=True)
