"""Rewards that drift.

The best arm changes twice. An agent with a half-life forgets old rewards and finds the new best
arm; an agent without one keeps playing the old one for a long time.
"""

import matplotlib.pyplot as plt
import numpy as np

import bootleader as bl

best = ["a"] * 1_500 + ["b"] * 1_500 + ["c"] * 1_500
figure, panel = plt.subplots(figsize=(7, 4), layout="constrained")
for half_life in (None, 200):
    regret = np.zeros(len(best))
    for run in range(5):
        agent = bl.Agent(bl.AdaptiveReBoot(), ["a", "b", "c"], seed=run, half_life=half_life)
        rng = np.random.default_rng(run)
        for t, winner in enumerate(best):
            arm = agent.pull()
            agent.update(arm, rng.normal(float(arm == winner), 1.0))
            regret[t] += (arm != winner) / 5
    panel.plot(np.cumsum(regret), label=f"half_life={half_life}")
panel.set(xlabel="round", ylabel="mean regret of 5 runs", xlim=(0, len(best)), ylim=(0, None))
panel.legend(frameon=False)
figure.savefig("rewards_that_drift.png", dpi=120)
