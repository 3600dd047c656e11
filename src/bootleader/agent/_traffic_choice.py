"""The final choice of an agent: the policy's, with the floor and the ramp of its traffic rules."""

from __future__ import annotations

from bootleader._core.rng import Stream, below, run_stride, stream_state, uniform
from bootleader.agent._learner import Learner
from bootleader.agent._pending_changes import Draft
from bootleader.agent._probabilities import Chances, choice_chances
from bootleader.agent.traffic import Ramp, Traffic, final_probabilities

TRAFFIC = 16  # purpose of a stream, beyond those of :class:`bootleader._core.rng.Purpose`: the simulator has no traffic


def traffic_stream(seed: int) -> Stream:
    """The random stream of an agent's floor and ramp: rules of traffic do not move the policy's own draws."""
    return Stream([int(stream_state(seed, 0, TRAFFIC, 0))], 0, int(run_stride(seed, 0)))


def new_arms(learner: Learner, traffic: Traffic) -> list[int]:
    """The active arms that the ramp limits; none if there is no other active arm."""
    if traffic.ramp is None:
        return []
    active = learner.active()
    new = [slot for slot in active if _is_new(learner, traffic, slot)]
    return new if len(new) < len(active) else []


def _is_new(learner: Learner, traffic: Traffic, slot: int) -> bool:
    arm = learner.arms[slot]
    return traffic.is_new(arm.added_later, arm.rewards)


def final_chances(learner: Learner, traffic: Traffic, policy: Chances) -> Chances:
    """The probabilities of the final choice, from those of the policy's choice."""
    active, new = learner.active(), set(new_arms(learner, traffic))
    old = [slot for slot in active if slot not in new]

    def among_old() -> list[float]:
        values = choice_chances(learner, old).values
        return [values[slot] for slot in active]

    mixed = final_probabilities(
        [policy.values[slot] for slot in active], traffic, [slot in new for slot in active], among_old
    )
    values, errors = [0.0] * len(policy.values), policy.errors
    for slot, chance in zip(active, mixed, strict=True):
        values[slot] = chance
    if errors is not None:
        rest = 1.0 - len(active) * traffic.floor
        errors = [rest * error for error in errors]
    return Chances(values, errors)


def final_choice(learner: Learner, draft: Draft, traffic: Traffic, policy: Chances | None, stream: Stream) -> int:
    """Draw the final choice. ``policy`` saves computing the policy's probabilities where they are known."""
    active = learner.active()
    floor, arms = traffic.floor, len(active)
    is_uniform = floor > 0.0 and uniform(stream) < arms * floor
    slot = active[int(below(stream, arms))] if is_uniform else learner.choose(draft)
    if not isinstance(traffic.ramp, Ramp) or not _is_new(learner, traffic, slot):
        return slot
    new = new_arms(learner, traffic)
    if not new:
        return slot
    share = traffic.ramp.share
    policy = policy or choice_chances(learner, initial=draft.initial_slots())
    chance = floor + (1.0 - arms * floor) * policy.values[slot]
    if uniform(stream) * chance < share:  # keeps a chance of ``share``
        return slot
    return learner.choose_among(draft, [slot for slot in active if slot not in new])
