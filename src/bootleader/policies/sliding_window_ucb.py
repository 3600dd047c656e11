"""SW-UCB: a confidence bound from the last rewards alone, for rewards that change."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.elementary import log
from bootleader._core.rng import below
from bootleader._core.rules import ChoiceRule
from bootleader._core.validation import positive, whole
from bootleader.policies._memory_size import MemorySize
from bootleader.policies.base import Knowledge, Policy

LONGEST: Final = 10_000_000


def index_of(params: Any, memory: Any, shared: Any, k: Any) -> Any:
    """Mean over the window + b sqrt(xi log(min(t, window)) / N), N the arm's pulls in the window."""
    n = memory[2 * k]
    if n == 0.0:
        return math.inf
    bonus = params[1] * math.sqrt(params[2] * log(min(float(shared.pulls), params[0])))
    return memory[2 * k + 1] / n + bonus / math.sqrt(n)


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """The largest index."""
    chosen, largest, ties = 0, -math.inf, 0
    for k in range(shared.arms):
        index = index_of(params, memory, shared, k)
        if index > largest:
            chosen, largest, ties = k, index, 1
        elif index == largest:
            ties += 1
            if below(stream, ties) == 0:
                chosen = k
    return chosen


def learn(params: Any, arms: Any, memory: Any, shared: Any, arm: Any, reward: Any, stream: Any) -> None:
    """Let the reward replace the oldest one in the window."""
    k, window = shared.arms, int(params[0])
    place = 2 * k + (int(shared.pulls) - 1) % window
    if shared.pulls > window:
        old = int(memory[place])
        memory[2 * old] -= 1.0
        memory[2 * old + 1] -= memory[place + window]
    memory[place], memory[place + window] = arm, reward
    memory[2 * arm] += 1.0
    memory[2 * arm + 1] += reward
    if place == 2 * k + window - 1:  # sums anew, once in a window, so that rounding errors do not add up
        for other in range(k):
            memory[2 * other + 1] = 0.0
        for at in range(2 * k, 2 * k + window):
            memory[2 * int(memory[at]) + 1] += memory[at + window]


@dataclass(frozen=True, repr=False)
class SlidingWindowUCB(Policy):
    r"""Play the largest upper confidence bound from the last ``window`` rewards.

    .. math:: \bar Y_\tau + b \sqrt{\xi \log(\min(t, \tau)) / N_\tau}

    with :math:`\bar Y_\tau` and :math:`N_\tau` the mean and the number of the arm's rewards among the last
    :math:`\tau` of all arms, and t the number of pulls so far. An arm without any is pulled.

    Parameters
    ----------
    window : int
        Length :math:`\tau` of the window, in rounds.
    b : float
        Length of the rewards' range, the unit of the bonus.
    xi : float
        Exploration; the paper's theorem needs more than 1/2, its simulations have 0.6.

    Raises
    ------
    ValueError
        If ``window`` is not a whole number from 1 to ten million, or another parameter is not above 0.

    Examples
    --------
    >>> SlidingWindowUCB(window=500)
    SlidingWindowUCB(window=500)
    """

    window: int
    b: float = 1.0
    xi: float = 0.6
    reference: ClassVar[str] = "Garivier, Moulines (2011). On upper-confidence bounds for switching bandits. ALT."

    def __post_init__(self) -> None:
        whole("window", self.window, 1, LONGEST, f"from 1 to {LONGEST:,}")
        positive("b", self.b)
        positive("xi", self.xi)

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (Knowledge.RANGE, Knowledge.CHANGE)

    @property
    def rule(self) -> ChoiceRule:
        window = int(self.window)
        params = (float(window), float(self.b), float(self.xi))
        return ChoiceRule(choose, learn, MemorySize(per_arm=2, fixed=2 * window, names_arms=True), params)
