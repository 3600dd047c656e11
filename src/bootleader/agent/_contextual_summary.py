"""What an agent with contexts has learnt, as tables: coefficients, predictions in a context, choices by segment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bootleader._core.printable_text import shown
from bootleader.agent._arm_state import ArmState
from bootleader.agent._linear_laws import ContextArm, LinearLaws
from bootleader.agent._linear_learner import LinearLearner
from bootleader.agent._linear_model import Floats, Model, settled
from bootleader.agent._shared_learner import SharedLearner
from bootleader.agent.features import FLAG, INTERCEPT, Features

if TYPE_CHECKING:
    import pandas as pd


def coefficient_table(
    learner: LinearLearner, names: Sequence[str], features: Features, constant: bool, maximize: bool
) -> pd.DataFrame:
    """A row for each arm and term."""
    import pandas as pd

    arms = _arms_now(learner)
    total = max(1, sum(arm.rewards for arm in arms))
    rows, (start, steps) = [], contrasts(features, constant)
    if isinstance(learner, SharedLearner):
        whole = ArmState(
            count=learner.model.count,
            rewards=sum(arm.rewards for arm in arms),
            in_flight=sum(arm.in_flight for arm in arms),
            active=any(arm.active for arm in arms),
        )
        names, arms = ["all arms"], [ContextArm.of(whole, learner.model)]
    for name, arm in zip(names, arms, strict=True):
        sd = residual_sd(arm.model)
        for term, coefficient, unit in _coefficients(arm.model, start, steps):
            rows.append(
                {
                    "arm": name,
                    "term": term,
                    "coefficient": coefficient if maximize else -coefficient,
                    "standard_error": sd * unit,
                    "residual_sd": sd,
                    "pulls": arm.rewards,
                    "weight": arm.count,
                    "share": arm.rewards / total,
                    "open": arm.in_flight,
                    "active": arm.active,
                }
            )
    columns = [
        "arm", "term", "coefficient", "standard_error", "residual_sd", "pulls", "weight", "share", "open", "active",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns).set_index(["arm", "term"])


def prediction_table(
    learner: LinearLearner, names: Sequence[str], chances: Sequence[float] | None, maximize: bool
) -> pd.DataFrame:
    """A row for each arm, in the context that the learner looks at."""
    import pandas as pd

    arms = _arms_now(learner)
    total = max(1, sum(arm.rewards for arm in arms))
    if isinstance(learner, SharedLearner):
        location, slopes = learner.predictions_of_all()
    else:
        location, slopes = LinearLaws(list(range(len(arms))), arms, learner.laws.shared).predictions(learner.context)
    errors = []
    for arm, slope in zip(arms, slopes.tolist(), strict=True):
        leverage = slope + (1.0 / arm.model.count if arm.model.centred and arm.model.count > 0.0 else 0.0)
        errors.append(residual_sd(arm.model) * math.sqrt(leverage))
    sign = 1.0 if maximize else -1.0
    return pd.DataFrame(
        {
            "predicted": [
                sign * value if arm.model.count > 0.0 else math.nan for arm, value in zip(arms, location, strict=True)
            ],
            "standard_error": errors,
            "probability": list(chances) if chances is not None else [0.0] * len(arms),
            "pulls": [arm.rewards for arm in arms],
            "weight": [arm.count for arm in arms],
            "share": [arm.rewards / total for arm in arms],
            "open": [arm.in_flight for arm in arms],
            "active": [arm.active for arm in arms],
        },
        index=pd.Index(names, name="arm"),
    )


def segment_table(learner: LinearLearner, names: Sequence[str], features: Features, by: Any) -> pd.DataFrame:
    """A row for each segment, a column for each arm: how many of the segment's rewards were the arm's."""
    import pandas as pd

    kind = features.kinds.get(by) if isinstance(by, str) else None
    segments = [name for name, kind in features.kinds.items() if kind == FLAG or isinstance(kind, tuple)]
    if by not in segments:
        what = f"a {kind}" if kind is not None else "no feature"
        raise ValueError(f"by must be a feature with categories or a flag, one of {segments}; {shown(by)} is {what}")
    terms = features.terms
    arms = _arms_now(learner)
    totals = np.array([_feature_sums(arm.model) for arm in arms]).reshape(len(arms), -1)
    if kind == FLAG:
        yes = totals[:, terms.index(by)]
        counts: dict[Any, Floats] = {False: np.array([arm.model.count for arm in arms]) - yes, True: yes}
    else:
        assert isinstance(kind, tuple)
        counts = {level: totals[:, terms.index(f"{by}={level}")] for level in kind}
    table = pd.DataFrame(counts, index=pd.Index(names, name="arm")).T
    table.index.name = by
    return table.clip(lower=0.0).round(6)


def residual_sd(model: Model) -> float:
    """Standard deviation of the residuals; NaN without degrees of freedom."""
    return math.sqrt(model.rss / model.freedom) if model.freedom > 0.0 else math.nan


def _arms_now(learner: LinearLearner) -> list[ContextArm]:
    arms = [learner.state_now(slot) for slot in range(len(learner.arms))]
    return [arm for arm in arms if isinstance(arm, ContextArm)]


def _feature_sums(model: Model) -> Floats:
    """The sum of each feature over all rows."""
    model = settled(model)
    return np.asarray(model.sums[0] + model.count * model.anchor)


def contrasts(features: Features, constant: bool) -> tuple[Floats, dict[str, Floats]]:
    """A vector to begin with (first categories, other features 0), and what each term adds to it.

    Differences between categories are known where the coefficients of all of them, beside an intercept, are not.
    """
    size = features.dimension + constant
    start, steps = np.zeros(size), {}
    if constant:
        start[-1] = 1.0
    place = 0
    for name, kind in features.kinds.items():
        levels: tuple[str, ...] = kind if isinstance(kind, tuple) else ("",)
        for k, level in enumerate(levels):
            step = np.zeros(size)
            step[place + k] = 1.0
            if not isinstance(kind, tuple):
                steps[name] = step
            elif k == 0:
                start[place] = 1.0
            else:
                step[place] = -1.0
                steps[f"{name}={level}"] = step
        place += len(levels)
    return start, steps


def _coefficients(model: Model, start: Floats, steps: dict[str, Floats]) -> list[tuple[str, float, float]]:
    """Each term's coefficient, and its standard error in units of the residuals' standard deviation."""
    d, centred = len(model.coefficients), model.centred
    found = []
    if centred or start.any():
        away = (start - model.anchor[:d]) - model.mean[:d]
        level = float(model.anchor[d] + model.mean[d]) + float(away @ model.coefficients)
        across = model.root @ away
        own = 0.0 if not centred else 1.0 / model.count if model.count > 0.0 else math.inf
        found.append((INTERCEPT, level, math.sqrt(own + float(across @ across))))
    for term, step in steps.items():
        across = model.root @ step
        found.append((term, float(step @ model.coefficients), math.sqrt(float(across @ across))))
    return found
