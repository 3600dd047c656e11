"""AdaptiveLinReBoot: AdaptiveReBoot with contexts. Ours, not the paper's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.linear_rules import LinearRule
from bootleader._core.rules import Noise
from bootleader.policies.adaptive_reboot import ENOUGH, STUDENT_UNTIL, check_ratio
from bootleader.policies.contextual import ContextualPolicy

RIDGE: Final = 1.0  # rows that the prior of a coefficient is worth


def law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """Index = x'theta + T sqrt((m + 6 ratio^2) w) / (m+2), m = 1/h; AdaptiveReBoot's law with m in the place of s."""
    ratio, m, v = params[0], arm.count, shared.variance
    if v == 0.0:
        return arm.location, 0.0, math.inf
    own, pooled = arm.concentration, shared.kurtosis / m
    root = ENOUGH * (own if own > pooled else pooled)
    guard = v * root * root if root < 1.0 else v
    freedom = arm.freedom if arm.freedom > 1.0 else 1.0
    variance = arm.rss / freedom
    w = variance if variance > guard else guard
    scale = math.sqrt((m + 6.0 * ratio * ratio) * w) / (m + 2.0)
    return arm.location, scale, freedom if freedom + 1.0 <= STUDENT_UNTIL else math.inf


@dataclass(frozen=True, repr=False)
class AdaptiveLinReBoot(ContextualPolicy):
    r"""Residual bootstrap exploration for linear bandits that takes its units from rewards and features.

    :class:`AdaptiveReBoot` with contexts. Two pseudo residuals are put at the context x itself, so that the leverage
    :math:`h = x'V^{-1}x` becomes :math:`l = h/(1+2h)`, and :math:`m = 1/h`, the number of rewards that the prediction
    is worth, takes the place of the count. The index is

    .. math:: x'\hat\theta + T\, \frac{\sqrt{(m + 6\,ratio^2)\, w}}{m+2} ,\qquad w = \max(RSS/f,\; v g)

    with f the residual degrees of freedom of the arm's model and T Student with f of them while they are at most 11.
    The guard g is that of :class:`AdaptiveReBoot` on the residuals. The penalty on a coefficient is the second moment
    of its feature, so that the prior is worth one row. If some combination of the features is constant, such as an
    intercept, the model has an intercept without a penalty. The choices are the same for features in other units and
    for rewards aY, a > 0, with such an intercept also for aY+b, and those of :class:`AdaptiveReBoot` if every context
    is the number 1. There is no regret theorem for it: its case is empirical.

    Arms that share coefficients have correlated noise: the index of each has the law above, and the correlations are
    those of the model's predictions. Independent noise would explore more, the more arms there are. Their v is no less
    than the variance of the recursive residuals with the weights :math:`(h/(1+h))^2`, h the leverage of each row when
    it came. A row's weight is the square of the share of its residual by which it changed the prediction at its
    features, as in the sandwich variance. So the many rows of the arm that is pulled most do not set the scale of arms
    with larger noise.

    Every model gets two rewards before indices count: every arm, with contexts; two arms in all, with features of each
    arm.

    Parameters
    ----------
    ratio : float
        Size of the pseudo residuals in standard deviations.

    Raises
    ------
    ValueError
        If ``ratio`` is not a finite number above 0.

    Examples
    --------
    >>> AdaptiveLinReBoot()
    AdaptiveLinReBoot()
    """

    ratio: float = 1.0
    equivariant: ClassVar[bool] = True
    reference: ClassVar[str] = "bootleader; after Wang, Yu, Hao, Cheng (2020) and Wu, Wang, Li, Cheng (2022)."

    def __post_init__(self) -> None:
        check_ratio(self.ratio)

    @property
    def rule(self) -> LinearRule:
        params = (float(self.ratio),)
        return LinearRule(law, Noise.STUDENT, params, ridge=RIDGE, unit_free=True, initial_pulls=2, correlated=True)
