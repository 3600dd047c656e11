"""Rewards that change over time and rewards that arrive late, as data over scalar functions.

The plain Python loop and the general kernel share these functions, so their runs are the same bit for bit.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bootleader._core.rng import below, uniform
from bootleader._core.sampling import standard_normal

FIXED, GEOMETRIC, OBSERVED = 0, 1, 2  # kinds of delay


class Changes(NamedTuple):
    """How the arms of one run change.

    In phase p arm k has the parameters in row ``p * arms + k``. On top of that its mean is shifted by a random walk and
    by a season, and kept between ``low`` and ``high``.
    """

    phase_end: Any  # the round before which each phase ends
    draw: Any  # number of each phase's reward draw
    table_start: Any  # each phase's part of the table
    table_stop: Any
    drift_sd: Any  # standard deviation of a step of the random walk
    amplitude: Any  # of each arm's season
    angle: Any  # where in its season each arm starts, in radians
    period: Any  # of the season, in rounds
    low: Any
    high: Any


def no_changes(arms: int) -> Changes:
    """An environment that does not change."""
    nothing = np.zeros(arms)
    ends = np.array([np.iinfo(np.int64).max])
    zero = np.zeros(1, np.int64)
    return Changes(ends, zero, zero, zero, 0.0, nothing, nothing, 1.0, -math.inf, math.inf)


def next_walk(changes: Any, walk: Any, stream: Any) -> Any:
    """The next value of an arm's random walk."""
    return walk + changes.drift_sd * standard_normal(stream) if changes.drift_sd > 0.0 else walk


def shift_of(changes: Any, k: Any, walk: Any, played: Any) -> Any:
    """By how much arm k's mean is shifted in the round after ``played`` ones."""
    return walk + changes.amplitude[k] * math.sin(2.0 * math.pi * played / changes.period + changes.angle[k])


def shifted(changes: Any, value: Any, shift: Any) -> Any:
    """A mean or location after a shift."""
    return min(max(value + shift, changes.low), changes.high)


class Delay(NamedTuple):
    """How many rounds a reward is late."""

    kind: Any
    value: Any  # the rounds of a fixed delay; the success probability of a geometric one
    observed: Any  # delays to draw from


def delay_of(delay: Any, stream: Any) -> Any:
    """The delay of one reward, in rounds."""
    if delay.kind == FIXED:
        return int(delay.value)
    if delay.kind == GEOMETRIC:
        return int(math.log1p(-uniform(stream)) / math.log1p(-delay.value))  # truncates towards zero
    return int(delay.observed[below(stream, len(delay.observed))])
