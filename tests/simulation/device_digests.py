"""Compare a GPU with the CPU over 10^9 rounds of every policy and reward family, in batches that can be played apart.

``python -m tests.simulation.device_digests cuda FILE`` and the same with ``cpu`` append a line to FILE for each batch
of 10^8 rounds: digests of the final regrets, the pulls, the pulls by rank, and the means and standard errors over time.
Batches that FILE has are not played again, so that either side can be stopped and continued, and both can run at once
or on different machines. ``python -m tests.simulation.device_digests compare FILE ...`` says what differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np

import bootleader as bl
from tests.simulation.device_cases import BANDITS, POLICIES, pays_for

BATCHES = 10  # of 10^8 rounds
COMPARED = ("final_regret", "pulls", "pulls_by_rank", "over_time")


def pairs():
    """Places of the policies and bandits that fit together."""
    return [(p, b) for p, policy in enumerate(POLICIES) for b, bandit in enumerate(BANDITS) if pays_for(policy, bandit)]


def name_of(pair):
    """The policy and the bandit of a pair."""
    return f"{POLICIES[pair[0]]!r} on {type(BANDITS[pair[1]]).__name__}"


def size_of(batch):
    """The runs of a batch: nine of short runs, and one of runs that are ten times as long."""
    if batch == BATCHES - 1:
        return {"rounds": 10_000, "runs": 10_000, "first_run": 2_000_000}
    return {"rounds": 1_000, "runs": 100_000, "first_run": 100_000 * batch}


def digest(sim):
    """One digest for each array that is compared; NaN and zero have one form each."""
    found = []
    for name in COMPARED:
        values = np.ascontiguousarray(getattr(sim, name))
        if values.dtype.kind == "f":
            values = np.where(np.isnan(values), np.nan, values) + 0.0
        found.append(hashlib.sha256(values.tobytes()).hexdigest()[:24])
    return found


def play(device, pair, batches):
    """Lines for some batches of a pair."""
    policy, bandit = POLICIES[pair[0]], BANDITS[pair[1]]
    where = {"device": "cuda"} if device == "cuda" else {"n_jobs": 1}
    lines = []
    for batch in batches:
        began = time.perf_counter()
        sim = bl.simulate(policy, bandit, seed=17, checkpoints=20, **size_of(batch), **where)
        assert sim.devices == (device,)
        line = {"device": device, "pair": pair, "name": name_of(pair), "batch": batch, "digest": digest(sim)}
        lines.append({**line, "seconds": round(time.perf_counter() - began, 3)})
    return lines


def read(paths):
    """Lines by device, pair and batch."""
    lines = (json.loads(line) for path in paths if path.exists() for line in path.read_text().splitlines())
    return {(line["device"], tuple(line["pair"]), line["batch"]): line for line in lines}


def extend(device, path, processes, pattern):
    """Play what a file lacks of the pairs whose name contains ``pattern``."""
    known = read([path])
    played = [(pair, batch) for batch in range(BATCHES) for pair in pairs() if pattern in name_of(pair)]
    wanted = [(pair, batch) for pair, batch in played if (device, pair, batch) not in known]
    tasks = [(pair, [batch]) for pair, batch in wanted]
    if device == "cuda":  # a kernel is compiled once for all batches of a pair
        tasks = [(pair, [b for p, b in wanted if p == pair]) for pair in dict.fromkeys(p for p, _ in wanted)]
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=spawn) as pool, path.open("a") as file:
        for done in as_completed([pool.submit(play, device, *task) for task in tasks]):
            file.writelines(json.dumps(line) + "\n" for line in done.result())
            file.flush()


def compare(paths):
    """Print how many batches of how many pairs are equal, and return whether none differs."""
    known = read(paths)
    both = [key[1:] for key in known if key[0] == "cpu" and ("cuda", *key[1:]) in known]
    differ = [key for key in both if known["cpu", *key]["digest"] != known["cuda", *key]["digest"]]
    for key in differ:
        print("differ:", known["cpu", *key]["name"], "batch", key[1])
    compared = Counter(Counter(pair for pair, _ in both).values())
    for batches, number in sorted(compared.items()):
        print(f"{number} pairs compared over {batches}e8 rounds")
    print(f"{len(pairs())} pairs in all; {len(differ)} of {len(both)} batches differ")
    return not differ


def main():
    """Play or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["cpu", "cuda", "compare"])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", default="", help="a part of the names of the pairs to play")
    options = parser.parse_args()
    if options.what == "compare":
        raise SystemExit(0 if compare(options.files) else 1)
    extend(options.what, options.files[0], options.processes, options.only)


if __name__ == "__main__":
    main()
