"""The calls of an agent with contexts that explain: probabilities, summary, shares by segment."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from bootleader.agent._contextual_core import ContextualCore
from bootleader.agent._contextual_summary import coefficient_table, prediction_table, segment_table
from bootleader.agent._probabilities import Probabilities

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.figure import Figure

    from bootleader.inference import Verdict

    Context = Mapping[str, Any]


class ContextualAnswers(ContextualCore):
    """What a program asks an agent with contexts."""

    def probabilities(self, context: Context | None = None) -> Probabilities:
        """The probability that each arm is chosen next in a context, by name. Asking changes nothing.

        Parameters
        ----------
        context : mapping
            A value for each feature.

        Returns
        -------
        Probabilities
            Exact where the indices of the arms are independent, as with models of their own. Where arms share
            coefficients (``of_arms``) and a draw of them, as with LinThompson and AdaptiveLinReBoot, a Monte Carlo
            estimate with ``standard_error``.

        Raises
        ------
        TypeError, ValueError
            If the context is not one of the agent's features.
        RuntimeError
            If no arm is active.
        """
        values = self._checked(context)
        with self._lock:
            self._finish()
            self._look_at(values)
            return self._chances().named(self._names)

    def summary(self, context: Context | None = None) -> pd.DataFrame:
        """What every arm's model has learnt; or, in a context, what it predicts.

        Parameters
        ----------
        context : mapping, optional
            A value for each feature.

        Returns
        -------
        DataFrame
            Without a context, a row for each arm and term: ``coefficient`` and its ``standard_error`` (the intercept
            is the mean reward where all features have their first category, False or 0; a category's coefficient is
            its difference from the first one), ``residual_sd`` of the arm's rewards about the model, ``pulls``
            (rewards learnt), ``weight`` (what a half-life has left of them), ``share`` of the pulls, ``open``
            decisions, ``active``. With a context, a row for each arm: the ``predicted`` mean reward there and its
            ``standard_error``, the ``probability`` of being chosen there, and the same other columns.

        Notes
        -----
        Coefficients are shrunk towards 0 by the policy's ridge penalty, and arms are chosen by what was learnt, so
        the standard errors describe the model and are no confidence statements.
        """
        values = None if context is None else self._checked(context)
        with self._lock:
            self._finish()
            if values is None:
                return coefficient_table(self._learner, self._names, self.features, self._constant, self.maximize)
            self._look_at(values)
            chances = self._chances().values if any(arm.active for arm in self._learner.arms) else None
            return prediction_table(self._learner, self._names, chances, self.maximize)

    def shares(self, by: str) -> pd.DataFrame:
        """How often each arm was chosen in each segment, as a share of the segment's rewards.

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
        if self.features.of_arms:
            raise ValueError("with features of arms there are no segments of visitors")
        with self._lock:
            self._finish()
            counts = segment_table(self._learner, self._names, self.features, by)
        return counts.div(counts.sum(axis=1), axis=0)

    def plot_shares(self, by: str, path: str | PathLike[str] | None = None) -> Figure:
        """Draw :meth:`shares`: a bar for each segment, divided by arms.

        Parameters
        ----------
        by : str
            A feature with categories, or a flag.
        path : path, optional
            Write the figure to this file; its ending chooses the format.

        Returns
        -------
        matplotlib.figure.Figure
            The figure. A notebook shows it.
        """
        from bootleader.plots import shown_figure, stacked_shares, write

        table = self.shares(by)
        columns = {name: table[name].tolist() for name in table.columns}
        figure = stacked_shares(columns, list(map(str, table.index)), by, shown_figure if path is None else None)
        if path is not None:
            write(figure, path)
        return figure

    def verdict(self, **options: Any) -> Verdict:
        """Not for an agent with contexts: the arms' plain means belong to different contexts.

        Parameters
        ----------
        **options
            As of :meth:`Agent.verdict`.

        Raises
        ------
        ValueError
            Always: :meth:`summary` with a context compares the arms there.
        """
        raise ValueError("the arms of an agent with contexts are compared in a context: see summary(context)")
