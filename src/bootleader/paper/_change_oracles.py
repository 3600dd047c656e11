"""Oracles for rewards that change: Thompson sampling that knows when, or how fast, the means change, but not to what.

Both sample the exact posterior of Gaussian rewards of known noise under a flat prior. They are references for the
reproduction, not policies of the library: nobody knows the changes in practice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.validation import positive, whole
from bootleader.policies import ChoiceRule, Knowledge, Policy
from bootleader.random import below, standard_normal


def restarted_memory(arms: int, rounds: int) -> int:
    """The number of the phase, and count and sum of every arm in it."""
    return 1 + 2 * arms


def restarted_choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """Largest sample of N(mean of the phase, sd^2 / count); arms without a reward in the phase first, at random."""
    noise_sd, period, count = params[0], params[1], int(shared.arms)
    phase = math.floor(float(shared.pulls) / period)
    if phase != memory[0]:
        for place in range(2 * count):
            memory[1 + place] = 0.0
        memory[0] = phase
    chosen, unpulled, best = 0, 0, -math.inf
    for k in range(count):
        if memory[1 + k] == 0.0:
            unpulled += 1
            if below(stream, unpulled) == 0:
                chosen = k
    if unpulled > 0:
        return chosen
    for k in range(count):
        s = memory[1 + k]
        index = memory[1 + count + k] / s + noise_sd / math.sqrt(s) * standard_normal(stream)
        if index > best:
            best, chosen = index, k
    return chosen


def restarted_learn(params: Any, arms: Any, memory: Any, shared: Any, arm: Any, reward: Any, stream: Any) -> None:
    """Count the reward in its phase."""
    memory[1 + arm] += 1.0
    memory[1 + int(shared.arms) + arm] += reward


@dataclass(frozen=True, repr=False)
class RestartedThompson(Policy):
    """Flat-prior Thompson sampling that forgets everything at every change.

    Parameters
    ----------
    period : int
        Rounds from one change to the next.
    noise_sd : float
        Standard deviation of the rewards.

    Raises
    ------
    ValueError
        If ``period`` is not a whole number above 0, or ``noise_sd`` is not above 0.

    Examples
    --------
    >>> RestartedThompson(period=2_000)
    RestartedThompson(period=2000)
    """

    period: int
    noise_sd: float = 1.0
    reference: ClassVar[str] = "The oracle of Garivier, Moulines (2011), with Thompson sampling between the changes."

    def __post_init__(self) -> None:
        whole("period", self.period, 1)
        positive("noise_sd", self.noise_sd)

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return Knowledge.SD, Knowledge.CHANGE

    @property
    def rule(self) -> ChoiceRule:
        params = (float(self.noise_sd), float(self.period))
        return ChoiceRule(restarted_choose, restarted_learn, restarted_memory, params, initial_pulls=0)


def tracking_memory(arms: int, rounds: int) -> int:
    """Posterior mean and variance of every arm, and the number of pulls when they were computed; 0 if there is none."""
    return 3 * arms


def tracking_choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """Largest sample of N(m, v + drift^2 * rounds since); arms without a reward first, at random."""
    drift_variance, count = params[1] * params[1], int(shared.arms)
    chosen, unpulled, best = 0, 0, -math.inf
    for k in range(count):
        if memory[2 * count + k] == 0.0:
            unpulled += 1
            if below(stream, unpulled) == 0:
                chosen = k
    if unpulled > 0:
        return chosen
    for k in range(count):
        variance = memory[count + k] + drift_variance * (float(shared.pulls) + 1.0 - memory[2 * count + k])
        index = memory[k] + math.sqrt(variance) * standard_normal(stream)
        if index > best:
            best, chosen = index, k
    return chosen


def tracking_learn(params: Any, arms: Any, memory: Any, shared: Any, arm: Any, reward: Any, stream: Any) -> None:
    """The Kalman filter of a random walk observed with noise; ``shared.pulls`` contains this reward."""
    noise_variance, drift_variance, count = params[0] * params[0], params[1] * params[1], int(shared.arms)
    now, last = float(shared.pulls), memory[2 * count + arm]
    if last == 0.0:
        memory[arm], memory[count + arm] = reward, noise_variance
    else:
        variance = memory[count + arm] + drift_variance * (now - last)
        gain = variance / (variance + noise_variance)
        memory[arm] += gain * (reward - memory[arm])
        memory[count + arm] = (1.0 - gain) * variance
    memory[2 * count + arm] = now


@dataclass(frozen=True, repr=False)
class TrackingThompson(Policy):
    """Thompson sampling from the exact posterior of means that are random walks: a Kalman filter for each arm.

    Parameters
    ----------
    drift_sd : float
        Standard deviation of a mean's step from one round to the next.
    noise_sd : float
        Standard deviation of the rewards.

    Raises
    ------
    ValueError
        If a number is not above 0.

    Examples
    --------
    >>> TrackingThompson(drift_sd=0.01)
    TrackingThompson(drift_sd=0.01)
    """

    drift_sd: float
    noise_sd: float = 1.0
    reference: ClassVar[str] = "Kalman (1960). A new approach to linear filtering and prediction problems."

    def __post_init__(self) -> None:
        positive("drift_sd", self.drift_sd)
        positive("noise_sd", self.noise_sd)

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return Knowledge.SD, Knowledge.CHANGE

    @property
    def rule(self) -> ChoiceRule:
        params = (float(self.noise_sd), float(self.drift_sd))
        return ChoiceRule(tracking_choose, tracking_learn, tracking_memory, params, initial_pulls=0)
