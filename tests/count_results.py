#!/usr/bin/env python3
"""Counts the tests that one `bazel test --build_event_json_file=FILE` has run.

    count_results.py FILE

Prints `passed N`, `failed N`, `target LABEL` for each target that did not pass, and `took SECONDS
TEST` for each test, a shard of several being one. A target whose test.xml lists cases counts as
that many. One that failed counts as one failure at least, whatever
its test.xml says: a program that crashes has written none, or an old one.
"""

import collections
import json
import sys
import urllib.parse
import xml.etree.ElementTree


def cases(path):
    """(passed, failed) test cases of a test.xml; (1, 0) where it lists none that ran."""
    try:
        found = list(xml.etree.ElementTree.parse(path).getroot().iter('testcase'))
    except (OSError, xml.etree.ElementTree.ParseError):
        return 1, 0
    ran = [case for case in found
           if case.get('status') != 'notrun' and case.find('skipped') is None]
    failed = [case for case in ran
              if case.find('failure') is not None or case.find('error') is not None]
    return (len(ran) - len(failed), len(failed)) if ran else (1, 0)


def xml_path(result):
    for output in result.get('testActionOutput', []):
        if output.get('name') == 'test.xml':
            return urllib.parse.unquote(urllib.parse.urlparse(output['uri']).path)
    return ''


def count(lines):
    """(passed, failed, labels of the targets that did not pass, [(seconds, test)]) from the lines
    of events."""
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
    passed, failed, labels = 0, 0, []
    for label, verdict in sorted(status.items()):
        parts = [cases(path) for path in paths[label].values()] or [(1, 0)]
        good, bad = sum(part[0] for part in parts), sum(part[1] for part in parts)
        if verdict not in ('PASSED', 'FLAKY'):
            labels.append(label)
            good, bad = (good, bad) if bad else (0, 1)
        passed, failed = passed + good, failed + bad
    return passed, failed, labels, [
        (seconds, label if len(paths[label]) == 1 else f'{label}, shard {shard}')
        for (label, shard), seconds in took.items()]


def main():
    try:
        with open(sys.argv[1], encoding='utf-8') as file:
            passed, failed, labels, took = count(file)
    except FileNotFoundError:  # Bazel gave up before it wrote an event.
        passed, failed, labels, took = 0, 0, [], []
    print(f'passed {passed}\nfailed {failed}')
    for label in labels:
        print(f'target {label}')
    for seconds, test in took:
        print(f'took {seconds:.1f} {test}')


if __name__ == '__main__':
    main()
