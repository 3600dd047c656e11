"""AdaptiveReBoot: ReBoot with no sigma to know and no unit to choose. Ours, not the paper's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.rules import IndexRule, Noise
from bootleader._core.validation import real
from bootleader.policies.base import Policy

STUDENT_UNTIL: Final = 12.0  # pulls up to which an arm's own residuals do not determine its scale well
LARGEST_RATIO: Final = 1e50  # its square times a variance stays finite
GUARD_UNTIL: Final = 30.0  # pulls after which the pool's guard over a young arm fades


def law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """Index = Ybar + T sqrt(max(RSS, s v g(s)) + 6 ratio^2 v) / (s+2), g(s) = min(1, sqrt(30/s))."""
    ratio, s, v = params[0], arm.count, shared.variance
    if v == 0.0:
        return arm.mean, 0.0, math.inf
    fading = math.sqrt(GUARD_UNTIL / s) if s > GUARD_UNTIL else 1.0
    guard = s * v * fading
    scale = math.sqrt(max(arm.rss, guard) + 6.0 * ratio * ratio * v) / (s + 2.0)
    return arm.mean, scale, s - 1.0 if s <= STUDENT_UNTIL else math.inf


@dataclass(frozen=True, repr=False)
class AdaptiveReBoot(Policy):
    r"""Residual bootstrap exploration that takes its unit from the rewards.

    With the pooled variance :math:`v = \sum_k RSS_k / \sum_k (s_k - 1)`, the index is

    .. math:: \bar Y + T \, \frac{\sqrt{\max(RSS, s\,v\,g(s)) + 6\,ratio^2 v}}{s+2},
              \qquad g(s) = \min(1, \sqrt{30/s})

    where T is Student with s-1 degrees of freedom while s <= 12 and standard normal beyond. Every arm is pulled twice
    first. The choices are the same for rewards Y and aY+b. There is no regret theorem for it: its case is empirical.

    Parameters
    ----------
    ratio : float
        Size of the pseudo residuals in pooled standard deviations; the paper's inflation ratio.

    Raises
    ------
    ValueError
        If ``ratio`` is not a finite number above 0.

    Examples
    --------
    >>> AdaptiveReBoot()
    AdaptiveReBoot()
    """

    ratio: float = 1.5
    equivariant: ClassVar[bool] = True
    reference: ClassVar[str] = "bootleader; after Wang, Yu, Hao, Cheng (2020). arXiv:2002.08436."

    def __post_init__(self) -> None:
        real("ratio", self.ratio, "a finite number above 0", low=0.0)
        if self.ratio > LARGEST_RATIO:
            raise ValueError(f"ratio must be at most {LARGEST_RATIO:g}, got {self.ratio!r}")

    @property
    def rule(self) -> IndexRule:
        return IndexRule(law, Noise.STUDENT, (float(self.ratio),), initial_pulls=2, pooled=True)
