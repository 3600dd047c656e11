"""An agent copied or pickled is an agent of its own, and what an agent hands out is a copy."""

from __future__ import annotations

import copy
import pickle
import time
from typing import Any

import pytest

import bootleader as bl
from tests.helpers import COLOURS, play


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))])
@pytest.mark.parametrize("policy", [bl.AdaptiveReBoot(), bl.Giro()], ids=str)
def test_a_copy_or_pickle_goes_on_as_a_restored_agent(copied: Any, policy: Any) -> None:
    agent = bl.Agent(policy, COLOURS, seed=5, clock=time.monotonic)
    play(agent, 50)
    decision = agent.decide()
    twin = copied(agent)
    assert twin.to_json() == agent.to_json()
    assert twin._ledger.clock is time.monotonic
    assert play(twin, 300) == play(agent, 300)
    assert agent.reward(decision.id, 1.0) == twin.reward(decision.id, 1.0) == "counted"
    assert twin.decide().id != agent.decide().id


class Mine(bl.ReBoot):
    pass


def test_a_policy_of_ones_own_is_copied_and_pickled() -> None:
    agent = bl.Agent(Mine(sigma_a=2.0), COLOURS, seed=5)
    assert pickle.loads(pickle.dumps(agent)).policy == copy.deepcopy(agent).policy == Mine(sigma_a=2.0)


def test_a_clock_that_cannot_be_pickled_is_named() -> None:
    with pytest.raises((AttributeError, pickle.PicklingError), match="lambda"):
        pickle.dumps(bl.Agent(bl.AdaptiveReBoot(), COLOURS, clock=lambda: 0.0))


def test_metadata_is_handed_out_as_a_copy() -> None:
    agent = bl.Agent(bl.AdaptiveReBoot(), {"a": {"l": [1]}})
    other = bl.Agent(bl.AdaptiveReBoot(), [])
    other.merge(agent)
    agent.arms["a"]["l"].append(5)
    agent._metadata["a"]["l"].append(7)
    assert agent.arms == {"a": {"l": [1, 7]}}
    assert other.arms == {"a": {"l": [1]}}
