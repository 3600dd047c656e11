"""The library computes what it computed when ``golden.json`` was recorded, bit for bit; probabilities to 1e-9."""

import json
import platform
from typing import Any

import numpy as np
import pytest

from tests.golden.record import DECIDE_EVERY, DRAWN, GOLDEN, recorded

PROMISED = 1e-9  # error of a probability


def is_same(entry: Any, golden: Any, decisions: int) -> bool:
    """Bit for bit; the probabilities of so many decisions to what is promised."""
    if not isinstance(golden, dict):
        return bool(entry == golden)
    entry, golden = dict(entry), dict(golden)
    found, wanted = entry.pop("probabilities", []), golden.pop("probabilities", [])[:decisions]
    return entry == golden and np.shape(found) == np.shape(wanted) and np.allclose(found, wanted, 0.0, 2.0 * PROMISED)


@pytest.mark.long
@pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"),
    reason="recorded with the mathematical functions of Linux on x86-64",
)
@pytest.mark.parametrize("drawn_until", [60, pytest.param(300, marks=pytest.mark.slow)])
def test_every_number_is_the_recorded_one(drawn_until: int) -> None:
    golden, now = json.loads(GOLDEN.read_text(encoding="utf-8")), recorded(drawn_until)
    decisions = {name: len(range(0, drawn_until if name in DRAWN else 300, DECIDE_EVERY)) for name in golden}
    different = [name for name in golden if name not in now or not is_same(now[name], golden[name], decisions[name])]
    assert not different, f"{len(different)} of {len(golden)} differ: {different[:10]}"
    assert now.keys() == golden.keys()
