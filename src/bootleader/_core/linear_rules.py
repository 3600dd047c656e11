"""What a contextual policy is made of: an index law over a linear model, as data over a scalar function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from bootleader._core.rules import Noise


class LinearArm(NamedTuple):
    """What a law may know of one arm in the present context."""

    location: Any  # predicted reward
    count: Any  # 1/h with h the leverage of the arm's features: the number of rewards that the prediction is worth
    rewards: Any  # number of rewards of the arm's model
    freedom: Any  # residual degrees of freedom of the arm's model
    rss: Any  # its residual sum of squares, the penalty included
    concentration: Any  # sum of residuals^4 / (sum of residuals^2)^2; infinite while all are 0
    noise_sd: Any  # known standard deviation of the noise, for the policies that are given one
    own_count: Any  # number of the arm's own rewards,
    own_mean: Any  # their mean,
    own_rss: Any  # and the sum of their squared deviations from it


@dataclass(frozen=True)
class LinearRule:
    """Index = location + scale * noise, with an arm's location and scale from a linear model of the rewards.

    ``law(params, arm, shared) -> (location, scale, shape)`` with a :class:`LinearArm` and a
    :class:`~bootleader._core.rules.SharedStatistics` is the whole policy. There is one model for all arms if the
    bandit has features for each arm, and one model for each arm if it has one context for all. ``shared.variance`` is
    the variance of all rewards so far; with ``unit_free`` that of the residuals, pooled over the models.

    Parameters
    ----------
    law : callable
        The index law, in plain arithmetic and ``math``: the same function runs in Python and compiled.
    noise : Noise
        What multiplies the scale.
    params : tuple of float
        The policy's parameters, as the law reads them.
    ridge : float
        Penalty on every squared coefficient, above 0. With ``unit_free`` it is a number of rows: the penalty on a
        coefficient is ``ridge`` times its feature's variance.
    unit_free : bool
        Whether the model has an intercept without a penalty, and penalties in units of the features' variances.
    initial_pulls : int
        Rewards that every model (``unit_free``) or every arm gets before indices count.
    joint : bool
        Whether one draw of the coefficients serves all arms, if they share a model. The index of an arm is then its
        features times ``coefficients + noise_sd * V^(-1/2) * normals``, and the law serves disjoint models.

    correlated : bool
        Whether the noise of arms that share a model is correlated like their predictions; independent otherwise.

    Examples
    --------
    >>> def law(params, arm, shared):
    ...     return arm.location, params[0] / arm.count**0.5, float("inf")
    >>> rule = LinearRule(law, Noise.NORMAL, params=(2.0,))
    >>> rule.law(rule.params, LinearArm(7.0, 4.0, 4.0, 3.0, 0.0, 0.0, 1.0, 4.0, 7.0, 0.0), None)
    (7.0, 1.0, inf)
    """

    law: Callable[..., tuple[float, float, float]]
    noise: Noise
    params: tuple[float, ...] = (0.0,)
    ridge: float = 1.0
    unit_free: bool = False
    initial_pulls: int = 0
    joint: bool = False
    correlated: bool = False
