"""Statements that a store executes for every decision and reward, prepared once for each connection.

For a statement on one row, a cursor of psycopg takes longer than the server. These go to libpq directly, by psycopg's
own calls: it still waits for the answer, so that Ctrl-C works, makes the exceptions, and reads the rows.
"""

from __future__ import annotations

import contextlib
import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import psycopg
    from psycopg.pq.abc import PGresult

BINARY: Final = 1  # format of the results: floats keep their bits whatever the server's settings are

_numbers = itertools.count()


class _Prepared:
    """A statement that is prepared on a connection, and what reads its rows."""

    def __init__(self) -> None:
        self.name = b"bootleader_%d" % next(_numbers)
        self.reader: Any = None


_prepared: weakref.WeakKeyDictionary[psycopg.Connection[Any], dict[str, _Prepared]] = weakref.WeakKeyDictionary()


def execute(
    connection: psycopg.Connection[Any], sql: str, args: Sequence[Any], meanwhile: Callable[[], None] | None = None
) -> PGresult:
    """Execute a statement with placeholders ``?``; the result, or an exception of psycopg.

    ``meanwhile`` is called while the server is at work. What it raises does not matter.
    """
    from psycopg import errors

    try:
        return _executed(connection, sql, args, meanwhile)
    except errors.InvalidSqlStatementName:  # psycopg forgets all prepared statements after a rollback
        _prepared.pop(connection, None)
        return _executed(connection, sql, args)


def _executed(
    connection: psycopg.Connection[Any], sql: str, args: Sequence[Any], meanwhile: Callable[[], None] | None = None
) -> PGresult:
    prepared = _prepared_on(connection, sql)
    connection.pgconn.send_query_prepared(prepared.name, [_as_text(arg) for arg in args], result_format=BINARY)
    if meanwhile is not None:
        with contextlib.suppress(Exception):
            meanwhile()
    return _answer(connection)


def _prepared_on(connection: psycopg.Connection[Any], sql: str) -> _Prepared:
    known = _prepared.get(connection)
    if known is None:
        known = _prepared[connection] = {}
    prepared = known.get(sql)
    if prepared is None:
        prepared = _Prepared()
        connection.pgconn.send_prepare(prepared.name, _numbered(sql).encode())
        _answer(connection)
        known[sql] = prepared
    return prepared


def query(connection: psycopg.Connection[Any], sql: str, args: Sequence[Any]) -> list[Any]:
    """Execute a query; its rows, as tuples."""
    from psycopg.adapt import Transformer

    result = execute(connection, sql, args)
    prepared = _prepared_on(connection, sql)
    reader = prepared.reader
    if reader is None:
        reader = Transformer()
        reader.set_pgresult(result, set_loaders=True, format=BINARY)  # type: ignore[arg-type]
        prepared.reader = reader
    else:  # the columns have the same types as before
        reader.set_pgresult(result, set_loaders=False)
    return reader.load_rows(0, result.ntuples, tuple)  # type: ignore[no-any-return]


def _answer(connection: psycopg.Connection[Any]) -> PGresult:
    from psycopg import errors, generators, pq

    result: PGresult = connection.wait(generators.execute(connection.pgconn))[-1]
    if result.status not in (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK):
        raise errors.error_from_result(result, encoding="utf-8")
    return result


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


def _as_text(value: Any) -> bytes | None:
    """A parameter as PostgreSQL reads it. The text of a float has all of its bits.

    Examples
    --------
    >>> _as_text(0.1), _as_text([3, 5]), _as_text(None)
    (b'0.1', b'{3,5}', None)
    """
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, list):
        return ("{" + ",".join(map(str, value)) + "}").encode()
    return repr(float(value)).encode() if isinstance(value, float) else b"%d" % value
