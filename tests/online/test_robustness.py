"""AdaptiveReBoot needs no tuning: the robustness suite at full size, against the bars that are set for it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bootleader as bl
from bootleader.paper.robustness import QUANTILE, RUNS, SUITE

ORACLE = bl.ThompsonSampling(prior_sd=math.inf, noise_sd="oracle")
GEOMETRIC_MEAN, WORST = 1.45, 4.0


@pytest.mark.slow
def test_adaptive_reboot_stays_close_to_the_oracle_on_the_whole_suite() -> None:
    mean, quantile = {}, {}
    for name, case in SUITE.items():
        regret = bl.simulate(
            [ORACLE, bl.AdaptiveReBoot()], case.bandit, rounds=case.rounds, runs=RUNS, seed=2020
        ).final_regret
        mean[name] = regret[1].mean() / regret[0].mean()
        quantile[name] = np.quantile(regret[1], QUANTILE) / np.quantile(regret[0], QUANTILE)
        print(f"{name:16} mean x {mean[name]:.2f}, {QUANTILE:.0%} quantile x {quantile[name]:.2f}")
    for what, ratios in (("mean", mean), ("quantile", quantile)):
        typical = math.exp(np.mean(np.log(list(ratios.values()))))
        print(f"{what}: geometric mean {typical:.3f}, worst {max(ratios.values()):.2f}")
        assert typical <= GEOMETRIC_MEAN
        assert max(ratios.values()) <= WORST
