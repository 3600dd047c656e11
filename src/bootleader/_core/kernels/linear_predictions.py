"""Predictions of a contextual bandit's kernel: true means, and every arm's location and leverage.

Arms are innermost in every loop that runs over features, so that compiled loops vectorise without changing the order of
a sum. With fixed features :func:`update_all` updates the locations and leverages of all arms after each reward in
O(K d). With features drawn anew :func:`predict_all` computes them in O(K d^2 / 2) from the triangular root.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bootleader._core.linear_model import predicted, slope_leverage

# Filled in by `kernel_for` and `plain_parts_for` of :mod:`.linear`.
link_of: Any = None


def true_means(plan, parameters, arms, totals):
    """The arms' true means in the present round, and the largest."""
    d, columns = parameters.features.shape
    count = arms.mean.shape[0]
    for k in range(count):
        arms.mean[k] = 0.0
    if columns == count:
        for j in range(d):
            coefficient = parameters.coefficients[0, j]
            for k in range(count):
                arms.mean[k] += coefficient * parameters.features[j, k]
    else:
        for k in range(count):
            total = 0.0
            for j in range(d):
                total += parameters.coefficients[k, j] * parameters.features[j, 0]
            arms.mean[k] = total
    best = -np.inf
    for k in range(count):
        arms.mean[k] = link_of(plan.link, arms.mean[k])
        best = max(best, arms.mean[k])
    totals[3] = best


def predict_all(features, models, arms, scratch):
    """Location and leverage of every arm's features in the model that they share."""
    d, count = features.shape
    centred, products, location, slopes = scratch.centred, scratch.products, arms.location, arms.slopes
    intercept = models.anchor[0, d] + models.mean[0, d]
    for k in range(count):
        location[k] = 0.0
        slopes[k] = 0.0
    for j in range(d):
        middle, coefficient = models.anchor[0, j] + models.mean[0, j], models.coefficients[0, j]
        for k in range(count):
            centred[j, k] = features[j, k] - middle
            location[k] += centred[j, k] * coefficient
    for k in range(count):
        location[k] += intercept
    if models.varies[0] != 0.0:
        root = models.root[0]
        for j in range(d):
            for k in range(count):
                products[k] = root[j, j] * centred[j, k]
            for i in range(j % 4):
                a = root[j, i]
                for k in range(count):
                    products[k] += a * centred[i, k]
            for i in range(j % 4, j, 4):  # four at a time: the sums are read and written once for all of them
                a, b, c, e = root[j, i], root[j, i + 1], root[j, i + 2], root[j, i + 3]
                for k in range(count):
                    products[k] += (a * centred[i, k] + b * centred[i + 1, k]) + (
                        c * centred[i + 2, k] + e * centred[i + 3, k]
                    )
            for k in range(count):
                slopes[k] += products[k] * products[k]


def predict_each(features, models, arms, scratch):
    """Location and leverage of the context in every arm's own model."""
    row = scratch.row
    for j in range(row.shape[0]):
        row[j] = features[j, 0]
    for k in range(arms.mean.shape[0]):
        arms.location[k] = predicted(models, k, row)
        arms.slopes[k] = slope_leverage(models, k, row)


def update_all(features, models, arms, work, surprise, weight, spread):
    """Locations and leverages after one more row in the shared model, from those before: O(K d)."""
    d, count = features.shape
    gain, location, slopes, products = work.gain, arms.location, arms.slopes, arms.indices
    share = 1.0 / models.count[0] if models.centred[0] != 0.0 else 0.0
    offset = 0.0
    for j in range(d):
        offset += (models.anchor[0, j] + models.mean[0, j]) * gain[j]
    for k in range(count):
        products[k] = -offset
    for j in range(d % 4):
        a = gain[j]
        for k in range(count):
            products[k] += a * features[j, k]
    for j in range(d % 4, d, 4):
        a, b, c, e = gain[j], gain[j + 1], gain[j + 2], gain[j + 3]
        for k in range(count):
            products[k] += (a * features[j, k] + b * features[j + 1, k]) + (
                c * features[j + 2, k] + e * features[j + 3, k]
            )
    step, shrink = weight * surprise / spread, weight / spread
    leverage = (spread - 1.0) / weight if weight > 0.0 else 0.0
    mean_step, constant = share * surprise, share * share * leverage
    for k in range(count):
        c = products[k]
        location[k] += mean_step + c * step
        less = slopes[k] - ((2.0 * share * c + constant) + shrink * c * c)
        slopes[k] = less if less > 0.0 else 0.0
