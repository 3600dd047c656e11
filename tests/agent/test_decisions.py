"""Rewards that come late, twice, in any order, or never."""

from __future__ import annotations

import os

import numpy as np
import pytest

import bootleader as bl
from tests.helpers import agent_of, run_python


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_rewards_come_in_any_order() -> None:
    agent = agent_of()
    decisions = [agent.decide() for _ in range(30)]
    assert len({decision.id for decision in decisions}) == 30
    rng = np.random.default_rng(0)
    for k in rng.permutation(30):
        assert agent.reward(decisions[k].id, float(k)) is bl.Receipt.COUNTED
    by_arm = {arm: [k for k, d in enumerate(decisions) if d.arm == arm] for arm in agent.arms}
    table = agent.summary()
    for arm, rewards in by_arm.items():
        assert table.loc[arm, "pulls"] == len(rewards)
        assert table.loc[arm, "mean"] == pytest.approx(np.mean(rewards))


def test_a_second_report_of_the_same_value_has_no_effect_and_says_so() -> None:
    agent = agent_of()
    decision = agent.decide()
    assert agent.reward(decision.id, 2.5) == "counted"
    before = agent.to_json()
    assert agent.reward(decision.id, 2.5) == "already counted"
    assert agent.to_json() == before


def test_a_second_report_of_another_value_is_an_error() -> None:
    agent = agent_of()
    decision = agent.decide()
    agent.reward(decision.id, 2.5)
    before = agent.to_json()
    with pytest.raises(ValueError, match=r"already has the reward 2\.5, got 3\.0"):
        agent.reward(decision.id, 3.0)
    assert agent.to_json() == before


@pytest.mark.parametrize("decision_id", ["nonsense", "", "0123456789ab-1", "abc-"])
def test_an_unknown_id_is_an_error(decision_id: str) -> None:
    agent = agent_of()
    agent.decide()
    before = agent.to_json()
    with pytest.raises(LookupError, match="is unknown"):
        agent.reward(decision_id, 1.0)
    assert agent.to_json() == before


def test_an_id_must_be_a_string() -> None:
    with pytest.raises(TypeError, match="decision_id"):
        agent_of().reward(7, 1.0)  # type: ignore[arg-type]


def test_at_most_the_limit_is_remembered() -> None:
    agent = agent_of(max_open=5)
    decisions = [agent.decide(probability=False) for _ in range(8)]
    assert list(agent.open_decisions) == [d.id for d in decisions[3:]]
    agent.reward(decisions[7].id, 1.0)
    with pytest.raises(LookupError, match="is forgotten: of open decisions, and of rewarded ones, the last 5"):
        agent.reward(decisions[0].id, 1.0)
    for decision in decisions[3:7]:
        agent.reward(decision.id, 1.0)
    assert agent.reward(decisions[7].id, 1.0) == "already counted"


def test_nothing_is_remembered_beyond_its_age() -> None:
    clock = Clock()
    agent = agent_of(max_age=60.0, clock=clock)
    first = agent.decide()
    agent.reward(first.id, 1.0)
    lost = agent.decide()
    clock.now += 59.0
    assert agent.reward(first.id, 1.0) == "already counted"
    clock.now += 2.0
    for decision in (first, lost):
        with pytest.raises(LookupError, match="is forgotten"):
            agent.reward(decision.id, 1.0)
    assert not agent.open_decisions


def test_a_refused_report_does_not_even_drop_what_is_too_old() -> None:
    clock = Clock()
    agent = agent_of(max_age=60.0, clock=clock)
    old = agent.decide()
    clock.now += 50.0
    young = agent.decide()
    agent.reward(young.id, 1.0)
    clock.now += 20.0
    before = agent.to_json()
    for decision, error in ((young, ValueError), (old, LookupError)):
        with pytest.raises(error):
            agent.reward(decision.id, 2.0)
        assert agent.to_json() == before
    assert not agent.open_decisions
    agent.decide()
    assert agent.to_json() != before
    assert len(agent.open_decisions) == 1


def test_an_arm_whose_rewards_never_come_does_not_hold_up_the_others() -> None:
    clock = Clock()
    agent = agent_of(max_age=3600.0, clock=clock)
    rng = np.random.default_rng(1)
    choices = []
    for _ in range(300):
        clock.now += 1.0
        decision = agent.decide(probability=False)
        choices.append(decision.arm)
        if decision.arm != "red":
            agent.reward(decision.id, rng.normal())
    assert choices.count("red") == 2  # the initial pulls, then no more
    clock.now += 3600.0
    assert agent.decide().arm == "red"  # given up on, so tried again


def test_the_first_decisions_are_shared_out_while_no_reward_is_known() -> None:
    agent = agent_of()
    first = [agent.decide() for _ in range(6)]
    assert sorted(d.arm for d in first) == sorted(["blue", "green", "red"] * 2)
    assert [d.probability for d in first[:3]] == [pytest.approx(1 / 3)] * 3
    assert agent.decide().probability == pytest.approx(1 / 3)


def test_the_probability_is_the_one_the_arm_was_chosen_with() -> None:
    agent = agent_of()
    rng = np.random.default_rng(2)
    for _ in range(40):
        agent.update(agent.pull(), rng.normal())
    expected = agent.probabilities()
    decision = agent.decide()
    assert decision.probability == expected[decision.arm]
    assert decision.standard_error is None
    assert agent.decide(probability=False).probability is None


def test_a_history_policy_gives_an_estimate_with_its_standard_error() -> None:
    agent = bl.Agent(bl.Giro(), ["blue", "green"], seed=1)
    agent.update_many(["blue", "green"] * 20, [0.0, 1.0] * 20)
    decision = agent.decide()
    assert decision.probability is not None
    assert decision.standard_error is not None
    assert 0.0 < decision.standard_error < 0.02


def test_the_reward_of_a_removed_arm_teaches_nothing() -> None:
    agent = agent_of()
    decision = agent.decide()
    agent.remove_arm(decision.arm)
    agent.add_arm(decision.arm, again=True)
    assert agent.reward(decision.id, 1.0) == "arm removed"
    assert agent.summary()["pulls"].sum() == 0
    for each in (agent, bl.Agent.from_json(agent.to_json())):  # the second time as the first
        assert each.reward(decision.id, 1.0) == "arm removed"
        with pytest.raises(ValueError, match="already has the reward"):
            each.reward(decision.id, 2.0)


def test_a_decision_made_after_the_save_is_not_mistaken_for_another_after_the_restart() -> None:
    agent = agent_of()
    saved = agent.to_json()
    lost = agent.decide()
    restored = bl.Agent.from_json(saved)
    again = restored.decide()
    assert again.arm == lost.arm
    assert again.id != lost.id
    with pytest.raises(LookupError, match="is unknown"):
        restored.reward(lost.id, 1.0)


def test_a_reward_may_come_after_the_restart() -> None:
    agent = agent_of()
    decision = agent.decide()
    restored = bl.Agent.from_json(agent.to_json())
    assert restored.reward(decision.id, 4.0) == "counted"
    assert restored.summary().loc[decision.arm, "mean"] == 4.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_gives_out_ids_of_its_own() -> None:
    """In a process of its own, since pytest's may have threads."""
    script = (
        "import os, bootleader as bl\n"
        "agent = bl.Agent(bl.AdaptiveReBoot(), ['a', 'b'], seed=7)\n"
        "before = agent.decide().id\n"
        "child = os.fork()\n"
        "if child: os.waitpid(child, 0)\n"
        "print(agent.decide().id, agent.decide().id, agent.reward(before, 1.0), flush=True)\n"
    )
    childs, parents = (line.split() for line in run_python(script).splitlines())
    assert len({*childs[:2], *parents[:2]}) == 4
    assert childs[2] == parents[2] == "counted"  # what was open at the fork is open in both


def test_the_default_clock_does_not_follow_the_wall_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = agent_of(max_age=60.0)
    decisions = [agent.decide(probability=False) for _ in range(3)]
    monkeypatch.setattr("time.time", lambda: 4e9)
    assert list(agent.open_decisions) == [decision.id for decision in decisions]
    monkeypatch.setattr("time.time", lambda: 0.0)
    assert agent.reward(decisions[0].id, 1.0) == "counted"


@pytest.mark.parametrize("jump", [-1e7, 1e7])
def test_after_a_jump_of_the_clock_an_arm_is_still_tried_again(jump: float) -> None:
    clock = Clock()
    agent = agent_of(max_age=3600.0, clock=clock)
    rng = np.random.default_rng(1)
    choices = []
    for k in range(300):
        clock.now += 1.0 + (jump if k == 100 else 0.0)
        decision = agent.decide(probability=False)
        choices.append(decision.arm)
        if decision.arm != "red":
            agent.reward(decision.id, rng.normal())
    clock.now += 3601.0
    assert agent.decide().arm == "red"  # all older decisions are given up, whatever the clock said when they were made


def test_time_stands_still_while_the_clock_goes_back() -> None:
    clock = Clock()
    agent = agent_of(max_age=60.0, clock=clock)
    first = agent.decide()
    clock.now -= 1e6
    second = agent.decide()
    clock.now += 59.0
    assert list(agent.open_decisions) == [first.id, second.id]
    clock.now += 2.0
    assert not agent.open_decisions


def test_a_document_from_a_clock_that_is_ahead_has_no_negative_ages() -> None:
    ahead, here = Clock(), Clock()
    ahead.now += 1e8
    agent = agent_of(max_age=60.0, clock=ahead)
    decision = agent.decide()
    restored = bl.Agent.from_json(agent.to_json(), clock=here)
    assert list(restored.open_decisions) == [decision.id]
    here.now += 59.0
    assert list(restored.open_decisions) == [decision.id]
    here.now += 2.0
    assert not restored.open_decisions


def test_the_wall_clock_bridges_a_save_and_a_restore() -> None:
    clock = Clock()
    agent = agent_of(max_age=60.0, clock=clock)
    agent.decide()
    document = agent.to_json()
    clock.now += 61.0
    assert not bl.Agent.from_json(document, clock=clock).open_decisions


@pytest.mark.parametrize("reading", [float("nan"), float("inf"), 1e300, 10**400, None, "now", True], ids=repr)
def test_a_clock_that_tells_no_time_changes_nothing(reading: object) -> None:
    clock = Clock()
    agent = agent_of(clock=clock)
    decision = agent.decide()
    before = agent.to_json()
    clock.now = reading  # type: ignore[assignment]
    for _ in range(7):  # more than the initial pulls: nothing may leak
        for call in (agent.decide, lambda: agent.reward(decision.id, 1.0), lambda: agent.open_decisions):
            with pytest.raises((TypeError, ValueError), match="clock must return"):
                call()
    assert agent.to_json() == before
    clock.now = 1000.0
    bl.Agent.from_json(agent.to_json(), clock=clock).reward(decision.id, 1.0)


def test_a_clock_that_raises_changes_nothing() -> None:
    def broken() -> float:
        if agent._ledger.issued:
            raise OSError("no clock")
        return 0.0

    agent = agent_of(clock=broken)
    agent.decide()
    before = agent.to_json()
    for _ in range(10):
        with pytest.raises(OSError, match="no clock"):
            agent.decide()
    assert agent.to_json() == before
    assert sum(arm.in_flight for arm in agent._learner.arms) == 1
    bl.Agent.from_json(before)
