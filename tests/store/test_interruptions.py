"""An exception may come at any moment of a call: Ctrl-C, a time limit. Nothing is counted twice after it."""

from __future__ import annotations

import contextlib
import gc
import itertools
import random
import signal
import sys
import time
import warnings

import pytest

import bootleader as bl
from bootleader.store import _replica
from bootleader.store._choice import Chooser
from bootleader.store._compute_thread import background
from bootleader.store._state import State
from tests.helpers import LONGEST_WAIT
from tests.store.test_faults import created


class Interruption(BaseException):
    """What a signal handler raises."""


@pytest.fixture(params=[0, 10**9], ids=["alone", "not alone"])
def button(store, request, monkeypatch):
    monkeypatch.setattr(_replica, "ALONE", request.param)
    return created(store)


@contextlib.contextmanager
def interrupted(monkeypatch, owner, name, before=True):
    """Let the first call of a method, if there is one, end with an interruption, before or after it did its work."""
    method, calls = getattr(owner, name), itertools.count()

    def interrupt_first(*args):
        first = next(calls) == 0
        if first and before:
            raise Interruption
        done = method(*args)
        if first:
            raise Interruption
        return done

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, interrupt_first)
        yield


@pytest.mark.parametrize("before", [False, True], ids=["after", "before"])
@pytest.mark.parametrize(
    ("owner", "name"),
    [(Chooser, "pop_expected"), (Chooser, "adopt"), (State, "apply"), (State, "apply_own")],
    ids=lambda what: str(what),
)
def test_an_event_is_applied_once_though_a_call_was_interrupted(button, owner, name, before, monkeypatch):
    monkeypatch.setattr(background, "submit", lambda job: job())
    for value in (1.0, 2.0, 3.0):
        button.reward(button.decide().id, value)
    decision = button.decide()
    with interrupted(monkeypatch, owner, name, before), contextlib.suppress(Interruption):
        button.reward(decision.id, 1000.0)
        button.summary()
    button.reward(decision.id, 1000.0)
    assert button.summary()["pulls"].sum() == 4
    assert button.audit(button.decide().id).agrees
    assert button.check(), str(button.check())


def test_a_replica_that_starts_anew_reads_the_log_before_it_decides(store, monkeypatch):
    """Also if the call in which it starts is interrupted."""
    button = created(store)
    for value in range(10):
        button.reward(button.decide().id, float(value))
    with interrupted(monkeypatch, State, "apply_own"), pytest.raises(Interruption):
        button.decide()
    with interrupted(monkeypatch, type(store._backend), "news"), pytest.raises(Interruption):
        button.decide()
    assert button.audit(button.decide().id).agrees
    assert button.check(), str(button.check())


@pytest.mark.parametrize("query", ["fold", "open_decisions"])
def test_a_replica_that_another_query_failed_for(store, store_url, query, monkeypatch):
    """Others have folded, or have withdrawn the first rewards of an arm: it asks for more than what is new."""
    button, decided = store.create("button", bl.AdaptiveReBoot(), ["a", "b"], seed=1), {"a": [], "b": []}
    for value in range(40):
        decision = button.decide()
        button.reward(decision.id, 0.1 * (value % 3))
        decided[decision.arm].append(decision.id)
    with bl.Store(store_url) as others:
        other = others.open("button")
        if query == "fold":
            for _ in range(20):
                other.reward(other.decide().id, 5.0)
            other.fold(before=time.time() + 60.0)
        else:
            for decision in decided["b"]:
                other.withdraw(decision)
        with interrupted(monkeypatch, type(store._backend), query), pytest.raises(Interruption):
            button.summary()
        decision = button.decide()
        assert other.audit(decision.id).agrees
        assert button.summary()["pulls"].sum() == other.summary()["pulls"].sum()
        assert other.check(), str(other.check())


def test_a_connection_that_is_lost_gives_its_place_back(server, monkeypatch):
    with bl.Store(server.new_database(), timeout=5.0) as store:
        button = created(store)
        connections = store._backend._connections
        for _ in range(20):  # there are eight places
            with interrupted(monkeypatch, type(connections), "give_back"), pytest.raises(Interruption):
                button.decide()
        assert button.decide().arm
        assert button.check(), str(button.check())


def test_a_connection_that_is_lost_is_closed(server):
    """Without a warning: an exception of a signal handler may lose one at any moment."""
    with bl.Store(server.new_database()) as store:
        lost = store._backend._connect()
        process = lost.info.backend_pid
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sys.unraisablehook, before = lambda error: raised.append(error.exc_value), sys.unraisablehook
            raised = []
            try:
                del lost
                gc.collect()
            finally:
                sys.unraisablehook = before
        assert raised == []
        sql, deadline = "SELECT 1 FROM pg_stat_activity WHERE pid = ?", time.monotonic() + LONGEST_WAIT
        while store._backend.rows(sql, (process,)):
            assert time.monotonic() < deadline
            time.sleep(0.01)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the signal may come in a finaliser
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no interval timers")
def test_calls_that_are_interrupted_at_random(store):
    """A timer's signal ends calls anywhere in Python code."""
    button, rng, in_call, interruptions = created(store), random.Random(1), [], 0

    def interrupt(*_):
        if in_call:
            in_call.clear()
            raise Interruption

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for number in range(300):
            signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-4, 5e-3))
            try:
                in_call.append(True)
                button.reward(button.decide().id, rng.gauss(0.0, 1.0), event=f"order-{number}")
                in_call.clear()
            except Interruption:
                interruptions += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert interruptions > 0
    assert button.summary()["pulls"].sum() == button.log()["reward"].count()
    assert button.check(), str(button.check())


def test_a_receipt_after_an_interruption_knows_that_the_arm_was_removed(store, store_url, monkeypatch):
    button = created(store)
    arms = {button.decide(arm=arm).id: arm for arm in button.arms}
    with bl.Store(store_url) as other:
        other.open("button").remove_arm("blue")
    change = State._change

    def interrupted_change(state, change, round_):
        state.changes += 1  # as far as it got
        raise Interruption

    monkeypatch.setattr(State, "_change", interrupted_change)
    with pytest.raises(Interruption):
        button.summary()
    monkeypatch.setattr(State, "_change", change)
    receipts = {arm: button.reward(decision, 1.0) for decision, arm in arms.items()}
    assert receipts["blue"] == bl.Receipt.ARM_REMOVED
    assert receipts["green"] == bl.Receipt.COUNTED


def test_a_transaction_that_was_interrupted_as_it_began(tmp_path):
    """It would hold the lock of the file, and swallow what is acknowledged afterwards."""
    url = f"sqlite:///{tmp_path}/store.db"
    with bl.Store(url, timeout=2.0) as store, bl.Store(url, timeout=2.0) as other:
        button = created(store)
        sys.setprofile(after_call("execute", "transaction"))
        try:
            with pytest.raises(Interruption):
                button.pause_arm("blue")
        finally:
            sys.setprofile(None)
        assert other.open("button").decide().id
        assert button.paused == []
        decision = button.decide()
        assert other.open("button").decide().id
        assert decision.id in set(other.open("button").log()["id"])


def test_a_transaction_that_an_exception_left_open(tmp_path):
    """As if the exception had come in the middle of the rollback."""
    with bl.Store(f"sqlite:///{tmp_path}/store.db", timeout=2.0) as store:
        button = created(store)
        store._backend._connection.execute("BEGIN IMMEDIATE")
        decision = button.decide()
        with bl.Store(f"sqlite:///{tmp_path}/store.db", timeout=2.0) as other:
            assert decision.id in set(other.open("button").log()["id"])


def after_call(name, function):
    """A profiler that raises after a call of a method from a function, once."""

    def profile(frame, event, arg):
        if event == "c_return" and arg.__name__ == name and frame.f_code.co_name == function:
            sys.setprofile(None)
            raise Interruption

    return profile


def test_an_exception_after_a_connection_was_closed(tmp_path):
    with bl.Store(f"sqlite:///{tmp_path}/store.db", timeout=2.0) as store:
        button = created(store)
        sys.setprofile(after_call("close", "close"))
        try:
            with pytest.raises(Interruption):
                store.close()
        finally:
            sys.setprofile(None)
        assert button.decide().id


def test_a_signal_handler_that_uses_the_store(tmp_path):
    """In the middle of a transaction it is refused: its own would be a part of that one, or end it."""
    with bl.Store(f"sqlite:///{tmp_path}/store.db", timeout=2.0) as store:
        button = created(store)
        last = button.decide().id
        ids = [button.decide().id for _ in range(20)]
        refused = []

        def handler(frame, event, arg):
            if event == "c_return" and arg.__name__ == "executemany":
                sys.setprofile(None)
                with pytest.raises(bl.StoreError, match="a signal handler may not use the store") as caught:
                    button.reward(last, 1.0)
                refused.append(caught.value.reason)

        sys.setprofile(handler)
        try:
            assert button.reward_many([(decision, 1.0) for decision in ids]).counted == 20
        finally:
            sys.setprofile(None)
        assert refused == ["unavailable"]
        assert button.reward(last, 1.0) == bl.Receipt.COUNTED
        assert button.check(), str(button.check())


def test_an_exception_while_a_transaction_of_postgres_begins(server):
    """psycopg then counts its transactions wrong: the connection is not used again."""
    with bl.Store(server.new_database(), timeout=5.0) as store:
        button = created(store)

        def tracer(frame, event, arg):
            if frame.f_code.co_name == "wait" and frame.f_back.f_code.co_name == "__enter__":
                sys.settrace(None)
                raise Interruption

        before = sys.gettrace()
        sys.settrace(tracer)
        try:
            with pytest.raises(Interruption):
                button.pause_arm("blue")
        finally:
            sys.settrace(before)
        for _ in range(3):
            button.learn_summary("blue", 2, 1.0, 1.0)
