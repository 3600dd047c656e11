"""The vanilla residual bootstrap, which the paper shows to explore too little."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.rules import IndexRule, Noise, Rule
from bootleader.policies._two_point_weights import Weights, two_point_rule, validated_weights
from bootleader.policies.base import Policy


def law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """Index ~ N(Ybar, RSS / s^2)."""
    return arm.mean, math.sqrt(arm.rss) / arm.count, math.inf


@dataclass(frozen=True, repr=False)
class ResidualBootstrap(Policy):
    r"""Perturb the mean by the arm's own reweighted residuals, and by nothing else.

    .. math:: \bar Y + \frac1s \sum_{i \le s} w_i e_i, \qquad e_i = Y_i - \bar Y

    With Gaussian weights that is :math:`N(\bar Y, RSS/s^2)` given the history. After one pull the residual is zero,
    so an unlucky first reward can shut an arm out for good: regret is linear.

    Parameters
    ----------
    weights : {"gaussian", "rademacher", "mammen"}
        Law of the bootstrap weights (mean 0, variance 1).

    Raises
    ------
    ValueError
        If ``weights`` is not one of the three.

    Examples
    --------
    >>> ResidualBootstrap(weights="mammen")
    ResidualBootstrap(weights='mammen')
    """

    weights: Weights = "gaussian"
    equivariant: ClassVar[bool] = True
    reference: ClassVar[str] = "Wang, Yu, Hao, Cheng (2020). arXiv:2002.08436, section 2.1."

    def __post_init__(self) -> None:
        validated_weights(self.weights)

    @property
    def rule(self) -> Rule:
        if self.weights == "gaussian":
            return IndexRule(law, Noise.NORMAL)
        return two_point_rule(self.weights, sigma_a=0.0, pseudo_residuals=0)
