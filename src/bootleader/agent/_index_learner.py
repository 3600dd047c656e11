"""Learners for the policies whose index is location + scale * noise: all but the history policies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import repeat
from operator import add, mul, setitem
from typing import Any

import numpy as np

from bootleader._core.elementary import log
from bootleader._core.half_life import RENEWALS, moved_anchor, remembered_rounds, weight_left
from bootleader._core.moments import pebay, pooled_kurtosis, pooled_variance, welford
from bootleader._core.reference_player import POOLING_GROWTH
from bootleader._core.rng import uniform
from bootleader._core.rules import IndexRule, Noise, SharedStatistics
from bootleader.agent._arm_state import ArmState
from bootleader.agent._atomic_commit import Store, carry_out
from bootleader.agent._large_k import LargeK, Thresholds, compile_kernels, many_laws
from bootleader.agent._laws import Law, Laws, MutableStatistics, Pooled
from bootleader.agent._learner import Learner, clear_leader, first_of, leader_of
from bootleader.agent._pending_changes import Draft
from bootleader.agent._random_streams import Streams, heads_of
from bootleader.agent._validation import MOST_REWARDS

Moments = tuple[float, ...]  # count, anchor, drift, RSS; and third and fourth power sums if the rule asks for them


class IndexLearner(Learner):
    """Keeps the index law of every playing arm, and draws a leader.

    With a half-life, an arm's count and RSS are halved by every ``half_life`` rounds that pass since its last reward,
    but the count never falls below the number of initial pulls: what faded further would leave nothing to explore
    with. The mean stays; new rewards weigh more against it the more it has faded.

    Attributes
    ----------
    fast : Laws or None
        The laws, if an index takes one normal variable and nothing else has to be looked at.
    slow_at : float
        Before this round, a reward of a playing arm changes that arm and its law and nothing else.
    """

    rule: IndexRule

    def __init__(self, rule: IndexRule, seed: int, run: int = 0, half_life: float | None = None) -> None:
        super().__init__(rule, seed, run)
        self.half_life = half_life
        self.fast: Laws | None = None
        self.slow_at = -math.inf
        self._noise = Noise(rule.noise)
        self._is_student = rule.noise == Noise.STUDENT and rule.epsilon == 0.0 and not rule.every_round
        self._is_normal = rule.noise in (Noise.NORMAL, Noise.STUDENT) and rule.epsilon == 0.0
        self._law_of, self._params, self._statistics = rule.law, rule.params, MutableStatistics()
        self._is_certain = rule.noise in (Noise.NONE, Noise.OPTIMISM) and rule.epsilon == 0.0

    def prepare(self, arms: int) -> None:
        if self.rule.noise in (Noise.NORMAL, Noise.STUDENT):
            import scipy.special  # noqa: F401  (what the first probability would import under the lock)
        if self.rule.uses_leader_tree(arms):
            compile_kernels(self.rule)

    def finish(self) -> None:
        if self.pending.__class__ is tuple:  # a reward that changes one arm's moments and law, and perhaps a decision
            arm, moments, arm.rewards, now, laws, place, law, decision = self.pending
            if self.fourth_moment:
                arm.count, arm.anchor, arm.drift, arm.rss, arm.third, arm.fourth = moments
            else:
                arm.count, arm.anchor, arm.drift, arm.rss = moments
            arm.last = now
            laws.location[place], laws.scale[place], laws.shape[place] = law
            if laws.tree is not None:
                laws.tree.set_law(place, law)
            if decision is not None:
                carry_out(decision)
            self.rounds = now
        else:
            carry_out(self.pending)
            self.fast = self._fast_laws()
            self.slow_at = -math.inf if self.stale else min(self.laws.renew_at, self.give_up_at)
        self.pending = None

    def _fast_laws(self) -> Laws | None:
        laws = self.laws
        if (
            not self._is_normal
            or self.rule.every_round
            or self.stale
            or self.initial.slots
            or not laws.playing
            or laws.tree is not None
        ):
            return None
        if self.rule.noise == Noise.STUDENT and laws.shape.count(math.inf) < len(laws.shape):
            return None
        return laws

    # Choices -------------------------------------------------------------------------------------------------------

    def pull(self) -> int:
        laws = self.fast
        if laws is not None:  # nearly every choice
            streams = self.streams
            start = streams.at
            stop = start + len(laws.playing)
            if stop <= streams.next_rejected:
                slot = clear_leader(laws, streams.values[start:stop])
                if slot is not None:
                    streams.at = stop
                    return slot
        choice = self.drawn()
        if choice is None:
            return super().pull()
        slot, (store, target, key, value) = choice
        store(target, key, value)
        return slot

    def drawn(self) -> tuple[int, Store] | None:
        """The arm to pull now, and the one store that makes the draws; None if a choice changes more than streams."""
        laws, streams = self.fast, self.streams
        if laws is not None:
            start = streams.at
            stop = start + len(laws.playing)
            if stop <= streams.next_rejected:
                slot = clear_leader(laws, streams.values[start:stop])
                if slot is not None:
                    return slot, (setattr, streams, "at", stop)
            streams = streams.copy()
            slot = leader_of(laws, streams.normals(len(laws.location)), streams)
            return slot, (setattr, self, "streams", streams)
        if self.stale or self.initial.slots or not self.laws.playing:
            return None
        laws = self._current(self.laws) if self._is_certain else self.laws
        if self._is_certain and laws.tree is None:
            slot = clear_leader(laws, repeat(self.certain_noise()))
            if slot is not None:
                return slot, (setattr, streams, "at", streams.at)
        streams = streams.copy()
        if self._is_student and laws.tree is None:
            slot = leader_of(laws, streams.students(laws.shape), streams)
        else:
            slot = laws.playing[self.leader(laws, streams)]
        return slot, (setattr, self, "streams", streams)

    def choose(self, draft: Draft) -> int:
        laws = self.fast
        if laws is None or draft.stale or draft.laws is not laws or draft.in_initial_pulls:
            return super().choose(draft)
        streams = draft.streams
        return leader_of(laws, streams.normals(len(laws.location)), streams)

    def leader(self, laws: Laws, streams: Streams) -> int:
        rule = self.rule
        if rule.epsilon > 0.0 and uniform(streams.spare) < rule.epsilon:
            return streams.below(len(laws.playing))
        if laws.tree is not None:
            return laws.tree.leader(streams.spare)
        return first_of(self._indices(self._current(laws), streams), streams)

    def _indices(self, laws: Laws, streams: Streams) -> list[float]:
        """A fresh index for every playing arm."""
        kind = self._noise
        if kind is Noise.NORMAL:
            noise = streams.normals(len(laws.location))
        elif kind is Noise.STUDENT:
            noise = streams.students(laws.shape)
        elif kind is Noise.FAIR_COINS:
            noise = [heads_of(shape, streams.spare) for shape in laws.shape]
        else:
            noise = [self.certain_noise()] * len(laws.location)
        return list(map(add, laws.location, map(mul, laws.scale, noise)))

    def certain_noise(self) -> float:
        """What multiplies the scale where nothing is drawn."""
        if self._noise is not Noise.OPTIMISM:
            return 0.0
        rounds = self.rounds_of(self.rounds)
        return math.sqrt(2.0 * log(rounds)) if rounds > 1.0 else 0.0

    def rounds_of(self, rounds: int) -> float:
        """The rounds so far as laws read them: with a half-life, what it has left of them."""
        if self.half_life is None or not self.rule.reads_rounds:
            return rounds
        return float(remembered_rounds(rounds, self.half_life))

    # Rewards -------------------------------------------------------------------------------------------------------

    def update(self, slot: int, reward: float, decision: list[Store] | None = None) -> None:
        laws, now = self.laws, self.rounds + 1
        place = laws.place.get(slot)
        if now < self.slow_at and place is not None:  # nearly every reward
            arm, view = self.arms[slot], self._statistics
            if self.half_life is not None:
                moments = self.moments_after(arm, reward, now)
            elif self.fourth_moment:
                moments = pebay(arm.count, arm.anchor, arm.drift, arm.rss, arm.third, arm.fourth, reward)
            else:
                moments = welford(arm.count, arm.anchor, arm.drift, arm.rss, reward)
            if self.fourth_moment:
                view.count, anchor, drift, view.rss, _, view.fourth = moments
            else:
                view.count, anchor, drift, view.rss = moments
            view.mean = anchor + drift
            view.noise_sd = arm.noise_sd
            law = self._law_of(self._params, view, laws.shared)
            shape = law[2]
            if shape == laws.shape[place] or (shape != math.inf and self.fast is None):  # ``fast`` stays as it is
                if decision is not None:
                    decision.append((setattr, arm, "in_flight", arm.in_flight - 1))
                self.pending = (arm, moments, arm.rewards + 1, now, laws, place, law, decision)
                self.finish()
                return
        elif laws.renew_at <= now < self.give_up_at and self._only_renews(slot, now):
            self._learn_and_renew(slot, reward, now, decision or [])
            return
        super().update(slot, reward, decision)

    def _only_renews(self, slot: int, now: int) -> bool:
        """Whether the reward of a round in which laws are renewed changes its arm and the laws, and nothing else."""
        laws = self.laws
        return not self.stale and slot in laws.place and laws.tree is None and now <= MOST_REWARDS

    def _learn_and_renew(self, slot: int, reward: float, now: int, decision: list[Store]) -> None:
        """Learn a reward and renew all laws: the changes that a draft would make."""
        arm, arms = self.arms[slot].copy(), self.arms.copy()
        arm.set_moments(self.moments_after(arm, reward, now))
        arm.rewards, arm.last, arms[slot] = arm.rewards + 1, now, arm
        if decision:
            arm.in_flight -= 1
        laws = self._laws_at(arms, self.laws.playing, now, self.pooled(arms, now), now)
        self.commit(
            [
                *decision,
                (setattr, self, "laws", laws),
                (setitem, self.arms, slot, arm),
                (setattr, self, "rounds", now),
                (setattr, self, "changes", self.changes + 1),
            ]
        )

    def learn(self, draft: Draft, slot: int, reward: float) -> None:
        super().learn(draft, slot, reward)
        laws = draft.laws
        if draft.stale or not laws.playing:  # the next choice computes all laws
            return
        place = laws.place.get(slot)
        if draft.rounds >= laws.renew_at:
            arms = draft.arms()
            draft.replace_laws(self._computed(arms, laws.playing, draft.rounds, laws.tree))
        elif place is not None:
            draft.set_law(place, self._law(draft.arm(slot), 1.0, laws.shared))

    def add_reward(self, arm: ArmState, reward: float, now: int) -> None:
        arm.set_moments(self.moments_after(arm, reward, now))

    def moments_after(self, arm: ArmState, reward: float, now: int) -> Moments:
        """The moments of an arm with the reward of round ``now``."""
        count, rss, third, fourth, anchor, drift = arm.count, arm.rss, arm.third, arm.fourth, arm.anchor, arm.drift
        if self.half_life is not None:
            weight = self.weight_left(arm, now)
            count, rss = self._faded(arm, now)
            third, fourth = third * weight, fourth * weight
            anchor, drift = moved_anchor(anchor, drift, reward)
        if self.fourth_moment:
            return pebay(count, anchor, drift, rss, third, fourth, reward)
        return welford(count, anchor, drift, rss, reward)

    def bring_up_to_date(self, arm: ArmState, now: int) -> None:
        if self.half_life is not None:
            weight = self.weight_left(arm, now)
            arm.third, arm.fourth = arm.third * weight, arm.fourth * weight
            arm.count, arm.rss = self._faded(arm, now)
            arm.last = now

    def _faded(self, arm: ArmState, now: int) -> tuple[float, float]:
        """An arm's count and RSS in round ``now``; a reward of that round then counts in full."""
        weight = self.weight_left(arm, now)
        if weight == 1.0:
            return arm.count, arm.rss
        return max(arm.count * weight, float(self.initial_pulls)), arm.rss * weight

    def weight_left(self, arm: ArmState, now: int) -> float:
        """What the half-life has left by round ``now`` of each unit of an arm's count."""
        if self.half_life is None:
            return 1.0
        return float(weight_left(arm.count, arm.last, now, self.half_life, self.initial_pulls))

    # Laws ----------------------------------------------------------------------------------------------------------

    def _law(self, arm: ArmState, weight: float, shared: SharedStatistics) -> Law:
        """An arm's index law, when so much is left of each reward."""
        view = self._statistics
        view.count, view.mean, view.noise_sd = arm.count * weight, arm.anchor + arm.drift, arm.noise_sd
        view.rss, view.fourth = arm.rss * weight, arm.fourth * weight
        return self._law_of(self._params, view, shared)

    def fresh_laws(self, arms: Sequence[ArmState], rounds: int) -> Laws:
        return self._computed(arms, self.now_playing(arms), rounds, None)

    def _computed(self, arms: Sequence[ArmState], playing: list[int], rounds: int, old: LargeK | None) -> Laws:
        """The laws of all playing arms, with what is pooled in this round."""
        laws = self._laws_at(arms, playing, rounds, self.pooled(arms, rounds), rounds)
        if self.rule.uses_leader_tree(len(playing)):
            laws.tree = LargeK(self.rule, _columns(laws), None if old is None else old.thresholds)
        return laws

    def _laws_at(
        self, arms: Sequence[ArmState], playing: list[int], rounds: int, pooled: Pooled, pooled_at: int
    ) -> Laws:
        """The laws of all playing arms, from what was pooled; without a tree."""
        shared = SharedStatistics(pooled.variance, self.rounds_of(rounds), len(arms), math.inf, pooled.kurtosis)
        players = [arms[slot] for slot in playing]
        if self.rule.uses_leader_tree(len(playing)):
            moments = np.array([[arm.mean for arm in players], *self._faded_sums(players, pooled_at)])
            noise_sd = np.array([arm.noise_sd for arm in players])
            columns = many_laws(self.rule, noise_sd, moments, shared).tolist()
        else:
            if self.half_life is None:  # an arm's state has all that a law reads
                law_of, params = self._law_of, self._params
                laws = [law_of(params, arm, shared) for arm in players]
            else:
                weights = self._weights(players, pooled_at)
                laws = [self._law(arm, weight, shared) for arm, weight in zip(players, weights, strict=True)]
            columns = list(map(list, zip(*laws, strict=True))) if laws else [[], [], []]
        place = self.laws.place if playing is self.laws.playing else None
        return Laws(playing, columns, shared, pooled_at, self._next_renewal(pooled_at), place=place)

    def _next_renewal(self, pooled_at: int) -> float:
        """The round in which the pooled variance is old, or too much has faded; never, if laws depend on neither."""
        half_life = math.inf if self.half_life is None else self.half_life
        pool_lasts = pooled_at / POOLING_GROWTH if self.rule.pooled else math.inf
        return min(pooled_at + min(pool_lasts, half_life / RENEWALS), MOST_REWARDS)

    def pooled(self, arms: Sequence[ArmState], rounds: int) -> Pooled:
        """What is pooled over all arms in this round."""
        count, rss, *fourth = self._faded_sums(arms, rounds)
        return Pooled(pooled_variance(count, rss), pooled_kurtosis(count, rss, *fourth) if fourth else 0.0)

    def _weights(self, arms: Sequence[ArmState], now: int) -> list[float]:
        """What is left of each unit of the arms' counts in round ``now``."""
        return [self.weight_left(arm, max(now, arm.last)) for arm in arms]

    def _faded_sums(self, arms: Sequence[ArmState], now: int) -> list[list[float]]:
        """The arms' counts and RSS in round ``now``, and fourth power sums if the rule asks for them."""
        sums = [[arm.count for arm in arms], [arm.rss for arm in arms]]
        if self.fourth_moment:
            sums.append([arm.fourth for arm in arms])
        if self.half_life is None:
            return sums
        weights = self._weights(arms, now)
        return [list(map(mul, values, weights)) for values in sums]

    def laws_now(self) -> Laws:
        """The laws as the next choice would have them; changes nothing."""
        return self.fresh_laws(self.arms, self.rounds) if self.stale else self._current(self.laws)

    def _current(self, laws: Laws) -> Laws:
        """The same laws, as of this round if the rule's laws change in every round."""
        if not self.rule.every_round:
            return laws
        return self._laws_at(self.arms, laws.playing, self.rounds, laws.pooled, laws.pooled_at)

    def restore_laws(self, pooled: Pooled, pooled_at: int, thresholds: Thresholds | None) -> None:
        """Compute the laws that an agent had when it was saved, not stale."""
        laws = self._laws_at(self.arms, self.now_playing(self.arms), self.rounds, pooled, pooled_at)
        if thresholds is not None:
            laws.tree = LargeK(self.rule, _columns(laws), thresholds, resume=True)
        self.laws = laws


def _columns(laws: Laws) -> Any:
    return np.array([laws.location, laws.scale, laws.shape])
