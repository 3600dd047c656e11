"""Multiplier bootstrap exploration for linear bandits: weighted regressions with random weights, and pseudo rewards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.coefficient_rules import CoefficientRule, solve_in_place
from bootleader._core.rng import below
from bootleader._core.sampling import standard_normal
from bootleader._core.validation import positive, real, whole
from bootleader.policies.contextual import ContextualPolicy, check_pseudo_rewards

MOST_REPLICATES: Final = 10_000


@dataclass(frozen=True)
class Replicates:
    """The size of the memory.

    Each replicate has a weighted Gram matrix (lower triangle), a weighted sum of rewards times features, and two
    weights as a workspace. The replicates are innermost.
    """

    replicates: int

    def __call__(self, dimension: int) -> int:
        """The number of floats in the memory of a model."""
        return self.replicates * (dimension * (dimension + 1) // 2 + dimension + 2)


def draw(params: Any, evidence: Any, m: Any, pulls: Any, drawn: Any, stream: Any) -> Any:
    """The ridge coefficients of one replicate, drawn at random."""
    replicates = int(params[4])
    memory, gram, target = evidence.memory[m], evidence.gram, evidence.target
    at, d = int(below(stream, replicates)), drawn.shape[0]
    for i in range(d):
        for j in range(i + 1):
            gram[i, j] = memory[at]
            at += replicates
        gram[i, i] += evidence.models.ridge[m, i]
    for i in range(d):
        target[i] = memory[at]
        at += replicates
    solve_in_place(gram, target, drawn)
    return 0.0


def learn(params: Any, evidence: Any, m: Any, features: Any, reward: Any, stream: Any) -> None:
    """Add a row, a low and a high to both sums of every replicate, each with a weight N(1, sd^2)."""
    sd, pseudo, low, high, replicates = params[0], params[1], params[2], params[3], int(params[4])
    memory, d = evidence.memory[m], features.shape[0]
    weights = replicates * (d * (d + 1) // 2 + d)
    totals = weights + replicates
    for replicate in range(replicates):
        own = 1.0 + sd * standard_normal(stream)
        first = pseudo * (1.0 + sd * standard_normal(stream))
        second = pseudo * (1.0 + sd * standard_normal(stream))
        memory[weights + replicate] = own + (first + second)
        memory[totals + replicate] = own * reward + (first * high + second * low)
    at = 0
    for i in range(d):
        for j in range(i + 1):
            product = features[i] * features[j]
            for replicate in range(replicates):
                memory[at + replicate] += product * memory[weights + replicate]
            at += replicates
    for i in range(d):
        for replicate in range(replicates):
            memory[at + replicate] += features[i] * memory[totals + replicate]
        at += replicates


@dataclass(frozen=True, repr=False)
class LinMultiplierBootstrap(ContextualPolicy):
    r"""Fit the coefficients to rewards and pseudo rewards with random weights, and play the arm that is best for them.

    .. math:: \tilde\theta = \Bigl(\lambda I + \sum_i (w_i + p w_i' + p w_i'')\, x_i x_i'\Bigr)^{-1}
              \sum_i (w_i y_i + p w_i' high + p w_i'' low)\, x_i, \qquad w \sim N(1, sd^2)

    with p the weight of the pseudo rewards. This is the practical form: both sums are kept in ``replicates`` copies,
    each with weights of its own, and every round plays by one copy of each model at random. So no history is kept.
    Every arm is pulled once first. If every context is the number 1, it is :class:`MultiplierBootstrap` but for the
    ridge penalty and the random numbers.

    Weights may be negative. A coefficient that a copy does not determine (its pivot is not above 0) is 0.

    Parameters
    ----------
    pseudo_weight : float
        Weight of the pseudo rewards ``low`` and ``high`` that come with every reward.
    sd_weights : float
        Standard deviation of the weights.
    low, high : float
        The two pseudo rewards; made for rewards between them.
    replicates : int
        Number of copies.
    lam : float
        Ridge penalty, above 0.

    Raises
    ------
    ValueError
        If ``pseudo_weight`` is negative, ``sd_weights`` or ``lam`` not finite and above 0, ``low`` and ``high`` not
        finite numbers with ``low`` below ``high``, or ``replicates`` not a whole number from 1 to 10,000.

    Examples
    --------
    >>> LinMultiplierBootstrap(low=-1.0, replicates=100)
    LinMultiplierBootstrap(low=-1.0, replicates=100)
    """

    pseudo_weight: float = 0.5
    sd_weights: float = 0.5
    low: float = 0.0
    high: float = 1.0
    replicates: int = 50
    lam: float = 1.0
    reference: ClassVar[str] = "Wan, Wei, Kveton, Song (2023). Multiplier bootstrap-based exploration. ICML."

    def __post_init__(self) -> None:
        real("pseudo_weight", self.pseudo_weight, "a number of at least 0", low=0.0, open_low=False)
        positive("sd_weights", self.sd_weights)
        check_pseudo_rewards(self.low, self.high)
        whole("replicates", self.replicates, 1, MOST_REPLICATES, f"from 1 to {MOST_REPLICATES:,}")
        positive("lam", self.lam)

    @property
    def rule(self) -> CoefficientRule:
        numbers = (self.sd_weights, self.pseudo_weight, self.low, self.high, self.replicates)
        return CoefficientRule(
            draw, tuple(map(float, numbers)), learn, Replicates(int(self.replicates)), ridge=float(self.lam),
            initial_pulls=1,
        )  # fmt: skip
