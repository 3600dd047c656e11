"""Follow the leader: no exploration at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.rules import IndexRule, Noise
from bootleader.policies.base import Policy


def law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """Index = Ybar."""
    return arm.mean, 0.0, 0.0


@dataclass(frozen=True, repr=False)
class FollowTheLeader(Policy):
    r"""Play the arm with the largest mean so far.

    The index of an arm is its mean :math:`\bar Y`; ties are broken at random. Regret is linear: an arm with a bad
    start is never tried again.

    Examples
    --------
    >>> FollowTheLeader()
    FollowTheLeader()
    """

    equivariant: ClassVar[bool] = True
    reference: ClassVar[str] = "Lattimore, Szepesvári (2020). Bandit Algorithms, chapter 4."

    @property
    def rule(self) -> IndexRule:
        return IndexRule(law, Noise.NONE)
