"""The memory of a simulation: it does not grow with rounds times runs."""

from __future__ import annotations

import pytest

from tests.helpers import run_python

pytest.importorskip("resource", reason="peak memory is measured with a module that Windows does not have")

PEAK = """
import resource, sys
import bootleader as bl
{limit}
unit = 1 if sys.platform == "darwin" else 1024
bandit = bl.GaussianBandit([1.0, 0.0])
bl.simulate({policies}, bandit, rounds=10, runs=70)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
sim = bl.simulate({policies}, bandit, rounds={rounds}, runs={runs})
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit, sim.runs)
"""


def peak_growth(policies: str, rounds: int, runs: int, limit: str = "") -> int:
    """Bytes by which a simulation raises the peak of a process in which a small one has loaded everything."""
    code = PEAK.format(policies=policies, rounds=rounds, runs=runs, limit=limit)
    grown, played = map(int, run_python(code).split())
    assert played == runs
    return grown


@pytest.mark.slow
def test_memory_does_not_grow_with_rounds_times_runs():
    """200,000 runs of 50 rounds: every round kept would be 80 MB a policy and array; a run's own regret is 1.6 MB."""
    assert peak_growth("bl.UCB1()", rounds=50, runs=200_000) < 40e6


@pytest.mark.slow
def test_a_history_takes_memory_by_rounds_alone():
    """All histories of 400 runs of 4,000 rounds would be 13 MB; a run in flight has 0.1 MB."""
    assert peak_growth("bl.ReBoot(1.0, weights='rademacher')", rounds=4_000, runs=400) < 6e6


@pytest.mark.slow
def test_a_million_runs_of_a_thousand_rounds_fit_in_one_gib():
    policies = "[bl.ReBoot(sigma_a=1.5), bl.ThompsonSampling()]"
    # The limit is on all writable memory of the process, the compiler's included.
    limit = "resource.setrlimit(resource.RLIMIT_DATA, (2**30, 2**30))"
    assert peak_growth(policies, rounds=1_000, runs=1_000_000, limit=limit) < 2**30
