"""bootleader: bandit algorithms that explore by bootstrapping residuals, for rewards without bounds."""

from bootleader import bandits, policies
from bootleader._version import __version__
from bootleader.agent import Agent, ContextualAgent, Decision, Features, Probabilities, Ramp, Receipt, Traffic
from bootleader.bandits import *  # noqa: F403
from bootleader.comparison import Ranking, Rewards, compare, read_rewards
from bootleader.inference import confidence_sequence, evaluate, verdict
from bootleader.policies import *  # noqa: F403
from bootleader.simulation._delay import GeometricDelay
from bootleader.simulation._simulate import simulate
from bootleader.simulation.contract_checks import check_bandit, check_policy
from bootleader.simulation.result import Comparison, Simulation
from bootleader.simulation.sweep import Sweep, sweep
from bootleader.store import Audit, BulkReceipt, Check, Experiment, Store, StoreError
from bootleader.theory import Bound, bound

# The policies and bandits are named in their packages alone: adding one needs no edit here.
__all__ = [
    "Agent",
    "Audit",
    "Bound",
    "BulkReceipt",
    "Check",
    "Comparison",
    "ContextualAgent",
    "Decision",
    "Experiment",
    "Features",
    "GeometricDelay",
    "Probabilities",
    "Ramp",
    "Ranking",
    "Receipt",
    "Rewards",
    "Simulation",
    "Store",
    "StoreError",
    "Sweep",
    "Traffic",
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
__all__ += policies.__all__
__all__ += bandits.__all__


def __dir__() -> list[str]:
    """List the public names only: submodules that an import has loaded are not among them."""
    return sorted(__all__)
