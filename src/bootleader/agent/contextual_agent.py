"""The agent that sees a context with every choice: a visitor's device, the hour, the number of visits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import setitem
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from bootleader._core.linear_rules import LinearRule
from bootleader._core.text import shown
from bootleader.agent._agent_core import AgentCore
from bootleader.agent._contextual_summary import coefficient_table, prediction_table, segment_table
from bootleader.agent._decisions import Decision
from bootleader.agent._final_choice import final_choice
from bootleader.agent._linear_learner import LinearLearner
from bootleader.agent._pending_changes import Draft
from bootleader.agent._probabilities import Probabilities
from bootleader.agent._validation import reward_of
from bootleader.agent.agent import Agent
from bootleader.agent.features import Features, Values

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from bootleader.inference import Verdict

Context = Mapping[str, Any]


class ContextualAgent(Agent):
    """An :class:`Agent` with features: every choice and every reward belongs to a context.

    ``Agent(policy, arms, features=Features(...))`` makes one. Each arm has a linear model of its own: the reward is an
    intercept and a coefficient for each number that the features become.

    Examples
    --------
    >>> from bootleader import AdaptiveLinReBoot, Agent, Features
    >>> features = Features(device=["mobile", "desktop"], visits=float)
    >>> agent = Agent(AdaptiveLinReBoot(), ["short page", "long page"], features=features, seed=7)
    >>> visitor = {"device": "mobile", "visits": 3}
    >>> arm = agent.pull(visitor)
    >>> agent.update(arm, 12.70, visitor)
    >>> decision = agent.decide({"device": "desktop", "visits": 1})
    >>> agent.reward(decision.id, 9.95)
    <Receipt.COUNTED: 'counted'>
    """

    _learner: LinearLearner

    def _set_features(self, features: Features | None) -> None:
        if not isinstance(features, Features):
            raise TypeError(f"features must be Features, such as Features(visits=float), got {shown(features)}")
        self.features = features

    def _new_learner(self) -> LinearLearner:
        rule: LinearRule = self.policy.rule
        self._constant = self.features.intercept and not rule.unit_free
        features = self.features
        return LinearLearner(
            rule, features.dimension + self._constant, not features.intercept, self.seed, self.half_life
        )

    # Contexts ------------------------------------------------------------------------------------------------------

    def _checked(self, context: Any) -> Values:
        if context is None:
            raise TypeError(f"give a context with {', '.join(map(shown, self.features))}: the agent has features")
        return self.features.checked(context)

    def _look_at(self, values: Values) -> None:
        """Let the learner see a checked context."""
        self._learner.look_at(self.features.encoded(values, self._constant))
        self._context = values

    def _recall(self, context: Values) -> None:
        self._learner.look_at(self.features.encoded(context, self._constant))

    # Choose and learn ----------------------------------------------------------------------------------------------

    def pull(self, context: Context | None = None) -> str:
        """Choose the arm to play now, in this context. Its reward goes to :meth:`update`, with the same context.

        Parameters
        ----------
        context : mapping
            A value for each feature.

        Returns
        -------
        str
            The arm's name.

        Raises
        ------
        TypeError, ValueError
            If the context is not one of the agent's features; nothing changes.
        RuntimeError
            If no arm is active.
        """
        values = self._checked(context)
        with self._lock:
            self._finish()
            self._look_at(values)
            return self._names[self._learner.pull()] if self.traffic is None else self._pulled(self.traffic, 1)[0]

    def pull_many(self, contexts: Sequence[Context]) -> list[str]:  # type: ignore[override]
        """Choose an arm for each of these contexts before any of the rewards is known.

        Parameters
        ----------
        contexts : sequence of mappings
            The contexts.

        Returns
        -------
        list of str
            An arm's name for each.
        """
        every = [self._checked(context) for context in _listed("contexts", contexts)]
        with self._lock:
            self._finish()
            if self.traffic is not None and self.traffic.needs_unit:
                self._pulled(self.traffic, 1)  # raises
            draft, coins, chosen = Draft(self._learner), self._copied_coins(), []
            for values in every:
                self._look_at(values)
                if self.traffic is None:
                    chosen.append(self._learner.choose(draft))
                else:
                    chosen.append(final_choice(self._learner, draft, self.traffic, None, coins))
                draft.wait_for_pull(chosen[-1])
            self._learner.commit([*draft.stores(), (setitem, self._coins.states, 0, coins.states[0])])
            return [self._names[slot] for slot in chosen]

    def update(self, arm: str, reward: float, context: Context | None = None) -> None:
        """Learn the reward of an arm in a context, whether the agent chose it or not.

        Parameters
        ----------
        arm : str
            The arm's name.
        reward : float
            Any finite number up to 1e65 in size, or a bool.
        context : mapping
            A value for each feature.

        Raises
        ------
        LookupError
            If there is no such arm.
        TypeError, ValueError
            If the reward is no such number, or the context is not one of the agent's features; nothing changes.
        """
        values, number = self._checked(context), reward_of(reward, self._largest_reward)
        with self._lock:
            self._finish()
            slot = self._slot(arm)
            self._look_at(values)
            self._learner.update(slot, number if self.maximize else -number)

    def update_many(  # type: ignore[override]
        self, arms: Sequence[str], rewards: Sequence[float], contexts: Sequence[Context]
    ) -> None:
        """Learn many rewards at once: all of them, or, if one is bad, none.

        Parameters
        ----------
        arms : sequence of str
            Names of arms.
        rewards : sequence of float
            A reward for each.
        contexts : sequence of mappings
            A context for each.

        Raises
        ------
        LookupError, TypeError, ValueError
            As :meth:`update`; or if they are not equally many.
        """
        names, values = _listed("arms", arms), _listed("rewards", rewards)
        every = [self._checked(context) for context in _listed("contexts", contexts)]
        if not len(names) == len(values) == len(every):
            raise ValueError(
                f"arms, rewards and contexts must be equally many, got {len(names)}, {len(values)} and {len(every)}"
            )
        numbers = [reward_of(value, self._largest_reward) for value in values]
        with self._lock:
            self._finish()
            draft = Draft(self._learner)
            for slot, number, context in zip([self._slot(arm) for arm in names], numbers, every, strict=True):
                self._look_at(context)
                draft.answer_pull(slot)
                self._learner.learn(draft, slot, number if self.maximize else -number)
            self._learner.commit(draft.stores())

    def decide(
        self,
        context: Context | None = None,
        *,
        unit: str | None = None,
        arm: str | None = None,
        probability: bool | float = True,
    ) -> Decision:
        """Choose an arm in this context whose reward comes later, or never; or record a choice made elsewhere.

        Parameters
        ----------
        context : mapping
            A value for each feature. The decision remembers it: :meth:`reward` takes the id alone.
        unit, arm, probability
            As of :meth:`Agent.decide`.

        Returns
        -------
        Decision
            The arm, and an id to report the reward with.

        Raises
        ------
        TypeError, ValueError
            If the context is not one of the agent's features; nothing changes.
        RuntimeError, LookupError
            As :meth:`Agent.decide`.
        """
        values = self._checked(context)
        with self._lock:
            self._finish()
            self._look_at(values)
            return self._decide(unit, arm, probability)

    def learn_summary(self, *args: Any, **options: Any) -> None:
        """Not for an agent with contexts: a model needs the features of every reward."""
        raise TypeError("an agent with contexts learns from rewards with their contexts: use update_many")

    def add_category(self, feature: str, category: str) -> None:
        """Take in a new category of a feature, with a coefficient for every arm that starts at 0.

        Parameters
        ----------
        feature : str
            Name of a feature that has categories.
        category : str
            The new one.

        Raises
        ------
        LookupError
            If there is no such feature.
        TypeError, ValueError
            If it has no categories, or has this one already.
        """
        with self._lock:
            self._finish()
            features, place = self.features.with_category(feature, category)
            stores = self._learner.widening(place)
            self._learner.commit([*stores, (setattr, self, "features", features)])

    def _check_mergeable(self, other: AgentCore, rounds: int) -> None:
        super()._check_mergeable(other, rounds)
        if not isinstance(other, ContextualAgent) or self.features != other.features:
            its = getattr(other, "features", None)
            raise ValueError(f"merge needs agents of the same features, got {shown(self.features)} and {shown(its)}")

    # Answers -------------------------------------------------------------------------------------------------------

    def probabilities(self, context: Context | None = None) -> Probabilities:
        """The probability that each arm is chosen next in a context, by name. Asking changes nothing.

        Parameters
        ----------
        context : mapping
            A value for each feature.

        Returns
        -------
        Probabilities
            Exact: the indices of arms with models of their own are independent.

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
        """Not for an agent with contexts: the arms' plain means belong to different contexts."""
        raise ValueError("the arms of an agent with contexts are compared in a context: see summary(context)")


def _listed(what: str, values: Any) -> list[Any]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Sequence | np.ndarray):
        raise TypeError(f"{what} must be a list, got {shown(values)}")
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise ValueError(f"{what} must be one-dimensional, got shape {values.shape}")
    return list(values)
