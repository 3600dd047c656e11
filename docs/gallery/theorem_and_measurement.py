"""The bound and what is measured.

The bound of theorem 1, the measured regret of ReBoot and AdaptiveReBoot, and the Lai-Robbins lower
bound. The bound holds and is hundreds of times too large. The lower bound is asymptotic, so regret
may be below it at these horizons.
"""

import matplotlib.pyplot as plt

import bootleader as bl

means = [1.0, 0.5, 0.0]
policies = [bl.ReBoot(sigma_a=1.7), bl.AdaptiveReBoot()]
sim = bl.simulate(policies, bl.GaussianBandit(means), rounds=10_000, runs=128, seed=1)
answers = [bl.bound(means, sigma_a=1.7, rounds=int(t)) for t in sim.rounds]

figure, panel = plt.subplots(figsize=(7, 4), layout="constrained")
panel.plot(sim.rounds, [answer.upper for answer in answers], "k--", label="theorem 1")
for name, regret in zip(sim.policies, sim.mean_regret, strict=True):
    panel.plot(sim.rounds, regret, label=name)
panel.plot(sim.rounds, [answer.lower for answer in answers], "k:", label="Lai-Robbins")
panel.set(xlabel="round", ylabel="regret", xscale="log", yscale="log")
panel.legend(frameon=False)
figure.savefig("theorem_and_measurement.png", dpi=120)
