"""Ctrl-C does not divide a call whose locks it could leave locked."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let a Ctrl-C that comes meanwhile have its effect afterwards.

    The semaphores and conditions of ``threading`` and ``concurrent.futures`` are Python code. An exception that a
    signal handler raises just after one of them has taken its lock leaves it locked, and the threads of a pool wait for
    ever. Handlers run in the main thread only.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    came: list[FrameType | None] = []
    signal.signal(signal.SIGINT, lambda _, frame: came.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            handler(signal.SIGINT, came[0])
