"""Regret that others have published, for the policies that they define or compare with."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bootleader as bl

# Baudry, Kaufmann, Maillard (2020), table 2: N(mu, 1), 20,000 rounds, mean regret of 5,000 runs. Their paper prints
# standard deviations of the runs only; with as many runs as theirs, our standard error stands for theirs.
ROUNDS, RUNS = 20_000, 5_000
PUBLISHED = {
    (0.5, 0.0): (24.4, 92.2, 25.6),
    (0.5, 0.0, 0.0, 0.0): (73.5, 277.1, 71.0),
    (1.5, 1.0, 0.5, 0.0): (49.7, 190.9, 50.4),
}
POLICIES = (bl.ThompsonSampling(prior_sd=math.inf), bl.ReBoot(sigma_a=1.5), bl.RBSDA())


@pytest.mark.slow
@pytest.mark.parametrize("means", PUBLISHED, ids=str)
def test_regret_is_the_published_one(means):
    """Within four standard errors of the difference of two such means: level 6e-5 each."""
    sim = bl.simulate(list(POLICIES), bl.GaussianBandit(means), rounds=ROUNDS, runs=RUNS, seed=2020, checkpoints=2)
    found = sim.final_regret.mean(axis=1)
    error = math.sqrt(2) * sim.final_regret.std(axis=1) / math.sqrt(RUNS)
    off = (found - np.array(PUBLISHED[means])) / error
    assert (np.abs(off) < 4.0).all(), list(zip(found, PUBLISHED[means], off, strict=True))
