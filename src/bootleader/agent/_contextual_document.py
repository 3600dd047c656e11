"""What the document of an agent with contexts holds beside that of any agent: written and read."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bootleader._core.linear_rules import LinearRule
from bootleader._core.printable_text import printable
from bootleader.agent._arm_state import ArmState
from bootleader.agent._learner import Learner
from bootleader.agent._linear_laws import ContextArm
from bootleader.agent._linear_learner import ContextIndexRule, LinearLearner
from bootleader.agent._linear_model import Model
from bootleader.agent._shared_learner import SharedLearner
from bootleader.agent.features import Features

if TYPE_CHECKING:
    from bootleader.agent._contextual_schema import ModelRecord
    from bootleader.agent._schema import Document

ARRAYS = ("anchor", "mean", "sums", "gram", "ridge", "root", "diagonal", "coefficients", "variation")


def contexts_of(agent: Any) -> dict[str, Any]:
    """What is written for contexts."""
    learner, features = agent._learner, agent.features
    return {
        "features": features.as_plain(),
        "intercept": features.intercept,
        "of_arms": features.of_arms,
        "kurtosis": float(learner.laws.pooled.kurtosis),
        "models": [_plain(model) for model in _models(learner)],
        "open": [list(decision.context) for decision in agent._ledger.open.values()],
    }


def _models(learner: Any) -> list[Model]:
    return [learner.model] if isinstance(learner, SharedLearner) else [arm.model for arm in learner.arms]


def _plain(model: Model) -> dict[str, Any]:
    plain = {
        name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in model._asdict().items()
    }
    taken = plain.pop("taken")
    return {**plain, "waiting": [row.tolist() for row in model.waiting[:taken]]}


def index_rule(rule: Any, document: Document) -> Any:
    """A contextual rule as an index rule; any other rule as it is."""
    if not isinstance(rule, LinearRule):
        return rule
    if getattr(document.contexts, "of_arms", False) and rule.unit_free:  # the model needs them, not the arms
        rule = dataclasses.replace(rule, initial_pulls=0)
    return ContextIndexRule.of(rule)


def checked_features(document: Document, rule: Any) -> tuple[Features | None, list[Any]]:
    """The features of a document and the contexts of its open decisions, or ``ValueError``."""
    from bootleader.agent._contextual_schema import ContextsRecord, contradiction, features_of
    from bootleader.agent._schema import refuse

    record, is_contextual = document.contexts, isinstance(rule, LinearRule)
    if not isinstance(record, ContextsRecord):
        if is_contextual:
            raise refuse("its policy needs contexts, and it has none")
        return None, [None] * len(document.decisions.open)
    if not is_contextual:
        raise refuse("it has contexts, and its policy takes none")
    if len(record.open) != len(document.decisions.open):
        raise refuse("its open decisions do not all have a context")
    try:
        features = features_of(record)
        contexts = [features.checked(_named(features, values)) for values in record.open]
    except (TypeError, ValueError) as error:
        raise refuse(f"its features or contexts are refused: {printable(str(error), 200)}") from None
    dimension = features.dimension + (features.intercept and not rule.unit_free)
    counts = [arm.count for arm in document.arms]
    why = contradiction(record, dimension, counts, document.rounds, document.half_life is not None)
    if why is not None:
        raise refuse(why)
    return features, contexts


def _named(features: Features, values: Sequence[Any]) -> dict[str, Any]:
    if len(values) != len(features):
        raise ValueError(f"a context has {len(values)} values for {len(features)} features")
    return dict(zip(features, values, strict=True))


def with_models(learner: Learner, arms: list[ArmState], document: Document) -> list[ArmState]:
    """The arms of a document with their models, if they have some."""
    from bootleader.agent._contextual_schema import ContextsRecord

    if not isinstance(learner, LinearLearner):
        return arms
    record = document.contexts
    assert isinstance(record, ContextsRecord)  # by checked_features
    if isinstance(learner, SharedLearner):
        learner.model = _model(record.models[0])
        return arms
    return [ContextArm.of(arm, _model(model)) for arm, model in zip(arms, record.models, strict=True)]


def pooled_kurtosis(document: Document) -> float:
    """The pooled kurtosis of a contextual document; 0 for any other."""
    from bootleader.agent._contextual_schema import ContextsRecord

    return document.contexts.kurtosis if isinstance(document.contexts, ContextsRecord) else 0.0


def _model(record: ModelRecord) -> Model:
    fields = {name: getattr(record, name) for name in record.__struct_fields__}
    fields |= {name: np.array(fields[name], float).reshape(_shape(name, record)) for name in ARRAYS}
    waiting = [np.array(row, float) for row in record.waiting]
    return Model(**{**fields, "waiting": waiting, "taken": len(waiting)})


def _shape(name: str, record: ModelRecord) -> tuple[int, ...]:
    d = len(record.coefficients)
    return {"root": (d, d), "sums": (2, d + 1), "gram": (2, -1)}.get(name, (-1,))
