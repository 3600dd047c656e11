"""The agent a program embeds: decide, learn, remember, explain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bootleader._core.text import shown
from bootleader._core.validation import positive, whole
from bootleader.agent._agent_core import AgentCore
from bootleader.agent._arm_state import ArmState
from bootleader.agent._decisions import (
    DEFAULT_AGE,
    DEFAULT_LIMIT,
    Decision,
    Ledger,
    Receipt,
    steady_clock,
)
from bootleader.agent._learner_factory import sd_of_new_arm
from bootleader.agent._pending_changes import Draft
from bootleader.agent._probabilities import Probabilities
from bootleader.agent._validation import (
    LARGEST_DOCUMENT,
    arm_name,
    boolean,
    metadata_of,
    named_arms,
    reward_of,
)
from bootleader.policies import Policy

if TYPE_CHECKING:
    import pandas as pd

    from bootleader.inference import Verdict


class Agent(AgentCore):
    """A policy at work in a program, on arms with names.

    It may be used from many threads. Every call either happens or does not: an exception that interrupts one, at
    whatever line, leaves the agent as it was before the call or as it is after it.

    Parameters
    ----------
    policy : Policy
        Any policy of the library, such as ``AdaptiveReBoot()``.
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
    max_open : int
        How many decisions may wait for their reward; when there are more, the oldest are given up. As many rewarded
        ones are remembered, to recognise a second report.
    max_age : float
        How many seconds a decision is remembered.
    clock : callable
        Returns the time in seconds, which ages of decisions are measured by. The default does not jump when the wall
        clock is set. Of any clock: where it goes back, time stands still.

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
        policy: Policy,
        arms: Iterable[str] | Mapping[str, Any],
        *,
        seed: int | None = None,
        maximize: bool = True,
        half_life: float | None = None,
        max_open: int = DEFAULT_LIMIT,
        max_age: float = DEFAULT_AGE,
        clock: Callable[[], float] = steady_clock,
    ) -> None:
        if not isinstance(policy, Policy):
            raise TypeError(f"policy must be a policy of the library, such as AdaptiveReBoot(), got {shown(policy)}")
        ledger = Ledger(whole("max_open", max_open, 1), positive("max_age", max_age), clock)
        super().__init__(policy, named_arms(arms), seed, maximize, half_life, ledger)

    # Choose and learn ----------------------------------------------------------------------------------------------

    def pull(self) -> str:
        """Choose the arm to play now. Its reward goes to :meth:`update`.

        Returns
        -------
        str
            The arm's name.

        Raises
        ------
        RuntimeError
            If no arm is active.
        """
        with self._lock:
            learner = self._learner
            if learner.pending is not None:
                learner.finish()
            return self._names[learner.pull()]

    def pull_many(self, n: int) -> list[str]:
        """Choose ``n`` arms to play before any of their rewards is known.

        Arms that still need their first rewards are shared out over the batch instead of being drawn again and again.

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
            return [self._names[slot] for slot in self._learner.pull_many(n)]

    def update(self, arm: str, reward: float) -> None:
        """Learn the reward of an arm, whether the agent chose it or not.

        Parameters
        ----------
        arm : str
            The arm's name.
        reward : float
            Any finite number up to 1e100 in size, or a bool; up to 1e65 with AdaptiveReBoot, which sums fourth powers.

        Raises
        ------
        LookupError
            If there is no such arm.
        TypeError, ValueError
            If the reward is no such number.
        """
        largest = self._largest_reward
        if reward.__class__ is not float or not -largest <= reward <= largest:
            reward = reward_of(reward, largest)
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
        values = [reward_of(reward, self._largest_reward) for reward in rewards]
        with self._lock:
            self._finish()
            draft = Draft(self._learner)
            for slot, value in zip([self._slot(arm) for arm in arms], values, strict=True):
                self._learner.learn(draft, slot, value if self.maximize else -value)
            self._learner.commit(draft.stores())

    def decide(self, *, probability: bool = True) -> Decision:
        """Choose an arm to play now whose reward comes later, or never.

        Parameters
        ----------
        probability : bool
            Whether to compute how probable the choice was. That takes longer than the choice itself: an integral
            for the index policies, and many repeated draws for the history policies.

        Returns
        -------
        Decision
            The arm, and an id to report the reward with.

        Raises
        ------
        RuntimeError
            If no arm is active.
        """
        boolean("probability", probability)
        with self._lock:
            self._finish()
            return self._decided(probability)

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
            If another value was reported before.
        """
        number = reward_of(value, self._largest_reward)
        if not isinstance(decision_id, str):
            raise TypeError(f"decision_id must be the id of a Decision, got {shown(decision_id)}")
        with self._lock:
            self._finish()
            return self._rewarded(decision_id, number)

    # Arms ----------------------------------------------------------------------------------------------------------

    @property
    def arms(self) -> dict[str, Any]:
        """The arms with their metadata, paused ones included. A copy: nothing done to it reaches the agent."""
        with self._lock:
            self._finish()
            return {name: deepcopy(kept) for name, kept in self._metadata.items()}

    @property
    def paused(self) -> list[str]:
        """The arms that are not played at present."""
        with self._lock:
            self._finish()
            return [name for name, slot in self._slots.items() if not self._learner.arms[slot].active]

    @property
    def open_decisions(self) -> dict[str, str]:
        """The decisions that wait for a reward: id to arm, oldest first."""
        with self._lock:
            self._finish()
            return {decision_id: decision.arm for decision_id, decision in self._ledger.awaited()}

    def add_arm(self, name: str, metadata: Any = None, *, again: bool = False, noise_sd: float | None = None) -> None:
        """Take in a new arm, which is then explored as the policy explores a new arm.

        Parameters
        ----------
        name : str
            A name that no arm has or had.
        metadata : optional
            Plain JSON data to keep with it.
        again : bool
            Allow the name of a removed arm. Nothing of that arm is remembered; what was decided for it does not
            count for the new one.
        noise_sd : float, optional
            For ``ThompsonSampling`` that was given one noise sd per arm: the new arm's.

        Raises
        ------
        ValueError
            If the name is in use, or was and ``again`` is not given.
        """
        name, metadata = arm_name(name), metadata_of(name, metadata)
        self._learner.prepare(len(self._names) + 1)  # may take seconds, so not under the lock
        with self._lock:
            self._finish()
            if name in self._slots:
                raise ValueError(f"arm {shown(name)} is already here")
            if name in self._removed and not again:
                raise ValueError(
                    f"arm {shown(name)} was removed: choose another name, or say again=True to start it afresh"
                )
            draft, arm = Draft(self._learner), ArmState(noise_sd=sd_of_new_arm(self.policy, noise_sd))
            stores = self._adding(draft, {name: arm}, {name: metadata})
            self._learner.commit(draft.stores() + stores)

    def pause_arm(self, name: str) -> None:
        """Play an arm no more until :meth:`resume_arm`. It still learns rewards that come late.

        Parameters
        ----------
        name : str
            The arm's name.
        """
        with self._lock:
            self._finish()
            self._set_active(name, False)

    def resume_arm(self, name: str) -> None:
        """Play a paused arm again, with what it knew.

        Parameters
        ----------
        name : str
            The arm's name.
        """
        with self._lock:
            self._finish()
            self._set_active(name, True)

    def remove_arm(self, name: str) -> None:
        """Forget an arm for good. Its name is remembered, so that it is not reused by mistake.

        Parameters
        ----------
        name : str
            The arm's name.
        """
        with self._lock:
            self._finish()
            self._remove(self._slot(name))

    # Explain -------------------------------------------------------------------------------------------------------

    def probabilities(self) -> Probabilities:
        """The probability that each arm is chosen next, by name. Asking changes nothing.

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
            return self._probabilities()

    def summary(self) -> pd.DataFrame:
        """A row for each arm: what it earned, and how often it is played.

        Returns
        -------
        DataFrame
            Columns ``pulls`` (rewards learnt), ``weight`` (what a half-life has left of them), ``mean`` and its
            ``standard_error`` (with a half-life, the weighted ones), ``low`` and ``high``, the interval of the true
            mean, ``probability`` of being chosen next, ``share`` of the pulls, ``open`` decisions, ``active``.

        Notes
        -----
        ``probability`` is the chance of being *chosen next*, not of being best. The means of arms that a policy has
        chosen are biased: an arm that begins badly is played less and cannot recover. The intervals allow for this:
        with 95 % probability none of them ever excludes its mean, however often one looks. They are NaN where there
        is no answer yet, with a half-life, and for policies that keep no fourth moments. :meth:`verdict` compares arms.
        """
        from bootleader.agent._summary import summary_table

        with self._lock:
            self._finish()
            chances = self._probabilities() if any(arm.active for arm in self._learner.arms) else None
            return summary_table(self._learner, self._names, chances, self.maximize, self.half_life is not None)

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
        from bootleader.agent._arm_moments import agent_verdict

        options = {"low": low, "high": high, "alpha": alpha, "control": control, "margin": margin, "unit": unit}
        with self._lock:
            self._finish()
            return agent_verdict(self._learner, self._names, self.maximize, self.half_life, options)

    def __repr__(self) -> str:
        from bootleader.agent._summary import described

        with self._lock:
            self._finish()
            return described(self.policy, self._learner, self._names, len(self._ledger.awaited()), self.maximize)

    # Save, restore, merge ------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Everything the agent is, as a JSON document: :meth:`from_json` makes an agent with the same next choices.

        Returns
        -------
        str
            The document.
        """
        from bootleader.agent._serialization import written

        with self._lock:
            self._finish()
            return written(self)

    @classmethod
    def from_json(
        cls,
        document: str | bytes,
        *,
        policies: Iterable[type[Policy]] = (),
        clock: Callable[[], float] = steady_clock,
        max_size: int = LARGEST_DOCUMENT,
    ) -> Self:
        """The agent that a document of :meth:`to_json` describes.

        Parameters
        ----------
        document : str or bytes
            The document. Its checksum finds accidents, not forgeries: see SECURITY.md.
        policies : iterable of types, optional
            Policy classes of your own that the document may name.
        clock : callable
            As of the agent.
        max_size : int
            Largest number of characters of a document that is read at all.

        Returns
        -------
        Agent
            With the saved agent's next choices, bit for bit.

        Raises
        ------
        ValueError
            If the document is of an unknown version, cut short, changed, too large or contradicts itself.
        """
        from bootleader.agent._serialization import read

        agent: Self = read(cls, document, tuple(policies), clock, whole("max_size", max_size, 1))
        return agent

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles and copies go by way of the document, so they go on as a restored agent would."""
        document = self.to_json()
        options: dict[str, Any] = {
            "policies": (type(self.policy),),
            "clock": self._ledger.clock,
            "max_size": max(1, len(document)),
        }
        return partial(type(self).from_json, document, **options), ()

    def merge(self, other: Agent) -> None:
        """Take in what another agent has learnt, on other data, with the same policy.

        Counts add up, other moments combine by the formulas of Chan and Pebay, so the order in which agents are merged
        does not matter. Arms that only the other knows are added, except those that were removed here; an arm that is
        paused here stays paused. The other's open decisions stay with the other.

        Parameters
        ----------
        other : Agent
            Of the same policy, ``maximize`` and ``half_life``. It stays as it is.

        Raises
        ------
        TypeError
            If the other is not an agent.
        ValueError
            If the two do not go together.
        """
        if other is self:
            raise ValueError("merge takes another agent, got this one itself, whose rewards would count twice")
        if not isinstance(other, Agent):
            raise TypeError(f"merge takes another Agent, got {shown(other)}")
        theirs, metadata, rounds = other._learnt()
        self._learner.prepare(len(theirs.keys() | set(self._names)))
        with self._lock:
            self._finish()
            self._check_mergeable(other, rounds)
            self._merge(theirs, metadata, rounds)

    def _learnt(self) -> tuple[dict[str, ArmState], dict[str, Any], int]:
        """What another agent takes in: the arms as of now, their metadata, the number of rounds."""
        with self._lock:
            self._finish()
            arms = {name: self._learner.state_now(slot) for name, slot in self._slots.items()}
            return arms, self.arms, self._learner.rounds
