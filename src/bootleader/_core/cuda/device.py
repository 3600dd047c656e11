"""The GPU of this process: whether there is one, its memory, and waiting for it."""

from __future__ import annotations

import time
import warnings
from typing import Any, Final

POLL_SECONDS: Final = 0.0005  # between two looks at whether the GPU has finished: Python handles interrupts meanwhile
REMEDY: Final = 'or leave device="cuda" out to play on the CPU, with the same results'


def require() -> Any:
    """Numba's CUDA module, or raise ``RuntimeError`` that says what is missing."""
    try:
        with warnings.catch_warnings():  # a newer NumPy warns numba-cuda; a user cannot act on it
            warnings.simplefilter("ignore", DeprecationWarning)
            from numba import config, cuda
    except Exception as error:  # numba-cuda fails in many ways with a NumPy that it does not know
        raise RuntimeError(
            f'device="cuda" needs numba-cuda, which cannot be imported ({type(error).__name__}: {error}). Install '
            f"versions of NumPy and numba-cuda that fit together (pip install -U 'bootleader[cuda]'), {REMEDY}"
        ) from error
    if config.ENABLE_CUDASIM or cuda.is_available():
        # A user cannot act on it: the last chunk of runs, or a short simulation, does not fill the GPU.
        warnings.filterwarnings("ignore", message=".*GPU under-utilization due to low occupancy")
        return cuda
    raise RuntimeError(f'device="cuda" finds no GPU to play on: {_what_is_missing(cuda)}, {REMEDY}')


def _what_is_missing(cuda: Any) -> str:
    try:
        devices = len(cuda.gpus)
    except Exception as error:
        reason = " ".join(str(error).split())
        return f"the NVIDIA driver did not start ({reason}). Install the driver and pip install 'bootleader[cuda]'"
    if devices == 0:
        return "the NVIDIA driver lists no GPU. Make one visible (CUDA_VISIBLE_DEVICES)"
    return "CUDA's compiler, libNVVM, was not found. Install it with pip install 'bootleader[cuda]'"


def free_bytes(cuda: Any) -> int:
    """Free memory of the GPU."""
    free = cuda.current_context().get_memory_info()[0]
    return int(min(free, 2**40))  # infinite in numba's simulator


def wait(cuda: Any) -> None:
    """Wait until the GPU has finished what it was given; an interrupt ends the wait."""
    event = cuda.event()
    event.record()
    if not hasattr(event, "query"):  # numba's simulator returns from a launch when it has ended
        return
    while not event.query():
        time.sleep(POLL_SECONDS)
