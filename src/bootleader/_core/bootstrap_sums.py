"""Random sums: a bootstrap sum and a sum over the heads of coins, of an arm's history; signs of coins for many sums.

Each has two forms. The plain one defines it. The vectorised one, which compiled code uses for long sums, reads the same
words in the same order and returns the same bits: drawing, scaling and looking up are three loops instead of one, so
that the first two vectorise. Tests hold the two forms together.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bootleader._core.rng import MASK, below, mix64, next_word

QUARTER: Final = 0x10000  # number of values of a quarter of a word
WORDS: Final = 64  # words drawn before counting how many draws are still missing
COINS: Final = 64  # coins in a word
VECTORISED_FROM: Final = 16  # draws from which three loops are faster than one
WORKSPACE: Final = 3 * WORDS  # numbers reserved at the head of a history array: positions, words and strides


def resampled_sum(values: Any, start: Any, count: Any, draws: Any, stream: Any) -> Any:
    """Sum of ``draws`` values drawn with replacement from ``values[start:start + count]``.

    A quarter of a word makes a draw by Lemire's method. A quarter that would bias the draw is skipped, and the missing
    draws are made up for later.
    """
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    left = int(draws)
    if count < QUARTER:
        threshold = QUARTER % count
        while left >= 4:
            for _ in range(min(WORDS, left // 4)):
                word = next_word(stream)
                p, q = (word & 0xFFFF) * count, ((word >> 16) & 0xFFFF) * count
                r, s = ((word >> 32) & 0xFFFF) * count, (word >> 48) * count
                if p & 0xFFFF >= threshold:
                    a += values[start + (p >> 16)]
                    left -= 1
                if q & 0xFFFF >= threshold:
                    b += values[start + (q >> 16)]
                    left -= 1
                if r & 0xFFFF >= threshold:
                    c += values[start + (r >> 16)]
                    left -= 1
                if s & 0xFFFF >= threshold:
                    d += values[start + (s >> 16)]
                    left -= 1
    for _ in range(left):
        a += values[start + below(stream, count)]
    return (a + b) + (c + d)


def biased_coins(chance: Any, stream: Any) -> Any:
    """64 coins at once, each 1 with probability ``chance``.

    Each coin compares a uniform number with ``chance``, binary digit by digit. A digit decides half of the undecided
    coins, so a few words decide 64 coins.
    """
    heads, undecided = MASK ^ MASK, MASK
    while undecided != 0 and chance > 0.0:
        chance = chance * 2.0
        word = next_word(stream)
        if chance >= 1.0:
            chance = chance - 1.0
            heads = heads | (undecided & (word ^ MASK))
            undecided = undecided & word
        else:
            undecided = undecided & (word ^ MASK)
    return heads


def coins(chance: Any, stream: Any) -> Any:
    """64 coins; fair ones take one word."""
    if chance == 0.5:
        return next_word(stream)
    return biased_coins(chance, stream)


def heads_sum(chance: Any, values: Any, start: Any, count: Any, drift: Any, stream: Any) -> Any:
    """Sum of ``values[start + j] - drift`` over the j < count whose coin is 1.

    There is one running sum for each coin of a word, so that no addition depends on the one before. They are added
    pairwise in the end.
    """
    sums = [0.0] * COINS
    for block in range(0, count, COINS):
        word = coins(chance, stream)
        for j in range(min(COINS, count - block)):
            sums[j] += (values[start + block + j] - drift) * ((word >> j) & 1)
    width = COINS // 2
    while width > 0:
        for j in range(width):
            sums[j] += sums[j + width]
        width //= 2
    return sums[0]


def add_signed(sums: Any, start: Any, weights: Any, word: Any, amount: Any) -> None:
    """Add the amount to ``sums[start + j]`` and 1 to ``sums[weights + j]`` for each bit j of a word that is 0.

    Where a bit is 1, both are subtracted.
    """
    for j in range(COINS):
        one = (word >> j) & 1 == 1
        sums[start + j] += -amount if one else amount
        sums[weights + j] += -1.0 if one else 1.0


# The vectorised forms ------------------------------------------------------------------------------------------------


def write_strides(history: Any, stride: Any) -> None:
    """Write the multiples of a run's stride into the workspace; once for each run."""
    multiples = history[2 * WORDS : WORKSPACE].view(np.uint64)
    multiple = stride
    for j in range(WORDS):
        multiples[j] = multiple
        multiple += stride


def positions_of(quarters: Any, draws: Any, count: Any, threshold: Any, positions: Any) -> Any:
    """Turn quarter words into positions, ``count`` for a skipped one; returns how many are skipped.

    All of it is 16 bits wide, so that a vector unit handles sixteen at a time.
    """
    skipped = np.uint16(0)
    for j in range(draws):
        low = np.uint16(np.uint16(quarters[j]) * np.uint16(count))
        high = np.uint16(np.uint32(np.uint32(quarters[j]) * np.uint32(count)) >> np.uint32(16))
        biased = low < threshold
        positions[j] = count if biased else high
        skipped = np.uint16(skipped + np.uint16(biased))
    return skipped


def vectorised_resampled_sum(history: Any, start: Any, count: Any, draws: Any, stream: Any) -> Any:
    """:func:`resampled_sum`, vectorised; a skipped draw adds ``history[start + count]``, which is zero."""
    packs = history[:WORDS].view(np.uint64)
    words = history[WORDS : 2 * WORDS].view(np.uint64)
    strides = history[2 * WORDS : WORKSPACE].view(np.uint64)
    quarters, positions = words.view(np.uint16), packs.view(np.uint16)  # little-endian: the low quarter first
    values = history[start:]
    threshold = np.uint16(QUARTER % count)
    state = stream.states[stream.at]
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    left: Any = int(draws)
    while left >= 4:
        size = min(WORDS, left // 4)
        for j in range(size):
            words[j] = mix64(state + strides[j])
        state += strides[size - 1]
        skipped = positions_of(quarters, 4 * size, np.uint16(count), threshold, positions)
        for j in range(size):
            pack = packs[j]  # four positions in one word: fewer loads
            a += values[pack & np.uint64(0xFFFF)]
            b += values[(pack >> np.uint64(16)) & np.uint64(0xFFFF)]
            c += values[(pack >> np.uint64(32)) & np.uint64(0xFFFF)]
            d += values[pack >> np.uint64(48)]
        left -= 4 * size - np.int64(skipped)
    stream.states[stream.at] = state
    for _ in range(left):
        a += values[below(stream, count)]
    return (a + b) + (c + d)


def vectorised_heads_sum(chance: Any, history: Any, start: Any, count: Any, drift: Any, stream: Any) -> Any:
    """:func:`heads_sum`, vectorised; the running sums are in the workspace."""
    sums = history[:COINS]
    for j in range(COINS):
        sums[j] = 0.0
    for block in range(0, count, COINS):
        add_heads(coins(chance, stream), history[start + block :], min(COINS, count - block), drift, sums)
    for width in (32, 16, 8, 4, 2, 1):
        for j in range(width):
            sums[j] += sums[j + width]
    return sums[0]


def add_heads(word: Any, values: Any, size: Any, drift: Any, sums: Any) -> None:
    """Add each residual whose coin is 1 to its running sum."""
    for j in range(size):
        one = (word >> np.uint64(j)) & np.uint64(1) == np.uint64(1)
        sums[j] += values[j] - drift if one else 0.0


def vectorised_add_signed(sums: Any, start: Any, weights: Any, word: Any, amount: Any) -> None:
    """:func:`add_signed`, vectorised: from the start of a slice no index can be negative."""
    own, others = sums[start : start + COINS], sums[weights : weights + COINS]
    for j in range(COINS):
        one = (word >> np.uint64(j)) & np.uint64(1) == np.uint64(1)
        own[j] += -amount if one else amount
        others[j] += -1.0 if one else 1.0
