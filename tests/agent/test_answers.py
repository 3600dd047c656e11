"""Verdicts and intervals of an agent: those of a log of its rewards."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bootleader as bl

ARMS = ["blue", "green", "red"]


def agent_and_log(policy, rounds=1_500, maximize=True, draw=None):
    rng = np.random.default_rng(0)
    draw = draw or (lambda arm: rng.normal(ARMS.index(arm)))
    agent = bl.Agent(policy, ARMS, seed=1, maximize=maximize)
    log = {"arm": [], "reward": []}
    for place in range(rounds):
        arm = ARMS[place % 3]
        reward = float(draw(arm))
        agent.update(arm, reward)
        log["arm"].append(arm)
        log["reward"].append(reward)
    return agent, log


@pytest.mark.parametrize("policy", [bl.AdaptiveReBoot(), bl.Giro()], ids=repr)
@pytest.mark.parametrize("maximize", [True, False])
def test_an_agent_gives_the_verdict_of_its_log(policy, maximize):
    agent, log = agent_and_log(policy, 1_260, maximize)
    mine, logged = agent.verdict(unit="visit"), bl.verdict(log, maximize=maximize, unit="visit")
    assert mine.sentence == logged.sentence
    for one, other in zip(mine.comparisons, logged.comparisons, strict=True):
        assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-9)
    table = agent.summary()
    assert table["low"].tolist() == pytest.approx([arm.low for arm in logged.arms], rel=1e-9)
    assert table["high"].tolist() == pytest.approx([arm.high for arm in logged.arms], rel=1e-9)


def test_bounds_need_no_fourth_moments():
    rng = np.random.default_rng(3)
    agent, log = agent_and_log(bl.UCB1(), draw=lambda arm: rng.random() < 0.2 + 0.2 * ARMS.index(arm))
    mine, logged = agent.verdict(low=0, high=1, control="blue"), bl.verdict(log, low=0, high=1, control="blue")
    assert mine.sentence == logged.sentence
    assert all(math.isnan(end) for end in agent.summary()["low"])
    with pytest.raises(ValueError, match="keeps no fourth moments"):
        agent.verdict()
    with pytest.raises(ValueError, match=r"between low=0 and high=0\.5"):
        agent.verdict(low=0, high=0.5)
    with pytest.raises(ValueError, match="control must be one of 'blue', 'green', 'red', got 'violet'"):
        agent.verdict(low=0, high=1, control="violet")


def test_a_restored_and_a_merged_agent_answer_alike():
    whole, log = agent_and_log(bl.AdaptiveReBoot(), 900)
    parts = [bl.Agent(bl.AdaptiveReBoot(), ARMS, seed=seed) for seed in (1, 2)]
    for place, (arm, reward) in enumerate(zip(log["arm"], log["reward"], strict=True)):
        parts[place >= 300].update(arm, reward)
    parts[0].merge(parts[1])
    for agent in (parts[0], bl.Agent.from_json(whole.to_json())):
        for one, other in zip(agent.verdict().comparisons, whole.verdict().comparisons, strict=True):
            assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-9)


def test_before_any_reward():
    agent = bl.Agent(bl.Giro(), ARMS)
    assert agent.verdict().sentence.startswith("not yet")
    assert agent.summary()["low"].isna().all()


def test_a_half_life_has_no_verdict():
    agent = bl.Agent(bl.ThompsonSampling(), ARMS, half_life=100)
    with pytest.raises(ValueError, match="half-life"):
        agent.verdict(low=0, high=1)
    assert agent.summary()["high"].isna().all()
