"""A store in one SQLite file: nothing to set up, for all processes of one machine.

The library is apsw, which brings a SQLite of its own. The one in many Pythons is older than 3.51.3, the first version
without a fault that can damage the file when one process resets the write-ahead log while another writes.

The file is in WAL mode, and a call returns after the log is on the disk
(:mod:`bootleader.store._write_ahead_log`). Writers are serialised by SQLite, so the numbers of the events are in the
order of their commits, and a horizon is the last number read.

SQLite counts the locks of a file once for each process. A child that is forked while a connection is open inherits the
count without the locks: the parent, when it closes the file, deletes the write-ahead log that the child still writes
to, and what the child committed is gone. So every connection is closed before a fork, and opened again when needed.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import apsw

from bootleader._core.printable_text import shown
from bootleader.store._backend import News, Place
from bootleader.store._errors import DuplicateKey, StoreError
from bootleader.store._events import COLUMNS, Event
from bootleader.store._schema import SQLITE
from bootleader.store._sql import OF_BANDIT, READ_AT_ONCE, Execute, SqlBackend, check_there
from bootleader.store._sqlite_files import MEMORY, cause_of, network_file_system
from bootleader.store._sqlite_sql import (
    INSERTION,
    INSERTION_TO,
    INSERTION_UNCHANGED,
    NEWS,
    NEXT_INSERTION,
    NEXT_INSERTION_TO,
)
from bootleader.store._write_ahead_log import WriteAheadLog

WAITS: Final = (0.0002, 0.0006)  # seconds between two attempts to write
FIRST_SOUND_SQLITE: Final = 3_051_003
# Connections of a parent process that could not be closed before the fork, with their paths: never used or closed here.
_inherited: list[tuple[str, Any]] = []


class SqliteBackend(SqlBackend):
    """A SQLite file, or a database in memory. One connection for each process, one call at a time."""

    start = "0"
    dialect = SQLITE
    table_exists = "SELECT 1 FROM sqlite_master WHERE name = ?"
    insertion = INSERTION

    def __init__(self, path: str, timeout: float, vfs: str | None = None) -> None:
        super().__init__(timeout)
        self.waits = path != MEMORY
        self.path = path if path == MEMORY else os.path.realpath(path)  # the log is beside the file, not beside a link
        self._ended = ""  # why a store in memory cannot be used any more
        self._vfs = vfs
        self._log, self._commit_waits = WriteAheadLog(self.path), False
        self._lock = threading.RLock()
        self._connection: apsw.Connection | None = None
        self._cursor: apsw.Cursor  # of the connection, for what is executed again and again
        self.register()
        self._locked(self._open)

    # Connections ---------------------------------------------------------------------------------------------------

    def _open(self) -> apsw.Connection:
        if self._connection is not None:
            return self._connection
        if apsw.SQLITE_VERSION_NUMBER < FIRST_SOUND_SQLITE:
            raise StoreError(f"SQLite must be at least 3.51.3, got {apsw.sqlite_lib_version()}: update apsw", "version")
        if self.path != MEMORY and (kind := network_file_system(Path(self.path))):
            raise StoreError(
                f"{shown(self.path)} is on a network file system ({kind}), where SQLite may lose writes: use a "
                "local disk, or PostgreSQL",
                "unavailable",
            )
        deadline = time.monotonic() + self.timeout
        while True:
            connection = apsw.Connection(self.path, vfs=self._vfs)
            try:
                self._prepare(connection)
            except BaseException as error:
                self._log.close()
                connection.close()
                # Where others open a new file too, SQLite does not wait for them by itself.
                if not isinstance(error, apsw.BusyError) or time.monotonic() > deadline:
                    raise
                time.sleep(random.uniform(*WAITS))
                continue
            self._connection, self._cursor = connection, connection.cursor()
            return connection

    def _prepare(self, connection: apsw.Connection) -> None:
        """Set a new connection up, and create or update the tables."""
        connection.set_busy_handler(self._wait())
        mode = None if self.path == MEMORY else connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode not in (None, ("wal",)):  # such as on a file system without shared memory
            raise StoreError(f"SQLite cannot keep a write-ahead log beside {shown(self.path)}", "unavailable")
        connection.execute("PRAGMA synchronous = NORMAL")  # a commit does not wait for the disk: _sync() does
        self._commit_waits = False
        # A plan does not depend on the values of parameters. Otherwise SQLite plans a statement again in every call.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        execute: Execute = partial(_fetched, connection)
        if self.is_current(execute):
            return
        try:
            connection.execute("BEGIN IMMEDIATE")
            self.migrate(execute)
            connection.execute("COMMIT")
            self._sync()
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def _sync(self) -> None:
        """Wait until all commits are on the disk. The connection is open."""
        if self.path != MEMORY:
            self._log.sync()

    def _let_commit_wait(self, connection: apsw.Connection, commit_waits: bool) -> None:
        """Choose whether a commit waits for the disk, or leaves that to :meth:`_sync`."""
        self._commit_waits = False  # if an exception comes now, the next commit is synced all the same
        connection.execute(f"PRAGMA synchronous = {'FULL' if commit_waits else 'NORMAL'}")
        self._commit_waits = commit_waits

    def make_durable(self) -> None:
        def sync() -> None:
            self._open()
            self._sync()

        self._locked(sync)

    def _wait(self) -> Callable[[int], bool]:
        """A handler for a locked database: short random waits, because a commit takes a millisecond or so."""
        began = [0.0]

        def wait(number: int) -> bool:
            now = time.monotonic()
            if number == 0:
                began[0] = now
            if now - began[0] > self.timeout:
                return False
            time.sleep(random.uniform(*WAITS))
            return True

        return wait

    def before_fork(self) -> None:
        self._lock.acquire()  # no other thread is in a call
        if self.path != MEMORY:
            self.close()

    def after_fork_in_parent(self) -> None:
        self._lock.release()

    def forget_connections(self) -> None:
        self._lock, self._log = threading.RLock(), WriteAheadLog(self.path)
        if self._connection is not None:
            _inherited.append((self.path, self._connection))
            self._connection = None
        if self.path == MEMORY:
            self._ended = "stays in the process that made it"

    def close(self) -> None:
        with self._lock:
            self._log.close()
            connection, self._connection = self._connection, None  # first: an exception may come after it is closed
            if connection is not None:
                connection.close()
            if self.path == MEMORY:
                self._ended = "ends when it is closed"

    def _locked(self, work: Callable[..., Any], *args: Any) -> Any:
        """Do some work while no other thread uses the connection.

        What SQLite raises becomes ``StoreError``, or ``DuplicateKey``.
        """
        began, lock = time.monotonic(), self._lock
        is_nested = lock._is_owned()  # type: ignore[attr-defined]
        with lock:
            connection = self._connection
            try:
                if connection is not None and connection.in_transaction:
                    if is_nested:
                        raise StoreError(
                            "this thread is in the middle of a transaction: a signal handler may not use the store "
                            "then",
                            "unavailable",
                        )
                    connection.execute("ROLLBACK")  # left by an exception in a rollback
                if time.monotonic() - began > self.timeout:  # they waited for the file: this one would wait as long
                    raise StoreError(
                        f"other threads of this process used {shown(self.path)} for {self.timeout:g} seconds",
                        "unavailable",
                    )
                if self._ended or _inherited:
                    self._check_usable()
                return work(*args)
            except apsw.Error as error:
                raise self._error_of(error) from None

    def _check_usable(self) -> None:
        """Raise if this process may not open the database."""
        if self._ended:
            raise StoreError(f"a store in memory {self._ended}: give it a file", "unavailable")
        if self.path != MEMORY and any(path == self.path for path, _ in _inherited):
            raise StoreError(
                f"{shown(self.path)} was open when the process was forked, and not by Python's os.fork: open the store "
                "after the fork",
                "unavailable",
            )

    def _error_of(self, error: apsw.Error) -> Exception:
        """What to raise for an error of SQLite."""
        path = shown(self.path)
        match error:
            case apsw.ConstraintError():
                return DuplicateKey()
            case apsw.CorruptError() | apsw.NotADBError():
                return StoreError(f"the file {path} is damaged: {error}", "damaged")
            case apsw.BusyError():
                return StoreError(f"the file {path} was locked for more than {self.timeout:g} seconds", "unavailable")
            case apsw.FullError():
                return StoreError(f"there is no space for {path} to grow", "unavailable")
        return StoreError(f"SQLite cannot use {path}: {cause_of(Path(self.path), error)}", "unavailable")

    # Primitives ----------------------------------------------------------------------------------------------------

    def rows(self, sql: str, args: Sequence[Any] = (), *, is_short: bool = True) -> list[Any]:
        return self._locked(lambda: _fetched(self._open(), sql, args))  # type: ignore[no-any-return]

    def write(self, work: Callable[[Execute], Any]) -> Any:
        def transaction() -> Any:
            connection = self._open()
            try:  # an exception of a signal handler may come between any two calls
                connection.execute("BEGIN IMMEDIATE")
                done = work(partial(_fetched, connection))
                connection.execute("COMMIT")
                self._sync()
                return done
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

        return self._locked(transaction)

    def append_many(self, experiment: int, events: Sequence[Event], fold: int) -> None:
        def insert(execute: Execute) -> None:
            check_there(execute, experiment)
            last = execute("SELECT coalesce(max(seq), 0) FROM bootleader_events WHERE experiment = ?", (experiment,))
            rows = ((experiment, seq, *event[1:]) for seq, event in enumerate(events, last[0][0] + 1))
            columns = ("experiment", "seq", *COLUMNS)
            sql = f"INSERT INTO bootleader_events ({', '.join(columns)}) VALUES ({', '.join('?' for _ in columns)})"
            self._open().executemany(sql, rows)
            self.check_fold(execute, experiment, fold)

        self.write(insert)

    def _insert_to(self, experiment: int, event: Event, changes: int, epoch: int | None) -> bool:
        sql, args = INSERTION_TO if event.version else INSERTION_UNCHANGED, (*self.inserted(experiment, event), changes)
        return bool(self._locked(self._is_written, sql, args))

    def _is_written(self, sql: str, args: Sequence[Any], commit_waits: bool = False) -> bool:
        """Execute the insertion of an event; whether its conditions held.

        A process that is alone, or that few others overtake, keeps no other from writing, so its commit waits for the
        disk. Another thread computes meanwhile: this one would wait for the interpreter between commit and sync.
        """
        connection = self._open()
        if commit_waits != self._commit_waits:
            self._let_commit_wait(connection, commit_waits)
        try:
            self._cursor.execute(sql, args)
        except apsw.ConstraintError as error:
            if error.extendedresult != apsw.SQLITE_CONSTRAINT_NOTNULL:  # type: ignore[attr-defined]
                raise
            return False  # the experiment is NULL then: no other column can be
        if not self._commit_waits:
            self._sync()
        return True

    def append_next(self, experiment: int, event: Event, after: Place) -> str | None:
        last, sql = int(after.horizon), NEXT_INSERTION_TO if event.version else NEXT_INSERTION
        args = (experiment, *event[1:], last)  # a fold keeps the last event, so that events after it are never missed
        written = self._locked(self._is_written, sql, args, True)
        return str(last + 1) if written else None

    def inserted(self, experiment: int, event: Event) -> tuple[Any, ...]:
        return (experiment, *event[1:])

    # Horizons ------------------------------------------------------------------------------------------------------

    def news(self, experiment: int, after: str, upto: str | None = None) -> News:
        limit = READ_AT_ONCE
        found = self.rows(NEWS, (experiment, _seq(after), 2**62 if upto is None else _seq(upto), limit))
        fold = found.pop()[0] if found and found[-1][1] is None else 0  # no event is without a kind
        return News(found, str(found[-1][0]) if found else after, len(found) == limit, int(fold))

    def contains(self, horizon: str, other: str) -> bool:
        try:
            return _seq(horizon) >= _seq(other)
        except StoreError:
            return False

    def order(self, experiment: int, horizons: Iterable[str]) -> dict[str, int]:
        return {horizon: _seq(horizon) for horizon in horizons}

    within = "seq <= ?"

    def within_args(self, horizon: str) -> tuple[Any, ...]:
        return (_seq(horizon),)

    def horizon_before(self, experiment: int, time: float) -> str:
        sql = "SELECT coalesce(min(seq) - 1, (SELECT max(seq) FROM bootleader_events WHERE experiment = ?)) FROM "
        sql += "bootleader_events WHERE experiment = ? AND time >= ?"
        return str(self.rows(sql, (experiment, experiment, time))[0][0] or 0)

    def purge(self) -> int:
        count = super().purge()
        if self.path != MEMORY:
            self.rows("VACUUM")
            self.rows("PRAGMA wal_checkpoint(TRUNCATE)")  # syncs the log and the database
        return count

    def open_decisions(self, experiment: int, arm: int, horizon: str) -> list[tuple[str, float]]:
        sql = f"""
            SELECT d.decision, d.time FROM bootleader_events d
            WHERE d.experiment = ? AND d.seq <= ? AND d.arm = ? AND {OF_BANDIT}
            AND NOT EXISTS (SELECT 1 FROM bootleader_events v WHERE v.experiment = d.experiment
                AND v.decision = d.decision AND v.version = 1 AND v.seq <= ?)
        """
        return self.rows(sql, (experiment, _seq(horizon), arm, _seq(horizon)))

    def problems(self, experiment: int) -> list[str]:
        found = super().problems(experiment)
        fold = self.fold(experiment)
        first = 1 if fold is None else _seq(fold.horizon) + 1
        sql = "SELECT count(*), coalesce(max(seq), 0) FROM bootleader_events WHERE experiment = ? AND seq >= ?"
        ((count, last),) = self.rows(sql, (experiment, first))
        if count and last - first + 1 != count:
            found.append(f"{last - first + 1 - count} of the events {first} to {last} are missing")
        return found + [f"SQLite: {text}" for (text,) in self.rows("PRAGMA integrity_check(10)") if text != "ok"]


def _seq(horizon: str) -> int:
    """The number of the last event of a horizon."""
    try:
        return int(horizon)
    except ValueError:
        raise StoreError(f"the horizon {shown(horizon)} is damaged", "damaged") from None


def _fetched(connection: apsw.Connection, sql: str, args: Sequence[Any]) -> list[Any]:
    """All rows of a query."""
    try:
        return connection.execute(sql, args).fetchall()
    except UnicodeDecodeError:  # a damaged text: as bytes it can be read, and its checksum tells
        columns = [f"c{place}" for place in range(len(connection.execute(sql, args).get_description()))]
        parts = [f"typeof({name}), iif(typeof({name}) = 'text', CAST({name} AS BLOB), {name})" for name in columns]
        sql = f"WITH found ({', '.join(columns)}) AS ({sql}) SELECT {', '.join(parts)} FROM found"
        return [tuple(map(_decoded, row[::2], row[1::2])) for row in connection.execute(sql, args)]


def _decoded(kind: str, value: Any) -> Any:
    return value.decode("utf-8", "replace") if kind == "text" else value
