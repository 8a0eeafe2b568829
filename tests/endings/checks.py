"""What ending.c must print, and what bsprun must print about an end."""

import re

LATE = "took"
LETTERS = "abcdefghijklmnopqrstuvwxyz" * 160

# What lines on standard error may be, besides those of the program.
GIVES_UP = r"pid \d+ gives up"
MISUSE = r"bspnow: bsp_\w+ on pid \d+, superstep \d+: .+; .+"
WHO = r"pid \d+ \(OS pid \d+ on \S+\)"
LEFT = (rf"bsprun: {WHO} left without bsp_end in superstep \d+ \(exit status \d+\); every process"
        r" must call bsp_end \(in PUB bsplib_done\), or bsp_abort to end the job")
LEFT_EARLY = (r"bsprun: pid \d+ left before bsp_begin, while others are in it; all processes must"
              r" call bsp_begin and bsp_end")
NOT_LINKED = r"bsprun: \S+ is not linked with libbsp, and no process called bsp_begin; .*"
NOT_FOUND = r"bsprun: program \S+ not found: .*"
NOT_EXECUTABLE = r"bsprun: program \S+ is not executable; .*"
STATE = r"bsprun: superstep \d+, \d+ of \d+ processes in bsp_sync(, but not)?"
LATE_PROCESS = (r"bsprun:\s+pid \d+( \(process \d+\))?: (computing|asleep, not in bsp_sync)"
                r"(, before bsp_begin)?, for \d+ s")
CANNOT_WRITE = "bsprun: writing standard output: No space left on device"
CLOSED_OUTPUT = "bsprun: writing standard output: Bad file descriptor"


def killed(number, name):
    return rf"bsprun: {WHO} was killed by signal {number} \({name}\)( in superstep \d+)?"


def line(pid, number, width):
    """A line of print_line in ending.c, without the newline."""
    head = f"{pid} {number} "
    first = (number + len(head)) % 26
    return head + LETTERS[first:first + width - 1 - len(head)]


class Lines:
    """Each process's lines, whole and in the process's order. `each` is how many of each process
    there must be; without it, output may stop anywhere after `least` lines of each, even within a
    process's last line."""

    def __init__(self, nprocs, width, each=None, least=0):
        self.nprocs, self.width, self.each, self.least = nprocs, width, each, least

    def complaints(self, text):
        if not text.endswith("\n") and text and self.each is not None:
            return ["the output ends without a newline"]
        seen = [0] * self.nprocs
        torn = 0
        for got in text.splitlines():
            pid = int(got.partition(" ")[0]) if re.match(r"\d+ ", got) else -1
            if 0 <= pid < self.nprocs and got == line(pid, seen[pid], self.width):
                seen[pid] += 1
            elif self.each is None and torn < self.nprocs and any(
                    line(i, seen[i], self.width).startswith(got) for i in range(self.nprocs)):
                torn += 1
            else:
                return [f"a line that no process prints next: '{got[:80]}'"]
        if self.each is not None and seen != [self.each] * self.nprocs:
            return [f"lines of each process: {seen}, expected {self.each}"]
        if min(seen) < self.least:
            return [f"lines of each process: {seen}, expected at least {self.least}"]
        return []


def binary(nbytes):
    """The bytes of write_binary in ending.c."""
    state, result = 1, bytearray()
    for _ in range(nbytes):
        state = (state * 1664525 + 1013904223) & 0xffffffff
        result.append(state >> 24)
    return bytes(result)


def stderr_complaints(plan, text):
    """What is wrong with standard error. `plan.messages` maps each pattern that a line may match
    to how many lines must match it."""
    result = []
    count = dict.fromkeys(plan.messages, 0)
    for got in text.splitlines():
        pattern = next((p for p in plan.messages if re.fullmatch(p, got)), None)
        if pattern is None:
            result.append(f"unexpected on stderr: '{got[:200]}'")
        else:
            count[pattern] += 1
    for pattern, least in plan.messages.items():
        if count[pattern] < least:
            result.append(f"nothing on stderr matches '{pattern}'")
        if "bsprun: " in pattern and count[pattern] > 1:
            result.append(f"bsprun prints {count[pattern]} times: '{pattern}'")
    return result


def is_only_late(found):
    return len(found) == 1 and found[0].startswith(LATE)


def complaints(plan, outcome):
    """What is wrong with an outcome; empty if nothing."""
    if outcome.hung:
        return [f"still running after {plan.seconds_max} s"]
    result = []
    if outcome.status not in plan.statuses:
        result.append(f"exit status {outcome.status}, expected one of {sorted(plan.statuses)}")
    if outcome.since_event_s > plan.since_event_max_s:
        result.append(f"{LATE} {outcome.since_event_s:.2f} s to end, expected at most"
                      f" {plan.since_event_max_s} s")
    if plan.output is not None:
        result += plan.output(outcome.stdout, outcome.stderr)
    if plan.messages is not None:
        result += stderr_complaints(plan, outcome.stderr.decode(errors="replace"))
    if [note for note in outcome.notes if note.startswith("the terminal")]:
        result.append("left the terminal with other settings")
    if outcome.notes.count("stopped") < plan.stops:
        result.append(f"stopped {outcome.notes.count('stopped')} times, expected {plan.stops}")
    return result
