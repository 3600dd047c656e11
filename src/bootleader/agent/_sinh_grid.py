"""Nodes of the trapezoidal rule in t, where x = c + delta sinh(t): close together around c, and far apart elsewhere.

Nodes are multiples of a step 2^(-level / 8), so the hyperbolic functions of them are computed once for each level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

LEVELS: Final = 8  # that halve the step
TABLE: Final = 12.0  # hyperbolic functions are kept up to here
FEWEST_NODES, MOST_NODES = 32, 5000
OFF_BY: Final = 1e-10  # largest distance of the sum of all probabilities from 1


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


def coarsest_level(step: float, length: float) -> int:
    """The level of the largest step that is not above ``step`` and puts enough nodes on an interval."""
    return math.ceil(-LEVELS * math.log2(min(step, length / FEWEST_NODES)))


def has_too_many_nodes(level: int, length: float) -> bool:
    """Whether a level puts more nodes on an interval than the rule is made for."""
    return bool(length * 2.0 ** (level / LEVELS) > MOST_NODES)


def settled(every: Sequence[float], second: Sequence[float], half_off_by: float) -> list[float] | None:
    """The probabilities, made to add up to 1, if their error is small by both estimates.

    Parameters
    ----------
    every, second : sequences of float
        The sums over all nodes, and over every second.
    half_off_by : float
        Largest distance between the two.

    Returns
    -------
    list of float or None
        None if the nodes have to be doubled.
    """
    total = math.fsum(every)
    if abs(total - 1.0) > OFF_BY:
        return None
    if max([abs(one - half) for one, half in zip(every, second, strict=True)]) > half_off_by:
        return None
    return [one / total if one > 0.0 else 0.0 for one in every]


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
