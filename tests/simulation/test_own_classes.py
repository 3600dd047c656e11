"""Policies and bandits of the user's own are compiled and checked like the library's."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

import bootleader as bl
from bootleader._core.rules import ArmStatistics, SharedStatistics
from bootleader._core.user_function_checks import check_compiles
from tests.simulation import own_classes as own

SIZE = {"rounds": 300, "runs": 40, "seed": 5}
BANDIT = bl.GaussianBandit(bl.Uniform(0, 1, arms=4))


def test_an_own_copy_of_a_law_has_the_results_of_the_library() -> None:
    mine, theirs = (bl.simulate(policy, BANDIT, **SIZE) for policy in (own.OwnReBoot(1.5), bl.ReBoot(sigma_a=1.5)))
    np.testing.assert_array_equal(mine.final_regret, theirs.final_regret)


@pytest.mark.parametrize(
    ("policy", "bandit"), [(own.OwnReBoot(), BANDIT), (own.OwnMOSS(), own.LaplaceBandit(bl.Uniform(0, 1, arms=3)))]
)
def test_own_classes_keep_the_contract(policy, bandit) -> None:
    assert len(bl.check_policy(policy, bandit)) == 4


def test_an_own_bandit_keeps_the_contract() -> None:
    assert len(bl.check_bandit(own.LaplaceBandit([1.0, 0.5, 0.0], scale=2.0))) == 4
    assert bl.check_bandit(own.Trace())


def test_a_law_that_cannot_be_compiled_names_the_line_and_the_remedy() -> None:
    with pytest.raises(TypeError, match=r"median.*line \d+ of .*own_classes.py.*compiled=False"):
        bl.simulate(own.Uncompilable(), BANDIT, **SIZE)


def test_a_law_may_read_a_table() -> None:
    arguments = (1.0,), ArmStatistics(*(1.0,) * 5), SharedStatistics(1.0, 1, 1, 1, 1.0)
    check_compiles(own.law_with_table, arguments, "the law", 3)


def test_a_rule_that_draws_with_numpy_is_told_where_random_numbers_come_from() -> None:
    with pytest.raises(TypeError, match=r"line \d+ of .*own_classes.py.*random numbers come from `stream`"):
        bl.simulate(own.DrawsWithNumpy(), BANDIT, **SIZE)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (own.WrongLaw("law_with_numpy"), r"draws from NumPy or the module random \(line \d+ of .*own_classes.py\)"),
        (own.WrongLaw("law_of_a_text"), "must return 3 numbers and returns Literal"),
        (own.WrongLaw("law_of_a_list"), "compiled code makes no lists"),
        (own.WrongLaw("law_beyond_params"), "reads a parameter that `params` of the rule does not have"),
        (own.WrongChoice("choose_half"), "a whole one such as int"),
    ],
    ids=str,
)
def test_mistakes_in_a_law_or_a_choice_are_named(policy, message) -> None:
    with pytest.raises(TypeError, match=message):
        bl.simulate(policy, BANDIT, **SIZE)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"law": "mean"}, "law must be a function, got 'mean'"),
        ({"noise": "normal"}, "noise must be one of NONE, NORMAL"),
        ({"params": [1.0]}, "params must be a tuple of numbers"),
        ({"initial_pulls": 2.0}, "initial_pulls must be a whole number"),
        ({"initial_pulls": -1}, "initial_pulls must be a whole number of at least 0"),
        ({"epsilon": 2.0}, "epsilon must be a number from 0 to 1"),
    ],
    ids=str,
)
def test_a_rule_says_what_it_takes(wrong, message) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        bl.IndexRule(**{"law": own.reboot_law, "noise": bl.Noise.NORMAL, **wrong})


def test_a_rule_that_is_no_rule_is_named() -> None:
    @dataclass(frozen=True, repr=False)
    class Method(bl.Policy):
        def rule(self):
            return bl.IndexRule(own.reboot_law, bl.Noise.NORMAL, (1.5,))

    with pytest.raises(TypeError, match=r"must be an IndexRule, a HistoryRule or a ChoiceRule.*@property"):
        bl.simulate(Method(), BANDIT, **SIZE)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (own.WrongLaw("law_without_number"), "ValueError: an index is not a number"),
        (own.WrongChoice("choose_beyond_memory"), "IndexError.*foreign memory"),
    ],
    ids=str,
)
def test_a_policy_is_checked_in_plain_python_before_it_is_compiled(policy, message) -> None:
    """Compiled, the second one writes to memory that is not its own."""
    with pytest.raises(AssertionError, match=message):
        bl.check_policy(policy)


def test_a_python_bandit_is_checked() -> None:
    assert "the first rewards have the stated means" in bl.check_bandit(own.Trace())
    with pytest.raises(AssertionError, match=r"away from means\(0\)\[0\]"):
        bl.check_bandit(own.WrongTrace())
    with pytest.raises(AssertionError, match="pays the same runs differently"):
        bl.check_bandit(own.UnseededTrace())
    with pytest.raises(TypeError, match=r"such as Trace\(...\), got the class Trace"):
        bl.check_bandit(own.Trace)
    with pytest.raises(ValueError, match=r"takes rewards from 0 to 1, and .* paid"):
        bl.simulate(bl.BetaThompson(), own.Trace(), rounds=300, runs=1)


def test_an_arm_that_does_not_exist_is_an_error_in_compiled_code_too() -> None:
    bandit = own.LaplaceBandit([1.0, 0.5, 0.0])
    assert bl.simulate(own.Numbered(2, 1), bandit, **SIZE).runs == SIZE["runs"]
    for policy, named in ((own.Numbered(3), 3), (own.Numbered(-1), -1), (own.Numbered(0, 3), 3)):
        with pytest.raises(ValueError, match=f"a number from 0 to 2, got {named}"):
            bl.simulate(policy, bandit, **SIZE)


def test_what_breaks_the_contract_is_found() -> None:
    with pytest.raises(AssertionError, match="equivariant"):
        bl.check_policy(own.FalselyEquivariant(1.5))
    with pytest.raises(AssertionError, match="standard errors away"):
        bl.check_bandit(own.WrongMeans([1.0, 0.0]))
    with pytest.raises(TypeError, match="a policy is"):
        bl.check_policy(3)
    with pytest.raises(TypeError, match="memory must be a function, such as"):
        bl.ChoiceRule(own.choose_by_number, memory=10)


def test_a_python_bandit_that_pays_no_number_is_named() -> None:
    class Prize(own.Trace):
        def pay(self, arm, t, rng):
            return "a prize"

    with pytest.raises(ValueError, match=r"pay\(\d, 0, rng\) must return a finite number, got 'a prize'"):
        bl.simulate(bl.UCB1(), Prize(), rounds=10, runs=1)


def test_regret_of_a_python_bandit_is_against_the_best_arm_of_each_round() -> None:
    class Second:
        def start(self, arms, rng):
            pass

        def pull(self):
            return 1

        def update(self, arm, reward):
            pass

    sim = bl.simulate(Second(), own.Trace(), rounds=200, runs=3)
    assert sim.final_regret[0] == pytest.approx([sum(max(0.0, 1.0 - 0.01 * t) for t in range(200))] * 3)


SCRIPT = """
import math
from dataclasses import dataclass
import bootleader as bl

def law(params, arm, shared):
    return arm.mean, params[0] / math.sqrt(arm.count), math.inf

@dataclass(frozen=True, repr=False)
class Plain(bl.Policy):
    c: float = 1.0

    @property
    def rule(self):
        return bl.IndexRule(law, bl.Noise.NORMAL, (float(self.c),))

sim = bl.simulate(Plain(), bl.GaussianBandit([1.0, 0.0]), rounds=100, runs=8, seed=1)
loop = bl.simulate(Plain(), bl.GaussianBandit([1.0, 0.0]), rounds=100, runs=8, seed=1, compiled=False)
assert (sim.final_regret == loop.final_regret).all()
print(sim.mean_regret[0, -1])
"""


@pytest.mark.long
def test_a_policy_of_a_script_comes_from_the_disk_cache_in_the_next_process(tmp_path, request) -> None:
    """The second process compiles no kernel: numba's cache, a folder of the test's own, gains no file."""
    cache = request.config.cache.mkdir("kernels_of_a_script")  # kept, because compiling takes long
    script = tmp_path / "idea.py"
    script.write_text(SCRIPT)
    environment = {"NUMBA_CACHE_DIR": str(cache), "PATH": "/usr/bin", "PYTHONPATH": ":".join(sys.path)}
    found = []
    for _ in range(2):
        subprocess.run([sys.executable, str(script)], check=True, env=environment, capture_output=True)
        found.append({path: path.stat().st_mtime_ns for path in cache.rglob("*.nbc")})
    assert found[0]
    assert found[0] == found[1]
