"""The problems of the leaderboard: the robustness suite, those of published tables, and arms drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bootleader.bandits import (
    AffineBandit,
    Bandit,
    BernoulliBandit,
    ExponentialBandit,
    GaussianBandit,
    Normal,
    Uniform,
)
from bootleader.paper._cell_cache import Cell
from bootleader.paper._report_part import QUICK_ROUNDS_DIVISOR, Size
from bootleader.paper.parts.robustness import SCALE, SHIFT, SUITE
from bootleader.policies import Policy

RUNS: Final = 2_000
LONG: Final = 20_000  # rounds of the problems that are not in the suite

ONE_UNIT: Final = ("Giro", "NPTS")  # fast where rewards are zeros and ones, and slow in another unit

GAUSSIAN, BERNOULLI, EXPONENTIAL = "Gaussian", "Bernoulli", "exponential"
HEAVY, UNEQUAL = "heavy tails", "unequal noise"
GROUPS: Final = (GAUSSIAN, BERNOULLI, EXPONENTIAL, HEAVY, UNEQUAL)
_SUITE_GROUPS: Final = {
    "gauss2": GAUSSIAN, "gauss10": GAUSSIAN, "exp10": EXPONENTIAL, "bern .02/.03": BERNOULLI,
    "bern .002/.006": BERNOULLI, "bern10 rare": BERNOULLI, "bern10": BERNOULLI, "revenue5": HEAVY,
    "student-t3": HEAVY, "sd 10/.1": UNEQUAL, "sd .1/10": UNEQUAL, "sd 3/.3": UNEQUAL, "sd mixed5": UNEQUAL,
    "sd drawn10": UNEQUAL,
}  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """A bandit with its horizon and the group in which it counts."""

    bandit: Bandit
    rounds: int
    group: str
    description: str

    def rounds_at(self, size: Size) -> int:
        """The horizon at a size of the reproduction."""
        if size.rounds is not None:
            return min(self.rounds, size.rounds)
        return self.rounds // QUICK_ROUNDS_DIVISOR if size.quick else self.rounds

    def cell(self, size: Size, policy: Policy, runs: int, rescaled: bool = False) -> Cell:
        """A policy on this problem; ``runs`` at full size."""
        bandit = AffineBandit(self.bandit, SCALE, SHIFT) if rescaled else self.bandit
        return Cell(policy, bandit, self.rounds_at(size), runs_at(size, runs), size.seed)


def runs_at(size: Size, full: int) -> int:
    """The number of runs where the full size has ``full``.

    Examples
    --------
    >>> runs_at(Size(), 2_000), runs_at(Size(quick=True), 40), runs_at(Size(runs=100), 2_000)
    (2000, 8, 100)
    """
    return min(size.runs, full) if size.runs is not None else max(size.runs_of(full), 8)


def _exponential(*means: float) -> ExponentialBandit:
    return ExponentialBandit(means)


_NAMED = {
    "gauss4": (GaussianBandit((0.5, 0.0, 0.0, 0.0)), GAUSSIAN, "4 Gaussian arms (.5, 0, 0, 0), sd 1"),
    "gauss4 steps": (GaussianBandit((1.5, 1.0, 0.5, 0.0)), GAUSSIAN, "4 Gaussian arms (1.5, 1, .5, 0), sd 1"),
    "exp 1.5/1": (_exponential(1.5, 1.0), EXPONENTIAL, "2 exponential arms"),
    "exp .2/.1": (_exponential(0.2, 0.1), EXPONENTIAL, "2 exponential arms"),
    "exp 11/10": (_exponential(11.0, 10.0), EXPONENTIAL, "2 exponential arms"),
    "exp 4/3/2/1": (_exponential(4.0, 3.0, 2.0, 1.0), EXPONENTIAL, "4 exponential arms"),
    "exp .4/.3/.2/.1": (_exponential(0.4, 0.3, 0.2, 0.1), EXPONENTIAL, "4 exponential arms"),
    "exp 5/4/4/4": (_exponential(5.0, 4.0, 4.0, 4.0), EXPONENTIAL, "4 exponential arms"),
    "bern10 U(0,1)": (BernoulliBandit(Uniform(0, 1, arms=10)), BERNOULLI, "10 Bernoulli arms, means U(0, 1)"),
    "gauss10 N(0,1)": (GaussianBandit(Normal(0, 1, arms=10)), GAUSSIAN, "10 Gaussian arms, means N(0, 1), sd 1"),
}

PROBLEMS: Final[dict[str, Problem]] = {
    name: Problem(case.bandit, case.rounds, _SUITE_GROUPS[name], case.description) for name, case in SUITE.items()
} | {name: Problem(bandit, LONG, group, words) for name, (bandit, group, words) in _NAMED.items()}

# Only for the comparison with published figures.
LOW: Final = (0.1,) + 3 * (0.01,) + 3 * (0.03,) + 3 * (0.05,)
PUBLISHED_ONLY: Final[dict[str, Problem]] = {
    name: Problem(BernoulliBandit(means), rounds, BERNOULLI, words)
    for name, means, rounds, words in (
        ("bern .8/.9", (0.8, 0.9), LONG, "2 Bernoulli arms"),
        ("bern .5/.6", (0.5, 0.6), LONG, "2 Bernoulli arms"),
        ("bern10 low", LOW, LONG, "10 Bernoulli arms, .1, 3 × .01, .03, .05"),
        ("bern8 close", (0.9,) + 7 * (0.85,), LONG, "8 Bernoulli arms, .9 and 7 × .85"),
        ("bern9 steps", tuple(k / 10 for k in range(1, 10)), 30_000, "9 Bernoulli arms, .1, .2, ... , .9"),
    )
}
