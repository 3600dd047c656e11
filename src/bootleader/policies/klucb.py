"""KL-UCB: optimism measured by the Kullback-Leibler divergence of the reward family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.elementary import log
from bootleader._core.rules import IndexRule, Noise
from bootleader._core.validation import real
from bootleader.policies._divergence import bernoulli_bound, family_number, upper_bound
from bootleader.policies._family_policy import FamilyPolicy


def exploration(c: Any, pulls: Any) -> Any:
    """Log t + c log log t."""
    log_t = log(float(pulls))
    return log_t + c * log(max(log_t, 1.0)) if c > 0.0 else log_t


def bernoulli_law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """Index = the largest q with s d(Ybar, q) <= log t + c log log t, for rewards in [0, 1]."""
    return bernoulli_bound(arm.mean, exploration(params[2], shared.pulls) / arm.count), 0.0, 0.0


def law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """The same for the other families."""
    return upper_bound(params[0], params[1], arm.mean, exploration(params[2], shared.pulls) / arm.count), 0.0, 0.0


@dataclass(frozen=True, repr=False)
class KLUCB(FamilyPolicy):
    r"""Play the largest upper confidence bound of the reward family.

    .. math:: \max\{q : s\, d(\bar Y, q) \le \log t + c \log\log t\}

    with d the Kullback-Leibler divergence of the family and t the number of pulls so far: no horizon is needed. The
    paper's t is the number of the present round, one more, which adds about 1/t to the right-hand side.

    Parameters
    ----------
    family : {"bernoulli", "gaussian", "exponential", "poisson"}
        The reward family. "bernoulli" is valid for all rewards in [0, 1].
    sd : float
        Standard deviation of the rewards, for "gaussian".
    c : float
        Weight of log log t; 0 is advised in practice, 3 is the theorem's.

    Raises
    ------
    ValueError
        If the family is unknown, ``sd`` is not above 0, or ``c`` is negative.

    Examples
    --------
    >>> KLUCB("bernoulli")
    KLUCB(family='bernoulli')
    """

    c: float = 0.0
    reference: ClassVar[str] = "Garivier, Cappé (2011). The KL-UCB algorithm. COLT."

    def __post_init__(self) -> None:
        super().__post_init__()
        real("c", self.c, "a number of at least 0", low=0.0, open_low=False)

    @property
    def rule(self) -> IndexRule:
        params = (family_number(self.family), float(self.sd), float(self.c))
        own_law = bernoulli_law if self.family == "bernoulli" else law
        return IndexRule(own_law, Noise.NONE, params, every_round=True, grows=True)
