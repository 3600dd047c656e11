"""The library computes what it computed when ``golden.json`` was recorded, bit for bit."""

import json
import platform
from pathlib import Path
from typing import Any

import pytest

from tests.golden.record import GOLDEN, recorded

CPU = Path("/proc/cpuinfo")


def comparable(entry: Any) -> Any:
    """Leave out probabilities on other processors: NumPy's exp and log differ there in the last bit."""
    same_functions = CPU.exists() and "avx512f" in CPU.read_text(encoding="utf-8")
    if isinstance(entry, dict) and not same_functions:
        return {name: digest for name, digest in entry.items() if name != "probabilities"}
    return entry


@pytest.mark.long
@pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"),
    reason="recorded with the mathematical functions of Linux on x86-64",
)
def test_every_number_is_the_recorded_one() -> None:
    golden, now = json.loads(GOLDEN.read_text(encoding="utf-8")), recorded()
    different = [name for name in golden if comparable(now.get(name)) != comparable(golden[name])]
    assert not different, f"{len(different)} of {len(golden)} differ: {different[:10]}"
    assert now.keys() == golden.keys()
