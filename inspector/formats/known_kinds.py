"""Identify unsupported files: the tool that wrote them, and how much they contain.

A file of an unsupported version or harness is identified by its structure, never by its name: by the fields
of its first rows (`ROWS`) or of its document (`DOCUMENTS`). The first match counts. `ADVICE` says what to do
with such a file. Sources of the fields are FORMATS §1 to §14. Rows are counted in the bytes, so that
unreadable rows are included.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ..text import plural
from .harnesses.claude_code.stream_json import is_droid_event
from .harnesses.codex.parts import TRAE
from .json_document import HEAD, Fields, peek_once
from .json_lines import Data, iter_lines
from .recording import Json, first_rows

RowTest = Callable[[Json], bool]
"""Whether one of the first rows of a file of JSON Lines is of a kind."""
Measure = Callable[[Any], int | None]
"""How many items a file of one JSON value holds; None for another kind."""


def _has(*names: str) -> RowTest:
    """Whether a row has all of these fields."""
    return lambda row: set(names) <= row.keys()


def _typed(inner: str, *types: str) -> RowTest:
    """Whether a row is of one of these types, with an object in the field `inner`."""
    return lambda row: row.get("type") in types and isinstance(row.get(inner), dict)


def _any(*tests: RowTest) -> RowTest:
    return lambda row: any(test(row) for test in tests)


def _is_kimi(row: Json) -> bool:
    inner = Fields(row.get("message")).rest.get("type")
    return row.get("type") in ("config.update", "context.apply_compaction", "turn.prompt") or (
        inner in ("TurnBegin", "StepBegin", "CompactionBegin")
    )


def _is_goose_event(row: Json) -> bool:
    """A message of goose's: its calls are of types that no other harness writes."""
    inner = Fields(row.get("message")) if row.get("type") == "message" else Fields(row)
    kinds = [Fields(part).rest.get("type") for part in inner.items("content") or ()]
    return "toolRequest" in kinds or "toolResponse" in kinds


def _is_cursor(row: Json) -> bool:
    return row.get("role") in ("user", "assistant") and "content" in Fields(row.get("message")).rest


def _is_gptme(row: Json) -> bool:
    """Return whether a row is a message of gptme: it has one of these flags; the first prompt has several."""
    flagged = any(row.get(flag) is True for flag in ("pinned", "hide", "ui_only"))
    marked = flagged or "file_hashes" in row or "ephemeral_ttl" in row
    return marked and {"role", "content", "timestamp"} <= row.keys()


def _is_training(row: Json) -> bool:
    """Return whether a row is from a data set of trajectories: messages as text, or with the task's name."""
    return "instance_id" in row and (isinstance(row.get("messages"), str) or "trajectory" in row)


ROWS: tuple[tuple[str, RowTest], ...] = (
    (
        "the events of `gemini --output-format stream-json`",
        lambda row: row.get("type") == "init" and {"session_id", "model", "timestamp"} <= row.keys(),
    ),
    ("a rollout of TRAE's CLI", lambda row: row.get("type") == TRAE),
    (
        "a Codex rollout",
        _any(
            _typed("payload", "session_meta", "response_item", "turn_context", "event_msg", "compacted"),
            _has("id", "timestamp", "instructions"),
        ),
    ),
    (
        "the events of `codex exec --json`",
        _any(
            lambda row: row.get("type") == "thread.started" and "thread_id" in row,
            _typed("item", "item.started", "item.completed"),
        ),
    ),
    ("a VS Code chat", lambda row: row.get("kind") == 0 and "requests" in Fields(row.get("v")).rest),
    ("a Kimi session", _is_kimi),
    (
        "a Kiro session",
        lambda row: row.get("kind") in ("Prompt", "AssistantMessage", "ToolResults") and "data" in row,
    ),
    (
        "a Copilot CLI log",
        _any(
            _typed("data", "session.start", "session.resume", "session.shutdown", "session.usage_checkpoint"),
            _typed("data", "user.message", "assistant.message", "assistant.turn_start"),
        ),
    ),
    ("a Claude Code session", _typed("message", "user", "assistant")),
    (
        "a session of Factory's Droid",
        lambda row: row.get("type") == "session_start" and {"id", "cwd"} <= row.keys(),
    ),
    ("the events of `droid exec`", is_droid_event),
    ("a goose session", _has("working_dir", "message_count")),
    ("messages of goose's", _is_goose_event),
    ("a transcript that Entire shortened", _has("v", "agent", "type", "ts", "content")),
    ("trajectories to train with", _is_training),
    ("the answers of a batch of OpenAI's", _has("custom_id", "response", "error")),
    (
        "the context of a Kimi session",
        lambda row: row.get("role") in ("_usage", "_checkpoint", "_system_prompt"),
    ),
    ("a transcript of Cursor's agent", _is_cursor),
    ("the prompts that Claude Code remembers", _has("display", "pastedContents", "project")),
    ("the prompts that Codex remembers", lambda row: row.keys() == {"session_id", "ts", "text"}),
    ("a Vibe session", _has("role", "content", "message_id")),
    ("a gptme conversation", _is_gptme),
)
COMPACTIONS = {
    "a Codex rollout": rb'"type"\s*:\s*"compacted"',
    "a Kimi session": rb'"(?:context\.apply_compaction|CompactionBegin)"',
    "a Copilot CLI log": rb'"type"\s*:\s*"session\.compaction_complete"',
    "a Claude Code session": rb'"subtype"\s*:\s*"compact_boundary"|"isCompactSummary"\s*:\s*true',
    "a session of Factory's Droid": rb'"type"\s*:\s*"compaction_state"',
}
"""Pattern that finds the compactions in the bytes of a kind of lines."""


def _items(name: str, *other_fields: str, first: tuple[str, ...] = ()) -> Measure:
    """Count the items of the field `name`, if all `other_fields` and the fields of the `first` item exist."""

    def count(value: Any) -> int | None:
        fields = Fields(value).rest
        items = fields.get(name)
        if not isinstance(items, list | dict) or not set(other_fields) <= fields.keys():
            return None
        if first and not (isinstance(items, list) and items and set(first) <= Fields(items[0]).rest.keys()):
            return None
        return len(items)

    return count


def _listed(*names: str) -> Measure:
    """Count the objects of a list whose first one has these fields."""

    def count(value: Any) -> int | None:
        first = value[0] if isinstance(value, list) and value else None
        return len(value) if isinstance(first, dict) and set(names) <= first.keys() else None

    return count


def _count_sent(value: Any) -> int | None:
    """Count the runs in what LangSmith's SDK sends: one batch of them, or a list of batches."""
    batches = value if isinstance(value, list) else [value]
    runs = [run for batch in batches for run in Fields(batch).items("post") or ()]
    return len(runs) if runs and "run_type" in Fields(runs[0]).rest else None


def _count_steps(value: Any) -> int | None:
    fields = Fields(value)
    version = fields.text("schema_version") or ""
    return len(fields.items("steps") or ()) if version.startswith("ATIF") else None


def _count_amp(value: Any) -> int | None:
    fields = Fields(value)
    messages = fields.items("messages")
    return len(messages) if messages is not None and str(fields.text("id")).startswith("T-") else None


def _count_zed(value: Any) -> int | None:
    """Count the messages of a thread of Zed's: each is an object of one field that says who speaks."""
    messages = Fields(value).items("messages")
    return len(messages) if messages and {"User", "Agent"} & Fields(messages[0]).rest.keys() else None


def _count_chunks(value: Any) -> int | None:
    chunks = Fields(Fields(value).rest.get("chunkedPrompt")).items("chunks")
    return None if chunks is None else len(chunks)


def _count_contents(value: Any) -> int | None:
    """Count Google's contents in a saved chat of Gemini's."""
    listed = Fields(value).rest.get("history", value)
    first = Fields(listed[0]).rest if isinstance(listed, list) and listed else {}
    google = first.get("role") in ("user", "model") and isinstance(first.get("parts"), list)
    return len(listed) if google and all("type" not in Fields(part).rest for part in first["parts"]) else None


def _count_reply(value: Any) -> int | None:
    """Count the items of a reply of OpenAI's, of either of its two interfaces."""
    fields = Fields(value)
    kinds = {"response": "output", "chat.completion": "choices"}
    items = fields.items(kinds.get(str(fields.text("object")), ""))
    return None if items is None else len(items)


def _count_stored(value: Any) -> int | None:
    """Return 0: opencode stores the session, each message and each part in separate files."""
    names = {name for name, cell in Fields(value).rest.items() if isinstance(cell, str)}
    message = {"sessionID", "role"} <= names
    part = {"sessionID", "messageID", "type"} <= names
    return 0 if "id" in names and ({"projectID", "directory"} <= names or message or part) else None


def _count_history_item(value: Any) -> int | None:
    """Count the tokens of a task in Roo Code's list; an item names its task and its cost."""
    fields = Fields(value)
    if not {"ts", "task", "tokensIn", "tokensOut", "totalCost"} <= fields.rest.keys():
        return None
    return sum(int(fields.number(name) or 0) for name in ("tokensIn", "tokensOut"))


DOCUMENTS: tuple[tuple[str, Measure, str], ...] = (
    ("a saved checkpoint of Gemini's", _count_contents, "message"),
    ("a thread of Amp's", _count_amp, "message"),
    ("a thread of Zed's", _count_zed, "message"),
    ("a prompt of Google AI Studio", _count_chunks, "turn"),
    ("a goose session", _items("conversation", "working_dir"), "message"),
    ("a session of Continue's", _items("history", "workspaceDirectory"), "message"),
    ("a session of Augment's", _items("chatHistory", "sessionId"), "exchange"),
    ("a trajectory of Trae Agent", _items("llm_interactions", "agent_steps"), "request"),
    ("the state of AutoGen's agents", _items("agent_states", "version"), "agent"),
    ("a file of a Letta agent", _items("messages", "agent_type"), "message"),
    ("calls exported from Weave", _listed("op_name", "trace_id"), "call"),
    ("results of τ²-bench", _items("simulations", "tasks"), "run"),
    ("a history of browser-use", _items("history", first=("model_output", "result", "state")), "step"),
    ("a request to Gemini", _items("contents"), "message"),
    ("the screen of a Cline or Roo task", _listed("ts", "type", "say"), "message"),
    ("the metadata of a Cline or Roo task", _items("files_in_context", "model_usage"), "file"),
    ("the list entry of a Roo task", _count_history_item, "token"),
    ("a log of prompts to Gemini CLI", _listed("sessionId", "messageId", "message"), "prompt"),
    ("a rollout of the first Codex CLI", _items("items", "session"), "item"),
    ("an older Copilot CLI session", _items("chatMessages", "timeline"), "message"),
    ("an ATIF trajectory", _count_steps, "step"),
    ("a SWE-agent trajectory", _items("trajectory", "history"), "step"),
    ("a VS Code chat", _items("requests", "responderUsername"), "request"),
    ("a VS Code chat", _items("requests", "sessionId"), "request"),
    ("a Kiro session", _items("history", "conversation_id"), "turn"),
    ("an export of Claude.ai", _listed("uuid", "chat_messages"), "conversation"),
    ("an export of ChatGPT", _listed("mapping", "current_node"), "conversation"),
    ("a conversation of ChatGPT", _items("mapping", "current_node"), "node"),
    ("a reply of OpenAI's", _count_reply, "item"),
    ("a file of opencode's older storage", _count_stored, ""),
    ("messages of the AI SDK", _listed("role", "parts"), "message"),
    ("messages of pydantic-ai", _listed("kind", "parts"), "message"),
    ("messages of LangChain", _listed("type", "data"), "message"),
    ("events of an Inspect transcript", _listed("event", "timestamp"), "event"),
    ("events of an Inspect transcript", _items("events", first=("event", "timestamp")), "event"),
    ("data sent by LangSmith's SDK", _count_sent, "run"),
    ("a Posit Assistant conversation", _items("messages", "schemaVersion", "root"), "message"),
    ("a list of messages", _listed("role", "content"), "message"),
)
"""Name, measure, and the noun for one item ("" to omit the number)."""

ONE_ROW = 'write the messages of one row as {"messages": […]} to open them'
OPEN_TASK = "open api_conversation_history.json in the same folder"
ADVICE = {
    "the events of `gemini --output-format stream-json`": (
        "they do not hold the context: open the chat in ~/.gemini/tmp"
    ),
    "the events of `codex exec --json`": (
        "they do not hold the context: open the thread's rollout in ~/.codex/sessions"
    ),
    "a Claude Code session": "its rows name neither themselves nor the row before",
    "the events of `droid exec`": "they do not hold the context: the session is in ~/.factory/sessions",
    "messages of goose's": (
        "they may be a part of a session: export the session with `goose session export`"
    ),
    "a transcript that Entire shortened": (
        "it lacks compactions and cached tokens: open the full.jsonl in the same folder"
    ),
    "trajectories to train with": ONE_ROW,
    "the answers of a batch of OpenAI's": "they do not hold what was asked: open the batch's input",
    "a transcript of Cursor's agent": "it holds no results of tools and no figures",
    "the prompts that Claude Code remembers": "they hold no replies: open a session in ~/.claude/projects",
    "the prompts that Codex remembers": "they hold no replies: open a rollout in ~/.codex/sessions",
    "a saved checkpoint of Gemini's": "open the chat itself, in the folder chats/ of ~/.gemini/tmp",
    "calls exported from Weave": "values that they only refer to are not in the file",
    "results of τ²-bench": ONE_ROW,
    "the screen of a Cline or Roo task": f"it does not hold the context: {OPEN_TASK}",
    "the metadata of a Cline or Roo task": OPEN_TASK,
    "the list entry of a Roo task": OPEN_TASK,
    "a log of prompts to Gemini CLI": "open the chat itself, in the folder chats/ next to it",
    "a reply of OpenAI's": (
        "it does not hold what was asked: keep the request and it as one line, {request: …, response: …}"
    ),
    "a file of opencode's older storage": (
        "it is a part of a session: export the session with `opencode export`"
    ),
    "data sent by LangSmith's SDK": (
        "it stores inputs and outputs of a run apart: export the runs from LangSmith"
    ),
    "a list of messages": "they may be any system's: name its reader by format=",
}
"""Advice for files of a kind, or what such a file lacks."""
_AIDER = re.compile(rb"^# aider chat started at ", re.MULTILINE)


class KnownKind(NamedTuple):
    """An identified file: its kind, how much it contains, and advice ("" for none).

    >>> print(KnownKind("a Codex rollout", "3,405 rows, 2 compactions"))
    a Codex rollout of 3,405 rows, 2 compactions
    """

    name: str
    amount: str
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.name} of {self.amount}" if self.amount else self.name


def name_row(row: Json) -> str:
    """Return the kind of a row of JSON Lines; "" if it is unknown.

    >>> name_row({"role": "_usage", "token_count": 7}), name_row({"role": "user", "content": "Hello"})
    ('the context of a Kimi session', '')
    """
    return next((name for name, holds in ROWS if holds(row)), "")


def recognise(data: Data) -> KnownKind | None:
    """Return the kind of a file that no reader recognises; None if it is unknown.

    >>> row = b'{"type": "response_item", "payload": {"type": "message"}}'
    >>> print(recognise(row + b'\\n{"type": "compacted", "payload": {}}'))
    a Codex rollout of 2 rows, 1 compaction
    >>> recognise(b'{"name": "x"}') is None
    True
    """
    view = memoryview(data)
    head = bytes(view[:HEAD])
    if chats := len(_AIDER.findall(view)):
        return KnownKind("a chat history of Aider", plural(chats, "chat"))
    document, reason = peek_once(head, len(view) <= HEAD)
    if not reason:
        for name, measure, singular in DOCUMENTS:
            if (count := measure(document)) is not None:
                more = "" if len(view) <= HEAD else "at least "
                return KnownKind(
                    name, more + plural(count, singular) if singular else "", ADVICE.get(name, "")
                )
    rows = first_rows(data)
    for name, holds in ROWS:
        if any(map(holds, rows)):
            amount = plural(sum(1 for _ in iter_lines(data)), "row")
            if pattern := COMPACTIONS.get(name):
                amount += f", {plural(sum(1 for _ in re.finditer(pattern, view)), 'compaction')}"
            return KnownKind(name, amount, ADVICE.get(name, ""))
    return None
