"""The state of many runs on a GPU: arrays of one shape are stacked, and the run is the last axis.

The threads of a warp play consecutive runs, so they read and write consecutive numbers. A kernel's arguments are a few
stacks instead of dozens of arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Stacks(NamedTuple):
    """How the arrays of a run's state are stacked."""

    starts: tuple[Any, ...]  # each stack's values at the start of a run (array x shape)
    places: dict[str, tuple[int, int]]  # stack and place in it of every array, by its path, such as "arms.pulls"
    view: Any  # view(stacks, run): the state of one run, its arrays being parts of the stacks


_views: dict[str, Any] = {}


def stacks_of(example: Any) -> Stacks:
    """Stack a state like this one: NamedTuples of arrays, nested, with the values that every run starts with.

    Examples
    --------
    >>> class State(NamedTuple):
    ...     total: Any
    ...     square: Any
    >>> stacks = stacks_of(State(np.zeros(2), np.ones(2)))
    >>> [start.shape for start in stacks.starts], stacks.places["square"]
    ([(2, 2)], (0, 1))
    >>> stacks.view((np.arange(12.0).reshape(2, 2, 3),), 1)
    State(total=array([1., 4.]), square=array([ 7., 10.]))
    """
    stacks: dict[tuple[Any, ...], list[Any]] = {}
    places: dict[str, tuple[int, int]] = {}
    types: dict[str, Any] = {}

    def expression(value: Any, path: str) -> str:
        if hasattr(value, "_fields"):
            types[type(value).__name__] = type(value)
            parts = (expression(part, f"{path}.{name}") for name, part in value._asdict().items())
            return f"{type(value).__name__}({', '.join(parts)})"
        key = (value.shape, value.dtype.str)
        stack = stacks.setdefault(key, [])
        stack.append(value)
        places[path.lstrip(".")] = number, place = list(stacks).index(key), len(stack) - 1
        return f"stacks[{number}][{', '.join([str(place), *(':' * value.ndim), 'run'])}]"

    # Written as source text: a compiled function cannot loop over arrays of different dimensions.
    source = f"def view(stacks, run):\n    return {expression(example, '')}\n"
    if source not in _views:  # one function for one text: kernels are kept by it
        exec(source, types)
        _views[source] = types["view"]
    return Stacks(tuple(np.stack(arrays) for arrays in stacks.values()), places, _views[source])
