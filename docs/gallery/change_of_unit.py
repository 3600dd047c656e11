"""Another unit.

Rewards in euros, cents, or thousands. A policy with a fixed noise level explores too much in one
unit and too little in another. AdaptiveReBoot makes the same choices in all of them.
"""

import matplotlib.pyplot as plt

import bootleader as bl

units = [0.01, 0.1, 1.0, 10.0, 100.0]
policies = [bl.AdaptiveReBoot(), bl.ThompsonSampling(prior_sd=float("inf"), noise_sd=1.0), bl.UCB1(sd=1.0)]
arms = bl.GaussianBandit(means=[0.5, 0.0], sd=1.0)

regret = []
for unit in units:
    sim = bl.simulate(policies, bl.AffineBandit(arms, scale=unit), rounds=5_000, runs=256, seed=1)
    regret.append(sim.mean_regret[:, -1] / unit)

figure, panel = plt.subplots(figsize=(7, 4), layout="constrained")
for policy, line in zip(policies, zip(*regret, strict=True), strict=True):
    panel.plot(units, line, marker="o", label=policy.name)
panel.set(xlabel="rewards multiplied by", ylabel="mean regret, in the first unit", xscale="log", ylim=(0, None))
panel.legend(frameon=False, loc="upper center")
figure.savefig("change_of_unit.png", dpi=120)
