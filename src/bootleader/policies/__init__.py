"""The policies, one file each, and the registry: a policy that is listed here is public."""

from bootleader._core.coefficient_rules import CoefficientRule
from bootleader._core.linear_rules import LinearRule
from bootleader._core.rules import ChoiceRule, HistoryRule, IndexRule, Noise
from bootleader.policies.adaptive_lin_reboot import AdaptiveLinReBoot
from bootleader.policies.adaptive_reboot import AdaptiveReBoot
from bootleader.policies.base import Knowledge, Policy
from bootleader.policies.bayes_ucb import BayesUCB
from bootleader.policies.beta_thompson import BetaThompson
from bootleader.policies.bootstrapped_ucb import BootstrappedUCB
from bootleader.policies.chk import CHK
from bootleader.policies.contextual import ContextualPolicy
from bootleader.policies.discounted import Discounted
from bootleader.policies.ensemble_sampling import EnsembleSampling
from bootleader.policies.epsilon_greedy import EpsilonGreedy
from bootleader.policies.exp3 import Exp3
from bootleader.policies.follow_the_leader import FollowTheLeader
from bootleader.policies.giro import Giro
from bootleader.policies.imed import IMED
from bootleader.policies.kl_maillard_sampling import KLMaillardSampling
from bootleader.policies.klucb import KLUCB
from bootleader.policies.lbsda import LBSDA
from bootleader.policies.lin_giro import LinGiro
from bootleader.policies.lin_multiplier_bootstrap import LinMultiplierBootstrap
from bootleader.policies.lin_phe import LinPHE
from bootleader.policies.lin_reboot import LinReBoot
from bootleader.policies.lin_thompson import LinThompson
from bootleader.policies.lin_ucb import LinUCB
from bootleader.policies.maillard_sampling import MaillardSampling
from bootleader.policies.moss import MOSS
from bootleader.policies.multiplier_bootstrap import MultiplierBootstrap
from bootleader.policies.npts import NPTS
from bootleader.policies.phe import PHE
from bootleader.policies.rbsda import RBSDA
from bootleader.policies.reboot import ReBoot
from bootleader.policies.residual_bootstrap import ResidualBootstrap
from bootleader.policies.sliding_window_ucb import SlidingWindowUCB
from bootleader.policies.student_thompson import StudentThompson
from bootleader.policies.successive_rejects import SuccessiveRejects
from bootleader.policies.thompson_sampling import ThompsonSampling
from bootleader.policies.top_two_thompson import TopTwoThompson
from bootleader.policies.tsallis_inf import TsallisINF
from bootleader.policies.ucb1 import UCB1
from bootleader.policies.ucb_tuned import UCBTuned
from bootleader.policies.ucbv import UCBV
from bootleader.policies.wrsda import WRSDA

# An example of each, in every variant whose rule is its own: what there is to compile, to list and to test.
POLICIES: tuple[Policy, ...] = (
    ReBoot(sigma_a=1.5),
    ReBoot(sigma_a=1.5, weights="rademacher"),
    ResidualBootstrap(),
    FollowTheLeader(),
    ThompsonSampling(),
    StudentThompson(),
    AdaptiveReBoot(),
    Giro(),
    PHE(),
    UCB1(),
    EpsilonGreedy(),
    Discounted(ReBoot(sigma_a=1.5), half_life=500),
    KLUCB(),
    KLUCB("gaussian"),
    BetaThompson(),
    IMED(),
    RBSDA(),
    WRSDA(),
    LBSDA(),
    UCBTuned(),
    UCBV(),
    MOSS(),
    CHK(),
    MaillardSampling(),
    KLMaillardSampling(),
    BayesUCB(),
    NPTS(),
    MultiplierBootstrap(),
    EnsembleSampling(),
    BootstrappedUCB(),
    Exp3(),
    TsallisINF(),
    SlidingWindowUCB(window=500),
    TopTwoThompson(),
    SuccessiveRejects(),
)

# The same for bandits with contexts.
CONTEXTUAL_POLICIES: tuple[ContextualPolicy, ...] = (
    AdaptiveLinReBoot(),
    LinReBoot(sd_weights=0.3),
    LinThompson(),
    LinUCB(),
    LinPHE(),
    LinMultiplierBootstrap(),
    LinGiro(),
)

# The public names, in the order of the API reference. ``bootleader`` exports them all.
__all__ = [
    "AdaptiveReBoot",
    "ReBoot",
    "ResidualBootstrap",
    "StudentThompson",
    "ThompsonSampling",
    "BetaThompson",
    "UCB1",
    "KLUCB",
    "UCBTuned",
    "UCBV",
    "MOSS",
    "CHK",
    "BayesUCB",
    "IMED",
    "MaillardSampling",
    "KLMaillardSampling",
    "RBSDA",
    "WRSDA",
    "LBSDA",
    "NPTS",
    "MultiplierBootstrap",
    "EnsembleSampling",
    "BootstrappedUCB",
    "Exp3",
    "TsallisINF",
    "Giro",
    "PHE",
    "EpsilonGreedy",
    "FollowTheLeader",
    "Discounted",
    "SlidingWindowUCB",
    "TopTwoThompson",
    "SuccessiveRejects",
    "AdaptiveLinReBoot",
    "LinReBoot",
    "LinThompson",
    "LinUCB",
    "LinPHE",
    "LinMultiplierBootstrap",
    "LinGiro",
    "Policy",
    "Knowledge",
    "IndexRule",
    "Noise",
    "HistoryRule",
    "ChoiceRule",
    "ContextualPolicy",
    "LinearRule",
    "CoefficientRule",
]
