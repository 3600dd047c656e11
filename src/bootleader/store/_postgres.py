"""A store in PostgreSQL, for processes on many machines. Needs psycopg 3.

A sequence number is given before its transaction commits, so a reader that remembers the largest number it saw would
miss a row that commits later. Here every row has the id of its transaction, and a horizon is a PostgreSQL snapshot:
the first transaction that it does not know (``xmax``) and those before it that had not ended (``xip``). The rows that
are visible in one snapshot and not in an earlier one are those whose transaction is at least the earlier ``xmax`` or
among the earlier ``xip``. No reader waits for a writer, writers commit together, and nothing is read twice or skipped.

Transaction ids start again when a dump is restored in another server. An offset, which is added to all new ids, keeps
them above those in the log.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from bootleader.store._backend import News, Place
from bootleader.store._errors import DuplicateKey, StoreError
from bootleader.store._events import COLUMNS, Event
from bootleader.store._ids import can_be_stored
from bootleader.store._postgres_connections import Connections
from bootleader.store._postgres_horizons import Horizon, last_transaction, next_transaction, ranks
from bootleader.store._postgres_sql import (
    INSERTION,
    INSERTION_TO,
    INSERTION_UNCHANGED,
    WITHIN,
    news_query,
    next_insertion,
)
from bootleader.store._postgres_statements import Statements
from bootleader.store._schema import POSTGRES
from bootleader.store._sql import (
    ALL,
    AT_ONCE,
    OF_BANDIT,
    READ,
    READ_AT_ONCE,
    READ_NAMES,
    Execute,
    SqlBackend,
    check_there,
    intact,
)

if TYPE_CHECKING:
    import psycopg
    from psycopg.pq.abc import PGresult

    from bootleader.store._timed_connection import TimedConnection

T = TypeVar("T")

MOST_SECONDS: Final = 32_767  # of a keepalive, on Linux
MOST_MILLISECONDS: Final = 2**31 - 1  # of a setting of the server
SCHEMA_LOCK: Final = 0x626F6F746C656164  # "bootlead": held while the tables are created or changed
# Refusals that end no sooner by waiting. Where the server speaks another language, the store waits for the timeout.
LASTING: Final = (
    "does not exist",
    "authentication failed",
    "no password supplied",
    "pg_hba.conf",
    "Servname not supported",
)
# Every query reads a few rows by an index. Left to itself, PostgreSQL plans a query with an array of transactions anew
# in each call, which takes four times as long as executing it, and plans to read all of a table while it is small.
PLANS: Final = ("SET plan_cache_mode = force_generic_plan", "SET enable_seqscan = off")
# Every statement sees what was committed before it, whatever the server's default is.
ISOLATION: Final = "SET default_transaction_isolation = 'read committed'"


class PostgresBackend(SqlBackend):
    """A PostgreSQL database."""

    start = "0:0:"
    dialect = POSTGRES
    exclusive_lock = " FOR UPDATE"
    table_exists = "SELECT 1 WHERE to_regclass(?) IS NOT NULL"
    insertion = INSERTION

    def __init__(self, url: str, timeout: float) -> None:
        try:
            import psycopg
        except ImportError:
            raise StoreError(
                "PostgreSQL needs the package psycopg: pip install 'bootleader[postgres]'", "unavailable"
            ) from None
        try:
            psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.ProgrammingError as error:
            message = str(error).strip()
            raise ValueError(f"url must be like postgresql://user:password@host/database: {message}") from None
        from bootleader.store._timed_connection import TimedConnection

        super().__init__(timeout)
        self._psycopg, self._url, self._kind_of_connection = psycopg, url, TimedConnection
        self._connections = Connections(timeout)
        self._offset = 0
        self.register()
        self._with_statements(lambda statements: None)

    # Connections ---------------------------------------------------------------------------------------------------

    def _connect(self) -> TimedConnection:
        wait = min(max(1, round(self.timeout)), MOST_SECONDS)
        given = self._psycopg.conninfo.conninfo_to_dict(self._url)
        # What tells that a server is gone while a long statement is waited for.
        limits: dict[str, Any] = {"keepalives_idle": wait, "keepalives_interval": wait, "tcp_user_timeout": 1000 * wait}
        try:
            connection = self._kind_of_connection.connect(
                self._url, autocommit=True, prepare_threshold=2, connect_timeout=wait, application_name="bootleader",
                client_encoding="utf8", **{name: value for name, value in limits.items() if name not in given},
            )  # fmt: skip
        except self._psycopg.OperationalError as error:
            if any(text in str(error) for text in LASTING):
                message = (
                    f"PostgreSQL refuses the connection: {error}. Check user, password, host and database in the URL"
                )
                raise StoreError(message, "unavailable") from None
            raise
        connection.deadline = time.monotonic() + self.timeout
        try:
            connection.execute(f"SET lock_timeout = {min(round(self.timeout * 1000), MOST_MILLISECONDS)}")
            for setting in (*PLANS, ISOLATION):
                connection.execute(setting)
            if connection.execute("SHOW synchronous_commit").fetchone() in (("off",), ("local",)):
                connection.execute("SET synchronous_commit = on")  # a decision is durable before it is answered
            connection.deadline = math.inf
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect_anew(self) -> TimedConnection:
        """A further connection. The server may have crashed since the last one was opened.

        It then gives ids of transactions again that have left no trace on its disk. A horizon that no row has may know
        them as ended without events, and would hide the events that they have now.
        """
        connection = self._connect()
        self.epoch += 1
        return connection

    def _prepare(self, connection: psycopg.Connection[Any]) -> None:
        """Create or update the tables, and find the offset of the transaction ids.

        For every new connection: the server may be another one by now, in which a dump was restored.
        """
        execute = _executing(connection)
        offset = self._known_offset(execute) if self.is_current(execute) else None
        if offset is None:  # seldom: a role without the right to create tables can use those that are there
            # Locked before the transaction begins: one that is under way does not learn of tables that others made.
            execute("SELECT pg_advisory_lock(?)", (SCHEMA_LOCK,))
            with connection.transaction():
                self.migrate(execute)
                offset = self._known_offset(execute)
                if offset is None:
                    offset = self._new_offset(execute)
            execute("SELECT pg_advisory_unlock(?)", (SCHEMA_LOCK,))  # a connection that fails is closed, and unlocks
        self._offset = offset

    def _known_offset(self, execute: Execute) -> int | None:
        """The offset; None in a new store, and after a dump was restored: it has to be found anew."""
        if not execute(self.table_exists, ("bootleader_transactions",)):
            return None
        found = execute("SELECT added FROM bootleader_transactions", ())
        is_valid = found and last_transaction(execute) < next_transaction(execute, int(found[0][0]))
        return int(found[0][0]) if is_valid else None

    def _new_offset(self, execute: Execute) -> int:
        if not execute(self.table_exists, ("bootleader_transactions",)):  # which not every role may create
            execute("CREATE TABLE bootleader_transactions (added BIGINT NOT NULL)", ())
        execute("DELETE FROM bootleader_transactions", ())
        last, following = last_transaction(execute), next_transaction(execute, 0)
        offset = 0 if last < following else last - following + 2**20
        execute("INSERT INTO bootleader_transactions (added) VALUES (?)", (offset,))
        return offset

    def _with_statements(self, work: Callable[[Statements], T], *, is_short: bool = True) -> T:
        """Do some work on a connection; connect again while the server is away, until the timeout.

        Work that is not short may take longer, as long as the server is reached.
        """
        errors = self._psycopg.errors
        deadline, wait, is_repeated = time.monotonic() + self.timeout, 0.02, False
        while True:
            try:
                statements = self._connections.borrow(self._connect_anew)
                try:
                    statements.connection.deadline = deadline if is_short else math.inf
                    done = work(statements)
                except BaseException:
                    self._connections.give_back_after_error(statements)
                    raise
                self._connections.give_back(statements)
                return done
            except errors.UniqueViolation:
                raise DuplicateKey(is_repeated) from None
            except (errors.LockNotAvailable, errors.DiskFull, errors.ProgramLimitExceeded) as error:
                raise StoreError(f"PostgreSQL cannot do it: {error}", "unavailable") from None
            except (errors.OperationalError, errors.InterfaceError) as error:  # stopped, starting, cut off, deadlock
                if time.monotonic() + wait > deadline:
                    raise StoreError(
                        f"PostgreSQL does not answer for {self.timeout:g} seconds: {error}", "unavailable"
                    ) from None
            except errors.Error as error:
                raise StoreError(f"PostgreSQL refuses: {error}", "unavailable") from None
            time.sleep(wait)
            wait, is_repeated = min(2.0 * wait, 0.5), True

    def forget_connections(self) -> None:
        self._connections.forget()

    def close(self) -> None:
        self._connections.close()

    # Primitives ----------------------------------------------------------------------------------------------------

    def rows(self, sql: str, args: Sequence[Any] = (), *, is_short: bool = True) -> list[Any]:
        return self._with_statements(lambda statements: _executing(statements.connection)(sql, args), is_short=is_short)

    def write(self, work: Callable[[Execute], Any]) -> Any:
        def transaction(statements: Statements) -> Any:
            with statements.connection.transaction():
                return work(_executing(statements.connection))

        return self._with_statements(transaction, is_short=False)

    def make_durable(self) -> None:
        """Nothing to do: what can be read is durable, since the sessions of a store commit synchronously."""

    def inserted(self, experiment: int, event: Event) -> tuple[Any, ...]:
        return (self._offset, *event[1:], experiment)

    def append_many(self, experiment: int, events: Sequence[Event], fold: int) -> None:
        def insert(statements: Statements) -> None:
            connection = statements.connection
            with connection.transaction():
                execute = _executing(connection)
                check_there(execute, experiment, " FOR KEY SHARE")
                txn = execute("SELECT pg_current_xact_id()::text::bigint + ?::bigint", (self._offset,))[0][0]
                columns = ", ".join(COLUMNS)
                with (
                    connection.cursor() as cursor,
                    cursor.copy(f"COPY bootleader_events (experiment, txn, {columns}) FROM STDIN") as copy,
                ):
                    for event in events:
                        copy.write_row((experiment, txn, *event[1:]))
                self.check_fold(execute, experiment, fold)

        self._with_statements(insert, is_short=False)

    def _insert_to(self, experiment: int, event: Event, changes: int, epoch: int | None) -> bool:
        sql = INSERTION_TO if event.version else INSERTION_UNCHANGED
        beside = (changes, event.decision) if event.version else (changes,)
        return self._insert(sql, experiment, event, beside, epoch).command_tuples == 1

    def _insert(
        self, sql: str, experiment: int, event: Event, beside: Sequence[Any], epoch: int | None
    ) -> PGresult:  # fmt: skip
        """Execute the insertion of an event that was made in an epoch; it may write nothing.

        Not again, if the connection is lost: the first attempt may have written the event, and the next one may have to
        be made anew.
        """
        attempts = itertools.count()

        def insert(statements: Statements) -> PGresult:
            if next(attempts):
                raise DuplicateKey(may_be_own=True)
            self.check_epoch(epoch)
            return statements.execute(sql, (*self.inserted(experiment, event), *beside))

        return self._with_statements(insert)

    def append_next(self, experiment: int, event: Event, after: Place) -> str | None:
        known, to_decision = Horizon.of(after.horizon), event.version > 0
        sql = next_insertion(bool(known.xip), to_decision)
        beside: list[Any] = [known.xmax, after.fold]
        if known.xip:
            beside.append(known.xip)
        if to_decision:
            beside.append(event.decision)
        written = self._insert(sql, experiment, event, beside, after.epoch)
        if not written.ntuples:
            return None
        own = int.from_bytes(written.get_value(0, 0) or b"", "big", signed=True)
        present = Horizon.of((written.get_value(0, 1) or b"").decode(), self._offset)
        return str(present.with_transaction(own))  # nothing else of the experiment is in it that was not known

    # Horizons ------------------------------------------------------------------------------------------------------

    def news(self, experiment: int, after: str, upto: str | None = None) -> News:
        known = Horizon.of(after)
        last = None if upto is None else Horizon.of(upto)
        limits: list[Any] = [] if last is None else [last.xmax, last.xip]
        args = [experiment, known.xmax, *limits]
        if known.xip:
            args += [known.xip, experiment, *limits]
        sql = news_query(bool(known.xip), last is not None, READ_AT_ONCE)
        found = self._with_statements(lambda statements: statements.query(sql, [*args, experiment]))
        beside = found.pop()
        fold = beside[READ_NAMES.index("seq")] or 0
        if last is None:
            last = Horizon.of(beside[READ_NAMES.index("detail")], self._offset)
        if len(found) < READ_AT_ONCE:
            return News(found, str(last), False, fold)
        following = self._complete(experiment, found)
        newer = self.fold_position(experiment)
        if following is None or newer != fold:  # some of the rest is gone: nothing was read, but that there is a fold
            self.check_there(experiment)
            return News([], after, True, newer)
        return News(found, str(known.up_to(last, following)), True, fold)

    def _complete(self, experiment: int, found: list[Any]) -> int | None:
        """Read the rest of the last event's transaction; the first transaction that is not in the events then.

        None if the last event is gone.
        """
        *_, last = found
        sql = "SELECT txn FROM bootleader_events WHERE experiment = ? AND decision = ? AND version = ?"
        transactions = self.rows(sql, (experiment, last[2], last[3]))
        if not transactions:
            return None
        ((txn,),) = transactions
        sql = f"SELECT {READ} FROM bootleader_events WHERE experiment = ? AND txn = ? AND seq > ? ORDER BY seq"
        found += self.rows(sql, (experiment, txn, last[0]))
        return int(txn) + 1

    def contains(self, horizon: str, other: str) -> bool:
        try:
            return Horizon.of(horizon).contains(Horizon.of(other))
        except StoreError:
            return False

    def order(self, experiment: int, horizons: Iterable[str]) -> dict[str, int]:
        return ranks(self.rows, experiment, horizons)

    within = WITHIN

    def within_args(self, horizon: str) -> tuple[Any, ...]:
        last = Horizon.of(horizon)
        return last.xmax, last.xip

    def horizon_before(self, experiment: int, time: float) -> str:
        sql = "SELECT min(txn), pg_current_snapshot()::text FROM bootleader_events WHERE experiment = ? AND time >= ?"
        first, text = self.rows(sql, (experiment, time), is_short=False)[0]
        present = Horizon.of(text, self._offset)
        ended = min(present.xip, default=present.xmax)
        return str(Horizon(ended if first is None else min(int(first), ended), []))

    def open_decisions(self, experiment: int, arm: int, horizon: str) -> list[tuple[str, float]]:
        last = Horizon.of(horizon)
        sql = f"""
            SELECT d.decision, d.time FROM bootleader_events d
            WHERE d.experiment = ? AND {WITHIN} AND d.arm = ? AND {OF_BANDIT}
            AND NOT EXISTS (SELECT 1 FROM bootleader_events v WHERE v.experiment = d.experiment
                AND v.decision = d.decision AND v.version = 1 AND {WITHIN.replace("txn", "v.txn")})
        """
        return self.rows(sql, (experiment, last.xmax, last.xip, arm, last.xmax, last.xip), is_short=False)

    def by_events(self, experiment: int, events: Sequence[str]) -> dict[str, str]:
        sql = "SELECT event, decision FROM bootleader_events WHERE experiment = ? AND event = ANY(?::text[])"
        return dict(self.rows(sql, (experiment, list(events))))

    # What PostgreSQL does in another way ---------------------------------------------------------------------------

    def chains(self, experiment: int, decisions: Sequence[str]) -> dict[str, list[Event]]:
        sql = (
            f"SELECT {ALL} FROM bootleader_events WHERE experiment = ? AND decision = ANY(?::text[]) "
            "ORDER BY decision, version"
        )
        found: dict[str, list[Event]] = {}
        for row in self.rows(sql, (experiment, list(filter(can_be_stored, decisions)))):
            found.setdefault(row[2], []).append(intact(Event(*row)))
        return found

    def events(self, experiment: int) -> Iterator[Event]:
        """All events, by a cursor on the server: their order is not that of an index."""
        sql: Any = _marks(f"SELECT {ALL} FROM bootleader_events WHERE experiment = ? ORDER BY seq")
        connection = self._with_statements(lambda _: self._connect())
        try:
            with connection.transaction(), connection.cursor("bootleader_log", binary=True) as cursor:
                cursor.itersize = AT_ONCE
                yield from (Event(*row) for row in cursor.execute(sql, (experiment,)))
        except self._psycopg.Error as error:
            raise StoreError(f"PostgreSQL stopped while the log was read: {error}", "unavailable") from None
        finally:
            connection.close()


def _marks(sql: str) -> str:
    return sql.replace("?", "%s")


def _executing(connection: psycopg.Connection[Any]) -> Execute:
    def execute(sql: str, args: Sequence[Any]) -> list[Any]:
        text: Any = _marks(sql)
        cursor = connection.execute(text, args or None, binary=True)
        found = cursor.pgresult
        return cursor.fetchall() if found is not None and found.nfields else []

    return execute
