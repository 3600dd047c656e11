"""LinPHE: perturbed-history exploration for linear bandits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.linear_rules import LinearRule
from bootleader._core.rules import Noise
from bootleader._core.validation import positive, real
from bootleader.policies.base import MOST_PSEUDO_REWARDS
from bootleader.policies.contextual import ContextualPolicy, check_pseudo_rewards
from bootleader.policies.lin_thompson import law


@dataclass(frozen=True, repr=False)
class LinPHE(ContextualPolicy):
    r"""Fit the coefficients to rewards with fresh noise on each of them, and play the arm that is best for them.

    In every round each reward y gets the sum of ``a`` pseudo rewards, which are ``low`` or ``high``, less their mean:

    .. math:: \tilde\theta = V^{-1} \sum (y + z)\, x,\qquad z \sim N\Bigl(0, \frac{a}{4} (high - low)^2\Bigr)

    with :math:`V = \lambda I + \sum x x'`: one draw for all arms if they share coefficients, one for each otherwise.
    Four choices differ from the publication. The sum of pseudo rewards is Gaussian, with the mean and the variance of
    that of fair coins. Its mean is subtracted: with features that do not span a constant it would shift the
    predictions of some arms more than those of others. The d rows that the ridge penalty stands for are perturbed like
    the rewards, so that directions without rewards are explored. And the common divisor 1 + a is left out, because it
    does not change a choice. Then :math:`\tilde\theta \sim N(\hat\theta, \frac{a}{4} (high - low)^2 V^{-1})` exactly,
    so no history is kept, and the choices are those of
    :class:`LinThompson` with ``noise_sd = (high - low) sqrt(a) / 2``.

    Parameters
    ----------
    a : float
        Pseudo rewards per reward.
    low, high : float
        The two pseudo rewards; made for rewards between them.
    lam : float
        Ridge penalty, above 0.

    Raises
    ------
    ValueError
        If ``a`` is not a number above 0 and at most a million, ``lam`` not finite and above 0, or ``low`` and ``high``
        are not finite numbers with ``low`` below ``high``.

    Examples
    --------
    >>> LinPHE(a=0.5, low=-1.0)
    LinPHE(a=0.5, low=-1.0)
    """

    a: float = 1.0
    low: float = 0.0
    high: float = 1.0
    lam: float = 1.0
    reference: ClassVar[str] = (
        "Kveton, Szepesvári, Ghavamzadeh, Boutilier (2020). Perturbed-history exploration in stochastic linear "
        "bandits. UAI."
    )

    def __post_init__(self) -> None:
        most = MOST_PSEUDO_REWARDS
        real("a", self.a, f"a number above 0, at most {most:g}", low=0.0, high=most)
        check_pseudo_rewards(self.low, self.high)
        positive("lam", self.lam)

    @property
    def rule(self) -> LinearRule:
        return LinearRule(law, Noise.NORMAL, (0.0,), ridge=float(self.lam), joint=True)

    def known_sd(self, arms: int, true_sd: Any) -> Any:
        return 0.5 * math.sqrt(self.a) * (self.high - self.low)
