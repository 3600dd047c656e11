"""The arms of an agent with contexts, and their models in the form that a choice reads."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bootleader._core.linear_model import effective_count
from bootleader._core.linear_rules import LinearArm, LinearRule
from bootleader._core.rules import SharedStatistics
from bootleader.agent._arm_state import ArmState
from bootleader.agent._laws import Law, Laws
from bootleader.agent._linear_model import Floats, Model
from bootleader.agent._linear_model_changes import merged


@dataclass(slots=True)
class ContextArm(ArmState):
    """An arm with a linear model of its rewards. The moments are those of the plain rewards."""

    model: Model = None  # type: ignore[assignment]  # given by :meth:`of`

    @classmethod
    def of(cls, arm: ArmState, model: Model) -> ContextArm:
        """A plain arm with a model."""
        return cls(
            arm.count, arm.anchor, arm.drift, arm.rss, arm.third, arm.fourth, arm.rewards, arm.last, arm.active,
            arm.in_flight, arm.noise_sd, arm.history, arm.awaited, arm.added_later, model,
        )  # fmt: skip

    def copy(self) -> ContextArm:
        return ContextArm.of(self, self.model)

    def absorb(self, other: ArmState, fourth_moment: bool) -> None:
        assert isinstance(other, ContextArm)
        ArmState.absorb(self, other, fourth_moment)
        self.model = merged(self.model, other.model)._replace(count=self.count)


class MutableArm:
    """A :class:`LinearArm` that is used again and again: every context sets its location and count."""

    __slots__ = LinearArm._fields
    location: float
    count: float

    def set_model(self, arm: ContextArm) -> None:
        """Set what does not depend on the context."""
        model = arm.model
        self.rewards, self.freedom, self.rss = model.count, model.freedom, model.rss
        self.concentration, self.noise_sd = model.concentration, arm.noise_sd
        self.own_count, self.own_mean, self.own_rss = arm.count, arm.anchor + arm.drift, arm.rss


class LinearLaws(Laws):
    """The playing arms' models, stacked; the index laws follow from them and a context.

    Attributes
    ----------
    anchor, mean : array (arm x feature)
        What is subtracted from the features.
    level : array (arm)
        The predicted reward at features of that size.
    root : array (arm x feature + 1 x feature)
        The root of the inverse of each penalised Gram matrix, and the coefficients as the last row.
    centred : list of bool
        Whether each model has an intercept.
    views : list of MutableArm
        What a law is given of each arm.
    """

    __slots__ = ("anchor", "centred", "level", "mean", "root", "views")

    def __init__(
        self, playing: list[int], arms: Sequence[ContextArm], shared: SharedStatistics, pooled_at: int = 0,
        renew_at: float = math.inf,
    ) -> None:  # fmt: skip
        super().__init__(playing, [[], [], []], shared, pooled_at, renew_at)
        k, d = len(playing), len(arms[0].model.coefficients) if arms else 0
        self.anchor, self.mean, self.level = np.zeros((k, d)), np.zeros((k, d)), np.zeros(k)
        self.root = np.zeros((k, d + 1, d))
        self.views = [MutableArm() for _ in playing]
        self.centred = [False] * k
        for place, arm in enumerate(arms):
            self.set_arm(place, arm)

    def set_arm(self, place: int, arm: ContextArm) -> None:
        """Change one arm's model."""
        model = arm.model
        d = len(model.coefficients)
        if model.centred or self.centred[place]:  # otherwise they are 0 and stay so
            self.anchor[place], self.mean[place] = model.anchor[:d], model.mean[:d]
            self.level[place] = model.anchor[d] + model.mean[d]
        root = self.root[place]
        root[:d] = model.root
        root[d] = model.coefficients
        self.centred[place] = model.centred
        self.views[place].set_model(arm)

    def set(self, place: int, law: Any) -> None:
        """Change one arm: ``law`` is the arm itself."""
        self.set_arm(place, law)

    def only(self, slots: Container[int]) -> LinearLaws:
        """The models of some of the playing arms."""
        places = [place for place, slot in enumerate(self.playing) if slot in slots]
        some = LinearLaws([self.playing[place] for place in places], [], self.shared, self.pooled_at, self.renew_at)
        some.anchor, some.mean, some.level = self.anchor[places], self.mean[places], self.level[places]
        some.root, some.views = self.root[places], [self.views[place] for place in places]
        some.centred = [self.centred[place] for place in places]
        return some

    def predictions(self, context: Floats) -> tuple[Floats, Floats]:
        """Each arm's predicted reward, and the part of its leverage that is due to the features."""
        if True in self.centred:
            centred = (context - self.anchor) - self.mean
            products = np.matmul(self.root, centred[:, :, None])[:, :, 0]
            location = self.level + products[:, -1]
        else:  # one product for all arms
            products = (self.root.reshape(-1, len(context)) @ context).reshape(self.root.shape[:2])
            location = products[:, -1]
        slopes = products[:, :-1]
        return location, np.add.reduce(slopes * slopes, axis=1)

    def in_context(self, context: Floats, rule: LinearRule) -> list[Law]:
        """The index laws in a context."""
        location, slopes = self.predictions(context)
        law, params, shared, found = rule.law, rule.params, self.shared, []
        columns = zip(self.views, location.tolist(), slopes.tolist(), self.centred, strict=True)
        for view, predicted, slope, centred in columns:
            view.location = predicted
            view.count = effective_count(view.rewards, slope, centred)
            found.append(law(params, view, shared))
        return found
