"""Arrays that begin at cache lines.

A vector that lies across two cache lines takes two accesses. NumPy aligns arrays to 16 bytes, and vectors have up to
64: with its arrays the lock-step kernel took up to 8 % longer, depending on where they happened to lie.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

NUMBER: Final = 8  # bytes of every number here
LINE: Final = 64 // NUMBER  # numbers in a cache line


def aligned_zeros(*shapes: tuple[int, ...]) -> list[Any]:
    """Arrays of zeros of these shapes (float64; whole numbers of 64 bits are views of them)."""
    sizes = [math.prod(shape) for shape in shapes]
    memory = np.zeros(sum(sizes) + LINE * (len(sizes) + 1))
    start = -(memory.ctypes.data // NUMBER) % LINE
    arrays = []
    for size, shape in zip(sizes, shapes, strict=True):
        arrays.append(memory[start : start + size].reshape(shape))
        start += -(-size // LINE) * LINE
    return arrays


def aligned_copies(arrays: Sequence[Any]) -> list[Any]:
    """Copies of arrays of 64-bit numbers."""
    copies = aligned_zeros(*(array.shape for array in arrays))
    for place, array in enumerate(arrays):
        copies[place] = copies[place].view(array.dtype)
        copies[place][...] = array
    return copies
