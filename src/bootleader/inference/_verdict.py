"""Verdicts: which arm is better, by how much, and may one stop."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from bootleader.inference._intervals import arm_intervals, bounds_of, check_moments, check_within, pair_intervals
from bootleader.inference._log_reader import log_of
from bootleader.inference._moments import Moments, checked_moments, effective_number, moments_by_arm
from bootleader.inference._verdict_types import (
    Basis,
    Question,
    Verdict,
    arm_answers,
    comparisons_of,
    pairs_of,
    question_of,
)

RECENT: Final = 0.25  # share of a log, at its end, that counts as lately


def verdict_of_moments(
    names: Sequence[Any], moments: Moments, *, control: Any = None, shares: Any = None, **asked: Any
) -> Verdict:
    """The verdict from running moments: what an agent or a store calls.

    ``shares`` are the arms' shares of the visits to come; without them, of those so far. ``asked`` are ``alpha``,
    ``low``, ``high``, ``maximize``, ``margin`` and ``unit`` of :func:`verdict`.
    """
    return _answered(names, moments, question_of(**asked), control, shares)


def _answered(names: Sequence[Any], moments: Moments, question: Question, control: Any, shares: Any) -> Verdict:
    alpha, bounds = question.alpha, question.bounds
    labels = [str(name) for name in names]
    if len(labels) < 2:
        raise ValueError(f"a verdict needs at least two arms, got {len(labels)}")
    moments = checked_moments(moments, len(labels))
    if bounds is not None:
        check_moments(bounds, moments)
    place = None if control is None else _place(labels, str(control))
    total = float(moments.count.sum())
    weights = moments.count / max(total, 1.0) if shares is None else np.asarray(shares, np.float64)
    effective = effective_number(moments)
    found = arm_intervals(moments, alpha / len(labels), bounds, effective)
    pairs = pairs_of(len(labels), place)
    level = alpha / len(pairs)
    compared = pair_intervals(moments, pairs, level, bounds, effective)
    return Verdict(
        tuple(arm_answers(labels, moments, found, effective)),
        tuple(comparisons_of(labels, pairs, compared, Basis(moments, effective, weights, int(total)), question, level)),
        question, None if control is None else str(control), int(total), tuple(weights.tolist()),
    )  # fmt: skip


def _place(labels: list[str], control: str) -> int:
    if control not in labels:
        raise ValueError(f"control must be one of {', '.join(map(repr, labels[:10]))}, got {control!r}")
    return labels.index(control)


def verdict(
    log: Any,
    *,
    low: float | None = None,
    high: float | None = None,
    alpha: float = 0.05,
    control: Any = None,
    maximize: bool = True,
    margin: float | None = None,
    unit: str = "reward",
    arms: Sequence[Any] | None = None,
    drift: bool = False,
    floor: float | None = None,
) -> Verdict:
    """Which arm is better, by how much, and may one stop: from a log of one's own, at any time one looks.

    Parameters
    ----------
    log : DataFrame or mapping of columns
        Columns ``arm`` and ``reward``, in the order of the decisions; ``probability`` with which the arm was chosen, if
        it is known. How the arms were chosen does not matter, as long as no choice knew a reward to come.
    low, high : float, optional
        Bounds that no reward can exceed, such as 0 and 1 for clicks: the answer is exact then. Both or neither.
    alpha : float
        Chance of ever giving a wrong answer that is allowed, over all comparisons together.
    control : optional
        Compare each arm with this one only. There are fewer comparisons than all pairs, so they need fewer rewards.
    maximize : bool
        Whether larger rewards are better.
    margin : float, optional
        Arms that are known to differ by less than this count as the same.
    unit : str
        What a reward is for, such as ``"visit"``; for the sentences.
    arms : sequence, optional
        The arms, if some may be missing in the log.
    drift : bool
        Answer for means that change over time: the averages over all rounds of the log, from the logged probabilities.
    floor : float, optional
        The least probability that every arm had in every round; needed by ``drift``.

    Returns
    -------
    Verdict
        The answer as a sentence, with the arms, the comparisons and whether one may stop.

    Raises
    ------
    ValueError
        If a column or an option has a value that is not accepted, or ``floor`` is given without ``drift``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> log = {"arm": ["blue", "green"] * 2_000, "reward": rng.normal([0.0, 0.5] * 2_000)}
    >>> verdict(log, unit="visit").sentence
    'green beats blue by 0.389 to 0.630 a visit (95 %, valid at any time you look)'
    """
    rows = log_of(log, arms, with_probability=drift)
    check_within(bounds_of(low, high), rows.reward)
    if control is not None:
        rows.number_of(control)
    if rows.holdout is not None:
        rows = rows.only(~rows.holdout)  # set apart: see holdout_verdict
        if not rows.rounds:
            raise ValueError("all rows of the log are in the holdout, which always gets the control arm")
    question = question_of(alpha, low, high, maximize, margin, unit)
    if drift:
        from bootleader.inference._drift_proof_scores import drift_verdict

        return drift_verdict(rows, question, control, floor)
    if floor is not None:
        raise ValueError("floor is for drift=True")
    recent = rows.arm[-max(1, math.ceil(RECENT * rows.rounds)) :]
    moments = moments_by_arm(rows.arm, rows.reward, len(rows.names))
    # Half as lately, half as over the whole log: an arm that is hardly played at present is not taken to be given up.
    shares = 0.5 * (np.bincount(recent, minlength=len(rows.names)) / len(recent) + moments.count / rows.rounds)
    return _answered(rows.names, moments, question, control, shares)


def holdout_verdict(log: Any, *, low: float | None = None, high: float | None = None, alpha: float = 0.05,
                    maximize: bool = True, unit: str = "reward") -> Verdict:  # fmt: skip
    """What the bandit brought over the control: the rows in the holdout against all others.

    The rows with ``holdout`` true always got the control arm, at random, so the comparison is a randomised one. The
    bandit's mean is its average so far, the time when it still learnt included.

    Examples
    --------
    >>> log = {"arm": ["a", "b"] * 500, "reward": [0.0, 1.0] * 500, "holdout": [True, False] * 500}
    >>> holdout_verdict(log, low=0, high=1, unit="visit").comparisons[0].outcome
    'better'
    """
    rows = log_of(log)
    if rows.holdout is None:
        raise ValueError("the log must have the column holdout, true for units that always get the control arm")
    check_within(bounds_of(low, high), rows.reward)
    moments = moments_by_arm(rows.holdout.astype(np.intp), rows.reward, 2)
    return verdict_of_moments(
        ["the bandit", "the control (holdout)"], moments, low=low, high=high, alpha=alpha, maximize=maximize, unit=unit
    )
