#!/usr/bin/env python3
"""Counts the tests that one `bazel test --build_event_json_file=FILE` has run.

    count_results.py FILE

Prints `passed N`, `failed N`, `skipped N`, `target LABEL` for each target that did not pass, and
`took SECONDS TEST` for each test, a shard of several being one. A target whose test.xml lists cases
counts as that many; those that were left to another shard are nobody's. One that failed counts as
one failure at least, whatever its test.xml says: a program that crashes has written none, or an old
one. Bazel writes the test.xml of a program that writes none, with all as one case: of Python's
unittest its output has what was skipped.
"""

import collections
import json
import re
import sys
import urllib.parse
import xml.etree.ElementTree


UNITTEST = re.compile(r'^Ran (\d+) tests? in .*\n\n(?:OK|FAILED) \(.*?skipped=(\d+)', re.M)


def skipped_by_unittest(root):
    """(all, skipped) of the tests whose output a test.xml has."""
    found = UNITTEST.findall(root.findtext('.//system-out') or '')
    return (int(found[-1][0]), int(found[-1][1])) if found else (1, 0)


def cases(path):
    """(passed, failed, skipped) test cases of a test.xml; (1, 0, 0) where it lists none."""
    try:
        root = xml.etree.ElementTree.parse(path).getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        return 1, 0, 0
    found = list(root.iter('testcase'))
    if not found:
        return 1, 0, 0
    mine = [case for case in found if case.get('status') != 'notrun']
    ran = [case for case in mine if case.find('skipped') is None]
    failed = [case for case in ran
              if case.find('failure') is not None or case.find('error') is not None]
    if len(found) == len(ran) == 1 and not failed:
        total, skipped = skipped_by_unittest(root)
        return int(total > skipped), 0, skipped
    return len(ran) - len(failed), len(failed), len(mine) - len(ran)


def xml_path(result):
    for output in result.get('testActionOutput', []):
        if output.get('name') == 'test.xml':
            return urllib.parse.unquote(urllib.parse.urlparse(output['uri']).path)
    return ''


def count(lines):
    """(passed, failed, skipped, labels of the targets that did not pass, [(seconds, test)]) from
    the lines of events."""
    paths, status, took = collections.defaultdict(dict), {}, {}
    for line in lines:
        if not line.endswith('\n'):  # Bazel was killed while it wrote this one.
            break
        event = json.loads(line)
        identity = event.get('id', {})
        if 'testResult' in identity and 'testResult' in event:
            attempt = identity['testResult']
            # A target may run in several shards; of several attempts at one the last counts.
            part = (attempt.get('run'), attempt.get('shard'))
            paths[attempt['label']][part] = xml_path(event['testResult'])
            milliseconds = event['testResult'].get('testAttemptDurationMillis', 0)
            took[attempt['label'], attempt.get('shard')] = int(milliseconds) / 1000
        if 'testSummary' in identity and 'testSummary' in event:
            status[identity['testSummary']['label']] = event['testSummary']['overallStatus']
    passed, failed, skipped, labels = 0, 0, 0, []
    for label, verdict in sorted(status.items()):
        parts = [cases(path) for path in paths[label].values()] or [(1, 0, 0)]
        good, bad, left_out = (sum(part[i] for part in parts) for i in range(3))
        if verdict not in ('PASSED', 'FLAKY'):
            labels.append(label)
            good, bad = (good, bad) if bad else (0, 1)
        passed, failed, skipped = passed + good, failed + bad, skipped + left_out
    return passed, failed, skipped, labels, [
        (seconds, label if len(paths[label]) == 1 else f'{label}, shard {shard}')
        for (label, shard), seconds in took.items()]


def main():
    try:
        with open(sys.argv[1], encoding='utf-8') as file:
            passed, failed, skipped, labels, took = count(file)
    except FileNotFoundError:  # Bazel gave up before it wrote an event.
        passed, failed, skipped, labels, took = 0, 0, 0, [], []
    print(f'passed {passed}\nfailed {failed}\nskipped {skipped}')
    for label in labels:
        print(f'target {label}')
    for seconds, test in took:
        print(f'took {seconds:.1f} {test}')


if __name__ == '__main__':
    main()
