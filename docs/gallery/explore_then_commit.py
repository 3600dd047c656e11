"""A policy of your own.

Explore every arm some times, then commit to the best. Too little exploration commits to a wrong
arm; too much is wasted. A class with three methods joins the library's policies in one simulation.
"""

import matplotlib.pyplot as plt
import numpy as np

import bootleader as bl


class ExploreThenCommit:
    def __init__(self, each):
        self.each = each

    def start(self, arms, rng):
        self.count, self.total = np.zeros(arms), np.zeros(arms)

    def pull(self):
        if self.count.min() < self.each:
            return int(self.count.argmin())
        if self.count.min() == self.each and self.count.sum() == self.each * len(self.count):
            self.best = int((self.total / self.count).argmax())
        return self.best

    def update(self, arm, reward):
        self.count[arm] += 1
        self.total[arm] += reward


arms = bl.GaussianBandit(means=bl.Uniform(0, 1, arms=4))
policies = {f"{each}": ExploreThenCommit(each) for each in (1, 3, 10, 30, 100)} | {"adaptive": bl.AdaptiveReBoot()}
sim = bl.simulate(policies, arms, rounds=1_000, runs=60, seed=1)

figure, panel = plt.subplots(figsize=(7, 4), layout="constrained")
panel.boxplot(list(sim.final_regret), tick_labels=sim.policies, whis=(5, 95), showmeans=True, showfliers=False)
panel.set(xlabel="pulls of every arm before committing", ylabel="regret after 1,000 rounds", ylim=(0, None))
figure.savefig("explore_then_commit.png", dpi=120)
