"""The calls of an agent that save, restore, copy and merge."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import partial
from typing import Any, Self

from bootleader._core.printable_text import shown
from bootleader._core.validation import whole
from bootleader.agent._agent_core import AgentCore
from bootleader.agent._arm_state import ArmState
from bootleader.agent._decisions import steady_clock
from bootleader.agent._validation import LARGEST_DOCUMENT
from bootleader.policies import Policy


class DocumentCalls(AgentCore):
    """Save, restore, copy and merge agents."""

    def to_json(self) -> str:
        """Everything the agent is, as a JSON document: :meth:`from_json` makes an agent with the same next choices.

        Returns
        -------
        str
            The document.
        """
        from bootleader.agent._document import written

        with self._lock:
            self._finish()
            return written(self)

    @classmethod
    def from_json(
        cls,
        document: str | bytes,
        *,
        policies: Iterable[type[Policy]] = (),
        clock: Callable[[], float] = steady_clock,
        max_size: int = LARGEST_DOCUMENT,
    ) -> Self:
        """The agent that a document of :meth:`to_json` describes.

        Parameters
        ----------
        document : str or bytes
            The document. Its checksum finds accidents, not forgeries: see SECURITY.md.
        policies : iterable of types, optional
            Policy classes of your own that the document may name.
        clock : callable
            As of the agent.
        max_size : int
            Largest number of characters of a document that is read at all.

        Returns
        -------
        Agent
            With the saved agent's next choices, bit for bit.

        Raises
        ------
        ValueError
            If the document is of an unknown version, cut short, changed, too large or contradicts itself.
        """
        from bootleader.agent._document import read

        agent: Self = read(cls, document, tuple(policies), clock, whole("max_size", max_size, 1))
        return agent

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles and copies go by way of the document, so they go on as a restored agent would."""
        document = self.to_json()
        options: dict[str, Any] = {
            "policies": (type(self.policy),),
            "clock": self._ledger.clock,
            "max_size": max(1, len(document)),
        }
        return partial(type(self).from_json, document, **options), ()

    def merge(self, other: Self) -> None:
        """Take in what another agent has learnt, on other data, with the same policy.

        Counts add up, other moments combine by the formulas of Chan and Pebay, so the order in which agents are merged
        does not matter. Arms that only the other knows are added, except those that were removed here; an arm that is
        paused here stays paused. The other's open decisions stay with the other.

        Parameters
        ----------
        other : Agent
            Of the same policy, ``maximize``, ``half_life`` and ``traffic``. It stays as it is.

        Raises
        ------
        TypeError
            If the other is not an agent.
        ValueError
            If the two do not go together.
        """
        if other is self:
            raise ValueError("merge takes another agent, got this one itself, whose rewards would count twice")
        if not isinstance(other, DocumentCalls):
            raise TypeError(f"merge takes another Agent, got {shown(other)}")
        theirs, metadata, rounds, sides = other._learnt()
        self._learner.prepare(len(theirs.keys() | set(self._names)))
        with self._lock:
            self._finish()
            self._check_mergeable(other, rounds)
            self._merge(theirs, metadata, rounds, sides)

    def _learnt(self) -> tuple[dict[str, ArmState], dict[str, Any], int, list[ArmState]]:
        """What another agent takes in: the arms as of now, their metadata, the number of rounds, both holdout sides."""
        with self._lock:
            self._finish()
            arms = {name: self._learner.state_now(slot) for name, slot in self._slots.items()}
            return arms, deepcopy(self._metadata), self._learner.rounds, list(self._sides)
