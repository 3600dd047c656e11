"""Work stealing between the threads of one simulation, and stopping them.

A thread in compiled code is reached through its *interrupt flag*, one number in an array that its kernel reads every
round. A block of runs may be divided between any two rounds, so an idle thread can take over half of a running block.
Only speed depends on which thread plays what.
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

InterruptFlag = npt.NDArray[np.int64]
NEVER: InterruptFlag = np.zeros(1, np.int64)  # the flag of calls that cannot be interrupted


class Stopped(Exception):  # noqa: N818  (not an error: the caller asked for it)
    """A block was stopped before its end."""


class WorkStealing:
    """The threads that play the blocks of one simulation; without a pool, a single thread.

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
        self._working = 0  # threads at work, without those that wait for a half of theirs
        self._promised = 0  # idle threads that were assigned to a block and have not begun there
        self._running: list[InterruptFlag] = []
        self._divisible: list[
            tuple[float, InterruptFlag]
        ] = []  # blocks that can be divided, with the work they have left
        self._halves: deque[Half] = deque()  # split off, and not begun
        self._changed = threading.Condition(threading.RLock())

    @contextmanager
    def task(self) -> Iterator[None]:
        """Count this thread as working for the duration of a task."""
        with self._changed:
            self._waiting -= 1
        with self._counted():
            yield

    def register(self, left: float = 0.0) -> InterruptFlag:
        """Register a running block; ``left`` is the work that could be split off."""
        flag = np.zeros(1, np.int64)
        with self._changed:
            self._running.append(flag)
            if self.stopping:
                _raise(flag)
            if left > 0.0:
                self._divisible.append((left, flag))
                self._assign_idle_threads()
        return flag

    def unregister(self, flag: InterruptFlag) -> bool:
        """Remove a block; whether an idle thread was assigned to it: then call ``split_off`` or ``decline``."""
        with self._changed:
            if self.stopping:
                raise Stopped
            self._running = [other for other in self._running if other is not flag]
            self._divisible = [(left, other) for left, other in self._divisible if other is not flag]
            return bool(flag[0])

    def decline(self) -> None:
        """Release the idle thread that was assigned to this block."""
        with self._changed:
            self._promised -= 1
            self._assign_idle_threads()

    def split_off(self, work: Callable[..., Any], *args: Any) -> Half:
        """Give work to the idle thread that was assigned to this block."""
        half = Half(work, args)
        with self._changed:
            self._halves.append(half)
            self._changed.notify_all()
        if self._pool is not None:
            with suppress(RuntimeError):  # the pool is shut down: then the thread that waits for the half plays it
                self._pool.submit(self._play_half)
        return half

    def result_of(self, half: Half) -> Any:
        """Wait for a half. In the meantime play what there is to play: this one, if no thread has begun it."""
        with self._changed:
            self._working -= 1
            self._assign_idle_threads()
        try:
            while not half.done():
                if not self._play_half():
                    with self._changed:
                        self._changed.wait_for(lambda: half.done() or self._halves)
        finally:
            with self._changed:
                self._working += 1
        return half.result()

    def stop(self) -> None:
        """Interrupt all running blocks."""
        with self._changed:
            self.stopping = True
            for flag in self._running:
                _raise(flag)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._changed:
            self._working += 1
        try:
            yield
        finally:
            with self._changed:
                self._working -= 1
                self._assign_idle_threads()
                self._changed.notify_all()

    def _play_half(self) -> bool:
        """Play a half that was split off, if there is one."""
        with self._changed:
            if not self._halves:
                return False
            half = self._halves.popleft()
            self._promised -= 1
        with self._counted():
            half.play()
        return True

    def _assign_idle_threads(self) -> None:
        """Assign idle threads to the blocks that have most work left, and interrupt those."""
        idle = self._width - self._working - self._waiting - self._promised
        while idle > 0 and self._divisible:
            most = max(self._divisible, key=lambda pair: pair[0])
            self._divisible = [pair for pair in self._divisible if pair is not most]
            _raise(most[1])
            self._promised += 1
            idle -= 1


class Half(Future[Any]):
    """Part of a block that another thread may play."""

    def __init__(self, work: Callable[..., Any], args: tuple[Any, ...]) -> None:
        super().__init__()
        self._work, self._args = work, args

    def play(self) -> None:
        """Play it in this thread; an exception is raised where the result is asked for."""
        try:
            self.set_result(self._work(*self._args))
        except BaseException as error:
            self.set_exception(error)


def _raise(flag: InterruptFlag) -> None:
    flag[0] = 1
