"""Read chats of Qwen Code: lines like Claude Code's that contain Google's message parts.

Source: FORMATS §5. The lines are linked by `parentUuid`; the last one is the leaf. The line of a
`chat_compression` contains the new history as `compressedHistory`: its first message is the summary, and the
other messages are kept if they occurred before. Without it, the summary's text is not known. A user message
counts as the harness's if `subtype` or `provenance` says that it was not typed. Lines of a sub-agent are put
on a sidechain, unless the whole chat is a sub-agent's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ....session.blocks import Block, ToolOutput
from ....session.entries import Source
from ....session.json_text import stringify
from ....session.session import Session
from ...json_document import Fields, ParsedBlock, join_texts
from ...json_lines import Data
from ...parents import Chain
from ...recording import Json, Reading, first_rows, replayed_reader
from .parts import make_google_usage, read_parts

NAME = "qwen"
TYPES = ("user", "assistant", "tool_result")
HARNESS_SUBTYPES = (
    "notification",
    "cron",
    "goal_runtime",
    "background_task_completed",
    "agent_launch_prompt",
)
"""Subtypes of lines of type `user` that the harness writes."""
UNSEEN = "realtime_message"
"""Subtype of a line whose message is never sent to the model."""
DONE = (1, "completed", "compressed", "COMPRESSED")
"""Values that report a completed compression: a number in the files, words in copies by other tools."""
TOKENS = (
    *("promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount", "thoughtsTokenCount"),
    *("toolUsePromptTokenCount", "totalTokenCount"),
)


def is_qwen(row: Json) -> bool:
    """Return whether a line is from Qwen Code: its message contains `parts`."""
    message = row.get("message")
    marked = "uuid" in row and ("sessionId" in row or "parentUuid" in row)
    return marked and isinstance(message, dict) and "parts" in message


def sniff(data: Data) -> str | None:
    """Return None if one of the first lines has a uuid and a message with parts, else the reason."""
    if any(is_qwen(row) for row in first_rows(data)):
        return None
    return "none of its first lines is a message with `parts` and a uuid"


class _QwenChat(Reading):
    """State while a chat is read."""

    format = NAME

    def read(self, records: Iterable[tuple[Source, Json]]) -> Session:
        """Build the session from its lines. Raises `EmptySession` if none of them is a message."""
        rows = [(_name(source, row), source, row) for source, row in records]
        chain, ends, about = Chain(), dict[str, str](), dict[str, str]()
        title: str | None = None
        parents: list[str | None] = []
        for name, _, row in rows:
            is_entry = _is_message(row) or _find_history(row) is not None
            # Rows without the field follow each other.
            before = rows[len(parents) - 1][0] if parents else None
            parents.append(Fields(row).text("parentUuid") if "parentUuid" in row else before)
            chain.add(name, parents[-1], is_entry=is_entry)
        own = [name for name, _, row in rows if not _find_agent(row)]
        sidechain_names = {name for name, _, row in rows if _find_agent(row)}
        main_messages = {name for name, _, row in rows if _is_message(row) and not _find_agent(row)}
        for (name, self.source, row), link in zip(rows, parents, strict=True):
            about |= {k: row[k] for k in ("sessionId", "cwd", "version") if isinstance(row.get(k), str)}
            history = _find_history(row)
            above = chain.find_entry(link)
            parent = ends.get(above or "", above)
            if history is not None:
                ends[name] = self._compress(name, row, history, parent)
            elif _is_message(row):
                ends[name] = self._add_message(name, row, parent)
                if main_messages and (agent := _find_agent(row)):
                    self.change(ends[name], sidechain=agent)
            else:
                title = Fields(row.get("systemPayload")).text("customTitle") or title
                kind = row.get("type")
                self.note(str(kind), is_known=kind == "system")
        # The last line of the chat may be one that is not a message and follows a sub-agent's line.
        last = [chain.find_entry(name) for name in (own if main_messages else [name for name, _, _ in rows])]
        leaf = next(
            (name for name in reversed(last) if not main_messages or name not in sidechain_names), None
        )
        times = [time for _, _, row in rows if (time := Fields(row).text("timestamp"))]
        return self.make_session(
            id=about.get("sessionId", ""),
            title=title,
            cwd=about.get("cwd"),
            created=times[0] if times else None,
            updated=times[-1] if times else None,
            leaf=ends.get(leaf or "", self.last),
            extra={"version": about["version"]} if "version" in about else {},
        )

    def _add_message(self, name: str, row: Json, parent: str | None) -> str:
        fields = Fields(row, "uuid", "parentUuid", "sessionId", "cwd", "version")
        kind, message = fields.text("type"), Fields(fields.object("message"))
        message.any("role")
        parsed_blocks = read_parts(message.any("parts"), self.names, name)
        usage = make_google_usage(fields.rest.get("usageMetadata"), *TOKENS)
        role = {"assistant": "assistant", "tool_result": "tool"}.get(kind or "", "user")
        if role == "tool" and not all(isinstance(block, ToolOutput) for block, _ in parsed_blocks):
            role = "user"
        is_harness = fields.rest.get("subtype") in HARNESS_SUBTYPES or fields.rest.get("provenance") not in (
            None,
            "real_user",
        )
        more: Json = {"meta": True} if role == "user" and (kind == "tool_result" or is_harness) else {}
        entry = self.add(
            name,
            role,
            parsed_blocks,
            fields.rest | message.rest,
            parent=parent,
            timestamp=fields.text("timestamp"),
            model=fields.text("model") if role == "assistant" else None,
            usage=usage,
            **more,
        )
        return entry.id

    def _compress(self, name: str, row: Json, history: list[Any], parent: str | None) -> str:
        payload = Fields(row.get("systemPayload"), "compressedHistory")
        info = Fields(payload.object("info"))
        first, *later = history or [{}]
        parsed_blocks: list[ParsedBlock] = read_parts(Fields(first).any("parts"), self.names, name)
        said_before = {_print(entry.role, entry.blocks): entry.id for entry in self.entries}
        kept_ids: list[str] = []
        new: list[tuple[str, list[ParsedBlock], Json]] = []
        for index, raw in enumerate(later, 1):
            item = Fields(raw)
            role = "assistant" if item.text("role") == "model" else "user"
            parts = read_parts(item.any("parts"), self.names, f"{name}.{index}")
            blocks = tuple(block for block, _ in parts)
            print_role = "tool" if blocks and all(isinstance(block, ToolOutput) for block in blocks) else role
            if (same := said_before.get(_print(print_role, blocks))) is not None:
                kept_ids.append(same)
            else:
                new.append((role, parts, item.rest))
        boundary: Json = {
            "summary": join_texts(parsed_blocks) or None,
            "kept": tuple(dict.fromkeys(kept_ids)),
            "extra": {} if parsed_blocks else {"unreadable": True},
            "trigger": info.text("triggerReason"),
            "tokens_before": info.number("originalTokenCount"),
            "tokens_after": info.number("newTokenCount"),
        }
        entry = self.compact(
            name,
            None,
            boundary,
            parsed_blocks=parsed_blocks,
            parent=parent,
            timestamp=Fields(row).text("timestamp"),
            extra=payload.rest | info.rest,
        )
        for index, (role, parts, rest) in enumerate(new, 1):
            # A repeated message, possibly reworded. It was typed earlier, so it opens no turn.
            more: Json = {"meta": True} if role == "user" else {}
            self.add(f"{name}.{index}", role, parts, rest, **more)
        return self.last or entry.id


def _name(source: Source, row: Json) -> str:
    return Fields(row).text("uuid") or f"line-{source.line}"


def _print(role: str, blocks: Sequence[Block]) -> str:
    """Return the content of a message, to recognise it when a compression repeats it."""
    return stringify([role, [[block.kind, block.text] for block in blocks]])


def _is_message(row: Json) -> bool:
    message = row.get("message")
    return isinstance(message, dict) and row.get("type") in TYPES and row.get("subtype") != UNSEEN


def _find_agent(row: Json) -> str:
    """Return the sub-agent that wrote a line; "" if none."""
    name = row.get("agentId")
    if isinstance(name, str) and name:
        return name
    return "sub-agent" if row.get("isSidechain") is True else ""


def _find_history(row: Json) -> list[Any] | None:
    """Return the history that a compression left (empty if not in the file); None for any other line."""
    payload = Fields(row.get("systemPayload"))
    if row.get("type") != "system" or row.get("subtype") != "chat_compression":
        return None
    status = Fields(payload.object("info")).rest.get("compressionStatus", 1)
    history = payload.items("compressedHistory") or []
    return history if history or status in DONE else None


READER = replayed_reader(NAME, "Qwen Code chat", sniff, _QwenChat)
