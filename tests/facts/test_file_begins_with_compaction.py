"""A compaction whose parent is not in the file: every public function answers and reports what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import inspector
from inspector.corpus.measure import measure_session
from inspector.errors import EditError
from inspector.facts.grounding import ground_recorded
from inspector.facts.regret import find_regret
from inspector.policies.registry import find_policy
from inspector.session.queries import find_next_compaction
from tests.formats.test_claude_code import boundary, reply, summary, text, user

Row = dict[str, Any]
USAGE = {"input_tokens": 9_000, "output_tokens": 40}
RULE = "never rename `load_all`"


def talk(parent: str, number: int = 1) -> list[Row]:
    """Return a prompt and its reply."""
    names = f"u{number}", f"a{number}"
    return [
        user(names[0], parent, f"Go on with tests/test_{number}.py.", sessionId="s"),
        reply(names[1], names[0], text(f"I wrote tests/test_{number}.py."), usage=USAGE),
    ]


def begin(parent: str, **metadata: Any) -> list[Row]:
    """Return the boundary and the summary at the beginning of a file."""
    return [
        boundary("b1", parent, **metadata),
        summary("s1", "b1", f"The parser is in src/parse.py; {RULE}."),
    ]


def again(parent: str) -> list[Row]:
    """Return a second compaction of the same file."""
    return [boundary("b2", parent), summary("s2", "b2", "Both are written."), *talk("s2", 2)]


GONE = {"headUuid": "gone-2", "anchorUuid": "s1", "tailUuid": "gone-3"}
SHAPES = {
    "a parent that is gone": [*begin("gone"), *talk("s1")],
    "and a second compaction": [*begin("gone"), *talk("s1"), *again("a1")],
    "its name is the beginning of another": [*begin("u"), *talk("s1")],
    "the kept messages are gone": [*begin("gone", preservedSegment=GONE), *talk("s1")],
    "named messages are gone": [*begin("gone", preservedMessages={"uuids": ["gone-2"]}), *talk("s1")],
    "its own name": [*begin("b1"), *talk("s1")],
    "a row that comes later": [*begin("a1"), *talk("s1")],
}


def write(folder: Path, rows: list[Row]) -> Path:
    path = folder / "session.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("rows", SHAPES.values(), ids=SHAPES.keys())
def test_every_door_answers(rows: list[Row], tmp_path: Path) -> None:
    path = write(tmp_path, rows)
    session = inspector.open_session(path)
    count = sum(row.get("subtype") == "compact_boundary" for row in rows)
    ledger = inspector.count_tokens(session)
    assert [bound.kind for _, bound in session.boundaries] == ["compact"] * count
    traces = inspector.trace_recorded(session)
    assert [bool(len(trace)) for trace in traces] == [False, True][:count]
    assert "nothing before it is in the file" in repr(traces[0])
    with pytest.raises(EditError, match="said"):
        traces[0]["file", "tests/test_1.py"]
    asked = traces[0]["tests/test_1.py"]
    assert (asked.said, asked.stood) == ((), False)
    grounding = ground_recorded(session)[0]
    assert (grounding.read, grounding.whole) == (True, False)
    assert find_regret(session, session.facts, ledger) == ()
    first = find_next_compaction(session.at(None))
    assert first is not None and first.id == "b1"
    inspector.lint(session)
    inspector.price_session(session)
    inspector.export_html(session, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_bytes()
    assert len(inspector.make_plan(session, ledger, "flue").trace) > 0
    inspector.replay(session, "flue")
    measured = measure_session(session, [find_policy("flue")])
    expected = [("recorded", number) for number in range(1, count + 1)] + [("flue", 2)] * (count - 1)
    assert [(row["policy"], row["moment"]) for row in measured] == expected
    gone = all(row["uuid"] != rows[0]["logicalParentUuid"] for row in rows)
    assert [warning.partition(":")[0] for warning in session.warnings] == [
        "it begins in the middle of its session"
    ] * gone
