"""The agent's random streams: normal variables made by NumPy in batches, and whatever else a choice draws.

A stream's word at any place is a function of that place, so a batch can be made ahead of time without moving the
stream: the state is the place of the last variable read, and that is all a saved agent has to remember.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from bootleader._core.elementary import log, power
from bootleader._core.rng import MASK, below, mix64, next_word, unit
from bootleader._core.sampling import (
    COUNTED_TOSSES,
    EDGES,
    LAYER_MASK,
    SIGN_BIT,
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


def _words(start: int, stride: int, size: int) -> Any:
    """The words that follow a state of a stream."""
    return mix64(np.uint64(start) + np.arange(1, size + 1, dtype=np.uint64) * np.uint64(stride))


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
        self.words = _words(start, stride, size)
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


class GammaBatch:
    """The words that follow a state of the spare stream, as gamma variables read them. Never changed once made.

    Attributes
    ----------
    normals : list of float
        The normal variable of each word; NaN where the ziggurat rejected it.
    uniforms : list of float
        The uniform variable of each word.
    """

    __slots__ = ("normals", "size", "start", "uniforms")

    def __init__(self, start: int, stride: int, size: int) -> None:
        self.start, self.size = start, size
        words = _words(start, stride, size)
        uniforms = unit(words)
        normals = uniforms * SIGNED_EDGES[(words & SIGNED_LAYER_MASK).view(np.int64)]
        normals[rejected(words)] = math.nan
        self.normals, self.uniforms = normals.tolist(), uniforms.tolist()

    def gamma(self, shape: float, at: int) -> tuple[float, int] | None:
        """The value of :func:`standard_gamma`, bit for bit, from the words at this place on, and the place after them.

        None if it takes more than these words, or is not above 0.
        """
        normals, uniforms, boost = self.normals, self.uniforms, 1.0
        if not 1.0 <= shape < math.inf:
            if not 0.0 < shape < 1.0:
                return None
            boost, shape, at = power(1.0 - uniforms[at], 1.0 / shape), shape + 1.0, at + 1
        d = shape - 1.0 / 3.0
        while at + 1 < self.size:
            x = normals[at]
            root = gamma_root(shape, x)
            if root > 0.0:
                v, u, at = root * root * root, uniforms[at + 1], at + 2
                if accepts_gamma_quickly(shape, x, root, u) or log(1.0 - u) < 0.5 * x * x + d * (1.0 - v + log(v)):
                    gamma = boost * (d * v)
                    return (gamma, at) if gamma > 0.0 else None
            elif x != x:  # rejected by the ziggurat
                return None
            else:
                at += 1
        return None


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
    gammas : GammaBatch or None
        Words of the spare stream, made ahead of time.
    inverse : int
        The stride's inverse modulo 2^64: it turns the difference of two states into a number of words.
    spare : SpareStream
        The stream of all other draws.
    """

    __slots__ = ("at", "batch", "gammas", "inverse", "next_rejected", "rejections_read", "spare", "stride", "values")

    def __init__(self, noise: int, spare: int, stride: int) -> None:
        self.stride, self.inverse = stride, pow(stride, -1, MASK + 1)
        self.spare = SpareStream(spare, stride)
        self.gammas: GammaBatch | None = None
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
        twin.inverse = self.inverse
        twin.batch = self.batch
        twin.gammas = self.gammas
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

    def students(self, shapes: list[float]) -> list[float]:
        """The next Student variables with so many degrees of freedom: those of :func:`studentise`, bit for bit."""
        n = len(shapes)
        if shapes.count(math.inf) == n:
            return self.normals(n)
        if self.at + n > self.next_rejected:
            self.fill(n)
            if self.at + n > self.next_rejected:  # a rejected word draws between the other draws of the spare stream
                return [float(studentise(self.normal(), df, self.spare)) for df in shapes]
        values, spare, stride = self.values[self.at : self.at + n], self.spare, self.stride
        self.at += n
        batch, at = self._gamma_batch(3 * n)
        normals, uniforms = batch.normals, batch.uniforms
        for k, df in enumerate(shapes):
            if df == math.inf:
                continue
            half = 0.5 * df
            if half >= 1.0:  # nearly always: gamma_root, accepts_gamma_quickly and the rest of studentise
                d, x = half - 1.0 / 3.0, normals[at]
                root = 1.0 + x / math.sqrt(9.0 * half - 3.0)
                if root >= 0.5 and uniforms[at + 1] * d > 0.0157 * (x * x) * (x * x):
                    values[k] /= math.sqrt(d * (root * root * root) / half)
                    at += 2
                    continue
            drawn = batch.gamma(half, at)
            if drawn is not None:
                gamma, at = drawn
                values[k] /= math.sqrt(gamma / half)
            else:
                spare.states[0] = batch.start + at * stride & MASK
                values[k] = float(studentise(values[k], df, spare))
                batch, at = self._gamma_batch(3 * n)
                normals, uniforms = batch.normals, batch.uniforms
        spare.states[0] = batch.start + at * stride & MASK
        return values

    def _gamma_batch(self, n: int) -> tuple[GammaBatch, int]:
        """A batch with the next ``n`` words of the spare stream, and the place of the first of them."""
        state, batch = self.spare.states[0], self.gammas
        if batch is not None:
            at = (state - batch.start) * self.inverse & MASK  # words between both, whatever has drawn them
            if at + n <= batch.size:
                return batch, at
        self.gammas = batch = GammaBatch(state, self.stride, max(n, BATCH))
        return batch, 0

    def _redrawn(self) -> float:
        """The variable whose word was rejected, drawn from its tail or wedge by the spare stream."""
        word = int(self.batch.words[self.next_rejected])
        self.rejections_read += 1
        self.next_rejected = self.batch.rejected[self.rejections_read]
        return float(finish_normal(word, self.spare))
