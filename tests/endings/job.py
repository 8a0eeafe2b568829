"""One run of bsprun by a plan: starts it, reads its output, causes the plan's events, and returns
the outcome."""

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

from harness import processes

HERE = os.path.dirname(os.path.realpath(__file__))
PIECE_NBYTES = 1 << 16
INHERITED = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE)


@dataclasses.dataclass
class Outcome:
    status: int           # as subprocess has it: -N if killed by signal N
    stdout: bytes         # on a terminal all output
    stderr: bytes
    since_event_s: float  # from the first event, or without one from the start, to the end
    hung: bool
    notes: list           # the lines that terminal.py wrote


class Reader(threading.Thread):
    """Reads one stream: `all`, `slowly`, its `first line`, or `nothing`; then closes it. `discard`
    reads all and forgets it."""

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
        except OSError:  # The stream is empty now, or a terminal whose other side is closed.
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
        """Reads all that is in the pipe. It may never end: a process left behind can hold it."""
        os.set_blocking(self.fd, False)
        while self.pieces[-1:] != [b""]:
            self.pieces.append(self._read())

    def hang_up(self):
        self.stop_now = True
        self.finish()

    def finish(self):
        """Returns what was read; called after the writers have ended."""
        if self.waker is not None:
            os.close(self.waker)
            self.waker = None
            self.join()
            os.close(self.woken)
        return b"".join(self.pieces)


class Job:
    """A bsprun that runs. Each event of a plan is a call of one of its functions."""

    def __init__(self, plan, command, mark, directory):
        self.plan = plan
        self.mark = mark
        self.report = self.input = None
        self.options = {
            "env": processes.environment(mark, **plan.environment, TMPDIR=directory),
            "cwd": directory, "start_new_session": True, "preexec_fn": self._prepare}
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

    # ---- Events: each has one argument -------------------------------------------------------

    def begun(self, _):
        """Waits until bsprun has started a process."""
        while self.process.poll() is None and not processes.children_of(self.launcher()):
            time.sleep(0.001)

    def all_run(self, _):
        """Waits until all processes run the program, and none is still a copy of bsprun."""
        while self.process.poll() is None:
            running = [processes.program_of(pid)
                       for pid in processes.children_of(self.launcher())[:self.plan.nprocs]]
            if (len(running) == self.plan.nprocs
                    and processes.program_of(self.launcher()) not in running):
                break
            time.sleep(0.001)

    def launcher(self):
        """The id of bsprun's process; on a terminal it is the only child of terminal.py."""
        if not self.plan.terminal:
            return self.process.pid
        return next(iter(processes.children_of(self.process.pid)), None)

    def signal_group(self, number):
        """As a terminal does."""
        os.killpg(self.process.pid, number)

    def signal_launcher(self, number):
        os.kill(self.launcher(), number)

    def signal_process(self, which):
        """Sends a signal to the process that is `fraction` of the way through the pids that have
        been started; waits for the first. It may not run the program yet."""
        fraction, number = which
        started = []
        while not started and self.process.poll() is None:
            # Descendants of theirs that lost their parent follow in the list.
            started = processes.children_of(self.launcher())[:self.plan.nprocs]
        if started:
            os.kill(started[int(fraction * len(started))], number)

    def type(self, keys):
        os.write(self.master, keys)

    def hang_up(self, _):
        self.stdout.hang_up()

    def _cause(self, events):
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
            except (ProcessLookupError, TypeError):  # bsprun ends just now; without it, None.
                pass

    # ---- The end ---------------------------------------------------------------------------------

    def _wait(self):
        """Waits for the end. If bsprun hangs, kills all processes of the run; returns False."""
        try:
            self.process.wait(timeout=self.plan.seconds_max)
            return True
        except subprocess.TimeoutExpired:
            processes.kill(*processes.marked(self.mark))
            self.process.wait()
            return False

    def _notes(self):
        text = b""
        while piece := os.read(self.report, PIECE_NBYTES):
            text += piece
        os.close(self.report)
        return text.decode().splitlines()

    def finish(self):
        self._cause(self.plan.events)
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
