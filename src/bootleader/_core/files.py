"""Writing files: whole or not at all, and problems noticed before the work starts."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a name to write to; when the block ends without an exception the file takes the place of ``path``.

    A full disk, an interruption or an exception leaves the old file as it was. What is not a plain file, such as
    ``/dev/stdout``, cannot be replaced and is written directly.
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        yield target
        return
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder {target.parent} does not exist; make it, or write {target.name} elsewhere")
    target = target.resolve()  # a link is kept: the file that it leads to is replaced
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        yield unfinished
        with open(unfinished, "rb+") as written:
            os.fsync(written.fileno())
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


def writable_folder(path: str | os.PathLike[str]) -> Path:
    """Return the folder, made if it was missing; raise ValueError if nothing can be written to it.

    A file is created and removed again: permission bits do not show a read-only or a full file system.
    """
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as trial:
            trial.write(b"x")
    except OSError as error:
        raise ValueError(f"cannot write to the folder {folder}: {error.strerror or error}") from None
    return folder
