"""Kernels that were compiled in different processes stay distinct when one process loads all of them from the cache."""

import pytest

from tests.helpers import run_python

SCRIPT = """
import sys
import bootleader as bl

many = bl.GaussianBandit(bl.Uniform(0, 1, arms=600))
few = bl.ExponentialBandit(means=[1.0, 0.6, 0.2])
plays = {
    "lockstep": lambda: bl.simulate(bl.ReBoot(1.5), few, rounds=200, runs=2, seed=3),
    "history": lambda: bl.simulate(bl.Giro(a=1), few, rounds=200, runs=2, seed=3),
    "large_k": lambda: bl.simulate(bl.ReBoot(1.5), many, rounds=700, runs=1),
}
for kernel in sys.argv[1:]:
    print(kernel, plays[kernel]().final_regret.tolist())
"""
KERNELS = ["lockstep", "history", "large_k"]


def played(kernels: list[str], cache: str) -> list[str]:
    return run_python(SCRIPT, *kernels, NUMBA_CACHE_DIR=cache).splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("order", [KERNELS, KERNELS[::-1]])
def test_kernels_from_the_cache_stay_distinct(order, tmp_path):
    alone = {kernel: played([kernel], str(tmp_path)) for kernel in KERNELS}
    assert played(order, str(tmp_path)) == [line for kernel in order for line in alone[kernel]]
