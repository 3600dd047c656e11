"""The reward families: for each its scalar draw, and the bandit that is made of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bootleader._core.parameters import ArmParameters
from bootleader._core.rng import uniform
from bootleader._core.sampling import standard_exponential, standard_normal, studentise
from bootleader._core.validation import positive, real
from bootleader.bandits.base import (
    Draw,
    FamilyBandit,
    Floats,
    LogUniform,
    Means,
    Scale,
    validated_means,
    validated_sd,
)


def gaussian_draw(arm: Any, stream: Any) -> Any:
    """N(first, second^2)."""
    return arm.first + arm.second * standard_normal(stream)


def exponential_draw(arm: Any, stream: Any) -> Any:
    """A shift, first, plus Exp(second)."""
    return arm.first + arm.second * standard_exponential(stream)


def logistic_draw(arm: Any, stream: Any) -> Any:
    """Logistic(first, second), by inversion at the middle of one of 2^53 equal cells."""
    u = uniform(stream)
    # The half cell is subtracted from 1 - u, which has room for it; added to the largest u it would round up to 1.
    return arm.first + arm.second * math.log((u + 2.0**-54) / (1.0 - u - 2.0**-54))


def student_draw(arm: Any, stream: Any) -> Any:
    """First + second * Student(third)."""
    return arm.first + arm.second * studentise(standard_normal(stream), arm.third, stream)


def bernoulli_draw(arm: Any, stream: Any) -> Any:
    """Third (1, unless rescaled) with probability first, else second (0)."""
    return arm.third if uniform(stream) < arm.first else arm.second


def revenue_draw(arm: Any, stream: Any) -> Any:
    """The base (0, unless shifted), plus, with probability third, a lognormal amount exp(first + second * normal)."""
    if uniform(stream) >= arm.third:
        return arm.table[0]
    return arm.table[0] + math.exp(arm.first + arm.second * standard_normal(stream))


@dataclass(frozen=True)
class GaussianBandit(FamilyBandit):
    """Arm k pays N(means[k], sd^2).

    Parameters
    ----------
    means : sequence of float, or Uniform
        Mean reward of each arm; or the law by which every run draws them.
    sd : float, sequence of float, or LogUniform
        Standard deviation of the rewards: one number, one per arm, or the law by which every run draws one per arm.

    Raises
    ------
    TypeError
        If ``means`` is not a sequence of numbers or :class:`Uniform`.
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


@dataclass(frozen=True)
class LogisticBandit(GaussianBandit):
    """Arm k pays a logistic variable with mean means[k] and standard deviation sd.

    Parameters
    ----------
    means : sequence of float, or Uniform
        Mean reward of each arm; or the law by which every run draws them.
    sd : float, sequence of float, or LogUniform
        Standard deviation of the rewards: one number, one per arm, or the law by which every run draws one per arm.

    Raises
    ------
    TypeError
        If ``means`` is not a sequence of numbers or :class:`Uniform`.
    ValueError
        If there are fewer than 2 arms, or a number is not finite, or ``sd`` is not above 0.

    Examples
    --------
    >>> LogisticBandit(means=[1, 0], sd=2)
    LogisticBandit(means=(1.0, 0.0), sd=2.0)
    """

    @property
    def draw(self) -> Draw:
        return logistic_draw

    def family_parameters(self, mean: Floats, sd: Floats) -> tuple[Any, Any, Any, Any]:
        return mean, sd * (math.sqrt(3.0) / math.pi), 0.0, sd


@dataclass(frozen=True)
class StudentTBandit(FamilyBandit):
    """Arm k pays means[k] plus a Student variable with ``df`` degrees of freedom, scaled to the given sd.

    Parameters
    ----------
    means : sequence of float, or Uniform
        Mean reward of each arm; or the law by which every run draws them.
    df : float
        Degrees of freedom, above 2, so that the standard deviation is finite.
    sd : float, sequence of float, or LogUniform
        Standard deviation of the rewards: one number, one per arm, or the law by which every run draws one per arm.

    Raises
    ------
    TypeError
        If ``means`` is not a sequence of numbers or :class:`Uniform`.
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


@dataclass(frozen=True)
class ExponentialBandit(FamilyBandit):
    """Arm k pays shift + Exp(means[k] - shift), so that its mean is means[k].

    Parameters
    ----------
    means : sequence of float, or Uniform
        Mean reward of each arm; or the law by which every run draws them.
    shift : float
        Smallest possible reward, below every mean.

    Raises
    ------
    TypeError
        If ``means`` is not a sequence of numbers or :class:`Uniform`.
    ValueError
        If there are fewer than 2 arms, or a number is not finite, or a mean is not above the shift.

    Examples
    --------
    >>> ExponentialBandit(means=[6, 7], shift=5)
    ExponentialBandit(means=(6.0, 7.0), shift=5)
    """

    means: Means
    shift: float = 0.0

    def __post_init__(self) -> None:
        shift = real("shift", self.shift)
        drawn = isinstance(self.means, LogUniform) or hasattr(self.means, "arms")  # a drawn mean is above low, a.s.
        accepted = f"finite numbers {'of at least' if drawn else 'above'} the shift, {self.shift!r}"
        object.__setattr__(self, "means", validated_means(self.means, accepted, low=shift, open_low=not drawn))

    @property
    def draw(self) -> Draw:
        return exponential_draw

    def family_parameters(self, mean: Floats, sd: Floats) -> tuple[Any, Any, Any, Any]:
        return float(self.shift), mean - self.shift, 0.0, mean - self.shift

    @property
    def reward_range(self) -> tuple[float, float]:
        return float(self.shift), math.inf


@dataclass(frozen=True)
class BernoulliBandit(FamilyBandit):
    """Arm k pays 1 with probability means[k], else 0.

    Parameters
    ----------
    means : sequence of float, or Uniform
        Probability that each arm pays; or the law by which every run draws them.

    Raises
    ------
    TypeError
        If ``means`` is not a sequence of numbers or :class:`Uniform`.
    ValueError
        If there are fewer than 2 arms, or a number is not a probability.

    Examples
    --------
    >>> BernoulliBandit(means=[0.02, 0.03])
    BernoulliBandit(means=(0.02, 0.03))
    """

    means: Means

    def __post_init__(self) -> None:
        accepted = "probabilities, from 0 to 1"
        object.__setattr__(self, "means", validated_means(self.means, accepted, low=0.0, open_low=False, high=1.0))

    @property
    def draw(self) -> Draw:
        return bernoulli_draw

    def family_parameters(self, mean: Floats, sd: Floats) -> tuple[Any, Any, Any, Any]:
        return mean, 0.0, 1.0, np.sqrt(mean * (1.0 - mean))

    @property
    def reward_range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def rescaled(self, parameters: ArmParameters, scale: float, shift: float) -> ArmParameters:
        return parameters._replace(second=scale * parameters.second + shift, third=scale * parameters.third + shift)


@dataclass(frozen=True)
class RevenueBandit(FamilyBandit):
    """Arm k pays nothing, or with probability ``conversion`` a lognormal amount; its mean is means[k].

    Parameters
    ----------
    means : sequence of float, or Uniform
        Mean revenue a visitor, the non-buyers included; above 0.
    conversion : float
        Probability that a visitor pays, above 0 and at most 1.
    sigma : float
        Standard deviation of the log amount.

    Raises
    ------
    TypeError
        If ``means`` is not a sequence of numbers or :class:`Uniform`.
    ValueError
        If there are fewer than 2 arms, or a number is not finite, a mean or ``sigma`` is not above 0, or
        ``conversion`` is not a probability.

    Examples
    --------
    >>> RevenueBandit(means=[1.0, 1.2], conversion=0.1)
    RevenueBandit(means=(1.0, 1.2), conversion=0.1, sigma=1.0)
    """

    means: Means
    conversion: float = 0.05
    sigma: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", validated_means(self.means, "finite numbers above 0", low=0.0))
        real("conversion", self.conversion, "a probability above 0, at most 1", low=0.0, high=1.0)
        positive("sigma", self.sigma)

    @property
    def draw(self) -> Draw:
        return revenue_draw

    def family_parameters(self, mean: Floats, sd: Floats) -> tuple[Any, Any, Any, Any]:
        log_amount = np.log(mean / self.conversion) - 0.5 * self.sigma**2
        second_moment = mean * mean * (math.exp(self.sigma**2) / self.conversion)
        return log_amount, float(self.sigma), float(self.conversion), np.sqrt(second_moment - mean * mean)

    @property
    def reward_range(self) -> tuple[float, float]:
        return 0.0, math.inf

    def rescaled(self, parameters: ArmParameters, scale: float, shift: float) -> ArmParameters:
        return parameters._replace(first=parameters.first + np.log(scale), table=scale * parameters.table + shift)
