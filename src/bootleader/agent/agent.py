"""The agent a program embeds: decide, learn, remember, explain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bootleader._core.printable_text import shown
from bootleader._core.validation import positive, whole
from bootleader.agent._agent_decisions import AgentDecisions
from bootleader.agent._answer_calls import AnswerCalls
from bootleader.agent._arm_calls import ArmCalls
from bootleader.agent._decisions import (
    DEFAULT_AGE,
    DEFAULT_LIMIT,
    Decision,
    Ledger,
    Receipt,
    steady_clock,
)
from bootleader.agent._document_calls import DocumentCalls
from bootleader.agent._pending_changes import Draft
from bootleader.agent._validation import (
    boolean,
    named_arms,
    no_features,
    probability_elsewhere,
    reward_of,
    summary_of,
)
from bootleader.agent.features import Features
from bootleader.agent.traffic import Traffic, unit_of
from bootleader.policies import ContextualPolicy, Policy


def wrong_policy(policy: Any) -> TypeError:
    """The error for a policy that an agent does not play, with or without features."""
    if isinstance(policy, ContextualPolicy):
        return TypeError(f"{policy!r} needs contexts: give features=, such as Features(visits=float)")
    if isinstance(policy, Policy):
        return TypeError(f"{policy!r} sees no contexts: with features= play AdaptiveLinReBoot() or another such policy")
    return TypeError(f"policy must be a policy of the library, such as AdaptiveReBoot(), got {shown(policy)}")


class Agent(AgentDecisions, ArmCalls, AnswerCalls, DocumentCalls):
    """A policy at work in a program, on arms with names.

    It may be used from many threads. Every call either happens or does not: an exception that interrupts one, at
    whatever line, leaves the agent as it was before the call or as it is after it.

    Parameters
    ----------
    policy : Policy
        A policy of the library, such as ``AdaptiveReBoot()``, that remembers the arms' moments or rewards and nothing
        else.
    arms : list of str, or dict
        The arms' names; as a dict, with metadata (plain JSON data) that the agent keeps but does not read. With very
        many of them (512, or 192 with Student laws) the agent compiles some code here, once on a machine.
    seed : int, optional
        Fixes every choice. Without it the agent draws a seed of its own.
    maximize : bool
        Whether rewards are gains (True) or costs.
    half_life : float, optional
        In rounds, at least 1, for rewards that drift: a reward counts half as much when so many rewards (of any arm)
        have come after it. Index policies only, that is all but Giro and two-point weights. An arm's count never
        fades below the number of its initial pulls.
    features : Features, optional
        What is known of each choice, for a contextual policy such as ``AdaptiveLinReBoot()``. The agent is then a
        :class:`ContextualAgent`: :meth:`pull`, :meth:`update` and :meth:`decide` take a context.
    traffic : Traffic, optional
        Rules that decide together with the policy: a floor, a holdout, sticky units, a ramp for new arms.
    max_open : int
        How many decisions may wait for their reward; when there are more, the oldest are given up. As many rewarded
        ones are remembered, to recognise a second report, and as many sticky units.
    max_age : float
        How many seconds a decision is remembered; a sticky unit, after its latest decision.
    clock : callable
        Returns the time in seconds, which ages of decisions are measured by. The default does not jump when the wall
        clock is set. A step back of any clock counts as no time.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is described here.

    Examples
    --------
    >>> from bootleader import AdaptiveReBoot
    >>> agent = Agent(AdaptiveReBoot(), arms=["blue", "green", "red"], seed=7)
    >>> arm = agent.pull()
    >>> agent.update(arm, 12.70)
    >>> decision = agent.decide()
    >>> decision.probability
    0.3333333333333333
    >>> agent.reward(decision.id, 9.95)
    <Receipt.COUNTED: 'counted'>
    """

    def __init__(
        self,
        policy: Policy | ContextualPolicy,
        arms: Iterable[str] | Mapping[str, Any],
        *,
        seed: int | None = None,
        maximize: bool = True,
        half_life: float | None = None,
        features: Features | None = None,
        traffic: Traffic | None = None,
        max_open: int = DEFAULT_LIMIT,
        max_age: float = DEFAULT_AGE,
        clock: Callable[[], float] = steady_clock,
    ) -> None:
        if features is not None and type(self) is Agent:
            from bootleader.agent.contextual_agent import ContextualAgent

            self.__class__ = ContextualAgent  # one name for both kinds, and one signature
        if not isinstance(policy, ContextualPolicy if features is not None else Policy):
            raise wrong_policy(policy)
        self._set_features(features)
        ledger = Ledger(whole("max_open", max_open, 1), positive("max_age", max_age), clock)
        super().__init__(policy, named_arms(arms), seed, maximize, half_life, ledger, traffic)

    def _set_features(self, features: Features | None) -> None:
        if features is not None:
            raise TypeError("a subclass of Agent takes no features: make one of ContextualAgent")

    # Choose and learn ----------------------------------------------------------------------------------------------

    def pull(self, context: Mapping[str, Any] | None = None) -> str:
        """Choose the arm to play now. Its reward goes to :meth:`update`.

        An arm that lacks its first rewards is not chosen again while they may be on their way. An :meth:`update` of the
        arm answers its oldest pull. A pull that has no answer after 100 rewards (or as many as there are arms, if
        those are more) is given up, and the arm is tried again.

        Parameters
        ----------
        context : mapping, optional
            Only for an agent with features: see :class:`ContextualAgent`.

        Returns
        -------
        str
            The arm's name.

        Raises
        ------
        RuntimeError
            If no arm is active.
        ValueError
            If the agent's traffic has a holdout or sticky units: a choice then needs a unit, see :meth:`decide`. If
            there is a context and the agent has no features.
        """
        if context is not None:
            raise no_features(context)
        with self._lock:
            learner = self._learner
            if learner.pending is not None:
                learner.finish()
            return self._names[learner.pull()] if self.traffic is None else self._pulled(self.traffic, 1)[0]

    def pull_many(self, n: int) -> list[str]:
        """Choose ``n`` arms to play before any of their rewards is known.

        Arms that still need their first rewards are shared out over the batch instead of being drawn again and again.
        The pulls wait for their answers like those of :meth:`pull`.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        list of str
            The arms' names, in the order in which they were chosen.
        """
        n = whole("n", n, 0)
        with self._lock:
            self._finish()
            if self.traffic is not None:
                return self._pulled(self.traffic, n)
            return [self._names[slot] for slot in self._learner.pull_many(n)]

    def update(self, arm: str, reward: float, context: Mapping[str, Any] | None = None) -> None:
        """Learn the reward of an arm, whether the agent chose it or not.

        Parameters
        ----------
        arm : str
            The arm's name.
        reward : float
            Any finite number up to 1e100 in size, or a bool; up to 1e65 with AdaptiveReBoot, which sums fourth powers.
            Within the policy's ``reward_range`` if it has one, such as 0 to 1 with KLUCB.
        context : mapping, optional
            The context that the arm was chosen in, if the agent has features.

        Raises
        ------
        LookupError
            If there is no such arm.
        TypeError, ValueError
            If the reward is no such number.
        """
        if context is not None:
            raise no_features(context)
        low, high = self._accepted
        if reward.__class__ is not float or not low <= reward <= high:
            reward = reward_of(reward, self._largest_reward, self._learner.reward_range)
        with self._lock:
            learner = self._learner
            if learner.pending is not None:
                learner.finish()
            try:
                slot = self._slots[arm]
            except (KeyError, TypeError):
                slot = self._slot(arm)
            learner.update(slot, reward if self.maximize else -reward)

    def update_many(self, arms: Sequence[str], rewards: Sequence[float]) -> None:
        """Learn many rewards at once: all of them, or, if one is bad, none.

        Parameters
        ----------
        arms : sequence of str
            Names of arms.
        rewards : sequence of float
            A reward for each.

        Raises
        ------
        LookupError, TypeError, ValueError
            As :meth:`update`; or if there are not as many rewards as arms.
        """
        if isinstance(rewards, np.ndarray) and rewards.ndim != 1:
            raise ValueError(f"rewards must be one-dimensional, got shape {rewards.shape}")
        if isinstance(arms, str):
            raise TypeError(f"arms must be a list of names, got {shown(arms)}")
        if len(arms) != len(rewards):
            raise ValueError(f"arms and rewards must be equally many, got {len(arms)} and {len(rewards)}")
        largest, accepted = self._largest_reward, self._learner.reward_range
        values = [reward_of(reward, largest, accepted) for reward in rewards]
        with self._lock:
            self._finish()
            draft = Draft(self._learner)
            for slot, value in zip([self._slot(arm) for arm in arms], values, strict=True):
                draft.answer_pull(slot)
                self._learner.learn(draft, slot, value if self.maximize else -value)
            self._learner.commit(draft.stores())

    def decide(
        self,
        context: Mapping[str, Any] | None = None,
        *,
        unit: str | None = None,
        arm: str | None = None,
        probability: bool | float = True,
    ) -> Decision:
        """Choose an arm to play now whose reward comes later, or never; or record a choice that was made elsewhere.

        Parameters
        ----------
        context : mapping, optional
            A value for each feature, if the agent has features. The decision remembers it.
        unit : str, optional
            The unit that the choice is for, such as a visitor's id. Needed if the agent's traffic has a holdout or
            sticky units; not read otherwise.
        arm : str, optional
            An arm that was chosen elsewhere: by an editor, a rule, an older system. Its reward is learnt. It does not
            change the arm of a sticky unit and is on neither side of :meth:`holdout_verdict`.
        probability : bool or float
            Whether to compute how probable the choice was. That takes longer than the choice itself: an integral
            for the index policies, and many repeated draws for the history policies. With ``arm``, the probability of
            the choice made elsewhere, or False if it is not known.

        Returns
        -------
        Decision
            The arm, and an id to report the reward with.

        Raises
        ------
        RuntimeError
            If no arm is active.
        LookupError
            If ``arm`` is given and there is no such arm.
        ValueError
            If a unit is needed and not given, or ``arm`` comes without a probability.
        """
        if context is not None:
            raise no_features(context)
        return self._decide(unit, arm, probability)

    def _decide(self, unit: Any, arm: Any, probability: Any) -> Decision:
        if unit is not None:
            unit = unit_of(unit)
        if arm is not None:
            elsewhere = probability_elsewhere(probability)
            with self._lock:
                self._finish()
                return self._recorded(arm, elsewhere)
        if unit is None and self.traffic is not None and self.traffic.needs_unit:
            raise ValueError(
                "give decide a unit, such as a visitor's id: the agent's traffic has a holdout or is sticky"
            )
        if probability is not True and probability is not False:
            boolean("probability", probability)
        with self._lock:
            if self._learner.pending is not None:
                self._learner.finish()
            return self._decided(unit, bool(probability))

    def reward(self, decision_id: str, value: float) -> Receipt:
        """Report the reward of a decision, in any order, once.

        Parameters
        ----------
        decision_id : str
            The ``id`` of a :class:`Decision`.
        value : float
            The reward.

        Returns
        -------
        Receipt
            ``COUNTED``; ``REPEATED`` if the same value was counted before (nothing changes); ``ARM_REMOVED`` if the
            arm had left by the first report (nothing is ever learnt).

        Raises
        ------
        LookupError
            If the decision is unknown or forgotten.
        TypeError
            If ``decision_id`` is not a str, or ``value`` is not a number.
        ValueError
            If another value was reported before, or the policy takes no such reward.
        """
        low, high = self._accepted
        if value.__class__ is not float or not low <= value <= high:
            value = reward_of(value, self._largest_reward, self._learner.reward_range)
        if not isinstance(decision_id, str):
            raise TypeError(f"decision_id must be the id of a Decision, got {shown(decision_id)}")
        with self._lock:
            if self._learner.pending is not None:
                self._learner.finish()
            return self._rewarded(decision_id, value)

    def learn_summary(self, arm: str, count: int, mean: float, sd: float, *, kurtosis: float = 3.0) -> None:
        """Learn many rewards of an arm of which only the moments are known: a warm start from a warehouse.

        The agent is then as if it had learnt such rewards one by one.

        Parameters
        ----------
        arm : str
            The arm's name.
        count : int
            Number of rewards.
        mean, sd : float
            Their mean and sample standard deviation (``ddof=1``; 0 for one reward).
        kurtosis : float
            Their fourth central moment over the squared variance, for policies that keep it, such as AdaptiveReBoot: 3
            for normal rewards. Rare rewards have more; where a share ``p`` of visits brings one unit it is
            ``1 / (p * (1 - p)) - 3``.

        Raises
        ------
        LookupError
            If there is no such arm.
        TypeError, ValueError
            If a number is not what is described here, the policy takes no rewards of this mean, or it keeps every
            reward.

        Examples
        --------
        >>> from bootleader import AdaptiveReBoot
        >>> agent = Agent(AdaptiveReBoot(), ["old", "new"], seed=1)
        >>> agent.learn_summary("old", count=20_000, mean=1.31, sd=4.2, kurtosis=30.0)
        >>> agent.summary()["pulls"].to_dict()
        {'old': 20000, 'new': 0}
        """
        summary = summary_of(count, mean, sd, kurtosis, self._largest_reward)
        with self._lock:
            self._finish()
            self._learn_summary(arm, summary)
