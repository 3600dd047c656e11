"""Gaussian rewards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bootleader._core.sampling import standard_normal
from bootleader.bandits.base import Draw, FamilyBandit, Floats, Means, Scale, validated_means, validated_sd


def gaussian_draw(arm: Any, stream: Any) -> Any:
    """N(first, second^2)."""
    return arm.first + arm.second * standard_normal(stream)


@dataclass(frozen=True)
class GaussianBandit(FamilyBandit):
    """Arm k pays N(means[k], sd^2).

    Parameters
    ----------
    means : sequence of float, Uniform, Normal or Beta
        Mean reward of each arm; or the law by which every run draws them.
    sd : float, sequence of float, or LogUniform
        Standard deviation of the rewards: one number, one per arm, or the law by which every run draws one per arm.

    Raises
    ------
    TypeError
        If ``means`` is neither a sequence of numbers nor a law that draws them.
    ValueError
        If there are fewer than 2 arms, or a number is not finite, or ``sd`` is not above 0.

    Examples
    --------
    >>> GaussianBandit(means=[1, 0])
    GaussianBandit(means=(1.0, 0.0), sd=1.0)
    """

    means: Means
    sd: Scale = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", validated_means(self.means))
        object.__setattr__(self, "sd", validated_sd(self.sd, self.arms))

    @property
    def draw(self) -> Draw:
        return gaussian_draw

    def family_parameters(self, mean: Floats, sd: Floats) -> tuple[Any, Any, Any, Any]:
        return mean, sd, 0.0, sd
