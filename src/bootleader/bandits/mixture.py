"""A mixture of bandits: each pull draws the component that pays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bootleader._core.arm_parameters import ArmParameters, RewardParameters
from bootleader._core.rng import uniform
from bootleader._core.validation import real
from bootleader.bandits.base import Bandit, Draw, Floats
from bootleader.bandits.empirical import empirical_draw
from bootleader.bandits.families.bernoulli import bernoulli_draw
from bootleader.bandits.families.beta import beta_draw
from bootleader.bandits.families.exponential import exponential_draw
from bootleader.bandits.families.gamma import gamma_draw
from bootleader.bandits.families.gaussian import gaussian_draw
from bootleader.bandits.families.logistic import logistic_draw
from bootleader.bandits.families.lognormal import lognormal_draw
from bootleader.bandits.families.pareto import pareto_draw
from bootleader.bandits.families.poisson import poisson_draw
from bootleader.bandits.families.revenue import revenue_draw
from bootleader.bandits.families.student_t import student_draw

ACCEPTED: Final = (
    "components must be pairs of a weight and a bandit of the library, such as "
    "[(0.98, GaussianBandit([1, 1.2])), (0.02, GaussianBandit([50, 50]))]"
)
# What the table holds for each component of an arm: the sum of the weights up to it, its draw's number, the draw's
# three parameters, and where its own table starts and stops.
WEIGHTS, DRAW, FIRST, SECOND, THIRD, START, STOP, RECORD = range(8)

# In the order of ``component_draw``.
COMPONENT_DRAWS: Final[tuple[Draw, ...]] = (
    gaussian_draw,
    exponential_draw,
    logistic_draw,
    student_draw,
    bernoulli_draw,
    revenue_draw,
    empirical_draw,
    poisson_draw,
    gamma_draw,
    beta_draw,
    pareto_draw,
    lognormal_draw,
)


def component_draw(which: Any, arm: Any, stream: Any) -> Any:
    """A reward by the draw of this number. Numba cannot index a tuple of different functions."""
    if which == 0:
        return gaussian_draw(arm, stream)
    if which == 1:
        return exponential_draw(arm, stream)
    if which == 2:
        return logistic_draw(arm, stream)
    if which == 3:
        return student_draw(arm, stream)
    if which == 4:
        return bernoulli_draw(arm, stream)
    if which == 5:
        return revenue_draw(arm, stream)
    if which == 6:
        return empirical_draw(arm, stream)
    if which == 7:
        return poisson_draw(arm, stream)
    if which == 8:
        return gamma_draw(arm, stream)
    if which == 9:
        return beta_draw(arm, stream)
    if which == 10:
        return pareto_draw(arm, stream)
    return lognormal_draw(arm, stream)


def mixture_draw(arm: Any, stream: Any) -> Any:
    """Third (0) plus second (1, unless rescaled) times a component's reward; its arm's records start at first."""
    table = arm.table
    at = int(arm.first)
    u = uniform(stream)
    while u >= table[at + WEIGHTS]:
        at += RECORD
    own = table[int(table[at + START]) : int(table[at + STOP])]
    component = RewardParameters(table[at + FIRST], table[at + SECOND], table[at + THIRD], own, arm.pulls)
    return arm.third + arm.second * component_draw(int(table[at + DRAW]), component, stream)


@dataclass(frozen=True)
class MixtureBandit(Bandit):
    """Each pull draws one of several bandits with given probabilities; that bandit's arm k pays.

    Mean and standard deviation are exact. Rare jackpots, contaminated rewards and rewards with several modes are
    mixtures.

    Parameters
    ----------
    components : sequence of (float, Bandit)
        Weights and bandits of the library with the same number of arms. The weights are above 0 and add up to 1. A
        component cannot be a mixture, nor a bandit that changes.

    Raises
    ------
    TypeError
        If a component is not a pair of a weight and a bandit of the library.
    ValueError
        If there is no component, a weight is not above 0, the weights do not add up to 1, or the numbers of arms
        differ.

    Examples
    --------
    >>> from bootleader import GaussianBandit
    >>> jackpots = MixtureBandit([(0.98, GaussianBandit([1, 1.2])), (0.02, GaussianBandit([50, 50]))])
    >>> jackpots.parameters_of(seed=0, runs=np.arange(1, dtype=np.uint64)).mean.ravel()
    array([1.98 , 2.176])
    """

    components: Sequence[tuple[float, Bandit]]

    def __post_init__(self) -> None:
        components = tuple(_validated(component) for component in _listed(self.components))
        if not components:
            raise ValueError(f"{ACCEPTED}, got none")
        total = math.fsum(weight for weight, _ in components)
        if abs(total - 1.0) > 1e-9:
            weights = [weight for weight, _ in components]
            raise ValueError(f"weights must add up to 1, got {weights}, whose sum is {total!r}")
        if len({bandit.arms for _, bandit in components}) > 1:
            numbers = [bandit.arms for _, bandit in components]
            raise ValueError(f"components must have equally many arms, got {numbers}")
        object.__setattr__(self, "components", components)

    @property
    def draw(self) -> Draw:
        return mixture_draw

    @property
    def arms(self) -> int:
        return self.components[0][1].arms

    @property
    def uniforms(self) -> int:
        return sum(bandit.uniforms for _, bandit in self.components)

    @property
    def reward_range(self) -> tuple[float, float]:
        ranges = [bandit.reward_range for _, bandit in self.components]
        return min(low for low, _ in ranges), max(high for _, high in ranges)

    def rescaled(self, parameters: ArmParameters, scale: float, shift: float) -> ArmParameters:
        return parameters._replace(second=scale * parameters.second, third=scale * parameters.third + shift)

    def parameters_from(self, uniforms: Floats) -> ArmParameters:
        runs, count = uniforms.shape[1], len(self.components)
        parts, at = [], 0
        for _, bandit in self.components:
            parts.append(bandit.parameters_from(uniforms[at : at + bandit.uniforms]))
            at += bandit.uniforms
        weights = np.array([weight for weight, _ in self.components])
        weights /= weights.sum()

        records = np.empty((self.arms, runs, count, RECORD))
        sums = np.cumsum(weights)
        sums[-1] = np.inf  # the search ends here, however the sum is rounded
        start = records.size
        for place, ((_, bandit), part) in enumerate(zip(self.components, parts, strict=True)):
            record = records[:, :, place]
            record[..., WEIGHTS], record[..., DRAW] = sums[place], COMPONENT_DRAWS.index(bandit.draw)
            record[..., FIRST], record[..., SECOND], record[..., THIRD] = part.first, part.second, part.third
            record[..., START], record[..., STOP] = start, start + part.table.size
            start += part.table.size

        means, sds = np.array([part.mean for part in parts]), np.array([part.sd for part in parts])
        mean = np.tensordot(weights, means, 1)
        sd = np.sqrt(np.tensordot(weights, sds**2 + (means - mean) ** 2, 1))
        first = np.arange(self.arms * runs, dtype=float).reshape(self.arms, runs) * (count * RECORD)
        table = np.concatenate([records.ravel(), *(part.table for part in parts)])
        return ArmParameters(first, np.ones_like(first), np.zeros_like(first), table, mean, sd)


def _listed(components: Any) -> list[Any]:
    try:
        return list(components)
    except TypeError:
        raise TypeError(f"{ACCEPTED}, got {components!r}") from None


def _validated(component: Any) -> tuple[float, Bandit]:
    if not isinstance(component, Sequence) or len(component) != 2 or not isinstance(component[1], Bandit):
        raise TypeError(f"{ACCEPTED}, got {component!r}")
    weight, bandit = component
    if bandit.draws != (bandit.draw,) or type(bandit).changes is not Bandit.changes:
        raise TypeError(f"a component must be a bandit that does not change, got {bandit!r}")
    if bandit.draw is mixture_draw:
        raise TypeError(f"a component must not be a mixture: give its components with their weights, got {bandit!r}")
    if bandit.draw not in COMPONENT_DRAWS:
        raise TypeError(f"a component must be of one of the library's reward families, got {bandit!r}")
    return real("a weight", weight, "above 0 and at most 1", low=0.0, high=1.0), bandit
