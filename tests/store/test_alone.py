"""A process that is alone decides without reading the log first, and misses nothing that others append."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import bootleader as bl
from bootleader.store import _replica
from bootleader.store._events import Core, Kind, Rest, new_event
from bootleader.store._postgres_horizons import Horizon, ranks
from tests.store.test_experiment import reason_of

ARMS = ["blue", "green", "red"]


@pytest.fixture(autouse=True)
def at_once_alone(monkeypatch):
    monkeypatch.setattr(_replica, "ALONE", 1)
    monkeypatch.setattr(_replica, "AFTER_LOSS", 2)


@pytest.fixture
def button(store):
    return created_warm(store, 10)


def created_warm(store, rewards: int) -> bl.Experiment:
    """An experiment that has learnt so many rewards of each arm."""
    button = store.create("button", bl.AdaptiveReBoot(), ARMS, seed=1)
    for place, arm in enumerate(ARMS):
        button.learn_summary(arm, rewards, 0.1 * place, 1.0)
    return button


def reads(button, monkeypatch) -> list[str]:
    """The horizons that the log is read from, from now on."""
    backend, found = button._writer.backend, []
    news = backend.news
    monkeypatch.setattr(backend, "news", lambda *args: found.append(args[1]) or news(*args))
    return found


def visit(button, value: float) -> bl.Decision:
    decision = button.decide()
    button.reward(decision.id, value)
    return decision


def test_the_log_is_not_read(button, monkeypatch):
    for number in range(3):
        visit(button, 0.1 * number)
    found = reads(button, monkeypatch)
    decisions = [visit(button, 0.3 * number) for number in range(10)]
    assert not found
    assert [button.audit(decision.id).events_seen for decision in decisions] == list(range(10, 30, 2))
    assert button._writer.fresh_replica().state.to_bytes() == button._writer.replica().state.to_bytes()
    assert button.check(), str(button.check())


def test_random_interleavings_of_processes(button, store_url):
    """Whoever appends, in whatever order: each decision has seen all events before it."""
    rng, total = random.Random(3), 4
    with bl.Store(store_url) as one, bl.Store(store_url) as two:
        workers = [button, one.open("button"), two.open("button")]
        waiting: list[str] = []
        for _ in range(120):
            worker = rng.choices(workers, [8, 1, 1])[0]
            if waiting and rng.random() < 0.5:
                rewarded = waiting.pop(rng.randrange(len(waiting)))
                assert worker.reward(rewarded, rng.gauss(0.5, 1.0)) == bl.Receipt.COUNTED
            else:
                decision = worker.decide()
                assert button.audit(decision.id).events_seen == total
                waiting.append(decision.id)
            total += 1
        assert {len(worker.log(events=True)) for worker in workers} == {total}
    assert button.check(), str(button.check())


def test_a_reward_that_is_refused(button):
    visit(button, 0.0)
    decision = visit(button, 1.0)
    assert button._writer._replica.is_alone
    assert button.reward(decision.id, 1.0) == bl.Receipt.REPEATED
    assert reason_of(button.reward, decision.id, 2.0) == "conflict"
    last = visit(button, 3.0)
    assert button.audit(last.id).events_seen == 4 + 4
    assert button.check(), str(button.check())


def test_threads(button):
    """Threads of one process overtake each other."""
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: visit(button, 0.1 * number), range(60)))
    assert len(button.log(events=True)) == 4 + 120
    assert button.check(), str(button.check())


def test_a_transaction_that_is_held_open(server):
    """It takes an id between two events of the process, and is read when it has ended."""
    import psycopg

    url = server.new_database()
    with bl.Store(url) as store:
        button = store.create("button", bl.AdaptiveReBoot(), ARMS, seed=1)
        backend, number = button._writer.backend, button._writer.found.id
        event = new_event(Core(Kind.DECISION, "held-1", 0, arm=0, time=1.0), Rest(detail="recorded"))
        for _ in range(3):
            visit(button, 1.0)
        with psycopg.connect(url) as held:
            held.execute(backend.insertion.replace("?", "%s"), backend.inserted(number, event))
            before = [visit(button, 0.1 * place) for place in range(5)]
            assert button._writer._replica.is_alone
            held.commit()
        after = visit(button, 1.0)
        seen = [button.audit(decision.id).events_seen for decision in (*before, after)]
        assert seen == [7, 9, 11, 13, 15, 18]
        assert button.check(), str(button.check())


def test_events_that_are_folded_before_they_are_read(button, store_url):
    for _ in range(3):
        visit(button, 1.0)
    assert button._writer._replica.is_alone
    with bl.Store(store_url) as store:
        others = store.open("button")
        for _ in range(5):
            visit(others, 5.0)
        assert others.fold(before=time.time() + 60.0)
    decision = visit(button, 1.0)
    assert button.audit(decision.id).events_seen == 4 + 6 + 10
    assert button.summary()["pulls"].sum() == 30 + 3 + 5 + 1
    assert button.check(), str(button.check())


@pytest.mark.parametrize("has_read", [False, True], ids=["at once", "after reading"])
def test_a_second_delivery_when_others_have_folded_the_decision(button, store_url, has_read):
    """The process that decided knows the decision still."""
    for _ in range(3):
        visit(button, 1.0)
    decision = button.decide()
    with bl.Store(store_url) as store:
        others = store.open("button")
        others.reward(decision.id, 5.0)
        for _ in range(3):
            visit(others, 1.0)
        assert others.fold(before=time.time() + 60.0)
    if has_read:
        for _ in range(3):
            visit(button, 1.0)
        assert button._writer._replica.is_alone
    assert reason_of(button.reward, decision.id, 5.0) == "folded"
    assert button.check(), str(button.check())


@pytest.mark.parametrize("is_reward", [False, True], ids=["decision", "reward"])
def test_another_thread_reads_that_others_have_folded(button, store_url, monkeypatch, is_reward):
    """What a thread appends is compared with the horizon and the fold of one moment."""
    for _ in range(3):
        visit(button, 1.0)
    decision, writer = button.decide(), button._writer
    append_next, calls = writer._append_next, []

    def late(*args):
        if not calls:
            calls.append(args)
            others.reward(decision.id, 5.0, event="order-1")
            for _ in range(3):
                visit(others, 1.0)
            assert others.fold(before=time.time() + 60.0)
            thread = threading.Thread(target=button.summary)
            thread.start()
            thread.join()
        return append_next(*args)

    with bl.Store(store_url) as store:
        others = store.open("button")
        monkeypatch.setattr(writer, "_append_next", late)
        if is_reward:
            assert reason_of(button.reward, decision.id, 5.0, event="order-1") == "folded"
        else:
            events = len(others.log(events=True))
            last = button.decide()
            assert others.audit(last.id).agrees
            assert others._writer.fresh_replica().state.to_bytes() == button._writer.replica().state.to_bytes()
            assert len(others.log(events=True)) < events + 3 * 2 + 2  # folded
        assert others.summary()["pulls"].sum() == 30 + 3 + 1 + 3
    assert button.check(), str(button.check())


def test_an_experiment_that_was_removed(button, store):
    for _ in range(3):
        visit(button, 1.0)
    assert button._writer._replica.is_alone
    store.remove("button")
    assert reason_of(button.decide) == "removed"


def test_horizons_contain_each_other():
    early, late = Horizon(20, [12, 15]), Horizon(30, [15])
    assert late.contains(early)
    assert not early.contains(late)
    assert early.contains(early)
    assert early.with_transaction(23) == Horizon(24, [12, 15, 20, 21, 22])
    assert not early.with_transaction(23).contains(late)
    assert not late.contains(Horizon(16, []))
    assert Horizon(10, []).contains(Horizon(13, [10, 11, 12]))


def test_the_log_sorts_horizons_of_which_none_contains_the_other():
    own, other = Horizon(106, []), Horizon(110, [105])  # 105 is an event, 106 to 109 are not of the experiment
    asked = []

    def execute(sql, args):
        asked.append(args[2:])
        return [(1,)] if args[2:4] == own else []

    assert ranks(execute, 1, [str(own), str(other)]) == {str(other): 0, str(own): 1}
    assert asked
