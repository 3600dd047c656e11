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

LONG: Final = 24  # draws from which three loops beat one
WORKSPACE: Final = 3 * WORDS  # so many numbers at the head of a history array are room for strides, words and places


def prepare(history: Any, gamma: Any) -> None:
    """Lay out the strides from a stream's state to its next words, for the sums of one run."""
    strides = history[2 * WORDS : 3 * WORDS].view(np.uint64)
    stride = gamma
    for j in range(WORDS):
        strides[j] = stride
        stride += gamma


def blockwise_sum(history: Any, start: Any, count: Any, draws: Any, state: Any, i: Any, gamma: Any) -> Any:
    """Sum of ``draws`` values taken with replacement; ``history[start + count]`` must hold a zero.

    A draw that is left out looks up that zero. Places are kept to 16 bits, so that sixteen are found at a time.
    """
    packs = history[:WORDS].view(np.uint64)
    words = history[WORDS : 2 * WORDS].view(np.uint64)
    strides = history[2 * WORDS : 3 * WORDS].view(np.uint64)
    quarters, places = words.view(np.uint16), packs.view(np.uint16)  # of a little-endian machine: the low quarter first
    values = history[start:]
    size16, threshold = np.uint16(count), np.uint16(QUARTER % count)
    position = state[i]
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    left = int(draws)
    while left >= 4:
        size = min(WORDS, left // 4)
        for j in range(size):
            words[j] = mix64(position + strides[j])
        position += strides[size - 1]
        missed = np.uint16(0)
        for j in range(4 * size):
            low = np.uint16(np.uint16(quarters[j]) * np.uint16(size16))
            high = np.uint16(np.uint32(np.uint32(quarters[j]) * np.uint32(size16)) >> np.uint32(16))
            biased = low < threshold
            places[j] = size16 if biased else high
            missed = np.uint16(missed + np.uint16(biased))
        for j in range(size):
            pack = packs[j]
            a += values[pack & np.uint64(0xFFFF)]
            b += values[(pack >> np.uint64(16)) & np.uint64(0xFFFF)]
            c += values[(pack >> np.uint64(32)) & np.uint64(0xFFFF)]
            d += values[pack >> np.uint64(48)]
        left -= 4 * size - np.int64(missed)
    state[i] = position
    for _ in range(left):
        a += values[below(state, i, gamma, count)]
    return (a + b) + (c + d)
