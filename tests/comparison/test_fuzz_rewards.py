"""Any file is read, or refused with a short ValueError: a few examples always, more in ``make fuzz``."""

import math
import random

import numpy as np
import pytest

from bootleader._core.printable_text import printable
from bootleader.comparison import read_rewards
from bootleader.comparison._reward_table import LARGEST, Rewards

GOOD = ["arm,reward\na,1\na,2.5\nb,-3\n", "Arm;Reward\r\nx;1,5\r\ny;2\r\n", 'x\tarm\treward\n1\t"a b"\t3e2\n2\tc\t4\n']
PIECES = [
    ",", ";", "\t", "\n", "\r", '"', "'", "\0", "\ufeff", "\u202e", "\x1b[2J", "nan", "inf", "-inf", "1e400", "1e99",
    "1_000", "0x10", "١٢", "arm", "reward", "ARM", "  ", "1,5", "1.5", "-", "é", "\ud800", "9" * 400, "a" * 1000,
]  # fmt: skip


def mutated(rng: random.Random) -> bytes:
    """A valid file with pieces inserted, deleted and repeated; sometimes bytes that are no text."""
    text = rng.choice(GOOD)
    for _ in range(rng.randrange(1, 4)):
        at, to = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        text = rng.choice(
            [
                text[:at] + rng.choice(PIECES) + text[at:],
                text[:at] + text[to:],
                text[:to] + text[at:],
                text + text[at:to],
            ]
        )
    raw = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.1:
        at = rng.randrange(len(raw) + 1)
        raw = raw[:at] + rng.randbytes(3) + raw[at:]
    return raw


def check(found: Rewards) -> None:
    """What every successful reading has."""
    assert len(found.names) == len(set(found.names)) >= 2
    assert all(found.names)
    assert min(found.counts) >= 1
    for sample, count, mean in zip(found.bandit.samples, found.counts, found.means, strict=True):
        assert len(np.asarray(sample)) == count
        assert np.abs(np.asarray(sample)).max() <= LARGEST
        assert math.isfinite(mean)
    assert math.isfinite(found.pooled_sd)
    assert found.pooled_sd >= 0.0
    assert all(printable(name).isprintable() for name in found.names)


def read_many(path, files: int, seed: int) -> tuple[int, int]:
    """Read mutated files; return how many were refused and how many were read."""
    rng = random.Random(seed)
    refused = accepted = 0
    for _ in range(files):
        path.write_bytes(mutated(rng))
        try:
            found = read_rewards(path)
        except ValueError as error:
            message = str(error)
        else:
            accepted += 1
            check(found)
            continue
        refused += 1
        assert len(message) < 1_000 + len(str(path))
        assert "\x1b" not in message
    return refused, accepted


def test_mutated_files_are_read_or_refused(tmp_path):
    refused, accepted = read_many(tmp_path / "rewards.csv", 500, seed=0)
    assert refused > 50
    assert accepted > 20


@pytest.mark.fuzz
def test_50_000_mutated_files(tmp_path):
    refused, accepted = read_many(tmp_path / "rewards.csv", 50_000, seed=1)
    print(f"{refused} files refused, {accepted} read")
