"""The learner of index rules that ask for fourth moments. The others do not pay for them."""

from __future__ import annotations

import math
from typing import Any

from bootleader._core.half_life import moved_anchor
from bootleader._core.moments import pebay
from bootleader.agent._arm_state import ArmState
from bootleader.agent._atomic_commit import Store, carry_out
from bootleader.agent._index_learner import IndexLearner
from bootleader.agent._learner import Learner

Moments = tuple[float, float, float, float, float, float]  # count, anchor, drift, RSS, third, fourth


class FourthMomentLearner(IndexLearner):
    """Keeps third and fourth power sums beside the other moments; a half-life fades them like the RSS."""

    def update(self, slot: int, reward: float, decision: list[Store] | None = None) -> None:
        laws, now = self.laws, self.rounds + 1
        if now < self.slow_at and slot in laws.place:  # nearly every reward
            place = laws.place[slot]
            arm, view = self.arms[slot], self._statistics
            if self.half_life is None:
                count, anchor, drift, rss, third, fourth = pebay(
                    arm.count, arm.anchor, arm.drift, arm.rss, arm.third, arm.fourth, reward
                )
            else:
                count, anchor, drift, rss, third, fourth = self.six_moments_after(arm, reward, now)
            # One statement for each field: a tuple of them would be built first.
            view.count = count
            view.mean = anchor + drift
            view.rss = rss
            view.fourth = fourth
            view.noise_sd = arm.noise_sd
            law = self._law_of(self._params, view, laws.shared)
            shape = law[2]
            if shape == laws.shape[place] or (shape != math.inf and self.fast is None):  # ``fast`` stays as it is
                rewards = arm.rewards + 1
                if decision is not None:
                    decision.append((setattr, arm, "in_flight", arm.in_flight - 1))
                self.pending = (arm, count, anchor, drift, rss, third, fourth, rewards, now, laws, place, law, decision)
                # As _store_reward, without the call.
                arm.count = count
                arm.anchor = anchor
                arm.drift = drift
                arm.rss = rss
                arm.third = third
                arm.fourth = fourth
                arm.rewards = rewards
                arm.last = now
                laws.location[place], laws.scale[place], laws.shape[place] = law
                if laws.tree is not None:
                    laws.tree.set_law(place, law)
                if decision is not None:
                    carry_out(decision)
                self.rounds = now
                self.pending = None
                return
        Learner.update(self, slot, reward, decision)

    def _store_reward(self, arm: ArmState, *changes: Any) -> None:
        arm.count, arm.anchor, arm.drift, arm.rss, arm.third, arm.fourth, arm.rewards, arm.last = changes[:8]
        laws, place, law, decision = changes[8:]
        laws.set(place, law)
        carry_out(decision or [])
        self.rounds = arm.last

    def add_reward(self, arm: ArmState, reward: float, now: int) -> None:
        arm.count, arm.anchor, arm.drift, arm.rss, arm.third, arm.fourth = self.six_moments_after(arm, reward, now)

    def six_moments_after(self, arm: ArmState, reward: float, now: int) -> Moments:
        """All moments of an arm with the reward of round ``now``."""
        if self.half_life is None:
            return pebay(arm.count, arm.anchor, arm.drift, arm.rss, arm.third, arm.fourth, reward)
        weight = self.weight_left(arm, now)
        count, rss = self._faded(arm, now)
        anchor, drift = moved_anchor(arm.anchor, arm.drift, reward)
        return pebay(count, anchor, drift, rss, arm.third * weight, arm.fourth * weight, reward)

    def bring_up_to_date(self, arm: ArmState, now: int) -> None:
        weight = self.weight_left(arm, now)
        arm.third, arm.fourth = arm.third * weight, arm.fourth * weight
        super().bring_up_to_date(arm, now)
