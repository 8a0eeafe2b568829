#!/usr/bin/env python3
"""follow_page PAGE UNTIL: does what a page of the documentation says, in the working directory, up
to the line that begins with UNTIL: writes the files that it shows, types its commands, and compares
what they print with what the page says.

The order of lines may differ, as may what differs from run to run: times, addresses, which process
was the first or the last, and which nodes a job or its images are on. "..." stands for any lines,
and in a line for any text. Files of settings that the page shows with `cat` are written first. What
changes with time by itself is looked at again, until it is as the page says."""

import os
import re
import select
import shlex
import subprocess
import sys
import time

FILE_NAME = re.compile(r"`([\w.]+)`:$")
COMMAND = re.compile(r"    ([$#]) (.*)")
INDENT = "    "
SETTINGS = re.compile(r"cat (\S+\.toml)$")
LOOK = re.compile(r"cat |bsp (nodes|show|jobs)\b")
TIMEOUT_S, LOOK_S = 180, 60
END = "the command has ended, by follow_page"
VARYING = (
    # Of --timing: what was measured.
    (re.compile(r"^  ([whgl])  +(-|\d).*? (computing:|the most|a byte|a superstep)"), r"  \1 \3"),
    (re.compile(r"0x[0-9a-f]+"), "ADDRESS"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?(\.\d+\+00:00)?"), "DATE"),
    (re.compile(r"\b\d+:\d\d\b"), "TIME"),
    (re.compile(r"\b(pid|process) \d+"), r"\1 N"),
    (re.compile(r"(?<![\d.])\d+\.\d{1,3}(?![\d.])|\+- \d+"), "X"),
    (re.compile(r"\bX (ns|us|ms|s)\b"), "X s"),
    (re.compile(r"\b(\d+|X) [kM]B\b"), "N kB"),
    (re.compile(r"\b(worker=|version=|cluster=)[\w.]+"), r"\1N"),
    (re.compile(r"\b(superstep|from|running +\d+ ) *\d{3,}"), r"\1 N"),
    (re.compile(r"^(checkpoint +)\d+ of"), r"\1N of"),
    (re.compile(r"^  imbalance .*"), "  imbalance"),
    (re.compile(r"(?<= )\w+(,\w+)+$"), lambda nodes: re.sub(r"\w+", "NODE", nodes[0])),
    (re.compile(r"^on +\w+ +pids [\d,-]+$"), "on NODE pids N"),
    (re.compile(r"(?<= ago, on )\w+(, \w+)*(?=, each image)"), "NODES"),
    (re.compile(r" +"), " "),
)


def steps(lines):
    """What the page says, in its order: ("say", PARAGRAPH, None), ("write", NAME, TEXT), and for
    commands in a row ("type", "$" or "#", pairs of command and lines printed)."""
    lines = list(lines) + [""]
    paragraph, name = [], None
    while lines:
        line = lines.pop(0)
        command = COMMAND.match(line)
        if paragraph and (not line.strip() or command):
            found = FILE_NAME.search(paragraph[-1])
            name = found.group(1) if found else None
            yield "say", " ".join(paragraph), None
            paragraph = []
        if line.startswith("```"):
            end = next(i for i, text in enumerate(lines) if text.startswith("```"))
            if name:
                yield "write", name, "\n".join(lines[:end]) + "\n"
            name, lines = None, lines[end + 1:]
        elif command:
            prompt = command.group(1)
            end = next(i for i, text in enumerate(lines) if not text.startswith(INDENT) or
                       COMMAND.match(text) and COMMAND.match(text).group(1) != prompt)
            yield "type", prompt, commands([line] + lines[:end])
            lines = lines[end:]
        elif line.strip():
            paragraph.append(line)


def commands(block):
    """Of each command of an indented block: what is typed, and the lines that come."""
    typed = []
    for line in block:
        if command := COMMAND.match(line):
            typed.append((command.group(2), []))
        elif typed[-1][0].endswith("\\"):
            typed[-1] = (typed[-1][0][:-1] + line.strip(), [])
        else:
            typed[-1][1].append(line[len(INDENT):])
    return typed


def masked(line):
    for varying, mask in VARYING:
        line = varying.sub(mask, line)
    return line.rstrip()


def difference(said, printed):
    """What the page has and the command did not print, or the other way round; "" if nothing."""
    surplus = [masked(line) for line in printed]
    missing = []
    for line in (masked(line) for line in said if line != "..."):
        pattern = re.compile(".*".join(re.escape(part) for part in line.split("...")))
        found = next((text for text in surplus if pattern.fullmatch(text)), None)
        if found is None:
            missing.append(line)
        else:
            surplus.remove(found)
    if "..." in said:
        surplus = []
    return "".join([*(f"- {line}\n" for line in missing), *(f"+ {line}\n" for line in surplus)])


class Shell:
    """A shell that commands are typed into, so that its variables and directory stay."""

    def __init__(self, command=("bash",)):
        self._shell = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT)

    def type(self, command):
        """The lines that it prints."""
        self._shell.stdin.write(f"eval {shlex.quote(command)} </dev/null 2>&1; "
                                f"echo '{END}'\n".encode())
        self._shell.stdin.flush()
        output, deadline, end = b"", time.monotonic() + TIMEOUT_S, f"{END}\n".encode()
        pipe = self._shell.stdout.fileno()
        while not output.endswith(end):
            ready, _, _ = select.select([pipe], [], [], max(0, deadline - time.monotonic()))
            more = os.read(pipe, 65536) if ready else b""
            output += more
            if not more:
                sys.exit(f"{command}\nhas not ended; it printed:\n{output.decode()}")
        return output[:-len(end)].decode().splitlines()

    def end(self):
        self._shell.communicate()

    def write(self, name, text):
        printed = self.type(f"printf %s {shlex.quote(text)} >{name}")
        if printed:
            sys.exit(f"writing {name}: {printed}")


class Reader:
    """Does what a page says, in one shell, whoever's the command is."""

    def __init__(self, shell=None):
        self._shell = shell or Shell()

    def listen(self, paragraph):
        """A paragraph of text: it may say where to type what comes next."""

    def places(self, _prompt):
        """Where it is typed: shells, each with how to change the page's text for that place."""
        yield self._shell, lambda text: text

    def type(self, shell, command, said):
        """Types it, and ends if it does not print what the page says. The lines printed."""
        if settings := SETTINGS.match(command):
            shell.write(settings.group(1), "\n".join(said) + "\n")
        deadline = time.monotonic() + LOOK_S
        printed = shell.type(command)
        while (difference(said, printed) and LOOK.match(command) and
               time.monotonic() < deadline):
            time.sleep(0.3)
            printed = shell.type(command)
        if wrong := difference(said, printed):
            sys.exit(f"{command}\n{wrong}it printed:\n" + "\n".join(printed))
        return printed

    def follow(self, page, until):
        with open(page, encoding="utf-8") as file:
            lines = file.read().splitlines()
        end = next(i for i, line in enumerate(lines) if line.startswith(until))
        typed = 0
        for kind, what, content in steps(lines[:end]):
            if kind == "say":
                self.listen(what)
            elif kind == "write":
                for shell, _ in self.places("$"):
                    shell.write(what, content)
            else:
                for shell, here in self.places(what):
                    for command, said in content:
                        self.type(shell, here(command), [here(line) for line in said])
                        typed += 1
        if typed == 0:
            sys.exit(f"{page} has no command before \"{until}\"")


if __name__ == "__main__":
    Reader().follow(sys.argv[1], sys.argv[2])
