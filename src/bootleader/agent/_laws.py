"""The index laws of the playing arms, in the form that a choice reads."""

from __future__ import annotations

import math
from collections.abc import Container
from typing import TYPE_CHECKING, Final, NamedTuple

from bootleader._core.rules import SharedStatistics

if TYPE_CHECKING:
    from bootleader.agent._large_k import LargeK

Law = tuple[float, float, float]


class Pooled(NamedTuple):
    """What is pooled over the arms; the kurtosis is 0 unless the rule asks for fourth moments."""

    variance: float
    kurtosis: float


NOT_POOLED: Final = Pooled(0.0, 0.0)


class MutableStatistics:
    """What a law may know of one arm, in an object that is used again and again."""

    __slots__ = ("count", "fourth", "mean", "noise_sd", "rss")

    def __init__(self) -> None:
        self.count = self.mean = self.rss = self.fourth = 0.0
        self.noise_sd = 1.0


class Laws:
    """The playing arms, and each one's index law: location + scale * noise, the noise having a shape.

    Attributes
    ----------
    playing : list of int
        Slots of the arms that a leader is chosen from.
    place : dict
        The place of each of them in ``playing``.
    shared : SharedStatistics
        What the laws depend on beside their arm, such as the pooled variance and kurtosis.
    pooled_at : int
        Round at which these were pooled.
    renew_at : float
        Round from which all laws are computed anew.
    tree : LargeK or None
        Finds the leader among very many arms.
    """

    __slots__ = ("location", "place", "playing", "pooled_at", "renew_at", "scale", "shape", "shared", "tree")

    def __init__(
        self,
        playing: list[int],
        columns: list[list[float]],
        shared: SharedStatistics,
        pooled_at: int = 0,
        renew_at: float = math.inf,
        tree: LargeK | None = None,
        place: dict[int, int] | None = None,
    ) -> None:
        self.playing = playing
        self.place = {slot: place for place, slot in enumerate(playing)} if place is None else place
        self.location, self.scale, self.shape = columns
        self.shared, self.pooled_at, self.renew_at = shared, pooled_at, renew_at
        self.tree = tree

    @classmethod
    def none(cls, pooled: Pooled = NOT_POOLED, pooled_at: int = 0) -> Laws:
        """Before any arm plays."""
        return cls([], [[], [], []], SharedStatistics(pooled.variance, 0, 0, math.inf, pooled.kurtosis), pooled_at)

    @property
    def variance(self) -> float:
        """Pooled variance."""
        return self.shared.variance  # type: ignore[no-any-return]

    @property
    def pooled(self) -> Pooled:
        """What was pooled over the arms."""
        return Pooled(self.shared.variance, self.shared.kurtosis)

    def only(self, slots: Container[int]) -> Laws:
        """The laws of some of the playing arms; without a tree."""
        places = [place for place, slot in enumerate(self.playing) if slot in slots]
        columns = (
            [[column[place] for place in places] for column in (self.location, self.scale, self.shape)]
            if self.location
            else [[], [], []]
        )
        playing = [self.playing[place] for place in places]
        return Laws(playing, columns, self.shared, self.pooled_at, self.renew_at)

    def set(self, place: int, law: Law) -> None:
        """Change one arm's law."""
        self.location[place], self.scale[place], self.shape[place] = law
        if self.tree is not None:
            self.tree.set_law(place, law)
