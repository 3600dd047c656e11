"""The agent a program embeds: decide, learn, remember, explain."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bootleader._core.validation import positive, seed_of, whole
from bootleader.agent._decisions import DEFAULT_AGE, DEFAULT_LIMIT, Decision, Ledger, Receipt, Settled
from bootleader.agent._learner import ArmState
from bootleader.agent._learner_factory import known_sds, learner_of, sd_of_new_arm
from bootleader.agent._probabilities import Probabilities, choice_probabilities
from bootleader.agent._validation import (
    LARGEST_REWARD,
    arm_name,
    boolean,
    half_life_of,
    metadata_of,
    named_arms,
    reward_of,
)
from bootleader.policies import Policy

if TYPE_CHECKING:
    import pandas as pd


class Agent:
    """A policy at work in a program, on arms with names.

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
    discount : float, optional
        Half-life in rounds, at least 1, for rewards that drift: a reward counts half as much when so many rewards (of
        any arm) have come after it. Index policies only, that is all but Giro and two-point weights. An arm's count
        never fades below the number of rewards that the policy starts an arm with.
    max_open : int
        How many decisions may wait for their reward; when there are more, the oldest are given up. As many rewarded
        ones are remembered, to recognise a second report.
    max_age : float
        How many seconds a decision is remembered.
    clock : callable
        What tells the time in seconds.

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
        discount: float | None = None,
        max_open: int = DEFAULT_LIMIT,
        max_age: float = DEFAULT_AGE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not isinstance(policy, Policy):
            raise TypeError(f"policy must be a policy of the library, such as AdaptiveReBoot(), got {policy!r}")
        metadata = named_arms(arms)
        self.policy = policy
        self.maximize = boolean("maximize", maximize)
        self.discount = None if discount is None else half_life_of(discount)
        self.seed = secrets.randbits(64) if seed is None else seed_of(seed)
        self._learner = learner_of(policy, self.seed, maximize, self.discount)
        self._ledger = Ledger(whole("max_open", max_open, 1), positive("max_age", max_age), clock)
        self._metadata: dict[str, Any] = {}
        self._names: list[str] = []
        self._slots: dict[str, int] = {}
        self._removed: dict[str, None] = {}
        self._chances: Probabilities | None = None
        self._lock = threading.RLock()
        sds = known_sds(policy, len(metadata)) if metadata else []
        for (name, kept), noise_sd in zip(metadata.items(), sds, strict=True):
            self._take_in(name, kept, ArmState(noise_sd=noise_sd))
        self._learner.prepare(len(metadata))

    # Choose and learn ----------------------------------------------------------------------------------------------

    def pull(self) -> str:
        """The arm to play now. Its reward goes to :meth:`update`."""
        with self._lock:
            return self._names[self._learner.choose()]

    def pull_many(self, n: int) -> list[str]:
        """``n`` arms to play before any of their rewards is known.

        Arms that still need their first rewards are shared out over the batch instead of being drawn again and again.
        """
        n = whole("n", n, 0)
        with self._lock:
            return [self._names[slot] for slot in self._learner.choose_many(n)]

    def update(self, arm: str, reward: float) -> None:
        """Learn the reward of an arm, whether the agent chose it or not."""
        if reward.__class__ is not float or not -LARGEST_REWARD <= reward <= LARGEST_REWARD:
            reward = reward_of(reward)
        with self._lock:
            try:
                slot = self._slots[arm]
            except (KeyError, TypeError):
                slot = self._slot(arm)
            self._chances = None
            self._learner.learn(slot, reward if self.maximize else -reward)

    def update_many(self, arms: Sequence[str], rewards: Sequence[float]) -> None:
        """Learn many rewards at once: all of them, or, if one is bad, none."""
        if isinstance(rewards, np.ndarray) and rewards.ndim != 1:
            raise ValueError(f"rewards must be one-dimensional, got shape {rewards.shape}")
        if isinstance(arms, str):
            raise TypeError(f"arms must be a list of names, got {arms!r}")
        if len(arms) != len(rewards):
            raise ValueError(f"arms and rewards must be equally many, got {len(arms)} and {len(rewards)}")
        values = [reward_of(reward) for reward in rewards]
        with self._lock:
            slots = [self._slot(arm) for arm in arms]
            self._chances = None
            for slot, value in zip(slots, values, strict=True):
                self._learner.learn(slot, value if self.maximize else -value)

    def decide(self, *, probability: bool = True) -> Decision:
        """An arm to play now whose reward comes later, or never.

        Parameters
        ----------
        probability : bool
            Whether to work out how probable the choice was. That takes longer than the choice itself: an integral
            for the index policies, and many repeated draws for the history policies.
        """
        boolean("probability", probability)
        with self._lock:
            self._give_up_old()
            chances = self._probabilities() if probability else None
            slot = self._learner.choose()
            arm = self._names[slot]
            if self._learner.arms[slot].count < self._learner.rule.initial_pulls:
                self._chances = None
            self._learner.wait_for(slot)
            decision_id = self._ledger.issue(arm)
            self._give_up_old()
        errors = chances.standard_error if chances is not None else None
        return Decision(
            decision_id, arm, None if chances is None else chances[arm], None if errors is None else errors[arm]
        )

    def reward(self, decision_id: str, value: float) -> Receipt:
        """Report the reward of a decision, in any order, once.

        Returns
        -------
        Receipt
            ``COUNTED``; ``REPEATED`` if the same value was counted before (nothing changes); ``ARM_REMOVED`` if the
            arm had left by the first report (nothing is ever learnt).

        Raises
        ------
        LookupError
            If the decision is unknown or forgotten.
        ValueError
            If another value was reported before.
        """
        number = reward_of(value)
        if not isinstance(decision_id, str):
            raise TypeError(f"decision_id must be the id of a Decision, got {decision_id!r}")
        with self._lock:
            found = self._ledger.find(decision_id)  # what is too old is not dropped here: a refusal changes nothing
            if found is None:
                raise LookupError(self._ledger.why_unknown(decision_id))
            if isinstance(found, Settled):
                return found.reported_again(decision_id, number)
            self._ledger.settle(decision_id, number)
            self._give_up_old()
            if not found.live:
                return Receipt.ARM_REMOVED
            slot = self._slots[found.arm]
            self._chances = None
            self._learner.arms[slot].in_flight -= 1
            self._learner.learn(slot, number if self.maximize else -number)
            return Receipt.COUNTED

    def _give_up_old(self) -> None:
        for arm in self._ledger.expire():
            self._chances = None
            self._learner.give_up_on(self._slots[arm])

    # Arms ----------------------------------------------------------------------------------------------------------

    @property
    def arms(self) -> dict[str, Any]:
        """The arms with their metadata, paused ones included. A copy: nothing done to it reaches the agent."""
        with self._lock:
            return {name: deepcopy(kept) for name, kept in self._metadata.items()}

    @property
    def paused(self) -> list[str]:
        """The arms that are not played at present."""
        with self._lock:
            return [name for name, slot in self._slots.items() if not self._learner.arms[slot].active]

    @property
    def open_decisions(self) -> dict[str, str]:
        """The decisions that wait for a reward: id to arm, oldest first."""
        with self._lock:
            return {decision_id: pending.arm for decision_id, pending in self._ledger.awaited()}

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
        """
        name, metadata = arm_name(name), metadata_of(name, metadata)
        self._learner.prepare(len(self._names) + 1)  # may take seconds, so not under the lock
        with self._lock:
            if name in self._slots:
                raise ValueError(f"arm {name!r} is already here")
            if name in self._removed and not again:
                raise ValueError(f"arm {name!r} was removed: choose another name, or say again=True to start it afresh")
            arm = ArmState(noise_sd=sd_of_new_arm(self.policy, noise_sd))
            self._removed.pop(name, None)
            self._chances = None
            self._take_in(name, metadata, arm)

    def _take_in(self, name: str, metadata: Any, arm: ArmState) -> None:
        self._metadata[name] = metadata
        self._slots[name] = len(self._names)
        self._names.append(name)
        self._learner.add(arm)

    def pause_arm(self, name: str) -> None:
        """Play an arm no more until :meth:`resume_arm`. It still learns rewards that come late."""
        self._set_active(name, False)

    def resume_arm(self, name: str) -> None:
        """Play a paused arm again, with what it knew."""
        self._set_active(name, True)

    def _set_active(self, name: str, active: bool) -> None:
        with self._lock:
            slot = self._slot(name)
            if self._learner.arms[slot].active == active:
                raise ValueError(f"arm {name!r} is {'not paused' if active else 'already paused'}")
            self._chances = None
            self._learner.set_active(slot, active)

    def remove_arm(self, name: str) -> None:
        """Forget an arm for good. Its name is remembered, so that it is not reused by mistake."""
        with self._lock:
            slot = self._slot(name)
            self._chances = None
            self._learner.remove(slot)
            self._ledger.orphan(name)
            self._removed[name] = None
            del self._names[slot], self._metadata[name]
            self._slots = {other: place for place, other in enumerate(self._names)}

    def _slot(self, name: Any) -> int:
        slot = self._slots.get(name) if isinstance(name, str) else None
        if slot is None:
            if isinstance(name, str) and name in self._removed:
                raise LookupError(f"arm {name!r} was removed")
            shown = ", ".join(map(repr, self._names[:10])) + (", ..." if len(self._names) > 10 else "")
            raise LookupError(f"arm must be one of {shown or '(there are none)'}, got {name!r}")
        return slot

    # Explain -------------------------------------------------------------------------------------------------------

    def probabilities(self) -> Probabilities:
        """The probability that each arm is chosen next, by name.

        Exact for the index policies (error below 1e-9 up to 100 arms, below 1e-6 beyond); for the history policies a
        Monte Carlo estimate, with ``method == "monte carlo"`` and ``standard_error``. Asking changes nothing.
        """
        with self._lock:
            return self._probabilities()

    def _probabilities(self) -> Probabilities:
        if self._chances is None:
            self._chances = choice_probabilities(self._learner, self._names)
        return self._chances

    def summary(self) -> pd.DataFrame:
        """A row for each arm: pulls, mean, standard error, probability of being chosen next, share of pulls.

        ``pulls`` counts rewards learnt. With a discount, ``weight`` is what is left of them, and mean and standard
        error are the discounted ones.
        """
        from bootleader.agent._summary import summary_table

        with self._lock:
            chances = self._probabilities() if any(arm.active for arm in self._learner.arms) else None
            return summary_table(self._learner, self._names, chances, self.maximize)

    def __repr__(self) -> str:
        from bootleader.agent._summary import described

        with self._lock:
            return described(self.policy, self._learner, self._names, len(self._ledger.awaited()), self.maximize)

    # Save, restore, merge ------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Everything the agent is, as a JSON document: :meth:`from_json` makes an agent with the same next choices."""
        from bootleader.agent._serialization import written

        with self._lock:
            return written(self)

    @classmethod
    def from_json(
        cls, document: str, *, policies: Iterable[type[Policy]] = (), clock: Callable[[], float] = time.time
    ) -> Self:
        """The agent that a document of :meth:`to_json` describes.

        Parameters
        ----------
        document : str
            The document. One of an unknown version, cut short or changed is refused with ``ValueError``.
        policies : iterable of types, optional
            Policy classes of your own that the document may name.
        clock : callable
            What tells the time in seconds.
        """
        from bootleader.agent._serialization import read

        agent: Self = read(cls, document, tuple(policies), clock)
        return agent

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles and copies go by way of the document, so they go on as a restored agent would."""
        revive = type(self).from_json
        return partial(revive, self.to_json(), policies=(type(self.policy),), clock=self._ledger.clock), ()

    def merge(self, other: Agent) -> None:
        """Take in what another agent has learnt, on other data, with the same policy.

        Counts add up, means and RSS combine by Chan's formula, so the order in which agents are merged does not
        matter. Arms that only the other knows are added, except those that were removed here; an arm that is paused
        here stays paused. The other's open decisions stay with the other.
        """
        if other is self:
            raise ValueError("merge takes another agent, got this one itself, whose rewards would count twice")
        if not isinstance(other, Agent):
            raise TypeError(f"merge takes another Agent, got {other!r}")
        theirs, metadata, rounds = other._learnt()
        self._learner.prepare(len(theirs.keys() | set(self._names)))
        with self._lock:
            for what in ("policy", "maximize", "discount"):
                mine, its = getattr(self, what), getattr(other, what)
                if mine != its:
                    raise ValueError(f"merge needs agents of the same {what}, got {mine!r} and {its!r}")
            self._chances = None
            for name in theirs:
                if name not in self._slots and name not in self._removed:
                    self._take_in(
                        name, metadata[name], ArmState(active=theirs[name].active, noise_sd=theirs[name].noise_sd)
                    )
            known = [(self._slots[name], arm) for name, arm in theirs.items() if name in self._slots]
            self._learner.merge(known, rounds)

    def _learnt(self) -> tuple[dict[str, ArmState], dict[str, Any], int]:
        """What another agent takes in: the arms as of now, their metadata, the number of rounds."""
        with self._lock:
            arms = {name: self._learner.state_now(slot) for name, slot in self._slots.items()}
            return arms, self.arms, self._learner.rounds
