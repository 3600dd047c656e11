"""The calls of an experiment that read its log: summary, verdict, audit, check, export; and folding old events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bootleader.store._decision_audit import Audit
from bootleader.store._experiment_writer import Writer

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from bootleader.agent.agent import Agent
    from bootleader.inference import Verdict
    from bootleader.store._log_check import Check


class LogCalls:
    """What a program asks an experiment."""

    _writer: Writer

    @property
    def open_decisions(self) -> dict[str, str]:
        """The decisions that wait for a reward: id to arm, oldest first. Reads the whole log."""
        log = self.log()
        waiting = log[log["reward"].isna()]
        return dict(zip(waiting["id"], waiting["arm"], strict=True))

    def summary(self, context: Mapping[str, Any] | None = None) -> pd.DataFrame:
        """A row for each arm: what it earned, and how often it is played. Columns as of :meth:`Agent.summary`.

        Parameters
        ----------
        context : mapping, optional
            As of :meth:`ContextualAgent.summary`: what is predicted there. Only if the experiment has features.

        Returns
        -------
        DataFrame
            Without the units in the holdout; ``open`` counts decisions without a reward, theirs too. If the experiment
            has features, a row for each arm and term, with coefficients and standard errors, as of
            :meth:`ContextualAgent.summary`.
        """
        from bootleader.store._tables_and_verdicts import summary

        return summary(self._writer, context)

    def shares(self, by: str) -> pd.DataFrame:
        """How often each arm was chosen in each segment, as :meth:`ContextualAgent.shares`.

        Parameters
        ----------
        by : str
            A feature with categories, or a flag.

        Returns
        -------
        DataFrame
            A row for each segment and a column for each arm; rows sum to 1, or are NaN for a segment without rewards.

        Raises
        ------
        ValueError
            If the feature makes no segments.
        """
        from bootleader.store._tables_and_verdicts import shares

        return shares(self._writer, by)

    def log(self, *, events: bool = False) -> pd.DataFrame:
        """The log as a table.

        Parameters
        ----------
        events : bool
            A row for each event, damaged ones marked, instead of one for each decision.

        Returns
        -------
        DataFrame
            For each decision ``id``, ``time`` (NaT if it is no date), ``arm``, ``probability``, ``reward`` (NaN while
            it is open), ``unit``, ``holdout`` and ``origin``. :func:`bootleader.verdict` and
            :func:`bootleader.evaluate` take those with a reward. If the experiment has features, a column such as
            ``context.device`` for each; with features of arms, those of the chosen arm.
        """
        from bootleader.store._tables_and_verdicts import decisions_table, events_table

        return events_table(self._writer) if events else decisions_table(self._writer)

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
            Bounds that no reward can exceed: the answer is exact then.
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
            From the exact moments of all rewards outside the holdout.

        Raises
        ------
        ValueError
            If the experiment has contexts: the arms' plain means belong to different contexts. If it has a
            half-life: ask :func:`bootleader.verdict` with ``drift=True`` on its log.
        """
        from bootleader.store._tables_and_verdicts import verdict

        asked = {"low": low, "high": high, "alpha": alpha, "control": control, "margin": margin, "unit": unit}
        return verdict(self._writer, asked)

    def holdout_verdict(
        self, *, low: float | None = None, high: float | None = None, alpha: float = 0.05, unit: str = "reward"
    ) -> Verdict:
        """What the bandit brought over the control: the units in the holdout against all others.

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
            From the log; choices that were made elsewhere are on neither side.

        Raises
        ------
        ValueError
            If the experiment has no holdout.
        """
        from bootleader.store._tables_and_verdicts import holdout

        return holdout(self._writer, {"low": low, "high": high, "alpha": alpha, "unit": unit})

    def audit(self, decision_id: str) -> Audit:
        """Compute a decision again, from the events that its process had seen.

        Parameters
        ----------
        decision_id : str
            The ``id`` of a :class:`Decision`.

        Returns
        -------
        Audit
            What was decided, what comes out now, and whether they agree.

        Raises
        ------
        StoreError
            If there is no such decision, or the events it was made from are damaged.
        """
        from bootleader.store._decision_audit import audit

        return audit(self._writer, decision_id)

    def check(self, *, decisions: bool = True) -> Check:
        """Compute everything again from the log, and compare.

        Parameters
        ----------
        decisions : bool
            Whether to audit every decision too, which takes most of the time.

        Returns
        -------
        Check
            What was found; true if all is well.
        """
        from bootleader.store._log_check import check

        return check(self._writer, decisions)

    def fold(self, before: float) -> int:
        """Delete old events; what was learnt from them is kept, exactly, and no later decision changes.

        Kept are decisions without a reward, since one may come, and, for every sticky unit, the decision that first
        gave it its arm, with its reward. The reward of a
        folded decision can no longer be amended, and :meth:`audit` says that it was folded.

        Parameters
        ----------
        before : float
            A time in seconds since 1970: fold what is older.

        Returns
        -------
        int
            Number of events that were deleted.

        Raises
        ------
        TypeError, ValueError
            If ``before`` is no time, or is more than an hour ahead of the clock, as one in milliseconds is.
        """
        from bootleader.store._folding import fold

        return fold(self._writer, before)

    def export(self) -> Agent:
        """The experiment as an agent of one process, with what was learnt and the open decisions.

        Returns
        -------
        Agent
            Whose ``to_json()`` is an agent document.
        """
        from bootleader.store._agent_conversion import exported

        return exported(self._writer)
