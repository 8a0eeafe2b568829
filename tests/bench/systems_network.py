"""bspnow and Open MPI on machines that a switch connects: network namespaces with an address and a
cable each. Root makes them.

On a Network, which is a bridge, a cable carries RATE in each direction, and the switch keeps QUEUE
of what waits for one: more is dropped, as by a cheap switch. (The kernel adds no delay beyond
that.) So the network is the limit, where over loopback the processors are. On a FarNetwork each
packet takes FAR_US on its way, and there is no limit otherwise: so ways count that have to follow
each other.
"""

import contextlib
import os
import subprocess

import systems
from harness.cluster import Cluster
from harness.programs import Programs
from harness.waiting import Failed
from systems_tcp import SLOTS, OnCluster

RATE, RATE_TEXT, BYTES_S = "200mbit", "200 Mbit/s", 200e6 / 8
QUEUE, QUEUE_TEXT = "256kb", "256 KiB"
FAR_US = 500  # Long enough that what the processors do, of eight machines, is less.
SWITCH = 254  # The last part of its address: the coordinator's machine.


def quietly(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: {done.stderr.strip()} (as root, with iproute2?)")


class Network:
    """So many machines, numbered from 1, and the switch."""

    def __init__(self, machines):
        self.machines = range(1, machines + 1)
        self.open = contextlib.ExitStack()

    @staticmethod
    def address(machine):
        return f"10.77.7.{machine}"

    NAME = "bench"

    @classmethod
    def namespace(cls, machine):
        return f"{cls.NAME}{os.getpid()}.{machine}"

    @classmethod
    def inside(cls, machine):
        """What runs a command there."""
        return ["ip", "netns", "exec", cls.namespace(machine)]

    def __enter__(self):
        with contextlib.ExitStack() as opening:
            for machine in (SWITCH, *self.machines):
                quietly("ip", "netns", "add", self.namespace(machine))
                opening.callback(quietly, "ip", "netns", "delete", self.namespace(machine))
                self._ip(machine, "link set lo up")
            self._connect(opening)
            for machine in (SWITCH, *self.machines):
                self._ip(machine, f"address add {self.address(machine)}/24 dev eth0")
                self._ip(machine, "link set eth0 up")
            self.open = opening.pop_all()
        return self

    def __exit__(self, *exception):
        return self.open.__exit__(*exception)

    def _connect(self, _):
        """Gives each machine its eth0."""
        self._ip(SWITCH, "link add eth0 type bridge")
        for machine in self.machines:
            port = f"port{machine}"
            self._ip(machine, f"link add eth0 type veth peer name {port} "
                     f"netns {self.namespace(SWITCH)}")
            self._ip(SWITCH, f"link set {port} master eth0 up")
            self._limit(machine, "eth0", "2mb")
            self._limit(SWITCH, port, QUEUE)

    def _ip(self, machine, command):
        quietly("ip", "-n", self.namespace(machine), *command.split())

    def _limit(self, machine, device, queue):
        quietly("tc", "-n", self.namespace(machine), "qdisc", "add", "dev", device, "root", "tbf",
                "rate", RATE, "burst", "32kb", "limit", queue)


class FarNetwork(Network):
    """Likewise, with far_switch between them."""
    NAME = "far"

    def __init__(self, machines, build_dir):
        super().__init__(machines)
        self.program = os.path.join(build_dir, "far_switch")
        systems.compile_c("cc", "far_switch.c", self.program)

    def _connect(self, opening):
        devices = {machine: f"far{os.getpid()}.{machine}" for machine in (SWITCH, *self.machines)}
        command = [self.program, str(FAR_US)]
        for machine, device in devices.items():
            command += [device, self.address(machine)]
        switch = subprocess.Popen(command, stdout=subprocess.PIPE)
        opening.callback(switch.wait)
        opening.callback(switch.kill)
        if switch.stdout.readline() != b"ready\n":
            raise Failed("far_switch makes no devices")
        for machine, device in devices.items():
            quietly("ip", "link", "set", device, "netns", self.namespace(machine))
            self._ip(machine, f"link set {device} name eth0")


class NetworkCluster(Cluster):
    """The coordinator at the switch, and a worker on each machine; clients run on the first."""

    def __init__(self, network, programs):
        super().__init__(0, SLOTS, programs, worker_options=["--insecure"],
                         coordinator_options=["--insecure"])
        self.network = network

    def __enter__(self):
        super().__enter__()
        for machine in self.network.machines:
            self.add_worker(f"m{machine}", self.slots,
                            listen=f"{self.network.address(machine)}:7200")
        self.await_workers(len(self.network.machines))
        return self

    def coordinator_addresses(self):
        address = self.network.address(SWITCH)
        return f"{address}:7100", f"{address}:7101"

    def place_of(self, name):
        machine = {"coordinator": SWITCH, "client": 1}.get(name)
        return self.network.inside(machine or int(name.removeprefix("m")))


class OnNetwork(OnCluster):
    """The programs of `bspnow` (systems.Bspnow), each process on a machine of its own."""

    def __init__(self, bspnow, network):
        super().__init__(bspnow, "bspnow", len(network.machines), "default")
        self.network = network
        self.cluster = NetworkCluster(network, Programs(bspnow.bin_dir))

    def command(self, program, nprocs, arguments):
        return [*self.cluster.place_of("client"), *super().command(program, nprocs, arguments)]


class OpenMpiOnNetwork(systems.OpenMpi):
    """Likewise. Its launcher starts the others' daemons by a script in the place of ssh."""

    def __init__(self, build_dir, network):
        super().__init__(build_dir, "tcp")
        self.network = network
        self.agent = os.path.join(build_dir, network.NAME + "agent")
        with open(self.agent, "w", encoding="ascii") as script:
            script.write('#!/bin/bash\nhost=$1\nshift\n'
                         f'exec ip netns exec {network.namespace("")}"${{host##*.}}" unshare --uts '
                         'bash -c "hostname $host; $*"\n')
        os.chmod(self.agent, 0o755)

    def command(self, program, nprocs, arguments):
        hosts = [self.network.address(machine) for machine in self.network.machines][:nprocs]
        return [self.agent, hosts[0], self.launcher, "-n", str(nprocs), "--host", ",".join(hosts),
                "--mca", "plm_rsh_agent", self.agent, "--mca", "orte_keep_fqdn_hostnames", "1",
                "--mca", "oob_tcp_if_include", "10.77.7.0/24", "--mca", "btl_tcp_if_include",
                "10.77.7.0/24", "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--bind-to",
                "none", "--mca", "mpi_yield_when_idle", "1", self.path(program), *arguments]
