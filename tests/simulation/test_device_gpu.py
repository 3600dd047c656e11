"""A GPU plays what the CPU plays, in every bit: index policies on reward families, and contexts. ``make test-gpu``."""

import os
import time

import pytest

import bootleader as bl
from tests.simulation.device_cases import BANDITS, POLICIES, context_cases, differences, pays_for

pytestmark = pytest.mark.gpu

ROUNDS = float(os.environ.get("BOOTLEADER_GPU_ROUNDS", "1e7"))  # in all runs of a pair


@pytest.mark.parametrize("bandit", BANDITS, ids=lambda bandit: type(bandit).__name__)
@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_every_bit_is_the_cpus(policy, bandit):
    if not pays_for(policy, bandit):
        pytest.skip("the policy does not take these rewards")
    size = {"rounds": 1_000, "runs": int(ROUNDS // 1_000), "seed": 17, "checkpoints": 20}
    began = time.perf_counter()
    on_gpu = bl.simulate(policy, bandit, device="cuda", **size)
    between = time.perf_counter()
    assert differences(on_gpu, bl.simulate(policy, bandit, **size)) == []
    print(f"{policy!r} {type(bandit).__name__}: {ROUNDS:g} rounds equal, GPU {between - began:.1f} s")


@pytest.mark.parametrize(("policy", "bandit"), list(context_cases()), ids=repr)
def test_every_bit_is_the_cpus_with_contexts(policy, bandit):
    size = {"rounds": 1_000, "runs": int(ROUNDS // 10_000), "seed": 17, "checkpoints": 20}
    on_gpu = bl.simulate(policy, bandit, device="cuda", **size)
    assert on_gpu.devices == ("cuda",)
    assert differences(on_gpu, bl.simulate(policy, bandit, **size)) == []


def test_an_interrupt_ends_a_long_simulation_soon():
    began = []

    def interrupt(runs):
        began.append(time.perf_counter())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bl.simulate(bl.UCB1(), BANDITS[0], rounds=10_000, runs=10**6, device="cuda", progress=interrupt)
    assert time.perf_counter() - began[0] < 1.0
