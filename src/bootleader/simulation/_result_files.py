"""A simulation as one file: arrays, and a JSON text that says what they are."""

from __future__ import annotations

import io
import json
import tokenize
import zipfile
import zlib
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bootleader._core.changes_and_delays import Delay
from bootleader._core.files import replacing
from bootleader.simulation._bandit_json import form_or_none, from_form, text_of

if TYPE_CHECKING:
    from bootleader.simulation.result import Simulation

FORMAT = 4
ARRAYS = ("rounds", "over_time", "final_regret", "pulls", "pulls_by_rank", "recommended_by_rank", "seconds")
OF_RUNS = ("curves", "recommended")  # policy x run x checkpoint, if they were kept
# What NumPy, zipfile and json raise over a file that is damaged or is no archive: flags, sizes and places included.
DAMAGED = (
    ValueError, KeyError, TypeError, AttributeError, IndexError, EOFError, OSError, RuntimeError, MemoryError,
    OverflowError, SyntaxError, tokenize.TokenError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def write_simulation(sim: Simulation, path: str | PathLike[str]) -> None:
    """Write a simulation, whole or not at all."""
    about = {
        "format": FORMAT,
        "policies": sim.policies,
        "bandit": text_of(sim.bandit),
        "bandit_form": form_or_none(sim.bandit),
        "seed": sim.seed,
        "first_run": sim.first_run,
        "devices": sim.devices,
        "delay": None if sim.delay is None else [np.asarray(part).tolist() for part in sim.delay],
    }
    arrays: dict[str, Any] = {name: getattr(sim, name) for name in ARRAYS}
    arrays |= {name: getattr(sim, name) for name in OF_RUNS if getattr(sim, name) is not None}
    with replacing(path) as unfinished, open(unfinished, "wb") as file:
        np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)


def read_simulation(path: str | PathLike[str]) -> dict[str, Any]:
    """The fields of a saved simulation.

    Raises
    ------
    ValueError
        If the file is damaged, is not a saved simulation, or has another format.
    """
    content = io.BytesIO(Path(path).read_bytes())
    try:
        with np.load(content, allow_pickle=False) as stored:
            about = json.loads(str(stored["about"]))
            if about["format"] == FORMAT:
                return _fields(about, stored)
    except DAMAGED as error:
        raise ValueError(f"{path} is not a saved Simulation (see Simulation.save), or not all of one") from error
    raise ValueError(f"{path} has format {about['format']!r}; this version reads format {FORMAT}")


def _fields(about: Any, stored: Any) -> dict[str, Any]:
    fields = {name: stored[name] for name in ARRAYS}
    fields |= {name: stored[name] if name in stored.files else None for name in OF_RUNS}
    policies, (runs,), (checkpoints,) = about["policies"], fields["final_regret"].shape[1:], fields["rounds"].shape
    if fields["over_time"].shape[::3] != (len(policies), checkpoints) or len(fields["final_regret"]) != len(policies):
        raise ValueError("arrays of different simulations")
    for name in OF_RUNS:
        if fields[name] is not None and fields[name].shape != (len(policies), runs, checkpoints):
            raise ValueError(f"{name} of another simulation")
    form, delay = about["bandit_form"], about["delay"]
    return fields | {
        "policies": tuple(map(str, policies)),
        "bandit": str(about["bandit"]) if form is None else from_form(form),
        "seed": int(about["seed"]),
        "first_run": int(about["first_run"]),
        "devices": tuple(map(str, about.get("devices", ()))),
        "delay": None if delay is None else Delay(int(delay[0]), float(delay[1]), np.array(delay[2], dtype=float)),
    }
