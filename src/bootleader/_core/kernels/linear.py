"""The kernel for contextual bandits: one run after the other, linear models of the rewards.

Everything here is a plain function. :func:`kernel_for` compiles the round; :func:`plain_parts_for` runs the same
functions in Python, which gives the same results bit for bit. Predictions are in :mod:`.linear_predictions`, indices in
:mod:`.linear_indices`.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from bootleader._core.arm_parameters import RewardParameters
from bootleader._core.code_fingerprint import code_digest
from bootleader._core.kernels.linear_indices import (
    correlated_noise,
    draw_coefficients,
    independent_indices,
    joint_indices,
    law_at,
    leading_arm,
)
from bootleader._core.kernels.linear_predictions import predict_all, predict_each, true_means, update_all
from bootleader._core.linear_model import drop_intercept_if_possible, is_old, learn, refresh
from bootleader._core.moments import welford
from bootleader._core.numba_bridge import compiled, is_raised, register, specialise, switch
from bootleader._core.reference_player import POOLING_GROWTH
from bootleader._core.rng import Stream, below

# A round --------------------------------------------------------------------------------------------------------------


def initial_arm(plan, run, spare):
    """One of the arms that need initial pulls, or any arm if it is the shared model that needs them."""
    place = int(below(spare, int(run.left[0])))
    which = int(run.initial[place])
    run.needed[which] -= 1
    if run.needed[which] == 0:
        run.left[0] -= 1
        run.initial[place] = run.initial[run.left[0]]
    if plan.unit_free and not plan.disjoint:
        return np.int64(below(spare, run.arms.mean.shape[0]))
    return np.int64(which)


def choose_arm(plan, run, parameters, played, noise, spare):
    """The arm to pull in a round."""
    if run.left[0] > 0:
        return initial_arm(plan, run, spare)
    if plan.joint:
        joint_indices(parameters.features, run, noise, spare)
    else:
        if plan.disjoint:
            predict_each(parameters.features, run.models, run.arms, run.scratch)
        elif plan.changing:
            predict_all(parameters.features, run.models, run.arms, run.scratch)
        independent_indices(plan, run, parameters.features, played, noise, spare)
    return np.int64(leading_arm(run.arms.indices, spare))


def renew_pool(run):
    """Variance and kurtosis of the residuals, pooled over the models.

    The variance of a model that arms share is no less than that of its residuals weighted with the squares of the steps
    that they made in predictions. So the many rows of an arm that is pulled most do not determine it alone.
    """
    models = run.models
    squares, freedom, streamed, weighted = 0.0, 0.0, 0.0, 0.0
    for m in range(models.count.shape[0]):
        squares += models.rss[m]
        freedom += max(models.freedom[m], 0.0)
        streamed += models.squares[m]
        weighted += models.count[m] * (models.fourth[m] / models.squares[m]) if models.squares[m] > 0.0 else 0.0
    run.pooled[0] = squares / freedom if freedom > 0.0 else 0.0
    if models.count.shape[0] < run.arms.mean.shape[0] and models.weights[0] > 0.0:
        run.pooled[0] = max(run.pooled[0], models.weighted_squares[0] / models.weights[0])
    run.pooled[1] = weighted / streamed if weighted > streamed else 1.0


def renew_ridge(run, m, ridge):
    """The penalty of one model in units of the features' second moments, pooled over the models."""
    models = run.models
    d = models.ridge.shape[1]
    for j in range(d):
        squares, rows = 0.0, 0.0
        for other in range(models.count.shape[0]):
            count = models.count[other]
            if count > 0.0:
                about_mean = models.centred[other]
                total = models.sum_high[other, j]
                squares += models.gram_high[other, j, j] - about_mean * (total * (total / count))
                rows += count - about_mean
        models.ridge[m, j] = ridge * max(squares, 0.0) / rows if rows > 0.0 else 0.0


def learn_row(plan, run, parameters, k, reward, pulls):
    """Update the models, and with fixed features all arms, with the reward of a pull."""
    models, arms, work, row = run.models, run.arms, run.work, run.scratch.row
    features = parameters.features
    m = k if plan.disjoint else np.int64(0)
    column = np.int64(0) if plan.disjoint else k
    arms.count[k], arms.anchor[k], arms.drift[k], arms.rss[k] = welford(
        arms.count[k], arms.anchor[k], arms.drift[k], arms.rss[k], reward
    )
    if not plan.unit_free:
        pooled = run.pooled
        pooled[2], pooled[3], pooled[4], pooled[5] = welford(pooled[2], pooled[3], pooled[4], pooled[5], reward)
        pooled[0] = pooled[5] / pooled[2]
    for j in range(row.shape[0]):
        row[j] = features[j, column]
    surprise, row_share, spread = learn(models, m, row, reward, work)
    if run.left[0] > 0:
        return
    pool_is_old = plan.unit_free and POOLING_GROWTH * (pulls - run.renewed_at[0]) >= run.renewed_at[0]
    first_time = run.renewed_at[0] == 0
    if first_time or pool_is_old:
        run.renewed_at[0] = pulls
    refreshed = first_time or is_old(models, m)
    for other in range(models.count.shape[0]):
        if first_time or (refreshed and other == m):
            if plan.unit_free:
                drop_intercept_if_possible(models, other, work)
                renew_ridge(run, other, plan.ridge)
            refresh(models, other, work)
    if not (plan.changing or plan.disjoint or plan.joint):
        if refreshed:
            predict_all(features, models, arms, run.scratch)
        else:
            update_all(features, models, arms, work, surprise, row_share, spread)
    if plan.unit_free and (first_time or pool_is_old):
        renew_pool(run)


def record_round(plan, run, parameters, trajectory, mark, place):
    """Record the run at a checkpoint; recommended is the arm with the largest predicted reward in this round."""
    arms, totals = run.arms, run.totals
    if plan.disjoint:
        predict_each(parameters.features, run.models, arms, run.scratch)
    elif plan.joint or plan.changing:
        predict_all(parameters.features, run.models, arms, run.scratch)
    recommended = 0
    for k in range(arms.mean.shape[0]):
        if arms.location[k] > arms.location[recommended]:
            recommended = k
    trajectory.regret[mark, place] = totals[0]
    trajectory.reward[mark, place] = totals[1]
    trajectory.best_pulls[mark, place] = totals[2]
    trajectory.simple_regret[mark, place] = totals[3] - arms.mean[recommended]
    trajectory.recommended[mark, place] = recommended


def next_mark(checkpoints, played):
    """Place of the first checkpoint after so many rounds."""
    mark = 0
    while mark < checkpoints.shape[0] and checkpoints[mark] <= played:
        mark += 1
    return mark


# Filled in by `round_functions` and `plain_parts_for`.
pay_of: Any = None
draw_of: Any = None


def advance_linear(plan, parameters, streams, run, trajectory, checkpoints, place, interrupt, start, stop):
    """Play the rounds of one run from ``start`` to ``stop``; returns where it came to."""
    arms, totals, models = run.arms, run.totals, run.models
    stride = streams.stride
    noise, spare, contexts = Stream(streams.noise, 0, stride), Stream(streams.spare, 0, stride), streams.contexts
    mark = next_mark(checkpoints, start)
    if start == 0 and stop > 0:
        if not plan.changing:
            true_means(plan, parameters, arms, totals)
        if not plan.unit_free and not (plan.changing or plan.disjoint or plan.joint):
            predict_all(parameters.features, models, arms, run.scratch)
    for played in range(start, stop):
        if is_raised(interrupt):
            return played
        if plan.changing:
            draw_of(plan.draw, parameters.table, parameters.features, Stream(contexts, 0, stride))
            true_means(plan, parameters, arms, totals)
        k = choose_arm(plan, run, parameters, played, noise, spare)
        parameter = RewardParameters(arms.mean[k], parameters.second[k], parameters.third[k], parameters.table, played)
        reward = pay_of(plan.pay, parameter, Stream(streams.rewards, k, stride))
        arms.pulls[k] += 1
        totals[0] += totals[3] - arms.mean[k]
        totals[1] += reward
        totals[2] += 1.0 if arms.mean[k] == totals[3] else 0.0
        learn_row(plan, run, parameters, k, reward, played + 1)
        if played + 1 == checkpoints[mark]:
            record_round(plan, run, parameters, trajectory, mark, place)
            mark += 1
    return stop


PARTS = (
    true_means, predict_all, predict_each, update_all, draw_coefficients, joint_indices, law_at, correlated_noise,
    independent_indices, leading_arm, initial_arm, choose_arm, renew_pool, renew_ridge, learn_row, record_round,
    next_mark,
)  # fmt: skip


class Functions(NamedTuple):
    """The functions that a kernel is made for; a plan names one of each by number."""

    laws: tuple[Any, ...]
    links: tuple[Any, ...]
    pays: tuple[Any, ...]
    draws: tuple[Any, ...]
    learns: tuple[Any, ...] = ()  # of rules that draw coefficients, whose draws are in the place of laws


SLOTS = ("law_of", "link_of", "pay_of", "draw_of", "learn_of")
_kernels: dict[str, Any] = {}


def kernel_for(functions: Functions, own_parts: tuple[Any, ...] = ()) -> Any:
    """The compiled kernel for these functions; ``own_parts`` replace the functions of the same name in a round."""
    digest = code_digest(*functions, PARTS, own_parts, advance_linear)[:16]
    if digest not in _kernels:
        _kernels[digest] = specialise(advance_linear, digest, **round_functions(functions, digest, own_parts))
    return _kernels[digest]


def round_functions(functions: Functions, digest: str, own_parts: tuple[Any, ...] = ()) -> dict[str, Any]:
    """What :func:`advance_linear` calls, by name, ready to be compiled for these functions."""
    names = {
        name: switch(f"linear_{name}_{digest}", [compiled(function) for function in group])
        for name, group in zip(SLOTS, functions, strict=True)
        if group
    }
    namespace = {**_globals_of(own_parts), **names}
    parts = {}
    for part in _replaced(own_parts):
        made = FunctionType(part.__code__, namespace, f"{part.__name__}_{digest}")
        made.__qualname__, made.__module__ = made.__name__, part.__module__
        parts[part.__name__] = namespace[part.__name__] = made
    for made in parts.values():
        register(made)
    return {**names, **parts}


def _replaced(own_parts: tuple[Any, ...]) -> list[Any]:
    """The functions of a round, some of them replaced."""
    return list({part.__name__: part for part in (*PARTS, *own_parts)}.values())


def _globals_of(own_parts: tuple[Any, ...]) -> dict[str, Any]:
    """What the functions of a round may refer to."""
    return {name: value for part in (*PARTS, *own_parts) for name, value in part.__globals__.items()}


def plain_parts_for(functions: Functions, own_parts: tuple[Any, ...] = ()) -> dict[str, Any]:
    """The functions of a round by name, to run in Python: ``advance_linear``, ``choose_arm``, ``learn_row``, ..."""

    def chosen(group: tuple[Any, ...]) -> Any:
        return lambda which, *arguments: group[which](*arguments)

    names = dict(zip(SLOTS, map(chosen, functions), strict=True))
    namespace = {**_globals_of(own_parts), **names, "is_raised": lambda flag: flag[0] != 0}
    for part in (*_replaced(own_parts), advance_linear):
        namespace[part.__name__] = FunctionType(part.__code__, namespace, part.__name__)
    return namespace
