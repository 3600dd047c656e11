"""The choice of an arm in a context: a function of the state, the context, the time and the decision's id.

The models are solved from the exact sums of the present state, once for each version of it. The laws are those of the
agent. The context is logged with the decision, so that choice and probability can be computed again.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bootleader._core.moments import LARGEST_FOURTH_POWER
from bootleader._core.printable_text import shown
from bootleader.agent._contextual_core import linear_learner
from bootleader.agent._laws import Laws
from bootleader.agent._learner import Learner
from bootleader.agent._linear_laws import ContextArm
from bootleader.agent._linear_learner import LinearLearner
from bootleader.agent._linear_model import Model, refresh, without_useless_intercept
from bootleader.agent._shared_learner import SharedLearner
from bootleader.store._choice import Choice, Chooser
from bootleader.store._model_sums import LoggedContext, ModelSums, spread_of
from bootleader.store._state import State

Context = Any  # checked values of the features; by the arms' names, where arms have features of their own


def chooser_of(state: State, experiment: str) -> Chooser:
    """What chooses arms from a state."""
    return Chooser(state, experiment) if state.features is None else ContextChooser(state, experiment)


@dataclass
class _Computed:
    """A model computed from sums, and what it is valid for."""

    key: tuple[int, int]
    model: Model


class ContextChooser(Chooser):
    """Chooses arms from a state and a context."""

    _learner: LinearLearner

    def __init__(self, state: State, experiment: str) -> None:
        super().__init__(state, experiment)
        self._features = state.settings.features
        self._computed: dict[int, _Computed] = {}  # by the number of the arm; -1 for a model that all share
        self._laws: tuple[int, Laws] | None = None

    def choose(self, decision: str, unit: str | None, now: float, context: Context = None) -> Choice:
        self.look_at(context, now)
        return super().choose(decision, unit, now)

    @property
    def depends_on_more(self) -> bool:
        return True

    def look_at(self, context: Context, now: float) -> None:
        """Set the context of the next choice."""
        learner, state = self.learner(now), self.state
        assert state.features is not None
        if not isinstance(learner, SharedLearner):
            assert isinstance(learner, LinearLearner)
            learner.look_at(state.features.encoded(tuple(context), state.constant))
            return
        for name in context:
            if all(arm.name != name for arm in state.arms):
                state.named(name)  # raises
        found = {}
        for slot, arm in enumerate(self._slots):
            if arm.name in context:
                found[slot] = state.features.encoded(tuple(context[arm.name]), state.constant)
            elif arm.active:
                raise ValueError(f"the context lacks the features of arm {shown(arm.name)}")
        learner.look_at_arms(found)

    # What is logged ------------------------------------------------------------------------------------------------

    def logged(self, arm: int, context: Context) -> str:
        """The context that is logged with the choice of an arm, after :meth:`look_at`."""
        learner = self._learner
        slot = next(place for place, tally in enumerate(self._slots) if tally.number == arm)
        name = self._slots[slot].name
        if isinstance(learner, SharedLearner):
            if slot not in learner.contexts:  # a choice made elsewhere, of a paused arm
                raise ValueError(f"the context lacks the features of arm {shown(name)}")
            model, row, values = learner.model, learner.contexts[slot], context[name]
        else:
            model, row, values = learner.arms[slot].model, learner.context, context  # type: ignore[attr-defined]
        predicted, spread = self._prediction(model, row)
        arms = {name: list(own) for name, own in context.items()} if isinstance(learner, SharedLearner) else None
        return LoggedContext(predicted, spread, values).to_text(arms)

    def _prediction(self, model: Model, row: Any) -> tuple[float | None, float]:
        """The predicted reward, in its own sign, and the spread of its error; None before the first rewards."""
        d = len(model.coefficients)
        if model.count < max(1, self._learner.linear.initial_pulls):
            return None, 1.0
        away = (row - model.anchor[:d]) - model.mean[:d]
        across = model.root @ away
        leverage = float(across @ across) + (1.0 / model.count if model.centred else 0.0)
        predicted = float(model.anchor[d] + model.mean[d]) + float(away @ model.coefficients)
        if not (abs(predicted) <= LARGEST_FOURTH_POWER and math.isfinite(leverage)):
            return None, 1.0
        return predicted if self.state.settings.maximize else -predicted, spread_of(leverage)

    @staticmethod
    def context_of(text: str) -> Context:
        """The context of a decision in the log."""
        one, _, arms = text.partition("\n")
        return json.loads(arms) if arms else json.loads(one)[2]

    # The learner ---------------------------------------------------------------------------------------------------

    def learner(self, now: float) -> Learner:
        learner = super().learner(now)
        assert isinstance(learner, LinearLearner)
        if self._laws is None or self._laws[0] != self.state.version:
            pooled = (
                learner._pooled_of(learner.model)
                if isinstance(learner, SharedLearner)
                else learner.pooled(learner.arms, learner.rounds)
            )
            learner.restore_laws(pooled, max(1, learner.rounds), None)
            self._laws = (self.state.version, learner.laws)
        learner.laws, learner.stale = self._laws[1], False
        return learner

    def _refresh(self) -> None:
        state, settings = self.state, self.state.settings
        if self._prepared_for == state.version:
            return
        assert state.features is not None
        if state.features != self._features:
            self._features, self._computed = state.features, {}
            self._learner = linear_learner(settings.policy, state.features, settings.seed, settings.half_life)
        super()._refresh()
        learner = self._learner
        if isinstance(learner, SharedLearner):
            assert state.shared is not None
            learner.model = self._solved([self._model(-1, state.shared)])[0]
            return
        models = [self._model(tally.number, tally.model) for tally in self._slots if tally.model is not None]
        learner.arms = [
            ContextArm.of(arm, model) for arm, model in zip(learner.arms, self._solved(models), strict=True)
        ]

    def _model(self, number: int, sums: ModelSums) -> Model:
        """A model that is not solved yet."""
        state, rule = self.state, self._learner.linear
        key = sums.key(state.rounds)
        known = self._computed.get(number)
        if known is None or known.key != key:
            sign = 1.0 if state.settings.maximize else -1.0
            model = sums.model(self._learner.new_model(), state.rounds, state.needed, sign)
            if rule.unit_free and self._learner.drops_intercept:
                model = without_useless_intercept(model)
            known = self._computed[number] = _Computed(key, model)
        return known.model

    def _solved(self, models: list[Model]) -> list[Model]:
        """The models with their coefficients, from the sums and the penalty."""
        rule, d = self._learner.linear, self._learner.dimension
        ridge = np.full(d, rule.ridge)
        if rule.unit_free:  # in units of the features' second moments, pooled over the models
            squares, rows = np.zeros(d), 0.0
            for model in models:
                if model.count > 0.0:
                    squares += model.variation
                    rows += model.count - model.centred
            ridge = rule.ridge * squares / rows if rows > 0.0 else squares
        return [refresh(model._replace(ridge=ridge)) if model.count > 0.0 else model for model in models]
