"""What an agent with very many arms runs compiled. Imported when the first such agent is made, never before."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from bootleader._core.code_fingerprint import code_digest
from bootleader._core.leader_tree import leader, rebuild, restore, set_law, write_law
from bootleader._core.numba_bridge import compiled, specialise
from bootleader._core.rng import Stream
from bootleader._core.rules import ArmStatistics

# Filled in by `laws_kernel`.
law_of: Any = None
FOURTH_MOMENT: Any = None


def write_all_laws(params, noise_sd, moments, shared, out):  # type: ignore[no-untyped-def]
    """Write the index laws (columns of ``out``) of arms with these moments (rows mean, count, RSS, perhaps fourth)."""
    for k in range(out.shape[1]):
        fourth = moments[3, k] if FOURTH_MOMENT else 0.0
        arm = ArmStatistics(moments[1, k], moments[0, k], moments[2, k], noise_sd[k], fourth)
        out[0, k], out[1, k], out[2, k] = law_of(params, arm, shared)


def write_tree_laws(tree, laws):  # type: ignore[no-untyped-def]
    """Write the laws of all arms into a tree."""
    for k in range(laws.shape[1]):
        write_law(tree, k, laws[0, k], laws[1, k], laws[2, k])


def rebuild_tree(tree):  # type: ignore[no-untyped-def]
    """Rebuild a tree after its laws were written."""
    rebuild(tree)


def restore_tree(tree, threshold, excess):  # type: ignore[no-untyped-def]
    """Rebuild a tree with a threshold from before."""
    restore(tree, threshold, excess)


def set_tree_law(tree, k, location, scale, df):  # type: ignore[no-untyped-def]
    """Change one arm's law."""
    set_law(tree, k, location, scale, df)


def tree_leader(tree, state, stride):  # type: ignore[no-untyped-def]
    """The leader, drawn from the stream of this state."""
    return leader(tree, Stream(state, 0, stride))


class Kernels(NamedTuple):
    """Compiled functions over a leader tree."""

    write: Any
    rebuild: Any
    restore: Any
    set_law: Any
    leader: Any


KERNELS = Kernels(
    *(specialise(f, "") for f in (write_tree_laws, rebuild_tree, restore_tree, set_tree_law, tree_leader))
)


@cache
def laws_kernel(law: Any, fourth_moment: bool) -> Any:
    """The kernel that computes many arms' laws at once."""
    digest = code_digest(law, fourth_moment)
    return specialise(write_all_laws, digest, law_of=compiled(law), FOURTH_MOMENT=fourth_moment)
