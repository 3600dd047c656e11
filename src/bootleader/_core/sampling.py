"""Exact samplers on keyed streams: normal, exponential, gamma, beta, Student, binomial and Poisson.

Scalar functions as in :mod:`bootleader._core.rng`. The normal is a ziggurat [1]_ whose layers lie wholly under the
density [2]_, so that the layer alone decides whether a word is rejected. The first word may come from any stream (a
lock-step kernel draws the first words of many runs at once); the draws after a rejection come from ``stream``. The
gamma is that of [3]_, the binomial that of [4]_, the Poisson variable that of [5]_.

Every sampler ends, whatever it is given. Where no law has the parameters it returns NaN.

References
----------
.. [1] G. Marsaglia, W. W. Tsang (2000). The ziggurat method for generating random variables. J. Stat. Softw. 5(8).
.. [2] C. D. McFarland (2016). A modified ziggurat algorithm for generating exponentially and normally distributed
   pseudorandom numbers. J. Stat. Comput. Simul. 86(7).
.. [3] G. Marsaglia, W. W. Tsang (2000). A simple method for generating gamma variables. ACM TOMS 26(3).
.. [4] W. Hörmann (1993). The generation of binomial random variates. J. Stat. Comput. Simul. 46.
.. [5] W. Hörmann (1993). The transformed rejection method for generating Poisson random variables. Insurance: Math.
   Econ. 12(1).
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bootleader._core.elementary import exp, log, log1p, power
from bootleader._core.rng import MASK, next_word, uniform, unit

LAYERS: Final = 2048  # one word in 680 is rejected, and the table fits into the first-level cache
LAYER_MASK: Final = LAYERS - 1
SIGN_BIT: Final = LAYERS  # the bit above those of the layer; ``unit`` reads the highest bits, the position
HALF_AREA: Final = math.sqrt(math.pi / 2)  # under exp(-x^2 / 2), right of zero


def _layer_edges() -> list[float]:
    """Right edges of rectangles under exp(-x^2 / 2), from the axis up; each has 1 / LAYERS of the area under it."""
    area = HALF_AREA / LAYERS
    edges: list[float] = []
    foot, edge = 0.0, 10.0
    while True:
        # Fixed-point iteration from above: a rectangle that is too wide is cut where its top meets the density. With
        # the same area it is then higher, so it is cut again, until it fits.
        while (top := foot + area / edge) < 1.0 and (cut := math.sqrt(-2.0 * math.log(top))) < edge:
            edge = cut
        if top >= 1.0:
            return edges
        edges.append(edge)
        foot = math.exp(-0.5 * edge * edge)


def _alias(weights: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int16]]:
    """Walker's alias tables: a uniform position is kept with probability ``keep``, else replaced by ``other``."""
    keep, other = weights / weights.mean(), np.arange(len(weights), dtype=np.int16)
    small, large = list(np.flatnonzero(keep < 1.0)), list(np.flatnonzero(keep >= 1.0))
    while small and large:
        position, alias = small.pop(), large[-1]
        other[position] = alias
        keep[alias] -= 1.0 - keep[position]
        if keep[alias] < 1.0:
            small.append(large.pop())
    return keep, other


_edges = _layer_edges()
WHOLE: Final = len(_edges)  # layers below this one are accepted at once; the rest sample the tail and the corners
TAIL: Final = _edges[0]
EDGES: Final = np.array(_edges + [0.0] * (LAYERS - WHOLE))
HEIGHTS: Final = np.exp(-0.5 * EDGES**2)
# The area outside the layers: the tail, and the corner between each layer and the one below.
KEEP, OTHER = _alias(
    np.array([HALF_AREA * math.erfc(TAIL / math.sqrt(2)), *(EDGES[:-1] - EDGES[1:]) * (HEIGHTS[1:] - HEIGHTS[:-1])])
)


def layer_edge(layer: Any) -> Any:
    """A layer's right edge. Only this function reads the table: on a GPU it is in shared memory."""
    return EDGES[layer]


def layer_height(layer: Any) -> Any:
    """The density at a layer's right edge."""
    return HEIGHTS[layer]


def rejected(word: Any) -> Any:
    """Whether a word falls outside the layers."""
    return (word & LAYER_MASK) >= WHOLE


def accepted_normal(word: Any) -> Any:
    """The normal variable of a word that is not rejected."""
    return signed(unit(word) * layer_edge(word & LAYER_MASK), word)


def signed(size: Any, word: Any) -> Any:
    """The size with the word's sign."""
    return size if (word & SIGN_BIT) == 0 else -size


def normal_tail(stream: Any) -> Any:
    """The size of a normal beyond the widest layer."""
    while True:
        x = -log(1.0 - uniform(stream)) / TAIL
        y = -log(1.0 - uniform(stream))
        if y + y > x * x:
            return TAIL + x


def sample_outside_layers(word: Any, stream: Any) -> Any:
    """The size of a normal outside the layers: in the tail, or in a corner, at a point under the density."""
    while True:
        place = unit(word) * LAYERS
        corner = int(place)
        if place - corner >= KEEP[corner]:
            corner = int(OTHER[corner])
        if corner == 0:
            return normal_tail(stream)
        edge, foot = layer_edge(corner), layer_height(corner - 1)
        x = edge + uniform(stream) * (layer_edge(corner - 1) - edge)
        y = foot + uniform(stream) * (layer_height(corner) - foot)
        if y < exp(-0.5 * x * x):
            return x
        word = next_word(stream)


def finish_normal(word: Any, stream: Any) -> Any:
    """A normal from its first word; a rejected word needs more draws from ``stream``."""
    if rejected(word):
        return signed(sample_outside_layers(word, stream), word)
    return accepted_normal(word)


def standard_normal(stream: Any) -> Any:
    """N(0, 1)."""
    return finish_normal(next_word(stream), stream)


def standard_exponential(stream: Any) -> Any:
    """Exp(1)."""
    return -log(1.0 - uniform(stream))


def gamma_root(shape: Any, x: Any) -> Any:
    """A gamma candidate from a normal: the cube root of its ratio to shape - 1/3."""
    return 1.0 + x / math.sqrt(9.0 * shape - 3.0)


def accepts_gamma_quickly(shape: Any, x: Any, root: Any, u: Any) -> Any:
    """Whether u in [0, 1) accepts the candidate without logarithms.

    With d = shape - 1/3 and y = root - 1, the log of the acceptance probability has derivative 3 d y^4 / (1 + y) less
    that of 0.75 d y^4, so it is at least -1.695 * 0.75 d y^4 = -0.0157 x^4 / d for y >= -1/2.
    """
    return (root >= 0.5) & (u * (shape - 1.0 / 3.0) > 0.0157 * (x * x) * (x * x))


def standard_gamma(shape: Any, stream: Any) -> Any:
    """Gamma(shape, 1); 0 and infinity are the limits at those shapes."""
    if not 0.0 < shape < math.inf:  # no candidate would ever be accepted
        return shape if shape >= 0.0 else math.nan
    boost = 1.0
    if shape < 1.0:
        boost = power(1.0 - uniform(stream), 1.0 / shape)
        shape = shape + 1.0
    d = shape - 1.0 / 3.0
    while True:
        x = standard_normal(stream)
        root = gamma_root(shape, x)
        if root > 0.0:
            v = root * root * root
            u = uniform(stream)
            if accepts_gamma_quickly(shape, x, root, u) or log(1.0 - u) < 0.5 * x * x + d * (1.0 - v + log(v)):
                return boost * (d * v)


def standard_beta(a: Any, b: Any, stream: Any) -> Any:
    """Beta(a, b), a > 0 and b > 0."""
    x = standard_gamma(a, stream)
    y = standard_gamma(b, stream)
    total = x + y
    return x / total if total > 0.0 else _underflown_beta(a, b, stream)


def _underflown_beta(a: Any, b: Any, stream: Any) -> Any:
    """Beta(a, b), given that both gammas are smaller than any float; NaN if no law has these parameters.

    The logarithm of a gamma with a small shape is that of another one less Exp(1) / shape. Below a limit that it has
    passed, the rest of the exponential is Exp(1) / shape again.
    """
    if not (a >= 0.0 and b >= 0.0 and a + b > 0.0):
        return math.nan
    if a == 0.0 or b == 0.0:
        return 0.0 if a == 0.0 else 1.0
    difference = standard_exponential(stream) / a - standard_exponential(stream) / b
    return 1.0 / (1.0 + exp(min(difference, 700.0)))


def studentise(normal: Any, df: Any, stream: Any) -> Any:
    """Turn a normal into a Student variable with ``df`` degrees of freedom; infinite ``df`` leaves it unchanged."""
    if df == math.inf:
        return normal
    half = 0.5 * df
    if not half > 0.0:
        return math.nan
    spread = math.sqrt(standard_gamma(half, stream) / half)
    return normal / spread if spread > 0.0 else normal * math.inf


def popcount(word: Any) -> Any:
    """Number of ones among 64 bits."""
    word = word - ((word >> 1) & 0x5555555555555555)
    word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F
    return ((word * 0x0101010101010101) & MASK) >> 56


COUNTED_TOSSES: Final = 1_280  # up to here counting the bits of at most twenty words is faster than rejection
SMALL_MEAN: Final = 10.0  # below this mean the binomial and the Poisson law are inverted term by term
FAR: Final = 200.0  # a count with such a mean is at most this: the probability of more is below 1e-150
WHOLE_NUMBERS: Final = 2.0**53  # from here on floats are not whole numbers one by one, and counts are rounded normals
NEAR_MODE: Final = 15.0  # at most this far from the mode a product of ratios is faster than logarithms


def fair_binomial(tosses: Any, stream: Any) -> Any:
    """Binomial(tosses, 1/2) as a float, in time that does not grow with ``tosses``."""
    if not tosses >= 0.0:
        return math.nan
    if tosses > COUNTED_TOSSES:
        return binomial_up_to_half(tosses, 0.5, stream)
    left = int(tosses)
    heads = 0
    while left > 0:
        word = next_word(stream)
        if left < 64:
            word = word >> (64 - left)
        heads += int(popcount(word))
        left -= 64
    return float(heads)


def binomial(tosses: Any, chance: Any, stream: Any) -> Any:
    """Binomial(tosses, chance) as a float, in time that does not grow with ``tosses``."""
    if not 0.0 <= chance <= 1.0:
        return math.nan
    if chance > 0.5:
        return tosses - binomial_up_to_half(tosses, 1.0 - chance, stream)
    return binomial_up_to_half(tosses, chance, stream)


def binomial_up_to_half(tosses: Any, chance: Any, stream: Any) -> Any:
    """Binomial(tosses, chance) for chance from 0 to 1/2."""
    mean = tosses * chance
    if mean < SMALL_MEAN:
        return _inverted_binomial(tosses, chance, stream) if tosses >= 0.0 else math.nan
    if mean < WHOLE_NUMBERS:
        return _rejection_binomial(tosses, chance, stream)
    return mean + math.sqrt(mean * (1.0 - chance)) * standard_normal(stream)


def _inverted_binomial(tosses: Any, chance: Any, stream: Any) -> Any:
    """Invert the distribution function: add its terms until the sum exceeds a uniform number."""
    odds = chance / (1.0 - chance)
    largest = min(tosses, FAR)  # rounding may leave a rest that no further term reaches
    while True:
        term = exp(tosses * log1p(-chance))
        left = uniform(stream)
        k = 0.0
        while k <= largest:
            if left < term:
                return k
            left -= term
            k += 1.0
            term *= odds * (tosses - k + 1.0) / k


STIRLING_TAILS: Final = np.array(
    [math.lgamma(k + 1.0) - (k + 0.5) * math.log(k + 1.0) + (k + 1.0) - 0.9189385332046727 for k in range(10)]
)


def _stirling_tail(k: Any) -> Any:
    """The difference between log k! and Stirling's formula, for a whole number k."""
    if k < 10.0:
        return STIRLING_TAILS[int(k)]
    k1 = k + 1.0
    return (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / (k1 * k1)) / (k1 * k1)) / k1


def _rejection_binomial(tosses: Any, chance: Any, stream: Any) -> Any:
    """Hörmann's transformed rejection with squeezes (BTRD) for tosses * chance >= 10, chance <= 1/2."""
    variance = tosses * chance * (1.0 - chance)
    spread = math.sqrt(variance)
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * chance
    centre = tosses * chance + 0.5
    v_r = 0.92 - 4.2 / b
    while True:
        u = uniform(stream) - 0.5
        v = 1.0 - uniform(stream)
        us = 0.5 - abs(u)
        if us > 0.0:
            k = float(math.floor((2.0 * a / us + b) * u + centre))
            if us >= 0.07 and v <= v_r:
                return k
            v = v * (2.83 + 5.1 / b) * spread / (a / (us * us) + b)
            if 0.0 <= k <= tosses and _under_binomial(v, k, tosses, chance, variance):
                return k


def _under_binomial(v: Any, k: Any, tosses: Any, chance: Any, variance: Any) -> Any:
    """Whether v is at most the probability of k over that of the mode, by the cheapest test that decides it."""
    mode = float(math.floor((tosses + 1.0) * chance))
    odds = chance / (1.0 - chance)
    off = abs(k - mode)
    if off <= NEAR_MODE:
        ratio, low = 1.0, min(k, mode)
        for step in range(1, int(off) + 1):
            ratio *= odds * (tosses + 1.0) / (low + step) - odds
        return v <= ratio if k > mode else v * ratio <= 1.0
    log_v = log(v)
    parabola = -off * off / (2.0 * variance)
    margin = (off / variance) * (((off / 3.0 + 0.625) * off + 1.0 / 6.0) / variance + 0.5)
    if abs(log_v - parabola) > margin:
        return log_v < parabola
    return log_v <= _log_height(k, mode, tosses, odds)


def _log_height(k: Any, mode: Any, tosses: Any, odds: Any) -> Any:
    """Log of the binomial probability of k over that of the mode."""
    return (
        (mode + 0.5) * log((mode + 1.0) / (odds * (tosses - mode + 1.0)))
        + (tosses + 1.0) * log((tosses - mode + 1.0) / (tosses - k + 1.0))
        + (k + 0.5) * log(odds * (tosses - k + 1.0) / (k + 1.0))
        + _stirling_tail(mode)
        + _stirling_tail(tosses - mode)
        - _stirling_tail(k)
        - _stirling_tail(tosses - k)
    )


def poisson(mean: Any, stream: Any) -> Any:
    """Poisson(mean) as a float, in time that does not grow with the mean."""
    if mean < SMALL_MEAN:
        return _inverted_poisson(mean, stream) if mean >= 0.0 else math.nan
    if mean < WHOLE_NUMBERS:
        return _rejection_poisson(mean, stream)
    return mean + math.sqrt(mean) * standard_normal(stream)


def _inverted_poisson(mean: Any, stream: Any) -> Any:
    """Invert the distribution function: add its terms until the sum exceeds a uniform number."""
    while True:
        term = exp(-mean)
        left = uniform(stream)
        k = 0.0
        while k <= FAR:  # rounding may leave a rest that no further term reaches
            if left < term:
                return k
            left -= term
            k += 1.0
            term *= mean / k


def _rejection_poisson(mean: Any, stream: Any) -> Any:
    """Hörmann's transformed rejection with squeezes (PTRS) for mean >= 10."""
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = uniform(stream) - 0.5
        v = 1.0 - uniform(stream)
        us = 0.5 - abs(u)
        if us > 0.0:
            k = float(math.floor((2.0 * a / us + b) * u + mean + 0.43))
            if us >= 0.07 and v <= v_r:
                return k
            if k >= 0.0 and (us >= 0.013 or v <= us):
                v = v * inverse_alpha / (a / (us * us) + b)
                if log(v) <= _log_poisson(k, mean):
                    return k


def _log_poisson(k: Any, mean: Any) -> Any:
    """Log of the Poisson probability of k. The large terms are subtracted before they are rounded."""
    off = k + 1.0 - mean
    deviance = (k + 1.0) * log1p(off / mean) - off
    return 0.5 * log(k + 1.0) - log(mean) - deviance - 0.9189385332046727 - _stirling_tail(k)
