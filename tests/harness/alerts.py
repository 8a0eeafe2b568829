"""The alerts of deploy/prometheus, and the series that they and promtool's test of them look at."""

import re

import yaml

RULES = "deploy/prometheus/bspnow.rules.yml"
TESTS = "deploy/prometheus/bspnow.rules_test.yml"
# Labels whose values are no names that somebody gave.
FIXED = {"end", "reason", "directory"}


def rules():
    with open(RULES, encoding="utf-8") as file:
        return [rule for group in yaml.safe_load(file)["groups"] for rule in group["rules"]]


def names():
    return {rule["alert"] for rule in rules()}


def write_impatient(path):
    """The same, which fire as soon as their conditions hold."""
    with open(RULES, encoding="utf-8") as source, open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"^ +for: .*\n", "", source.read(), flags=re.M))
    return path


def series_of(rule):
    return set(re.findall(r"(?:bspnow|process)_\w+(?:\{.*?\})?", rule["expr"]))


def tested_series():
    """Selectors of what has the name, the labels, and the values of fixed labels of each series
    that promtool's test makes up."""
    with open(TESTS, encoding="utf-8") as file:
        made_up = [series["series"] for test in yaml.safe_load(file)["tests"]
                   for series in test["input_series"]]
    selectors = set()
    for each in made_up:
        name, labels = re.fullmatch(r"(\w+)\{(.*)\}", each).groups()
        wanted = [f'{label}="{value}"' if label in FIXED else f'{label}!=""'
                  for label, value in re.findall(r'(\w+)="(.*?)"', labels)]
        selectors.add(f"{name}{{{','.join(wanted)}}}")
    return selectors
