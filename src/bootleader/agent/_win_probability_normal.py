r"""The probability that each of a few independent normal variables is the largest.

The trapezoidal rule of :mod:`bootleader.agent._win_probability_trapezoid`, for the usual case and in half of the time:
with :math:`u_k = (m_k - x) / (s_k \sqrt 2)`

.. math:: P_k = \int f_k \prod_{j \ne k} F_j \, dx
              = \frac{1}{2^K} \sqrt{\frac{2}{\pi}} \, \frac{1}{s_k}
                \int \frac{\prod_j \mathrm{erfc}(u_j)}{\mathrm{erfcx}(u_k)} \, dx .
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bootleader.agent._sinh_grid import LEVELS, coarsest_level, has_too_many_nodes, settled, sinh_grid

LOST: Final = 1e-13  # chance of a maximum to the left of the grid
NORMAL_REACH: Final = 7.5  # scales to the right of a location where the grid may end
STRETCH: Final = 3.0  # delta, in scales of the narrowest variable
NORMAL_STEP: Final = 0.45  # in a variable's scales, as they appear in t
# Largest distance between all nodes and every second. The error of all nodes is about its fourth power.
HALF_OFF_BY_NORMAL: Final = 5e-4
ROOT_HALF, ROOT_2_OVER_PI = math.sqrt(0.5), math.sqrt(2.0 / math.pi)


def normal_winning_probabilities(location: Sequence[float], scale: Sequence[float]) -> list[float] | None:
    """Each variable's probability of being the largest, to 1e-9; or None where the rule does not get there.

    Parameters
    ----------
    location, scale : sequences of float
        Locations, of which the largest is 0, and positive scales.

    Returns
    -------
    list of float or None
        They add up to 1.

    Examples
    --------
    >>> [round(chance, 2) for chance in normal_winning_probabilities([0.0, 0.0, -1.0], [1.0, 1.0, 2.0])]
    [0.38, 0.38, 0.24]
    """
    laws = list(zip(location, scale, strict=True))
    alone, of_three, of_all = _left_reaches(len(laws))
    # If m variables are each below a place with probability q at most, so is the maximum with probability q^m.
    third = sorted([m - of_three * s for m, s in laws])[-min(3, len(laws))]
    start = max([m - alone * s for m, s in laws])
    start = max(start, third, min([m - of_all * s for m, s in laws]))
    rivals = [k for k, (m, s) in enumerate(laws) if m + alone * s > start]
    if len(rivals) == len(laws):
        return _integral(start, laws)
    found = [1.0] if len(rivals) == 1 else _integral(start, [laws[k] for k in rivals])
    if found is None:
        return None
    wins = [0.0] * len(laws)
    for k, win in zip(rivals, found, strict=True):
        wins[k] = win
    return wins


@lru_cache(maxsize=128)
def _left_reaches(number: int) -> tuple[float, float, float]:
    """How many scales each strays to one side with probability q at most: q, q^(1/3) and, of K variables, q^(1/K)."""
    from scipy.special import ndtri

    alone, of_three, of_all = (-float(ndtri(LOST ** (1.0 / m))) for m in (1, min(3, number), number))
    return alone, of_three, of_all


def _integral(start: float, laws: Sequence[tuple[float, float]]) -> list[float] | None:
    """The probabilities of variables that all may be the largest; their maximum is above ``start``."""
    erfc, erfcx = _error_functions()
    narrowest = min([s for _, s in laws])
    narrow, delta = 2.0 * narrowest, STRETCH * narrowest
    centre = max(start, max([m for m, s in laws if s <= narrow]))
    step = NORMAL_STEP * min([s / math.hypot(delta, (m if m > start else start) - centre) for m, s in laws])
    first = math.asinh((start - centre) / delta)
    last = math.asinh((max([m + NORMAL_REACH * s for m, s in laws]) - centre) / delta)
    level = coarsest_level(step, last - first)
    slopes, offsets = np.array(
        [[-delta * ROOT_HALF / s for _, s in laws], [(m - centre) * ROOT_HALF / s for m, s in laws]]
    )[:, :, None]
    factor = ROOT_2_OVER_PI * delta * 0.5 ** len(laws)
    while not has_too_many_nodes(level, last - first):
        grid = sinh_grid(first, last, level)
        u = slopes * grid.sinh  # it is linear in sinh(t)
        u += offsets
        product = np.multiply.reduce(erfc(u), axis=0)
        product *= grid.cosh
        values = product / erfcx(u)
        wins = settled(_wins(factor, values, laws), _wins(2.0 * factor, values[:, ::2], laws), HALF_OFF_BY_NORMAL)
        if wins is not None:
            return wins
        level += LEVELS
    return None


def _wins(factor: float, values: npt.NDArray[np.float64], laws: Sequence[tuple[float, float]]) -> list[float]:
    sums = np.add.reduce(values, axis=1).tolist()
    return [factor * value / s for value, (_, s) in zip(sums, laws, strict=True)]


@lru_cache(maxsize=1)
def _error_functions() -> tuple[Any, Any]:
    """SciPy is imported when it is needed."""
    from scipy.special import erfc, erfcx

    return erfc, erfcx
