"""The learner of contextual policies: a linear model of the rewards for every arm.

Its schedule is that of :mod:`bootleader._core.kernels.linear` with disjoint coefficients, and so is the order of its
draws: an agent on the simulator's streams makes the simulator's choices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any, Final

import numpy as np

from bootleader._core.linear_rules import LinearRule
from bootleader._core.moments import LARGEST_FOURTH_POWER, welford
from bootleader._core.rules import IndexRule, Noise
from bootleader._core.sampling import fair_binomial
from bootleader.agent._arm_state import ArmState
from bootleader.agent._atomic_commit import Store, carry_out
from bootleader.agent._contextual_law_inputs import CurrentStatistics, RewardStatistics
from bootleader.agent._index_learner import IndexLearner
from bootleader.agent._large_k import Thresholds
from bootleader.agent._laws import Law, Laws, Pooled
from bootleader.agent._learner import Learner, first_of
from bootleader.agent._linear_laws import ContextArm, LinearLaws
from bootleader.agent._linear_model import Floats, Model, is_old, learn, new_model, refresh, without_useless_intercept
from bootleader.agent._linear_model_changes import faded, widened
from bootleader.agent._pending_changes import Draft
from bootleader.agent._random_streams import Streams

LEAST_RIDGE: Final = 0.9


class ContextIndexRule(IndexRule):
    """A contextual rule as the rest of the agent sees it: index laws, which follow from models and a context."""

    @classmethod
    def of(cls, rule: LinearRule) -> ContextIndexRule:
        """The index rule of a contextual one."""
        return cls(rule.law, rule.noise, rule.params, initial_pulls=rule.initial_pulls, pooled=rule.unit_free)

    def uses_leader_tree(self, arms: int) -> bool:
        """Never: all laws change with the context."""
        return False


class LinearLearner(IndexLearner):
    """Keeps a linear model for every arm, and draws a leader for a context.

    Attributes
    ----------
    linear : LinearRule
        The policy's rule.
    drops_intercept : bool
        Whether a unit-free model gives up its intercept if its features do not have one, as in a simulation.
    context : array
        The features that the next choice or reward belongs to; set by :meth:`look_at`.
    """

    def __init__(
        self, rule: LinearRule, dimension: int, drops_intercept: bool, seed: int, half_life: float | None = None
    ) -> None:
        super().__init__(ContextIndexRule.of(rule), seed, half_life=half_life)
        self.linear, self.dimension, self.drops_intercept = rule, dimension, drops_intercept
        self.largest_reward = LARGEST_FOURTH_POWER
        self.context: Floats = np.zeros(dimension)
        self._looks = 0
        # A half-life fades the penalty with the rewards until the next refresh; no further than to this.
        self._least_ridge = 0.0 if rule.unit_free or half_life is None else LEAST_RIDGE * rule.ridge

    @property
    def version(self) -> int:
        """Grows with every change that the next choice may depend on, the context included."""
        return self.rounds + self.changes + self._looks

    def prepare(self, arms: int) -> None:
        import scipy.linalg
        import scipy.special  # noqa: F401

    def look_at(self, context: Floats) -> None:
        """Set the features that the next choice or reward belongs to."""
        self._looks += 1
        self.context = context

    def new_model(self) -> Model:
        """A model without rewards."""
        return new_model(self.dimension, self.linear.ridge, self.linear.unit_free)

    def add(self, draft: Draft, arm: ArmState) -> int:
        return super().add(draft, ContextArm.of(arm, self.new_model()))

    # Choices -------------------------------------------------------------------------------------------------------

    def pull(self) -> int:
        choice = self.drawn()
        if choice is None:
            return Learner.pull(self)
        slot, (store, target, key, value) = choice
        store(target, key, value)
        return slot

    def drawn(self) -> tuple[int, Store] | None:
        if self.stale or self.initial.slots or not self.laws.playing:
            return None
        streams = self.streams.copy()
        return self.laws.playing[self.leader(self.laws, streams)], (setattr, self, "streams", streams)

    def leader(self, laws: Laws, streams: Streams) -> int:
        assert isinstance(laws, LinearLaws)
        found = laws.in_context(self.context, self.linear)
        return first_of(self._drawn(found, streams), streams)

    def _drawn(self, laws: Sequence[Law], streams: Streams) -> list[float]:
        """A fresh index for every playing arm."""
        match self.rule.noise:
            case Noise.NORMAL:
                noise = streams.normals(len(laws))
            case Noise.STUDENT:
                noise = streams.students([shape for _, _, shape in laws])
            case Noise.FAIR_COINS:
                noise = [fair_binomial(shape, streams.spare) for _, _, shape in laws]
            case _:
                noise = [self.certain_noise()] * len(laws)
        return [location + scale * value for (location, scale, _), value in zip(laws, noise, strict=True)]

    # Rewards -------------------------------------------------------------------------------------------------------

    def update(self, slot: int, reward: float, decision: list[Store] | None = None) -> None:
        laws, now = self.laws, self.rounds + 1
        place = laws.place.get(slot)
        if place is None or self.stale or self.half_life is not None or now >= min(laws.renew_at, self.give_up_at):
            Learner.update(self, slot, reward, decision)
            return
        # Nearly every reward changes one model and nothing else.
        arm = self.arms[slot]
        assert isinstance(arm, ContextArm)
        model = learn(arm.model, self.context, reward)
        if is_old(model, self.linear.unit_free):
            others = [model if k == slot else other.model for k, other in enumerate(self.arms)]  # type: ignore[attr-defined]
            model = self._refreshed(others, slot)
        moments = welford(arm.count, arm.anchor, arm.drift, arm.rss, reward)
        if decision is not None:
            decision.append((setattr, arm, "in_flight", arm.in_flight - 1))
        self.pending = (arm, moments, model, arm.rewards + 1, now, laws, place, decision or [])
        self.finish()

    def finish(self) -> None:
        if self.pending.__class__ is tuple:
            arm, moments, arm.model, arm.rewards, arm.last, laws, place, decision = self.pending
            arm.count, arm.anchor, arm.drift, arm.rss = moments
            laws.set_arm(place, arm)
            carry_out(decision)
            self.rounds = arm.last
        else:
            carry_out(self.pending)
        self.pending = None

    def learn(self, draft: Draft, slot: int, reward: float) -> None:
        Learner.learn(self, draft, slot, reward)
        old, now = draft.laws, draft.rounds
        unit_free, first = self.linear.unit_free, old.pooled_at == 0
        arm = draft.arm(slot)
        assert isinstance(arm, ContextArm)
        if first and draft.in_initial_pulls:
            if arm.count > self.initial_pulls and is_old(arm.model, unit_free):  # rewards of choices made elsewhere
                self._refresh(draft, [slot])
            return
        renewed = first or now >= old.renew_at
        if renewed and self.half_life is not None:
            for other in range(len(draft.arms())):
                self.bring_up_to_date(draft.arm(other), now)
        if renewed and (first or self.half_life is not None):
            self._refresh(draft, range(len(draft.arms())))
        elif is_old(arm.model, unit_free) or arm.model.ridge[0] < self._least_ridge:
            self._refresh(draft, [slot])
        if renewed:
            self._renew(draft)
        elif not draft.stale and (place := old.place.get(slot)) is not None:
            draft.set_law(place, arm)  # type: ignore[arg-type]

    def _renew(self, draft: Draft) -> None:
        """Pool variance and kurtosis anew, and stack the models anew."""
        arms, now = draft.arms(), draft.rounds
        draft.replace_laws(self._stacked(arms, self.now_playing(arms), self.pooled(arms, now), now))

    def add_reward(self, arm: ArmState, reward: float, now: int) -> None:
        assert isinstance(arm, ContextArm)
        model = arm.model
        if self.half_life is None:
            arm.count, arm.anchor, arm.drift, arm.rss = welford(arm.count, arm.anchor, arm.drift, arm.rss, reward)
        else:
            model = faded(model, self.weight_left(arm, now))
            arm.count, arm.anchor, arm.drift, arm.rss = self.moments_after(arm, reward, now)
            model = model._replace(count=arm.count - 1.0)
        arm.model = learn(model, self.context, reward)

    def bring_up_to_date(self, arm: ArmState, now: int) -> None:
        assert isinstance(arm, ContextArm)
        model = faded(arm.model, self.weight_left(arm, now))
        super().bring_up_to_date(arm, now)
        arm.model = model._replace(count=arm.count)

    def merge(self, draft: Draft, others: Iterable[tuple[int, ArmState]], rounds: int) -> None:
        super().merge(draft, others, rounds)
        if draft.laws.pooled_at == 0 and draft.in_initial_pulls:
            return
        self._refresh(draft, range(len(draft.arms())))
        self._renew(draft)

    def widening(self, place: int) -> list[Store]:
        """What adds a feature that was 0 so far, at this place of the vector."""
        penalty = 0.0 if self.linear.unit_free else self.linear.ridge
        arms = [ContextArm.of(arm, widened(arm.model, place, penalty)) for arm in self.arms]  # type: ignore[attr-defined]
        fields = {
            "arms": arms,
            "dimension": self.dimension + 1,
            "laws": Laws.none(self.laws.pooled, self.laws.pooled_at),
            "stale": True,
            "changes": self.changes + 1,
        }
        return [(setattr, self, name, value) for name, value in fields.items()]

    def _refresh(self, draft: Draft, slots: Iterable[int]) -> None:
        """Compute the working states of some arms anew."""
        models = [arm.model for arm in draft.arms()]  # type: ignore[attr-defined]
        for slot in slots:
            arm = draft.arm(slot)
            assert isinstance(arm, ContextArm)
            arm.model = self._refreshed(models, slot)

    def _refreshed(self, models: list[Model], slot: int) -> Model:
        """One of the models with its working state computed anew; it takes the old one's place in the list.

        A unit-free ridge is in units of the features' second moments, pooled over the models.
        """
        rule, model = self.linear, models[slot]
        if rule.unit_free:
            if self.drops_intercept:
                models[slot] = model = without_useless_intercept(model)
            squares, rows = np.zeros(self.dimension), 0.0
            for other in models:
                if other.count > 0.0:
                    squares += other.variation
                    rows += other.count - other.centred
            model = model._replace(ridge=rule.ridge * squares / rows if rows > 0.0 else squares)
        elif self.half_life is not None:
            model = model._replace(ridge=np.full(self.dimension, rule.ridge))
        models[slot] = model = refresh(model)
        return model

    # Laws ----------------------------------------------------------------------------------------------------------

    def fresh_laws(self, arms: Sequence[ArmState], rounds: int) -> Laws:
        return self._stacked(arms, self.now_playing(arms), self.laws.pooled, self.laws.pooled_at)

    def _stacked(self, arms: Sequence[Any], playing: list[int], pooled: Pooled, pooled_at: int) -> LinearLaws:
        """The models of all playing arms, from what was pooled."""
        shared = self._shared_statistics(pooled)
        players = [arms[slot] for slot in playing]
        return LinearLaws(playing, players, shared, pooled_at, self._next_renewal(pooled_at))

    def _shared_statistics(self, pooled: Pooled) -> Any:
        """What laws may know beside their arm."""
        return (CurrentStatistics if self.linear.unit_free else RewardStatistics)(self, pooled)

    def pooled(self, arms: Sequence[Any], rounds: int) -> Pooled:
        """Variance and kurtosis of the residuals, pooled over all arms."""
        squares = freedom = streamed = weighted = 0.0
        for model in (arm.model for arm in arms):
            squares += model.rss
            freedom += max(model.freedom, 0.0)
            streamed += model.squares
            weighted += model.count * (model.fourth / model.squares) if model.squares > 0.0 else 0.0
        variance = squares / freedom if freedom > 0.0 else 0.0
        return Pooled(variance, weighted / streamed if weighted > streamed else 1.0)

    def laws_now(self) -> Laws:
        models = self.fresh_laws(self.arms, self.rounds) if self.stale else self.laws
        if not models.playing:
            return Laws.none(models.pooled, models.pooled_at)
        assert isinstance(models, LinearLaws)
        found = models.in_context(self.context, self.linear)
        columns = [list(map(itemgetter(part), found)) for part in range(3)]
        return Laws(models.playing, columns, models.shared, models.pooled_at)

    def restore_laws(self, pooled: Pooled, pooled_at: int, thresholds: Thresholds | None) -> None:
        self.laws = self._stacked(self.arms, self.now_playing(self.arms), pooled, pooled_at)
