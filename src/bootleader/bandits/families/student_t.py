"""Student rewards: symmetric, with heavy tails."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from bootleader._core.sampling import standard_normal, studentise
from bootleader._core.validation import real
from bootleader.bandits.base import Draw, FamilyBandit, Floats, Means, Scale, validated_means, validated_sd


def student_draw(arm: Any, stream: Any) -> Any:
    """First + second * Student(third)."""
    return arm.first + arm.second * studentise(standard_normal(stream), arm.third, stream)


@dataclass(frozen=True)
class StudentTBandit(FamilyBandit):
    """Arm k pays means[k] plus a Student variable with ``df`` degrees of freedom, scaled to the given sd.

    Parameters
    ----------
    means : sequence of float, Uniform, Normal or Beta
        Mean reward of each arm; or the law by which every run draws them.
    df : float
        Degrees of freedom, above 2, so that the standard deviation is finite.
    sd : float, sequence of float, or LogUniform
        Standard deviation of the rewards: one number, one per arm, or the law by which every run draws one per arm.

    Raises
    ------
    TypeError
        If ``means`` is neither a sequence of numbers nor a law that draws them.
    ValueError
        If there are fewer than 2 arms, or a number is not finite, ``df`` is not above 2, or ``sd`` is not above 0.

    Examples
    --------
    >>> StudentTBandit(means=[1, 0], df=3)
    StudentTBandit(means=(1.0, 0.0), df=3, sd=1.0)
    """

    means: Means
    df: float
    sd: Scale = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", validated_means(self.means))
        real("df", self.df, "a finite number above 2 (the sd is infinite below)", low=2.0)
        object.__setattr__(self, "sd", validated_sd(self.sd, self.arms))

    @property
    def draw(self) -> Draw:
        return student_draw

    def family_parameters(self, mean: Floats, sd: Floats) -> tuple[Any, Any, Any, Any]:
        return mean, sd * math.sqrt((self.df - 2.0) / self.df), float(self.df), sd
