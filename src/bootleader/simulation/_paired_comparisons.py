"""Paired comparisons of two policies over the runs that they share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from bootleader._core.validation import one_of

Floats = npt.NDArray[np.float64]
Method = Literal["t", "bootstrap", "wilcoxon"]
Correction = Literal["holm", "bonferroni"]

LEVEL = 0.05
RESAMPLES = 9_999  # of a bootstrap: the level times one more is a whole number
AT_ONCE = 2_000_000  # resampled numbers in memory
NORMAL_975 = 1.959963984540054  # quantile of the standard normal distribution
BISECTIONS = 200  # at most; the interval of a float's neighbours is reached before


@dataclass(frozen=True)
class Comparison:
    """Paired difference of the regrets of two policies, with a 95 % interval and a p value over runs.

    Attributes
    ----------
    a, b : str
        Names of the policies.
    difference : float
        Mean over runs of the regret of ``a`` minus that of ``b``; with Wilcoxon's test their pseudo-median.
    standard_error : float
        Standard error of the mean difference.
    low, high : float
        Ends of the 95 % interval of the difference.
    p_value : float
        Two-sided p value of no difference; not a number for a single run.
    method : {"t", "bootstrap", "wilcoxon"}
        The test.
    at : int
        The round at which the regrets were compared; 0 if it is not known.

    Examples
    --------
    >>> print(Comparison("A", "B", difference=-3.0, standard_error=1.0, low=-5.0, high=-1.0, p_value=0.004))
    A less B: -3 (95 % interval -5 to -1, p = 0.004; A is better)
    """

    a: str
    b: str
    difference: float
    standard_error: float
    low: float
    high: float
    p_value: float = math.nan
    method: Method = "t"
    at: int = 0

    def __str__(self) -> str:
        verdict = f"{self.a} is better" if self.high < 0 else f"{self.b} is better" if self.low > 0 else "undecided"
        p_value = "" if math.isnan(self.p_value) else f", p {_p_in_words(self.p_value)}"
        return (
            f"{self.a} less {self.b}: {self.difference:.4g} "
            f"(95 % interval {self.low:.4g} to {self.high:.4g}{p_value}; {verdict})"
        )


def _p_in_words(p_value: float) -> str:
    return "< 1e-6" if p_value < 1e-6 else f"= {p_value:.2g}"


@dataclass(frozen=True)
class Estimate:
    """A difference, its 95 % interval and the two-sided p value of no difference."""

    difference: float
    low: float
    high: float
    p_value: float


def compared(
    a: str, b: str, regret_a: Floats, regret_b: Floats, *, at: int = 0, method: Method = "t", seed: int = 0
) -> Comparison:
    """Compare the regrets of two policies run by run.

    Parameters
    ----------
    a, b : str
        Names of the policies.
    regret_a, regret_b : array
        Their regrets in the same runs.
    at : int
        The round at which they have them.
    method : {"t", "bootstrap", "wilcoxon"}
        The test.
    seed : int
        Seed of the bootstrap.

    Returns
    -------
    Comparison
        The difference with its interval and p value.

    Raises
    ------
    ValueError
        If ``method`` is none of the three.

    Examples
    --------
    >>> print(compared("A", "B", np.array([1.0, 2.0, 3.0]), np.array([3.0, 3.0, 6.0])))
    A less B: -2 (95 % interval -4.484 to 0.4841, p = 0.074; undecided)
    """
    one_of("method", method, get_args(Method))
    difference = np.asarray(regret_a, dtype=float) - np.asarray(regret_b, dtype=float)
    runs = len(difference)
    mean = float(difference.mean())
    error = float(difference.std(ddof=1) / math.sqrt(runs)) if runs > 1 else math.nan
    if runs < 2:
        found = Estimate(mean, math.nan, math.nan, math.nan)
    elif method == "t":
        found = _student(mean, error, runs)
    elif method == "bootstrap":
        found = _bootstrap(difference, mean, seed)
    else:
        found = _wilcoxon(difference)
    return Comparison(a, b, found.difference, error, found.low, found.high, found.p_value, method, at)


def _student(mean: float, error: float, runs: int) -> Estimate:
    """The paired t test."""
    from scipy.special import stdtr, stdtrit

    reach = float(stdtrit(runs - 1, 1.0 - LEVEL / 2)) * error
    if error == 0.0:  # the same difference in every run
        return Estimate(mean, mean, mean, 1.0 if mean == 0.0 else 0.0)
    return Estimate(mean, mean - reach, mean + reach, float(2.0 * stdtr(runs - 1, -abs(mean / error))))


def _bootstrap(difference: Floats, mean: float, seed: int) -> Estimate:
    """The percentile bootstrap of the mean; its p value is that of the interval which just contains 0."""
    rng, runs = np.random.default_rng([seed, len(difference)]), len(difference)
    means: list[Floats] = []
    left = RESAMPLES
    while left > 0:
        count = min(left, max(1, AT_ONCE // runs))
        means.append(difference[rng.integers(0, runs, (count, runs))].mean(axis=1))
        left -= count
    resampled = np.concatenate(means)
    low, high = np.quantile(resampled, [LEVEL / 2, 1.0 - LEVEL / 2])
    beyond = min(int((resampled <= 0.0).sum()), int((resampled >= 0.0).sum()))
    return Estimate(mean, float(low), float(high), min(1.0, 2.0 * (1 + beyond) / (RESAMPLES + 1)))


def _wilcoxon(difference: Floats) -> Estimate:
    """Wilcoxon's signed-rank test, the pseudo-median, and the interval of the medians that the test does not reject."""
    from scipy.stats import wilcoxon

    runs = len(difference)
    if not difference.any():
        return Estimate(0.0, 0.0, 0.0, 1.0)
    p_value = float(wilcoxon(difference).pvalue)
    pairs = runs * (runs + 1) // 2
    reach = NORMAL_975 * math.sqrt(runs * (runs + 1) * (2 * runs + 1) / 24.0)
    below = max(0, math.floor(pairs / 2.0 - reach))  # Walsh averages outside the interval, on either side
    ordered = np.sort(difference)
    middle = (_walsh_average(ordered, (pairs - 1) // 2) + _walsh_average(ordered, pairs // 2)) / 2.0
    return Estimate(middle, _walsh_average(ordered, below), _walsh_average(ordered, pairs - 1 - below), p_value)


def _walsh_average(ordered: Floats, place: int) -> float:
    """The Walsh average (of two of the values, or of a value with itself) at a place in their order, from 0 on.

    Found by bisection, because there are n (n + 1) / 2 of them.

    Examples
    --------
    >>> [round(_walsh_average(np.array([1.0, 2.0, 6.0]), place), 9) for place in range(6)]
    [1.0, 1.5, 2.0, 3.5, 4.0, 6.0]
    """
    low, high = float(ordered[0]), float(ordered[-1])
    for _ in range(BISECTIONS):
        middle = low + (high - low) / 2.0
        if not low < middle < high:
            break
        # For each value, the values from it on with which its average is at most the middle.
        partners = np.searchsorted(ordered, 2.0 * middle - ordered, side="right") - np.arange(len(ordered))
        if int(np.maximum(partners, 0).sum()) > place:
            high = middle
        else:
            low = middle
    # The bisection rounds: take the average that is nearest to what it has found.
    after = np.searchsorted(ordered, 2.0 * high - ordered)
    candidates = [(ordered + ordered[np.clip(after + step, 0, len(ordered) - 1)]) / 2.0 for step in (-1, 0)]
    averages = np.concatenate(candidates)
    return float(averages[np.argmin(np.abs(averages - high))])


def adjusted(p_values: Sequence[float], correction: Correction | None) -> list[float]:
    """P values corrected for their number.

    Parameters
    ----------
    p_values : sequence of float
        Of several tests.
    correction : {"holm", "bonferroni"} or None
        How to correct them; None leaves them as they are.

    Returns
    -------
    list of float
        In the same order.

    Raises
    ------
    ValueError
        If ``correction`` is none of these.

    Examples
    --------
    >>> adjusted([0.01, 0.04, 0.03], "holm"), adjusted([0.01, 0.04, 0.03], "bonferroni")
    ([0.03, 0.06, 0.06], [0.03, 0.12, 0.09])
    """
    if correction is None:
        return [float(p) for p in p_values]
    one_of("correction", correction, get_args(Correction))
    count = len(p_values)
    if correction == "bonferroni":
        return [min(1.0, count * float(p)) for p in p_values]
    found, largest = [math.nan] * count, 0.0
    for step, place in enumerate(sorted(range(count), key=lambda place: p_values[place])):
        largest = max(largest, min(1.0, (count - step) * float(p_values[place])))
        found[place] = largest
    return found
