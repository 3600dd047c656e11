"""Simulations taken apart and put together: some of the policies, more policies, more runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bootleader._core.moments import chan
from bootleader.simulation._bandit_json import same_bandit, text_of
from bootleader.simulation._tables import shortened

if TYPE_CHECKING:
    from bootleader.simulation.result import Simulation

Floats = npt.NDArray[np.float64]
BY_POLICY = ("over_time", "final_regret", "pulls", "pulls_by_rank", "recommended_by_rank", "seconds")
OF_RUNS = ("curves", "recommended")  # policy x run x checkpoint, if they were kept


def position(sim: Simulation, policy: Any) -> int:
    """The position of a policy, given by its name or position.

    Raises
    ------
    ValueError
        If the simulation has no such policy.
    """
    if isinstance(policy, str) and policy in sim.policies:
        return sim.policies.index(policy)
    if isinstance(policy, int | np.integer) and not isinstance(policy, bool) and 0 <= policy < len(sim.policies):
        return int(policy)
    raise ValueError(f"unknown policy {policy!r}; this simulation has {', '.join(map(repr, sim.policies))}")


def positions(sim: Simulation, policies: Any) -> list[int]:
    """The positions of some policies, or of one."""
    some = isinstance(policies, Sequence) and not isinstance(policies, str)
    return [position(sim, policy) for policy in (policies if some else [policies])]


def chosen(sim: Simulation, places: Sequence[int]) -> Simulation:
    """Some of the policies of a simulation."""
    at = list(places)
    arrays: dict[str, Any] = {name: getattr(sim, name)[at] for name in BY_POLICY}
    arrays |= {name: None if getattr(sim, name) is None else getattr(sim, name)[at] for name in OF_RUNS}
    devices = tuple(sim.devices[place] for place in at)
    return replace(sim, policies=tuple(sim.policies[place] for place in at), devices=devices, **arrays)


def selected(sim: Simulation, policies: str | int | slice | Sequence[str | int]) -> Simulation:
    """The policies with these names or positions.

    Raises
    ------
    ValueError
        If the simulation has no such policy, or one is given twice, or none.
    """
    places = list(range(len(sim.policies)))[policies] if isinstance(policies, slice) else positions(sim, policies)
    if not places or len(set(places)) < len(places):
        raise ValueError(f"choose each policy once, and at least one, got {policies!r}")
    return chosen(sim, places)


def joined(a: Simulation, b: Simulation) -> Simulation:
    """The policies of two simulations of the same runs.

    Raises
    ------
    ValueError
        If the runs differ, or a policy is in both.
    """
    differ = _differences(a, b)
    if (a.first_run, a.runs) != (b.first_run, b.runs):
        differ.append(f"runs ({_runs_in_words(a)} and {_runs_in_words(b)})")
    if differ:
        raise ValueError(f"a | b joins policies of the same runs; these simulations differ in {', '.join(differ)}")
    both = [name for name in a.policies if name in b.policies]
    if both:
        raise ValueError(
            f"a | b joins different policies; both have {', '.join(map(repr, both))}. Choose the others, as in "
            "b['UCB1()'], or name them anew, as in simulate({'mine': policy}, ...)"
        )
    arrays: dict[str, Any] = {name: np.concatenate([getattr(a, name), getattr(b, name)]) for name in BY_POLICY}
    arrays |= _kept_by_both(a, b, axis=0)
    return replace(a, policies=a.policies + b.policies, devices=a.devices + b.devices, **arrays)


def _kept_by_both(a: Simulation, b: Simulation, axis: int) -> dict[str, Any]:
    """What two simulations have kept of every run, one after the other."""
    pairs = {name: (getattr(a, name), getattr(b, name)) for name in OF_RUNS}
    return {
        name: None if first is None or second is None else np.concatenate([first, second], axis=axis)
        for name, (first, second) in pairs.items()
    }


def extended(a: Simulation, b: Simulation) -> Simulation:
    """The runs of two simulations of the same policies, of which the second begins where the first ends.

    Raises
    ------
    ValueError
        If the policies, the bandit, the seed or the checkpoints differ, or the second begins elsewhere.
    """
    differ = _differences(a, b)
    if a.policies != b.policies:
        differ.append(f"policies ({', '.join(a.policies)} and {', '.join(b.policies)})")
    if differ:
        raise ValueError(f"a + b takes more runs of the same policies; these simulations differ in {', '.join(differ)}")
    end = a.first_run + a.runs
    if b.first_run != end:
        advice = "write b + a" if a.first_run == b.first_run + b.runs else f"simulate b with first_run={end}"
        raise ValueError(
            f"a + b needs b to begin where a ends; a has {_runs_in_words(a)} and b {_runs_in_words(b)}: {advice}"
        )
    runs = a.runs + b.runs
    _, mean, squares = chan(
        float(a.runs), a.over_time[:, :, 0], _squares(a), float(b.runs), b.over_time[:, :, 0], _squares(b)
    )
    errors = np.sqrt(squares / (runs - 1) / runs)
    return replace(
        a,
        over_time=np.stack([mean, errors], axis=2),
        final_regret=np.concatenate([a.final_regret, b.final_regret], axis=1),
        pulls=_mean_of_counts(a.pulls, a.runs, b.pulls, b.runs),
        pulls_by_rank=_mean_of_counts(a.pulls_by_rank, a.runs, b.pulls_by_rank, b.runs),
        recommended_by_rank=_mean_of_counts(a.recommended_by_rank, a.runs, b.recommended_by_rank, b.runs),
        seconds=a.seconds + b.seconds,
        **_kept_by_both(a, b, axis=1),
        devices=tuple(x if x == y else f"{x}, {y}" for x, y in zip(a.devices, b.devices, strict=True)),
    )


def _squares(sim: Simulation) -> Floats:
    """Sums over runs of squared deviations from the means."""
    if sim.runs < 2:
        return np.zeros_like(sim.over_time[:, :, 1])
    return np.asarray(sim.over_time[:, :, 1] ** 2 * (sim.runs - 1) * sim.runs)


def _mean_of_counts(a: Floats, runs_a: int, b: Floats, runs_b: int) -> Floats:
    """The mean of whole numbers, exactly: their sums are whole."""
    return np.asarray((np.rint(a * runs_a) + np.rint(b * runs_b)) / (runs_a + runs_b))


def _differences(a: Simulation, b: Simulation) -> list[str]:
    """What two simulations of the same runs have in common, where these do not."""
    differ = []
    if not same_bandit(a.bandit, b.bandit):
        differ.append(f"bandit ({shortened(text_of(a.bandit))} and {shortened(text_of(b.bandit))})")
    if a.seed != b.seed:
        differ.append(f"seed ({a.seed} and {b.seed})")
    if not np.array_equal(a.rounds, b.rounds):
        if a.rounds[-1] != b.rounds[-1]:
            differ.append(f"rounds ({a.rounds[-1]} and {b.rounds[-1]})")
        else:
            differ.append(f"checkpoints ({len(a.rounds)} and {len(b.rounds)} of them)")
    if not _same_delay(a.delay, b.delay):
        differ.append("delay")
    return differ


def _same_delay(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def _runs_in_words(sim: Simulation) -> str:
    return f"runs {sim.first_run} to {sim.first_run + sim.runs - 1}"
