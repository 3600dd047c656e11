"""Compiled passes over a log with probabilities: past means, and the moments of scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from bootleader._core.disk_cache import kernel


@kernel
def past_means(arm: Any, reward: Any, arms: int, start: float) -> Any:
    """Each arm's mean of earlier rewards, round by round; without one, that of all earlier rewards, or ``start``."""
    table = np.empty((len(arm), arms))
    count, mean = np.zeros(arms + 1), np.full(arms + 1, start)
    for t in range(len(arm)):
        for a in range(arms):
            table[t, a] = mean[a] if count[a] > 0.0 else mean[arms]
        for a in (arm[t], arms):  # the last place: all rewards
            count[a] += 1.0
            mean[a] += (reward[t] - mean[a]) / count[a]
    return table


@kernel
def score_moments(arm: Any, reward: Any, probability: Any, arms: int, pairs: Any, start: float) -> Any:
    """Mean, RSS and fourth central sum of each arm's scores, then of each pair's differences of scores. Two passes."""
    size = arms + len(pairs)
    mean, rss, fourth = np.zeros(size), np.zeros(size), np.zeros(size)
    score, value = np.empty(arms), np.empty(size)
    for central in (False, True):
        count, past = np.zeros(arms + 1), np.full(arms + 1, start)
        for t in range(len(arm)):
            for a in range(arms):
                score[a] = past[a] if count[a] > 0.0 else past[arms]
            score[arm[t]] += (reward[t] - score[arm[t]]) / probability[t]
            if central:
                value[:arms] = score
                for i in range(len(pairs)):
                    value[arms + i] = score[pairs[i, 0]] - score[pairs[i, 1]]
                for i in range(size):
                    square = (value[i] - mean[i]) ** 2
                    rss[i] += square
                    fourth[i] += square * square
            else:
                for a in range(arms):
                    mean[a] += (score[a] - mean[a]) / (t + 1.0)
            for a in (arm[t], arms):
                count[a] += 1.0
                past[a] += (reward[t] - past[a]) / count[a]
        for i in range(len(pairs)):
            mean[arms + i] = mean[pairs[i, 0]] - mean[pairs[i, 1]]
    return mean, rss, fourth
