"""ReBoot: the residual bootstrap with two pseudo residuals. The algorithm of the paper."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.rules import IndexRule, Noise, Rule
from bootleader._core.validation import positive
from bootleader.policies._two_point_weights import Weights, two_point_rule, validated_weights
from bootleader.policies.base import Knowledge, Policy


def law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """Index ~ N(Ybar, (RSS + 2 (s+2) sigma_a^2) / (s+2)^2)."""
    sigma_a, s = params[0], arm.count
    return arm.mean, math.sqrt(arm.rss + 2.0 * (s + 2.0) * sigma_a * sigma_a) / (s + 2.0), math.inf


@dataclass(frozen=True, repr=False)
class ReBoot(Policy):
    r"""Residual bootstrap exploration.

    Two pseudo residuals :math:`\pm\sqrt{s+2}\,\sigma_a` are added to the arm's own, so that the index of an arm with
    few rewards has a large variance:

    .. math:: \bar Y + \frac1{s+2} \sum_{i \le s+2} w_i e_i

    With Gaussian weights the index is :math:`N(\bar Y, (RSS + 2(s+2)\sigma_a^2)/(s+2)^2)` given the history, so
    count, mean and RSS are all the state there is.

    Parameters
    ----------
    sigma_a : float
        Exploration aid unit, in the rewards' own unit; the paper advises 1.5 times their standard deviation.
    weights : {"gaussian", "rademacher", "mammen"}
        Law of the bootstrap weights. The two-point ones need the whole history, and their index is bounded given
        the history, so a badly started best arm can be locked out.

    Raises
    ------
    ValueError
        If ``sigma_a`` is not a finite number above 0, or ``weights`` is not one of the three.

    Examples
    --------
    >>> ReBoot(sigma_a=1.5)
    ReBoot(sigma_a=1.5)
    """

    sigma_a: float
    weights: Weights = "gaussian"
    reference: ClassVar[str] = "Wang, Yu, Hao, Cheng (2020). arXiv:2002.08436, algorithm 1."

    def __post_init__(self) -> None:
        positive("sigma_a", self.sigma_a)
        validated_weights(self.weights)

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (Knowledge.SD,)

    @property
    def rule(self) -> Rule:
        if self.weights == "gaussian":
            return IndexRule(law, Noise.NORMAL, (float(self.sigma_a),))
        return two_point_rule(self.weights, sigma_a=float(self.sigma_a), pseudo_residuals=2)
