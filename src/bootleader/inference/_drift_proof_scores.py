"""Answers for means that drift: from the logged probabilities, over all rounds.

When an arm's mean changes, the mean of its rewards depends on when it was played. The score of arm a in a round,

    m_a + 1{played a} (reward - m_a) / probability,    m_a the mean of the arm's rewards in earlier rounds,

has the arm's present mean as its expectation, played or not; so the mean of the scores estimates the average of the
arm's mean over *all* rounds, the same rounds for every arm. Centring by m_a makes unit and offset of the rewards
irrelevant.

With bounds the betting sequence over the scores is exact for that average: ``prod (1 + k mu_t) <= (1 + k mu)^n`` for
the average mu of the mu_t, so wealth divided by the right-hand side is below a martingale. Without bounds the Student
mixture with its guard is used.

References
----------
I. Waudby-Smith, L. Wu, A. Ramdas, N. Karampatziakis, P. Mineiro (2024). Anytime-valid off-policy inference for
contextual bandits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from bootleader._core.validation import real
from bootleader.inference._intervals import Bounds, arm_intervals
from bootleader.inference._log_reader import Log
from bootleader.inference._moments import Floats, Moments, own_number
from bootleader.inference._sample_size import visits_until
from bootleader.inference._verdict_types import Basis, Comparison, Question, Verdict, arm_answers, pairs_of

DOUBT: Final = 0.001  # level at which logged probabilities are said not to fit the choices
NEEDS_FLOOR: Final = (
    "not without a floor: with drifting arms an answer rests on the logged probabilities, and 1/probability has no "
    "bound unless every arm has at least a given probability in every round; play with a floor and give it, such as "
    "floor=0.05"
)


def past_means(log: Log, start: float = 0.0) -> Floats:
    """Each arm's mean of the rewards in earlier rounds (round x arm).

    Where it has none, that of all earlier rewards; in the first round ``start``.
    """
    from bootleader.inference import _score_kernels

    table: Floats = _score_kernels.past_means(log.arm, log.reward, len(log.names), start)
    return table


def drift_verdict(log: Log, question: Question, control: Any, floor: float | None) -> Verdict:
    """The verdict over the averages of drifting means. Called by :func:`~bootleader.verdict`."""
    from bootleader.inference import _score_kernels

    alpha, bounds = question.alpha, question.bounds
    labels = [str(name) for name in log.names]
    if len(labels) < 2:
        raise ValueError(f"a verdict needs at least two arms, got {len(labels)}")
    floor = _checked_floor(log, floor)
    pairs = pairs_of(len(labels), None if control is None else labels.index(str(control)))
    start = 0.0 if bounds is None else 0.5 * (bounds.low + bounds.high)
    sums = _score_kernels.score_moments(log.arm, log.reward, log.probability, len(labels), pairs, start)
    rounds = np.full(len(sums[0]), float(log.rounds))
    of_all = Moments(rounds, *sums)
    of_arms, of_pairs = of_all.only(slice(len(labels))), of_all.only(slice(len(labels), None))

    beyond = 0.0 if bounds is None else (bounds.high - bounds.low) * (1.0 / floor - 1.0)
    wide = None if bounds is None else Bounds(bounds.low - beyond, bounds.high + beyond)
    # Not pooled: what stands beside a row of scores is made of the same rounds.
    found = arm_intervals(of_arms, alpha / len(labels), wide, own_number(of_arms))
    if bounds is not None:
        found = found._replace(low=np.maximum(found.low, bounds.low), high=np.minimum(found.high, bounds.high))
    counts = np.bincount(log.arm, minlength=len(labels)).astype(np.float64)
    answers = arm_answers(labels, of_arms._replace(count=counts), found, own_number(of_arms))

    reach = beyond if bounds is None else (bounds.high - bounds.low) / floor
    wide = None if bounds is None else Bounds(-reach, reach)
    level = alpha / len(pairs)
    basis = Basis(of_pairs, own_number(of_pairs), np.ones(len(pairs)), log.rounds)
    between = arm_intervals(of_pairs, level, wide, basis.effective)
    comparisons = tuple(
        ScoreComparison(
            labels[a], labels[b], float(of_pairs.mean[i]), float(between.low[i]), float(between.high[i]),
            bool(between.is_ready[i]), question, level, basis, [i], wide,
        )
        for i, (a, b) in enumerate(pairs)
    )  # fmt: skip
    about = "Means are averages over all rounds of the log, from the logged probabilities: arms may have drifted."
    return Verdict(
        tuple(answers), comparisons, question, None if control is None else str(control), log.rounds,
        tuple((counts / log.rounds).tolist()), about,
    )  # fmt: skip


def _checked_floor(log: Log, floor: float | None) -> float:
    if log.probability is None:
        raise ValueError("drift=True needs the column probability: that with which the arm was chosen")
    if floor is None:
        raise ValueError(NEEDS_FLOOR)
    number = real("floor", floor, "a probability above 0", low=0.0, high=1.0)
    if (least := float(log.probability.min())) < number * (1.0 - 1e-9):
        raise ValueError(
            f"floor must be the least probability of any choice, got {floor!r} where the log has {least!r}"
        )
    if number * len(log.names) > 1.0 + 1e-9:
        raise ValueError(f"floor must be at most 1 / {len(log.names)}, the number of arms, got {floor!r}")
    _check_probabilities(log, log.probability)
    return number


def _check_probabilities(log: Log, probability: Floats) -> None:
    """Raise if an arm's weights, 1 / probability where it was played and else 0, do not have the mean 1."""
    arms, rounds = len(log.names), float(log.rounds)
    sums = [np.bincount(log.arm, probability**-power, arms) for power in (1.0, 2.0, 3.0, 4.0)]
    mean = sums[0] / rounds
    rss = sums[1] - rounds * mean**2
    fourth = sums[3] - 4.0 * mean * sums[2] + 6.0 * mean**2 * sums[1] - 3.0 * rounds * mean**4
    moments = Moments(np.full(arms, rounds), mean, np.maximum(rss, 0.0), np.maximum(fourth, 0.0))
    found = arm_intervals(moments, DOUBT / arms, None, own_number(moments))
    for a in np.flatnonzero(found.is_ready & ~((found.low <= 1.0) & (found.high >= 1.0))):
        raise ValueError(
            f"probability must be that with which each arm was chosen: the mean of 1 / probability over the choices of "
            f"{log.names[a]!r} is {mean[a]:.4g} a row where it should be 1"
        )


@dataclass(frozen=True)
class ScoreComparison(Comparison):
    """A difference of average means: one sequence over the differences of the scores."""

    wide: Bounds | None  # of a difference of scores

    @cached_property
    def more(self) -> int | None:
        """About how many more visits until there is an answer, if all stays as it seems; None: not in sight."""
        if self.outcome != "not yet":
            return 0
        moments, effective = self.basis.moments.only(self.pair), self.basis.effective[self.pair]
        margin = self.question.margin

        def is_answered(further: float) -> bool:
            factor = np.array([1.0 + further / self.basis.visits])
            found = arm_intervals(moments.grown(factor), self.level, self.wide, effective * factor)
            low, high = float(found.low[0]), float(found.high[0])
            return low > 0.0 or high < 0.0 or (margin is not None and -margin < low and high < margin)

        return visits_until(is_answered, float(self.basis.visits)) if effective[0] > 0.0 else None

    @property
    def _short_of_rewards(self) -> list[str]:
        return [self.arm, self.other]


def moments_of(values: Floats) -> Moments:
    """The moments of one column of numbers."""
    mean = float(values.mean())
    deviation = values - mean
    rest = float(deviation.mean())
    deviation -= rest
    squared = deviation * deviation
    return Moments.of(float(len(values)), mean + rest, squared.sum(), squared @ squared)
