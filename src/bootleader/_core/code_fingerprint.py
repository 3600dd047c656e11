"""A digest of exactly what a function computes: its bytecode, its constants and everything it refers to, recursively.

Comments, docstrings, line numbers and the file a function was written in do not count. So a corrected error message
neither recompiles a kernel nor discards a stored result, and a function written in a script or a notebook has a digest
like any other.
"""

from __future__ import annotations

import dis
import enum
import hashlib
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

# Functions whose compiled form is not their Python form: the functions that compiled code runs instead.
COMPILED_FORMS: dict[Callable[..., Any], tuple[Callable[..., Any], ...]] = {}


def code_digest(*objects: Any) -> str:
    """A digest of functions, and of numbers, strings, arrays and tuples beside them.

    Examples
    --------
    >>> code_digest(lambda x: x + 1) == code_digest(lambda x: x + 1)
    True
    >>> code_digest(lambda x: x + 1) == code_digest(lambda x: x + 2)
    False
    """
    sha = hashlib.sha256()
    seen: dict[int, int] = {}
    for item in objects:
        _add(sha, item, seen)
    return sha.hexdigest()


def references(function: Any) -> Iterator[Any]:
    """What a function refers to: globals, attributes of modules, and the contents of its closure."""
    yield from _named_in(function.__code__, function.__globals__)
    for cell in function.__closure__ or ():
        yield cell.cell_contents


def _named_in(code: types.CodeType, names: dict[str, Any]) -> Iterator[Any]:
    for name, *attributes in _lookups(code):
        found = names.get(name)
        for attribute in attributes:
            if not isinstance(found, types.ModuleType):
                break
            found = getattr(found, attribute, None)
        if found is not None:
            yield found
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _named_in(constant, names)


@cache  # one function is part of the digests of many kernels and cells
def _lookups(code: types.CodeType) -> list[list[str]]:
    """Every global name that code loads, in order, each with the attributes that are loaded of it at once."""
    lookups: list[list[str]] = []
    follows = False
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            lookups.append([instruction.argval])
            follows = True
        elif follows and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            lookups[-1].append(instruction.argval)
        else:
            follows = False
    return lookups


def _add(sha: Any, item: Any, seen: dict[int, int]) -> None:
    function = getattr(item, "py_func", item)  # of a function that numba has compiled
    if isinstance(function, types.FunctionType) and not _is_foreign(function):
        _add_function(sha, function, seen)
    elif isinstance(item, type):
        members = getattr(item, "_fields", None) or (list(item) if issubclass(item, enum.Enum) else ())
        sha.update(f"{item.__qualname__}{members!r}".encode())
    elif isinstance(item, np.ndarray):
        sha.update(f"{item.dtype}{item.shape}".encode())
        sha.update(np.ascontiguousarray(item).tobytes())
    elif isinstance(item, tuple | list):
        sha.update(f"{len(item)}(".encode())
        for member in item:
            _add(sha, member, seen)
    elif item is None or isinstance(item, bool | int | float | complex | str | bytes | np.generic | enum.Enum):
        sha.update(f"{type(item).__name__}{item!r}".encode())
    else:  # a module, a function of another library, or an object that computes nothing here: its name alone
        name = getattr(item, "__qualname__", getattr(item, "__name__", type(item).__qualname__))
        sha.update(f"{getattr(item, '__module__', '')}.{name}".encode())


def _is_foreign(function: types.FunctionType) -> bool:
    """Whether a function is another library's, whose version is part of the cache's own key."""
    package = (function.__module__ or "").partition(".")[0]
    return package in ("numba", "numpy", "llvmlite") or package in sys.stdlib_module_names


def _add_function(sha: Any, function: types.FunctionType, seen: dict[int, int]) -> None:
    if id(function) in seen:
        sha.update(f"again {seen[id(function)]}".encode())
        return
    seen[id(function)] = len(seen)
    sha.update(_code_bytes(function.__code__))
    _add(sha, function.__defaults__ or (), seen)
    if function.__kwdefaults__:
        _add(sha, sorted(function.__kwdefaults__.items()), seen)
    for item in references(function):
        _add(sha, item, seen)
    for compiled_form in COMPILED_FORMS.get(function, ()):
        _add(sha, compiled_form, seen)


@cache
def _code_bytes(code: types.CodeType) -> bytes:
    """Instructions, names and constants, without the docstring."""
    parts = [code.co_code, repr((code.co_varnames, code.co_names, code.co_freevars, code.co_argcount)).encode()]
    for constant in code.co_consts[1:] if _has_docstring(code) else code.co_consts:
        if isinstance(constant, types.CodeType):
            parts.append(_code_bytes(constant))
        else:  # the order of a set of strings differs between processes
            text = repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)
            parts.append(text.encode())
    return b"".join(parts)


def _has_docstring(code: types.CodeType) -> bool:
    """Whether the first constant is a docstring: up to Python 3.13 it is None in a function without one."""
    if sys.version_info >= (3, 14):
        return bool(code.co_flags & inspect.CO_HAS_DOCSTRING)
    return bool(code.co_consts) and isinstance(code.co_consts[0], str)
