"""Normal variables that a seed in a rule's memory determines, so that they can be drawn when they are first needed.

What is drawn later is then a function of the memory already now: the probabilities of the next choice can be computed
from it, and asking for them draws nothing.
"""

from __future__ import annotations

from typing import Any, Final

from bootleader._core.rng import GOLDEN, MASK, Stream, mix64, next_word
from bootleader._core.sampling import finish_normal

STEP: Final = 0x5851F42D4C957F2D  # odd, so that different places of a seed have different words; a signed 64-bit number


def seed_at(memory: Any, at: Any, stream: Any) -> Any:
    """The seed in ``memory[at]``, a whole number above 0; it is drawn when it is first needed."""
    if memory[at] == 0.0:
        memory[at] = float(next_word(stream) >> 12) + 1.0
    return memory[at]


def keyed_normal(seed: Any, place: Any, stream: Any) -> Any:
    """The N(0, 1) that a seed and a place determine, both whole numbers; the stream is left as it was.

    The word is that of a SplitMix64 stream which begins at the seed. If it is rejected, more words are drawn from a
    stream that begins at it. The given stream's state is only borrowed: compiled code makes no array.
    """
    states, at = stream.states, stream.at
    before = states[at]
    states[at] = (int(seed) + int(place) * STEP) & MASK
    word = mix64(states[at])
    states[at] = word
    normal = finish_normal(word, Stream(states, at, GOLDEN))
    states[at] = before
    return normal
