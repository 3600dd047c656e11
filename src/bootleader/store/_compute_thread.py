"""One thread that computes while the others wait for the database."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Callable

Job = Callable[[], None]


class Background:
    """Does jobs that only save time: one that fails, or comes while another waits, is left out.

    The thread is started by the first job and ended before a fork: a child would inherit what it was working on.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def submit(self, job: Job) -> None:
        """Do a job soon. It must not wait for anything."""
        if self._jobs.empty():
            self._jobs.put(job)
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._work, name="bootleader", daemon=True)
                    self._thread.start()

    def before_fork(self) -> None:
        """End the thread. None is started until :meth:`after_fork`."""
        self._lock.acquire()
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None

    def after_fork(self) -> None:
        """Go on, in the parent and in the child."""
        self._lock.release()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            with contextlib.suppress(Exception):  # whoever needs the result computes it, and meets the error
                job()


background = Background()

if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(
        before=background.before_fork,
        after_in_parent=background.after_fork,
        after_in_child=background.after_fork,
    )
