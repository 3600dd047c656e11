"""Who gets what beside the policy: a floor, a holdout, sticky units, a ramp for new arms.

:func:`final_probabilities` is the one definition of what a floor and a ramp make of a policy's probabilities.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bootleader._core.printable_text import shown
from bootleader._core.validation import real, whole

RAMP_REWARDS: Final = 100  # rewards until a new arm is free, where only a share is given
LONGEST_UNIT: Final = 1000  # characters
_ABOVE: Final = 1.0 + 1e-12  # K * floor may exceed 1 by rounding, as 3 * (1 / 3) might


@dataclass(frozen=True)
class Ramp:
    """A limit on how often an arm that was added later is chosen.

    Parameters
    ----------
    share : float
        Largest probability of each such arm.
    rewards : int
        Number of rewards after which the arm is no longer new.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not what is described here.

    Examples
    --------
    >>> Ramp(0.2)
    Ramp(share=0.2, rewards=100)
    """

    share: float
    rewards: int = RAMP_REWARDS

    def __post_init__(self) -> None:
        share = real("share of the ramp", self.share, "a probability above 0 and at most 1", low=0.0, high=1.0)
        object.__setattr__(self, "share", share)
        object.__setattr__(self, "rewards", whole("rewards of the ramp", self.rewards, 1))


@dataclass(frozen=True)
class Traffic:
    """Rules that decide together with the policy who gets which arm.

    The probability of a decision is that of the final choice, after all of these.

    Parameters
    ----------
    floor : float
        Least probability of every active arm. With K active arms, ``K * floor`` must not exceed 1. The final
        probability is ``floor + (1 - K * floor) * p`` where ``p`` is the policy's.
    holdout : float
        Share of the units that always get ``control``. Which units these are is fixed by a hash of the unit and the
        seed. Their rewards are set apart, and the policy does not learn from them.
    control : str, optional
        The arm that the holdout gets.
    sticky : bool
        Whether a unit keeps the arm of its first decision, with the probability of that decision, as long as the arm
        is active.
    ramp : float or Ramp, optional
        Largest probability of an arm that was added later, until it has had some rewards: ``Ramp(share, rewards)``; a
        number is the share, with 100 rewards. What the arm may not take goes to the arms that are not new, as the
        policy would choose among them alone. If all active arms are new, there is no limit.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not what is described here, or two of them contradict each other.

    Examples
    --------
    >>> Traffic(floor=0.02, holdout=0.05, control="blue", sticky=True, ramp=0.2)
    Traffic(floor=0.02, holdout=0.05, control='blue', sticky=True, ramp=Ramp(share=0.2, rewards=100))
    """

    floor: float = 0.0
    holdout: float = 0.0
    control: str | None = None
    sticky: bool = False
    ramp: Ramp | float | None = None

    def __post_init__(self) -> None:
        for name in ("floor", "holdout"):
            number = real(
                name, getattr(self, name), "a probability from 0, below 1", low=0.0, open_low=False, high=1.0 - 2.0**-53
            )
            object.__setattr__(self, name, number)
        if self.control is not None and (not isinstance(self.control, str) or not self.control):
            raise TypeError(f"control must be the name of an arm, got {shown(self.control)}")
        if self.holdout > 0.0 and self.control is None:
            raise ValueError(f"holdout={self.holdout!r} needs an arm for the holdout: give control= its name")
        if not isinstance(self.sticky, bool):
            raise TypeError(f"sticky must be True or False, got {shown(self.sticky)}")
        if self.ramp is not None and not isinstance(self.ramp, Ramp):
            object.__setattr__(self, "ramp", Ramp(self.ramp))
        if isinstance(self.ramp, Ramp) and self.ramp.share < self.floor:
            raise ValueError(
                f"a new arm cannot have at least floor={self.floor!r} and at most the ramp's share, "
                f"{self.ramp.share!r}: lower the floor or raise the share"
            )

    @property
    def needs_unit(self) -> bool:
        """Whether a choice depends on who it is for."""
        return self.sticky or self.holdout > 0.0

    def check_active(self, arms: int) -> None:
        """Raise if so many active arms cannot all have the floor.

        Parameters
        ----------
        arms : int
            Number of active arms.

        Raises
        ------
        ValueError
            If ``arms * floor`` exceeds 1.
        """
        if arms * self.floor > _ABOVE:
            raise ValueError(
                f"floor must be at most 1 / {arms} = {1.0 / arms:.6g} with {arms} active arms, got {self.floor!r}: "
                "lower the floor, or pause or remove an arm"
            )

    def in_holdout(self, unit: str, seed: int) -> bool:
        """Whether a unit is in the holdout: a function of the unit and the seed, and of nothing else.

        Parameters
        ----------
        unit : str
            The unit, such as a visitor's id.
        seed : int
            Seed of the agent or experiment, from 0 to 2**64 - 1.

        Returns
        -------
        bool
            True for a share ``holdout`` of all units.
        """
        if self.holdout == 0.0:
            return False
        key = seed.to_bytes(8, "little")
        digest = hashlib.blake2b(unit.encode("utf-8", "surrogatepass"), digest_size=8, key=key, person=b"holdout")
        return int.from_bytes(digest.digest(), "little") < self.holdout * 2.0**64

    def is_new(self, added_later: bool, rewards: int) -> bool:
        """Whether the ramp limits an arm.

        Parameters
        ----------
        added_later : bool
            Whether the arm came after the experiment began.
        rewards : int
            Number of rewards that it has had.

        Returns
        -------
        bool
            False where there is no ramp.
        """
        return added_later and isinstance(self.ramp, Ramp) and rewards < self.ramp.rewards

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain JSON data.

        Returns
        -------
        dict
            What :meth:`from_parameters` takes.
        """
        ramp = {"share": self.ramp.share, "rewards": self.ramp.rewards} if isinstance(self.ramp, Ramp) else None
        return {
            "floor": self.floor, "holdout": self.holdout, "control": self.control, "sticky": self.sticky, "ramp": ramp,
        }  # fmt: skip

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Traffic:
        """The traffic rules that :meth:`parameters` describes.

        Parameters
        ----------
        parameters : dict
            Plain JSON data.

        Returns
        -------
        Traffic
            Validated.
        """
        ramp = parameters.get("ramp")
        return cls(**{**parameters, "ramp": None if ramp is None else Ramp(**ramp)})


def unit_of(value: Any) -> str:
    """A unit, or raise."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_UNIT:
        raise TypeError(
            f"unit must be a string of 1 to {LONGEST_UNIT} characters, such as a visitor's id, got {shown(value)}"
        )
    return str(value)


def final_probabilities(
    policy: Sequence[float],
    traffic: Traffic,
    new: Iterable[bool] | None = None,
    among_old: Callable[[], Sequence[float]] | None = None,
) -> list[float]:
    """The probabilities of the final choice among the active arms, outside the holdout.

    Parameters
    ----------
    policy : sequence of float
        The policy's probability of each active arm.
    traffic : Traffic
        The rules.
    new : iterable of bool, optional
        Whether the ramp limits each active arm (:meth:`Traffic.is_new`).
    among_old : callable, optional
        Returns the policy's probability of each active arm when it chooses among those alone that are not new; 0 for
        the new ones. Called only if a new arm exceeds its share.

    Returns
    -------
    list of float
        Each at least the floor, those of new arms at most the share of the ramp.

    Raises
    ------
    ValueError
        If the floor is too large for so many arms, or ``among_old`` is needed and missing.

    Examples
    --------
    >>> final_probabilities([0.7, 0.3, 0.0], Traffic(floor=0.1))
    [0.59, 0.31, 0.1]
    >>> rules = Traffic(ramp=0.2)
    >>> final_probabilities([0.1, 0.4, 0.5], rules, [False, False, True], lambda: [0.25, 0.75, 0.0])
    [0.175, 0.625, 0.2]
    """
    arms, floor = len(policy), traffic.floor
    traffic.check_active(arms)
    rest = max(0.0, 1.0 - arms * floor)
    mixed = [floor + rest * float(chance) for chance in policy] if floor > 0.0 else [float(chance) for chance in policy]
    if new is None or not isinstance(traffic.ramp, Ramp):
        return mixed
    limited, share = list(new), traffic.ramp.share
    excess = [chance - share for chance, is_new in zip(mixed, limited, strict=True) if is_new and chance > share]
    over = math.fsum(excess)  # the same bits in every version of Python, which those of sum() are not
    if over <= 0.0 or all(limited):
        return mixed
    if among_old is None:
        raise ValueError("a new arm exceeds its share: give among_old, the policy's choice among the other arms")
    others = among_old()
    return [
        min(chance, share) if is_new else chance + over * float(other)
        for chance, is_new, other in zip(mixed, limited, others, strict=True)
    ]
