"""The connections of a process to a PostgreSQL server: opened as threads need them, up to a limit, and kept."""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from bootleader.store._errors import StoreError
from bootleader.store._postgres_statements import Statements

if TYPE_CHECKING:
    import psycopg

CONNECTIONS: Final = 8  # of a process at a time: a server has a hundred by default, for all processes together
_inherited: list[Any] = []  # connections of a parent process: never used and never closed here


class Connections:
    """Places for connections. A free place holds an idle connection, or None where one may be opened.

    The connection that was given back last is taken first. Operations of a list are atomic, so there is a lock only for
    threads that have to wait.
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._free: list[Statements | None] = [None] * CONNECTIONS
        self._returned, self._waiting = threading.Condition(), 0
        weakref.finalize(self, _close_all, self._free)

    def borrow(self, connect: Callable[[], psycopg.Connection[Any]]) -> Statements:
        """A connection for one call, an idle one or a new one; give it back."""
        try:
            found = self._free.pop()
        except IndexError:
            found = self._wait_for_place()
        if found is not None and not found.connection.closed:
            return found
        try:
            return Statements(connect())
        except BaseException:
            self.give_back(None)
            raise

    def _wait_for_place(self) -> Statements | None:
        deadline = time.monotonic() + self._timeout
        with self._returned:
            self._waiting += 1
            try:
                while True:
                    with contextlib.suppress(IndexError):
                        return self._free.pop()
                    if not self._returned.wait(deadline - time.monotonic()):
                        raise StoreError(
                            f"all {CONNECTIONS} connections were in use for {self._timeout:g} seconds", "unavailable"
                        )
            finally:
                self._waiting -= 1

    def give_back(self, statements: Statements | None) -> None:
        """Free a place; its connection is used again, if there is one."""
        self._free.append(statements)
        if self._waiting:
            with self._returned:
                self._returned.notify()

    def give_back_after_error(self, statements: Statements) -> None:
        """The same, after an exception: a call may have been interrupted, or the connection cut off."""
        is_usable = statements.is_idle
        if not is_usable:
            statements.connection.close()
        self.give_back(statements if is_usable else None)

    def forget(self) -> None:
        """In a forked child: leave the parent's connections alone."""
        self._returned, self._waiting = threading.Condition(), 0
        _inherited.extend(self._free)
        self._free[:] = [None] * CONNECTIONS

    def close(self) -> None:
        """Close the idle connections."""
        _close_all(self._free)


def _close_all(free: list[Statements | None]) -> None:
    for place, statements in enumerate(free):
        if statements is not None:
            free[place] = None
            statements.connection.close()
