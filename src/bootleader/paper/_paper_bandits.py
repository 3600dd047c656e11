"""The bandits of the paper's figures, and the values that its figures sweep over."""

from __future__ import annotations

from bootleader.bandits import Bandit, ExponentialBandit, GaussianBandit, LogisticBandit, Uniform

FIG1_BANDIT = GaussianBandit(Uniform(-1, 1, arms=10))
FIG3_BANDITS: dict[str, Bandit] = {
    "Gaussian": GaussianBandit(Uniform(5, 7, arms=10)),
    "exponential": ExponentialBandit(Uniform(5, 7, arms=10), shift=5),
    "logistic": LogisticBandit(Uniform(5, 7, arms=10)),
}
FIG2_SHIFTS = tuple(range(21))
FIG2_SDS = tuple(range(1, 21))


def fig2_left_bandit(shift: float) -> Bandit:
    """The left panel of figure 2: two arms (shift + 1, shift), sd 1."""
    return GaussianBandit((shift + 1.0, float(shift)))


def fig2_right_bandit(sd: float) -> Bandit:
    """The right panel of figure 2: two arms (1, 0) with the given sd."""
    return GaussianBandit((1.0, 0.0), sd=float(sd))
