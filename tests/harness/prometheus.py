"""A real Prometheus (Debian's) that scrapes the daemons of a cluster, and answers queries."""

import json
import os
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from harness import processes
from harness.waiting import Failed, wait_until

SCRAPE_S = 0.5


class Prometheus:
    """For `with`. Everything lies in `directory`."""

    def __init__(self, directory, targets, rules):
        """`targets`: addresses by the name of the scrape job. `rules`: a path."""
        self.directory = os.path.join(directory, "prometheus")
        os.makedirs(self.directory)
        self.config = os.path.join(self.directory, "prometheus.yml")
        jobs = [{"job_name": name, "static_configs": [{"targets": addresses}]}
                for name, addresses in targets.items()]
        every = f"{int(SCRAPE_S * 1000)}ms"
        with open(self.config, "w", encoding="utf-8") as file:  # JSON is YAML.
            json.dump({"global": {"scrape_interval": every, "evaluation_interval": every},
                       "rule_files": [os.path.abspath(rules)], "scrape_configs": jobs}, file)

    def __enter__(self):
        self.log_path = os.path.join(self.directory, "log")
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={self.config}",
                 f"--storage.tsdb.path={os.path.join(self.directory, 'data')}",
                 "--web.listen-address=127.0.0.1:0"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=processes.end_with_parent)
        try:
            self.address = wait_until(self._find_address, "Prometheus listens")
            wait_until(lambda: self.query("up"), "Prometheus has scraped")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def log(self):
        with open(self.log_path, encoding="utf-8") as file:
            return file.read()

    def _find_address(self):
        """The log has the port that was asked for, which is 0: the kernel knows better."""
        if self.process.poll() is not None:
            raise Failed(f"Prometheus ended:\n{self.log()[-2000:]}")
        inodes = set()
        for fd in os.listdir(f"/proc/{self.process.pid}/fd"):
            try:
                link = os.readlink(f"/proc/{self.process.pid}/fd/{fd}")
            except FileNotFoundError:
                continue
            if link.startswith("socket:["):
                inodes.add(link[len("socket:["):-1])
        listening = "0A"
        with open("/proc/net/tcp", encoding="ascii") as table:
            for line in list(table)[1:]:
                fields = line.split()
                if fields[3] == listening and fields[9] in inodes:
                    return f"127.0.0.1:{int(fields[1].split(':')[1], 16)}"
        return None

    def _get(self, path, **parameters):
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(url, timeout=30) as reply:
                return json.load(reply)["data"]
        except urllib.error.HTTPError as error:
            if error.code == 503:
                return None  # It is starting.
            raise Failed(f"{parameters}: {error.read().decode()}") from error
        except OSError:
            return None  # It does not listen yet.

    def query(self, expression):
        """What it is now: a list of (labels, value)."""
        data = self._get("query", query=expression)
        result = data["result"] if data else []
        return [(each["metric"], float(each["value"][1])) for each in result]

    def value(self, expression):
        """Of the one series that the expression has; None if there is none."""
        found = self.query(expression)
        if len(found) > 1:
            raise Failed(f"{expression} has {len(found)} series")
        return found[0][1] if found else None

    def query_range(self, expression, start, end, step_s):
        """At `end`, and each step before it down to `start`."""
        # Prometheus counts its steps from the start, and would leave out what is after the last.
        first = end - (end - start) // step_s * step_s
        data = self._get("query_range", query=expression, start=first, end=end, step=step_s)
        return data["result"]

    def names(self):
        return self._get("label/__name__/values")
