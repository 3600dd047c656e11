"""What an agent is made of and how its calls change it, without the lock; the public calls are in agent.py.

A public call takes the lock, finishes what an interrupted call committed (``_finish``), and calls one method of this
class, which computes all changes in a draft and commits them at once. See :mod:`bootleader.agent._atomic_commit`.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from operator import setitem
from typing import Any

from bootleader._core.text import shown
from bootleader._core.validation import seed_of
from bootleader.agent._arm_state import ArmState
from bootleader.agent._atomic_commit import Store
from bootleader.agent._decisions import Decision, Ledger, Receipt, RewardedDecision
from bootleader.agent._learner_factory import known_sds, learner_of
from bootleader.agent._pending_changes import Draft
from bootleader.agent._probabilities import Probabilities, choice_probabilities
from bootleader.agent._validation import MOST_REWARDS, boolean, half_life_of
from bootleader.policies import Discounted, Policy


class AgentCore:
    """A learner, a ledger of decisions, and the arms' names."""

    def __init__(
        self,
        policy: Policy,
        metadata: Mapping[str, Any],
        seed: int | None,
        maximize: bool,
        half_life: float | None,
        ledger: Ledger,
    ) -> None:
        if isinstance(policy, Discounted):
            if half_life is not None:
                raise ValueError(f"give half_life once: {policy!r} has one, got half_life={half_life!r} too")
            half_life, policy = policy.half_life, policy.policy
        self.policy = policy
        self.maximize = boolean("maximize", maximize)
        self.half_life = None if half_life is None else half_life_of(half_life)
        self.seed = secrets.randbits(64) if seed is None else seed_of(seed)
        self._learner = learner_of(policy, self.seed, maximize, self.half_life)
        self._largest_reward = self._learner.largest_reward
        self._ledger = ledger
        self._metadata: dict[str, Any] = {}
        self._names: list[str] = []
        self._slots: dict[str, int] = {}
        self._removed: dict[str, None] = {}
        self._cached: tuple[int, Probabilities] | None = None  # the version they were computed at, and probabilities
        self._lock = threading.RLock()
        sds = known_sds(policy, len(metadata)) if metadata else []
        self._learner.prepare(len(metadata))
        draft = Draft(self._learner)
        states = [ArmState(noise_sd=noise_sd) for noise_sd in sds]
        stores = self._adding(draft, dict(zip(metadata, states, strict=True)), metadata)
        self._learner.commit(draft.stores() + stores)

    def _finish(self) -> None:
        """Finish what an interrupted call has committed."""
        if self._learner.pending is not None:
            self._learner.finish()

    def _probabilities(self) -> Probabilities:
        """The probabilities of the next choice, computed once for each version of the learner."""
        version = self._learner.version
        if self._cached is None or self._cached[0] != version:
            self._cached = (version, choice_probabilities(self._learner, self._names))
        return self._cached[1]

    # Decisions -----------------------------------------------------------------------------------------------------

    def _decided(self, probability: bool) -> Decision:
        """Choose an arm and remember the decision."""
        learner, ledger = self._learner, self._ledger
        now = ledger.now()
        if ledger.due(ledger.open, now):
            draft = Draft(learner)
            learner.commit(self._giving_up(draft, now) + draft.stores())
        chances = self._probabilities() if probability else None
        draft = Draft(learner)
        slot = learner.choose(draft)
        draft.wait_for(slot)
        arm, decision_id = self._names[slot], ledger.next_id()
        stores = self._giving_up(draft, now, opened=1) + ledger.issuing(decision_id, arm, now)
        learner.commit(stores + draft.stores())
        errors = chances.standard_error if chances is not None else None
        return Decision(
            decision_id, arm, None if chances is None else chances[arm], None if errors is None else errors[arm]
        )

    def _rewarded(self, decision_id: str, number: float) -> Receipt:
        """Learn the reward of a decision."""
        learner, ledger = self._learner, self._ledger
        now = ledger.now()
        found = ledger.find(decision_id, now)
        if found is None:
            raise LookupError(ledger.why_unknown(decision_id))
        if isinstance(found, RewardedDecision):
            return found.reported_again(decision_id, number)
        draft = Draft(learner)
        stores = ledger.rewarding(decision_id, number, now) + self._giving_up(draft, now, rewarded=1)
        if found.live:
            slot = self._slots[found.arm]
            draft.arm(slot).in_flight -= 1
            learner.learn(draft, slot, number if self.maximize else -number)
        learner.commit(stores + draft.stores())
        return Receipt.COUNTED if found.live else Receipt.ARM_REMOVED

    def _giving_up(self, draft: Draft, now: float, *, opened: int = 0, rewarded: int = 0) -> list[Store]:
        """What forgets decisions that are too old, or too many when so many are opened or rewarded."""
        ledger = self._ledger
        ids = ledger.due(ledger.open, now, opened - rewarded)
        for decision in map(ledger.open.__getitem__, ids):
            if decision.live:
                draft.give_up_on(self._slots[decision.arm])
        forgotten = ledger.due(ledger.rewarded, now, rewarded)
        if not ids and not forgotten:  # nearly always
            return []
        return ledger.forgetting(ledger.open, ids) + ledger.forgetting(ledger.rewarded, forgotten)

    # Arms ----------------------------------------------------------------------------------------------------------

    def _adding(self, draft: Draft, arms: Mapping[str, ArmState], metadata: Mapping[str, Any]) -> list[Store]:
        """What takes in new arms."""
        first = len(self._names)
        stores: list[Store] = [(setitem, self._names, slice(first, None), list(arms))]
        for name, arm in arms.items():
            slot = self._learner.add(draft, arm)
            stores += [(setitem, self._metadata, name, metadata[name]), (setitem, self._slots, name, slot)]
            stores.append((dict.pop, self._removed, name, None))
        return stores

    def _set_active(self, name: str, active: bool) -> None:
        """Pause an arm or resume it."""
        slot = self._slot(name)
        if self._learner.arms[slot].active == active:
            raise ValueError(f"arm {shown(name)} is {'not paused' if active else 'already paused'}")
        draft = Draft(self._learner)
        self._learner.set_active(draft, slot, active)
        self._learner.commit(draft.stores())

    def _remove(self, slot: int) -> None:
        """Forget an arm but for its name."""
        name = self._names[slot]
        names = self._names[:slot] + self._names[slot + 1 :]
        stores = self._learner.removal(slot) + self._ledger.orphaning(name)
        stores += [
            (setattr, self, "_names", names),
            (setattr, self, "_slots", {other: place for place, other in enumerate(names)}),
            (dict.pop, self._metadata, name, None),
            (setitem, self._removed, name, None),
        ]
        self._learner.commit(stores)

    def _slot(self, name: Any) -> int:
        """The place of an arm, or ``LookupError``."""
        slot = self._slots.get(name) if isinstance(name, str) else None
        if slot is None:
            if isinstance(name, str) and name in self._removed:
                raise LookupError(f"arm {shown(name)} was removed")
            known = ", ".join(map(shown, self._names[:10])) + (", ..." if len(self._names) > 10 else "")
            raise LookupError(f"arm must be one of {known or '(there are none)'}, got {shown(name)}")
        return slot

    # Merging -------------------------------------------------------------------------------------------------------

    def _check_mergeable(self, other: AgentCore, rounds: int) -> None:
        """Raise unless another agent's rewards may be added to this one's."""
        for what in ("policy", "maximize", "half_life"):
            mine, its = getattr(self, what), getattr(other, what)
            if mine != its:
                raise ValueError(f"merge needs agents of the same {what}, got {shown(mine)} and {shown(its)}")
        if self._learner.rounds + rounds > MOST_REWARDS:
            raise ValueError(f"an agent learns at most 2**53 rewards, got {self._learner.rounds} and {rounds}")

    def _merge(self, theirs: Mapping[str, ArmState], metadata: Mapping[str, Any], rounds: int) -> None:
        """Add another agent's statistics to this one's."""
        fresh = {
            name: ArmState(active=arm.active, noise_sd=arm.noise_sd)
            for name, arm in theirs.items()
            if name not in self._slots and name not in self._removed
        }
        draft = Draft(self._learner)
        stores = self._adding(draft, fresh, metadata)
        slots = {**self._slots, **{name: len(self._names) + place for place, name in enumerate(fresh)}}
        known = [(slots[name], arm) for name, arm in theirs.items() if name in slots]
        self._learner.merge(draft, known, rounds)
        self._learner.commit(draft.stores() + stores)
