"""Beyond ten arms: regret over the oracle's with 50, 200 and 1,000 arms and 10 to 100 rounds for each.

The oracle is Thompson sampling that knows the sd. AdaptiveReBoot pulls every arm twice first, which is a fifth of ten
rounds for each arm; EpsilonGreedy and ThompsonSampling pull every arm once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import bootleader as bl
from benchmarks.measuring import Measured

ARMS = (50, 200, 1_000)
ROUNDS_PER_ARM = (10, 30, 100)
RUNS = {50: 400, 200: 200, 1_000: 60}  # at 9 repeats
FULL = 9
ORACLE = bl.ThompsonSampling(prior_sd=math.inf, noise_sd="oracle")
POLICIES = (bl.AdaptiveReBoot(), bl.StudentThompson(), bl.EpsilonGreedy(0.1), bl.EpsilonGreedy(0.02))
FAMILIES = {
    "Gaussian, means U(0, 1), sd 1": lambda arms: bl.GaussianBandit(bl.Uniform(0, 1, arms=arms)),
    "Bernoulli, U(.01, .05)": lambda arms: bl.BernoulliBandit(bl.Uniform(0.01, 0.05, arms=arms)),
}


def measure(repeats: int) -> Iterator[Measured]:
    """Ratios of mean regret."""
    for family, bandit_of in FAMILIES.items():
        for arms in ARMS:
            runs = max(4, RUNS[arms] * min(repeats, FULL) // FULL)
            for each in ROUNDS_PER_ARM:
                section = f"{family}: {arms:,} arms, {arms * each:,} rounds, regret over the oracle's"
                everyone = [ORACLE, *POLICIES]
                played = bl.simulate(everyone, bandit_of(arms), rounds=arms * each, runs=runs, seed=0, checkpoints=1)
                oracle, *others = played.final_regret.mean(axis=1)
                for policy, regret in zip(POLICIES, others, strict=True):
                    yield Measured(section, str(policy), float(regret / oracle), "x")
