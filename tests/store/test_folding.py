"""Old events can go: no later decision changes, and what went says so."""

from __future__ import annotations

import contextlib
import threading
import time
from functools import partial

import pytest

import bootleader as bl
from bootleader.store import _postgres, _schema, _sql
from bootleader.store._events import Core, Event, Kind, Rest, new_event
from bootleader.store._postgres import PostgresBackend
from bootleader.store._settings import Settings
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


def test_a_fold_that_another_process_overtakes_loses_nothing(clocked, times, store_url, monkeypatch):
    """The other process folds more, after this one has computed its fold and before it is written."""
    button, _ = played(clocked, times)
    backend, pulls = button._writer.backend, button.summary()["pulls"].sum()
    write = backend.save_fold

    def save_late(*args):
        monkeypatch.setattr(backend, "save_fold", write)
        with bl.Store(store_url, clock=lambda: times[0]) as other:
            assert other.open("button").fold(8.5) == 12
        return write(*args)

    monkeypatch.setattr(backend, "save_fold", save_late)
    assert button.fold(4.5) == 0  # all of it is in the other's
    with bl.Store(store_url) as other:
        assert other.open("button").summary()["pulls"].sum() == pulls
    assert button.check(), str(button.check())


def test_a_withdrawn_decision_is_not_folded(clocked, times):
    """It has no reward, and one may come."""
    button, ids = played(clocked, times)
    button.withdraw(ids[1])
    times[0] = 100.0
    button.fold(99.0)
    assert ids[1] in button.open_decisions
    assert button.amend(ids[1], 5.0) == bl.Receipt.COUNTED
    assert button.check(), str(button.check())


@contextlib.contextmanager
def rewarded_elsewhere(store_url, times, decision):
    """A store, and an experiment, of another process that has rewarded a decision some time ago."""
    with bl.Store(store_url, clock=lambda: times[0]) as other:
        theirs = other.open("button")
        theirs.reward(decision.id, 2.0, event="order-1")
        theirs.decide()
        times[0] += 10.0
        yield other, theirs


def test_a_second_delivery_after_folding_does_not_count(clocked, times, store_url):
    """The process still knows the decision, but not that another one rewarded it and it was folded."""
    button, _ = played(clocked, times)
    decision = button.decide()
    with rewarded_elsewhere(store_url, times, decision) as (_, theirs):
        assert theirs.fold(times[0]) > 0
    assert reason_of(button.reward, decision.id, 2.0, event="order-1") == "folded"
    assert button.summary()["pulls"].sum() == 10


def wait_until_blocked(store) -> None:
    """Until another connection waits for a lock, or would have long got one."""
    sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'bootleader'"
    for _ in range(200 if isinstance(store._backend, PostgresBackend) else 20):
        if isinstance(store._backend, PostgresBackend) and store._backend.rows(sql) != [(0,)]:
            return
        time.sleep(0.01)


def test_a_second_delivery_at_the_moment_of_folding_does_not_count(clocked, times, store_url, monkeypatch):
    """Sent before the deletion is committed, it waits, and then finds no decision."""
    button, _ = played(clocked, times)
    decision = button.decide()
    with rewarded_elsewhere(store_url, times, decision) as (other, theirs):
        write, deleted, may_commit = other._backend.write, threading.Event(), threading.Event()

        def held_open(work):
            def work_and_wait(execute):
                done = work(execute)
                deleted.set()
                may_commit.wait(60)
                return done

            return write(work_and_wait)

        monkeypatch.setattr(other._backend, "write", held_open)
        folding = threading.Thread(target=theirs.fold, args=(times[0],))
        folding.start()
        deleted.wait(60)
        outcome: list[str] = []
        again = partial(reason_of, button.reward, decision.id, 2.0, event="order-1")
        second = threading.Thread(target=lambda: outcome.append(again()))
        second.start()
        wait_until_blocked(clocked)
        may_commit.set()
        folding.join()
        second.join()
    assert outcome == ["folded"]
    assert button.summary()["pulls"].sum() == 10
    assert button.check(), str(button.check())


@pytest.mark.parametrize("many", [False, True])
def test_a_reward_that_was_read_for_before_a_fold_does_not_count(clocked, times, store_url, monkeypatch, many):
    """A process falls asleep between reading a decision and writing; another one rewards it and folds it."""
    button, ids = played(clocked, times)
    backend, late = clocked._backend, ids[4]
    name = "append_many" if many else "append_to"
    append = getattr(backend, name)

    def asleep(*args):
        monkeypatch.undo()
        with bl.Store(store_url, clock=lambda: times[0]) as other:
            theirs = other.open("button")
            theirs.reward(late, 4.0)
            theirs.decide()
            times[0] += 10.0
            assert theirs.fold(times[0]) > 0
        return append(*args)

    button._writer.replica().recent.clear()
    monkeypatch.setattr(backend, name, asleep)
    call = partial(button.reward_many, [(late, 4.0)]) if many else partial(button.reward, late, 4.0)
    assert reason_of(call) == "folded"
    assert button.summary()["pulls"].sum() == 10
    assert button.check(), str(button.check())


def test_folding_while_workers_decide(store, store_url):
    """Workers decide, reward, repeat and amend; what they did is folded all the time, under their hands."""
    store.create("button", bl.ReBoot(sigma_a=1.5), ["blue", "green"], seed=1)
    failed: list[BaseException] = []

    def work() -> None:
        try:
            with bl.Store(store_url, timeout=60.0) as mine:
                button = mine.open("button")
                for number in range(25):
                    decision = button.decide().id
                    button.reward(decision, float(number), event=f"order-{decision}")
                    for call in (partial(button.reward, decision, float(number)), partial(button.amend, decision, 1.0)):
                        try:
                            call()
                        except bl.StoreError as error:
                            if error.reason != "folded":
                                raise
        except BaseException as error:
            failed.append(error)

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    keeper, deleted = store.open("button"), 0
    while any(worker.is_alive() for worker in workers):
        deleted += keeper.fold(time.time() + 1.0)
    for worker in workers:
        worker.join()
    assert not failed
    assert deleted > 0
    assert keeper.summary()["pulls"].sum() == 75
    writer = keeper._writer
    assert writer.fresh_replica(use_snapshots=False).state.to_bytes() == writer.replica().state.to_bytes()
    assert keeper.check(), str(keeper.check())


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


# Rows as the first version wrote them, checksums included: kind, decision, version, arm, old, value, round, side, time,
# crc, probability, unit, assignment, event, seen, detail, crc_rest.
ARM = '{"change": "create", "arms": [{"name": "a", "metadata": null, "noise_sd": 1.0}]}'
OLD_ROWS = [
    (6, "#experiment", 1, -1, None, None, 0, 0, 1.0, 2894445401, None, None, None, None, None, ARM, 1996614097),
    (1, "old-1", 0, 0, None, None, 0, 0, 1.0, 2750953828, 0.5, "u", None, None, None, "recorded", 1735737025),
    (2, "old-1", 1, 0, None, 2.0, 0, 0, 1.0, 3587821670, None, None, None, "e", None, None, 3741065814),
]


def old_insertion(is_sqlite: bool) -> str:
    columns = [name for name in Event._fields[1:] if name != "context"]
    place = "seq" if is_sqlite else "txn"
    value = "(SELECT count(*) + 1 FROM bootleader_events)" if is_sqlite else "pg_current_xact_id()::text::bigint"
    marks = ", ".join("?" for _ in columns)
    return f"INSERT INTO bootleader_events (experiment, {place}, {', '.join(columns)}) VALUES (1, {value}, {marks})"


@pytest.mark.parametrize("version", range(1, _schema.VERSION))
def test_a_store_of_an_older_version_is_brought_up_to_date(store_url, monkeypatch, version):
    with monkeypatch.context() as first:
        first.setattr(_sql, "VERSION", version)
        first.setattr(_postgres, "last_transaction", lambda execute: 0)  # it reads tables that came later
        with bl.Store(store_url) as old:
            backend = old._backend
            assert backend.rows("SELECT version FROM bootleader_schema") == [(version,)]
            settings = Settings.of(bl.UCB1(), 1, True, None, None, 1.0, True)
            backend.create("old", settings.to_json(), [], 1.0)
            insertion = old_insertion(store_url.startswith("sqlite"))
            for row in OLD_ROWS:
                backend.write(partial(_execute, insertion, row))
    with bl.Store(store_url) as new:
        assert new._backend.rows("SELECT version FROM bootleader_schema") == [(_schema.VERSION,)]
        old = new.open("old")
        assert old.log()["reward"].tolist() == [2.0]
        assert old.amend("old-1", 3.0) == bl.Receipt.COUNTED
        assert old.fold(0.5) == 0
        assert old.check(), str(old.check())
        running = new_event(Core(Kind.DECISION, "old-2", 0, arm=0, time=1.0), Rest(detail="recorded"))
        new._backend.write(partial(_execute, insertion, running[1:18]))  # a process of the old version that goes on
        assert old.reward("old-2", 1.0) == bl.Receipt.COUNTED
        gone = new.create("gone", bl.UCB1(), ["a", "b"])
        decision = gone.decide()
        removal = "UPDATE bootleader_experiments SET name = NULL, removed = ? WHERE name = ?"
        new._backend.write(partial(_execute, removal, (2.0, "gone")))  # by that process
        for call in (gone.decide, partial(gone.decide, arm="a"), partial(gone.reward, decision.id, 1.0)):
            assert reason_of(call) == "removed"
        features = bl.Features(visits=float)
        page = new.create("page", bl.AdaptiveLinReBoot(), ["a", "b"], features=features)
        page.reward(page.decide(context={"visits": 3}).id, 1.0)
        assert page.check()
    with bl.Store(store_url) as again:
        assert again.open("old").summary()["pulls"].tolist() == [2]


def _execute(sql, args, execute) -> None:
    execute(sql, args)


def test_a_snapshot_that_lacks_what_was_folded_is_not_used(clocked, times, store_url):
    """A process computes a snapshot, sleeps while another one folds, and then writes it."""
    button, _ = played(clocked, times)
    writer = button._writer
    early = writer.replica().snapshot()
    times[0] += 1.0
    with bl.Store(store_url, clock=lambda: times[0]) as other:
        theirs = other.open("button")
        theirs.reward(theirs.decide().id, 100.0)
        times[0] += 1.0
        theirs.fold(times[0])
        writer.backend.save_snapshot(writer.found.id, *early, writer.backend.epoch)
        before = theirs._writer.replica().state.to_bytes()
    assert writer.fresh_replica().state.to_bytes() == before
    assert button.check(), str(button.check())
    times[0] += 1.0
    assert button.fold(times[0]) == 0
    button.reward(button.decide().id, 1.0)
    times[0] += 1.0
    button.fold(times[0])
    assert button.summary()["pulls"].sum() == 11
    assert writer.fresh_replica(use_snapshots=False).state.to_bytes() == writer.replica().state.to_bytes()


def test_a_snapshot_taken_while_a_file_is_written_and_then_folded(server, times):
    """PostgreSQL: the snapshot has more events than the fold, and lacks those of the file."""
    url = server.new_database()
    with bl.Store(url, clock=lambda: times[0]) as store, bl.Store(url, clock=lambda: times[0]) as night:
        button = store.create("button", bl.ReBoot(sigma_a=1.5), ["blue", "green"], seed=1)
        ids = [button.decide().id for _ in range(5)]
        times[0] = 10.0
        bulk = night.open("button")._writer.backend
        check_fold = bulk.check_fold

        def decided_meanwhile(*args):  # at the end of the file's transaction
            times[0] = 12.0
            for _ in range(20):
                button.reward(button.decide().id, 1.0)
            with button._writer.lock:
                button._writer.replica().save_snapshot()
            return check_fold(*args)

        bulk.check_fold = decided_meanwhile
        night.open("button").reward_many([(decision, 50.0) for decision in ids])
        times[0] = 20.0
        button.reward(button.decide().id, 1.0)
        assert button.fold(11.0) == 10
        assert button._writer.backend.snapshots(button._writer.found.id)
        with bl.Store(url, clock=lambda: times[0]) as fresh:
            assert fresh.open("button").summary()["pulls"].sum() == 26
            assert fresh.open("button").check(), str(button.check())


@pytest.mark.parametrize("column", ["ids", "horizon", "blob"])
def test_a_damaged_fold_is_an_error_and_is_named(clocked, times, store_url, column):
    button, ids = played(clocked, times)
    button.fold(8.5)
    damaged = "'7a7a'" if column != "blob" else "zeroblob(20)" if store_url.startswith("sqlite") else "'\\x00'::bytea"
    sql = f"UPDATE bootleader_folds SET {column} = {damaged}"
    clocked._backend.write(lambda execute: execute(sql, ()))
    with bl.Store(store_url) as other:
        fresh = other.open("button")
        assert reason_of(fresh.decide) == "damaged"
        assert "damaged" in str(fresh.check())
        assert reason_of(fresh.fold, times[0]) == "damaged"
        if column == "ids":
            assert reason_of(fresh.reward, ids[1], 1.0) == "damaged"


def test_a_damaged_row_is_not_folded_away(clocked, times):
    """Also if the damage is in a column that a replica does not read."""
    button, ids = played(clocked, times)
    damage = "UPDATE bootleader_events SET probability = 0.25 WHERE decision = ?"
    clocked._backend.write(lambda execute: execute(damage, (ids[1],)))
    assert reason_of(button.fold, 8.5) == "damaged"
    assert "is damaged" in str(button.check())
    assert len(button.log(events=True)) == 1 + 12 + 9
