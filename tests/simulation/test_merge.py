"""Simulations taken apart and put together again."""

from __future__ import annotations

import numpy as np
import pytest

import bootleader as bl

BANDIT = bl.GaussianBandit(bl.Uniform(0.0, 1.0, arms=3))
POLICIES = [bl.ReBoot(sigma_a=1.5), bl.UCB1(), bl.Giro()]
SHARED = {"rounds": 60, "seed": 3, "checkpoints": 6, "keep": "curves"}
ARRAYS = (
    "rounds", "over_time", "final_regret", "pulls", "pulls_by_rank", "recommended_by_rank", "curves", "recommended",
)  # fmt: skip
KEPT = ("curves", "recommended")


class Coin:
    """A bandit of a user's own; every run draws its means."""

    arms = 2

    def __init__(self, low=0.0):
        self.low = low

    def __repr__(self):
        return f"Coin({self.low})"

    def start(self, rng):
        self.p = [self.low, rng.uniform(0.0, 1.0)]

    def means(self, t):
        return self.p

    def pay(self, arm, t, rng):
        return float(rng.random() < self.p[arm])


@pytest.fixture(scope="module")
def whole() -> bl.Simulation:
    return bl.simulate(POLICIES, BANDIT, runs=100, **SHARED)


def part(first_run, runs, policies=POLICIES, **changed):
    return bl.simulate(policies, changed.pop("bandit", BANDIT), runs=runs, first_run=first_run, **(SHARED | changed))


def assert_same(a, b, exact=ARRAYS):
    assert (a.policies, a.seed, a.first_run, a.runs) == (b.policies, b.seed, b.first_run, b.runs)
    for name in ARRAYS:
        if name in exact:
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
        else:
            np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-12, atol=1e-12, err_msg=name)


def test_curves_are_every_runs_regret(whole):
    assert whole.curves.shape == (3, 100, 6)
    np.testing.assert_array_equal(whole.curves[:, :, -1], whole.final_regret)
    np.testing.assert_allclose(whole.curves.mean(axis=1), whole.mean_regret, rtol=1e-12)
    error = whole.curves.std(axis=1, ddof=1) / np.sqrt(100)
    np.testing.assert_allclose(whole.standard_error, error, rtol=1e-9, atol=1e-15)
    assert (np.diff(whole.curves, axis=2) >= 0.0).all()
    without = bl.simulate(POLICIES, BANDIT, runs=3, rounds=60)
    assert without.curves is None


def test_recommended_arms_are_those_of_the_quantities_over_time(whole):
    assert whole.recommended.shape == (3, 100, 6)
    assert whole.recommended.dtype == np.int32
    gaps = whole.means.max(axis=1, keepdims=True) - whole.means
    simple = gaps[np.arange(100)[:, None], whole.recommended]
    np.testing.assert_allclose(simple.mean(axis=1), whole.simple_regret, rtol=1e-12)
    np.testing.assert_allclose((simple == 0.0).mean(axis=1), whole.best_arm_recommended, rtol=1e-12)
    ranks = np.argsort(np.argsort(gaps, axis=1), axis=1)[np.arange(100), whole.recommended[:, :, -1]]
    counts = [np.bincount(one, minlength=3) for one in ranks]
    np.testing.assert_array_equal(whole.recommended_by_rank, np.array(counts) / 100)
    assert (whole.recommended_by_rank > 0.0).all()
    assert bl.simulate(POLICIES, BANDIT, runs=3, rounds=60).recommended is None


@pytest.mark.parametrize("policy", [bl.ReBoot(sigma_a=1.5), bl.Giro(), bl.RBSDA()], ids=str)
def test_recommended_arms_are_the_same_in_plain_python(policy):
    found, wanted = (part(7, 40, [policy], compiled=compiled) for compiled in (True, False))
    np.testing.assert_array_equal(found.recommended, wanted.recommended)
    np.testing.assert_array_equal(found.recommended_by_rank, wanted.recommended_by_rank)
    assert len(np.unique(found.recommended)) == 3


def test_quantiles(whole):
    found = whole.quantiles(0.1, 0.5, 1.0)
    assert found.shape == (3, 3, 6)
    np.testing.assert_array_equal(found[1, 0], np.quantile(whole.curves[1], 0.1, axis=0))
    np.testing.assert_array_equal(found[2, 2], whole.curves[2].max(axis=0))
    for wrong in ((), (1.5,), ("median",)):
        with pytest.raises(ValueError, match="from 0 to 1"):
            whole.quantiles(*wrong)
    with pytest.raises(ValueError, match=r'keep="curves"'):
        bl.simulate(bl.UCB1(), BANDIT, runs=2, rounds=10).quantiles(0.5)


def test_means_are_those_of_the_runs(whole):
    """The runs' regret bounds the gaps: it is a sum of them, and the pulls by rank agree."""
    assert whole.means.shape == (100, 3)
    assert ((whole.means >= 0.0) & (whole.means <= 1.0)).all()
    one = part(40, 1)
    np.testing.assert_array_equal(one.means[0], whole.means[40])
    gaps = one.means[0].max() - one.means[0]
    np.testing.assert_allclose(one.pulls @ gaps, one.final_regret[:, 0], rtol=1e-12)
    np.testing.assert_allclose(one.pulls_by_rank @ np.sort(gaps), one.final_regret[:, 0], rtol=1e-12)


def test_means_of_a_users_bandit():
    sim = bl.simulate(bl.UCB1(), Coin(0.2), rounds=20, runs=5, seed=1, first_run=3)
    assert sim.means.shape == (5, 2)
    assert (sim.means[:, 0] == 0.2).all()
    assert len(set(sim.means[:, 1])) == 5
    gaps = sim.means.max(axis=1, keepdims=True) - sim.means
    for run in range(5):
        one = bl.simulate(bl.UCB1(), Coin(0.2), rounds=20, runs=1, seed=1, first_run=3 + run)
        np.testing.assert_allclose(one.pulls[0] @ gaps[run], sim.final_regret[0, run], rtol=1e-12)


@pytest.mark.parametrize(
    ("key", "places"),
    [("UCB1()", [1]), (2, [2]), (np.int64(0), [0]), (["Giro()", 0], [2, 0]), (slice(1, None), [1, 2])],
)
def test_some_of_the_policies(whole, key, places):
    some = whole[key]
    assert some.policies == tuple(whole.policies[place] for place in places)
    np.testing.assert_array_equal(some.rounds, whole.rounds)
    for name in ("over_time", "final_regret", "pulls", "pulls_by_rank", "recommended_by_rank", "seconds", *KEPT):
        np.testing.assert_array_equal(getattr(some, name), getattr(whole, name)[places])


def test_a_simulation_iterates_over_its_policies(whole):
    assert len(whole) == 3
    assert [one.policies for one in whole] == [(name,) for name in whole.policies]


@pytest.mark.parametrize("key", ["nobody", 3, -1, [], ["UCB1()", 1], slice(0, 0), None, True])
def test_unknown_policies(whole, key):
    with pytest.raises(ValueError, match="policy"):
        whole[key]


def test_join(whole):
    first, rest = part(0, 100, POLICIES[:1]), part(0, 100, POLICIES[1:])
    assert_same(first | rest, whole)
    np.testing.assert_array_equal((first | rest).seconds, [*first.seconds, *rest.seconds])
    assert_same(whole[[2]] | whole[:2], whole[[2, 0, 1]])


def test_join_keeps_curves_only_if_both_have_them(whole):
    without = part(0, 100, POLICIES[1:], keep=None)
    assert (whole[:1] | without).curves is None
    assert (whole[:1] | without).recommended is None


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"seed": 4}, r"seed \(3 and 4\)"),
        ({"rounds": 61}, r"rounds \(60 and 61\)"),
        ({"checkpoints": 5}, r"checkpoints \(6 and 5 of them\)"),
        ({"bandit": bl.GaussianBandit([1.0, 0.5, 0.0])}, r"bandit \(GaussianBandit\(means=Uniform.*and Gaussian"),
        ({"delay": 3}, "delay"),
        ({"runs": 99}, r"runs \(runs 0 to 99 and runs 0 to 98\)"),
        ({"first_run": 1}, r"runs \(runs 0 to 99 and runs 1 to 100\)"),
    ],
)
def test_join_says_what_differs(whole, changed, words):
    changed = {"runs": 100, "first_run": 0} | changed
    other = part(changed.pop("first_run"), changed.pop("runs"), [bl.PHE()], **changed)
    with pytest.raises(ValueError, match=words):
        whole | other


def test_join_refuses_a_policy_twice(whole):
    with pytest.raises(ValueError, match=r"both have 'UCB1\(\)'"):
        whole | whole["UCB1()"]


def test_other_things_cannot_be_joined(whole):
    with pytest.raises(TypeError):
        whole | 3
    with pytest.raises(TypeError):
        whole + "a"


@pytest.mark.parametrize("boundary", [1, 31, 32, 50, 64, 99])
def test_more_runs(whole, boundary):
    both = part(0, boundary) + part(boundary, 100 - boundary)
    assert_same(both, whole, exact=set(ARRAYS) - {"over_time"})


def test_many_parts(whole):
    both = part(0, 32) + (part(32, 32) + part(64, 36))
    assert_same(both, whole, exact=set(ARRAYS) - {"over_time"})
    assert both.first_run == 0
    later = part(32, 32) + part(64, 36)
    assert (later.first_run, later.runs) == (32, 68)


def test_more_runs_needs_the_next_ones(whole):
    first, second = part(0, 10), part(10, 10)
    with pytest.raises(ValueError, match=r"runs 10 to 19 and b runs 0 to 9: write b \+ a"):
        second + first
    with pytest.raises(ValueError, match="simulate b with first_run=10"):
        first + first
    with pytest.raises(ValueError, match="simulate b with first_run=10"):
        first + part(11, 10)
    with pytest.raises(ValueError, match="differ in policies"):
        first + second[:2]
    with pytest.raises(ValueError, match=r"seed \(3 and 5\)"):
        first + part(10, 10, seed=5)


def test_a_users_bandit_is_the_same_if_its_text_is():
    a = bl.simulate(bl.UCB1(), Coin(0.5), rounds=20, runs=3)
    b = bl.simulate(bl.UCB1(), Coin(0.5), rounds=20, runs=3, first_run=3)
    both = bl.simulate(bl.UCB1(), Coin(0.5), rounds=20, runs=6)
    np.testing.assert_array_equal((a + b).final_regret, both.final_regret)
    with pytest.raises(ValueError, match="bandit"):
        a + bl.simulate(bl.UCB1(), Coin(0.25), rounds=20, runs=3, first_run=3)


@pytest.mark.parametrize("first_run", [-1, 2**62 + 1])
def test_a_first_run_out_of_range(first_run):
    with pytest.raises(ValueError, match="first_run"):
        part(first_run, 1)


def test_the_last_possible_first_run():
    assert part(2**62, 2).to_frame(runs=True)["run"].tolist()[:2] == [2**62, 2**62 + 1]
