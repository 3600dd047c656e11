"""A half-life fades the number of rounds that laws read, as it fades the counts."""

from __future__ import annotations

from typing import Any

import pytest

import bootleader as bl

BANDIT = bl.GaussianBandit([0.5, 0.0, 0.0])
SIZE: dict[str, Any] = {"runs": 32, "seed": 3}


@pytest.mark.parametrize("policy", [bl.KLUCB("gaussian"), bl.MOSS(), bl.UCBV(), bl.CHK()], ids=str)
def test_regret_a_round_does_not_grow_with_the_rounds(policy: bl.Policy) -> None:
    rounds = 16_000
    sim = bl.simulate(bl.Discounted(policy, half_life=50), BANDIT, rounds=rounds, **SIZE, checkpoints=[1_000, rounds])
    early, late = sim.mean_regret[0]
    assert late / rounds < 1.02 * early / 1_000  # with all rounds counted: 1.11, 1.08, 1.04 and 1.09 times


def test_the_divergence_of_gaussian_rewards_gives_discounted_ucb() -> None:
    policies = [bl.Discounted(policy, half_life=50) for policy in (bl.UCB1(), bl.KLUCB("gaussian"))]
    ucb, kl = bl.simulate(policies, BANDIT, rounds=4_000, **SIZE).mean_regret[:, -1]
    assert kl == pytest.approx(ucb, rel=1e-3)  # the indices are the same up to rounding


def test_indices_that_fade_are_not_bounded_by_later_ones() -> None:
    policy = bl.KLUCB("gaussian")
    assert policy.rule.uses_bounds
    assert not bl.Discounted(policy, half_life=50).rule.uses_bounds
