#!/usr/bin/env python3
"""Tests of count_results.py, on events as Bazel writes them."""

import json
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

# pylint: disable=wrong-import-position
import count_results

TWO_OF_THREE = ('<testsuites><testsuite><testcase name="a"/><testcase name="b"/>'
                '<testcase name="c"><failure/></testcase></testsuite></testsuites>')
ALL_THREE = TWO_OF_THREE.replace('<failure/>', '')
ONE_RAN = ('<testsuites><testsuite><testcase name="a" status="run"/>'
           '<testcase name="b" status="notrun"/><testcase name="c"><skipped/></testcase>'
           '</testsuite></testsuites>')
OF_UNITTEST = ('<testsuites><testsuite name="t" tests="1"><testcase name="t" status="run"/>'
               '<system-out>\nss\n-----\n{}\n</system-out></testsuite></testsuites>')


class CountResultsTest(unittest.TestCase):

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.lines = []

    def run_target(self, label, text, shard=1, attempt=1, milliseconds='0'):
        path = os.path.join(self.directory.name, f'{len(self.lines)} %.xml')
        if text is not None:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
        uri = 'file://' + path.replace('%', '%25').replace(' ', '%20')
        self.lines.append(json.dumps({
            'id': {'testResult': {'label': label, 'run': 1, 'shard': shard, 'attempt': attempt}},
            'testResult': {'testActionOutput': [{'name': 'test.xml', 'uri': uri}],
                           'testAttemptDurationMillis': milliseconds}}))

    def summary(self, label, verdict):
        self.lines.append(json.dumps({'id': {'testSummary': {'label': label}},
                                      'testSummary': {'overallStatus': verdict}}))

    def count_all(self):
        return count_results.count([line + '\n' for line in self.lines])

    def count(self):
        passed, failed, _, labels, _ = self.count_all()
        return passed, failed, labels

    def check_skipped(self, text, expected):
        self.run_target('//a:t', text)
        self.summary('//a:t', 'PASSED')
        self.assertEqual(self.count_all()[:3], expected)

    def test_counts_cases(self):
        self.run_target('//a:t', TWO_OF_THREE)
        self.summary('//a:t', 'FAILED')
        self.run_target('//b:t', ALL_THREE)
        self.summary('//b:t', 'PASSED')
        self.assertEqual(self.count(), (5, 1, ['//a:t']))

    def test_target_without_cases_counts_as_one(self):
        self.run_target('//a:t', '<testsuites/>')
        self.summary('//a:t', 'PASSED')
        self.assertEqual(self.count(), (1, 0, []))

    def test_crash_is_a_failure_whatever_the_xml_says(self):
        self.run_target('//a:t', ALL_THREE)
        self.summary('//a:t', 'FAILED')
        self.run_target('//b:t', None)
        self.summary('//b:t', 'TIMEOUT')
        self.assertEqual(self.count(), (0, 2, ['//a:t', '//b:t']))

    def test_shards_add_up_and_the_last_attempt_counts(self):
        self.run_target('//a:t', TWO_OF_THREE, shard=1, attempt=1)
        self.run_target('//a:t', ALL_THREE, shard=1, attempt=2)
        self.run_target('//a:t', ALL_THREE, shard=2)
        self.summary('//a:t', 'FLAKY')
        self.assertEqual(self.count(), (6, 0, []))

    def test_what_was_skipped_has_not_passed(self):
        self.check_skipped(ONE_RAN, (1, 0, 1))

    def test_a_target_of_which_all_was_skipped_has_not_passed(self):
        self.check_skipped(ONE_RAN.replace('<testcase name="a" status="run"/>', ''), (0, 0, 1))

    def test_a_shard_to_which_nothing_fell_counts_for_nothing(self):
        self.check_skipped('<testsuites><testcase name="b" status="notrun"/></testsuites>',
                           (0, 0, 0))

    def test_what_unittest_skipped_has_not_passed(self):
        self.check_skipped(OF_UNITTEST.format('Ran 8 tests in 20.2s\n\nOK (skipped=2)'), (1, 0, 2))

    def test_nothing_but_skipped_tests_of_unittest_has_not_passed(self):
        self.check_skipped(OF_UNITTEST.format('Ran 2 tests in 0.0s\n\nOK (skipped=2)'), (0, 0, 2))

    def test_what_unittest_did_not_skip_passed(self):
        self.check_skipped(OF_UNITTEST.format('Ran 2 tests in 0.1s\n\nOK'), (1, 0, 0))

    def test_each_shard_has_its_time_and_the_last_attempt_counts(self):
        self.run_target('//a:t', ALL_THREE, milliseconds='1500')
        self.run_target('//b:t', TWO_OF_THREE, shard=1, attempt=1, milliseconds='9000')
        self.run_target('//b:t', ALL_THREE, shard=1, attempt=2, milliseconds='2000')
        self.run_target('//b:t', ALL_THREE, shard=2, milliseconds='3000')
        self.assertEqual(self.count_all()[4],
                         [(1.5, '//a:t'), (2.0, '//b:t, shard 1'), (3.0, '//b:t, shard 2')])

    def test_damaged_xml_does_not_hide_the_verdict(self):
        self.run_target('//a:t', '<testsuites><testcase')
        self.summary('//a:t', 'FAILED')
        self.assertEqual(self.count(), (0, 1, ['//a:t']))

    def test_what_was_whole_counts_if_bazel_was_killed_in_the_middle_of_a_line(self):
        self.run_target('//a:t', TWO_OF_THREE)
        self.summary('//a:t', 'FAILED')
        whole = [line + '\n' for line in self.lines]
        self.assertEqual(count_results.count(whole + ['{"id": {"testSum'])[:4],
                         (2, 1, 0, ['//a:t']))

    def test_other_events_are_ignored(self):
        self.lines.append(json.dumps({'id': {'started': {}}, 'started': {}}))
        self.lines.append(json.dumps({'id': {'testSummary': {'label': '//a:t'}},
                                      'aborted': {'reason': 'LOADING_FAILURE'}}))
        self.assertEqual(self.count(), (0, 0, []))


if __name__ == '__main__':
    unittest.main()
