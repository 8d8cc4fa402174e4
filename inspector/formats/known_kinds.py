"""Bytes that no reader takes -> which harness's file they are all the same, and how much is in it.

A file of a version, or of a harness, that is not read here is told by its structure, never by its name: the
fields of its first rows, or of its document. Sources of the fields are FORMATS §1 to §14. What is counted is
counted in the bytes, so that a row that cannot be read counts too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ..text import plural
from .codex_parts import TRAE
from .json_document import HEAD, Fields, peek_once
from .json_lines import Data, iter_lines
from .recording import Json, first_rows
from .stream_json import is_droid_event


class RowKind(NamedTuple):
    """Files of JSON Lines: `holds` is asked of each of the first rows, `compaction` found in the bytes."""

    name: str
    holds: Callable[[Json], bool]
    compaction: bytes = b""
    advice: str = ""


class DocumentKind(NamedTuple):
    """Files of one JSON value: `measure` says how many of `one` they hold, None for another kind."""

    name: str
    measure: Callable[[Any], int | None]
    one: str
    advice: str = ""


def _is_codex(row: Json) -> bool:
    kinds = ("session_meta", "response_item", "turn_context", "event_msg", "compacted")
    if row.get("type") in kinds and isinstance(row.get("payload"), dict):
        return True
    return {"id", "timestamp", "instructions"} <= row.keys()


def _is_codex_stream(row: Json) -> bool:
    kind = row.get("type")
    if kind == "thread.started":
        return "thread_id" in row
    return kind in ("item.started", "item.completed") and isinstance(row.get("item"), dict)


def _is_claude(row: Json) -> bool:
    return row.get("type") in ("user", "assistant") and isinstance(row.get("message"), dict)


def _is_copilot(row: Json) -> bool:
    kinds = (
        *("session.start", "session.resume", "session.shutdown", "session.usage_checkpoint"),
        *("user.message", "assistant.message", "assistant.turn_start"),
    )
    return row.get("type") in kinds and isinstance(row.get("data"), dict)


def _is_kimi(row: Json) -> bool:
    message = row.get("message")
    return row.get("type") in ("config.update", "context.apply_compaction", "turn.prompt") or (
        isinstance(message, dict) and message.get("type") in ("TurnBegin", "StepBegin", "CompactionBegin")
    )


def _is_kimi_context(row: Json) -> bool:
    return row.get("role") in ("_usage", "_checkpoint", "_system_prompt")


def _is_goose_event(row: Json) -> bool:
    """A message of goose's: its calls are of types that no other harness writes."""
    inner = Fields(row.get("message")) if row.get("type") == "message" else Fields(row)
    parts = inner.rest.get("content")
    kinds = [Fields(part).rest.get("type") for part in parts] if isinstance(parts, list) else []
    return "toolRequest" in kinds or "toolResponse" in kinds


def _is_goose_header(row: Json) -> bool:
    return {"working_dir", "message_count"} <= row.keys()


def _is_cursor(row: Json) -> bool:
    told = row.get("message")
    return row.get("role") in ("user", "assistant") and isinstance(told, dict) and "content" in told


def _is_gemini_stream(row: Json) -> bool:
    return row.get("type") == "init" and {"session_id", "model", "timestamp"} <= row.keys()


def _is_gptme(row: Json) -> bool:
    """A message of gptme's: these flags stand in a row where they are set, and the first prompt has some."""
    flags = ("pinned", "hide", "ui_only")
    marks = any(row.get(flag) is True for flag in flags) or bool(
        {"file_hashes", "ephemeral_ttl"} & row.keys()
    )
    return marks and {"role", "content", "timestamp"} <= row.keys()


def _is_training(row: Json) -> bool:
    """A row of a data set of trajectories: the messages are a text, or a list beside the task's name."""
    return "instance_id" in row and (isinstance(row.get("messages"), str) or "trajectory" in row)


ONE_ROW = 'write the messages of one row as {"messages": […]} to open them'
ROWS: tuple[RowKind, ...] = (
    RowKind(
        "the events of `gemini --output-format stream-json`",
        _is_gemini_stream,
        advice="they do not hold the context: open the chat in ~/.gemini/tmp",
    ),
    RowKind("a rollout of TRAE's CLI", lambda row: row.get("type") == TRAE),
    RowKind("a Codex rollout", _is_codex, rb'"type"\s*:\s*"compacted"'),
    RowKind(
        "the events of `codex exec --json`",
        _is_codex_stream,
        advice="they do not hold the context: open the thread's rollout in ~/.codex/sessions",
    ),
    RowKind("a VS Code chat", lambda row: row.get("kind") == 0 and "requests" in Fields(row.get("v")).rest),
    RowKind("a Kimi session", _is_kimi, rb'"(?:context\.apply_compaction|CompactionBegin)"'),
    RowKind(
        "a Kiro session",
        lambda row: row.get("kind") in ("Prompt", "AssistantMessage", "ToolResults") and "data" in row,
    ),
    RowKind(
        "a Copilot CLI log",
        _is_copilot,
        rb'"type"\s*:\s*"session\.compaction_complete"',
    ),
    RowKind(
        "a Claude Code session",
        _is_claude,
        rb'"subtype"\s*:\s*"compact_boundary"|"isCompactSummary"\s*:\s*true',
        "its rows name neither themselves nor the row before",
    ),
    RowKind(
        "a session of Factory's Droid",
        lambda row: row.get("type") == "session_start" and {"id", "cwd"} <= row.keys(),
        rb'"type"\s*:\s*"compaction_state"',
    ),
    RowKind(
        "the events of `droid exec`",
        is_droid_event,
        advice="they do not hold the context: the session is in ~/.factory/sessions",
    ),
    RowKind("a goose session", _is_goose_header),
    RowKind(
        "messages of goose's",
        _is_goose_event,
        advice="they may be a part of a session: export the session with `goose session export`",
    ),
    RowKind(
        "a transcript that Entire shortened",
        lambda row: {"v", "agent", "type", "ts", "content"} <= row.keys(),
        advice="it leaves out compactions and what the cache gave: open the full.jsonl beside it",
    ),
    RowKind("trajectories to train with", _is_training, advice=ONE_ROW),
    RowKind(
        "the answers of a batch of OpenAI's",
        lambda row: {"custom_id", "response", "error"} <= row.keys(),
        advice="they do not hold what was asked: open the batch's input",
    ),
    RowKind("the context of a Kimi session", _is_kimi_context),
    RowKind(
        "a transcript of Cursor's agent",
        _is_cursor,
        advice="it holds no results of tools and no figures",
    ),
    RowKind(
        "the prompts that Claude Code remembers",
        lambda row: {"display", "pastedContents", "project"} <= row.keys(),
        advice="they hold no replies: open a session in ~/.claude/projects",
    ),
    RowKind(
        "the prompts that Codex remembers",
        lambda row: row.keys() == {"session_id", "ts", "text"},
        advice="they hold no replies: open a rollout in ~/.codex/sessions",
    ),
    RowKind("a Vibe session", lambda row: {"role", "content", "message_id"} <= row.keys()),
    RowKind("a gptme conversation", _is_gptme),
)


def _items(*names: str) -> Callable[[Any], int | None]:
    """How many items the first of `names` holds; the others must be there too."""

    def count(value: Any) -> int | None:
        if not isinstance(value, dict) or not all(name in value for name in names):
            return None
        held = value[names[0]]
        return len(held) if isinstance(held, list | dict) else None

    return count


def _listed(*names: str) -> Callable[[Any], int | None]:
    """How many objects a list holds whose first one has these fields."""

    def count(value: Any) -> int | None:
        first = value[0] if isinstance(value, list) and value else None
        return len(value) if isinstance(first, dict) and all(name in first for name in names) else None

    return count


def _count_within(value: Any) -> int | None:
    """How many events of Inspect's an object holds that is no log of it, such as a part cut out of one."""
    events = Fields(value).items("events")
    first = Fields(events[0]).rest if events else {}
    return len(events) if events and {"event", "timestamp"} <= first.keys() else None


def _count_sent(value: Any) -> int | None:
    """How many runs are in what LangSmith's SDK sends: one batch of them, or a list of batches."""
    batches = value if isinstance(value, list) else [value]
    runs = [run for batch in batches for run in Fields(batch).items("post") or ()]
    return len(runs) if runs and "run_type" in Fields(runs[0]).rest else None


def _steps(value: Any) -> int | None:
    version = value.get("schema_version") if isinstance(value, dict) else None
    if not isinstance(version, str) or not version.startswith("ATIF"):
        return None
    return len(value["steps"]) if isinstance(value.get("steps"), list) else 0


def _count_amp(value: Any) -> int | None:
    """How many messages a thread of Amp's holds."""
    fields = Fields(value)
    messages = fields.items("messages")
    return len(messages) if messages is not None and str(fields.text("id")).startswith("T-") else None


def _count_zed(value: Any) -> int | None:
    """How many messages a thread of Zed's holds: each is an object of one field that says who speaks."""
    messages = Fields(value).items("messages")
    first = messages[0] if messages else None
    return len(messages) if messages and isinstance(first, dict) and {"User", "Agent"} & set(first) else None


def _count_chunks(value: Any) -> int | None:
    """How many turns a prompt saved by Google AI Studio holds."""
    chunks = Fields(Fields(value).rest.get("chunkedPrompt")).items("chunks")
    return None if chunks is None else len(chunks)


def _count_contents(value: Any) -> int | None:
    """How many of Google's contents a saved chat of Gemini's holds."""
    listed = Fields(value).rest.get("history", value)
    first = Fields(listed[0]).rest if isinstance(listed, list) and listed else {}
    google = first.get("role") in ("user", "model") and isinstance(first.get("parts"), list)
    return len(listed) if google and all("type" not in Fields(part).rest for part in first["parts"]) else None


def _count_reply(value: Any) -> int | None:
    """How many items a reply of OpenAI's holds, of either of its two interfaces."""
    fields = Fields(value)
    kinds = {"response": "output", "chat.completion": "choices"}
    items = fields.items(kinds.get(str(fields.text("object")), ""))
    return None if items is None else len(items)


def _count_stored(value: Any) -> int | None:
    """No figure: the head of a session of opencode's, and each message and part, is a file of its own."""
    fields = Fields(value)
    head = fields.text("projectID") is not None and fields.text("directory") is not None
    inner = fields.text("sessionID") is not None and (
        fields.text("role") is not None
        or (fields.text("messageID") is not None and fields.text("type") is not None)
    )
    return 0 if fields.text("id") is not None and (head or inner) else None


def _count_browsing(value: Any) -> int | None:
    """How many steps a history of browser-use's holds: each has what was seen and what was done."""
    steps = Fields(value).items("history")
    first = Fields(steps[0]).rest if steps else {}
    return len(steps) if steps and {"model_output", "result", "state"} <= first.keys() else None


def _count_history_item(value: Any) -> int | None:
    """How many tokens a task took that stands in Roo Code's list; it names its task and its cost."""
    held = Fields(value)
    if not {"ts", "task", "tokensIn", "tokensOut", "totalCost"} <= held.rest.keys():
        return None
    return sum(int(held.number(name) or 0) for name in ("tokensIn", "tokensOut"))


DOCUMENTS: tuple[DocumentKind, ...] = (
    DocumentKind(
        "a saved checkpoint of Gemini's",
        _count_contents,
        "message",
        "open the chat itself, in the folder chats/ of ~/.gemini/tmp",
    ),
    DocumentKind("a thread of Amp's", _count_amp, "message"),
    DocumentKind("a thread of Zed's", _count_zed, "message"),
    DocumentKind("a prompt of Google AI Studio", _count_chunks, "turn"),
    DocumentKind("a goose session", _items("conversation", "working_dir"), "message"),
    DocumentKind("a session of Continue's", _items("history", "workspaceDirectory"), "message"),
    DocumentKind("a session of Augment's", _items("chatHistory", "sessionId"), "exchange"),
    DocumentKind("a trajectory of Trae Agent", _items("llm_interactions", "agent_steps"), "request"),
    DocumentKind("the state of AutoGen's agents", _items("agent_states", "version"), "agent"),
    DocumentKind("a file of a Letta agent", _items("messages", "agent_type"), "message"),
    DocumentKind(
        "calls exported from Weave",
        _listed("op_name", "trace_id"),
        "call",
        "what they only point to is not in the file",
    ),
    DocumentKind("results of τ²-bench", _items("simulations", "tasks"), "run", ONE_ROW),
    DocumentKind("a history of browser-use", _count_browsing, "step"),
    DocumentKind("a request to Gemini", _items("contents"), "message"),
    DocumentKind(
        "the screen of a Cline or Roo task",
        _listed("ts", "type", "say"),
        "message",
        "it does not hold the context: open api_conversation_history.json beside it",
    ),
    DocumentKind(
        "the metadata of a Cline or Roo task",
        _items("files_in_context", "model_usage"),
        "file",
        "open api_conversation_history.json beside it",
    ),
    DocumentKind(
        "the list entry of a Roo task",
        _count_history_item,
        "token",
        "open api_conversation_history.json beside it",
    ),
    DocumentKind(
        "a log of prompts to Gemini CLI",
        _listed("sessionId", "messageId", "message"),
        "prompt",
        "open the chat itself, in the folder chats/ beside it",
    ),
    DocumentKind("a rollout of the first Codex CLI", _items("items", "session"), "item"),
    DocumentKind("an older Copilot CLI session", _items("chatMessages", "timeline"), "message"),
    DocumentKind("an ATIF trajectory", _steps, "step"),
    DocumentKind("a SWE-agent trajectory", _items("trajectory", "history"), "step"),
    DocumentKind("a VS Code chat", _items("requests", "responderUsername"), "request"),
    DocumentKind("a VS Code chat", _items("requests", "sessionId"), "request"),
    DocumentKind("a Kiro session", _items("history", "conversation_id"), "turn"),
    DocumentKind("an export of Claude.ai", _listed("uuid", "chat_messages"), "conversation"),
    DocumentKind("an export of ChatGPT", _listed("mapping", "current_node"), "conversation"),
    DocumentKind("a conversation of ChatGPT", _items("mapping", "current_node"), "node"),
    DocumentKind(
        "a reply of OpenAI's",
        _count_reply,
        "item",
        "it does not hold what was asked: keep the request and it as one line, {request: …, response: …}",
    ),
    DocumentKind(
        "a file of opencode's older storage",
        _count_stored,
        "",
        "it is a part of a session: export the session with `opencode export`",
    ),
    DocumentKind("messages of the AI SDK", _listed("role", "parts"), "message"),
    DocumentKind("messages of pydantic-ai", _listed("kind", "parts"), "message"),
    DocumentKind("messages of LangChain", _listed("type", "data"), "message"),
    DocumentKind("events of an Inspect transcript", _listed("event", "timestamp"), "event"),
    DocumentKind("events of an Inspect transcript", _count_within, "event"),
    DocumentKind(
        "what LangSmith's SDK sends",
        _count_sent,
        "run",
        "it tells what was asked and what was answered apart: export the runs from LangSmith",
    ),
    DocumentKind("a Posit Assistant conversation", _items("messages", "schemaVersion", "root"), "message"),
    DocumentKind(
        "a list of messages",
        _listed("role", "content"),
        "message",
        "they may be any system's: name its reader by format=",
    ),
)
_AIDER = re.compile(rb"^# aider chat started at ", re.MULTILINE)


class KnownKind(NamedTuple):
    """What a file is: its kind, how much it holds, and what can be done, "" for nothing.

    >>> print(KnownKind("a Codex rollout", "3,405 rows, 2 compactions"))
    a Codex rollout of 3,405 rows, 2 compactions
    """

    name: str
    amount: str
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.name} of {self.amount}" if self.amount else self.name


def name_row(row: Json) -> str:
    """Whose row of JSON Lines it is; "" where nothing tells it.

    >>> name_row({"role": "_usage", "token_count": 7}), name_row({"role": "user", "content": "Hello"})
    ('the context of a Kimi session', '')
    """
    return next((kind.name for kind in ROWS if kind.holds(row)), "")


def recognise(data: Data) -> KnownKind | None:
    """The kind of a file that no reader takes; None where nothing tells it.

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
        for shape in DOCUMENTS:
            count = shape.measure(document)
            if count is not None:
                more = "" if len(view) <= HEAD else "at least "
                amount = more + plural(count, shape.one) if shape.one else ""
                return KnownKind(shape.name, amount, shape.advice)
    rows = first_rows(data)
    for kind in ROWS:
        if any(kind.holds(row) for row in rows):
            amount = plural(sum(1 for _ in iter_lines(data)), "row")
            if kind.compaction:
                times = sum(1 for _ in re.finditer(kind.compaction, view))
                amount += f", {plural(times, 'compaction')}"
            return KnownKind(kind.name, amount, kind.advice)
    return None
