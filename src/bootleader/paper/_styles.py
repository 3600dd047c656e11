"""The policies of the paper and those beyond it: how they are named and drawn, the same in every figure."""

from __future__ import annotations

import math
from typing import Any

from bootleader.policies import (
    PHE,
    UCB1,
    AdaptiveReBoot,
    EpsilonGreedy,
    FollowTheLeader,
    Giro,
    Policy,
    ReBoot,
    ResidualBootstrap,
    StudentThompson,
    ThompsonSampling,
)

REBOOT = ReBoot(sigma_a=1.5)
GIRO = Giro(a=1)
PHE_2_1 = PHE(a=2.1)
TS = ThompsonSampling()
FLAT_TS = ThompsonSampling(prior_sd=math.inf, noise_sd=1.0)
ORACLE_TS = ThompsonSampling(prior_sd=math.inf, noise_sd="oracle")
ADAPTIVE = AdaptiveReBoot()
STUDENT = StudentThompson()
LEADER = FollowTheLeader()
VANILLA = ResidualBootstrap()


def label(policy: Policy) -> str:
    """A policy's name in figures and tables."""
    if isinstance(policy, ReBoot):
        kind = "" if policy.weights == "gaussian" else f" {policy.weights}"
        return f"ReBoot {policy.sigma_a:g}{kind}"
    if isinstance(policy, ThompsonSampling):
        if policy.prior_sd != math.inf:
            return "TS N(0,1)"
        return "TS flat, oracle sd" if policy.noise_sd == "oracle" else f"TS flat, sd {policy.noise_sd:g}"
    if isinstance(policy, Giro | PHE):
        return f"{type(policy).__name__} {policy.a:g}"
    names: dict[type[Policy], str] = {
        FollowTheLeader: "FollowTheLeader",
        ResidualBootstrap: "vanilla bootstrap",
        UCB1: "UCB1",
        EpsilonGreedy: "ε-greedy 0.1",
    }
    return names.get(type(policy), type(policy).__name__)


def _line(colour: str, style: Any = "-", width: float = 1.8, marker: str = "o") -> dict[str, Any]:
    return {"color": colour, "linestyle": style, "linewidth": width, "marker": marker}


STYLES: dict[str, dict[str, Any]] = {
    "ReBoot": _line("#0072B2", width=2.4),
    "ReBoot 0.5": _line("#7FB8DD", (0, (1, 1))),
    "ReBoot 1": _line("#3D95CC", (0, (4, 1.5))),
    "ReBoot 1.5": _line("#0072B2", width=2.4),
    "ReBoot 1.7": _line("#0072B2", width=2.2),
    "ReBoot 2": _line("#003F66", (0, (8, 2))),
    "ReBoot 1.5 rademacher": _line("#D55E00", "--"),
    "ReBoot 1.5 mammen": _line("#009E73", "-."),
    "TS N(0,1)": _line("#D55E00", "--"),
    "Giro 1": _line("#009E73", "-.", marker="s"),
    "PHE 2.1": _line("#A8508A", (0, (3, 1, 1, 1)), marker="^"),
    "TS flat, sd 1": _line("#B07D00", "--"),
    "TS flat, oracle sd": _line("#B07D00", "-."),
    "AdaptiveReBoot": _line("#000000", width=2.4),
    "StudentThompson": _line("#6B4C9A", (0, (5, 1)), width=2.0),
    "FollowTheLeader": _line("#D55E00", "--"),
    "vanilla bootstrap": _line("#009E73", "-."),
    "theorem 1's bound": _line("#D55E00", "--"),
    "Lai–Robbins": _line("#666666", ":"),
}
