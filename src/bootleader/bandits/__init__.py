"""Reward families, how a run's arms are drawn, and the registry: a bandit that is listed here is public."""

from bootleader.bandits.affine import AffineBandit
from bootleader.bandits.base import Bandit, Draw
from bootleader.bandits.changing import Drifting, Piecewise, Seasonal
from bootleader.bandits.coefficient_laws import GradedCoefficients, UniformCoefficients, UnitCoefficients
from bootleader.bandits.contextual import ContextualBandit
from bootleader.bandits.empirical import EmpiricalBandit, empirical_draw
from bootleader.bandits.families.bernoulli import BernoulliBandit, bernoulli_draw
from bootleader.bandits.families.beta import BetaBandit, beta_draw
from bootleader.bandits.families.exponential import ExponentialBandit, exponential_draw
from bootleader.bandits.families.gamma import GammaBandit, gamma_draw
from bootleader.bandits.families.gaussian import GaussianBandit, gaussian_draw
from bootleader.bandits.families.logistic import LogisticBandit, logistic_draw
from bootleader.bandits.families.lognormal import LogNormalBandit, lognormal_draw
from bootleader.bandits.families.pareto import ParetoBandit, pareto_draw
from bootleader.bandits.families.poisson import PoissonBandit, poisson_draw
from bootleader.bandits.families.revenue import RevenueBandit, revenue_draw
from bootleader.bandits.families.student_t import StudentTBandit, student_draw
from bootleader.bandits.feature_laws import FixedFeatures, GaussianContexts, RandomFeatures, SegmentContexts
from bootleader.bandits.linear import LinearBandit
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

# The public names, in the order of the API reference. ``bootleader`` exports them all.
__all__ = [
    "GaussianBandit",
    "LogisticBandit",
    "StudentTBandit",
    "ExponentialBandit",
    "BernoulliBandit",
    "RevenueBandit",
    "PoissonBandit",
    "GammaBandit",
    "BetaBandit",
    "ParetoBandit",
    "LogNormalBandit",
    "EmpiricalBandit",
    "MixtureBandit",
    "AffineBandit",
    "Piecewise",
    "Drifting",
    "Seasonal",
    "Uniform",
    "Normal",
    "Beta",
    "LogUniform",
    "LinearBandit",
    "FixedFeatures",
    "RandomFeatures",
    "GaussianContexts",
    "SegmentContexts",
    "UnitCoefficients",
    "UniformCoefficients",
    "GradedCoefficients",
    "Bandit",
    "ContextualBandit",
]
