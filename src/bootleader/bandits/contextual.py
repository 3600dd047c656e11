"""What a contextual bandit is: features of the arms, or a context, in every round, and rewards that depend on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bootleader._core.context_parameters import ContextParameters
from bootleader._core.rng import Purpose, mix64, run_key, stream_of, stride_of, unit

Floats = npt.NDArray[np.float64]


def identity(linear: Any) -> Any:
    """The mean reward is linear in the features."""
    return linear


@dataclass(frozen=True)
class ContextualBandit:
    """Base of every bandit with contexts.

    Every round shows features: a column for each arm (d x K), or one context for all arms (d x 1). In a run the mean
    reward of an arm is ``link(features * coefficients)``, with coefficients that the arms share, or with one context a
    row of coefficients for each arm. A bandit of your own defines the properties below and :meth:`parameters_from`; its
    three functions are scalar code that also runs compiled.

    Examples
    --------
    >>> from bootleader import LinearBandit
    >>> bandit = LinearBandit(features=[[1.0, 0.0], [0.0, 1.0]], coefficients=[0.3, 0.5])
    >>> isinstance(bandit, ContextualBandit), bandit.arms, bandit.dimension, bandit.disjoint
    (True, 2, 2, False)
    """

    @property
    def arms(self) -> int:
        """Number of arms."""
        raise TypeError(f"{type(self).__name__} defines no arms")

    @property
    def dimension(self) -> int:
        """Number of features, d."""
        raise TypeError(f"{type(self).__name__} defines no dimension")

    @property
    def disjoint(self) -> bool:
        """Whether all arms see one context and every arm has coefficients of its own."""
        return False

    @property
    def changing(self) -> bool:
        """Whether features are drawn anew in every round."""
        return False

    @property
    def draw(self) -> Callable[..., None]:
        """How features are drawn: ``draw(table, features, stream)`` overwrites ``features`` (d x K, or d x 1)."""
        return no_draw

    @property
    def link(self) -> Callable[..., float]:
        """The mean reward as a function of features times coefficients."""
        return identity

    @property
    def pay(self) -> Callable[..., float]:
        """The reward: ``pay(arm, stream)`` with ``arm.first`` the mean, and ``arm.second`` and ``arm.third``."""
        raise TypeError(f"{type(self).__name__} defines no rewards")

    @property
    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward that can occur."""
        return -np.inf, np.inf

    @property
    def uniforms(self) -> int:
        """Number of uniform random numbers that a run is computed from."""
        return 0

    def parameters_from(self, uniforms: Floats) -> ContextParameters:
        """Compute a run's features, coefficients and noise from uniform random numbers.

        Parameters
        ----------
        uniforms : array
            As many uniform numbers as :attr:`uniforms` says.

        Returns
        -------
        ContextParameters
            What the run is made of.

        Raises
        ------
        TypeError
            If the class does not define how runs are drawn.
        """
        raise TypeError(f"{type(self).__name__} does not draw runs")

    def parameters_of(self, seed: int, run: int) -> ContextParameters:
        """Draw what a run is made of.

        Parameters
        ----------
        seed : int
            The seed of the simulation.
        run : int
            Number of the run.

        Returns
        -------
        ContextParameters
            Features, coefficients and noise.
        """
        key = run_key(np.array([seed], np.uint64), np.array([run], np.uint64))
        place = np.arange(1, self.uniforms + 1, dtype=np.uint64)
        return self.parameters_from(unit(mix64(stream_of(key, int(Purpose.ARMS), 0) + place * stride_of(key))))


def no_draw(table: Any, features: Any, stream: Any) -> None:
    """Leave the features as they are."""
