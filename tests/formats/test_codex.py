"""Codex's rollouts, beside a count of their rows that shares no code with the reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, price_session, read_session
from inspector.files import save_session
from inspector.formats.harnesses.codex.read import READER
from inspector.session.blocks import Image, Reasoning, ToolCall, ToolOutput
from inspector.session.speakers import who_speaks
from tests.codex_rows import META, codex_message, row
from tests.recount.__main__ import compare
from tests.rows import CASES, dump, load
from tests.shared import SHARED, needs_shared, open_shared

CASE = CASES / "codex.jsonl"
ROWS: list[dict[str, Any]] = load(CASE)
REAL = sorted((SHARED / "sessions").glob("codex--*/*.jsonl"))


def test_a_rollout_becomes_a_session() -> None:
    session = open_session(CASE)
    assert (session.id, session.model, session.window, session.cwd) == ("0199-demo", "gpt-5.5", 121600, "/w")
    assert session.extra["version"] == "0.140.0"
    assert [block.text for block in session.system] == ["You are Codex, working on a small library."]
    said = [(entry.role, entry.meta, entry.text[:20]) for entry in session.entries[:4]]
    assert said == [
        ("user", True, "<permissions instruc"),
        ("user", True, "# AGENTS.md instruct"),
        ("user", False, "Add a function area "),
        ("assistant", False, "I look at the file."),
    ]
    reply = session.entries[3]
    assert [block.kind for block in reply.blocks] == ["reasoning", "text", "tool_call"]
    assert reply.blocks[0] == Reasoning(text="**Look first**", encrypted="gAAAA-sealed")
    assert reply.blocks[2] == ToolCall(id="call_1", name="exec_command", input={"cmd": "cat src/shapes.py"})
    assert [source.line for source in reply.sources] == [8, 11, 12]
    assert session.entries[4].blocks[0].text == "def side():\n\treturn 2\n"


def test_usage_without_running_totals_is_each_reply_s(tmp_path: Path) -> None:
    last = {"input_tokens": 42, "cached_input_tokens": 5, "output_tokens": 17}
    count = row("event_msg", type="token_count", info={"last_token_usage": last})
    rows = [META, codex_message("user", "Look."), codex_message("assistant", "I look."), count, count]
    rows += [codex_message("user", "And?"), codex_message("assistant", "It is there."), count]
    path = tmp_path / "rollout-2026-03-01T09-00-00-t-1.jsonl"
    path.write_bytes(dump(*rows))
    session = open_session(path)
    usage = [entry.usage for entry in session.entries if entry.usage]
    assert [(each.input, each.cache_read, each.output) for each in usage] == [(37, 5, 17)] * 2
    assert [str(each) for each in compare(path, session) if not each.same] == []


def test_a_compaction_keeps_what_it_lists_and_its_estimate_is_no_request() -> None:
    session = open_session(CASE)
    ((name, boundary),) = session.boundaries
    assert boundary.summary == "area was added to src/shapes.py, in cm2."
    assert (boundary.tokens_before, boundary.tokens_after) == (1310, 400)
    assert boundary.extra == {"tokens_after": "estimated by Codex"}
    (kept,) = boundary.kept
    assert session[kept].text == "Add a function area to src/shapes.py; the unit is cm2."
    assert session[name].text.startswith("A summary of what was done so far:")


def test_what_was_rolled_back_is_recorded_and_no_longer_in_the_context() -> None:
    session = open_session(CASE)
    texts = [entry.text for entry in session.entries]
    assert "Delete everything." in texts and "Really?" in texts
    live = [session.entries[at].text for at in session.live.entries]
    assert live[2:] == ["Draw it like this.", "Drawn."]
    assert len(session.turns) == 2
    picture = session.entries[-2].blocks[1]
    assert isinstance(picture, Image) and (picture.media_type, picture.url) == ("image/png", None)


def test_a_summary_that_only_the_provider_reads_is_sealed_and_not_empty() -> None:
    sealed = {"type": "compaction", "encrypted_content": "gAAAA-secret"}
    fresh = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Never said."}]}
    for after, blocks in (([sealed, fresh], [Reasoning(encrypted="gAAAA-secret")]), ([fresh], [])):
        compacted = {"type": "compacted", "payload": {"message": "", "replacement_history": after}}
        session = read_session(dump(*ROWS[:20], compacted))
        ((name, boundary),) = session.boundaries
        assert (boundary.summary, boundary.extra) == (None, {"unreadable": True})
        assert list(session[name].blocks) == blocks
        assert [session.entries[at].text for at in session.live.entries] == ["", "Never said."]


def test_an_old_compaction_without_a_history_keeps_the_users_messages() -> None:
    session = read_session(dump(*ROWS[:20], {"type": "compacted", "payload": {"message": "Done so far."}}))
    live = [session.entries[at].text[:14] for at in session.live.entries]
    assert live == ["Done so far.", "<permissions i", "# AGENTS.md in", "Add a function"]


UNKNOWN_COPIES = "copied rows cannot be distinguished from its own, so all are charged"


def test_a_fork_and_a_history_in_another_file_are_told() -> None:
    meta = {**ROWS[0]["payload"], "forked_from_id": "0001", "history_base": {"thread_id": "0001"}}
    parent = {**ROWS[0], "payload": {**ROWS[0]["payload"], "id": "0001"}}
    session = read_session(dump({**ROWS[0], "payload": meta}, parent, *ROWS[1:]))
    assert session.id == "0199-demo"
    assert session.warnings == (
        f"it was forked from session 0001: {UNKNOWN_COPIES}",
        "its history begins in another file, which is not read",
    )


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_after_a_real_compaction_stands_the_history_that_its_row_lists(path: Path) -> None:
    session = open_shared(path)
    listed = [row["payload"]["replacement_history"] for row in load(path) if row["type"] == "compacted"]
    assert [len(session.at(name).live) - 1 for name, _ in session.boundaries] == [*map(len, listed)]
    assert all(boundary.extra["unreadable"] for _, boundary in session.boundaries)
    assert all(boundary.tokens_after in (23278, 23396, 24525) for _, boundary in session.boundaries)


@needs_shared
def test_a_rollout_of_a_sub_agent_says_whose_it_is() -> None:
    path = SHARED / "sessions" / "agentsview--testdata" / "traex" / "rollout_subagent.jsonl"
    session = open_session(path)
    assert session.format == "codex"
    assert "subagent" in session.extra["source"]
    assert sum(entry.usage.prompt for entry in session.entries if entry.usage) == 4200


def test_a_rollout_of_bare_rows_opens() -> None:
    around = "<environment_context>\n  <cwd>/w/lib</cwd>\n</environment_context>"
    rows: list[Any] = [
        {"id": "0197-bare", "timestamp": "2025-08-01T09:00:00.000Z", "instructions": None, "git": {}},
        {"record_type": "state"},
        {"type": "message", "id": None, "role": "user", "content": [{"type": "input_text", "text": around}]},
        {"type": "message", "id": None, "role": "user", "content": [{"type": "input_text", "text": "List."}]},
        {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "ls will do."}]},
        {"type": "function_call", "id": "f", "name": "shell", "arguments": '{"c": 1}', "call_id": "c1"},
        {"record_type": "state"},
        {"type": "function_call_output", "call_id": "c1", "output": '{"output": "a.py"}'},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a.py"}]},
        {"type": "later", "words": "of a build that nobody knows"},
    ]
    session = read_session(dump(*rows))
    assert (session.format, session.id, session.cwd) == ("codex", "0197-bare", "/w/lib")
    assert session.created is not None
    roles = [entry.role for entry in session.entries]
    assert roles == ["user", "user", "assistant", "tool", "assistant"]
    assert [entry.meta for entry in session.entries[:2]] == [True, False]
    assert session.entries[1].opens_turn
    assert [block.kind for block in session.entries[2].blocks] == ["reasoning", "tool_call"]
    assert (session.records, session.unknown) == (len(rows), 1)
    assert READER.sniff(dump(*rows)) is None
    # A first row of a type is no bare header: pi's and others' look like it.
    assert READER.sniff(dump({**rows[0], "type": "session"}, *rows[1:])) is not None


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        (json.dumps({"output": "no such file", "metadata": {"exit_code": 2, "duration_seconds": 0.1}}), True),
        (json.dumps({"output": "a.py", "metadata": {"exit_code": 0, "duration_seconds": 0.1}}), False),
        ("Exit code: 1\nWall time: 0.2 seconds\nOutput:\nno match", True),
        ("Exit code: 0\nWall time: 0.2 seconds\nOutput:\nExit code: 1", False),
        ("Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 127\nOutput:\n", True),
        ([{"type": "input_text", "text": "Exit code: 3\nOutput:\n"}], True),
        ("Chunk ID: a1\nWall time: 30.0 seconds\nProcess running with session ID 7\nOutput:\n", False),
        ([{"type": "input_text", "text": '{"output": "1 failed", "exit_code": 1}'}], True),
        ('It printed {"metadata": {"exit_code": 1}}', False),
    ],
)
def test_a_command_that_failed_is_an_error(output: Any, failed: bool) -> None:
    """As Codex words it: in JSON until autumn 2025, later in lines before the output."""
    call = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"}
    answer = {"type": "function_call_output", "call_id": "c", "output": output}
    items = [{"type": "response_item", "payload": item} for item in (call, answer)]
    (block,) = read_session(dump(ROWS[0], *items)).entries[-1].blocks
    assert isinstance(block, ToolOutput) and block.is_error is failed


def told(kind: str, number: int, /, **payload: Any) -> dict[str, Any]:
    """A row as rollouts have them since September 2026: each has a number."""
    return {"timestamp": "2026-09-30T10:05:00.000Z", "ordinal": number, "type": kind, "payload": payload}


def words(number: int, role: str, text: str) -> dict[str, Any]:
    part = "output_text" if role == "assistant" else "input_text"
    return told("response_item", number, type="message", role=role, content=[{"type": part, "text": text}])


def took(given: int, cached: int, replied: int) -> dict[str, int]:
    return {"input_tokens": given, "cached_input_tokens": cached, "output_tokens": replied}


def counted(number: int, usage: dict[str, int], total: int) -> dict[str, Any]:
    info = {"total_token_usage": {"total_tokens": total}, "last_token_usage": usage}
    return told("event_msg", number, type="token_count", info=info)


def recorded(number: int, response: str, usage: dict[str, int], thread: str = "t1") -> dict[str, Any]:
    return told("token_usage_record", number, response_id=response, thread_id=thread, usage=usage)


FIRST, SECOND = took(1_000, 0, 50), took(1_200, 900, 40)


@pytest.mark.parametrize("counts", ["none", "before", "after"])
def test_what_a_response_took_is_told_once_though_two_kinds_of_rows_tell_it(counts: str) -> None:
    """By its id, which may come again; counts beside it say the same; another thread's are not its own."""

    def tell(number: int, response: str, usage: dict[str, int], total: int) -> list[dict[str, Any]]:
        rows = [recorded(number, response, usage), recorded(number + 1, response, usage)]
        count = [counted(number + 2, usage, total)] if counts != "none" else []
        return [*count, *rows] if counts == "before" else [*rows, *count]

    rows = [
        told("session_meta", 0, id="t1", cwd="/w"),
        words(1, "user", "Go on."),
        words(2, "assistant", "I look."),
        *tell(3, "r1", FIRST, 1_050),
        recorded(6, "r9", took(77_000, 0, 9), thread="t2"),
        words(7, "user", "And?"),
        words(8, "assistant", "Done."),
        *tell(9, "r2", SECOND, 2_290),
        words(12, "user", "Thanks."),
    ]
    session = read_session(dump(*rows))
    assert session.unknown == 0 and len(session.entries) == 5
    usage = [(e.usage.input, e.usage.cache_read, e.usage.output) for e in session.entries if e.usage]
    assert usage == [(1_000, 0, 50), (300, 900, 40)]


MAIN, CHILD, GONE = "t-main", "t-child", "t-gone"


def spawned(number: int, thread: str) -> dict[str, Any]:
    item = {"type": "SubAgentActivity", "id": "c1", "kind": "started", "agent_thread_id": thread}
    return told("event_msg", number, type="item_completed", item=item)


def write_family(folder: Path) -> Path:
    """A rollout that starts two sub-agents, one of which has a rollout beside it that begins with copies."""
    turn = told("turn_context", 1, turn_id="a", model="gpt-5.5")
    shared = [words(2, "user", "Find the slow test."), words(3, "assistant", "I ask somebody.")]
    main = [
        told("session_meta", 0, id=MAIN, cwd="/w", source="cli"),
        turn,
        *shared,
        counted(4, FIRST, 1_050),
        spawned(5, CHILD),
        told("event_msg", 6, type="sub_agent_activity", kind="started", agent_thread_id=GONE),
        told("event_msg", 6, type="collab_agent_spawn_end", call_id="c2", new_thread_id=GONE),
        told("event_msg", 7, type="sub_agent_activity", kind="interacted", agent_thread_id=MAIN),
        words(8, "assistant", "It is test_tides."),
    ]
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": MAIN, "depth": 1}}}
    child = [
        told("session_meta", 10, id=CHILD, cwd="/w", source=spawn),
        told("session_meta", 11, id=MAIN, cwd="/w", source="cli"),
        *(dict(row, timestamp="2026-01-01T00:10:00.000Z") for row in (turn, *shared)),
        counted(13, FIRST, 1_050),
        told("event_msg", 14, type="task_started", turn_id="b"),
        words(15, "user", "Look at tests."),
        words(16, "assistant", "test_tides takes 9 s."),
        counted(17, took(400, 100, 20), 420),
    ]
    other = [told("session_meta", 0, id="t-other", source=spawn | {"x": 1}), words(1, "user", "No.")]
    for name, rows in ((MAIN, main), (CHILD, child), ("t-other", other)):
        (folder / f"rollout-2026-01-01T00-00-00-{name}.jsonl").write_bytes(dump(*rows))
    return folder / f"rollout-2026-01-01T00-00-00-{MAIN}.jsonl"


def test_rollouts_of_sub_agents_beside_it_stand_apart_and_are_charged_once(tmp_path: Path) -> None:
    path = write_family(tmp_path)
    session = open_session(path)
    apart = [(entry.role, entry.text) for entry in session.entries if entry.sidechain == CHILD]
    assert apart == [("user", "Look at tests."), ("assistant", "test_tides takes 9 s.")]
    assert {entry.sidechain for entry in session.entries} == {None, CHILD}
    assert len(session.path) == 3 and len(session.turns) == 1
    assert not any(entry.sources for entry in session.entries if entry.sidechain)
    assert [(agent.id, agent.silent) for agent in session.subagents] == [(GONE, True)]
    lines = {line.name: (line.calls, line.tokens) for line in price_session(session).lines}
    assert lines["input"] == (1, 1_000) and lines["sub-agents"] == (1, 420)
    assert lines["unknown: sub-agents"] == (1, None)
    assert [str(figure) for figure in compare(path, session) if not figure.same] == []
    save_session(session, tmp_path / "saved.json")
    assert open_session(tmp_path / "saved.json") == session
    alone = read_session(path.read_bytes())
    assert [agent.id for agent in alone.subagents] == [CHILD, GONE]
    assert {entry.sidechain for entry in alone.entries} == {None}


def test_what_another_agent_sent_is_no_reply_and_no_prompt() -> None:
    sent = [
        {"type": "input_text", "text": "Message Type: FINAL_ANSWER\nIt is test_tides."},
        {"type": "encrypted_content", "encrypted_content": "gAAAA"},
    ]
    rows = [
        told("session_meta", 0, id="t1", cwd="/w"),
        words(1, "user", "Find the slow test."),
        words(2, "assistant", "I wait."),
        recorded(3, "r1", FIRST),
        told("response_item", 4, type="agent_message", author="/root/child", recipient="/root", content=sent),
        words(5, "assistant", "It is test_tides."),
        recorded(6, "r2", SECOND),
    ]
    session = read_session(dump(*rows))
    heard = session.entries[2]
    assert (heard.role, heard.meta, heard.text) == ("user", True, sent[0]["text"])
    assert (who_speaks(heard).speaker, heard.extra["sealed"]) == ("agent", [sent[1]])
    assert [entry.role for entry in session.entries] == ["user", "assistant", "user", "assistant"]
    assert session.unknown == 0 and len(session.turns) == 1
    assert [entry.usage is not None for entry in session.entries] == [False, True, False, True]


def test_the_window_is_known_before_a_count_of_tokens() -> None:
    turn = row("event_msg", type="task_started", turn_id="t1", model_context_window=258_400)
    assert read_session(dump(META, turn, codex_message("user", "Hi"))).window == 258_400


def test_a_prompt_is_typed_if_events_repeat_only_words_of_codex() -> None:
    rules = "# AGENTS.md instructions for /w\n<INSTRUCTIONS>Be brief.</INSTRUCTIONS>"
    event = row("event_msg", type="user_message", message=rules)
    session = read_session(
        dump(META, event, codex_message("user", rules), codex_message("user", "Never push."))
    )
    assert [(entry.text, entry.meta) for entry in session.entries] == [(rules, True), ("Never push.", False)]


def test_the_newest_items_tell_themselves_whether_a_person_typed_them(tmp_path: Path) -> None:
    """Without an event that repeats the words, and whatever these begin with."""

    def tell(at: int, text: str, *kinds: str) -> dict[str, Any]:
        passed = {"turn_id": "u1", "content_item_kinds": [*kinds]}
        part = {"type": "input_text", "text": text}
        row = told("response_item", at, type="message", role="user", content=[part])
        row["payload"]["internal_chat_message_metadata_passthrough"] = passed
        return row

    rows = [
        told("session_meta", 0, id="t1", cwd="/w"),
        tell(1, "Tides are told in feet.", "agents_md.instructions", "environments.environment_context"),
        tell(2, "<environment_context> is what? Explain the tag.", "user.text"),
        words(3, "assistant", "It tells where you are."),
        tell(4, "A hook has this to add.", "hooks.additional_context"),
        words(5, "assistant", "Heard."),
    ]
    path = tmp_path / "rollout-t1.jsonl"
    path.write_bytes(dump(*rows))
    session = open_session(path)
    assert [entry.meta for entry in session.entries if entry.role == "user"] == [True, False, True]
    assert len(session.turns) == 1
    assert [str(figure) for figure in compare(path, session) if not figure.same] == []
