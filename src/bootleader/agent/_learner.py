"""A policy at play for a live program: arms come and go, rewards come late, and a choice takes microseconds.

The order of draws is that of :mod:`bootleader._core.reference_player`, so an agent on the simulator's streams makes the
simulator's choices, bit for bit, as long as every pull gets its reward before the next and no arm comes or goes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from bootleader._core.moments import chan, welford
from bootleader._core.reference_player import contest
from bootleader._core.rng import Purpose, Stream, below, run_stride, stream_state
from bootleader._core.rules import ArmHistory, Contest, HistoryRule, Rule
from bootleader.agent._initial_pulls import OpenArms
from bootleader.agent._normal_buffer import NormalBuffer


@dataclass(slots=True)
class ArmState:
    """What is known of one arm: its moments as of its last reward, and whether it may be played."""

    count: float = 0.0
    anchor: float = 0.0
    drift: float = 0.0
    rss: float = 0.0
    rewards: int = 0  # how many rewards it ever had; the count without any discount
    last: int = 0  # the round of its last reward
    active: bool = True
    in_flight: int = 0  # decisions that still wait for their reward
    noise_sd: float = 1.0
    history: list[float] = field(default_factory=list)  # rewards less the anchor, for the policies that need them

    @property
    def mean(self) -> float:
        """Mean reward."""
        return self.anchor + self.drift


class Learner:
    """What every learner has: the arms' moments, the opening, and the choice of a leader."""

    def __init__(self, rule: Rule, seed: int, run: int = 0) -> None:
        self.rule = rule
        self.rounds = 0
        stride = int(run_stride(seed, run))
        self.normals = NormalBuffer(int(stream_state(seed, run, int(Purpose.NOISE), 0)), stride)
        self.spare = Stream([int(stream_state(seed, run, int(Purpose.SPARE), 0))], 0, stride)
        self.arms: list[ArmState] = []
        self.open = OpenArms()
        self.playing: list[int] = []  # the arms that a leader is chosen from, and
        self.place: list[int] = []  # where each arm stands among them, or -1
        self.stale = False  # whether ``playing`` and the index laws are behind the arms' state
        self._initial_pulls = rule.initial_pulls

    # Arms ----------------------------------------------------------------------------------------------------------

    def add(self, arm: ArmState) -> None:
        """Take in an arm."""
        self.arms.append(arm)
        self.place.append(-1)
        self.seat(len(self.arms) - 1)

    def prepare(self, arms: int) -> None:
        """Do now what the first choice among so many arms would otherwise wait for."""

    def remove(self, slot: int) -> None:
        """Forget an arm; those after it move down by one."""
        del self.arms[slot]
        self.open.forget(slot)
        self.stale = True
        self.playing = []
        self.place = [-1] * len(self.arms)

    def set_active(self, slot: int, active: bool) -> None:
        """Let an arm play, or keep it from playing."""
        self.arms[slot].active = active
        self.seat(slot)

    def seat(self, slot: int) -> None:
        """Put an arm where it belongs: among the open ones, or among those that play, or neither."""
        arm = self.arms[slot]
        opens = arm.active and arm.count + arm.in_flight < self._initial_pulls
        if opens != (slot in self.open):
            (self.open.add if opens else self.open.drop)(slot)
        plays = arm.active and arm.count >= self._initial_pulls
        if plays != (self.place[slot] >= 0):
            self.stale = True

    def wait_for(self, slot: int) -> None:
        """A decision for this arm is on its way."""
        self.arms[slot].in_flight += 1
        self._reseat_if_young(slot)

    def give_up_on(self, slot: int) -> None:
        """A decision for this arm will get no reward."""
        self.arms[slot].in_flight -= 1
        self._reseat_if_young(slot)

    def _reseat_if_young(self, slot: int) -> None:
        if self.arms[slot].count < self._initial_pulls:
            self.seat(slot)

    # Choices -------------------------------------------------------------------------------------------------------

    def choose(self) -> int:
        """The arm to pull now."""
        if self.open.slots:
            return self.open.slots[self.below(len(self.open))]
        if self.stale:
            self.settle()
        if self.playing:
            return self.playing[self.leader()]
        waiting = self.waiting()
        return waiting[self.below(len(waiting))]

    def choose_many(self, n: int) -> list[int]:
        """``n`` arms to pull before any reward of theirs is known; the opening is shared out among them."""
        order = list(self.open.slots)
        chosen = []
        for _ in range(n):
            chosen.append(self.choose())
            self.wait_for(chosen[-1])
        for slot in chosen:
            self.arms[slot].in_flight -= 1
        self.open = OpenArms(order)
        return chosen

    def waiting(self) -> list[int]:
        """The active arms, when none is open and none can lead: the first rewards are all on their way."""
        waiting = [slot for slot, arm in enumerate(self.arms) if arm.active]
        if not waiting:
            raise RuntimeError("no arm is active: add_arm or resume_arm one first")
        return waiting

    def leader(self) -> int:
        """The place, among the playing arms, of the largest index."""
        raise TypeError(f"{type(self).__name__} draws no indices")

    def first_of(self, indices: Sequence[float]) -> int:
        """Where the largest index is, ties broken uniformly at random."""
        best = max(indices)
        if indices.count(best) == 1:
            return indices.index(best)
        tied = [place for place, index in enumerate(indices) if index == best]
        return tied[self.below(len(tied))]

    def below(self, n: int) -> int:
        """Uniform on 0..n-1, from the spare stream."""
        return int(below(self.spare, n))

    # Rewards -------------------------------------------------------------------------------------------------------

    def learn(self, slot: int, reward: float) -> None:
        """Learn a reward."""
        self.take_in(slot, reward)

    def take_in(self, slot: int, reward: float) -> ArmState:
        """Add a reward to an arm's moments."""
        arm = self.arms[slot]
        arm.count, arm.anchor, arm.drift, arm.rss = welford(arm.count, arm.anchor, arm.drift, arm.rss, reward)
        self.rounds += 1
        arm.rewards += 1
        arm.last = self.rounds
        if arm.count <= self._initial_pulls:
            self.seat(slot)
        return arm

    def settle(self) -> None:
        """Bring ``playing`` up to date."""
        self.playing = self.now_playing()
        self.place = [-1] * len(self.arms)
        for place, slot in enumerate(self.playing):
            self.place[slot] = place
        self.stale = False

    def now_playing(self) -> list[int]:
        """The arms that a leader would be chosen from now."""
        return [slot for slot, arm in enumerate(self.arms) if arm.active and arm.count >= self._initial_pulls]

    def merge(self, others: Iterable[tuple[int, ArmState]], rounds: int) -> None:
        """Take in another learner's statistics, arm by arm, and its number of rounds."""
        self.bring_up_to_date()
        for slot, other in others:
            if other.count > 0.0:
                self._absorb(self.arms[slot], other)
                self.seat(slot)
        self.rounds += rounds
        for arm in self.arms:
            arm.last = self.rounds
        self.stale = True

    def state_now(self, slot: int) -> ArmState:
        """A copy of an arm's state, its moments as of the present round."""
        arm = self.arms[slot]
        return replace(arm, history=list(arm.history))

    def bring_up_to_date(self) -> None:
        """Make every arm's moments those of the present round, where time changes them."""

    @staticmethod
    def _absorb(arm: ArmState, other: ArmState) -> None:
        if arm.count == 0.0:
            arm.anchor = other.anchor
        shift = other.anchor - arm.anchor
        arm.count, arm.drift, arm.rss = chan(arm.count, arm.drift, arm.rss, other.count, shift + other.drift, other.rss)
        arm.rewards += other.rewards
        arm.history += [shift + value for value in other.history]


class HistoryLearner(Learner):
    """Plays a :class:`HistoryRule`: the index is resampled from the arm's whole history."""

    rule: HistoryRule

    def learn(self, slot: int, reward: float) -> None:
        arm = self.take_in(slot, reward)
        arm.history.append(reward - arm.anchor)

    def leader(self) -> int:
        def index(place: int, best: float, is_last: bool) -> float:
            return self._index(self.playing[place], best, is_last, self.spare)

        return self.first_of(contest(index, [self.arms[slot].count for slot in self.playing]))

    def indices(self, slots: Iterable[int], stream: Stream) -> list[float]:
        """A new index for each of the arms, from another stream."""
        return [self._index(slot, -math.inf, False, stream) for slot in slots]

    def _index(self, slot: int, best: float, is_last: bool, stream: Stream) -> float:
        rule, arm = self.rule, self.arms[slot]
        history = ArmHistory(
            arm.history, 0, int(arm.count), arm.anchor, arm.drift, arm.rss, min(arm.history), max(arm.history)
        )
        return rule.resample(rule.params, history, Contest(best, is_last), stream)
