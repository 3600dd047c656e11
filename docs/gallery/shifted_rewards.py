"""Rewards with a shift.

The same number is added to all rewards. ReBoot's choices do not change. Giro and PHE add rewards of
0 and 1 of their own, which no longer fit.
"""

import matplotlib.pyplot as plt

import bootleader as bl

shifts = [0, 1, 2, 4, 8]
policies = [bl.ReBoot(sigma_a=1.5), bl.Giro(a=1), bl.PHE(a=2.1)]
regret = []
for shift in shifts:
    arms = bl.GaussianBandit(means=[shift + 1.0, shift])
    regret.append(bl.simulate(policies, arms, rounds=1_000, runs=64, seed=1).mean_regret[:, -1])

figure, panel = plt.subplots(figsize=(7, 4), layout="constrained")
for policy, line in zip(policies, zip(*regret, strict=True), strict=True):
    panel.plot(shifts, line, marker="o", label=policy.name)
panel.set(xlabel="shift of the rewards", ylabel="mean regret after 1,000 rounds", ylim=(0, None))
panel.legend(frameon=False)
figure.savefig("shifted_rewards.png", dpi=120)
