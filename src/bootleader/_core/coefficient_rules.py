"""Contextual policies that draw the coefficients of every model in each round: their rule, and what a draw may read."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bootleader._core.linear_model import LinearModels
from bootleader._core.rules import Noise


class Evidence(NamedTuple):
    """What a draw of coefficients may know; the first axis of models, memory and places is the model."""

    models: LinearModels  # ridge regressions of all rows
    memory: Any  # numbers of the rule's own (model x memory); 0 at the start
    rows: Any  # features and reward of every pull (pull x d+1); empty unless the rule keeps a history
    places: Any  # pulls of each model, in order (model x pull)
    times: Any  # workspace: a number for each pull
    totals: Any  # workspace: a number for each pull
    gram: Any  # workspace (d x d)
    target: Any  # workspace (d)
    stream: Any  # random numbers for ``learn``


def learn_nothing(params: Any, evidence: Any, m: Any, features: Any, reward: Any, stream: Any) -> None:
    """Add nothing to the memory."""


def no_memory(dimension: int) -> int:
    """No numbers of the rule's own."""
    return 0


@dataclass(frozen=True)
class CoefficientRule:
    """In every round the coefficients of each model are drawn; the arm that is best for them is pulled.

    ``draw(params, evidence, m, pulls, drawn, stream) -> width`` writes coefficients of model ``m`` into ``drawn``. The
    index of an arm with features x is ``x'drawn + width sqrt(x'V^-1x)``, with V the penalised Gram matrix of the
    model. There is one model for all arms if the bandit has features for each arm, and one model for each arm if it has
    one context for all. ``learn(params, evidence, m, features, reward, stream)`` is called after every reward, when
    ``evidence.models`` contains it, and may write to ``evidence.memory``. Such a policy is simulated; an agent does not
    play it.

    Parameters
    ----------
    draw : callable
        Draws coefficients, in plain arithmetic and ``math``: the same function runs in Python and compiled.
    params : tuple of float
        The policy's parameters, as ``draw`` and ``learn`` read them.
    learn : callable
        Called after every reward.
    memory : callable
        The number of floats in the memory of a model, for so many features.
    ridge : float
        Penalty on every squared coefficient, above 0.
    initial_pulls : int
        Rewards that every arm gets before coefficients are drawn.
    history : bool
        Whether all rows are kept.

    Attributes
    ----------
    noise : Noise
        None: the draw of coefficients is all that is random.
    unit_free, joint, correlated : bool
        As a :class:`LinearRule` would have them: False, True and False.

    Examples
    --------
    >>> def draw(params, evidence, m, pulls, drawn, stream):
    ...     for j in range(drawn.shape[0]):
    ...         drawn[j] = evidence.models.coefficients[m, j]
    ...     return params[0]
    >>> CoefficientRule(draw, (2.0,)).ridge
    1.0
    """

    draw: Callable[..., float]
    params: tuple[float, ...] = (0.0,)
    learn: Callable[..., None] = learn_nothing
    memory: Callable[[int], int] = no_memory
    ridge: float = 1.0
    initial_pulls: int = 0
    history: bool = False
    noise: ClassVar[Noise] = Noise.NONE
    unit_free: ClassVar[bool] = False
    joint: ClassVar[bool] = True
    correlated: ClassVar[bool] = False


def new_evidence(rule: CoefficientRule, models: LinearModels, rounds: int, stream: Any) -> Evidence:
    """The evidence before the first round."""
    count, d = models.coefficients.shape
    kept = rounds if rule.history else 0
    return Evidence(
        models, np.zeros((count, rule.memory(d))), np.empty((kept, d + 1)), np.empty((count, kept), np.int64),
        np.zeros(kept), np.zeros(kept), np.zeros((d, d)), np.zeros(d), stream,
    )  # fmt: skip


def keep_row(evidence: Any, m: Any, features: Any, reward: Any, pulls: Any) -> None:
    """Add a row to the history, if there is one; ``pulls`` and the model contain it already."""
    if evidence.rows.shape[0] > 0:
        d = features.shape[0]
        for j in range(d):
            evidence.rows[pulls - 1, j] = features[j]
        evidence.rows[pulls - 1, d] = reward
        evidence.places[m, int(evidence.models.count[m]) - 1] = pulls - 1


def solve_in_place(gram: Any, target: Any, solution: Any) -> None:
    """Solve a positive definite system; ``gram`` (its lower triangle) and ``target`` are overwritten.

    A coefficient whose pivot is not above 0 becomes 0.
    """
    d = target.shape[0]
    for i in range(d):
        for j in range(i):
            total = gram[i, j]
            for k in range(j):
                total -= gram[i, k] * gram[j, k]
            gram[i, j] = total / gram[j, j] if gram[j, j] > 0.0 else 0.0
        pivot = gram[i, i]
        for k in range(i):
            pivot -= gram[i, k] * gram[i, k]
        gram[i, i] = math.sqrt(pivot) if pivot > 0.0 else 0.0
        total = target[i]
        for k in range(i):
            total -= gram[i, k] * target[k]
        target[i] = total / gram[i, i] if gram[i, i] > 0.0 else 0.0
    for i in range(d - 1, -1, -1):
        total = target[i]
        for k in range(i + 1, d):
            total -= gram[k, i] * solution[k]
        solution[i] = total / gram[i, i] if gram[i, i] > 0.0 else 0.0
