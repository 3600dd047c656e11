"""Rewards that the policy does not take: the agent's error, and nothing is written."""

from __future__ import annotations

import pytest

import bootleader as bl
from bootleader.cli import main

REFUSED = r"^reward must be from 0 to 1 with this policy, got "


@pytest.fixture
def button(store):
    return store.create("button", bl.BayesUCB(), ["blue", "green"], seed=1)


def test_a_reward_outside_the_range_is_refused_and_nothing_written(button):
    agent = bl.Agent(bl.BayesUCB(), ["blue", "green"], seed=1)
    with pytest.raises(ValueError, match=REFUSED) as agents:
        agent.update("blue", 1.5)
    visit = button.decide().id
    for value in (1.5, -0.25):
        for call in (button.reward, button.amend, button.add):
            with pytest.raises(ValueError, match=REFUSED):
                call(visit, value, event="e")
    with pytest.raises(ValueError, match=REFUSED) as stores:
        button.reward(visit, 1.5)
    assert str(stores.value) == str(agents.value)
    assert button.check().events == 2  # the creation and the decision
    button.reward(visit, 1.0, event="e")


def test_parts_may_leave_the_range_and_their_sum_may_not(button):
    visit = button.decide().id
    button.reward(visit, 0.75)
    button.add(visit, -0.5, event="refund")
    with pytest.raises(ValueError, match=REFUSED):
        button.add(visit, -0.5, event="refund-2")
    assert button.log()["reward"].tolist() == [0.25]
    late = button.decide().id
    button.add(late, 0.75, event="part")
    with pytest.raises(ValueError, match=REFUSED):
        button.reward(late, 0.5)  # counts first, whenever it comes: 1.25 in all
    assert button.check()


def test_many_rewards_are_refused_together(button, store_url, tmp_path, capsys):
    visits = [button.decide().id for _ in range(3)]
    with pytest.raises(ValueError, match=r"^reward 2: reward must be from 0 to 1 .* nothing was counted$"):
        button.reward_many([(visits[0], 1.0), (visits[1], 45.0), (visits[2], 0.0)])
    button.add(visits[2], 0.75, event="part")
    with pytest.raises(ValueError, match=r"^reward 2: reward must be from 0 to 1 .* nothing was counted$"):
        button.reward_many([(visits[0], 1.0), (visits[2], 0.5)])
    file = tmp_path / "rewards.csv"
    file.write_text(f"decision,reward\n{visits[0]},1.0\n{visits[1]},45.0\n")
    assert main(["store", "reward", str(file), "--store", store_url, "--experiment", "button"]) == 2
    assert f"line 3 of {file}: reward must be from 0 to 1" in capsys.readouterr().err
    assert button.check().events == 5


def test_the_policies_without_a_range_take_all(store):
    button = store.create("button", bl.AdaptiveReBoot(), ["blue", "green"], seed=1)
    button.reward(button.decide().id, -45.0)
    assert button.summary()["pulls"].sum() == 1


@pytest.mark.parametrize("policy", [bl.KLUCB(), bl.KLUCB("poisson"), bl.NPTS(upper=0.5)], ids=str)
def test_index_and_history_policies_have_a_range_too(store, policy):
    agent = bl.Agent(policy, ["blue", "green"], seed=1)
    reward = 1.5 if policy.reward_range[1] < 1.5 else -0.5
    with pytest.raises(ValueError, match=r"^reward must be from .* with this policy") as agents:
        agent.update("blue", reward)
    button = store.create("button", policy, ["blue", "green"], seed=1)
    with pytest.raises(ValueError, match=r"^reward must be from .* with this policy") as stores:
        button.reward(button.decide().id, reward)
    assert str(stores.value) == str(agents.value)
    assert button.check().events == 2  # the creation and the decision
    with pytest.raises(ValueError, match="maximize=False does not go with"):
        store.create("costs", policy, ["blue", "green"], maximize=False)
