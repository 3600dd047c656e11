"""Regret of six policies.

Ten Gaussian arms whose means are drawn anew in every run. The band is one standard error over runs.
"""

import bootleader as bl

arms = bl.GaussianBandit(means=bl.Uniform(5, 7, arms=10), sd=1.0)
policies = [
    bl.AdaptiveReBoot(),
    bl.StudentThompson(),
    bl.UCB1(),
    bl.ReBoot(sigma_a=1.5),
    bl.PHE(a=2.1),
    bl.EpsilonGreedy(),
]
sim = bl.simulate(policies, arms, rounds=5_000, runs=200, seed=1)
sim.plot("compare_policies.png")
