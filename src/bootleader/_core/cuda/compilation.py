"""Compile kernels for a GPU without fused multiply-adds, which round once where the CPU rounds twice."""

from __future__ import annotations

import gc
import importlib
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
from numba import config, cuda, float64
from numba.core.compiler_lock import global_compiler_lock

from bootleader._core.cuda.device import REMEDY
from bootleader._core.numba_bridge import GPU_FORMS
from bootleader._core.sampling import layer_edge

simulated = bool(config.ENABLE_CUDASIM)


def _shared_edge(layer):
    """A layer's right edge from the table at the start of the block's dynamic shared memory."""
    return cuda.shared.array(0, float64)[layer]


@contextmanager
def _compiling() -> Iterator[None]:
    """Compile with NVVM's option ``-fma=0``, which numba's decorator does not have, and with the GPU's forms.

    Garbage is not collected meanwhile: the objects of a compilation live until its end, and each collection would read
    all of them.
    """
    nvvm: Any = importlib.import_module("numba.cuda.cudadrv.nvvm")
    with global_compiler_lock:  # nothing is compiled for the CPU meanwhile
        # Read under the lock: another thread may have changed both to compile.
        compile_ir, collects = nvvm.compile_ir, gc.isenabled()

        def without_fma(ir: Any, **options: Any) -> Any:
            return compile_ir(ir, **{**options, "fma": False})

        gc.disable()
        nvvm.compile_ir = without_fma
        GPU_FORMS[layer_edge] = _shared_edge
        try:
            yield
        finally:
            nvvm.compile_ir = compile_ir
            del GPU_FORMS[layer_edge]
            if collects:
                gc.enable()


class Kernel:
    """A kernel that is compiled when it is first launched with arguments of new types."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        if "lto" in inspect.signature(cuda.jit).parameters:
            options["lto"] = False  # optimisation at link time would fuse operations again
        # With the function as an argument: as a decorator numba-cuda 0.30 forgets ``lto``.
        self._dispatcher: Any = cuda.jit(function, **({} if simulated else options))
        self._compiled: set[Any] = set()

    def launch(self, blocks: int, threads: int, shared_bytes: int, *arguments: Any) -> None:
        """Launch it with so much dynamic shared memory; returns before it has ended."""
        configured = self._dispatcher[blocks, threads, 0, shared_bytes]
        if simulated:
            configured(*arguments)
            return
        signature = tuple(self._dispatcher.typeof_pyval(argument) for argument in arguments)
        if signature in self._compiled:
            configured(*arguments)
            return
        with _compiling():
            configured(*arguments)
        self._compiled.add(signature)

    def concurrent_blocks(self, threads: int, shared_bytes: int) -> int:
        """How many blocks the GPU plays at once, after a launch."""
        if simulated:
            return 1
        (overload,) = self._dispatcher.overloads.values()
        return int(overload.max_cooperative_grid_blocks(threads, shared_bytes))


def callable_in_kernels(function: Any) -> Any:
    """A function that numba has compiled for the CPU, as kernels call it: numba's simulator calls plain Python."""
    if not simulated or not hasattr(function, "py_func"):
        return function
    plain = function.py_func
    called = {name: plain.__globals__.get(name) for name in plain.__code__.co_names}
    names = {name: callable_in_kernels(other) for name, other in called.items() if hasattr(other, "py_func")}
    return FunctionType(plain.__code__, {**plain.__globals__, **names}, plain.__name__)


def multiply_and_add(factors, term, result):
    result[0] = factors[0] * factors[0] + term[0]


@cache
def require_separate_roundings() -> None:
    """Raise ``RuntimeError`` if no kernel runs on this GPU, or if kernels fuse multiplications and additions."""
    almost = 1.0 + 2.0**-30  # its square is rounded to 1 + 2^-29, unless what is added comes first
    try:
        factor, term, result = (cuda.to_device(np.array([value])) for value in (almost, -1.0 - 2.0**-29, 1.0))
        kernel(multiply_and_add).launch(1, 1, 0, factor, term, result)
        found = result.copy_to_host()[0]
    except Exception as error:  # of numba, of CUDA's compiler, or of the driver when it loads the kernel
        reason = " ".join(str(error).split())
        raise RuntimeError(
            f'device="cuda" finds a GPU, and cannot run a kernel on it ({type(error).__name__}: {reason}). The GPU or '
            "its driver may be too old for these CUDA libraries: update the driver, install libraries of an older CUDA "
            f"(pip install 'numba-cuda[cu12]'), {REMEDY}"
        ) from error
    if found != 0.0:
        raise RuntimeError(
            "this version of numba-cuda fuses multiplications and additions, so the results would not be those of the "
            f"CPU: install numba-cuda 0.30, {REMEDY}"
        )


def kernel(function: Callable[..., Any], **options: Any) -> Kernel:
    """A function as a kernel, with options of ``numba.cuda.jit``."""
    return Kernel(function, **options)
