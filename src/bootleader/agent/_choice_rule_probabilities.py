"""The exact probabilities of choice rules: in closed form, or by an integral."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bootleader._core.elementary import log
from bootleader.agent._choice_learner import ChoiceLearner
from bootleader.agent._elementary_arrays import gauss_legendre
from bootleader.agent._random_streams import SpareStream
from bootleader.agent._win_probability_student import winning_probabilities
from bootleader.policies import (
    bayes_ucb,
    beta_thompson,
    bootstrapped_ucb,
    ensemble_sampling,
    exp3,
    imed,
    maillard_sampling,
    multiplier_bootstrap,
    sliding_window_ucb,
    top_two_thompson,
    tsallis_inf,
)
from bootleader.policies._divergence import divergence

Floats = npt.NDArray[np.float64]
Exact = Callable[[tuple[float, ...], Any, list[float], Any], Floats | None]

NODES: Final = 16  # of an integral between two edges
REACH: Final = np.array([-8.0, -5.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 5.0, 8.0])  # edges, in standard deviations
SIDES: Final = np.array([-1.0, -0.3, -0.1, 0.1, 0.3, 1.0])  # and in the tails, which fall like exp(a u) and exp(-b u)
FAR: Final = 45.0
TOLERANCE: Final = 1e-10


def exact_chances(learner: ChoiceLearner, playing: Sequence[int]) -> Floats | None:
    """The probability of each of these arms, in closed form or by an integral; None where neither is known."""
    exact = EXACT.get(learner.rule.choose)
    if exact is not None:
        return exact(learner.rule.params, learner.view(playing), learner.memory_of(playing), learner.shared(playing))
    stream = SpareStream(0, 1)
    place, _ = learner.choice(playing, stream)
    if stream.states != [0]:
        return None
    chances = np.zeros(len(playing))  # a choice that draws nothing
    chances[place] = 1.0
    return chances


def _shared_among_best(indices: Sequence[float] | Floats) -> Floats:
    """All to the largest index, in equal parts if there are several."""
    leads = np.asarray(indices) == np.max(indices)
    return np.asarray(leads / leads.sum(), float)


def _imed(params: tuple[float, ...], arms: Any, memory: list[float], shared: Any) -> Floats:
    best = max(arms.mean)
    pairs = zip(arms.count, arms.mean, strict=True)
    return _shared_among_best([-(s * divergence(params[0], params[1], mean, best) + log(s)) for s, mean in pairs])


def _maillard(params: tuple[float, ...], arms: Any, memory: list[float], shared: Any) -> Floats:
    largest = max(arms.mean[k] for k in range(shared.arms))
    total = maillard_sampling.weigh(params, arms, memory, shared, largest)
    return np.asarray(np.array(memory[maillard_sampling.WEIGHT :: maillard_sampling.PLACES]) / total)


def _exp3(params: tuple[float, ...], arms: Any, memory: list[float], shared: Any) -> Floats:
    exp3.weigh(params, memory, shared)
    return np.array(memory[1::2])


def _tsallis_inf(params: tuple[float, ...], arms: Any, memory: list[float], shared: Any) -> Floats:
    total = tsallis_inf.weigh(params, memory, shared.arms, shared.pulls + 1)
    return np.asarray(np.array(memory[1 : 2 * shared.arms : 2]) / total)


def _bayes_ucb(params: tuple[float, ...], arms: Any, memory: list[float], shared: Any) -> Floats:
    log_t = log(shared.pulls + 1.0)
    return _shared_among_best([bayes_ucb.index_now(params, arms, memory, k, log_t) for k in range(shared.arms)])


def _bootstrapped_ucb(params: tuple[float, ...], arms: Any, memory: list[float], shared: Any) -> Floats:
    level, rank = bootstrapped_ucb.level_and_rank(params, shared)
    return _shared_among_best(
        [bootstrapped_ucb.index_of(params, arms, memory, k, level, rank) for k in range(shared.arms)]
    )


def _sliding_window_ucb(params: tuple[float, ...], arms: Any, memory: list[float], shared: Any) -> Floats:
    return _shared_among_best([sliding_window_ucb.index_of(params, memory, shared, k) for k in range(shared.arms)])


def _multiplier_bootstrap(params: tuple[float, ...], arms: Any, memory: list[float], shared: Any) -> Floats:
    return _mean_over_copies(multiplier_bootstrap.weighted_mean, int(params[2]), params, arms, memory, shared)


def _ensemble_sampling(params: tuple[float, ...], arms: Any, memory: list[float], shared: Any) -> Floats | None:
    seeds = np.reshape(memory, (shared.arms, -1))[:, ensemble_sampling.SEED]
    if not seeds.all():  # priors that are not drawn yet
        return None if seeds.any() else np.full(shared.arms, 1.0 / shared.arms)
    return _mean_over_copies(ensemble_sampling.posterior_mean, int(params[0]), params, arms, memory, shared)


def _mean_over_copies(
    index_of: Callable[..., float], copies: int, params: tuple[float, ...], arms: Any, memory: list[float], shared: Any
) -> Floats:
    """The mean over replicates or models; what they are still to draw is determined by the memory."""
    stream = SpareStream(0, 1)
    shares = [
        _shared_among_best([index_of(params, arms, memory, k, copy, stream) for k in range(shared.arms)])
        for copy in range(copies)
    ]
    return np.asarray(np.mean(shares, axis=0))


def _beta_thompson(params: tuple[float, ...], arms: Any, memory: list[float], shared: Any) -> Floats:
    """The integral of each arm's density times the product of the others' distribution functions, over the logit."""
    from scipy.special import betainc, betaln, log_expit

    posteriors = np.reshape(memory, (shared.arms, beta_thompson.NUMBERS))[:, :2].copy()
    posteriors[posteriors[:, 0] == 0.0] = params[:2]  # arms that neither were drawn nor have rewards
    a, b = posteriors.T[:, :, None]
    edges = np.unique(
        np.concatenate(
            [
                np.log(a / b) + np.sqrt(1.0 / a + 1.0 / b) * REACH,
                np.log(a / b) + FAR / a * SIDES,
                np.log(a / b) + FAR / b * SIDES,
            ],
            axis=1,
        )
    )
    nodes, weights = gauss_legendre(NODES)
    half = np.diff(edges)[:, None] / 2.0
    u = (edges[:-1, None] + half * (1.0 + nodes)).ravel()
    density = np.exp(a * log_expit(u) + b * log_expit(-u) - betaln(a, b))
    below = betainc(a, b, np.exp(log_expit(u)))
    chances = np.array(
        [np.delete(below, k, axis=0).prod(axis=0) @ (density[k] * (half * weights).ravel()) for k in range(shared.arms)]
    )
    return normalised(chances)


def normalised(chances: Floats) -> Floats:
    """Probabilities that sum to 1."""
    return np.asarray(chances / chances.sum(), float)


def _top_two_thompson(params: tuple[float, ...], arms: Any, memory: list[float], shared: Any) -> Floats:
    """P(best) beta, and what the other leaders leave to each challenger."""
    beta, sd, count = params[0], params[1], np.array(arms.count)
    if shared.arms == 1:
        return np.ones(1)
    best = winning_probabilities(arms.mean, sd / np.sqrt(count), np.full(shared.arms, math.inf), TOLERANCE)
    chances = beta * best
    for leader, chance in enumerate(best):
        others = np.delete(best, leader)
        left = others.sum()
        rest = np.zeros(shared.arms)
        if left > 0.0:
            rest[np.arange(shared.arms) != leader] = others / left
        else:
            distances = [
                top_two_thompson.distance(arms, leader, k) if k != leader else math.inf for k in range(len(count))
            ]
            rest[int(np.argmin(distances))] = 1.0
        chances = chances + (1.0 - beta) * chance * rest
    return normalised(chances)


EXACT: Final[dict[Any, Exact]] = {
    imed.choose: _imed,
    maillard_sampling.choose: _maillard,
    exp3.choose: _exp3,
    tsallis_inf.choose: _tsallis_inf,
    bayes_ucb.choose: _bayes_ucb,
    bootstrapped_ucb.choose: _bootstrapped_ucb,
    sliding_window_ucb.choose: _sliding_window_ucb,
    multiplier_bootstrap.choose: _multiplier_bootstrap,
    ensemble_sampling.choose: _ensemble_sampling,
    beta_thompson.choose: _beta_thompson,
    top_two_thompson.choose: _top_two_thompson,
}
