"""What SQLite and PostgreSQL share: the statements. Placeholders are written ``?``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from bootleader._core.printable_text import shown
from bootleader.store._backend import Fold, Found
from bootleader.store._errors import DuplicateKey, StoreError, removed
from bootleader.store._events import COLUMNS, CORE, EXPERIMENT, Event, Kind, Side
from bootleader.store._forks import ForkedBackend
from bootleader.store._ids import can_be_stored
from bootleader.store._schema import VERSION, statements

READ_NAMES: Final = ("seq", *CORE, "detail", "context")
READ: Final = ", ".join(READ_NAMES)
ALL: Final = ", ".join(("seq", *COLUMNS))
OF_BANDIT: Final = f"d.kind = {Kind.DECISION.value} AND d.side <> {Side.HOLDOUT.value}"  # decisions outside the holdout
AT_ONCE: Final = 5_000  # rows of one query
READ_AT_ONCE: Final = 50_000  # events that a replica reads and applies at once

Execute = Callable[[str, Sequence[Any]], list[Any]]


class SqlBackend(ForkedBackend):
    """The statements of a store, over two primitives: read rows, and write in one transaction."""

    dialect: dict[str, str]

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout

    @abstractmethod
    def rows(self, sql: str, args: Sequence[Any] = (), *, is_short: bool = True) -> list[Any]:
        """The rows of a query. One that is not short reads much of a log, and may take longer than the timeout."""

    @abstractmethod
    def write(self, work: Callable[[Execute], Any]) -> Any:
        """Do some work in one durable transaction that excludes other writers of the schema."""

    # Schema --------------------------------------------------------------------------------------------------------

    table_exists: str  # a query that has a row if there is a table of that name

    def is_current(self, execute: Execute) -> bool:
        """Whether the tables are those of this version: nothing has to be created, or written at all."""
        return self._version(execute) == VERSION

    def _version(self, execute: Execute) -> int:
        if not execute(self.table_exists, ("bootleader_schema",)):
            return 0
        found = execute("SELECT version FROM bootleader_schema", ())
        version = int(found[0][0]) if found else 0
        if version < 1:
            raise StoreError(f"the version of the store's tables is damaged, got {version}: restore it", "damaged")
        self.check_version(version)
        return version

    def migrate(self, execute: Execute) -> None:
        """Create the tables, or bring those of an older version up to date. Other processes must be kept from it."""
        version = self._version(execute)
        if version == 0:
            execute("CREATE TABLE IF NOT EXISTS bootleader_schema (version INTEGER NOT NULL)", ())
            execute("INSERT INTO bootleader_schema (version) VALUES (?)", (VERSION,))
        for number in range(version + 1, VERSION + 1):
            for statement in statements(number, self.dialect):
                execute(statement, ())
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
                if event.kind == Kind.CHANGE:
                    _count_change(execute, number, event)
            return number

        return Found(self.write(work), name, settings, now)

    def find(self, name: str) -> Found | None:
        if not can_be_stored(name):
            return None
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

    def check_there(self, experiment: int) -> None:
        check_there(self.rows, experiment)

    # Events --------------------------------------------------------------------------------------------------------

    insertion: str

    @abstractmethod
    def inserted(self, experiment: int, event: Event) -> tuple[Any, ...]:
        """The arguments of ``insertion``."""

    exclusive_lock = ""  # what keeps others from locking a row that was read, until the transaction ends

    @abstractmethod
    def _insert_to(self, experiment: int, event: Event, changes: int, epoch: int | None) -> bool:
        """Write an event if there are no more changes, and its decision is there; whether that was so."""

    def append_to(self, experiment: int, event: Event, changes: int, epoch: int | None = None) -> bool:
        if self._insert_to(experiment, event, changes, epoch):
            return True
        self.check_there(experiment)
        return False

    def append_change(self, experiment: int, event: Event) -> None:
        def work(execute: Execute) -> None:
            _count_change(execute, experiment, event)  # another change waits here until this one is committed
            check_there(execute, experiment)
            execute(self.insertion, self.inserted(experiment, event))

        self.write(work)

    def chain(self, experiment: int, decision: str) -> list[Event]:
        if not can_be_stored(decision):
            return []
        sql = f"SELECT {ALL} FROM bootleader_events WHERE experiment = ? AND decision = ? ORDER BY version"
        return [intact(Event(*row)) for row in self.rows(sql, (experiment, decision))]

    def chains(self, experiment: int, decisions: Sequence[str]) -> dict[str, list[Event]]:
        found: dict[str, list[Event]] = {}
        decisions = list(filter(can_be_stored, decisions))
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

    def check_epoch(self, epoch: int | None) -> None:
        """Raise ``DuplicateKey`` if this is another epoch. The connection that is to write is open by now."""
        if epoch is not None and epoch != self.epoch:
            raise DuplicateKey

    def save_snapshot(self, experiment: int, position: int, horizon: str, blob: bytes, epoch: int) -> None:
        sql = (
            "INSERT INTO bootleader_snapshots (experiment, position, horizon, blob) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING"
        )

        def work(execute: Execute) -> None:
            self.check_epoch(epoch)
            check_there(execute, experiment)
            execute(sql, (experiment, position, horizon, blob))

        self.write(work)

    def snapshots(self, experiment: int) -> list[tuple[int, str]]:
        sql = "SELECT position, horizon FROM bootleader_snapshots WHERE experiment = ? ORDER BY position DESC"
        return [(int(position), str(horizon)) for position, horizon in self.rows(sql, (experiment,))]

    def snapshot(self, experiment: int, position: int) -> bytes:
        sql = "SELECT blob FROM bootleader_snapshots WHERE experiment = ? AND position = ?"
        found = self.rows(sql, (experiment, position))
        return _bytes(found[0][0]) if found else b""

    # Retention -----------------------------------------------------------------------------------------------------

    within: str  # condition on events of a horizon

    @abstractmethod
    def within_args(self, horizon: str) -> tuple[Any, ...]:
        """The arguments of ``within``."""

    def fold(self, experiment: int) -> Fold | None:
        sql = "SELECT horizon, position, blob, ids FROM bootleader_folds WHERE experiment = ?"
        found = self.rows(sql, (experiment,))
        return Fold(str(found[0][0]), int(found[0][1]), _bytes(found[0][2]), found[0][3]) if found else None

    def fold_position(self, experiment: int) -> int:
        return _fold_position(self.rows, experiment)

    @staticmethod
    def check_fold(execute: Execute, experiment: int, fold: int) -> None:
        """Raise ``DuplicateKey`` if the last fold is not at this position.

        At the end of a transaction that appends rewards: a fold deletes a decision only with its reward, so one that is
        committed later deletes none that has its reward from there, and one that was committed before is seen here.
        """
        if _fold_position(execute, experiment) != fold:
            raise DuplicateKey

    def folding(self, experiment: int, horizon: str) -> Iterator[str]:
        sql = f"""
            SELECT decision FROM bootleader_events WHERE experiment = ? AND decision > ?
            GROUP BY decision HAVING max(version) > 0 AND count(assignment) = 0 AND max(kind) <> {Kind.CHANGE.value}
            AND max(CASE WHEN value IS NULL THEN 0 ELSE version END) = max(version)
            AND sum(CASE WHEN {self.within} THEN 1 ELSE 0 END) = count(*) ORDER BY decision LIMIT {AT_ONCE}
        """
        last = ""
        while True:
            found = self.rows(sql, (experiment, last, *self.within_args(horizon)), is_short=False)
            yield from (decision for (decision,) in found)
            if len(found) < AT_ONCE:
                return
            last = found[-1][0]

    def save_fold(self, experiment: int, fold: Fold, decisions: Sequence[str], earlier: int, epoch: int) -> int:
        def work(execute: Execute) -> int:
            self.check_epoch(epoch)
            check_there(execute, experiment, self.exclusive_lock)
            self.check_fold(execute, experiment, earlier)
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
            for table in ("snapshots", "folds"):  # a process that was late may have written some
                execute(
                    f"DELETE FROM bootleader_{table} WHERE experiment NOT IN (SELECT id FROM bootleader_experiments)",
                    (),
                )
            return count

        return int(self.write(work))

    def problems(self, experiment: int) -> list[str]:
        sql = """
            SELECT changes, (SELECT coalesce(max(version), 0) FROM bootleader_events
                WHERE experiment = ? AND decision = ?) FROM bootleader_experiments WHERE id = ?
        """
        found = self.rows(sql, (experiment, EXPERIMENT, experiment))
        if not found or found[0][0] <= found[0][1]:  # a process of an older version does not count its changes
            return []
        return [f"the number of changes of the experiment is {found[0][0]} and should be {found[0][1]}"]

    def by_events(self, experiment: int, events: Sequence[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for start in range(0, len(events), AT_ONCE):
            some = events[start : start + AT_ONCE]
            marks = ", ".join("?" for _ in some)
            sql = f"SELECT event, decision FROM bootleader_events WHERE experiment = ? AND event IN ({marks})"
            found.update(self.rows(sql, (experiment, *some)))
        return found


def _bytes(value: Any) -> bytes:
    """The bytes of a column, in which a damaged row may hold anything."""
    return value if isinstance(value, bytes) else b""


def check_there(execute: Execute, experiment: int, lock: str = "") -> None:
    if not execute(f"SELECT 1 FROM bootleader_experiments WHERE id = ? AND removed IS NULL{lock}", (experiment,)):
        raise removed()


def _count_change(execute: Execute, experiment: int, event: Event) -> None:
    sql = "UPDATE bootleader_experiments SET changes = ? WHERE id = ? AND removed IS NULL"
    execute(sql, (event.version, experiment))


def _fold_position(execute: Execute, experiment: int) -> int:
    found = execute("SELECT position FROM bootleader_folds WHERE experiment = ?", (experiment,))
    return int(found[0][0]) if found else 0


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
