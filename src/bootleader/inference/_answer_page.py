"""The answer as one HTML page for people who are not engineers. No script, no network."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

from bootleader._version import __version__
from bootleader.inference import _charts
from bootleader.inference import _sentences as _words
from bootleader.inference._interval_history import history
from bootleader.inference._intervals import BETTING
from bootleader.inference._log_reader import Log
from bootleader.inference._verdict_types import Comparison, Verdict

MOST_SAID: Final = 12
NOT_YET: Final = "not yet: "
WIDE, NARROW = (1_110, 380), (392, 300)
WIDE_TRAFFIC, NARROW_TRAFFIC = (1_110, 240), (392, 220)
BADGES: Final = {"better": ("yes", "decided"), "worse": ("yes", "decided"), "same": ("yes", "the same"),
                 "not yet": ("wait", "not yet")}  # fmt: skip
NEUTRAL: Final = "#59636e"
METHODS: Final = {
    True: "Rewards have known bounds, so the ranges are exact: the chance that any of them is ever wrong is at most "
    "{alpha}, whatever the rewards are like.",
    False: "Rewards have no declared bounds. No range can then be right for every kind of reward. These are exact for "
    "normally distributed rewards, and are only given once enough different rewards have been seen; in our checks on "
    "skewed and heavy-tailed rewards the chance that any of them was ever wrong stayed near or below {alpha}.",
}


def page(answer: Verdict, log: Log, title: str, brought: Verdict | None = None) -> str:
    """The page of a verdict and the log that it was computed from; ``brought`` is the holdout's verdict."""
    import jinja2

    source = Path(__file__).with_name("answer.html.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(source).render(_content(answer, log, title, brought))


def _content(answer: Verdict, log: Log, title: str, brought: Verdict | None) -> dict[str, Any]:
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
        "headline": _words.as_line(answer.sentence),
        "cards": _cards(answer),
        "unit": asked.unit,
        "unit_words": f"reward {_words.each(asked.unit)}" if asked.unit != "reward" else "reward",
        "level": f"{100 * (1 - asked.alpha):g} %",
        "rows": rows,
        "legend": rows[: _charts.MOST_LINES],
        "said": said,
        "left_out": _left_out(answer, len(said)),
        "intervals_wide": _charts.interval_chart(past, order, names, asked.unit, WIDE),
        "intervals_narrow": _charts.interval_chart(past, order, names, asked.unit, NARROW),
        "traffic_wide": _charts.traffic_chart(past, order, names, asked.unit, WIDE_TRAFFIC),
        "traffic_narrow": _charts.traffic_chart(past, order, names, asked.unit, NARROW_TRAFFIC),
        "brought": None if brought is None else _lines(list(brought.comparisons))[0],
        "going_on": _going_on(answer),
        "stopping": _stopping(answer),
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
    ends = [end for arm in ready for end in (arm.low, arm.high)] + [arm.mean for arm in answer.arms if arm.rewards]
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
    return _lines(chosen[:MOST_SAID])


def _lines(comparisons: list[Comparison]) -> list[dict[str, str]]:
    """A badge, a sentence and a picture for each: how far the one with the better mean may be ahead of the other."""
    leads = [_lead(c) for c in comparisons]
    scale = max((abs(end) for c, lead in zip(comparisons, leads, strict=True) if c.is_ready for end in lead), default=0)
    lines = []
    for c, (low, high) in zip(comparisons, leads, strict=True):
        style, badge = BADGES[c.outcome]
        text = c.sentence.removeprefix(NOT_YET)  # the badge says it
        text = text[0].upper() + text[1:] + "." if text != c.sentence else _words.as_line(text)
        bar = _charts.interval_bar(low, abs(c.difference), high, (-scale, scale), NEUTRAL) if c.is_ready else ""
        pair = " and ".join((c.arm, c.other) if c.is_ahead else (c.other, c.arm))
        lines.append({"style": style, "badge": badge, "pair": pair, "text": text, "bar": bar})
    return lines


def _lead(c: Comparison) -> tuple[float, float]:
    """The interval of how far the arm with the better mean is ahead."""
    sign = 1.0 if c.is_ahead == c.question.maximize else -1.0
    low, high = sorted((sign * c.low, sign * c.high))
    return low, high


def _left_out(answer: Verdict, shown: int) -> str:
    rest = len(answer.comparisons) - shown
    if rest <= 0:
        return ""
    decided = sum(c.outcome != "not yet" for c in answer.comparisons)
    return (
        f"These are the comparisons with {answer.leader}, the arm with the best mean. Of all "
        f"{len(answer.comparisons):,} comparisons {decided:,} are decided; the promise covers all of them together."
    )


def _going_on(answer: Verdict) -> str:
    unit, more, leader = answer.question.unit, answer.more, answer.leader
    if answer.is_decided:
        return "Nothing is left to find out."
    if more is None:
        return "No end is in sight: the arms that are left differ too little, or too few of their rewards are known."
    loss = answer.cost_of_going_on
    what = "earn" if answer.question.maximize else "save"
    return (
        f"About {_words.rounded(more)} more {unit}s until the answer, if the arms are as they seem and the traffic is "
        f"as lately. Together these would {what} about {_about(loss)} less than playing {leader} alone: "
        f"{_words.number(loss / more)} {_words.each(unit)}. This is an estimate from the present means, and can be off "
        "by a factor of two or more."
    )


def _stopping(answer: Verdict) -> str:
    unit, leader, risk = answer.question.unit, answer.leader, answer.risk_of_stopping
    what = "earn" if answer.question.maximize else "cost"
    if risk == 0.0:
        return f"Keep {leader}: no other arm is better."
    if not math.isfinite(risk):
        return f"{leader} has the best mean so far. How much better another arm may be is not known yet."
    than = "less" if answer.question.maximize else "more"
    return (
        f"Keep {leader}, which has the best mean so far. It may still {what} {than} than another arm, but by at most "
        f"{_words.number(risk)} {_words.each(unit)}."
    )


def _about(value: float) -> str:
    return _words.rounded(value) if value >= 10.0 else _words.number(value)
