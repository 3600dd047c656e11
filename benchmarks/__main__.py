"""Run the benchmarks: ``python -m benchmarks [--repeats N] [--part PART] [--json FILE] [SECTION ...]``."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path

from benchmarks import scaling
from benchmarks.measuring import as_markdown

SPEED = (
    "startup", "small_k", "large_k", "own_rules", "rivals", "agent", "agent_contexts", "store", "answers",
    "distributed", "cells", "scaling",
)  # fmt: skip
REGRET = ("linear", "robustness", "many_arms_regret")  # only when asked for: they take as long as a reproduction
DEVICE = ("gpu",)  # only when asked for: it needs an NVIDIA GPU
SECTIONS = SPEED + REGRET + DEVICE


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "sections", nargs="*", metavar="SECTION", help=f"any of {', '.join(SECTIONS)}; default {', '.join(SPEED)}"
    )
    parser.add_argument("--repeats", type=int, default=9, help="repetitions that medians are taken over (default 9)")
    parser.add_argument(
        "--part", action="append", metavar="PART", help="of a section that has parts: only this one; may be repeated"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to this file")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write them to this file as a table")
    options = parser.parse_args()
    unknown = [name for name in options.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"unknown section {unknown[0]!r}; there are {', '.join(SECTIONS)}")

    figures = []
    section = ""
    for name in options.sections or SPEED:
        benchmark = importlib.import_module(f"benchmarks.{name}")
        parts = getattr(benchmark, "PARTS", ())
        if options.part and not set(options.part) <= set(parts):
            parser.error(f"{name} has the parts {', '.join(parts) or '(none)'}, got {', '.join(options.part)}")
        chosen = {"parts": options.part} if options.part else {}
        for figure in benchmark.measure(options.repeats, **chosen):
            if figure.section != section:
                section = figure.section
                print(f"\n{section}")
            print(figure, flush=True)
            figures.append(figure)
    if options.json:
        options.json.write_text(json.dumps([figure.as_dict() for figure in figures], indent=1) + "\n", encoding="utf-8")
    if options.markdown:
        options.markdown.write_text(as_markdown(figures), encoding="utf-8")
    if table := scaling.as_table(figures):
        print(f"\n{table}")
    missed = [figure for figure in figures if figure.met is False]
    print(f"\n{sum(figure.met is True for figure in figures)} bars met, {len(missed)} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
