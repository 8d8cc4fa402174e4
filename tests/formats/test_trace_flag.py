"""OpenTelemetry: the flag of a compacted conversation, and its sealed part, as the samples are to be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector import open_session
from tests.shared import SHARED, needs_shared

SAMPLES = [
    file for file in sorted((SHARED / "samples" / "otel").glob("*.json")) if "expected" not in file.name
]


@needs_shared
@pytest.mark.parametrize("file", SAMPLES, ids=lambda file: file.stem)
def test_a_flag_confirms_and_a_false_one_says_nothing(file: Path) -> None:
    told = json.loads(file.with_suffix(".expected.json").read_text("utf-8"))
    session = open_session(file)
    boundaries = [entry for entry in session.entries if entry.boundary is not None]
    expected = told["compactions"] if isinstance(told["compactions"], int) else 1
    assert (session.format, len(boundaries)) == (told["format"], expected)
    if "summary" in told:
        assert [entry.text for entry in boundaries] == [told["summary"]]
    if told.get("opaque"):
        [entry] = boundaries
        assert (entry.text, entry.blocks) == ("", ())
    if "kept" in told:
        live = [session.entries[index] for index in session.live.entries.tolist()]
        words = [entry.text for entry in live if entry.boundary is None and entry.role == "user"]
        assert words == told["kept"]
