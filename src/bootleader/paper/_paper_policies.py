"""The policies of the paper and those beyond it, and their names in figures and tables."""

from __future__ import annotations

import math

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
FOLLOW_THE_LEADER = FollowTheLeader()
VANILLA_BOOTSTRAP = ResidualBootstrap()


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
