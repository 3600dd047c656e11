"""A million runs on a GPU: seconds in the kernel and from call to result, and the same in JAX on the same GPU.

``python -m benchmarks gpu`` needs an NVIDIA GPU and ``bootleader[cuda]``; the comparison needs JAX with CUDA. JAX plays
one run as a ``lax.scan`` over rounds, ``vmap`` over runs, jitted, in float64, with the faster of its two generators.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np

import bootleader as bl
from benchmarks.measuring import Measured, seconds
from bootleader.simulation import _device_runs

ARMS, ROUNDS, RUNS = 10, 10_000, 2**20
SECTION = f"GPU: {ARMS} Gaussian arms, {ROUNDS:,} rounds, {RUNS:,} runs"
BANDIT = bl.GaussianBandit(np.linspace(0.0, 1.0, ARMS))
DRAWN = bl.GaussianBandit(bl.Uniform(5, 7, arms=ARMS))  # every run draws its means
REBOOT, ADAPTIVE = bl.ReBoot(sigma_a=1.5), bl.AdaptiveReBoot()
LINEAR, CONTEXT_ROUNDS, CONTEXT_RUNS = bl.LinearBandit(bl.FixedFeatures(100, 20), sd=0.3), 1_000, 2**14


def call(policy: Any, rounds: int = ROUNDS, runs: int = RUNS, bandit: bl.Bandit = BANDIT) -> bl.Simulation:
    """One simulation on the GPU."""
    return bl.simulate(policy, bandit, rounds=rounds, runs=runs, seed=1, device="cuda")


def kernel_and_call(policy: Any, bandit: bl.Bandit = BANDIT) -> tuple[float, float]:
    """Seconds in the kernel, by the GPU's clock, and from call to result."""
    from numba import cuda

    launch, events = _device_runs.DeviceRuns._launch, []

    def timed(self: Any, *arguments: Any) -> None:
        pair = cuda.event(), cuda.event()
        pair[0].record()
        launch(self, *arguments)
        pair[1].record()
        events.append(pair)

    with mock.patch.object(_device_runs.DeviceRuns, "_launch", timed):
        whole = seconds(lambda: call(policy, bandit=bandit))
    cuda.synchronize()
    return sum(cuda.event_elapsed_time(*pair) for pair in events) / 1000.0, whole


def jax_seconds(generator: str) -> float:
    """Seconds that JAX takes for ReBoot, compiled before."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    means = jnp.linspace(0.0, 1.0, ARMS)

    def play_round(state: Any, t: Any) -> Any:
        key, count, mean, rss, regret = state
        noise_key, reward_key = jax.random.split(jax.random.fold_in(key, t))
        scale = jnp.sqrt(rss + 2.0 * (count + 2.0) * 2.25) / (count + 2.0)
        index = mean + scale * jax.random.normal(noise_key, (ARMS,))
        arm = jnp.where(t < ARMS, t, jnp.argmax(index))
        reward = means[arm] + jax.random.normal(reward_key, ())
        delta = reward - mean[arm]
        total = count[arm] + 1.0
        moved = mean[arm] + delta / total
        rss = rss.at[arm].add(delta * (reward - moved))
        state = key, count.at[arm].set(total), mean.at[arm].set(moved), rss, regret + 1.0 - means[arm]
        return state, None

    def play(key: Any) -> Any:
        zeros = jnp.zeros(ARMS)
        return jax.lax.scan(play_round, (key, zeros, zeros, zeros, 0.0), jnp.arange(ROUNDS))[0][4]

    keys = jax.random.split(jax.random.key(0, impl=generator), RUNS)
    compiled = jax.jit(jax.vmap(play)).lower(keys).compile()
    started = time.perf_counter()
    regret = compiled(keys).block_until_ready()
    taken = time.perf_counter() - started
    print(f"    JAX {generator}: {taken:.2f} s, mean regret {float(regret.mean()):.1f}", flush=True)
    return taken


def contexts() -> Iterator[Measured]:
    """A contextual policy on the GPU, beside one core of the CPU."""
    section = f"GPU: 100 arms, 20 fixed features, {CONTEXT_ROUNDS:,} rounds, {CONTEXT_RUNS:,} runs"
    policy = bl.AdaptiveLinReBoot()

    def play(runs: int, **where: Any) -> Any:
        return lambda: bl.simulate(policy, LINEAR, rounds=CONTEXT_ROUNDS, runs=runs, seed=1, **where)

    yield Measured(section, f"{policy!r}, first call: compilation", seconds(play(64, device="cuda")), "s", 20.0, True)
    whole = seconds(play(CONTEXT_RUNS, device="cuda"))
    few = CONTEXT_RUNS // 256
    play(2, n_jobs=1)()
    one_core = seconds(play(few, n_jobs=1)) * CONTEXT_RUNS / few
    yield Measured(section, f"{policy!r}, from call to result", whole, "s")
    yield Measured(section, "times faster than one core of the CPU", one_core / whole, "x")


def measure(repeats: int) -> Iterator[Measured]:
    """Yield the figures."""
    for policy in (REBOOT, ADAPTIVE):
        first = seconds(lambda policy=policy: call(policy, rounds=100, runs=100))  # type: ignore[misc]
        yield Measured(SECTION, f"{policy!r}, first call: compilation", first, "s", 20.0, at_most=True)
    ours = [kernel_and_call(REBOOT) for _ in range(repeats)]
    kernel, whole = (statistics.median(column) for column in zip(*ours, strict=True))
    print(f"    mean regret {call(REBOOT).mean_regret[0, -1]:.1f}")
    yield Measured(SECTION, f"{REBOOT!r}, in the kernel", kernel, "s", 1.2, at_most=True)
    yield Measured(SECTION, f"{REBOOT!r}, from call to result", whole, "s", 1.6, at_most=True)
    yield Measured(SECTION, f"{REBOOT!r}, rounds a second", RUNS * ROUNDS / whole)
    theirs = statistics.median([kernel_and_call(ADAPTIVE)[0] for _ in range(repeats)])
    yield Measured(SECTION, f"{ADAPTIVE!r}, in the kernel", theirs, "s")
    yield Measured(SECTION, f"{ADAPTIVE!r}, times ReBoot's", theirs / kernel, "x", 3.0, at_most=True)
    drawn = [kernel_and_call(REBOOT, DRAWN) for _ in range(repeats)]
    kernel_of_drawn, whole_of_drawn = (statistics.median(column) for column in zip(*drawn, strict=True))
    yield Measured(SECTION, f"{REBOOT!r}, means drawn from U(5, 7), in the kernel", kernel_of_drawn, "s")
    yield Measured(SECTION, f"{REBOOT!r}, means drawn from U(5, 7), from call to result", whole_of_drawn, "s")
    yield from contexts()
    try:
        import jax
    except ImportError:
        return
    assert jax
    fastest = min(jax_seconds(generator) for generator in ("threefry2x32", "unsafe_rbg"))
    yield Measured(SECTION, "JAX, vmap and scan, ReBoot", fastest, "s")
    yield Measured(SECTION, "times faster than JAX", fastest / whole, "x", 3.0)
