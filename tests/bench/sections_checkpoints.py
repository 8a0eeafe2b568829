"""What checkpoints and recovery cost: images beside dd with fsync on the same disk, the time until
a job runs again, and the price of having them on without taking any."""

import os
import statistics
import subprocess
import time

import sections
from figures import Figure, Section, Summary, Target
from harness.cluster import Cluster
from harness.programs import Programs
from harness.waiting import wait_until

COLUMNS = (("bspnow", "bspnow"), ("machine", "dd, fsync"))
MIB = 1 << 20
ALONE_MIB = 1024
CHANGED_PERCENT = 10
SHARED_MIB = 64
PATIENCE_S = 300


class CheckpointBench(sections.Bench):
    """Starts its clusters for each section."""

    def __init__(self, bspnow, mpis, machine, quick):
        super().__init__(bspnow, [], machine, quick)
        self.programs = bspnow

    def cluster(self, workers, **options):
        return Cluster(workers, 2, Programs(self.programs.bin_dir), **options)

    def program(self, name):
        return os.path.join(self.programs.build_dir, "bench_" + name)


def status(cluster, job):
    return cluster.show(job)["checkpoints"]


def take(cluster, job):
    """Takes one checkpoint: the seconds until it was committed, and its status then."""
    start_s = time.monotonic()
    cluster.bsp("checkpoint", job)
    took_s = time.monotonic() - start_s
    return took_s, status(cluster, job)


def submit(bench, cluster, nprocs, mib, *options):
    job = cluster.submit("-n", nprocs, "--checkpoint=off", *options,
                         bench.program("checkpoint"), mib, CHANGED_PERCENT)
    wait_until(lambda: cluster.bsp("logs", job).stdout.count("filled") == nprocs,
               "the processes have filled their memory", PATIENCE_S)
    return job


def dd_bytes_per_s(directory, mib):
    """What dd with fsync reaches there, with the system's buffers and without."""
    path = os.path.join(directory, "dd")
    rates = []
    for flags in ([], ["oflag=direct"]):
        start_s = time.monotonic()
        subprocess.run(["dd", "if=/dev/zero", "of=" + path, "bs=1M", "count=%d" % mib,
                        "conv=fsync", *flags], check=True, stderr=subprocess.DEVNULL)
        rates.append(mib * MIB / (time.monotonic() - start_s))
        os.unlink(path)
    return rates


def images(bench):
    """One process of 1 GiB on one worker, so that nothing is copied."""
    mib = ALONE_MIB
    samples = {name: [] for name in ("full_pause", "part_pause", "full_s", "part_s", "rate",
                                     "buffered", "direct")}
    for _ in range(bench.choose(3, 5)):
        with bench.cluster(1) as cluster:
            buffered, direct = dd_bytes_per_s(cluster.directory, mib)
            job = submit(bench, cluster, 1, mib)
            full_s, full = take(cluster, job)
            time.sleep(0.6)  # Until it has changed its pages again.
            part_s, part = take(cluster, job)
            cluster.bsp("cancel", job)
        samples["full_pause"].append(full["pause_ns"] / 1e6)
        samples["part_pause"].append(part["pause_ns"] / 1e6)
        samples["full_s"].append(full_s)
        samples["part_s"].append(part_s / full_s * 100)
        samples["rate"].append(full["written_bytes"] / full_s / 1e6)
        samples["buffered"].append(buffered / 1e6)
        samples["direct"].append(direct / 1e6)
    of = {name: Summary(values) for name, values in samples.items()}
    dd = statistics.median(samples["buffered"])
    figures = [
        Figure("pause, 1 GiB, full", "ms", {"bspnow": of["full_pause"]}, Target(50, "at most")),
        Figure("pause, 1 GiB, 10 % changed", "ms", {"bspnow": of["part_pause"]},
               Target(30, "at most")),
        Figure("until committed, full", "s", {"bspnow": of["full_s"]}),
        Figure("until committed, 10 % changed, of full", "%", {"bspnow": of["part_s"]},
               Target(20, "at most")),
        Figure("image written, of 70 % of dd", "MB/s",
               {"bspnow": of["rate"], "machine": of["buffered"]}, Target(0.7 * dd, "at least"),
               higher_is_better=True),
        Figure("dd with O_DIRECT, fsync", "MB/s", {"machine": of["direct"]})]
    return [Section("images", "Images of one process", figures, COLUMNS)]


def supersteps(cluster, job):
    return int(cluster.show(job)["totals"]["supersteps"])


def await_supersteps(cluster, job):
    """A job that releases itself tells a new coordinator all of its epoch at first: that is no
    superstep that has ended since."""
    for _ in range(2):
        before = supersteps(cluster, job)
        wait_until(lambda since=before: supersteps(cluster, job) > since, "the job goes on",
                   PATIENCE_S)


def recovery(bench):
    """Of one of three workers, and of the coordinator."""
    after_s, coordinator_s = [], []
    for _ in range(bench.choose(3, 5)):
        with bench.cluster(3) as cluster:
            job = submit(bench, cluster, 4, SHARED_MIB)
            take(cluster, job)
            victim = cluster.show(job)["placement"][0]["node"]
            start_s = time.monotonic()
            cluster.workers[victim].kill()
            wait_until(lambda: cluster.show(job)["losses"] and
                       cluster.show(job)["losses"][-1]["resumed"], "the job runs again",
                       PATIENCE_S)
            after_s.append(time.monotonic() - start_s)
            cluster.coordinator.kill()
            cluster.restart_coordinator()
            start_s = time.monotonic()
            await_supersteps(cluster, job)
            coordinator_s.append(time.monotonic() - start_s)
            cluster.bsp("cancel", job)
    figures = [
        Figure("kill -9 of a worker, until all run again", "s", {"bspnow": Summary(after_s)},
               Target(3, "at most")),
        Figure("restarted coordinator, until supersteps go on", "s",
               {"bspnow": Summary(coordinator_s)}, Target(1, "at most"))]
    return [Section("recovery", "Recovery: 4 processes of 64 MiB on three workers", figures,
                    COLUMNS[:1])]


def idle(bench):
    """An empty superstep with the automatic policy, which takes none in so short a run, and off."""
    samples = {"auto": [], "off": []}
    with bench.cluster(2) as cluster:
        for _ in range(bench.choose(6, 10)):
            for policy, values in samples.items():
                done = cluster.bsprun("-n", 2, "--nodes", 2, "--checkpoint=" + policy,
                                      bench.program("sync"), bench.choose(0.5, 1.0))
                values.append(printed(done.stdout)["sync"] * 1e6)
    more = [100 * (auto / off - 1) for auto, off in zip(samples["auto"], samples["off"])]
    figures = [
        Figure("empty sync, p = 2, auto", "us", {"bspnow": Summary(samples["auto"])}),
        Figure("empty sync, p = 2, off", "us", {"bspnow": Summary(samples["off"])}),
        Figure("auto more than off", "%", {"bspnow": Summary(more)},
               Target(1, "at most"))]
    return [Section("idle", "Checkpoints on, but none taken", figures, COLUMNS[:1])]


def printed(text):
    """What a program of the bench prints: lines `figure NAME SECONDS`."""
    return {words[1]: float(words[2]) for words in map(str.split, text.splitlines())
            if len(words) == 3 and words[0] == "figure"}


ALL = {"images": images, "recovery": recovery, "idle": idle}
