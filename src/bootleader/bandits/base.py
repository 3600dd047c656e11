"""What a bandit is: a reward family, and how a run's arms are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bootleader._core.arm_parameters import ArmParameters
from bootleader._core.changes_and_delays import Changes
from bootleader._core.rng import Purpose, mix64, run_key, stream_of, stride_of, unit
from bootleader._core.validation import positive, real
from bootleader.bandits.priors import LogUniform, Prior, Uniform

Floats = npt.NDArray[np.float64]
Draw = Callable[..., float]


Means = Prior | tuple[float, ...]
Scale = float | tuple[float, ...] | LogUniform


@dataclass(frozen=True)
class Bandit:
    """Base of every bandit: a reward family, and how the arms of a run are drawn.

    ``draw(arm, stream)`` is the reward family: a scalar function that returns one reward of an arm with the
    parameters ``arm.first``, ``arm.second``, ``arm.third`` and ``arm.table``.

    Examples
    --------
    >>> from bootleader import GaussianBandit
    >>> bandit = GaussianBandit([1.0, 0.5, 0.0])
    >>> isinstance(bandit, Bandit), bandit.arms
    (True, 3)
    """

    @property
    def draw(self) -> Draw:
        """The reward family."""
        raise TypeError(f"{type(self).__name__} defines no reward draw")

    @property
    def arms(self) -> int:
        """Number of arms."""
        raise TypeError(f"{type(self).__name__} defines no arms")

    @property
    def uniforms(self) -> int:
        """Number of uniform random numbers that the arms of a run are computed from."""
        return 0

    def parameters_from(self, uniforms: Floats) -> ArmParameters:
        """Compute the arms of some runs from uniform random numbers.

        Parameters
        ----------
        uniforms : array, number x run
            As many uniform numbers for each run as :attr:`uniforms` says.

        Returns
        -------
        ArmParameters
            The parameters, means and standard deviations (arm x run).

        Raises
        ------
        TypeError
            If the class does not define how arms are drawn.
        """
        raise TypeError(f"{type(self).__name__} does not draw arms")

    @property
    def draws(self) -> tuple[Draw, ...]:
        """All reward families that the bandit pays from; one, unless it changes."""
        return (self.draw,)

    @property
    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward that can occur."""
        return -np.inf, np.inf

    def changes(self, parameters: ArmParameters, run: int) -> Changes | None:
        """Say how the arms of a run change over time.

        Parameters
        ----------
        parameters : ArmParameters
            Parameters of the arms (arm x run).
        run : int
            Place of the run among them.

        Returns
        -------
        Changes or None
            The changes; None if the rewards do not change.
        """
        return None

    def rescaled(self, parameters: ArmParameters, scale: float, shift: float) -> ArmParameters:
        """Compute the parameters with which the draw pays ``scale * reward + shift``.

        Parameters
        ----------
        parameters : ArmParameters
            Parameters of the arms (arm x run).
        scale, shift : float
            The change of unit.

        Returns
        -------
        ArmParameters
            The changed parameters; mean and sd may be left as they are.

        Raises
        ------
        TypeError
            If the class does not define how its rewards are rescaled.
        """
        raise TypeError(f"{type(self).__name__} does not define how its rewards are rescaled")

    def parameters_of(self, seed: int, runs: npt.NDArray[np.uint64]) -> ArmParameters:
        """Draw the arms of some runs.

        Parameters
        ----------
        seed : int
            The seed of the simulation.
        runs : array of uint64
            Numbers of the runs.

        Returns
        -------
        ArmParameters
            The parameters, means and standard deviations (arm x run).
        """
        key = run_key(seed, runs)
        place = np.arange(1, self.uniforms + 1, dtype=np.uint64)[:, None]
        return self.parameters_from(unit(mix64(stream_of(key, int(Purpose.ARMS), 0) + place * stride_of(key))))


class FamilyBandit(Bandit):
    """A bandit whose arms are given by their means and perhaps a standard deviation."""

    means: Any

    @property
    def arms(self) -> int:
        return self.means.arms if isinstance(self.means, Prior) else len(self.means)

    def family_parameters(self, mean: Floats, sd: Floats) -> tuple[Any, Any, Any, Any]:
        """Compute the parameters that the reward draw reads.

        Parameters
        ----------
        mean : array, arm x run
            Means of the arms.
        sd : array, arm x run
            Standard deviations as given to the bandit; 1 if it has none.

        Returns
        -------
        tuple
            First, second and third parameter of the draw, and the true standard deviation.

        Raises
        ------
        TypeError
            If the class does not define its parameters.
        """
        raise TypeError(f"{type(self).__name__} defines no parameters")

    def rescaled(self, parameters: ArmParameters, scale: float, shift: float) -> ArmParameters:
        return parameters._replace(first=scale * parameters.first + shift, second=scale * parameters.second)

    @property
    def uniforms(self) -> int:
        if isinstance(getattr(self, "sd", None), LogUniform):
            return 2 * self.arms  # the first half is the means', whether they are drawn or not
        return self.arms if isinstance(self.means, Prior) else 0

    def parameters_from(self, uniforms: Floats) -> ArmParameters:
        shape = (self.arms, uniforms.shape[1])
        mean = _drawn(self.means, uniforms[: self.arms], shape)
        given_sd = _drawn(getattr(self, "sd", 1.0), uniforms[self.arms :], shape)
        columns = self.family_parameters(mean, given_sd)
        if not isinstance(columns, tuple) or len(columns) != 4:
            raise TypeError(
                f"family_parameters of {type(self).__name__} must return first, second and third parameter of the "
                f"draw and the standard deviation, four in all; got {columns!r:.200}"
            )
        first, second, third, sd = (filled(shape, column) for column in columns)
        return ArmParameters(first, second, third, np.zeros(1), mean, sd)


def _drawn(spec: Any, uniforms: Floats, shape: tuple[int, int]) -> Floats:
    """A specification of means or sds as an (arm x run) array, made of as many uniform numbers if it is to be drawn."""
    if isinstance(spec, Prior):
        return spec.quantiles(uniforms)
    if isinstance(spec, LogUniform):
        log_low, log_high = np.log(spec.low), np.log(spec.high)
        return np.asarray(np.exp(log_low + (log_high - log_low) * uniforms))
    return filled(shape, np.reshape(spec, (-1, 1)))


def filled(shape: tuple[int, ...], values: Any) -> Floats:
    """An array of this shape that holds the values, repeated as broadcasting has it."""
    array = np.empty(shape)
    array[...] = values
    return array


def validated_means(
    means: Any, accepted: str = "finite numbers", *, low: float = -np.inf, open_low: bool = True, high: float = np.inf
) -> Means:
    """Check means, given or drawn, against what a reward family allows."""
    if isinstance(means, Uniform):
        real("means' low", means.low, accepted, low=low, open_low=open_low, high=high)
        real("means' high", means.high, accepted, low=low, open_low=open_low, high=high)
        return means
    if isinstance(means, Prior):
        if means.support[0] < low or means.support[1] > high:
            raise ValueError(f"means must be {accepted}, and {means!r} draws others too; {_instead(low, high)}")
        return means
    if isinstance(means, str) or not isinstance(means, Sequence | np.ndarray):
        raise TypeError(
            "means must be a sequence of numbers or Uniform(low, high, arms=K), Normal(mean, sd, arms=K) or "
            f"Beta(a, b, arms=K), got {means!r}"
        )
    if len(means) < 2:
        raise ValueError(f"a bandit needs at least 2 arms, got means={means!r}")
    return tuple(real("means", m, accepted, low=low, open_low=open_low, high=high) for m in means)


def _instead(low: float, high: float) -> str:
    """Laws of means within these limits."""
    uniform = "Uniform(low, high, arms=K)"
    return f"use Beta(a, b, arms=K) or {uniform}" if low <= 0.0 and high >= 1.0 else f"use {uniform}"


def validated_log_sd(sigma: Any) -> float:
    """Check the standard deviation of a logarithm: the variance of the amount has a factor exp(sigma^2)."""
    return real("sigma", sigma, "a finite number above 0, at most 16", low=0.0, high=16.0)


def validated_sd(sd: Any, arms: int) -> Scale:
    """Check a standard deviation: a number, one per arm, or drawn."""
    if isinstance(sd, LogUniform):
        return sd
    if isinstance(sd, Sequence | np.ndarray) and not isinstance(sd, str):
        if len(sd) != arms:
            raise ValueError(f"sd must be one number or one per arm: {arms} arms, got {len(sd)} numbers")
        return tuple(positive("sd", value) for value in sd)
    return positive("sd", sd)
