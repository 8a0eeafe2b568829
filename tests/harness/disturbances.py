"""What can happen to a cluster while a job runs: processes and daemons are killed or stopped,
connections are cut, disks fail, images are damaged.

Each disturbance is a function (cluster, job, chance), where `chance` is a random.Random. It returns
a line that describes what it did. Afterwards the cluster is whole again, but may still recover.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import time

from harness import left_behind, processes
from harness.cluster import COMMAND_S, ENDED
from harness.waiting import Failed, wait_until

STOPS_S, LONG_STOPS_S = (0.5, 5.0), (15.0, 30.0)
WORKER_FAILPOINTS = [
    "worker.image.before_sync", "worker.image.synced", "worker.image.before_rename",
    "worker.image.renamed", "worker.image.stored", "worker.copy.begin", "worker.copy.done",
    "worker.restore.begin", "worker.restore.collected", "worker.restore.verified",
    "worker.restore.started"]
COORDINATOR_FAILPOINTS = [
    "coordinator.checkpoint.stored", "coordinator.log.sync", "coordinator.checkpoint.before_commit",
    "coordinator.checkpoint.committed", "coordinator.recovery.begin",
    "coordinator.recovery.placed", "coordinator.recovery.cut", "coordinator.recovery.started"]
FAILPOINTS = "BSPNOW_FAILPOINTS"
FAILING_S = 4.0
FAIL_S = 8.0  # The time that a daemon gets to reach a failpoint; some jobs never reach it.


# ---- Processes ------------------------------------------------------------------------------

def hosts_of(worker):
    """The ids of its bsp-hosts."""
    return processes.children_of(worker.process.pid)


def processes_of(cluster):
    """The ids of the processes of jobs, by the name of the worker that hosts them."""
    return {name: [pid for host in hosts_of(worker) for pid in processes.children_of(host)]
            for name, worker in cluster.workers.items() if worker.running}


def kill_process(cluster, job, chance):
    found = [(name, pid) for name, pids in processes_of(cluster).items() for pid in pids]
    if not found:
        return "no process to kill"
    name, pid = chance.choice(found)
    processes.kill(pid)
    return f"killed a process on {name}"


def kill_host(cluster, job, chance):
    found = [(name, pid) for name, worker in cluster.workers.items() if worker.running
             for pid in hosts_of(worker)]
    if not found:
        return "no bsp-host to kill"
    name, pid = chance.choice(found)
    processes.kill(pid)
    return f"killed a bsp-host on {name}"


# ---- Daemons --------------------------------------------------------------------------------

def running_workers(cluster):
    return sorted(name for name, worker in cluster.workers.items() if worker.running)


def hosting_worker(cluster, chance):
    """One that has processes of a job; one that runs, if none has any. No test knows such a name
    beforehand: of nodes that are alike, a job gets those that registered first."""
    hosting = sorted(name for name, pids in processes_of(cluster).items() if pids)
    return chance.choice(hosting or running_workers(cluster))


def restart(worker, failpoint=""):
    worker.environment[FAILPOINTS] = failpoint
    worker.start()


def kill_worker(cluster, job, chance):
    name = hosting_worker(cluster, chance)
    cluster.workers[name].kill()
    away_s = chance.choice([0.0, 0.5, 3.0])
    time.sleep(away_s)
    restart(cluster.workers[name])
    return f"killed worker {name}, started it again after {away_s} s"


def kill_two_workers(cluster, job, chance):
    names = chance.sample(running_workers(cluster), 2)
    for name in names:
        cluster.workers[name].kill()
    time.sleep(chance.choice([0.0, 2.0]))
    for name in names:
        restart(cluster.workers[name])
    return f"killed workers {' and '.join(names)}, started them again"


def kill_coordinator(cluster, job, chance):
    cluster.coordinator.kill()
    away_s = chance.choice([0.0, 0.5, 3.0])
    time.sleep(away_s)
    cluster.restart_coordinator()
    return f"killed the coordinator, started it again after {away_s} s"


def kill_coordinator_and_worker(cluster, job, chance):
    name = hosting_worker(cluster, chance)
    cluster.coordinator.kill()
    cluster.workers[name].kill()
    time.sleep(chance.choice([0.0, 1.0]))
    cluster.restart_coordinator()
    time.sleep(chance.choice([0.0, 1.0]))
    restart(cluster.workers[name])
    return f"killed the coordinator and worker {name}, started both again"


def stop_worker(cluster, job, chance, seconds=None):
    name = hosting_worker(cluster, chance)
    seconds = seconds or chance.choice(STOPS_S)
    cluster.workers[name].pause()
    time.sleep(seconds)
    cluster.workers[name].resume()
    return f"stopped worker {name} for {seconds} s"


def stop_coordinator(cluster, job, chance, seconds=None):
    seconds = seconds or chance.choice(STOPS_S)
    cluster.coordinator.pause()
    time.sleep(seconds)
    cluster.coordinator.resume()
    return f"stopped the coordinator for {seconds} s"


def stop_worker_for_long(cluster, job, chance):
    """The coordinator gives it up meanwhile, and it learns that when it continues."""
    return stop_worker(cluster, job, chance, chance.choice(LONG_STOPS_S))


def stop_coordinator_for_long(cluster, job, chance):
    return stop_coordinator(cluster, job, chance, chance.choice(LONG_STOPS_S))


def stop_process(cluster, job, chance):
    """A single process, or a bsp-host, whose worker goes on."""
    found = [pid for pids in processes_of(cluster).values() for pid in pids]
    found += [pid for worker in cluster.workers.values() if worker.running
              for pid in hosts_of(worker)]
    if not found:
        return "no process to stop"
    stopped, seconds = chance.choice(found), chance.choice(STOPS_S)
    for number in (signal.SIGSTOP, signal.SIGCONT):
        try:
            os.kill(stopped, number)
        except ProcessLookupError:
            return "the process had ended"
        if number == signal.SIGSTOP:
            time.sleep(seconds)
    return f"stopped a process or bsp-host for {seconds} s"


def has_ended(cluster, job):
    """False while the coordinator is away."""
    shown = cluster.bsp("show", "--json", job, check=False)
    return shown.returncode == 0 and \
        json.loads(shown.stdout)["state"] in ENDED


# ---- At a named moment ----------------------------------------------------------------------

def await_end(daemon, cluster, job, wait_s):
    """Whether the daemon dies at its failpoint while the job runs; nothing else may end it."""
    until_s = time.monotonic() + wait_s
    while daemon.running and time.monotonic() < until_s and not has_ended(cluster, job):
        time.sleep(0.1)
    if not daemon.running and daemon.process.returncode != -signal.SIGKILL:
        raise Failed(f"{daemon.name} ended with status {daemon.process.returncode}")
    return not daemon.running


def fail_worker_at(cluster, job, chance, name=None, failpoint=None, wait_s=FAIL_S):
    """The worker dies at a failpoint, if it reaches that, and is started again."""
    name = name or chance.choice(running_workers(cluster))
    failpoint = failpoint or chance.choice(WORKER_FAILPOINTS)
    worker = cluster.workers[name]
    worker.kill()
    restart(worker, f"{failpoint}=crash")
    reached = await_end(worker, cluster, job, wait_s)
    worker.kill()
    restart(worker)
    return f"worker {name} {'died at' if reached else 'never reached'} {failpoint}"


def fail_coordinator_at(cluster, job, chance, failpoint=None, wait_s=FAIL_S):
    failpoint = failpoint or chance.choice(COORDINATOR_FAILPOINTS)
    coordinator = cluster.coordinator
    coordinator.kill()
    coordinator.environment[FAILPOINTS] = f"{failpoint}=crash"
    cluster.restart_coordinator()
    if "recovery" in failpoint:
        kill_process(cluster, job, chance)
    reached = await_end(coordinator, cluster, job, wait_s)
    coordinator.kill()
    coordinator.environment[FAILPOINTS] = ""
    cluster.restart_coordinator()
    return f"the coordinator {'died at' if reached else 'never reached'} {failpoint}"


def failing_disk(cluster, job, chance, failpoint=None, what=None,
                 wait=lambda: time.sleep(FAILING_S)):
    """Each sync of an image fails on one worker while `wait` lasts, or its disk is full. The worker
    is started anew, so the job stays on it only if it has nowhere else to go."""
    name = chance.choice(running_workers(cluster))
    what = what or chance.choice(["error", "enospc"])
    failpoint = failpoint or chance.choice(["worker.image.before_sync",
                                            "worker.image.before_rename"])
    worker = cluster.workers[name]
    worker.kill()
    restart(worker, f"{failpoint}={what}")
    wait()
    worker.kill()
    restart(worker)
    return f"worker {name}'s disk failed: {failpoint} {what}"


# ---- Images ---------------------------------------------------------------------------------

def images(worker):
    """Paths of the complete images that a worker holds."""
    root = os.path.join(worker.state_dir, "checkpoints")
    return sorted(path for path in left_behind.files_below(root)
                  if re.fullmatch(r"c\d+\.p\d+", os.path.basename(path)))


def flip_bit(path, chance):
    with open(path, "r+b") as file:
        size = os.path.getsize(path)
        at = chance.randrange(size)
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ (1 << chance.randrange(8))]))


def rot(cluster, job, chance):
    """Flips a bit of an image on one node, then kills a process, so that the job needs images."""
    found = [(name, path) for name in running_workers(cluster)
             for path in images(cluster.workers[name])]
    if not found:
        return "no image to damage"
    name, path = chance.choice(found)
    try:
        flip_bit(path, chance)
    except (FileNotFoundError, ValueError):
        return "the image was gone"
    return f"damaged {os.path.basename(path)} on {name}, and {kill_process(cluster, job, chance)}"


def empty_cache(cluster, job, chance):
    """Somebody needs room. A process is killed, so that its job needs its program again."""
    name = chance.choice(running_workers(cluster))
    cache = os.path.join(cluster.workers[name].state_dir, "cache")
    if chance.random() < 0.5:
        shutil.rmtree(cache, ignore_errors=True)  # Something may come meanwhile.
    else:
        for path in left_behind.entries(cache):
            if len(os.path.basename(path)) == 64:  # Else it is still being fetched.
                os.truncate(path, 0)
    return f"emptied the cache of {name}, and {kill_process(cluster, job, chance)}"


# ---- The coordinator's disk -----------------------------------------------------------------

LOG_DAMAGES = ("gone", "shorter", "flipped", "no log")


def damage_log(cluster, job, chance, how=None):
    """The log of the job is another one when the coordinator comes back."""
    how = how or chance.choice(LOG_DAMAGES)
    recovers = cluster.state(job) == "recovering"
    cluster.coordinator.kill()
    if not recovers and not any(processes_of(cluster).values()):
        # All have ended, and their output was durable: nobody writes it again.
        cluster.restart_coordinator()
        return "the log stays as it is, for the job is over"
    path = os.path.join(cluster.coordinator.state_dir, "jobs", str(job), "log")
    try:
        if how == "gone":
            os.unlink(path)
        elif how == "shorter":
            os.truncate(path, chance.randrange(os.path.getsize(path)))
        elif how == "flipped":
            flip_bit(path, chance)
        else:
            with open(path, "r+b") as file:
                file.write(b"something else")
    except FileNotFoundError:
        how = "not there yet"
    cluster.restart_coordinator()
    return f"the log was {how} when the coordinator came back"


def journal_files(coordinator):
    """With its write-ahead log, and without its copy."""
    return [path for path in (os.path.join(coordinator.state_dir, "jobs.sqlite" + part)
                              for part in ("", "-wal", "-shm")) if os.path.exists(path)]


def await_copy(coordinator):
    """Of the journal as it is now, or newer: it comes with the next change, so with a commit."""
    now = time.time()
    copy = os.path.join(coordinator.state_dir, "jobs.sqlite.copy")
    wait_until(lambda: os.path.exists(copy) and os.stat(copy).st_mtime > now,
               "the journal is copied", COMMAND_S)


def remove_journal(coordinator):
    for path in journal_files(coordinator):
        os.unlink(path)


def save_journal(coordinator):
    """What it is now, by path."""
    saved = {}
    for path in journal_files(coordinator):
        with open(path, "rb") as file:
            saved[path] = file.read()
    return saved


def put_back(coordinator, saved):
    """As a backup of the whole directory does: the copy is not newer."""
    remove_journal(coordinator)
    os.unlink(os.path.join(coordinator.state_dir, "jobs.sqlite.copy"))
    for path, content in saved.items():
        with open(path, "wb") as file:
            file.write(content)


def rebuild_journal(coordinator):
    subprocess.run([coordinator.command[0], "--rebuild", "--state-dir", coordinator.state_dir],
                   check=True, stdout=subprocess.DEVNULL)


def forget_images(worker, job):
    shutil.rmtree(os.path.join(worker.state_dir, "checkpoints", f"job-{job}"))


# ---- Connections ----------------------------------------------------------------------------

def cut(cluster, job, chance):
    if not cluster.proxy:
        return "no proxy"
    route = chance.choice([*running_workers(cluster), "barrier"])
    how = chance.choice(["reset", "halfopen", "cut", "cut-to", "cut-from"])
    seconds = chance.choice([0.2, 1.0, 3.0])
    cluster.proxy.now(how, route)
    time.sleep(seconds)
    if how != "reset":
        cluster.proxy.now("heal", route)
    return f"{how} of {route} for {seconds} s"


# ---- Users ----------------------------------------------------------------------------------

def drain(cluster, job, chance):
    name = chance.choice(running_workers(cluster))
    cluster.bsp("drain", name, check=False)
    time.sleep(2.0)
    cluster.bsp("undrain", name, check=False)
    return f"drained {name} for 2 s"


def suspend(cluster, job, chance):
    done = cluster.bsp("suspend", job, check=False)
    time.sleep(chance.choice([0.0, 1.0]))
    cluster.bsp("resume", job, check=False)
    return f"suspended and resumed the job (status {done.returncode})"


def checkpoint(cluster, job, chance):
    done = cluster.bsp("checkpoint", job, check=False)
    return f"asked for a checkpoint (status {done.returncode})"


USUAL = {
    function.__name__: function for function in
    (kill_process, kill_host, kill_worker, kill_two_workers, kill_coordinator,
     kill_coordinator_and_worker, stop_worker, stop_process, stop_coordinator, fail_worker_at,
     fail_coordinator_at, failing_disk, rot, empty_cache, damage_log, cut, drain, suspend,
     checkpoint)}


RARE = {
    function.__name__: function for function in (stop_worker_for_long, stop_coordinator_for_long)}
