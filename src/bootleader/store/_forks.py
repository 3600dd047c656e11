"""What happens to the connections of a backend when its process forks."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from abc import abstractmethod

from bootleader.store._backend import Backend


class ForkedBackend(Backend):
    """A backend that is prepared for forks."""

    def register(self) -> None:
        """Be prepared for forks from now on: to be called before the first connection, when all else is there."""
        with _forking:
            _backends.add(self)

    def before_fork(self) -> None:
        """Prepare this process for a fork."""

    def after_fork_in_parent(self) -> None:
        """Go on after a fork."""

    @abstractmethod
    def forget_connections(self) -> None:
        """In a forked child: leave the parent's connections alone and open new ones."""


_backends: weakref.WeakSet[ForkedBackend] = weakref.WeakSet()
_forking = threading.RLock()  # one fork at a time, and no new backend during one
_prepared: list[ForkedBackend] = []  # for the fork that is under way


def _before_fork() -> None:
    _forking.acquire()
    for backend in list(_backends):
        _prepared.append(backend)
        backend.before_fork()


def _after_fork_in_parent() -> None:
    # An exception of a signal handler does not keep Python from forking. Where one came before a lock was acquired,
    # releasing it is a RuntimeError.
    while _prepared:
        with contextlib.suppress(RuntimeError):
            _prepared.pop().after_fork_in_parent()
    with contextlib.suppress(RuntimeError):
        _forking.release()


def _after_fork_in_child() -> None:
    global _forking
    _forking = threading.RLock()
    _prepared.clear()
    for backend in list(_backends):
        backend.forget_connections()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
