"""The contract of a policy. Policies are discovered: a new one is tested without an edit here."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import math
import pickle

import numpy as np
import pytest

import bootleader as bl
from bootleader import policies
from bootleader._core.rules import ChoiceRule, HistoryRule, IndexRule
from bootleader.policies import POLICIES, Policy
from tests.helpers import classes_of
from tests.oracle.cases import OTHER_POLICY_CASES, POLICY_CASES

NAMESPACE = {name: getattr(bl, name) for name in bl.__all__}
ALL_POLICIES = list(dict.fromkeys([*POLICIES, *(case.policy for case in [*POLICY_CASES, *OTHER_POLICY_CASES])]))


@pytest.fixture(params=ALL_POLICIES, ids=str)
def policy(request):
    return request.param


def test_every_class_in_a_file_of_policies_is_public():
    """One list, ``policies.__all__``, makes a policy public; no second one has to be kept."""
    assert classes_of(policies, Policy) == {type(policy) for policy in POLICIES} | {Policy}
    assert set(policies.__all__) <= set(bl.__all__)


def test_every_public_policy_is_listed_and_has_an_oracle():
    public = {value for value in NAMESPACE.values() if inspect.isclass(value) and issubclass(value, Policy)} - {Policy}
    assert {type(policy) for policy in POLICIES} == public
    assert {type(case.policy) for case in [*POLICY_CASES, *OTHER_POLICY_CASES]} == public


def test_a_policy_prints_as_it_is_written(policy):
    twin = eval(repr(policy), {**NAMESPACE})
    assert twin == policy
    assert repr(twin) == repr(policy) == str(policy) == policy.name


@pytest.mark.parametrize(
    "written",
    [
        "ReBoot(sigma_a=1.5)",
        "ReBoot(sigma_a=1.5, weights='gaussian')",
        "Giro()",
        "Giro(a=1)",
        "ThompsonSampling()",
        "ThompsonSampling(noise_sd='oracle')",
        "ThompsonSampling(prior_sd=float('inf'), noise_sd=(1.0, 2.0))",
        "EpsilonGreedy(epsilon=0.1)",
    ],
)
def test_only_the_parameters_that_were_given_are_shown(written):
    assert repr(eval(written, {**NAMESPACE})) == written


def test_numpy_numbers_print_as_numbers():
    assert [p.name for p in map(bl.ReBoot, np.array([0.5, 1.0]))] == ["ReBoot(sigma_a=0.5)", "ReBoot(sigma_a=1.0)"]
    assert repr(bl.Giro(a=np.int64(2))) == "Giro(a=2)"


def test_a_policy_knows_its_parameters_and_reference(policy):
    assert set(policy.parameters) == set(inspect.signature(type(policy)).parameters)
    assert type(policy)(**policy.parameters) == policy
    assert len(policy.reference) > 10
    assert inspect.getdoc(type(policy))


def test_a_policy_is_immutable_and_hashable(policy):
    for name in [*policy.parameters, "anything"]:
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
            setattr(policy, name, 3.0)
    assert hash(policy) == hash(type(policy)(**policy.parameters))
    assert len({policy, type(policy)(**policy.parameters)}) == 1


def test_a_policy_survives_pickle_and_copy(policy):
    for twin in (pickle.loads(pickle.dumps(policy)), copy.copy(policy), copy.deepcopy(policy)):
        assert twin == policy
        assert repr(twin) == repr(policy)


def test_a_rule_is_data(policy):
    rule = policy.rule
    assert isinstance(rule, IndexRule | HistoryRule | ChoiceRule)
    assert rule == type(policy)(**policy.parameters).rule
    assert all(type(number) is float for number in rule.params)


def test_a_policy_says_what_it_must_know(policy):
    """A policy whose choices depend on the unit of the rewards knows something about them; no other one has to."""
    assert all(isinstance(known, bl.Knowledge) for known in policy.must_know)
    about_the_unit = set(policy.must_know) & {bl.Knowledge.RANGE, bl.Knowledge.SD, bl.Knowledge.PRIOR}
    assert not (policy.equivariant and about_the_unit)
    if math.isfinite(policy.reward_range[0]):
        assert {bl.Knowledge.RANGE, bl.Knowledge.FAMILY} & set(policy.must_know)


def test_a_policy_plays(policy):
    bandit = (
        bl.GaussianBandit([1.0, 0.0, 0.5])
        if policy.reward_range == (-math.inf, math.inf)
        else bl.BernoulliBandit([1.0, 0.0, 0.5])
    )
    sim = bl.simulate(policy, bandit, rounds=60, runs=5, seed=2)
    assert sim.policies == (policy.name,)
    assert np.isfinite(sim.final_regret).all()
    assert sim.pulls.sum() == pytest.approx(60)
    assert (np.diff(sim.mean_regret[0]) >= -1e-12).all()


def test_a_policy_does_better_than_random_pulls(policy):
    """Less regret than pulling at random, on an easy bandit with rewards in [0, 1]."""
    sim = bl.simulate(policy, bl.BernoulliBandit([0.9, 0.1, 0.1]), rounds=400, runs=64, seed=2)
    share = 0.95 if isinstance(policy, bl.SuccessiveRejects) else 0.75  # it explores half of the rounds, by design
    assert sim.mean_regret[0, -1] < share * 400 * 0.8 * 2 / 3
