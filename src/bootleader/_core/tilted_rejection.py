"""Decide on which side of a number a random sum lies, mostly without drawing the sum. Exact rejection sampling.

For S of mean 0, let ``distance`` be the distance to the number, and ``width`` large enough that at
tilt = distance / width, E exp(tilt S) <= exp(tilt distance / 2). Then P(S >= distance) <= exp(-tilt distance / 2) =: B.
(For a normal S the width is its variance; Bernstein's and Hoeffding's inequalities give a width for bounded terms.)

A coin with probability B of success fails nearly always, and that decides: S < distance. On success, S is drawn from
its law tilted by exp(tilt S) and accepted, if S >= distance, with probability E exp(tilt S) exp(-tilt S) / B, which is
at most 1. The probability that S is accepted is then P(S >= distance), and S has its conditional law: this is
rejection sampling, and the bound affects only the cost.

Two exceptions. A sum that probably lies above the number is drawn, because other indices are compared with it, unless
its arm is the last. And rounding must not decide: ``distance`` is reduced by ROUNDING times the size of the numbers
that it was computed from.
"""

from __future__ import annotations

import math
from typing import Any, Final

from bootleader._core.rng import uniform

LEAST_TERMS: Final = 32.0  # terms of a sum from which the bound pays
UNLIKELY: Final = 9.0  # twice the exponent of a probability of 1/90: a tilted draw costs about 90 times the coin
ROUNDING: Final = 1e-12  # bound on the relative errors of sums, with a wide margin
TIGHT: Final = 1.0 - 1e-9  # margin for rounding in the exponent


def bound_pays(distance: Any, width: Any, side: Any, is_last: Any) -> Any:
    """Whether the bound may decide, and is small enough to; ``side`` is 1 where the number is above the mean."""
    return (is_last or side > 0.0) and distance > 0.0 and 0.0 < UNLIKELY * width < distance * distance


def bound_excludes(distance: Any, tilt: Any, stream: Any) -> Any:
    """Toss the coin with probability B; whether it fails, so that the sum is not beyond the number."""
    return uniform(stream) >= math.exp(-0.5 * TIGHT * tilt * distance)


def accept_tilted(sum_: Any, distance: Any, tilt: Any, log_mgf: Any, stream: Any) -> Any:
    """Whether a tilted sum is accepted, after a success of the coin; ``log_mgf`` is log E exp(tilt S)."""
    return sum_ >= distance and uniform(stream) < math.exp(log_mgf - tilt * sum_ + 0.5 * TIGHT * tilt * distance)
