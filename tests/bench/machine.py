"""What the bench ran on."""

import datetime
import os
import platform
import subprocess


def cpu_model():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as cpuinfo:
        for line in cpuinfo:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return "unknown"


def memory_nbytes():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def first_line(command):
    """The first line that a command prints, or "unknown"."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return done.stdout.strip().partition("\n")[0]


def describe():
    return {
        "cores": len(os.sched_getaffinity(0)),
        "cpu": cpu_model(),
        "memory_bytes": memory_nbytes(),
        "kernel": "%s %s" % (platform.system(), platform.release()),
        "load_before": os.getloadavg()[0],
    }


def date():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def commit(source_dir):
    return first_line(["git", "-C", source_dir, "describe", "--always", "--dirty"])
