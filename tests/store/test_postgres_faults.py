"""What can go wrong between a process and a PostgreSQL server."""

from __future__ import annotations

import os
import signal
import threading
from functools import partial

import psycopg
import pytest

import bootleader as bl
from bootleader import Receipt
from bootleader.store import _replica
from bootleader.store._postgres_connections import CONNECTIONS
from bootleader.store._postgres_sql import news_query, next_insertion
from bootleader.store._postgres_statements import Statements, _numbered
from tests.helpers import LONGEST_WAIT, posix_only
from tests.store.test_experiment import reason_of
from tests.store.test_faults import at_once, created


def test_a_full_disk_of_postgres(server):
    with bl.Store(server.new_database()) as store:
        button = created(store)
        decision = button.decide()
        rule = """
            CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$
        """
        backend = store._backend
        backend.write(lambda execute: execute(rule, ()))
        trigger = "CREATE TRIGGER full_disk BEFORE INSERT ON bootleader_events EXECUTE FUNCTION full_disk()"
        backend.write(lambda execute: execute(trigger, ()))
        assert reason_of(button.reward, decision.id, 1.0) == "unavailable"
        assert reason_of(button.reward_many, [(decision.id, 1.0), (decision.id, 1.0)]) == "unavailable"
        backend.write(lambda execute: execute("DROP TRIGGER full_disk ON bootleader_events", ()))
        assert button.reward(decision.id, 1.0) == Receipt.COUNTED


def test_a_database_that_stops_and_starts(server):
    url = server.new_database()
    with bl.Store(url, timeout=200.0) as patient, bl.Store(url, timeout=0.3) as hasty:
        button = created(patient)
        acknowledged = [button.decide().id for _ in range(3)]
        in_a_hurry = hasty.open("button")
        in_a_hurry.decide()
        server.kill()
        assert reason_of(in_a_hurry.decide) == "unavailable"
        assert reason_of(bl.Store, url, timeout=0.3) == "unavailable"
        answered: list[bl.Decision] = []
        worker = threading.Thread(target=lambda: answered.append(button.decide()))
        worker.start()  # while the database is away
        server.start()
        worker.join(200)
        assert len(answered) == 1
        with bl.Store(url, timeout=200.0) as third:
            assert third.open("button").decide().id
        assert set(acknowledged) | {answered[0].id} <= set(button.log()["id"])
        assert button.check()


@pytest.mark.parametrize("alone", [0, 4], ids=["alone", "not yet alone"])
def test_a_connection_that_breaks_after_the_commit_counts_once(server, monkeypatch, alone):
    """The caller was not answered: the call is made again, and finds its own row."""
    import psycopg

    monkeypatch.setattr(_replica, "ALONE", alone)
    with bl.Store(server.new_database()) as store:
        button = created(store)
        decision = button.decide()
        execute = Statements.execute
        broken = []

        def breaks(statements, sql, args, *more):
            done = execute(statements, sql, args, *more)
            if "INSERT INTO bootleader_events" in sql and not broken:
                broken.append(True)
                raise psycopg.OperationalError("the connection was lost")
            return done

        monkeypatch.setattr(Statements, "execute", breaks)
        assert button.reward(decision.id, 2.0) == Receipt.COUNTED
        broken.clear()
        second = button.decide()
        assert broken
        assert button.summary()["pulls"].sum() == 1
        assert button.log()["id"].tolist() == [decision.id, second.id]
        assert button.check()


def test_a_role_that_may_not_create_tables(server):
    """Someone else has made the tables: the rights to read and write rows are enough."""
    url = server.new_database()
    name = url.rpartition("%3D")[2]
    with bl.Store(url) as store:
        created(store)
    server.execute(f"CREATE ROLE clerk_of_{name} LOGIN")
    server.execute(f"GRANT USAGE ON SCHEMA {name} TO clerk_of_{name}")
    server.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {name} TO clerk_of_{name}")
    with bl.Store(url.replace("//postgres:", f"//clerk_of_{name}:")) as theirs:
        button = theirs.open("button")
        assert button.reward(button.decide().id, 1.0) == Receipt.COUNTED
        assert button.check()


def test_an_empty_database_is_opened_by_many_at_once(server):
    """One of them makes the tables. The others, which saw none before they waited for it, see them afterwards."""
    for _ in range(3):
        opened = partial(bl.Store, server.new_database())
        stores = at_once(*[opened] * 8)
        assert [store.list() for store in stores] == [[]] * 8
        for store in stores:
            store.close()


@posix_only
def test_a_server_that_does_not_answer(server):
    """A call ends at the timeout. The server's process is stopped, so that the connection stays open."""
    with bl.Store(server.new_database(), timeout=1.0) as store:
        button = created(store)
        decision = button.decide()
        (idle,) = store._backend._connections._idle
        process, reasons = idle.connection.info.backend_pid, []
        os.kill(process, signal.SIGSTOP)
        try:
            worker = threading.Thread(target=lambda: reasons.append(reason_of(button.reward, decision.id, 1.0)))
            worker.start()
            worker.join(LONGEST_WAIT)
            assert reasons == ["unavailable"]
        finally:
            os.kill(process, signal.SIGCONT)
            worker.join()
        button.reward(decision.id, 1.0)
        assert button.summary()["pulls"].sum() == 1
        assert button.check(), str(button.check())


def test_more_threads_than_connections(server):
    with bl.Store(server.new_database()) as store:
        button = created(store)
        decisions = at_once(*(button.decide for _ in range(20)))
        assert len({decision.id for decision in decisions}) == 20
        assert len(store._backend._connections._places) <= 8
        assert len(button.log()) == 20


def test_statements_are_planned_once_and_read_by_indexes(server):
    """Planning takes longer than executing; a plan that reads all of a table is slow when the table has grown."""
    url = server.new_database()
    with bl.Store(url) as store, bl.Store(url) as another:
        button = created(store)
        others = another.open("button")
        for number in range(10):  # alone first, then not
            button.reward(button.decide().id, float(number))
        for number in range(10):
            button.reward(button.decide().id, float(number))
            others.reward(others.decide().id, float(number))
        button._writer._replica.note_overtaken()
        button.reward(button.decide().id, 0.5)
        planned = "SELECT generic_plans, custom_plans, statement FROM pg_prepared_statements WHERE name ~ 'bootleader'"
        found = store._backend.rows(planned)
        assert len(found) >= 5
        assert sum(custom for _, custom, _ in found) == 0
        assert sum(generic for generic, _, _ in found) >= 40
        store._backend.rows("ANALYZE")  # as the server does by itself while the tables are small
        for _, _, statement in found:
            explain = f"EXPLAIN (GENERIC_PLAN) {statement}".encode()
            result = store._backend._with_statements(partial(_results, explain))
            plan = "\n".join(result.get_value(row, 0).decode() for row in range(result.ntuples))
            assert "Index" in plan
            assert "Seq Scan" not in plan, plan


def test_open_transactions_are_looked_up_before_the_tables_are_analysed(server):
    """With no statistics PostgreSQL takes a table for tiny, and any index that has the experiment for good enough."""
    with bl.Store(server.new_database()) as store:
        created(store)
        for sql in (news_query(True, False, 100), news_query(True, True, 100), next_insertion(True, True)):
            explain = f"EXPLAIN (GENERIC_PLAN) {_numbered(sql)}".encode()
            result = store._backend._with_statements(partial(_results, explain))
            lines = [result.get_value(row, 0).decode() for row in range(result.ntuples)]
            assert any("txn = open.id" in line for line in lines)
            assert not [line for line in lines if "Filter" in line and "open" in line], lines


def _results(statement, statements):
    return statements.connection.pgconn.exec_(statement)


def test_a_server_whose_transactions_keep_their_first_snapshot(server):
    """The store's do not: a file has to see at its end what was folded meanwhile."""
    url = server.new_database() + "%20-cdefault_transaction_isolation%3Drepeatable%5C%20read"
    with bl.Store(url) as store:
        button = store.create("button", bl.UCB1(), ["a", "b"])
        assert store._backend.write(lambda execute: execute("SHOW transaction_isolation", ())) == [("read committed",)]
        button.reward(button.decide().id, 1.0)
        assert button.check(), str(button.check())


def test_an_address_without_a_server():
    """The reason is named, after as many attempts as the timeout allows: a failed one gives its place back."""
    with pytest.raises(bl.StoreError, match=r"does not answer for 3 seconds: .*refused") as caught:
        bl.Store("postgresql://clerk@127.0.0.1:1/shop", timeout=3.0)
    assert caught.value.reason == "unavailable"
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_a_server_that_is_away_for_longer_than_there_are_places(server, monkeypatch):
    """Every failed attempt had a place, and an exception that is kept has a traceback that refers to it."""
    with bl.Store(server.new_database(), timeout=200.0) as store:
        button = created(store)
        store.close()
        connect, kept = type(store._backend)._connect, []

        def away(backend):
            if len(kept) < 2 * CONNECTIONS:
                try:
                    raise store._backend._psycopg.OperationalError("the server is away")
                except store._backend._psycopg.OperationalError as error:
                    kept.append(error)
                    raise
            return connect(backend)

        monkeypatch.setattr(type(store._backend), "_connect", away)
        assert button.decide().id
        assert len(kept) == 2 * CONNECTIONS


@pytest.mark.parametrize("call", ["decide", "reward", "summary"])
def test_a_session_that_an_administrator_ends(server, call):
    """The call connects again: the server is there."""
    with bl.Store(server.new_database(), timeout=200.0) as store:
        button = created(store)
        decision = button.decide()
        button.decide()
        ((session,),) = store._backend.rows("SELECT pg_backend_pid()")
        assert server.execute(f"SELECT pg_terminate_backend({session}, 60000)") == [(True,)]
        calls = {"decide": button.decide, "reward": partial(button.reward, decision.id, 1.0), "summary": button.summary}
        calls[call]()
        assert button.check()


@pytest.mark.parametrize("call", ["add", "withdraw", "reward", "decide"])
def test_an_answer_that_is_lost_while_the_experiment_is_changed(server, monkeypatch, call):
    """The second attempt writes nothing, because of the change, and not because the first has written nothing."""
    url = server.new_database()
    with bl.Store(url) as store, bl.Store(url) as other:
        button = created(store)
        theirs = other.open("button")
        decision = theirs.decide().id
        if call == "withdraw":
            theirs.reward(decision, 3.0)
        execute, broken = Statements.execute, []

        def breaks(statements, sql, args):
            done = execute(statements, sql, args)
            if sql.startswith("INSERT INTO bootleader_events") and not broken:
                broken.append(True)
                theirs.add_arm("gold")
                raise psycopg.OperationalError("the connection was lost")
            return done

        if call == "decide":
            button.decide()
            button._writer._replica.note_overtaken()
            monkeypatch.setattr(button._writer._replica, "is_recent", lambda max_lag: True)
        monkeypatch.setattr(Statements, "execute", breaks)
        if call == "decide":
            button.decide()
        else:
            arguments = {"add": (5.0,), "withdraw": (), "reward": (5.0,)}[call]
            assert getattr(button, call)(decision, *arguments) == Receipt.COUNTED
        monkeypatch.undo()
        assert broken
        log = button.log().set_index("id")["reward"]
        assert len(log) == (3 if call == "decide" else 1)
        if call in {"add", "reward"}:
            assert log[decision] == 5.0
        assert button.check(), str(button.check())
