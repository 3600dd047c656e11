"""The state of one run of a contextual bandit, as the kernel keeps it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bootleader._core.context_parameters import ContextParameters
from bootleader._core.linear_model import LinearModels, Workspace, new_models, new_workspace, set_ridge


class LinearPlan(NamedTuple):
    """A rule and a bandit as numbers."""

    law: int
    noise: int
    params: Any
    ridge: float
    unit_free: bool
    initial_pulls: int
    joint: bool  # one draw of the coefficients for all arms
    correlated: bool  # noise of the arms correlated like their predictions
    draw: int  # of the features
    link: int
    pay: int
    changing: bool  # whether features are drawn in every round
    disjoint: bool
    horizon: int


class LinearArms(NamedTuple):
    """What is kept for each arm."""

    location: Any
    slopes: Any  # leverage of the features
    count: Any
    anchor: Any
    drift: Any
    rss: Any
    noise_sd: Any
    mean: Any  # true mean in the present round
    indices: Any
    pulls: Any


class LinearScratch(NamedTuple):
    """Memory for one round."""

    words: Any  # of arms
    noise: Any  # of arms
    centred: Any  # features about their mean (d x K)
    products: Any  # K
    row: Any  # d
    coefficients: Any  # d, drawn
    normals: Any  # d


class LinearRun(NamedTuple):
    """The state of one run."""

    models: LinearModels
    arms: LinearArms
    work: Workspace
    scratch: LinearScratch
    initial: Any  # arms or models that still need initial pulls, and
    needed: Any  # how many each still needs
    left: Any  # how many there are
    totals: Any  # regret, reward, pulls of the best arm, largest true mean
    pooled: Any  # variance and kurtosis that laws read; then count, anchor, drift and RSS of all rewards
    renewed_at: Any


def known_noise(noise_sd: Any, plan: LinearPlan) -> Any:
    """The noise sds that laws read: one draw of the coefficients for all arms has one, their root mean square."""
    if plan.joint and np.ptp(noise_sd) > 0.0:
        return np.full(len(noise_sd), math.sqrt(float((noise_sd**2).mean())))
    return noise_sd.copy()


def new_run(parameters: ContextParameters, noise_sd: Any, plan: LinearPlan, plain: bool) -> LinearRun:
    """A run before the first round; ``plain`` for a run in Python."""
    arms, d = len(noise_sd), len(parameters.features)
    models = arms if plan.disjoint else 1
    kept = LinearArms(
        **{name: np.zeros(arms) for name in LinearArms._fields if name not in ("noise_sd", "pulls")},
        noise_sd=known_noise(noise_sd, plan),
        pulls=np.zeros(arms, np.int64),
    )
    initial = models if plan.unit_free else arms
    run = LinearRun(
        models=new_models(models, d, plan.unit_free),
        arms=kept,
        work=new_workspace(d),
        scratch=LinearScratch(
            [0] * max(arms, d) if plain else np.zeros(max(arms, d), np.uint64), np.zeros(arms), np.zeros((d, arms)),
            np.zeros(arms), np.zeros(d), np.zeros(d), np.zeros(d),
        ),
        initial=np.arange(initial),
        needed=np.full(initial, plan.initial_pulls, np.int64),
        left=np.array([initial if plan.initial_pulls else 0]),
        totals=np.zeros(4),
        pooled=np.zeros(6),
        renewed_at=np.zeros(1, np.int64),
    )  # fmt: skip
    if not plan.unit_free:
        for m in range(models):
            set_ridge(run.models, m, plan.ridge, run.work)
    return run


class ContextStreams(NamedTuple):
    """The streams of one run; arrays of 64-bit words when compiled, lists of ints in Python."""

    stride: Any
    noise: Any
    spare: Any
    rewards: Any  # one for each arm
    contexts: Any
