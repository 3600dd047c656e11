"""Very many arms: the leader in O(log K), compiled when an agent first has them and kept on disk."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bootleader._core.leader_tree import EXCESS, new_tree
from bootleader._core.rng import GOLDEN
from bootleader._core.rules import IndexRule, Noise, SharedStatistics
from bootleader.agent._laws import Law
from bootleader.agent._random_streams import SpareStream

Floats = npt.NDArray[np.float64]


class Thresholds(NamedTuple):
    """What a leader tree remembers beside the laws: where it looks for its leader."""

    values: list[float]
    excess: int


class LargeK:
    """The index laws of the playing arms in a leader tree.

    Parameters
    ----------
    rule : IndexRule
        Whose indices are drawn.
    laws : array
        Three rows: locations, scales, shapes.
    thresholds : Thresholds, optional
        Those of an earlier tree over the same arms, to start the search from.
    resume : bool
        Whether to keep the thresholds exactly as they are given, so that choices go on as they would have.
    """

    def __init__(
        self, rule: IndexRule, laws: Floats, thresholds: Thresholds | None = None, *, resume: bool = False
    ) -> None:
        from bootleader.agent._large_k_kernels import KERNELS

        self._kernels = KERNELS
        self._noise = rule.noise
        self._tree = new_tree(laws.shape[1])
        self._state = np.zeros(1, np.uint64)
        self._kernels.write(self._tree, self._drawn(laws))
        if thresholds is not None:
            self._tree.threshold[:] = thresholds.values
        if resume and thresholds is not None:
            self._kernels.restore(self._tree, np.array(thresholds.values), thresholds.excess)
        else:
            self._kernels.rebuild(self._tree)

    def _drawn(self, laws: Floats) -> Floats:
        """Locations, scales and degrees of freedom of what is drawn."""
        laws = laws.copy()
        if self._noise == Noise.NONE:
            laws[1] = 0.0
        if self._noise != Noise.STUDENT:
            laws[2] = np.inf
        return laws

    def set_law(self, place: int, law: Law) -> None:
        """Change one arm's law."""
        location, scale, shape = law
        scale = 0.0 if self._noise == Noise.NONE else scale
        df = shape if self._noise == Noise.STUDENT else np.inf
        self._kernels.set_law(self._tree, place, location, scale, df)

    def leader(self, spare: SpareStream) -> int:
        """Where the largest index is, all of them drawn anew."""
        self._state[0] = spare.states[0]
        place = self._kernels.leader(self._tree, self._state, np.uint64(spare.stride))
        spare.states[0] = int(self._state[0])
        return int(place)

    @property
    def thresholds(self) -> Thresholds:
        """What to give a new tree for it to go on like this one."""
        return Thresholds(self._tree.threshold.tolist(), int(self._tree.tally[EXCESS]))


def many_laws(rule: IndexRule, noise_sd: Any, moments: Floats, shared: SharedStatistics) -> Floats:
    """The laws of many arms at once (rows of ``moments``: mean, count, RSS, and fourth where the rule asks for it)."""
    from bootleader.agent._large_k_kernels import laws_kernel

    laws = np.empty((3, moments.shape[1]))
    kernel = laws_kernel(rule.law, rule.fourth_moment)
    kernel(rule.params, noise_sd, moments, SharedStatistics(*map(float, shared)), laws)
    return laws


@cache
def compile_kernels(rule: IndexRule) -> None:
    """Compile all that very many arms with this rule need, or load it from disk, by playing two of them."""
    moments = np.full((4 if rule.fourth_moment else 3, 2), 3.0)
    many_laws(rule, np.ones(2), moments, SharedStatistics(1.0, 6, 2, math.inf, 1.0))
    laws = np.array([[0.0, 1.0], [1.0, 1.0], [math.inf, math.inf]])
    tree = LargeK(rule, laws, LargeK(rule, laws).thresholds, resume=True)
    tree.set_law(0, (0.0, 1.0, math.inf))
    tree.leader(SpareStream(1, GOLDEN))
