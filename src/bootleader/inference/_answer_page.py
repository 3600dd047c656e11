"""The answer as one HTML page for people who are not engineers. No script, no network."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

from bootleader._version import __version__
from bootleader.inference import _charts
from bootleader.inference import _sentences as _words
from bootleader.inference._course_of_log import history
from bootleader.inference._intervals import BETTING
from bootleader.inference._log_reader import Log
from bootleader.inference._verdict_types import Comparison, Verdict

MOST_SAID: Final = 12
WIDE, NARROW = (1_110, 380), (392, 300)
WIDE_TRAFFIC, NARROW_TRAFFIC = (1_110, 240), (392, 220)
BADGES: Final = {"better": ("yes", "decided"), "worse": ("yes", "decided"), "same": ("yes", "the same"),
                 "not yet": ("wait", "not yet")}  # fmt: skip
METHODS: Final = {
    True: "Rewards have known bounds, so the ranges are exact: the chance that any of them is ever wrong is at most "
    "{alpha}, whatever the rewards are like.",
    False: "Rewards have no declared bounds. No range can then be right for every kind of reward. These are exact for "
    "normally distributed rewards, and are only given once enough different rewards have been seen; in our checks on "
    "skewed and heavy-tailed rewards the chance that any of them was ever wrong stayed near or below {alpha}.",
}


def page(answer: Verdict, log: Log, title: str) -> str:
    """The page of a verdict and the log that it was computed from."""
    import jinja2

    source = Path(__file__).with_name("answer.html.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(source).render(_content(answer, log, title))


def _content(answer: Verdict, log: Log, title: str) -> dict[str, Any]:
    asked = answer.question
    sign = 1.0 if asked.maximize else -1.0
    means = [sign * arm.mean if arm.rewards else -math.inf for arm in answer.arms]
    order = sorted(range(len(answer.arms)), key=lambda a: -means[a])
    names = [arm.arm for arm in answer.arms]
    past = history(log, asked.alpha, asked.bounds)
    rows = _rows(answer, order)
    said = _said(answer)
    return {
        "title": title,
        "decided": answer.is_decided,
        "headline": answer.sentence[0].upper() + answer.sentence[1:] + ".",
        "cards": _cards(answer),
        "unit": asked.unit,
        "unit_words": f"reward a {asked.unit}" if asked.unit != "reward" else "reward",
        "level": f"{100 * (1 - asked.alpha):g} %",
        "rows": rows,
        "legend": rows[: _charts.MOST_LINES],
        "said": said,
        "left_out": _left_out(answer, len(said)),
        "intervals_wide": _charts.interval_chart(past, order, names, asked.unit, WIDE),
        "intervals_narrow": _charts.interval_chart(past, order, names, asked.unit, NARROW),
        "traffic_wide": _charts.traffic_chart(past, order, names, asked.unit, WIDE_TRAFFIC),
        "traffic_narrow": _charts.traffic_chart(past, order, names, asked.unit, NARROW_TRAFFIC),
        "cost": _cost(answer),
        "method": METHODS[asked.method == BETTING].format(alpha=f"{100 * asked.alpha:g} %"),
        "about": answer.about,
        "visits": f"{answer.visits:,}",
        "version": __version__,
    }


def _cards(answer: Verdict) -> list[tuple[str, str]]:
    unit, more = answer.question.unit, answer.more
    cards = [(f"{answer.visits:,}", f"{unit}s so far"), (f"{len(answer.arms):,}", "arms")]
    cards.append(
        (f"{len(answer.candidates):,}", "may still be the best" if len(answer.candidates) > 1 else "left as the best")
    )
    if not answer.is_decided:
        cards.append((f"≈ {_words.rounded(more)}" if more is not None else "not in sight", f"more {unit}s to decide"))
    return cards


def _rows(answer: Verdict, order: list[int]) -> list[dict[str, Any]]:
    ready = [arm for arm in answer.arms if arm.is_ready]
    ends = [end for arm in ready for end in (arm.low, arm.high)] or [arm.mean for arm in answer.arms if arm.rewards]
    first, last = min(ends, default=0.0), max(ends, default=1.0)
    span = (first, last) if last > first else (first - 1.0, last + 1.0)
    rows = []
    arms = [answer.arms[number] for number in order]
    for arm, colour in zip(arms, _charts.colours_of([arm.arm for arm in arms]), strict=True):
        scale = arm.high - arm.low if arm.is_ready else 0.0
        low, high = _words.number(arm.low, scale), _words.number(arm.high, scale)
        rows.append({
            "name": arm.arm, "colour": colour, "rewards": f"{arm.rewards:,}",
            "mean": _words.number(arm.mean, scale) if arm.rewards else "–",
            "range": f"{low} to {high}" if arm.is_ready else "not yet",
            "bar": _charts.interval_bar(arm.low, arm.mean, arm.high, span, colour),
        })  # fmt: skip
    return rows


def _said(answer: Verdict) -> list[dict[str, str]]:
    chosen: list[Comparison] = list(answer.comparisons)
    if len(chosen) > MOST_SAID:
        chosen = [c for c in chosen if answer.leader in (c.arm, c.other)]
    lines = []
    for c in chosen[:MOST_SAID]:
        style, badge = BADGES[c.outcome]
        lines.append({"style": style, "badge": badge, "text": c.sentence[0].upper() + c.sentence[1:] + "."})
    return lines


def _left_out(answer: Verdict, shown: int) -> str:
    rest = len(answer.comparisons) - shown
    if rest <= 0:
        return ""
    decided = sum(c.outcome != "not yet" for c in answer.comparisons)
    return (
        f"These are the comparisons with {answer.leader}, the arm with the best mean. Of all "
        f"{len(answer.comparisons):,} comparisons {decided:,} are decided; the promise covers all of them together."
    )


def _cost(answer: Verdict) -> str:
    unit, more, leader = answer.question.unit, answer.more, answer.leader
    if answer.is_decided:
        return f"Nothing is left to find out: playing the best arm alone costs no further {unit}s."
    if more is None:
        return (
            "No end is in sight: the arms that are left differ too little, or too few of their rewards are known. "
            f"Whichever you keep, you lose at most the difference given above. {leader} has the best mean so far."
        )
    loss = answer.cost_of_going_on
    what = "earn" if answer.question.maximize else "save"
    return (
        f"About {_words.rounded(more)} more {unit}s, if the arms are as they seem now. At the traffic's shares so far "
        f"these would {what} about {_words.number(loss)} less than playing {leader} alone: "
        f"{_words.number(loss / more)} a {unit}. It is an estimate from the present means and can be off by a factor "
        "of two or more."
    )
