"""Syncs of a file that another thread makes while this one computes: POSIX's ``aio_fsync``.

A thread of Python would not do. Who computes holds the interpreter's lock, and the other one would wait for it as long
as for the disk. The C library's thread needs no interpreter. It does not survive a fork, and a child could wait for it
without end, so the children of a process that has used it sync by themselves. So do other systems than 64-bit Linux.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Callable
from errno import EINPROGRESS
from functools import cache
from typing import Any, Final, NamedTuple

SIGEV_NONE: Final = 1
_used_by: list[int] = []  # the process that has used the C library's thread


class _Request(ctypes.Structure):
    """``struct aiocb`` of glibc and musl on 64-bit Linux, up to what is set here; the rest is theirs."""

    _fields_ = (
        ("descriptor", ctypes.c_int), ("opcode", ctypes.c_int), ("priority", ctypes.c_int),
        ("buffer", ctypes.c_void_p), ("size", ctypes.c_size_t),
        ("signal_value", ctypes.c_void_p), ("signal_number", ctypes.c_int), ("notification", ctypes.c_int),
        ("theirs", ctypes.c_char * 256),
    )  # fmt: skip


class _Calls(NamedTuple):
    fsync: Any
    suspend: Any
    error: Any
    result: Any


@cache
def _calls() -> _Calls | None:
    """The functions of the C library; None where they are not known to be as described here."""
    if sys.platform != "linux" or sys.maxsize < 2**32:
        return None
    for library in (None, "librt.so.1"):  # before glibc 2.34 they are in a library of their own
        with contextlib.suppress(OSError, AttributeError):
            c = ctypes.CDLL(library, use_errno=True)
            return _Calls(c.aio_fsync, c.aio_suspend, c.aio_error, c.aio_return)
    return None


def sync_during(descriptor: int, work: Callable[[], None]) -> bool:
    """Sync a file, as ``os.fdatasync`` does, and do some work meanwhile.

    Parameters
    ----------
    descriptor : int
        The file's.
    work : callable
        What it raises does not matter.

    Returns
    -------
    bool
        False if the system cannot do that: nothing was done.

    Raises
    ------
    OSError
        If the disk does not take it.
    """
    calls, process = _calls(), os.getpid()
    if calls is None or (_used_by and _used_by[0] != process):
        return False
    if not _used_by:
        _used_by.append(process)
    request = _Request(descriptor=descriptor, notification=SIGEV_NONE)
    there = ctypes.byref(request)
    if calls.fsync(os.O_DSYNC, there) != 0:
        return False
    try:
        with contextlib.suppress(Exception):
            work()
    finally:  # the library writes to the request until it has ended
        waiting = (ctypes.c_void_p * 1)(ctypes.addressof(request))
        while (error := calls.error(there)) == EINPROGRESS:
            calls.suspend(waiting, 1, None)
    calls.result(there)
    if error:
        raise OSError(error, os.strerror(error))
    return True
