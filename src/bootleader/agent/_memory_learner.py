"""The learner of choice rules that have a memory of their own, which follows the arms that come, go and pause."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bootleader._core.rules import ChoiceRule, SharedStatistics
from bootleader.agent._arm_state import ArmState
from bootleader.agent._atomic_commit import Store
from bootleader.agent._choice_learner import ChoiceLearner, view_of
from bootleader.agent._laws import Laws
from bootleader.agent._pending_changes import Draft
from bootleader.agent._random_streams import Streams


class MemoryStreams(Streams):
    """Streams with a rule's memory, so that a draft replaces both at once.

    Attributes
    ----------
    memory : list of float
        The numbers of each arm, arm by arm, then those that belong to none.
    """

    __slots__ = ("memory",)

    memory: list[float]

    def __init__(self, noise: int, spare: int, stride: int, memory: list[float]) -> None:
        super().__init__(noise, spare, stride)
        self.memory = memory

    def copy(self) -> MemoryStreams:
        twin = MemoryStreams.__new__(MemoryStreams)
        self.copy_to(twin)
        twin.memory = self.memory.copy()
        return twin


def needs_history(rule: ChoiceRule) -> bool:
    """Whether what a rule remembers grows with the rounds."""
    return rule.history or rule.memory(2, 1) != rule.memory(2, 1_000)


class MemoryLearner(ChoiceLearner):
    """Plays a :class:`ChoiceRule` whose memory does not grow with the rounds.

    Attributes
    ----------
    per_arm : int
        Numbers in the memory for each arm.
    fixed : int
        Numbers beside them.
    names_arms : bool
        Whether numbers of arms are among the latter.
    """

    streams: MemoryStreams

    def __init__(self, rule: ChoiceRule, seed: int) -> None:
        super().__init__(rule, seed)
        self.per_arm = rule.memory(2, 1) - rule.memory(1, 1)
        self.fixed = rule.memory(1, 1) - self.per_arm
        self.names_arms = bool(getattr(rule.memory, "names_arms", False))
        streams = self.streams
        self.restore(streams.noise, streams.spare.states[0], [0.0] * self.fixed)

    def restore(self, noise: int, spare: int, memory: list[float]) -> None:
        """Begin from these streams and this memory."""
        self.streams = MemoryStreams(noise, spare, self.streams.stride, memory)

    # Arms ----------------------------------------------------------------------------------------------------------

    def add(self, draft: Draft, arm: ArmState) -> int:
        slot = super().add(draft, arm)
        memory, at = _memory_in(draft), slot * self.per_arm
        memory[at:at] = [0.0] * self.per_arm
        return slot

    def removal(self, slot: int) -> list[Store]:
        if self.names_arms:
            raise ValueError("this policy remembers which arm its last rewards came from: pause the arm instead")
        streams = self.streams.copy()
        del streams.memory[slot * self.per_arm : (slot + 1) * self.per_arm]
        return [*super().removal(slot), (setattr, self, "streams", streams)]

    # Choices and rewards -------------------------------------------------------------------------------------------

    def leader(self, laws: Laws, streams: Streams) -> int:
        assert isinstance(streams, MemoryStreams)
        place, own = self._chosen(laws.playing, streams.memory, streams.spare)
        self._put_back(laws.playing, own, streams.memory)
        return place

    def choice(self, slots: Sequence[int], stream: Any) -> tuple[int, npt.NDArray[np.float64]]:
        place, own = self._chosen(slots, self.streams.memory, stream)
        return place, np.array(own)

    def memory_of(self, slots: Sequence[int]) -> list[float]:
        return self._part(slots, self.streams.memory)

    def _chosen(self, slots: Sequence[int], memory: Sequence[float], stream: Any) -> tuple[int, list[float]]:
        rule, own = self.rule, self._part(slots, memory)
        return int(rule.choose(rule.params, self.view(slots), own, self.shared(slots), stream)), own

    def learn(self, draft: Draft, slot: int, reward: float) -> None:
        super().learn(draft, slot, reward)
        arms, memory = draft.arms(), _memory_in(draft)
        seen = [place for place, arm in enumerate(arms) if arm.active or place == slot or self.names_arms]
        rule, own = self.rule, self._part(seen, memory)
        shared = SharedStatistics(0.0, draft.rounds, len(seen), math.inf, 0.0)
        view = view_of([arms[place] for place in seen])
        rule.learn(rule.params, view, own, shared, seen.index(slot), reward, draft.streams.spare)
        self._put_back(seen, own, memory)

    def merge(self, draft: Draft, others: Iterable[tuple[int, ArmState]], rounds: int) -> None:
        raise ValueError(
            "the memory of this policy cannot be added up, so its agents learn neither from others nor summaries"
        )

    # Memory --------------------------------------------------------------------------------------------------------

    def _part(self, slots: Sequence[int], memory: Sequence[float]) -> list[float]:
        """The memory of some of the arms."""
        size = self.per_arm
        own = [number for slot in slots for number in memory[slot * size : (slot + 1) * size]]
        return own + list(memory[len(memory) - self.fixed :])

    def _put_back(self, slots: Sequence[int], own: Sequence[float], memory: list[float]) -> None:
        """Write such a part into the whole memory."""
        size = self.per_arm
        for place, slot in enumerate(slots):
            memory[slot * size : (slot + 1) * size] = own[place * size : (place + 1) * size]
        memory[len(memory) - self.fixed :] = own[len(own) - self.fixed :]


def _memory_in(draft: Draft) -> list[float]:
    """The memory that a draft is about to commit."""
    streams = draft.streams
    assert isinstance(streams, MemoryStreams)
    return streams.memory
