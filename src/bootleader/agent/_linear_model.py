"""The linear model of one arm's rewards in NumPy: that of :mod:`bootleader._core.linear_model`, fast in Python.

A model is never changed: :func:`learn` and :func:`refresh` return a new one, so that an interrupted call leaves the old
one as it was. The exact state is the same as there, sums in double-double arithmetic; new rows wait in a list and are
added many at a time. Between two refreshes the root of the inverse of the penalised Gram matrix is updated by Potter's
square-root form of the Sherman-Morrison formula; a leverage is a sum of squares, so it is never negative. A refresh
computes the root by LAPACK from the centred sums, and corrects coefficients and RSS by their residuals in the normal
equations, which are summed without rounding. If the matrix is too near to a singular one, the functions of
:mod:`bootleader._core.linear_model` compute all of it in double-double. Results agree with those functions up to
rounding: `tests/agent/test_linear_model.py`.

References
----------
K. Ozaki, T. Ogita, S. Oishi, S. M. Rump (2012). Error-free transformations of matrix multiplication by using fast
routines of matrix multiplication and its applications. Numer. Algorithms 59.
J. E. Potter, in R. H. Battin (1964), Astronautical Guidance, 338-340. G. J. Bierman (1977), Factorization Methods for
Discrete Sequential Estimation.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bootleader._core import linear_model as exact
from bootleader._core.double_double import add, fast_two_sum, multiply, two_product, two_sum
from bootleader._core.moments import pebay

Floats = npt.NDArray[np.float64]

SLICE: Final = 22  # bits: 64 products of two such numbers add up to at most 2^50
WAITING: Final = 64  # rows that wait at most until they are added to the exact sums
SURPRISING: Final = 1e4  # a row whose leverage exceeds this changes the root too much for an update
NEARLY_SINGULAR: Final = 1e-9  # share of a feature's sum of squares that others leave unexplained


class Model(NamedTuple):
    """A linear model; the last column of a row is the reward. ``d`` features, ``d + 1`` columns."""

    count: float  # type: ignore[assignment]
    centred: bool  # whether it has an intercept
    anchor: Floats  # first row (d+1); 0 unless centred
    mean: Floats  # mean of the differences from the anchor (d+1); 0 unless centred
    sums: Floats  # exact sums of the differences as pairs (2, d+1)
    gram: Floats  # exact sums of their products as pairs (2, (d+1)(d+2)/2): the upper triangle, row by row
    ridge: Floats  # penalty on each squared coefficient (d)
    root: Floats  # a root T (d x d): T'T is the inverse of the penalised Gram matrix
    diagonal: Floats  # of that inverse (d)
    coefficients: Floats  # (d)
    rss: float  # penalised
    freedom: float  # residual degrees of freedom
    free: float  # number of features that vary
    drift: float  # moments of the recursive residuals
    squares: float
    third: float
    fourth: float
    weighted_squares: float  # sum of their squares, each with the weight (h / (1 + h))^2, h the leverage
    weights: float  # sum of these weights
    refreshed_at: float  # count at the last refresh
    rows: int  # since the last refresh
    waiting: list[Floats]  # rows (differences from the anchor) that are not in the sums; shared, see ``taken``
    taken: int  # how many of them belong to this model
    variation: Floats  # sum of squares of each feature (d), about its mean if centred
    spread: float = 1.0  # 1 + weight * leverage of the last row

    @property
    def concentration(self) -> float:
        """Sum of residuals^4 / (sum of residuals^2)^2; infinite while all are 0."""
        squares = self.squares * self.squares
        return self.fourth / squares if squares > 0.0 else math.inf


@cache
def triangle(size: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Row and column numbers of the upper triangle."""
    rows, columns = np.triu_indices(size)
    return rows, columns


@cache
def diagonal_places(size: int) -> npt.NDArray[np.intp]:
    """Places of the diagonal in the upper triangle."""
    rows, columns = triangle(size)
    return np.flatnonzero(rows == columns)


def new_model(dimension: int, ridge: float, intercept: bool) -> Model:
    """A model without rows; with an intercept the ridge is set when there are rows."""
    d = dimension
    penalty = 0.0 if intercept else ridge
    spread = 0.0 if intercept else 1.0 / ridge
    return Model(
        0.0, intercept, np.zeros(d + 1), np.zeros(d + 1), np.zeros((2, d + 1)), np.zeros((2, (d + 1) * (d + 2) // 2)),
        np.full(d, penalty), np.eye(d) * math.sqrt(spread), np.full(d, spread), np.zeros(d), 0.0, 0.0,
        0.0 if intercept else float(d), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, [], 0, np.zeros(d),
    )  # fmt: skip


def learn(model: Model, features: Floats, reward: float, triangular: bool = False) -> Model:
    """The model with one more row. The caller refreshes it when :func:`is_old` says so.

    With ``triangular`` the root stays the triangular one of the simulator, at twice the cost: draws of coefficients
    depend on which root it is, leverages do not.
    """
    (
        count, centred, anchor, mean, sums, gram, ridge, root, diagonal, coefficients, rss, freedom, free, drift,
        squares, third, fourth, weighted_squares, weights, refreshed_at, rows, waiting, taken, variation, _,
    ) = model  # fmt: skip
    d = len(coefficients)
    row = np.empty(d + 1)
    row[:d], row[d] = features, reward
    if centred:
        if count == 0.0:
            anchor = row.copy()
        row = row - anchor
    total, weight, deviation = count + 1.0, 1.0, row
    if centred:
        deviation = row - mean
        mean = mean + deviation / total
        weight = count / total
    z = deviation[:d]
    surprise = float(deviation[d])
    squared = z * z
    variation = variation + (weight * squared if centred else squared)
    value, spread = float(row[d]), 1.0
    if free > 0.0:
        surprise -= float(z @ coefficients)
        f = root @ z
        gain = f @ root
        spread = 1.0 + weight * float(f @ f)
        step = weight / spread
        if triangular:
            root = _carlson(root, f, weight)
        else:  # Potter: (I - c ff')^2 = I - w ff' / spread
            root = root - np.multiply.outer(f * (weight / (spread + math.sqrt(spread))), gain)
        coefficients = coefficients + (step * surprise) * gain
        diagonal = diagonal - step * (gain * gain)
        value = drift + surprise / math.sqrt(spread)
        rss += step * surprise * surprise
    if weight > 0.0:  # the first row of a model with an intercept is not predicted
        share = 1.0 - weight / spread
        weighted_squares += share * share * (weight * surprise * surprise / spread)
        weights += share * share
    lost = float(ridge @ diagonal) - free
    freedom = total - centred + lost
    _, _, drift, squares, third, fourth = pebay(count, 0.0, drift, squares, third, fourth, value)
    if free == 0.0:
        rss = squares
    if len(waiting) > taken:  # rows of a call that was interrupted
        del waiting[taken:]
    waiting.append(row)
    made = Model(
        total, centred, anchor, mean, sums, gram, ridge, root, diagonal, coefficients, rss, freedom, free, drift,
        squares, third, fourth, weighted_squares, weights, refreshed_at, rows + 1, waiting, taken + 1, variation,
        spread,
    )  # fmt: skip
    return made if taken + 1 < WAITING else settled(made)


def _carlson(root: Floats, f: Floats, weight: float) -> Floats:
    """The lower triangular root after a row, with f the old root times the row; see :func:`exact.learn`."""
    after = 1.0 + weight * np.add.accumulate(f * f)
    before = np.append(1.0, after[:-1])
    decay = np.sqrt(before / after)
    gains = np.zeros_like(root)
    np.add.accumulate(root[:-1] * f[:-1, None], axis=0, out=gains[1:])
    return np.asarray(decay[:, None] * root - (weight * f / (after * decay))[:, None] * gains)


def is_old(model: Model, unit_free: bool) -> bool:
    """Whether the working state should be refreshed; a unit-free ridge is renewed then."""
    rows = model.rows
    if rows >= exact.REFRESH_EVERY:
        return True
    return exact.REFRESH_GROWTH * rows >= model.refreshed_at if unit_free else model.spread > SURPRISING


def settled(model: Model) -> Model:
    """The model with all its rows in the exact sums."""
    if model.taken == 0:
        return model
    sums, gram = _summed(np.array(model.waiting[: model.taken]))
    return model._replace(sums=added(model.sums, sums), gram=added(model.gram, gram), waiting=[], taken=0)


def added(pairs: Any, more: Any) -> Floats:
    """The sums of two arrays of pairs, each a row of high parts and one of low parts."""
    return np.array(add(pairs[0], pairs[1], more[0], more[1]))


def _summed(rows: Floats) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """The sums of some rows and of their products (upper triangle), as pairs.

    Each number is split into three parts of at most ``SLICE`` bits below the largest of its column (the third takes
    the rest). Sums of products of the first two parts fit into a float, so that BLAS adds them without rounding in
    whatever order (Ozaki, Ogita, Oishi, Rump 2012); the rest is rounded to 2^-97 of the largest product.
    """
    size = rows.shape[1]
    _, exponent = np.frexp(np.abs(rows).max(axis=0))
    large = np.ldexp(1.5, exponent + (52 - SLICE))
    first = (rows + large) - large
    rest = rows - first
    small = large * 2.0**-SLICE
    second = (rest + small) - small
    parts = np.concatenate([first, second, rest - second], axis=1)
    block = (parts.T @ parts).reshape(3, size, 3, size).swapaxes(1, 2)
    middle, lost = two_sum(block[0, 1], block[1, 0])
    high, low = two_sum(block[0, 0], middle)
    rests = (block[1, 1] + (block[0, 2] + block[2, 0])) + ((block[1, 2] + block[2, 1]) + block[2, 2])
    high, low = fast_two_sum(high, (low + lost) + rests)
    upper = triangle(size)
    gram = high[upper], low[upper]
    a, b, c = parts.sum(axis=0).reshape(3, size)
    high, low = two_sum(a, b)
    return fast_two_sum(high, low + c), gram


def centred_gram(model: Model) -> tuple[Floats, Floats]:
    """The Gram matrix of a settled model as pairs, about the mean if it is centred: upper triangles."""
    high, low = model.gram
    if model.centred and model.count > 0.0:
        i, j = triangle(len(model.anchor))
        mean = _divided(model.sums[0], model.sums[1], model.count)
        a, b = multiply(mean[0][i], mean[1][i], model.sums[0][j], model.sums[1][j])
        high, low = add(high, low, -a, -b)
        squares = diagonal_places(len(model.anchor))
        if high[squares].min() < 0.0:
            negative = squares[high[squares] < 0.0]
            high[negative] = low[negative] = 0.0
    return high, low


def _divided(high: Floats, low: Floats, by: float) -> tuple[Floats, Floats]:
    """Pairs over a number."""
    first = high / by
    product, error = two_product(first, by)
    return fast_two_sum(first, (((high - product) - error) + low) / by)


def refresh(model: Model) -> Model:
    """The model with its working state computed anew from the exact sums and the ridge."""
    model = settled(model)._replace(refreshed_at=model.count, rows=0, spread=1.0)
    d = len(model.coefficients)
    high, low = _unpacked(centred_gram(model))
    squares, rests = (part.reshape(-1)[: d * (d + 1) : d + 2] for part in (high, low))  # views of the diagonals
    squares[:], rests[:] = add(squares, rests, model.ridge, 0.0)
    varying = np.flatnonzero(squares > 0.0)
    if len(varying) == 0:
        return model._replace(free=0.0)
    solved = _solved(high, low, varying)
    if solved is None:
        return _refreshed_exactly(model)
    root, coefficients, rss = solved
    if len(varying) < d:
        root, coefficients = np.zeros((d, d)), np.zeros(d)
        root[np.ix_(varying, varying)], coefficients[varying] = solved[0], solved[1]
    return _with_root(model, root, coefficients, rss)


def _unpacked(pairs: Any) -> Floats:
    """Symmetric matrices of high and low parts, from upper triangles."""
    size = round(math.sqrt(2.0 * len(pairs[0]) + 0.25) - 0.5)
    i, j = triangle(size)
    full = np.zeros((2, size, size))
    full[:, i, j] = full[:, j, i] = pairs
    return full


def _with_root(model: Model, root: Floats, coefficients: Floats, rss: float) -> Model:
    diagonal = np.einsum("ij,ij->j", root, root)
    free = float(np.count_nonzero(diagonal > 0.0))
    freedom = model.count - model.centred + float(model.ridge @ diagonal) - free
    return model._replace(root=root, diagonal=diagonal, coefficients=coefficients, rss=rss, freedom=freedom, free=free)


def _solved(high: Floats, low: Floats, varying: Any) -> tuple[Floats, Floats, float] | None:
    """Root, coefficients and RSS for the features that vary; None if the matrix is too near to a singular one."""
    from scipy.linalg import lapack

    d = len(varying)
    if d < len(high) - 1:
        places = np.append(varying, len(high) - 1)
        high, low = high[np.ix_(places, places)], low[np.ix_(places, places)]
    k = np.arange(d)
    unit = np.exp2(-np.round(0.5 * np.log2(high[k, k])))  # powers of two: scaling by them does not round
    scaled = high[:d, :d] * unit[:, None] * unit
    if not np.isfinite(scaled).all():
        return None
    lower, info = lapack.dpotrf(scaled, lower=1)
    if info != 0 or (np.square(lower[k, k]) <= NEARLY_SINGULAR * scaled[k, k]).any():
        return None
    inverse, _ = lapack.dtrtri(lower, lower=1)
    root = np.ascontiguousarray(inverse) * unit
    coefficients = (root @ high[:d, d]) @ root
    residuals = _normal_residuals(high, low, np.append(-coefficients, 1.0))
    correction = (root @ residuals[:d]) @ root
    # With r = b - V c: minimum = y'y - b'c - c'r - r'V^-1 r
    rss = math.fsum([residuals[d], -float(coefficients @ residuals[:d]), -float(correction @ residuals[:d])])
    return root, coefficients + correction, max(rss, 0.0)


def _normal_residuals(high: Floats, low: Floats, vector: Floats) -> Floats:
    """The product of a matrix of pairs and a vector, each entry rounded once."""
    product, error = two_product(high, vector)
    terms = np.concatenate([product, error, low * vector], axis=1).tolist()
    return np.array([math.fsum(row) for row in terms])


def _refreshed_exactly(model: Model) -> Model:
    """As :func:`refresh`, all of it in double-double arithmetic; slow in many dimensions."""
    size = len(model.anchor)
    i, j = triangle(size)
    models, work = exact.new_models(1, size - 1, model.centred), exact.new_workspace(size - 1)
    models.count[0] = model.count
    models.sum_high[0], models.sum_low[0] = model.sums
    models.gram_high[0][i, j], models.gram_low[0][i, j] = model.gram
    models.ridge[0] = model.ridge
    exact.refresh(models, 0, work)
    return _with_root(model, models.root[0], models.coefficients[0], float(models.rss[0]))


def moved(model: Model, shift: Floats) -> tuple[Floats, Floats]:
    """The exact sums of a settled model, and of its products, if ``shift`` is added to all rows."""
    i, j = triangle(len(shift))
    sums = added(model.sums, two_product(shift, model.count))
    # sum (x+s)(y+t) = sum xy + s sum y + t sum (x+s)
    first = multiply(model.sums[0][j], model.sums[1][j], shift[i], 0.0)
    second = multiply(sums[0][i], sums[1][i], shift[j], 0.0)
    return sums, added(added(model.gram, first), second)


def without_intercept(model: Model) -> Model:
    """A model without an intercept of the same rows, to be refreshed."""
    model = settled(model)
    sums, gram = moved(model, model.anchor)
    d, none = len(model.coefficients), np.zeros_like(model.anchor)
    variation = gram[0][diagonal_places(d + 1)][:d]
    return model._replace(centred=False, anchor=none, mean=none, sums=sums, gram=gram, variation=variation)


def without_useless_intercept(model: Model) -> Model:
    """The model without its intercept, if no combination of its features is constant over its rows.

    As :func:`bootleader._core.linear_model.drop_intercept_if_possible`.
    """
    d = len(model.coefficients)
    if not model.centred or model.count <= d:
        return model
    plain = without_intercept(model)
    high, low = _unpacked(plain.gram)
    high[d, :d] = high[:d, d] = plain.sums[0][:d]
    low[d, :d] = low[:d, d] = plain.sums[1][:d]
    high[d, d], low[d, d] = model.count, 0.0
    varying = np.flatnonzero(high[np.arange(d), np.arange(d)] > 0.0)
    solved = _solved(high, low, varying) if len(varying) else None
    if solved is None:
        exact._factorise(high, low, high[np.arange(d), np.arange(d)])
    unexplained = float(high[d, d]) if solved is None else solved[2]
    return plain if exact.IN_SPAN * model.count < unexplained < model.count else model
