r"""The probability that each of several independent normal or Student variables is the largest.

.. math:: P_k = \int f_k(x) \prod_{j \ne k} F_j(x)\, dx

by Gauss-Legendre quadrature on panels that no variable's distribution changes much across. A place on the line is
kept as the sum of two floats, so a variable a million million times narrower than its neighbours is still resolved.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bootleader.agent._elementary_arrays import arctan, exp, gauss_legendre, log, weighted_sums

Floats = npt.NDArray[np.float64]

NODES, WEIGHTS = gauss_legendre(20)
# Turns values at the nodes into the last two Legendre coefficients, which say how far a panel is from being resolved.
LAST_COEFFICIENTS: Final = (np.polynomial.legendre.legvander(NODES, 19)[:, -2:] * WEIGHTS[:, None] * [18.5, 19.5]).T
NORMAL_REACH: Final = 9.0  # a normal is constant beyond this many scales, for all that float64 can tell
NORMAL_WIDTH: Final = 2.0  # widest panel within reach of a normal, in its scales
# The same for a Student: in its scales, or, where that is more, in distances from its location.
STUDENT_WIDTH, STUDENT_GRADING = 1.0, 2.0
LENIENT: Final = 1e-8  # a tolerance from which on a Student's panels may be wider by
LENIENCE: Final = 2.0  # this factor
CLOSED_FORM_UNTIL: Final = 60  # whole degrees of freedom whose distribution is summed term by term
PEAK_BY_SERIES: Final = 1000.0  # degrees of freedom from which on
CHUNK: Final = 1 << 20  # values held at once
SMALLEST: Final = 1e-300
MOST_HALVINGS: Final = 200  # of a panel, after which it counts as resolved
# Beyond these ratios and sizes variables are compared in layers.
WIDEST_LAYER: Final = 1e15  # of the largest scale to the smallest
FARTHEST: Final = 1e25  # of the largest location to the smallest scale
WIDE_GAP: Final = 1e12  # between neighbouring scales, from which on the narrower is a point to the wider
SMALL, LARGE = 1e-140, 1e140
FAR_OUT: Final = 1e100  # scales from a location: no chance is left, and the square is still a number
NEGLIGIBLE: Final = 1e-2  # part of the tolerance that may be lost by looking away


class Panels(NamedTuple):
    """Stretches of the line: each begins at ``high + low`` and is ``width`` long."""

    high: Floats
    low: Floats
    width: Floats

    def take(self, which: Any) -> Panels:
        """Some of the panels."""
        return Panels(self.high[which], self.low[which], self.width[which])

    def halves(self) -> Panels:
        """Every panel cut in two."""
        half = 0.5 * self.width
        high, low = _two_sum(self.high, self.low + half)
        return _joined(Panels(self.high, self.low, half), Panels(high, low, half))


def _joined(*parts: Panels) -> Panels:
    return Panels(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """A sum and what rounding took from it."""
    total = a + b
    shadow = total - a
    return total, (a - (total - shadow)) + (b - shadow)


class Variables(NamedTuple):
    """Locations, positive scales, degrees of freedom (infinite: normal)."""

    location: Floats
    scale: Floats
    df: Floats

    def take(self, which: Any) -> Variables:
        """Some of the variables."""
        return Variables(self.location[which], self.scale[which], self.df[which])

    def standardised(self, panels: Panels) -> Floats:
        """Every node of every panel in every variable's own unit: variable x panel x node."""
        start = panels.high[None, :] - self.location[:, None]
        inside = panels.low[:, None] + panels.width[:, None] * (0.5 * (NODES + 1.0))
        z: Floats = (start[:, :, None] + inside[None]) / self.scale[:, None, None]
        return z

    def reach(self, chance: float) -> Floats:
        """How many scales from its location a variable strays with probability ``chance`` at most, on one side."""
        from scipy.special import gammaln, ndtri

        reach = np.full(self.df.shape, -float(ndtri(chance)))
        df = self.df[np.isfinite(self.df)]
        # P(T > z) < c z^-df, from the density's own tail.
        log_c = gammaln(0.5 * (df + 1.0)) - gammaln(0.5 * df) - 0.5 * math.log(math.pi) + (0.5 * df - 1.0) * log(df)
        reach[np.isfinite(self.df)] = exp(np.minimum((log_c - math.log(chance)) / df, 200.0))
        return reach


def winning_probabilities(location: Any, scale: Any, df: Any, tolerance: float = 1e-10) -> Floats:
    """Each variable's probability of being the largest; where scales are zero, ties are shared.

    Examples
    --------
    >>> winning_probabilities([0.0, 0.0, 1.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]).round(2)
    array([0.22, 0.22, 0.56])
    """
    everyone = Variables(*(np.asarray(column, np.float64) for column in (location, scale, df)))
    if not _is_tame(everyone):
        return _in_layers(everyone, tolerance)
    wins = np.zeros(everyone.location.shape)
    fixed = everyone.scale <= 0.0
    floor = float(everyone.location[fixed].max()) if fixed.any() else -math.inf
    drawn = np.flatnonzero(~fixed)
    if drawn.size:
        wins[drawn], below_floor = _drawn_wins(everyone.take(drawn), floor, tolerance)
    else:
        below_floor = 1.0
    leaders = fixed & (everyone.location == floor)
    wins[leaders] = below_floor / max(1, leaders.sum())
    wins = np.maximum(wins, 0.0)  # rounding leaves -1e-16 of a distribution function here and there
    return wins / wins.sum()  # type: ignore[no-any-return]


def _is_tame(variables: Variables) -> bool:
    """Whether locations and scales are near enough in size for one pair of floats to resolve them all."""
    scale = variables.scale[variables.scale > 0.0]
    if not scale.size:
        return True
    least, most = float(scale.min()), float(scale.max())
    size = float(np.abs(variables.location).max())
    return least > 0.0 and most <= WIDEST_LAYER * least and size <= FARTHEST * least and SMALL < least < most < LARGE


def _in_layers(variables: Variables, tolerance: float) -> Floats:
    """Winning probabilities of variables of any sizes.

    The widest variables are compared with the maximum of all others as if that was a point, which it is in
    proportion; how the others share what is left is the same question for fewer variables.
    """
    wins = np.zeros(variables.location.shape)
    widest = _widest_layer(variables.scale)
    rest = np.setdiff1d(np.arange(wins.size), widest)
    if not widest.size:
        leads = variables.location == variables.location.max()
        return np.asarray(leads / leads.sum())
    others = _in_layers(variables.take(rest), tolerance) if rest.size else np.zeros(0)
    floor = float(variables.location[rest[others.argmax()]]) if rest.size else -math.inf
    wins[widest], below_floor = _layer_wins(variables.take(widest), floor, tolerance)
    wins[rest] = below_floor * others
    wins = np.maximum(wins, 0.0)
    total = wins.sum()
    return wins / total if total > 0.0 else _in_layers(variables._replace(scale=np.zeros(wins.size)), tolerance)


def _widest_layer(scale: Floats) -> npt.NDArray[np.intp]:
    """The variables of the largest scales, down to a wide gap between scales."""
    drawn = np.flatnonzero(scale > 0.0)
    if not drawn.size:
        return drawn
    order = drawn[np.argsort(-scale[drawn], kind="stable")]
    ordered = scale[order]
    tame = int((ordered >= ordered[0] / WIDEST_LAYER).sum())
    if tame == order.size:
        return order
    gaps = ordered[:tame] / ordered[1 : tame + 1]
    wide = np.flatnonzero(gaps > WIDE_GAP)
    return order[: int(wide[0] if wide.size else gaps.argmax()) + 1]


def _layer_wins(variables: Variables, floor: float, tolerance: float) -> tuple[Floats, float]:
    """As :func:`_drawn_wins`, in units of the largest scale around the place where the leader is."""
    unit = float(variables.scale.max())
    reach = variables.reach(NEGLIGIBLE * tolerance / variables.scale.size) * (variables.scale / unit)
    lowest = variables.location / unit - reach
    best = int(lowest.argmax())
    centre = floor if floor / unit >= lowest[best] else float(variables.location[best])
    location = np.clip((variables.location - centre) / unit, -LARGE, LARGE)
    floor = max((floor - centre) / unit, -LARGE)
    return _drawn_wins(Variables(location, variables.scale / unit, variables.df), floor, tolerance)


def _drawn_wins(variables: Variables, floor: float, tolerance: float) -> tuple[Floats, float]:
    """Probabilities of winning above ``floor``, and of nobody being above it."""
    wins = np.zeros(variables.location.shape)
    reach = variables.reach(NEGLIGIBLE * tolerance / wins.size)
    lowest = _two_sum(variables.location, -reach * variables.scale)
    highest = _two_sum(variables.location, reach * variables.scale)
    start = max([*zip(*lowest, strict=True), (floor, 0.0)])
    stop = max(zip(*highest, strict=True))
    in_play = (highest[0] > start[0]) | ((highest[0] == start[0]) & (highest[1] > start[1]))
    rivals = variables.take(in_play)
    if in_play.any():
        width = (stop[0] - start[0]) + (stop[1] - start[1])
        whole = Panels(*(np.array([x]) for x in (*start, width)))
        panels = _resolving(rivals, whole.halves().halves().halves().halves(), tolerance)
        wins[in_play] = _integrate(rivals, panels, tolerance)
    if floor == -math.inf:
        return wins, 0.0
    at_floor = np.clip((floor - rivals.location) / rivals.scale, -FAR_OUT, FAR_OUT)
    return wins, float(np.prod(_cdf(at_floor, rivals.df)))


def _resolving(variables: Variables, panels: Panels, tolerance: float) -> Panels:
    """Cut panels until none is too wide for a variable, and drop those in which the leader hardly ever lies."""
    lenience = LENIENCE if tolerance >= LENIENT else 1.0
    fine: list[Panels] = []
    while panels.width.size:
        panels = panels.take(_leader_may_be_in(variables, panels, NEGLIGIBLE * tolerance))
        coarse = panels.width > _widest(variables, panels, lenience)
        fine.append(panels.take(~coarse))
        panels = panels.take(coarse).halves()
    return _joined(*fine)


def _widest(variables: Variables, panels: Panels, lenience: float) -> Floats:
    """How wide each panel may be: not wide against a variable's scale or, for a Student, against its distance."""
    left = (panels.high[None] - variables.location[:, None]) + panels.low[None]
    distance = np.maximum(np.maximum(left, -(left + panels.width[None])), 0.0)
    scale = variables.scale[:, None]
    normal = np.where(distance < NORMAL_REACH * scale, NORMAL_WIDTH * scale, math.inf)
    student = lenience * np.maximum(STUDENT_WIDTH * scale, STUDENT_GRADING * distance)
    widest: Floats = np.where(np.isinf(variables.df)[:, None], normal, student).min(axis=0, initial=math.inf)
    return widest


def _leader_may_be_in(variables: Variables, panels: Panels, negligible: float) -> npt.NDArray[np.bool_]:
    """Whether the largest variable lies past a panel's start, and before its end, with a chance worth counting."""
    left = (panels.high[None] - variables.location[:, None]) + panels.low[None]
    below_start = np.prod(_cdf(left / variables.scale[:, None], variables.df), axis=0)
    below_end = np.prod(_cdf((left + panels.width[None]) / variables.scale[:, None], variables.df), axis=0)
    likely: npt.NDArray[np.bool_] = (below_end > negligible) & (below_start < 1.0 - negligible)
    return likely


def _integrate(variables: Variables, panels: Panels, tolerance: float) -> Floats:
    """Sum over panels, cutting those in two whose integrand a polynomial does not follow."""
    wins = np.zeros(variables.location.shape)
    at_once = max(1, CHUNK // (NODES.size * wins.size))
    halvings = 0
    while panels.width.size:
        unresolved = []
        halvings += 1
        for first in range(0, panels.width.size, at_once):
            part = panels.take(slice(first, first + at_once))
            density = _winning_density(variables, part)
            half = 0.5 * part.width
            coefficients = [np.abs(weighted_sums(density, last)).max(axis=0) for last in LAST_COEFFICIENTS]
            resolved = (np.maximum(*coefficients) * half <= tolerance) | (halvings > MOST_HALVINGS)
            wins += weighted_sums(weighted_sums(density[:, resolved], WEIGHTS), half[resolved])
            unresolved.append(part.take(~resolved).halves())
        panels = _joined(*unresolved)
    return wins


def _winning_density(variables: Variables, panels: Panels) -> Floats:
    """f_k prod_{j != k} F_j at every node: variable x panel x node."""
    z = variables.standardised(panels)
    cdf = np.maximum(_cdf(z, variables.df), SMALLEST)
    everyone_below = np.prod(cdf, axis=0)
    density: Floats = _pdf(z, variables.df)
    density /= variables.scale[:, None, None]
    density /= cdf
    density *= everyone_below
    return density


def _pdf(z: Floats, df: Floats) -> Floats:
    """Densities, row by row."""
    density = np.empty_like(z)
    for n in np.unique(df):
        rows = df == n
        if math.isinf(n):
            density[rows] = exp(-0.5 * z[rows] ** 2) / math.sqrt(2.0 * math.pi)
        else:
            density[rows] = student_peak(float(n)) * _power_by_multiplication(n / (n + z[rows] ** 2), 0.5 * (n + 1.0))
    return density


def student_peak(n: float) -> float:
    """A Student's density at its centre; by a series where the difference of two large logarithms loses digits."""
    if n > PEAK_BY_SERIES:
        return (1.0 - 1.0 / (4.0 * n) + 1.0 / (32.0 * n**2) + 5.0 / (128.0 * n**3)) / math.sqrt(2.0 * math.pi)
    return math.exp(math.lgamma(0.5 * (n + 1.0)) - math.lgamma(0.5 * n)) / math.sqrt(n * math.pi)


def _power_by_multiplication(base: Floats, exponent: float) -> Floats:
    """``base ** exponent``, exponent at least 1; by multiplications where it is a small multiple of one half."""
    halves = 2.0 * exponent
    if halves != int(halves) or halves > CLOSED_FORM_UNTIL:
        return exp(exponent * log(base))  # type: ignore[no-any-return]
    power = _whole_power(base, int(halves) // 2)
    return power * np.sqrt(base) if int(halves) % 2 else power


def _whole_power(base: Floats, exponent: int) -> Floats:
    """``base ** exponent`` by multiplications, exponent at least 1; it may be ``base`` itself."""
    result, square = None, base
    while True:
        if exponent % 2:
            result = square if result is None else result * square
        exponent //= 2
        if not exponent:
            return square if result is None else result
        square = square * square


def _cdf(z: Floats, df: Floats) -> Floats:
    """Distribution functions, row by row: row j is the normal's or Student's with ``df[j]`` degrees of freedom."""
    from scipy.special import ndtr, stdtr

    chance = np.empty_like(z)
    for n in np.unique(df):
        rows = df == n
        if math.isinf(n):
            chance[rows] = ndtr(z[rows])
        elif n <= CLOSED_FORM_UNTIL and n == int(n):
            chance[rows] = _whole_student_cdf(int(n), z[rows])
        else:
            chance[rows] = stdtr(n, z[rows])
    return chance


def _whole_student_cdf(n: int, z: Floats) -> Floats:
    """Student's distribution function for whole degrees of freedom: a finite sum in sine and cosine of an angle."""
    square = n / (n + z * z)  # cos^2
    sine = z / np.sqrt(n + z * z)
    term = np.ones_like(z) if n % 2 == 0 else np.sqrt(square)
    total = term.copy() if n > 1 else np.zeros_like(z)
    for i in range(2 + n % 2, n - 1, 2):
        term *= square * ((i - 1.0) / i)
        total += term
    if n % 2 == 0:
        return 0.5 + 0.5 * sine * total
    return 0.5 + (arctan(z / math.sqrt(n)) + sine * total) / math.pi
