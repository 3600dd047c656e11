"""Which policy would do best on rewards like mine?"""

from bootleader.compare._compare import Rewards, compare, read_rewards

__all__ = ["Rewards", "compare", "read_rewards"]
