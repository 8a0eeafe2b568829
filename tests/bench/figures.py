"""Figures, their targets and verdicts, and how they are printed and stored.

A Figure is one row of a table: one quantity, with a summary of its samples per column. Columns are
systems ("bspnow", "mpich", "openmpi", "machine"), or, in the total exchange, means of exchange.
"""

import dataclasses
import statistics

MPI = ("mpich", "openmpi")
SYSTEM_COLUMNS = (("bspnow", "bspnow"), ("mpich", "MPICH"), ("openmpi", "Open MPI"),
                  ("machine", "machine"))


@dataclasses.dataclass
class Summary:
    """The samples of one quantity in one column, one per run; or why there are none."""
    samples: list
    missing: str = ""

    @property
    def median(self):
        return statistics.median(self.samples) if self.samples else None

    def scaled(self, function):
        return Summary([function(sample) for sample in self.samples], self.missing)

    def to_json(self):
        if not self.samples:
            return {"missing": self.missing}
        return {"median": self.median, "min": min(self.samples), "max": max(self.samples),
                "runs": len(self.samples)}


@dataclasses.dataclass
class Target:
    """What is to be reached: a bound on bspnow's figure, or on its speed relative to MPI's."""
    bound: float
    kind: str  # "at most", "at least", "below" or "times MPI"

    def text(self):
        sign = {"at most": "<= %g", "at least": ">= %g", "below": "< %g",
                "times MPI": ">= %gx MPI"}[self.kind]
        return sign % self.bound

    def holds(self, figure):
        """None where the figure, or MPI's beside it, is missing."""
        value = figure.ratio_to_mpi if self.kind == "times MPI" else figure.own
        if value is None:
            return None
        return {"at most": value <= self.bound, "at least": value >= self.bound,
                "below": value < self.bound, "times MPI": value >= self.bound}[self.kind]


@dataclasses.dataclass
class Figure:
    what: str
    unit: str
    columns: dict              # column -> Summary
    target: Target = None
    higher_is_better: bool = False
    parameters: dict = dataclasses.field(default_factory=dict)
    beside_mpi: str = "bspnow"  # The column that has as many end points as MPI.

    def median_of(self, column):
        summary = self.columns.get(column)
        return summary.median if summary else None

    @property
    def own(self):
        return self.median_of("bspnow")

    @property
    def best_mpi(self):
        medians = [self.columns[system].median for system in MPI if system in self.columns]
        medians = [median for median in medians if median is not None]
        if not medians:
            return None
        return max(medians) if self.higher_is_better else min(medians)

    @property
    def ratio_to_mpi(self):
        """How many times as good as the better MPI; above 1 bspnow is ahead."""
        own, mpi = self.median_of(self.beside_mpi), self.best_mpi
        if not own or not mpi:
            return None
        return own / mpi if self.higher_is_better else mpi / own

    @property
    def verdict(self):
        if self.target is None:
            return ""
        return {True: "ok", False: "MISSED", None: "unknown"}[self.target.holds(self)]

    def to_json(self):
        entry = {"what": self.what, "unit": self.unit, **self.parameters}
        entry.update({column: summary.to_json() for column, summary in self.columns.items()})
        if self.ratio_to_mpi is not None:
            entry["ratio_to_mpi"] = self.ratio_to_mpi
        if self.target is not None:
            entry["target"] = self.target.text()
            entry["verdict"] = self.verdict
        return entry


@dataclasses.dataclass
class Section:
    name: str                  # In the JSON.
    title: str                 # Above the table.
    figures: list
    columns: tuple = SYSTEM_COLUMNS

    def to_json(self):
        return [{"section": self.name, **figure.to_json()} for figure in self.figures]


def number(value):
    """Three significant digits, no exponent."""
    if value is None:
        return "-"
    if abs(value) >= 1000:
        return "%.0f" % value
    digits = 2 if abs(value) >= 1 else 3
    if abs(value) >= 100:
        digits = 0
    elif abs(value) >= 10:
        digits = 1
    return "%.*f" % (digits, value)


def cell(summary):
    if summary is None:
        return "-"
    return number(summary.median) if summary.samples else summary.missing


def table(section):
    """The lines of one section; the columns of targets only where there are any."""
    with_target = any(figure.target for figure in section.figures)
    with_ratio = any(figure.ratio_to_mpi is not None for figure in section.figures)
    rows = [["", "unit"] + [heading for _, heading in section.columns]
            + (["vs MPI"] if with_ratio else []) + (["target", "verdict"] if with_target else [])]
    for figure in section.figures:
        row = [figure.what, figure.unit]
        row += [cell(figure.columns.get(column)) for column, _ in section.columns]
        if with_ratio:
            ratio = figure.ratio_to_mpi
            row.append("" if ratio is None else "%.2fx" % ratio)
        if with_target:
            row += [figure.target.text() if figure.target else "", figure.verdict]
        rows.append(row)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [section.title]
    for row in rows:
        texts = [text.ljust(width) if i < 2 else text.rjust(width)
                 for i, (text, width) in enumerate(zip(row, widths))]
        lines.append("  " + "  ".join(texts).rstrip())
    return lines
