"""Whether functions that users wrote can be compiled and return what they must; errors name the line and the remedy."""

from __future__ import annotations

import dis
import os
import random
import re
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, Final

import numba
import numpy as np

from bootleader._core.code_fingerprint import references
from bootleader._core.numba_bridge import INNER, register, typeof

# What numba says, in part, and what to do.
HINTS: Final = {
    "NRT required": "compiled code makes no lists, arrays or texts: return numbers, in a tuple if there are several",
    "<built-in function hash>": "compiled code makes no dicts or sets",
    "tuple index out of range": "it reads a parameter that `params` of the rule does not have",
}
STREAM: Final = "random numbers come from `stream`, as in bootleader.random.uniform(stream), or from the rule's noise"

_checked: set[tuple[Callable[..., Any], Any]] = set()


def check_compiles(
    function: Callable[..., Any], arguments: tuple[Any, ...], what: str, results: int, is_whole: bool = False
) -> None:
    """Raise ``TypeError`` with the line at fault if a function cannot be compiled, or returns something else.

    ``arguments`` are examples of what it is called with; ``results`` is the number of numbers that it must return, and
    ``is_whole`` says that they must be whole ones.
    """
    signature = tuple(map(typeof, arguments))
    key = (function, (signature, results, is_whole))
    if key in _checked:
        return
    for line, file in _foreign_randomness(function, set()):
        raise TypeError(
            f"{what} draws from NumPy or the module random (line {line} of {file}), and no seed repeats that; {STREAM}"
        )
    register(function)
    dispatcher = numba.njit(**INNER)(function)
    try:
        dispatcher.compile(signature)
    except Exception as error:  # numba raises errors of many types, among them its own assertions
        raise TypeError(
            f"{what} cannot be compiled: {_reason(error, function)}. Change it, or play it in plain Python with "
            "simulate(..., compiled=False)"
        ) from error
    _check_returned(dispatcher.overloads[signature].signature.return_type, what, results, is_whole)
    _checked.add(key)


def _check_returned(returned: Any, what: str, results: int, is_whole: bool) -> None:
    """Raise unless so many numbers are returned."""
    types: Any = numba.types
    found = list(returned) if isinstance(returned, types.BaseTuple) else [] if returned == types.none else [returned]
    wanted = "nothing" if results == 0 else "one number" if results == 1 else f"{results} numbers"
    if len(found) != results:
        raise TypeError(f"{what} must return {wanted}, and returns {len(found) or 'nothing'}")
    kinds = (types.Integer, types.Boolean) if is_whole else (types.Number, types.Boolean)
    for kind in found:
        if not isinstance(kind, kinds) or isinstance(kind, types.Complex):
            whole = ", a whole one such as int(k)," if is_whole else ""
            raise TypeError(f"{what} must return {wanted}{whole} and returns {kind}")


def _foreign_randomness(function: Callable[..., Any], seen: set[Any]) -> Iterator[tuple[int, str]]:
    """Lines and files where a function, or one that it calls, refers to generators that are not the library's."""
    if not isinstance(function, FunctionType) or function in seen:
        return
    seen.add(function)
    code, line = function.__code__, function.__code__.co_firstlineno
    value: Any = None
    for step in dis.get_instructions(code):
        line = (step.positions.lineno if step.positions else None) or line
        if step.opname == "LOAD_GLOBAL":
            value = function.__globals__.get(step.argval)
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            value = getattr(value, step.argval, None) if value is np else None
        else:
            continue
        owner = getattr(value, "__self__", None)
        if value is random or value is np.random or isinstance(owner, random.Random | np.random.RandomState):
            yield line, code.co_filename
    for other in references(function):
        yield from _foreign_randomness(other, seen)


def _reason(error: Exception, function: Any) -> str:
    """What numba does not take, and the line it stands on."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("Failed in nopython mode")]
    file = function.__code__.co_filename
    places = re.findall(r'File "([^"]+)", line (\d+)', text)
    own = [place for place in places if os.path.basename(place[0]) == os.path.basename(file)]  # not inside numba
    where = f" (in {function.__name__}, {file})"
    if places:
        path, line = (own or places)[-1]
        where = f" (line {line} of {path})"
    hint = next((f"; {hint}" for part, hint in HINTS.items() if part in text), "")
    return (lines[0] if lines else type(error).__name__) + where + hint
