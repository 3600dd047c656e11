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
SMALLEST_RATIO = 1.5  # the theorem asks for more than this; C2 is infinite at it


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
    """M(r) = 1.1 + (1 - (3/(2r))^2)^(-1/2), the appendix's bound on one round's share of a_k."""
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
    """The theorem's numbers for one Gaussian instance."""

    c1: float
    c2: float
    upper: float
    lower: float
    worst: float


def _gaps(means: Sequence[float]) -> Floats:
    values = np.array([real("means", mean) for mean in means])
    if len(values) < 2:
        raise ValueError(f"means must name at least 2 arms, got {list(means)!r}")
    gaps = np.sort(values.max() - values)[1:]
    if gaps[-1] == 0.0:
        raise ValueError(f"means must not all be equal, got {list(means)!r}")
    return np.asarray(gaps[gaps > 0.0])


def bound(means: Sequence[float], sigma_a: float, rounds: int, sd: float = 1.0) -> Bound:
    """Theorem 1's upper bound, the Lai-Robbins lower bound, and the regret of always playing the worst arm.

    Parameters
    ----------
    means : sequence of float
    sigma_a : float
        Above 1.5 times ``sd``, as the theorem asks.
    rounds : int
    sd : float

    Examples
    --------
    >>> answer = bound([1.0, 0.5, 0.0], sigma_a=1.7, rounds=10_000)
    >>> f"{answer.lower:.1f} {answer.upper:,.0f}"
    '55.3 75,158'
    """
    sd = positive("sd", sd)
    ratio = positive("sigma_a", sigma_a) / sd
    if ratio <= SMALLEST_RATIO:
        raise ValueError(
            f"sigma_a must be above {SMALLEST_RATIO:g} times the sd, {SMALLEST_RATIO * sd:g}, "
            f"for the theorem to say anything; got {sigma_a!r}"
        )
    rounds, gaps = whole("rounds", rounds, 1), _gaps(means)
    scaled = gaps / sd
    per_arm = 6.0 + (c1(ratio) + c2(ratio) / scaled**2) * math.log(rounds)
    return Bound(
        c1=float(c1(ratio)),
        c2=float(c2(ratio)),
        upper=float((gaps * per_arm).sum()),
        lower=lai_robbins(means, rounds, sd),
        worst=float(gaps.max()) * rounds,
    )


def lai_robbins(means: Sequence[float], rounds: Any, sd: float = 1.0) -> Any:
    """Leading term of the least regret a consistent policy can have: sum over arms of 2 sd^2 log T / Delta_k.

    Examples
    --------
    >>> round(float(lai_robbins([1.0, 0.0], 10_000)), 2)
    18.42
    """
    slope = float((2.0 * sd**2 / _gaps(means)).sum())
    return slope * np.log(rounds) if np.ndim(rounds) else slope * math.log(rounds)
