"""Convert the parts of a Codex rollout's items to blocks: text, images, reasoning, tools (FORMATS §1)."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any, NamedTuple

from ....session.blocks import Block, Reasoning, ToolOutput
from ....session.entries import Tool, Usage
from ....session.json_text import stringify
from ...json_document import Fields, ParsedBlock
from ...recording import Json, parse_arguments, read_inclusive

EXITED = re.compile(
    r"\A(?:(?:Chunk ID|Wall time): [^\n]*\n)*(?:Exit code:|Process exited with code) (-?\d+)(?=\n|\Z)"
)
"""First lines of a command's output, since Codex writes outputs as text and not as JSON."""

HEADER = frozenset({"id", "timestamp", "instructions", "git"})
"""The only fields that the header of a rollout from before September 2025 may have."""
USAGE = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")
TRAE = "history_mutation"
"""Type of the rows in which TRAE's CLI, a fork of Codex, stores its messages."""
MESSAGE_EVENTS = ("user_message", "agent_message")
ITEMS = {"UserMessage": "user_message", "AgentMessage": "agent_message"}
"""Type of a completed item -> the event that repeated the same message until September 2026."""
EVENTS = frozenset(
    [
        *("task_started", "task_complete", "turn_started", "turn_complete", "turn_aborted", "user_message"),
        *("agent_message", "agent_reasoning", "agent_reasoning_raw_content", "agent_reasoning_section_break"),
        *("token_count", "context_compacted", "thread_rolled_back", "thread_name_updated"),
        *("thread_settings_applied", "entered_review_mode", "exited_review_mode", "patch_apply_begin"),
        *("patch_apply_end", "exec_command_begin", "exec_command_end", "mcp_tool_call_begin"),
        *("mcp_tool_call_end", "web_search_begin", "web_search_end", "image_generation_end"),
        *("view_image_tool_call", "item_completed", "error", "warning", "stream_error", "background_event"),
        *("plan_update", "turn_diff", "thread_goal_updated", "collab_agent_spawn_begin"),
        *("collab_agent_spawn_end", "collab_agent_interaction_begin", "collab_agent_interaction_end"),
        *("collab_waiting_begin", "collab_waiting_end", "collab_close_begin", "collab_close_end"),
        *("dynamic_tool_call_request", "dynamic_tool_call_response", "collab_resume_begin"),
        *("collab_resume_end", "sub_agent_activity", "item_started", "hook_started", "hook_completed"),
        *("undo_started", "undo_completed", "guardian_assessment", "guardian_warning", "deprecation_notice"),
        *("model_reroute", "model_verification", "terminal_interaction", "patch_apply_updated"),
        *("image_generation_begin", "exec_approval_request", "apply_patch_approval_request"),
        *("request_user_input", "request_permissions", "elicitation_request", "plan_delta"),
        *("session_configured", "mcp_startup_update", "mcp_startup_complete", "shutdown_complete"),
        *("agent_message_content_delta", "environment_connected", "environment_disconnected"),
        *("exec_command_output_delta", "raw_response_completed", "raw_response_item"),
        *("realtime_conversation_closed", "realtime_conversation_list_voices_response"),
        *("realtime_conversation_realtime", "realtime_conversation_sdp", "realtime_conversation_started"),
        *("reasoning_content_delta", "reasoning_raw_content_delta", "safety_buffering"),
        *("thread_queue_changed", "turn_moderation_metadata"),
    ]
)
BOOKKEEPING = frozenset(
    [
        *("session_meta", "session_state", "turn_context", "world_state", "inter_agent_communication"),
        *("inter_agent_communication_metadata", "token_usage_record", "retained_context"),
        *("security_risk_score", "realtime_item"),
    ]
)
"""Types of rows that are not items: events and bookkeeping."""


def find_usage(info: Json, before: Any, *, forked: bool) -> Usage | None:
    """Return the usage of the last request: as recorded, else the growth of the running totals.

    The first totals of a fork include its parent's usage, so nothing can be computed from them.

    >>> told = {"total_token_usage": {"input_tokens": 90, "output_tokens": 5}}
    >>> find_usage(told, {"input_tokens": 40, "output_tokens": 3}, forked=True).tokens
    52
    """
    fields = Fields(info)
    if (last := fields.object("last_token_usage")) is not None:
        return read_inclusive(last, *USAGE)
    total, old = fields.object("total_token_usage"), Fields(before)
    if total is None or (forked and not isinstance(before, dict)):
        return None
    grown = {name: (Fields(total).number(name) or 0) - (old.number(name) or 0) for name in USAGE}
    return read_inclusive(grown, *USAGE) if min(grown.values()) >= 0 else None


def read_id(meta: Json) -> str:
    """Return the id of a rollout's session; empty if the header has none."""
    return Fields(meta).text("id") or Fields(meta).text("session_id") or ""


def read_reasoning(fields: Fields) -> ParsedBlock:
    """Convert reasoning: the texts of its summary and its content, without duplicates."""
    texts: dict[str, None] = {}
    for name in ("summary", "content"):
        parts = fields.rest.get(name)
        words = [Fields(part).text("text") for part in parts] if isinstance(parts, list) else []
        texts |= dict.fromkeys(word for word in words if word is not None)
        if None not in words:
            fields.items(name)
    return Reasoning(text="\n".join(texts), encrypted=fields.text("encrypted_content")), fields.rest


def read_tools(raw: Any) -> tuple[tuple[Tool, ...], list[Any]]:
    """Return the tools that the client adds, and the items that are not tools."""
    tools: list[Tool] = []
    rest: list[Any] = []
    for item in raw if isinstance(raw, list) else ():
        fields = Fields(item)
        name = fields.text("name")
        if name is None:
            rest.append(item)
            continue
        schema = fields.any("inputSchema") or fields.any("input_schema") or fields.any("parameters")
        tools.append(Tool(name=name, description=fields.text("description") or "", input_schema=schema))
    return tuple(tools), rest


def has_failed(output: Any) -> bool:
    """Return whether the text that Codex adds to an output reports an exit code other than 0."""
    if isinstance(output, list) and output:
        output = Fields(output[0]).rest.get("text")
    if not isinstance(output, str):
        return False
    if match := EXITED.match(output):
        return int(match[1]) != 0
    if '"exit_code"' not in output:
        return False
    result = Fields(parse_arguments(output)).rest
    code = Fields(result.get("metadata")).rest.get("exit_code", result.get("exit_code"))
    return isinstance(code, int) and code != 0


def find_kinds(item: dict[str, Any]) -> list[str]:
    """Return the kinds of an item's parts (September 2026 and later): `user.text` was typed by a person."""
    passed = item.get("internal_chat_message_metadata_passthrough")
    kinds = passed.get("content_item_kinds") if isinstance(passed, dict) else None
    return [kind for kind in kinds if isinstance(kind, str)] if isinstance(kinds, list) else []


def is_bare_header(row: dict[str, Any]) -> bool:
    """Return whether a row is the header of a rollout from before rows had an envelope."""
    named = isinstance(row.get("id"), str) and isinstance(row.get("timestamp"), str)
    return (named and set(row) <= HEADER) or ("instructions" in row and "type" not in row and named)


def is_bare(rows: list[dict[str, Any]]) -> bool:
    """Return whether the row after a header is an item without an envelope."""
    return any(row.get("record_type") == "state" or {"type", "role", "content"} <= set(row) for row in rows)


def read_repeated_message(payload: dict[str, Any]) -> tuple[str, str]:
    """Return the kind of event that repeats a message, and the text; two empty strings for other events."""
    kind, item = payload.get("type"), payload.get("item")
    if kind in MESSAGE_EVENTS and isinstance(text := payload.get("message"), str):
        return str(kind), text
    if kind == "item_completed" and isinstance(item, dict) and str(item.get("type")) in ITEMS:
        parts = item.get("content")
        words = [Fields(part).text("text") or "" for part in parts] if isinstance(parts, list) else []
        return ITEMS[str(item["type"])], "\n".join(words)
    return "", ""


def squeeze(words: str) -> str:
    """Return the text without whitespace: an event joins the parts of an item in its own way."""
    return "".join(words.split())


def read_agent_message(payload: dict[str, Any]) -> dict[str, Any] | None:
    """Convert a message from another agent to the item that newer versions write; None if it is empty.

    >>> message = {"author": "/root/tester", "recipient": "/root", "content": "One test fails."}
    >>> read_agent_message(message)["content"]
    [{'type': 'input_text', 'text': 'One test fails.'}]
    """
    rest = Fields(payload)
    words, sealed = rest.text("content"), rest.text("encrypted_content")
    parts = [{"type": "input_text", "text": words}] if words else []
    parts += [{"type": "encrypted_content", "encrypted_content": sealed}] if sealed else []
    return {**rest.rest, "type": "agent_message", "content": parts} if parts else None


def is_shown(before: tuple[Block, ...], parsed_blocks: list[ParsedBlock], text: str) -> bool:
    """Return whether a message contains images for the `view_image` tool, whose output is in `before`.

    Older versions sent these images as a user message after the tool's output.
    """
    is_viewed = any(isinstance(block, ToolOutput) and block.name == "view_image" for block in before)
    pictures = any(block.kind == "image" for block, _ in parsed_blocks)
    return is_viewed and pictures and (not text.strip() or text.startswith("<image"))


class Reference(NamedTuple):
    """The id of an earlier item."""

    item: str


def take_history(fields: Fields) -> list[Any] | None:
    """Return the items that a compaction leaves in order, in full or as a `Reference`; None if it lists none.

    `replacement_history` lists items in full. Builds of September 2026 and later may write
    `replacement_history_entries` instead: each element is an item (`inline`) or the id of an earlier item
    (`reference`, `reference_v2`).

    >>> entries = [{"type": "reference", "item_id": "m1"}, {"type": "inline", "item": {"type": "message"}}]
    >>> take_history(Fields({"replacement_history_entries": entries}))
    [Reference(item='m1'), {'type': 'message'}]
    """
    whole = fields.items("replacement_history")
    if whole is not None:
        return whole
    listed = fields.items("replacement_history_entries")
    if listed is None:
        return None
    items: list[Any] = []
    for raw in listed:
        entry = Fields(raw)
        name = entry.text("item_id")
        items.append(entry.any("item") if name is None else Reference(name))
    return items


def print_entry(blocks: Any) -> bytes:
    """Return a digest of a message's blocks; empty if there are no blocks."""
    if not blocks:
        return b""
    text = stringify([block.model_dump() for block in blocks])
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
