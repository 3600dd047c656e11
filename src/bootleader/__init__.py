"""bootleader: bandit algorithms that explore by bootstrapping residuals, for rewards without bounds."""

from bootleader.bandits import (
    AffineBandit,
    BernoulliBandit,
    EmpiricalBandit,
    ExponentialBandit,
    GaussianBandit,
    LogisticBandit,
    LogUniform,
    RevenueBandit,
    StudentTBandit,
    Uniform,
)
from bootleader.agent import Agent, Decision, Receipt
from bootleader.policies import (
    PHE,
    UCB1,
    AdaptiveReBoot,
    EpsilonGreedy,
    FollowTheLeader,
    Giro,
    ReBoot,
    ResidualBootstrap,
    StudentThompson,
    ThompsonSampling,
)
from bootleader.simulation._simulate import simulate
from bootleader.simulation.result import Comparison, Simulation

__version__ = "0.1.0"

__all__ = [
    "PHE",
    "UCB1",
    "AdaptiveReBoot",
    "AffineBandit",
    "Agent",
    "BernoulliBandit",
    "Comparison",
    "Decision",
    "EmpiricalBandit",
    "EpsilonGreedy",
    "ExponentialBandit",
    "FollowTheLeader",
    "GaussianBandit",
    "Giro",
    "LogUniform",
    "LogisticBandit",
    "ReBoot",
    "Receipt",
    "ResidualBootstrap",
    "RevenueBandit",
    "Simulation",
    "StudentTBandit",
    "StudentThompson",
    "ThompsonSampling",
    "Uniform",
    "simulate",
]
