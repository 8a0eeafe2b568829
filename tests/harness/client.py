"""A bsprun, or a bsp that follows a job, which runs while something happens to the cluster."""

import os
import tempfile

from harness.cluster import COMMAND_S
from harness.waiting import wait_until


class Client:
    """One such process, in a directory of its own, with its output in files there."""

    def __init__(self, cluster, *command, **options):
        self.directory = tempfile.mkdtemp(dir=cluster.directory)
        self.paths = [os.path.join(self.directory, name) for name in ("output", "error")]
        with open(self.paths[0], "wb") as output, open(self.paths[1], "wb") as error:
            self.process = cluster.start_client(command, stdout=output, stderr=error,
                                                cwd=self.directory, **options)

    def _text(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    output = property(lambda self: self._text(self.paths[0]))
    error = property(lambda self: self._text(self.paths[1]))

    def await_output(self, bytes_least):
        wait_until(lambda: os.path.getsize(self.paths[0]) >= bytes_least,
                   f"{bytes_least} bytes of output", COMMAND_S)

    def await_error(self, text):
        wait_until(lambda: text in self.error, f"'{text}' on standard error", COMMAND_S)

    def end(self):
        return self.process.wait(timeout=COMMAND_S)


def lone_job(cluster):
    """Waits until there is a job, the only one; returns its number."""
    return min(wait_until(cluster.jobs_alive, "there is a job", COMMAND_S))
