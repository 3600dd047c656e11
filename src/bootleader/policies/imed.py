"""IMED: the arm with the smallest evidence against being the best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.elementary import log
from bootleader._core.rng import below
from bootleader._core.rules import ChoiceRule
from bootleader.policies._divergence import coordinate, divergence, family_number, slope
from bootleader.policies._family_policy import FamilyPolicy
from bootleader.policies._memory_size import MemorySize

ROUNDING: Final = 1e-11  # of an index, relative to it and to the count
# An arm's places in the memory: count and mean for which the rest was computed; log of the count; the tangent of the
# index, as a function of the largest mean: its value and slope, and where it touches; the index of this round, or
# infinity where the tangent excludes it.
COUNT, MEAN, LOG_COUNT, VALUE, SLOPE, TOUCHES, INDEX, PLACES = 0, 1, 2, 3, 4, 5, 6, 7


def remember(arms: Any, memory: Any, k: Any) -> Any:
    """Whether the tangent is that of the arm's present rewards; if not, forget it."""
    at = PLACES * k
    if memory[at + COUNT] == arms.count[k] and memory[at + MEAN] == arms.mean[k]:
        return memory[at + VALUE] < math.inf
    memory[at + COUNT], memory[at + MEAN], memory[at + VALUE] = arms.count[k], arms.mean[k], math.inf
    memory[at + LOG_COUNT] = log(arms.count[k])
    return False


def compute(params: Any, arms: Any, memory: Any, k: Any, largest: Any, x: Any) -> Any:
    """The index s d(Ybar, max Ybar) + log s of arm k, and its tangent."""
    at, s, mean = PLACES * k, arms.count[k], arms.mean[k]
    index = s * divergence(params[0], params[1], mean, largest) + memory[at + LOG_COUNT]
    steepness = s * slope(params[0], params[1], mean, largest)
    exists = index < math.inf and steepness < math.inf
    memory[at + VALUE] = index - ROUNDING * (s + abs(index)) if exists else math.inf
    memory[at + SLOPE], memory[at + TOUCHES], memory[at + INDEX] = steepness, x, index
    return index


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """The smallest s d(Ybar, max Ybar) + log s, ties broken at random.

    The divergence is convex in (a function of) the largest mean, so a tangent bounds it from below. Most indices are
    excluded by it, and no logarithm is computed for them.
    """
    largest = arms.mean[0]
    for k in range(1, shared.arms):
        largest = max(largest, arms.mean[k])
    x, smallest = coordinate(params[0], largest), math.inf
    for k in range(shared.arms):
        if arms.mean[k] == largest:  # its divergence is 0
            remember(arms, memory, k)
            memory[PLACES * k + INDEX] = memory[PLACES * k + LOG_COUNT]
            smallest = min(smallest, memory[PLACES * k + LOG_COUNT])
    for k in range(shared.arms):
        at = PLACES * k
        if arms.mean[k] < largest:
            known = remember(arms, memory, k)
            if known and memory[at + VALUE] + memory[at + SLOPE] * (x - memory[at + TOUCHES]) > smallest:
                memory[at + INDEX] = math.inf
            else:
                smallest = min(smallest, compute(params, arms, memory, k, largest, x))
    chosen, ties = 0, 0
    for k in range(shared.arms):
        if memory[PLACES * k + INDEX] == smallest:
            ties += 1
            if ties == 1 or below(stream, ties) == 0:
                chosen = k
    return chosen


@dataclass(frozen=True, repr=False)
class IMED(FamilyPolicy):
    r"""Play the arm with the smallest index of minimum empirical divergence.

    .. math:: s\, d(\bar Y, \max_j \bar Y_j) + \log s

    with d the Kullback-Leibler divergence of the reward family.

    Parameters
    ----------
    family : {"bernoulli", "gaussian", "exponential", "poisson"}
        The reward family. "bernoulli" is valid for all rewards in [0, 1].
    sd : float
        Standard deviation of the rewards, for "gaussian".

    Raises
    ------
    ValueError
        If the family is unknown, or ``sd`` is not above 0.

    Examples
    --------
    >>> IMED("gaussian", sd=2.0)
    IMED(family='gaussian', sd=2.0)
    """

    reference: ClassVar[str] = "Honda, Takemura (2015). Non-asymptotic analysis of IMED. JMLR 16."

    @property
    def rule(self) -> ChoiceRule:
        params = (family_number(self.family), float(self.sd))
        return ChoiceRule(choose, memory=MemorySize(per_arm=PLACES), params=params)
