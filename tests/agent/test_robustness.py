"""AdaptiveReBoot needs no tuning: the robustness suite at full size, against the bars that are set for it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import bootleader as bl
from bootleader.paper.parts.robustness import QUANTILE, RUNS, SUITE

ORACLE = bl.ThompsonSampling(prior_sd=math.inf, noise_sd="oracle")
BARS = {"mean": (1.25, 2.6), "quantile": (1.27, 3.0)}  # geometric mean over the suite, worst case


# A 99 % quantile of rare events is a matter of luck over 2,000 runs; three times as many tell it well enough.
SEEDS = (0, 1, 2020)


def regret_of(case: Any) -> Any:
    policies = [ORACLE, bl.AdaptiveReBoot()]
    runs = (bl.simulate(policies, case.bandit, rounds=case.rounds, runs=RUNS, seed=seed) for seed in SEEDS)
    return np.concatenate([simulation.final_regret for simulation in runs], axis=1)


@pytest.mark.slow
def test_adaptive_reboot_stays_close_to_the_oracle_on_the_whole_suite() -> None:
    mean, quantile = {}, {}
    for name, case in SUITE.items():
        oracle, adaptive = regret_of(case)
        mean[name] = adaptive.mean() / oracle.mean()
        quantile[name] = np.quantile(adaptive, QUANTILE) / np.quantile(oracle, QUANTILE)
        print(f"{name:16} mean x {mean[name]:.2f}, {QUANTILE:.0%} quantile x {quantile[name]:.2f}")
    for what, ratios in (("mean", mean), ("quantile", quantile)):
        typical = math.exp(np.mean(np.log(list(ratios.values()))))
        print(f"{what}: geometric mean {typical:.3f}, worst {max(ratios.values()):.2f}")
        assert typical <= BARS[what][0]
        assert max(ratios.values()) <= BARS[what][1]
