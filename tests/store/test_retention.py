"""Old events can go: no later decision changes, and what went says so."""

from __future__ import annotations

import pytest

import bootleader as bl
from bootleader.store import _schema, _sql
from tests.store.test_experiment import reason_of


@pytest.fixture
def times():
    return [0.0]


@pytest.fixture
def clocked(store_url, times):
    with bl.Store(store_url, clock=lambda: times[0]) as store:
        yield store


def played(store, times, rounds=12):
    button = store.create("button", bl.ReBoot(sigma_a=1.5), ["blue", "green"], seed=1)
    ids = []
    for number in range(rounds):
        times[0] += 1.0
        ids.append(button.decide().id)
        if number % 4:
            button.reward(ids[-1], float(number))
    return button, ids


def test_folding_changes_no_later_decision(clocked, times, store_url):
    button, ids = played(clocked, times)
    writer = button._writer
    sleeping = bl.Store(store_url, clock=lambda: times[0]).open("button")
    behind = sleeping._writer.fresh_replica(sleeping._writer.backend.horizon_before(writer.found.id, 4.5))
    before = writer.replica().state.to_bytes()
    chances = dict(button.probabilities())
    assert button.fold(8.5) == 12  # six decisions with their rewards
    assert button.fold(8.5) == 0
    assert writer.replica().state.to_bytes() == before
    assert writer.fresh_replica(use_snapshots=False).state.to_bytes() == before
    behind.sync()  # a worker that was asleep: some of what it had not read is gone
    assert behind.state.to_bytes() == before
    assert dict(sleeping.probabilities()) == chances
    assert len(button.log()) == 6
    assert button.summary()["pulls"].sum() == 9
    assert reason_of(button.audit, ids[1]) == "folded"  # gone
    assert reason_of(button.audit, ids[4]) == "folded"  # open, but what it was made from is gone
    assert button.audit(ids[-1]).agrees
    for call in (button.reward, button.amend, button.add):
        assert reason_of(call, ids[1], 1.0) == "folded"
    assert button.reward(ids[4], 4.0) == bl.Receipt.COUNTED  # a late reward of an old decision
    assert button.check(), str(button.check())
    times[0] = 100.0
    new = button.decide()
    assert button.audit(new.id).agrees
    assert button.fold(101.0) > 0
    assert button.fold(101.0) == 0
    assert button.decide().id  # numbers go on
    assert button.summary()["pulls"].sum() == 10
    assert button.check(), str(button.check())


def test_a_second_delivery_after_folding_does_not_count(clocked, times, store_url):
    """The process still knows the decision, but not that another one rewarded it and it was folded."""
    button, _ = played(clocked, times)
    decision = button.decide()
    with bl.Store(store_url, clock=lambda: times[0]) as other:
        theirs = other.open("button")
        theirs.reward(decision.id, 2.0, event="order-1")
        theirs.decide()
        times[0] += 10.0
        assert theirs.fold(times[0]) > 0
    assert reason_of(button.reward, decision.id, 2.0, event="order-1") == "folded"
    assert button.summary()["pulls"].sum() == 10


def test_a_damaged_fold_is_an_error(clocked, times):
    button, _ = played(clocked, times)
    button.fold(8.5)
    button._writer.backend.write(lambda execute: execute("UPDATE bootleader_folds SET position = 3", ()))
    assert reason_of(clocked.open("button").decide) == "damaged"


def test_sticky_units_are_kept(store_url, times):
    store = bl.Store(store_url, clock=lambda: times[0])
    button = store.create("button", bl.UCB1(), ["a", "b"], seed=1, traffic=bl.Traffic(sticky=True))
    first = {unit: button.decide(unit=unit) for unit in ("u", "v")}
    for decision in first.values():
        button.reward(decision.id, 1.0)
    times[0] = 10.0
    button.decide(unit="w")
    assert button.fold(5.0) == 0
    assert {unit: button.decide(unit=unit).arm for unit in first} == {unit: d.arm for unit, d in first.items()}
    store.close()


def test_an_amendment_at_the_moment_of_folding_counts(clocked, times, monkeypatch):
    button, ids = played(clocked, times)
    backend = button._writer.backend
    save = backend.save_fold

    def amended_meanwhile(*args):
        button.amend(ids[1], 100.0)
        return save(*args)

    monkeypatch.setattr(backend, "save_fold", amended_meanwhile)
    assert button.fold(8.5) == 10
    assert button._writer.fresh_replica().state.to_bytes() == button._writer.replica().state.to_bytes()
    assert button.check(), str(button.check())
    assert button.amend(ids[1], 7.0) == bl.Receipt.COUNTED


def test_vacuum_deletes_removed_experiments(store):
    button = store.create("button", bl.UCB1(), ["a", "b"])
    button.decide()
    other = store.create("other", bl.UCB1(), ["a", "b"])
    other.decide()
    store.remove("button")
    assert store.vacuum() == 2
    assert store.vacuum() == 0
    assert len(other.log()) == 1


def test_a_store_of_the_first_version_is_brought_up_to_date(store_url, monkeypatch):
    with monkeypatch.context() as first:
        first.setattr(_sql, "VERSION", 1)
        with bl.Store(store_url) as old:
            backend = old._backend
            assert backend.rows("SELECT version FROM bootleader_schema") == [(1,)]
            first_event = bl.store._events.new_event(
                bl.store._events.Kind.CHANGE, "#experiment", 1, time=1.0,
                detail='{"change": "create", "arms": [{"name": "a", "metadata": null, "noise_sd": 1.0}]}',
            )  # fmt: skip
            settings = bl.store._settings.Settings.of(bl.UCB1(), 1, True, None, None, 1.0, True)
            found = backend.create("old", settings.to_json(), [first_event], 1.0)
            decision = bl.store._events.new_event(
                bl.store._events.Kind.DECISION, "old-1", 0, arm=0, time=1.0, seen=backend.start, detail="recorded"
            )
            backend.append(found.id, [decision])
    with bl.Store(store_url) as new:
        assert new._backend.rows("SELECT version FROM bootleader_schema") == [(_schema.VERSION,)]
        old = new.open("old")
        assert old.reward("old-1", 2.0) == bl.Receipt.COUNTED
        assert old.fold(0.5) == 0
        assert old.check()
    with bl.Store(store_url) as again:
        assert again.open("old").summary()["pulls"].tolist() == [1]
