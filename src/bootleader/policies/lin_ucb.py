"""Upper confidence bounds for linear bandits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.linear_rules import LinearRule
from bootleader._core.rules import Noise
from bootleader._core.validation import positive
from bootleader.policies.contextual import ContextualPolicy


def law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """Index = x'theta + alpha sqrt(h), h = x'V^-1x."""
    return arm.location + params[0] / math.sqrt(arm.count), 0.0, math.inf


@dataclass(frozen=True, repr=False)
class LinUCB(ContextualPolicy):
    r"""Play the largest :math:`x'\hat\theta + \alpha \sqrt{x' V^{-1} x}`.

    Parameters
    ----------
    alpha : float
        Width of the confidence bounds, in the unit of the rewards.
    lam : float
        Ridge penalty, above 0.

    Raises
    ------
    ValueError
        If a number is not finite and above 0.

    Examples
    --------
    >>> LinUCB(alpha=2.0)
    LinUCB(alpha=2.0)
    """

    alpha: float = 1.0
    lam: float = 1.0
    reference: ClassVar[str] = "Li, Chu, Langford, Schapire (2010). A contextual-bandit approach. WWW."

    def __post_init__(self) -> None:
        positive("alpha", self.alpha)
        positive("lam", self.lam)

    @property
    def rule(self) -> LinearRule:
        return LinearRule(law, Noise.NONE, (float(self.alpha),), ridge=float(self.lam))
