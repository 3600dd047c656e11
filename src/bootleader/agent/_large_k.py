"""Very many arms: the leader in O(log K), compiled when an agent first has them and kept on disk."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bootleader._core.leader_tree import EXCESS, new_tree
from bootleader._core.rng import GOLDEN, Stream
from bootleader._core.rules import IndexRule, Noise, SharedStatistics

Floats = npt.NDArray[np.float64]


class Level(NamedTuple):
    """What a crowd remembers beside the laws: where it looks for its leader."""

    level: list[float]
    excess: int


class Crowd:
    """The index laws of the playing arms, in the form that finds a leader fast.

    Laws are given as an array of three rows: locations, scales, shapes.
    """

    def __init__(self, rule: IndexRule, laws: Floats, level: Level | None = None) -> None:
        from bootleader.agent._large_k_kernels import KERNELS

        self._kernels = KERNELS
        self._noise = rule.noise
        self._forest = new_tree(laws.shape[1])
        self._state = np.zeros(1, np.uint64)
        if level is None:
            self.renew(laws)
        else:
            self._kernels.write(self._forest, self._drawn(laws))
            self._kernels.resume(self._forest, np.array(level.level), level.excess)

    def _drawn(self, laws: Floats) -> Floats:
        """Locations, scales and degrees of freedom of what is drawn."""
        laws = laws.copy()
        if self._noise == Noise.NONE:
            laws[1] = 0.0
        if self._noise != Noise.STUDENT:
            laws[2] = np.inf
        return laws

    def renew(self, laws: Floats) -> None:
        """Change all laws."""
        self._kernels.write(self._forest, self._drawn(laws))
        self._kernels.settle(self._forest)

    def set_law(self, place: int, location: float, scale: float, shape: float) -> None:
        """Change one arm's law."""
        scale = 0.0 if self._noise == Noise.NONE else scale
        df = shape if self._noise == Noise.STUDENT else np.inf
        self._kernels.set_law(self._forest, place, location, scale, df)

    def leader(self, spare: Stream) -> int:
        """Where the largest index is, all of them drawn anew."""
        self._state[0] = spare.states[0]
        place = self._kernels.leader(self._forest, self._state, np.uint64(spare.stride))
        spare.states[0] = int(self._state[0])
        return int(place)

    @property
    def level(self) -> Level:
        """What to give a new crowd for it to go on like this one."""
        return Level(self._forest.threshold.tolist(), int(self._forest.tally[EXCESS]))


def many_laws(rule: IndexRule, noise_sd: Any, moments: Floats, shared: SharedStatistics) -> Floats:
    """The laws of many arms at once (rows of ``moments``: count, mean, RSS)."""
    from bootleader.agent._large_k_kernels import laws_kernel

    laws = np.empty(moments.shape)
    laws_kernel(rule.law)(rule.params, noise_sd, moments, SharedStatistics(*map(float, shared)), laws)
    return laws


@cache
def compile_kernels(rule: IndexRule) -> None:
    """Compile all that very many arms with this rule need, or load it from disk, by playing two of them."""
    many_laws(rule, np.ones(2), np.full((3, 2), 3.0), SharedStatistics(1.0, 6, 2, math.inf))
    laws = np.array([[0.0, 1.0], [1.0, 1.0], [math.inf, math.inf]])
    crowd = Crowd(rule, laws, Crowd(rule, laws).level)
    crowd.set_law(0, 0.0, 1.0, math.inf)
    crowd.leader(Stream([1], 0, GOLDEN))
