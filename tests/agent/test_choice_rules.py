"""Agents of policies that look at all arms at once and remember nothing but moments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bootleader as bl
from bootleader._core.reference_player import player_of
from tests.agent.fuzzing.invariants import check
from tests.helpers import COLOURS, agent_of

POLICIES = [
    bl.IMED("gaussian"), bl.IMED(), bl.MaillardSampling(), bl.KLMaillardSampling(), bl.BayesUCB(),
    bl.TopTwoThompson(),
]  # fmt: skip


def coin(rng: Any, arm: int) -> float:
    return float(rng.random() < 0.3 + 0.2 * arm)


@pytest.mark.parametrize("late", [False, True], ids=["pull", "decide"])
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_the_choices_are_those_of_the_simulator(policy: Any, late: bool) -> None:
    agent, player = agent_of(policy, seed=11), player_of(policy.rule, 3, [1.0] * 3, 11, 0, horizon=150.0)
    rng = np.random.default_rng(1)
    for _ in range(150):
        arm = player.choose()
        decision = agent.decide(probability=False) if late else None
        assert (decision.arm if decision else agent.pull()) == COLOURS[arm]
        reward = coin(rng, arm)
        player.learn(arm, reward)
        if decision:
            agent.reward(decision.id, reward)
        else:
            agent.update(COLOURS[arm], reward)
    check(agent, probabilities=False)


def fed(policy: Any) -> bl.Agent:
    agent, rng = agent_of(policy), np.random.default_rng(2)
    for k, arm in enumerate(COLOURS):
        agent.update_many([arm] * 12, [coin(rng, k) for _ in range(12)])
    return agent


def test_maillard_sampling_has_its_closed_form() -> None:
    agent = fed(bl.MaillardSampling())
    means = np.array([arm.mean for arm in agent._learner.arms])
    weights = np.exp(-12.0 * (means - means.max()) ** 2 / 2.0)
    chances = agent.probabilities()
    assert chances.method == "exact"
    np.testing.assert_allclose(list(chances.values()), weights / weights.sum(), rtol=1e-12)
    pulls = [agent.pull() for _ in range(4000)]
    for arm, chance in chances.items():  # a deviation of 4.9 standard deviations has probability 1e-6
        assert abs(pulls.count(arm) - 4000 * chance) < 4.9 * np.sqrt(4000 * chance * (1.0 - chance))


def test_a_choice_that_draws_nothing_is_certain() -> None:
    agent = fed(bl.IMED("gaussian"))
    chances = agent.probabilities()
    assert chances.method == "exact"
    assert chances[agent.pull()] == 1.0
    tied = agent_of(bl.IMED())
    tied.update_many(COLOURS, [0.0, 1.0, 1.0])
    assert dict(tied.probabilities()) == {"blue": 0.0, "green": 0.5, "red": 0.5}


@pytest.mark.parametrize("policy", [bl.KLMaillardSampling(), bl.IMED("gaussian")], ids=str)
def test_arms_come_and_go_and_documents_hold_them(policy: Any) -> None:
    agent = fed(policy)
    agent.add_arm("gold")
    assert agent.pull() == "gold"
    agent.update("gold", 1.0)
    agent.pause_arm("red")
    assert agent.probabilities()["red"] == 0.0
    assert "red" not in agent.pull_many(30)
    twin = bl.Agent.from_json(agent.to_json())
    assert twin.to_json() == agent.to_json()
    assert twin.pull_many(20) == agent.pull_many(20)
    agent.learn_summary("blue", 10, 0.5, 0.5)
    agent.merge(fed(policy))
    agent.remove_arm("blue")
    check(agent)


def test_traffic_holds_for_them_too() -> None:
    agent = agent_of(bl.MaillardSampling(), traffic=bl.Traffic(floor=0.1))
    agent.update_many(COLOURS * 40, [0.0, 5.0, 0.0] * 40)
    assert dict(agent.probabilities()) == pytest.approx({"blue": 0.1, "green": 0.8, "red": 0.1}, abs=1e-9)


def test_rewards_and_options_that_do_not_go_with_the_policy_are_refused() -> None:
    agent = agent_of(bl.IMED())
    before = agent.to_json()
    with pytest.raises(ValueError, match="reward must be from 0 to 1 with this policy, got 2"):
        agent.update("blue", 2.0)
    with pytest.raises(ValueError, match="reward must be from 0 to 1"):
        agent.update_many(["red", "blue"], [1.0, -1.0])
    assert agent.to_json() == before
    with pytest.raises(ValueError, match="maximize=False does not go with"):
        agent_of(bl.IMED(), maximize=False)
    with pytest.raises(ValueError, match="half_life needs a policy"):
        agent_of(bl.IMED(), half_life=50.0)
    assert agent_of(bl.IMED("gaussian"), maximize=False).pull() in COLOURS
