"""Changes to a linear model that no new row makes: fading, merging with another one, a feature more."""

from __future__ import annotations

import math

import numpy as np

from bootleader._core.double_double import multiply
from bootleader._core.moments import PowerSums, pebay_merge
from bootleader.agent._linear_model import Floats, Model, added, moved, settled, triangle, without_intercept


def faded(model: Model, weight: float) -> Model:
    """The model when so much is left of each reward; the penalty fades too, until the next refresh restores it."""
    if weight == 1.0:
        return model
    model = settled(model)
    return model._replace(
        count=model.count * weight,
        sums=_scaled(model.sums, weight),
        gram=_scaled(model.gram, weight),
        ridge=model.ridge * weight,
        root=model.root / math.sqrt(weight),
        diagonal=model.diagonal / weight,
        rss=model.rss * weight,
        freedom=model.freedom * weight,
        squares=model.squares * weight,
        third=model.third * weight,
        fourth=model.fourth * weight,
        weighted_squares=model.weighted_squares * weight,
        weights=model.weights * weight,
        variation=model.variation * weight,
    )


def _scaled(pairs: Floats, weight: float) -> Floats:
    high, low = pairs
    return np.array(multiply(high, low, weight, 0.0))


def merged(one: Model, other: Model) -> Model:
    """The rows of both models in one, which has to be refreshed before it predicts anything."""
    one, other = settled(one), settled(other)
    if one.count == 0.0 or other.count == 0.0:
        return other if one.count == 0.0 else one
    if one.centred != other.centred:
        one, other = without_intercept(one), without_intercept(other)
    shift = other.anchor - one.anchor  # 0 unless centred
    sums, gram = moved(other, shift)
    count = one.count + other.count
    step = shift + other.mean - one.mean
    # Residuals have mean 0; without varying features the values are rewards, which differ by the anchors.
    apart = float(shift[-1]) if one.free == other.free == 0.0 else one.drift - other.drift
    _, drift, squares, third, fourth = pebay_merge(
        PowerSums(one.count, one.drift, one.squares, one.third, one.fourth),
        PowerSums(other.count, other.drift + apart, other.squares, other.third, other.fourth),
    )
    return one._replace(
        count=count,
        mean=one.mean + step * (other.count / count),
        sums=added(one.sums, sums),
        gram=added(one.gram, gram),
        rss=one.rss + other.rss,
        freedom=one.freedom + other.freedom,
        drift=drift,
        squares=squares,
        third=third,
        fourth=fourth,
        weighted_squares=one.weighted_squares + other.weighted_squares,
        weights=one.weights + other.weights,
        refreshed_at=0.0,
        rows=one.rows + other.rows,
        variation=one.variation
        + other.variation
        + (step[:-1] ** 2 * (one.count * (other.count / count))) * one.centred,
    )


def widened(model: Model, place: int, penalty: float) -> Model:
    """The model with one more feature, which was 0 in all rows so far."""
    model = settled(model)
    size = len(model.anchor)
    i, j = triangle(size)
    k, m = triangle(size + 1)
    gram = np.zeros((2, size, size))
    gram[:, i, j] = model.gram
    wide = np.insert(np.insert(gram, place, 0.0, axis=1), place, 0.0, axis=2)
    root = np.insert(np.insert(model.root, place, 0.0, axis=0), place, 0.0, axis=1)
    spread = 1.0 / penalty if penalty > 0.0 else 0.0
    root[place, place] = math.sqrt(spread)
    return model._replace(
        anchor=np.insert(model.anchor, place, 0.0),
        mean=np.insert(model.mean, place, 0.0),
        sums=np.insert(model.sums, place, 0.0, axis=1),
        gram=wide[:, k, m],
        ridge=np.insert(model.ridge, place, penalty),
        root=root,
        diagonal=np.insert(model.diagonal, place, spread),
        coefficients=np.insert(model.coefficients, place, 0.0),
        free=model.free + (penalty > 0.0),
        variation=np.insert(model.variation, place, 0.0),
    )
