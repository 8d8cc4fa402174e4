"""A file says what it is before it is refused: its kind, how much it holds, and what to do."""

from __future__ import annotations

import json
import pickle
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.errors import ClaimedTwice, ReadError, UnreadFormat
from inspector.formats.readers import READERS
from tests.rows import dump
from tests.shared import SHARED, needs_shared

ITEM = {"type": "response_item", "payload": {"type": "message", "role": "user", "content": []}}
SAID = [{"type": "text", "text": "Hi"}]


def document(*values: Any, **fields: Any) -> bytes:
    """The list of these values, or the object of these fields."""
    return json.dumps(fields or values).encode()


ONE_ROW = 'write the messages of one row as {"messages": […]} to open them'
# What the file is: its content, and where there is something what to do with it.
KINDS: dict[str, bytes | tuple[bytes, str]] = {
    "a Codex rollout of 4 rows, 1 compaction": dump(
        *[{"type": "event_msg", "payload": {"type": "error"}}] * 3, {"type": "compacted", "payload": {}}
    ),
    "a rollout of TRAE's CLI of 2 rows": dump(
        {"type": "session_meta", "payload": {"id": "t"}},
        {"type": "history_mutation", "payload": {"operation": "append", "items": [ITEM["payload"]]}},
    ),
    "a Copilot CLI log of 1 row, 0 compactions": dump(
        {"type": "session.usage_checkpoint", "id": "c", "data": {"totalNanoAiu": 5}}
    ),
    "events of an Inspect transcript of 2 events": document(
        description="A branch.", events=[{"event": "span_begin", "timestamp": "2026-01-01"}] * 2
    ),
    "data sent by LangSmith's SDK of 1 run": (
        document(post=[{"id": "r", "run_type": "llm"}], patch=[{"id": "r"}]),
        "it stores inputs and outputs of a run apart: export the runs from LangSmith",
    ),
    "the events of `codex exec --json` of 2 rows": (
        dump({"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}),
        "they do not hold the context: open the thread's rollout in ~/.codex/sessions",
    ),
    "a Claude Code session of 1 row, 0 compactions": (
        dump({"type": "user", "message": {"content": "Hi"}}),
        "its rows name neither themselves nor the row before",
    ),
    "a Kimi session of 2 rows, 1 compaction": dump(
        {"type": "config.update"}, {"type": "context.apply_compaction", "tokensBefore": 9}
    ),
    "an export of Claude.ai of 3 conversations": document(
        *[{"uuid": "a", "name": "x", "chat_messages": {}}] * 3
    ),
    "a list of messages of 2 messages": (
        document({"role": "user", "content": "Hi", "mood": 1}, {"role": "robot", "content": "Yes"}),
        'they may be any system\'s: format="request-log" reads OpenAI\'s, "anthropic-messages" Anthropic\'s',
    ),
    "the events of `gemini --output-format stream-json` of 2 rows": (
        dump({"type": "init", "session_id": "s", "model": "m", "timestamp": "t"}, {"type": "message"}),
        "they do not hold the context: open the chat in ~/.gemini/tmp",
    ),
    "a saved checkpoint of Gemini's of 2 messages": (
        document({"role": "user", "parts": [{"text": "Hi"}]}, {"role": "model", "parts": []}),
        "open the chat itself, in the folder chats/ of ~/.gemini/tmp",
    ),
    "a request to Gemini of 1 message": document(contents=[{"role": "user", "parts": [{"text": "Hi"}]}]),
    "the screen of a Cline or Roo task of 1 message": (
        document({"ts": 1, "type": "say", "say": "text", "text": "Hi"}),
        "it does not hold the context: open api_conversation_history.json in the same folder",
    ),
    "the metadata of a Cline or Roo task of 1 file": (
        document(files_in_context=[{"path": "a.py"}], model_usage=[]),
        "open api_conversation_history.json in the same folder",
    ),
    "the list entry of a Roo task of 7 tokens": (
        document(ts=1, task="Go", tokensIn=5, tokensOut=2, totalCost=0.1),
        "open api_conversation_history.json in the same folder",
    ),
    f"the list entry of a Roo task of {2 * int(1e308):,} tokens": (
        document(ts=1, task="Go", tokensIn=1e308, tokensOut=1e308, totalCost=0),
        "open api_conversation_history.json in the same folder",
    ),
    "a log of prompts to Gemini CLI of 1 prompt": (
        document({"sessionId": "s", "messageId": 0, "type": "user", "message": "Hi"}),
        "open the chat itself, in the folder chats/ next to it",
    ),
    "a rollout of the first Codex CLI of 1 item": document(session={"id": "s"}, items=[{"type": "message"}]),
    "an older Copilot CLI session of 1 message": document(
        sessionId="s", chatMessages=[{"role": "user"}], timeline=[]
    ),
    "a session of Factory's Droid of 3 rows, 1 compaction": dump(
        {"type": "session_start", "id": "s", "title": "x", "cwd": "/w"},
        {"type": "message", "id": "m", "timestamp": "t", "message": {"role": "user", "content": []}},
        {"type": "compaction_state", "summaryText": "x"},
    ),
    "the events of `droid exec` of 2 rows": (
        dump(
            {"type": "system", "subtype": "init", "cwd": "/w", "session_id": "s", "tools": ["Read"]},
            {"type": "message", "role": "user", "id": "u1", "text": "Hi", "session_id": "s"},
        ),
        "they do not hold the context: the session is in ~/.factory/sessions",
    ),
    "a transcript that Entire shortened of 1 row": (
        dump(
            {"v": 1, "agent": "claude-code", "cli_version": "1", "type": "user", "ts": "t", "content": SAID}
        ),
        "it lacks compactions and cached tokens: open the full.jsonl in the same folder",
    ),
    "a thread of Amp's of 1 message": document(
        v=1, id="T-1", messages=[{"role": "user", "messageId": 0, "content": SAID}]
    ),
    "a file of a Letta agent of 1 message": document(
        agent_type="memgpt_agent", messages=[{"role": "user", "content": SAID}], blocks=[]
    ),
    "a goose session of 2 rows": dump(
        {"working_dir": "/w", "message_count": 1}, {"role": "user", "created": 1, "content": SAID}
    ),
    "messages of goose's of 1 row": (
        dump({"type": "message", "message": {"role": "assistant", "content": [{"type": "toolRequest"}]}}),
        "they may be a part of a session: export the session with `goose session export`",
    ),
    "a goose session of 1 message": document(
        id="1", working_dir="/w", conversation=[{"role": "user", "content": SAID}]
    ),
    "a transcript of Cursor's agent of 1 row": (
        dump({"role": "user", "message": {"content": SAID}}),
        "it holds no results of tools and no figures",
    ),
    "the prompts that Claude Code remembers of 1 row": (
        dump({"display": "Hi", "pastedContents": {}, "timestamp": 1, "project": "/w", "sessionId": "s"}),
        "they hold no replies: open a session in ~/.claude/projects",
    ),
    "the prompts that Codex remembers of 2 rows": (
        dump({"session_id": "s", "ts": 1, "text": "Hi"}, {"session_id": "s", "ts": 2, "text": "Go"}),
        "they hold no replies: open a rollout in ~/.codex/sessions",
    ),
    "the context of a Kimi session of 2 rows": dump(
        {"role": "user", "content": "Hi"}, {"role": "_usage", "token_count": 9}
    ),
    "a session of Continue's of 1 message": document(
        sessionId="s", workspaceDirectory="/w", history=[{"message": {}, "contextItems": []}]
    ),
    "a session of Augment's of 2 exchanges": document(
        sessionId="s", chatHistory=[{"exchange": {}}, {"exchange": {}}]
    ),
    "a thread of Zed's of 2 messages": document(
        version="0.3.0", updated_at="t", messages=[{"User": {"content": []}}, {"Agent": {}}]
    ),
    "a prompt of Google AI Studio of 1 turn": document(
        runSettings={}, chunkedPrompt={"chunks": [{"text": "Hi", "role": "user"}]}
    ),
    "a reply of OpenAI's of 1 item": (
        document(id="resp_1", object="response", model="demo", output=[{"type": "message"}]),
        "it does not hold what was asked: keep the request and it as one line, {request: …, response: …}",
    ),
    "a reply of OpenAI's of 1 item #2": (
        document(id="c1", object="chat.completion", choices=[{"index": 0}]),
        "it does not hold what was asked: keep the request and it as one line, {request: …, response: …}",
    ),
    "a file of opencode's older storage": (
        document(id="ses_1", projectID="p", directory="/w", title="T", time={"created": 1}),
        "it is a part of a session: export the session with `opencode export`",
    ),
    "a file of opencode's older storage #2": (
        document(id="msg_1", sessionID="ses_1", role="user", time={"created": 1}),
        "it is a part of a session: export the session with `opencode export`",
    ),
    "a trajectory of Trae Agent of 1 request": document(
        task="x", llm_interactions=[{"input_messages": []}], agent_steps=[]
    ),
    "the state of AutoGen's agents of 2 agents": document(
        type="TeamState", version="1.0.0", agent_states={"a": {}, "b": {}}
    ),
    "calls exported from Weave of 1 call": (
        document({"id": "1", "trace_id": "t", "op_name": "weave:///a", "inputs": {}}),
        "values that they only refer to are not in the file",
    ),
    "trajectories to train with of 2 rows": (
        dump({"instance_id": "i", "messages": "[]"}, {"instance_id": "j", "messages": "[]"}),
        ONE_ROW,
    ),
    "trajectories to train with of 1 row": (
        dump({"instance_id": "i", "trajectory": [{"step": 1, "text": None}], "exit_status": "x"}),
        ONE_ROW,
    ),
    "the answers of a batch of OpenAI's of 1 row": (
        dump({"id": "b", "custom_id": "a", "response": {"status_code": 200, "body": {}}, "error": None}),
        "they do not hold what was asked: open the batch's input",
    ),
    "results of τ²-bench of 1 run": (
        document(info={}, tasks=[], simulations=[{"id": "s", "messages": []}]),
        ONE_ROW,
    ),
    "a history of browser-use of 1 step": document(
        history=[{"model_output": None, "result": [], "state": {"url": "u"}}]
    ),
    "a chat history of Aider of 2 chats": 2 * b"# aider chat started at 2025-01-01 10:00:00\n\n#### hi\n\n",
}


@pytest.mark.parametrize("case", KINDS)
def test_a_file_of_a_kind_that_is_not_read_says_what_it_is_and_how_much(case: str, tmp_path: Path) -> None:
    kind, found = case.partition(" #")[0], KINDS[case]
    content, advice = found if isinstance(found, tuple) else (found, "")
    path = tmp_path / "log.txt"
    path.write_bytes(content)
    with pytest.raises(UnreadFormat) as caught:
        open_session(path)
    error = caught.value
    assert (error.kind, error.detail) == (kind, advice)
    assert str(error) == f"{path} is {kind}, which cannot be opened yet" + (f" — {advice}" if advice else "")
    assert [reader for reader, _ in error.tried] == [reader.name for reader in READERS]
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


DATABASES = {
    "Cursor's chats": ["create table cursorDiskKV(key text, value blob)"],
    "goose's sessions: `goose session export` gives one as JSON": [
        "create table sessions(id text)",
        "create table messages(id integer, content_json text)",
    ],
    "Crush's sessions": [
        "create table sessions(id text, parent_session_id text, message_count integer)",
        "create table messages(id text, parts text)",
    ],
    "Codex's list of threads: open a rollout in ~/.codex/sessions": [
        "create table threads(id text, rollout_path text)"
    ],
    "Zed's threads": ["create table threads(id text, data_type text, data blob)"],
    "Kiro's or Amazon Q's conversations": [
        "create table auth_kv(key text, value text)",
        "create table conversations(key text, value text)",
    ],
    "": ["create table birds(name text)"],
}


@pytest.mark.parametrize("whose", DATABASES)
def test_a_database_that_is_not_read_says_whose_it_is(whose: str, tmp_path: Path) -> None:
    path = tmp_path / "some.db"
    with closing(sqlite3.connect(path)) as base:
        for statement in DATABASES[whose]:
            base.execute(statement)
        base.commit()
    with pytest.raises(ReadError) as caught:
        open_session(path)
    assert str(caught.value).endswith(f"it is an SQLite database{' of ' if whose else ''}{whose}")


def test_what_is_read_is_never_called_unread() -> None:
    """A row of a name and of one before it makes the same row a session."""
    row = {"type": "user", "uuid": "u", "parentUuid": None, "message": {"content": "Hi"}}
    assert read_session(dump(row)).format == "claude-code"


def add_readers(folder: Path, *names: str) -> None:
    """A package that brings readers, each of which takes what begins with LINES."""
    about = folder / "two-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: two\nVersion: 1.0\n")
    points = "".join(f"{name} = two_readers:{name}\n" for name in (*names, "missing", "odd"))
    (about / "entry_points.txt").write_text(f"[inspector.readers]\n{points}")
    text = (
        "from inspector.formats.json_lines import Reader\n"
        "from inspector.session.session import Entry, Session\n"
        "def sniff(data):\n"
        "    return None if bytes(data).startswith(b'LINES') else 'no LINES'\n"
        "def make(name):\n"
        "    return Reader(name, name, sniff, lambda data: Session(format=name, entries=(Entry(id='1'),)))\n"
    )
    text += "odd = 7\n"
    (folder / "two_readers.py").write_text(text + "".join(f"{name} = make({name!r})\n" for name in names))


def test_a_file_that_two_readers_claim_is_read_by_the_one_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_readers(tmp_path, "ours", "theirs")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ClaimedTwice) as caught:
        read_session(b"LINES", "x.log")
    assert str(caught.value) == "x.log may be read by ours and theirs: name one by format="
    assert caught.value.readers == ("ours", "theirs")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert read_session(b"LINES", format="theirs").format == "theirs"
    with pytest.raises(ReadError) as refused:
        read_session(b"anything")
    told = dict(refused.value.tried)
    assert told["missing"].startswith("cannot be loaded: ")
    assert (told["ours"], told["odd"]) == ("no LINES", "is not a Reader")


@needs_shared
def test_no_real_session_is_claimed_twice() -> None:
    looked = 0
    for path in sorted((SHARED / "sessions").rglob("*")):
        if path.is_file() and path.stat().st_size < 1 << 20:
            data = path.read_bytes()
            assert len([reader.name for reader in READERS if reader.sniff(data) is None]) <= 1, path
            looked += 1
    assert looked > 40
