"""LinReBoot: the residual bootstrap for linear bandits, as published."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.linear_rules import LinearRule
from bootleader._core.rules import Noise
from bootleader._core.validation import positive
from bootleader.policies.contextual import ContextualPolicy


def law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """Index ~ N(m, sd_weights^2 RSS_k / s_k^2), m = x'theta and RSS_k = sum over the arm's rewards of (r - m)^2."""
    away = arm.own_mean - arm.location
    rss = arm.own_rss + arm.own_count * (away * away)
    return arm.location, params[0] * math.sqrt(rss) / arm.own_count, math.inf


@dataclass(frozen=True, repr=False)
class LinReBoot(ContextualPolicy):
    r"""Residual bootstrap exploration for linear bandits, with weights of a given standard deviation.

    Every arm is pulled once first. With s rewards r of an arm whose features are x now, the index is

    .. math:: N\Bigl(x'\hat\theta,\; \frac{sd\_weights^2}{s^2} \sum (r - x'\hat\theta)^2\Bigr),

    independent over arms. There are no pseudo residuals, and ``sd_weights`` is tuned by hand for every bandit:
    :class:`AdaptiveLinReBoot` needs no such number.

    Parameters
    ----------
    sd_weights : float
        Standard deviation of the bootstrap weights.
    lam : float
        Ridge penalty, above 0.

    Raises
    ------
    ValueError
        If a number is not finite and above 0.

    Examples
    --------
    >>> LinReBoot(sd_weights=0.3)
    LinReBoot(sd_weights=0.3)
    """

    sd_weights: float
    lam: float = 0.1
    reference: ClassVar[str] = "Wu, Wang, Li, Cheng (2022). Residual bootstrap exploration for linear bandits. UAI."

    def __post_init__(self) -> None:
        positive("sd_weights", self.sd_weights)
        positive("lam", self.lam)

    @property
    def rule(self) -> LinearRule:
        return LinearRule(law, Noise.NORMAL, (float(self.sd_weights),), ridge=float(self.lam), initial_pulls=1)
