"""What the log says of one linear model: exact sums of its rows, and of the residuals of its predictions.

The coefficients are solved from the exact sums whenever they are needed. The fourth moment of the residuals, which
AdaptiveLinReBoot reads, cannot be computed from sums of a fixed size for coefficients that change. An agent sums the
*recursive* residuals: each reward against the prediction before it. Here the prediction is that of the replica that
made the decision, which is logged with it. So a residual is a function of its decision's events, and the sums over
them do not depend on the order. Rewards of decisions that were made before there was a prediction count with their
deviations from their own mean, as in an agent.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bootleader.agent._linear_model import Model, settled, triangle
from bootleader.agent.features import Features
from bootleader.store._exact_products import ExactProducts, FadingProducts, ratio_pair
from bootleader.store._exact_sums import ExactMoments, ExactSums, FadingSums, bits_of, whole_of

Sums = ExactSums | FadingSums


class LoggedContext(NamedTuple):
    """The context of a decision in the log.

    Attributes
    ----------
    predicted : float or None
        The reward that the model of the chosen arm predicted; None before it had its first rewards.
    spread : float
        The standard deviation of the prediction's error, in units of that of a reward about its mean.
    values : list
        The checked values of the features; of the chosen arm, where arms have features of their own.
    """

    predicted: float | None
    spread: float
    values: Sequence[Any]

    def to_text(self, arms: Mapping[str, Sequence[Any]] | None = None) -> str:
        """As the log keeps it; on a second line the features of all arms, where they have some of their own."""
        text = json.dumps([self.predicted, self.spread, list(self.values)], allow_nan=False)
        return text if arms is None else f"{text}\n{json.dumps(arms, allow_nan=False)}"

    @classmethod
    def of(cls, text: str) -> LoggedContext:
        """What a text of the log says."""
        return cls(*json.loads(text.partition("\n")[0]))


def context_of_reward(text: str | None) -> str | None:
    r"""What the reward of a decision copies from the decision's context.

    Examples
    --------
    >>> context_of_reward('[null, 1.0, [3.0]]\n{"a": [3.0], "b": [2.0]}')
    '[null, 1.0, [3.0]]'
    """
    return text if text is None else text.partition("\n")[0]


class ModelSums:
    """The sums that belong to one linear model.

    Parameters
    ----------
    dimension : int
        Number of features, a constant included.
    half_life : float, optional
        In rounds.

    Attributes
    ----------
    products : ExactProducts or FadingProducts
        Of features and rewards.
    residuals : ExactSums or FadingSums
        Of the rewards less their predictions, over ``spread``.
    weighted : ExactSums or FadingSums
        Of the same, each times h / (1 + h) with h the leverage of its prediction.
    weights : ExactSums or FadingSums
        Of these factors.
    first : ExactSums or FadingSums
        Of the rewards without a prediction.
    revision : int
        Grows with every change.
    """

    __slots__ = ("first", "half_life", "products", "residuals", "revision", "weighted", "weights")

    def __init__(self, dimension: int, half_life: float | None) -> None:
        self.half_life, self.revision = half_life, 0
        self.products: ExactProducts | FadingProducts
        self.products = ExactProducts(dimension) if half_life is None else FadingProducts(dimension, half_life)
        self.residuals, self.weighted, self.weights, self.first = (_no_sums(half_life) for _ in range(4))

    def add(self, context: LoggedContext, vector: list[float], reward: float, round_: int, sign: int) -> None:
        """Add a reward in its context, or take it back."""
        self.revision += 1
        predicted = context.predicted
        row = [*vector, reward]
        if isinstance(self.products, FadingProducts):
            products, weight = self.products.of_round(round_)
            products.add(row, sign, weight)
            self.products.number += sign
        else:
            self.products.add(row, sign)
        if predicted is None:
            _add(self.first, reward, round_, sign)
            return
        residual, share = (reward - predicted) / context.spread, _share(context.spread)
        _add(self.residuals, residual, round_, sign)
        _add(self.weighted, share * residual, round_, sign)
        _add(self.weights, share, round_, sign)

    def add_model(self, number: int, plain: dict[str, Any], round_: int) -> None:
        """Add what an agent's model knows, in the rewards' own sign."""
        self.revision += 1
        anchor, sums, gram = (np.array(plain[name], float) for name in ("anchor", "sums", "gram"))
        count = float(plain["count"])
        if isinstance(self.products, FadingProducts):
            products, weight = self.products.of_round(round_)
            products.add_model(number, count, anchor, sums, gram, weight)
            self.products.number += number
        else:
            self.products.add_model(number, count, anchor, sums, gram)
        known = (
            (self.residuals, (plain["squares"], plain["third"], plain["fourth"])),
            (self.weighted, (plain["weighted_squares"], 0.0, 0.0)),
            (self.weights, (plain["weights"], 0.0, 0.0)),
        )
        for kept, powers in known:
            moments = ExactMoments(count, 0.0, *powers)
            if isinstance(kept, FadingSums):
                kept.add_moments(number, moments, round_)
            else:
                kept.add_moments(number, moments)

    def widen(self, place: int) -> None:
        """Take in a feature that was 0 so far."""
        self.revision += 1
        if isinstance(self.products, FadingProducts):
            self.products.features += 1
            for products in self.products.epochs.values():
                products.widen(place)
        else:
            self.products.widen(place)

    def key(self, now: int) -> tuple[int, int]:
        """What a model that was computed from the sums stays valid for."""
        return self.revision, self.products.step(now) if isinstance(self.products, FadingProducts) else 0

    # The model -----------------------------------------------------------------------------------------------------

    def model(self, empty: Model, now: int, least: int, sign: float) -> Model:
        """An agent's model with these sums, to be refreshed.

        Parameters
        ----------
        empty : Model
            A model without rows.
        now : int
            The present round, for a half-life.
        least : int
            What a half-life does not fade the count below.
        sign : float
            -1 if rewards are costs.
        """
        fades = isinstance(self.products, FadingProducts)
        products, unit = self.products.total(now) if fades else (self.products, 1)  # type: ignore[union-attr]
        number, weight = self.products.number, products.sums[0][0]  # type: ignore[union-attr]
        if number == 0 or weight <= 0:
            return empty
        counts_as, factor = 1, 1.0
        least = min(least, number)
        if fades and weight < least * unit:
            factor = least * unit / weight  # as the count, which does not fade further
            unit, counts_as = weight, least
        found = _about_the_mean(products, unit, counts_as, empty.centred)  # type: ignore[arg-type]
        squares, third, fourth = (factor * value for value in self._residual_moments(now))
        weighted, weights = (factor * _raw(sums, now)[0] for sums in (self.weighted, self.weights))
        if sign < 0.0:
            found = _of_costs(found)
        return empty._replace(
            **found, squares=squares, third=sign * third, fourth=fourth, weighted_squares=weighted, weights=weights,
            refreshed_at=found["count"], free=0.0,
        )  # fmt: skip

    def _residual_moments(self, now: int) -> tuple[float, float, float]:
        """Sums of the residuals' second, third and fourth powers."""
        second, third, fourth = _raw(self.residuals, now)
        first = self.first.moments(now if isinstance(self.first, FadingSums) else 1)
        return second + first.rss, third + first.third, fourth + first.fourth

    # Snapshots -----------------------------------------------------------------------------------------------------

    def to_plain(self) -> list[Any]:
        """As plain data."""
        if isinstance(self.products, FadingProducts):
            epochs = [[epoch, part.to_plain()] for epoch, part in sorted(self.products.epochs.items())]
            products: Any = [self.products.number, self.products.features, epochs]
        else:
            products = self.products.to_plain()
        return [products, *(sums.to_plain() for sums in self._sums())]

    @classmethod
    def from_plain(cls, plain: Sequence[Any], half_life: float | None) -> ModelSums:
        """The sums that :meth:`to_plain` describes."""
        sums = cls(0, half_life)
        products, *others = plain
        if half_life is None:
            sums.products = ExactProducts.from_plain(products)
            found: list[Sums] = [ExactSums.from_plain(part) for part in others]
        else:
            assert isinstance(sums.products, FadingProducts)
            sums.products.number, sums.products.features, epochs = products
            sums.products.epochs = {epoch: ExactProducts.from_plain(part) for epoch, part in epochs}
            found = [FadingSums.from_plain(part, half_life) for part in others]
        sums.residuals, sums.weighted, sums.weights, sums.first = found
        return sums

    def _sums(self) -> tuple[Sums, ...]:
        return self.residuals, self.weighted, self.weights, self.first


def _no_sums(half_life: float | None) -> Sums:
    return ExactSums() if half_life is None else FadingSums(half_life)


def _add(sums: Sums, value: float, round_: int, sign: int) -> None:
    """Add a value, or take it back."""
    if isinstance(sums, FadingSums):
        sums.add(value, round_, sign)
    else:
        sums.add(value, sign)


def _raw(sums: Sums, now: int) -> tuple[float, float, float]:
    """Sums of second, third and fourth powers."""
    return sums.raw(now if isinstance(sums, FadingSums) else 1)


def _share(spread: float) -> float:
    """The share h / (1 + h) of an error by which a prediction changes, with 1 + h the square of the spread."""
    return 1.0 - 1.0 / (spread * spread)


def _about_the_mean(products: ExactProducts, unit: int, counts_as: int, centred: bool) -> dict[str, Any]:
    """Anchor, mean, sums and products of a model; rounded once."""
    exponents, rows = list(products.exponents), products.sums
    weight, size = rows[0][0], len(exponents)
    anchor = [0.0] * size
    if centred:
        anchor = [0.0, *(rows[0][j] / (weight << exponents[j]) for j in range(1, size))]
    finer = [max(e, bits_of(a)) for e, a in zip(exponents, anchor, strict=True)]
    more = [new - old for new, old in zip(finer, exponents, strict=True)]
    centre = [whole_of(a, bits) for a, bits in zip(anchor, finer, strict=True)]
    whole = [rows[0][j] << more[j] for j in range(size)]
    apart = [total - weight * a for total, a in zip(whole, centre, strict=True)]

    def pair(value: int, bits: int) -> tuple[float, float]:
        return ratio_pair(value * counts_as, unit << bits)

    gram = []
    for i in range(1, size):
        a, b, row = centre[i], apart[i], rows[i]
        for j in range(i, size):
            value = (row[j - i] << more[i] + more[j]) - a * whole[j] - centre[j] * b
            gram.append(pair(value, finer[i] + finer[j]))
    variation = []
    for j in range(1, size - 1):
        total, square = rows[0][j], rows[j][0]
        value = weight * square - total * total if centred else weight * square
        variation.append(max(0, value) * counts_as / (weight * unit << 2 * exponents[j]))
    return {
        "count": weight * counts_as / unit,
        "anchor": np.array(anchor[1:]),
        "mean": np.array([apart[j] / (weight << finer[j]) for j in range(1, size)]) * centred,
        "sums": np.array([pair(apart[j], finer[j]) for j in range(1, size)]).T,
        "gram": np.array(gram).T,
        "variation": np.array(variation),
    }


def _of_costs(found: dict[str, Any]) -> dict[str, Any]:
    """The same with the sign of the rewards turned."""
    size = len(found["anchor"])
    i, j = triangle(size)
    turned = np.where((i == size - 1) != (j == size - 1), -1.0, 1.0)
    signs = np.append(np.ones(size - 1), -1.0)
    scaled = {name: found[name] * signs for name in ("anchor", "mean", "sums")}
    return {**found, **scaled, "gram": found["gram"] * turned}


def plain_model(model: Model, maximize: bool) -> dict[str, Any]:
    """What :meth:`ModelSums.add_model` takes, in the rewards' own sign."""
    model = settled(model)
    found = {name: getattr(model, name) for name in ("anchor", "mean", "sums", "gram")}
    if not maximize:
        found = _of_costs(found)
    plain = {name: found[name].tolist() for name in ("anchor", "sums", "gram")}
    third = model.third if maximize else -model.third
    moments = {"squares": model.squares, "third": third, "fourth": model.fourth}
    weighted = {"weighted_squares": model.weighted_squares, "weights": model.weights}
    return {**plain, **moments, **weighted, "count": model.count}


def vector_of(features: Features, values: Sequence[Any], constant: bool) -> list[float]:
    """The numbers that logged values become."""
    found: list[float] = features.encoded(tuple(values), constant).tolist()
    return found


def spread_of(leverage: float) -> float:
    """The standard deviation of a prediction's error at features of this leverage, for rewards of deviation 1."""
    return math.sqrt(1.0 + leverage)
