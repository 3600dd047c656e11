"""How the library's scalar functions come to be compiled.

Policies, bandits, streams and samplers are plain Python functions that know nothing of numba. Here they are made
known to it, once, when the first simulation asks for a kernel; importing the library compiles nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
from numba.extending import overload, register_jitable

from bootleader._core import history_sums as blockwise
from bootleader._core import leader_tree as many_arms
from bootleader._core import moments
from bootleader._core import sampling
from bootleader._core import rng as streams
from bootleader._core import tail_sampling as tails
from bootleader.policies import POLICIES, IndexRule, giro
from bootleader._core import tilted_rejection as unseen
from bootleader.policies import _two_point_weights as weights

LAWS = tuple(dict.fromkeys(policy.rule.law for policy in POLICIES if isinstance(policy.rule, IndexRule)))
RESAMPLERS = tuple(dict.fromkeys(policy.rule.resample for policy in POLICIES if not isinstance(policy.rule, IndexRule)))


# Division by zero gives infinity, as in NumPy, instead of a branch that would keep loops from vectorising. And compiled
# code here makes no arrays, so it has no references to count: counting them took up to half of a round. (The option is
# numba's own, without a promise; leave it out if it goes, and only the speed changes.)
LEAN: Any = {"error_model": "numpy", "_nrt": False}
# What only kernels call needs no entry from Python, which halves the time to compile.
INNER: Any = {**LEAN, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
inner: Any = numba.njit(**INNER)
inline: Any = numba.njit(inline="always", **INNER)  # written into the caller: loops that run for every arm and round
kernel: Any = numba.njit(cache=True, nogil=True, **LEAN)


# Functions whose compiled form is another than their Python form.
OVERLOADED = {giro.resampled_sum, weights.heads_sum, streams.unit}


def _register(module: ModuleType) -> None:
    """Let compiled code call every public and private function that a module defines."""
    for function in vars(module).values():
        if (
            callable(function)
            and getattr(function, "__module__", "") == module.__name__
            and not isinstance(function, type)
            and function not in OVERLOADED
        ):
            register_jitable(**INNER)(function)


one_by_one = inner(giro.resampled_sum)


@overload(giro.resampled_sum, jit_options=INNER)
def _resampled_sum(history, start, count, draws, state, i, gamma):  # type: ignore[no-untyped-def]
    def short_or_long(history, start, count, draws, state, i, gamma):  # type: ignore[no-untyped-def]
        if draws < blockwise.LONG or count >= giro.QUARTER or start < blockwise.WORKSPACE:
            return one_by_one(history, start, count, draws, state, i, gamma)
        return blockwise.blockwise_sum(history, start, count, draws, state, i, gamma)

    return short_or_long


@overload(weights.heads_sum, jit_options=INNER)
def _heads_sum(chance, history, start, count, drift, state, i, gamma):  # type: ignore[no-untyped-def]
    def side_by_side(chance, history, start, count, drift, state, i, gamma):  # type: ignore[no-untyped-def]
        return blockwise.blockwise_heads(chance, history, start, count, drift, state, i, gamma)

    return side_by_side


@overload(streams.unit, jit_options=INNER)
def _unit(word):  # type: ignore[no-untyped-def]
    """Bits put straight into a mantissa: vector units convert 64-bit whole numbers slowly or not at all."""
    exponent_of_one = np.uint64(0x3FF0000000000000)

    def from_mantissa(word):  # type: ignore[no-untyped-def]
        return np.uint64((word >> 12) | exponent_of_one).view(np.float64) - 1.0

    return from_mantissa


for _module in (streams, sampling, moments, tails, many_arms, unseen, weights, giro, blockwise):
    _register(_module)


def named(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a function made inside another a name of its own.

    Numba tells compiled functions apart by name and by a number that is unique in one process only. Kernels from the
    disk cache come from several processes, so two functions of one name could be taken for each other.
    """

    def rename(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__name__ = function.__qualname__ = name
        return function

    return rename


def switch(name: str, functions: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    """A compiled ``f(which, *args)`` that calls the compiled ``functions[which](*args)``; no two of the same name."""
    chosen = functions[-1]
    for which in range(len(functions) - 2, -1, -1):
        label = f"switch_{name}_{which}"
        chosen = _either(label, which, functions[which], chosen, last=which == len(functions) - 2)
    return chosen


def _either(label: str, which: int, this: Any, others: Any, last: bool) -> Any:
    if last:

        @inner
        @named(label)
        def call(wanted, *args):  # type: ignore[no-untyped-def]
            if wanted == which:
                return this(*args)
            return others(*args)
    else:

        @inner
        @named(label)
        def call(wanted, *args):  # type: ignore[no-untyped-def]
            if wanted == which:
                return this(*args)
            return others(wanted, *args)

    return call


# Rooms whose code no kernel holds: a better label on a figure is no reason to simulate anew.
NEVER_COMPILED = {"cli.py", "compare.py", "plots.py", "theory.py"}


def fingerprint() -> str:
    """A digest of every source file that kernels are compiled from.

    Numba's disk cache notices changes only in the kernel's own file; with this in a kernel's closure, which is part
    of the cache key, a change to a policy or a stream can never meet an old kernel.
    """
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for room in ("_core/*.py", "_core/kernels/*.py", "policies/*.py", "bandits/*.py"):
        for path in sorted(root.glob(room)):
            if path.name not in NEVER_COMPILED:
                digest.update(path.read_bytes())
    return digest.hexdigest()
