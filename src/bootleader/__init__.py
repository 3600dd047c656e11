"""bootleader: bandit algorithms that explore by bootstrapping residuals, for rewards without bounds."""

from bootleader._version import __version__
from bootleader.agent import Agent, Decision, Probabilities, Receipt
from bootleader.bandits import (
    AffineBandit,
    Bandit,
    BernoulliBandit,
    Drifting,
    EmpiricalBandit,
    ExponentialBandit,
    GaussianBandit,
    LogisticBandit,
    LogUniform,
    Piecewise,
    RevenueBandit,
    Seasonal,
    StudentTBandit,
    Uniform,
)
from bootleader.comparison import Ranking, Rewards, compare, read_rewards
from bootleader.inference import confidence_sequence, evaluate, verdict
from bootleader.policies import (
    IMED,
    KLUCB,
    PHE,
    RBSDA,
    UCB1,
    AdaptiveReBoot,
    BetaThompson,
    ChoiceRule,
    Discounted,
    EpsilonGreedy,
    FollowTheLeader,
    Giro,
    HistoryRule,
    IndexRule,
    Noise,
    Policy,
    ReBoot,
    ResidualBootstrap,
    StudentThompson,
    ThompsonSampling,
)
from bootleader.simulation._delay import GeometricDelay
from bootleader.simulation._simulate import simulate
from bootleader.simulation.check import check_bandit, check_policy
from bootleader.simulation.result import Comparison, Simulation
from bootleader.simulation.sweep import Sweep, sweep
from bootleader.theory import Bound, bound

__all__ = [
    "IMED",
    "KLUCB",
    "PHE",
    "RBSDA",
    "UCB1",
    "AdaptiveReBoot",
    "AffineBandit",
    "Agent",
    "Bandit",
    "BernoulliBandit",
    "BetaThompson",
    "Bound",
    "ChoiceRule",
    "Comparison",
    "Decision",
    "Discounted",
    "Drifting",
    "EmpiricalBandit",
    "EpsilonGreedy",
    "ExponentialBandit",
    "FollowTheLeader",
    "GaussianBandit",
    "GeometricDelay",
    "Giro",
    "HistoryRule",
    "IndexRule",
    "LogUniform",
    "LogisticBandit",
    "Noise",
    "Piecewise",
    "Policy",
    "Probabilities",
    "Ranking",
    "ReBoot",
    "Receipt",
    "ResidualBootstrap",
    "RevenueBandit",
    "Rewards",
    "Seasonal",
    "Simulation",
    "StudentTBandit",
    "StudentThompson",
    "Sweep",
    "ThompsonSampling",
    "Uniform",
    "__version__",
    "bound",
    "check_bandit",
    "check_policy",
    "compare",
    "confidence_sequence",
    "evaluate",
    "read_rewards",
    "simulate",
    "sweep",
    "verdict",
]


def __dir__() -> list[str]:
    """List the public names only: submodules that an import has loaded are not among them."""
    return sorted(__all__)
