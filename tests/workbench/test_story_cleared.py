"""A fact where the file records that outputs were cleared: its story held against the outputs themselves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from inspector import Session, open_demo, open_session
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry
from inspector.session.queries import readable_text
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.opening import list_marks, name_marks
from inspector.workbench.queries import answer_query
from tests.shared import SHARED, needs_shared
from tests.workbench.test_recorded import chain, compaction, user
from tests.workbench.test_recorded import model as said

PATH = "/srv/tide/gauges/brest.toml"


def ask(model: WorkbenchModel, question: str, **query: Any) -> dict[str, Any]:
    reply = answer_query(model, {"type": question, "id": 1, "place": 0, **query})
    assert reply["type"] == question, reply
    return reply


def ran(number: int, printed: str) -> tuple[Entry, Entry]:
    call = ToolCall(id=f"c{number}", name="Bash", input={"command": "make"})
    output = ToolOutput(call_id=f"c{number}", name="Bash", parts=(Text(text=printed),))
    return Entry(id="", role="assistant", blocks=(call,)), Entry(id="", role="tool", blocks=(output,))


def clearing(*numbers: int) -> Entry:
    calls = tuple(f"c{number}" for number in numbers)
    return Entry(id="", kind="micro", boundary=Boundary(kind="micro", cleared=calls))


def story_of(session: Session, form: str = PATH, **inputs: str) -> dict[str, Any]:
    model = WorkbenchModel(session, "auto", window=20_000)
    model.answer(inputs)
    return ask(model, "story", number=0, kind="file", form=form)


def rows_of(story: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(row["words"], row["by"], row["sign"]) for row in story["outcomes"] if row["by"] == "file"]


def test_a_fact_that_stood_in_a_cleared_output_alone_is_told_where_it_was_cleared() -> None:
    session = chain(
        user("Build it."), *ran(1, f"wrote {PATH}"), said("Done."), clearing(1), user("Go on."), said("Yes.")
    )
    story = story_of(session, at="e3", look="cleared:1")
    assert story["pick"] == "cleared:1"
    assert rows_of(story) == [("cleared at ◇1, turn 1", "file", "missing")]
    assert story["wording"]["text"] == "1 output that had it was cleared, and nothing else has it."
    # Nothing was done to the file: no check is about it, so that it is not red.
    assert not story["tone"] and story["factRow"]["ends"] == "not mentioned after ◇1"
    step = story["steps"][-1]
    assert (step["turn"], step["words"]) == ("◇1", "1 block named it; 1 was cleared, none stays")
    # No edit of a plan would have changed it.
    assert (story["fixes"], story["fixesNote"]) == ([], "")
    assert (story["said"]["text"], story["said"]["ref"]) == (f"wrote {PATH}", "e2/0")
    assert story["found"]["text"] == "Nothing: the output was cleared."


def test_what_stands_elsewhere_is_kept_and_what_was_not_said_yet_has_no_row() -> None:
    session = chain(
        user(f"Build {PATH}."),
        *ran(1, f"wrote {PATH}"),
        said("Done."),
        clearing(1),
        user("Now /srv/tide/gauges/cork.toml."),
        said("Yes."),
    )
    story = story_of(session, at="e3", look="cleared:1")
    assert rows_of(story) == [("kept at ◇1, turn 1", "file", "kept")]
    assert story["wording"]["text"] == "It stays as it is, in turn 1 (e0/0)."
    assert story["steps"][-1]["words"] == "2 blocks named it; 1 was cleared, 1 stays"
    assert story["tone"] == "green"
    later = story_of(session, "/srv/tide/gauges/cork.toml", at="e6", look="")
    assert rows_of(later) == []


def test_where_a_clearing_touched_nothing_that_names_it_it_has_a_row_only_while_it_is_looked_at() -> None:
    session = chain(
        user(f"Build {PATH}."),
        *ran(1, "all is well"),
        said("Done."),
        clearing(1),
        user("Go on."),
        said("Yes."),
    )
    story = story_of(session, at="e3", look="cleared:1")
    assert rows_of(story) == [("kept at ◇1, turn 1", "file", "kept")]
    assert story["steps"][-1]["words"].startswith("1 block named it; none was cleared, 1 ")
    assert rows_of(story_of(session, at="e3", look="plan")) == []


def test_clearings_one_after_another_that_leave_a_fact_have_one_row_and_stand_in_order_with_compactions() -> (
    None
):
    """An agent that empties an output with each step would have a row for each."""
    steps = [entry for number in range(1, 6) for entry in (*ran(number, f"wrote {PATH}"), clearing(number))]
    session = chain(
        user("Build it."),
        *ran(0, f"wrote {PATH}"),
        *steps,
        compaction("All is built.", first_kept="e18"),
        user("Go on."),
        said("Yes."),
        clearing(0),
    )
    assert [name.sign for name in name_marks(session).values()] == ["◇1", "◇2", "◇3", "◇4", "◇5", "◆1", "◇6"]
    rows = [words for words, _, _ in rows_of(story_of(session, at="e3", look="plan"))]
    assert rows == ["kept at ◇5, turn 1", "absent in ◆1, turn 1"]
    looked = [words for words, _, _ in rows_of(story_of(session, look="cleared:2"))]
    assert looked == ["kept at ◇2, turn 1", "kept at ◇5, turn 1", "absent in ◆1, turn 1"]


def test_a_compaction_that_nothing_stood_before_is_counted_nowhere() -> None:
    """A file that goes on from another begins with its summary: the first that was made here is the first."""
    session = chain(
        compaction("So far, nothing."),
        user(f"Build {PATH}."),
        said("Done."),
        compaction("All is built."),
        user("Go on."),
        said("Yes."),
    )
    model = WorkbenchModel(session, "auto", window=20_000)
    model.answer({})
    assert [mark.look for mark in list_marks(session, model.history)] == ["recorded:1"]
    story = ask(model, "story", number=0, kind="file", form=PATH)
    assert [row["id"] for row in story["outcomes"] if row["by"] != "plan"] == ["recorded:1"]
    facts = ask(model, "facts")
    assert facts["marks"] == ["◆1"] and all(len(row["rounds"]) == 1 for row in facts["rows"])
    assert ask(model, "findings", look="recorded:1")["label"] == "◆1"


def cleared_sessions() -> list[Any]:
    real = [
        path
        for name in ("cc-micro-only", "cc-1auto-1micro")
        for path in SHARED.glob(f"sessions/*/{name}.jsonl")
    ]
    return [None, *(pytest.param(path, id=path.stem, marks=needs_shared) for path in real)]


def says(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


@pytest.mark.parametrize("path", cleared_sessions())
def test_what_is_called_cleared_stood_in_emptied_outputs_and_stands_nowhere_any_more(
    path: Path | None,
) -> None:
    """Recounted by the letters: what was live before, less the outputs that the file says were emptied."""
    session = open_demo() if path is None else open_session(path)
    model = WorkbenchModel(session, "auto")
    model.answer({"look": "cleared:1"})
    mark = next(mark for mark in list_marks(session, model.history) if mark.look == "cleared:1")
    before, emptied = session.at(mark.at), set(session[mark.entry].boundary.cleared)
    texts: dict[bool, list[str]] = {True: [], False: []}
    for ref in before.live_refs():
        block = before.block(ref)
        gone = block.kind == "tool_output" and block.call_id in emptied
        texts[gone].append(readable_text(block))
    went, stays = ("\n".join(texts[gone]) for gone in (True, False))
    outcomes = {"absent": 0, "verbatim": 0}
    for row in ask(model, "facts", to=500)["rows"]:
        if row["kind"] not in ("file", "symbol", "url"):
            continue
        story = ask(model, "story", number=row["number"], kind=row["kind"], form=row["form"])
        (told,) = [one for one in story["outcomes"] if one["id"] == "cleared:1"]
        assert told["by"] == "file" and told["note"] == "by the file"
        name = row["form"].rpartition("/")[2] if row["kind"] == "file" else row["form"]
        if told["words"].startswith("cleared at ◇1"):
            assert says(went, name) and not says(stays, row["form"]), row["form"]
        elif told["words"].startswith("kept at ◇1"):
            assert says(stays, name), row["form"]
        outcomes[told["outcome"]] = outcomes.get(told["outcome"], 0) + 1
    assert outcomes["absent"] and outcomes["verbatim"]
