"""Agents become experiments, and experiments agents."""

from __future__ import annotations

import random

import pytest

import bootleader as bl
from bootleader import Receipt
from tests.store.test_experiment import ARMS


@pytest.fixture
def button(store):
    return store.create("button", bl.AdaptiveReBoot(), ARMS, seed=7)


def test_an_agent_moves_in_and_out(store):
    agent = bl.Agent(bl.AdaptiveReBoot(), {"a": {"n": 1}, "b": None, "c": None}, seed=5, maximize=False)
    for place in range(40):
        agent.update("ab"[place % 2], 10.0 + place % 7)
    waiting = agent.decide()
    agent.remove_arm("c") if waiting.arm != "c" else agent.remove_arm("b")
    here = store.import_agent("moved", agent)
    columns = ["pulls", "weight", "mean", "standard_error", "active"]
    assert here.summary()[columns].equals(agent.summary()[columns])
    assert here.arms == agent.arms
    assert here.reward(waiting.id, 3.0) == Receipt.COUNTED
    with pytest.raises(ValueError, match="was removed"):
        here.add_arm("c" if waiting.arm != "c" else "b")
    another = here.decide()
    back = here.export()
    assert back.open_decisions == {another.id: another.arm}
    assert back.summary()[columns].equals(here.summary()[columns])
    assert bl.Agent.from_json(back.to_json()).seed == 5


def test_sticky_units_and_the_holdout_move_too(store):
    rules = bl.Traffic(floor=0.1, holdout=0.3, control="a", sticky=True)
    agent = bl.Agent(bl.ReBoot(sigma_a=1.5), ["a", "b"], seed=5, traffic=rules)
    made = {f"u{k}": agent.decide(unit=f"u{k}") for k in range(12)}
    here = store.import_agent("moved", agent)
    assert here.traffic == rules
    for unit, decision in made.items():
        again = here.decide(unit=unit)
        assert (again.arm, again.probability, again.holdout) == (decision.arm, decision.probability, decision.holdout)
        here.reward(decision.id, 1.0)
    assert here.summary()["pulls"].sum() == sum(not decision.holdout for decision in made.values())
    back = here.export()
    for unit, decision in made.items():
        assert back.decide(unit=unit).arm == decision.arm
    assert here.check()


@pytest.mark.parametrize("policy", [bl.AdaptiveReBoot(), bl.UCB1()], ids=repr)
def test_an_agent_that_forgets_moves_in_and_out(memory, policy):
    """What it knows does not fade a second time."""
    rng = random.Random(1)
    agent = bl.Agent(policy, ["a", "b", "c"], seed=1, half_life=30.0)
    for _ in range(400):
        decision = agent.decide()
        agent.reward(decision.id, rng.gauss(float(decision.arm == "b"), 1.0))
    moved = memory.import_agent("moved", agent)
    before = agent.summary()
    for after in (moved.summary(), moved.export().summary()):
        for column in ("pulls", "weight", "mean"):
            assert after[column].tolist() == pytest.approx(before[column].tolist(), rel=0.03), column  # steps of a 32nd
    assert moved.check(), str(moved.check())


@pytest.mark.parametrize("moment", ["before the log is read", "after the log was read"])
def test_an_export_is_of_one_moment(store, store_url, button, moment, monkeypatch):
    """A reward, a decision and a decision with its reward come while the log is read."""
    first, second = button.decide(), button.decide()
    backend = button._writer.backend
    events, made = backend.events, []

    def others():
        with bl.Store(store_url) as other:
            theirs = other.open("button")
            theirs.reward(first.id, 3.0)
            made.append(theirs.decide())
            made.append(theirs.decide())
            theirs.reward(made[1].id, 4.0)

    def slowly(experiment):
        monkeypatch.undo()
        if moment.startswith("before"):
            others()
        yield from list(events(experiment))
        if moment.startswith("after"):
            others()

    monkeypatch.setattr(backend, "events", slowly)
    agent = button.export()
    assert set(agent.open_decisions) == {second.id, made[0].id}
    assert agent.summary()["pulls"].sum() == 2
    assert agent.reward(second.id, 1.0) == Receipt.COUNTED
    with pytest.raises(LookupError):
        agent.reward(first.id, 3.0)


@pytest.mark.parametrize("maximize", [True, False])
def test_the_comparison_with_the_holdout_moves_too(memory, maximize):
    """From an agent to an experiment and back to an agent: the same verdict."""
    rules = bl.Traffic(holdout=0.3, control="blue")
    agent = bl.Agent(bl.AdaptiveReBoot(), ARMS, seed=1, traffic=rules, maximize=maximize)
    rng = random.Random(1)
    for k in range(300):
        agent.reward(agent.decide(unit=f"unit-{k}").id, rng.gauss(5.0, 1.0))
    before = agent.holdout_verdict()
    button = memory.import_agent("button", agent)
    again = button.export()
    for other in (button.holdout_verdict(), again.holdout_verdict()):
        for theirs, ours in zip(other.arms, before.arms, strict=True):
            assert theirs.rewards == ours.rewards > 50
            assert theirs.mean == pytest.approx(ours.mean, rel=1e-12)
            assert theirs.effective_number == pytest.approx(ours.effective_number, rel=1e-9)
    for one in (button, again):
        one.reward(one.decide(unit="unit-1").id, 5.0)
        assert sum(side.rewards for side in one.holdout_verdict().arms) == 301
    assert button.check(), str(button.check())


def test_a_comparison_with_another_control_does_not_move(memory):
    """What the units of the holdout got says nothing about the new control."""
    agent = bl.Agent(bl.AdaptiveReBoot(), ARMS, seed=1, traffic=bl.Traffic(holdout=0.3, control="blue"))
    for k in range(50):
        agent.reward(agent.decide(unit=f"unit-{k}").id, 1.0)
    for place, (control, kept) in enumerate((("blue", 50), ("green", 0))):
        rules = bl.Traffic(holdout=0.1, control=control)
        button = memory.import_agent(f"button {place}", agent, traffic=rules)
        assert sum(side.rewards for side in button.holdout_verdict().arms) == kept


def test_an_export_follows_the_order_of_the_log(store, store_url, monkeypatch):
    """While the log is read, many decisions are made, and a unit is given another arm, since its own is paused."""
    rules = bl.Traffic(sticky=True)
    button = store.create("button", bl.AdaptiveReBoot(), ARMS, seed=7, traffic=rules)
    backend = button._writer.backend
    events, made = backend.events, []

    def slowly(experiment):
        monkeypatch.undo()
        yield from list(events(experiment))
        with bl.Store(store_url) as other:
            theirs = other.open("button")
            made.extend(theirs.decide(unit=f"unit-{k}") for k in range(9))
            theirs.pause_arm(made[0].arm)
            made.append(theirs.decide(unit="unit-0"))
            made.append(theirs.decide(unit="unit-10"))

    monkeypatch.setattr(backend, "events", slowly)
    agent = button.export()
    assert list(agent.open_decisions) == [decision.id for decision in made]
    assert agent._ledger.units["unit-0"].arm == made[9].arm != made[0].arm
    assert list(agent._ledger.units) == [*(f"unit-{k}" for k in range(1, 9)), "unit-0", "unit-10"]
