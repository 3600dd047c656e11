"""What it costs to start: an import, and ``--help``, beside an import of NumPy."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.measuring import Measured


def processor_seconds(code: str) -> float:
    """Processor seconds of a Python process that runs this code; NumPy's idle threads are switched off."""
    began = os.times()
    subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    )
    ended = os.times()
    return ended.children_user - began.children_user + ended.children_system - began.children_system


def measure(repeats: int) -> Iterator[Measured]:
    codes = {
        "import numpy": "import numpy",
        "import bootleader": "import bootleader",
        "bootleader --help": "import sys; sys.argv[1:] = ['--help']; from bootleader.cli import main; main()",
    }
    seconds: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(repeats):
        for name, code in codes.items():
            seconds[name].append(processor_seconds(code))
    numpy = statistics.median(seconds["import numpy"])
    for name in list(codes)[1:]:
        yield Measured(
            "Start", f"{name}, times import numpy", statistics.median(seconds[name]) / numpy, bar=3.0, at_most=True
        )
