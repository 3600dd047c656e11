"""Workers under load, for the tests of faults: they decide, reward, repeat themselves, and note what was acknowledged.

``python -m tests.store.worker URL FOLDER`` reads lines ``NAME SEED``, forks a worker for each, and writes its process
id. A line of NAME.txt is written after a call has returned: ``decision ID ARM``, ``reward ID VALUE EVENT`` or ``amend
ID VALUE EVENT``. Lines end with a newline or do not count. NAME.error has the error of a worker that failed.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import traceback
from pathlib import Path

import bootleader as bl


def recent(folder: Path, rng: random.Random) -> str | None:
    """A decision that some worker has noted lately."""
    file = folder / rng.choice(sorted(name for name in os.listdir(folder) if name.endswith(".txt")))
    with file.open("rb") as lines:
        lines.seek(max(0, file.stat().st_size - 4_000))
        found = [line.split() for line in lines.read().decode().split("\n")[1:-1]]
    ids = [line[1] for line in found if line and line[0] == "decision"]
    return rng.choice(ids) if ids else None


def work(url: str, folder: Path, name: str, seed: int) -> None:
    """Visit the shop until there is a file ``stop``."""
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


def prepare() -> None:
    """Import what a visit imports, so that a fork does not have to."""
    button = bl.Store("sqlite://").create("button", bl.ReBoot(sigma_a=1.5), ["blue", "green"], seed=1)
    button.learn_summary("blue", 9, 0.0, 1.0)
    button.learn_summary("green", 9, 0.0, 1.0)
    button.reward(button.decide().id, 1.0)


def main(url: str, folder: Path) -> None:
    prepare()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # workers that ended leave nothing behind
    for line in sys.stdin:
        name, seed = line.split()
        process = os.fork()
        if process == 0:
            try:
                work(url, folder, name, int(seed))
            except BaseException:
                (folder / f"{name}.error").write_text(traceback.format_exc())
            os._exit(0)
        print(process, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
