"""Verdicts and ratios: a mistake here would pass a missed target off as met."""

import unittest

import figures
from figures import Figure, Section, Summary, Target


def figure(target=None, higher_is_better=False, **columns):
    return Figure("row", "us", {name: Summary(list(samples)) for name, samples in columns.items()},
                  target, higher_is_better)


class VerdictTest(unittest.TestCase):
    def test_bound_itself_is_met(self):
        self.assertEqual(figure(Target(1.2, "at most"), bspnow=[1.2]).verdict, "ok")
        self.assertEqual(figure(Target(1.2, "at most"), bspnow=[1.21]).verdict, "MISSED")

    def test_below_is_strict(self):
        self.assertEqual(figure(Target(100, "below"), bspnow=[100]).verdict, "MISSED")
        self.assertEqual(figure(Target(100, "below"), bspnow=[99.9]).verdict, "ok")

    def test_at_least_asks_for_more(self):
        self.assertEqual(figure(Target(3, "at least"), bspnow=[3]).verdict, "ok")
        self.assertEqual(figure(Target(3, "at least"), bspnow=[2.9]).verdict, "MISSED")

    def test_the_median_counts(self):
        self.assertEqual(figure(Target(2, "at most"), bspnow=[1, 90, 1.5]).verdict, "ok")

    def test_the_better_mpi_counts(self):
        row = figure(Target(1.5, "times MPI"), True, bspnow=[6], mpich=[3], openmpi=[5])
        self.assertEqual(row.verdict, "MISSED")
        row = figure(Target(1.5, "times MPI"), True, bspnow=[7.5], mpich=[3], openmpi=[5])
        self.assertEqual(row.verdict, "ok")

    def test_nothing_measured_is_no_success(self):
        failed = Figure("row", "us", {"bspnow": Summary([], "FAILED")}, Target(1, "at most"))
        self.assertEqual(failed.verdict, "unknown")
        self.assertEqual(figure(Target(1, "times MPI"), True, bspnow=[5]).verdict, "unknown")

    def test_what_has_as_many_end_points_stands_beside_mpi(self):
        row = figure(Target(1, "times MPI"), bspnow=[2], four=[9], openmpi=[6])
        self.assertEqual(row.verdict, "ok")
        row.beside_mpi = "four"
        self.assertEqual(row.verdict, "MISSED")
        row.target = Target(5, "at most")
        self.assertEqual(row.verdict, "ok")

    def test_ratio_says_how_many_times_as_good(self):
        self.assertEqual(figure(bspnow=[2], mpich=[8], openmpi=[6]).ratio_to_mpi, 3)
        self.assertEqual(
            figure(None, True, bspnow=[8], mpich=[2], openmpi=[4]).ratio_to_mpi, 2)


class TableTest(unittest.TestCase):
    def test_shows_values_targets_and_what_is_missing(self):
        row = figure(Target(1.2, "at most"), bspnow=[1.5], openmpi=[0.3])
        row.columns["mpich"] = Summary([], "not installed")
        text = "\n".join(figures.table(Section("sync", "Title", [row])))
        for part in ("Title", "1.50", "not installed", "0.300", "<= 1.2", "MISSED", "0.20x"):
            self.assertIn(part, text)

    def test_numbers_keep_three_digits(self):
        self.assertEqual([figures.number(n) for n in (0.1234, 1.234, 12.34, 123.4, 12345.6)],
                         ["0.123", "1.23", "12.3", "123", "12346"])


class JsonTest(unittest.TestCase):
    def test_holds_samples_target_and_verdict(self):
        entry = Section("sync", "Title", [figure(Target(2, "at most"), bspnow=[1, 3, 2])]).to_json()
        self.assertEqual(entry, [{
            "section": "sync", "what": "row", "unit": "us",
            "bspnow": {"median": 2, "min": 1, "max": 3, "runs": 3},
            "target": "<= 2", "verdict": "ok"}])


if __name__ == "__main__":
    unittest.main()
