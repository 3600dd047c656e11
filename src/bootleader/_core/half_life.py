"""Discounting by a half-life: how much of an arm's statistics is left after some rounds.

An arm's count and power sums are halved by every ``half_life`` rewards that arrive after its last one, but the count
never falls below the number of initial pulls: what faded further would leave nothing to explore with. The mean stays;
new rewards weigh more against it the more it has faded. The number of rounds that laws and optimism read fades alike:
the counts are bounded, and an exploration that grew with all rounds would in the end outweigh them.
"""

from __future__ import annotations

import math
from typing import Any, Final

RENEWALS: Final = 32  # how often in a half-life the laws of all arms are renewed
FAR: Final = 1024.0  # an anchor so many times the size of the mean and of a reward is moved


def weight_left(count: Any, last: Any, now: Any, half_life: Any, initial_pulls: Any) -> Any:
    """What is left in round ``now`` of each unit of an arm's count, whose last reward came in round ``last``."""
    if count <= initial_pulls:
        return 1.0
    return max(math.exp2((last - now) / half_life), initial_pulls / count)


def moved_anchor(anchor: Any, drift: Any, reward: Any) -> tuple[Any, Any]:
    """Anchor and drift with the anchor moved to the mean, if it is far from both the mean and a reward.

    The anchor is the first reward. With a half-life that reward is forgotten; if it was extreme, all later ones would
    be rounded to its precision.

    Examples
    --------
    >>> moved_anchor(1e16, -1e16, 3.0), moved_anchor(5.0, -4.0, 3.0)
    ((0.0, 0.0), (5.0, -4.0))
    """
    mean = anchor + drift
    if abs(anchor) <= FAR * max(abs(mean), abs(reward)):
        return anchor, drift
    moved = mean - anchor
    return mean, (anchor - (mean - moved)) + (drift - moved)  # the drift is what rounding took from the mean


def remembered_rounds(rounds: Any, half_life: Any) -> Any:
    """The number of rounds so far, each weighted by its age: n_t(gamma) of Garivier and Moulines, gamma = 2^(-1/h).

    At least 1, since laws take its logarithm.

    Examples
    --------
    >>> remembered_rounds(1, 100.0), round(remembered_rounds(10_000, 100.0), 2)
    (1.0, 144.77)
    """
    rate = math.log(2.0) / half_life
    return max(1.0, math.expm1(-rate * rounds) / math.expm1(-rate))
