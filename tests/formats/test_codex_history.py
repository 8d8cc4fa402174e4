"""Codex: compactions that name what they keep, files that begin in the middle, words of other agents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspector import open_session
from inspector.session.blocks import Document, Text
from inspector.session.session import Session
from tests.codex_rows import META, Row, codex_message, item
from tests.recount.__main__ import compare
from tests.rows import dump


def compaction(*entries: Row) -> Row:
    payload = {"message": "So far: two files.", "replacement_history_entries": entries}
    return {"type": "compacted", "payload": payload}


def reference(name: str, kind: str = "reference_v2") -> Row:
    return {"type": kind, "item_id": name, "source_digest": "sha256:1"}


def inline(words: str) -> Row:
    return {"type": "inline", "item": codex_message("user", words, id=f"id-{words}")["payload"]}


def open_rows(folder: Path, *rows: Row) -> Session:
    (file := folder / "rollout-1.jsonl").write_bytes(dump(*rows))
    session = open_session(file)
    assert session.format == "codex"
    assert all(each.same for each in compare(file, session))
    return session


def live(session: Session) -> list[str]:
    return [session.entries[at].text for at in session.live.entries]


SUM = inline("So far: two files.")
BEFORE = (
    META,
    codex_message("user", "Read both files", id="m1"),
    codex_message("assistant", "I read them.", id="m2"),
    item("function_call", id="f1", name="shell", call_id="c1", arguments="{}"),
    item("function_call_output", id="o1", call_id="c1", output="one, two"),
    codex_message("user", "Now the third", id="m3"),
)


def test_items_that_a_compaction_names_are_kept(tmp_path: Path) -> None:
    names = (reference("m1", "reference"), inline("Told anew."), reference("m3"), SUM)
    session = open_rows(
        tmp_path, *BEFORE, compaction(*names), codex_message("assistant", "I read the third.", id="m4")
    )
    words = ["Read both files", "Now the third", "Told anew.", "I read the third."]
    assert live(session) == ["So far: two files.", *words]
    assert session.warnings == ()


def test_a_later_compaction_may_name_what_an_earlier_one_told(tmp_path: Path) -> None:
    first, more = (
        compaction(inline("Told anew."), SUM),
        codex_message("assistant", "I read the third.", id="m4"),
    )
    session = open_rows(
        tmp_path, *BEFORE, first, more, compaction(reference("id-Told anew."), reference("m4"), SUM)
    )
    assert live(session) == ["So far: two files.", "Told anew.", "I read the third."]


def test_what_is_named_and_not_in_the_file_is_told(tmp_path: Path) -> None:
    session = open_rows(tmp_path, *BEFORE, compaction(reference("m0"), reference("m3")))
    assert live(session) == ["So far: two files.", "Now the third"]
    assert session.warnings == ("1 item is kept by its compactions but not in this file: not counted",)


def test_a_snapshot_for_undo_is_never_part_of_the_new_history(tmp_path: Path) -> None:
    snapshot = {"type": "ghost_snapshot", "ghost_commit": {"id": "deadbeef"}}
    history = {"message": "So far.", "replacement_history": [snapshot, inline("Kept words")["item"]]}
    entries = compaction({"type": "inline", "item": snapshot}, inline("Kept words"))
    for row, summary in (({"type": "compacted", "payload": history}, "So far."), (entries, SUM)):
        session = open_rows(tmp_path, META, codex_message("user", "Hi", id="m1"), row)
        assert live(session) == [summary if isinstance(summary, str) else "So far: two files.", "Kept words"]


def test_a_rollout_without_its_header_opens_and_says_so(tmp_path: Path) -> None:
    payload = {"type": "turn_context", "payload": {"model": "gpt-5.5"}}
    session = open_rows(
        tmp_path, payload, codex_message("user", "Go on"), codex_message("assistant", "Done.")
    )
    assert (session.model, session.id, len(session.turns)) == ("gpt-5.5", "", 1)
    assert session.warnings == ("its header is not in the file: session id, model and folder may be unknown",)


def test_a_file_and_a_refusal_are_blocks_of_their_kind(tmp_path: Path) -> None:
    file = {"type": "input_file", "filename": "tide.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}
    refusal = {"type": "refusal", "refusal": "I cannot help with this."}
    session = open_rows(
        tmp_path, META, codex_message("user", "Read it", file), codex_message("assistant", refusal)
    )
    asked, reply = session.entries
    assert asked.blocks[1] == Document(media_type="application/pdf", title="tide.pdf", data="JVBERi0=")
    assert reply.blocks == (Text(text="I cannot help with this."),)


def test_what_another_agent_sent_stands_in_the_context_once(tmp_path: Path) -> None:
    words = "Message Type: FINAL_ANSWER\nPayload:\nOne test fails."
    sent = {"author": "/root/tester", "recipient": "/root", "trigger_turn": False}

    def letter(**payload: Any) -> Row:
        return {"type": "inter_agent_communication", "payload": payload}

    older, sealed = letter(**sent, content=words), letter(**sent, content=None, encrypted_content="x")
    newer = item("agent_message", **sent, content=[{"type": "input_text", "text": words}])
    before, end = (
        (META, codex_message("user", "Run it"), codex_message("assistant", "It runs.")),
        codex_message("assistant", "I mend."),
    )
    session = open_rows(tmp_path, *before, older, end)
    heard = session.entries[2]
    assert (heard.text, heard.meta, heard.extra["speaker"]) == (words, True, "agent")
    assert len(session.turns) == 1
    twice = open_rows(tmp_path, *before, older, newer, sealed, letter(), end)
    assert [entry.text for entry in twice.entries] == ["Run it", "It runs.", words, "", "I mend."]
    assert twice.records == 8
