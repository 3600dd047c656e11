"""AdaptiveReBoot: no unit, and a guard that fades with the events that make up the variance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import bootleader as bl
from bootleader._core.moments import pebay
from bootleader._core.reference_player import player_of
from bootleader._core.rules import ArmStatistics, SharedStatistics
from bootleader.policies.adaptive_reboot import law

BANDITS = {
    "gaussian": bl.GaussianBandit([1.0, 0.8, 0.3], sd=[3.0, 0.3, 1.0]),
    "rare": bl.BernoulliBandit([0.02, 0.1, 0.05]),
    "revenue": bl.RevenueBandit(bl.Uniform(0.8, 1.2, arms=4), conversion=0.2),
}


def pulls_in(bandit: Any, scale: float, shift: float) -> Any:
    rescaled = bl.AffineBandit(bandit, scale, shift)
    return bl.simulate(bl.AdaptiveReBoot(), rescaled, rounds=400, runs=60, seed=4).final_regret[0] / scale


@pytest.mark.parametrize("bandit", BANDITS)
@pytest.mark.parametrize(("scale", "shift"), [(1e3, -1e6), (1e-3, 7.0), (1e60, 0.0), (1e-60, 0.0)])
def test_the_choices_do_not_depend_on_the_unit(bandit: str, scale: float, shift: float) -> None:
    plain = pulls_in(BANDITS[bandit], 1.0, 0.0)
    assert np.unique(plain).size > 10  # the regret tells choices apart
    np.testing.assert_allclose(pulls_in(BANDITS[bandit], scale, shift), plain, rtol=1e-6)


@pytest.mark.parametrize("scale", [2.0**-200, 2.0**200])
def test_a_player_makes_the_same_choices_in_any_unit(scale: float) -> None:
    """Powers of two are exact, so the laws differ by the factor and by no rounding."""
    rng = np.random.default_rng(1)
    plain, other = (player_of(bl.AdaptiveReBoot().rule, 3, [1.0] * 3, seed=2, run=0) for _ in range(2))
    for _ in range(300):
        arm = plain.choose()
        assert other.choose() == arm
        reward = float(rng.exponential())
        plain.learn(arm, reward)
        other.learn(arm, reward * scale)


@pytest.mark.parametrize("scale", [1e-150, 1e-90, 1e65])
def test_rewards_whose_fourth_powers_vanish_or_are_huge_are_played_all_the_same(scale: float) -> None:
    """Below 1e-76 the guard stays as it is; nothing fails."""
    agent = bl.Agent(bl.AdaptiveReBoot(), ["a", "b"], seed=1)
    rng = np.random.default_rng(2)
    for _ in range(200):
        arm = agent.pull()
        agent.update(arm, scale * float(rng.uniform(-1.0, 1.0) + (arm == "b")) / 2.0)
    assert sum(agent.probabilities().values()) == pytest.approx(1.0)
    copy = bl.Agent.from_json(agent.to_json())
    assert [copy.pull() for _ in range(5)] == [agent.pull() for _ in range(5)]


def statistics_of(rewards: list[float]) -> ArmStatistics:
    moments = (0.0,) * 6
    for reward in rewards:
        moments = pebay(*moments, reward)
    count, anchor, drift, rss, _, fourth = moments
    return ArmStatistics(count, anchor + drift, rss, 1.0, fourth)


def credited_variance(rewards: list[float], variance: float, kurtosis: float) -> float:
    arm = statistics_of(rewards)
    _, scale, _ = law((1.0,), arm, SharedStatistics(variance, 100, 2, math.inf, kurtosis))
    return scale**2 * (arm.count + 2.0) ** 2 / (arm.count + 6.0)


def test_an_arm_is_guarded_by_the_pool_until_it_has_seen_three_events() -> None:
    zeros = [0.0] * 1_000
    assert credited_variance(zeros, 4.0, 3.0) == pytest.approx(4.0)
    assert credited_variance([*zeros, 1.0, 1.0], 4.0, 3.0) == pytest.approx(4.0)  # two successes
    assert credited_variance([*zeros, *[1.0] * 6], 4.0, 3.0) == pytest.approx(4.0 / 4.0, rel=0.05)  # six: (3/6)^2


def test_calm_arms_leave_the_guard_once_their_own_variance_is_known() -> None:
    calm = np.random.default_rng(3).normal(0.0, 0.01, 900).tolist()
    assert credited_variance(calm, 1.0, 3.0) == pytest.approx((3 / 300) ** 2, rel=0.2)
    assert credited_variance(calm[:9], 1.0, 3.0) == pytest.approx(1.0)


def test_a_jackpot_elsewhere_keeps_calm_arms_guarded() -> None:
    """A pool of kurtosis 90 says that one reward in ninety makes up the variance: 270 rewards are three events."""
    calm = np.random.default_rng(3).normal(0.0, 0.01, 270).tolist()
    assert credited_variance(calm, 1.0, 90.0) == pytest.approx(1.0)
    assert credited_variance(calm, 1.0, 3.0) < 0.01


def test_an_arm_noisier_than_the_pool_is_credited_with_its_own_variance() -> None:
    noisy = [-30.0, 10.0, 5.0, -12.0]
    assert credited_variance(noisy, 1.0, 2.0) == pytest.approx(np.var(noisy, ddof=1))


def test_the_scale_is_close_to_the_student_posteriors() -> None:
    """From the second reward on, at ratio 1, where the arm's own variance counts."""
    for s in range(2, 13):
        rewards = np.random.default_rng(s).normal(size=s).tolist()
        arm = statistics_of(rewards)
        _, scale, df = law((1.0,), arm, SharedStatistics(1e-9, 100, 2, math.inf, 2.0))
        assert scale == pytest.approx(math.sqrt(arm.rss / (s * (s - 1.0))), rel=0.061)
        assert df == s - 1.0


def test_equal_rewards_so_far_means_the_largest_mean() -> None:
    assert law((1.0,), statistics_of([2.0, 2.0]), SharedStatistics(0.0, 4, 2, math.inf, 1.0)) == (2.0, 0.0, math.inf)


@pytest.mark.parametrize("seed", range(40))
def test_the_law_is_its_equation(seed: int) -> None:
    """From raw rewards of many kinds, with pools of many sizes; the guard is at work in about half of the cases."""
    rng = np.random.default_rng(seed)
    s = int(rng.integers(2, 300))
    draws = (rng.normal(size=s), rng.exponential(size=s), rng.binomial(1, 0.05, s).astype(float), rng.pareto(2.5, s))
    y = draws[seed % 4]
    v, kurt, ratio = 10.0 ** rng.uniform(-2.0, 3.0), rng.uniform(1.0, 60.0), rng.uniform(0.3, 2.0)
    d2, d4 = ((y - y.mean()) ** 2).sum(), ((y - y.mean()) ** 4).sum()
    n = min(d2**2 / d4, s / kurt) if d2 else 0.0
    w = max(d2 / (s - 1), v * min(1.0, (3.0 / n) ** 2 if n else 1.0))
    expected = (y.mean(), math.sqrt((s + 6.0 * ratio**2) * w) / (s + 2), s - 1.0 if s <= 12 else math.inf)
    found = law((ratio,), statistics_of(y.tolist()), SharedStatistics(v, 1000, 3, math.inf, kurt))
    assert found == pytest.approx(expected, rel=1e-9)
