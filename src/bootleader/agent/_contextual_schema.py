"""The schema of what the document of an agent with contexts holds beside that of any agent, and its checks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from bootleader.agent._linear_model import WAITING
from bootleader.agent._validation import MOST_REWARDS
from bootleader.agent.features import Features

CLOSE: Final = 1e-6
LARGEST_SUM: Final = 1e300  # of an exact sum: products split their factors

Number = Annotated[float, Meta(ge=-LARGEST_SUM, le=LARGEST_SUM)]
NotNegative = Annotated[float, Meta(ge=0.0)]
Pair = Annotated[list[list[Number]], Meta(min_length=2, max_length=2)]


class ModelRecord(Struct, forbid_unknown_fields=True):
    """The linear model of one arm; see :class:`bootleader.agent._linear_model.Model`."""

    count: Annotated[float, Meta(ge=0.0, le=float(MOST_REWARDS))]
    centred: bool
    anchor: list[Number]
    mean: list[Number]
    sums: Pair
    gram: Pair
    ridge: list[NotNegative]
    root: list[list[Number]]
    diagonal: list[Number]
    coefficients: list[Number]
    rss: NotNegative
    freedom: Number
    free: NotNegative
    drift: Number
    squares: NotNegative
    third: Number
    fourth: Number
    weighted_squares: NotNegative
    weights: NotNegative
    refreshed_at: NotNegative
    rows: Annotated[int, Meta(ge=0, le=MOST_REWARDS)]
    waiting: Annotated[list[list[Number]], Meta(max_length=WAITING)]
    variation: list[NotNegative]
    spread: Annotated[float, Meta(ge=1.0)]


class ContextsRecord(Struct, forbid_unknown_fields=True):
    """Features, models of the arms in their order (or the one that they share), and contexts of the open decisions."""

    features: list[tuple[str, Any]]
    intercept: bool
    of_arms: bool
    kurtosis: NotNegative  # pooled
    models: list[ModelRecord]
    open: list[list[Any]]


def features_of(record: ContextsRecord) -> Features:
    """The features, which check themselves: ``TypeError`` or ``ValueError``."""
    return Features.from_plain(record.features, record.intercept, record.of_arms)


def contradiction(
    record: ContextsRecord, dimension: int, arms: Sequence[float], rounds: int, fades: bool
) -> str | None:
    """What is wrong with the models; None if nothing is. ``arms`` are the arms' counts."""
    counts = [model.count for model in record.models] if record.of_arms else list(arms)
    if len(record.models) != (1 if record.of_arms else len(arms)):
        return "its models are not as many as its arms need"
    for model, count in zip(record.models, counts, strict=True):
        if why := _wrong(model, dimension, count, fades):
            return why
        if model.count > rounds:
            return "a model has more rewards than there were rounds"
    return None


def _wrong(model: ModelRecord, d: int, count: float, fades: bool) -> str | None:
    size = d + 1
    lengths: dict[int, Sequence[Sequence[Any]]] = {
        size: (model.anchor, model.mean, *model.sums, *model.waiting),
        d: (model.ridge, model.diagonal, model.coefficients, model.variation, model.root, *model.root),
        size * (size + 1) // 2: model.gram,
    }
    if any(len(part) != length for length, parts in lengths.items() for part in parts):
        return f"a model does not have the size of {d} features"
    if model.count != count:
        return f"a model has {model.count!r} rewards, its arm {count!r}"
    if not fades and (model.rows > model.count or model.refreshed_at > model.count):
        return "a model was refreshed after more rewards than it has"
    if model.count == 0.0 and any(
        (*model.anchor, *model.mean, *model.sums[0], *model.gram[0], model.rss, model.squares, model.weights)
    ):
        return "a model has moments that no rewards cannot have"
    if model.free > d or model.freedom > model.count * (1.0 + CLOSE) + CLOSE:
        return "a model has more degrees of freedom than rewards"
    if model.weights > model.count * (1.0 + CLOSE) or (model.weights == 0.0 and model.weighted_squares > 0.0):
        return "the weights of a model's residuals do not go with their number"
    # The inverse's diagonal is that of T'T.
    for j, kept in enumerate(model.diagonal):
        found = math.fsum(row[j] * row[j] for row in model.root)
        if abs(found - kept) > CLOSE * found:
            return "the diagonal of a model's inverse does not go with its root"
    return None
