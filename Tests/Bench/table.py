"""Figures side by side, with what is wanted of them."""

import statistics
from dataclasses import dataclass


@dataclass
class Row:
    label: str
    ours: str
    beside: str
    theirs: str
    ratio: str
    wanted: str = ""
    verdict: str = ""


class Table:
    HEADER = Row("figure (median, smallest to largest)", "mediabridge", "beside", "", "ratio", "wanted", "")

    def __init__(self):
        self.rows = []
        self.missed = []

    def ratio(self, label, beside, pairs, wanted=None):
        """Pairs of one repetition each: the machine's mood is in both, so the ratios are what is judged."""
        ratios = [ours / theirs for ours, theirs in pairs]
        self._add(label, beside, *zip(*pairs), spread(ratios), wanted and f"ratio ≤ {wanted:.2f}", judged(ratios, wanted))

    def medians(self, label, beside, ours, theirs, wanted):
        """The ratio of the medians is judged."""
        ratio = statistics.median(ours) / statistics.median(theirs)
        self._add(label, beside, ours, theirs, f"{ratio:.2f}", f"ratio ≤ {wanted:.2f}", judged([ratio], wanted))

    def value(self, label, beside, ours, theirs, wanted=None):
        """The value itself is judged; the ratio is of the medians."""
        below = statistics.median(theirs)
        ratio = f"{statistics.median(ours) / below:.2f}" if below else ""
        self._add(label, beside, ours, theirs, ratio, None if wanted is None else f"≤ {wanted}", judged(ours, wanted))

    def _add(self, label, beside, ours, theirs, ratio, wanted, verdict):
        self.rows.append(Row(label, spread(ours), beside, spread(theirs), ratio, wanted or "", verdict))
        if verdict == "MISSED":
            self.missed.append(f"{label} beside {beside}")

    def __str__(self):
        cells = [list(vars(row).values()) for row in (self.HEADER, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]
        return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def judged(values, wanted):
    if wanted is None:
        return ""
    return "ok" if statistics.median(values) <= wanted else "MISSED"


def spread(values):
    digits = 2 if max(values) < 10 and not all(isinstance(value, int) for value in values) else 0
    middle = f"{statistics.median(values):.{digits}f}"
    return middle if len(values) == 1 else f"{middle} ({min(values):.{digits}f} to {max(values):.{digits}f})"
