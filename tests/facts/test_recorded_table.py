"""The table of recorded compactions: names, numbers and words that every other place has too."""

from __future__ import annotations

import json

import pytest

from inspector import lint
from inspector.formats.readers import read_session
from inspector.session.session import Session
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.opening import list_marks
from tests.claude_rows import Claude


def cleared_first() -> Session:
    """A clearing, a compaction, a clearing and a compaction, with requests between them."""
    rows = Claude().say("Read both.").use("a", "word " * 900, 4000).use("b", "word " * 900, 5000).clear("a")
    rows.reply("One is read.", 4100).say("Go on.").compact("It was read.").say("And now?").reply(
        "Well.", 1500
    )
    rows.use("c", "word " * 900, 2500).reply("Read.", 3500).clear("c").reply("Done.", 2600)
    return rows.say("Stop.").compact("All done.").say("Thanks.").reply("Bye.", 1400).open()


def test_table_timeline_and_findings_call_each_compaction_the_same() -> None:
    session = cleared_first()
    signs = ["◇1", "◆1", "◇2", "◆2"]
    assert [row.sign for row in session.compactions] == signs
    assert [(row.kind, row.number) for row in session.compactions] == [
        ("micro", 1),
        ("compact", 1),
        ("micro", 2),
        ("compact", 2),
    ]
    ledger = count_tokens(session, "calibrated")
    marks = list_marks(session, trace_history(session, ledger))
    assert [mark.sign for mark in marks] == signs
    scene = WorkbenchModel(session, "auto").answer({})["_scene"]
    assert [one["sign"] for one in scene["boundaries"]] == signs


def test_what_is_counted_beside_the_table_counts_its_rows() -> None:
    session = cleared_first()
    assert "2 compactions, 2 clearings" in repr(session)
    assert lint(session).looked == "2 recorded compactions, 2 clearings"


def test_lint_finds_what_a_clearing_took() -> None:
    """The table counts it, and so does the lint: an output held the only failure of the last check."""
    failed = "FAILED tests/test_tide.py::test_low_water - AssertionError: an hour early\n1 failed in 0.1s"
    rows = Claude().say("Run the tests.")
    block = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "pytest -q"}}
    message = {"id": "m", "role": "assistant", "model": "claude-opus-4-5", "content": [block]}
    rows.add("assistant", message={**message, "usage": {"input_tokens": 900, "output_tokens": 9}})
    output = {"type": "tool_result", "tool_use_id": "t", "content": failed, "is_error": True}
    rows.add("user", message={"role": "user", "content": [output]}).reply("I look.", 1000).clear("t")
    session = rows.reply("Where was I?", 800).open()
    (row,) = session.compactions
    found = [finding.fact.form for finding in lint(session) if finding.fact is not None]
    assert row.missing
    assert found == [traced.fact.form for traced in row.missing]


@pytest.mark.parametrize("usage", [False, True])
def test_a_clearing_that_does_not_name_its_outputs_saves_what_the_file_says(usage: bool) -> None:
    rows = Claude().say("Read it.").use("a", "word " * 900, 4000).reply("Read.", 5000).clear("a")
    rows.rows[-1]["microcompactMetadata"]["compactedToolIds"] = []
    if usage:
        rows.say("On.").reply("Yes.", 4700)
    (row,) = rows.open().compactions
    assert (row.recorded_before, row.recorded_after, row.recorded_saved) == (77_777, None, 400)
    assert row.before is not None and row.before >= 5000
    if usage:
        assert row.source == "reported"
    else:
        assert (row.source, row.after) == ("estimated", row.before - 400)
    assert row.unknown


def test_each_size_of_the_table_has_its_own_word() -> None:
    """No reply tells a usage before the first compaction; the second has requests on both sides."""
    rows = [
        {
            "type": "user",
            "uuid": "u",
            "parentUuid": None,
            "message": {"role": "user", "content": "Hello there."},
        },
        {
            "type": "system",
            "subtype": "compact_boundary",
            "uuid": "c",
            "parentUuid": None,
            "logicalParentUuid": "u",
            "compactMetadata": {"trigger": "auto", "preTokens": 9000, "postTokens": 800},
        },
    ]
    made = Claude()
    made.rows, made.parent = rows, "c"
    made.add("user", isCompactSummary=True, message={"role": "user", "content": "So far."})
    session = made.say("On.").reply("Yes.", 5000).compact("More.").say("On.").reply("Yes.", 3000).open()
    first, second = session.compactions
    assert (first.before_source, first.source) == ("counted", "reported")
    assert (first.recorded_before, first.recorded_after) == (9000, 800)
    assert (second.before_source, second.source) == ("reported", "reported")
    cells = repr(session.compactions).splitlines()[1]
    assert f"{first.before:,} counted" in cells and f"{first.after:,} reported" in cells and "9,000" in cells
    columns = session.compactions.to_columns()
    assert columns["before_source"] == ["counted", "reported"]


def test_a_figure_of_no_number_is_no_figure() -> None:
    rows = Claude().say("Hi.").reply("Hello.", 1000).compact("So far.")
    rows.rows[-2]["compactMetadata"] |= {"postTokens": "many", "preTokens": True}
    session = read_session("\n".join(map(json.dumps, rows.rows)).encode())
    (row,) = session.compactions
    assert (row.recorded_before, row.recorded_after, row.recorded_saved) == (None, None, None)
