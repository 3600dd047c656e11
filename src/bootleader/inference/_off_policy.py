"""Off-policy evaluation: what another policy would have earned, from a log with probabilities.

With ``w = pi(arm) / probability``, pi the policy's probability of the arm that was played:

- **IPS**: mean of w y. Unbiased; with bounds its interval is exact at any time and for any policy that wrote the log.
- **SNIPS**: sum w y / sum w. Offset-free; a little biased.
- **DR**: mean of ``sum_a pi(a) m_a + w (y - m_arm)``, m_a the mean of the arm's earlier rewards (or a model's
  prediction). Unbiased,
  offset-free, and usually the narrowest.

The terms of IPS and DR have the policy's value as their expectation *given all that came before*, however adaptive
the log was, so the sequences of this package are valid over them. SNIPS: the values v at which the terms w (y - v)
have mean 0.

References
----------
Y. Saito, S. Aihara, M. Matsutani, Y. Narita (2021), Open Bandit Dataset and Pipeline. NeurIPS Datasets and Benchmarks.
I. Waudby-Smith et al. (2024), Anytime-valid off-policy inference for contextual bandits. ACM/IMS J. Data Science.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bootleader.inference import _sentences as words
from bootleader.inference._drift_proof_scores import DOUBT, moments_of, past_means
from bootleader.inference._intervals import (
    GUARD,
    Bounds,
    alpha_of,
    arm_intervals,
    bounds_of,
    check_within,
    is_known,
    mixture_variance,
)  # fmt: skip
from bootleader.inference._log_reader import Log, log_of
from bootleader.inference._moments import Floats, effective_number
from bootleader.inference._target_policy import table_of, target_probabilities

if TYPE_CHECKING:
    import pandas as pd

ESTIMATORS: Final = ("DR", "SNIPS", "IPS")


@dataclass(frozen=True)
class Estimate:
    """One estimator's value and interval. Without an answer the interval is infinite."""

    estimator: str
    value: float
    low: float
    high: float
    standard_error: float
    effective_number: float
    method: str


@dataclass(frozen=True)
class Evaluation:
    """What another policy would have earned a round.

    Attributes
    ----------
    estimates : tuple of Estimate
        DR, SNIPS and IPS; and the gain, DR less what the log earned.
    effective_sample_size : float
        (sum w)^2 / sum w^2 of the weights: how many rewards of the policy's own the log is worth.
    largest_weight : float
    missing_support : dict
        Arms that the policy plays and the log never does, with the policy's mean probability of them.
    refusal : str
        Why the log cannot tell; empty if it can.
    holdout_rounds : int
        Rows of the holdout, which are left out: they always got the control arm.
    """

    policy: str
    rounds: int
    estimates: tuple[Estimate, ...]
    effective_sample_size: float
    largest_weight: float
    mean_weight: float
    missing_support: dict[str, float]
    refusal: str
    alpha: float
    holdout_rounds: int = 0

    def __getitem__(self, estimator: str) -> Estimate:
        for estimate in self.estimates:
            if estimate.estimator == estimator:
                return estimate
        raise KeyError(f"estimator must be one of {', '.join(e.estimator for e in self.estimates)}, got {estimator!r}")

    @property
    def value(self) -> float:
        """The doubly robust estimate."""
        return self["DR"].value

    @property
    def sentence(self) -> str:
        """The answer in words."""
        if self.refusal:
            return f"the log cannot tell what {self.policy} would have earned: {self.refusal}"
        value, gain = self["DR"], self["gain"]
        scale = value.high - value.low
        text = (
            f"{self.policy} would have earned {words.number(value.value, scale)} a reward "
            f"({words.number(value.low, scale)} to {words.number(value.high, scale)}; {words.level(self.alpha)})"
        )
        if math.isfinite(gain.low):
            text += f": {_gain(gain.low, gain.high)} than what was earned"
        return text

    def frame(self) -> pd.DataFrame:
        """The estimates as a table."""
        import pandas as pd

        return pd.DataFrame([vars(estimate) for estimate in self.estimates]).set_index("estimator")

    def __str__(self) -> str:
        width = max(len(estimate.method) for estimate in self.estimates)
        lines = [f"{'':6}{'value':>12}{'low':>12}{'high':>12}   {'method':{width}}  effective number"]
        for e in self.estimates:
            low, high = (f"{end:.6g}" if math.isfinite(end) else "-" for end in (e.low, e.high))
            lines.append(
                f"{e.estimator:6}{e.value:>12.6g}{low:>12}{high:>12}   {e.method:{width}}  {e.effective_number:,.0f}"
            )
        held = f" ({self.holdout_rounds:,} of the holdout are left out)" if self.holdout_rounds else ""
        lines.append(
            f"{self.rounds:,} rounds{held}; effective sample size {self.effective_sample_size:,.0f}; largest weight "
            f"{self.largest_weight:.4g}; mean weight {self.mean_weight:.4g} (1 if the probabilities are right)"
        )
        return "\n".join([*lines, words.as_line(self.sentence)])


def _gain(low: float, high: float) -> str:
    scale = high - low
    if low > 0.0 or high < 0.0:
        ends = sorted((abs(low), abs(high)))
        return f"{words.number(ends[0], scale)} to {words.number(ends[1], scale)} {'more' if low > 0.0 else 'less'}"
    return f"from {words.number(-low, scale)} less to {words.number(high, scale)} more"


def evaluate(
    log: Any,
    policy: Any = None,
    *,
    low: float | None = None,
    high: float | None = None,
    alpha: float = 0.05,
    arms: Any = None,
    reward_model: Any = None,
    batch: int | None = None,
    seed: int = 0,
) -> Evaluation:
    """What another policy would have earned a round, from a log with probabilities.

    Parameters
    ----------
    log : DataFrame or mapping of columns
        ``arm``, ``reward`` and ``probability`` (with which the arm was chosen), in the order of the decisions; or the
        Open Bandit Pipeline's ``action``, ``reward``, ``pscore`` and, in place of the policy, ``action_dist``. Rows
        with ``holdout`` true are left out.
    policy : arm, dict, array or Policy
        An arm that is always played; shares, ``{"green": 0.8, "blue": 0.2}``; probabilities for every round (round x
        arm, or OBP's round x arm x 1); or a policy of the library, replayed: it learns every reward of the log, batch
        by batch, and its own choices are what is evaluated.
    low, high : float, optional
        Bounds of the rewards. With them the interval of IPS is exact at any time and needs no floor.
    alpha : float
        Chance of ever being wrong that is allowed, for each estimator.
    arms : sequence, optional
        The arms, if some may be missing in the log; with OBP's arrays, 0 to n_actions - 1 by default.
    reward_model : array, optional
        A model's prediction of each arm's reward in each round (round x arm), for DR; by default the arms' past
        means. It must not have learnt from the round itself.
    batch : int, optional
        After how many rows a replayed policy learns; by default a hundredth of the log.
    seed : int
        Of a replayed policy.

    Returns
    -------
    Evaluation
        The estimates with their intervals, or the reason why there is none.

    Raises
    ------
    TypeError
        If no policy is given.
    ValueError
        If the log has no probabilities, or a column or an option has a value that is not accepted.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> arm = rng.integers(0, 2, 4_000)
    >>> log = {"arm": arm, "reward": rng.normal(arm), "probability": np.full(4_000, 0.5)}
    >>> answer = evaluate(log, 1)
    >>> round(answer.value, 2), answer.refusal
    (1.0, '')
    """
    bounds, alpha = bounds_of(low, high), alpha_of(alpha)
    if policy is None and isinstance(log, Mapping) and "action_dist" in log:
        policy = log["action_dist"]
    if policy is None:
        raise TypeError("policy must be an arm, shares, an array of probabilities or a Policy, got None")
    if arms is None and isinstance(log, Mapping) and "action" in log:
        arms = range(_actions(log, policy))
    everything = log_of(log, arms, with_probability=True)
    rows, policy, reward_model = _without_holdout(everything, policy, reward_model)
    if rows.probability is None:
        raise ValueError("the log must have the column probability (or pscore): that with which the arm was chosen")
    check_within(bounds, rows.reward)
    target = target_probabilities(rows, policy, batch, seed)
    weight = target[np.arange(rows.rounds), rows.arm] / rows.probability
    model = past_means(rows) if reward_model is None else table_of("reward_model", reward_model, rows)
    found = _evaluation(rows, target, weight, model, _label(policy), bounds, alpha)
    return replace(found, holdout_rounds=everything.rounds - rows.rounds)


def _without_holdout(log: Log, policy: Any, reward_model: Any) -> tuple[Log, Any, Any]:
    """The rows that were free to get any arm, and of tables of round x arm the same rows."""
    if log.holdout is None:
        return log, policy, reward_model
    kept = ~log.holdout
    if not kept.any():
        raise ValueError("all rows of the log are in the holdout, which always gets the control arm")

    def rows_of(table: Any) -> Any:
        return np.asarray(table)[kept] if np.ndim(table) >= 2 and len(table) == len(kept) else table

    return log.only(kept), rows_of(policy), rows_of(reward_model)


def _actions(log: Mapping[str, Any], policy: Any) -> int:
    if "n_actions" in log:
        return int(log["n_actions"])
    shape = np.shape(policy)
    return int(shape[1]) if len(shape) >= 2 else int(np.max(log["action"])) + 1


def _label(policy: Any) -> str:
    if isinstance(policy, Mapping):
        return "shares of " + ", ".join(f"{100 * share:g} % {name}" for name, share in policy.items())
    return "the policy" if np.ndim(policy) > 1 else f"{policy}"


def _evaluation(
    log: Log, target: Floats, weight: Floats, model: Floats, label: str, bounds: Bounds | None, alpha: float
) -> Evaluation:
    rows = np.arange(log.rounds)
    direct = np.einsum("ta,ta->t", target, model)
    doubly_robust = direct + weight * (log.reward - model[rows, log.arm])
    estimates = (
        _estimate("DR", doubly_robust, alpha),
        _snips(weight, log.reward, alpha),
        _ips(weight, log.reward, bounds, alpha),
        _estimate("gain", doubly_robust - log.reward, alpha),
    )
    played = np.bincount(log.arm, minlength=len(log.names)) > 0
    missing = {
        str(log.names[a]): float(target[:, a].mean()) for a in np.flatnonzero(~played & (target > 0.0).any(axis=0))
    }
    squares = float((weight**2).sum())
    evaluation = Evaluation(
        label, log.rounds, estimates, float(weight.sum()) ** 2 / squares if squares > 0.0 else 0.0, float(weight.max()),
        float(weight.mean()), missing, _refusal(weight, estimates[0], missing), alpha,
    )  # fmt: skip
    return evaluation


def _refusal(weight: Floats, best: Estimate, missing: dict[str, float]) -> str:
    if missing:
        shown = ", ".join(f"{name} ({100 * share:.3g} % of its choices)" for name, share in missing.items())
        return f"it plays arms that the log never does: {shown}"
    fit = arm_intervals(moments_of(weight), DOUBT, None)
    if fit.is_ready[0] and not fit.low[0] <= 1.0 <= fit.high[0]:
        return (
            f"the mean weight is {weight.mean():.4g} where it should be 1, so the logged probabilities are not those "
            "of the choices, or arms had probability 0"
        )
    if best.effective_number < GUARD:
        return (
            f"too few of its choices were made: effective number {best.effective_number:.3g}, of the {GUARD:g} needed; "
            "a log with a floor under all probabilities would tell"
        )
    return ""


def _estimate(name: str, terms: Floats, alpha: float) -> Estimate:
    """The mean of the terms, with the Student mixture over them."""
    moments = moments_of(terms)
    found = arm_intervals(moments, alpha, None)
    return Estimate(
        name, float(terms.mean()), float(found.low[0]), float(found.high[0]),
        _standard_error(moments.rss[0], len(terms)), float(effective_number(moments)[0]), "Student mixture (guarded)",
    )  # fmt: skip


def _standard_error(rss: float, n: int) -> float:
    return math.sqrt(rss / (n - 1) / n) if n > 1 else math.nan


def _ips(weight: Floats, reward: Floats, bounds: Bounds | None, alpha: float) -> Estimate:
    """The mean of w y. With bounds, ends from w (y - low) >= 0 and from w (high - y) >= 0, each at alpha / 2."""
    plain = _estimate("IPS", weight * reward, alpha)
    if bounds is None:
        return plain
    from bootleader.inference import _betting

    width, level = bounds.high - bounds.low, math.log(2.0 / alpha)
    ends = []
    for terms in (weight * (reward - bounds.low) / width, weight * (bounds.high - reward) / width):
        moments = moments_of(terms)
        n, mean, rss = float(len(terms)), float(moments.mean[0]), float(moments.rss[0])
        ends.append(_betting.betting_lower_end(n, mean, _betting.upward_bets(n, mean, rss, False), level))
    return Estimate(
        "IPS", plain.value, bounds.low + width * ends[0], max(bounds.high - width * ends[1], bounds.low),
        plain.standard_error, plain.effective_number, "betting (exact)",
    )  # fmt: skip


def _snips(weight: Floats, reward: Floats, alpha: float) -> Estimate:
    """Sum w y / sum w, with the values v at which w (y - v) is compatible with mean 0."""
    from bootleader.inference import _student_mixture

    total = float(weight.sum())
    if total <= 0.0:
        return Estimate("SNIPS", math.nan, -math.inf, math.inf, math.nan, 0.0, "Student mixture (guarded)")
    value = float((weight * reward).sum() / total)
    terms = weight * (reward - value)
    moments = moments_of(terms)
    n, effective = len(terms), effective_number(moments)
    error = _standard_error(moments.rss[0], n) * n / total
    low, high = -math.inf, math.inf
    if is_known(moments, effective)[0]:
        # Moments of w (y - v) for any v, from those of w (y - value) and w.
        spread, covariance = float(weight.var() * n), float(((weight - weight.mean()) * terms).sum())
        level, c2 = -math.log(alpha), mixture_variance(alpha)

        def is_excluded(v: float) -> bool:
            by = value - v
            rss = float(moments.rss[0]) + 2.0 * by * covariance + by * by * spread
            return bool(_student_mixture.student_log_e(float(n), by * total / n, rss, 0.0, c2) >= level)

        low, high = _end(is_excluded, value, -error), _end(is_excluded, value, error)
    return Estimate("SNIPS", value, low, high, error, float(effective[0]), "Student mixture (guarded)")


def _end(is_excluded: Any, inside: float, step: float) -> float:
    """Where exclusion begins on the side of ``step``."""
    outside = inside + step
    for _ in range(60):
        if is_excluded(outside):
            break
        inside, outside, step = outside, outside + 2.0 * step, 2.0 * step
    else:
        return math.copysign(math.inf, step)
    for _ in range(60):
        middle = 0.5 * (inside + outside)
        if is_excluded(middle):
            outside = middle
        else:
            inside = middle
    return outside
