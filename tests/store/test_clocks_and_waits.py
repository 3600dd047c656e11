"""Calls that come at the same time of the clock, and calls that wait for others."""

from __future__ import annotations

from functools import partial

import apsw
import pytest

import bootleader as bl
from bootleader import Receipt, StoreError
from bootleader.store._sqlite import SqliteBackend
from tests.store.test_experiment import reason_of
from tests.store.test_faults import at_once, created


def test_two_calls_at_the_same_time_of_the_clock(store_url, monkeypatch):
    """Two additions without an event id are alike in every column; both count."""
    with bl.Store(store_url, clock=lambda: 1.7e9) as one, bl.Store(store_url, clock=lambda: 1.7e9) as two:
        button = created(one)
        theirs, writer = two.open("button"), button._writer
        decision = button.decide().id
        append = writer.append

        def overtaken(event, changes):
            monkeypatch.undo()
            assert theirs.add(decision, 10.0) == Receipt.COUNTED
            return append(event, changes)

        monkeypatch.setattr(writer, "append", overtaken)
        assert button.add(decision, 10.0) == Receipt.COUNTED
        assert button.log()["reward"].tolist() == [20.0]
        append_change = writer.backend.append_change

        def too_late(experiment, event):
            monkeypatch.undo()
            theirs.add_arm("gold")
            append_change(experiment, event)

        monkeypatch.setattr(writer.backend, "append_change", too_late)
        with pytest.raises(ValueError, match="already here"):
            button.add_arm("gold")
        one.create("second", bl.UCB1(), ["a", "b"], seed=1)
        assert reason_of(one.create, "second", bl.UCB1(), ["c", "d"], seed=1) == "exists"


def test_a_clock_that_shows_minus_zero(store_url):
    with bl.Store(store_url, clock=lambda: -0.0) as store:
        button = created(store)
        button.reward(button.decide().id, 1.0)
        assert button.check(), str(button.check())


def test_threads_do_not_wait_one_after_the_other(tmp_path, monkeypatch):
    """A call that waited for others longer than its timeout does not wait for the file as well."""
    url, path = f"sqlite:///{tmp_path}/store.db", f"{tmp_path}/store.db"
    with bl.Store(url, timeout=0.5) as store:
        button = created(store)
        decisions = [button.decide().id for _ in range(8)]
        locked, waits = apsw.Connection(path), []
        locked.execute("BEGIN IMMEDIATE")
        wait = SqliteBackend._wait

        def counted(backend):
            handler = wait(backend)
            return lambda number: (waits.append(number) if number == 0 else None, handler(number))[1]

        monkeypatch.setattr(SqliteBackend, "_wait", counted)
        store.close()  # the next call opens a connection with that handler
        calls = [button.decide] * 4 + [partial(button.reward, decision, 1.0) for decision in decisions]
        failed = at_once(*[partial(reason_of, call) for call in calls])
        assert set(failed) == {"unavailable"}
        assert len(waits) < len(calls)  # the others did not wait for the lock of the file
        locked.execute("ROLLBACK")
        assert button.reward(decisions[0], 1.0) == Receipt.COUNTED


def test_a_thread_that_waits_longer_than_the_timeout(tmp_path, monkeypatch):
    """For the lock of the process, as every call does with a timeout below 0."""
    with bl.Store(f"sqlite:///{tmp_path}/store.db") as store:
        button = created(store)
        decision = button.decide()
        with monkeypatch.context() as patch:
            patch.setattr(store._backend, "timeout", -1.0)
            for call, said in (
                (button.decide, "at work on the experiment"),
                (partial(button.decide, arm="blue"), "at work on the experiment"),
                (partial(button.reward, decision.id, 1.0), "used '"),
            ):
                with pytest.raises(StoreError, match=f"other threads of this process .*{said}") as caught:
                    call()
                assert caught.value.reason == "unavailable"
        assert len(button.log()) == 1
        assert button.reward(decision.id, 1.0) == Receipt.COUNTED


def test_a_database_that_is_away_is_waited_for_once(tmp_path, monkeypatch):
    """A process that is alone reads again what it refuses, but for a database that does not answer."""
    rules = bl.Traffic(sticky=True)
    with bl.Store(f"sqlite:///{tmp_path}/store.db") as store:
        button = store.create("button", bl.UCB1(), ["blue", "green"], traffic=rules, seed=1)
        for k in range(8):
            button.reward(button.decide(unit=f"unit-{k}").id, 1.0)
        assert button._writer._replica.is_alone
        asked = []

        def away(experiment, unit):
            asked.append(unit)
            raise StoreError("away", "unavailable")

        monkeypatch.setattr(button._writer.backend, "assignment", away)
        assert reason_of(button.decide, unit="unit-9") == "unavailable"
        assert asked == ["unit-9"]
