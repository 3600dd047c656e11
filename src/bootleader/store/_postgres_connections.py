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
    from bootleader.store._timed_connection import TimedConnection

CONNECTIONS: Final = 8  # of a process at a time: a server has a hundred by default, for all processes together
LOOK_AGAIN: Final = 0.1  # seconds after which a thread that waits for a place looks for one
_inherited: list[Any] = []  # connections of a parent process: never used and never closed here


class _Place:
    """One of the connections that a process may have. It is free as soon as nothing refers to it."""


class Connections:
    """Idle connections, and places for more.

    The connection that was given back last is taken first. Operations of a list are atomic, so there is a lock only for
    threads that open a connection or have to wait. An exception of a signal handler may come at any moment: a
    connection that is lost by it is closed when it is deleted, and its place is free again.
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._idle: list[Statements] = []
        self._places: weakref.WeakSet[_Place] = weakref.WeakSet()
        self._make_lock()
        weakref.finalize(self, _close_all, self._idle)

    def _make_lock(self) -> None:
        # Held by ``with self._lock``, which an exception of a signal handler cannot divide. It can come between the
        # two steps of ``with self._returned``, in Python code, and the lock would stay locked.
        self._lock = threading.Lock()
        self._returned, self._waiting = threading.Condition(self._lock), 0

    def borrow(self, connect: Callable[[], TimedConnection]) -> Statements:
        """A connection for one call, an idle one or a new one; give it back."""
        while True:
            try:
                found = self._idle.pop()
            except IndexError:
                found = None
            if found is None:
                place = self._wait_for_place()
                if place is not None:
                    return self._connected(connect, place)
            elif not found.connection.closed:
                return found

    def _connected(self, connect: Callable[[], TimedConnection], place: _Place) -> Statements:
        """A new connection at a place."""
        try:
            return Statements(connect(), place)
        except BaseException:  # its traceback refers to the place, for as long as something keeps the exception
            self._places.discard(place)
            raise

    def _wait_for_place(self) -> _Place | None:
        """A place for a connection; None if one has been given back."""
        deadline = time.monotonic() + self._timeout
        with self._lock:
            self._waiting += 1
            try:
                while not self._idle:
                    if len(self._places) < CONNECTIONS:
                        place = _Place()
                        self._places.add(place)
                        return place
                    if time.monotonic() > deadline:
                        raise StoreError(
                            f"all {CONNECTIONS} connections were in use for {self._timeout:g} seconds", "unavailable"
                        )
                    self._returned.wait(LOOK_AGAIN)
                return None
            finally:
                self._waiting -= 1

    def give_back(self, statements: Statements) -> None:
        """Let others use a connection."""
        self._idle.append(statements)
        if self._waiting:
            with self._lock:
                self._returned.notify()

    def give_back_after_error(self, statements: Statements) -> None:
        """The same, after an exception: a call may have been interrupted, or the connection cut off."""
        if statements.is_idle:
            self.give_back(statements)
        else:
            statements.connection.close()

    def forget(self) -> None:
        """In a forked child: leave the parent's connections alone."""
        self._make_lock()
        _inherited.extend(self._idle)
        self._idle.clear()
        self._places = weakref.WeakSet()

    def close(self) -> None:
        """Close the idle connections."""
        _close_all(self._idle)


def _close_all(idle: list[Statements]) -> None:
    with contextlib.suppress(IndexError):
        while True:
            idle.pop().connection.close()
