"""Codex: compactions that name what they keep, item by item, in place of repeating it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inspector import open_session
from inspector.session.session import Session
from tests.recount.__main__ import compare

Row = dict[str, Any]
META: Row = {
    "type": "session_meta",
    "payload": {"id": "t1", "timestamp": "2026-10-01T08:00:00Z", "cwd": "/w"},
}


def item(id: str, kind: str = "message", **more: Any) -> Row:
    return {"type": "response_item", "payload": {"type": kind, "id": id, **more}}


def said(name: str, role: str, words: str) -> Row:
    part = {"type": "output_text" if role == "assistant" else "input_text", "text": words}
    return item(name, role=role, content=[part])


def kept(*entries: Row) -> Row:
    return {
        "type": "compacted",
        "payload": {"message": "So far: two files.", "replacement_history_entries": entries},
    }


def named(name: str, kind: str = "reference_v2") -> Row:
    return {"type": kind, "item_id": name, "source_digest": "sha256:1"}


def inline(words: str) -> Row:
    message = {"type": "message", "id": f"id-{words}", "role": "user"}
    return {"type": "inline", "item": {**message, "content": [{"type": "input_text", "text": words}]}}


def open_rows(folder: Path, *rows: Row) -> Session:
    file = folder / "rollout-1.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in (META, *rows)))
    session = open_session(file)
    assert all(each.same for each in compare(file, session))
    return session


def live(session: Session) -> list[str]:
    return [session.entries[at].text for at in session.live.entries]


BEFORE = (
    said("m1", "user", "Read both files"),
    said("m2", "assistant", "I read them."),
    item("f1", "function_call", name="shell", call_id="c1", arguments="{}"),
    item("o1", "function_call_output", call_id="c1", output="one, two"),
    said("m3", "user", "Now the third"),
)


def test_items_that_a_compaction_names_are_kept(tmp_path: Path) -> None:
    session = open_rows(
        tmp_path,
        *BEFORE,
        kept(named("m1", "reference"), inline("Told anew."), named("m3"), inline("So far: two files.")),
        said("m4", "assistant", "I read the third."),
    )
    assert live(session) == [
        "So far: two files.",
        "Read both files",
        "Now the third",
        "Told anew.",
        "I read the third.",
    ]
    assert session.warnings == ()


def test_a_later_compaction_may_name_what_an_earlier_one_told(tmp_path: Path) -> None:
    session = open_rows(
        tmp_path,
        *BEFORE,
        kept(inline("Told anew."), inline("So far: two files.")),
        said("m4", "assistant", "I read the third."),
        kept(named("id-Told anew."), named("m4"), inline("So far: two files.")),
    )
    assert live(session) == ["So far: two files.", "Told anew.", "I read the third."]


def test_what_is_named_and_not_in_the_file_is_told(tmp_path: Path) -> None:
    session = open_rows(tmp_path, *BEFORE, kept(named("m0"), named("m3")))
    assert live(session) == ["So far: two files.", "Now the third"]
    assert session.warnings == ("1 item is kept by its compactions but not in this file: not counted",)


def test_a_snapshot_for_undo_is_never_part_of_the_new_history(tmp_path: Path) -> None:
    snapshot = {"type": "ghost_snapshot", "ghost_commit": {"id": "deadbeef"}}
    compaction = {"message": "So far.", "replacement_history": [snapshot, inline("Kept words")["item"]]}
    session = open_rows(tmp_path, said("m1", "user", "Hi"), {"type": "compacted", "payload": compaction})
    assert live(session) == ["So far.", "Kept words"]
    entries = kept({"type": "inline", "item": snapshot}, inline("Kept words"))
    assert live(open_rows(tmp_path, said("m1", "user", "Hi"), entries)) == [
        "So far: two files.",
        "Kept words",
    ]
