"""Starts one bsprun as a plan says, reads its output as the plan says, lets the plan's events
happen, and says what came of it."""

import dataclasses
import os
import pty
import resource
import select
import signal
import subprocess
import sys
import threading
import time

import left_behind

HERE = os.path.dirname(os.path.realpath(__file__))
PIECE_NBYTES = 1 << 16
INHERITED = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE)


@dataclasses.dataclass
class Outcome:
    status: int           # as subprocess has it: -N if killed by signal N
    stdout: bytes         # on a terminal all output
    stderr: bytes
    since_event_s: float  # from the first event, or else the start, to the end
    hung: bool
    notes: list           # what terminal.py had to say


class Reader(threading.Thread):
    """Reads one stream: `all`, `slowly`, its `first line`, or `nothing`; then closes it. `discard`
    is `all`, and forgotten."""

    def __init__(self, fd, how):
        super().__init__(daemon=True)
        self.fd, self.how = fd, how
        self.pieces = []
        self.stop_now = False
        self.woken, self.waker = os.pipe()
        self.start()

    def _read(self):
        try:
            return os.read(self.fd, 4096 if self.how == "slowly" else PIECE_NBYTES)
        except OSError:  # Nothing there now, or a terminal whose other side is closed.
            return b""

    def run(self):
        wanted = [] if self.how == "nothing" else [self.fd]
        while True:
            ready, _, _ = select.select([*wanted, self.woken], [], [])
            if self.woken in ready:
                break
            if self.how == "discard":
                self.pieces.clear()
            self.pieces.append(self._read())
            if not self.pieces[-1] or (self.how == "first line" and b"\n" in self.pieces[-1]):
                break
            if self.how == "slowly":
                time.sleep(0.0005)
        if self.woken in ready and wanted and not self.stop_now:
            self._read_rest()
        os.close(self.fd)

    def _read_rest(self):
        """All that is in the pipe. Its end may not come: what was left behind can hold it."""
        os.set_blocking(self.fd, False)
        while self.pieces[-1:] != [b""]:
            self.pieces.append(self._read())

    def hang_up(self):
        self.stop_now = True
        self.finish()

    def finish(self):
        """What was read, after the writers have ended."""
        if self.waker is not None:
            os.close(self.waker)
            self.waker = None
            self.join()
            os.close(self.woken)
        return b"".join(self.pieces)


class Job:
    """One bsprun that runs; what a plan's events act upon."""

    def __init__(self, plan, command, mark, directory):
        self.plan = plan
        self.mark = mark
        self.report = self.input = None
        self.options = {
            "env": {**os.environ, **plan.environment, left_behind.MARK: mark, "TMPDIR": directory},
            "cwd": directory, "start_new_session": True, "preexec_fn": self._prepare}
        self.options["env"].pop("BSP_NPROCS", None)
        if plan.terminal:
            self._start_on_terminal(command)
        else:
            self._start_on_pipes(command)
        self.first_event_s = time.monotonic()

    def _prepare(self):
        """In the child, before it becomes bsprun."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number in INHERITED:
            ignore = number in self.plan.ignored
            signal.signal(number, signal.SIG_IGN if ignore else signal.SIG_DFL)
        for fd in self.plan.closed:
            os.close(fd)

    def _start_on_terminal(self, command):
        master, slave = pty.openpty()
        self.report, report = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-B", os.path.join(HERE, "terminal.py"), str(report), *command],
            stdin=slave, stdout=slave, stderr=slave, pass_fds=[report], **self.options)
        os.close(slave)
        os.close(report)
        self.master = master
        self.stdout, self.stderr = Reader(master, self.plan.stdout), None

    def _start_on_pipes(self, command):
        stdin = subprocess.PIPE if self.plan.stdin == "open" else subprocess.DEVNULL
        (out, theirs_out), (err, theirs_err) = os.pipe(), os.pipe()
        if self.plan.stdout == "full disk":
            os.close(theirs_out)
            theirs_out = os.open("/dev/full", os.O_WRONLY)
        self.process = subprocess.Popen(command, stdin=stdin, stdout=theirs_out,
                                        stderr=theirs_err, **self.options)
        os.close(theirs_out)
        os.close(theirs_err)
        self.input = self.process.stdin
        self.stdout, self.stderr = Reader(out, self.plan.stdout), Reader(err, self.plan.stderr)

    # ---- Events: each is a name and what goes with it ----------------------------------------

    def begun(self, _):
        """Waits until bsprun has started a process."""
        while self.process.poll() is None and not left_behind.children_of(self.launcher()):
            time.sleep(0.001)

    def all_run(self, _):
        """Waits until all processes run the program: no copy of bsprun is among them."""
        while self.process.poll() is None:
            running = [left_behind.program_of(pid)
                       for pid in left_behind.children_of(self.launcher())[:self.plan.nprocs]]
            if (len(running) == self.plan.nprocs
                    and left_behind.program_of(self.launcher()) not in running):
                break
            time.sleep(0.001)

    def launcher(self):
        """bsprun's process id; on a terminal it is terminal.py's only child."""
        if not self.plan.terminal:
            return self.process.pid
        return next(iter(left_behind.children_of(self.process.pid)), None)

    def signal_group(self, number):
        """As a terminal does."""
        os.killpg(self.process.pid, number)

    def signal_launcher(self, number):
        os.kill(self.launcher(), number)

    def signal_process(self, which):
        """One of the processes, `fraction` of the way through; waits for the first. It may not yet
        run the program."""
        fraction, number = which
        processes = []
        while not processes and self.process.poll() is None:
            # Behind them come their descendants that lost their parent.
            processes = left_behind.children_of(self.launcher())[:self.plan.nprocs]
        if processes:
            os.kill(processes[int(fraction * len(processes))], number)

    def type(self, keys):
        os.write(self.master, keys)

    def hang_up(self, _):
        self.stdout.hang_up()

    def _let_happen(self, events):
        happened = False
        for delay_s, name, what in events:
            time.sleep(delay_s)
            if name not in ("begun", "all_run") and not happened:
                self.first_event_s = time.monotonic()
                happened = True
            if self.process.poll() is not None:
                return
            try:
                getattr(self, name)(what)
            except (ProcessLookupError, TypeError):  # It ends at this moment; no launcher: None.
                pass

    # ---- The end ---------------------------------------------------------------------------------

    def _wait(self):
        """False if it hangs; then it is killed, with everything that belongs to it."""
        try:
            self.process.wait(timeout=self.plan.seconds_max)
            return True
        except subprocess.TimeoutExpired:
            for pid in left_behind.processes(self.mark):
                os.kill(pid, signal.SIGKILL)
            self.process.wait()
            return False

    def _notes(self):
        text = b""
        while piece := os.read(self.report, PIECE_NBYTES):
            text += piece
        os.close(self.report)
        return text.decode().splitlines()

    def finish(self):
        self._let_happen(self.plan.events)
        ended = self._wait()
        since_event_s = time.monotonic() - self.first_event_s
        if self.input is not None:
            self.input.close()
        status, notes = self.process.returncode, []
        if self.plan.terminal:
            notes = self._notes()
            words = [note.split() for note in notes if note.startswith(("exit ", "signal "))]
            for word, number in words:
                status = int(number) if word == "exit" else -int(number)
        return Outcome(status=status, stdout=self.stdout.finish(),
                       stderr=self.stderr.finish() if self.stderr else b"",
                       since_event_s=since_event_s, hung=not ended, notes=notes)
