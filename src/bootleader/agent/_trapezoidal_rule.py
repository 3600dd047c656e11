"""The trapezoidal rule in t, where x = c + delta sinh(t): nodes close together around c, and far apart elsewhere.

Nodes are multiples of a step 2^(-level / 8), so their hyperbolic functions are computed once for each level; by
``math``, for the reasons given in :mod:`bootleader.agent._elementary_arrays`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

LEVELS: Final = 8  # from a step to half of it
TABLE: Final = 12.0  # hyperbolic functions are kept up to here
FEWEST_NODES, MOST_NODES = 32, 5000
STRETCH: Final = 3.0  # delta, in scales of the narrowest variable
LOST: Final = 1e-13  # chance of a maximum to the left of the nodes
OFF_BY: Final = 1e-10  # largest distance of the sum of all probabilities from 1


def chances_to_stray(number: int) -> tuple[float, float, float]:
    """The chances that each of one, three and all variables strays so far that ``LOST`` is that of all of them."""
    return LOST, LOST ** (1.0 / min(3, number)), LOST ** (1.0 / number)


def start_of(alone: Iterable[float], of_three: Iterable[float], of_all: Iterable[float]) -> float:
    """A place that the maximum of variables is above.

    If m of them are each below a place with probability q at most, so is the maximum with probability q^m.

    Parameters
    ----------
    alone, of_three, of_all : iterables of float
        The places that each variable is below with the chances of :func:`chances_to_stray`.
    """
    third = sorted(of_three)
    return max(max(alone), third[-min(3, len(third))], min(of_all))


def among_all(found: Sequence[float], places: Iterable[int], number: int) -> list[float]:
    """The probabilities of some variables at their places, and 0 for the others."""
    wins = [0.0] * number
    for place, win in zip(places, found, strict=True):
        wins[place] = win
    return wins


def settled_wins(
    step: float,
    length: float,
    sums: Callable[[int], tuple[Sequence[float], Sequence[float]]],
    half_off_by: float,
) -> list[float] | None:
    """The probabilities, with twice as many nodes again and again until both estimates of their error are small.

    Parameters
    ----------
    step : float
        Largest step.
    length : float
        Of the interval that the nodes are on.
    sums : callable
        For a level, the sums over all nodes and those over every second.
    half_off_by : float
        Largest distance between the two.

    Returns
    -------
    list of float or None
        They add up to 1. None if too many nodes would be needed.
    """
    level = math.ceil(-LEVELS * math.log2(min(step, length / FEWEST_NODES)))
    while length * 2.0 ** (level / LEVELS) <= MOST_NODES:
        every, second = sums(level)
        total = math.fsum(every)
        distances = [abs(one - half) for one, half in zip(every, second, strict=True)]
        if abs(total - 1.0) <= OFF_BY and max(distances) <= half_off_by:
            return [one / total if one > 0.0 else 0.0 for one in every]
        level += LEVELS
    return None


class SinhGrid(NamedTuple):
    """Nodes in t.

    Attributes
    ----------
    sinh : ndarray
        sinh(t).
    cosh : ndarray
        cosh(t) times the distance of the nodes.
    number : int
        Number of steps between the first node and the last. It is even.
    end : float
        The last node.
    """

    sinh: Floats
    cosh: Floats
    number: int
    end: float


def sinh_grid(first: float, last: float, level: int) -> SinhGrid:
    """The nodes of a level between ``first`` and ``last``, and the next ones outside."""
    step = 2.0 ** (-level / LEVELS)
    begin, end = 2 * math.floor(0.5 * first / step), 2 * math.ceil(0.5 * last / step)
    size = math.ceil(TABLE / step)
    if -size <= begin and end <= size:
        sinh, cosh = _table(level)
        sinh, cosh = sinh[size + begin : size + end + 1], cosh[size + begin : size + end + 1]
    else:
        sinh, cosh = _sinh_and_cosh(begin, end, step)
    return SinhGrid(sinh, cosh, end - begin, end * step)


@lru_cache(maxsize=64)
def _table(level: int) -> tuple[Floats, Floats]:
    """What :func:`_sinh_and_cosh` has between -TABLE and TABLE."""
    step = 2.0 ** (-level / LEVELS)
    size = math.ceil(TABLE / step)
    return _sinh_and_cosh(-size, size, step)


def _sinh_and_cosh(begin: int, end: int, step: float) -> tuple[Floats, Floats]:
    t = [step * place for place in range(begin, end + 1)]
    return np.array([math.sinh(one) for one in t]), np.array([step * math.cosh(one) for one in t])
