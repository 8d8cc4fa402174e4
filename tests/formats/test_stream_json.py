"""What `claude -p` prints as it goes, beside counts of its rows that share no code with the reader."""

from __future__ import annotations

from typing import Any

from inspector import open_session, read_session
from tests.rows import CASES, dump, load

CASE = CASES / "claude-stream-json.jsonl"
ROWS: list[dict[str, Any]] = load(CASE)


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
