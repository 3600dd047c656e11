"""Decisions and rewards against bare inserts on slower disks: SQLite, with a pause in every sync of a file."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import apsw

from benchmarks.measuring import Measured
from benchmarks.store import VISITS, visit_times

PAUSES = (0.2, 0.5, 2.0)  # milliseconds


class SlowFile(apsw.VFSFile):
    """A file that takes longer to reach the disk."""

    def __init__(self, pause: float, disk: str, filename: Any, flags: Any) -> None:
        self._pause = pause
        super().__init__(disk, filename, flags)

    def xSync(self, flags: int) -> None:  # noqa: N802  (a name of apsw)
        super().xSync(flags)
        time.sleep(self._pause)


class SlowDisk(apsw.VFS):
    """Opens such files, for all connections of this process."""

    def __init__(self, pause: float) -> None:
        self._pause, self._disk = pause, apsw.vfs_names()[0]  # the default, until this one is
        super().__init__(f"slower by {pause}", self._disk, makedefault=True)

    def xOpen(self, name: Any, flags: Any) -> SlowFile:  # noqa: N802
        return SlowFile(self._pause, self._disk, name, flags)


@contextlib.contextmanager
def slower_by(milliseconds: float) -> Iterator[None]:
    """Make every sync of SQLite take longer."""
    disk = SlowDisk(milliseconds / 1e3)
    try:
        yield
    finally:
        disk.unregister()


def on_slower_disks(repeats: int) -> Iterator[Measured]:
    for pause in PAUSES:
        section = f"A durable decision and its reward, SQLite, 10 arms, a sync takes {pause:g} ms more"
        with tempfile.TemporaryDirectory(prefix="bl-") as folder, slower_by(pause):
            found = visit_times(VISITS * max(1, repeats // 3), f"sqlite:///{folder}/store.db")
        yield Measured(section, "two bare durable inserts", found["bare"], "ms")
        yield Measured(section, "decide and reward", found["visit"], "ms")
        yield Measured(section, "decide and reward, against two bare inserts", found["visit"] / found["bare"], "x")
