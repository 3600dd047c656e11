"""One experiment of a store: what a program calls."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from bootleader._core.moments import LARGEST_FOURTH_POWER
from bootleader._core.text import shown
from bootleader._core.validation import counted, real
from bootleader.agent._decisions import Decision, Receipt
from bootleader.agent._learner_factory import sd_of_new_arm
from bootleader.agent._probabilities import Probabilities
from bootleader.agent._validation import arm_name, metadata_of, summary_of
from bootleader.agent.traffic import Traffic, unit_of
from bootleader.policies import Policy
from bootleader.store._audit import Audit
from bootleader.store._events import Kind
from bootleader.store._rewards import checked_id, checked_value
from bootleader.store._state import State
from bootleader.store._writer import Writer

if TYPE_CHECKING:
    import pandas as pd

    from bootleader.agent.agent import Agent
    from bootleader.inference import Verdict
    from bootleader.store._bulk import BulkReceipt
    from bootleader.store._check import Check


class Experiment:
    """An experiment in a store, which many processes and threads use at the same time.

    It is made by :meth:`Store.create` and :meth:`Store.open`. Every call is durable before it returns, and raises
    :class:`StoreError` if the database could not do it.

    Attributes
    ----------
    name : str
        The name in the store.
    policy : Policy
        Who chooses.
    traffic : Traffic or None
        The rules beside the policy.
    maximize : bool
        Whether larger rewards are better.
    half_life : float or None
        In rounds.

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
    policy: Policy
    traffic: Traffic | None
    maximize: bool
    half_life: float | None

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        settings = writer.settings
        self.name, self.policy, self.traffic = writer.found.name, settings.policy, settings.traffic
        self.maximize, self.half_life = settings.maximize, settings.half_life

    def __repr__(self) -> str:
        return f"Experiment({self.name!r}, {self.policy!r}, {counted(len(self.arms), 'arm')})"

    # Decisions -----------------------------------------------------------------------------------------------------

    def decide(self, unit: str | None = None, *, arm: str | None = None, probability: float | None = None) -> Decision:
        """Choose an arm for a unit, with all that is in the log by now.

        Parameters
        ----------
        unit : str, optional
            Whom it is for, such as a visitor's id. Needed if traffic is sticky or has a holdout.
        arm : str, optional
            Record a choice that was made elsewhere: this arm. Its reward is learnt like any other.
        probability : float, optional
            With ``arm``: the probability of that choice, if it is known.

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
            unit = checked_id("unit", unit_of(unit), 1000)
        elif self.traffic is not None and self.traffic.needs_unit and arm is None:
            raise ValueError("unit must be given: traffic is sticky or has a holdout")
        if arm is not None:
            if probability is not None:
                probability = real("probability", probability, "above 0 and at most 1", low=0.0, high=1.0)
            return self._writer.record(unit, arm_name(arm), probability)
        if probability is not None:
            raise ValueError(f"probability is that of a choice made elsewhere: give arm too, got {probability!r}")
        return self._writer.decide(unit)

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

    def probabilities(self) -> Probabilities:
        """The probability that each active arm is chosen next, outside the holdout, traffic included.

        Returns
        -------
        Probabilities
            By name; 0 for paused arms.
        """
        writer = self._writer
        with writer.lock:
            replica = writer.replica()
            arms, chances = replica.chooser.final(float(writer.clock()))
            found = dict.fromkeys((arm.name for arm in replica.state.playing), 0.0)
            found.update({arm.name: chance for arm, chance in zip(arms, chances, strict=True)})
            return Probabilities(found)

    # Rewards -------------------------------------------------------------------------------------------------------

    def reward(self, decision_id: str, value: float, *, event: str | None = None) -> Receipt:
        """Report the reward of a decision, from any process, at any time.

        Parameters
        ----------
        decision_id : str
            The ``id`` of a :class:`Decision`.
        value : float
            Any finite number up to 1e65 in size, or a bool.
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
        """
        return self._change(decision_id, Kind.REWARD, checked_value(value), event)

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
        from bootleader.store._bulk import checked_rewards, reward_many

        return reward_many(self._writer, checked_rewards(rewards))

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
        """
        return self._change(decision_id, Kind.AMENDMENT, checked_value(value), event)

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
        """
        return self._change(decision_id, Kind.ADDITION, checked_value(value), event)

    def withdraw(self, decision_id: str, *, event: str | None = None) -> Receipt:
        """Take a reward back, as if it had never come; :meth:`amend` can give the decision another one.

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
        """
        return self._change(decision_id, Kind.WITHDRAWAL, None, event)

    def _change(self, decision_id: str, kind: Kind, value: float | None, event: str | None) -> Receipt:
        if not isinstance(decision_id, str):
            raise TypeError(f"decision_id must be the id of a Decision, got {shown(decision_id)}")
        return self._writer.change(decision_id, kind, value, None if event is None else checked_id("event", event))

    def learn_summary(self, arm: str, count: int, mean: float, sd: float, *, kurtosis: float = 3.0) -> None:
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

        Raises
        ------
        StoreError
            If there is no such arm.
        ValueError
            If a number is not what is described here, or the policy keeps every reward.
        """
        number, average, rss, fourth = summary_of(count, mean, sd, kurtosis, LARGEST_FOURTH_POWER)
        if self._writer.settings.keeps_history:
            raise ValueError(
                f"learn_summary needs a policy that keeps moments only; {self.policy!r} keeps every reward"
            )
        learnt = [number, [], float(number), average + 0.0, rss, 0.0, fourth]

        def change(state: State) -> dict[str, Any]:
            return {"change": "learn_summary", "number": number, "learnt": [[state.named(arm).number, *learnt]]}

        self._writer.alter(change)

    # Arms ----------------------------------------------------------------------------------------------------------

    @property
    def arms(self) -> dict[str, Any]:
        """The arms with their metadata, paused ones included."""
        with self._writer.lock:
            return {arm.name: deepcopy(arm.metadata) for arm in self._writer.replica().state.playing}

    @property
    def paused(self) -> list[str]:
        """The arms that are not played at present."""
        with self._writer.lock:
            return [arm.name for arm in self._writer.replica().state.playing if not arm.active]

    @property
    def open_decisions(self) -> dict[str, str]:
        """The decisions that wait for a reward: id to arm, oldest first. Reads the whole log."""
        log = self.log()
        waiting = log[log["reward"].isna()]
        return dict(zip(waiting["id"], waiting["arm"], strict=True))

    def add_arm(self, name: str, metadata: Any = None, *, again: bool = False, noise_sd: float | None = None) -> None:
        """Take in a new arm, for all processes.

        Parameters
        ----------
        name : str
            A name that no arm has or had.
        metadata : optional
            Plain JSON data to keep with it.
        again : bool
            Allow the name of a removed arm, which starts afresh.
        noise_sd : float, optional
            For ``ThompsonSampling`` that was given one noise sd per arm: the new arm's.

        Raises
        ------
        ValueError
            If the name is in use, or was and ``again`` is not given.
        """
        name, metadata = arm_name(name), metadata_of(name, metadata)
        sd = sd_of_new_arm(self.policy, noise_sd)

        def change(state: State) -> dict[str, Any]:
            if any(arm.name == name for arm in state.playing):
                raise ValueError(f"arm {shown(name)} is already here")
            if not again and any(arm.name == name for arm in state.arms):
                raise ValueError(
                    f"arm {shown(name)} was removed: choose another name, or say again=True to start it afresh"
                )
            self._writer.check_floor(state, 1)
            return {"change": "add_arm", "arms": [{"name": name, "metadata": metadata, "noise_sd": sd}]}

        self._writer.alter(change)

    def pause_arm(self, name: str) -> None:
        """Play an arm no more until :meth:`resume_arm`. It still learns rewards that come late.

        Parameters
        ----------
        name : str
            The arm's name.
        """
        self._set_active(name, False)

    def resume_arm(self, name: str) -> None:
        """Play a paused arm again, with what it knew.

        Parameters
        ----------
        name : str
            The arm's name.
        """
        self._set_active(name, True)

    def _set_active(self, name: str, active: bool) -> None:
        def change(state: State) -> dict[str, Any]:
            arm = state.named(name)
            if arm.active == active:
                raise ValueError(f"arm {shown(name)} is {'not paused' if active else 'already paused'}")
            self._writer.check_floor(state, 1 if active else -1)
            return {"change": "resume_arm" if active else "pause_arm", "arm": arm.number}

        self._writer.alter(change)

    def remove_arm(self, name: str) -> None:
        """Forget an arm for good; what was decided for it stays in the log.

        Parameters
        ----------
        name : str
            The arm's name.
        """

        def change(state: State) -> dict[str, Any]:
            arm = state.named(name)
            self._writer.check_control(arm)
            return {"change": "remove_arm", "arm": arm.number}

        self._writer.alter(change)

    # Reports -------------------------------------------------------------------------------------------------------

    def summary(self) -> pd.DataFrame:
        """A row for each arm: what it earned, and how often it is played. Columns as of :meth:`Agent.summary`.

        Returns
        -------
        DataFrame
            Without the units in the holdout; ``open`` counts decisions without a reward.
        """
        from bootleader.store._reports import summary

        return summary(self._writer)

    def log(self, *, events: bool = False) -> pd.DataFrame:
        """The log as a table.

        Parameters
        ----------
        events : bool
            A row for each event, damaged ones marked, instead of one for each decision.

        Returns
        -------
        DataFrame
            For each decision ``id``, ``time``, ``arm``, ``probability``, ``reward`` (NaN while it is open), ``unit``,
            ``holdout`` and ``origin``; :func:`bootleader.verdict` and :func:`bootleader.evaluate` take those with a
            reward.
        """
        from bootleader.store._reports import decisions_table, events_table

        return events_table(self._writer) if events else decisions_table(self._writer)

    def verdict(self, **options: Any) -> Verdict:
        """Which arm is better, by how much, and may one stop: valid at any time one looks.

        Parameters
        ----------
        **options
            ``low``, ``high``, ``alpha``, ``control``, ``margin`` and ``unit`` as of :func:`bootleader.verdict`.

        Returns
        -------
        Verdict
            From the exact moments of all rewards outside the holdout.

        Raises
        ------
        ValueError
            If the experiment has a half-life: ask :func:`bootleader.verdict` with ``drift=True`` on its log.
        """
        from bootleader.store._reports import verdict

        return verdict(self._writer, options)

    def holdout_verdict(self, **options: Any) -> Verdict:
        """What the bandit brought over the control: the units in the holdout against all others.

        Parameters
        ----------
        **options
            ``low``, ``high``, ``alpha`` and ``unit`` as of :func:`bootleader.verdict`.

        Returns
        -------
        Verdict
            From the log; choices that were made elsewhere are on neither side.
        """
        from bootleader.store._reports import holdout

        return holdout(self._writer, options)

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
        from bootleader.store._audit import audit

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
        from bootleader.store._check import check

        return check(self._writer, decisions)

    def fold(self, before: float) -> int:
        """Delete old events; what was learnt from them is kept, exactly, and no later decision changes.

        Kept are decisions without a reward, since one may come, and what sticky units were given. The reward of a
        folded decision can no longer be amended, and :meth:`audit` says that it was folded.

        Parameters
        ----------
        before : float
            A time in seconds since 1970: fold what is older.

        Returns
        -------
        int
            Number of events that were deleted.
        """
        from bootleader.store._retention import fold

        return fold(self._writer, real("before", before, "a time in seconds"))

    def export(self) -> Agent:
        """The experiment as an agent of one process, with what was learnt and the open decisions.

        Returns
        -------
        Agent
            Whose ``to_json()`` is an agent document.
        """
        from bootleader.store._agents import exported

        return exported(self._writer)
