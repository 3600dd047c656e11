"""The choice of an arm: a function of the state, the time and the decision's id.

The policy's probabilities are computed from the exact moments, the traffic rules make the final ones of them, and one
uniform number, keyed by (seed, experiment, decision), chooses among these. So the logged probability is that of the
choice by construction, and whoever has the same events can compute both again.

The laws are those of the agent. They are computed from the present state at every choice; an agent renews the pooled
variance only now and then, which would make the choice depend on the order of the events.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from bootleader._core.rng import Purpose, Stream, run_key, stream_of, stride_of, uniform
from bootleader.agent._arm_state import ArmState
from bootleader.agent._final_choice import final_chances
from bootleader.agent._initial_pulls import InitialPulls
from bootleader.agent._laws import Laws
from bootleader.agent._learner import HistoryLearner, Learner
from bootleader.agent._pending_changes import Draft
from bootleader.agent._probabilities import choice_chances
from bootleader.agent._random_streams import Streams
from bootleader.agent._shared_learner import SharedLearner
from bootleader.store._errors import StoreError
from bootleader.store._events import Side
from bootleader.store._state import ArmTally, State


class Choice(NamedTuple):
    """An arm's number, its probability (None if it was not computed), and how it came about."""

    arm: int
    probability: float | None
    origin: str
    side: Side = Side.BANDIT


class Chooser:
    """Chooses arms from a state. It keeps what it computed for as long as the state does not change."""

    def __init__(self, state: State, experiment: str) -> None:
        self.state, self.experiment = state, experiment
        self._learner = state.settings.learner()
        self._arm_states: dict[int, ArmState] = {}
        self._slots: list[ArmTally] = []
        self._prepared_for = -1
        self._final: tuple[int, list[ArmTally], list[float]] | None = None

    def choose(self, decision: str, unit: str | None, now: float, context: Any = None) -> Choice:
        """The arm for a decision that is made at time ``now``; ``context`` where the experiment has features."""
        state, settings = self.state, self.state.settings
        traffic = settings.traffic
        key = run_key(settings.seed, self._run(decision))
        if traffic is not None and unit is not None and traffic.in_holdout(unit, settings.seed):
            assert traffic.control is not None
            control = state.named(traffic.control)
            return Choice(control.number, 1.0, "holdout", Side.HOLDOUT)
        if not settings.probabilities:
            return self._by_index(key, now)
        arms, chances = self.final(now, key)
        stream = Stream([int(stream_of(key, int(Purpose.SPARE), 1))], 0, int(stride_of(key)))
        place = _drawn(chances, float(uniform(stream)))
        return Choice(arms[place].number, chances[place], "chosen")

    def final(self, now: float, key: int | None = None) -> tuple[list[ArmTally], list[float]]:
        """The active arms and the probabilities of the final choice among them, outside the holdout."""
        cached = self._final
        if cached is not None and cached[0] == self.state.version:
            return cached[1], cached[2]
        learner, traffic = self.learner(now), self.state.settings.traffic
        arms = [arm for arm in self._slots if arm.active]
        if not arms:
            raise StoreError("no arm is active: add_arm or resume_arm one first", "unknown")
        if key is not None and isinstance(
            learner, HistoryLearner | SharedLearner
        ):  # Monte Carlo: on a stream of its own
            learner.streams = _streams(key)
        chances = choice_chances(learner)
        if traffic is not None:
            chances = final_chances(learner, traffic, chances)
        found = [chance for chance, arm in zip(chances.values, self._slots, strict=True) if arm.active]
        self._final = None if self.depends_on_more else (self.state.version, arms, found)
        return arms, found

    @property
    def depends_on_more(self) -> bool:
        """Whether a choice depends on more than the state: the time, the decision, a context."""
        return bool(self.state.lacking) or isinstance(self._learner, HistoryLearner)

    def look_at(self, context: Any, now: float) -> None:
        """Set the context of the next choice, where the experiment has features."""

    def logged(self, arm: int, context: Any) -> str | None:
        """What is logged of the context."""
        return None

    @staticmethod
    def context_of(text: str) -> Any:
        """The context of a decision in the log."""
        return None

    def _by_index(self, key: int, now: float) -> Choice:
        """Without probabilities: the leader of drawn indices, for very many arms."""
        learner = self.learner(now)
        learner.streams = _streams(key)
        try:
            slot = learner.choose(Draft(learner))
        except RuntimeError as error:
            raise StoreError(str(error), "unknown") from None
        return Choice(self._slots[slot].number, None, "chosen")

    def _run(self, decision: str) -> int:
        text = f"{self.experiment}\0{decision}".encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(text, digest_size=8, person=b"decision").digest(), "little")

    # The learner ---------------------------------------------------------------------------------------------------

    def learner(self, now: float) -> Learner:
        """The learner as the state is."""
        self._refresh()
        state, learner = self.state, self._learner
        earliest = now - state.settings.max_age
        for tally, arm in zip(self._slots, learner.arms, strict=True):
            arm.active = tally.active
            arm.last = state.rounds
            waits = tally.waiting
            arm.in_flight = tally.decisions - tally.rewarded if waits is None else waits.since(earliest)
        learner.rounds = state.rounds
        needed = state.needed
        learner.initial = InitialPulls(
            slot for slot, arm in enumerate(learner.arms) if arm.active and arm.expected < needed
        )
        learner.laws, learner.stale = Laws.none(), True
        learner.commit([])
        return learner

    def _refresh(self) -> None:
        """Compute the moments of the arms that changed."""
        state = self.state
        if self._prepared_for == state.version:
            return
        fades = state.settings.half_life is not None
        for number in (
            range(len(state.arms)) if fades else state.changed | (set(range(len(state.arms))) - self._arm_states.keys())
        ):
            self._arm_states[number] = self._arm_state(state.arms[number])
        state.changed.clear()
        self._slots = state.playing
        self._learner.arms = [self._arm_states[arm.number] for arm in self._slots]
        self._prepared_for = state.version

    def _arm_state(self, tally: ArmTally) -> ArmState:
        """An arm as the learner knows it, in the sign in which more is better."""
        state = self.state
        sign = 1.0 if state.settings.maximize else -1.0
        count, mean, rss, third, fourth = tally.moments(state.rounds, state.needed)
        anchor, history = sign * mean, []
        if tally.history:
            ordered = tally.history if sign > 0 else [-value for value in reversed(tally.history)]
            anchor, history = ordered[0], [value - ordered[0] for value in ordered]
        return ArmState(
            count=count, anchor=anchor, drift=sign * mean - anchor, rss=rss, third=sign * third, fourth=fourth,
            rewards=tally.sums.number, noise_sd=tally.noise_sd, history=history, added_later=tally.later,
        )  # fmt: skip


def _streams(key: int) -> Streams:
    noise, spare = (int(stream_of(key, int(purpose), 0)) for purpose in (Purpose.NOISE, Purpose.SPARE))
    return Streams(noise, spare, int(stride_of(key)))


def _drawn(chances: Sequence[float], number: float) -> int:
    """The place that a uniform number falls on."""
    total = 0.0
    for place, chance in enumerate(chances):
        total += chance
        if number < total and chance > 0.0:
            return place
    return max(place for place, chance in enumerate(chances) if chance > 0.0)  # the sum may fall short of 1 by rounding
