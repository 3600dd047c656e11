"""Where others append while a process decides, it decides for a short time from what it has read."""

from __future__ import annotations

import math

import pytest

import bootleader as bl
from bootleader.store import _replica
from bootleader.store._state import State
from tests.store.test_alone import ARMS, created_warm, reads, visit
from tests.store.test_experiment import reason_of
from tests.store.test_interruptions import Interruption, interrupted


@pytest.fixture
def seconds(monkeypatch):
    """The time by which a reading is recent, which tests set."""
    now = [1000.0]
    monkeypatch.setattr(_replica.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def button(store):
    return created_warm(store, 100)


@pytest.fixture
def other(button, store_url):
    with bl.Store(store_url) as others:
        yield others.open("button")


def overtake(button, other, monkeypatch) -> bl.Decision:
    """A decision of ``button``, during which the other process appends."""
    backend = button._writer.backend
    append_next = backend.append_next

    def late(*args):
        monkeypatch.setattr(backend, "append_next", append_next)
        visit(other, 1.0)
        return append_next(*args)

    button.decide()
    button._writer._replica.note_others()  # so that the log has to be read
    monkeypatch.setattr(backend, "append_next", late)
    decision = button.decide()
    assert button._writer._replica.is_contended
    return decision


def test_the_log_is_read_now_and_then(button, other, seconds, monkeypatch):
    last = overtake(button, other, monkeypatch)
    seen = other.audit(last.id).events_seen
    found = reads(button, monkeypatch)
    for number in range(3):
        visit(other, 5.0)
        decision = visit(button, 0.3 * number)
        audit = other.audit(decision.id)
        assert audit.agrees
        assert audit.events_seen == seen
    assert not found
    seconds[0] += 0.101
    decision = button.decide()
    assert found
    assert other.audit(decision.id).events_seen == seen + 2 + 1 + 3 * 2 + 3 * 2  # all before it
    assert button.check(), str(button.check())


def test_it_is_read_for_every_decision_again_when_nobody_overtakes(button, other, seconds, monkeypatch):
    overtake(button, other, monkeypatch)
    seconds[0] += _replica.CONTENDED_SECONDS + 0.001
    found = reads(button, monkeypatch)
    for _ in range(3):
        visit(other, 1.0)
        events = len(button.log(events=True))
        assert button.audit(button.decide().id).events_seen == events
    assert len(found) >= 3


def test_without_a_lag(store_url, button, other, seconds, monkeypatch):
    with bl.Store(store_url, max_lag=0.0) as store:
        strict = store.open("button")
        overtake(strict, other, monkeypatch)
        found = reads(strict, monkeypatch)
        for number in range(1, 4):
            events = len(button.log(events=True))
            assert other.audit(strict.decide().id).events_seen == events
            assert len(found) == number


def test_a_process_that_is_alone_again(store_url, button, other, seconds, monkeypatch):
    """It misses nothing, though it is still within the second in which others are expected."""
    with bl.Store(store_url, max_lag=0.0) as store:
        strict = store.open("button")
        overtake(strict, other, monkeypatch)
        for _ in range(_replica.AFTER_LOSS + 1):
            strict.decide()
            strict.probabilities()
        assert strict._writer._replica.is_alone
        for _ in range(3):
            visit(other, 1.0)
            events = len(button.log(events=True))
            assert other.audit(strict.decide().id).events_seen == events


def test_a_replica_that_starts_anew_reads_the_log(button, other, seconds, monkeypatch):
    button._writer.replica().save_snapshot()
    last = overtake(button, other, monkeypatch)
    seen = other.audit(last.id).events_seen
    with interrupted(monkeypatch, State, "apply"), pytest.raises(Interruption):
        button.summary()
    with interrupted(monkeypatch, type(button._writer.backend), "news"), pytest.raises(Interruption):
        button.decide()  # it starts from the snapshot
    assert other.audit(button.decide().id).events_seen > seen


def test_a_process_appends_no_more_than_a_twentieth_of_what_it_knows(button, other, seconds, monkeypatch):
    overtake(button, other, monkeypatch)
    found = reads(button, monkeypatch)
    rounds = button._writer._replica.state.rounds
    for _ in range(rounds // 20 // 2 + 1):
        visit(button, 1.0)
    assert not found
    visit(button, 1.0)
    assert found


def test_changes_of_others_hold_at_once(button, other, seconds, monkeypatch):
    overtake(button, other, monkeypatch)
    other.pause_arm("blue")
    other.pause_arm("green")
    assert {button.decide().arm for _ in range(20)} == {"red"}
    overtake(button, other, monkeypatch)
    other.remove_arm("green")
    assert reason_of(button.decide, arm="green") == "unknown"
    overtake(button, other, monkeypatch)
    other.add_arm("gold")
    assert button.decide().arm == "gold"  # it lacks its first rewards
    assert button.check(), str(button.check())


def test_arms_that_lack_rewards_are_not_chosen_from_an_old_state(button, other, seconds, monkeypatch):
    button.add_arm("gold")
    overtake(button, other, monkeypatch)
    found = reads(button, monkeypatch)
    chosen = [experiment.decide().arm for _ in range(10) for experiment in (button, other)]
    assert len(found) == 10
    assert chosen.count("gold") <= 2
    assert button.check(), str(button.check())


def test_an_experiment_that_is_removed(store, button, other, seconds, monkeypatch):
    overtake(button, other, monkeypatch)
    store.remove("button")
    assert reason_of(button.decide) == "removed"


def test_sticky_units(store_url, store, seconds, monkeypatch):
    created = store.create("sticky", bl.AdaptiveReBoot(), ARMS, traffic=bl.Traffic(sticky=True), seed=1)
    for place, arm in enumerate(ARMS):
        created.learn_summary(arm, 100, 0.1 * place, 1.0)
    with bl.Store(store_url) as others:
        other = others.open("sticky")
        overtake_units(created, other, monkeypatch)
        for unit in map(str, range(20)):
            theirs, mine = other.decide(unit=unit), created.decide(unit=unit)
            assert (mine.arm, mine.probability) == (theirs.arm, theirs.probability)
    assert created.check(), str(created.check())


def overtake_units(button, other, monkeypatch) -> None:
    monkeypatch.setattr(button, "decide", lambda decide=button.decide: decide(unit="mine"))
    monkeypatch.setattr(other, "decide", lambda decide=other.decide: decide(unit="theirs"))
    overtake(button, other, monkeypatch)
    monkeypatch.undo()


@pytest.mark.parametrize("lag", [-1.0, math.nan, math.inf, "0.1"])
def test_a_lag_that_is_none(lag):
    with pytest.raises((TypeError, ValueError), match="max_lag"):
        bl.Store("sqlite://", max_lag=lag)


@pytest.fixture(params=["alone", "contended"])
def page(store, request, monkeypatch):
    """An experiment with contexts, whose process does not read the log before it decides."""
    features = bl.Features(device=["mobile", "desktop"])
    page = store.create("page", bl.AdaptiveLinReBoot(), ["short", "long"], features=features, seed=1)
    for device in ("mobile", "desktop") * 6:
        page.reward(page.decide(context={"device": device}).id, 1.0)
    replica = page._writer._replica
    if request.param == "contended":
        replica.note_overtaken()
        monkeypatch.setattr(type(replica), "is_recent", lambda replica, max_lag: True)
    assert replica.is_contended == (request.param == "contended")
    assert replica.is_alone == (request.param == "alone")
    return page


@pytest.mark.parametrize("own", [False, True], ids=["by another process", "by this one"])
def test_a_category_that_was_added_is_known_at_once(store_url, page, own):
    with bl.Store(store_url) as other:
        (page if own else other.open("page")).add_category("device", "tablet")
        assert page.decide(context={"device": "tablet"}).arm in {"short", "long"}
        with pytest.raises(ValueError, match="device"):
            page.decide(context={"device": "watch"})


def test_an_arm_with_features_that_was_added_or_removed_is_known_at_once(store, store_url, monkeypatch):
    features = bl.Features(price=float, of_arms=True)
    page = store.create("page", bl.AdaptiveLinReBoot(), ["short", "long"], features=features, seed=1)
    both = {"short": {"price": 1.0}, "long": {"price": 2.0}}
    for _ in range(12):
        page.reward(page.decide(context=both).id, 1.0)
    replica = page._writer._replica
    replica.note_overtaken()
    monkeypatch.setattr(type(replica), "is_recent", lambda replica, max_lag: True)
    with bl.Store(store_url) as other:
        theirs = other.open("page")
        theirs.add_arm("gold")
        assert page.decide(context={**both, "gold": {"price": 3.0}}).id
        theirs.remove_arm("gold")
        assert page.decide(context=both).id
