"""Probabilities while an agent learns.

An agent knows the exact probability of each choice. Three arms pay 10, 11 and 12 euros on average;
the probability of the best one grows.
"""

import matplotlib.pyplot as plt
import numpy as np

import bootleader as bl

means = {"blue": 10.0, "green": 11.0, "red": 12.0}
agent = bl.Agent(bl.AdaptiveReBoot(), arms=means, seed=1)
rng = np.random.default_rng(2)
chances = []
for _ in range(300):
    chances.append(list(agent.probabilities().values()))
    arm = agent.pull()
    agent.update(arm, rng.normal(means[arm], 3.0))

figure, panel = plt.subplots(figsize=(7, 4), layout="constrained")
panel.stackplot(range(300), np.transpose(chances), labels=list(means), colors=["#4878CF", "#6ACC65", "#D65F5F"])
panel.set(xlabel="round", ylabel="probability of the next choice", xlim=(0, 299), ylim=(0, 1))
panel.legend(loc="lower left")
figure.savefig("choice_probabilities.png", dpi=120)
