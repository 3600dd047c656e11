"""What SQLite and PostgreSQL share: the statements. Placeholders are written ``?``."""

from __future__ import annotations

import os
import weakref
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from bootleader._core.text import shown
from bootleader.store._backend import Backend, Fold, Found
from bootleader.store._errors import StoreError
from bootleader.store._events import COLUMNS, CORE, Event
from bootleader.store._schema import VERSION, statements

READ: Final = ", ".join(("seq", *CORE, "detail", "context"))
ALL: Final = ", ".join(("seq", *COLUMNS))
MARKS: Final = ", ".join("?" for _ in COLUMNS)
AT_ONCE: Final = 5_000  # rows of one query
READ_AT_ONCE: Final = 50_000  # events that a replica reads and applies at once

_backends: weakref.WeakSet[SqlBackend] = weakref.WeakSet()


def _after_fork() -> None:
    for backend in list(_backends):
        backend.forget_connections()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_after_fork)

Execute = Callable[[str, Sequence[Any]], list[Any]]


class SqlBackend(Backend):
    """The statements of a store, over two primitives: read rows, and write in one transaction."""

    dialect: dict[str, str]

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        _backends.add(self)

    @abstractmethod
    def forget_connections(self) -> None:
        """In a forked child: leave the parent's connections alone and open new ones."""

    @abstractmethod
    def rows(self, sql: str, args: Sequence[Any] = ()) -> list[Any]:
        """The rows of a query."""

    @abstractmethod
    def write(self, work: Callable[[Execute], Any]) -> Any:
        """Do some work in one durable transaction that excludes other writers of the schema."""

    # Schema --------------------------------------------------------------------------------------------------------

    def migrate(self, execute: Execute) -> None:
        """Create the tables, or bring those of an older version up to date."""
        execute("CREATE TABLE IF NOT EXISTS bootleader_schema (version INTEGER NOT NULL)", ())
        found = execute("SELECT version FROM bootleader_schema", ())
        version = found[0][0] if found else 0
        self.check_version(version)
        for number in range(version + 1, VERSION + 1):
            for statement in statements(number, self.dialect):
                execute(statement, ())
        if not found:
            execute("INSERT INTO bootleader_schema (version) VALUES (?)", (VERSION,))
        elif version < VERSION:
            execute("UPDATE bootleader_schema SET version = ?", (VERSION,))

    @staticmethod
    def check_version(version: int) -> None:
        """Raise if a newer library made the tables."""
        if version > VERSION:
            raise StoreError(
                f"the store has schema version {version} and this library reads up to {VERSION}: update bootleader",
                "version",
            )

    # Experiments ---------------------------------------------------------------------------------------------------

    def create(self, name: str, settings: str, first: Sequence[Event], now: float) -> Found:
        def work(execute: Execute) -> int:
            execute(
                "INSERT INTO bootleader_experiments (name, settings, created) VALUES (?, ?, ?)", (name, settings, now)
            )
            number = int(execute("SELECT id FROM bootleader_experiments WHERE name = ?", (name,))[0][0])
            for event in first:
                execute(self.insertion, self.inserted(number, event))
            return number

        return Found(self.write(work), name, settings, now)

    def find(self, name: str) -> Found | None:
        found = self.rows("SELECT id, name, settings, created FROM bootleader_experiments WHERE name = ?", (name,))
        return Found(*found[0]) if found else None

    def names(self) -> list[str]:
        return [
            name for (name,) in self.rows("SELECT name FROM bootleader_experiments WHERE name IS NOT NULL ORDER BY id")
        ]

    def remove(self, experiment: int, now: float) -> None:
        self.write(
            lambda execute: execute(
                "UPDATE bootleader_experiments SET name = NULL, removed = ? WHERE id = ?", (now, experiment)
            )
        )

    def removed(self, experiment: int) -> StoreError:
        """What to raise when an experiment is gone."""
        return StoreError(f"experiment {experiment} was removed from the store", "removed")

    # Events --------------------------------------------------------------------------------------------------------

    insertion: str

    def inserted(self, experiment: int, event: Event) -> tuple[Any, ...]:
        """The arguments of ``insertion``."""
        return (*event[1:], experiment)

    @property
    def first_insertion(self) -> str:
        """As ``insertion``, if the decision is there."""
        return self.insertion + (
            " AND EXISTS (SELECT 1 FROM bootleader_events d WHERE d.experiment = bootleader_experiments.id "
            "AND d.decision = ? AND d.version = 0)"
        )

    def chain(self, experiment: int, decision: str) -> list[Event]:
        sql = f"SELECT {ALL} FROM bootleader_events WHERE experiment = ? AND decision = ? ORDER BY version"
        return [intact(Event(*row)) for row in self.rows(sql, (experiment, decision))]

    def chains(self, experiment: int, decisions: Sequence[str]) -> dict[str, list[Event]]:
        found: dict[str, list[Event]] = {}
        for start in range(0, len(decisions), AT_ONCE):
            some = decisions[start : start + AT_ONCE]
            marks = ", ".join("?" for _ in some)
            sql = (
                f"SELECT {ALL} FROM bootleader_events WHERE experiment = ? AND decision IN ({marks}) "
                "ORDER BY decision, version"
            )
            for row in self.rows(sql, (experiment, *some)):
                found.setdefault(row[2], []).append(intact(Event(*row)))
        return found

    def by_event(self, experiment: int, event: str) -> Event | None:
        sql = f"SELECT {ALL} FROM bootleader_events WHERE experiment = ? AND event = ?"
        found = self.rows(sql, (experiment, event))
        return intact(Event(*found[0])) if found else None

    def assignment(self, experiment: int, unit: str) -> Event | None:
        sql = (
            f"SELECT {ALL} FROM bootleader_events WHERE experiment = ? AND unit = ? AND assignment IS NOT NULL "
            "ORDER BY assignment DESC LIMIT 1"
        )
        found = self.rows(sql, (experiment, unit))
        return intact(Event(*found[0])) if found else None

    def assignments(self, experiment: int, unit: str) -> list[Event]:
        sql = (
            f"SELECT {ALL} FROM bootleader_events WHERE experiment = ? AND unit = ? AND assignment IS NOT NULL "
            "ORDER BY assignment"
        )
        return [intact(Event(*row)) for row in self.rows(sql, (experiment, unit))]

    def events(self, experiment: int) -> Iterator[Event]:
        last = -1
        while True:
            sql = f"SELECT {ALL} FROM bootleader_events WHERE experiment = ? AND seq > ? ORDER BY seq LIMIT {AT_ONCE}"
            found = self.rows(sql, (experiment, last))
            yield from (Event(*row) for row in found)
            if len(found) < AT_ONCE:
                return
            last = found[-1][0]

    # Snapshots -----------------------------------------------------------------------------------------------------

    def save_snapshot(self, experiment: int, position: int, horizon: str, blob: bytes) -> None:
        sql = (
            "INSERT INTO bootleader_snapshots (experiment, position, horizon, blob) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING"
        )
        self.write(lambda execute: execute(sql, (experiment, position, horizon, blob)))

    def snapshots(self, experiment: int) -> list[tuple[int, str]]:
        sql = "SELECT position, horizon FROM bootleader_snapshots WHERE experiment = ? ORDER BY position DESC"
        return [(int(position), str(horizon)) for position, horizon in self.rows(sql, (experiment,))]

    def snapshot(self, experiment: int, position: int) -> bytes:
        sql = "SELECT blob FROM bootleader_snapshots WHERE experiment = ? AND position = ?"
        found = self.rows(sql, (experiment, position))
        return bytes(found[0][0]) if found else b""

    def delete_snapshots(self, experiment: int) -> int:
        count = len(self.snapshots(experiment))
        self.write(lambda execute: execute("DELETE FROM bootleader_snapshots WHERE experiment = ?", (experiment,)))
        return count

    # Retention -----------------------------------------------------------------------------------------------------

    within: str  # condition on events of a horizon

    @abstractmethod
    def within_args(self, horizon: str) -> tuple[Any, ...]:
        """The arguments of ``within``."""

    def fold(self, experiment: int) -> Fold | None:
        sql = "SELECT horizon, position, blob, ids FROM bootleader_folds WHERE experiment = ?"
        found = self.rows(sql, (experiment,))
        return Fold(found[0][0], int(found[0][1]), bytes(found[0][2]), found[0][3]) if found else None

    def folding(self, experiment: int, horizon: str) -> Iterator[str]:
        sql = f"""
            SELECT decision FROM bootleader_events WHERE experiment = ? AND decision > ?
            GROUP BY decision HAVING max(version) > 0 AND count(assignment) = 0 AND max(kind) <> 6
            AND sum(CASE WHEN {self.within} THEN 1 ELSE 0 END) = count(*) ORDER BY decision LIMIT {AT_ONCE}
        """
        last = ""
        while True:
            found = self.rows(sql, (experiment, last, *self.within_args(horizon)))
            yield from (decision for (decision,) in found)
            if len(found) < AT_ONCE:
                return
            last = found[-1][0]

    def save_fold(self, experiment: int, fold: Fold, decisions: Sequence[str]) -> int:
        def work(execute: Execute) -> int:
            before = _count(execute, experiment)
            execute("DELETE FROM bootleader_folds WHERE experiment = ?", (experiment,))
            execute(
                "INSERT INTO bootleader_folds (experiment, horizon, position, blob, ids) VALUES (?, ?, ?, ?, ?)",
                (experiment, *fold),
            )
            execute(
                "DELETE FROM bootleader_snapshots WHERE experiment = ? AND position < ?", (experiment, fold.position)
            )
            for start in range(0, len(decisions), AT_ONCE):
                some = decisions[start : start + AT_ONCE]
                marks = ", ".join("?" for _ in some)
                # The decision of the last event stays: the next one is numbered after it.
                sql = f"""
                    DELETE FROM bootleader_events WHERE experiment = ? AND decision IN ({marks})
                    AND decision <> (SELECT decision FROM bootleader_events WHERE experiment = ? AND seq =
                        (SELECT max(seq) FROM bootleader_events WHERE experiment = ?))
                    AND decision NOT IN (SELECT decision FROM bootleader_events
                        WHERE experiment = ? AND decision IN ({marks}) AND NOT {self.within})
                """  # what was amended meanwhile stays
                last = (experiment, experiment)
                execute(sql, (experiment, *some, *last, experiment, *some, *self.within_args(fold.horizon)))
            return before - _count(execute, experiment)

        return int(self.write(work))

    def purge(self) -> int:
        def work(execute: Execute) -> int:
            removed = [row[0] for row in execute("SELECT id FROM bootleader_experiments WHERE removed IS NOT NULL", ())]
            count = sum(_count(execute, number) for number in removed)
            for number in removed:
                for table in ("events", "snapshots", "folds"):
                    execute(f"DELETE FROM bootleader_{table} WHERE experiment = ?", (number,))
                execute("DELETE FROM bootleader_experiments WHERE id = ?", (number,))
            return count

        return int(self.write(work))

    def by_events(self, experiment: int, events: Sequence[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for start in range(0, len(events), AT_ONCE):
            some = events[start : start + AT_ONCE]
            marks = ", ".join("?" for _ in some)
            sql = f"SELECT event, decision FROM bootleader_events WHERE experiment = ? AND event IN ({marks})"
            found.update(self.rows(sql, (experiment, *some)))
        return found


def _count(execute: Execute, experiment: int) -> int:
    return int(execute("SELECT count(*) FROM bootleader_events WHERE experiment = ?", (experiment,))[0][0])


def intact(event: Event) -> Event:
    """The event, or ``StoreError`` if it does not match its checksums."""
    if not event.intact:
        raise StoreError(
            f"event {event.seq} of decision {shown(event.decision)} does not match its checksum: it was changed after "
            "it was written",
            "damaged",
        )
    return event
