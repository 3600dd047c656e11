"""UCB-V: a confidence bound by the empirical Bernstein inequality."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.elementary import log
from bootleader._core.rules import IndexRule, Noise
from bootleader._core.validation import positive, real
from bootleader.policies.base import Knowledge, Policy


def law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """Index = Ybar + sqrt(2 V zeta log t / s) + 3 c b zeta log t / s, t the number of the present round."""
    zeta, bonus, s = params[0], params[1], arm.count
    rate = zeta * log(shared.pulls + 1.0) / s
    return arm.mean + math.sqrt(2.0 * (arm.rss / s) * rate) + bonus * rate, 0.0, 0.0


@dataclass(frozen=True, repr=False)
class UCBV(Policy):
    r"""Play the largest empirical Bernstein bound.

    .. math:: \bar Y + \sqrt{2 V \zeta \log t / s} + 3 c b \zeta \log t / s

    with V = RSS/s and t the number of the present round (the pulls so far and one), as in the paper. Made for rewards
    in an interval of length b.

    Parameters
    ----------
    zeta : float
        Exploration; the paper's theorem needs more than 1.
    c : float
        Weight of the last term.
    b : float
        Length of the rewards' range.

    Raises
    ------
    ValueError
        If ``zeta`` or ``b`` is not above 0, or ``c`` is negative.

    Examples
    --------
    >>> UCBV(b=2.0)
    UCBV(b=2.0)
    """

    zeta: float = 1.2
    c: float = 1.0
    b: float = 1.0
    reference: ClassVar[str] = (
        "Audibert, Munos, Szepesvári (2009). Exploration-exploitation tradeoff using variance estimates. "
        "Theor. Comput. Sci. 410."
    )

    def __post_init__(self) -> None:
        positive("zeta", self.zeta)
        real("c", self.c, "a number of at least 0", low=0.0, open_low=False)
        positive("b", self.b)

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (Knowledge.RANGE,)

    @property
    def rule(self) -> IndexRule:
        return IndexRule(law, Noise.NONE, (float(self.zeta), 3.0 * float(self.c) * float(self.b)), every_round=True)
