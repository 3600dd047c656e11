"""Maillard sampling: probabilities in closed form, from the evidence against each arm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.elementary import exp
from bootleader._core.rng import uniform
from bootleader._core.rules import ChoiceRule
from bootleader._core.validation import positive
from bootleader.policies._divergence import GAUSSIAN, coordinate, divergence, slope
from bootleader.policies._memory_size import MemorySize
from bootleader.policies._probability_choice import arm_at
from bootleader.policies.base import Knowledge, Policy

# The upper bound of a weight is larger than the weight by this factor, or this number if it is smaller.
FACTOR, NEGLIGIBLE = 1.05, 2.0**-9
LOG_FACTOR, LOG_NEGLIGIBLE = math.log(FACTOR), math.log(NEGLIGIBLE)
ROUNDING: Final = 1e-9  # relative error of a weight, or less
# An arm's places in the memory: its weight; rewards + 1 at which bounds of its weight were computed; the bounds, the
# coordinate of the largest mean then, and how far from it they hold.
WEIGHT, KNOWN_AT, LOW, HIGH, CENTRE, RADIUS, PLACES = 0, 1, 2, 3, 4, 5, 6


def evidence_against(params: Any, arms: Any, k: Any, largest: Any) -> Any:
    """S d(Ybar, max Ybar) of arm k."""
    return arms.count[k] * divergence(params[0], params[1], arms.mean[k], largest) if arms.mean[k] < largest else 0.0


def weigh(params: Any, arms: Any, memory: Any, shared: Any, largest: Any) -> Any:
    """Write the weight exp(-s d(Ybar, max Ybar)) of every arm into the memory; return their sum."""
    total = 0.0
    for k in range(shared.arms):
        memory[PLACES * k + WEIGHT] = exp(-evidence_against(params, arms, k, largest))
        total += memory[PLACES * k + WEIGHT]
    return total


def renew_bounds(params: Any, arms: Any, memory: Any, k: Any, largest: Any, x: Any) -> None:
    """Bounds of arm k's weight for largest means near the present one, whose coordinate is x.

    The evidence is convex in the coordinate: where it grows, its slope at the far end bounds it, and where it falls,
    its slope at x.
    """
    family, sd, at, s, mean = params[0], params[1], PLACES * k, arms.count[k], arms.mean[k]
    evidence = evidence_against(params, arms, k, largest)
    weight = exp(-evidence)
    steepness = s * slope(family, sd, mean, largest)
    is_smooth = 0.0 < abs(steepness) < math.inf
    radius = max(LOG_FACTOR, evidence + LOG_NEGLIGIBLE) / steepness if is_smooth else 0.0
    steepest = s * slope(family, sd, mean, coordinate(family, x + radius))
    fall = radius * steepest if steepest < math.inf else 1.0
    memory[at + KNOWN_AT], memory[at + CENTRE], memory[at + RADIUS] = s + 1.0, x, abs(radius)
    memory[at + LOW] = weight * max(1.0 - fall, 0.0) * (1.0 - ROUNDING)
    memory[at + HIGH] = max(FACTOR * weight, NEGLIGIBLE) * (1.0 + ROUNDING)


def bounded_choice(params: Any, arms: Any, memory: Any, shared: Any, leader: Any, u: Any) -> Any:
    """The arm at the part u of the weights' sum, if bounds of the weights tell it; else -1."""
    largest, at = arms.mean[leader], PLACES * leader
    x = coordinate(params[0], largest)
    memory[at + LOW], memory[at + HIGH] = 1.0, 1.0
    memory[at + KNOWN_AT], memory[at + CENTRE], memory[at + RADIUS] = arms.count[leader] + 1.0, x, 0.0
    low, high = 0.0, 0.0  # of the sum
    for k in range(shared.arms):
        at = PLACES * k
        if memory[at + KNOWN_AT] != arms.count[k] + 1.0 or abs(x - memory[at + CENTRE]) > memory[at + RADIUS]:
            renew_bounds(params, arms, memory, k, largest, x)
        low += memory[at + LOW]
        high += memory[at + HIGH]
    low_end, high_start = 0.0, 0.0  # bounds of where the weights of the arms so far end, and start
    for k in range(shared.arms):
        low_end += memory[PLACES * k + LOW]
        if u * high < low_end:
            return k if u * low >= high_start else -1
        high_start += memory[PLACES * k + HIGH]
    return -1


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """An arm with probability proportional to its weight."""
    leader = 0
    for k in range(1, shared.arms):
        if arms.mean[k] > arms.mean[leader]:
            leader = k
    u = uniform(stream)
    chosen = bounded_choice(params, arms, memory, shared, leader, u)
    if chosen >= 0:
        return chosen
    total = weigh(params, arms, memory, shared, arms.mean[leader])
    return arm_at(u * total, memory, WEIGHT, PLACES, shared.arms)


@dataclass(frozen=True, repr=False)
class MaillardSampling(Policy):
    r"""Play an arm with a probability in closed form, from the evidence against it.

    The probability of arm k is proportional to

    .. math:: \exp\bigl(-s (\bar Y_k - \max_j \bar Y_j)^2 / (2\, sd^2)\bigr)

    so that logged choices come with their exact probability. Every arm is pulled once first.

    Parameters
    ----------
    sd : float
        Sub-Gaussian standard deviation of the rewards.

    Raises
    ------
    ValueError
        If ``sd`` is not a finite number above 0.

    Examples
    --------
    >>> MaillardSampling(sd=2.0)
    MaillardSampling(sd=2.0)
    """

    sd: float = 1.0
    reference: ClassVar[str] = "Bian, Jun (2022). Maillard sampling: Boltzmann exploration done optimally. AISTATS."

    def __post_init__(self) -> None:
        positive("sd", self.sd)

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (Knowledge.SD,)

    @property
    def rule(self) -> ChoiceRule:
        return ChoiceRule(choose, memory=MemorySize(per_arm=PLACES), params=(GAUSSIAN, float(self.sd)))
