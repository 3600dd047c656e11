"""A file system for SQLite that forgets what was not synced when the power is cut."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import apsw


class Disk:
    """The files as the disk has them: what was synced, and what was written since."""

    def __init__(self) -> None:
        self.synced: dict[str, bytearray] = {}
        self.pending: dict[str, list[tuple[int, bytes | None]]] = {}
        self.syncs = 0

    def write(self, name: str, offset: int, data: bytes) -> None:
        self.pending.setdefault(name, []).append((offset, data))

    def truncate(self, name: str, size: int) -> None:
        self.pending.setdefault(name, []).append((size, None))

    def delete(self, name: str) -> None:
        self.synced.pop(name, None)
        self.pending.pop(name, None)

    def sync(self, name: str) -> None:
        self.syncs += 1
        content = self.synced.setdefault(name, bytearray())
        for change in self.pending.pop(name, []):
            _apply(content, change)

    def cut(self, folder: Path, rng: random.Random | None = None) -> None:
        """Write the files as they are after the power was cut: of what was not synced, any part, in any order.

        Nothing of it, if there is no ``rng``.
        """
        for name in self.synced.keys() | self.pending.keys():
            content = bytearray(self.synced.get(name, b""))
            changes = self.pending.get(name, [])
            for change in [] if rng is None else rng.sample(changes, rng.randint(0, len(changes))):
                _apply(content, change)
            (folder / Path(name).name).write_bytes(bytes(content))


def _apply(content: bytearray, change: tuple[int, bytes | None]) -> None:
    offset, data = change
    if data is None:
        del content[offset:]
        return
    if len(content) < offset + len(data):
        content.extend(bytes(offset + len(data) - len(content)))
    content[offset : offset + len(data)] = data


class PowerCutFile(apsw.VFSFile):
    """A file that tells the disk what is written to it."""

    def __init__(self, disk: Disk, filename: Any, flags: Any) -> None:
        self._disk = disk
        self._name = filename.filename() if isinstance(filename, apsw.URIFilename) else str(filename)
        super().__init__("", filename, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.write(self._name, offset, bytes(data))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        self._disk.truncate(self._name, newsize)
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        self._disk.sync(self._name)
        super().xSync(flags)


class PowerCutVfs(apsw.VFS):
    """Opens such files."""

    def __init__(self, name: str, disk: Disk) -> None:
        self._disk = disk
        super().__init__(name, "")

    def xOpen(self, name: Any, flags: Any) -> PowerCutFile:
        return PowerCutFile(self._disk, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self._disk.delete(filename)
        super().xDelete(filename, syncdir)
