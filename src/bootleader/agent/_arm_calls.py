"""The calls of an agent that concern its arms: add, pause, resume, remove."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from bootleader._core.printable_text import shown
from bootleader.agent._agent_core import AgentCore
from bootleader.agent._arm_state import ArmState
from bootleader.agent._learner_factory import sd_of_new_arm
from bootleader.agent._pending_changes import Draft
from bootleader.agent._validation import arm_name, metadata_of


class ArmCalls(AgentCore):
    """What a program does with an agent's arms."""

    @property
    def arms(self) -> dict[str, Any]:
        """The arms with their metadata, paused ones included. A copy: nothing done to it reaches the agent."""
        with self._lock:
            self._finish()
            return {name: deepcopy(kept) for name, kept in self._metadata.items()}

    @property
    def paused(self) -> list[str]:
        """The arms that are not played at present."""
        with self._lock:
            self._finish()
            return [name for name, slot in self._slots.items() if not self._learner.arms[slot].active]

    @property
    def open_decisions(self) -> dict[str, str]:
        """The decisions that wait for a reward: id to arm, oldest first."""
        with self._lock:
            self._finish()
            return {decision_id: decision.arm for decision_id, decision in self._ledger.awaited()}

    def add_arm(self, name: str, metadata: Any = None, *, again: bool = False, noise_sd: float | None = None) -> None:
        """Take in a new arm, which is then explored as the policy explores a new arm.

        Parameters
        ----------
        name : str
            A name that no arm has or had.
        metadata : optional
            Plain JSON data to keep with it.
        again : bool
            Allow the name of a removed arm. Nothing of that arm is remembered; what was decided for it does not
            count for the new one.
        noise_sd : float, optional
            For ``ThompsonSampling`` that was given one noise sd per arm: the new arm's.

        Raises
        ------
        ValueError
            If the name is in use, or was and ``again`` is not given; or if the floor of the agent's traffic is too
            large for one more active arm.
        """
        name, metadata = arm_name(name), metadata_of(name, metadata)
        self._learner.prepare(len(self._names) + 1)  # may take seconds, so not under the lock
        with self._lock:
            self._finish()
            if name in self._slots:
                raise ValueError(f"arm {shown(name)} is already here")
            if name in self._removed and not again:
                raise ValueError(
                    f"arm {shown(name)} was removed: choose another name, or say again=True to start it afresh"
                )
            self._check_floor(1)
            draft = Draft(self._learner)
            arm = ArmState(noise_sd=sd_of_new_arm(self.policy, noise_sd), added_later=True)
            stores = self._adding(draft, {name: arm}, {name: metadata})
            self._learner.commit(draft.stores() + stores)

    def pause_arm(self, name: str) -> None:
        """Stop playing an arm until :meth:`resume_arm`. It still learns rewards that come late.

        Parameters
        ----------
        name : str
            The arm's name.
        """
        with self._lock:
            self._finish()
            self._set_active(name, False)

    def resume_arm(self, name: str) -> None:
        """Play a paused arm again, with what it knew.

        Parameters
        ----------
        name : str
            The arm's name.
        """
        with self._lock:
            self._finish()
            self._set_active(name, True)

    def remove_arm(self, name: str) -> None:
        """Forget an arm for good. Its name is remembered, so that it is not reused by mistake.

        Parameters
        ----------
        name : str
            The arm's name.
        """
        with self._lock:
            self._finish()
            self._remove(self._slot(name))
