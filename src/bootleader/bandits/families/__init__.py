"""The reward families, one file each: the scalar draw, and the bandit that is made of it."""

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

__all__ = [
    "BernoulliBandit",
    "BetaBandit",
    "ExponentialBandit",
    "GammaBandit",
    "GaussianBandit",
    "LogNormalBandit",
    "LogisticBandit",
    "ParetoBandit",
    "PoissonBandit",
    "RevenueBandit",
    "StudentTBandit",
    "bernoulli_draw",
    "beta_draw",
    "exponential_draw",
    "gamma_draw",
    "gaussian_draw",
    "logistic_draw",
    "lognormal_draw",
    "pareto_draw",
    "poisson_draw",
    "revenue_draw",
    "student_draw",
]
