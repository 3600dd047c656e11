"""Statements that a store executes for every decision and reward, prepared once for each connection.

For a statement on one row, a cursor of psycopg takes longer than the server. These go to libpq directly, by psycopg's
own calls: it still makes the exceptions and reads the rows. The wait for an answer ends with Ctrl-C, or at the
connection's deadline.
"""

from __future__ import annotations

import itertools
import os
import select
import time
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from psycopg.pq.abc import PGresult

    from bootleader.store._timed_connection import TimedConnection

WAIT_MILLISECONDS: Final = 100  # after which the deadline is looked at
BINARY: Final = 1  # format of the results: floats keep their bits whatever the server's settings are

_numbers = itertools.count()


class _Prepared:
    """A statement that is prepared on a connection, and what reads its rows."""

    def __init__(self) -> None:
        self.name = b"bootleader_%d" % next(_numbers)
        self.reader: Any = None


class Statements:
    """A connection, and the statements that are prepared on it. It keeps its place, and is closed with it."""

    def __init__(self, connection: TimedConnection, place: object = None) -> None:
        from psycopg import errors, pq

        self.connection, self._place = connection, place
        weakref.finalize(self, _close_own, connection, os.getpid()).atexit = False
        self._errors, self._wait = errors, _waiter(connection.pgconn.socket)
        self._done, self._idle = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK), pq.TransactionStatus.IDLE
        self._prepared: dict[str, _Prepared] = {}

    @property
    def is_idle(self) -> bool:
        """Whether the connection waits for a statement, outside of any transaction."""
        # An exception between two steps of psycopg's can leave its own count of transactions wrong.
        is_counted_right = not getattr(self.connection, "_num_transactions", 0)
        return bool(self.connection.pgconn.transaction_status == self._idle) and is_counted_right

    def execute(self, sql: str, args: Sequence[Any]) -> PGresult:
        """Execute a statement with placeholders ``?``; the result, or an exception of psycopg."""
        try:
            return self._executed(sql, args)
        except self._errors.InvalidSqlStatementName:  # psycopg forgets all prepared statements after a rollback
            self._prepared.clear()
            return self._executed(sql, args)

    def query(self, sql: str, args: Sequence[Any]) -> list[Any]:
        """Execute a query; its rows, as tuples."""
        from psycopg.adapt import Transformer

        result = self.execute(sql, args)
        prepared = self._prepared[sql]
        reader = prepared.reader
        if reader is None:
            reader = Transformer()
            reader.set_pgresult(result, set_loaders=True, format=BINARY)  # type: ignore[arg-type]
            prepared.reader = reader
        else:  # the columns have the same types as before
            reader.set_pgresult(result, set_loaders=False)
        return reader.load_rows(0, result.ntuples, tuple)  # type: ignore[no-any-return]

    def _executed(self, sql: str, args: Sequence[Any]) -> PGresult:
        prepared = self._prepared.get(sql) or self._prepare(sql)
        texts = [None if arg is None else _TEXT_OF[arg.__class__](arg) for arg in args]
        self.connection.pgconn.send_query_prepared(prepared.name, texts, result_format=BINARY)
        return self._answer()

    def _prepare(self, sql: str) -> _Prepared:
        prepared = _Prepared()
        self.connection.pgconn.send_prepare(prepared.name, _numbered(sql).encode())
        self._answer()
        self._prepared[sql] = prepared
        return prepared

    def _answer(self) -> PGresult:
        pgconn, wait = self.connection.pgconn, self._wait
        while pgconn.is_busy():
            if not wait(WAIT_MILLISECONDS) and time.monotonic() > self.connection.deadline:
                raise self._errors.OperationalError("the server does not answer")
            pgconn.consume_input()
        result = pgconn.get_result()
        while (more := pgconn.get_result()) is not None:  # the last one is None
            # Where the server ends the session, its own error comes first, and then one without a code.
            if result is None or result.status in self._done:
                result = more
        assert result is not None
        if result.status not in self._done:
            error = self._errors.error_from_result(result, encoding="utf-8")
            raise self._errors.OperationalError(str(error)) if self.connection.closed else error
        return result


def _waiter(descriptor: int) -> Callable[[int], Any]:
    """What waits some milliseconds until a socket can be read; the answer is false if it cannot."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return poll.poll
    return lambda milliseconds: select.select([descriptor], [], [], 0.001 * milliseconds)[0]  # Windows


def _close_own(connection: TimedConnection, process: int) -> None:
    """Close a connection, unless it is that of a parent process."""
    if os.getpid() == process:
        connection.close()


@cache
def _numbered(sql: str) -> str:
    """The placeholders as PostgreSQL writes them: $1, $2, ...

    Examples
    --------
    >>> _numbered("a = ? AND b = ?")
    'a = $1 AND b = $2'
    """
    first, *others = sql.split("?")
    numbers = itertools.count(1)
    return first + "".join(f"${next(numbers)}{other}" for other in others)


class _Texts(dict[type, Callable[[Any], bytes | None]]):
    """By type: a parameter as PostgreSQL reads it. The text of a float has all of its bits.

    Examples
    --------
    >>> [_TEXT_OF[value.__class__](value) for value in (0.1, [3, 5], None, 7, "a", True)]
    [b'0.1', b'{3,5}', None, b'7', b'a', b'1']
    """

    def __missing__(self, kind: type) -> Callable[[Any], bytes | None]:
        found = next(self[known] for known in (str, int, float) if issubclass(kind, known))
        self[kind] = found
        return found


_TEXT_OF: Final = _Texts(
    {
        NoneType: lambda _: None,
        str: str.encode,
        int: b"%d".__mod__,
        float: lambda value: float.__repr__(value).encode(),
        list: lambda values: ("{" + ",".join(map(str, values)) + "}").encode(),
    }
)
