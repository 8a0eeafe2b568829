"""Where the programs of bspnow are, and those that the tests run."""

import os

from harness.waiting import Failed

SOURCE_DIR = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
PATHS = {
    "bsprun": "client/bsprun",
    "bsp-coordinator": "coordinator/bsp-coordinator",
    "bsp-worker": "worker/bsp-worker",
    "bsp-host": "worker/host/bsp-host",
    "bsp-restore": "worker/restore/bsp-restore",
    "fault_proxy": "tests/cluster/fault_proxy",
}


class Programs:
    """Paths by name: in the directory `bin_dir` (an installed tree, or one with all programs in
    it), below the working directory (Bazel's runfiles), or, where Bazel does not run this, below
    bazel-bin of the source tree."""

    def __init__(self, bin_dir=None):
        self.bin_dir = bin_dir

    def _places(self, name):
        path = PATHS.get(name, f"tests/cluster/{name}")  # Any other is one that the tests run.
        if self.bin_dir:
            return [os.path.join(self.bin_dir, name), os.path.join(self.bin_dir, path),
                    os.path.join(self.bin_dir, "..", "libexec", "bspnow", name)]
        if "TEST_SRCDIR" in os.environ:  # What the test did not name as data may be old.
            return [os.path.abspath(path)]
        return [os.path.abspath(path), os.path.join(SOURCE_DIR, "bazel-bin", path)]

    def __getitem__(self, name):
        found = next((place for place in self._places(name) if os.path.exists(place)), None)
        if not found:
            where = f"in {self.bin_dir}" if self.bin_dir else "where Bazel puts it"
            raise Failed(f"no program {name} {where}; build it, or name its directory by --bin")
        return found


def path_of(name):
    """Of a program that is built beside the tests."""
    return Programs()[name]
