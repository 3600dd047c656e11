"""Linear regression by rank-one updates that do not drift: coefficients, leverages, RSS and residual moments.

The exact state of a model is the Gram matrix of its rows (features, reward), summed in double-double arithmetic. From
it :func:`refresh` computes the *working state*: coefficients, RSS and a triangular root of the inverse of the penalised
Gram matrix. Between two refreshes :func:`learn` updates the working state with every row by Carlson's square-root
form of the Sherman-Morrison formula, in O(d^2). A leverage is a sum of squares, so it is never negative.

A *centred* model has an intercept that is not penalised: rows are differences from the first row, Gram matrices are
about the mean, and a feature that does not vary is left out. Rewards of 1e9 plus noise and features of any
size lose nothing. Without varying features the state is that of :func:`bootleader._core.moments.pebay`, bit for bit.

Scalar functions over arrays: they run unchanged in Python and compiled.

References
----------
N. A. Carlson (1973). Fast triangular formulation of the square root filter. AIAA J. 11(9).
R. L. Brown, J. Durbin, J. M. Evans (1975). Techniques for testing the constancy of regression relationships over time.
J. R. Stat. Soc. B 37(2): recursive residuals, whose squares sum to the RSS.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from bootleader._core.double_double import (
    SPLITTER,
    add,
    divide,
    fast_two_sum,
    multiply,
    square_root,
    two_product,
    two_sum,
)
from bootleader._core.moments import pebay

REFRESH_EVERY: Final = 512  # rows after which the working state is computed anew from the exact one, at the latest
REFRESH_GROWTH: Final = 2  # and when the number of rows has grown by half
IN_SPAN: Final = 1e-10  # an intercept is in the span of the features if they explain all of the number 1 but this share
DEPENDENT: Final = 1e-26  # a feature is left out if others explain all of it but this share


class LinearModels(NamedTuple):
    """Some models of the same dimension d; the first axis is the model. The last entry of a row is the reward."""

    count: Any
    centred: Any  # 1 for a model with an intercept, else 0
    anchor: Any  # first row (model x d+1); 0 unless centred
    mean: Any  # mean of the differences from the anchor (model x d+1); 0 unless centred
    sum_high: Any  # exact sums of the differences (model x d+1)
    sum_low: Any
    gram_high: Any  # exact sums of their products (model x d+1 x d+1), upper triangle
    gram_low: Any
    ridge: Any  # penalty on each squared coefficient (model x d)
    root: Any  # lower triangular T (model x d x d): T'T is the inverse of the penalised Gram matrix
    diagonal: Any  # of that inverse (model x d)
    coefficients: Any  # of the features (model x d)
    varies: Any  # whether any feature varies
    rss: Any  # penalised: sum of squared residuals + sum of ridge * coefficient^2
    freedom: Any  # residual degrees of freedom: count - effective number of coefficients
    drift: Any  # moments of the recursive residuals, as pebay has them: mean,
    squares: Any
    third: Any
    fourth: Any
    weighted_squares: Any  # sum of squared recursive residuals, each with the weight (h / (1 + h))^2, h the leverage
    weights: Any  # sum of these weights
    refreshed_at: Any  # count at the last refresh


class Workspace(NamedTuple):
    """Memory for one update or refresh of a model of dimension d."""

    centred: Any  # d
    rotated: Any  # d
    gain: Any  # d
    decay: Any  # d
    high: Any  # d+1 x d+1
    low: Any


def new_models(models: int, dimension: int, intercept: bool) -> LinearModels:
    """Models without rows."""
    d = dimension
    shapes = {
        "count": (), "anchor": (d + 1,), "mean": (d + 1,), "sum_high": (d + 1,), "sum_low": (d + 1,),
        "gram_high": (d + 1, d + 1), "gram_low": (d + 1, d + 1), "ridge": (d,), "root": (d, d), "diagonal": (d,),
        "coefficients": (d,), "varies": (), "rss": (), "freedom": (), "drift": (), "squares": (), "third": (),
        "fourth": (), "weighted_squares": (), "weights": (), "refreshed_at": (),
    }  # fmt: skip
    made = {name: np.zeros((models, *shape)) for name, shape in shapes.items()}
    return LinearModels(**made, centred=np.full(models, float(intercept)))


def new_workspace(dimension: int) -> Workspace:
    """Memory for models of this dimension."""
    d = dimension
    return Workspace(*(np.zeros(d) for _ in range(4)), *(np.zeros((d + 1, d + 1)) for _ in range(2)))


def set_ridge(models: Any, m: Any, penalty: Any, work: Any) -> None:
    """Begin with the same penalty on every squared coefficient, above 0, and no rows."""
    for j in range(models.ridge.shape[1]):
        models.ridge[m, j] = penalty
    refresh(models, m, work)


def accumulate(models: Any, m: Any, row_of: Any, split: Any) -> None:
    """Add a row of differences to the exact sums; ``row_of`` and the workspace ``split`` hold d+1 numbers."""
    size = row_of.shape[0]
    total, low = models.sum_high[m], models.sum_low[m]
    for i in range(size):
        high, error = two_sum(total[i], row_of[i])
        total[i], low[i] = fast_two_sum(high, low[i] + error)
        c = SPLITTER * row_of[i]
        split[i] = c - (c - row_of[i])
    for i in range(size):
        gram, rest = models.gram_high[m, i], models.gram_low[m, i]
        a, a_high = row_of[i], split[i]
        a_low = a - a_high
        for j in range(i, size):  # as two_product, with factors that are split already
            b, b_high = row_of[j], split[j]
            b_low = b - b_high
            product = a * b
            lost = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
            high, error = two_sum(gram[j], product)
            gram[j], rest[j] = fast_two_sum(high, error + (rest[j] + lost))


def learn(models: Any, m: Any, features: Any, reward: Any, work: Any) -> tuple[Any, Any, Any]:
    """Update a model with one row. The caller refreshes it when :func:`is_old` says so.

    Returns the surprise e (reward - prediction), the weight w of the row, and 1 + w q with q the leverage of its
    features. ``work.gain`` holds V^-1 z of before the update, with z the features about their mean of then.
    """
    d = features.shape[0]
    count, intercept = models.count[m], models.centred[m] != 0.0
    anchor, mean, coefficients, root = models.anchor[m], models.mean[m], models.coefficients[m], models.root[m]
    z, rotated, u, decay, row = work.centred, work.rotated, work.gain, work.decay, work.high[0]
    if intercept and count == 0.0:
        for j in range(d):
            anchor[j] = features[j]
        anchor[d] = reward
    deviation = reward - anchor[d]
    delta = deviation - mean[d]
    total = count + 1.0
    weight = count / total if intercept else 1.0
    slope = 0.0
    for j in range(d):
        row[j] = features[j] - anchor[j]
        z[j] = row[j] - mean[j]
        slope += z[j] * coefficients[j]
    row[d] = deviation
    surprise = delta - slope
    accumulate(models, m, row, work.low[0])
    if intercept:
        for j in range(d):
            mean[j] += z[j] / total
        mean[d] += delta / total
    value, spread = deviation, 1.0
    for j in range(d):
        u[j] = 0.0
    if models.varies[m] != 0.0:
        # Carlson: with f = Tz and running sums a_j = 1 + w (f_0^2 + ... + f_j^2), row j of T is scaled by
        # sqrt(a_{j-1} / a_j) and reduced by a multiple of the gain so far; in the end the gain is T'T z.
        before = 1.0
        for j in range(d):
            f = 0.0
            for i in range(j + 1):
                f += root[j, i] * z[i]
            rotated[j] = f
            after = before + weight * (f * f)
            decay[j] = math.sqrt(before / after)
            u[j] = weight * f / (after * decay[j])
            before = after
        spread = before
        for j in range(d):
            z[j] = 0.0  # from here on the gain so far
        for j in range(d):
            scale, step, f = decay[j], u[j], rotated[j]
            for i in range(j + 1):
                old = root[j, i]
                root[j, i] = scale * old - step * z[i]
                z[i] += old * f
        step = weight * surprise / spread
        shrink = weight / spread
        lost = 0.0
        for j in range(d):
            u[j] = z[j]
            coefficients[j] += step * u[j]
            models.diagonal[m, j] -= shrink * u[j] * u[j]
            lost += models.ridge[m, j] * models.diagonal[m, j] - 1.0 if models.diagonal[m, j] > 0.0 else 0.0
        models.freedom[m] = total - (1.0 if intercept else 0.0) + lost
        value = models.drift[m] + surprise / math.sqrt(spread)
    else:
        models.freedom[m] = total - (1.0 if intercept else 0.0)
    _, _, models.drift[m], models.squares[m], models.third[m], models.fourth[m] = pebay(
        count, 0.0, models.drift[m], models.squares[m], models.third[m], models.fourth[m], value
    )
    square = weight * surprise * surprise / spread
    if models.varies[m] != 0.0:
        models.rss[m] += square
    else:
        models.rss[m] = models.squares[m]
    if weight > 0.0:  # the first row of a model with an intercept is not predicted
        step = 1.0 - weight / spread  # the share of the surprise by which the prediction at these features changes
        models.weighted_squares[m] += step * step * square
        models.weights[m] += step * step
    models.count[m] = total
    return surprise, weight, spread


def is_old(models: Any, m: Any) -> Any:
    """Whether the working state should be refreshed."""
    rows = models.count[m] - models.refreshed_at[m]
    return rows >= REFRESH_EVERY or REFRESH_GROWTH * rows >= models.refreshed_at[m]


def refresh(models: Any, m: Any, work: Any) -> None:
    """Compute the working state from the exact sums and the ridge: a Cholesky factorisation in double-double."""
    d = models.ridge.shape[1]
    count, intercept = models.count[m], models.centred[m] != 0.0
    models.refreshed_at[m] = count
    _gram_about_mean(models, m, intercept and count > 0.0, work)
    varies = False
    for j in range(d):
        varies = varies or work.high[j, j] + models.ridge[m, j] > 0.0
    models.varies[m] = 1.0 if varies else 0.0
    if not varies:
        return
    high, low = work.high, work.low
    for j in range(d):
        work.centred[j], _ = add(high[j, j], low[j, j], models.ridge[m, j], 0.0)
        high[j, j], low[j, j] = add(high[j, j], low[j, j], models.ridge[m, j], 0.0)
    _factorise(high, low, work.centred)
    models.rss[m] = high[d, d] if high[d, d] > 0.0 else 0.0
    _invert(models, m, high, low, work)
    lost = 0.0
    for j in range(d):
        diagonal = 0.0
        for i in range(j, d):
            diagonal += models.root[m, i, j] * models.root[m, i, j]
        models.diagonal[m, j] = diagonal
        lost += models.ridge[m, j] * diagonal - 1.0 if diagonal > 0.0 else 0.0
    models.freedom[m] = count - (1.0 if intercept else 0.0) + lost


def drop_intercept_if_possible(models: Any, m: Any, work: Any) -> None:
    """Give up a model's intercept if no combination of its features is constant over its rows.

    Then the features do not say that there is one. With as many rows as features some combination always is constant.
    The unexplained part of a regression of the number 1 on the features decides.
    """
    d = models.ridge.shape[1]
    count = models.count[m]
    if models.centred[m] == 0.0 or count <= d:
        return
    high, low = work.high, work.low
    for i in range(d):
        for j in range(i, d):
            high[i, j], low[i, j] = _raw_product(models, m, i, j)
        high[i, d], low[i, d] = _raw_sum(models, m, i)
        work.centred[i] = high[i, i]
    high[d, d], low[d, d] = count, 0.0
    _factorise(high, low, work.centred)
    if IN_SPAN * count < high[d, d] < count:
        _drop_anchor(models, m)


def _raw_sum(models: Any, m: Any, i: Any) -> tuple[Any, Any]:
    """The sum of a column, not of its differences from the anchor."""
    a, b = two_product(models.count[m], models.anchor[m, i])
    return add(models.sum_high[m, i], models.sum_low[m, i], a, b)


def _raw_product(models: Any, m: Any, i: Any, j: Any) -> tuple[Any, Any]:
    """The sum of products of two columns: with x = a + z it is sum zz' + a sum z' + a' sum z + n a a'."""
    first, second = models.anchor[m, i], models.anchor[m, j]
    high, low = models.gram_high[m, i, j], models.gram_low[m, i, j]
    a, b = multiply(models.sum_high[m, i], models.sum_low[m, i], second, 0.0)
    high, low = add(high, low, a, b)
    x, y = _raw_sum(models, m, j)
    a, b = multiply(x, y, first, 0.0)
    return add(high, low, a, b)


def _drop_anchor(models: Any, m: Any) -> None:
    """Turn a centred model into one without an intercept: its sums become those of the rows themselves."""
    size = models.anchor.shape[1]
    for i in range(size):
        for j in range(i, size):
            models.gram_high[m, i, j], models.gram_low[m, i, j] = _raw_product(models, m, i, j)
    for i in range(size):
        models.sum_high[m, i], models.sum_low[m, i] = _raw_sum(models, m, i)
    for i in range(size):
        models.anchor[m, i] = 0.0
        models.mean[m, i] = 0.0
    models.centred[m] = 0.0


def _gram_about_mean(models: Any, m: Any, about_mean: Any, work: Any) -> None:
    """The Gram matrix, about the mean if there is an intercept, into the workspace (upper triangle)."""
    size = models.anchor.shape[1]
    count = models.count[m]
    for i in range(size):
        for j in range(i, size):
            high, low = models.gram_high[m, i, j], models.gram_low[m, i, j]
            if about_mean:
                a, b = multiply(
                    models.sum_high[m, i], models.sum_low[m, i], models.sum_high[m, j], models.sum_low[m, j]
                )
                a, b = divide(a, b, count, 0.0)
                high, low = add(high, low, -a, -b)
            work.high[i, j], work.low[i, j] = high, low
    for i in range(size):
        if work.high[i, i] < 0.0:
            work.high[i, i], work.low[i, i] = 0.0, 0.0


def _factorise(high: Any, low: Any, diagonal: Any) -> None:
    """Cholesky's R in place (upper triangle); the last pivot is left as a square: the RSS. Dependent rows become 0."""
    size = high.shape[0]
    for i in range(size - 1):
        if high[i, i] <= DEPENDENT * diagonal[i]:
            for j in range(i, size):
                high[i, j], low[i, j] = 0.0, 0.0
        else:
            pivot, rest = square_root(high[i, i], low[i, i])
            high[i, i], low[i, i] = pivot, rest
            for j in range(i + 1, size):
                high[i, j], low[i, j] = divide(high[i, j], low[i, j], pivot, rest)
            for k in range(i + 1, size):
                for j in range(k, size):
                    a, b = multiply(high[i, k], low[i, k], high[i, j], low[i, j])
                    high[k, j], low[k, j] = add(high[k, j], low[k, j], -a, -b)


def _invert(models: Any, m: Any, high: Any, low: Any, work: Any) -> None:
    """Coefficients by back substitution in double-double, and the root T = (R^-1)' in double."""
    d = models.ridge.shape[1]
    root, coefficients, rest = models.root[m], models.coefficients[m], work.rotated
    for i in range(d - 1, -1, -1):
        a, b = high[i, d], low[i, d]
        for j in range(i + 1, d):
            x, y = multiply(high[i, j], low[i, j], coefficients[j], rest[j])
            a, b = add(a, b, -x, -y)
        if high[i, i] > 0.0:
            a, b = divide(a, b, high[i, i], low[i, i])
        else:
            a, b = 0.0, 0.0
        coefficients[i], rest[i] = a, b
    for j in range(d):
        for i in range(d):
            root[j, i] = 0.0
        if high[j, j] > 0.0:
            root[j, j] = 1.0 / high[j, j]
            for i in range(j - 1, -1, -1):
                if high[i, i] > 0.0:
                    total = 0.0
                    for k in range(i + 1, j + 1):
                        total += high[i, k] * root[j, k]
                    root[j, i] = -total / high[i, i]


def slope_leverage(models: Any, m: Any, features: Any) -> Any:
    """The part of the leverage x'V^-1x that is due to the features: a sum of squares."""
    d = features.shape[0]
    total = 0.0
    if models.varies[m] != 0.0:
        for j in range(d):
            f = 0.0
            for i in range(j + 1):
                f += models.root[m, j, i] * (features[i] - models.anchor[m, i] - models.mean[m, i])
            total += f * f
    return total


def predicted(models: Any, m: Any, features: Any) -> Any:
    """The reward that the model predicts."""
    d = features.shape[0]
    slope = 0.0
    for j in range(d):
        slope += (features[j] - models.anchor[m, j] - models.mean[m, j]) * models.coefficients[m, j]
    return (models.anchor[m, d] + models.mean[m, d]) + slope


def effective_count(count: Any, slopes: Any, intercept: Any) -> Any:
    """1/h, the number of rewards that a prediction is worth: h = 1/count + slopes, or slopes without an intercept.

    Examples
    --------
    >>> effective_count(4.0, 0.0, True), effective_count(4.0, 0.25, True), effective_count(4.0, 0.25, False)
    (4.0, 2.0, 4.0)
    """
    if intercept:
        return count / (1.0 + count * slopes)
    return 1.0 / slopes if slopes > 0.0 else math.inf
