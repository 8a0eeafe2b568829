"""Disks of a few MiB that can be filled, in a mount namespace of this process and its children.

A test enters the namespace before it does anything else. Some machines do not allow that.
"""

import os
import subprocess
import sys

INSIDE = "BSPNOW_SMALL_DISKS"
FILLER = "filler"


def enter_namespace():
    """Starts this program again, in a namespace. Returns None there, and the reason if there can
    be no small disks."""
    if INSIDE in os.environ:
        return None
    options = ["--mount"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--mount"]
    tried = subprocess.run(["unshare", *options, "mount", "-t", "tmpfs", "none", "/mnt"],
                           capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        return f"no disk can be mounted here: {tried.stderr.strip()}"
    os.execvpe("unshare", ["unshare", *options, sys.executable, *sys.argv],
               {**os.environ, INSIDE: "1"})


class SmallDisk:
    """A disk that is mounted at `directory`, which is new, while a `with` uses it."""

    def __init__(self, directory, nbytes):
        self.directory, self.nbytes = directory, nbytes

    def __enter__(self):
        os.makedirs(self.directory)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.nbytes},mode=700", "none",
                        self.directory], check=True)
        return self

    def __exit__(self, kind, value, traceback):
        subprocess.run(["umount", "--lazy", self.directory], check=True)
        os.rmdir(self.directory)

    def fill(self):
        """Writes until the disk takes not one byte more."""
        with open(os.path.join(self.directory, FILLER), "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass

    def empty(self):
        os.unlink(os.path.join(self.directory, FILLER))
