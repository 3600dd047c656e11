"""Laws by which every run of a linear bandit draws its coefficients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bootleader._core.validation import positive, real, whole

Floats = npt.NDArray[np.float64]


class CoefficientLaw:
    """Base of the laws of coefficients."""

    def uniforms(self, rows: int, dimension: int) -> int:
        """Count the uniform random numbers that the law needs.

        Parameters
        ----------
        rows, dimension : int
            Shape of the coefficients.

        Returns
        -------
        int
            One for each coefficient.
        """
        return rows * dimension

    def start(self, uniforms: Floats, rows: int, dimension: int) -> Floats:
        """The coefficients of a run (row x d): one row for all arms, or one for each."""
        raise TypeError(f"{type(self).__name__} defines no coefficients")


@dataclass(frozen=True)
class UnitCoefficients(CoefficientLaw):
    """A vector along U(-.5, .5)^d, scaled to a length; coefficients beyond ``useful`` are 0.

    Parameters
    ----------
    length : float
        Length of the vector, above 0.
    useful : int, optional
        Number of features that matter: the first ones; all by default.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Examples
    --------
    >>> UnitCoefficients(useful=3)
    UnitCoefficients(length=1.0, useful=3)
    """

    length: float = 1.0
    useful: int | None = None

    def __post_init__(self) -> None:
        positive("length", self.length)
        if self.useful is not None:
            whole("useful", self.useful, 1)

    def start(self, uniforms: Floats, rows: int, dimension: int) -> Floats:
        """Compute the coefficients of a run.

        Parameters
        ----------
        uniforms : array
            As many numbers as :meth:`uniforms` says.
        rows, dimension : int
            Shape of the coefficients.

        Returns
        -------
        array, row x d
            The coefficients.
        """
        drawn = uniforms.reshape(rows, dimension) - 0.5
        if self.useful is not None:
            drawn[:, self.useful :] = 0.0
        return np.asarray(self.length * drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


@dataclass(frozen=True)
class UniformCoefficients(CoefficientLaw):
    """Independent uniform coefficients; the first ones may have another law, for an intercept.

    Parameters
    ----------
    low, high : float
        Limits of the coefficients.
    intercept : tuple of two floats, optional
        Limits of the first coefficient, if it has others.
    useful : int, optional
        Number of coefficients that are drawn: the first ones; the others are 0. All by default.

    Raises
    ------
    ValueError
        If a number is not finite, or ``low`` is above ``high``.

    Examples
    --------
    >>> UniformCoefficients(0.01, 0.05)
    UniformCoefficients(low=0.01, high=0.05, intercept=None, useful=None)
    """

    low: float
    high: float
    intercept: tuple[float, float] | None = None
    useful: int | None = None

    def __post_init__(self) -> None:
        for name, low, high in (("", self.low, self.high), ("intercept's ", *(self.intercept or (0.0, 0.0)))):
            if real(f"{name}low", low) > real(f"{name}high", high):
                raise ValueError(f"{name}low must be at most {name}high, got {low!r} and {high!r}")
        if self.intercept is not None:
            object.__setattr__(self, "intercept", tuple(self.intercept))
        if self.useful is not None:
            whole("useful", self.useful, 1)

    def start(self, uniforms: Floats, rows: int, dimension: int) -> Floats:
        """Compute the coefficients of a run.

        Parameters
        ----------
        uniforms : array
            As many numbers as :meth:`uniforms` says.
        rows, dimension : int
            Shape of the coefficients.

        Returns
        -------
        array, row x d
            The coefficients.
        """
        share = uniforms.reshape(rows, dimension)
        drawn = np.asarray(self.low + (self.high - self.low) * share)
        if self.intercept is not None:
            low, high = self.intercept
            drawn[:, 0] = low + (high - low) * share[:, 0]
        if self.useful is not None:
            drawn[:, self.useful :] = 0.0
        return drawn


@dataclass(frozen=True)
class GradedCoefficients(CoefficientLaw):
    """Arm k of K has coefficients of length k/K, along random signs plus U(-.95, .95)^d.

    Examples
    --------
    >>> GradedCoefficients().start(np.full(8, 0.25), 2, 2).round(3).tolist()
    [[-0.354, -0.354], [-0.707, -0.707]]
    """

    def uniforms(self, rows: int, dimension: int) -> int:
        """Count the uniform random numbers that the law needs.

        Parameters
        ----------
        rows, dimension : int
            Shape of the coefficients.

        Returns
        -------
        int
            Two for each coefficient.
        """
        return 2 * rows * dimension

    def start(self, uniforms: Floats, rows: int, dimension: int) -> Floats:
        """Compute the coefficients of a run.

        Parameters
        ----------
        uniforms : array
            As many numbers as :meth:`uniforms` says.
        rows, dimension : int
            Shape of the coefficients.

        Returns
        -------
        array, row x d
            The coefficients.
        """
        first, second = uniforms.reshape(2, rows, dimension)
        drawn = np.where(first < 0.5, -1.0, 1.0) + 0.95 * (2.0 * second - 1.0)
        length = np.arange(1, rows + 1)[:, None] / rows
        return np.asarray(length * drawn / np.linalg.norm(drawn, axis=1, keepdims=True))
