"""How a benchmark measures and what it reports: ratios of medians, measured alternately in one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

Work = Callable[[], Any]


@dataclass(frozen=True)
class Measured:
    """One figure: what was measured, its value, and the bar that it must meet (if there is one)."""

    section: str
    what: str
    value: float
    unit: str = ""
    bar: float | None = None
    at_most: bool = False  # whether the bar is an upper one

    @property
    def met(self) -> bool | None:
        """Whether the bar is met; None without a bar."""
        if self.bar is None:
            return None
        return bool(self.value <= self.bar if self.at_most else self.value >= self.bar)

    def __str__(self) -> str:
        line = f"  {self.what:<72} {self.value:>10.4g} {self.unit:<10}"
        if self.bar is not None:
            line += f" bar {'<=' if self.at_most else '>='} {self.bar:g}: {'met' if self.met else 'MISSED'}"
        return line

    def as_row(self) -> str:
        """The figure as a row of the table that ``--markdown`` writes."""
        bar = (
            ""
            if self.bar is None
            else f"{'≤' if self.at_most else '≥'} {self.bar:g}: {'met' if self.met else 'missed'}"
        )
        return f"| {self.what} | {self.value:.4g} {self.unit} | {bar} |\n"

    def as_dict(self) -> dict[str, Any]:
        """The figure as ``--json`` writes it."""
        return {**asdict(self), "value": float(self.value), "met": self.met}


def as_markdown(figures: Sequence[Measured]) -> str:
    """All figures as one table, each section's name in a row of its own."""
    lines, section = ["| | figure | bar |\n|---|---:|---|\n"], ""
    for figure in figures:
        if figure.section != section:
            section = figure.section
            lines.append(f"| **{section}** | | |\n")
        lines.append(figure.as_row())
    return "".join(lines)


def seconds(work: Work) -> float:
    """Wall-clock seconds of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def processor_seconds(work: Work) -> float:
    """Processor seconds of one call on this thread: other programs disturb them less than wall-clock time."""
    started = time.thread_time()
    work()
    return time.thread_time() - started


def alternated(repeats: int, *works: Work) -> list[list[float]]:
    """Seconds of each work: warmed up once, then measured alternately, so that a disturbance affects all alike."""
    for work in works:
        work()
    rows = [[seconds(work) for work in works] for _ in range(repeats)]
    return [list(column) for column in zip(*rows, strict=True)]


def side_by_side(repeats: int, *works: Work) -> list[float]:
    """Median seconds of each work, measured alternately."""
    return [statistics.median(column) for column in alternated(repeats, *works)]
