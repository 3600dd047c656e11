"""The calls of an agent that explain: probabilities, summary, verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bootleader.agent._agent_core import AgentCore
from bootleader.agent._probabilities import Probabilities

if TYPE_CHECKING:
    import pandas as pd

    from bootleader.inference import Verdict


class AnswerCalls(AgentCore):
    """What a program asks an agent."""

    def probabilities(self) -> Probabilities:
        """The probability that each arm is chosen next, by name. Asking changes nothing.

        With rules of traffic it is the probability of the final choice, for a unit that is outside the holdout and
        has no arm yet.

        Returns
        -------
        Probabilities
            Exact for the index policies (error below 1e-9 up to 100 arms, below 1e-6 beyond); for the history
            policies a Monte Carlo estimate, with ``method == "monte carlo"`` and ``standard_error``.

        Raises
        ------
        RuntimeError
            If no arm is active.
        """
        with self._lock:
            self._finish()
            return self._chances().named(self._names)

    def summary(self) -> pd.DataFrame:
        """A row for each arm: what it earned, and how often it is played.

        Returns
        -------
        DataFrame
            Columns ``pulls`` (rewards learnt), ``weight`` (what a half-life has left of them), ``mean`` and its
            ``standard_error`` (with a half-life, the weighted ones), ``low`` and ``high``, the interval of the true
            mean, ``probability`` of being chosen next, ``share`` of the pulls, ``open`` decisions, ``active``. With a
            holdout also ``holdout_pulls``, ``holdout_mean`` and ``holdout_standard_error``: the rewards of the
            holdout, which are in no other column.

        Notes
        -----
        ``probability`` is the chance of being *chosen next*, not of being best. The means of arms that a policy has
        chosen are biased: an arm that begins badly is played less and cannot recover. The intervals allow for this:
        with 95 % probability none of them ever excludes its mean, however often one looks. They are NaN where there
        is no answer yet, with a half-life, and for policies that keep no fourth moments. :meth:`verdict` compares arms.
        """
        from bootleader.agent._summary import summary_table, with_holdout

        with self._lock:
            self._finish()
            chances = self._chances().values if any(arm.active for arm in self._learner.arms) else None
            table = summary_table(self._learner, self._names, chances, self.maximize, self.half_life is not None)
            return with_holdout(table, self.traffic, self._sides)

    def verdict(
        self,
        *,
        low: float | None = None,
        high: float | None = None,
        alpha: float = 0.05,
        control: str | None = None,
        margin: float | None = None,
        unit: str = "reward",
    ) -> Verdict:
        """Which arm is better, by how much, and may one stop: valid at any time one looks.

        Parameters
        ----------
        low, high : float, optional
            Bounds that no reward can exceed: the answer is exact then. Without them the policy has to keep fourth
            moments, as AdaptiveReBoot does, or a history.
        alpha : float
            Chance of ever giving a wrong answer that is allowed, over all comparisons together.
        control : str, optional
            Compare each arm with this one only.
        margin : float, optional
            Arms that are known to differ by less than this count as the same.
        unit : str
            What a reward is for, such as ``"visit"``; for the sentences.

        Returns
        -------
        Verdict
            As of :func:`bootleader.verdict`.

        Raises
        ------
        ValueError
            If the agent has a half-life, or the policy keeps too little for an answer without bounds.
        """
        from bootleader.agent._verdict_moments import agent_verdict

        options = {"low": low, "high": high, "alpha": alpha, "control": control, "margin": margin, "unit": unit}
        with self._lock:
            self._finish()
            return agent_verdict(self._learner, self._names, self.maximize, self.half_life, options)

    def holdout_verdict(
        self, *, low: float | None = None, high: float | None = None, alpha: float = 0.05, unit: str = "reward"
    ) -> Verdict:
        """What the agent brought over the control: rewards outside the holdout against those inside it.

        Units are in the holdout at random, so the comparison is a randomised one. Choices that were made elsewhere
        are on neither side.

        Parameters
        ----------
        low, high : float, optional
            Bounds that no reward can exceed: the answer is exact then.
        alpha : float
            Chance of ever giving a wrong answer that is allowed.
        unit : str
            What a reward is for, such as ``"visit"``; for the sentences.

        Returns
        -------
        Verdict
            As of :func:`bootleader.verdict`, between "the bandit" and "the control (holdout)".

        Raises
        ------
        ValueError
            If the agent has no holdout.
        """
        from bootleader.agent._verdict_moments import agent_holdout_verdict

        options = {"low": low, "high": high, "alpha": alpha, "unit": unit}
        with self._lock:
            self._finish()
            if not self._sides:
                raise ValueError("there is no holdout: make the agent with traffic=Traffic(holdout=..., control=...)")
            return agent_holdout_verdict(self._sides, self.maximize, options)

    def __repr__(self) -> str:
        from bootleader.agent._summary import described

        with self._lock:
            self._finish()
            return described(self.policy, self._learner, self._names, len(self._ledger.awaited()), self.maximize)
