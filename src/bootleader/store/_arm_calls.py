"""The calls of an experiment that concern its arms: add, pause, resume, remove."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from bootleader._core.printable_text import shown
from bootleader.agent._learner_factory import sd_of_new_arm
from bootleader.agent._validation import arm_name, metadata_of
from bootleader.store._experiment_writer import Writer
from bootleader.store._state import State


class ArmCalls:
    """What a program does with an experiment's arms."""

    _writer: Writer
    policy: Any

    @property
    def arms(self) -> dict[str, Any]:
        """The arms with their metadata, paused ones included."""
        with self._writer.lock:
            return {arm.name: deepcopy(arm.metadata) for arm in self._writer.replica().state.playing}

    @property
    def paused(self) -> list[str]:
        """The arms that are not played at present."""
        with self._writer.lock:
            return [arm.name for arm in self._writer.replica().state.playing if not arm.active]

    def add_arm(self, name: str, metadata: Any = None, *, again: bool = False, noise_sd: float | None = None) -> None:
        """Take in a new arm, for all processes.

        Parameters
        ----------
        name : str
            A name that no arm has or had.
        metadata : optional
            Plain JSON data to keep with it.
        again : bool
            Allow the name of a removed arm, which starts afresh.
        noise_sd : float, optional
            For ``ThompsonSampling`` that was given one noise sd per arm: the new arm's.

        Raises
        ------
        ValueError
            If the name is in use, or was and ``again`` is not given.
        """
        name, metadata = arm_name(name), metadata_of(name, metadata)
        sd = sd_of_new_arm(self.policy, noise_sd)

        def change(state: State) -> dict[str, Any]:
            if any(arm.name == name for arm in state.playing):
                raise ValueError(f"arm {shown(name)} is already here")
            if not again and any(arm.name == name for arm in state.arms):
                raise ValueError(
                    f"arm {shown(name)} was removed: choose another name, or say again=True to start it afresh"
                )
            self._writer.check_floor(state, 1)
            return {"change": "add_arm", "arms": [{"name": name, "metadata": metadata, "noise_sd": sd}]}

        self._writer.append_change(change)

    def add_category(self, feature: str, category: str) -> None:
        """Take in a new category of a feature, for all processes, with a coefficient that starts at 0.

        Parameters
        ----------
        feature : str
            Name of a feature that has categories.
        category : str
            The new one.

        Raises
        ------
        TypeError, ValueError
            If the experiment has no features, there is no such feature, or it has no categories, or this one already.
        """

        def change(state: State) -> dict[str, Any]:
            if state.features is None:
                raise TypeError("the experiment has no features")
            try:
                state.features.with_category(feature, category)
            except LookupError as error:
                raise ValueError(error.args[0]) from None
            return {"change": "add_category", "feature": feature, "category": category}

        self._writer.append_change(change)

    def pause_arm(self, name: str) -> None:
        """Stop playing an arm until :meth:`resume_arm`. It still learns rewards that come late.

        Parameters
        ----------
        name : str
            The arm's name.

        Raises
        ------
        StoreError
            If there is no such arm.
        ValueError
            If it is already paused, or the control of the holdout.
        """
        self._set_active(name, False)

    def resume_arm(self, name: str) -> None:
        """Play a paused arm again, with what it knew.

        Parameters
        ----------
        name : str
            The arm's name.

        Raises
        ------
        StoreError
            If there is no such arm.
        ValueError
            If it is not paused, or the floor is too large for one arm more.
        """
        self._set_active(name, True)

    def _set_active(self, name: str, active: bool) -> None:
        def change(state: State) -> dict[str, Any]:
            arm = state.named(name)
            if arm.active == active:
                raise ValueError(f"arm {shown(name)} is {'not paused' if active else 'already paused'}")
            if not active:
                self._writer.check_control(arm, "paused")
            self._writer.check_floor(state, 1 if active else -1)
            return {"change": "resume_arm" if active else "pause_arm", "arm": arm.number}

        self._writer.append_change(change)

    def remove_arm(self, name: str) -> None:
        """Forget an arm for good; what was decided for it stays in the log.

        Parameters
        ----------
        name : str
            The arm's name.

        Raises
        ------
        StoreError
            If there is no such arm.
        ValueError
            If it is the control of the holdout.
        """

        def change(state: State) -> dict[str, Any]:
            arm = state.named(name)
            self._writer.check_control(arm, "removed")
            return {"change": "remove_arm", "arm": arm.number}

        self._writer.append_change(change)
