"""CHK: optimism for Gaussian rewards whose means and variances are both unknown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.elementary import exp, log
from bootleader._core.rules import IndexRule, Noise
from bootleader.policies.base import Policy


def law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """Index = Ybar + sqrt(V) sqrt(t^(2 / (s - 2)) - 1)."""
    s = arm.count
    spread = math.sqrt(arm.rss / s * (exp(2.0 * log(float(shared.pulls)) / (s - 2.0)) - 1.0))
    return arm.mean + spread, 0.0, 0.0


@dataclass(frozen=True, repr=False)
class CHK(Policy):
    r"""Play the largest upper confidence bound of a Gaussian mean, the variance being unknown.

    .. math:: \bar Y + \sqrt V \sqrt{t^{2/(s-2)} - 1}

    with V = RSS/s and t the number of pulls so far. Every arm is pulled three times first.

    Raises
    ------
    TypeError
        If a parameter is given: it has none.

    Examples
    --------
    >>> CHK()
    CHK()
    """

    equivariant: ClassVar[bool] = True
    reference: ClassVar[str] = "Cowan, Honda, Katehakis (2018). Normal bandits of unknown means and variances. JMLR 18."

    @property
    def rule(self) -> IndexRule:
        return IndexRule(law, Noise.NONE, initial_pulls=3, every_round=True, grows=True)
