#!/usr/bin/env python3
"""The alerts of deploy/prometheus: each fires when it should (promtool test rules), and
docs/operations.md says what it means."""

import os
import re
import subprocess
import unittest

import yaml

DIRECTORY = "deploy/prometheus"
RULES = "bspnow.rules.yml"
TESTS = "bspnow.rules_test.yml"


def read(name):
    with open(os.path.join(DIRECTORY, name), encoding="utf-8") as file:
        return yaml.safe_load(file)


def alerts():
    return [rule["alert"] for group in read(RULES)["groups"] for rule in group["rules"]]


class AlertsTest(unittest.TestCase):
    def promtool(self, *words):
        done = subprocess.run(["promtool", *words], cwd=DIRECTORY, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_promtool_finds_nothing_wrong(self):
        self.promtool("check", "rules", RULES)

    def test_each_fires_when_it_should(self):
        self.promtool("test", "rules", TESTS)
        fire = {case["alertname"] for test in read(TESTS)["tests"]
                for case in test.get("alert_rule_test", []) if case["exp_alerts"]}
        self.assertEqual(fire, set(alerts()))

    def test_each_is_documented(self):
        with open("docs/operations.md", encoding="utf-8") as file:
            rows = re.findall(r"^\| `(Bspnow\w+)` \|", file.read(), re.M)
        self.assertEqual(rows, alerts())


if __name__ == "__main__":
    unittest.main(verbosity=2)
