"""Importing is cheap: nothing is compiled or drawn, and the heavy libraries stay out."""

from __future__ import annotations

from tests.helpers import run_python

# One process: every step imports what it needs and no more.
STEPS = """
import sys
import bootleader as bl

def loaded(*packages):
    return [name for name in sys.modules if name in packages or name.startswith(tuple(f"{p}." for p in packages))]

assert not loaded("numba", "matplotlib", "pandas", "scipy", "tqdm", "distributed"), "import bootleader"

bl.ReBoot(sigma_a=1.5), bl.Giro(), bl.GaussianBandit([1, 0])
agent = bl.Agent(bl.AdaptiveReBoot(), ["a", "b"], seed=1)
agent.update_many(["a", "b"] * 4, [1.0, 2.0, 3.0, 5.0] * 2)
before = set(sys.modules)
agent.decide()
assert set(sys.modules) == before, f"the first decision, under the lock: {set(sys.modules) - before}"

agent = bl.Agent(bl.AdaptiveReBoot(), [str(k) for k in range(100)], seed=1)
for _ in range(300):
    agent.update(agent.pull(), 1.0 * len(agent.pull()))
agent.decide(), bl.Agent.from_json(agent.to_json()).pull()
assert not loaded("numba", "pandas", "matplotlib"), "an agent"

sim = bl.simulate(bl.UCB1(), bl.BernoulliBandit([0.2, 0.8]), rounds=9, runs=2)
assert not loaded("numba.cuda", "bootleader._core.cuda"), "a simulation on the CPU"

sim.plot()
assert not loaded("matplotlib.pyplot"), "a plot in a program that has not imported pyplot itself"
"""


def test_every_step_imports_what_it_needs_alone():
    run_python(STEPS)


def test_every_public_name_is_there():
    import bootleader

    assert sorted(bootleader.__all__) == sorted(set(bootleader.__all__))
    assert all(hasattr(bootleader, name) for name in bootleader.__all__)


def test_dir_shows_public_names_only():
    import bootleader
    import bootleader.cli  # loads submodules

    assert dir(bootleader) == sorted(bootleader.__all__)
    for name in ("Policy", "Bandit", "Probabilities", "compare", "bound"):
        assert name in dir(bootleader)
    assert callable(bootleader.compare)
