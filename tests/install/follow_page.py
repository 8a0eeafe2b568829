#!/usr/bin/env python3
"""follow_page PAGE UNTIL: does what a page of the documentation says, in the working directory, up
to the line that begins with UNTIL: writes the files that it shows, types its commands, and compares
what they print with what the page says.

The order of lines may differ, as may what differs from run to run: times, addresses, and which
process was the first or the last. "..." stands for any lines."""

import collections
import re
import subprocess
import sys

FILE_NAME = re.compile(r"`([\w.]+)`:$")
PROMPT, INDENT = "    $ ", "    "
TIMEOUT_S = 120
VARYING = (
    (re.compile(r"0x[0-9a-f]+"), "ADDRESS"),
    (re.compile(r"\b(pid|process) \d+"), r"\1 N"),
    (re.compile(r"\d+\.\d+|\+- \d+"), "X"),
    (re.compile(r"\bX (ns|us|ms|s)\b"), "X s"),
    (re.compile(r"^  ([whgl])  +\S.*?  +"), r"  \1 "),  # Of --timing: what was measured.
    (re.compile(r"^  imbalance .*"), "  imbalance"),
    (re.compile(r" +"), " "),
)


def steps(lines):
    """("write", NAME, TEXT) and ("type", COMMAND, lines that it prints), in their order."""
    lines = collections.deque(lines)
    name = None
    while lines:
        line = lines.popleft()
        if line.startswith("```") and name:
            text = []
            while not lines[0].startswith("```"):
                text.append(lines.popleft())
            lines.popleft()
            yield "write", name, "\n".join(text) + "\n"
            name = None
        elif line.startswith(PROMPT):
            printed = []
            while lines and lines[0].startswith(INDENT) and not lines[0].startswith(PROMPT):
                printed.append(lines.popleft()[len(INDENT):])
            yield "type", line[len(PROMPT):], printed
        elif line and not line.isspace():
            found = FILE_NAME.search(line)
            name = found.group(1) if found else None


def masked(line):
    for varying, mask in VARYING:
        line = varying.sub(mask, line)
    return line


def difference(said, printed):
    """What the page has and the command did not print, or the other way round; "" if nothing."""
    wanted = collections.Counter(masked(line) for line in said if line != "...")
    got = collections.Counter(masked(line) for line in printed)
    missing = wanted - got
    surplus = collections.Counter() if "..." in said else got - wanted
    return "".join([*(f"- {line}\n" for line in missing), *(f"+ {line}\n" for line in surplus)])


def follow(page, until):
    with open(page, encoding="utf-8") as file:
        lines = file.read().splitlines()
    end = next(i for i, line in enumerate(lines) if line.startswith(until))
    typed = 0
    for kind, name, what in steps(lines[:end]):
        if kind == "write":
            with open(name, "w", encoding="utf-8") as file:
                file.write(what)
            continue
        done = subprocess.run(["bash", "-c", name], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=TIMEOUT_S, text=True, check=False)
        wrong = difference(what, done.stdout.splitlines())
        if wrong:
            sys.exit(f"{page}: $ {name}\n{wrong}it printed:\n{done.stdout}")
        typed += 1
    if typed == 0:
        sys.exit(f"{page} has no command before \"{until}\"")


if __name__ == "__main__":
    follow(sys.argv[1], sys.argv[2])
