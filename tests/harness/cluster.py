"""A coordinator and workers on this machine, for a test or a measurement, and ended after it.

    with Cluster(workers=3, slots=4) as cluster:
        cluster.run(["-n", "4", program])

Everything is in a temporary directory, all ports are any that are free. Leaving the `with` ends the
daemons, and raises Failed if one ended badly or anything is left behind; the daemons' logs are
printed then, or if what is inside failed.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from harness import left_behind
from harness.daemon import Binaries, Daemon, Failed, wait_until
from harness.proxy import Proxy

COMMAND_S = 300.0
ENDED = ("succeeded", "failed", "cancelled")


def images_of(state_dir):
    """The directories of images that a worker holds, one of each job."""
    return [path for path in left_behind.entries(os.path.join(state_dir, "checkpoints"))
            if os.path.basename(path).startswith("job-")]


class Cluster:
    def __init__(self, workers=3, slots=4, binaries=None, proxied=(), seed=1, worker_options=(),
                 coordinator_options=(), state_dirs=None):
        """`proxied`: what goes through the fault proxy: "data" (between the workers), "barrier"
        and "control" (between workers and coordinator). `state_dirs`: name of a daemon -> its
        directory, where that is to be another."""
        self.binaries = binaries or Binaries()
        self.proxied, self.seed = set(proxied), seed
        self.worker_options = list(worker_options)
        self.coordinator_options = list(coordinator_options)
        self.state_dirs = state_dirs or {}
        self.initial_workers, self.slots = workers, slots
        self.directory = self.proxy = self.coordinator = None
        self.workers = {}
        self.mark = f"{os.getpid()}.{id(self)}"

    # ---- Start and end -----------------------------------------------------------------------

    def __enter__(self):
        left_behind.become_subreaper()
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # And so clean up.
        self.shared_memory_before = left_behind.shared_memory()
        self.directory = tempfile.mkdtemp(prefix="bspnow-cluster-",
                                          dir=os.environ.get("TEST_TMPDIR"))
        try:
            os.mkdir(self._path("tmp"))
            os.mkdir(self._path("bin"))
            for name in ("bsprun", "bsp"):
                os.symlink(os.path.abspath(self.binaries["bsprun"]), self._path("bin", name))
            if self.proxied:
                self.proxy = Proxy(self.binaries["fault_proxy"], self.seed)
            self._start_coordinator()
            for number in range(1, self.initial_workers + 1):
                self.add_worker(f"w{number}", self.slots)
            self.await_workers(self.initial_workers)
        except BaseException:
            self._end(failed=True)
            raise
        return self

    def __exit__(self, kind, value, traceback):
        complaints = self._end(failed=kind is not None)
        if kind is None and complaints:
            raise Failed("\n".join(complaints))

    def _end(self, failed):
        """Ends everything, in any state. What is wrong, then."""
        complaints = [] if failed else self._images_left()
        for worker in self.workers.values():
            complaints += worker.stop()
            if not worker.was_killed:  # Its next start clears up.
                complaints += ["left behind: " + path for path in
                               left_behind.entries(os.path.join(worker.state_dir, "jobs"))]
        if self.coordinator:
            complaints += self.coordinator.stop()
        if self.proxy:
            complaints += self.proxy.stop()
        complaints += ["left behind: " + what for what in left_behind.processes_left(self.mark)]
        complaints += ["left behind: " + path for path in left_behind.entries(self._path("tmp"))]
        complaints += ["left behind: " + path for path in
                       left_behind.shared_memory() - self.shared_memory_before]
        if failed or complaints:
            print("\n".join(complaints), file=sys.stderr)
            for daemon in [self.coordinator, *self.workers.values()]:
                if daemon:
                    daemon.print_log()
        shutil.rmtree(self.directory, ignore_errors=True)
        return complaints

    def _images_left(self):
        """Images of jobs that have ended, on nodes that should have heard of it."""
        up = self.nodes_up()
        def find():
            live = self.jobs_alive()
            return [path for name in up for path in images_of(self.workers[name].state_dir)
                    if os.path.basename(path).removeprefix("job-") not in live]
        return ["left behind: " + file for path in left_behind.await_none(find)
                for file in [path, *left_behind.files_below(path)]]

    def _path(self, *names):
        return os.path.join(self.directory, *names)

    # ---- Daemons -----------------------------------------------------------------------------

    def daemon_environment(self):
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("BSP_COORDINATOR", "BSP_NPROCS")}
        environment.update({left_behind.MARK: self.mark, "TMPDIR": self._path("tmp"),
                            "http_proxy": "http://127.0.0.1:1"})  # Daemons must not heed it.
        return environment

    def _daemon(self, name, command):
        directory = self._path(name)
        os.makedirs(directory, exist_ok=True)
        state_dir = self.state_dirs.get(name, os.path.join(directory, "state"))
        return Daemon(name, command, directory, state_dir, self.daemon_environment())

    def _start_coordinator(self):
        """On ports that stay the same when it is started again."""
        options = []
        if "barrier" in self.proxied:
            options += ["--barrier-advertise", self.proxy.listen("barrier")]
        command = [self.binaries["bsp-coordinator"], "--listen", "127.0.0.1:0", *options,
                   *self.coordinator_options]
        self.coordinator = self._daemon("coordinator", command)
        addresses = self.coordinator.addresses()
        self.address = self.control_address = addresses["listen"]
        listen = self.coordinator.command.index("--listen") + 1
        self.coordinator.command[listen] = self.address
        self.coordinator.command += ["--barrier-listen", addresses["barrier"]]
        if "barrier" in self.proxied:
            self.proxy.target("barrier", addresses["barrier"])
        if "control" in self.proxied:
            self.control_address = self.proxy.listen("control")
            self.proxy.target("control", self.address)

    def restart_coordinator(self):
        """After it was killed or stopped."""
        self.coordinator.start()
        self.coordinator.addresses()

    def add_worker(self, name, slots, options=()):
        """Does not wait until it is registered."""
        advertise = []
        if "data" in self.proxied:
            advertise = ["--advertise", self.proxy.listen(name)]
        command = [self.binaries["bsp-worker"], "--coordinator", self.control_address, "--name",
                   name, "--slots", str(slots), "--listen", "127.0.0.1:0",
                   "--host-program", self.binaries["bsp-host"], *advertise, *self.worker_options,
                   *options]
        worker = self.workers[name] = self._daemon(name, [os.path.abspath(command[0]),
                                                          *command[1:]])
        if "data" in self.proxied:  # On a port that stays the same when it is started again.
            data = worker.addresses()["data"]
            self.proxy.target(name, data)
            worker.command[worker.command.index("--listen") + 1] = data
        return worker

    def nodes(self):
        """name -> Node, as `bsp nodes --json` has it; empty while the coordinator is away."""
        done = self.bsp("nodes", "--json", check=False)
        if done.returncode != 0:
            return {}
        listed = json.loads(done.stdout)
        listed = listed.get("nodes", []) if isinstance(listed, dict) else listed
        return {node.get("name") or node["spec"]["name"]: node for node in listed}

    def nodes_up(self):
        return {name for name, node in self.nodes().items()
                if str(node.get("state", "")).lower().removeprefix("node_") == "up"}

    def await_workers(self, count):
        """Until that many workers are up."""
        def all_up():
            for daemon in [self.coordinator, *self.workers.values()]:
                if not daemon.running and not daemon.was_killed:
                    raise Failed(f"{daemon.name} ended with status {daemon.process.returncode}")
            return len(self.nodes_up()) >= count
        wait_until(all_up, f"{count} workers are up")

    # ---- Clients -----------------------------------------------------------------------------

    def client_environment(self, **more):
        path = self._path("bin") + os.pathsep + os.environ.get("PATH", "")
        return {**os.environ, "PATH": path, "BSP_COORDINATOR": self.address,
                left_behind.MARK: self.mark, **more}

    def start_client(self, command, **options):
        """A program of the client that runs on its own; for subprocess.Popen's options."""
        environment = self.client_environment(**options.pop("variables", {}))
        return subprocess.Popen([self._path("bin", command[0]), *map(str, command[1:])],
                                env=environment, **{"stdin": subprocess.DEVNULL, **options})

    def client(self, command, check=True, **options):
        """Runs it to its end; with the output, and with a status of 0 unless not `check`."""
        environment = self.client_environment(**options.pop("variables", {}))
        done = subprocess.run([self._path("bin", command[0]), *map(str, command[1:])],
                              env=environment, capture_output=True, text=True, check=False,
                              timeout=COMMAND_S,
                              **({} if "input" in options else {"stdin": subprocess.DEVNULL}),
                              **options)
        if check and done.returncode != 0:
            raise Failed(f"{' '.join(map(str, command))}: status {done.returncode}\n"
                         f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done

    def bsp(self, *arguments, **options):
        return self.client(["bsp", *arguments], **options)

    def bsprun(self, *arguments, **options):
        return self.client(["bsprun", *arguments], **options)

    def submit(self, *arguments, **options):
        """The number of the job."""
        return json.loads(self.bsp("submit", "--json", *arguments, **options).stdout)["job"]

    def show(self, job):
        return json.loads(self.bsp("show", "--json", job).stdout)

    def jobs_alive(self):
        """The numbers, as strings, of jobs that have not ended."""
        listed = json.loads(self.bsp("jobs", "--json").stdout)
        listed = listed.get("jobs", []) if isinstance(listed, dict) else listed
        return {str(job["job"]) for job in listed if str(job["state"]).lower() not in ENDED}

    def state(self, job):
        return str(self.show(job)["state"]).lower()

    def await_state(self, job, *states):
        wait_until(lambda: self.state(job) in states, f"job {job} is {' or '.join(states)}",
                   COMMAND_S)
