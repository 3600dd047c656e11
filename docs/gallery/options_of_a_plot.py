"""Options of a plot.

On the left the band holds nine runs of ten. On the right the regrets of all policies are divided by
those of one. Both have a logarithmic axis, with checkpoints to match.
"""

import matplotlib.pyplot as plt

import bootleader as bl

arms = bl.GaussianBandit(means=bl.Uniform(0, 1, arms=5))
policies = [bl.StudentThompson(), bl.AdaptiveReBoot(), bl.UCB1(), bl.ReBoot(sigma_a=1.5)]
sim = bl.simulate(policies, arms, rounds=10_000, runs=200, seed=1, checkpoints="log", keep="curves")

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
sim.plot(ax=left, policies=[1, 3], xscale="log", band=(0.05, 0.95), title="Nine runs of ten")
sim.plot(ax=right, relative_to="StudentThompson()", xscale="log", title="Regret over StudentThompson's")
figure.savefig("options_of_a_plot.png", dpi=120)
