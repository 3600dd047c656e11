"""Replicas: equal whatever the order; the choices of the agent; snapshots that only save time."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import bootleader as bl
from bootleader.store import _replica
from bootleader.store._events import Kind
from bootleader.store._state import State


def played(store, name="played", rounds=120, **options):
    """An experiment with late, amended, withdrawn and missing rewards, and changes of its arms."""
    rng = random.Random(5)
    experiment = store.create(name, options.pop("policy", bl.AdaptiveReBoot()), ["a", "b", "c"], seed=2, **options)
    waiting = []
    for number in range(rounds):
        waiting.append(experiment.decide(unit=f"unit-{rng.randrange(60)}").id)
        if number == 20:
            experiment.add_arm("d")
        if number == 35:
            experiment.remove_arm("b")
        if len(waiting) > 10:
            decision = waiting.pop(rng.randrange(len(waiting)))
            experiment.reward(decision, rng.lognormvariate(1.0, 1.0))
            if rng.random() < 0.3:
                rng.choice([experiment.amend, experiment.add])(decision, rng.gauss(0.0, 1.0))
            if rng.random() < 0.1:
                experiment.withdraw(decision)
    return experiment


def rows_of(experiment):
    writer = experiment._writer
    return writer.backend.news(writer.found.id, writer.backend.start).rows


@pytest.mark.parametrize(
    "options", [{}, {"half_life": 7.0}, {"policy": bl.Giro()}, {"traffic": bl.Traffic(0.05, 0.2, "a", True, 0.3)}]
)
def test_the_order_of_events_does_not_matter(memory, options):
    """In shuffled batches that respect only what every database does: a decision before its reward."""
    experiment = played(memory, rounds=40 if options.get("policy") else 120, **options)
    rows = rows_of(experiment)
    rng = random.Random(1)
    states = []
    for _ in range(4):
        pending, state = list(rows), State(experiment._writer.settings)
        changes = [row for row in pending if row[1] == Kind.CHANGE]
        state.apply(changes)
        pending = [row for row in pending if row[1] != Kind.CHANGE]
        chains = {}
        for row in pending:
            chains.setdefault(row[2], []).append(row)
        queues = list(chains.values())
        while queues:
            batch = []
            for _ in range(rng.randrange(1, 30)):
                if queues:
                    queue = rng.choice(queues)
                    batch.append(queue.pop(0))
                    queues = [queue for queue in queues if queue]
            state.apply(batch)
        for arm in state.reload:  # what a replica would read from the log
            state.arms[arm].waiting = experiment._writer.replica().state.arms[arm].waiting
        states.append(state.to_bytes())
    assert set(states) == {experiment._writer.replica().state.to_bytes()}


def test_summary_and_verdict_are_those_of_the_log(memory):
    """Against the log, read naively: exact means of each arm's rewards as they are now."""
    experiment = played(memory)
    log = experiment.log().dropna(subset=["reward"])
    table = experiment.summary()
    for arm, rewards in log.groupby("arm")["reward"]:
        if arm in table.index:  # one arm was removed
            exact = [Fraction(value) for value in rewards]
            mean = sum(exact) / len(exact)
            assert table.loc[arm, "pulls"] == len(exact)
            assert table.loc[arm, "mean"] == float(mean)
            rss = float(sum((value - mean) ** 2 for value in exact))
            assert table.loc[arm, "standard_error"] == pytest.approx((rss / (len(exact) - 1) / len(exact)) ** 0.5)
    theirs = bl.verdict(log[log["arm"].isin(table.index)])
    ours = experiment.verdict()
    means = {answer.arm: answer.mean for answer in theirs.arms}
    assert {answer.arm: answer.mean for answer in ours.arms} == pytest.approx(means)
    assert len(experiment.open_decisions) == experiment.log()["reward"].isna().sum()


def test_open_decisions_in_any_order_are_the_same_state(memory):
    experiment = memory.create("open", bl.ReBoot(sigma_a=1.5), ["a", "b"], seed=1)
    for _ in range(6):
        experiment.decide(arm="a")
    changes, *made = rows_of(experiment)
    states = []
    for order in (made, made[::-1]):
        state = State(experiment._writer.settings)
        state.apply([changes])
        for row in order:
            state.apply([row])
        states.append(state.to_bytes())
    assert states[0] == states[1]


def test_snapshots_only_save_time(memory, monkeypatch):
    monkeypatch.setattr(_replica, "SNAPSHOT_EVENTS", 25)
    monkeypatch.setattr(_replica, "SNAPSHOT_BYTES", 10**9)
    experiment = played(memory)
    writer = experiment._writer
    backend, number = writer.backend, writer.found.id
    assert len(backend.snapshots(number)) >= 8
    check = experiment.check()
    assert check, str(check)
    assert check.snapshots == len(backend.snapshots(number))
    with_snapshots = writer.fresh_replica()
    assert with_snapshots.state.to_bytes() == writer.fresh_replica(use_snapshots=False).state.to_bytes()
    some = experiment.log()["id"][100]
    audit = experiment.audit(some)
    assert audit.agrees
    backend.write(lambda execute: execute("DELETE FROM bootleader_snapshots WHERE experiment = ?", (number,)))
    assert not backend.snapshots(number)
    assert experiment.audit(some) == audit
    assert writer.fresh_replica().state.to_bytes() == with_snapshots.state.to_bytes()


def test_a_damaged_snapshot_is_not_used(store, store_url, monkeypatch):
    monkeypatch.setattr(_replica, "SNAPSHOT_EVENTS", 50)
    experiment = played(store)
    writer = experiment._writer
    empty = "x''" if store_url.startswith("sqlite") else "''::bytea"
    for sql in (
        "UPDATE bootleader_snapshots SET blob = substr(blob, 1, 40)",
        f"UPDATE bootleader_snapshots SET blob = {empty}",
    ):
        writer.backend.write(lambda execute, sql=sql: execute(sql, ()))
        assert writer.fresh_replica().state.to_bytes() == writer.replica().state.to_bytes()
        check = experiment.check(decisions=False)
        assert "is damaged" in str(check)
    assert all("snapshot" in problem for problem in check.problems)


def test_probabilities_are_those_of_the_agent(memory):
    rng = random.Random(3)
    for policy in (bl.ReBoot(sigma_a=1.5), bl.ThompsonSampling(), bl.EpsilonGreedy()):
        experiment = memory.create(repr(policy), policy, ["a", "b", "c"], seed=1)
        agent = bl.Agent(policy, ["a", "b", "c"], seed=1)
        for arm in "abc" * 8:
            value = rng.gauss(0.3 * "abc".index(arm), 1.0)
            agent.update(arm, value)
            experiment.reward(experiment.decide(arm=arm).id, value)
        assert dict(experiment.probabilities()) == pytest.approx(dict(agent.probabilities()), abs=1e-9)


def test_arms_are_chosen_as_often_as_their_probabilities_say(memory):
    """Chi-squared over 4,000 choices from one state: fixed seed, level 0.001."""
    experiment = memory.create("often", bl.ReBoot(sigma_a=1.5), ["a", "b", "c"], seed=1, traffic=bl.Traffic(floor=0.05))
    for arm, mean in (("a", 0.0), ("b", 0.1), ("c", 0.2)):
        experiment.learn_summary(arm, 30, mean, 1.0)
    chooser = experiment._writer.replica().chooser
    choices = [chooser.choose(f"decision-{k}", None, 0.0) for k in range(4_000)]
    chances = chooser.final(0.0).chances
    counts = np.bincount([choice.arm for choice in choices], minlength=3)
    assert stats.chisquare(counts, 4_000 * np.array(chances)).pvalue > 0.001
    assert all(choice.probability == chances[choice.arm] for choice in choices)
    assert not stats.chisquare(counts, 4_000 * np.array(chances)[::-1]).pvalue > 0.001  # a wrong order is noticed


def test_an_arm_whose_first_rewards_are_on_their_way_is_not_flooded(memory):
    times = [0.0]
    store = bl.Store("sqlite://", clock=lambda: times[0])
    experiment = store.create("late", bl.ReBoot(sigma_a=1.5), ["a", "b"], seed=1, max_age=100.0)
    for value in (1.0, 2.0, 3.0):
        experiment.reward(experiment.decide(arm="a").id, value)
    arms = [experiment.decide().arm for _ in range(10)]
    assert arms.count("b") == 1
    times[0] = 101.0
    assert experiment.decide().arm == "b"  # the first one is given up
    times[0] = -(10.0**6)  # the clock jumps back: all are on their way
    assert experiment.decide().arm == "a"
    decision = experiment.log()[lambda log: log["arm"] == "b"]["id"].iloc[0]
    experiment.reward(decision, 5.0)  # a reward is accepted at any age
    experiment.withdraw(decision)  # the arm lacks its first reward again: the open decisions are read from the log
    times[0] = 102.0
    assert experiment.decide().arm == "a"
    assert experiment.check(), str(experiment.check())


def test_very_many_arms_without_probabilities(memory):
    names = [str(number) for number in range(300)]
    experiment = memory.create("many", bl.UCB1(), names, seed=1, probabilities=False)
    decisions = [experiment.decide() for _ in range(3)]
    assert len({decision.arm for decision in decisions}) == 3
    assert decisions[0].probability is None
    assert experiment.check()
    with pytest.raises(ValueError, match="probabilities"):
        memory.create("floor", bl.UCB1(), names, probabilities=False, traffic=bl.Traffic(floor=0.001))
