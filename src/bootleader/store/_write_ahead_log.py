"""Waits until SQLite's write-ahead log is on the disk.

With ``synchronous=FULL`` SQLite waits for the disk while it holds the lock that allows one writer at a time. Where
several processes write, a commit only writes to the log (``synchronous=NORMAL``), gives the lock back, and then waits
here. So they wait at the same time, and one sync of the disk serves all of them.

Nothing is lost by that order. A call returns after the wait. Whoever reads an event before it is on the disk, and
appends another, writes further on in the same file, and a sync is of the whole file. SQLite itself syncs the log before
it copies it into the database, and the database before it writes to the log from the beginning again.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

from bootleader._core.printable_text import shown
from bootleader.store._errors import StoreError

BINARY: Final = getattr(os, "O_BINARY", 0)  # Windows
NOT_INHERITED: Final = getattr(os, "O_CLOEXEC", 0)


def flush(descriptor: int) -> None:
    """Wait until a file is on the disk, as SQLite does it: without the time of its last change, where that can be."""
    getattr(os, "fdatasync", os.fsync)(descriptor)


class _File:
    """An open file. It is closed when it is deleted."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        close(self.descriptor)


class WriteAheadLog:
    """The log of a database, for as long as a connection of this process to it is open: until then it stays there.

    SQLite has no locks on this file, so that closing a descriptor of it releases none.
    """

    def __init__(self, database: str) -> None:
        self.path = f"{database}-wal"
        self._file: _File | None = None

    def sync(self) -> None:
        """Wait until all that was committed is on the disk, by whichever process."""
        try:
            if self._file is None:
                self._file = _File(os.open(self.path, os.O_RDWR | BINARY | NOT_INHERITED))
            flush(self._file.descriptor)
        except OSError as error:
            raise StoreError(f"{shown(self.path)} could not be written to the disk: {error}", "unavailable") from None

    def close(self) -> None:
        """Close the file."""
        self._file = None
