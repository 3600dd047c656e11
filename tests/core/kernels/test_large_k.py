"""The simulator's kernel for very many arms against the lock-step kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import bootleader as bl
from bootleader._core import rules

ALARM = 1e-3
NOISY = [bl.ReBoot(1.5), bl.AdaptiveReBoot(), bl.StudentThompson(), bl.ResidualBootstrap(), bl.ThompsonSampling()]
NOISELESS = [bl.FollowTheLeader(), bl.EpsilonGreedy(0.2)]
COINS = bl.BernoulliBandit(bl.Uniform(0.2, 0.8, arms=30))
NORMALS = bl.GaussianBandit(bl.Uniform(0, 1, arms=30))


def _simulated(monkeypatch: Any, crossover: int, *args: Any, **kwargs: Any) -> bl.Simulation:
    monkeypatch.setattr(rules, "CROSSOVER", dict.fromkeys(rules.CROSSOVER, crossover))
    return bl.simulate(*args, **kwargs)


def _both(monkeypatch: Any, *args: Any, **kwargs: Any) -> tuple[bl.Simulation, bl.Simulation]:
    return tuple(_simulated(monkeypatch, crossover, *args, **kwargs) for crossover in (2, 10**9))  # type: ignore[return-value]


@pytest.mark.parametrize("bandit", [COINS, NORMALS])
def test_without_noise_choices_are_the_same_bit_for_bit(monkeypatch: Any, bandit: Any) -> None:
    fast, plain = _both(monkeypatch, NOISELESS, bandit, rounds=600, runs=10, seed=4)
    assert np.array_equal(fast.final_regret, plain.final_regret)
    assert np.array_equal(fast.pulls, plain.pulls)
    # Means over runs are merged in another order, because blocks have other sizes.
    np.testing.assert_allclose(fast.over_time, plain.over_time, rtol=1e-12, atol=1e-12)


def _same_law(monkeypatch: Any, bandit: Any, rounds: int, runs: int) -> None:
    fast = _simulated(monkeypatch, 2, NOISY, bandit, rounds=rounds, runs=runs, seed=1)
    plain = _simulated(monkeypatch, 10**9, NOISY, bandit, rounds=rounds, runs=runs, seed=2)
    for ours, theirs in zip(fast.final_regret, plain.final_regret, strict=True):
        assert stats.mannwhitneyu(ours, theirs).pvalue > ALARM / (2 * len(NOISY))


@pytest.mark.parametrize("bandit", [pytest.param(COINS, marks=pytest.mark.slow), NORMALS])
def test_regret_has_the_law_of_the_lockstep_kernel(monkeypatch: Any, bandit: Any) -> None:
    _same_law(monkeypatch, bandit, rounds=300, runs=500)


@pytest.mark.slow
@pytest.mark.parametrize(("arms", "runs"), [(30, 20_000), (600, 400)])
def test_regret_has_the_law_of_the_lockstep_kernel_at_full_size(monkeypatch: Any, arms: int, runs: int) -> None:
    _same_law(monkeypatch, bl.GaussianBandit(bl.Uniform(0, 1, arms=arms)), rounds=4 * arms, runs=runs)


def test_results_do_not_depend_on_the_number_of_runs() -> None:
    bandit = bl.GaussianBandit(bl.Uniform(0, 1, arms=max(rules.CROSSOVER.values())))
    options: Any = {"rounds": 3_000, "seed": 6, "checkpoints": 7}
    three, five, again = (bl.simulate(NOISY, bandit, runs=runs, **options) for runs in (3, 5, 3))
    assert np.array_equal(three.final_regret, five.final_regret[:, :3])
    assert np.array_equal(three.mean_regret, again.mean_regret)
    assert np.array_equal(three.pulls, again.pulls)


def test_the_kernel_is_chosen_by_the_number_of_arms_alone() -> None:
    for policy in NOISY + NOISELESS:
        crossover = rules.CROSSOVER[policy.rule.noise]
        assert policy.rule.uses_leader_tree(crossover)
        assert not policy.rule.uses_leader_tree(crossover - 1)
    for policy in (bl.PHE(1.0), bl.UCB1()):
        assert not policy.rule.uses_leader_tree(10**6)


@pytest.mark.slow
@pytest.mark.parametrize("policy", [bl.ReBoot(1.5), bl.AdaptiveReBoot()])
def test_a_million_arms(policy: Any) -> None:
    arms = 1_000_000
    rounds = policy.rule.initial_pulls * arms + 50_000
    sim = bl.simulate(policy, bl.GaussianBandit(bl.Uniform(0, 1, arms=arms)), rounds=rounds, runs=1)
    assert sim.pulls.sum() == rounds
    assert sim.pulls.min() >= policy.rule.initial_pulls
