"""The one compiled form that is not its Python form: a long resampled sum, a block of words at a time.

Drawing, scaling and looking up are three loops here instead of one, because the first two then vectorise: a draw costs
a third of what it does one by one. The draws, their order and the sums are those of
:func:`bootleader.policies.giro.resampled_sum`, bit for bit; the exact oracle tests hold them together.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bootleader.policies.giro import QUARTER, WORDS
from bootleader.streams import below, mix64

LONG: Final = 16  # draws from which three loops beat one
WORKSPACE: Final = 4 * WORDS  # so many numbers at the head of a history array are room for strides, words and places


def prepare(history: Any, gamma: Any) -> None:
    """Lay out the strides from a stream's state to its next words, for the sums of one run."""
    strides = history[:WORDS].view(np.uint64)
    stride = gamma
    for j in range(WORDS):
        strides[j] = stride
        stride += gamma


def blockwise_sum(history: Any, start: Any, count: Any, draws: Any, state: Any, i: Any, gamma: Any) -> Any:
    """Sum of ``draws`` values taken with replacement; ``history[start + count]`` must hold a zero.

    A draw that is left out looks up that zero. All of it is in 32 bits, as many as a place times a quarter word takes.
    """
    strides = history[:WORDS].view(np.uint64)
    words = history[WORDS : 2 * WORDS].view(np.uint64)
    quarters = words.view(np.uint16)  # of a little-endian machine: the low quarter first
    places = history[2 * WORDS : 4 * WORDS].view(np.uint32)
    size32, threshold = np.uint32(count), np.uint32(QUARTER % count)
    values = history[start:]
    position = state[i]
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    left = int(draws)
    while left >= 4:
        size = min(WORDS, left // 4)
        for j in range(size):
            words[j] = mix64(position + strides[j])
        position += strides[size - 1]
        missed = np.uint32(0)
        for j in range(4 * size):
            product = np.uint32(np.uint32(quarters[j]) * size32)
            biased = np.uint32(np.uint32(product & np.uint32(0xFFFF)) < threshold)
            places[j] = size32 if biased else np.uint32(product >> np.uint32(16))
            missed = np.uint32(missed + biased)
        for j in range(0, 4 * size, 4):
            a += values[places[j]]
            b += values[places[j + 1]]
            c += values[places[j + 2]]
            d += values[places[j + 3]]
        left -= 4 * size - np.int64(missed)
    state[i] = position
    for _ in range(left):
        a += values[below(state, i, gamma, count)]
    return (a + b) + (c + d)
