"""The learner of choice rules that remember nothing but the arms' moments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bootleader._core.rules import ArmsView, ChoiceRule, SharedStatistics, learn_nothing
from bootleader.agent._arm_state import ArmState
from bootleader.agent._laws import Laws
from bootleader.agent._learner import Learner
from bootleader.agent._random_streams import Streams
from bootleader.policies import bayes_ucb, imed, maillard_sampling, top_two_thompson

# Rules whose memory is for intermediate results: what a choice leaves in it, the next may find or not.
SCRATCH: Final = (maillard_sampling.choose, bayes_ucb.choose, imed.choose, top_two_thompson.choose)


def remembers_nothing(rule: ChoiceRule) -> bool:
    """Whether a rule chooses by the arms' moments and the number of rewards alone."""
    return rule.learn is learn_nothing and not rule.history and (rule.memory(2, 1000) == 0 or rule.choose in SCRATCH)


class ChoiceLearner(Learner):
    """Plays a :class:`ChoiceRule` that remembers nothing, on the arms that are active."""

    rule: ChoiceRule

    def leader(self, laws: Laws, streams: Streams) -> int:
        return self.choice(laws.playing, streams.spare)[0]

    def choice(self, slots: Sequence[int], stream: Any) -> tuple[int, npt.NDArray[np.float64]]:
        """The place of the arm that the rule chooses among these, and the memory that it leaves."""
        rule, memory = self.rule, np.zeros(self.rule.memory(len(slots), 0))
        return int(rule.choose(rule.params, self.view(slots), memory, self.shared(slots), stream)), memory

    def view(self, slots: Sequence[int]) -> ArmsView:
        """What the rule may know of these arms."""
        return view_of([self.arms[slot] for slot in slots])

    def shared(self, slots: Sequence[int]) -> SharedStatistics:
        """What it may know beside them."""
        return SharedStatistics(0.0, self.rounds, len(slots), math.inf, 0.0)

    def memory_of(self, slots: Sequence[int]) -> list[float]:
        """A copy of what the rule remembers of these arms."""
        return [0.0] * self.rule.memory(len(slots), 0)


def view_of(arms: Sequence[ArmState]) -> ArmsView:
    """What a rule may know of some arms."""
    count, mean, rss, noise_sd = np.array([(arm.count, arm.mean, arm.rss, arm.noise_sd) for arm in arms]).T
    nothing = np.zeros(0)
    return ArmsView(count, mean, rss, noise_sd, nothing, nothing, np.zeros(len(arms), np.intp))
