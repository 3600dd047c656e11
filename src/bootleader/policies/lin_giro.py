"""LinGiro: garbage in, reward out, for linear bandits. A bootstrap of the rows padded with pseudo rewards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.coefficient_rules import CoefficientRule, solve_in_place
from bootleader._core.rng import below
from bootleader._core.validation import positive, whole
from bootleader.policies.contextual import ContextualPolicy, check_pseudo_rewards

MOST_PADDING: Final = 1_000


def draw(params: Any, evidence: Any, m: Any, pulls: Any, drawn: Any, stream: Any) -> Any:
    """Ridge coefficients of n = s(1+2a) draws with replacement from s rows, each with a lows and a highs beside it."""
    sample_rows(params, evidence, m, 0, stream)
    solve_weighted(evidence, m, drawn)
    return 0.0


def sample_rows(params: Any, evidence: Any, m: Any, bare: Any, stream: Any) -> None:
    """Sample a model's padded rows, the first ``bare`` of which have no pseudo rewards, with replacement."""
    times, totals = evidence.times, evidence.totals
    s, kinds, d = int(evidence.models.count[m]), 1 + 2 * int(params[0]), evidence.rows.shape[1] - 1
    bare = min(bare, s)
    size = bare + (s - bare) * kinds
    for i in range(s):
        times[i] = 0.0
        totals[i] = 0.0
    for _ in range(size):
        i, kind = int(below(stream, size)), 0
        if i >= bare:
            kind = (i - bare) % kinds
            i = bare + (i - bare) // kinds
        reward = params[1 + kind % 2]
        if kind == 0:
            reward = evidence.rows[evidence.places[m, i], d]
        times[i] += 1.0
        totals[i] += reward


def solve_weighted(evidence: Any, m: Any, drawn: Any) -> None:
    """Ridge coefficients of a model's rows, which occur ``times`` and have ``totals`` of rewards."""
    gram, target, times, totals = evidence.gram, evidence.target, evidence.times, evidence.totals
    d = drawn.shape[0]
    for j in range(d):
        target[j] = 0.0
        for i in range(j):
            gram[j, i] = 0.0
        gram[j, j] = evidence.models.ridge[m, j]
    for i in range(int(evidence.models.count[m])):
        if times[i] > 0.0:
            row, weight, total = evidence.rows[evidence.places[m, i]], times[i], totals[i]
            for j in range(d):
                target[j] += total * row[j]
                scaled = weight * row[j]
                for k in range(j + 1):
                    gram[j, k] += scaled * row[k]
    solve_in_place(gram, target, drawn)


@dataclass(frozen=True, repr=False)
class LinGiro(ContextualPolicy):
    r"""Fit the coefficients to a bootstrap sample of the rows and of pseudo rewards beside them.

    Every reward comes with ``a`` pseudo rewards ``low`` and ``a`` pseudo rewards ``high`` at the same features. In
    every round n = s(1+2a) rows are drawn with replacement from the n rows of a model with s rewards, and

    .. math:: \tilde\theta = \Bigl(\lambda I + \sum x x'\Bigr)^{-1} \sum y x

    over the sample gives the index :math:`x'\tilde\theta`: one sample for all arms if they share coefficients, one for
    each otherwise. Every arm is pulled once first.

    A round takes time in proportion to the rewards so far, and all rows are kept. So the policy is simulated only: an
    agent, whose state must not grow, does not play it.

    Parameters
    ----------
    a : int
        Pseudo rewards of each kind per reward.
    low, high : float
        The two pseudo rewards; made for rewards between them.
    lam : float
        Ridge penalty, above 0.

    Raises
    ------
    ValueError
        If ``a`` is not a whole number from 0 to 1,000, ``lam`` not finite and above 0, or ``low`` and ``high`` are not
        finite numbers with ``low`` below ``high``.

    Examples
    --------
    >>> LinGiro(a=2, low=-1.0)
    LinGiro(a=2, low=-1.0)
    """

    a: int = 1
    low: float = 0.0
    high: float = 1.0
    lam: float = 1.0
    reference: ClassVar[str] = (
        "Kveton, Szepesvári, Vaswani, Wen, Ghavamzadeh, Lattimore (2019). Garbage in, reward out. ICML. Its linear "
        "form: Wu, Wang, Li, Cheng (2022). UAI."
    )

    def __post_init__(self) -> None:
        whole("a", self.a, 0, MOST_PADDING, f"from 0 to {MOST_PADDING:,}")
        check_pseudo_rewards(self.low, self.high)
        positive("lam", self.lam)

    @property
    def rule(self) -> CoefficientRule:
        params = (float(self.a), float(self.low), float(self.high))
        return CoefficientRule(draw, params, ridge=float(self.lam), initial_pulls=1, history=True)
