"""What the policies have in common that are made for a family of rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from bootleader._core.validation import positive
from bootleader.policies._divergence import family_number
from bootleader.policies.base import Knowledge, Policy

RANGES: Final = {"bernoulli": (0.0, 1.0), "gaussian": (-math.inf, math.inf)}
# The Bernoulli divergence is valid for all rewards in [0, 1], and the Gaussian one for all with lighter tails.
KNOWN: Final = {"bernoulli": Knowledge.RANGE, "gaussian": Knowledge.SD}


@dataclass(frozen=True, repr=False)
class FamilyPolicy(Policy):
    """A policy that uses the divergence or the posterior of a reward family."""

    family: str = "bernoulli"
    sd: float = 1.0

    def __post_init__(self) -> None:
        family_number(self.family)
        positive("sd", self.sd)

    @property
    def reward_range(self) -> tuple[float, float]:
        return RANGES.get(self.family, (0.0, math.inf))

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (KNOWN.get(self.family, Knowledge.FAMILY),)
