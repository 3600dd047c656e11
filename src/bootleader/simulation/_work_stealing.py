"""The threads that play one simulation: they stop when told to, and who has nothing to do takes over half a block.

A thread deep in compiled code hears of the others through its *bell*, one number in an array that its kernel looks at
every round. Nothing but speed depends on who plays what: a block may be cut between any two rounds.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
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
        How many of them can work at once.
    tasks : int
        How many tasks they will be given.
    """

    def __init__(self, pool: Executor | None = None, width: int = 0, tasks: int = 0) -> None:
        self.stopping = False
        self._pool = pool
        self._width = width
        self._waiting = tasks  # tasks that no thread has begun
        self._working = 0  # threads at work, those left out that wait for a half of theirs
        self._promised = 0  # threads that were offered to a block and are not at work there yet
        self._at_play: list[Bell] = []
        self._to_cut: list[tuple[float, Bell]] = []  # blocks that can be cut, and how much they have left to do
        self._halves: deque[Half] = deque()  # handed over, and not begun
        self._changed = threading.Condition(threading.RLock())

    @contextmanager
    def task(self) -> Iterator[None]:
        """Begin a task, and be free at its end."""
        with self._changed:
            self._waiting -= 1
        with self._at_work():
            yield

    def listen(self, left: float = 0.0) -> Bell:
        """A bell for who is about to play; with something ``left`` to give away it may ring for that."""
        bell = np.zeros(1, np.int64)
        with self._changed:
            self._at_play.append(bell)
            if self.stopping:
                _ring(bell)
            if left > 0.0:
                self._to_cut.append((left, bell))
                self._offer()
        return bell

    def leave(self, bell: Bell) -> bool:
        """Stop listening; whether a free thread was promised in the meantime: hand something over, or decline."""
        with self._changed:
            if self.stopping:
                raise Stopped
            self._at_play = [other for other in self._at_play if other is not bell]
            self._to_cut = [(left, other) for left, other in self._to_cut if other is not bell]
            return bool(bell[0])

    def decline(self) -> None:
        """Let the thread that was promised go to another block."""
        with self._changed:
            self._promised -= 1
            self._offer()

    def hand_over(self, work: Callable[..., Any], *args: Any) -> Half:
        """Give work to the thread that was promised."""
        half = Half(work, args)
        with self._changed:
            self._halves.append(half)
            self._changed.notify_all()
        if self._pool is not None:
            with suppress(RuntimeError):  # the pool takes no more work: then the half is played by who waits for it
                self._pool.submit(self._play_a_half)
        return half

    def result_of(self, half: Half) -> Any:
        """Wait for a half, and play what there is to play in the meantime: this one, if nobody has begun it."""
        with self._changed:
            self._working -= 1
            self._offer()
        try:
            while not half.done():
                if not self._play_a_half():
                    with self._changed:
                        self._changed.wait_for(lambda: half.done() or self._halves)
        finally:
            with self._changed:
                self._working += 1
        return half.result()

    def stop(self) -> None:
        """Tell everyone to stop, now."""
        with self._changed:
            self.stopping = True
            for bell in self._at_play:
                _ring(bell)

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        with self._changed:
            self._working += 1
        try:
            yield
        finally:
            with self._changed:
                self._working -= 1
                self._offer()
                self._changed.notify_all()

    def _play_a_half(self) -> bool:
        """Play a half that was handed over, if there is one."""
        with self._changed:
            if not self._halves:
                return False
            half = self._halves.popleft()
            self._promised -= 1
        with self._at_work():
            half.play()
        return True

    def _offer(self) -> None:
        """Promise threads that have nothing to do to the blocks that have most left."""
        idle = self._width - self._working - self._waiting - self._promised
        while idle > 0 and self._to_cut:
            most = max(self._to_cut, key=lambda pair: pair[0])
            self._to_cut = [pair for pair in self._to_cut if pair is not most]
            _ring(most[1])
            self._promised += 1
            idle -= 1


class Half(Future[Any]):
    """Part of a block that another thread may play."""

    def __init__(self, work: Callable[..., Any], args: tuple[Any, ...]) -> None:
        super().__init__()
        self._work, self._args = work, args

    def play(self) -> None:
        """Play it here; what goes wrong is raised where the result is asked for."""
        try:
            self.set_result(self._work(*self._args))
        except BaseException as error:
            self.set_exception(error)


def _ring(bell: Bell) -> None:
    bell[0] = 1
