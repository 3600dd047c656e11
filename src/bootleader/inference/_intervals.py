"""Intervals from moments, for all arms or all pairs at once; and what is accepted as a level and as bounds."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bootleader._core.validation import real
from bootleader.inference._moments import Floats, Moments, effective_number

# What an arm needs before the Student mixture gives an answer. An event that has not come yet leaves no trace in the
# moments, so only the number of rewards can guard against it: one of 1 % has come in 400 with probability 0.98.
GUARD: Final = 50.0  # effective rewards
LEAST: Final = 400.0  # rewards
TUNED_FOR: Final = 500.0  # rewards at which the Student mixture is tightest
BETTING: Final = "betting (exact)"
STUDENT: Final = "Student mixture (guarded)"


class Bounds(NamedTuple):
    """Known bounds of the rewards."""

    low: float
    high: float


class Intervals(NamedTuple):
    """Ends of some intervals, and whether each has an answer. One without has infinite ends."""

    low: Floats
    high: Floats
    is_ready: npt.NDArray[np.bool_]


def alpha_of(alpha: Any) -> float:
    """``alpha``, if it is a level between 0 and 1."""
    return real("alpha", alpha, "a number between 0 and 1, such as 0.05", low=0.0, high=math.nextafter(1.0, 0.0))


def bounds_of(low: Any, high: Any) -> Bounds | None:
    """The bounds, or None if neither is given."""
    if low is None and high is None:
        return None
    if low is None or high is None:
        raise ValueError(f"low and high must be given both or not at all, got low={low!r}, high={high!r}")
    bounds = Bounds(real("low", low), real("high", high))
    if bounds.low >= bounds.high:
        raise ValueError(f"low must be less than high, got low={low!r}, high={high!r}")
    return bounds


def check_within(bounds: Bounds | None, rewards: Floats) -> None:
    """Raise if a reward is outside the bounds: the guarantee would be void."""
    if bounds is None or not len(rewards):
        return
    smallest, largest = float(rewards.min()), float(rewards.max())
    wrong = smallest if smallest < bounds.low else largest
    if not bounds.low <= wrong <= bounds.high:
        raise ValueError(f"rewards must lie between low={bounds.low:g} and high={bounds.high:g}, got {wrong!r}")


def check_moments(bounds: Bounds, moments: Moments) -> None:
    """Raise if no rewards within the bounds have these moments: RSS <= n (mean - low) (high - mean)."""
    from_low, to_high = moments.mean - bounds.low, bounds.high - moments.mean
    slack = 1e-9 * (bounds.high - bounds.low)
    most = moments.count * (from_low + slack) * (to_high + slack)
    if ((moments.count > 0) & ((from_low < -slack) | (to_high < -slack) | (moments.rss > most * (1.0 + 1e-9)))).any():
        raise ValueError(
            f"rewards must lie between low={bounds.low:g} and high={bounds.high:g}; those of an arm do not"
        )


def mixture_variance(alpha: float) -> float:
    """c^2 of the Student mixture, which makes the interval of this level narrowest at about 500 rewards."""
    return (-2.0 * math.log(alpha) + math.log(1.0 - 2.0 * math.log(alpha))) / TUNED_FOR


def method_of(bounds: Bounds | None) -> str:
    """The name of the method."""
    return STUDENT if bounds is None else BETTING


def is_known(moments: Moments, effective: Floats) -> npt.NDArray[np.bool_]:
    """Whether each arm has the rewards, and the effective number of them, that an answer without bounds needs."""
    return np.asarray((effective >= GUARD) & (moments.count >= LEAST))


def arm_intervals(moments: Moments, alpha: float, bounds: Bounds | None, effective: Floats | None = None) -> Intervals:
    """An interval of this level for each arm's mean (correct ``alpha`` over the arms before)."""
    if bounds is not None:
        from bootleader.inference import _betting

        unit = moments.scaled(*bounds)
        ends = _betting.betting_ends(unit.count, unit.mean, unit.rss, -math.log(alpha))
        ends = bounds.low + ends * (bounds.high - bounds.low)
        return Intervals(ends[:, 0], ends[:, 1], np.ones(len(ends), np.bool_))
    effective = effective_number(moments) if effective is None else effective
    reach = student_reach(moments.count, moments.rss, alpha)
    is_ready = is_known(moments, effective) & np.isfinite(reach)
    reach = np.where(is_ready, reach, np.inf)
    return Intervals(moments.mean - reach, moments.mean + reach, is_ready)


def student_reach(count: Floats, rss: Floats, alpha: float) -> Floats:
    """How far each arm's Student interval reaches from its mean.

    The kernel of the same name does this for one arm. This one needs no compiler, so a summary can show intervals at
    once.
    """
    n = np.maximum(count, 1.0)
    spread = 1.0 + n * mixture_variance(alpha)
    power = (-2.0 * math.log(alpha) + np.log(spread)) / n
    is_finite = (count > 1.0) & (rss > 0.0) & (power < np.log(spread))
    power = np.where(is_finite, power, 0.0)
    return np.where(is_finite, np.sqrt(rss / n * np.expm1(power) / (1.0 - np.exp(power) / spread)), np.inf)


def pair_intervals(
    moments: Moments,
    pairs: npt.NDArray[np.intp],
    alpha: float,
    bounds: Bounds | None,
    effective: Floats | None = None,
) -> Intervals:
    """An interval of this level for the difference of each pair of arms (correct ``alpha`` over the pairs before)."""
    from bootleader.inference import _betting, _student_mixture

    if bounds is not None:
        unit = moments.scaled(*bounds)
        ends = _betting.betting_pairs(unit.count, unit.mean, unit.rss, pairs, -math.log(alpha))
        ends *= bounds.high - bounds.low
        return Intervals(ends[:, 0], ends[:, 1], np.ones(len(ends), np.bool_))
    effective = effective_number(moments) if effective is None else effective
    reach = _student_mixture.student_pairs(moments.count, moments.rss, pairs, -math.log(alpha), mixture_variance(alpha))
    is_ready = is_known(moments, effective)[pairs].all(axis=1) & np.isfinite(reach)
    reach = np.where(is_ready, reach, np.inf)
    difference = moments.mean[pairs[:, 0]] - moments.mean[pairs[:, 1]]
    return Intervals(difference - reach, difference + reach, is_ready)
