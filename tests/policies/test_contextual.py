"""Contextual policies: their contract, their twins in NumPy, and what AdaptiveLinReBoot promises."""

from __future__ import annotations

import dataclasses
import inspect
import math
import pickle
from typing import Any

import numpy as np
import pytest

import bootleader as bl
from bootleader.paper._linreboot_baselines import published_baselines
from bootleader.policies import CONTEXTUAL_POLICIES, ContextualPolicy
from bootleader.simulation._contextual_runs import LibraryContexts
from tests.helpers import assert_rejected, assert_same_simulation
from tests.oracle import naive_linear as naive
from tests.oracle import naive_published_linear as naive_published
from tests.oracle.naive_adaptive_linear import NaiveAdaptiveLinReBoot

NAMESPACE = {name: getattr(bl, name) for name in bl.__all__}
BANDITS = {
    "fixed": bl.LinearBandit(np.random.default_rng(1).normal(size=(6, 3)), sd=0.5),
    "random": bl.LinearBandit(bl.RandomFeatures(arms=6, dimension=5), sd=0.5),
    "contexts": bl.LinearBandit(bl.GaussianContexts(arms=3, dimension=3), sd=0.3),
}
TWINS: dict[str, tuple[ContextualPolicy, Any, float]] = {
    "LinUCB": (bl.LinUCB(lam=0.5), naive.NaiveLinUCB, 0.5),
    "LinThompson": (bl.LinThompson(lam=0.5), naive.NaiveLinThompson, 0.5),
    "LinReBoot": (bl.LinReBoot(sd_weights=0.3), naive.NaiveLinReBoot, 0.1),
    "LinPHE": (bl.LinPHE(a=0.5, low=-1.0, high=2.0, lam=0.5), naive.NaiveLinPHE, 0.5),
    "LinGiro": (bl.LinGiro(a=2, low=-1.0, high=2.0, lam=0.5), naive.NaiveLinGiro, 0.5),
    "LinMultiplierBootstrap": (
        bl.LinMultiplierBootstrap(low=-1.0, high=2.0, replicates=7, lam=0.5),
        naive.NaiveLinMultiplierBootstrap,
        0.5,
    ),
    "AdaptiveLinReBoot": (bl.AdaptiveLinReBoot(), NaiveAdaptiveLinReBoot, 0.0),
}


@pytest.fixture(params=CONTEXTUAL_POLICIES, ids=str)
def policy(request: Any) -> Any:
    return request.param


def test_every_public_policy_is_listed_and_has_a_twin() -> None:
    public = {value for value in NAMESPACE.values() if inspect.isclass(value) and issubclass(value, ContextualPolicy)}
    assert {type(policy) for policy in CONTEXTUAL_POLICIES} == public - {ContextualPolicy}
    assert {type(policy) for policy, _, _ in TWINS.values()} == public - {ContextualPolicy}


def test_a_policy_is_an_immutable_value(policy: Any) -> None:
    assert eval(repr(policy), {**NAMESPACE}) == policy == pickle.loads(pickle.dumps(policy))
    assert policy.rule == policy.rule
    assert policy.reference
    for field in dataclasses.fields(policy):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(policy, field.name, 1.0)


@pytest.mark.parametrize("bandit", BANDITS)
def test_compiled_play_is_plain_play_bit_for_bit(policy: Any, bandit: str) -> None:
    size = {"rounds": 150 if isinstance(policy.rule, bl.LinearRule) else 60, "runs": 2, "seed": 3}
    assert_same_simulation(*(bl.simulate(policy, BANDITS[bandit], **size, compiled=flag) for flag in (True, False)))  # type: ignore[arg-type]


PAIRS = [(name, bandit) for name in TWINS for bandit in BANDITS]
PAIRS.remove(("LinUCB", "random"))  # all indices are equal in the first round, up to rounding


@pytest.mark.parametrize(("name", "bandit"), PAIRS)
def test_the_twin_in_numpy_makes_the_same_choices(name: str, bandit: str) -> None:
    policy, kind, lam = TWINS[name]
    same_choices(policy, kind, lam, BANDITS[bandit])


PUBLISHED_TWINS = {
    "LinTS-G": (naive_published.NaivePublishedLinTS, 0.1),
    "LinTS-IG": (naive_published.NaivePublishedLinTSIG, 0.2),
    "LinGIRO": (naive_published.NaivePublishedLinGiro, 0.1),
    "LinPHE": (naive_published.NaivePublishedLinPHE, 0.1),
    "LinUCB": (naive_published.NaivePublishedLinUCB, 0.1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED_TWINS)
@pytest.mark.parametrize("bandit", BANDITS)
def test_the_twin_of_a_published_baseline_makes_the_same_choices(name: str, bandit: str) -> None:
    world, (kind, lam) = BANDITS[bandit], PUBLISHED_TWINS[name]
    policy = published_baselines(1.0 / 3.0, world.arms, not world.disjoint)[name]
    same_choices(policy, kind, 0.1 if world.disjoint else lam, world)


def same_choices(policy: Any, kind: Any, lam: float, world: Any) -> None:
    seed, run, rounds = 11, 4, 150
    twin = kind(world.arms, world.dimension, world.disjoint, seed, run, lam)
    rewards, pulls, regret = LibraryContexts(world, seed, run), np.zeros(world.arms), 0.0
    for played in range(rounds):
        rewards.step(played)
        arm = twin.pull(rewards.features)
        twin.update(arm, rewards.features, rewards.pay(arm, played))
        pulls[arm] += 1
        regret += max(rewards.mean) - rewards.mean[arm]
    ours = bl.simulate(policy, world, rounds=rounds, runs=1, seed=seed, first_run=run)
    np.testing.assert_array_equal(ours.pulls[0], pulls)
    np.testing.assert_allclose(ours.final_regret[0, 0], regret, rtol=1e-9)


def test_a_wrong_twin_is_noticed() -> None:
    world, right = BANDITS["fixed"], naive.NaiveLinUCB(6, 3, False, 11, 4, 0.5)
    wrong = naive.NaiveLinUCB(6, 3, False, 11, 4, 2.0)
    chosen = []
    for twin in (right, wrong):
        rewards = LibraryContexts(world, 11, 4)
        arms = []
        for played in range(150):
            rewards.step(played)
            arms.append(twin.pull(rewards.features))
            twin.update(arms[-1], rewards.features, rewards.pay(arms[-1], played))
        chosen.append(arms)
    assert chosen[0] != chosen[1]


MEANS = (0.5, 0.0, 0.2, 0.4)


def test_with_contexts_that_are_the_number_one_it_is_adaptive_reboot_choice_for_choice() -> None:
    size = {"rounds": 2_000, "runs": 8, "seed": 3}
    contexts = bl.SegmentContexts(arms=4, shares=[1.0])
    with_contexts = bl.LinearBandit(contexts, [[mean] for mean in MEANS], sd=(1.0, 0.2, 3.0, 1.0))
    without = bl.GaussianBandit(MEANS, sd=(1.0, 0.2, 3.0, 1.0))
    ours = bl.simulate(bl.AdaptiveLinReBoot(), with_contexts, **size)  # type: ignore[arg-type]
    theirs = bl.simulate(bl.AdaptiveReBoot(), without, **size)  # type: ignore[arg-type]
    np.testing.assert_array_equal(ours.final_regret, theirs.final_regret)
    np.testing.assert_array_equal(ours.pulls, theirs.pulls)


FEATURES = np.random.default_rng(4).uniform(size=(8, 3))
COEFFICIENTS = np.array([0.5, -0.3, 0.8])


def test_another_unit_of_rewards_or_features_gives_the_same_choices() -> None:
    def pulls(features: Any, coefficients: Any, sd: float) -> Any:
        bandit = bl.LinearBandit(features, coefficients, sd=sd)
        return bl.simulate(bl.AdaptiveLinReBoot(), bandit, rounds=1_000, runs=4, seed=2).pulls

    plain = pulls(FEATURES, COEFFICIENTS, 0.5)
    with_one = np.column_stack([np.ones(8), FEATURES])
    shifted = pulls(with_one, [-5e6, *1e3 * COEFFICIENTS], 500.0)
    np.testing.assert_array_equal(shifted, pulls(with_one, [0.0, *COEFFICIENTS], 0.5))
    units = np.array([100.0, 1e-4, 7.0])
    np.testing.assert_array_equal(pulls(FEATURES * units, COEFFICIENTS / units, 0.5), plain)
    moved = with_one + np.array([0.0, 0.0, 50.0, 0.0])
    np.testing.assert_array_equal(
        pulls(moved, [50.0 * 0.3, *COEFFICIENTS], 0.5), pulls(with_one, [0.0, *COEFFICIENTS], 0.5)
    )
    assert not np.array_equal(pulls(FEATURES[:, ::-1], COEFFICIENTS, 0.5), plain)


def test_contextual_policies_keep_the_contract() -> None:
    for policy in (bl.LinPHE(), bl.LinMultiplierBootstrap(), bl.LinGiro()):
        assert bl.check_policy(policy)[-1] == "compiled play equals plain play bit for bit"
    with pytest.raises(AssertionError, match="LinearRule"):
        bl.check_policy(WithoutRule())


@dataclasses.dataclass(frozen=True, repr=False)
class WithoutRule(ContextualPolicy):
    @property
    def rule(self) -> Any:
        return bl.ReBoot(sigma_a=1.0).rule


def test_an_agent_does_not_play_a_policy_whose_state_grows() -> None:
    assert_rejected(lambda: bl.Agent(bl.LinGiro(), ["a", "b"], features=bl.Features(x=float)), "simulate", "LinGiro")


def test_perturbed_rewards_have_the_law_that_lin_phe_draws_from() -> None:
    """Noise on every reward, and on the rows of the ridge; 4,000 draws, level 1e-6 for each of the six entries."""
    rng, lam, a = np.random.default_rng(5), 0.5, 3
    x = rng.normal(size=(20, 3))
    v = lam * np.eye(3) + x.T @ x
    rows = np.vstack([x, math.sqrt(lam) * np.eye(3)])
    coins = rng.integers(0, 2, size=(4_000, len(rows), a)).sum(axis=2) - 0.5 * a
    found = np.cov(np.linalg.solve(v, rows.T @ coins.T))
    expected = bl.LinPHE(a=a, lam=lam).known_sd(1, None) ** 2 * np.linalg.inv(v)
    spread = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / 4_000)
    assert (np.abs(found - expected) < 4.9 * spread).all()
    assert not (np.abs(found - 1.2 * expected) < 4.9 * spread).all()


def test_validation_names_the_value() -> None:
    assert_rejected(lambda: bl.LinPHE(a=0), "a", "0")
    assert_rejected(lambda: bl.LinPHE(low=2.0), "high", "1.0")
    assert_rejected(lambda: bl.LinGiro(a=0.5), "a", "0.5")
    assert_rejected(lambda: bl.LinGiro(low=float("nan")), "low", "nan")
    assert_rejected(lambda: bl.LinMultiplierBootstrap(replicates=0), "replicates", "0")
    assert_rejected(lambda: bl.LinMultiplierBootstrap(sd_weights=-1.0), "sd_weights", "-1.0")
    assert_rejected(lambda: bl.LinUCB(alpha=-1), "alpha", "-1")
    assert_rejected(lambda: bl.LinThompson(lam=0), "lam", "0")
    assert_rejected(lambda: bl.LinThompson(noise_sd="true"), "noise_sd", "'true'")
    assert_rejected(lambda: bl.LinReBoot(sd_weights=float("nan")), "sd_weights", "nan")
    assert_rejected(lambda: bl.AdaptiveLinReBoot(ratio=1e60), "ratio", "1e+50")


def test_policies_and_bandits_that_do_not_fit_say_what_to_do() -> None:
    plain, contexts = bl.GaussianBandit([1.0, 0.0]), BANDITS["fixed"]
    size = {"rounds": 10, "runs": 1}
    assert_rejected(lambda: bl.simulate(bl.LinUCB(), plain, **size), "LinearBandit", "AdaptiveReBoot()")  # type: ignore[arg-type]
    assert_rejected(lambda: bl.simulate(bl.UCB1(), contexts, **size), "AdaptiveLinReBoot()", "pull(features)")  # type: ignore[arg-type]
    assert_rejected(lambda: bl.simulate(bl.LinUCB(), contexts, **size, delay=3), "delay", "3")  # type: ignore[arg-type]
