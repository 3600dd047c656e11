"""The library computes what it computed when ``golden.json`` was recorded, bit for bit."""

import json

from tests.golden.record import GOLDEN, recorded


def test_every_number_is_the_recorded_one() -> None:
    golden, now = json.loads(GOLDEN.read_text()), recorded()
    different = [name for name in golden if now.get(name) != golden[name]]
    assert not different, f"{len(different)} of {len(golden)} differ: {different[:10]}"
    assert now.keys() == golden.keys()
