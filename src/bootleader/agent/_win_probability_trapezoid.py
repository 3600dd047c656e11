r"""The probability that each of a few independent normal or Student variables is the largest.

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
from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bootleader.agent._elementary_arrays import gauss_legendre, weighted_sums
from bootleader.agent._student_distributions import NEARLY_NORMAL_FROM, Kind, distributions, kind_of
from bootleader.agent._trapezoidal_rule import STRETCH, among_all, chances_to_stray, settled_wins, sinh_grid, start_of
from bootleader.agent._win_probability_normal import (
    HALF_OFF_BY_NORMAL,
    NORMAL_REACH,
    NORMAL_STEP,
    normal_reaches,
    normal_winning_probabilities,
)

Floats = npt.NDArray[np.float64]

WIDEST: Final = 1e12  # largest ratio of two scales
SMALL, LARGE = 1e-100, 1e100  # of scales; locations are at most FARTHEST scales from each other
FARTHEST: Final = 1e15
# Scale of a normal variable that stands for a constant, in those of the narrowest of the others.
CONSTANT_SCALE: Final = 1e-6
# A variable's step in its scales, as they appear in t, times the square root of the degrees of freedom: a pole is that
# far away.
STUDENT_STEP: Final = 0.22
# Largest distance between all nodes and every second. The error of all nodes is a few times the square of this
# distance, because a pole limits the convergence.
HALF_OFF_BY: Final = 1e-5
HEAVY: Final = 5.0  # degrees of freedom below which the integrand does not vanish where the grid ends
# Far from all variables a heavy tail is smooth in t: few Gauss-Legendre nodes do where evenly spaced ones, as close as
# the narrowest variable wants them, would be most of the grid. The last has no weight: the tail begins there.
LONG: Final = 100  # nodes from which on the grid is divided
OUTER: Final = 8.0  # times the distance of the farthest pole
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


def few_winning_probabilities(
    location: Sequence[float], scale: Sequence[float], df: Sequence[float]
) -> list[float] | None:
    """Each variable's probability of being the largest, to 1e-9; or None where the rule does not get there.

    Parameters
    ----------
    location, scale : sequences of float
        Locations and scales; a variable with scale 0 is a constant.
    df : sequence of float
        Degrees of freedom; infinite for a normal variable.

    Returns
    -------
    list of float or None
        They add up to 1.

    Examples
    --------
    >>> chances = few_winning_probabilities([0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [math.inf, math.inf, 3.0])
    >>> [round(chance, 2) for chance in chances]
    [0.19, 0.19, 0.62]
    """
    narrowest, widest = min(scale), max(scale)
    if narrowest <= 0.0:
        return _with_constants(location, scale, df)
    is_tame = narrowest > SMALL and widest < LARGE and widest <= WIDEST * narrowest
    highest = max(location)
    if not is_tame or highest - min(location) > FARTHEST * narrowest:
        return None
    location = [m - highest for m in location]  # ends of intervals would be rounded where locations are large
    if min(df) == math.inf:
        return normal_winning_probabilities(location, scale)
    everyone = [(m, s, _shape_of(n, len(df)), k) for k, (m, s, n) in enumerate(zip(location, scale, df, strict=True))]
    start = start_of(
        [m - s * shape.alone for m, s, shape, _ in everyone],
        [m - s * shape.of_three for m, s, shape, _ in everyone],
        [m - s * shape.of_all for m, s, shape, _ in everyone],
    )
    rivals = sorted([each for each in everyone if each[0] + each[1] * each[2].alone > start], key=_shape_of_variable)
    found = [1.0] if len(rivals) == 1 else _integral(start, rivals)
    return None if found is None else among_all(found, [k for _, _, _, k in rivals], len(df))


def _with_constants(location: Sequence[float], scale: Sequence[float], df: Sequence[float]) -> list[float] | None:
    """The probabilities where some scales are 0. Of those variables only the largest can win; equal ones share.

    A constant is a normal variable of a scale so small that the probabilities do not notice: by symmetry they change
    with its square.
    """
    drawn = [k for k, s in enumerate(scale) if s > 0.0]
    highest = max([m for m, s in zip(location, scale, strict=True) if s <= 0.0])
    leaders = [k for k, (m, s) in enumerate(zip(location, scale, strict=True)) if s <= 0.0 and m == highest]
    found: list[float] | None = [1.0]
    if drawn:
        locations, scales, dfs = ([column[k] for k in drawn] for column in (location, scale, df))
        small = CONSTANT_SCALE * min(scales)
        found = few_winning_probabilities([*locations, highest], [*scales, small], [*dfs, math.inf])
    if found is None:
        return None
    wins = [0.0] * len(scale)
    for k, win in zip(drawn, found, strict=False):
        wins[k] = win
    for k in leaders:
        wins[k] = found[-1] / len(leaders)
    return wins


class Shape(NamedTuple):
    """What the rule has to know of a distribution, in its scales. Rows are sorted by it.

    Attributes
    ----------
    kind : Kind
        How its functions are computed.
    n : float
        Degrees of freedom.
    alone, of_three, of_all : float
        How far it strays to one side at most, with the chances of :func:`chances_to_stray`.
    right : float
        Where the grid may end: what a heavy tail has beyond is added in closed form.
    pole : float
        Distance of the density's pole from the line; 0 for a normal.
    step : float
        Largest step.
    """

    kind: Kind
    n: float
    alone: float
    of_three: float
    of_all: float
    right: float
    pole: float
    step: float


Variable = tuple[float, float, Shape, int]  # location, scale, shape, and its place among all
_shape_of_variable: Final = itemgetter(2)


@lru_cache(maxsize=4096)
def _shape_of(n: float, variables: int) -> Shape:
    if n == math.inf:
        return Shape(Kind.NORMAL, n, *normal_reaches(variables), NORMAL_REACH, 0.0, NORMAL_STEP)
    alone, of_three, of_all = (_reach(n, chance) for chance in chances_to_stray(variables))
    right = _reach(n, 1e-6 if n < 3.0 else 1e-8 if n < HEAVY else 1e-11)
    step = min(NORMAL_STEP, STUDENT_STEP * math.sqrt(n))
    return Shape(kind_of(n), n, alone, of_three, of_all, right, math.sqrt(n), step)


def _reach(n: float, chance: float) -> float:
    """How many scales a Student variable strays to one side with a probability that is at most ``chance``."""
    from scipy.special import ndtri

    normal = -float(ndtri(chance))
    # P(T > z) < c z^-n, from the density's own tail; or, better where n is large, a bound of Wallace (1959).
    log_c = math.lgamma(0.5 * (n + 1.0)) - math.lgamma(0.5 * n) - 0.5 * math.log(math.pi)
    by_power = math.exp(min((log_c + (0.5 * n - 1.0) * math.log(n) - math.log(chance)) / n, 200.0))
    if n < 1.0:
        return by_power
    return min(by_power, math.sqrt(n * math.expm1(min(normal * normal / (n - 0.5), 300.0))))


def _integral(start: float, variables: Sequence[Variable]) -> list[float] | None:
    """The probabilities of variables that all may be the largest, sorted by their rows."""
    # To the right of the start, a Student that lies to the left of it is as smooth as its distance is large.
    widths = [s if m >= start or not shape.pole else math.hypot(s, start - m) for m, s, shape, _ in variables]
    narrowest = min(widths)
    nearest = [m if m > start else start for m, _, _, _ in variables]
    narrow, delta = 2.0 * narrowest, STRETCH * narrowest
    centre = max([m for m, width in zip(nearest, widths, strict=True) if width <= narrow])
    first = math.asinh((start - centre) / delta)
    last = math.asinh((max([m + s * shape.right for m, s, shape, _ in variables]) - centre) / delta)
    step = min(
        [
            width * shape.step / math.hypot(delta, m - centre)
            for m, width, (_, _, shape, _) in zip(nearest, widths, variables, strict=True)
        ]
    )
    shapes = [shape for _, _, shape, _ in variables]
    heavy = [row for row, shape in enumerate(shapes) if shape.n < HEAVY]
    outer = last
    if heavy and last - first > LONG * step:
        farthest = max([math.hypot(m - centre, s * shape.pole) for m, s, shape, _ in variables])
        outer = min(last, max(first + 16.0 * step, math.asinh(OUTER * farthest / delta)))
    laws = np.array([[delta / s for _, s, _, _ in variables], [(centre - m) / s for m, s, _, _ in variables]])
    is_nearly_normal = min([shape.n for shape in shapes]) >= NEARLY_NORMAL_FROM

    def sums(level: int) -> tuple[list[float], list[float]]:
        return _sums(laws, shapes, _grid(first, outer, last, level, bool(heavy)), heavy)

    return settled_wins(step, outer - first, sums, HALF_OFF_BY_NORMAL if is_nearly_normal else HALF_OFF_BY)


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
    t = [*(nodes * half + (end + half)).tolist(), last]
    sinh = np.concatenate([sinh, list(map(math.sinh, t))])
    cosh = np.concatenate([cosh, list(map(math.cosh, t))])
    cosh[-len(t) :] *= half
    return _Grid(sinh, cosh, _unit_weights(number, heavy, True))


@lru_cache(maxsize=256)
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


def _sums(laws: Floats, shapes: Sequence[Shape], grid: _Grid, heavy: Sequence[int]) -> tuple[list[float], list[float]]:
    """The sums over all nodes, and those over every second; laws are delta / scale and (centre - location) / scale."""
    slopes, offsets = laws
    z = slopes[:, None] * grid.sinh  # z = (x - m) / s is linear in sinh(t)
    z += offsets[:, None]
    below, ratio = distributions(z, [shape.n for shape in shapes], [shape.kind for shape in shapes])
    product = np.multiply.reduce(below, axis=0)
    product *= grid.cosh
    ratio *= product
    sums = weighted_sums(ratio, grid.weights[:, None])
    sums *= slopes
    every, second = sums.tolist()
    if heavy:  # the chance that a tail is the largest, beyond the last node; two are there at the same time seldom
        survival = (1.0 - below[:, -1]).tolist()
        half_of_all = 0.5 * math.fsum([survival[row] for row in heavy])
        for row in heavy:
            tail = survival[row] * (1.0 - (half_of_all - 0.5 * survival[row]))
            every[row] += tail
            second[row] += tail
    return every, second
