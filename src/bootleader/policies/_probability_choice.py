"""Choices with probabilities that a policy computes: weights in its memory, and a draw from them."""

from __future__ import annotations

from typing import Any

from bootleader._core.rng import uniform


def drawn(weights: Any, first: Any, step: Any, arms: Any, total: Any, stream: Any) -> Any:
    """An arm with probability proportional to its weight.

    The weights are ``weights[first]``, ``weights[first + step]`` and so on, and sum to ``total``.
    """
    return arm_at(uniform(stream) * total, weights, first, step, arms)


def arm_at(left: Any, weights: Any, first: Any, step: Any, arms: Any) -> Any:
    """The arm at a place from 0 to the sum of the weights, if they lie one after the other."""
    chosen = 0
    for k in range(arms):
        weight = weights[first + step * k]
        if weight > 0.0:
            chosen = k  # the last one that is possible, if rounding leaves a rest
            if left < weight:
                return k
            left -= weight
    return chosen
