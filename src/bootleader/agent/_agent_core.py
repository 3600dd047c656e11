"""What an agent is made of, without the lock: its parts, its arms, and merging. The public calls are in agent.py.

A public call takes the lock, finishes what an interrupted call committed (``_finish``), and calls one method of this
class, which computes all changes in a draft and commits them at once. See :mod:`bootleader.agent._atomic_commit`.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping, Sequence
from operator import setitem
from typing import Any

from bootleader._core.moments import LARGEST_FOURTH_POWER
from bootleader._core.printable_text import shown
from bootleader._core.validation import seed_of
from bootleader.agent._arm_state import ArmState
from bootleader.agent._atomic_commit import Store
from bootleader.agent._decisions import Ledger
from bootleader.agent._learner import Learner
from bootleader.agent._learner_factory import known_sds, learner_of
from bootleader.agent._pending_changes import Draft
from bootleader.agent._probabilities import Chances, choice_chances
from bootleader.agent._traffic_choice import final_chances, traffic_stream
from bootleader.agent._validation import MOST_REWARDS, boolean, half_life_of
from bootleader.agent.traffic import Traffic
from bootleader.policies import Discounted


class AgentCore:
    """A learner, a ledger of decisions, and the arms' names."""

    _context: Any = None  # of the present call, where there are contexts

    def __init__(
        self,
        policy: Any,
        metadata: Mapping[str, Any],
        seed: int | None,
        maximize: bool,
        half_life: float | None,
        ledger: Ledger,
        traffic: Traffic | None,
    ) -> None:
        if isinstance(policy, Discounted):
            if half_life is not None:
                raise ValueError(f"give half_life once: {policy!r} has one, got half_life={half_life!r} too")
            half_life, policy = policy.half_life, policy.policy
        self.policy = policy
        self.maximize = boolean("maximize", maximize)
        self.half_life = None if half_life is None else half_life_of(half_life)
        self.seed = secrets.randbits(64) if seed is None else seed_of(seed)
        self._learner = self._new_learner()
        self._largest_reward = self._learner.largest_reward
        self._ledger = ledger
        self._metadata: dict[str, Any] = {}
        self._names: list[str] = []
        self._slots: dict[str, int] = {}
        self._removed: dict[str, None] = {}
        # Probabilities of the policy's choice and of the final one, with the version that they were computed at.
        self._policy_chances: tuple[int, Chances] | None = None
        self._final_chances: tuple[int, Chances] | None = None
        self._lock = threading.RLock()
        self._set_traffic(traffic, metadata)
        low, high = self._learner.reward_range
        self._accepted = max(low, -self._largest_reward), min(high, self._largest_reward)
        sds = known_sds(policy, len(metadata)) if metadata else []
        self._learner.prepare(len(metadata))
        draft = Draft(self._learner)
        states = [ArmState(noise_sd=noise_sd) for noise_sd in sds]
        stores = self._adding(draft, dict(zip(metadata, states, strict=True)), metadata)
        self._learner.commit(draft.stores() + stores)

    def _new_learner(self) -> Learner:
        """A learner without arms."""
        return learner_of(self.policy, self.seed, self.maximize, self.half_life)

    def _finish(self) -> None:
        """Finish what an interrupted call has committed."""
        if self._learner.pending is not None:
            self._learner.finish()

    def _set_traffic(self, traffic: Traffic | None, arms: Mapping[str, Any]) -> None:
        """The rules of traffic, and what they need."""
        if traffic is not None and not isinstance(traffic, Traffic):
            raise TypeError(f"traffic must be a Traffic, such as Traffic(floor=0.02), got {shown(traffic)}")
        self.traffic = traffic
        self._traffic_stream = traffic_stream(self.seed)
        self._sides: list[ArmState] = []  # all rewards outside the holdout, and all inside it
        if traffic is None:
            return
        traffic.check_active(len(arms))
        if traffic.holdout > 0.0:
            if arms and traffic.control not in arms:
                raise ValueError(f"control must be one of the arms, got {shown(traffic.control)}")
            self._sides = [ArmState(), ArmState()]
            self._largest_reward = min(self._largest_reward, LARGEST_FOURTH_POWER)

    # Probabilities -------------------------------------------------------------------------------------------------

    def _policys_chances(self) -> Chances:
        """The probabilities of the policy's choice, computed once for each version of the learner."""
        version, cached = self._learner.version, self._policy_chances
        if cached is None or cached[0] != version:
            cached = self._policy_chances = (version, choice_chances(self._learner))
        return cached[1]

    def _chances(self) -> Chances:
        """The probabilities of the final choice outside the holdout."""
        if self.traffic is None:
            return self._policys_chances()
        version, cached = self._learner.version, self._final_chances
        if cached is None or cached[0] != version:
            chances = final_chances(self._learner, self.traffic, self._policys_chances())
            cached = self._final_chances = (version, chances)
        return cached[1]

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
        if not active:
            self._check_not_control(name, "paused")
        else:
            self._check_floor(1)
        draft = Draft(self._learner)
        self._learner.set_active(draft, slot, active)
        self._learner.commit(draft.stores())

    def _remove(self, slot: int) -> None:
        """Remove an arm; only its name is remembered."""
        name = self._names[slot]
        self._check_not_control(name, "removed")
        names = self._names[:slot] + self._names[slot + 1 :]
        stores = self._learner.removal(slot) + self._ledger.orphaning(name)
        stores += [
            (setattr, self, "_names", names),
            (setattr, self, "_slots", {other: place for place, other in enumerate(names)}),
            (dict.pop, self._metadata, name, None),
            (setitem, self._removed, name, None),
        ]
        self._learner.commit(stores)

    def _check_floor(self, more: int) -> None:
        """Raise if the floor is too large for so many more active arms."""
        if self.traffic is not None and more:
            self.traffic.check_active(len(self._learner.active()) + more)

    def _check_not_control(self, name: str, what: str) -> None:
        if self._sides and self.traffic is not None and name == self.traffic.control:
            raise ValueError(f"arm {shown(name)} is the control that the holdout gets, so it cannot be {what}")

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
        for what in ("policy", "maximize", "half_life", "traffic"):
            mine, its = getattr(self, what), getattr(other, what)
            if mine != its:
                raise ValueError(f"merge needs agents of the same {what}, got {shown(mine)} and {shown(its)}")
        self._check_rounds(rounds)

    def _check_rounds(self, more: int) -> None:
        if self._learner.rounds + more > MOST_REWARDS:
            raise ValueError(f"an agent learns at most 2**53 rewards, got {self._learner.rounds} and {more}")

    def _merge(
        self, theirs: Mapping[str, ArmState], metadata: Mapping[str, Any], rounds: int, sides: Sequence[ArmState]
    ) -> None:
        """Add another agent's statistics to this one's."""
        fresh = {
            name: ArmState(active=arm.active, noise_sd=arm.noise_sd, added_later=True)
            for name, arm in theirs.items()
            if name not in self._slots and name not in self._removed
        }
        self._check_floor(sum(arm.active for arm in fresh.values()))
        draft = Draft(self._learner)
        stores = self._adding(draft, fresh, metadata)
        slots = {**self._slots, **{name: len(self._names) + place for place, name in enumerate(fresh)}}
        known = [(slots[name], arm) for name, arm in theirs.items() if name in slots]
        self._learner.merge(draft, known, rounds)
        for k, side in enumerate(sides):
            if side.count == 0.0:
                continue
            together = self._sides[k].copy()
            together.absorb(side, fourth_moment=True)
            stores.append((setitem, self._sides, k, together))
        self._learner.commit(draft.stores() + stores)
