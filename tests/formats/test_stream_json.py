"""What `claude -p` prints as it goes, beside counts of its rows that share no code with the reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.errors import ReadError
from inspector.files import FollowedFile
from tests.recount.__main__ import compare

CASE = Path(__file__).parents[1] / "cases" / "formats" / "claude-stream-json.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in CASE.read_text("utf-8").splitlines()]


def dump(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def test_a_run_becomes_a_session() -> None:
    session = open_session(CASE)
    assert (session.id, session.model, session.cwd) == ("s-1", "claude-demo", "/w")
    assert session.extra["version"] == "2.1.200"
    assert session.extra["result"]["total_cost_usd"] == 0.1
    prompts = [row for row in ROWS if row["type"] == "user" and row["uuid"] in ("u2", "u16")]
    assert len(session.turns) == len(prompts) == 2


def test_the_rows_of_one_message_are_one_entry_and_count_once() -> None:
    session = open_session(CASE)
    reply = session["u3"]
    assert [block.kind for block in reply.blocks] == ["reasoning", "tool_call"]
    assert [source.line for source in reply.sources] == [3, 4]
    assert session["u4"] is reply
    main = [entry for entry in session.entries if entry.role == "assistant" and not entry.sidechain]
    numbers = {r["message"]["id"] for r in ROWS if r["type"] == "assistant" and not r["parent_tool_use_id"]}
    assert len(main) == len(numbers)
    assert reply.usage is not None and (reply.usage.cache_read, reply.usage.output) == (900, 25)


def test_a_sub_agents_rows_stand_apart_and_what_was_superseded_is_void() -> None:
    session = open_session(CASE)
    path = [session.entries[at] for at in session.path]
    aside = [entry.text for entry in session.entries if entry.sidechain == "t2"]
    assert aside == ["Think about it.", "I thought."]
    said = [entry.text for entry in path if entry.role == "assistant" and entry.text]
    assert said == ["It prints 1.", "Thanks."]
    assert session["u11"].text == "It fails."


def test_a_refused_reply_that_is_taken_back_is_void_too(tmp_path: Path) -> None:
    refused = next(row for row in ROWS if row.get("uuid") == "u4")
    back = {
        "type": "system",
        "subtype": "model_refusal_fallback",
        "retracted_message_uuids": ["u3", "u4", "u2"],
    }
    again = refused | {"uuid": "u4b", "message": refused["message"] | {"id": "m9", "content": "Made anew."}}
    file = tmp_path / "run.jsonl"
    file.write_bytes(dump(*ROWS[:4], back, again))
    session = open_session(file)
    assert session.live_names == ["u2", "u4b"], "a person's words are not taken back"
    assert all(each.same for each in compare(file, session))


def test_a_compaction_whose_words_come_next_has_them_and_else_names_the_file_that_has() -> None:
    session = open_session(CASE)
    ((name, boundary),) = session.boundaries
    assert (boundary.trigger, boundary.tokens_before, boundary.tokens_after) == ("auto", 1140, None)
    assert boundary.extra["postTokens"] == 200, "the conversation alone, and no size of a request"
    assert session[name].text.startswith("This session is being continued")
    assert session.live_names == [name, "u16", "u17"]
    without = read_session(dump(*ROWS[:14], *ROWS[15:]))
    assert without.warnings == (
        "summaries are not in the stream; the session's own file, s-1.jsonl, has them",
    )
    assert without.boundaries[0][1].extra == {"unreadable": True, "postTokens": 200}
    assert len(without.live) == 3


def test_messages_that_were_preserved_are_kept() -> None:
    told = {
        "trigger": "manual",
        "pre_tokens": 9,
        "preserved_messages": {"anchor_uuid": "x", "uuids": ["u12"]},
    }
    row = {**ROWS[13], "compact_metadata": told}
    session = read_session(dump(*ROWS[:13], row, *ROWS[14:]))
    assert session.boundaries[0][1].kept == ("u12",)
    assert session.live_names == ["u14", "u12", "u16", "u17"]


def test_an_array_of_rows_is_the_same_run(tmp_path: Path) -> None:
    array = json.dumps(ROWS).encode()
    session = read_session(array)
    assert session.format == "claude-stream-json"
    assert session.records == len(ROWS)
    assert session.live_names == open_session(CASE).live_names
    place = tmp_path / "run.json"
    place.write_bytes(array)
    assert FollowedFile(place).session == session


def test_a_part_that_was_not_written_is_told() -> None:
    lost = {"type": "system", "subtype": "session_writes_lost", "session_id": "s-1"}
    assert "not written" in read_session(dump(*ROWS, lost)).warnings[0]


def test_an_array_over_many_lines_is_read_as_its_rows_are(tmp_path: Path) -> None:
    """As the GitHub action writes it."""
    rows = [json.loads(line) for line in CASE.read_text("utf-8").splitlines() if line.strip()]
    path = tmp_path / "execution.json"
    path.write_text(json.dumps(rows, indent=2), "utf-8")
    session, lines = open_session(path), open_session(CASE)
    assert [(entry.id, entry.text) for entry in session.entries] == [
        (entry.id, entry.text) for entry in lines.entries
    ]
    assert [str(figure) for figure in compare(path, session) if not figure.same] == []


def test_a_run_is_known_by_its_messages_where_its_beginning_was_cut_off() -> None:
    rows = [
        {"type": kind, "message": {"role": kind, "content": [{"type": "text", "text": words}]}}
        | {"session_id": "s", "parent_tool_use_id": None, "uuid": kind}
        for kind, words in (("user", "Do it"), ("assistant", "Done."))
    ]
    session = read_session("\n".join(map(json.dumps, rows)))
    assert (session.format, len(session.turns)) == ("claude-stream-json", 1)
    begun = {"type": "system", "subtype": "init", "session_id": "s", "model": "claude-opus-4-8"}
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": "Hello"}]}}
    assert read_session("\n".join(map(json.dumps, (begun, said)))).format == "claude-stream-json"
    other = begun | {"model": "Claude 4 Sonnet", "apiKeySource": "login"}
    with pytest.raises(ReadError):
        read_session("\n".join(map(json.dumps, (other, said))))
