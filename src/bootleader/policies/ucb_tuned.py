"""UCB1-Tuned: a confidence bound that takes the variance of the rewards into account."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.elementary import log
from bootleader._core.rules import IndexRule, Noise
from bootleader.policies.base import Knowledge, Policy


def law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """Index = Ybar + sqrt((log t / s) min(1/4, V + sqrt(2 log t / s)))."""
    s = arm.count
    rate = log(float(shared.pulls)) / s
    return arm.mean + math.sqrt(rate * min(0.25, arm.rss / s + math.sqrt(2.0 * rate))), 0.0, 0.0


@dataclass(frozen=True, repr=False)
class UCBTuned(Policy):
    r"""Play the largest upper confidence bound, the variance being estimated.

    .. math:: \bar Y + \sqrt{\frac{\log t}s \min\Bigl(\frac14, V + \sqrt{2 \log t / s}\Bigr)}

    with V = RSS/s and t the number of pulls so far. Made for rewards in [0, 1], whose variance is at most 1/4.

    Raises
    ------
    TypeError
        If a parameter is given: it has none.

    Examples
    --------
    >>> UCBTuned()
    UCBTuned()
    """

    reference: ClassVar[str] = (
        "Auer, Cesa-Bianchi, Fischer (2002). Finite-time analysis. Machine Learning 47, section 4."
    )

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (Knowledge.RANGE,)

    @property
    def rule(self) -> IndexRule:
        return IndexRule(law, Noise.NONE, every_round=True)
