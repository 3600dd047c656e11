"""Laws by which every run draws its own arms: their means, and standard deviations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from bootleader._core.rng import UNIT
from bootleader._core.validation import SMALLEST, positive, real, whole

Floats = npt.NDArray[np.float64]
SMALLEST_SHAPE: Final = 1e-3  # of a beta prior: with less, most means are closer to 0 or 1 than any float
LARGEST_SHAPE: Final = 1e9


class Prior:
    """Base of the laws of means: their number, what they can be, and how they come from uniform numbers."""

    arms: int

    @property
    def support(self) -> tuple[float, float]:
        """Between what numbers the means are."""
        raise TypeError(f"{type(self).__name__} defines no support")

    def quantiles(self, uniforms: Floats) -> Floats:
        """Compute the means from uniform numbers in [0, 1), by inversion."""
        raise TypeError(f"{type(self).__name__} defines no quantiles")


@dataclass(frozen=True)
class Uniform(Prior):
    """Means that every run draws for itself, independently and uniformly from [low, high].

    Parameters
    ----------
    low : float
        Smallest possible mean.
    high : float
        Largest possible mean, above ``low``.
    arms : int
        Number of arms, at least 2.

    Raises
    ------
    ValueError
        If a number is not finite, ``high`` is not above ``low``, or there are fewer than 2 arms.

    Examples
    --------
    >>> Uniform(5, 7, arms=10)
    Uniform(low=5, high=7, arms=10)
    """

    low: float
    high: float
    arms: int

    def __post_init__(self) -> None:
        real("low", self.low)
        if real("high", self.high) <= self.low:
            raise ValueError(f"Uniform needs low < high, got low={self.low!r}, high={self.high!r}")
        whole("arms", self.arms, 2)

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest possible mean."""
        return float(self.low), float(self.high)

    def quantiles(self, uniforms: Floats) -> Floats:
        """Compute the means from uniform numbers.

        Parameters
        ----------
        uniforms : array
            Numbers in [0, 1).

        Returns
        -------
        array
            The means, of the same shape.
        """
        return np.asarray(self.low + (self.high - self.low) * uniforms)


@dataclass(frozen=True)
class Normal(Prior):
    """Means that every run draws for itself, independently from N(mean, sd^2).

    Any real number can be drawn, so it is a law for Gaussian, logistic and Student bandits.

    Parameters
    ----------
    mean : float
        Mean of the means.
    sd : float
        Standard deviation of the means, above 0.
    arms : int
        Number of arms, at least 2.

    Raises
    ------
    ValueError
        If a number is not finite, ``sd`` is not above 0, or there are fewer than 2 arms.

    Examples
    --------
    >>> from bootleader import GaussianBandit
    >>> GaussianBandit(Normal(0, 1, arms=10))
    GaussianBandit(means=Normal(mean=0, sd=1, arms=10), sd=1.0)
    """

    mean: float
    sd: float
    arms: int

    def __post_init__(self) -> None:
        real("mean", self.mean)
        positive("sd", self.sd)
        whole("arms", self.arms, 2)

    @property
    def support(self) -> tuple[float, float]:
        """All real numbers."""
        return -np.inf, np.inf

    def quantiles(self, uniforms: Floats) -> Floats:
        """Compute the means from uniform numbers.

        Parameters
        ----------
        uniforms : array
            Numbers in [0, 1).

        Returns
        -------
        array
            The means, of the same shape.
        """
        from scipy.special import ndtri

        return np.asarray(self.mean + self.sd * ndtri(_middle(uniforms)))


@dataclass(frozen=True)
class Beta(Prior):
    """Means that every run draws for itself, independently from Beta(a, b).

    All means are between 0 and 1.

    Parameters
    ----------
    a, b : float
        Parameters of the beta law, from 0.001 to 1e9. The mean of the means is a / (a + b).
    arms : int
        Number of arms, at least 2.

    Raises
    ------
    ValueError
        If ``a`` or ``b`` is not a number from 0.001 to 1e9, or there are fewer than 2 arms.

    Examples
    --------
    >>> from bootleader import BernoulliBandit
    >>> BernoulliBandit(Beta(2, 50, arms=10))
    BernoulliBandit(means=Beta(a=2, b=50, arms=10))
    """

    a: float
    b: float
    arms: int

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            accepted = f"a number from {SMALLEST_SHAPE:g} to {LARGEST_SHAPE:g}"
            real(name, getattr(self, name), accepted, low=SMALLEST_SHAPE, open_low=False, high=LARGEST_SHAPE)
        whole("arms", self.arms, 2)

    @property
    def support(self) -> tuple[float, float]:
        """From 0 to 1."""
        return 0.0, 1.0

    def quantiles(self, uniforms: Floats) -> Floats:
        """Compute the means from uniform numbers.

        Parameters
        ----------
        uniforms : array
            Numbers in [0, 1).

        Returns
        -------
        array
            The means, of the same shape: above 0 and below 1, though rounded.
        """
        from scipy.special import betaincinv

        return np.clip(betaincinv(self.a, self.b, _middle(uniforms)), SMALLEST, 1.0 - UNIT)


def _middle(uniforms: Floats) -> Floats:
    """The middle of the cell of each uniform number, a multiple of UNIT: above 0 and below 1, exactly."""
    return uniforms + 0.5 * UNIT


@dataclass(frozen=True)
class LogUniform:
    """Standard deviations that every run draws for each arm, uniformly on the log scale from [low, high].

    Parameters
    ----------
    low : float
        Smallest possible standard deviation, above 0.
    high : float
        Largest possible standard deviation, above ``low``.

    Raises
    ------
    ValueError
        If a number is not finite and above 0, or ``high`` is not above ``low``.

    Examples
    --------
    >>> LogUniform(0.1, 10)
    LogUniform(low=0.1, high=10)
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        positive("low", self.low)
        if positive("high", self.high) <= self.low:
            raise ValueError(f"LogUniform needs low < high, got low={self.low!r}, high={self.high!r}")
