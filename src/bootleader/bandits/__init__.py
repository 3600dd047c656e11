"""Reward families, and how a run's arms are drawn.

Adding a family: its draw, its bandit, and a line in ``DRAWS`` or ``SEPARATE_DRAWS``.
"""

from bootleader._core.parameters import ArmParameters
from bootleader.bandits.affine import AffineBandit
from bootleader.bandits.base import Bandit, Draw
from bootleader.bandits.changing import Drifting, Piecewise, Seasonal
from bootleader.bandits.empirical import EmpiricalBandit, empirical_draw
from bootleader.bandits.families import (
    BernoulliBandit,
    BetaBandit,
    ExponentialBandit,
    GammaBandit,
    GaussianBandit,
    LogisticBandit,
    LogNormalBandit,
    ParetoBandit,
    PoissonBandit,
    RevenueBandit,
    StudentTBandit,
    bernoulli_draw,
    beta_draw,
    exponential_draw,
    gamma_draw,
    gaussian_draw,
    logistic_draw,
    lognormal_draw,
    pareto_draw,
    poisson_draw,
    revenue_draw,
    student_draw,
)
from bootleader.bandits.mixture import MixtureBandit, mixture_draw
from bootleader.bandits.priors import Beta, LogUniform, Normal, Uniform

# Reward draws that share a kernel: it is compiled once for all of them.
DRAWS: tuple[Draw, ...] = (
    gaussian_draw,
    exponential_draw,
    logistic_draw,
    student_draw,
    bernoulli_draw,
    revenue_draw,
    empirical_draw,
)
# Each of these has a kernel of its own, so that those who do not use them need not wait for their compilation.
SEPARATE_DRAWS: tuple[Draw, ...] = (
    poisson_draw,
    gamma_draw,
    beta_draw,
    pareto_draw,
    lognormal_draw,
    mixture_draw,
)

__all__ = [
    "DRAWS",
    "SEPARATE_DRAWS",
    "AffineBandit",
    "ArmParameters",
    "Bandit",
    "BernoulliBandit",
    "Beta",
    "BetaBandit",
    "Drifting",
    "EmpiricalBandit",
    "ExponentialBandit",
    "GammaBandit",
    "GaussianBandit",
    "LogNormalBandit",
    "LogUniform",
    "LogisticBandit",
    "MixtureBandit",
    "Normal",
    "ParetoBandit",
    "Piecewise",
    "PoissonBandit",
    "RevenueBandit",
    "Seasonal",
    "StudentTBandit",
    "Uniform",
]
