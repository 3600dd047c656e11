"""Rank policies on observed rewards: which would do best on rewards like mine."""

from bootleader.comparison._ranking import Ranking, compare
from bootleader.comparison._reward_table import Rewards, read_rewards

__all__ = ["Ranking", "Rewards", "compare", "read_rewards"]
