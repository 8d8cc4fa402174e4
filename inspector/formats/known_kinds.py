"""Identify unsupported files: the tool that wrote them, and how much they contain.

A file of an unsupported version or harness is identified by its structure, never by its name: by the fields
of one of its first rows (`ROWS`) or of its document (`DOCUMENTS`). The first kind that fits counts. Sources
of the fields are FORMATS §1 to §14. Rows are counted in the bytes, so that unreadable rows are included.
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


class _Kind(NamedTuple):
    """A kind of unsupported files.

    `forms` are the forms of a row, or where the items of a document are. A form names fields: `a/b` is the
    field b of the object a, `a=x|y` has one of these values, and `a{}` is an object. "b: a" are the items of
    the field b of an object of the form "a", "b[]: a" those whose first is of that form, "[]: a" such a list.
    Instead of a form there may be a function, of a document one that returns the items or their number.
    """

    name: str
    forms: str | Callable[[Any], Any]
    singular: str = ""
    advice: str = ""
    compactions: bytes = b""


def _fits(value: Any, form: str) -> bool:
    for term in form.split():
        path, _, words = term.partition("=")
        field = value
        for key in path.removesuffix("{}").split("/"):
            if not isinstance(field, dict) or key not in field:
                return False
            field = field[key]
        if path.endswith("{}") and not isinstance(field, dict):
            return False
        if words and str(field) not in words.split("|"):
            return False
    return True


def _holds(row: Json, kind: _Kind) -> bool:
    if callable(kind.forms):
        return bool(kind.forms(row))
    return any(_fits(row, form) for form in kind.forms.split(";"))


def _find_items(value: Any, kind: _Kind) -> Any:
    """Return the items of a document of a kind, or their number; None if it is of another kind."""
    if callable(kind.forms):
        return kind.forms(value)
    where, _, form = kind.forms.partition(":")
    items = value
    for key in filter(None, where.removesuffix("[]").split("/")):
        items = Fields(items).rest.get(key)
    if where.endswith("[]"):
        return items if isinstance(items, list) and items and _fits(items[0], form) else None
    return items if isinstance(items, list | dict) and _fits(value, form) else None


def _is_goose_event(row: Json) -> bool:
    """A message of goose's: its calls are of types that no other harness writes."""
    inner = Fields(row.get("message")) if row.get("type") == "message" else Fields(row)
    kinds = [Fields(part).rest.get("type") for part in inner.items("content") or ()]
    return "toolRequest" in kinds or "toolResponse" in kinds


def _is_gptme(row: Json) -> bool:
    """Return whether a row is a message of gptme: it has one of these flags; the first prompt has several."""
    flagged = any(row.get(flag) is True for flag in ("pinned", "hide", "ui_only"))
    marked = flagged or "file_hashes" in row or "ephemeral_ttl" in row
    return marked and {"role", "content", "timestamp"} <= row.keys()


def _is_training(row: Json) -> bool:
    """Return whether a row is from a data set of trajectories: messages as text, or with the task's name."""
    return "instance_id" in row and (isinstance(row.get("messages"), str) or "trajectory" in row)


def _find_sent(value: Any) -> Any:
    """Find the runs in what LangSmith's SDK sends: one batch of them, or a list of batches."""
    batches = value if isinstance(value, list) else [value]
    runs = [run for batch in batches for run in Fields(batch).items("post") or ()]
    return runs if runs and _fits(runs[0], "run_type") else None


def _find_steps(value: Any) -> Any:
    fields = Fields(value)
    version = fields.text("schema_version") or ""
    return fields.items("steps") or () if version.startswith("ATIF") else None


def _find_amp(value: Any) -> Any:
    fields = Fields(value)
    return fields.items("messages") if str(fields.text("id")).startswith("T-") else None


def _find_zed(value: Any) -> Any:
    """Find the messages of a thread of Zed's: each is an object of one field that says who speaks."""
    messages = Fields(value).items("messages")
    return messages if messages and {"User", "Agent"} & Fields(messages[0]).rest.keys() else None


def _find_contents(value: Any) -> Any:
    """Find Google's contents in a saved chat of Gemini's."""
    listed = Fields(value).rest.get("history", value)
    first = Fields(listed[0]).rest if isinstance(listed, list) and listed else {}
    google = first.get("role") in ("user", "model") and isinstance(first.get("parts"), list)
    return listed if google and all("type" not in Fields(part).rest for part in first["parts"]) else None


def _find_reply(value: Any) -> Any:
    """Find the items of a reply of OpenAI's, of either of its two interfaces."""
    fields = Fields(value)
    kinds = {"response": "output", "chat.completion": "choices"}
    return fields.items(kinds.get(str(fields.text("object")), ""))


def _find_stored(value: Any) -> Any:
    """Return () for a file of opencode's: it stores the session, each message and each part separately."""
    texts = {name: cell for name, cell in Fields(value).rest.items() if isinstance(cell, str)}
    forms = ("id projectID directory", "id sessionID role", "id sessionID messageID type")
    return () if any(_fits(texts, form) for form in forms) else None


def _sum_history_item(value: Any) -> Any:
    """Return the tokens of a task in Roo Code's list; an item names its task and its cost."""
    fields = Fields(value)
    if not _fits(value, "ts task tokensIn tokensOut totalCost"):
        return None
    return sum(int(fields.number(name) or 0) for name in ("tokensIn", "tokensOut"))


_ROW = 'write the messages of one row as {"messages": […]} to open them'
_TASK = "open api_conversation_history.json in the same folder"
_SCREEN = f"it does not hold the context: {_TASK}"
_GEMINI = "they do not hold the context: open the chat in ~/.gemini/tmp"
_EXEC = "they do not hold the context: open the thread's rollout in ~/.codex/sessions"
_DROID = "they do not hold the context: the session is in ~/.factory/sessions"
_GOOSE = "they may be a part of a session: export the session with `goose session export`"
_ENTIRE = "it lacks compactions and cached tokens: open the full.jsonl in the same folder"
_BATCH = "they do not hold what was asked: open the batch's input"
_CLAUDE_PROMPTS = "they hold no replies: open a session in ~/.claude/projects"
_CODEX_PROMPTS = "they hold no replies: open a rollout in ~/.codex/sessions"
_NO_LINKS = "its rows name neither themselves nor the row before"
_REPLY = "it does not hold what was asked: keep the request and it as one line, {request: …, response: …}"
_STORED = "it is a part of a session: export the session with `opencode export`"
_SENT = "it stores inputs and outputs of a run apart: export the runs from LangSmith"
_CLAUDE_COMPACTIONS = rb'"subtype"\s*:\s*"compact_boundary"|"isCompactSummary"\s*:\s*true'
_KIMI_COMPACTIONS = rb'"(?:context\.apply_compaction|CompactionBegin)"'
_CODEX = (
    "type=session_meta|response_item|turn_context|event_msg|compacted payload{};id timestamp instructions"
)
_CODEX_EXEC = "type=thread.started thread_id;type=item.started|item.completed item{}"
_KIMI = (
    "type=config.update|context.apply_compaction|turn.prompt;message/type=TurnBegin|StepBegin|CompactionBegin"
)
_COPILOT = (
    "type=session.start|session.resume|session.shutdown|session.usage_checkpoint data{};"
    "type=user.message|assistant.message|assistant.turn_start data{}"
)

ROWS = (
    _Kind(
        "the events of `gemini --output-format stream-json`",
        "type=init session_id model timestamp",
        advice=_GEMINI,
    ),
    _Kind("a rollout of TRAE's CLI", f"type={TRAE}"),
    _Kind("a Codex rollout", _CODEX, compactions=rb'"type"\s*:\s*"compacted"'),
    _Kind("the events of `codex exec --json`", _CODEX_EXEC, advice=_EXEC),
    _Kind("a VS Code chat", "kind=0 v/requests"),
    _Kind("a Kimi session", _KIMI, compactions=_KIMI_COMPACTIONS),
    _Kind("a Kiro session", "kind=Prompt|AssistantMessage|ToolResults data"),
    _Kind("a Copilot CLI log", _COPILOT, compactions=rb'"type"\s*:\s*"session\.compaction_complete"'),
    _Kind("a Claude Code session", "type=user|assistant message{}", "", _NO_LINKS, _CLAUDE_COMPACTIONS),
    _Kind(
        "a session of Factory's Droid",
        "type=session_start id cwd",
        "",
        "",
        rb'"type"\s*:\s*"compaction_state"',
    ),
    _Kind("the events of `droid exec`", is_droid_event, advice=_DROID),
    _Kind("a goose session", "working_dir message_count"),
    _Kind("messages of goose's", _is_goose_event, advice=_GOOSE),
    _Kind("a transcript that Entire shortened", "v agent type ts content", advice=_ENTIRE),
    _Kind("trajectories to train with", _is_training, advice=_ROW),
    _Kind("the answers of a batch of OpenAI's", "custom_id response error", advice=_BATCH),
    _Kind("the context of a Kimi session", "role=_usage|_checkpoint|_system_prompt"),
    _Kind(
        "a transcript of Cursor's agent",
        "role=user|assistant message/content",
        advice="it holds no results of tools and no figures",
    ),
    _Kind("the prompts that Claude Code remembers", "display pastedContents project", advice=_CLAUDE_PROMPTS),
    _Kind(
        "the prompts that Codex remembers",
        lambda row: row.keys() == {"session_id", "ts", "text"},
        advice=_CODEX_PROMPTS,
    ),
    _Kind("a Vibe session", "role content message_id"),
    _Kind("a gptme conversation", _is_gptme),
)
DOCUMENTS = (
    _Kind(
        "a saved checkpoint of Gemini's",
        _find_contents,
        "message",
        "open the chat itself, in the folder chats/ of ~/.gemini/tmp",
    ),
    _Kind("a thread of Amp's", _find_amp, "message"),
    _Kind("a thread of Zed's", _find_zed, "message"),
    _Kind("a prompt of Google AI Studio", "chunkedPrompt/chunks:", "turn"),
    _Kind("a goose session", "conversation: working_dir", "message"),
    _Kind("a session of Continue's", "history: workspaceDirectory", "message"),
    _Kind("a session of Augment's", "chatHistory: sessionId", "exchange"),
    _Kind("a trajectory of Trae Agent", "llm_interactions: agent_steps", "request"),
    _Kind("the state of AutoGen's agents", "agent_states: version", "agent"),
    _Kind("a file of a Letta agent", "messages: agent_type", "message"),
    _Kind(
        "calls exported from Weave",
        "[]: op_name trace_id",
        "call",
        "values that they only refer to are not in the file",
    ),
    _Kind("results of τ²-bench", "simulations: tasks", "run", _ROW),
    _Kind("a history of browser-use", "history[]: model_output result state", "step"),
    _Kind("a request to Gemini", "contents:", "message"),
    _Kind("the screen of a Cline or Roo task", "[]: ts type say", "message", _SCREEN),
    _Kind("the metadata of a Cline or Roo task", "files_in_context: model_usage", "file", _TASK),
    _Kind("the list entry of a Roo task", _sum_history_item, "token", _TASK),
    _Kind(
        "a log of prompts to Gemini CLI",
        "[]: sessionId messageId message",
        "prompt",
        "open the chat itself, in the folder chats/ next to it",
    ),
    _Kind("a rollout of the first Codex CLI", "items: session", "item"),
    _Kind("an older Copilot CLI session", "chatMessages: timeline", "message"),
    _Kind("an ATIF trajectory", _find_steps, "step"),
    _Kind("a SWE-agent trajectory", "trajectory: history", "step"),
    _Kind("a VS Code chat", "requests: responderUsername", "request"),
    _Kind("a VS Code chat", "requests: sessionId", "request"),
    _Kind("a Kiro session", "history: conversation_id", "turn"),
    _Kind("an export of Claude.ai", "[]: uuid chat_messages", "conversation"),
    _Kind("an export of ChatGPT", "[]: mapping current_node", "conversation"),
    _Kind("a conversation of ChatGPT", "mapping: current_node", "node"),
    _Kind("a reply of OpenAI's", _find_reply, "item", _REPLY),
    _Kind("a file of opencode's older storage", _find_stored, "", _STORED),
    _Kind("messages of the AI SDK", "[]: role parts", "message"),
    _Kind("messages of pydantic-ai", "[]: kind parts", "message"),
    _Kind("messages of LangChain", "[]: type data", "message"),
    _Kind("events of an Inspect transcript", "[]: event timestamp", "event"),
    _Kind("events of an Inspect transcript", "events[]: event timestamp", "event"),
    _Kind("data sent by LangSmith's SDK", _find_sent, "run", _SENT),
    _Kind("a Posit Assistant conversation", "messages: schemaVersion root", "message"),
    _Kind(
        "a list of messages",
        "[]: role content",
        "message",
        "they may be any system's: name its reader by format=",
    ),
)
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
    return next((kind.name for kind in ROWS if _holds(row, kind)), "")


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
    for kind in () if reason else DOCUMENTS:
        if (items := _find_items(document, kind)) is not None:
            count = items if isinstance(items, int) else len(items)
            more = "" if len(view) <= HEAD else "at least "
            amount = more + plural(count, kind.singular) if kind.singular else ""
            return KnownKind(kind.name, amount, kind.advice)
    rows = first_rows(data)
    for kind in ROWS:
        if any(_holds(row, kind) for row in rows):
            amount = plural(sum(1 for _ in iter_lines(data)), "row")
            if kind.compactions:
                compactions = sum(1 for _ in re.finditer(kind.compactions, view))
                amount += f", {plural(compactions, 'compaction')}"
            return KnownKind(kind.name, amount, kind.advice)
    return None
