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

LONG: Final = 4 * WORDS  # draws from which the buffers pay


def blockwise_sum(history: Any, start: Any, count: Any, draws: Any, state: Any, i: Any, gamma: Any) -> Any:
    """Sum of ``draws`` values taken with replacement; ``history[start + count]`` must hold a zero.

    A draw that is left out looks up that zero. All of it is in 32 bits, as many as a place times a quarter word takes.
    """
    words, places = np.empty(WORDS, np.uint64), np.empty(4 * WORDS, np.uint32)
    quarters = words.view(np.uint16)  # of a little-endian machine: the low quarter first
    size32, threshold = np.uint32(count), np.uint32(QUARTER % count)
    values = history[start:]
    position = state[i]
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    left = int(draws)
    while left >= 4:
        size = min(WORDS, left // 4)
        for j in range(size):
            position += gamma
            words[j] = position
        for j in range(size):
            words[j] = mix64(words[j])
        for j in range(4 * size):
            product = np.uint32(np.uint32(quarters[j]) * size32)
            biased = np.uint32(product & np.uint32(0xFFFF)) < threshold
            places[j] = size32 if biased else np.uint32(product >> np.uint32(16))
        missed = 0
        for j in range(4 * size):
            missed += places[j] == size32
        for j in range(0, 4 * size, 4):
            a += values[places[j]]
            b += values[places[j + 1]]
            c += values[places[j + 2]]
            d += values[places[j + 3]]
        left -= 4 * size - missed
    state[i] = position
    for _ in range(left):
        a += values[below(state, i, gamma, count)]
    return (a + b) + (c + d)
