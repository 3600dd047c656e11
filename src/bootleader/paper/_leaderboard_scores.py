"""What the leaderboard measures: which policies play which problems, and their regret beside the oracle's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from bootleader.bandits import BernoulliBandit, Uniform
from bootleader.paper._bootstrap_intervals import Floats, Interval, quotient
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._contenders import contender_for, contenders, plays
from bootleader.paper._leaderboard_problems import (
    ONE_UNIT,
    PROBLEMS,
    RUNS,
    runs_at,
)
from bootleader.paper._paper_policies import ORACLE_TS
from bootleader.paper._report_part import Size
from bootleader.paper._required_knowledge import knowledge_kind, required_knowledge
from bootleader.policies import Policy

QUANTILE: Final = 0.99
FEWEST_FOR_QUANTILE: Final = 400  # runs
NORMAL_95, NORMAL_999 = 1.959964, 3.290527  # two-sided quantiles of the standard normal law
TIMED_BANDIT: Final = BernoulliBandit(Uniform(0, 1, arms=10))
TIMED_ROUNDS: Final = 10_000
TIMED_RUNS: Final = 32


@dataclass(frozen=True)
class Score:
    """A policy's regret on a problem, and its ratio to the oracle's on the same runs."""

    mean: float
    standard_error: float
    quantile: float
    ratio: Interval
    quantile_ratio: float
    runs: int


Scores = Mapping[str, Mapping[str, Score]]  # policy -> problem -> score


def entries() -> Iterator[tuple[str, str, Policy]]:
    """Every policy on every problem that it applies to: (name, problem, policy with what it must know)."""
    for name, policy in contenders().items():
        for title, problem in PROBLEMS.items():
            found = contender_for(policy, problem.bandit, problem.rounds)
            if found is not None:
                yield name, title, found


def first_cells(size: Size) -> dict[tuple[str, str], Cell]:
    """The cells in the unit in which the problems are given."""
    return {(name, title): PROBLEMS[title].cell(size, policy, RUNS) for name, title, policy in entries()}


def rescaled_cells(size: Size) -> dict[tuple[str, str], Cell]:
    """The cells of the suite in the other unit, with the same parameters, where the unit can matter."""
    from bootleader.paper.parts.robustness import SUITE

    found = {}
    for name, title, policy in entries():
        if title in SUITE and not policy.equivariant and name not in ONE_UNIT:
            cell = PROBLEMS[title].cell(size, policy, RUNS, rescaled=True)
            if plays(policy, cell.bandit):
                found[name, title] = cell
    return found


def oracle_cells(size: Size) -> dict[str, Cell]:
    """The oracle on every problem; it is equivariant, so that one unit is enough."""
    return {title: problem.cell(size, ORACLE_TS, RUNS) for title, problem in PROBLEMS.items()}


def timed_cells(size: Size) -> dict[str, Cell]:
    """Each policy on ten arms, one core, nothing else playing."""
    rounds = min(TIMED_ROUNDS, size.rounds_of(TIMED_ROUNDS))
    found = {}
    for name, policy in contenders().items():
        informed = contender_for(policy, TIMED_BANDIT, rounds)
        if informed is not None:
            found[name] = Cell(
                informed, TIMED_BANDIT, rounds, min(TIMED_RUNS, runs_at(size, RUNS)), size.seed, timed=True
            )
    return found


def nanoseconds(size: Size, results: Results) -> dict[str, float]:
    """Nanoseconds a round with ten arms."""
    return {
        name: 1e9 * float(results[cell].seconds[0]) / (cell.runs * cell.rounds)
        for name, cell in timed_cells(size).items()
    }


def scores(cells: Mapping[tuple[str, str], Cell], size: Size, results: Results) -> dict[str, dict[str, Score]]:
    """The scores of the cells, against the oracle in the first unit."""
    oracles = {title: results.final_regret(cell) for title, cell in oracle_cells(size).items()}
    found: dict[str, dict[str, Score]] = {}
    for (name, title), cell in cells.items():
        rescaled = cell.bandit is not PROBLEMS[title].bandit
        found.setdefault(name, {})[title] = score(results.final_regret(cell), oracles[title], rescaled)
    return found


def score(regret: Floats, oracle: Floats, rescaled: bool = False) -> Score:
    """The score of a policy; the regret of rescaled rewards is first brought back to the oracle's unit."""
    from bootleader.paper.parts.robustness import SCALE

    regret = regret / SCALE if rescaled else regret
    oracle = oracle[: len(regret)]
    enough = len(regret) >= FEWEST_FOR_QUANTILE
    tail = float(np.quantile(regret, QUANTILE)) if enough else math.nan
    return Score(
        mean=float(regret.mean()),
        standard_error=float(regret.std(ddof=1) / math.sqrt(len(regret))),
        quantile=tail,
        ratio=paired_ratio(regret, oracle),
        quantile_ratio=quotient(tail, float(np.quantile(oracle, QUANTILE))) if enough else math.nan,
        runs=len(regret),
    )


def paired_ratio(numerator: Floats, denominator: Floats, z: float = NORMAL_95) -> Interval:
    """Ratio of mean regrets over the same runs, with a normal interval on the logarithm (delta method).

    Examples
    --------
    >>> import numpy as np
    >>> str(paired_ratio(np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 3.0])))
    '2 [2, 2]'
    """
    n = min(len(numerator), len(denominator))
    x, y = numerator[:n], denominator[:n]
    if n < 2 or x.mean() <= 0.0 or y.mean() <= 0.0:
        return Interval(quotient(float(x.mean()), float(y.mean())), math.nan, math.nan)
    value = float(x.mean() / y.mean())
    error = float(np.std(x / x.mean() - y / y.mean(), ddof=1)) / math.sqrt(n)
    return Interval(value, value * math.exp(-z * error), value * math.exp(z * error))


def geometric_mean(values: Iterable[float]) -> float:
    """Geometric mean of the values that are numbers; NaN if there is none.

    Examples
    --------
    >>> geometric_mean([1.0, 4.0, math.nan])
    2.0
    """
    logs = [math.log(value) for value in values if value > 0.0]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def by_group(row: Mapping[str, Score]) -> dict[str, float]:
    """Geometric mean of the ratios in each group of problems."""
    groups: dict[str, list[float]] = {}
    for title, entry in row.items():
        groups.setdefault(PROBLEMS[title].group, []).append(entry.ratio.value)
    return {group: geometric_mean(values) for group, values in groups.items()}


def typical(row: Mapping[str, Score]) -> float:
    """Geometric mean over the groups, so that a group with many problems does not count more."""
    return geometric_mean(by_group(row).values())


def knowledge_of(name: str) -> str:
    """What a policy must know, in words."""
    return required_knowledge(contenders()[name])


def knowledge_group(name: str) -> str:
    """The kind of knowledge by which policies are grouped in the picture: nothing, sd, prior, range or family."""
    return knowledge_kind(contenders()[name])


def ranked(found: Scores) -> list[str]:
    """Names from the best to the worst, by the typical ratio."""
    return sorted(found, key=lambda name: (typical(found[name]), name))
