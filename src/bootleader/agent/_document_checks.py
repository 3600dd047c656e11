"""What must hold between the fields of a document: checked before an agent is built from it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from bootleader._core.moments import LARGEST_FOURTH_POWER, effective_number
from bootleader._core.printable_text import printable
from bootleader._core.rules import ChoiceRule, HistoryRule, IndexRule, Rule
from bootleader.agent._choice_learner import remembers_nothing
from bootleader.agent._memory_learner import needs_history
from bootleader.agent._schema import (
    ArmRecord,
    DecisionsRecord,
    Document,
    IndexRecord,
    TrafficRecord,
    TreeRecord,
    refuse,
)
from bootleader.agent._validation import LARGEST_REWARD, MOST_NESTED, nesting

CLOSE: Final = 1e-6  # how far sums that were added up in another order may lie apart
SMALLEST: Final = 1e-290  # fourth power sums below have lost digits


def check_document(document: Document, rule: Rule, reward_range: tuple[float, float]) -> None:
    """Refuse a document whose fields contradict each other.

    Parameters
    ----------
    document : Document
        Validated field by field.
    rule : Rule
        The rule of its policy.
    reward_range : tuple of float
        The smallest and the largest reward that its policy takes.

    Raises
    ------
    ValueError
        With the reason.
    """
    _check_memory(document, rule)
    _distinct("arms", (arm.name for arm in document.arms))
    _distinct("removed", document.removed)
    if clash := {arm.name for arm in document.arms} & set(document.removed):
        raise refuse(f"arm '{printable(min(clash))}' is both present and removed")
    is_history = isinstance(rule, HistoryRule)
    if not isinstance(rule, IndexRule) and document.half_life is not None:
        raise refuse("a half-life goes with policies that compute an index from moments only")
    for arm in document.arms:
        _check_arm(arm, document, rule.initial_pulls, is_history)
        _check_range(arm, *reward_range)
        _check_fourth_moment(arm, isinstance(rule, IndexRule) and rule.fourth_moment, document.half_life is None)
    if sum(arm.rewards for arm in document.arms) > document.rounds:
        raise refuse("its arms have more rewards than there were rounds")
    _check_decisions(document.decisions, document)
    _check_traffic(document)
    _check_initial_pulls(document, rule.initial_pulls)
    _check_index(document.index, document, rule)


def _check_memory(document: Document, rule: Rule) -> None:
    """A choice rule has a memory of the size that it asks for, unless it forgets it, and no other rule has one."""
    given = len(document.memory) if isinstance(document.memory, list) else None
    wanted = None
    if isinstance(rule, ChoiceRule):
        if needs_history(rule):
            raise refuse(f"its policy {document.policy.name} is one that an agent does not play")
        if not remembers_nothing(rule):
            per_arm = rule.memory(2, 1) - rule.memory(1, 1)
            wanted = rule.memory(1, 1) + (len(document.arms) - 1) * per_arm
    if given != wanted:
        raise refuse(f"its memory has {given} numbers, and its policy needs {wanted}")


def _distinct(what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise refuse(f"'{printable(name)}' occurs twice in {what}")
        seen.add(name)


def _check_arm(arm: ArmRecord, document: Document, initial_pulls: int, is_history: bool) -> None:
    """What holds of every arm that got its moments from rewards."""
    name = f"arm '{printable(arm.name)}'"
    if nesting(arm.metadata) > MOST_NESTED:
        raise refuse(f"the metadata of {name} is nested more than {MOST_NESTED} deep")
    none = arm.rewards == 0 and (arm.count, arm.anchor, arm.drift, arm.rss) != (0.0, 0.0, 0.0, 0.0)
    one = arm.rewards == 1 and (arm.drift != 0.0 or arm.rss != 0.0)
    if none or one:
        raise refuse(f"{name} has moments that {arm.rewards} rewards cannot have")
    least = min(arm.rewards, initial_pulls) * (1.0 - CLOSE)
    if not least <= arm.count <= arm.rewards or (document.half_life is None and arm.count != arm.rewards):
        raise refuse(f"{name} has a count of {arm.count!r} from {arm.rewards} rewards")
    if abs(arm.anchor + arm.drift) > LARGEST_REWARD * (1.0 + CLOSE):
        raise refuse(f"{name} has a mean beyond any reward")
    if arm.rss > arm.count * (2.0 * LARGEST_REWARD) ** 2:
        raise refuse(f"{name} has an RSS beyond that of any {arm.rewards} rewards")
    if arm.last > document.rounds:
        raise refuse(f"{name} was rewarded in round {arm.last}, later than the last, {document.rounds}")
    if is_history != isinstance(arm.history, list):
        raise refuse(f"{name} {'lacks' if is_history else 'must not have'} a history")
    if isinstance(arm.history, list):
        _check_history(name, arm, arm.history)


def _check_range(arm: ArmRecord, low: float, high: float) -> None:
    """The mean and the rewards are such as the policy takes, but for rounding."""
    if arm.rewards == 0:
        return
    differences = arm.history if isinstance(arm.history, list) else []
    spread = [arm.anchor + difference for difference in (arm.drift, *differences)]
    least, most, slack = min(spread), max(spread), CLOSE * abs(arm.anchor)
    if least < low - CLOSE * abs(low) - slack or most > high + CLOSE * abs(high) + slack:
        raise refuse(f"arm '{printable(arm.name)}' has rewards that its policy does not take: from {low:g} to {high:g}")


def _check_fourth_moment(arm: ArmRecord, is_kept: bool, is_whole: bool) -> None:
    """Power sums bound each other: RSS^2 / s <= sum d^4, (sum d^3)^2 <= RSS sum d^4, sum d^4 <= RSS^2 if not faded."""
    name = f"arm '{printable(arm.name)}'"
    if [isinstance(field, float) for field in (arm.third, arm.fourth)] != [is_kept, is_kept]:
        raise refuse(f"{name} {'lacks' if is_kept else 'must not have'} 'third' and 'fourth'")
    if not isinstance(arm.third, float) or not isinstance(arm.fourth, float):
        return
    if max(abs(arm.anchor), abs(arm.anchor + arm.drift)) > LARGEST_FOURTH_POWER * (1.0 + CLOSE):
        raise refuse(f"{name} has a mean beyond any reward of this policy")
    rss, fourth = arm.rss, arm.fourth
    if fourth < SMALLEST:  # rounded to multiples of the smallest float, or to zero
        sound = rss <= arm.count * math.sqrt(SMALLEST) and abs(arm.third) <= rss
    else:
        events = effective_number(rss, fourth)
        bound = math.sqrt(rss) * math.sqrt(fourth) * (1.0 + CLOSE)
        fewest = 1.0 - CLOSE if is_whole else 0.0
        sound = fewest <= events <= arm.count * (1.0 + CLOSE) and abs(arm.third) <= bound
    if not sound:
        raise refuse(f"{name} has third and fourth moments that go with no rewards of its RSS")


def _check_history(name: str, arm: ArmRecord, history: Sequence[float]) -> None:
    """The moments are those of the history: samplers rely on it."""
    if len(history) != arm.rewards:
        raise refuse(f"{name} has a history of {len(history)} from {arm.rewards} rewards")
    if not history:
        return
    size = max(map(abs, history))
    mean = math.fsum(history) / len(history)
    if abs(mean - arm.drift) > CLOSE * size:
        raise refuse(f"{name} has a drift of {arm.drift!r}, but its history's mean is {mean!r}")
    if not min(history) <= arm.drift <= max(history) and abs(mean - arm.drift) > 1e-12 * size:
        raise refuse(f"{name} has a drift of {arm.drift!r} outside its history")
    rss = math.fsum((value - mean) ** 2 for value in history)
    if abs(rss - arm.rss) > CLOSE * rss + 1e-12 * len(history) * size * size:
        raise refuse(f"{name} has an RSS of {arm.rss!r}, but its history's is {rss!r}")


def _check_decisions(decisions: DecisionsRecord, document: Document) -> None:
    _distinct("decisions", [row.key for row in decisions.open] + [row[0] for row in decisions.rewarded])
    present = {arm.name for arm in document.arms}
    known = present | set(document.removed)
    for row in decisions.open:
        if row.arm not in (present if row.live else known):
            raise refuse(f"decision {row.key!r} is for an arm '{printable(row.arm)}' that is not there")
    _check_table("open decisions", [row.time for row in decisions.open], decisions.max_open)
    _check_table("rewarded decisions", [row[2] for row in decisions.rewarded], decisions.max_open)


def _check_table(what: str, times: list[float], limit: int) -> None:
    if len(times) > limit:
        raise refuse(f"its {what} are more than its limit, {limit}")
    if any(later < earlier for earlier, later in pairwise(times)):
        raise refuse(f"its {what} are not in order of time")


def _check_traffic(document: Document) -> None:
    """What must hold where there are rules of traffic, and where there are none."""
    record = document.traffic
    if not isinstance(record, TrafficRecord):
        if any(row.group for row in document.decisions.open):
            raise refuse("it has decisions of a holdout but no rules of traffic")
        return
    # A list: the control may be anything, also what has no hash.
    present, holdout = [arm.name for arm in document.arms if arm.active], bool(record.rules.get("holdout"))
    if len(record.sides) != 2 * holdout:
        raise refuse("the sides of its holdout do not go with its rules of traffic")
    if holdout and document.arms and record.rules.get("control") not in present:
        raise refuse("the control of its holdout is no active arm")
    for side in record.sides:
        sums = (side.anchor, side.drift, side.rss, side.third, side.fourth)
        if (side.rewards == 0 and any(sums)) or (side.rewards == 1 and any(sums[1:])):
            raise refuse(f"its holdout has moments that {side.rewards} rewards cannot have")
    if not holdout and any(row.group for row in document.decisions.open):
        raise refuse("it has decisions of a holdout but its rules of traffic have none")
    _distinct("units", [row[0] for row in record.units])
    _check_table("units", [row[2] for row in record.units], document.decisions.max_open)
    if record.units and record.rules.get("sticky") is not True:
        raise refuse("it has units but its rules of traffic are not sticky")
    known = {arm.name for arm in document.arms}
    _distinct("arms that were added later", record.added_later)
    if not known.issuperset(record.added_later):
        raise refuse("an arm that was added later is not there")
    if any(row[1] not in known for row in record.units):
        raise refuse("a unit has an arm that is not there")


def _check_initial_pulls(document: Document, initial_pulls: int) -> None:
    """The arms in their initial pulls are exactly those that lack rewards, open decisions counted."""
    in_flight: dict[str, int] = {}
    for row in document.decisions.open:
        in_flight[row.arm] = in_flight.get(row.arm, 0) + row.is_learnt
    wanted = []
    for slot, arm in enumerate(document.arms):
        awaited = arm.awaited if isinstance(arm.awaited, list) else []
        if awaited and (arm.count >= initial_pulls or len(awaited) > initial_pulls):
            raise refuse(f"arm '{printable(arm.name)}' awaits more pulls than its first rewards need")
        if awaited != sorted(awaited) or (awaited and awaited[-1] > document.rounds):
            raise refuse(f"the awaited pulls of arm '{printable(arm.name)}' are not in order of rounds so far")
        if arm.active and arm.count + in_flight.get(arm.name, 0) + len(awaited) < initial_pulls:
            wanted.append(slot)
    if sorted(document.initial) != wanted:
        raise refuse("'initial' does not list the arms that lack rewards, each once, by number")


def _check_index(index: IndexRecord, document: Document, rule: Rule) -> None:
    given = [isinstance(field, float | int | TreeRecord | None) for field in (index.variance, index.pooled_at)]
    if not isinstance(rule, IndexRule):
        if any(given) or index.tree or isinstance(index.kurtosis, float):
            raise refuse("index must hold 'stale' alone where the policy computes no index from moments")
        return
    if not all(given) or not isinstance(index.tree, TreeRecord | None):
        raise refuse("index lacks 'variance', 'pooled_at' or 'tree'")
    if isinstance(index.kurtosis, float) != rule.fourth_moment:
        raise refuse(f"index {'lacks' if rule.fourth_moment else 'must not have'} a kurtosis")
    if isinstance(index.kurtosis, float) and index.variance and index.kurtosis < 1.0:
        raise refuse(f"its pooled kurtosis is {index.kurtosis!r}, and none is below 1")
    if isinstance(index.pooled_at, int) and index.pooled_at > document.rounds:
        raise refuse(f"its variance was pooled in round {index.pooled_at}, later than the last, {document.rounds}")
    playing = sum(arm.active and arm.count >= rule.initial_pulls for arm in document.arms)
    if (index.tree is not None) != (not index.stale and rule.uses_leader_tree(playing)):
        raise refuse(f"'tree' of index does not go with {playing} playing arms")
    if index.tree is not None:
        _check_tree(index.tree, playing)


def _check_tree(tree: TreeRecord, playing: int) -> None:
    """The thresholds of a leader tree: tau, steepness, least and aimed assurance, age."""
    try:
        tau, steepness, least, aim, age = (float.fromhex(text) for text in tree.thresholds)
    except OverflowError:
        raise refuse("a threshold of its tree is beyond all floats") from None
    wanted = max(math.log(playing) - 2.0, 2.0)
    sound = (
        abs(least - wanted) < CLOSE
        and wanted + 2.0 - CLOSE <= aim <= max(4.0 * wanted, wanted + 2.0) + CLOSE
        and steepness >= 0.0
        and age >= 0.0
        and (tau == -math.inf or math.isfinite(tau))
    )
    if not sound:
        raise refuse(f"the thresholds of its tree do not go with {playing} playing arms")
