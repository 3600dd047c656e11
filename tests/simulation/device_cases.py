"""Policies and bandits that a GPU plays, and the comparison with the CPU.

``python -m tests.simulation.device_cases`` compares them at tiny sizes on numba's CUDA simulator, for which
``NUMBA_ENABLE_CUDASIM=1`` must be set before numba is imported.
"""

from __future__ import annotations

import math
from concurrent.futures import Executor, Future
from dataclasses import dataclass

import numpy as np

import bootleader as bl
from bootleader.policies import POLICIES as REGISTERED
from bootleader.random import exp, log, uniform

MEANS = [0.2, 0.35, 0.3]


def own_law(params, arm, shared):
    return arm.mean, params[0] * exp(-0.5 * log(arm.count)), math.inf


@dataclass(frozen=True, repr=False)
class OwnPolicy(bl.Policy):
    """A policy of a user's own."""

    @property
    def rule(self):
        return bl.IndexRule(own_law, bl.Noise.NORMAL, params=(0.7,))


def own_draw(arm, stream):
    return arm.first + arm.second * (uniform(stream) - 0.5)


@dataclass(frozen=True)
class OwnBandit(bl.GaussianBandit):
    """A bandit of a user's own."""

    @property
    def draw(self):
        return own_draw


def played_by_index(policy):
    """Whether a policy has an index rule whose laws do not fade."""
    return isinstance(policy.rule, bl.IndexRule) and policy.rule.half_life == np.inf


BERNOULLI = bl.BernoulliBandit(MEANS)
POLICIES = [policy for policy in REGISTERED if played_by_index(policy)] + [
    bl.KLUCB("exponential"), bl.ThompsonSampling(prior_sd=float("inf")), OwnPolicy(),
]  # fmt: skip
BANDITS = [
    bl.GaussianBandit(bl.Uniform(0, 1, arms=4), sd=bl.LogUniform(0.1, 5)),
    bl.ExponentialBandit(bl.Uniform(5, 7, arms=3), shift=5),
    bl.LogisticBandit(bl.Uniform(5, 7, arms=3)),
    bl.StudentTBandit(MEANS, df=3.0),
    BERNOULLI,
    bl.RevenueBandit(bl.Uniform(0.8, 1.2, arms=3)),
    bl.EmpiricalBandit([[1.0, 2.0, 5.0], [0.0, 0.0, 9.0]]),
    bl.PoissonBandit([3.0, 20.0]),
    bl.GammaBandit(MEANS, shape=0.5),
    bl.BetaBandit(MEANS, concentration=3.0),
    bl.ParetoBandit(MEANS, alpha=3.0),
    bl.LogNormalBandit(MEANS, sigma=1.0),
    bl.MixtureBandit([(0.3, bl.GaussianBandit(MEANS)), (0.7, bl.ExponentialBandit([1.0, 1.2, 1.1]))]),
    bl.AffineBandit(BERNOULLI, scale=100.0, shift=-7.0),
    OwnBandit(MEANS),
]


def pays_for(policy, bandit):
    """Whether a policy takes the rewards of a bandit."""
    (low, high), (least, most) = policy.reward_range, bandit.reward_range
    return low <= least and most <= high


def bandit_for(policy):
    """A bandit that a policy can be tried on."""
    return next(bandit for bandit in (BANDITS[0], BERNOULLI) if pays_for(policy, bandit))


def differences(a, b, over_time=True, kept=False):
    """The names of what differs between two simulations, in any bit; with ``kept`` also of what is kept of each run."""
    names = ["final_regret", "pulls", "pulls_by_rank", "recommended_by_rank"] + ["over_time"] * over_time
    names += ["curves", "recommended"] * kept
    return [name for name in names if not np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True)]


def small_cases():
    """Every policy, and every family, once."""
    reboot = bl.ReBoot(sigma_a=1.5)
    yield from ((policy, bandit_for(policy)) for policy in POLICIES)
    yield from ((reboot, bandit) for bandit in BANDITS[1:])
    yield bl.AdaptiveReBoot(), bl.GaussianBandit(np.linspace(0, 1, 40))  # too many arms for shared memory
    yield bl.FollowTheLeader(), bl.BernoulliBandit(np.linspace(0.1, 0.9, 70))  # and for a word


def own_linear_law(params, arm, shared):
    return arm.location, params[0] / math.sqrt(arm.count), math.inf


@dataclass(frozen=True, repr=False)
class OwnContextualPolicy(bl.ContextualPolicy):
    """A contextual policy of a user's own."""

    @property
    def rule(self):
        return bl.LinearRule(own_linear_law, bl.Noise.OPTIMISM, (0.3,), initial_pulls=1)


FIXED, DRAWN = bl.FixedFeatures(arms=4, dimension=3), bl.RandomFeatures(arms=3, dimension=2)
VISITORS, SEGMENTS = bl.GaussianContexts(arms=3, dimension=2), bl.SegmentContexts(arms=3, shares=[0.6, 0.4])
PAYMENTS = [[1.0, 0.5], [0.5, 1.0], [0.7, 0.7]]


def context_cases():
    """Every contextual policy that a GPU plays, every law of features and every kind of noise, once."""
    yield bl.AdaptiveLinReBoot(), bl.LinearBandit(FIXED, sd=[0.1, 0.2, 0.5, 1.0])
    yield bl.AdaptiveLinReBoot(), bl.LinearBandit(DRAWN, noise="student")
    yield bl.AdaptiveLinReBoot(), bl.LinearBandit(SEGMENTS, PAYMENTS, noise="revenue", conversion=0.5)
    yield bl.LinReBoot(sd_weights=0.3), bl.LinearBandit(VISITORS, noise="logistic")
    yield bl.LinThompson(noise_sd="oracle"), bl.LinearBandit(FIXED, noise="bernoulli")
    yield bl.LinUCB(), bl.LinearBandit([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], [0.3, 0.6])
    yield bl.LinPHE(), bl.LinearBandit(VISITORS, noise="logistic")
    yield OwnContextualPolicy(), bl.LinearBandit(DRAWN)


class Inline(Executor):
    """An executor that is no pool of threads: workers get whole blocks, as those of a cluster do."""

    def submit(self, function, /, *args, **kwargs):
        future = Future()
        future.set_result(function(*args, **kwargs))
        return future


def use_blocks_of(threads):
    """Make the blocks of index kernels that small, and the others smaller: each idle thread costs the simulator time.

    Shared memory becomes smaller in proportion, so that as many arms fit into it as on a GPU.
    """
    from bootleader._core.cuda import index_kernel, linear_kernel, reductions

    table, ratio = 8 * index_kernel.LAYERS, index_kernel.THREADS[0] // threads
    index_kernel.SHARED_BYTES = table + (index_kernel.SHARED_BYTES - table) // ratio
    index_kernel.THREADS = tuple(width // ratio for width in index_kernel.THREADS)
    linear_kernel.THREADS = reductions.THREADS = 4
    index_kernel.kernel_for.cache_clear()


def compare_curves():
    """Two chunks, of which the first has two groups of runs, and all that is kept of each run."""
    use_blocks_of(64)
    size = {"rounds": 12, "runs": 70, "seed": 3, "checkpoints": [1, 5, 7], "keep": "curves"}
    reboot = bl.ReBoot(sigma_a=1.5)
    on_gpu = bl.simulate([reboot, bl.Giro()], BANDITS[0], device="cuda", **size)
    on_cpu = bl.simulate([reboot, bl.Giro()], BANDITS[0], **size)
    differ = differences(on_gpu, on_cpu, kept=True)
    in_tasks = bl.simulate([reboot, bl.Giro()], BANDITS[0], device="cuda", executor=Inline(), **size)
    differ += differences(in_tasks, on_cpu, kept=True)
    print("curves", on_gpu.devices, "differ" if differ else "equal", *differ)


def main():
    """Compare on the simulator, and print what differs."""
    from bootleader.simulation import _device_runs

    compare_curves()
    use_blocks_of(8)
    assert bl.simulate(bl.UCB1(), BERNOULLI, rounds=9, runs=2, device="cuda").devices == ("cuda",)
    for policy, bandit in small_cases():
        size = {"rounds": max(26, bandit.arms + 6), "runs": 3, "seed": 3, "checkpoints": 3}
        _device_runs.FIRST_LAUNCH = 17 * 3 * bandit.arms  # several launches
        on_gpu = bl.simulate(policy, bandit, device="cuda", **size)
        differ = differences(on_gpu, bl.simulate(policy, bandit, compiled=False, **size), over_time=False)
        print(repr(policy), type(bandit).__name__, bandit.arms, "differ" if differ else "equal", *differ)
    for policy, bandit in context_cases():
        size = {"rounds": 24, "runs": 3, "seed": 3, "checkpoints": 3}
        _device_runs.FIRST_LAUNCH = 10 * 3 * bandit.arms * bandit.dimension
        on_gpu = bl.simulate(policy, bandit, device="cuda", **size)
        assert on_gpu.devices == ("cuda",)
        differ = differences(on_gpu, bl.simulate(policy, bandit, compiled=False, **size))
        print(repr(policy), type(bandit.features).__name__, bandit.noise, "differ" if differ else "equal", *differ)


if __name__ == "__main__":
    np.seterr(all="ignore")  # plain Python on NumPy's scalars, which warn where words wrap around
    main()
