"""What a contextual policy is: immutable parameters, and a rule over a linear model of the rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bootleader._core.coefficient_rules import CoefficientRule
from bootleader._core.linear_rules import LinearRule
from bootleader._core.rules import UNKNOWN_SD
from bootleader._core.validation import positive, real
from bootleader.policies.base import Written


@dataclass(frozen=True, repr=False)
class ContextualPolicy(Written):
    """Base of every policy for bandits with contexts: immutable parameters and a rule.

    Subclasses are frozen dataclasses that define :attr:`rule`.

    Attributes
    ----------
    reference : str
        The publication that defines the policy.
    equivariant : bool
        Whether rewards Y and aY + b, a > 0, and features in other units give the same choices.

    Examples
    --------
    >>> from bootleader import LinUCB
    >>> policy = LinUCB(alpha=2.0)
    >>> isinstance(policy, ContextualPolicy), policy.name, policy.rule.ridge
    (True, 'LinUCB(alpha=2.0)', 1.0)
    """

    @property
    def rule(self) -> LinearRule | CoefficientRule:
        """The rule by which an arm's index is drawn."""
        raise TypeError(f"{type(self).__name__} defines no rule")

    @property
    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward that the policy can take."""
        return -math.inf, math.inf

    def known_sd(self, arms: int, true_sd: Any) -> Any:
        """Return the standard deviation of the rewards' noise that the policy assumes.

        Parameters
        ----------
        arms : int
            Number of arms.
        true_sd : array or None
            The true standard deviation of each arm, which only a simulation knows.

        Returns
        -------
        float or array
            One number for all arms, or one for each.
        """
        return UNKNOWN_SD


def noise_sd_of(given: Any, arms: int, true_sd: Any) -> Any:
    """The standard deviations that ``noise_sd``, a number or "oracle", stands for."""
    if isinstance(given, str):
        if true_sd is None:
            raise ValueError("noise_sd='oracle' is for simulations, where the true sd is known; give a number")
        return np.asarray(true_sd)
    return float(given)


def validated_noise_sd(given: Any) -> None:
    """Check a standard deviation: a number above 0, or "oracle"."""
    if isinstance(given, str):
        if given != "oracle":
            raise ValueError(f"noise_sd must be a number or 'oracle', got {given!r}")
    else:
        positive("noise_sd", given)


def check_pseudo_rewards(low: Any, high: Any) -> None:
    """Check two pseudo rewards: finite numbers, the first below the second."""
    real("low", low, "a finite number")
    real("high", high, f"a finite number above low ({low!r})", low=float(low))
