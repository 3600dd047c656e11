"""Rewards that drift: what a half-life means, and what it is worth."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import bootleader as bl

INDEX_POLICIES = [
    bl.AdaptiveReBoot(), bl.ReBoot(sigma_a=1.5), bl.ResidualBootstrap(), bl.StudentThompson(), bl.ThompsonSampling(),
    bl.PHE(), bl.UCB1(), bl.FollowTheLeader(), bl.EpsilonGreedy(),
]  # fmt: skip


@pytest.mark.parametrize("policy", [bl.ThompsonSampling(), bl.AdaptiveReBoot()], ids=str)
def test_moments_are_those_of_rewards_weighted_by_their_age(policy: Any) -> None:
    half_life = 25.0
    agent = bl.Agent(policy, ["a", "b"], seed=1, half_life=half_life)
    rng = np.random.default_rng(0)
    learnt: dict[str, list[tuple[int, float]]] = {"a": [], "b": []}
    for round_ in range(1, 1201):  # so long that the least count, of the initial pulls, has faded too
        arm = "a" if round_ % 3 else "b"
        reward = 1e6 + rng.normal()
        agent.update(arm, reward)
        learnt[arm].append((round_, reward))
    for name, arm in zip("ab", (agent._learner.state_now(k) for k in range(2)), strict=True):
        age = np.array([1200 - when for when, _ in learnt[name]])
        rewards = np.array([reward for _, reward in learnt[name]])
        weight = 0.5 ** (age / half_life)
        mean = np.average(rewards, weights=weight)
        assert arm.count == pytest.approx(weight.sum(), rel=1e-12)
        assert arm.mean == pytest.approx(mean, rel=1e-14)
        sums = [float((weight * (rewards - mean) ** power).sum()) for power in (2, 3, 4)]
        asked = policy.rule.fourth_moment
        assert arm.rss == pytest.approx(sums[0], rel=1e-6)
        assert (arm.third, arm.fourth) == pytest.approx(sums[1:] if asked else (0.0, 0.0), rel=1e-6)
        assert arm.rewards == len(rewards)


@pytest.mark.parametrize(
    ("first", "half_life"),
    [(1e16, 5.0), (-1e16, 5.0), (1e40, 5.0), (1e100, 5.0), (-1e100, 5.0), (3e-200, 5.0), (1e16, 25.0), (-1e100, 25.0)],
)
def test_an_extreme_first_reward_is_forgotten(first: float, half_life: float) -> None:
    """Against exact fractions; once what is left of the first reward is negligible, the mean is right to 1e-9."""
    agent = bl.Agent(bl.ThompsonSampling(), ["a"], seed=1, half_life=half_life)
    rng = np.random.default_rng(0)
    rewards = [first, *rng.normal(0.5, 1.0, int(half_life * 420)).tolist()]
    agent.update_many(["a"] * len(rewards), rewards)
    weight = [Fraction(2.0 ** (-age / half_life)) for age in range(len(rewards))][::-1]
    exact = sum(w * Fraction(reward) for w, reward in zip(weight, rewards, strict=True)) / sum(weight)
    arm = agent._learner.state_now(0)
    assert abs(float(Fraction(arm.anchor) + Fraction(arm.drift) - exact)) < 1e-9
    assert abs(agent.summary()["mean"].iloc[0] - float(exact)) < 1e-9
    squares = sum(w * (Fraction(reward) - exact) ** 2 for w, reward in zip(weight, rewards, strict=True))
    assert arm.rss == pytest.approx(float(squares), rel=1e-6)


@pytest.mark.parametrize("policy", INDEX_POLICIES, ids=str)
def test_an_arm_fades_to_its_initial_pulls_and_no_further(policy: Any) -> None:
    agent = bl.Agent(policy, ["a", "b"], seed=1, half_life=10.0)
    rng = np.random.default_rng(0)
    for _ in range(20):
        agent.update("b", 5.0 + rng.normal())
    before = agent._learner.state_now(1)
    for _ in range(2000):
        agent.update("a", rng.normal())
    after = agent._learner.state_now(1)
    initial_pulls = policy.rule.initial_pulls
    assert after.count == pytest.approx(initial_pulls, abs=1e-12)
    if initial_pulls:
        assert after.rss / after.count == pytest.approx(before.rss / before.count)
    agent.update("b", 0.0)
    assert agent._learner.state_now(1).count == pytest.approx(initial_pulls + 1.0, abs=1e-12)
    assert sum(agent.probabilities().values()) == pytest.approx(1.0)
    assert agent.pull() in ("a", "b")


def test_laws_lag_by_a_fraction_of_the_half_life_at_most() -> None:
    agent = bl.Agent(bl.ReBoot(sigma_a=1.5), ["a", "b"], seed=1, half_life=320.0)
    agent.update_many(["a", "b"] * 50, [0.0, 1.0] * 50)
    agent.pull()
    for _ in range(500):
        agent.update("a", 0.0)
        learner: Any = agent._learner
        behind = learner.rounds - max(learner.laws.pooled_at, learner.arms[1].last)
        assert behind <= 10


def test_an_arm_grows_young_again() -> None:
    """Below 13 rewards' worth AdaptiveReBoot's noise is a Student's; a half-life leads back there."""
    agent = bl.Agent(bl.AdaptiveReBoot(), ["a", "b"], seed=1, half_life=1000.0)
    rng = np.random.default_rng(0)
    for _ in range(15):
        agent.update_many(["a", "b"], rng.normal(size=2))
    learner: Any = agent._learner
    ages = set()
    for k in range(3000):
        if k % 200 == 0:
            agent.update("a", rng.normal())
        agent.update("b", rng.normal())
        agent.pull()
        young = sum(shape != float("inf") for shape in learner.laws.shape)
        assert (learner.fast is not None) == (young == 0)
        ages.add(young)
    assert ages == {0, 1}


def regret(policy: Any, seed: int, half_life: float | None, rounds: int = 6000, changes: int = 3) -> float:
    """Three Gaussian arms, sd 1; the best is one better, and another one after every ``rounds / changes``."""
    agent = bl.Agent(policy, ["0", "1", "2"], seed=seed, half_life=half_life)
    noise = np.random.default_rng(seed).normal(size=rounds)
    lost = 0.0
    for t in range(rounds):
        best = (t * changes // rounds + seed) % 3
        arm = agent.pull()
        agent.update(arm, (int(arm) == best) + noise[t])
        lost += int(arm) != best
    return lost


@pytest.mark.parametrize(
    "policy", [bl.AdaptiveReBoot(), bl.ReBoot(sigma_a=1.5), bl.ThompsonSampling(prior_sd=10.0), bl.UCB1()], ids=str
)
def test_a_half_life_follows_an_arm_that_stops_being_the_best(policy: Any) -> None:
    seeds = range(5)
    without = np.mean([regret(policy, seed, None) for seed in seeds])
    within = np.mean([regret(policy, seed, 200.0) for seed in seeds])
    print(f"{policy}: regret {without:.0f} without a half-life, {within:.0f} with a half-life of 200 rounds")
    assert within < 0.6 * without


def test_without_drift_a_half_life_costs_something() -> None:
    """Why it is not on by default."""
    without = np.mean([regret(bl.AdaptiveReBoot(), seed, None, changes=1) for seed in range(5)])
    within = np.mean([regret(bl.AdaptiveReBoot(), seed, 200.0, changes=1) for seed in range(5)])
    assert without < within
