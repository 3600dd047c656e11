"""Beyond ten arms: regret over the oracle's with 50, 200 and 1,000 arms and 10 to 100 rounds for each.

The oracle is Thompson sampling that knows the sd. AdaptiveReBoot pulls every arm twice first, which is a fifth of ten
rounds for each arm. "A subset" is AdaptiveReBoot on as many arms, drawn at random, as the square root of the rounds;
the regret of missing the best arm is counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import bootleader as bl
from benchmarks.measuring import Measured

Floats = npt.NDArray[np.float64]

ARMS = (50, 200, 1_000)
ROUNDS_PER_ARM = (10, 30, 100)
RUNS = {50: 2_000, 200: 1_000, 1_000: 200}  # at 9 repeats
FULL = 9
ORACLE = bl.ThompsonSampling(prior_sd=math.inf, noise_sd="oracle")
POLICIES = (bl.AdaptiveReBoot(), bl.StudentThompson(), bl.EpsilonGreedy(0.1), bl.EpsilonGreedy(0.02))
SUBSET = "AdaptiveReBoot() on a subset"
# Bandits with means U(low, low + spread): the bandit for a number of arms, and the spread.
FAMILIES: dict[str, tuple[Callable[[int], Any], float]] = {
    "Gaussian, means U(0, 1), sd 1": (lambda arms: bl.GaussianBandit(bl.Uniform(0, 1, arms=arms)), 1.0),
    "Bernoulli, U(.01, .05)": (lambda arms: bl.BernoulliBandit(bl.Uniform(0.01, 0.05, arms=arms)), 0.04),
}


def subset_regret(bandit_of: Callable[[int], Any], spread: float, arms: int, rounds: int, runs: int) -> Floats:
    """Each run's regret of AdaptiveReBoot on a random subset: within it, and for the best arm that may not be in it."""
    chosen = min(arms, round(math.sqrt(rounds)))
    within = bl.simulate(bl.AdaptiveReBoot(), bandit_of(chosen), rounds=rounds, runs=runs, seed=0, checkpoints=1)
    missed = spread * (arms / (arms + 1) - chosen / (chosen + 1))  # expected maxima of uniform means
    return np.asarray(within.final_regret.ravel() + rounds * missed)


def standard_error(regret: Floats, oracle: Floats) -> float:
    """Of the ratio of the means, over the runs, which are paired."""
    ratio = regret.mean() / oracle.mean()
    return float(np.std(regret - ratio * oracle, ddof=1) / math.sqrt(len(oracle)) / oracle.mean())


def measure(repeats: int) -> Iterator[Measured]:
    """Ratios of mean regret."""
    for family, (bandit_of, spread) in FAMILIES.items():
        for arms in ARMS:
            runs = max(4, RUNS[arms] * min(repeats, FULL) // FULL)
            for each in ROUNDS_PER_ARM:
                rounds = arms * each
                section = f"{family}: {arms:,} arms, {rounds:,} rounds, regret over the oracle's"
                everyone = [ORACLE, *POLICIES]
                played = bl.simulate(everyone, bandit_of(arms), rounds=rounds, runs=runs, seed=0, checkpoints=1)
                oracle, *others = played.final_regret
                others.append(subset_regret(bandit_of, spread, arms, rounds, runs))
                for policy, regret in zip([*map(str, POLICIES), SUBSET], others, strict=True):
                    yield Measured(section, policy, float(regret.mean() / oracle.mean()), "x")
                largest = max(standard_error(regret, oracle) for regret in others)
                yield Measured(section, "largest standard error", largest, "x")


def as_table(figures: Sequence[Measured]) -> str:
    """A row for each size, a column for each policy."""
    columns = list(dict.fromkeys(figure.what for figure in figures))
    lines = [f"| bandit | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}\n"]
    for section in dict.fromkeys(figure.section for figure in figures):
        bandit = section.rpartition(",")[0]
        row = {figure.what: f"{figure.value:.2f}" for figure in figures if figure.section == section}
        lines.append(f"| {bandit} | {' | '.join(row.values())} |\n")
    return "".join(lines)


if __name__ == "__main__":  # the table of the documents
    print(as_table(list(measure(FULL))))
