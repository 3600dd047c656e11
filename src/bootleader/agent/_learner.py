"""A policy that plays and learns in a live program: arms come and go, rewards come late, a choice takes microseconds.

The order of draws is that of :mod:`bootleader._core.reference_player`, so an agent on the simulator's streams makes the
simulator's choices, bit for bit, as long as every pull gets its reward before the next and no arm comes or goes.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from operator import add, mul

import numpy as np
import numpy.typing as npt

from bootleader._core.moments import LARGEST_FOURTH_POWER, welford
from bootleader._core.reference_player import contest
from bootleader._core.rng import Purpose, Stream, run_stride, stream_state
from bootleader._core.rules import Contest, HistoryRule, IndexRule, Rule, history_of
from bootleader.agent._arm_state import ArmState
from bootleader.agent._atomic_commit import Journal, Store
from bootleader.agent._initial_pulls import InitialPulls
from bootleader.agent._laws import Laws
from bootleader.agent._pending_changes import Draft, next_given_up
from bootleader.agent._random_streams import SpareStream, Streams
from bootleader.agent._validation import ANY_REWARD, LARGEST_REWARD, MOST_REWARDS

JointChances = tuple[Sequence[int], npt.NDArray[np.float64], npt.NDArray[np.float64] | None]


class Learner(Journal):
    """What every learner has: the arms' moments, the initial pulls, and the choice of a leader.

    Attributes
    ----------
    arms : list of ArmState
        The arms; a *slot* is a place in this list.
    initial : InitialPulls
        The arms that lack their first rewards.
    laws : Laws
        The playing arms and their index laws.
    stale : bool
        Whether ``laws`` are behind the arms and must be computed anew before the next choice.
    changes : int
        Number of committed drafts that changed the probabilities of the next choice.
    give_up_at : float
        Round in which the oldest pull without an id that is waited for will be given up.
    reward_range : tuple of float
        The smallest and the largest reward that the policy takes. Who calls ``learn`` has compared the reward with it.
    """

    reward_range: tuple[float, float] = ANY_REWARD

    def __init__(self, rule: Rule, seed: int, run: int = 0) -> None:
        super().__init__()
        self.rule = rule
        self.rounds = 0
        stride = int(run_stride(seed, run))
        noise, spare = (int(stream_state(seed, run, int(purpose), 0)) for purpose in (Purpose.NOISE, Purpose.SPARE))
        self.streams = Streams(noise, spare, stride)
        self.arms: list[ArmState] = []
        self.initial = InitialPulls()
        self.laws = Laws.none()
        self.stale = False
        self.changes = 0
        self.give_up_at = math.inf
        self.initial_pulls = rule.initial_pulls
        self.fourth_moment = isinstance(rule, IndexRule) and rule.fourth_moment
        self.largest_reward = LARGEST_FOURTH_POWER if self.fourth_moment else LARGEST_REWARD

    @property
    def version(self) -> int:
        """Grows with every change that the next choice may depend on; a cache remembers the one it was computed at."""
        return self.rounds + self.changes

    def prepare(self, arms: int) -> None:
        """Do now what the first choice among so many arms would otherwise wait for."""

    # Arms ----------------------------------------------------------------------------------------------------------

    def add(self, draft: Draft, arm: ArmState) -> int:
        """Take in an arm; return its slot."""
        slot = draft.add(arm)
        draft.assign(slot)
        draft.choice_changed()
        return slot

    def set_active(self, draft: Draft, slot: int, active: bool) -> None:
        """Let an arm play, or keep it from playing."""
        draft.arm(slot).active = active
        draft.assign(slot)
        draft.choice_changed()

    def removal(self, slot: int) -> list[Store]:
        """What removes an arm; those after it move down by one."""
        laws = Laws.none(self.laws.pooled, self.laws.pooled_at)
        arms = self.arms[:slot] + self.arms[slot + 1 :]
        fields = {
            "arms": arms,
            "give_up_at": next_given_up(arms),
            "initial": self.initial.without(slot),
            "laws": laws,
            "stale": True,
            "changes": self.changes + 1,
        }
        return [(setattr, self, name, value) for name, value in fields.items()]

    # Choices -------------------------------------------------------------------------------------------------------

    def pull(self) -> int:
        """The arm to pull now."""
        draft = Draft(self)
        slot = self.choose(draft)
        draft.wait_for_pull(slot)
        self.commit(draft.stores())
        return slot

    def pull_many(self, n: int) -> list[int]:
        """``n`` arms to pull before any reward of theirs is known; the initial pulls are shared out among them."""
        draft = Draft(self)
        chosen = []
        for _ in range(n):
            chosen.append(self.choose(draft))
            draft.wait_for_pull(chosen[-1])
        self.commit(draft.stores())
        return chosen

    def choose(self, draft: Draft) -> int:
        """The arm to pull now, drawn from the draft's streams."""
        if draft.in_initial_pulls:
            return draft.initial[draft.streams.below(draft.in_initial_pulls)]
        if draft.stale:
            draft.replace_laws(self.fresh_laws(draft.arms(), draft.rounds))
        laws = draft.laws
        if laws.playing:
            return laws.playing[self.leader(laws, draft.streams)]
        waiting = self.waiting()
        return waiting[draft.streams.below(len(waiting))]

    def choose_among(self, draft: Draft, slots: Sequence[int]) -> int:
        """The arm to pull now, if these active arms were the only ones."""
        wanted = set(slots)
        lacking = [slot for slot in draft.initial_slots() if slot in wanted]
        if lacking:
            return lacking[draft.streams.below(len(lacking))]
        if draft.stale:
            draft.replace_laws(self.fresh_laws(draft.arms(), draft.rounds))
        laws = draft.laws.only(wanted)
        if laws.playing:
            return laws.playing[self.leader(laws, draft.streams)]
        return slots[draft.streams.below(len(slots))]

    def active(self) -> list[int]:
        """The active arms."""
        return [slot for slot, arm in enumerate(self.arms) if arm.active]

    def waiting(self) -> list[int]:
        """The active arms, when all of them wait for their first rewards."""
        waiting = self.active()
        if not waiting:
            raise RuntimeError("no arm is active: add_arm or resume_arm one first")
        return waiting

    def now_playing(self, arms: Sequence[ArmState]) -> list[int]:
        """The arms that a leader would be chosen from now."""
        return [slot for slot, arm in enumerate(arms) if arm.active and arm.count >= self.initial_pulls]

    def fresh_laws(self, arms: Sequence[ArmState], rounds: int) -> Laws:
        """The playing arms and their laws, computed from the arms' state."""
        return Laws(self.now_playing(arms), [[], [], []], self.laws.shared)

    def leader(self, laws: Laws, streams: Streams) -> int:
        """The place, among the playing arms, of the largest index."""
        raise TypeError(f"{type(self).__name__} draws no indices")

    # Rewards -------------------------------------------------------------------------------------------------------

    def update(self, slot: int, reward: float, decision: list[Store] | None = None) -> None:
        """Learn a reward.

        Parameters
        ----------
        slot : int
            The arm.
        reward : float
            More is better.
        decision : list of stores, optional
            What gives a decision this reward. Without it, a pull that is waited for has its answer.
        """
        draft = Draft(self)
        if decision is None:
            draft.answer_pull(slot)
        else:
            draft.arm(slot).in_flight -= 1
        self.learn(draft, slot, reward)
        self.commit((decision or []) + draft.stores())

    def drawn(self) -> tuple[int, Store] | None:
        """The arm to pull now, and the one store that makes the draws; None if a choice changes more than streams."""
        return None

    def learn(self, draft: Draft, slot: int, reward: float) -> None:
        """Add a reward to an arm's moments."""
        arm, now = draft.arm(slot), draft.rounds + 1
        if now > MOST_REWARDS:
            raise ValueError(f"an agent learns at most 2**53 rewards, got one more after {draft.rounds}")
        self.add_reward(arm, reward, now)
        arm.rewards += 1
        arm.last = draft.rounds = now
        draft.choice_changed()
        if arm.count <= self.initial_pulls:
            draft.assign(slot)
        if now >= draft.give_up_at:
            draft.give_up_pulls()

    def add_reward(self, arm: ArmState, reward: float, now: int) -> None:
        """Add the reward of round ``now`` to an arm's moments."""
        arm.count, arm.anchor, arm.drift, arm.rss = welford(arm.count, arm.anchor, arm.drift, arm.rss, reward)

    def merge(self, draft: Draft, others: Iterable[tuple[int, ArmState]], rounds: int) -> None:
        """Take in another learner's statistics, arm by arm, and its number of rounds."""
        for slot in range(len(draft.arms())):
            self.bring_up_to_date(draft.arm(slot), draft.rounds)
        for slot, other in others:
            if other.count > 0.0:
                draft.arm(slot).absorb(other, self.fourth_moment)
                draft.assign(slot)
        draft.rounds += rounds
        for slot in range(len(draft.arms())):
            draft.arm(slot).last = draft.rounds
        draft.stale = True
        draft.choice_changed()

    def state_now(self, slot: int) -> ArmState:
        """A copy of an arm's state, its moments as of the present round."""
        arm = self.arms[slot].copy()
        arm.history = list(arm.history)
        self.bring_up_to_date(arm, self.rounds)
        return arm

    def joint_chances(self, wanted: Container[int]) -> JointChances | None:
        """Slots, probabilities and standard errors where indices are not independent; None where they are."""
        return None

    def bring_up_to_date(self, arm: ArmState, now: int) -> None:
        """Make an arm's moments those of round ``now``, where time changes them."""


def clear_leader(laws: Laws, noise: Iterable[float]) -> int | None:
    """Slot of the arm with the largest index, location + scale * noise; None if several arms share it."""
    best = second = -math.inf
    leader = None
    for slot, location, scale, value in zip(laws.playing, laws.location, laws.scale, noise):  # noqa: B905 (slow)
        index = location + scale * value
        if index >= best:
            second, best, leader = best, index, slot
    return leader if second < best else None


def leader_of(laws: Laws, noise: Sequence[float], streams: Streams) -> int:
    """Slot of the arm with the largest index, ties broken uniformly at random."""
    slot = clear_leader(laws, noise)
    if slot is not None:
        return slot
    indices = list(map(add, laws.location, map(mul, laws.scale, noise)))
    return laws.playing[first_of(indices, streams)]


def first_of(indices: Sequence[float], streams: Streams) -> int:
    """Where the largest index is, ties broken uniformly at random."""
    best = max(indices)
    if indices.count(best) == 1:
        return indices.index(best)
    tied = [place for place, index in enumerate(indices) if index == best]
    return tied[streams.below(len(tied))]


class HistoryLearner(Learner):
    """Plays a :class:`HistoryRule`: the index is resampled from the arm's whole history."""

    rule: HistoryRule

    def learn(self, draft: Draft, slot: int, reward: float) -> None:
        super().learn(draft, slot, reward)
        draft.append_history(slot, reward - draft.arm(slot).anchor)

    def leader(self, laws: Laws, streams: Streams) -> int:
        def index(place: int, best: float, is_last: bool) -> float:
            return self._index(laws.playing[place], best, is_last, streams.spare)

        return first_of(contest(index, [self.arms[slot].count for slot in laws.playing]), streams)

    def indices(self, slots: Iterable[int], stream: Stream) -> list[float]:
        """A new index for each of the arms, from another stream."""
        return [self._index(slot, -math.inf, False, stream) for slot in slots]

    def _index(self, slot: int, best: float, is_last: bool, stream: Stream | SpareStream) -> float:
        rule, arm = self.rule, self.arms[slot]
        history = history_of(arm.history, arm.count, arm.anchor, arm.drift, arm.rss)
        return rule.resample(rule.params, history, Contest(best, is_last), stream)
