"""The parts of a round that rules with drawn coefficients have instead of those of :mod:`.linear`.

:func:`choose_arm` and :func:`learn_row` take the places of the functions of the same name there; everything else of a
round is the same. Names that this file does not define are those of :mod:`.linear` and :mod:`.linear_model`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bootleader._core.coefficient_rules import CoefficientRule, Evidence, keep_row, new_evidence
from bootleader._core.kernels.linear import initial_arm
from bootleader._core.kernels.linear_indices import leading_arm
from bootleader._core.kernels.linear_predictions import predict_all
from bootleader._core.kernels.linear_state import LinearPlan, LinearRun, new_run
from bootleader._core.linear_model import LinearModels, Workspace, is_old, learn, refresh, slope_leverage


class CoefficientRun(NamedTuple):
    """The state of one run: that of :class:`LinearRun`, and the evidence."""

    models: LinearModels
    arms: Any
    work: Workspace
    scratch: Any
    initial: Any
    needed: Any
    left: Any
    totals: Any
    pooled: Any
    renewed_at: Any
    evidence: Evidence


def new_coefficient_run(
    parameters: Any, noise_sd: Any, plan: LinearPlan, plain: bool, rule: CoefficientRule, rounds: int, stream: Any
) -> CoefficientRun:
    """A run before the first round."""
    run: LinearRun = new_run(parameters, noise_sd, plan, plain)
    return CoefficientRun(*run, new_evidence(rule, run.models, rounds, stream))


# Filled in by `kernel_for` and `plain_parts_for`.
law_of: Any = None
learn_of: Any = None


def choose_arm(plan, run, parameters, played, noise, spare):
    """The arm to pull in a round."""
    if run.left[0] > 0:
        return initial_arm(plan, run, spare)
    if plan.disjoint:
        index_each(plan, run, parameters.features, played, noise)
    else:
        index_all(plan, run, parameters.features, played, noise)
    return np.int64(leading_arm(run.arms.indices, spare))


def index_all(plan, run, features, pulls, noise):
    """Every arm's index from one draw of the coefficients that they share."""
    d, count = features.shape
    drawn, index = run.scratch.coefficients, run.arms.indices
    width = law_of(plan.law, plan.params, run.evidence, 0, pulls, drawn, noise)
    for k in range(count):
        index[k] = 0.0
    for j in range(d):
        coefficient = drawn[j]
        for k in range(count):
            index[k] += coefficient * features[j, k]
    if width != 0.0:
        predict_all(features, run.models, run.arms, run.scratch)
        for k in range(count):
            index[k] += width * math.sqrt(run.arms.slopes[k])


def index_each(plan, run, features, pulls, noise):
    """Every arm's index from a draw of its own coefficients."""
    row, drawn, index = run.scratch.row, run.scratch.coefficients, run.arms.indices
    for j in range(row.shape[0]):
        row[j] = features[j, 0]
    for k in range(index.shape[0]):
        width = law_of(plan.law, plan.params, run.evidence, k, pulls, drawn, noise)
        total = 0.0
        for j in range(row.shape[0]):
            total += drawn[j] * row[j]
        if width != 0.0:
            total += width * math.sqrt(slope_leverage(run.models, k, row))
        index[k] = total


def learn_row(plan, run, parameters, k, reward, pulls):
    """Update the model, the history and the rule's memory with the reward of a pull."""
    models, row, features = run.models, run.scratch.row, parameters.features
    m = k if plan.disjoint else np.int64(0)
    column = np.int64(0) if plan.disjoint else k
    for j in range(row.shape[0]):
        row[j] = features[j, column]
    learn(models, m, row, reward, run.work)
    if is_old(models, m):
        refresh(models, m, run.work)
    keep_row(run.evidence, m, row, reward, pulls)
    learn_of(plan.law, plan.params, run.evidence, m, row, reward, run.evidence.stream)


PARTS = (index_all, index_each, choose_arm, learn_row)
