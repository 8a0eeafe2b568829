"""The ways in which a job can end, and what bsprun(1) promises for each. A seeded source of chance
decides a plan: the same seed gives the same plan."""

import dataclasses
from signal import SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGSTOP, SIGTERM

import checks

HANG_S = 40  # A run that takes longer hangs. Far more than any takes on a busy machine.
GRACE_S = 2.0  # bsprun(1), "Signals": processes that still run then are killed.
BUSY_S = 4.0  # A busy machine may add this.
KILLED = checks.killed(9, "Killed")
CRASHED = checks.killed(11, "Segmentation fault")
SHELL = ("/bin/sh", "-c", '"$0" "$@"; exit $?')
EXEC_SHELL = ("/bin/sh", "-c", 'exec "$0" "$@"')


@dataclasses.dataclass
class Plan:
    nprocs: int
    arguments: dict = dataclasses.field(default_factory=dict)  # of ending.c
    options: list = dataclasses.field(default_factory=list)    # of bsprun
    wrapper: tuple = ()        # a command that bsprun runs, and that runs ending.c
    program: str = ""          # runs in place of ending.c
    environment: dict = dataclasses.field(default_factory=dict)
    terminal: bool = False     # bsprun is the foreground job of a terminal
    closed: tuple = ()         # descriptors that are closed when bsprun starts
    ignored: tuple = ()        # signals that are ignored when bsprun starts
    stdin: str = "nothing"     # or "open": neither bytes nor an end arrive
    stdout: str = "all"        # how it is read; see Reader. Or it goes to a "full disk"
    stderr: str = "all"
    # (seconds after the event before, a function of job.Job, its argument)
    events: list = dataclasses.field(default_factory=list)
    # What the outcome must be.
    statuses: tuple = (0,)
    messages: dict = dataclasses.field(default_factory=dict)       # see checks.stderr_complaints
    output: object = None
    stops: int = 0
    since_event_max_s: float = HANG_S
    seconds_max: float = HANG_S
    grace_s: float = 0.0       # processes may run on after a bsprun that was killed

    def __post_init__(self):
        if self.output is None and self.stdout == "all":
            self.stdout = "discard"


def some_processes(chance, most=64):
    return chance.choice([p for p in (1, 2, 2, 3, 4, 4, 5, 7, 8, 12, 16, 32, 64) if p <= most])


def descendants(chance):
    """Sometimes, each process starts one that outlives it."""
    return {"children": chance.choice((1, 2, 3))} if chance.random() < 0.2 else {}


def busy(chance):
    """A job without end that is busy in one way or another."""
    arguments = {"supersteps": -1}
    what = chance.choice(("start", "barrier", "compute", "transfer", "print"))
    if what in ("start", "barrier"):
        arguments["lag"] = chance.choice((1000, 100000, 10000000))
    elif what == "compute":
        arguments |= {"how": chance.choice(("compute", "sleep")), "who": -1, "at": 3}
    elif what == "transfer":
        arguments["transfer"] = chance.choice((8, 4000, 100000))
    else:
        arguments |= {"lines": 10, "width": chance.choice((20, 100, 3000))}
    return arguments


def checked(chance):
    """Sometimes, with the other way through a superstep, that of BSP_CHECK=full."""
    return {"BSP_CHECK": "full"} if chance.random() < 0.2 else {}


def moment(chance):
    """Seconds from the start to an event: while the job starts, or later."""
    return chance.choice((0, chance.uniform(0, 0.02), chance.uniform(0, 0.1),
                          chance.uniform(0.1, 0.4)))


def whole_lines(nprocs, width, each=None, least=0):
    def check(stdout, _):
        return checks.Lines(nprocs, width, each, least).complaints(
            stdout.decode(errors="replace"))
    return check


# ---- The program ends by itself ---------------------------------------------------------------

def normal(chance):
    p = chance.choice((some_processes(chance), some_processes(chance), 256))
    supersteps, lines = chance.choice((0, 1, 5, 20)), chance.choice((0, 1, 10))
    status = chance.choice((0, 0, 1, 77))
    return Plan(p, {"supersteps": supersteps, "lines": lines, "return": status,
                    "transfer": chance.choice((0, 8, 20000)), **descendants(chance)},
                wrapper=chance.choice(((), (), SHELL, EXEC_SHELL)), environment=checked(chance),
                statuses=(status,), stdin=chance.choice(("nothing", "open")),
                output=whole_lines(p, 64, supersteps * lines))


def fewer_processes(chance):
    """bsp_begin asks for fewer processes; the others leave silently."""
    p = some_processes(chance)
    used = chance.randint(1, p)
    return Plan(p, {"begin": used, "lines": 3, **descendants(chance)},
                output=whole_lines(used, 64, 9))


def fails_after_end(chance):
    p = some_processes(chance)
    status = chance.choice((1, 99))
    return Plan(p, {"how": chance.choice(("exit", "_exit")), "at": -2, "who": chance.randrange(p),
                    "status": status}, statuses=(status,))


def abort(chance):
    p = chance.choice((some_processes(chance), 256))
    who = chance.choice((chance.randrange(p), -1))
    return Plan(p, {"how": "abort", "who": who, "at": chance.randrange(3),
                    "transfer": chance.choice((0, 8, 20000)), **descendants(chance)},
                wrapper=chance.choice(((), SHELL)), statuses=(6,), messages={checks.GIVES_UP: 1})


def misuse(chance):
    p = some_processes(chance)
    return Plan(p, {"how": "misuse", "at": 1, "who": chance.choice((-1, chance.randrange(p))),
                    **descendants(chance)}, statuses=(6,), messages={checks.MISUSE: 1})


def supersteps_differ(chance):
    p = max(2, some_processes(chance))
    return Plan(p, {"how": "end", "at": 1, "who": chance.randrange(p)}, statuses=(6,),
                messages={checks.MISUSE: 1})


def leaves(chance):
    """Without bsp_end."""
    p = some_processes(chance)
    how, status = chance.choice((("exit", 0), ("exit", 7), ("_exit", 0), ("_exit", 200),
                                 ("exec", 0), ("fork", 0), ("fork", 3)))
    return Plan(p, {"how": how, "status": status, "at": chance.randrange(3),
                    "who": chance.choice((-1, chance.randrange(p))), **descendants(chance)},
                statuses=(status or 6,), messages={checks.LEFT: 1})


def leaves_before_begin(chance):
    """Pid 0 decides: the job may end without an SPMD part. Another process may not leave."""
    p = max(2, some_processes(chance))
    if chance.random() < 0.5:
        status = chance.choice((0, 0, 2))
        return Plan(p, {"how": "exit", "at": -1, "who": 0, "status": status}, statuses=(status,))
    status = chance.choice((0, 2))
    return Plan(p, {"how": "exit", "at": -1, "who": -2, "status": status},
                statuses=(status or 6,), messages={} if status else {checks.LEFT_EARLY: 1})


def crashes(chance):
    """What was printed in the supersteps before is shown."""
    p = some_processes(chance)
    how, status, words = chance.choice((("segv", 139, CRASHED), ("kill", 137, KILLED)))
    at, lines = chance.choice((-1, 0, 2)), chance.choice((1, 10))
    # Before bsp_begin a process only knows whether it is pid 0.
    who = chance.choice((-1, 0)) if at == -1 else chance.choice((-1, chance.randrange(p)))
    return Plan(p, {"how": how, "at": at, "who": who, "transfer": chance.choice((0, 100000)),
                    "lines": lines, **descendants(chance)},
                statuses=(status,), messages={words: 1},
                output=whole_lines(p, 64, least=max(at, 0) * lines))


def no_bsp_program(chance):
    program, status, words = chance.choice((
        ("/bin/true", 1, checks.NOT_LINKED), ("/bin/sleep", 1, checks.NOT_LINKED),
        ("/no/such/program", 127, checks.NOT_FOUND), ("/etc/passwd", 126, checks.NOT_EXECUTABLE)))
    messages = {words: 1} if program != "/bin/sleep" else {words: 1, "(?!bsprun).*": 0}
    return Plan(some_processes(chance), program=program, statuses=(status,), messages=messages)


# ---- From outside -----------------------------------------------------------------------------

def process_killed(chance):
    return Plan(some_processes(chance), {**busy(chance), **descendants(chance)},
                events=[(moment(chance), "signal_process", (chance.random(), SIGKILL))],
                environment=checked(chance), statuses=(137,), messages={KILLED: 1})


def interrupted(chance):
    """By a signal to all, as a terminal sends it, or to bsprun alone."""
    number = chance.choice((SIGINT, SIGINT, SIGTERM, SIGHUP))
    to = chance.choice(("signal_group", "signal_launcher"))
    p = chance.choice((some_processes(chance), some_processes(chance), 256))
    early = chance.random() < 0.3  # Perhaps before bsprun's main.
    return Plan(p, {**busy(chance), **descendants(chance)},
                events=[(moment(chance), to, number)] if early else
                [(0, "begun", None), (moment(chance), to, number)],
                wrapper=chance.choice(((), (), SHELL)), stdin=chance.choice(("nothing", "open")),
                statuses=(128 + number, -number) if early else (128 + number,))


def interrupted_while_it_ignores(chance):
    number = chance.choice((SIGINT, SIGTERM, SIGHUP))
    to = chance.choice(("signal_group", "signal_launcher"))
    return Plan(some_processes(chance, 8), {**busy(chance), "ignore": 1, **descendants(chance)},
                events=[(0, "begun", None), (0.3, to, number)],
                statuses=(128 + number,), since_event_max_s=GRACE_S + BUSY_S)


def asked(chance):
    """SIGQUIT: bsprun says how the job stands, which goes on."""
    p = some_processes(chance, 8)
    to = chance.choice(("signal_group", "signal_launcher"))
    return Plan(p, {"supersteps": 40, "lag": 20000, "lines": 1},
                events=[(0, "begun", None), (0.1, to, SIGQUIT)], output=whole_lines(p, 64, 40),
                messages={checks.STATE: 1, checks.LATE_PROCESS: 0})


def interrupted_twice(chance):
    """Of two signals that are pending at once, on a busy machine, the lower number comes first."""
    first, second = chance.choice((SIGINT, SIGTERM)), chance.choice((SIGINT, SIGTERM))
    return Plan(some_processes(chance, 8), {**busy(chance), "ignore": 1, **descendants(chance)},
                events=[(0, "begun", None), (0.3, "signal_group", first),
                        (0.1, "signal_group", second)],
                statuses=(128 + first, 128 + min(first, second)), since_event_max_s=GRACE_S - 0.1)


def launcher_killed(chance):
    return Plan(some_processes(chance), busy(chance), wrapper=chance.choice(((), SHELL)),
                events=[(moment(chance), "signal_launcher", SIGKILL)], statuses=(-SIGKILL,),
                messages=None, grace_s=BUSY_S)


def starts_with_signals_ignored(chance):
    """As under nohup, or from a service that ignores SIGCHLD: ignored signals stay ignored."""
    number = chance.choice((SIGHUP, SIGINT))
    p = some_processes(chance, 8)
    return Plan(p, {"supersteps": 20, "lag": 20000, "lines": 1}, ignored=(SIGCHLD, number),
                events=[(0, "begun", None), (0.1, "signal_group", number)],
                output=whole_lines(p, 64, 20))


def stopped_and_continued(chance):
    p = some_processes(chance, 16)
    whom = chance.choice(("signal_group", "signal_launcher"))
    return Plan(p, {"supersteps": 30, "lag": 5000, "lines": 2},
                events=[(moment(chance), whom, SIGSTOP), (0.1, whom, SIGCONT)],
                output=whole_lines(p, 64, 60))


def process_stopped(chance):
    """One process is stopped, and then the job interrupted."""
    return Plan(some_processes(chance, 16), {**busy(chance), **descendants(chance)},
                events=[(0, "all_run", None), (moment(chance), "signal_process",
                                               (chance.random(), SIGSTOP)),
                        (0.1, "signal_launcher", SIGTERM)],
                statuses=(143,), since_event_max_s=GRACE_S + BUSY_S)


# ---- On a terminal ----------------------------------------------------------------------------

def key_pressed(chance):
    """Ctrl-C; or the terminal goes away."""
    name, what, number = chance.choice((("type", b"\x03", SIGINT), ("hang_up", None, SIGHUP)))
    return Plan(some_processes(chance), {**busy(chance), **descendants(chance)}, terminal=True,
                events=[(0, "begun", None), (moment(chance), name, what)],
                statuses=(128 + number,), messages=None)


def key_pressed_twice(chance):
    return Plan(some_processes(chance, 8), {**busy(chance), "ignore": 1}, terminal=True,
                events=[(0, "begun", None), (0.3, "type", b"\x03"), (0.1, "type", b"\x03")],
                statuses=(130,), messages=None, since_event_max_s=GRACE_S - 0.1)


def suspended(chance):
    """Ctrl-Z and fg; then it goes on, or is interrupted."""
    p = some_processes(chance, 16)
    events = [(0, "begun", None), (chance.uniform(0, 0.1), "type", b"\x1a")]
    if chance.random() < 0.5:
        return Plan(p, {"supersteps": 20, "lag": 20000}, terminal=True, events=events, stops=1,
                    messages=None)
    return Plan(p, busy(chance), terminal=True, events=[*events, (0.2, "type", b"\x03")],
                statuses=(130,), stops=1, messages=None)


# ---- Output and input -------------------------------------------------------------------------

def reader_leaves(chance):
    """As in `bsprun ... | head -1`."""
    if chance.random() < 0.5:
        return Plan(some_processes(chance), {"supersteps": -1, "lines": 10, **descendants(chance)},
                    stdout="first line", statuses=(141,))
    return Plan(some_processes(chance), {"lines": 3}, stdout="first line", statuses=(0, 141))


def error_reader_leaves(chance):
    p = some_processes(chance, 8)
    return Plan(p, {"supersteps": 2, "lines": 10000, "stream": 2}, stderr="first line",
                messages=None, statuses=(141,))


def slow_reader(chance):
    p = some_processes(chance, 8)
    lines = 1200000 // (p * 2 * 100)
    return Plan(p, {"supersteps": 2, "lines": lines, "width": 100}, stdout="slowly",
                output=whole_lines(p, 100, 2 * lines))


def flood(chance):
    p, width = some_processes(chance, 16), chance.choice((40, 200, 4000))
    lines = 24000000 // (p * 2 * width)
    return Plan(p, {"supersteps": 2, "lines": lines, "width": width}, stdin="open",
                output=whole_lines(p, width, 2 * lines))


def flood_of_errors(chance):
    p = some_processes(chance, 8)
    lines = 2000000 // (p * 2 * 100)

    def check(_, stderr):
        return checks.Lines(p, 100, 2 * lines).complaints(stderr.decode(errors="replace"))
    return Plan(p, {"supersteps": 2, "lines": lines, "width": 100, "stream": 2}, messages=None,
                output=check)


def binary_output(chance):
    nbytes = chance.choice((1, 1000, 300000))

    def check(stdout, _):
        return [] if stdout == checks.binary(nbytes) else ["binary output differs"]
    return Plan(some_processes(chance), {"binary": nbytes}, output=check)


def stuck_reader(chance):
    """Nobody reads the output, and then the job is interrupted."""
    number = chance.choice((SIGINT, SIGTERM))
    to = chance.choice(("signal_group", "signal_launcher"))
    return Plan(some_processes(chance, 16),
                {"supersteps": -1, "lines": 100, "ignore": chance.choice((0, 0, 1))},
                stdout="nothing", events=[(0, "begun", None), (0.3, to, number)],
                statuses=(128 + number,), since_event_max_s=GRACE_S + BUSY_S)


def stuck_terminal(chance):
    """Nobody reads what the terminal shows, and then bsprun is to end."""
    return Plan(some_processes(chance, 16), {"supersteps": -1, "lines": 100}, terminal=True,
                stdout="nothing", events=[(0, "begun", None), (0.3, "signal_launcher", SIGTERM)],
                statuses=(143,), messages=None, since_event_max_s=GRACE_S + BUSY_S)


def full_disk(chance):
    """The output cannot be written."""
    supersteps = chance.choice((1, -1))
    return Plan(some_processes(chance), {"supersteps": supersteps, "lines": 10,
                                         **descendants(chance)},
                stdout="full disk", statuses=(1,), messages={checks.CANNOT_WRITE: 1})


def descriptors_closed(chance):
    """Standard descriptors are closed when bsprun starts."""
    closed = chance.choice(((0,), (1,), (2,), (0, 1), (0, 1, 2)))
    p = some_processes(chance, 16)

    def check(stdout, _):
        expected = b"" if 1 in closed else b"read 0\n"
        return [] if stdout == expected else [f"stdout is {stdout[:100]}, expected {expected}"]
    fails = 1 in closed  # What pid 0 prints cannot be written.
    return Plan(p, {"read": 1, "transfer": 8, **descendants(chance)}, closed=closed, output=check,
                statuses=(1,) if fails else (0,),
                messages={checks.CLOSED_OUTPUT: 1} if fails and 2 not in closed else {})


# How often each occurs. The rarer ones take seconds.
KINDS = ((normal, 3), (fewer_processes, 1), (fails_after_end, 1), (abort, 2), (misuse, 1),
         (supersteps_differ, 1), (leaves, 2), (leaves_before_begin, 1), (crashes, 2),
         (no_bsp_program, 1), (process_killed, 5), (interrupted, 4),
         (interrupted_while_it_ignores, 1), (interrupted_twice, 1), (asked, 2),
         (launcher_killed, 2), (starts_with_signals_ignored, 1), (stopped_and_continued, 1),
         (process_stopped, 1),
         (key_pressed, 2), (key_pressed_twice, 1), (suspended, 1), (reader_leaves, 2),
         (error_reader_leaves, 1), (slow_reader, 1), (flood, 1), (flood_of_errors, 1),
         (binary_output, 1), (stuck_reader, 1), (stuck_terminal, 1), (full_disk, 1),
         (descriptors_closed, 1))
