"""PHE: perturbed-history exploration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.rules import IndexRule, Noise
from bootleader._core.validation import real
from bootleader.policies.base import MOST_PSEUDO_REWARDS, Knowledge, Policy


def law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """Index = (sum Y + U) / (s + m), m = ceil(a s), U ~ Binomial(m, 1/2)."""
    s = arm.count
    m = float(math.ceil(params[0] * s))
    return s * arm.mean / (s + m), 1.0 / (s + m), m


@dataclass(frozen=True, repr=False)
class PHE(Policy):
    """Add ``ceil(a s)`` fair coin flips to an arm's s rewards and play the largest mean.

    Made for rewards in [0, 1].

    Parameters
    ----------
    a : float
        Pseudo rewards per reward.

    Raises
    ------
    ValueError
        If ``a`` is not a number above 0 and at most a million.

    Examples
    --------
    >>> PHE(a=2.1)
    PHE(a=2.1)
    """

    a: float = 2.1
    reference: ClassVar[str] = (
        "Kveton, Szepesvári, Ghavamzadeh, Boutilier (2019). Perturbed-history exploration. IJCAI."
    )

    def __post_init__(self) -> None:
        most = MOST_PSEUDO_REWARDS
        real("a", self.a, f"a number above 0, at most {most:g}", low=0.0, high=most)

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (Knowledge.RANGE,)

    @property
    def rule(self) -> IndexRule:
        return IndexRule(law, Noise.FAIR_COINS, (float(self.a),))
