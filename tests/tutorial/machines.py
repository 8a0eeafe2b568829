"""Machines that a page of the documentation is typed on: each a Debian 12 of its own, empty but for
what it is given, in namespaces of its own, with a cable that can be pulled."""

import os
import signal
import subprocess
import tempfile
import time

NETWORK_BITS = 24


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def ip(namespace, command):
    run("ip", "-n", namespace, *command.split())


class Machine:
    """The files of a Debian, which last, and what runs on it, while it has power."""

    def __init__(self, world, name, address):
        self.name, self.address, self._world = name, address, world
        self._directory = os.path.join(world.scratch, name)
        self.root = os.path.join(self._directory, "root")
        self._nspawn, self._init = None, None

    def make(self):
        upper, work = (os.path.join(self._directory, name) for name in ("upper", "work"))
        for directory in (upper, work, self.root):
            os.makedirs(directory)
        run("mount", "-t", "overlay", "-o",
            f"lowerdir={self._world.debian},upperdir={upper},workdir={work}", "overlay", self.root)
        hosts = "".join(f"{other.address} {other.name}\n" for other in self._world.machines)
        with open(os.path.join(self.root, "etc/hosts"), "w", encoding="utf-8") as file:
            file.write("127.0.0.1 localhost\n" + hosts)

    def prepare(self, *command):
        """Does this in its files, with the network that this test has."""
        run("chroot", self.root, "env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8",
            *command)

    def plug(self):
        """Gives it power and the network."""
        self._world.cable(self, "up")
        # Two processors, as the page has them.
        processors = ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))
        self._nspawn = subprocess.Popen(
            ["taskset", "-c", processors, "systemd-nspawn", "--quiet", "--register=no",
             "--keep-unit", "--resolv-conf=off", "--link-journal=no", "--timezone=off",
             f"--network-namespace-path=/run/netns/{self._world.namespace(self)}",
             f"--machine={self._world.namespace(self)}", f"--hostname={self.name}",
             f"--directory={self.root}", "--as-pid2", "sleep", "infinity"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while not self._runs():
            if self._nspawn.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{self.name} has not started")
            time.sleep(0.1)

    def _runs(self):
        children = f"/proc/{self._nspawn.pid}/task/{self._nspawn.pid}/children"
        with open(children, encoding="utf-8") as file:
            self._init = next(iter(file.read().split()), None)
        return self._init and subprocess.run(
            self.on("pidof", "sleep"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            check=False).returncode == 0

    def unplug(self):
        """Nobody can say goodbye: the cable goes first, then all processes at once."""
        self._world.cable(self, "down")
        self.end()

    def end(self):
        if self._nspawn is None:
            return
        if self._init and self._nspawn.poll() is None:
            os.kill(int(self._init), signal.SIGKILL)
        else:
            self._nspawn.kill()
        self._nspawn.wait()
        self._nspawn = self._init = None

    def on(self, *command):
        """What runs a command on it, as root."""
        return ["nsenter", "--target", self._init, "--mount", "--uts", "--ipc", "--net", "--pid",
                "--cgroup", *command]


class World:
    """Machines on one switch, which is in the first one."""

    def __init__(self, addresses, debian=None):
        self.scratch = tempfile.mkdtemp(prefix="tutorial.")
        self.debian = os.path.realpath(debian or os.path.join(self.scratch, "debian"))
        self.machines = [Machine(self, name, address) for name, address in addresses.items()]

    def __enter__(self):
        return self

    def namespace(self, machine):
        return f"bsp{os.getpid()}-{machine.name}"

    def make(self, packages):
        if not os.path.exists(self.debian):
            run("mmdebstrap", "--variant=apt", f"--include={','.join(['mount', *packages])}",
                "bookworm", self.debian)
        for machine in self.machines:
            machine.make()
            run("ip", "netns", "add", self.namespace(machine))
        first = self.namespace(self.machines[0])
        ip(first, "link add eth0 type bridge")
        for machine in self.machines:
            own = self.namespace(machine)
            if own != first:
                cable = f"to-{machine.name}"
                ip(own, f"link add eth0 type veth peer name {cable} netns {first}")
                ip(first, f"link set {cable} master eth0")
            ip(own, f"address add {machine.address}/{NETWORK_BITS} dev eth0")
            for device in ("lo", "eth0"):
                ip(own, f"link set {device} up")

    def cable(self, machine, up_or_down):
        if machine is not self.machines[0]:
            ip(self.namespace(self.machines[0]), f"link set to-{machine.name} {up_or_down}")

    def __exit__(self, kind, value, traceback):
        for machine in self.machines:
            machine.end()
        quiet = {"stderr": subprocess.DEVNULL, "check": False}
        for machine in self.machines:
            subprocess.run(["umount", "--recursive", machine.root], **quiet)
            subprocess.run(["ip", "netns", "delete", self.namespace(machine)], **quiet)
        subprocess.run(["rm", "-rf", "--one-file-system", self.scratch], check=False)
