"""Compiled forms that are not their Python forms: sums over a long history, laid out for vector units.

The bootstrap sum takes a block of words at a time: drawing, scaling and looking up are three loops instead of one,
because the first two then vectorise. The sum over coins does the coins of a word side by side. The words, their order
and the sums are those of :func:`bootleader.policies.giro.resampled_sum` and
:func:`bootleader.policies._two_point_weights.heads_sum`, bit for bit; the exact oracle tests hold them together.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bootleader.policies.giro import QUARTER, WORDS
from bootleader.policies._two_point_weights import COINS, coins
from bootleader._core.rng import below, mix64

LONG: Final = 16  # draws from which three loops beat one
WORKSPACE: Final = 3 * WORDS  # so many numbers at the head of a history array are room for places, words and strides


def prepare(history: Any, gamma: Any) -> None:
    """Lay out the strides from a stream's state to its next words, for the sums of one run."""
    strides = history[2 * WORDS : WORKSPACE].view(np.uint64)
    stride = gamma
    for j in range(WORDS):
        strides[j] = stride
        stride += gamma


def locate(quarters: Any, draws: Any, count: Any, threshold: Any, places: Any) -> Any:
    """Turn quarter words into places, ``count`` for one that would bias; returns how many did.

    All of it is in 16 bits, so that a vector unit does sixteen at a time.
    """
    left_out = np.uint16(0)
    for j in range(draws):
        low = np.uint16(np.uint16(quarters[j]) * np.uint16(count))
        high = np.uint16(np.uint32(np.uint32(quarters[j]) * np.uint32(count)) >> np.uint32(16))
        biased = low < threshold
        places[j] = count if biased else high
        left_out = np.uint16(left_out + np.uint16(biased))
    return left_out


def blockwise_sum(history: Any, start: Any, count: Any, draws: Any, state: Any, i: Any, gamma: Any) -> Any:
    """Sum of ``draws`` values taken with replacement; a draw left out looks up ``history[start + count]``, a zero."""
    packs = history[:WORDS].view(np.uint64)
    words = history[WORDS : 2 * WORDS].view(np.uint64)
    strides = history[2 * WORDS : WORKSPACE].view(np.uint64)
    quarters, places = words.view(np.uint16), packs.view(np.uint16)  # of a little-endian machine: the low quarter first
    values = history[start:]
    threshold = np.uint16(QUARTER % count)
    position = state[i]
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    left: Any = int(draws)
    while left >= 4:
        size = min(WORDS, left // 4)
        for j in range(size):
            words[j] = mix64(position + strides[j])
        position += strides[size - 1]
        left_out = locate(quarters, 4 * size, np.uint16(count), threshold, places)
        for j in range(size):
            pack = packs[j]  # four places in one word: fewer loads
            a += values[pack & np.uint64(0xFFFF)]
            b += values[(pack >> np.uint64(16)) & np.uint64(0xFFFF)]
            c += values[(pack >> np.uint64(32)) & np.uint64(0xFFFF)]
            d += values[pack >> np.uint64(48)]
        left -= 4 * size - np.int64(left_out)
    state[i] = position
    for _ in range(left):
        a += values[below(state, i, gamma, count)]
    return (a + b) + (c + d)


def blockwise_heads(
    chance: Any, history: Any, start: Any, count: Any, drift: Any, state: Any, i: Any, gamma: Any
) -> Any:
    """Sum of the residuals whose coin shows 1; the running sums lie at the head of the history array."""
    sums = history[:COINS]
    for j in range(COINS):
        sums[j] = 0.0
    for block in range(0, count, COINS):
        add_heads(coins(chance, state, i, gamma), history[start + block :], min(COINS, count - block), drift, sums)
    for width in (32, 16, 8, 4, 2, 1):
        for j in range(width):
            sums[j] += sums[j + width]
    return sums[0]


def add_heads(word: Any, values: Any, size: Any, drift: Any, sums: Any) -> None:
    """Add each residual whose coin shows 1 to its own running sum."""
    for j in range(size):
        one = (word >> np.uint64(j)) & np.uint64(1) == np.uint64(1)
        sums[j] += values[j] - drift if one else 0.0
