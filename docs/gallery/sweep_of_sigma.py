"""A sweep.

Regret of ReBoot over its parameter and the gap between two arms. With a small sigma_a it stays with
the worse arm in some runs; with a large one it explores more than it needs.
"""

import bootleader as bl


def make(sigma_a, gap):
    return {"ReBoot": bl.ReBoot(sigma_a)}, bl.GaussianBandit([gap, 0.0])


sweep = bl.sweep(make, sigma_a=[0.25, 0.5, 1.0, 1.5, 2.0], gap=[0.1, 0.3, 1.0], rounds=5_000, runs=200, seed=1)
sweep.heat_map("sweep_of_sigma.png", x="sigma_a", y="gap", policy="ReBoot")
