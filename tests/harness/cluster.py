"""A coordinator and workers on this machine, which end with the test or measurement that has them.

    with Cluster(workers=3, slots=4) as cluster:
        cluster.bsprun("-n", 4, program)

Everything lies in a scratch directory; the daemons listen on any free ports. Leaving the `with`
ends the daemons, and raises Failed if one ended badly or if anything is left behind. The daemons'
logs are printed then, or if what is inside the `with` failed.
"""

import json
import os
import subprocess
import sys

from harness import left_behind, processes
from harness.daemon import Daemon
from harness.ports import reserve
from harness.programs import Programs
from harness.proxy import Proxy
from harness.scratch import scratch_directory
from harness.waiting import Failed, wait_until, what_stays

COMMAND_S = 300.0
LEFT_BEHIND_S = 20.0
ENDED = ("succeeded", "failed", "cancelled")


def images_of(state_dir):
    """The directories of the images that a worker holds, one for each job."""
    return [path for path in left_behind.entries(os.path.join(state_dir, "checkpoints"))
            if os.path.basename(path).startswith("job-")]


class Cluster:
    def __init__(self, workers=3, slots=4, programs=None, proxied=(), seed=1, worker_options=(),
                 coordinator_options=(), state_dirs=None, accounts=None):
        """`proxied`: the connections that go through the fault proxy: "data" (between workers),
        "barrier" and "control" (between workers and coordinator). `state_dirs`: by their names,
        the daemons whose state directory is not to be in the scratch directory, and where it is.
        `accounts`: of workers that stay root; else they run as an ordinary user."""
        self.programs = programs or Programs()
        self.proxied, self.seed = set(proxied), seed
        self.worker_options = list(worker_options)
        self.coordinator_options = list(coordinator_options)
        self.state_dirs = state_dirs or {}
        self.accounts = accounts
        self.initial_workers, self.slots = workers, slots
        self.directory = self.proxy = self.coordinator = None
        self.workers = {}
        self.mark = f"{os.getpid()}.{id(self)}"

    # ---- Start and end -----------------------------------------------------------------------

    def __enter__(self):
        processes.become_subreaper()
        processes.clean_up_on_sigterm()
        self.shared_memory_before = left_behind.shared_memory()
        self.scratch = scratch_directory()
        self.directory = self.scratch.name
        try:
            os.mkdir(self.path("tmp"))
            os.mkdir(self.path("bin"))
            for name in ("bsprun", "bsp"):
                os.symlink(os.path.abspath(self.programs["bsprun"]), self.path("bin", name))
            if self.proxied:
                self.proxy = Proxy(self.programs["fault_proxy"], self.seed)
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
        """Ends everything, whatever state it is in; returns what was wrong."""
        complaints = [] if failed else self._images_left()
        for worker in self.workers.values():
            complaints += worker.stop()
            if not worker.was_killed:  # It would clear up at its next start.
                complaints += ["left behind: " + path for path in
                               left_behind.entries(os.path.join(worker.state_dir, "jobs"))]
        if self.coordinator:
            complaints += self.coordinator.stop()
        if self.proxy:
            complaints += self.proxy.stop()
        complaints += ["left behind: " + what for what in
                       [*left_behind.processes_left(self.mark, LEFT_BEHIND_S),
                        *left_behind.entries(self.path("tmp")),
                        *left_behind.shared_memory_left(self.shared_memory_before)]]
        if failed or complaints:
            print("\n".join(complaints), file=sys.stderr)
            self.print_logs()
        self.scratch.cleanup()
        return complaints

    def _images_left(self):
        """Images of ended jobs, on nodes that the coordinator can reach."""
        up = self.nodes_up()
        if not up:
            return []
        def find():
            alive = {f"job-{job}" for job in self.jobs_alive()}
            return [path for name in up for path in images_of(self.workers[name].state_dir)
                    if os.path.basename(path) not in alive]
        return ["left behind: " + file for path in what_stays(find, LEFT_BEHIND_S)
                for file in [path, *left_behind.files_below(path)]]

    def path(self, *names):
        """In the scratch directory."""
        return os.path.join(self.directory, *names)

    # ---- Daemons -----------------------------------------------------------------------------

    def daemons(self):
        return [daemon for daemon in [self.coordinator, *self.workers.values()] if daemon]

    def print_logs(self):
        for daemon in self.daemons():
            daemon.print_log()

    def _daemon(self, name, command):
        directory = self.path(name)
        os.makedirs(directory, exist_ok=True)
        state_dir = self.state_dirs.get(name, os.path.join(directory, "state"))
        environment = processes.environment(self.mark, TMPDIR=self.path("tmp"),
                                            BSP_LOGIN_SOCKET=self.path("login"),
                                            http_proxy="http://127.0.0.1:1")  # To be ignored.
        return Daemon(name, [*self.place_of(name), *command], directory, state_dir, environment)

    def coordinator_addresses(self):
        """Where it is to listen for clients and workers, and for barriers."""
        return reserve(), reserve()

    def place_of(self, name):
        """What the command of a daemon, or of "client", begins with, to run elsewhere than here: of
        a subclass whose daemons have networks of their own."""
        del name
        return []

    def _start_coordinator(self):
        """Starts it on ports that it also gets when it is started again."""
        self.address, barrier = self.coordinator_addresses()
        self.control_address = self.address
        options = []
        if "barrier" in self.proxied:
            options += ["--barrier-advertise", self.proxy.listen("barrier")]
        command = [self.programs["bsp-coordinator"], "--listen", self.address, "--barrier-listen",
                   barrier, "--login-socket", self.path("login"), *options,
                   *self.coordinator_options]
        self.coordinator = self._daemon("coordinator", command)
        self.coordinator.addresses()
        if "barrier" in self.proxied:
            self.proxy.target("barrier", barrier)
        if "control" in self.proxied:
            self.control_address = self.proxy.listen("control")
            self.proxy.target("control", self.address)

    def restart_coordinator(self):
        """Starts it after it was killed or stopped."""
        self.coordinator.start()
        self.coordinator.addresses()

    def add_worker(self, name, slots, options=(), listen="127.0.0.1:0"):
        """Starts a worker, and does not wait until it is registered."""
        advertise = []
        if "data" in self.proxied:  # On a port that it also gets when it is started again.
            listen, advertise = reserve(), ["--advertise", self.proxy.listen(name)]
            self.proxy.target(name, listen)
        command = [self.programs["bsp-worker"], "--accounts", self.accounts or "own:everybody",
                   "--coordinator", self.control_address, "--name",
                   name, "--slots", str(slots), "--listen", listen,
                   "--host-program", self.programs["bsp-host"], *advertise, *self.worker_options,
                   *options]
        command = [os.path.abspath(command[0]), *command[1:]]
        if not self.accounts:
            command = processes.as_ordinary_user(command)
        self.workers[name] = self._daemon(name, command)
        return self.workers[name]

    def nodes(self):
        """What `bsp nodes --json` prints, by name; nothing while the coordinator is away."""
        done = self.bsp("nodes", "--json", check=False)
        listed = json.loads(done.stdout) if done.returncode == 0 else []
        return {node["name"]: node for node in listed}

    def nodes_up(self):
        return {name for name, node in self.nodes().items() if node["state"] == "up"}

    def await_workers(self, count):
        """Waits until that many workers are up."""
        def all_up():
            for daemon in self.daemons():
                if not daemon.running and not daemon.was_killed:
                    raise Failed(f"{daemon.name} ended with status {daemon.process.returncode}")
            return len(self.nodes_up()) >= count
        wait_until(all_up, f"{count} workers are up")

    # ---- Clients -----------------------------------------------------------------------------

    def token_file(self, user, scopes):
        """The path of a file with a new token of this user, for `--token-file` or
        BSP_TOKEN_FILE."""
        made = subprocess.run(
            [self.programs["bsp-coordinator"], "--state-dir", self.coordinator.state_dir,
             "--new-token", user, "--token-scopes", scopes],
            capture_output=True, text=True, check=True, timeout=COMMAND_S)
        path = self.path(f"token-{user}")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
            file.write(made.stdout)
        return path

    def client_environment(self, **more):
        path = self.path("bin") + os.pathsep + os.environ.get("PATH", "")
        return processes.environment(self.mark, **{"PATH": path, "BSP_COORDINATOR": self.address,
                                                   "BSP_LOGIN_SOCKET": self.path("login"),
                                                   **more})

    def _client_options(self, options):
        """Options for subprocess: those given, of which `variables` is more environment, and no
        input unless they name one."""
        variables = options.pop("variables", {})
        no_input = {} if "input" in options else {"stdin": subprocess.DEVNULL}
        return {"env": self.client_environment(**variables), **no_input, **options}

    def _client_command(self, command):
        return [*self.place_of("client"), self.path("bin", command[0]), *map(str, command[1:])]

    def start_client(self, command, **options):
        """Starts bsprun or bsp, with subprocess.Popen's options; returns the Popen."""
        return subprocess.Popen(self._client_command(command), **self._client_options(options))

    def client(self, command, check=True, **options):
        """Runs bsprun or bsp to its end, which must be a success unless `check` is false; returns
        what subprocess.run returns, output included."""
        done = subprocess.run(self._client_command(command), capture_output=True, text=True,
                              check=False, timeout=COMMAND_S, **self._client_options(options))
        if check and done.returncode != 0:
            raise Failed(f"{' '.join(map(str, command))}: status {done.returncode}\n"
                         f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done

    def bsp(self, *arguments, **options):
        return self.client(["bsp", *arguments], **options)

    def bsprun(self, *arguments, **options):
        return self.client(["bsprun", *arguments], **options)

    def submit(self, *arguments, **options):
        """Submits a job; returns its number."""
        return json.loads(self.bsp("submit", "--json", *arguments, **options).stdout)["job"]

    def jobs(self):
        return json.loads(self.bsp("jobs", "--json").stdout)

    def show(self, job):
        return json.loads(self.bsp("show", "--json", job).stdout)

    def jobs_alive(self):
        """The numbers of the jobs that have not ended."""
        return {job["job"] for job in self.jobs() if job["state"] not in ENDED}

    def state(self, job):
        return self.show(job)["state"]

    def await_state(self, job, *states):
        wait_until(lambda: self.state(job) in states, f"job {job} is {' or '.join(states)}",
                   COMMAND_S)
