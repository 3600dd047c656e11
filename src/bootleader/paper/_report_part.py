"""What a part of the reproduction is: a sweep of cells, and an analysis of their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bootleader._core.validation import seed_of, whole
from bootleader.bandits import Bandit
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._claims import Judged
from bootleader.policies import Policy

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

PAPER_RUNS, PAPER_ROUNDS = 500, 10_000
FEWER_RUNS, FEWER_ROUNDS = 5, 10  # a quick job has the full size divided by these
FEWEST_ROUNDS = 200


@dataclass(frozen=True)
class Size:
    """How large a job is: the paper's size unless told otherwise."""

    runs: int | None = None
    rounds: int | None = None
    seed: int = 0
    quick: bool = False

    def __post_init__(self) -> None:
        seed_of(self.seed)
        if self.runs is not None:
            whole("runs", self.runs, 8)
        if self.rounds is not None:
            whole("rounds", self.rounds, FEWEST_ROUNDS)

    def runs_of(self, full: int = PAPER_RUNS) -> int:
        """Number of runs where the full size has ``full``."""
        return self.runs if self.runs is not None else full // FEWER_RUNS if self.quick else full

    def rounds_of(self, full: int = PAPER_ROUNDS) -> int:
        """Horizon where the full size has ``full``."""
        return self.rounds if self.rounds is not None else full // FEWER_ROUNDS if self.quick else full

    def cell(self, policy: Policy, bandit: Bandit) -> Cell:
        """A cell at this size."""
        return Cell(policy, bandit, self.rounds_of(), self.runs_of(), self.seed)

    def remark(self, full_runs: int = PAPER_RUNS, full_rounds: int = PAPER_ROUNDS) -> str:
        """What every figure says when the job is not full size; empty when it is."""
        runs, rounds = self.runs_of(full_runs), self.rounds_of(full_rounds)
        if (runs, rounds) == (full_runs, full_rounds):
            return ""
        full = f"{full_runs:,} runs of {full_rounds:,} rounds"
        return f"Not full size: {runs:,} runs of {rounds:,} rounds (full size: {full})"


@dataclass(frozen=True)
class Drawing:
    """A figure with the words beside it."""

    name: str
    figure: Figure
    caption: str


@dataclass(frozen=True)
class Table:
    """A table as it is shown; ``data`` is what its CSV holds, where that is more than what is shown."""

    name: str
    title: str
    shown: pd.DataFrame
    note: str = ""
    data: pd.DataFrame | None = None


@dataclass(frozen=True)
class Outcome:
    """What a part's analysis gives."""

    drawings: list[Drawing] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    numbers: dict[str, pd.DataFrame] = field(default_factory=dict)
    claims: list[Judged] = field(default_factory=list)


@dataclass(frozen=True)
class Part:
    """A figure or a table: data, and what is made of it."""

    name: str
    title: str
    cells: Callable[[Size], list[Cell]]
    analyse: Callable[[Size, Results], Outcome]
    beyond_the_paper: bool = False
    by_default: bool = True
