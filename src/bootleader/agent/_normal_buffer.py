"""The agent's normal variables, made by NumPy in batches and read one by one.

A stream's word at any place is a function of that place, so a batch can be made ahead of time without moving the
stream: the state is still the place of the last variable read, and that is all a saved agent has to remember.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from bootleader._core.rng import MASK, Stream, mix64, unit
from bootleader._core.sampling import EDGES, LAYER_MASK, SIGN_BIT, finish_normal, rejected

BATCH: Final = 2048

# The ziggurat's tables, for both signs: one look at a table where a scalar takes a look and a branch.
SIGNED_LAYER_MASK: Final = LAYER_MASK | SIGN_BIT
SIGNED_EDGES: Final = np.concatenate([EDGES, -EDGES])


class NormalBuffer:
    """Standard normals from a noise stream; what the ziggurat rejects is settled with the spare stream.

    ``values[at:]`` are ready to be read, except where a word was rejected (place ``next_rejected`` is the first such):
    there the value is settled when it is read.
    """

    def __init__(self, state: int, stride: int) -> None:
        self._start = state
        self._stride = stride
        self.at = 0
        self.size = 0
        self.next_rejected = 0
        self.values: list[float] = []

    @property
    def state(self) -> int:
        """The stream's state: the place of the last word read."""
        return (self._start + self.at * self._stride) & MASK

    def refill(self, need: int) -> None:
        """Make at least ``need`` variables ready, starting where reading has come to."""
        self._start = self.state
        self.at = 0
        self.size = max(need, BATCH)
        steps = np.arange(1, self.size + 1, dtype=np.uint64) * np.uint64(self._stride)
        self._words = mix64(np.uint64(self._start) + steps)
        layer = (self._words & SIGNED_LAYER_MASK).view(np.int64)
        self.values = (unit(self._words) * SIGNED_EDGES[layer]).tolist()
        self._rejected = [*np.flatnonzero(rejected(self._words)).tolist(), self.size]
        self._rejections_read = 0
        self.next_rejected = self._rejected[0]

    def take(self, n: int, spare: Stream) -> list[float]:
        """The next ``n`` variables."""
        start = self.at
        stop = start + n
        if stop > self.size:
            self.refill(n)
            start, stop = 0, n
        self.at = stop
        values = self.values[start:stop]
        while self.next_rejected < stop:
            place = self.next_rejected - start
            values[place] = self._settled_rejection(spare)
        return values

    def settle(self, spare: Stream) -> float:
        """The next variable."""
        return self.take(1, spare)[0]

    def _settled_rejection(self, spare: Stream) -> float:
        """The variable whose word was rejected, and a look ahead to the next such."""
        word = int(self._words[self.next_rejected])
        self._rejections_read += 1
        self.next_rejected = self._rejected[self._rejections_read]
        return float(finish_normal(word, spare))
