"""An arm whose first rewards are on their way is not flooded, whichever call chose it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import bootleader as bl
from tests.helpers import COLOURS, agent_of


def settled_agent(policy: Any = None, **options: Any) -> bl.Agent:
    """An agent whose three arms have rewards."""
    agent = agent_of(policy, **options)
    rng = np.random.default_rng(3)
    agent.update_many(COLOURS * 20, rng.normal(size=60))
    return agent


CALLS = {
    "pull": lambda agent: agent.pull(),
    "pull_many": lambda agent: agent.pull_many(1)[0],
    "decide": lambda agent: agent.decide(probability=False).arm,
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("policy", [bl.AdaptiveReBoot(), bl.UCB1(), bl.Giro()], ids=str)
def test_a_new_arm_gets_its_initial_pulls_and_no_more_until_its_first_reward(policy: Any, call: str) -> None:
    agent = settled_agent(policy)
    agent.add_arm("gold")
    needed = agent._learner.initial_pulls
    chosen = [CALLS[call](agent) for _ in range(40)]
    assert chosen[:needed] == ["gold"] * needed
    assert "gold" not in chosen[needed:]
    assert agent.probabilities()["gold"] == 0.0
    assert agent.summary().loc["gold", "probability"] == 0.0


def test_calls_of_different_kinds_count_together() -> None:
    agent = settled_agent()
    agent.add_arm("gold")
    assert agent.pull() == "gold"
    assert agent.probabilities()["gold"] == 1.0
    decision = agent.decide()
    assert (decision.arm, decision.probability) == ("gold", 1.0)
    assert agent.probabilities()["gold"] == 0.0
    agent.update("gold", 1.0)  # answers the pull
    agent.reward(decision.id, 2.0)
    assert agent.probabilities()["gold"] > 0.0
    assert agent._learner.arms[3].awaited == ()


def test_a_pull_without_an_answer_is_given_up_after_a_hundred_rewards() -> None:
    agent = settled_agent()
    agent.add_arm("gold")
    assert [agent.pull(), agent.pull()] == ["gold", "gold"]
    for k in range(99):
        assert "gold" not in agent.pull_many(3)
        agent.update(COLOURS[k % 3], float(k % 5))
    assert agent.probabilities()["gold"] == 0.0
    agent.update("blue", 1.0)
    assert agent.probabilities()["gold"] == 1.0
    assert agent.pull() == "gold"


def test_patience_grows_with_the_number_of_arms() -> None:
    names = [str(k) for k in range(150)]
    agent = bl.Agent(bl.UCB1(), names, seed=1)
    agent.update_many(names, [0.0] * 150)
    agent.add_arm("gold")
    assert agent.pull() == "gold"
    agent.update_many(names[:150], [0.0] * 150)
    assert agent.probabilities()["gold"] == 0.0
    agent.update("0", 0.0)
    assert agent.probabilities()["gold"] == 1.0


def test_while_all_arms_wait_each_is_as_probable() -> None:
    agent = agent_of()
    assert Counter(agent.pull() for _ in range(6)) == dict.fromkeys(COLOURS, 2)
    assert dict(agent.probabilities()) == dict.fromkeys(COLOURS, 1 / 3)
    assert set(agent.pull_many(60)) == set(COLOURS)


def test_awaited_pulls_are_in_the_document() -> None:
    agent = settled_agent()
    agent.add_arm("gold")
    agent.pull()
    twin = bl.Agent.from_json(agent.to_json())
    assert twin.to_json() == agent.to_json()
    for k in range(220):
        assert twin.pull() == agent.pull()
        for one in (agent, twin):
            one.update(COLOURS[k % 3], float(k % 7))
    assert twin.to_json() == agent.to_json()


def test_removing_an_arm_forgets_its_pulls() -> None:
    agent = settled_agent()
    agent.add_arm("gold")
    agent.pull()
    agent.remove_arm("gold")
    assert agent._learner.give_up_at == float("inf")
    agent.add_arm("gold", again=True)
    assert [agent.pull(), agent.pull()] == ["gold", "gold"]
