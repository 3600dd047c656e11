"""Bandits whose rewards change over time: abruptly, on a random walk, or with the season.

Regret is against the best arm of each round.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bootleader._core.arm_parameters import ArmParameters
from bootleader._core.changes_and_delays import Changes, no_changes
from bootleader._core.validation import positive, real, whole
from bootleader.bandits.base import Bandit, Draw
from bootleader.bandits.families.bernoulli import BernoulliBandit
from bootleader.bandits.families.exponential import ExponentialBandit
from bootleader.bandits.families.gaussian import GaussianBandit
from bootleader.bandits.families.logistic import LogisticBandit
from bootleader.bandits.families.student_t import StudentTBandit

Floats = npt.NDArray[np.float64]

MOVABLE = (GaussianBandit, LogisticBandit, StudentTBandit, ExponentialBandit, BernoulliBandit)


@dataclass(frozen=True)
class Piecewise(Bandit):
    """One bandit after another: the rewards change abruptly.

    Parameters
    ----------
    phases : sequence of (bandit, rounds)
        Bandits with the same number of arms, and for how many rounds each is played. The last one is played to the end,
        whatever its number of rounds.

    Raises
    ------
    TypeError
        If a phase is not a pair of a bandit that does not change and a number of rounds.
    ValueError
        If the bandits have different numbers of arms, or there is none.

    Examples
    --------
    >>> from bootleader import BernoulliBandit
    >>> swap = Piecewise([(BernoulliBandit([0.2, 0.8]), 1000), (BernoulliBandit([0.8, 0.2]), 1000)])
    >>> swap.arms
    2
    """

    phases: Sequence[tuple[Bandit, int]]

    def __post_init__(self) -> None:
        for phase in self.phases:
            if not isinstance(phase, Sequence) or len(phase) != 2:
                raise TypeError(f"a phase must be a pair, such as (BernoulliBandit([0.2, 0.8]), 1000), got {phase!r}")
        phases = tuple((_stationary("a phase", bandit), whole("rounds", rounds, 1)) for bandit, rounds in self.phases)
        if not phases:
            raise ValueError("Piecewise needs at least one phase, such as (BernoulliBandit([0.2, 0.8]), 1000)")
        if len({bandit.arms for bandit, _ in phases}) > 1:
            raise ValueError(f"phases must have equally many arms, got {[bandit.arms for bandit, _ in phases]}")
        object.__setattr__(self, "phases", phases)

    @property
    def draws(self) -> tuple[Draw, ...]:
        return tuple(dict.fromkeys(bandit.draw for bandit, _ in self.phases))

    @property
    def draw(self) -> Draw:
        return self.phases[0][0].draw

    @property
    def arms(self) -> int:
        return self.phases[0][0].arms

    @property
    def uniforms(self) -> int:
        return sum(bandit.uniforms for bandit, _ in self.phases)

    @property
    def reward_range(self) -> tuple[float, float]:
        ranges = [bandit.reward_range for bandit, _ in self.phases]
        return min(low for low, _ in ranges), max(high for _, high in ranges)

    def parameters_from(self, uniforms: Floats) -> ArmParameters:
        at, parts = 0, []
        for bandit, _ in self.phases:
            parts.append(bandit.parameters_from(uniforms[at : at + bandit.uniforms]))
            at += bandit.uniforms
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in ArmParameters._fields}
        return ArmParameters(**columns)

    def changes(self, parameters: ArmParameters, run: int) -> Changes:
        ends = np.cumsum([rounds for _, rounds in self.phases])
        ends[-1] = np.iinfo(np.int64).max
        runs = parameters.mean.shape[1]
        sizes = [bandit.parameters_from(np.zeros((bandit.uniforms, runs))).table.size for bandit, _ in self.phases]
        stops = np.cumsum(sizes)
        return no_changes(self.arms)._replace(
            phase_end=ends,
            draw=np.array([self.draws.index(bandit.draw) for bandit, _ in self.phases]),
            table_start=stops - sizes,
            table_stop=stops,
        )


class _Moving(Bandit):
    """A bandit whose arms are those of another, with means that move."""

    bandit: Bandit

    def _validated(self) -> None:
        if not isinstance(_stationary("bandit", self.bandit), MOVABLE):
            names = ", ".join(kind.__name__ for kind in MOVABLE)
            raise TypeError(
                f"{type(self).__name__} moves the means of {names}, whose draws take a moved mean as it is; "
                f"got {self.bandit!r:.200}. Rewards of other families can change in steps: Piecewise"
            )

    @property
    def draw(self) -> Draw:
        return self.bandit.draw

    @property
    def arms(self) -> int:
        return self.bandit.arms

    @property
    def uniforms(self) -> int:
        return self.bandit.uniforms

    @property
    def reward_range(self) -> tuple[float, float]:
        return self.bandit.reward_range if isinstance(self.bandit, BernoulliBandit) else (-math.inf, math.inf)

    def parameters_from(self, uniforms: Floats) -> ArmParameters:
        return self.bandit.parameters_from(uniforms)

    def _unmoved(self, parameters: ArmParameters) -> Changes:
        low, high = (0.0, 1.0) if isinstance(self.bandit, BernoulliBandit) else (-math.inf, math.inf)
        size = np.array([parameters.table.size])
        return no_changes(self.arms)._replace(table_stop=size, low=low, high=high)


@dataclass(frozen=True)
class Drifting(_Moving):
    """A bandit whose means move on independent random walks.

    Parameters
    ----------
    bandit : Bandit
        The arms at the start: Gaussian, logistic, Student, exponential or Bernoulli. Bernoulli means stay in [0, 1].
    sd : float
        Standard deviation of a mean's step from one round to the next.

    Raises
    ------
    TypeError
        If the bandit's means cannot be moved.
    ValueError
        If ``sd`` is not above 0.

    Examples
    --------
    >>> from bootleader import GaussianBandit
    >>> Drifting(GaussianBandit([1.0, 0.0]), sd=0.01).arms
    2
    """

    bandit: Bandit
    sd: float

    def __post_init__(self) -> None:
        self._validated()
        positive("sd", self.sd)

    def changes(self, parameters: ArmParameters, run: int) -> Changes:
        return self._unmoved(parameters)._replace(drift_sd=float(self.sd))


@dataclass(frozen=True)
class Seasonal(_Moving):
    """A bandit whose means rise and fall: arm k's by amplitude * sin(2 pi (t / period + k / K)).

    Parameters
    ----------
    bandit : Bandit
        The arms without their season: Gaussian, logistic, Student, exponential or Bernoulli. Bernoulli means stay in
        [0, 1].
    amplitude : float
        How far a mean rises and falls.
    period : float
        Length of a season in rounds.

    Raises
    ------
    TypeError
        If the bandit's means cannot be moved.
    ValueError
        If ``period`` is not above 0.

    Examples
    --------
    >>> from bootleader import GaussianBandit
    >>> Seasonal(GaussianBandit([1.0, 0.0]), amplitude=0.5, period=1000).arms
    2
    """

    bandit: Bandit
    amplitude: float
    period: float

    def __post_init__(self) -> None:
        self._validated()
        real("amplitude", self.amplitude)
        positive("period", self.period)

    def changes(self, parameters: ArmParameters, run: int) -> Changes:
        return self._unmoved(parameters)._replace(
            amplitude=np.full(self.arms, float(self.amplitude)),
            angle=2.0 * math.pi * np.arange(self.arms) / self.arms,
            period=float(self.period),
        )


def _stationary(name: str, bandit: Any) -> Bandit:
    if not isinstance(bandit, Bandit):
        raise TypeError(f"{name} must be a bandit of the library, got {bandit!r}")
    if type(bandit).changes is not Bandit.changes:
        raise TypeError(f"{name} must be a bandit that does not change by itself, got {bandit!r}")
    return bandit
