"""The leader among indices that never fall while an arm gets no reward: most of them need not be computed.

An index of a later round is a bound of this round's. Bounds are computed for some rounds ahead and serve until then;
an index is computed only where its bound is at least the largest index found so far. The arm that was pulled last often
leads again, so its index is computed at once. The choice is that of a comparison of all indices, bit for bit: an arm
that is left out has a smaller index than the leader.

A rule says so by ``IndexRule(..., every_round=True, grows=True)``. Its indices have no noise, so the arrays that hold
the laws' scale and shape are free: ``location`` holds the bounds, and ``shape`` the first round for which each of them
does not hold; 0 for an arm with a new reward, and minus the present round where the bound is the index itself.
"""

from __future__ import annotations

from typing import Any

from bootleader._core.kernels.moment_rows import MomentRows
from bootleader._core.numba_bridge import inner, named
from bootleader._core.rng import Stream, below

ROUNDS_AHEAD = 64  # bounds are for rounds that are later by one part in so many
MARGIN = 2.0**-26  # by which a bound is made larger: laws that search for a root have errors of up to 1e-9


def bounded_choice(law_of: Any, records: MomentRows, digest: str, place: int) -> tuple[Any, Any]:
    """The renewal of the bounds that no longer hold, and the choice of the arm with the largest index in every lane."""
    arm_of, shared_of = records.arm, records.shared

    @inner
    @named(f"index_at_{digest}_{place}")
    def index_at(plan, state, k, lane, pulls):
        index, _, _ = law_of(
            plan.law,
            plan.params,
            arm_of(state.moments[k, lane], state.noise_sd[k, lane]),
            shared_of(state.variance, state.kurtosis, lane, pulls, state.location.shape[0], plan.horizon),
        )
        return index

    @inner
    @named(f"renew_bounds_{digest}_{place}")
    def renew_bounds(plan, state, played):
        location, until = state.location, state.shape
        ahead = played + played // ROUNDS_AHEAD
        for k in range(location.shape[0]):
            for lane in range(location.shape[1]):
                if until[k, lane] <= played:
                    if until[k, lane] == 0.0 or ahead == played:
                        location[k, lane] = index_at(plan, state, k, lane, played)
                        until[k, lane] = -played
                    else:
                        bound = index_at(plan, state, k, lane, ahead)
                        location[k, lane] = bound + MARGIN * abs(bound)
                        until[k, lane] = ahead + 1

    @inner
    @named(f"index_now_{digest}_{place}")
    def index_now(plan, state, k, lane, played):
        if state.shape[k, lane] == -played:
            return state.location[k, lane]
        return index_at(plan, state, k, lane, played)

    @inner
    @named(f"tied_arm_{digest}_{place}")
    def tied_arm(plan, state, lane, played, best, ties, spare):
        left = below(spare, ties)
        chosen = 0
        for k in range(state.location.shape[0]):
            if state.location[k, lane] >= best and index_now(plan, state, k, lane, played) == best:
                if left == 0:
                    chosen = k
                left -= 1
        return chosen

    @inner
    @named(f"choose_by_bounds_{digest}_{place}")
    def choose_by_bounds(plan, streams, state, scratch, played, ties_of_bounds):
        """In ``scratch.arm`` is the arm with the largest bound."""
        bounds, arm = state.location, scratch.arm
        arms, lanes = bounds.shape
        for lane in range(lanes):
            first = int(arm[lane])
            if ties_of_bounds == 0 and state.shape[first, lane] == -played:
                continue  # its index is the bound, and all others are below
            best, leader, ties = index_now(plan, state, first, lane, played), first, 1
            for k in range(arms):
                if bounds[k, lane] >= best and k != first:
                    index = index_now(plan, state, k, lane, played)
                    ties += index == best
                    if index > best:
                        best, leader, ties = index, k, 1
            if ties > 1:
                spare = Stream(streams.spare, lane, streams.stride[lane])
                leader = tied_arm(plan, state, lane, played, best, ties, spare)
            arm[lane] = leader

    return renew_bounds, choose_by_bounds


@inner
def forget_bounds(law, plan, state, pulls):
    """Let no bound hold."""
    state.shape[:] = 0.0
