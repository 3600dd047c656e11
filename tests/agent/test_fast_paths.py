"""What an agent does faster than by its definition, against the definition."""

from __future__ import annotations

import math
import random

import pytest

from bootleader._core.rules import SharedStatistics
from bootleader._core.sampling import COUNTED_TOSSES, fair_binomial
from bootleader.agent._decisions import Ledger
from bootleader.agent._laws import Laws
from bootleader.agent._learner import clear_leader
from bootleader.agent._random_streams import SpareStream, heads_of


@pytest.mark.parametrize("tosses", [0.0, 1.0, 63.0, 64.0, 65.0, 128.0, 700.0, COUNTED_TOSSES, COUNTED_TOSSES + 1.0])
def test_counted_heads_are_those_of_the_sampler(tosses):
    ours, its = SpareStream(7, 0x9E3779B97F4A7C15), SpareStream(7, 0x9E3779B97F4A7C15)
    for _ in range(20):
        assert heads_of(tosses, ours) == fair_binomial(tosses, its)
    assert ours.states == its.states


@pytest.mark.parametrize(
    ("location", "scale", "noise", "leader"),
    [
        ([1.0, 2.0, 3.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0], 12),
        ([1.0, 2.0, 3.0], [1.0, 1.0, 1.0], [5.0, 0.0, 0.0], 10),
        ([1.0, 3.0, 3.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0], None),
        ([3.0, 1.0, 3.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0], None),
        ([1.0, 1.0, 3.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0], 12),
        ([math.inf, 1.0, 2.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0], 10),
        ([-math.inf] * 3, [0.0, 0.0, 0.0], [1.0, 2.0, 3.0], None),
    ],
    ids=["largest location", "largest noise", "tie of the last", "tie of first and last", "tie below", "inf", "-inf"],
)
def test_a_clear_leader_has_the_largest_index_alone(location, scale, noise, leader):
    laws = Laws([10, 11, 12], [location, scale, [math.inf] * 3], SharedStatistics(0.0, 0, 3, math.inf, 0.0))
    assert clear_leader(laws, noise) == leader


def test_a_ledger_is_full_when_something_is_due():
    rng, time = random.Random(3), [0.0]
    ledger = Ledger(12, 10.0, lambda: time[0])
    seen = set()
    for k in range(3_000):
        time[0] += rng.choice([0.1, 1.0, 1.0, 2.0]) if rng.random() < 0.5 else 0.0
        now = ledger.now()
        opened = rng.random() < 0.5 or not ledger.open
        due = bool(
            ledger.due(ledger.open, now, opened - (not opened)) or ledger.due(ledger.rewarded, now, int(not opened))
        )
        assert ledger.is_full(now, opened=int(opened), rewarded=int(not opened)) == due
        seen.add(due)
        for table in (ledger.open, ledger.rewarded):
            for store, target, key, value in ledger.forgetting(table, ledger.due(table, now, 1)):
                store(target, key, value)
        if opened:
            stores = ledger.issuing(str(k), "a", now)
        elif ledger.open:
            stores = ledger.rewarding(rng.choice(list(ledger.open)), 1.0, now)
        for store, target, key, value in stores:
            store(target, key, value)
    assert seen == {False, True}
