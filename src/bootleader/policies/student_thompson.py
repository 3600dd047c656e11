"""Thompson sampling with unknown variance: the baseline a Bayesian would pick."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.rules import IndexRule, Noise
from bootleader.policies.base import Policy


def law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """Index = Ybar + T sqrt(RSS / (s (s-1))), T Student with s-1 degrees of freedom."""
    s = arm.count
    return arm.mean, math.sqrt(arm.rss / (s * (s - 1.0))), s - 1.0


@dataclass(frozen=True, repr=False)
class StudentThompson(Policy):
    r"""Sample each arm's mean from its posterior under the flat prior on mean and log variance.

    .. math:: \bar Y + T_{s-1} \sqrt{RSS / (s(s-1))}

    Every arm is pulled twice first.

    Examples
    --------
    >>> StudentThompson().rule.initial_pulls
    2
    """

    equivariant: ClassVar[bool] = True
    reference: ClassVar[str] = "Honda, Takemura (2014). Optimality of Thompson sampling for Gaussian bandits. AISTATS."

    @property
    def rule(self) -> IndexRule:
        return IndexRule(law, Noise.STUDENT, initial_pulls=2)
