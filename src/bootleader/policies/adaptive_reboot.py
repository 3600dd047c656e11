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
ENOUGH: Final = 3.0  # events that make up a variance: with more, an arm's own variance counts


def law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """Index = Ybar + T sqrt((s + 6 ratio^2) w) / (s+2), w = max(RSS/(s-1), v g), g = min(1, (3/n)^2)."""
    ratio, s, v = params[0], arm.count, shared.variance
    if v == 0.0:
        return arm.mean, 0.0, math.inf
    # 1/n = max(sum d^4 / RSS^2, kurt / s)
    square = arm.rss * arm.rss
    own, pooled = arm.fourth / square if square > 0.0 else math.inf, shared.kurtosis / s
    root = ENOUGH * (own if own > pooled else pooled)
    guard = v * root * root if root < 1.0 else v
    variance = arm.rss / (s - 1.0)
    w = variance if variance > guard else guard
    scale = math.sqrt((s + 6.0 * ratio * ratio) * w) / (s + 2.0)
    return arm.mean, scale, s - 1.0 if s <= STUDENT_UNTIL else math.inf


def check_ratio(ratio: Any) -> None:
    """Raise unless it is a size that pseudo residuals can have."""
    if real("ratio", ratio, "a finite number above 0", low=0.0) > LARGEST_RATIO:
        raise ValueError(f"ratio must be at most {LARGEST_RATIO:g}, got {ratio!r}")


@dataclass(frozen=True, repr=False)
class AdaptiveReBoot(Policy):
    r"""Residual bootstrap exploration that takes its unit from the rewards.

    The index of an arm with s rewards is

    .. math:: \bar Y + T \, \frac{\sqrt{(s + 6\,ratio^2)\, w}}{s+2}, \qquad
              w = \max\Bigl(\frac{RSS}{s-1},\; v g\Bigr), \qquad g = \min(1, (3/n)^2)

    where T is Student with s-1 degrees of freedom while s <= 12 and standard normal beyond. The credited variance w is
    the arm's own one, but no less than the pooled variance :math:`v = \sum_k RSS_k / \sum_k (s_k - 1)` while the arm
    has seen few of the events that make up a variance. Their number n comes from fourth moments: with
    :math:`d = Y - \bar Y`,

    .. math:: n = \min\Bigl(\frac{(\sum d^2)^2}{\sum d^4},\; \frac{s}{kurt}\Bigr), \qquad
              kurt = \frac{\sum_k RSS_k\, kurt_k}{\sum_k RSS_k}, \qquad
              kurt_k = s_k \frac{\sum d^4}{(\sum d^2)^2}.

    The first term is about s/3 for Gaussian rewards and the number of successes for rare ones. The second keeps an arm
    guarded that has had calm rewards only, while others have shown rare large ones. The factor :math:`s + 6\,ratio^2`
    stands for s residuals of variance w and two pseudo residuals of size :math:`\sqrt 3\, ratio \sqrt w`, which is
    their size in the paper after one pull; with ratio 1 the scale is close to that of the Student posterior,
    :math:`\sqrt{RSS / (s (s-1))}`, from the second reward on.

    Every arm is pulled twice first. The choices are the same for rewards Y and aY+b, a > 0. There is no regret theorem
    for it: its case is empirical.

    Parameters
    ----------
    ratio : float
        Size of the pseudo residuals in standard deviations; the paper's inflation ratio.

    Raises
    ------
    ValueError
        If ``ratio`` is not a finite number above 0.

    Examples
    --------
    >>> AdaptiveReBoot()
    AdaptiveReBoot()
    """

    ratio: float = 1.0
    equivariant: ClassVar[bool] = True
    reference: ClassVar[str] = "bootleader; after Wang, Yu, Hao, Cheng (2020). arXiv:2002.08436."

    def __post_init__(self) -> None:
        check_ratio(self.ratio)

    @property
    def rule(self) -> IndexRule:
        params = (float(self.ratio),)
        return IndexRule(law, Noise.STUDENT, params, initial_pulls=2, pooled=True, fourth_moment=True)
