"""A warm start from moments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bootleader as bl
from tests.helpers import COLOURS, agent_of


@pytest.mark.parametrize("maximize", [True, False])
@pytest.mark.parametrize("policy", [bl.AdaptiveReBoot(), bl.ReBoot(sigma_a=1.5), bl.UCB1()], ids=str)
def test_moments_teach_what_the_rewards_teach(policy: Any, maximize: bool) -> None:
    rng = np.random.default_rng(1)
    plain, warm = agent_of(policy, maximize=maximize), agent_of(policy, maximize=maximize)
    for k, arm in enumerate(COLOURS):
        rewards = 50.0 + rng.gamma(0.5 + k, size=40)
        deviations = rewards - rewards.mean()
        kurtosis = float((deviations**4).mean() / (deviations**2).mean() ** 2)
        plain.update_many([arm] * 40, rewards)
        warm.learn_summary(arm, 40, float(rewards.mean()), float(rewards.std(ddof=1)), kurtosis=kurtosis)
    for one, other in zip(plain._learner.arms, warm._learner.arms, strict=True):
        assert (one.count, one.rewards) == (other.count, other.rewards) == (40.0, 40)
        assert one.mean == pytest.approx(other.mean, rel=1e-12)
        assert (one.rss, one.fourth) == pytest.approx((other.rss, other.fourth), rel=1e-9)
    assert plain._learner.rounds == warm._learner.rounds == 120
    expected = plain.probabilities()
    for arm, chance in warm.probabilities().items():
        assert chance == pytest.approx(expected[arm], abs=1e-7)
    assert bl.Agent.from_json(warm.to_json()).to_json() == warm.to_json()


def test_it_adds_to_what_is_known_and_ends_the_initial_pulls() -> None:
    agent = agent_of()
    agent.update("blue", 10.0)
    agent.learn_summary("blue", 3, 2.0, 0.0)
    assert agent.summary().loc["blue", ["pulls", "mean"]].tolist() == [4, 4.0]
    assert agent.probabilities()["blue"] == 0.0  # the others lack their first rewards
    agent.learn_summary("green", 1, 1.0, 0.0)
    agent.learn_summary("green", 2, 1.0, 1.0)
    assert agent.probabilities()["red"] == 1.0
    assert bl.Agent.from_json(agent.to_json()).to_json() == agent.to_json()


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (("pink", 3, 1.0, 1.0), "arm must be one of"),
        (("blue", 0, 1.0, 0.0), "count must be"),
        (("blue", 2.5, 1.0, 0.0), "count must be"),
        (("blue", 3, float("nan"), 0.0), "mean must be"),
        (("blue", 3, 1e66, 0.0), "mean must be"),
        (("blue", 3, -1e66, 0.0), "mean must be"),
        (("blue", 3, 1.0, -1.0), "sd must be"),
        (("blue", 1, 1.0, 0.5), "sd must be 0 where count is 1"),
        (("blue", 2**53, 1.0, 0.5), "at most 2"),
    ],
    ids=str,
)
def test_bad_moments_are_refused_and_change_nothing(arguments: Any, match: str) -> None:
    agent = agent_of()
    agent.update("blue", 1.0)
    before = agent.to_json()
    with pytest.raises((TypeError, ValueError, LookupError), match=match):
        agent.learn_summary(*arguments)
    assert agent.to_json() == before


def test_kurtosis_is_checked_and_a_policy_that_keeps_every_reward_says_so() -> None:
    with pytest.raises(ValueError, match="kurtosis must be"):
        agent_of().learn_summary("blue", 3, 1.0, 1.0, kurtosis=0.5)
    with pytest.raises(ValueError, match=r"Giro\(.* keeps every reward"):
        agent_of(bl.Giro()).learn_summary("blue", 3, 1.0, 1.0)
