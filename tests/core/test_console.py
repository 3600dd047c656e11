"""Output degrades to what a console's encoding can hold."""

import io

import pytest

from bootleader._core.console import PLAIN, degrade


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "cp437", "utf-8"])
def test_a_stream_holds_any_text_after_degrading(encoding):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    degrade(stream)
    stream.write("σ_a ≤ 1.5 … Łódź 東京 \U0001f600" + "".join(PLAIN))
    stream.flush()
    shown = raw.getvalue().decode(encoding)
    assert "1.5" in shown
    if encoding == "ascii":
        assert shown.startswith("sigma_a <= 1.5 ...")


def test_a_stream_without_encoding_is_left_alone():
    degrade(io.StringIO())
    degrade(None)
