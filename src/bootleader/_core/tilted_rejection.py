"""Telling on which side of a number a random sum lies, without drawing the sum. Exactly.

For S of mean 0, let ``off`` be how far away the number is, and ``width`` so large that at tilt = off / width
E exp(tilt S) <= exp(tilt off / 2). Then P(S >= off) <= exp(-tilt off / 2) =: B. (Were S normal, its variance would be
wide enough; Bernstein and Hoeffding say what is, for a sum of bounded terms.)

A coin with chance B says no nearly always, and that settles the matter: S < off. Where it says yes, S is drawn from its
law tilted by exp(tilt S) and taken, if S >= off, with chance E exp(tilt S) exp(-tilt S) / B, which is at most 1. The
chance to take S is thus that of S itself: this is rejection sampling, and the bound changes the cost alone.

Two things are not left to the coin. A sum that probably lies above the number is drawn, since others have to beat it,
unless its arm is the last. And rounding must not decide: ``off`` is shortened by ROUNDING times the size of the numbers
that it was made from.
"""

from __future__ import annotations

import math
from typing import Any, Final

from bootleader._core.rng import uniform

MANY: Final = 32.0  # terms of a sum from which it pays to ask
UNLIKELY: Final = 9.0  # twice the exponent of a chance of one in ninety: what follows a yes costs so many times more
ROUNDING: Final = 1e-12  # relative errors in sums, and far more
TIGHT: Final = 1.0 - 1e-9  # what rounding may take from an exponent


def worth_asking(off: Any, width: Any, side: Any, is_last: Any) -> Any:
    """Whether the coin may be asked, and says no often enough; ``side`` is 1 where the number is above the mean."""
    return (is_last or side > 0.0) and off > 0.0 and 0.0 < UNLIKELY * width < off * off


def surely_not_beyond(off: Any, tilt: Any, state: Any, i: Any, gamma: Any) -> Any:
    """Toss the coin; whether it says no."""
    return uniform(state, i, gamma) >= math.exp(-0.5 * TIGHT * tilt * off)


def taken(sum_: Any, off: Any, tilt: Any, growth: Any, state: Any, i: Any, gamma: Any) -> Any:
    """Whether a tilted sum is taken, after a yes; ``growth`` is log E exp(tilt S)."""
    return sum_ >= off and uniform(state, i, gamma) < math.exp(growth - tilt * sum_ + 0.5 * TIGHT * tilt * off)
