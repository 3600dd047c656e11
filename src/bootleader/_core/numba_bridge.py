"""How plain scalar functions come to be compiled, whoever wrote them and wherever.

Policies, bandits, streams and samplers are Python functions that do not import numba. A kernel is a template, a
function that calls some of them by a global name. :func:`specialise` fills in the names, registers everything that the
functions refer to, and compiles the result when it is first called. Importing the library compiles nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from types import FunctionType
from typing import Any, Final

import numba
import numba.core.options
import numpy as np
from numba.extending import intrinsic, overload, register_jitable

from bootleader._core import (
    bootstrap_sums,
    disk_cache,
    elementary,
    leader_tree,
    moments,
    rng,
    sampling,
    segment_trees,
    tail_sampling,
    tilted_rejection,
)
from bootleader._core.code_fingerprint import COMPILED_FORMS, code_digest, references


def _knows(option: str) -> bool:
    """Whether this numba has an option."""
    return hasattr(getattr(numba.core.options, "DefaultOptions", None), option)


# Division by zero gives infinity, as in NumPy, instead of a branch that would keep loops from vectorising. Compiled
# code here makes no arrays, so there are no references to count; counting them took up to half of a round. (`_nrt` is
# a private option of numba's. Without it only the speed changes.)
LEAN: Final[dict[str, Any]] = {"error_model": "numpy"} | ({"_nrt": False} if _knows("_nrt") else {})
# Functions that only kernels call need no entry point from Python, which halves the time to compile.
INNER: Final = {**LEAN, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# A call copies all arrays among its arguments, field by field. Functions that take a view of all arms are written into
# their callers: the time of a round halves.
INLINED: Final = INNER | ({"forceinline": True} if _knows("forceinline") else {})
typeof: Any = numba.typeof
inner: Any = numba.njit(**INNER)
inlined: Any = numba.njit(**INLINED)
inline: Any = numba.njit(inline="always", **INNER)  # written into the caller: loops that run for every arm and round


_registered: set[Callable[..., Any]] = set()


def register(function: Callable[..., Any]) -> None:
    """Let compiled code call a plain function, and everything that it refers to."""
    if function in _registered:
        return
    _registered.add(function)
    for other in references(function):
        if isinstance(other, FunctionType):
            register(other)
    if function not in COMPILED_FORMS:
        register_jitable(**INNER)(function)


_by_digest: dict[str, Callable[..., Any]] = {}


@cache
def canonical(function: Callable[..., Any]) -> Callable[..., Any]:
    """The first function seen that computes the same.

    A function that was pickled by value, such as one of a script on a Dask worker, is another object every time.
    """
    return _by_digest.setdefault(code_digest(function), function)


@cache
def compiled(function: Callable[..., Any], jit: Any = inner) -> Any:
    """A plain function as a compiled one."""
    register(function)
    return jit(function)


# Functions whose compiled form is not their Python form ---------------------------------------------------------------

COMPILED_FORMS[bootstrap_sums.resampled_sum] = (bootstrap_sums.vectorised_resampled_sum,)
COMPILED_FORMS[bootstrap_sums.heads_sum] = (bootstrap_sums.vectorised_heads_sum,)
COMPILED_FORMS[bootstrap_sums.add_signed] = (bootstrap_sums.vectorised_add_signed,)


def _unit_from_mantissa(word: Any) -> Any:
    """Put the bits straight into a mantissa: vector units convert 64-bit integers slowly or not at all."""
    return np.uint64((word >> np.uint64(12)) | np.uint64(0x3FF0000000000000)).view(np.float64) - 1.0


def _split_bits(x: Any) -> Any:
    """Take mantissa and exponent from the bits: a call of ``frexp`` takes longer than a logarithm."""
    small = x < 2.0**-1022
    bits = np.float64(x * 2.0**54 if small else x).view(np.int64)
    exponent = (bits - ROOT_HALF_BITS) >> 52
    mantissa = np.int64(bits - (exponent << 52)).view(np.float64)
    return mantissa, float(exponent - 54 if small else exponent)


def _power_of_two_bits(exponent: Any) -> Any:
    """Put the exponent into its place."""
    return np.int64((np.int64(exponent) + 1023) << 52).view(np.float64)


ROOT_HALF_BITS: Final = int(np.float64(elementary.ROOT_HALF).view(np.int64))
COMPILED_FORMS[rng.unit] = (_unit_from_mantissa,)
COMPILED_FORMS[elementary.split] = (_split_bits,)
COMPILED_FORMS[elementary.power_of_two] = (_power_of_two_bits,)


def _edge_from_table(layer: Any) -> Any:
    return sampling.EDGES[layer]


COMPILED_FORMS[sampling.layer_edge] = (_edge_from_table,)
GPU_FORMS: dict[Any, Any] = {}  # forms of functions for a GPU, while a kernel for it is being compiled
for _function in (_unit_from_mantissa, _split_bits, _power_of_two_bits, _edge_from_table):
    register(_function)
for _module in (
    rng, elementary, sampling, moments, tail_sampling, segment_trees, leader_tree, tilted_rejection, bootstrap_sums,
):  # fmt: skip
    for _function in list(vars(_module).values()):
        if isinstance(_function, FunctionType) and _function.__module__ == _module.__name__:
            register(_function)

_plain_resampled_sum = inner(bootstrap_sums.resampled_sum)


@overload(bootstrap_sums.resampled_sum, jit_options=INNER)  # type: ignore[arg-type]
def _resampled_sum(values, start, count, draws, stream):  # type: ignore[no-untyped-def]
    shortest, workspace, quarter = bootstrap_sums.VECTORISED_FROM, bootstrap_sums.WORKSPACE, bootstrap_sums.QUARTER

    def plain_or_vectorised(values, start, count, draws, stream):  # type: ignore[no-untyped-def]
        if draws < shortest or count >= quarter or start < workspace:
            return _plain_resampled_sum(values, start, count, draws, stream)
        return bootstrap_sums.vectorised_resampled_sum(values, start, count, draws, stream)

    return plain_or_vectorised


@overload(bootstrap_sums.heads_sum, jit_options=INNER)  # type: ignore[arg-type]
def _heads_sum(chance, values, start, count, drift, stream):  # type: ignore[no-untyped-def]
    def vectorised(chance, values, start, count, drift, stream):  # type: ignore[no-untyped-def]
        return bootstrap_sums.vectorised_heads_sum(chance, values, start, count, drift, stream)

    return vectorised


@overload(bootstrap_sums.add_signed, jit_options=INNER)  # type: ignore[arg-type]
def _add_signed(sums, start, weights, word, amount):  # type: ignore[no-untyped-def]
    def vectorised(sums, start, weights, word, amount):  # type: ignore[no-untyped-def]
        return bootstrap_sums.vectorised_add_signed(sums, start, weights, word, amount)

    return vectorised


@overload(rng.unit, jit_options=INNER)  # type: ignore[arg-type]
def _unit(word):  # type: ignore[no-untyped-def]
    def from_mantissa(word):  # type: ignore[no-untyped-def]
        return _unit_from_mantissa(word)

    return from_mantissa


@overload(sampling.layer_edge, jit_options=INNER)  # type: ignore[arg-type]
def _layer_edge(layer):  # type: ignore[no-untyped-def]
    def from_table(layer):  # type: ignore[no-untyped-def]
        return _edge_from_table(layer)

    return GPU_FORMS.get(sampling.layer_edge, from_table)


@overload(elementary.split, jit_options=INNER)  # type: ignore[arg-type]
def _split(x):  # type: ignore[no-untyped-def]
    def from_bits(x):  # type: ignore[no-untyped-def]
        return _split_bits(float(x))

    return from_bits


@overload(elementary.power_of_two, jit_options=INNER)  # type: ignore[arg-type]
def _power_of_two(exponent):  # type: ignore[no-untyped-def]
    def from_bits(exponent):  # type: ignore[no-untyped-def]
        return _power_of_two_bits(exponent)

    return from_bits


if numba.version_info[:2] < (0, 62):  # these do not know math.exp2; NumPy's is the same function of the system

    @overload(math.exp2, jit_options=INNER)  # type: ignore[arg-type]
    def _exp2(x):  # type: ignore[no-untyped-def]
        def exp2(x):  # type: ignore[no-untyped-def]
            return np.exp2(x)

        return exp2


@intrinsic
def _is_raised(typing_context, flag):  # type: ignore[no-untyped-def]
    """Whether ``flag[0]`` is not zero, read anew from memory at every call: no compiler may move the read."""
    from numba.core import types

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        value = builder.load_atomic(array.data, "monotonic", 8)
        return builder.icmp_signed("!=", value, value.type(0))

    return types.boolean(flag), codegen


is_raised: Any = _is_raised


# Kernels --------------------------------------------------------------------------------------------------------------


def named(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a function made inside another a name of its own.

    Numba tells compiled functions apart by name and by a number that is unique in one process only. Kernels from the
    disk cache come from several processes, so two functions of one name could be taken for each other.
    """

    def rename(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__name__ = function.__qualname__ = name
        return function

    return rename


def switch(name: str, functions: Sequence[Any], jit: Any = inner) -> Any:
    """A compiled ``f(which, *args)`` that calls the compiled ``functions[which](*args)``.

    Written as source text, because numba cannot index a tuple of different functions; one flat chain of comparisons,
    because every further call would copy all arguments again.
    """
    cases = [f"    if which == {which}:\n        return f{which}(*args)" for which in range(len(functions) - 1)]
    source = "\n".join([f"def {name}(which, *args):", *cases, f"    return f{len(functions) - 1}(*args)"])
    namespace = {f"f{which}": function for which, function in enumerate(functions)}
    exec(source, namespace)
    return jit(namespace[name])


def specialise(template: Callable[..., Any], digest: str, **functions: Any) -> Any:
    """A kernel: the template with these functions for its global names, compiled when first called, kept on disk.

    ``digest`` is of everything that the kernel depends on beside the template. A closure would not do for the
    functions: numba's cache key covers a closure's contents, and a compiled function's differ in every process.
    """
    whole = code_digest(template, digest)[:16]
    name = f"{template.__name__}_{whole}"
    function = FunctionType(template.__code__, {**template.__globals__, **functions}, name)
    function.__qualname__, function.__module__ = name, template.__module__
    return disk_cache.enable(numba.njit(nogil=True, **LEAN)(function))
