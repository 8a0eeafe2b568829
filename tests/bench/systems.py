"""The systems that are measured side by side: how each is built and started.

A transport is how the processes of a job reach each other. Each system has the options and the
environment for each transport; a second transport is a second entry in these tables.
"""

import dataclasses
import json
import os
import shutil
import subprocess
import time

import machine
import memory
from harness import processes
from harness.programs import SOURCE_DIR
from harness.waiting import Failed

BENCH_DIR = os.path.dirname(os.path.realpath(__file__))
CORES = len(os.sched_getaffinity(0))
RUN_TIMEOUT_S = 120
BSP_PROGRAMS = ("sync", "exchange", "pieces", "random", "one_put", "registrations", "nothing",
                "checkpoint", "collectives", "sort", "groups", "broadcast", "search",
                "inner_product")
EXAMPLES = ("fft.c", "heat.c", "lu.c", "pagerank.cc", "sort_numbers.cc")
EXAMPLE_NAMES = tuple(os.path.splitext(example)[0] for example in EXAMPLES)
MPI_PROGRAMS = ("sync", "exchange", "random", "one_put", "nothing", "collectives", "sort",
                "inner_product")


@dataclasses.dataclass
class Outcome:
    figures: dict        # name -> seconds, as the program printed them
    wall_s: float        # from the start of the launcher to its end
    peak_nbytes: int = 0 # of all processes together; where it was asked for


def stop(launcher):
    """Ends a job that hangs, and whatever of it outlives its launcher."""
    members = memory.processes_of(launcher.pid)
    launcher.terminate()
    try:
        launcher.wait(timeout=5)
    except subprocess.TimeoutExpired:
        pass
    processes.kill(*members)
    launcher.wait()


def run(command, environment, output_path, peak=None):
    """Runs one job; its output goes through a file, which needs no reader."""
    with open(output_path, "w+", encoding="utf-8", errors="replace") as output:
        start_s = time.monotonic()
        job = subprocess.Popen(command, env={**os.environ, **environment}, stdout=output,
                               stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                               start_new_session=True)
        try:
            if peak is not None:
                peak.watch(job, RUN_TIMEOUT_S)
            status = job.wait(timeout=RUN_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            stop(job)
            raise Failed("still running after %d s" % RUN_TIMEOUT_S) from None
        except BaseException:  # Ctrl-C: leave nothing behind.
            stop(job)
            raise
        wall_s = time.monotonic() - start_s
        output.seek(0)
        lines = output.read().splitlines()
    if status != 0:
        raise Failed("exit status %d: %s" % (status, " | ".join(lines[-5:])))
    words = [line.split() for line in lines if line.startswith("figure ")]
    figures = {name: float(value) for _, name, value in words}
    return Outcome(figures, wall_s, peak.nbytes if peak is not None else 0)


class System:
    """One column of the tables. `missing`: why it cannot be measured, or nothing."""
    name = ""
    missing = ""
    version = ""

    def __init__(self, build_dir, transport):
        self.build_dir = build_dir
        self.transport = transport

    def command(self, program, nprocs, arguments):
        raise NotImplementedError

    def environment(self):
        return {}

    def daemons(self):
        """Ids of processes that work for the job beside those that the launcher starts."""
        return []

    def run(self, program, nprocs, arguments, peak=None):
        output_path = os.path.join(self.build_dir, "output")
        command = self.command(program, nprocs, [str(argument) for argument in arguments])
        outcome = run(command, self.environment(), output_path, peak)
        if program in EXAMPLE_NAMES:
            outcome.figures.update(self.example_figures())
        return outcome

    @property
    def timing_file(self):
        return os.path.join(self.build_dir, "timing")

    def example_figures(self):
        """An example times nothing itself: what bsprun says of all its supersteps."""
        with open(self.timing_file, encoding="utf-8") as file:
            timing = json.load(file)
        return {"seconds": timing["total_ns"] / 1e9, "h": timing["h_bytes"]}


def compile_c(compiler, source, program, options=()):
    """`source`: in the bench's directory, or a whole path."""
    standard = "-std=c++17" if source.endswith(".cc") else "-std=gnu11"
    done = subprocess.run([compiler, standard, "-O2", "-I", BENCH_DIR,
                           os.path.join(BENCH_DIR, source), "-o", program, *options],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed("%s cannot compile %s:\n%s" % (compiler, source, done.stderr))


def bazel(command, *arguments):
    """With --config=release, what deploy/install installs, everywhere: the path that
    `info` prints depends on it, too."""
    done = subprocess.run(["bazel", command, "--config=release", *arguments], cwd=SOURCE_DIR,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed("bazel cannot %s %s:\n%s" % (command, " ".join(arguments), done.stderr))
    return done.stdout


class Bspnow(System):
    """This source tree, built by Bazel; or an installed tree."""
    name = "bspnow"
    # For TCP systems_tcp.py adds the coordinator and where the processes are to be.
    LIMITS = {"shm": "limit", "tcp": "raw_tcp"}
    PROGRAMS = {"shm": ("client/bsprun",),
                "tcp": ("client/bsprun", "client/bsp-client", "coordinator/bsp-coordinator",
                        "worker/bsp-worker", "worker/host/bsp-host", "worker/restore/bsp-restore")}

    def __init__(self, build_dir, transport, prefix=None):
        super().__init__(build_dir, transport)
        self.bin_dir = os.path.join(os.path.abspath(prefix), "bin") if prefix else build_dir
        self.bsprun = os.path.join(self.bin_dir, "bsprun")
        self.limit = os.path.join(build_dir, self.LIMITS[transport])
        if prefix:
            libbsp = ["-I", os.path.join(prefix, "include"),
                      os.path.join(prefix, "lib", "libbsp.a"), "-lm"]
            for program in BSP_PROGRAMS:
                compile_c("cc", "bench_%s.c" % program,
                          os.path.join(build_dir, "bench_" + program), libbsp)
            for example in EXAMPLES:
                name, suffix = os.path.splitext(example)
                compile_c("c++" if suffix == ".cc" else "cc",
                          os.path.join(SOURCE_DIR, "examples", example),
                          os.path.join(build_dir, name), libbsp)
            compile_c("cc", self.LIMITS[transport] + ".c", self.limit)
        else:
            self.build_with_bazel()
        self.version = machine.first_line([self.bsprun, "--version"])

    def build_with_bazel(self):
        """Copies what it builds: a later build must not change what is being measured."""
        programs = ["bench_" + program for program in BSP_PROGRAMS]
        programs.append(self.LIMITS[self.transport])
        paths = [*self.PROGRAMS[self.transport], *("tests/bench/" + name for name in programs),
                 *("examples/" + name for name in EXAMPLE_NAMES)]
        bazel("build", *("//%s:%s" % os.path.split(path) for path in paths))
        bazel_bin = bazel("info", "bazel-bin").strip()
        for path in paths:
            shutil.copy(os.path.join(bazel_bin, path), self.build_dir)

    def command(self, program, nprocs, arguments):
        if program in EXAMPLE_NAMES:
            return [self.bsprun, "-n", str(nprocs), "--json", "--timing-file", self.timing_file,
                    os.path.join(self.build_dir, program), *arguments]
        return [self.bsprun, "-n", str(nprocs), os.path.join(self.build_dir, "bench_" + program),
                *arguments]


class Machine(System):
    """The machine's own limits: processes with shared memory, or TCP, and no library between."""
    name = "machine"

    def __init__(self, bspnow):
        super().__init__(bspnow.build_dir, bspnow.transport)
        self.program = bspnow.limit

    def command(self, program, nprocs, arguments):
        return [self.program, str(nprocs), program, *arguments]


class Mpi(System):
    """One MPI library of Debian, under its alternative's name: mpicc.NAME, mpirun.NAME."""

    def __init__(self, build_dir, transport):
        super().__init__(build_dir, transport)
        self.compiler = shutil.which("mpicc." + self.name)
        self.launcher = shutil.which("mpirun." + self.name)
        if not self.compiler or not self.launcher:
            self.missing = "not installed"
            return
        self.version = self.find_version()
        for program in MPI_PROGRAMS:
            compile_c(self.compiler, "mpi_%s.c" % program, self.path(program))

    def path(self, program):
        return os.path.join(self.build_dir, "mpi_%s.%s" % (program, self.name))

    def find_version(self):
        raise NotImplementedError

    def options(self, nprocs):
        raise NotImplementedError

    def command(self, program, nprocs, arguments):
        return [self.launcher, *self.options(nprocs), "-n", str(nprocs), self.path(program),
                *arguments]


class Mpich(Mpi):
    """As it is: it has no option for waiting politely when processes exceed the cores."""
    name = "mpich"
    ENVIRONMENT = {"shm": {}, "tcp": {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo",
                                      "MPIR_CVAR_NOLOCAL": "1"}}

    def find_version(self):
        return machine.first_line(["mpichversion"]).replace("MPICH Version:", "").strip()

    def options(self, nprocs):
        return []

    def environment(self):
        return self.ENVIRONMENT[self.transport]


class OpenMpi(Mpi):
    name = "openmpi"
    OPTIONS = {"shm": ["--bind-to", "none"],
               "tcp": ["--bind-to", "none", "--mca", "pml", "ob1", "--mca", "btl", "tcp,self",
                       "--mca", "btl_tcp_if_include", "lo"]}
    # With more processes than cores it yields while it waits only if this asks for it.
    CROWDED = ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]

    def find_version(self):
        return machine.first_line([self.launcher, "--version"]).rpartition(" ")[2]

    def options(self, nprocs):
        return self.OPTIONS[self.transport] + (self.CROWDED if nprocs > CORES else [])

    def environment(self):
        return {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
