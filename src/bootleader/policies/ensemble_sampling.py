"""Ensemble sampling: Thompson sampling from a finite set of perturbed models."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.rng import below
from bootleader._core.rules import ChoiceRule
from bootleader._core.sampling import standard_normal
from bootleader._core.validation import positive, real, whole
from bootleader.policies._memory_size import MemorySize
from bootleader.policies.base import Knowledge, Policy

MOST_MODELS: Final = 100_000


def prepare(params: Any, memory: Any, shared: Any, stream: Any) -> None:
    """Draw every model's means from the prior, once for each arm; a last number of the arm says that it was done."""
    models = int(params[0])
    for k in range(shared.arms):
        first = k * (models + 1)
        if memory[first + models] == 0.0:
            memory[first + models] = 1.0
            for at in range(first, first + models):
                memory[at] = params[4] * (params[1] + params[2] * standard_normal(stream))


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """The largest posterior mean in one model, drawn at random."""
    prepare(params, memory, shared, stream)
    models = int(params[0])
    model = int(below(stream, models))
    chosen, largest, ties = 0, -math.inf, 0
    for k in range(shared.arms):
        index = memory[k * (models + 1) + model] / (params[4] + arms.count[k])
        if index > largest:
            chosen, largest, ties = k, index, 1
        elif index == largest:
            ties += 1
            if below(stream, ties) == 0:
                chosen = k
    return chosen


def learn(params: Any, arms: Any, memory: Any, shared: Any, arm: Any, reward: Any, stream: Any) -> None:
    """Add the reward to every model, each time with noise of its own."""
    prepare(params, memory, shared, stream)
    models = int(params[0])
    for model in range(models):
        memory[arm * (models + 1) + model] += reward + params[3] * standard_normal(stream)


@dataclass(frozen=True, repr=False)
class EnsembleSampling(Policy):
    r"""Play the best arm of one of M models, drawn at random in every round.

    Model m starts from a draw :math:`\theta_0 \sim N(m_0, v_0)` of the prior, and adds noise
    :math:`W_i \sim N(0, \sigma^2)` of its own to every reward. Its mean of an arm is

    .. math:: \frac{\theta_0 / v_0 + \sum_i (Y_i + W_i) / \sigma^2}{1 / v_0 + s / \sigma^2}

    which has the law of the posterior; with few models, the same draws are used again and again.

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
        return ChoiceRule(choose, learn, MemorySize(per_arm=int(self.models) + 1), params, initial_pulls=0)
