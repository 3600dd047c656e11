"""What an agent refuses, and that a refusal changes nothing."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import bootleader as bl
from tests.agent.rewards import fed
from tests.helpers import agent_of

BAD = [
    float("nan"), float("inf"), -float("inf"), 1e200, 10**400, "1", None, [1.0], np.array([1.0]), np.array(1.0), 1j,
    Decimal("NaN"), Decimal("sNaN"), Decimal("1e400"),
]  # fmt: skip


@pytest.mark.parametrize("reward", BAD, ids=str)
@pytest.mark.parametrize("policy", [bl.AdaptiveReBoot(), bl.Giro()], ids=str)
def test_a_bad_reward_raises_and_changes_nothing(policy: Any, reward: Any) -> None:
    agent = agent_of(policy)
    fed(agent, 20)
    decision = agent.decide()
    before = agent.to_json()
    with pytest.raises((TypeError, ValueError), match="reward must be a finite number"):
        agent.update("blue", reward)
    with pytest.raises((TypeError, ValueError), match="reward must be a finite number"):
        agent.update_many(["blue", "red"], [1.0, reward])
    with pytest.raises((TypeError, ValueError), match="reward must be a finite number"):
        agent.reward(decision.id, reward)
    assert agent.to_json() == before


@pytest.mark.parametrize(
    "reward", [True, np.True_, 1, np.int8(1), np.float32(1), Fraction(1), Decimal("1.00"), np.float64(1)], ids=repr
)
def test_numbers_of_other_types_are_rewards(reward: Any) -> None:
    agent, plain = agent_of(), agent_of()
    agent.update("blue", reward)
    plain.update("blue", 1.0)
    assert agent.to_json() == plain.to_json()


@pytest.mark.parametrize("arm", ["pink", 0, None, ["blue"]], ids=repr)
def test_an_unknown_arm_raises_and_changes_nothing(arm: Any) -> None:
    agent = agent_of()
    before = agent.to_json()
    with pytest.raises(LookupError, match="arm must be one of 'blue', 'green', 'red'"):
        agent.update(arm, 1.0)
    with pytest.raises(LookupError, match="arm must be one of"):
        agent.update_many(["blue", arm], [1.0, 1.0])
    assert agent.to_json() == before


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"arms": "blue"}, "list of distinct strings"),
        ({"arms": ["a", "a"]}, "'a' more than once"),
        ({"arms": ["a", 3]}, "got 3"),
        ({"arms": [""]}, "not empty"),
        ({"arms": {"a": object()}}, "metadata of arm 'a'"),
        ({"arms": {"red"}}, "a set has another order in every process, got {'red'}"),
        ({"arms": frozenset({"red"})}, "a set has another order"),
        ({"seed": -1}, "seed"),
        ({"half_life": 0}, "half_life"),
        ({"half_life": 0.99}, "a number of rounds, of at least 1, got 0.99; a factor of 0.99 .* half-life of 68.97"),
        ({"half_life": 0.3}, "a number of rounds, of at least 1, got 0.3$"),
        ({"maximize": 1}, "maximize"),
        ({"max_open": 0}, "max_open"),
        ({"max_age": -1.0}, "max_age"),
        ({"clock": 5}, "clock must be a function that returns the time in seconds, got 5"),
        ({"policy": "ReBoot"}, "policy must be"),
        ({"policy": bl.ThompsonSampling(noise_sd="oracle")}, "oracle"),
        ({"policy": bl.ThompsonSampling(noise_sd=(1.0, 2.0))}, "3 arms"),
        ({"policy": bl.Giro(), "half_life": 10.0}, "moments only"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_bad_parameters_raise(options: Any, match: str) -> None:
    with pytest.raises((TypeError, ValueError), match=match):
        agent_of(**options)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda agent: agent.add_arm("blue"), "already here"),
        (lambda agent: agent.add_arm(3), "must be a string"),
        (lambda agent: agent.add_arm("x", float("nan")), "plain JSON"),
        (lambda agent: agent.add_arm("x", noise_sd=1.0), "needs none"),
        (lambda agent: agent.pause_arm("x"), "arm must be one of"),
        (lambda agent: agent.resume_arm("blue"), "not paused"),
        (lambda agent: agent.remove_arm("x"), "arm must be one of"),
        (lambda agent: agent.pull_many(-1), "n must be"),
        (lambda agent: agent.decide(probability="no"), "probability must be True or False, got 'no'"),
        (lambda agent: agent.update_many(["blue"], [1.0, 2.0]), "equally many"),
        (lambda agent: agent.update_many("blue", [1.0]), "list of names"),
        (lambda agent: agent.update_many(["blue"], np.ones((1, 1))), "one-dimensional"),
        (lambda agent: agent.merge(agent), "count twice"),
        (lambda agent: agent.merge("x"), "another Agent"),
        (lambda agent: agent.merge(bl.Agent(bl.UCB1(), ["x"])), "same policy"),
    ],
)
def test_bad_calls_raise_and_change_nothing(call: Any, match: str) -> None:
    agent = agent_of()
    fed(agent, 20)
    before = agent.to_json()
    with pytest.raises((TypeError, ValueError, LookupError), match=match):
        call(agent)
    assert agent.to_json() == before
