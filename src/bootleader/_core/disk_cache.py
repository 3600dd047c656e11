"""Compiled kernels on disk, in numba's cache, keyed by what they compute.

A kernel's file carries its fingerprint in its name, so it is found again after any change that does not concern it. A
damaged file is replaced. Where no folder can be written to, kernels are compiled in memory, and one warning says how to
keep them.
"""

from __future__ import annotations

import builtins
import dis
import sys
import warnings
from types import FunctionType
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

from bootleader._core.code_fingerprint import code_digest


class KernelCache(FunctionCache):
    """Numba's cache of a function, without the time stamp and the line number of its source, and tolerant of damage."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        version = f"py{sys.version_info.major}{sys.version_info.minor}{getattr(sys, 'abiflags', '')}"
        self._cache_file = IndexDataCacheFile(
            cache_path=self._cache_path, filename_base=f"{function.__name__}.{version}", source_stamp=function.__name__
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # unpickling a damaged file may raise anything
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            warn_of_no_cache(str(error))
        except Exception:  # the index is damaged: begin a new one
            self.flush()
            super().save_overload(sig, data)


def enable(dispatcher: Any) -> Any:
    """Keep what a numba function compiles to on disk, where that is possible."""
    try:
        dispatcher._cache = KernelCache(dispatcher.py_func)
    except (RuntimeError, OSError) as error:
        warn_of_no_cache(str(error))
    except (AttributeError, TypeError, ImportError):  # another version of numba, whose cache has another constructor
        dispatcher.enable_caching()
    return dispatcher


def kernel(function: Any) -> Any:
    """Compile a function when it is first called, and keep it on disk under a name that says what it computes.

    What the function refers to must be defined before it: the digest in its name would not cover anything later.
    """
    used = {step.argval for step in dis.get_instructions(function) if step.opname == "LOAD_GLOBAL"}
    if later := used - vars(builtins).keys() - function.__globals__.keys():
        raise NameError(f"define {', '.join(sorted(later))} before the kernel {function.__name__}")
    name = f"{function.__name__}_{code_digest(function)[:16]}"
    renamed = FunctionType(function.__code__, function.__globals__, name, function.__defaults__, function.__closure__)
    return enable(numba.njit(nogil=True, error_model="numpy")(renamed))


_warned = False


def warn_of_no_cache(why: str) -> None:
    """Warn once that kernels are compiled again in every process, and how to change that."""
    global _warned
    if _warned:  # for another kernel, whose reason differs in the kernel's name alone
        return
    _warned = True
    warnings.warn(
        "bootleader compiles its kernels again in every process, because it cannot write to numba's cache "
        f"({why}). Set NUMBA_CACHE_DIR to a folder that can be written to, to keep them.",
        RuntimeWarning,
        stacklevel=2,
    )
