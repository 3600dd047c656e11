r"""The probability that each of a few independent normal or Student variables is the largest, in 0.1 milliseconds.

.. math:: P_k = \int f_k(x) \prod_{j \ne k} F_j(x)\, dx

by the trapezoidal rule in t, where x = c + delta sinh(t). Its error falls exponentially with the number of nodes,
because the integrand is analytic and vanishes at both ends. One grid serves all variables: c is the location of the
narrowest variable that can be the largest. Any other that can lies within some eight of its own scales, so in t none
is much narrower than another, whatever the ratio of their scales.

Heavy tails make the grid long, and a narrow variable makes it fine. Where it is both, the part far from all variables
is integrated by a Gauss-Legendre rule in t instead.

Two estimates of the error come with the sum: how far the probabilities are from adding up to 1, and how far they are
from those of every second node. Where an estimate is too large, the nodes are doubled. The caller integrates by
:mod:`bootleader.agent._win_probability_student` where that does not help.

References
----------
L. N. Trefethen, J. A. C. Weideman (2014). The exponentially convergent trapezoidal rule. SIAM Review 56(3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import repeat
from operator import add, mul, sub, truediv
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bootleader.agent._elementary_arrays import gauss_legendre, weighted_sums
from bootleader.agent._sinh_grid import LEVELS, coarsest_level, has_too_many_nodes, sinh_grid
from bootleader.agent._student_distributions import EqualStudents, NearlyNormals, Normals, Students
from bootleader.agent._win_probability_normal import (
    HALF_OFF_BY_NORMAL,
    LOST,
    NORMAL_REACH,
    NORMAL_STEP,
    OFF_BY,
    STRETCH,
    normal_winning_probabilities,
)

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
Distributions = Callable[[Floats], tuple[Floats, Floats]]  # F and f / F, row by row

WIDEST: Final = 1e12  # largest ratio of two scales
SMALL, LARGE = 1e-100, 1e100  # of scales; locations are at most FARTHEST scales from each other
FARTHEST: Final = 1e15
# A variable's step in its scales, as they appear in t, times the square root of the degrees of freedom: a pole is that
# far away.
STUDENT_STEP: Final = 0.25
# Largest distance between all nodes and every second. The error of all nodes is at most the square of this distance,
# because a pole limits the convergence.
HALF_OFF_BY: Final = 5e-6
HEAVY: Final = 5.0  # degrees of freedom below which the integrand does not vanish where the grid ends
FEW_KINDS: Final = 2  # different degrees of freedom up to which each is computed apart
NEARLY_NORMAL: Final = 20.0  # degrees of freedom from which on poles are too far away to matter, and a series is exact
# Far from all variables a heavy tail is smooth in t: few Gauss-Legendre nodes do where evenly spaced ones, as close as
# the narrowest variable wants them, would be most of the grid. The last has no weight: the tail begins there.
LONG: Final = 100  # nodes from which on the grid is divided
OUTER: Final = 4.0  # times the distance of the farthest pole
OUTER_NUMBER: Final = 24
# Gregory's end correction of order 9 for the last nodes, where a heavy tail's integrand does not quite vanish.
_DIFFERENCES: Final = (
    -1 / 12, -1 / 24, -19 / 720, -3 / 160, -863 / 60480, -275 / 24192, -33953 / 3628800, -8183 / 1036800,
    -3250433 / 479001600,
)  # fmt: skip
_END: Final = np.array(
    [
        math.fsum(c * (-1.0) ** i * math.comb(k, i) for k, c in enumerate(_DIFFERENCES, 1) if i <= k)
        + 1.0
        - 0.5 * (i == 0)
        for i in range(len(_DIFFERENCES), -1, -1)
    ]
)


def few_winning_probabilities(location: Sequence[float], scale: Sequence[float], df: Sequence[float]) -> Floats | None:
    """Each variable's probability of being the largest, to 1e-9; or None where the rule does not get there.

    Parameters
    ----------
    location, scale : sequences of float
        Locations and scales.
    df : sequence of float
        Degrees of freedom; infinite for a normal variable.

    Returns
    -------
    ndarray or None
        They add up to 1.

    Examples
    --------
    >>> few_winning_probabilities([0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [math.inf, math.inf, 3.0]).round(2)
    array([0.19, 0.19, 0.62])
    """
    narrowest, widest = min(scale), max(scale)
    is_tame = narrowest > SMALL and widest < LARGE and widest <= WIDEST * narrowest
    highest = max(location)
    if not is_tame or highest - min(location) > FARTHEST * narrowest:
        return None
    location = [m - highest for m in location]  # ends of intervals would be rounded where locations are large
    kinds = _kinds(tuple(df))
    if kinds.all_normal:
        normal = normal_winning_probabilities(location, scale)
        return None if normal is None else np.array(normal)
    start, rivals = _start_and_rivals(location, scale, kinds)
    if len(rivals) == len(location):
        return _integral(start, location, scale, kinds)
    wins = np.zeros(len(location))
    if len(rivals) == 1:
        wins[rivals] = 1.0
        return wins
    location, scale, df = (list(map(column.__getitem__, rivals)) for column in (location, scale, df))
    found = _integral(start, location, scale, _kinds(tuple(df)))
    if found is None:
        return None
    wins[rivals] = found
    return wins


def _start_and_rivals(location: Sequence[float], scale: Sequence[float], kinds: _Kinds) -> tuple[float, list[int]]:
    """A place that the maximum is above, and the variables that may be above it.

    If m variables are each below a place with probability q at most, so is the maximum with probability q^m.
    """
    alone, *together = kinds.left_reaches
    strays = list(map(mul, scale, alone))
    start = max(map(sub, location, strays))
    for m, reaches in zip((min(3, len(scale)), len(scale)), together, strict=True):
        start = max(start, sorted(map(sub, location, map(mul, scale, reaches)))[-m])
    return start, [k for k, end in enumerate(map(add, location, strays)) if end > start]


@lru_cache(maxsize=4096)
def _reach(n: float, chance: float) -> float:
    from scipy.special import ndtri

    normal = -float(ndtri(chance))
    if n == math.inf:
        return normal
    # P(T > z) < c z^-n, from the density's own tail; or, better where n is large, a bound of Wallace (1959).
    log_c = math.lgamma(0.5 * (n + 1.0)) - math.lgamma(0.5 * n) - 0.5 * math.log(math.pi)
    by_power = math.exp(min((log_c + (0.5 * n - 1.0) * math.log(n) - math.log(chance)) / n, 200.0))
    if n < 1.0:
        return by_power
    return min(by_power, math.sqrt(n * math.expm1(min(normal * normal / (n - 0.5), 300.0))))


def _right_reach(n: float) -> float:
    """Where the grid may end, in scales: what a heavy tail has beyond is added in closed form."""
    return NORMAL_REACH if n == math.inf else _reach(n, 1e-6 if n < 3.0 else 1e-8 if n < HEAVY else 1e-11)


def _integral(start: float, location: Sequence[float], scale: Sequence[float], kinds: _Kinds) -> Floats | None:
    """The probabilities of variables that all may be the largest."""
    # To the right of the start, a Student that lies to the left of it is as smooth as its distance is large.
    widths = [
        s if m >= start or not pole else math.hypot(s, start - m)
        for m, s, pole in zip(location, scale, kinds.pole, strict=True)
    ]
    narrowest = min(widths)
    nearest = [m if m > start else start for m in location]
    narrow = 2.0 * narrowest
    centre = max([m for m, width in zip(nearest, widths, strict=True) if width <= narrow])
    delta = STRETCH * narrowest
    first = math.asinh((start - centre) / delta)
    last = math.asinh((max(map(add, location, map(mul, scale, kinds.right_reach))) - centre) / delta)
    distances = map(math.hypot, repeat(delta), map(sub, nearest, repeat(centre)))
    step = min(map(truediv, map(mul, widths, kinds.step), distances))
    outer = last
    if kinds.has_heavy and last - first > LONG * step:
        farthest = max(math.hypot(m - centre, s * root) for m, s, root in zip(location, scale, kinds.pole, strict=True))
        outer = min(last, max(first + 16.0 * step, math.asinh(OUTER * farthest / delta)))
    # z = (x - m) / s is linear in sinh(t)
    laws = np.array([[delta / s for s in scale], [(centre - m) / s for m, s in zip(location, scale, strict=True)]])
    half_off_by = HALF_OFF_BY_NORMAL if kinds.nearly_normal else HALF_OFF_BY
    level = coarsest_level(step, outer - first)
    while not has_too_many_nodes(level, outer - first):
        wins, by_half = _sums(laws[:, :, None], kinds, _grid(first, outer, last, level, kinds.has_heavy)).tolist()
        total = math.fsum(wins)
        if abs(total - 1.0) <= OFF_BY and max(map(abs, map(sub, wins, by_half))) <= half_off_by:
            return np.array([win / total if win > 0.0 else 0.0 for win in wins])
        level += LEVELS
    return None


class _Kinds(NamedTuple):
    """Functions that compute F and f / F, with the rows that they are for."""

    kinds: Sequence[tuple[Rows, Distributions]]
    all_normal: bool
    heavy: Rows | slice  # with heavy tails
    has_heavy: bool
    overlap: Floats  # of those tails: n_k / (n_k + n_j)
    # How many scales each strays to one side with probability q at most: q, q^(1/3) and, of K variables, q^(1/K).
    left_reaches: Sequence[Sequence[float]]
    right_reach: Sequence[float]  # where the grid may end, in scales
    pole: Sequence[float]  # distance of a density's pole from the line, in scales; 0 for a normal
    step: Sequence[float]  # largest step in a variable's scales
    nearly_normal: bool


@lru_cache(maxsize=256)
def _kinds(df: tuple[float, ...]) -> _Kinds:
    n = np.array(df)
    groups: list[tuple[Any, Callable[[Floats], Distributions]]] = [
        (n == math.inf, Normals),
        ((n >= NEARLY_NORMAL) & (n < math.inf), NearlyNormals),
    ]
    few = np.unique(n[n < NEARLY_NORMAL])
    if few.size <= FEW_KINDS and (few == few.round()).all():
        groups += [(n == one, EqualStudents) for one in few]
    else:
        groups.append((n < NEARLY_NORMAL, Students))
    kinds = [(np.flatnonzero(rows), kind(n[rows])) for rows, kind in groups if rows.any()]
    is_heavy = n < HEAVY
    heavy = n[is_heavy]
    chances = (LOST, LOST ** (1.0 / min(3, len(df))), LOST ** (1.0 / len(df)))
    return _Kinds(
        kinds,
        bool((n == math.inf).all()),
        slice(None) if is_heavy.all() else np.flatnonzero(is_heavy),
        bool(is_heavy.any()),
        heavy[:, None] / (heavy[:, None] + heavy),
        [[_reach(one, chance) for one in df] for chance in chances],
        [_right_reach(one) for one in df],
        [0.0 if one == math.inf else math.sqrt(one) for one in df],
        [min(NORMAL_STEP, STUDENT_STEP * math.sqrt(one)) for one in df],
        min(df) >= NEARLY_NORMAL,
    )


class _Grid(NamedTuple):
    """Nodes in t: sinh(t); cosh(t) times the distance of the nodes; two rows of weights, of all and of every second."""

    sinh: Floats
    cosh: Floats
    weights: Floats


def _grid(first: float, outer: float, last: float, level: int, heavy: bool) -> _Grid:
    """Multiples of a step from ``first`` to ``outer``, and Gauss-Legendre nodes from there to ``last``."""
    sinh, cosh, number, end = sinh_grid(first, outer, level)
    half = 0.5 * (last - end)
    if half <= 0.0:
        return _Grid(sinh, cosh, _unit_weights(number, heavy, False))
    nodes, _ = gauss_legendre(OUTER_NUMBER)
    t = [end + half * (1.0 + node) for node in nodes.tolist()] + [last]
    sinh = np.concatenate([sinh, [math.sinh(one) for one in t]])
    cosh = np.concatenate([cosh, [half * math.cosh(one) for one in t]])
    return _Grid(sinh, cosh, _unit_weights(number, heavy, True))


@lru_cache(maxsize=64)
def _unit_weights(number: int, heavy: bool, has_outer: bool) -> Floats:
    """Weights of all nodes and of every second, for a step of one."""
    weights = np.zeros((2, number + 1))
    weights[0] = 1.0
    weights[1, ::2] = 2.0
    if heavy:  # the integrand does not vanish at the end
        weights[0, -_END.size :] *= _END
        weights[1, 1 - 2 * _END.size :: 2] *= _END
    if not has_outer:
        return weights
    _, outer = gauss_legendre(OUTER_NUMBER)
    return np.concatenate([weights, np.append(outer, 0.0)[None].repeat(2, axis=0)], axis=1)


def _sums(laws: Floats, kinds: _Kinds, grid: _Grid) -> Floats:
    """The sums over all nodes, and those over every second; laws are delta / scale and (centre - location) / scale."""
    slopes, offsets = laws
    below, ratio = _distributions(kinds, slopes * grid.sinh + offsets)
    ratio *= grid.cosh * np.multiply.reduce(below, axis=0)
    wins: Floats = np.array([weighted_sums(ratio, weights) for weights in grid.weights])
    wins *= slopes[:, 0]
    if kinds.has_heavy:
        wins[:, kinds.heavy] += _tail(1.0 - below[kinds.heavy, -1], kinds.overlap)
    return wins


def _tail(survival: Floats, overlap: Floats) -> Floats:
    """The chance that each heavy tail is the largest, beyond the last node: tails of powers n_k and n_j overlap."""
    lost = weighted_sums(overlap, survival) - 0.5 * survival
    return survival * (1.0 - lost)


def _distributions(kinds: _Kinds, z: Floats) -> tuple[Floats, Floats]:
    """Distribution functions, and the ratios of densities to them, row by row."""
    if len(kinds.kinds) == 1:
        return kinds.kinds[0][1](z)
    below, ratio = np.empty_like(z), np.empty_like(z)
    for rows, kind in kinds.kinds:
        below[rows], ratio[rows] = kind(z[rows])
    return below, ratio
