"""Reproduce the paper: play the cells of its parts, analyse them, write figures, tables, claims and the report."""

from __future__ import annotations

import json
import os
import platform
import shlex
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from difflib import get_close_matches
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bootleader._core.files import replacing, writable_folder
from bootleader._version import __version__
from bootleader.paper import PARTS, Part, Size
from bootleader.paper._cell_cache import Cell, CellCache, Results
from bootleader.paper._claims import Judged
from bootleader.paper._report_part import Outcome, not_full_size
from bootleader.paper._run_cells import Device, run_cells, unique
from bootleader.paper.report import claims_markdown, key_claims_markdown, markdown, render
from bootleader.simulation._task_schedule import cores
from bootleader.simulation.result import Simulation

LIBRARIES = ("numpy", "numba", "scipy", "pandas", "matplotlib")


def chosen_parts(names: Sequence[str]) -> list[Part]:
    """The parts that were named, or the default ones."""
    by_name = {part.name: part for part in PARTS}
    for name in names:
        if name not in by_name:
            nearest = "".join(f", did you mean {near!r}?" for near in get_close_matches(name, by_name, n=1))
            raise ValueError(f"unknown part {name!r}{nearest or '.'} The parts are {', '.join(by_name)}")
    return [part for part in PARTS if (part.name in names if names else part.by_default)]


def reproduce(
    names: Sequence[str] = (), out: Path | str = "results", size: Size | None = None, *,
    workers: int | None = None, executor: Executor | None = None, progress: bool = True, device: Device = "cpu",
) -> list[Judged]:  # fmt: skip
    """Reproduce the paper, or some parts of it, into a folder.

    Results of cells are kept in ``out/cells`` and read back the next time. The report shows the parts that were asked
    for, and every other part whose cells are all in the cache at this size. Parts without cells are shown if all other
    default parts are.

    Parameters
    ----------
    names : sequence of str
        Parts; all default ones if empty.
    out : path
        Folder to write to.
    size : Size
        Runs, rounds and seed; the paper's by default.
    workers : int, optional
        Threads; by default one a core.
    executor : concurrent.futures.Executor, optional
        Where to play the runs instead, all cells at once. Timed cells are played here.
    progress : bool
        Show a progress bar.
    device : {"cpu", "cuda"}
        Where cells that are not timed are played; the results are the same.

    Returns
    -------
    list of Judged
        The claims table.

    Raises
    ------
    ValueError
        A part is unknown, or the folder cannot be written to; nothing has been simulated.
    """
    size, out = size or Size(), Path(out)
    asked = chosen_parts(names)
    cache = CellCache(out / "cells")
    for folder in (out, cache.folder):
        writable_folder(folder)
    started = time.perf_counter()
    cells = [cell for part in asked for cell in part.cells(size)]
    results = run_cells(cells, cache, workers=workers, executor=executor, progress=progress, device=device)
    shown = shown_parts(asked, size, cache, results)
    outcomes: dict[str, Outcome] = {}
    seconds: dict[str, Any] = {}
    for part in shown:
        began = time.perf_counter()
        outcomes[part.name] = part.analyse(size, results)
        write_outcome(outcomes[part.name], out)
        if part.beyond_the_paper and outcomes[part.name].claims:  # a page of the documentation shows them
            write_text(out / f"{part.name}-claims.md", claims_markdown(outcomes[part.name].claims))
        seconds[part.name] = _seconds(part, size, results, time.perf_counter() - began)
    manifest = describe(size, shown, seconds, time.perf_counter() - started, workers, executor)
    manifest["machine"]["device"] = device
    manifest["command"] = command_of(names, size, out, device)
    write_text(out / "manifest.json", json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    claims = [row for part in shown for row in outcomes[part.name].claims]
    write_claims(claims, out, not_full_size([part for part in shown if outcomes[part.name].claims], size))
    write_text(out / "report.html", render(shown, outcomes, claims, manifest))
    return claims


def shown_parts(asked: list[Part], size: Size, cache: CellCache, results: Results) -> list[Part]:
    """The parts of the report, in its order; results of parts that were not asked for are added to ``results``."""
    shown = list(asked)
    for part in PARTS:
        if part not in shown and (cached := _all_cached(part, size, cache)):
            shown.append(part)
            for cell, result in cached.items():
                results.add(cell, result)
    if all(part in shown for part in PARTS if part.by_default and part.cells(size)):
        shown += [part for part in PARTS if part not in shown and not part.cells(size)]
    return [part for part in PARTS if part in shown]


def _all_cached(part: Part, size: Size, cache: CellCache) -> dict[Cell, Simulation]:
    """The results of a part if the cache has all of its cells; otherwise nothing."""
    found: dict[Cell, Simulation] = {}
    cells = unique(part.cells(size))
    if not all(cache.path(cell).exists() for cell in cells):
        return {}
    for cell in cells:
        result = cache.load(cell)
        if result is None:
            return {}
        found[cell] = result
    return found


def _seconds(part: Part, size: Size, results: Results, analysis: float) -> dict[str, float]:
    simulated = sum(float(results[cell].seconds.sum()) for cell in unique(part.cells(size)))
    return {"simulation_processor_seconds": round(simulated, 3), "analysis_seconds": round(analysis, 3)}


def write_outcome(outcome: Outcome, out: Path) -> None:
    """Write figures as SVG and PNG, numbers as CSV, tables as CSV and Markdown."""
    from bootleader.plots import write

    for drawing in outcome.drawings:
        write_text(out / f"{drawing.name}.svg", drawing.svg)
        write(drawing.figure, out / f"{drawing.name}.png")
    for name, frame in outcome.numbers.items():
        write_text(out / f"{name}.csv", frame.to_csv(index=False))
    for table in outcome.tables:
        write_text(out / f"{table.name}.csv", table.data.to_csv(index=False))
        shown = table.shown.itertuples(index=False, name=None)
        write_text(out / f"{table.name}.md", markdown(table.shown.columns, shown))


def write_claims(claims: list[Judged], out: Path, remark: str) -> None:
    """Write the claims as CSV and as Markdown, and the ten of the README; a remark stands above the latter two."""
    import pandas as pd

    frame = pd.DataFrame(
        [
            {"where": row.claim.where, "statement": row.claim.statement, "test": row.claim.test,
             "measured": row.finding.measured, "instead": row.finding.instead,
             "verdict": row.finding.verdict.value}
            for row in claims
        ],
        columns=["where", "statement", "test", "measured", "instead", "verdict"],
    )  # fmt: skip
    write_text(out / "claims.csv", frame.to_csv(index=False))
    above = f"{remark}.\n\n" if remark else ""
    write_text(out / "claims.md", above + claims_markdown(claims))
    write_text(out / "key-claims.md", above + key_claims_markdown(claims))


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def command_of(names: Sequence[str], size: Size, out: Path, device: Device = "cpu") -> str:
    """The command line for these parts at this size.

    Examples
    --------
    >>> command_of(["fig3"], Size(runs=100, seed=7), Path("results"))
    'bootleader reproduce fig3 --runs 100 --seed 7 --out results'
    """
    options = ["--quick"] if size.quick else []
    for name, value in (("--runs", size.runs), ("--rounds", size.rounds), ("--seed", size.seed or None)):
        options += [] if value is None else [name, str(value)]
    options += ["--device", device] if device != "cpu" else []
    return " ".join(["bootleader reproduce", *names, *options, "--out", shlex.quote(str(out))])


def describe(
    size: Size, parts: list[Part], seconds: dict[str, Any], wall: float, workers: int | None, executor: Executor | None
) -> dict[str, Any]:
    """The manifest: versions, seed, sizes, machine and seconds."""
    return {
        "bootleader": __version__,
        "libraries": {name: version(name) for name in LIBRARIES},
        "python": platform.python_version(),
        "machine": {
            "system": platform.system(),
            "processor": processor_name(),
            "cores": cores(),
            "runs_played_on": f"{workers or cores()} threads here" if executor is None else type(executor).__name__,
            "load_average": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        },
        "seed": size.seed,
        "size": {
            "runs": size.runs_of(),
            "rounds": size.rounds_of(),
            "quick": size.quick,
            "full": not not_full_size(parts, size),
        },
        "parts": {
            part.name: {
                "cells": len(unique(part.cells(size))),
                "largest": _largest(part, size),
                **seconds[part.name],
            }
            for part in parts
        },
        "wall_seconds_of_this_call": round(wall, 2),
    }


def _largest(part: Part, size: Size) -> dict[str, int]:
    cells = part.cells(size)
    return {
        "runs": max((cell.runs for cell in cells), default=0),
        "rounds": max((cell.rounds for cell in cells), default=0),
    }


def processor_name() -> str:
    """The processor as the system names it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
