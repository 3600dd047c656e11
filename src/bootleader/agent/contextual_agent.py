"""The agent that sees a context with every choice: a visitor's device, the hour, the number of visits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import setitem
from typing import Any

import numpy as np

from bootleader._core.printable_text import shown
from bootleader.agent._agent_core import AgentCore
from bootleader.agent._contextual_answers import ContextualAnswers
from bootleader.agent._decisions import Decision
from bootleader.agent._pending_changes import Draft
from bootleader.agent._traffic_choice import final_choice
from bootleader.agent._validation import reward_of

Context = Mapping[str, Any]


class ContextualAgent(ContextualAnswers):
    """An :class:`Agent` with features: every choice and every reward belongs to a context.

    ``Agent(policy, arms, features=Features(...))`` makes one. Each arm has a linear model of its own: the reward is an
    intercept and a coefficient for each number that the features become. With
    ``Features(..., of_arms=True)`` every arm has features of its own, a context is a mapping of arm to features, and
    all arms share one model.

    Parameters
    ----------
    policy : ContextualPolicy
        A contextual policy, such as ``AdaptiveLinReBoot()``.
    arms : list of str, or dict
        As of :class:`Agent`.
    seed : int, optional
        As of :class:`Agent`.
    maximize : bool
        As of :class:`Agent`.
    half_life : float, optional
        As of :class:`Agent`.
    features : Features
        What is known of each choice.
    traffic : Traffic, optional
        As of :class:`Agent`.
    max_open : int
        As of :class:`Agent`.
    max_age : float
        As of :class:`Agent`.
    clock : callable
        As of :class:`Agent`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is described here.

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
            draft, stream, chosen = Draft(self._learner), self._copied_traffic_stream(), []
            for values in every:
                self._look_at(values)
                if self.traffic is None:
                    chosen.append(self._learner.choose(draft))
                else:
                    chosen.append(final_choice(self._learner, draft, self.traffic, None, stream))
                draft.wait_for_pull(chosen[-1])
            self._learner.commit([*draft.stores(), (setitem, self._traffic_stream.states, 0, stream.states[0])])
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
            A value for each feature; with ``of_arms``, those of this arm.

        Raises
        ------
        LookupError
            If there is no such arm.
        TypeError, ValueError
            If the reward is no such number, or the context is not one of the agent's features; nothing changes.
        """
        values, largest = self._of_one_arm(context), self._largest_reward
        if reward.__class__ is not float or not -largest <= reward <= largest:
            reward = reward_of(reward, largest)
        with self._lock:
            self._finish()
            slot = self._slot(arm)
            self._recall(values)
            self._learner.update(slot, reward if self.maximize else -reward)

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
        every = [self._of_one_arm(context) for context in _listed("contexts", contexts)]
        if not len(names) == len(values) == len(every):
            raise ValueError(
                f"arms, rewards and contexts must be equally many, got {len(names)}, {len(values)} and {len(every)}"
            )
        numbers = [reward_of(value, self._largest_reward) for value in values]
        with self._lock:
            self._finish()
            draft = Draft(self._learner)
            for slot, number, context in zip([self._slot(arm) for arm in names], numbers, every, strict=True):
                self._recall(context)
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
        unit : str, optional
            As of :meth:`Agent.decide`.
        arm : str, optional
            As of :meth:`Agent.decide`.
        probability : bool or float
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
        """Not for an agent with contexts: a model needs the features of every reward.

        Parameters
        ----------
        *args, **options
            As of :meth:`Agent.learn_summary`.

        Raises
        ------
        TypeError
            Always: use :meth:`update_many`.
        """
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
            self._learner.commit([*stores, (setattr, self, "features", features), (setattr, self, "_seen", None)])

    def _check_mergeable(self, other: AgentCore, rounds: int) -> None:
        super()._check_mergeable(other, rounds)
        if not isinstance(other, ContextualAgent) or self.features != other.features:
            its = getattr(other, "features", None)
            raise ValueError(f"merge needs agents of the same features, got {shown(self.features)} and {shown(its)}")


def _listed(what: str, values: Any) -> list[Any]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Sequence | np.ndarray):
        raise TypeError(f"{what} must be a list, got {shown(values)}")
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise ValueError(f"{what} must be one-dimensional, got shape {values.shape}")
    return list(values)
