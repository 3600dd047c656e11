"""A policy that declares a range of rewards gets no others, whatever kind of rule it has."""

from __future__ import annotations

import math
from typing import Any

import pytest

import bootleader as bl
from bootleader.policies import POLICIES
from tests.agent.test_document import tampered
from tests.helpers import COLOURS, agent_of

RANGED: list[Any] = [
    *(policy for policy in POLICIES if policy.reward_range != (-math.inf, math.inf) and not policy.reads_horizon),
    bl.KLUCB("exponential"),
    bl.KLUCB("poisson"),
    bl.Discounted(bl.KLUCB(), half_life=30),
    bl.NPTS(upper=2.0),
    bl.Exp3(rate=0.1),
]
FREE: list[Any] = [bl.KLUCB("gaussian"), bl.Giro(), bl.UCB1()]


def outside(policy: Any) -> list[float]:
    """Rewards next to the range, and one that is no float."""
    low, high = policy.reward_range
    below = [] if low == -math.inf else [math.nextafter(low, -math.inf), -1]
    above = [] if high == math.inf else [math.nextafter(high, math.inf), 7]
    return below + above


def used(policy: Any, **options: Any) -> bl.Agent:
    agent = agent_of(policy, **options)
    agent.update_many(COLOURS * 4, [0.0, 0.5, 1.0] * 4)
    return agent


def message(policy: Any, what: str = "reward") -> str:
    low, high = policy.reward_range
    return f"^{what} must be from {low:g} to {high:g} with this policy, got "


def test_every_kind_of_rule_is_among_them() -> None:
    assert {type(policy.rule) for policy in RANGED} == {bl.IndexRule, bl.HistoryRule, bl.ChoiceRule}


@pytest.mark.parametrize("policy", RANGED, ids=str)
def test_a_reward_outside_the_range_is_refused_and_changes_nothing(policy: Any) -> None:
    agent = used(policy)
    decision, before = agent.decide(probability=False), agent.to_json()
    for reward in outside(policy):
        with pytest.raises(ValueError, match=message(policy)):
            agent.update("blue", reward)
        with pytest.raises(ValueError, match=message(policy)):
            agent.update_many(["red", "blue"], [0.5, reward])
        with pytest.raises(ValueError, match=message(policy)):
            agent.reward(decision.id, reward)
    with pytest.raises(ValueError, match="reward must be a finite number from -1e"):
        agent.update("blue", math.nan)
    assert agent.to_json() == before
    for bound in policy.reward_range:
        if math.isfinite(bound):
            agent.update("blue", bound)
    agent.reward(decision.id, True)


@pytest.mark.parametrize("policy", RANGED, ids=str)
def test_costs_are_refused(policy: Any) -> None:
    with pytest.raises(ValueError, match=r"maximize=False does not go with .* report a reward, such as 1 minus"):
        agent_of(policy, maximize=False)


@pytest.mark.parametrize("policy", FREE, ids=str)
def test_a_policy_without_a_range_takes_all_rewards_and_costs(policy: Any) -> None:
    agent = agent_of(policy, maximize=False)
    agent.update_many(COLOURS, [-1e100, 0.0, 1e100])
    assert agent.pull() == "blue"


@pytest.mark.parametrize("policy", [bl.KLUCB(), bl.IMED(), bl.Discounted(bl.KLUCB(), half_life=30)], ids=str)
def test_a_summary_whose_mean_no_such_rewards_have_is_refused(policy: Any) -> None:
    agent = used(policy)
    before = agent.to_json()
    for mean in (-0.1, 1.1):
        with pytest.raises(ValueError, match=message(policy, "mean")):
            agent.learn_summary("blue", 10, mean, 0.1)
    assert agent.to_json() == before
    agent.learn_summary("blue", 10, 1.0, 0.0)


def changed(agent: bl.Agent, **moments: Any) -> str:
    """The document with other moments of the first arm."""
    document = agent.to_json()
    for name, value in moments.items():
        document = tampered(f"arms/0/{name}", value, document)
    return document


@pytest.mark.parametrize("policy", RANGED, ids=str)
def test_a_document_with_rewards_outside_the_range_is_refused(policy: Any) -> None:
    agent = used(policy)
    assert bl.Agent.from_json(agent.to_json()).to_json() == agent.to_json()
    for reward in (-3.0, 7.0):
        low, high = policy.reward_range
        if not low <= reward <= high:
            with pytest.raises(ValueError, match=r"arm 'blue' has rewards that its policy does not take: from "):
                bl.Agent.from_json(changed(agent, anchor=reward))


def test_one_reward_of_a_history_outside_the_range_is_refused() -> None:
    agent = agent_of(bl.NPTS())
    agent.update_many(["blue", "blue"], [0.0, 1.0])
    with pytest.raises(ValueError, match="does not take: from -inf to 1"):
        bl.Agent.from_json(changed(agent, history=[-2.0, 2.0], drift=0.0, rss=8.0))


def test_a_document_of_costs_is_refused() -> None:
    with pytest.raises(ValueError, match="maximize=False does not go with"):
        bl.Agent.from_json(tampered("maximize", False, used(bl.KLUCB()).to_json()))


def test_a_mean_that_is_rounded_beyond_the_range_is_read() -> None:
    agent = agent_of(bl.KLUCB())
    agent.update_many(["blue"] * 3, [0.1, 1.0, 1.0])
    agent.update_many(["blue"] * 20_000, [1.0] * 20_000)
    restored = bl.Agent.from_json(changed(agent, drift=0.9 + 1e-12))
    assert restored.summary().loc["blue", "mean"] > 1.0
