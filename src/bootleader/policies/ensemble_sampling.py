"""Ensemble sampling: Thompson sampling from a finite set of perturbed models."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.rng import below
from bootleader._core.rules import ChoiceRule
from bootleader._core.validation import positive, real, whole
from bootleader.policies._keyed_normals import keyed_normal, seed_at
from bootleader.policies._memory_size import MemorySize
from bootleader.policies.base import Knowledge, Policy

MOST_MODELS: Final = 100_000
SEED, NOISES = 0, 1  # an arm's places in the memory; then two numbers a model: its noise, and the weight that has it
PLACES: Final = 2


def draw_seeds(params: Any, memory: Any, shared: Any, stream: Any) -> None:
    """Draw the seeds of all arms, if they are not drawn yet."""
    for k in range(shared.arms):
        seed_at(memory, k * (NOISES + PLACES * int(params[0])) + SEED, stream)


def posterior_mean(params: Any, arms: Any, memory: Any, k: Any, model: Any, stream: Any) -> Any:
    """The mean of arm k in a model, with the noise of all rewards until now."""
    models, prior_mean, noise_sd, prior_weight, count = int(params[0]), params[1], params[3], params[4], arms.count[k]
    first = k * (NOISES + PLACES * models)
    at = first + NOISES + PLACES * model
    weight = prior_weight + count
    if memory[at + 1] < weight:
        normal = keyed_normal(memory[first + SEED], count * models + model, stream)
        memory[at] += noise_sd * math.sqrt(weight - memory[at + 1]) * normal
        memory[at + 1] = weight
    return (prior_weight * prior_mean + count * arms.mean[k] + memory[at]) / weight


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """The largest posterior mean in one model, drawn at random."""
    draw_seeds(params, memory, shared, stream)
    model = int(below(stream, int(params[0])))
    chosen, largest, ties = 0, -math.inf, 0
    for k in range(shared.arms):
        index = posterior_mean(params, arms, memory, k, model, stream)
        if index > largest:
            chosen, largest, ties = k, index, 1
        elif index == largest:
            ties += 1
            if below(stream, ties) == 0:
                chosen = k
    return chosen


def learn(params: Any, arms: Any, memory: Any, shared: Any, arm: Any, reward: Any, stream: Any) -> None:
    """Nothing but the seeds: a model draws the noise of the rewards when it is asked."""
    draw_seeds(params, memory, shared, stream)


@dataclass(frozen=True, repr=False)
class EnsembleSampling(Policy):
    r"""Play the best arm of one of M models, drawn at random in every round.

    Model m starts from a draw :math:`\theta_0 \sim N(m_0, v_0)` of the prior, and adds noise
    :math:`W_i \sim N(0, \sigma^2)` of its own to every reward. Its mean of an arm is

    .. math:: \frac{\theta_0 / v_0 + \sum_i (Y_i + W_i) / \sigma^2}{1 / v_0 + s / \sigma^2}

    which has the law of the posterior; with few models, the same draws are used again and again.

    A model draws its noise when it is asked for an arm: the sum of what came since it was last asked is one normal
    variable, and so is the first sum with the draw of the prior, whose variance is that of
    :math:`\sigma^2 / v_0` rewards. The sums have the same law as if every reward had its own noise, and a round takes
    O(arms) instead of O(models).

    Parameters
    ----------
    models : int
        Number M of models.
    prior_mean : float
        Mean of the prior.
    prior_sd : float
        Standard deviation of the prior.
    noise_sd : float
        Standard deviation of the rewards.

    Raises
    ------
    ValueError
        If ``models`` is not a whole number from 1 to 100,000, ``prior_mean`` is not finite, or a standard deviation is
        not above 0.

    Examples
    --------
    >>> EnsembleSampling(models=10)
    EnsembleSampling(models=10)
    """

    models: int = 30
    prior_mean: float = 0.0
    prior_sd: float = 1.0
    noise_sd: float = 1.0
    reference: ClassVar[str] = "Lu, Van Roy (2017). Ensemble sampling. NeurIPS."

    def __post_init__(self) -> None:
        whole("models", self.models, 1, MOST_MODELS, f"from 1 to {MOST_MODELS:,}")
        real("prior_mean", self.prior_mean)
        positive("prior_sd", self.prior_sd)
        positive("noise_sd", self.noise_sd)

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (Knowledge.SD, Knowledge.PRIOR)

    @property
    def rule(self) -> ChoiceRule:
        prior_weight = (float(self.noise_sd) / float(self.prior_sd)) ** 2
        numbers = (self.models, self.prior_mean, self.prior_sd, self.noise_sd, prior_weight)
        params = tuple(float(number) for number in numbers)
        return ChoiceRule(
            choose, learn, MemorySize(per_arm=NOISES + PLACES * int(self.models)), params, initial_pulls=0
        )
