"""UCB1: optimism by a confidence bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.rules import IndexRule, Noise
from bootleader._core.validation import positive
from bootleader.policies.base import Knowledge, Policy


def law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """Index = Ybar + (sd / sqrt s) sqrt(2 log t)."""
    return arm.mean, params[0] / math.sqrt(arm.count), 0.0


@dataclass(frozen=True, repr=False)
class UCB1(Policy):
    r"""Play the largest upper confidence bound.

    .. math:: \bar Y + sd \sqrt{2 \log t / s}

    with t the number of pulls so far.

    Parameters
    ----------
    sd : float
        Unit of the bonus; 1 is the original, for rewards in [0, 1].

    Raises
    ------
    ValueError
        If ``sd`` is not a finite number above 0.

    Examples
    --------
    >>> UCB1(sd=2.0)
    UCB1(sd=2.0)
    """

    sd: float = 1.0
    reference: ClassVar[str] = "Auer, Cesa-Bianchi, Fischer (2002). Finite-time analysis. Machine Learning 47."

    def __post_init__(self) -> None:
        positive("sd", self.sd)

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (Knowledge.SD,)

    @property
    def rule(self) -> IndexRule:
        return IndexRule(law, Noise.OPTIMISM, (float(self.sd),))
