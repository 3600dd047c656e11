"""Reward families, and how a run's arms are drawn. Adding one: its draw, its bandit, and a line in ``DRAWS``."""

from bootleader._core.parameters import ArmParameters
from bootleader.bandits.affine import AffineBandit
from bootleader.bandits.base import Bandit, Draw, LogUniform, Uniform
from bootleader.bandits.changing import Drifting, Piecewise, Seasonal
from bootleader.bandits.empirical import EmpiricalBandit, empirical_draw
from bootleader.bandits.families import (
    BernoulliBandit,
    ExponentialBandit,
    GaussianBandit,
    LogisticBandit,
    RevenueBandit,
    StudentTBandit,
    bernoulli_draw,
    exponential_draw,
    gaussian_draw,
    logistic_draw,
    revenue_draw,
    student_draw,
)

# Every reward draw there is to compile.
DRAWS: tuple[Draw, ...] = (
    gaussian_draw,
    exponential_draw,
    logistic_draw,
    student_draw,
    bernoulli_draw,
    revenue_draw,
    empirical_draw,
)

__all__ = [
    "DRAWS",
    "AffineBandit",
    "ArmParameters",
    "Bandit",
    "BernoulliBandit",
    "Drifting",
    "EmpiricalBandit",
    "ExponentialBandit",
    "GaussianBandit",
    "LogUniform",
    "LogisticBandit",
    "Piecewise",
    "RevenueBandit",
    "Seasonal",
    "StudentTBandit",
    "Uniform",
]
