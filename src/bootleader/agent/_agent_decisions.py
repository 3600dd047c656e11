"""How an agent's decisions and rewards change it, without the lock; the public calls are in agent.py."""

from __future__ import annotations

from operator import setitem
from typing import Any

from bootleader._core.moments import pebay
from bootleader._core.rng import Stream
from bootleader.agent._agent_core import AgentCore
from bootleader.agent._arm_state import ArmState
from bootleader.agent._atomic_commit import Store
from bootleader.agent._decisions import (
    COUNTED,
    PLAIN,
    Assignment,
    Decision,
    Group,
    Receipt,
    RewardedDecision,
    fast_tuple,
)
from bootleader.agent._learner_factory import keeps_moments
from bootleader.agent._pending_changes import Draft
from bootleader.agent._probabilities import Chances
from bootleader.agent._traffic_choice import final_choice
from bootleader.agent._validation import Summary, check_range
from bootleader.agent.traffic import Traffic


class AgentDecisions(AgentCore):
    """Choices by the policy and the rules of traffic, and the rewards that they get."""

    # Choices -------------------------------------------------------------------------------------------------------

    def _pulled(self, traffic: Traffic, n: int) -> list[str]:
        """Choose arms whose rewards come without an id."""
        if traffic.needs_unit:
            raise ValueError(
                "with a holdout or sticky units a choice depends on the unit: use decide(unit=...), not pull"
            )
        draft, stream, chosen = Draft(self._learner), self._copied_traffic_stream(), []
        for _ in range(n):
            chosen.append(final_choice(self._learner, draft, traffic, None, stream))
            draft.wait_for_pull(chosen[-1])
        self._learner.commit([*draft.stores(), (setitem, self._traffic_stream.states, 0, stream.states[0])])
        return [self._names[slot] for slot in chosen]

    def _chosen(self, draft: Draft, traffic: Traffic) -> tuple[int, list[Store]]:
        """The final choice, and what moves the stream of the rules."""
        stream, policy = self._copied_traffic_stream(), self._policy_chances
        known = policy[1] if policy is not None and policy[0] == self._learner.version else None
        slot = final_choice(self._learner, draft, traffic, known, stream)
        return slot, [(setitem, self._traffic_stream.states, 0, stream.states[0])]

    def _copied_traffic_stream(self) -> Stream:
        return Stream(self._traffic_stream.states.copy(), 0, self._traffic_stream.stride)

    def _decided(self, unit: str | None, probability: bool) -> Decision:
        """Choose an arm and remember the decision."""
        learner, ledger, traffic = self._learner, self._ledger, self.traffic
        now = ledger.now()
        if traffic is None and not ledger.is_full(now, opened=1) and (choice := learner.drawn()) is not None:
            return self._opened_at_once(*choice, now, self._chances() if probability else None)
        if ledger.due(ledger.open, now):
            draft = Draft(learner)
            learner.commit(self._giving_up(draft, now) + draft.stores())
        if unit is not None and traffic is not None:
            if traffic.in_holdout(unit, self.seed):
                slot = self._slot(traffic.control)
                return self._opened(Draft(learner), slot, now, [], None, None, Group.HOLDOUT)
            if traffic.sticky and (kept := self._kept(unit, now)) is not None:
                stores = ledger.assigning(unit, kept)
                slot, errors = self._slots[kept.arm], kept.standard_error
                return self._opened(Draft(learner), slot, now, stores, kept.probability, errors, self._group)
        chances = self._chances() if probability else None
        draft = Draft(learner)
        slot, stores = (learner.choose(draft), []) if traffic is None else self._chosen(draft, traffic)
        chance, error = _chance_of(slot, chances)
        if traffic is not None and traffic.sticky and unit is not None:
            stores += ledger.assigning(unit, Assignment(self._names[slot], now, chance, error))
            stores += ledger.forgetting(ledger.units, ledger.due(ledger.units, now, unit not in ledger.units))
        return self._opened(draft, slot, now, stores, chance, error, self._group)

    def _opened_at_once(self, slot: int, draws: Store, now: float, chances: Chances | None) -> Decision:
        """Remember a decision that changes nothing else of the learner: nearly every one."""
        ledger, arm, name = self._ledger, self._learner.arms[slot], self._names[slot]
        decision_id = ledger.next_id()
        stores = ledger.issuing(decision_id, name, now, PLAIN, self._context and self._context_of(slot))
        stores += (draws, (setattr, arm, "in_flight", arm.in_flight + 1))
        self._learner.commit_draws(stores)
        chance, error = (None, None) if chances is None else _chance_of(slot, chances)
        return fast_tuple(Decision, (decision_id, name, chance, error, False))

    @property
    def _group(self) -> Group:
        """What the reward of a choice outside the holdout counts for."""
        return Group.BANDIT if self._sides else Group.PLAIN

    def _kept(self, unit: str, now: float) -> Assignment | None:
        """The arm that a unit keeps, if it has one that is active; as of now."""
        kept = self._ledger.units.get(unit)
        if kept is None or kept.time < now - self._ledger.max_age:
            return None
        slot = self._slots.get(kept.arm)
        return kept._replace(time=now) if slot is not None and self._learner.arms[slot].active else None

    def _recorded(self, arm: str, probability: float | None) -> Decision:
        """Remember a choice that was made elsewhere."""
        slot, now = self._slot(arm), self._ledger.now()
        return self._opened(Draft(self._learner), slot, now, [], probability, None, Group.PLAIN)

    def _opened(
        self, draft: Draft, slot: int, now: float, stores: list[Store],
        probability: float | None, standard_error: float | None, group: Group,
    ) -> Decision:  # fmt: skip
        """Remember a decision."""
        ledger = self._ledger
        is_holdout = group is Group.HOLDOUT
        if not is_holdout:
            draft.wait_for(slot)
        arm, decision_id = self._names[slot], ledger.next_id()
        stores = (
            stores
            + self._giving_up(draft, now, opened=1)
            + ledger.issuing(decision_id, arm, now, group, self._context and self._context_of(slot))
        )
        self._learner.commit(stores + draft.stores())
        return Decision(decision_id, arm, 1.0 if is_holdout else probability, standard_error, is_holdout)

    def _giving_up(self, draft: Draft, now: float, *, opened: int = 0, rewarded: int = 0) -> list[Store]:
        """What forgets decisions that are too old, or too many when so many are opened or rewarded."""
        ledger = self._ledger
        ids = ledger.due(ledger.open, now, opened - rewarded)
        for decision in map(ledger.open.__getitem__, ids):
            if decision.is_learnt:
                draft.give_up_on(self._slots[decision.arm])
        forgotten = ledger.due(ledger.rewarded, now, rewarded)
        if not ids and not forgotten:  # nearly always
            return []
        return ledger.forgetting(ledger.open, ids) + ledger.forgetting(ledger.rewarded, forgotten)

    # Rewards -------------------------------------------------------------------------------------------------------

    def _rewarded(self, decision_id: str, number: float) -> Receipt:
        """Learn the reward of a decision."""
        learner, ledger = self._learner, self._ledger
        now = ledger.now()
        found = ledger.find(decision_id, now)
        if found is None:
            raise LookupError(ledger.why_unknown(decision_id))
        if isinstance(found, RewardedDecision):
            return found.reported_again(decision_id, number)
        if found.live and not found.group and not ledger.is_full(now, rewarded=1):  # nearly always
            value = number if self.maximize else -number
            if found.context is not None:
                self._recall(found.context)
            learner.update(self._slots[found.arm], value, ledger.rewarding(decision_id, number, now))
            return COUNTED
        draft = Draft(learner)
        stores = ledger.rewarding(decision_id, number, now) + self._giving_up(draft, now, rewarded=1)
        if found.is_learnt:
            slot = self._slots[found.arm]
            draft.arm(slot).in_flight -= 1
            if found.context is not None:
                self._recall(found.context)
            learner.learn(draft, slot, number if self.maximize else -number)
        if found.group != Group.PLAIN:
            stores += self._comparing(found.group == Group.HOLDOUT, number)
        learner.commit(stores + draft.stores())
        return Receipt.COUNTED if found.live else Receipt.ARM_REMOVED

    def _context_of(self, slot: int) -> Any:
        """The context that a decision for an arm remembers."""
        return self._context

    def _recall(self, context: tuple[Any, ...]) -> None:
        """Let the learner know which context a reward belongs to."""
        raise TypeError(f"{type(self).__name__} has no contexts")

    def _comparing(self, in_holdout: bool, number: float) -> list[Store]:
        """What adds a reward to its side of the comparison with the holdout."""
        side = self._sides[in_holdout].copy()
        side.count, side.anchor, side.drift, side.rss, side.third, side.fourth = pebay(
            side.count, side.anchor, side.drift, side.rss, side.third, side.fourth, number
        )
        side.rewards += 1
        return [(setitem, self._sides, int(in_holdout), side)]

    def _learn_summary(self, arm: str, summary: Summary) -> None:
        """Add many rewards, of which only the moments are known, to an arm."""
        learner, slot = self._learner, self._slot(arm)
        if not keeps_moments(learner):
            raise ValueError(
                f"learn_summary needs a policy that keeps moments only; {self.policy!r} keeps every reward"
            )
        check_range(summary.mean, *learner.reward_range, what="mean")
        mean = summary.mean if self.maximize else -summary.mean
        other = ArmState(
            float(summary.rewards), mean, 0.0, summary.rss, 0.0, summary.fourth if learner.fourth_moment else 0.0,
            summary.rewards,
        )  # fmt: skip
        self._check_rounds(summary.rewards)
        draft = Draft(learner)
        learner.merge(draft, [(slot, other)], summary.rewards)
        learner.commit(draft.stores())


def _chance_of(slot: int, chances: Chances | None) -> tuple[float | None, float | None]:
    """An arm's probability and its standard error, as far as they are known."""
    if chances is None:
        return None, None
    return chances.values[slot], None if chances.errors is None else chances.errors[slot]
