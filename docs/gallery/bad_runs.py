"""Bad runs.

The mean hides what happens in single runs. The vanilla residual bootstrap stays with the worse arm
in some runs, and its regret there is 2,500. Each line shows in which share of
runs the regret is above a value.
"""

import matplotlib.pyplot as plt
import numpy as np

import bootleader as bl

arms = bl.GaussianBandit(means=[0.5, 0.0], sd=1.0)
policies = [bl.ResidualBootstrap(), bl.ReBoot(sigma_a=1.5), bl.AdaptiveReBoot()]
sim = bl.simulate(policies, arms, rounds=5_000, runs=1_000, seed=1)

figure, panel = plt.subplots(figsize=(7, 4), layout="constrained")
share = np.arange(sim.runs, 0, -1) / sim.runs
for name, regret in zip(sim.policies, sim.final_regret, strict=True):
    panel.step(np.sort(regret), share, where="post", label=name)
panel.set(xlabel="regret of a run", ylabel="share of runs with more", xscale="log", yscale="log")
panel.legend(frameon=False)
figure.savefig("bad_runs.png", dpi=120)
