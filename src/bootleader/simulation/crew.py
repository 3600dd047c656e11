"""The threads that play one simulation: they stop when told to, and the first to be free take over half a block.

A thread deep in compiled code hears of the others through its *bell*, one number in an array that its kernel looks at
every round. Nothing but speed depends on who plays what: a block may be cut between any two rounds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

Bell = npt.NDArray[np.int64]
SILENT: Bell = np.zeros(1, np.int64)  # for who need not be reached


class Stopped(Exception):  # noqa: N818  (nothing went wrong: the caller asked for it)
    """A block was told to stop before its end."""


class Crew:
    """Whoever plays the blocks of one simulation; without a pool, one thread alone.

    Parameters
    ----------
    pool : Executor, optional
        The threads.
    width : int
        How many they are.
    tasks : int
        How many tasks they will be given.
    """

    def __init__(self, pool: Executor | None = None, width: int = 0, tasks: int = 0) -> None:
        self.stopping = False
        self._pool = pool
        self._waiting = tasks  # that no thread has begun
        self._idle = max(0, width - tasks)  # threads with nothing to do, of which no block knows
        self._at_play: list[Bell] = []
        self._to_cut: list[Bell] = []  # those whose blocks can be cut, the youngest last: it has most left to do
        self._lock = threading.RLock()

    @contextmanager
    def task(self) -> Iterator[None]:
        """Begin a task; with no other left to begin, its thread is free at the end."""
        with self._lock:
            self._waiting -= 1
        yield
        if self._pool is not None and self._waiting <= 0:
            self.free()

    def listen(self, cuttable: bool = False) -> Bell:
        """A bell for a block that is about to be played."""
        bell = np.zeros(1, np.int64)
        with self._lock:
            self._at_play.append(bell)
            if self.stopping:
                _ring(bell)
            if cuttable:
                self._to_cut.append(bell)
                self._offer()
        return bell

    def leave(self, bell: Bell) -> bool:
        """Stop listening; whether a free thread was offered in the meantime, who is now the listener's."""
        with self._lock:
            if self.stopping:
                raise Stopped
            _remove(self._at_play, bell)
            if _remove(self._to_cut, bell):
                return False
            return bool(bell[0])

    def free(self) -> None:
        """One more thread has nothing to do."""
        with self._lock:
            self._idle += 1
            self._offer()

    def hand_over(self, work: Callable[..., Any], *args: Any) -> Callable[[], Any]:
        """Give work to the free thread; returns what waits for the result, or does the work if nobody has begun it."""
        assert self._pool is not None

        def help_out() -> Any:
            result = work(*args)
            self.free()
            return result

        future = self._pool.submit(help_out)
        return lambda: work(*args) if future.cancel() else future.result()

    def stop(self) -> None:
        """Tell everyone to stop, now."""
        with self._lock:
            self.stopping = True
            for bell in self._at_play:
                _ring(bell)

    def _offer(self) -> None:
        while self._idle > 0 and self._to_cut:
            self._idle -= 1
            _ring(self._to_cut.pop())


def _ring(bell: Bell) -> None:
    bell[0] = 1


def _remove(bells: list[Bell], bell: Bell) -> bool:
    """Take this very bell off a list, if it is there."""
    for place, other in enumerate(bells):
        if other is bell:
            del bells[place]
            return True
    return False
