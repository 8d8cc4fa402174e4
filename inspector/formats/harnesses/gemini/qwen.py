"""Qwen Code's chats: Claude-like lines that hold Google's parts.

In go the bytes, out comes a `Session`. Source: FORMATS §5. The lines are linked by `parentUuid`; the last
one is the leaf. What a `chat_compression` leaves stands in its line as `compressedHistory`: the first message
is taken for the summary, of the rest what was said before was kept. Without it, its words are not known.
What a user's line tells by `subtype` or `provenance` is the harness's where no person typed it. Lines of a
sub-agent stand apart, in a chat that is not a sub-agent's as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....session.blocks import Block, ToolOutput
from ....session.entries import Source
from ....session.json_text import stringify
from ....session.session import Session
from ...json_document import Fields, Found
from ...json_lines import Data, Reader, read_lines
from ...parents import Chain
from ...recording import Json, JsonRows, Recording, first_rows
from .parts import make_google_usage, read_parts

NAME = "qwen"
TYPES = ("user", "assistant", "tool_result")
TOLD = ("notification", "cron", "goal_runtime", "background_task_completed", "agent_launch_prompt")
"""Lines of the user's type that the harness writes."""
UNSEEN = "realtime_message"
"""A line whose message is never sent to the model."""
DONE = (1, "completed", "compressed", "COMPRESSED")
"""How a compression says that it took place: a number in the files, words in others' copies of them."""
TOKENS = (
    *("promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount", "thoughtsTokenCount"),
    *("toolUsePromptTokenCount", "totalTokenCount"),
)


def is_qwen(row: Json) -> bool:
    """Whether a line is one of Qwen Code's: its message holds `parts`."""
    message = row.get("message")
    marked = "uuid" in row and ("sessionId" in row or "parentUuid" in row)
    return marked and isinstance(message, dict) and "parts" in message


def sniff(data: Data) -> str | None:
    """None when one of the first lines has a uuid and a message with parts."""
    if any(is_qwen(row) for row in first_rows(data)):
        return None
    return "none of its first lines is a message with `parts` and a uuid"


def read(data: Data) -> Session:
    """The whole chat. Raises `EmptySession` when nobody says anything."""
    return read_lines(Chat(), data)


class Chat(JsonRows):
    """The lines of a chat, and the session they make."""

    def make_session(self) -> Session:
        """The session of all lines. Raises `EmptySession` when none of them is a message."""
        made = Recording(NAME)
        made.corrupt = list(self.corrupt)
        chain, names = Chain(), dict[str, str]()
        rows: list[tuple[str, Source, Json]] = []
        for source, row in self.rows:
            fields = Fields(row)
            name = fields.text("uuid") or f"line-{source.line}"
            message = _is_said(row)
            parent = fields.text("parentUuid")
            chain.add(name, parent, is_entry=message or _find_history(row) is not None)
            rows.append((name, source, row))
        ends: dict[str, str] = {}
        about: Json = {}
        title: str | None = None
        own = [name for name, _, row in rows if not _find_agent(row)]
        apart = {name for name, _, row in rows if _find_agent(row)}
        spoken = {name for name, _, row in rows if _is_said(row) and not _find_agent(row)}
        for name, source, row in rows:
            about = {
                **about,
                **{k: row[k] for k in ("sessionId", "cwd", "version") if isinstance(row.get(k), str)},
            }
            history = _find_history(row)
            above = chain.find_entry(Fields(row).text("parentUuid"))
            parent = ends.get(above or "", above)
            if history is not None:
                ends[name] = self._compress(made, name, source, row, history, names, parent)
            elif _is_said(row):
                entry = self._say(made, name, source, row, names, parent)
                if spoken and (agent := _find_agent(row)):
                    made.change(entry, sidechain=agent)
                ends[name] = entry
            else:
                title = Fields(row.get("systemPayload")).text("customTitle") or title
                kind = row.get("type")
                made.note(str(kind), source, known=kind == "system")
        # A line that is no message may stand after a sub-agent's.
        last = [chain.find_entry(name) for name in (own if spoken else [name for name, _, _ in rows])]
        leaf = next((name for name in reversed(last) if not spoken or name not in apart), None)
        return made.make_session(
            id=about.get("sessionId", ""),
            title=title,
            cwd=about.get("cwd"),
            created=next((t for _, _, row in rows if (t := Fields(row).text("timestamp"))), None),
            updated=next((t for _, _, row in reversed(rows) if (t := Fields(row).text("timestamp"))), None),
            leaf=ends.get(leaf or "", made.last),
            extra={"version": about["version"]} if "version" in about else {},
        )

    def _say(
        self, made: Recording, name: str, source: Source, row: Json, names: dict[str, str], parent: str | None
    ) -> str:
        fields = Fields(row, "uuid", "parentUuid", "sessionId", "cwd", "version")
        kind, message = fields.text("type"), Fields(fields.object("message"))
        message.any("role")
        found = read_parts(message.any("parts"), names, name)
        usage = make_google_usage(fields.rest.get("usageMetadata"), *TOKENS)
        role = {"assistant": "assistant", "tool_result": "tool"}.get(kind or "", "user")
        if role == "tool" and not all(isinstance(block, ToolOutput) for block, _ in found):
            role = "user"
        told = fields.rest.get("subtype") in TOLD or fields.rest.get("provenance") not in (None, "real_user")
        more: Json = {"meta": True} if role == "user" and (kind == "tool_result" or told) else {}
        entry = made.add(
            name,
            role,
            found,
            source,
            fields.rest | message.rest,
            parent=parent,
            timestamp=fields.text("timestamp"),
            model=fields.text("model") if role == "assistant" else None,
            usage=usage,
            **more,
        )
        return entry.id

    def _compress(
        self,
        made: Recording,
        name: str,
        source: Source,
        row: Json,
        history: list[Any],
        names: dict[str, str],
        parent: str | None,
    ) -> str:
        payload = Fields(row.get("systemPayload"), "compressedHistory")
        info = Fields(payload.object("info"))
        first, *later = history or [{}]
        found: list[Found] = read_parts(Fields(first).any("parts"), names, name)
        said_before = {_print(entry.role, entry.blocks): entry.id for entry in made.entries}
        kept: list[str] = []
        new: list[tuple[str, list[Found], Json]] = []
        for at, raw in enumerate(later, 1):
            said = Fields(raw)
            role = "assistant" if said.text("role") == "model" else "user"
            parts = read_parts(said.any("parts"), names, f"{name}.{at}")
            blocks = tuple(block for block, _ in parts)
            told = "tool" if blocks and all(isinstance(block, ToolOutput) for block in blocks) else role
            if (same := said_before.get(_print(told, blocks))) is not None:
                kept.append(same)
            else:
                new.append((role, parts, said.rest))
        boundary: Json = {
            "summary": "\n".join(block.text for block, _ in found if block.kind == "text") or None,
            "kept": tuple(dict.fromkeys(kept)),
            "extra": {} if found else {"unreadable": True},
            "trigger": info.text("triggerReason"),
            "tokens_before": info.number("originalTokenCount"),
            "tokens_after": info.number("newTokenCount"),
        }
        entry = made.compact(
            name,
            None,
            source,
            boundary,
            found=found,
            parent=parent,
            timestamp=Fields(row).text("timestamp"),
            extra=payload.rest | info.rest,
        )
        for at, (role, parts, rest) in enumerate(new, 1):
            # What stood before in these words or others: nobody types it a second time.
            more: Json = {"meta": True} if role == "user" else {}
            made.add(f"{name}.{at}", role, parts, None, rest, **more)
        return made.last or entry.id


def _print(role: str, blocks: Sequence[Block]) -> str:
    """What a message is known by where a compression repeats it."""
    return stringify([role, [[block.kind, block.text] for block in blocks]])


def _is_said(row: Json) -> bool:
    message = row.get("message")
    return isinstance(message, dict) and row.get("type") in TYPES and row.get("subtype") != UNSEEN


def _find_agent(row: Json) -> str:
    """The sub-agent whose line it is, "" for none."""
    name = row.get("agentId")
    if isinstance(name, str) and name:
        return name
    return "sub-agent" if row.get("isSidechain") is True else ""


def _find_history(row: Json) -> list[Any] | None:
    """What a compression left, empty where its line does not hold it; None for any other line."""
    payload = Fields(row.get("systemPayload"))
    if row.get("type") != "system" or row.get("subtype") != "chat_compression":
        return None
    status = Fields(payload.object("info")).rest.get("compressionStatus", 1)
    history = payload.items("compressedHistory") or []
    return history if history or status in DONE else None


READER = Reader(NAME, "Qwen Code chat", sniff, read, Chat)
