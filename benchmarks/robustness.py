"""AdaptiveReBoot's regret over that of an oracle: the robustness suite, families beyond it, and many arms.

The oracle is Thompson sampling that knows every arm's true sd. At 9 repeats (the default) and more, each case has
2,000 runs of each of three seeds, pooled; at fewer, proportionally fewer.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy import stats

import bootleader as bl
from benchmarks.measuring import Measured
from bootleader.paper.parts.robustness import QUANTILE, RUNS, SUITE, Case

ORACLE = bl.ThompsonSampling(prior_sd=math.inf, noise_sd="oracle")
SEEDS = (0, 1, 2020)
FULL = 9  # repeats for the full number of runs
BARS = {"mean": (1.25, 2.6), "99 % quantile": (1.27, 3.0)}  # geometric mean over the suite, worst case
FIRST_VERSION = {"mean": (1.36, 3.4), "99 % quantile": (1.35, 3.1)}  # of the rule, measured in the same way

UNIT = (np.arange(1_000) + 0.5) / 1_000


def _resampled(*arms: Any) -> bl.EmpiricalBandit:
    return bl.EmpiricalBandit([[float(reward) for reward in arm] for arm in arms])


def _jackpot(mean: float) -> Any:
    """Two rewards in a hundred are 50 larger."""
    return np.concatenate([mean + stats.norm.ppf((np.arange(980) + 0.5) / 980), mean + 50.0 + np.linspace(-1, 1, 20)])


def _rated(*shares: int) -> Any:
    return np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], shares)


FURTHER = {
    "jackpots": Case(_resampled(_jackpot(0.5), _jackpot(0.0)), 20_000, ""),
    "jackpots, 5 arms": Case(_resampled(*map(_jackpot, (0.4, 0.3, 0.2, 0.1, 0.0))), 20_000, ""),
    "Poisson": Case(_resampled(*(stats.poisson.ppf(UNIT, mean) for mean in (1.3, 1.0, 0.7))), 10_000, ""),
    "Poisson, rare": Case(_resampled(*(stats.poisson.ppf(UNIT, mean) for mean in (0.03, 0.02))), 50_000, ""),
    "Pareto 2.5": Case(_resampled(*(m * stats.pareto.ppf(UNIT, 2.5) for m in (1.2, 1.0, 1.1))), 20_000, ""),
    "lognormal": Case(_resampled(*(m * stats.lognorm.ppf(UNIT, 1.5) for m in (1.0, 1.3, 0.8, 1.1))), 20_000, ""),
    "ratings": Case(_resampled(_rated(10, 10, 20, 30, 30), _rated(15, 15, 20, 25, 25), _rated(*[20] * 5)), 10_000, ""),
    "beta": Case(_resampled(*(stats.beta.ppf(UNIT, a, 1 - a) for a in (0.5, 0.4, 0.3))), 10_000, ""),
    "uniform": Case(_resampled(UNIT, 0.8 * UNIT, 0.9 * UNIT), 10_000, ""),
    "negative exponential": Case(_resampled(*(-m * stats.expon.ppf(UNIT) for m in (1.0, 1.2, 1.4))), 10_000, ""),
    "rare losses": Case(_resampled(np.repeat([0.0, -1.0], [980, 20]), np.repeat([0.0, -1.0], [970, 30])), 50_000, ""),
    "Bernoulli .95/.9": Case(bl.BernoulliBandit((0.95, 0.9)), 10_000, ""),
    "Bernoulli .002/.0005": Case(bl.BernoulliBandit((0.002, 0.0005)), 100_000, ""),
    "5 close Gaussian arms": Case(bl.GaussianBandit((0.1, 0.0, 0.0, 0.0, 0.0)), 20_000, ""),
    "20 Gaussian arms": Case(bl.GaussianBandit(bl.Uniform(0, 1, arms=20)), 10_000, ""),
    "sd 1/10": Case(bl.GaussianBandit((1.0, 0.0), sd=(1.0, 10.0)), 10_000, ""),
    "sd 30/.1": Case(bl.GaussianBandit((1.0, 0.0), sd=(30.0, 0.1)), 10_000, ""),
    "revenue, 2 % pay": Case(bl.RevenueBandit((1.5, 1.0), conversion=0.02), 50_000, ""),
    "Student, 2.5 df": Case(bl.StudentTBandit(bl.Uniform(0, 1, arms=5), df=2.5), 10_000, ""),
}


def ratios(cases: Mapping[str, Case], runs: int) -> dict[str, dict[str, float]]:
    """Statistic -> case -> AdaptiveReBoot's regret over the oracle's, over the pooled runs of all seeds."""
    found: dict[str, dict[str, float]] = {name: {} for name in BARS}
    for title, case in cases.items():
        simulations = [
            bl.simulate(
                [bl.AdaptiveReBoot(), ORACLE], case.bandit, rounds=case.rounds, runs=runs, seed=seed, checkpoints=1
            )
            for seed in SEEDS
        ]
        ours, oracle = np.concatenate([simulation.final_regret for simulation in simulations], axis=1)
        found["mean"][title] = float(ours.mean() / oracle.mean())
        found["99 % quantile"][title] = float(np.quantile(ours, QUANTILE) / np.quantile(oracle, QUANTILE))
    return found


def measure(repeats: int) -> Iterator[Measured]:
    """The suite with its bars, then the families beyond it."""
    runs = max(20, RUNS * min(repeats, FULL) // FULL)
    section = f"AdaptiveReBoot's regret over the oracle's: the robustness suite, {runs:,} runs of each of 3 seeds"
    found = ratios(SUITE, runs)
    for statistic, (most_typical, most) in BARS.items():
        values, first = found[statistic], FIRST_VERSION[statistic]
        where = max(values, key=values.__getitem__)
        yield Measured(
            section, f"{statistic}, geometric mean over the cases (first version: {first[0]})",
            statistics.geometric_mean(values.values()), "x", bar=most_typical, at_most=True,
        )  # fmt: skip
        yield Measured(
            section, f"{statistic}, worst case: {where} (first version: {first[1]})", values[where], "x", bar=most,
            at_most=True,
        )  # fmt: skip
    section = f"The same, {len(FURTHER)} families beyond the suite, {runs // 4:,} runs of each of 3 seeds"
    found = ratios(FURTHER, runs // 4)
    for statistic, values in found.items():
        where = max(values, key=values.__getitem__)
        yield Measured(
            section, f"{statistic}, geometric mean over the families", statistics.geometric_mean(values.values()), "x"
        )
        yield Measured(section, f"{statistic}, worst family: {where}", values[where], "x")
