"""One line of a Claude Code file -> a `Row` with the fields that matter here.

The other fields (most of a tool's raw result, a snapshot of files) are never decoded, which is most of the
work saved. A line of unusual JSON, or with fields of an unexpected type, is decoded more slowly into the
same row; a field of the wrong type counts as missing. Field names: CLAUDE §3.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from ...json_lines import decode

TALK = ("user", "assistant")
BOOKKEEPING = frozenset(
    {
        *("agent-color", "agent-name", "agent-setting", "ai-title", "artifact-autoreact-ledger"),
        *("api-request", "api-request-blob", "api-request-shape", "tools-used"),
        *("artifact-comment-monitor", "atis-latch", "attachment", "attribution-snapshot", "bridge-session"),
        *("content-replacement", "continued-in", "cost-state", "custom-title", "ended-by-model"),
        *("file-history-delta", "file-history-snapshot", "fork-context-ref", "frame-link"),
        *("history-suppression", "isolation-latch", "last-prompt", "mode", "observer-ref", "permission-mode"),
        *("pr-link", "progress", "queue-operation", "relocated", "speculation-accept", "summary", "tag"),
        *("task-summary", "worktree-state"),
    }
)
"""Types of rows that are not messages."""
SUBTYPES = frozenset(
    {
        *("agents_killed", "api_error", "api_metrics", "away_summary", "bridge_status", "file_snapshot"),
        *("informational", "local_command", "memory_saved", "model_consent_fallback"),
        *("model_refusal_fallback", "model_refusal_no_fallback", "permission_retry", "scheduled_task_fire"),
        *("stop_hook_summary", "thinking", "turn_duration"),
    }
)
"""Kinds of system rows that say nothing to the model."""

MOST_LINES = 2**31
"""A larger number of lines in a row is a wrong figure."""

S = TypeVar("S", bound=msgspec.Struct)


class UsageFields(msgspec.Struct, gc=False):
    """The fields of a reply's usage that are read. A reply has one until its entry is made."""

    input_tokens: Any = None
    output_tokens: Any = None
    cache_read_input_tokens: Any = None
    cache_creation_input_tokens: Any = None
    cache_creation: Any = None
    iterations: Any = None
    server_tool_use: Any = None
    speed: Any = None
    service_tier: Any = None
    inference_geo: Any = None


class Message(msgspec.Struct, gc=False):
    """A message sent to the API, or its answer."""

    id: str | None = None
    model: str | None = None
    content: Any = None
    stop_reason: str | None = None
    usage: UsageFields | str | list[Any] | bool | int | float | None = None


class ReadFile(msgspec.Struct, rename="camel", gc=False):
    """The part of a file that a Read returned."""

    content: Any = None
    num_lines: Any = None
    total_lines: Any = None


class ToolResult(msgspec.Struct, rename="camel", gc=False):
    """The fields that identify a sub-agent's result, and the text of the file that a tool read or changed."""

    status: Any = None
    total_tool_use_count: Any = None
    file: ReadFile | str | list[Any] | bool | int | float | None = None
    file_path: Any = None
    original_file: Any = None
    content: Any = None
    old_string: Any = None
    new_string: Any = None

    @property
    def tells_of_agent(self) -> bool:
        return self.total_tool_use_count is not None or self.status == "async_launched"

    @property
    def file_size(self) -> FileSize | None:
        """The size of the whole file after a Read, Write or Edit; None for other tools.

        If a Read returned some of the lines, the others are taken to be as long.
        """
        file, text, old, new = self.file, self.original_file, self.old_string, self.new_string
        if type(file) is ReadFile and isinstance(file.content, str):
            size, part, whole = measure_text(file.content), file.num_lines, file.total_lines
            if type(part) is int and type(whole) is int and 0 < part < whole < MOST_LINES:
                size = FileSize(size.chars * whole // part, whole)
            return size
        if not isinstance(self.file_path, str):
            return None
        if isinstance(self.content, str):
            return measure_text(self.content)
        if isinstance(text, str) and isinstance(old, str) and isinstance(new, str):
            chars, lines = zip(*map(measure_text, (text, new, old)), strict=True)
            return FileSize(*(max(whole + more - less, 0) for whole, more, less in (chars, lines)))
        return None


class FileSize(NamedTuple):
    """How long a text file is."""

    chars: int
    lines: int


def measure_text(text: str) -> FileSize:
    """Return the characters and lines of a text."""
    return FileSize(len(text), text.count("\n") + 1)


class AgentRow(msgspec.Struct, rename="camel", gc=False):
    """A sub-agent's row inside a row of progress."""

    type: Any = None
    uuid: Any = None
    timestamp: Any = None
    is_api_error_message: Any = None
    message: Any = None


class ProgressRow(msgspec.Struct, rename="camel", gc=False):
    """The data of a row of progress."""

    type: Any = None
    agent_id: Any = None
    message: AgentRow | str | list[Any] | bool | int | float | None = None


class Row(msgspec.Struct, rename="camel", gc=False):
    """A line of the file."""

    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    request_id: str | None = None
    parent_uuid: str | UnsetType | None = UNSET
    logical_parent_uuid: str | None = None
    is_sidechain: bool | None = None
    agent_id: str | None = None
    message: Message | None = None
    timestamp: str | None = None
    is_meta: bool | None = None
    origin: Any = None
    prompt_source: str | None = None
    plan_content: Any = None
    operation: str | None = None
    attachment: dict[str, Any] | None = None
    rendered: Any = None
    is_compact_summary: bool | None = None
    compact_metadata: Any = None
    microcompact_metadata: Any = None
    replacements: Any = None
    retracted_message_uuids: Any = None
    id: Any = None
    base: Any = None
    keep: Any = None
    tail: Any = None
    hash: Any = None
    shape: Any = None
    shape_hash: str | None = None
    query_source: str | None = None
    is_api_error_message: bool | None = None
    error: Any = None
    data: ProgressRow | str | list[Any] | bool | int | float | None = None
    cost: Any = msgspec.field(name="costUSD", default=None)
    tool_use_result: ToolResult | str | list[Any] | bool | int | float | None = None
    summary: str | None = None
    content: Any = None
    leaf_uuid: str | None = None
    explicit: Any = None
    custom_title: str | None = None
    ai_title: str | None = None
    session_id: str | None = None
    forked_from: Any = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None

    @property
    def copied_from(self) -> str | None:
        """The id of the session that a fork copied the row from; None if it was not copied."""
        origin = self.forked_from.get("sessionId") if isinstance(self.forked_from, dict) else None
        return origin if isinstance(origin, str) and origin and origin != self.session_id else None

    @property
    def file_extra(self) -> dict[str, Any] | None:
        """`extra` of a tool's output: how long the file is that the tool read or changed."""
        result = self.tool_use_result
        size = result.file_size if type(result) is ToolResult else None
        return None if size is None else {"file": size._asdict()}

    @property
    def lane(self) -> tuple[bool, str | None]:
        """Whether the row belongs to a sub-agent, and to which."""
        return (True, self.agent_id) if self.is_sidechain else (False, None)


def read_origin(origin: Any) -> str | None:
    """The kind of an `origin`, which is an object in all files seen."""
    kind = origin.get("kind") if isinstance(origin, dict) else origin
    return kind if isinstance(kind, str) and kind else None


class _Present(msgspec.Struct, gc=False):
    """An object of which only the presence matters; its fields are not decoded."""


class Sign(msgspec.Struct, rename="camel", gc=False):
    """The fields that distinguish Claude Code's rows from other rows.

    They have no types, unlike those of a `Row`: a large document of another format is not decoded twice.
    """

    type: Any = None
    uuid: Any = None
    message: _Present | None = None
    parent_uuid: Any = UNSET
    session_id: Any = None
    leaf_uuid: Any = None
    message_id: Any = None
    timestamp: Any = None
    streamed: Any = msgspec.field(name="session_id", default=None)

    @property
    def ours(self) -> bool:
        if self.type in TALK and self.uuid is None:
            # Rows reduced to their messages have no uuid; rows of a stream spell the session id differently.
            named = self.session_id is not None or isinstance(self.timestamp, str)
            return named and self.streamed is None and self.message is not None
        if self.type in TALK or self.type == "system":
            # An exporter may write the session id once, around the rows.
            alone = isinstance(self.timestamp, str) and self.streamed is None and self.message is not None
            linked = self.parent_uuid is not UNSET or self.session_id is not None
            return self.uuid is not None and (linked or alone)
        owner = self.session_id or self.leaf_uuid or self.message_id
        return isinstance(self.type, str) and self.type in BOOKKEEPING and owner is not None


_row = msgspec.json.Decoder(Row)
_sign = msgspec.json.Decoder(Sign)
_refused = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)


def decode_row(line: memoryview) -> Row:
    """Decode a row. Raises `ValueError` with a short reason if the line is not a JSON object."""
    try:
        return _row.decode(line)
    except _refused:
        return decode_row_slowly(line)


def decode_row_slowly(line: memoryview) -> Row:
    """`decode_row` without the fast path."""
    value = _object(decode(line))
    row = _convert(Row, {**value, "message": None})
    if "parentUuid" in value and row.parent_uuid is UNSET:
        row.parent_uuid = None
    if isinstance(message := value.get("message"), dict):
        row.message = _convert(Message, message)
    return row


def decode_sign(line: memoryview) -> Sign:
    """Decode the fields that identify the format. Raises `ValueError` as `decode_row` does."""
    try:
        return _sign.decode(line)
    except _refused:
        return _convert(Sign, _object(decode(line)))


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def _convert(cls: type[S], value: dict[str, Any]) -> S:
    converted = cls()
    for field in msgspec.structs.fields(cls):
        if field.encode_name in value:
            field_value = value[field.encode_name]
            try:
                setattr(
                    converted,
                    field.name,
                    field_value if field.type is Any else msgspec.convert(field_value, field.type),
                )
            except _refused:
                continue
    return converted
