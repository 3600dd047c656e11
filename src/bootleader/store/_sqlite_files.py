"""The files of SQLite stores: their URLs, where they may be, and what keeps them from being used."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from bootleader._core.printable_text import shown

MEMORY: Final = ":memory:"
NETWORK_FILE_SYSTEMS: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "lustre", "glusterfs", "fuse.glusterfs", "fuse.sshfs"}
)


def cause_of(path: Path, error: Exception) -> str:
    """What keeps SQLite from using a file, and what to do about it."""
    try:
        path.lstat()
    except OSError as cause:
        if cause.errno == errno.ENAMETOOLONG:
            return "its name is too long"
    # The functions of os.path: those of a Path raise where a folder may not be entered.
    if os.path.isdir(path):
        return "it is a folder: give the name of a file in it"
    above = next(each for each in path.parents if os.path.exists(each) or not each.name)
    if os.path.isdir(above) and not os.access(above, os.X_OK):
        return f"the folder {shown(str(above))} may not be entered: check its permissions"
    if not os.path.isdir(path.parent):
        return f"there is no folder {shown(str(path.parent))}: create it"
    unwritable = [each for each in (path, path.parent) if os.path.exists(each) and not os.access(each, os.W_OK)]
    if unwritable:
        return f"{shown(str(unwritable[0]))} cannot be written to ({error}): the file and its folder must be writable"
    return str(error)


def network_file_system(path: Path) -> str | None:
    """The kind of the network file system that a file is on; None if it is on none, or that cannot be told.

    SQLite's write-ahead log needs memory that all processes share, which there is on one machine only.
    """
    try:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # not Linux
        return None
    folder, found = Path(os.path.realpath(path.parent)), ("", "")
    for line in mounts:
        _, place, kind, *_ = line.split(" ")
        place = place.replace("\\040", " ")
        if folder.is_relative_to(place) and len(place) >= len(found[0]):
            found = (place, kind)
    return found[1] if found[1] in NETWORK_FILE_SYSTEMS else None


def sqlite_path(rest: str) -> str:
    """The path of a URL after ``sqlite:``.

    Examples
    --------
    >>> sqlite_path("///shop.db"), sqlite_path("////var/shop.db"), sqlite_path("//")
    ('shop.db', '/var/shop.db', ':memory:')
    """
    if rest in ("//", "///:memory:"):
        return MEMORY
    if not rest.startswith("///") or not os.path.basename(rest) or "?" in rest or "\0" in rest:
        raise ValueError(
            "url must be like sqlite:///shop.db, sqlite:////var/shop.db, sqlite:// (in memory) or postgresql://..., "
            f"got {shown('sqlite:' + rest)}"
        )
    return rest[3:]
