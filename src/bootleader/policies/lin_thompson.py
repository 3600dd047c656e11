"""Thompson sampling for linear bandits with known noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.linear_rules import LinearRule
from bootleader._core.rules import Noise
from bootleader._core.validation import positive
from bootleader.policies.contextual import ContextualPolicy, noise_sd_of, validated_noise_sd


def law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """Index ~ N(x'theta, noise_sd^2 h) with h = x'V^-1x: the posterior of one arm's mean."""
    return arm.location, arm.noise_sd / math.sqrt(arm.count), math.inf


@dataclass(frozen=True, repr=False)
class LinThompson(ContextualPolicy):
    r"""Sample the coefficients from their posterior and play the arm that is best for them.

    With :math:`V = \lambda I + \sum x x'` and :math:`\hat\theta = V^{-1} \sum y x` the coefficients are drawn from
    :math:`N(\hat\theta, sd^2 V^{-1})`: one draw for all arms if they share coefficients, one for each arm otherwise.

    Parameters
    ----------
    lam : float
        Ridge penalty, above 0: the prior is :math:`N(0, sd^2 / \lambda)` for each coefficient.
    noise_sd : float or "oracle"
        Standard deviation of the noise; "oracle" is (in a simulation) every arm's true one, and their root mean square
        if the arms share coefficients.

    Raises
    ------
    ValueError
        If a number is not finite and above 0.

    Examples
    --------
    >>> LinThompson(lam=0.1, noise_sd=0.5)
    LinThompson(lam=0.1, noise_sd=0.5)
    """

    lam: float = 1.0
    noise_sd: float | str = 1.0
    reference: ClassVar[str] = "Agrawal, Goyal (2013). Thompson sampling for contextual bandits. ICML."

    def __post_init__(self) -> None:
        positive("lam", self.lam)
        validated_noise_sd(self.noise_sd)

    @property
    def rule(self) -> LinearRule:
        return LinearRule(law, Noise.NORMAL, (0.0,), ridge=float(self.lam), joint=True)

    def known_sd(self, arms: int, true_sd: Any) -> Any:
        return noise_sd_of(self.noise_sd, arms, true_sd)
