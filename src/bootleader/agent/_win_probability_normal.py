r"""The probability that each of a few independent normal variables is the largest.

The rule of :mod:`bootleader.agent._win_probability_trapezoid`, for the usual case and in half of the time: with
:math:`u_k = (m_k - x) / (s_k \sqrt 2)`

.. math:: P_k = \int f_k \prod_{j \ne k} F_j \, dx
              = \frac{1}{2^K} \sqrt{\frac{2}{\pi}} \, \frac{1}{s_k}
                \int \frac{\prod_j \mathrm{erfc}(u_j)}{\mathrm{erfcx}(u_k)} \, dx .
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bootleader.agent._trapezoidal_rule import STRETCH, among_all, chances_to_stray, settled_wins, sinh_grid, start_of

NORMAL_REACH: Final = 7.5  # scales to the right of a location where the grid may end
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
    alone, of_three, of_all = normal_reaches(len(laws))
    start = start_of(
        [m - alone * s for m, s in laws], [m - of_three * s for m, s in laws], [m - of_all * s for m, s in laws]
    )
    rivals = [k for k, (m, s) in enumerate(laws) if m + alone * s > start]
    found = [1.0] if len(rivals) == 1 else _integral(start, [laws[k] for k in rivals])
    return None if found is None else among_all(found, rivals, len(laws))


@lru_cache(maxsize=128)
def normal_reaches(number: int) -> tuple[float, float, float]:
    """How many scales each strays to one side at most, with the chances of :func:`chances_to_stray`."""
    from scipy.special import ndtri

    alone, of_three, of_all = (-float(ndtri(chance)) for chance in chances_to_stray(number))
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
    slopes, offsets = np.array(
        [[-delta * ROOT_HALF / s for _, s in laws], [(m - centre) * ROOT_HALF / s for m, s in laws]]
    )[:, :, None]
    factor = ROOT_2_OVER_PI * delta * 0.5 ** len(laws)

    def sums(level: int) -> tuple[list[float], list[float]]:
        grid = sinh_grid(first, last, level)
        u = slopes * grid.sinh  # it is linear in sinh(t)
        u += offsets
        product = np.multiply.reduce(erfc(u), axis=0)
        product *= grid.cosh
        values = product / erfcx(u)
        return _wins(factor, values, laws), _wins(2.0 * factor, values[:, ::2], laws)

    return settled_wins(step, last - first, sums, HALF_OFF_BY_NORMAL)


def _wins(factor: float, values: npt.NDArray[np.float64], laws: Sequence[tuple[float, float]]) -> list[float]:
    sums = np.add.reduce(values, axis=1).tolist()
    return [factor * value / s for value, (_, s) in zip(sums, laws, strict=True)]


@cache
def _error_functions() -> tuple[Any, Any]:
    """The functions erfc and erfcx; importing SciPy takes long."""
    from scipy.special import erfc, erfcx

    return erfc, erfcx
