"""A part of the reproduction: the cells it needs, and an analysis of their results for the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bootleader._core.validation import seed_of, whole
from bootleader.bandits import Bandit
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._claims import Judged
from bootleader.policies import Policy

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

PAPER_RUNS, PAPER_ROUNDS = 500, 10_000
QUICK_RUNS_DIVISOR, QUICK_ROUNDS_DIVISOR = 5, 10
MINIMUM_RUNS, MINIMUM_ROUNDS = 8, 200


@dataclass(frozen=True)
class Size:
    """Runs, rounds and seed of a reproduction; the paper's by default.

    Parameters
    ----------
    runs, rounds : int, optional
        By default the paper's, or what a part chooses for itself.
    seed : int
    quick : bool
        Divide the full size: a fifth of the runs, a tenth of the rounds.
    """

    runs: int | None = None
    rounds: int | None = None
    seed: int = 0
    quick: bool = False

    def __post_init__(self) -> None:
        seed_of(self.seed)
        if self.runs is not None:
            whole("runs", self.runs, MINIMUM_RUNS)
        if self.rounds is not None:
            whole("rounds", self.rounds, MINIMUM_ROUNDS)

    def runs_of(self, full: int = PAPER_RUNS) -> int:
        """Number of runs where the full size has ``full``."""
        return self.runs if self.runs is not None else full // QUICK_RUNS_DIVISOR if self.quick else full

    def rounds_of(self, full: int = PAPER_ROUNDS) -> int:
        """Horizon where the full size has ``full``."""
        return self.rounds if self.rounds is not None else full // QUICK_ROUNDS_DIVISOR if self.quick else full

    def cell(self, policy: Policy, bandit: Bandit) -> Cell:
        """A cell at this size."""
        return Cell(policy, bandit, self.rounds_of(), self.runs_of(), self.seed)

    def in_words(self) -> str:
        """The size in words, for captions."""
        return f"{self.runs_of():,} runs of {self.rounds_of():,} rounds"

    def remark(self, full_runs: int = PAPER_RUNS, full_rounds: int = PAPER_ROUNDS) -> str:
        """The note on every figure that is not full size; empty at full size."""
        runs, rounds = self.runs_of(full_runs), self.rounds_of(full_rounds)
        if (runs, rounds) == (full_runs, full_rounds):
            return ""
        full = f"{full_runs:,} runs of {full_rounds:,} rounds"
        return f"Not full size: {runs:,} runs of {rounds:,} rounds (full size: {full})"


@dataclass(frozen=True)
class Drawing:
    """A figure with its caption; ``name`` is that of its files."""

    name: str
    figure: Figure
    caption: str

    @cached_property
    def svg(self) -> str:
        """The figure as SVG: drawn once for its file and for the report."""
        from bootleader.plots import svg_of

        return svg_of(self.figure)


@dataclass(frozen=True)
class Table:
    """A table: ``shown`` is what a reader sees, ``data`` the numbers of its CSV file, with snake_case columns."""

    name: str
    title: str
    shown: pd.DataFrame
    data: pd.DataFrame
    note: str = ""


@dataclass(frozen=True)
class Outcome:
    """What the analysis of a part gives; ``numbers`` are the CSV files beside its figures."""

    drawings: list[Drawing] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    numbers: dict[str, pd.DataFrame] = field(default_factory=dict)
    claims: list[Judged] = field(default_factory=list)


@dataclass(frozen=True)
class Part:
    """A figure, a table or a group of claims: the cells it needs, and the analysis of their results.

    ``takes`` says roughly how long a part takes at full size, if that is minutes.
    """

    name: str
    title: str
    cells: Callable[[Size], list[Cell]]
    analyse: Callable[[Size, Results], Outcome]
    beyond_the_paper: bool = False
    by_default: bool = True
    takes: str = ""

    def size_in_words(self, size: Size) -> str:
        """The runs and rounds that the part plays at a size, from its cells; empty if it has none.

        The rounds are those of the longest cell of each bandit: shorter ones are the same runs stopped earlier. Timed
        cells count only if there are no others.
        """
        cells = self.cells(size)
        longest: dict[int, dict[Any, int]] = {}
        for cell in cells:
            if not cell.timed:
                rounds = longest.setdefault(cell.runs, {})
                rounds[cell.bandit] = max(cell.rounds, rounds.get(cell.bandit, 0))
        if cells and not longest:
            return f"timed runs of up to {max(cell.rounds for cell in cells):,} rounds"
        return ", ".join(
            f"{runs:,} runs of {_range(rounds.values())} rounds" for runs, rounds in sorted(longest.items())
        )

    def remark(self, size: Size) -> str:
        """What is played instead of the full size; empty at full size."""
        full = Size(seed=size.seed)
        if set(self.cells(size)) == set(self.cells(full)):
            return ""
        return f"{self.size_in_words(size)} (full size: {self.size_in_words(full)})"


def _range(numbers: Iterable[int]) -> str:
    """Smallest and largest.

    Examples
    --------
    >>> _range([20_000, 10_000]), _range([500, 500])
    ('10,000 to 20,000', '500')
    """
    found = set(numbers)
    low, high = min(found), max(found)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def not_full_size(parts: Iterable[Part], size: Size) -> str:
    """One note about the parts that are not played at full size; empty if all are."""
    of_remark: dict[str, list[str]] = {}
    for part in parts:
        if words := part.remark(size):
            of_remark.setdefault(words, []).append(part.name)
    if len(of_remark) <= 1:
        return "".join(f"Not full size: {words}" for words in of_remark)
    return "Not full size: " + "; ".join(f"{', '.join(names)}: {words}" for words, names in of_remark.items())
