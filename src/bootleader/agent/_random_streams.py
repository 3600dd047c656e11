"""The agent's random streams: normal variables made by NumPy in batches, and whatever else a choice draws.

A stream's word at any place is a function of that place, so a batch can be made ahead of time without moving the
stream: the state is the place of the last variable read, and that is all a saved agent has to remember.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from bootleader._core.elementary import power
from bootleader._core.rng import MASK, UNIT, below, mix64, next_word, unit
from bootleader._core.sampling import (
    COUNTED_TOSSES,
    EDGES,
    LAYER_MASK,
    SIGN_BIT,
    WHOLE,
    accepts_gamma_quickly,
    fair_binomial,
    finish_normal,
    gamma_root,
    rejected,
    studentise,
)

BATCH: Final = 2048

# The ziggurat's tables, for both signs: one lookup where a scalar takes a lookup and a branch.
SIGNED_LAYER_MASK: Final = LAYER_MASK | SIGN_BIT
SIGNED_EDGES: Final = np.concatenate([EDGES, -EDGES])
EDGE_LIST: Final[list[float]] = EDGES.tolist()


class NormalBatch:
    """Standard normals that follow a state of the noise stream. Never changed once made.

    Attributes
    ----------
    values : list of float
        The variables; not valid where the ziggurat rejected the word.
    rejected : list of int
        Places of rejected words, and the number of variables as the last entry.
    """

    __slots__ = ("rejected", "size", "start", "values", "words")

    def __init__(self, start: int, stride: int, size: int) -> None:
        self.start, self.size = start, size
        self.values: list[float] = []
        self.rejected: list[int] = [0]
        if size == 0:
            return
        steps = np.arange(1, size + 1, dtype=np.uint64) * np.uint64(stride)
        self.words = mix64(np.uint64(start) + steps)
        layer = (self.words & SIGNED_LAYER_MASK).view(np.int64)
        self.values = (unit(self.words) * SIGNED_EDGES[layer]).tolist()
        self.rejected = [*np.flatnonzero(rejected(self.words)).tolist(), size]


class SpareStream:
    """A :class:`Stream` in Python only: its fields are read faster than those of a tuple."""

    __slots__ = ("at", "states", "stride")

    def __init__(self, state: int, stride: int) -> None:
        self.states, self.at, self.stride = [state], 0, stride


def heads_of(tosses: float, spare: SpareStream) -> float:
    """The value of :func:`fair_binomial`, bit for bit: Python counts the bits of a word faster than arithmetic does."""
    if not 0.0 <= tosses <= COUNTED_TOSSES:
        return float(fair_binomial(tosses, spare))
    left, heads = int(tosses), 0
    while left > 0:
        word = next_word(spare)
        heads += (word if left >= 64 else word >> (64 - left)).bit_count()
        left -= 64
    return float(heads)


def student_of(normal: float, df: float, spare: SpareStream) -> float:
    """The value of :func:`studentise`, bit for bit: nearly all draws in one function instead of a chain of calls."""
    half, shape, boost = 0.5 * df, 0.5 * df, 1.0
    state, stride = spare.states[0], spare.stride
    if 0.0 < half < 1.0:
        state = (state + stride) & MASK
        boost, shape = power(1.0 - (mix64(state) >> 12) * UNIT, 1.0 / half), half + 1.0
    state = (state + stride) & MASK
    word = mix64(state)
    layer = word & LAYER_MASK
    if 1.0 <= shape < math.inf and layer < WHOLE:
        x = (word >> 12) * UNIT * EDGE_LIST[layer]
        x = x if (word & SIGN_BIT) == 0 else -x
        root = gamma_root(shape, x)
        state = (state + stride) & MASK
        if accepts_gamma_quickly(shape, x, root, (mix64(state) >> 12) * UNIT):
            spread = math.sqrt(boost * ((shape - 1.0 / 3.0) * (root * root * root)) / half)
            if spread > 0.0:
                spare.states[0] = state
                return normal / spread
    return float(studentise(normal, df, spare))  # from the start: nothing is drawn so far


class Streams:
    """Where the noise stream and the spare stream stand.

    A choice draws from a :meth:`copy`, which then takes the place of the original in one assignment.

    Attributes
    ----------
    values : list of float
        The present batch of normals; ``values[at:]`` are still to be read.
    at : int
        How many of the batch are read.
    next_rejected : int
        Place of the first rejected word that is not read; such a variable is drawn when it is read.
    spare : SpareStream
        The stream of all other draws.
    """

    __slots__ = ("at", "batch", "next_rejected", "rejections_read", "spare", "stride", "values")

    def __init__(self, noise: int, spare: int, stride: int) -> None:
        self.stride = stride
        self.spare = SpareStream(spare, stride)
        self._start_batch(noise, 0)

    def _start_batch(self, state: int, size: int) -> None:
        self.batch = batch = NormalBatch(state, self.stride, size)
        self.values, self.at, self.rejections_read, self.next_rejected = batch.values, 0, 0, batch.rejected[0]

    def copy(self) -> Streams:
        """Streams that stand at the same places."""
        twin = Streams.__new__(Streams)
        self.copy_to(twin)
        return twin

    def copy_to(self, twin: Streams) -> None:
        """Make other streams stand at the same places."""
        twin.stride = self.stride
        twin.batch = self.batch
        twin.values = self.values
        twin.at = self.at
        twin.rejections_read = self.rejections_read
        twin.next_rejected = self.next_rejected
        twin.spare = SpareStream(self.spare.states[0], self.stride)

    @property
    def noise(self) -> int:
        """State of the noise stream: the place of the last word read."""
        return (self.batch.start + self.at * self.stride) & MASK

    def below(self, n: int) -> int:
        """Uniform on 0..n-1, from the spare stream."""
        return int(below(self.spare, n))

    def fill(self, n: int) -> None:
        """Make a new batch unless the next ``n`` normals are in this one."""
        if self.at + n > self.batch.size:
            self._start_batch(self.noise, max(n, BATCH))

    def normals(self, n: int) -> list[float]:
        """The next ``n`` standard normals."""
        self.fill(n)
        start = self.at
        self.at = stop = start + n
        values = self.values[start:stop]
        while self.next_rejected < stop:
            place = self.next_rejected - start
            values[place] = self._redrawn()
        return values

    def normal(self) -> float:
        """The next standard normal."""
        return self.normals(1)[0]

    def _redrawn(self) -> float:
        """The variable whose word was rejected, drawn from its tail or wedge by the spare stream."""
        word = int(self.batch.words[self.next_rejected])
        self.rejections_read += 1
        self.next_rejected = self.batch.rejected[self.rejections_read]
        return float(finish_normal(word, self.spare))
