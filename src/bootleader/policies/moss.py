"""MOSS: the minimax optimal strategy in the stochastic case."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from bootleader._core.elementary import log
from bootleader._core.rules import IndexRule, Noise
from bootleader._core.validation import positive, real
from bootleader.policies.base import Knowledge, Policy

ANYTIME, SIMULATION = 0.0, -1.0  # the horizon as a law's parameter, where it is not a number of rounds


def law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """Index = Ybar + sd sqrt((4 / s) log+(T / (K s)))."""
    sd, horizon, s = params[0], params[1], arm.count
    if horizon == ANYTIME:
        horizon = float(shared.pulls)
    elif horizon == SIMULATION:
        horizon = float(shared.horizon)
    level = log(max(1.0, horizon / (shared.arms * s)))
    return arm.mean + sd * math.sqrt(4.0 * level / s), 0.0, 0.0


@dataclass(frozen=True, repr=False)
class MOSS(Policy):
    r"""Play the largest upper confidence bound that vanishes once an arm has had its share of the rounds.

    .. math:: \bar Y + sd \sqrt{\frac4s \log^+ \frac{T}{K s}}

    with T the horizon; anytime, T is the number of pulls so far. This is the form of Lattimore and Szepesvári's book
    (Bandit Algorithms, chapter 9) for sub-Gaussian rewards. With sd = 1/2 it is the original one, for rewards in
    [0, 1], and the anytime version is that of Degenne and Perchet (2016) with alpha = 1.

    Parameters
    ----------
    horizon : float, "anytime" or "simulation"
        Number of rounds; "simulation" is that of the simulation, which an agent does not have.
    sd : float
        Sub-Gaussian standard deviation of the rewards.

    Raises
    ------
    ValueError
        If ``horizon`` is neither a number of at least 1 nor one of the words, or ``sd`` is not above 0.

    Examples
    --------
    >>> MOSS(horizon=10_000, sd=0.5)
    MOSS(horizon=10000, sd=0.5)
    """

    horizon: float | Literal["anytime", "simulation"] = "anytime"
    sd: float = 1.0
    reference: ClassVar[str] = "Audibert, Bubeck (2009). Minimax policies for adversarial and stochastic bandits. COLT."

    def __post_init__(self) -> None:
        if isinstance(self.horizon, str):
            if self.horizon not in ("anytime", "simulation"):
                raise ValueError(f"horizon must be a number of rounds, 'anytime' or 'simulation', got {self.horizon!r}")
        else:
            real("horizon", self.horizon, "a number of at least 1, 'anytime' or 'simulation'", low=1.0, open_low=False)
        positive("sd", self.sd)

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (Knowledge.SD,) if self.horizon == "anytime" else (Knowledge.SD, Knowledge.HORIZON)

    @property
    def reads_horizon(self) -> bool:
        return self.horizon == "simulation"

    @property
    def rule(self) -> IndexRule:
        if isinstance(self.horizon, str):
            horizon = ANYTIME if self.horizon == "anytime" else SIMULATION
        else:
            horizon = float(self.horizon)
        return IndexRule(law, Noise.NONE, (float(self.sd), horizon), every_round=True, grows=True)
