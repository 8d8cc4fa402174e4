"""One line of a Claude Code file -> a `Row` with the fields that matter here.

The other fields (a tool's raw result, a snapshot of files) are never decoded, which is most of the work
saved. A line of unusual JSON, or with fields of another type than they should have, goes a slower way
and gives the same row; what has the wrong type counts as missing. Field names: CLAUDE §3.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from ...json_lines import decode

TALK = ("user", "assistant")
BOOKKEEPING = frozenset(
    {
        *("agent-color", "agent-name", "agent-setting", "ai-title", "artifact-autoreact-ledger"),
        *("artifact-comment-monitor", "atis-latch", "attachment", "attribution-snapshot", "bridge-session"),
        *("content-replacement", "continued-in", "cost-state", "custom-title", "ended-by-model"),
        *("file-history-delta", "file-history-snapshot", "fork-context-ref", "frame-link"),
        *("history-suppression", "isolation-latch", "last-prompt", "mode", "observer-ref", "permission-mode"),
        *("pr-link", "progress", "queue-operation", "relocated", "speculation-accept", "summary", "tag"),
        *("task-summary", "worktree-state"),
    }
)
"""Types of rows that are no messages."""
SUBTYPES = frozenset(
    {
        *("agents_killed", "api_error", "api_metrics", "away_summary", "bridge_status", "file_snapshot"),
        *("informational", "local_command", "memory_saved", "model_consent_fallback"),
        *("model_refusal_fallback", "model_refusal_no_fallback", "permission_retry", "scheduled_task_fire"),
        *("stop_hook_summary", "thinking", "turn_duration"),
    }
)
"""Kinds of system rows that say nothing to the model."""

S = TypeVar("S", bound=msgspec.Struct)


class UsageFields(msgspec.Struct, gc=False):
    """What of a reply's usage is read. Each of a file's replies has one until its entry is made."""

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
    """What the API was sent, or answered."""

    id: str | None = None
    model: str | None = None
    content: Any = None
    stop_reason: str | None = None
    usage: UsageFields | str | list[Any] | bool | int | float | None = None


class ToolResult(msgspec.Struct, rename="camel", gc=False):
    """What tells the result of a sub-agent's call from that of another tool."""

    status: Any = None
    total_tool_use_count: Any = None

    @property
    def tells_of_agent(self) -> bool:
        return self.total_tool_use_count is not None or self.status == "async_launched"


class AgentRow(msgspec.Struct, rename="camel", gc=False):
    """A row of a sub-agent's, as it stands in a row of progress."""

    type: Any = None
    uuid: Any = None
    timestamp: Any = None
    is_api_error_message: Any = None
    message: Any = None


class ProgressRow(msgspec.Struct, rename="camel", gc=False):
    """Of what a row tells progress."""

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
    def lane(self) -> tuple[bool, str | None]:
        """Whether the row belongs to a sub-agent, and to which."""
        return (True, self.agent_id) if self.is_sidechain else (False, None)


def read_origin(origin: Any) -> str | None:
    """The kind of an `origin`, which is an object in all files seen."""
    kind = origin.get("kind") if isinstance(origin, dict) else origin
    return kind if isinstance(kind, str) and kind else None


class _Told(msgspec.Struct, gc=False):
    """That an object is there; what is in it is not decoded."""


class Sign(msgspec.Struct, rename="camel", gc=False):
    """What tells a row of Claude Code's from others."""

    type: Any = None
    uuid: Any = None
    message: _Told | None = None
    parent_uuid: Any = UNSET
    session_id: Any = None
    leaf_uuid: Any = None
    message_id: Any = None
    timestamp: Any = None
    streamed: Any = msgspec.field(name="session_id", default=None)

    @property
    def ours(self) -> bool:
        if self.type in TALK and self.uuid is None:
            # Rows cut down to what is said follow each other; those of a stream spell the session otherwise.
            named = self.session_id is not None or isinstance(self.timestamp, str)
            return named and self.streamed is None and self.message is not None
        if self.type in TALK or self.type == "system":
            # An exporter may tell the session once, around the rows.
            alone = isinstance(self.timestamp, str) and self.streamed is None and self.message is not None
            linked = self.parent_uuid is not UNSET or self.session_id is not None
            return self.uuid is not None and (linked or alone)
        owner = self.session_id or self.leaf_uuid or self.message_id
        return isinstance(self.type, str) and self.type in BOOKKEEPING and owner is not None


_row = msgspec.json.Decoder(Row)
_sign = msgspec.json.Decoder(Sign)
_refused = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)


def decode_row(line: memoryview) -> Row:
    """The row. Raises `ValueError` with a short reason when the line is no JSON object."""
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
    """Just enough of the row to know it. Raises `ValueError` as `decode_row` does."""
    try:
        return _sign.decode(line)
    except _refused:
        return _convert(Sign, _object(decode(line)))


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def _convert(cls: type[S], value: dict[str, Any]) -> S:
    made = cls()
    for field in msgspec.structs.fields(cls):
        if field.encode_name in value:
            given = value[field.encode_name]
            try:
                setattr(made, field.name, given if field.type is Any else msgspec.convert(given, field.type))
            except _refused:
                continue
    return made
