r"""The paper's regret theorem for Gaussian bandits, and the lower bound that no consistent policy beats.

.. math:: R(T) \le \sum_k \Delta_k \left[6 + \left(C_1 + C_2 \Delta_k^{-2}\right) \log T\right]

for unit variance and :math:`\sigma_a > 1.5`; with standard deviation sd the ratio :math:`r = \sigma_a / sd` takes the
place of :math:`\sigma_a` and :math:`\Delta_k / sd` that of the gap inside the bracket.

References
----------
C.-H. Wang, Y. Yu, B. Hao, G. Cheng (2020). arXiv:2002.08436, theorem 1.
T. L. Lai, H. Robbins (1985). Asymptotically efficient adaptive allocation rules. Adv. Appl. Math. 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bootleader._core.validation import positive, real, whole

Floats = npt.NDArray[np.float64]
SMALLEST_RATIO = 1.5  # of sigma_a to the sd: the theorem requires more; C2 is infinite at it
BEST_RATIO = 1.7  # of sigma_a to the sd: corollary 1's, which minimises C2


def c1(ratio: Any) -> Any:
    """C1 = 8 / (2 r^2 - 1), as the theorem prints it.

    Examples
    --------
    >>> round(c1(1.7), 4)
    1.6736
    """
    return 8.0 / (2.0 * ratio**2 - 1.0)


def c2(ratio: Any) -> Any:
    """C2 = 128 r^2 (3.1 + 2 (1 - 2.25/r^2)^(-1/2)), as the theorem prints it; infinite at r = 1.5.

    Examples
    --------
    >>> round(float(c2(1.7)), 1), float(c2(1.5))
    (2718.9, inf)
    """
    with np.errstate(divide="ignore"):
        return 128.0 * ratio**2 * (3.1 + 2.0 / np.sqrt(1.0 - 2.25 / np.square(ratio)))


def underestimation(ratio: float) -> float:
    """M(r) = 1.1 + (1 - (3/(2r))^2)^(-1/2), the appendix's bound on one term of a_k."""
    return 1.1 + 1.0 / math.sqrt(1.0 - 2.25 / ratio**2)


def appendix_constants(ratio: float) -> tuple[float, float]:
    """(C1, C2) as the appendix's last line gives them: (8 + 16 M) / (2 r^2 - 1) and 16 r^2 (8 + 16 M).

    Its bound has the larger of the two terms, not their sum.

    Examples
    --------
    >>> [round(c, 1) for c in appendix_constants(1.7)]
    [12.5, 2755.9]
    """
    factor = 8.0 + 16.0 * underestimation(ratio)
    return factor / (2.0 * ratio**2 - 1.0), 16.0 * ratio**2 * factor


@dataclass(frozen=True)
class Bound:
    """The theorem's numbers for one Gaussian bandit. Printing it shows them as a table.

    Attributes
    ----------
    sigma_a : float
        Exploration aid unit.
    c1, c2 : float
        Constants of theorem 1.
    upper : float
        Theorem 1: the regret is at most this.
    lower : float
        Lai and Robbins: leading term of the least regret that a consistent policy can have.
    worst : float
        Regret of pulling the worst arm in every round.

    Examples
    --------
    >>> print(bound([100.0, 0.0], rounds=10_000))
    sigma_a                                                  1.7
    C1                                                    1.6736
    C2                                                  2,718.91
    theorem 1: regret at most                            2,391.9
    Lai-Robbins: least possible, asymptotically              0.2
    always pulling the worst arm                     1,000,000.0
    """

    sigma_a: float
    c1: float
    c2: float
    upper: float
    lower: float
    worst: float

    def __str__(self) -> str:
        rows = {
            "sigma_a": f"{self.sigma_a:g}",
            "C1": f"{self.c1:.4f}",
            "C2": f"{self.c2:,.2f}",
            "theorem 1: regret at most": f"{self.upper:,.1f}",
            "Lai-Robbins: least possible, asymptotically": f"{self.lower:,.1f}",
            "always pulling the worst arm": f"{self.worst:,.1f}",
        }
        lines = [f"{name:45} {value:>14}" for name, value in rows.items()]
        if self.upper >= self.worst:
            lines.append("The bound is above the regret of always pulling the worst arm: it says nothing yet.")
        return "\n".join(lines)


def _gaps(means: Sequence[float]) -> Floats:
    values = np.array([real("means", mean) for mean in means])
    if len(values) < 2:
        raise ValueError(f"means must name at least 2 arms, got {list(means)!r}")
    gaps = np.sort(values.max() - values)[1:]
    if gaps[-1] == 0.0:
        raise ValueError(f"means must not all be equal, got {list(means)!r}")
    return np.asarray(gaps[gaps > 0.0])


def bound(means: Sequence[float], sigma_a: float | None = None, rounds: int = 10_000, sd: float = 1.0) -> Bound:
    """Compute theorem 1's upper bound on ReBoot's regret, and the Lai-Robbins lower bound, for a Gaussian bandit.

    Parameters
    ----------
    means : sequence of float
        Mean reward of every arm; at least two, not all equal.
    sigma_a : float, optional
        Exploration aid unit. The theorem requires more than 1.5 times ``sd``; by default it is 1.7 times ``sd``.
    rounds : int
        Horizon.
    sd : float
        Standard deviation of the rewards.

    Returns
    -------
    Bound
        The constants and both bounds.

    Raises
    ------
    ValueError
        If ``sigma_a`` is at most 1.5 times ``sd``, or another value is out of range.

    Examples
    --------
    >>> answer = bound([1.0, 0.5, 0.0], sigma_a=1.7, rounds=10_000)
    >>> f"{answer.lower:.1f} {answer.upper:,.0f}"
    '55.3 75,158'
    """
    sd = positive("sd", sd)
    sigma_a = BEST_RATIO * sd if sigma_a is None else positive("sigma_a", sigma_a)
    ratio = sigma_a / sd
    if ratio <= SMALLEST_RATIO:
        raise ValueError(
            f"sigma_a must be above {SMALLEST_RATIO:g} times the sd, {SMALLEST_RATIO * sd:g}, "
            f"for the theorem to say anything; got {sigma_a!r}"
        )
    rounds, gaps = whole("rounds", rounds, 1), _gaps(means)
    scaled = gaps / sd
    per_arm = 6.0 + (c1(ratio) + c2(ratio) / scaled**2) * math.log(rounds)
    return Bound(
        sigma_a=sigma_a,
        c1=float(c1(ratio)),
        c2=float(c2(ratio)),
        upper=float((gaps * per_arm).sum()),
        lower=lai_robbins(means, rounds, sd),
        worst=float(gaps.max()) * rounds,
    )


def lai_robbins(means: Sequence[float], rounds: Any, sd: float = 1.0) -> Any:
    """Leading term of the least regret a consistent policy can have: sum over arms of 2 sd^2 log T / Delta_k.

    Parameters
    ----------
    means : sequence of float
        Mean reward of every arm.
    rounds : int or array of int
        Horizon, or several.
    sd : float
        Standard deviation of the rewards.

    Returns
    -------
    float or array of float

    Examples
    --------
    >>> round(float(lai_robbins([1.0, 0.0], 10_000)), 2)
    18.42
    """
    slope = float((2.0 * sd**2 / _gaps(means)).sum())
    return slope * np.log(rounds) if np.ndim(rounds) else slope * math.log(rounds)
