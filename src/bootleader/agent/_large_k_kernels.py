"""What an agent with very many arms runs compiled. Imported when the first such agent is made, never before."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba

from bootleader._core.numba_bridge import LAWS, LEAN, fingerprint, inner, switch
from bootleader._core.leader_tree import leader, resume, set_law, settle, write_law

law_of = switch("law", [inner(law) for law in LAWS])


class Kernels(NamedTuple):
    """Compiled functions over a forest."""

    laws: Any
    write: Any
    settle: Any
    resume: Any
    set_law: Any
    leader: Any


def build_kernels(source: str) -> Kernels:
    """The kernels, cached on disk under the fingerprint of their sources."""
    njit: Any = numba.njit(cache=True, **LEAN)

    @njit
    def laws(which, theta, noise_sd, moments, variance, out):  # type: ignore[no-untyped-def]
        """The index laws (columns of ``out``) of arms with these moments (columns count, mean, RSS)."""
        source  # noqa: B018  (a free variable, and so part of numba's cache key)
        for k in range(out.shape[1]):
            out[0, k], out[1, k], out[2, k] = law_of(
                which, theta, noise_sd[k], moments[0, k], moments[1, k], moments[2, k], variance
            )

    @njit
    def write(forest, laws):  # type: ignore[no-untyped-def]
        source  # noqa: B018
        for k in range(laws.shape[1]):
            write_law(forest, k, laws[0, k], laws[1, k], laws[2, k])

    @njit
    def fit(forest):  # type: ignore[no-untyped-def]
        source  # noqa: B018
        settle(forest)

    @njit
    def go_on(forest, level, excess):  # type: ignore[no-untyped-def]
        source  # noqa: B018
        resume(forest, level, excess)

    @njit
    def change(forest, k, location, scale, df):  # type: ignore[no-untyped-def]
        source  # noqa: B018
        set_law(forest, k, location, scale, df)

    @njit
    def lead(forest, state, gamma):  # type: ignore[no-untyped-def]
        source  # noqa: B018
        return leader(forest, state, 0, gamma)

    return Kernels(laws, write, fit, go_on, change, lead)


KERNELS = build_kernels(fingerprint())
