#!/usr/bin/env python3
"""Tests of follow_page.py: what it takes a page to say, and which differences it sees."""

import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

# pylint: disable=wrong-import-position
import follow_page

PAGE = """On `head`:

    # first \\
        --option
    what it
    prints
    # second
    $ of anna
    hers

`a.c`:

```c
int a;
```

    $ cc a.c
"""


class StepsTest(unittest.TestCase):

    def test_blocks_commands_and_files_come_in_their_order(self):
        self.assertEqual(list(follow_page.steps(PAGE.splitlines())), [
            ("say", "On `head`:", None),
            ("type", "#", [("first --option", ["what it", "prints"]), ("second", [])]),
            ("type", "$", [("of anna", ["hers"])]),
            ("say", "`a.c`:", None),
            ("write", "a.c", "int a;\n"),
            ("type", "$", [("cc a.c", [])])])


class DifferenceTest(unittest.TestCase):

    def equal(self, said, printed):
        self.assertEqual(follow_page.difference([said], [printed]), "")

    def differ(self, said, printed):
        self.assertEqual(follow_page.difference([said], [printed]), f"- {said}\n+ {printed}\n")

    def test_order_does_not_matter_but_number_does(self):
        self.assertEqual(follow_page.difference(["a", "b"], ["b", "a"]), "")
        self.assertEqual(follow_page.difference(["a"], ["a", "a"]), "+ a\n")
        self.assertEqual(follow_page.difference(["a", "a"], ["a"]), "- a\n")

    def test_dots_stand_for_any_lines_and_in_a_line_for_any_text(self):
        self.assertEqual(follow_page.difference(["a", "...", "d"], ["a", "b", "c", "d"]), "")
        self.assertEqual(follow_page.difference(["...", "d"], ["a"]), "- d\n")
        self.equal("event=up name=one ...", "event=up name=one memory=5")
        self.differ("event=up ...", "event=down name=one")

    def test_what_is_measured_may_differ(self):
        self.equal("until 2027-11-23 18:25 UTC", "until 2028-01-02 03:04 UTC")
        self.equal("lost at superstep 380889, 0:42 ago: silent for 10.1 s",
                   "lost at superstep 1234, 1:07 ago: silent for 9.9 s")
        self.equal("  l  1.835 ms +- 71 %   a superstep, fitted likewise",
                   "  l  465.830 us +- 100 % a superstep, fitted likewise")
        self.equal("its images   967 kB", "its images   4.8 MB")

    def test_the_nodes_of_a_job_may_differ(self):
        self.equal("on head      pids 0-1", "on two       pids 2-3")
        self.equal("2 of superstep 3, 0:02 ago, on head, one, two, each image on 2",
                   "2 of superstep 3, 0:02 ago, on head, two, each image on 2")

    def test_results_and_addresses_may_not(self):
        self.differ("step 100000: 2.505599946", "step 100000: 2.505599947")
        self.differ("one up 10.0.0.11:7074", "one up 10.0.0.12:7074")
        self.equal("33 RUNNING head,one,two", "33 RUNNING one,two,head")
        one, two = ["33 RUNNING head,one"], ["33 RUNNING one,two,head"]
        self.assertTrue(follow_page.difference(one, two))


class ShellTest(unittest.TestCase):

    def test_variables_and_jobs_stay(self):
        shell = follow_page.Shell()
        self.addCleanup(shell.end)
        self.assertEqual(shell.type("a=5; sleep 0 &"), [])
        self.assertEqual(shell.type("echo $a; wait; echo b >&2; printf c"), ["5", "b", "c"])


if __name__ == "__main__":
    unittest.main()
