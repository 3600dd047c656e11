"""Reward families, and how a run's arms are drawn.

Adding a family: its draw, its bandit, and a line in ``DRAW_GROUPS``.
"""

from bootleader._core.arm_parameters import ArmParameters
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

# The reward draws of a group share a kernel, which is compiled once for all of them. One group of everything would
# take a fifth longer to compile, also for those who use the first seven alone.
DRAW_GROUPS: tuple[tuple[Draw, ...], ...] = (
    (
        gaussian_draw,
        exponential_draw,
        logistic_draw,
        student_draw,
        bernoulli_draw,
        revenue_draw,
        empirical_draw,
    ),
    (poisson_draw, gamma_draw, beta_draw, pareto_draw, lognormal_draw),
    (mixture_draw,),
)
DRAWS: tuple[Draw, ...] = tuple(draw for group in DRAW_GROUPS for draw in group)

__all__ = [
    "DRAWS",
    "DRAW_GROUPS",
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
