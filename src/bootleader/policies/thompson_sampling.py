"""Thompson sampling for Gaussian rewards of known noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from bootleader._core.rules import IndexRule, Noise
from bootleader._core.validation import positive, real
from bootleader.policies.base import Knowledge, Policy


def law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """Index ~ posterior N(m, 1/p), p = 1/v0 + s/sd^2 and p m = m0/v0 + s Ybar/sd^2."""
    prior_mean, prior_precision = params[0], params[1]
    s, mean, noise_sd = arm.count, arm.mean, arm.noise_sd
    if noise_sd == 0.0 and s > 0.0:
        return mean, 0.0, math.inf
    data_precision = s / (noise_sd * noise_sd) if s > 0.0 else 0.0
    precision = prior_precision + data_precision
    return (prior_precision * prior_mean + data_precision * mean) / precision, 1.0 / math.sqrt(precision), math.inf


@dataclass(frozen=True, repr=False)
class ThompsonSampling(Policy):
    r"""Sample each arm's mean from its posterior and play the largest.

    Prior :math:`N(m_0, v_0)`, rewards :math:`N(\mu, sd^2)` with known sd. The defaults are the paper's baseline,
    whose index is :math:`N(\sum Y/(s+1), 1/(s+1))`: the second number is a variance.

    Parameters
    ----------
    prior_mean : float
        Mean of the prior.
    prior_sd : float
        Standard deviation of the prior. ``inf`` is the flat prior, for which every arm is pulled once first.
    noise_sd : float, sequence of float, or "oracle"
        Standard deviation of the rewards: one number, one per arm, or (in a simulation) every arm's true one.

    Raises
    ------
    ValueError
        If a number is not finite (``prior_sd`` may be infinite), or a standard deviation is not above 0.

    Examples
    --------
    >>> ThompsonSampling(noise_sd=2.0)
    ThompsonSampling(noise_sd=2.0)
    >>> ThompsonSampling(prior_sd=float('inf'), noise_sd='oracle').rule.initial_pulls
    1
    """

    prior_mean: float = 0.0
    prior_sd: float = 1.0
    noise_sd: float | tuple[float, ...] | Literal["oracle"] = 1.0
    reference: ClassVar[str] = "Agrawal, Goyal (2013). Further optimal regret bounds for Thompson sampling. AISTATS."

    def __post_init__(self) -> None:
        real("prior_mean", self.prior_mean)
        real("prior_sd", self.prior_sd, "a number above 0, or infinity for the flat prior", low=0.0, infinite=True)
        if isinstance(self.noise_sd, str):
            if self.noise_sd != "oracle":
                raise ValueError(f"noise_sd must be a number, one per arm, or 'oracle', got {self.noise_sd!r}")
        elif isinstance(self.noise_sd, Sequence | np.ndarray):
            object.__setattr__(self, "noise_sd", tuple(positive("noise_sd", sd) for sd in self.noise_sd))
        else:
            positive("noise_sd", self.noise_sd)

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (Knowledge.SD,) if self.prior_sd == math.inf else (Knowledge.PRIOR, Knowledge.SD)

    @property
    def rule(self) -> IndexRule:
        flat = self.prior_sd == math.inf
        precision = 0.0 if flat else 1.0 / float(self.prior_sd) ** 2
        return IndexRule(law, Noise.NORMAL, (float(self.prior_mean), precision), initial_pulls=1 if flat else 0)

    def known_sd(self, arms: int, true_sd: Any) -> Any:
        if isinstance(self.noise_sd, str):
            if true_sd is None:
                raise ValueError("noise_sd='oracle' is for simulations, where the true sd is known; give a number")
            return true_sd
        if isinstance(self.noise_sd, tuple):
            if len(self.noise_sd) != arms:
                raise ValueError(
                    f"noise_sd must hold one number per arm: {arms} arms, got {len(self.noise_sd)} numbers"
                )
            return np.array(self.noise_sd)[:, None]
        return float(self.noise_sd)
