"""Rules of traffic in an agent: the probability that a decision reports is that of the final choice."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

import bootleader as bl
from bootleader.agent._document import checksum
from tests.agent.fuzzing.invariants import check
from tests.helpers import COLOURS, agent_of

RULES = bl.Traffic(floor=0.05, holdout=0.2, control="blue", sticky=True, ramp=bl.Ramp(0.3, rewards=20))
LEVEL = 1e-6  # of each comparison below


def taught(policy: Any = None, **options: Any) -> bl.Agent:
    agent = agent_of(policy, **options)
    rng = np.random.default_rng(3)
    agent.update_many(COLOURS * 5, rng.normal([0.0, 0.3, 0.5] * 5))
    return agent


def assert_as_often_as_said(agent: bl.Agent, draws: int = 4000) -> None:
    """Decisions that change nothing but streams: each arm as often as its probability says."""
    from scipy.stats import binomtest

    said = agent.probabilities()
    decisions = [agent.decide(unit=str(k), probability=False) for k in range(draws)]
    seen = Counter(decision.arm for decision in decisions)
    for arm, chance in said.items():
        assert binomtest(seen[arm], draws, min(chance, 1.0)).pvalue > LEVEL, (arm, chance, seen[arm] / draws)


@pytest.mark.parametrize("policy", [bl.AdaptiveReBoot(), bl.FollowTheLeader(), bl.EpsilonGreedy(0.1)], ids=str)
def test_a_floor_is_mixed_in(policy: Any) -> None:
    plain, agent = taught(policy), taught(policy, traffic=bl.Traffic(floor=0.1))
    expected = {arm: 0.1 + 0.7 * chance for arm, chance in plain.probabilities().items()}
    assert dict(agent.probabilities()) == pytest.approx(expected, abs=1e-15)
    decision = agent.decide()
    assert decision.probability == agent.probabilities()[decision.arm]
    assert_as_often_as_said(agent)


def test_rules_that_change_nothing_leave_the_choices_as_they_are() -> None:
    plain, agent = taught(), taught(traffic=bl.Traffic())
    assert [agent.pull() for _ in range(50)] == [plain.pull() for _ in range(50)]
    assert [agent.decide(unit="a").arm for _ in range(50)] == [plain.decide().arm for _ in range(50)]


@pytest.mark.parametrize("floor", [0.0, 0.04])
@pytest.mark.parametrize("policy", [bl.AdaptiveReBoot(), bl.ReBoot(sigma_a=1.5), bl.FollowTheLeader()], ids=str)
def test_a_ramp_limits_an_arm_that_was_added_later(policy: Any, floor: float) -> None:
    agent = taught(policy, traffic=bl.Traffic(floor=floor, ramp=bl.Ramp(0.2, rewards=10)))
    among_old = dict(taught(policy, traffic=bl.Traffic()).probabilities())
    agent.add_arm("gold")
    chances = agent.probabilities()  # in its initial pulls the policy would always choose it
    assert chances["gold"] == pytest.approx(0.2)
    over = floor + (1.0 - 4 * floor) - 0.2
    assert dict(chances) == pytest.approx({**{a: floor + over * p for a, p in among_old.items()}, "gold": 0.2})
    agent.update_many(["gold"] * 9, [5.0 + k / 9 for k in range(9)])  # by far the best
    assert agent.probabilities()["gold"] == pytest.approx(0.2)
    assert_as_often_as_said(agent)
    agent.update("gold", 5.0)
    assert agent.probabilities()["gold"] > 0.8
    assert_as_often_as_said(agent)


def test_a_ramp_does_not_limit_the_arms_of_the_beginning_nor_all_arms_together() -> None:
    agent = agent_of(bl.FollowTheLeader(), traffic=bl.Traffic(ramp=0.2))
    agent.update_many(COLOURS, [1.0, 2.0, 3.0])
    assert agent.probabilities()["red"] == 1.0
    agent.add_arm("gold")
    for arm in COLOURS:
        agent.pause_arm(arm)
    assert agent.probabilities()["gold"] == 1.0
    assert agent.decide().arm == "gold"


def test_a_ramp_while_every_arm_waits_for_its_first_rewards() -> None:
    agent = agent_of(traffic=bl.Traffic(ramp=0.1))
    agent.add_arm("gold")
    assert dict(agent.probabilities()) == pytest.approx({**dict.fromkeys(COLOURS, 0.3), "gold": 0.1})
    for _ in range(30):
        agent.decide()
    assert dict(agent.probabilities()) == pytest.approx({**dict.fromkeys(COLOURS, 0.3), "gold": 0.1})


def test_estimates_are_scaled_with_the_floor() -> None:
    agent = taught(bl.Giro(), traffic=bl.Traffic(floor=0.1))
    plain = taught(bl.Giro()).probabilities()
    chances = agent.probabilities()
    assert chances.method == "monte carlo"
    assert chances.standard_error is not None
    assert plain.standard_error is not None
    assert chances.standard_error["red"] == pytest.approx(0.7 * plain.standard_error["red"])


def test_a_floor_must_leave_room_for_every_active_arm() -> None:
    with pytest.raises(ValueError, match="floor must be at most 1 / 3"):
        agent_of(traffic=bl.Traffic(floor=0.4))
    agent = agent_of(traffic=bl.Traffic(floor=0.3))
    before = agent.to_json()
    with pytest.raises(ValueError, match=r"with 4 active arms, got 0\.3: lower the floor, or pause or remove an arm"):
        agent.add_arm("gold")
    assert agent.to_json() == before
    agent.pause_arm("red")
    agent.add_arm("gold")
    with pytest.raises(ValueError, match="with 4 active arms"):
        agent.resume_arm("red")
    other = bl.Agent(bl.AdaptiveReBoot(), ["x"], traffic=bl.Traffic(floor=0.3))
    with pytest.raises(ValueError, match="with 4 active arms"):
        agent.merge(other)


def test_the_holdout_gets_the_control_and_is_set_apart() -> None:
    agent = agent_of(traffic=bl.Traffic(holdout=0.25, control="blue"))
    units = [f"visitor-{k}" for k in range(2000)]
    held, rewards = [], {True: [], False: []}
    rng = np.random.default_rng(5)
    for unit in units:
        decision = agent.decide(unit=unit, probability=False)
        assert decision.holdout is agent.decide(unit=unit, probability=False).holdout
        if decision.holdout:
            assert (decision.arm, decision.probability) == ("blue", 1.0)
            held.append(unit)
        reward = float(rng.random() < {"blue": 0.1, "green": 0.3, "red": 0.2}[decision.arm])
        rewards[decision.holdout].append(reward)
        agent.reward(decision.id, reward)
    assert held == [unit for unit in units if agent.traffic.in_holdout(unit, 7)]
    table = agent.summary()
    assert table["pulls"].sum() == len(rewards[False])  # nothing of the holdout is learnt
    assert table["holdout_pulls"].tolist() == [len(held), 0, 0]
    assert table.loc["blue", "holdout_mean"] == pytest.approx(np.mean(rewards[True]))
    expected = np.std(rewards[True], ddof=1) / np.sqrt(len(held))
    assert table.loc["blue", "holdout_standard_error"] == pytest.approx(expected)
    from bootleader.inference import holdout_verdict

    log = {
        "arm": ["a"] * 2000,
        "reward": rewards[False] + rewards[True],
        "holdout": [False] * len(rewards[False]) + [True] * len(held),
    }
    by_log = holdout_verdict(log, low=0, high=1, unit="visit")
    assert agent.holdout_verdict(low=0, high=1, unit="visit").sentence == by_log.sentence
    assert by_log.comparisons[0].outcome == "better"
    check(agent)


def test_without_a_holdout_there_is_no_comparison_and_the_control_stays() -> None:
    with pytest.raises(ValueError, match="there is no holdout"):
        agent_of().holdout_verdict()
    assert "holdout_pulls" not in agent_of(traffic=bl.Traffic(floor=0.1)).summary()
    agent = agent_of(traffic=bl.Traffic(holdout=0.1, control="blue"))
    for call in (agent.pause_arm, agent.remove_arm):
        with pytest.raises(ValueError, match="'blue' is the control that the holdout gets"):
            call("blue")
    with pytest.raises(ValueError, match="control must be one of the arms, got 'pink'"):
        agent_of(traffic=bl.Traffic(holdout=0.1, control="pink"))


def test_a_sticky_unit_keeps_its_arm_and_its_probability() -> None:
    agent = taught(traffic=bl.Traffic(floor=0.1, sticky=True))
    first = {unit: agent.decide(unit=unit) for unit in map(str, range(50))}
    assert len({decision.arm for decision in first.values()}) == 3
    agent.update_many(["red"] * 50, [9.0] * 50)
    for unit, decision in first.items():
        again = agent.decide(unit=unit)
        assert (again.arm, again.probability) == (decision.arm, decision.probability)
        assert again.id != decision.id
    agent.pause_arm("green")
    moved = [unit for unit, decision in first.items() if decision.arm == "green"]
    assert {agent.decide(unit=unit).arm for unit in moved} <= {"blue", "red"}
    agent.remove_arm("blue")
    assert not [kept for kept in agent._ledger.units.values() if kept.arm == "blue"]
    assert {agent.decide(unit=unit).arm for unit in first} == {"red"}


def test_sticky_units_are_forgotten_like_decisions() -> None:
    now = [0.0]
    agent = taught(traffic=bl.Traffic(sticky=True), max_open=5, max_age=10.0, clock=lambda: now[0])
    for unit in map(str, range(8)):
        agent.decide(unit=unit)
    assert list(agent._ledger.units) == ["3", "4", "5", "6", "7"]
    now[0] = 8.0
    agent.decide(unit="3")  # seen again: the latest now
    now[0] = 12.0
    agent.decide(unit="new")
    assert list(agent._ledger.units) == ["3", "new"]


def test_a_choice_made_elsewhere_is_recorded_and_learnt() -> None:
    agent = agent_of(traffic=bl.Traffic(holdout=0.5, control="blue", sticky=True))
    decision = agent.decide(arm="red", probability=0.25)
    assert (decision.arm, decision.probability, decision.holdout) == ("red", 0.25, False)
    assert agent.reward(decision.id, 3.0) == "counted"
    assert agent.decide(arm="red", probability=1, unit="visitor-1").probability == 1.0
    assert agent.decide(arm="red", probability=False).probability is None
    table = agent.summary()
    assert table.loc["red", ["pulls", "mean", "open"]].tolist() == [1, 3.0, 2]
    assert [side.rewards for side in agent._sides] == [0, 0]
    assert not agent._ledger.units


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"arm": "red"}, "give the probability with which the arm was chosen elsewhere"),
        ({"arm": "red", "probability": 0.0}, "probability must be above 0"),
        ({"arm": "red", "probability": 1.5}, "probability must be above 0"),
        ({"arm": "pink", "probability": 0.5}, "arm must be one of"),
        ({"probability": 0.5, "unit": "a"}, "probability must be True or False"),
        ({"unit": 7}, "unit must be a string"),
        ({"unit": ""}, "unit must be a string"),
        ({}, "give decide a unit"),
    ],
    ids=str,
)
def test_bad_decisions_are_refused_and_change_nothing(options: Any, match: str) -> None:
    agent = agent_of(traffic=RULES)
    before = agent.to_json()
    with pytest.raises((TypeError, ValueError, LookupError), match=match):
        agent.decide(**options)
    with pytest.raises(ValueError, match=r"use decide\(unit=...\), not pull"):
        agent.pull()
    assert agent.to_json() == before


def lived(agent: bl.Agent, steps: int, seed: int = 0) -> list[Any]:
    """Every kind of call; what was decided."""
    rng = np.random.default_rng(seed)
    waiting, log = [], []
    for step in range(steps):
        if step == 40:
            agent.add_arm("gold")
        unit = f"visitor-{rng.integers(100)}"
        decision = agent.decide(unit=unit, probability=step % 3 == 0)
        log.append((decision.arm, decision.probability, decision.holdout))
        waiting.append(decision)
        if step % 10 == 5:
            waiting.append(agent.decide(arm="red", probability=0.5))
        if rng.random() < 0.8:
            late = waiting.pop(int(rng.integers(len(waiting))))
            agent.reward(late.id, float(rng.normal()))
        check(agent, probabilities=step % 20 == 0)
    return log


def test_a_restored_agent_goes_on_alike() -> None:
    agent = agent_of(traffic=RULES, clock=lambda: 5.0)
    lived(agent, 120)
    document = agent.to_json()
    twin = bl.Agent.from_json(document, clock=lambda: 5.0)
    assert twin.to_json() == document
    assert twin.traffic == RULES
    assert lived(twin, 30, seed=1) == lived(agent, 30, seed=1)
    before = bl.Agent.from_json(document)._sides
    twin = bl.Agent.from_json(document, clock=lambda: 5.0)
    twin.merge(bl.Agent.from_json(document))
    assert [side.rewards for side in twin._sides] == [2 * side.rewards for side in before]
    with pytest.raises(ValueError, match="same traffic"):
        twin.merge(agent_of())


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda body: body["traffic"]["rules"].update(floor=0.9), "rules of traffic are refused"),
        (lambda body: body["traffic"]["rules"].update(colour=1), "rules of traffic are refused"),
        (lambda body: body["traffic"]["rules"].update(holdout=0.0), "sides of its holdout"),
        (lambda body: body["traffic"]["rules"].update(control="pink"), "control of its holdout"),
        (lambda body: body["traffic"]["rules"].update(control=["blue"]), "control of its holdout"),
        (lambda body: body["traffic"]["rules"].update(sticky=False), "not sticky"),
        (lambda body: body["traffic"]["units"].append(body["traffic"]["units"][0]), "occurs twice in units"),
        (lambda body: body["traffic"]["added_later"].append("pink"), "added later is not there"),
        (lambda body: body["traffic"]["sides"][0].update(rewards=0), "0 rewards cannot have"),
        (lambda body: body.pop("traffic"), "no rules of traffic"),
        (lambda body: body["arms"][0].update(awaited=[0]), "awaits more pulls"),
        (lambda body: body["decisions"]["open"][0].append(7), "open"),
    ],
)
def test_a_changed_document_is_refused(change: Any, match: str) -> None:
    agent = agent_of(traffic=RULES, clock=lambda: 5.0)
    lived(agent, 60)
    body = json.loads(agent.to_json())
    body.pop("checksum")
    change(body)
    with pytest.raises(ValueError, match=match):
        bl.Agent.from_json(json.dumps({**body, "checksum": checksum(body)}))
