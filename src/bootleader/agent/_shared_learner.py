"""The learner of contextual policies whose arms have features of their own and share their coefficients.

There is one linear model for all arms. Draws and schedule are those of :mod:`bootleader._core.kernels.linear`.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

import numpy as np

from bootleader._core.linear_model import effective_count
from bootleader._core.linear_rules import LinearArm, LinearRule
from bootleader._core.rng import GOLDEN, mix64
from bootleader._core.rules import Noise
from bootleader._core.sampling import studentise
from bootleader.agent._arm_state import ArmState
from bootleader.agent._atomic_commit import Store, carry_out
from bootleader.agent._index_learner import IndexLearner
from bootleader.agent._large_k import Thresholds
from bootleader.agent._laws import Law, Laws, Pooled
from bootleader.agent._learner import JointChances, Learner, first_of
from bootleader.agent._linear_laws import ContextArm
from bootleader.agent._linear_learner import LinearLearner
from bootleader.agent._linear_model import Floats, Model, is_old, learn
from bootleader.agent._linear_model_changes import faded, merged, widened
from bootleader.agent._pending_changes import Draft
from bootleader.agent._random_streams import Streams

DRAWS: Final = 4096  # of the coefficients, for probabilities


class SharedLearner(LinearLearner):
    """Keeps one linear model for all arms, and draws a leader for the features that the arms have now.

    Attributes
    ----------
    model : Model
        The model; a reward replaces it.
    contexts : dict of int to array
        The features of each arm in the next choice; set by :meth:`look_at_arms`.
    """

    def __init__(
        self, rule: LinearRule, dimension: int, drops_intercept: bool, seed: int, half_life: float | None = None
    ) -> None:
        super().__init__(rule, dimension, drops_intercept, seed, half_life)
        self.initial_pulls = 0 if rule.unit_free else rule.initial_pulls
        self.model = self.new_model()
        self.contexts: Mapping[int, Floats] = {}

    def look_at_arms(self, contexts: Mapping[int, Floats]) -> None:
        """Set the features of every active arm in the next choice."""
        self._looks += 1
        self.contexts = contexts

    def add(self, draft: Draft, arm: ArmState) -> int:
        return IndexLearner.add(self, draft, arm)

    # Choices -------------------------------------------------------------------------------------------------------

    def drawn(self) -> tuple[int, Store] | None:
        return None

    def choose(self, draft: Draft) -> int:
        if self.linear.unit_free and self.model.count < self.linear.initial_pulls:
            active = self.waiting()
            draft.streams.below(1)  # the model, of one
            return active[draft.streams.below(len(active))]
        return Learner.choose(self, draft)

    def leader(self, laws: Laws, streams: Streams) -> int:
        return first_of(self._indices_of(laws, streams), streams)

    def _indices_of(self, laws: Laws, streams: Streams) -> list[float]:
        model, rule = self.model, self.linear
        if rule.unit_free and model.count < rule.initial_pulls:
            return [0.0] * len(laws.playing)
        rows = self._rows(laws.playing)
        if rule.joint:
            drawn = model.coefficients + self._noise_sd * _combined(model.root, streams.normals(self.dimension))
            return [float(index) for index in _products(rows, drawn)]
        found = self._laws_of(laws, rows)
        if not rule.correlated:
            return self._drawn(found, streams)
        common = streams.normal() / math.sqrt(model.count) if model.centred else 0.0
        direction = _combined(model.root, streams.normals(self.dimension))
        middle = model.anchor[:-1] + model.mean[:-1]
        for value in (middle * direction).tolist():
            common -= value
        noise = _products(rows, direction, common)
        chi = studentise(1.0, found[0][2], streams.spare) if found[0][2] != math.inf else 1.0
        counts = np.sqrt(self._effective_counts(rows))
        return [
            location + scale * (value * chi)
            for (location, scale, _), value in zip(found, (noise * counts).tolist(), strict=True)
        ]

    @property
    def _noise_sd(self) -> float:
        return self.arms[0].noise_sd if self.arms else 1.0

    def _rows(self, slots: Sequence[int]) -> Floats:
        """The features of some arms."""
        return np.array([self.contexts[slot] for slot in slots]).reshape(len(slots), self.dimension)

    def _predictions(self, rows: Floats) -> tuple[Floats, Floats]:
        model, d = self.model, self.dimension
        centred = (rows - model.anchor[:d]) - model.mean[:d]
        products = centred @ model.root.T
        level = float(model.anchor[d] + model.mean[d])
        return level + centred @ model.coefficients, np.add.reduce(products * products, axis=1)

    def predictions_of_all(self) -> tuple[Floats, Floats]:
        """Predicted reward and leverage of every arm; NaN for those without features in this context."""
        none = np.full(self.dimension, math.nan)
        return self._predictions(np.array([self.contexts.get(slot, none) for slot in range(len(self.arms))]))

    def _effective_counts(self, rows: Floats) -> Floats:
        slopes = self._predictions(rows)[1].tolist()
        return np.array([effective_count(self.model.count, slope, self.model.centred) for slope in slopes])

    def _laws_of(self, laws: Laws, rows: Floats) -> list[Law]:
        """The index laws of the playing arms."""
        model, rule = self.model, self.linear
        location, slopes = self._predictions(rows)
        found = []
        for slot, place, slope in zip(laws.playing, location.tolist(), slopes.tolist(), strict=True):
            arm = self.arms[slot]
            view = LinearArm(
                place, effective_count(model.count, slope, model.centred), model.count, model.freedom, model.rss,
                model.concentration, arm.noise_sd, arm.count, arm.mean, arm.rss,
            )  # fmt: skip
            found.append(rule.law(rule.params, view, laws.shared))
        return found

    # Rewards -------------------------------------------------------------------------------------------------------

    def update(self, slot: int, reward: float, decision: list[Store] | None = None) -> None:
        Learner.update(self, slot, reward, decision)

    def finish(self) -> None:
        carry_out(self.pending)
        self.pending = None

    def add_reward(self, arm: ArmState, reward: float, now: int) -> None:
        IndexLearner.add_reward(self, arm, reward, now)

    def bring_up_to_date(self, arm: ArmState, now: int) -> None:
        IndexLearner.bring_up_to_date(self, arm, now)

    def learn(self, draft: Draft, slot: int, reward: float) -> None:
        Learner.learn(self, draft, slot, reward)
        model, now, old = draft.model or self.model, draft.rounds, draft.laws
        if self.half_life is not None:
            model = faded(model, max(math.exp2(-1.0 / self.half_life), min(1.0, 2.0 / max(model.count, 1.0))))
        draft.model = model = learn(model, self.context, reward, triangular=True)
        unit_free, first = self.linear.unit_free, old.pooled_at == 0
        lacking = model.count < self.linear.initial_pulls if unit_free else draft.in_initial_pulls > 0
        if first and lacking and model.count <= max(1, len(self.arms)) * self.linear.initial_pulls:
            return
        if first or is_old(model, unit_free) or model.ridge[0] < self._least_ridge:
            draft.model = self._refreshed([model], 0)
        if first or now >= old.renew_at:
            arms = draft.arms()
            pooled = self._pooled_of(draft.model)
            draft.replace_laws(self._laws_with(self.now_playing(arms), pooled, now))

    def merge(self, draft: Draft, others: Iterable[tuple[int, ArmState]], rounds: int) -> None:
        others = list(others)
        Learner.merge(self, draft, others, rounds)
        theirs = next((other.model for _, other in others if isinstance(other, ContextArm)), None)
        if theirs is None or theirs.count == 0.0:
            return
        both = merged(self.model, theirs)
        draft.model = self._refreshed([both], 0)
        arms, now = draft.arms(), draft.rounds
        draft.replace_laws(self._laws_with(self.now_playing(arms), self._pooled_of(draft.model), now))

    def state_now(self, slot: int) -> ArmState:
        return ContextArm.of(Learner.state_now(self, slot), self.model)

    def widening(self, place: int) -> list[Store]:
        penalty = 0.0 if self.linear.unit_free else self.linear.ridge
        fields = {
            "model": widened(self.model, place, penalty),
            "dimension": self.dimension + 1,
            "changes": self.changes + 1,
        }
        return [(setattr, self, name, value) for name, value in fields.items()]

    # Laws ----------------------------------------------------------------------------------------------------------

    def _pooled_of(self, model: Model) -> Pooled:
        """As for several models; the variance is no less than the weighted one of the residuals."""
        pooled = LinearLearner.pooled(self, [ContextArm.of(ArmState(), model)], 0)
        if len(self.arms) > 1 and model.weights > 0.0:
            pooled = pooled._replace(variance=max(pooled.variance, model.weighted_squares / model.weights))
        return pooled

    def _laws_with(self, playing: list[int], pooled: Pooled, pooled_at: int) -> Laws:
        shared = self._shared_statistics(pooled)
        return Laws(playing, [[], [], []], shared, pooled_at, self._next_renewal(pooled_at))

    def fresh_laws(self, arms: Sequence[ArmState], rounds: int) -> Laws:
        return self._laws_with(self.now_playing(arms), self.laws.pooled, self.laws.pooled_at)

    def laws_now(self) -> Laws:
        models = self.fresh_laws(self.arms, self.rounds) if self.stale else self.laws
        if not models.playing:
            return models
        found = self._laws_of(models, self._rows(models.playing))
        columns = [list(map(itemgetter(part), found)) for part in range(3)]
        return Laws(models.playing, columns, models.shared, models.pooled_at)

    def restore_laws(self, pooled: Pooled, pooled_at: int, thresholds: Thresholds | None) -> None:
        self.laws = self._laws_with(self.now_playing(self.arms), pooled, pooled_at)

    # Probabilities -------------------------------------------------------------------------------------------------

    def joint_chances(self, wanted: Container[int]) -> JointChances | None:
        """Probabilities where the indices of the arms are not independent: many draws, on a stream of their own."""
        rule, model = self.linear, self.model
        if rule.unit_free and model.count < rule.initial_pulls:
            active = [slot for slot in self.waiting() if slot in wanted]
            return active, np.full(len(active), 1.0 / len(active)), None
        if not (rule.joint or rule.correlated):
            return None
        laws = self.fresh_laws(self.arms, self.rounds) if self.stale else self.laws
        playing = [slot for slot in laws.playing if slot in wanted]
        if not playing:
            return None
        rng = np.random.default_rng(int(mix64(self.streams.spare.states[0] ^ GOLDEN)))
        rows, draws = self._rows(playing), rng.standard_normal((DRAWS, self.dimension))
        if rule.joint:
            indices = (model.coefficients + self._noise_sd * (draws @ model.root)) @ rows.T
        else:
            indices = self._correlated_draws(laws, playing, rows, draws, rng)
        leads = indices == indices.max(axis=1, keepdims=True)
        wins = (leads / leads.sum(axis=1, keepdims=True)).sum(axis=0)
        chances = (wins + 1.0 / len(playing)) / (DRAWS + 1)  # no arm that may be chosen has probability 0
        return playing, chances, np.sqrt(chances * (1.0 - chances) / (DRAWS + 1))

    def _correlated_draws(self, laws: Laws, playing: list[int], rows: Floats, draws: Floats, rng: Any) -> Floats:
        """Indices of arms whose noise is correlated like their predictions."""
        model = self.model
        some = Laws(playing, [[], [], []], laws.shared)
        location, scale, shape = np.array(self._laws_of(some, rows)).T
        noise = (draws @ model.root) @ ((rows - model.anchor[:-1]) - model.mean[:-1]).T
        if model.centred:
            noise += rng.standard_normal((DRAWS, 1)) / math.sqrt(model.count)
        if self.linear.noise == Noise.STUDENT and shape[0] != math.inf:
            noise *= np.sqrt(shape[0] / rng.chisquare(shape[0], (DRAWS, 1)))
        return np.asarray(location + scale * (noise * np.sqrt(self._effective_counts(rows))))


def _combined(root: Floats, normals: Sequence[float]) -> Floats:
    """T'n, added in the order of the simulator."""
    return np.asarray(np.add.reduce(root * np.array(normals)[:, None], axis=0))


def _products(rows: Floats, vector: Floats, start: float = 0.0) -> Floats:
    """Each row times a vector, added in the order of the simulator."""
    total = np.full(len(rows), start)
    for column, factor in zip(rows.T, vector.tolist(), strict=True):
        total = total + factor * column
    return total
