"""Bootstrapped UCB: the quantile is that of the replicates, and the bound that saves most of them is a bound."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bootleader._core.rng import Stream
from bootleader._core.rules import ArmsView, SharedStatistics
from bootleader.policies import bootstrapped_ucb as policy

ARMS, REPLICATES = 3, 70
PARAMS = (0.1, 0.5, float(REPLICATES), 0.0)


def residual_sums(memory: list[float], k: int, shift: float) -> np.ndarray:
    """The replicates' sums of weighted residuals, largest first."""
    first, room = k * policy.places_of(REPLICATES) + policy.SUMS, policy.room_for(REPLICATES)
    sums, weights = (np.array(memory[at : at + REPLICATES]) for at in (first, first + room))
    return np.sort(sums - shift * weights)[::-1]


@pytest.mark.parametrize("draw", [np.random.Generator.standard_normal, lambda random: float(random.random() < 0.3)])
def test_the_chosen_arm_has_the_largest_index(draw) -> None:
    """Every round: the quantile by sorting, the bound below it, and the arm chosen among those with the best index."""
    random, stream = np.random.default_rng(3), Stream([11], 0, 0x9E3779B97F4A7C15)
    rewards: list[list[float]] = [[] for _ in range(ARMS)]
    memory, saved = [0.0] * (ARMS * policy.places_of(REPLICATES)), 0
    arms = ArmsView(np.zeros(ARMS), np.zeros(ARMS), None, None, None, None, None)
    chosen = 0
    for pulls in itertools.count(1):
        arm = (pulls - 1) % ARMS if pulls <= ARMS else chosen
        rewards[arm].append(draw(random) + 0.3 * arm)
        arms.count[arm], arms.mean[arm] = len(rewards[arm]), np.mean(rewards[arm])
        shared = SharedStatistics(0.0, pulls, ARMS, 1_000)
        policy.learn(PARAMS, arms, memory, shared, arm, rewards[arm][-1], stream)
        if pulls < ARMS:
            continue
        level, rank = policy.level_and_rank(PARAMS, shared)
        indices = np.zeros(ARMS)
        for k in range(ARMS):
            quantile = residual_sums(memory, k, arms.mean[k] - rewards[k][0])[rank] / arms.count[k]
            assert policy.bootstrap_quantile(arms, memory.copy(), k, REPLICATES, rank) == pytest.approx(quantile)
            assert policy.least_quantile(arms, memory, k, REPLICATES, rank) <= quantile + 1e-12
            indices[k] = arms.mean[k] + quantile + level / arms.count[k]
        chosen = policy.choose(PARAMS, arms, memory, shared, stream)
        assert indices[chosen] == pytest.approx(indices.max())
        saved += not policy.is_known(arms, memory, chosen, REPLICATES, rank)
        if pulls == 400:
            break
    assert saved > 100  # the bound does decide
