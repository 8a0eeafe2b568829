"""A shell for one job: takes control of the terminal that is its standard input, runs a command in
the foreground there, and writes to the descriptor REPORT how the command ends or stops: `stopped`,
`exit N`, `signal N`. It continues a command that stops.

    terminal.py REPORT COMMAND...
"""

import fcntl
import os
import signal
import sys
import termios

SHELL_SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTOU)


def start(report, command):
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        for number in SHELL_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        os.close(report)
        os.execv(command[0], command)
    return pid


def main():
    report, command = int(sys.argv[1]), sys.argv[2:]
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in SHELL_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    before = termios.tcgetattr(0)
    pid = start(report, command)
    # As shells do when their terminal goes away.
    signal.signal(signal.SIGHUP, lambda *_: os.killpg(pid, signal.SIGHUP))
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            break
        os.write(report, b"stopped\n")
        os.tcsetpgrp(0, pid)
        os.killpg(pid, signal.SIGCONT)
    code = os.waitstatus_to_exitcode(status)
    os.write(report, b"exit %d\n" % code if code >= 0 else b"signal %d\n" % -code)
    try:
        if termios.tcgetattr(0) != before:
            os.write(report, b"the terminal has other settings than before\n")
    except termios.error:
        pass  # It hung up.


if __name__ == "__main__":
    main()
