"""Colour, dashes and marker of each curve: the same in every figure."""

from __future__ import annotations

from typing import Any


def _line(colour: str, style: Any = "-", width: float = 1.8, marker: str = "o") -> dict[str, Any]:
    return {"color": colour, "linestyle": style, "linewidth": width, "marker": marker}


STYLES: dict[str, dict[str, Any]] = {
    "ReBoot": _line("#0072B2", width=2.4),
    "ReBoot 0.5": _line("#7FB8DD", (0, (1, 1))),
    "ReBoot 1": _line("#3D95CC", (0, (4, 1.5))),
    "ReBoot 1.5": _line("#0072B2", width=2.4),
    "ReBoot 1.7": _line("#0072B2", width=2.2),
    "ReBoot 2": _line("#003F66", (0, (8, 2))),
    "ReBoot 1.5 rademacher": _line("#D55E00", "--"),
    "ReBoot 1.5 mammen": _line("#009E73", "-."),
    "TS N(0,1)": _line("#D55E00", "--"),
    "Giro 1": _line("#009E73", "-.", marker="s"),
    "PHE 2.1": _line("#A8508A", (0, (3, 1, 1, 1)), marker="^"),
    "TS flat, sd 1": _line("#B07D00", "--"),
    "TS flat, oracle sd": _line("#B07D00", "-."),
    "AdaptiveReBoot": _line("#000000", width=2.4),
    "StudentThompson": _line("#6B4C9A", (0, (5, 1)), width=2.0),
    "FollowTheLeader": _line("#D55E00", "--"),
    "vanilla bootstrap": _line("#009E73", "-."),
    "theorem 1's bound": _line("#D55E00", "--"),
    "Lai–Robbins": _line("#666666", ":"),
}
