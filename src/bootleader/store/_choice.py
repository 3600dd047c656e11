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

from bootleader._core.rng import Purpose, stream_of, stride_of
from bootleader._core.rng import unit as unit_interval
from bootleader.agent._arm_state import ArmState
from bootleader.agent._decisions import fast_tuple
from bootleader.agent._index_learner import IndexLearner
from bootleader.agent._initial_pulls import InitialPulls
from bootleader.agent._learner import HistoryLearner, Learner
from bootleader.agent._pending_changes import Draft
from bootleader.agent._probabilities import choice_chances
from bootleader.agent._random_streams import Streams
from bootleader.agent._shared_learner import SharedLearner
from bootleader.agent._traffic_choice import final_chances
from bootleader.store._arm_tally import ArmTally
from bootleader.store._errors import StoreError
from bootleader.store._events import Event, Side
from bootleader.store._exact_sums import ExactSums
from bootleader.store._state import State


class Choice(NamedTuple):
    """An arm's number, its probability (None if it was not computed), and how it came about."""

    arm: int
    probability: float | None
    origin: str
    side: Side = Side.BANDIT
    standard_error: float | None = None  # of the probability, if that is an estimate


class FinalChances(NamedTuple):
    """The active arms and the probabilities of the final choice among them, at a version of the state."""

    version: int
    arms: list[ArmTally]
    chances: list[float]
    errors: list[float] | None  # standard errors, if the probabilities are estimates


class ExpectedReward(NamedTuple):
    """A reward that may be the next event: what the state makes of it."""

    arm: int
    value: float | None
    side: int


class Expected(NamedTuple):
    """What follows if the next event that changes the state is a certain reward."""

    reward: ExpectedReward
    sums: ExactSums  # of its arm, with it
    arm_state: ArmState
    arm_states: list[ArmState]  # of all arms, with it
    final: FinalChances  # its version is the one before


class Chooser:
    """Chooses arms from a state. It keeps what it computed for as long as the state does not change."""

    def __init__(self, state: State, experiment: str) -> None:
        self.state = state
        before = f"{state.settings.seed}\0{experiment}\0".encode("utf-8", "surrogatepass")
        self._hash = hashlib.blake2b(before, digest_size=8, person=b"decision")
        self._learner = state.settings.learner()
        self._arm_states: dict[int, ArmState] = {}
        self._slots: list[ArmTally] = []
        self._prepared_for = -1
        self._final: FinalChances | None = None
        self._ahead = state.settings.learner()  # of a state that is not reached yet
        self._expected: Expected | None = None

    def choose(self, decision: str, unit: str | None, now: float, context: Any = None) -> Choice:
        """The arm for a decision that is made at time ``now``; ``context`` where the experiment has features."""
        state, settings = self.state, self.state.settings
        traffic = settings.traffic
        if traffic is not None and unit is not None and traffic.in_holdout(unit, settings.seed):
            assert traffic.control is not None
            control = state.named(traffic.control)
            return Choice(control.number, 1.0, "holdout", Side.HOLDOUT)
        key = self._key(decision)
        if not settings.probabilities:
            return self._by_index(key, now)
        final = self.final(now, key)
        place = _drawn(final.chances, unit_interval(key))
        error = None if final.errors is None else final.errors[place]
        return fast_tuple(Choice, (final.arms[place].number, final.chances[place], "chosen", Side.BANDIT, error))

    def final(self, now: float, key: int | None = None) -> FinalChances:
        """The probabilities of the final choice, outside the holdout."""
        cached = self._final
        if cached is not None and cached.version == self.state.version:
            return cached
        learner = self.learner(now)
        if key is not None and isinstance(
            learner, HistoryLearner | SharedLearner
        ):  # Monte Carlo: on a stream of its own
            learner.streams = _streams(key)
        final = self._computed_final(learner)
        self._final = None if self.depends_on_more else final
        return final

    def _computed_final(self, learner: Learner) -> FinalChances:
        traffic, arms = self.state.settings.traffic, [arm for arm in self._slots if arm.active]
        if not arms:
            raise StoreError("no arm is active: add_arm or resume_arm one first", "unknown")
        chances = choice_chances(learner)
        if traffic is not None:
            chances = final_chances(learner, traffic, chances)
        found = [chance for chance, arm in zip(chances.values, self._slots, strict=True) if arm.active]
        errors = chances.errors
        if errors is not None:
            errors = [error for error, arm in zip(errors, self._slots, strict=True) if arm.active]
        return FinalChances(self.state.version, arms, found, errors)

    # What is computed ahead of time --------------------------------------------------------------------------------

    def expect(self, reward: ExpectedReward, version: int) -> None:
        """Compute the probabilities that follow if a reward is the next event, while it is written.

        Parameters
        ----------
        reward : ExpectedReward
            It may come, or not.
        version : int
            The version of the state that the reward would follow. Nothing is done if there is a newer one, or if
            nothing was chosen from it.
        """
        state, ahead = self.state, self._ahead
        if not version == state.version == self._prepared_for or reward.side == Side.HOLDOUT:
            return
        if state.settings.half_life is not None or not isinstance(ahead, IndexLearner):
            return
        slot = next((slot for slot, arm in enumerate(self._slots) if arm.number == reward.arm), None)
        if slot is None or reward.value is None:
            return
        ahead.arms, ahead.rounds = list(self._learner.arms), state.rounds + 1
        tally = self._slots[slot]
        assert isinstance(tally.sums, ExactSums)
        sums = tally.sums.copy()
        sums.add(reward.value)
        ahead.arms[slot] = self._arm_state(tally, sums)
        ahead.initial, ahead.stale = self._learner.initial, True
        self._expected = Expected(reward, sums, ahead.arms[slot], ahead.arms, self._computed_final(ahead))

    def pop_expected(self, reward: Event) -> Expected | None:
        """Return what was computed ahead for the reward that is applied next, and forget it."""
        expected, self._expected = self._expected, None
        if expected is None or expected.reward != (reward.arm, reward.value, reward.side):
            return None
        return expected if expected.final.version == self.state.version else None

    def adopt(self, expected: Expected) -> None:
        """Keep what was computed ahead for the reward that was just applied, and nothing else with it."""
        before, version, arm = expected.final.version, self.state.version, expected.reward.arm
        if version == before + 1:
            self._final = expected.final._replace(version=version)
            if self._prepared_for == before:  # all other arms are as they were
                self._learner.arms = expected.arm_states
                self._arm_states[arm] = expected.arm_state
                self.state.arms_to_refresh.discard(arm)
                self._prepared_for = version

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

    def _key(self, decision: str) -> int:
        """A random word for each decision: what it draws is a function of seed, experiment and decision."""
        hashed = self._hash.copy()
        hashed.update(decision.encode("utf-8", "surrogatepass"))
        return int.from_bytes(hashed.digest(), "little")

    # The learner ---------------------------------------------------------------------------------------------------

    def learner(self, now: float) -> Learner:
        """The learner as the state is."""
        self._refresh()
        state, learner = self.state, self._learner
        earliest, needed, rounds = now - state.settings.max_age, state.needed, state.rounds
        lacking = []
        for slot, tally in enumerate(self._slots):
            arm, waits = learner.arms[slot], tally.waiting
            arm.active, arm.last = tally.active, rounds
            arm.in_flight = tally.decisions - tally.rewarded if waits is None else waits.since(earliest)
            if arm.active and arm.expected < needed:
                lacking.append(slot)
        learner.rounds, learner.initial, learner.stale = rounds, InitialPulls(lacking), True
        return learner

    def _refresh(self) -> None:
        """Compute the moments of the arms that changed."""
        state = self.state
        if self._prepared_for == state.version:
            return
        fades, known = state.settings.half_life is not None, len(self._arm_states)  # arms have numbers 0, 1, 2, ...
        for number in range(len(state.arms)) if fades else {*state.arms_to_refresh, *range(known, len(state.arms))}:
            self._arm_states[number] = self._arm_state(state.arms[number])
        state.arms_to_refresh.clear()
        self._slots = state.playing
        self._learner.arms = [self._arm_states[arm.number] for arm in self._slots]
        self._prepared_for = state.version

    def _arm_state(self, tally: ArmTally, sums: ExactSums | None = None) -> ArmState:
        """An arm as the learner knows it, in the sign in which more is better; with other sums, if they are given."""
        state = self.state
        sign = 1.0 if state.settings.maximize else -1.0
        moments = tally.moments(state.rounds, state.needed) if sums is None else sums.moments()
        count, mean, rss, third, fourth = moments
        anchor, history = sign * mean, []
        if tally.history:
            ordered = tally.history if sign > 0 else [-value for value in reversed(tally.history)]
            anchor, history = ordered[0], [value - ordered[0] for value in ordered]
        return ArmState(
            count=count, anchor=anchor, drift=sign * mean - anchor, rss=rss, third=sign * third, fourth=fourth,
            rewards=(sums or tally.sums).number, noise_sd=tally.noise_sd, history=history, added_later=tally.later,
            active=tally.active,
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
