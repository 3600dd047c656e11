"""A worker under load, for the tests of faults: decides, rewards, repeats itself, and notes what was acknowledged.

``python -m tests.store.worker URL FOLDER NAME SEED``. A line of NAME.txt is written after a call has returned:
``decision ID ARM``, ``reward ID VALUE EVENT`` or ``amend ID VALUE EVENT``. Lines end with a newline or do not count.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import bootleader as bl


def recent(folder: Path, rng: random.Random) -> str | None:
    """A decision that some worker has noted lately."""
    file = rng.choice(sorted(folder.glob("*.txt")))
    with file.open("rb") as lines:
        lines.seek(max(0, file.stat().st_size - 4_000))
        found = [line.split() for line in lines.read().decode().split("\n")[1:-1]]
    ids = [line[1] for line in found if line and line[0] == "decision"]
    return rng.choice(ids) if ids else None


def main(url: str, folder: Path, name: str, seed: int) -> None:
    rng = random.Random(seed)
    button = bl.Store(url, timeout=60.0).open("button")
    with (folder / f"{name}.txt").open("a", buffering=1) as noted:
        while not (folder / "stop").exists():
            decision = button.decide(unit=f"u{rng.randrange(50_000)}")
            noted.write(f"decision {decision.id} {decision.arm}\n")
            wanted = decision.id if rng.random() < 0.6 else recent(folder, rng)
            if wanted is None:
                continue
            value, event = float(int(wanted.rpartition("-")[2]) % 7), f"order-{wanted}"
            for _ in range(rng.choice([1, 1, 1, 2])):
                button.reward(wanted, value, event=event)
            noted.write(f"reward {wanted} {value} {event}\n")
            if rng.random() < 0.1:
                event, value = f"{name}-{rng.getrandbits(60)}", float(rng.randrange(9))
                button.amend(wanted, value, event=event)
                noted.write(f"amend {wanted} {value} {event}\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
