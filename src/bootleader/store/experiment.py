"""One experiment of a store: what a program calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from bootleader._core.moments import LARGEST_FOURTH_POWER
from bootleader._core.printable_text import shown
from bootleader.agent._decisions import Decision, Receipt
from bootleader.agent._probabilities import Probabilities
from bootleader.agent._validation import arm_name, check_range, probability_elsewhere, summary_of
from bootleader.agent.features import Features
from bootleader.agent.traffic import Traffic, unit_of
from bootleader.policies import Policy
from bootleader.policies.contextual import ContextualPolicy
from bootleader.store._arm_calls import ArmCalls
from bootleader.store._events import Kind
from bootleader.store._experiment_writer import Writer
from bootleader.store._log_calls import LogCalls
from bootleader.store._rewards import LONGEST_UNIT, checked_id, checked_value
from bootleader.store._state import State

if TYPE_CHECKING:
    from bootleader.store._many_rewards import BulkReceipt


class Experiment(ArmCalls, LogCalls):
    """An experiment in a store, which many processes and threads use at the same time.

    It is made by :meth:`Store.create` and :meth:`Store.open`. Every call is durable before it returns, and raises
    :class:`StoreError` if the database could not do it.

    Attributes
    ----------
    name : str
        The name in the store.
    policy : Policy
        What chooses the arm.
    traffic : Traffic or None
        The rules beside the policy.
    maximize : bool
        Whether larger rewards are better.
    half_life : float or None
        In rounds.
    features : Features or None
        What a context has, with the categories that were added.

    Examples
    --------
    >>> import bootleader as bl
    >>> store = bl.Store("sqlite://")
    >>> button = store.create("button", bl.AdaptiveReBoot(), arms=["blue", "green"], seed=1)
    >>> decision = button.decide(unit="visitor-17")
    >>> button.reward(decision.id, 45.0, event="order-991")
    <Receipt.COUNTED: 'counted'>
    >>> button.reward(decision.id, 45.0, event="order-991")
    <Receipt.REPEATED: 'already counted'>
    >>> button.amend(decision.id, 0.0, event="refund-12")
    <Receipt.COUNTED: 'counted'>
    >>> button.audit(decision.id).agrees
    True
    """

    name: str
    policy: Policy | ContextualPolicy
    traffic: Traffic | None
    maximize: bool
    half_life: float | None

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        settings = writer.settings
        self.name, self.policy, self.traffic = writer.found.name, settings.policy, settings.traffic
        self.maximize, self.half_life = settings.maximize, settings.half_life

    @property
    def features(self) -> Features | None:
        """What a context has, with the categories that were added; None without contexts."""
        if self._writer.settings.features is None:
            return None
        with self._writer.lock:
            return self._writer.replica().state.features

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "an experiment of a store cannot be copied or pickled: open it by its name in the other process, "
            f"Store(url).open({self.name!r})"
        )

    def __repr__(self) -> str:
        return f"Experiment({self.name!r}, {self.policy!r})"

    # Decisions -----------------------------------------------------------------------------------------------------

    def decide(
        self,
        unit: str | None = None,
        *,
        context: Mapping[str, Any] | None = None,
        arm: str | None = None,
        probability: float | Literal[False] | None = None,
    ) -> Decision:
        """Choose an arm for a unit, from all that is in the log by now.

        Where other processes append while this one decides, it may lack what came in the last ``max_lag`` seconds: see
        :class:`Store`.

        Parameters
        ----------
        unit : str, optional
            Whom it is for, such as a visitor's id. Needed if traffic is sticky or has a holdout.
        context : mapping, optional
            A value for each feature, if the experiment has features; with features of arms, a mapping of arm to
            features. It is logged with the decision: :meth:`reward` takes the id alone.
        arm : str, optional
            Record a choice that was made elsewhere: this arm. Its reward is learnt like any other.
        probability : float, optional
            With ``arm``: the probability of that choice; None or False, as with an agent, if it is not known.

        Returns
        -------
        Decision
            Its id, arm and probability; it is in the log.

        Raises
        ------
        StoreError
            If there is no such arm or no active one, the experiment was removed, or the database does not answer.
        TypeError, ValueError
            If an argument is not what is described here.
        """
        if unit is not None:
            if isinstance(unit, Mapping):
                raise TypeError(f"give the context by its name, decide(context=...), got {shown(unit)} as the unit")
            unit = checked_id("unit", unit_of(unit), LONGEST_UNIT)
        elif self.traffic is not None and self.traffic.needs_unit and arm is None:
            raise ValueError("unit must be given: traffic is sticky or has a holdout")
        if arm is not None:
            known = None if probability is None else probability_elsewhere(probability)
            return self._writer.record(unit, arm_name(arm), known, context)
        if probability is not None:
            raise ValueError(f"probability is that of a choice made elsewhere: give arm too, got {probability!r}")
        return self._writer.decide(unit, context)

    async def adecide(self, unit: str | None = None, **options: Any) -> Decision:
        """Choose an arm without blocking the event loop: :meth:`decide` in a thread.

        Parameters
        ----------
        unit : str, optional
            As of :meth:`decide`.
        **options
            As of :meth:`decide`.

        Returns
        -------
        Decision
            As of :meth:`decide`.
        """
        import asyncio

        return await asyncio.to_thread(self.decide, unit, **options)

    def probabilities(self, context: Mapping[str, Any] | None = None) -> Probabilities:
        """The probability that each active arm is chosen next, outside the holdout, traffic included.

        Parameters
        ----------
        context : mapping, optional
            As of :meth:`decide`.

        Returns
        -------
        Probabilities
            By name; 0 for paused arms. For policies that keep every reward a Monte Carlo estimate, as of
            :meth:`Agent.probabilities`.

        Raises
        ------
        StoreError
            If no arm is active.
        TypeError, ValueError
            If the context is not one that the experiment takes.
        """
        writer = self._writer
        with writer.lock:
            replica, now = writer.replica(), writer.clock()
            replica.chooser.look_at(writer.checked_context(replica.state, context), now)
            final, names = replica.chooser.final(now), [arm.name for arm in replica.state.playing]
            active = [arm.name for arm in final.arms]
            chances = dict.fromkeys(names, 0.0) | dict(zip(active, final.chances, strict=True))
            if final.errors is None:
                return Probabilities(chances)
            return Probabilities(chances, dict.fromkeys(names, 0.0) | dict(zip(active, final.errors, strict=True)))

    # Rewards -------------------------------------------------------------------------------------------------------

    def reward(self, decision_id: str, value: float, *, event: str | None = None) -> Receipt:
        """Report the reward of a decision, from any process, at any time.

        Parameters
        ----------
        decision_id : str
            The ``id`` of a :class:`Decision`.
        value : float
            Any finite number up to 1e65 in size, or a bool; from 0 to 1 for policies that take no others.
        event : str, optional
            The caller's id of the event, such as an order's number. A second delivery changes nothing.

        Returns
        -------
        Receipt
            ``COUNTED``; ``REPEATED`` if it was counted before; ``ARM_REMOVED`` if the arm has left: nothing is learnt.

        Raises
        ------
        StoreError
            With reason ``"unknown"`` if there is no such decision, ``"conflict"`` if it has another reward.
        TypeError, ValueError
            If the value is no such number; nothing is written.
        """
        return self._change(decision_id, Kind.REWARD, self._accepted(value), event)

    def reward_many(self, rewards: Iterable[tuple[str, float, str | None] | tuple[str, float]]) -> BulkReceipt:
        """Report many rewards at once: all of them, or, if one is refused, none.

        Parameters
        ----------
        rewards : iterable of tuples
            Decision's id, value and, if there is one, event id.

        Returns
        -------
        BulkReceipt
            How many were counted, and how many had been counted before.

        Raises
        ------
        StoreError
            As of :meth:`reward`; the message names the place of the reward.
        TypeError, ValueError
            If one of them is not what is described here.
        """
        from bootleader.store._many_rewards import checked_rewards, reward_many

        return reward_many(self._writer, checked_rewards(rewards, self._writer.settings.reward_range))

    def amend(self, decision_id: str, value: float, *, event: str | None = None) -> Receipt:
        """Replace the reward of a decision; the last amendment counts, and every version stays in the log.

        Parameters
        ----------
        decision_id : str
            The ``id`` of a :class:`Decision`.
        value : float
            The new reward.
        event : str, optional
            As of :meth:`reward`.

        Returns
        -------
        Receipt
            As of :meth:`reward`.

        Raises
        ------
        StoreError
            If the decision is unknown, or the event id was used for something else.
        TypeError, ValueError
            If the value is not a number that the policy takes.
        """
        return self._change(decision_id, Kind.AMENDMENT, self._accepted(value), event)

    def add(self, decision_id: str, value: float, *, event: str | None = None) -> Receipt:
        """Add to the reward of a decision: rewards that come in parts, refunds.

        Parameters
        ----------
        decision_id : str
            The ``id`` of a :class:`Decision`.
        value : float
            What comes to the reward so far; the first part is the reward.
        event : str, optional
            As of :meth:`reward`. Without it, a second delivery would count twice.

        Returns
        -------
        Receipt
            As of :meth:`reward`.

        Raises
        ------
        StoreError
            If the decision is unknown, or the event id was used for something else.
        TypeError, ValueError
            If the value is not a number, or the sum is one that the policy does not take.
        """
        return self._change(decision_id, Kind.ADDITION, checked_value(value), event)

    def withdraw(self, decision_id: str, *, event: str | None = None) -> Receipt:
        """Take a reward back, as if it had never come; :meth:`amend` can give the decision another one.

        With a half-life, the round that it took remains: the rewards before it do not become younger.

        Parameters
        ----------
        decision_id : str
            The ``id`` of a :class:`Decision`.
        event : str, optional
            As of :meth:`reward`.

        Returns
        -------
        Receipt
            As of :meth:`reward`.

        Raises
        ------
        StoreError
            If the decision is unknown or has no reward, or the event id was used for something else.
        """
        return self._change(decision_id, Kind.WITHDRAWAL, None, event)

    def _accepted(self, value: Any) -> float:
        return checked_value(value, self._writer.settings.reward_range)

    def _change(self, decision_id: str, kind: Kind, value: float | None, event: str | None) -> Receipt:
        if not isinstance(decision_id, str):
            raise TypeError(f"decision_id must be the id of a Decision, got {shown(decision_id)}")
        event_id = None if event is None else checked_id("event", event)
        return self._writer.append_outcome(decision_id, kind, value, event_id)

    def learn_summary(
        self, arm: str, count: int, mean: float, sd: float, *, kurtosis: float = 3.0, event: str | None = None
    ) -> Receipt:
        """Learn many rewards of an arm of which only the moments are known: a warm start from a warehouse.

        Parameters
        ----------
        arm : str
            The arm's name.
        count : int
            Number of rewards.
        mean, sd : float
            Their mean and sample standard deviation (``ddof=1``; 0 for one reward).
        kurtosis : float
            As of :meth:`Agent.learn_summary`.
        event : str, optional
            The caller's id of the summary, such as ``"warehouse-2026-06"``. A second delivery changes nothing.

        Returns
        -------
        Receipt
            ``COUNTED``, or ``REPEATED`` if this event had been counted before.

        Raises
        ------
        StoreError
            If there is no such arm, or the event id was used for something else.
        TypeError
            If the experiment has contexts: a model needs the features of every reward.
        ValueError
            If a number is not what is described here, or the policy keeps every reward.
        """
        if self._writer.settings.features is not None:
            raise TypeError(
                "an experiment with contexts learns from rewards with their contexts: record the choices with "
                "decide(context=..., arm=...) and reward them"
            )
        number, average, rss, fourth = summary_of(count, mean, sd, kurtosis, LARGEST_FOURTH_POWER)
        if self._writer.settings.keeps_history:
            raise ValueError(
                f"learn_summary needs a policy that keeps moments only; {self.policy!r} keeps every reward"
            )
        check_range(average, *self._writer.settings.reward_range, what="mean")
        learnt = [number, [], float(number), average + 0.0, rss, 0.0, fourth]
        event_id = None if event is None else checked_id("event", event)

        def change(state: State) -> dict[str, Any]:
            return {"change": "learn_summary", "number": number, "learnt": [[state.named(arm).number, *learnt]]}

        return self._writer.append_change(change, event_id)
