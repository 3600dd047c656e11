"""What a reader has seen: nothing is skipped, nothing is read twice, whatever the order of the commits."""

from __future__ import annotations

import random
import time

import pytest

import bootleader as bl
from bootleader.store import _postgres, _sql, _sqlite
from bootleader.store._events import Core, Kind, Rest, new_event
from bootleader.store._postgres import PostgresBackend
from bootleader.store._postgres_horizons import Horizon


@pytest.fixture
def button(store):
    return store.create("button", bl.ReBoot(sigma_a=1.5), ["blue", "green"], seed=1)


def test_a_transaction_held_open_delays_its_own_rows_only(server):
    """A reader that remembered the largest number it saw would miss the row: it has a smaller one."""
    import psycopg

    url = server.new_database()
    store = bl.Store(url)
    button = store.create("button", bl.ReBoot(sigma_a=1.5), ["blue", "green"], seed=1)
    backend, number = button._writer.backend, button._writer.found.id
    early = new_event(Core(Kind.DECISION, "held-1", 0, arm=0, time=1.0), Rest(detail="recorded"))
    with psycopg.connect(url) as held:
        held.execute(backend.insertion.replace("?", "%s"), backend.inserted(number, early))
        seen = [button.decide().id for _ in range(5)]
        for decision in seen[:3]:
            button.reward(decision, 1.0)
        other = bl.Store(url).open("button")
        late = other.decide()
        assert other._writer.replica().state.events == 1 + 5 + 3 + 1
        assert ":" in button.log(events=True)["seen"].iloc[-1]
        held.commit()
    assert button._writer.replica().state.events == 1 + 5 + 3 + 1 + 1
    assert other._writer.replica().state.to_bytes() == button._writer.replica().state.to_bytes()
    events = button.log(events=True).set_index("decision")
    assert events.loc["held-1", "seq"] < events.loc[seen[0], "seq"].min()
    assert button.audit(late.id).events_seen == 1 + 5 + 3  # not the one that was committed later
    assert button.check(), str(button.check())
    store.close()


def test_a_transaction_held_open_in_a_file_delays_the_others(tmp_path):
    """SQLite has one writer at a time: the others wait for it, and then see its row before theirs."""
    import threading

    import apsw

    with bl.Store(f"sqlite:///{tmp_path}/shop.db", timeout=200.0) as store:
        button = store.create("button", bl.ReBoot(sigma_a=1.5), ["blue", "green"], seed=1)
        backend, number = button._writer.backend, button._writer.found.id
        early = new_event(Core(Kind.DECISION, "held-1", 0, arm=0, time=1.0), Rest(detail="recorded"))
        held = apsw.Connection(f"{tmp_path}/shop.db")
        held.execute("BEGIN IMMEDIATE")
        held.execute(backend.insertion, backend.inserted(number, early))
        made: list[bl.Decision] = []
        worker = threading.Thread(target=lambda: made.append(button.decide()))
        worker.start()
        worker.join(0.3)
        assert not made
        held.execute("COMMIT")
        held.close()
        worker.join(200)
        assert button.log()["id"].tolist() == ["held-1", made[0].id]
        assert button.check(), str(button.check())


def test_random_interleavings_of_transactions(server):
    """Four writers whose transactions overlap at random; a reader after every step."""
    import psycopg

    rng = random.Random(4)
    url = server.new_database()
    button = bl.Store(url).create("button", bl.ReBoot(sigma_a=1.5), ["blue", "green"], seed=1)
    backend, number = button._writer.backend, button._writer.found.id
    reader = button._writer.fresh_replica(use_snapshots=False)
    sql = backend.insertion.replace("?", "%s")
    connections = [psycopg.connect(url) for _ in range(4)]
    written = committed = 0
    pending = [0] * 4
    for _ in range(150):
        place = rng.randrange(4)
        action = rng.random()
        if action < 0.6:
            written += 1
            event = new_event(Core(Kind.DECISION, f"d-{written}", 0, arm=0, time=1.0), Rest(detail="recorded"))
            connections[place].execute(sql, backend.inserted(number, event))
            pending[place] += 1
        elif action < 0.9:
            connections[place].commit()
            committed, pending[place] = committed + pending[place], 0
        else:
            connections[place].rollback()
            pending[place] = 0
        reader.sync()
        assert reader.state.events == 1 + committed
        assert reader.state.arms[0].decisions == committed
    for connection in connections:
        connection.close()


def test_a_long_log_is_read_in_parts(store, button, monkeypatch):
    for module in (_sql, _sqlite, _postgres):
        monkeypatch.setattr(module, "READ_AT_ONCE", 7)
    writer = button._writer
    many = [new_event(Core(Kind.DECISION, f"m-{k}", 0, arm=0, time=1.0), Rest(detail="recorded")) for k in range(20)]
    writer.backend.append_many(writer.found.id, many, 0)  # one transaction of more than a part
    for k in range(12):
        button.reward(button.decide().id, float(k))
    replica = writer.fresh_replica(use_snapshots=False)
    assert replica.state.events == 1 + 20 + 24
    assert replica.state.to_bytes() == writer.replica().state.to_bytes()
    assert button.check(), str(button.check())


def test_a_dump_that_is_restored_elsewhere_goes_on(server):
    """Transaction ids of another server may be smaller than those in the log."""
    url = server.new_database()
    with bl.Store(url) as store:
        button = store.create("button", bl.ReBoot(sigma_a=1.5), ["blue", "green"], seed=1)
        before = button.decide()
        shift = 10**9
        button._writer.backend.write(
            lambda execute: execute("UPDATE bootleader_events SET txn = txn + ?", (shift,))
        )  # as if the old server had counted that far
    with bl.Store(url) as store:
        button = store.open("button")
        assert store._backend._offset > shift / 2
        assert button.reward(before.id, 2.0) == bl.Receipt.COUNTED
        after = button.decide()
        assert button.summary()["pulls"].sum() == 1
        assert button.audit(after.id).agrees
        assert bl.Store(url)._backend._offset == store._backend._offset


def test_snapshots_of_postgres_are_read_and_written():
    text = "10:20:10,14"
    assert Horizon.of(text) == Horizon(20, [10, 14])
    assert str(Horizon.of(text)) == text
    assert str(Horizon.of("20:20:")) == "20:20:"
    assert Horizon.of("5:7:5", 100) == Horizon(107, [105])


def test_statements_are_planned_once(tmp_path):
    """SQLite with statistics of values would plan a statement again whenever a parameter has another value."""
    import apsw

    with bl.Store(f"sqlite:///{tmp_path}/shop.db") as store:
        button = store.create("button", bl.ReBoot(sigma_a=1.5), ["blue", "green"], seed=1)
        planned = []  # SQLite asks for permission whenever it plans
        store._backend._connection.authorizer = lambda *action: planned.append(action) or apsw.SQLITE_OK
        for number in range(12):  # it counts as alone after some of them
            planned.clear()
            button.reward(button.decide().id, float(number))
        assert not planned


def test_a_large_transaction_that_others_have_overtaken_is_read_once(server, monkeypatch):
    """It fills a whole part of the log. The horizon after it may not fall behind what was read before."""
    import psycopg

    for module in (_sql, _postgres):
        monkeypatch.setattr(module, "READ_AT_ONCE", 6)
    url = server.new_database()
    button = bl.Store(url).create("button", bl.ReBoot(sigma_a=1.5), ["blue", "green"], seed=1)
    backend, number = button._writer.backend, button._writer.found.id
    sql = backend.insertion.replace("?", "%s")
    rng, others = random.Random(1), 0
    connections = [psycopg.connect(url) for _ in range(3)]
    for place in range(12):
        for connection, rows in zip(connections, rng.sample([1, 5, 6, 7, 20], 3), strict=True):
            for row in range(rows):
                event = new_event(
                    Core(Kind.DECISION, f"held-{place}-{connections.index(connection)}-{row}", 0, arm=0, time=1.0),
                    Rest(detail="recorded"),
                )
                connection.execute(sql, backend.inserted(number, event))
            others += rows
        for connection in rng.sample(connections, 3):
            for _ in range(rng.randrange(4)):
                button.reward(button.decide().id, 1.0)
            connection.commit()
    button.decide()
    log = button.log()
    assert len(log) == sum(arm.decisions for arm in button._writer.replica().state.arms) > others
    assert log["reward"].count() == button.summary()["pulls"].sum()
    assert button._writer.replica().state.events == 1 + len(log) + log["reward"].count()
    assert button.check(), str(button.check())
    for connection in connections:
        connection.close()


def filled(store, visits):
    button = store.create("button", bl.UCB1(), ["blue", "green"], seed=1)
    ids = [button.decide().id for _ in range(visits)]
    button.reward_many([(decision, 1.0) for decision in ids])  # one transaction
    return button, ids


def test_a_fold_while_a_part_of_the_log_is_completed(server, monkeypatch):
    """The last event of the part is folded before its transaction is looked up."""
    with bl.Store(server.new_database()) as store, bl.Store(store._backend._url) as other:
        button, _ = filled(store, 30)
        theirs, complete = other.open("button"), PostgresBackend._complete
        monkeypatch.setattr(_postgres, "READ_AT_ONCE", 40)

        def folds_first(backend, experiment, found):
            monkeypatch.undo()
            button.reward(button.decide().id, 1.0)  # or else the fold would keep the last event
            assert button.fold(before=time.time() + 5.0) > 0
            monkeypatch.setattr(_postgres, "READ_AT_ONCE", 40)
            return complete(backend, experiment, found)

        monkeypatch.setattr(PostgresBackend, "_complete", folds_first)
        assert theirs.summary()["pulls"].sum() == 31
        assert theirs.check(), str(theirs.check())


def test_a_fold_between_the_two_queries_that_complete_a_part(server, monkeypatch):
    """The fold deletes the rest of the transaction and keeps the last event of the part, which was amended since."""
    with bl.Store(server.new_database()) as store, bl.Store(store._backend._url) as other:
        button, ids = filled(store, 30)
        cut = time.time()
        time.sleep(0.01)
        button.amend(ids[9], 2.0)  # of which the 40th event is the reward
        theirs, rows = other.open("button"), PostgresBackend.rows
        monkeypatch.setattr(_postgres, "READ_AT_ONCE", 40)

        def folds_between(backend, sql, args=(), **options):
            if "txn = ?" in sql:
                monkeypatch.undo()
                assert button.fold(before=cut) > 0
                monkeypatch.setattr(_postgres, "READ_AT_ONCE", 40)
            return rows(backend, sql, args, **options)

        monkeypatch.setattr(PostgresBackend, "rows", folds_between)
        assert theirs.summary()["pulls"].sum() == 30
        monkeypatch.undo()
        assert theirs.check(), str(theirs.check())


def test_reading_much_of_a_log_may_take_longer_than_the_timeout(server, monkeypatch):
    with bl.Store(server.new_database()) as store:
        button, _ = filled(store, 3)
        backend = button._writer.backend
        monkeypatch.setattr(backend, "timeout", 1.0)
        with pytest.raises(bl.StoreError, match="does not answer"):
            backend.rows("SELECT pg_sleep(1.5)")
        assert len(backend.rows("SELECT pg_sleep(1.5)", is_short=False)) == 1
        monkeypatch.setattr(backend, "timeout", 30.0)
        short = []
        rows = PostgresBackend.rows

        def recorded(backend, sql, args=(), *, is_short=True):
            short.append((is_short, sql))
            return rows(backend, sql, args, is_short=is_short)

        monkeypatch.setattr(PostgresBackend, "rows", recorded)
        assert button.fold(before=time.time() + 5.0) > 0
        whole = [is_short for is_short, sql in short if "GROUP BY decision" in sql or "min(txn)" in sql]
        assert whole == [False, False]
