"""Read the exports of Claude.ai and ChatGPT: a file with all conversations of a person.

Source: FORMATS §14. A file of several conversations is a container, which `parts.py` lists. Read as bytes,
the session is the first conversation with messages, and a warning reports the number of others. The exports
contain no tokens and no compactions. Claude.ai's messages may be linked to their parents; ChatGPT's always
are, and the path to `current_node` is the context.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ...errors import EmptySession
from ...session.blocks import Document, Image, Reasoning, Text, ToolOutput
from ...session.json_text import dump_lossless
from ...session.session import Session
from ...text import plural
from ..containers import StoredFile
from ..json_document import (
    Fields,
    ParsedBlock,
    document_reader,
    find_blocks,
    iso_seconds,
    join_texts,
    load_other,
    placed,
    refuse,
    unknown,
)
from ..json_lines import BOM, Data
from ..recording import Json, Reading, make_output
from .anthropic_blocks import read_with_rest

CLAUDE, CHATGPT = "claude-ai", "chatgpt"
_FIELDS = {CLAUDE: ("uuid", "chat_messages"), CHATGPT: ("mapping",)}
ROOT = "00000000-0000-4000-8000-000000000000"
"""Claude.ai's parent id of the first message."""


def _is_conversation(value: Any, format: str) -> bool:
    fields = Fields(value).rest
    content = fields.get(_FIELDS[format][-1])
    shaped = isinstance(content, list if format == CLAUDE else dict)
    return shaped and bool(set(fields) & ({"uuid"} if format == CLAUDE else {"current_node", "title"}))


def _judge(format: str, value: Any) -> str | None:
    first = value[0] if isinstance(value, list) and value else value
    if _is_conversation(first, format):
        return None
    return f"it is not a conversation with `{_FIELDS[format][-1]}`, nor a list of conversations"


def list_conversations(data: Data) -> list[StoredFile]:
    """Return the conversations of an export as stored files; empty for other data.

    A name is the title; if the title is empty or not unique, it is the id.
    """
    # Only a list contains several conversations; the first bytes of most files show that they are not lists.
    if bytes(memoryview(data)[:64]).removeprefix(BOM).lstrip()[:1] not in (b"[", b""):
        return []
    if CHATGPT_READER.sniff(data) is not None and CLAUDE_READER.sniff(data) is not None:
        return []
    document = load_other(data)  # if it is truncated or broken, its reader reports the error
    if not isinstance(document, list) or len(document) < 2:
        return []
    titles = [_find_title(conversation) for conversation in document]
    files: list[StoredFile] = []
    used_names: set[str] = set()
    for number, (conversation, title) in enumerate(zip(document, titles, strict=True), 1):
        name = (
            title
            if title and titles.count(title) == 1
            else _find_id(conversation) or f"conversation {number}"
        )
        name = name if name not in used_names else f"{name} ({number})"
        used_names.add(name)
        raw = dump_lossless(conversation).encode("ascii")
        files.append(StoredFile(name, len(raw), partial(bytes, raw)))
    return files


def _find_title(raw: Any) -> str:
    fields = Fields(raw)
    return fields.text("name") or fields.text("title") or ""


def _find_id(raw: Any) -> str:
    fields = Fields(raw)
    return fields.text("uuid") or fields.text("conversation_id") or fields.text("id") or ""


def _read(format: str, document: Any) -> Session:
    listed = document if isinstance(document, list) else [document]
    conversations = [conversation for conversation in listed if _is_conversation(conversation, format)]
    if not conversations:
        raise refuse("it holds no conversation")
    reader = _read_claude if format == CLAUDE else _read_chatgpt
    failed: EmptySession | None = None
    for conversation in conversations:
        try:
            session = reader(Fields(conversation))
        except EmptySession as error:
            failed = failed or error
            continue
        if len(listed) > 1:
            others = plural(len(listed) - 1, "other conversation is", "other conversations are")
            warning = f"{others} in the file and not read; open_sessions lists them"
            return session.model_copy(update={"warnings": (*session.warnings, warning)})
        return session
    raise failed or refuse("it holds no conversation")


def _read_claude(about: Fields) -> Session:
    recording = Reading(CLAUDE)
    ends: dict[str, str] = {}
    for source, raw in placed(about.items("chat_messages") or []):
        fields, recording.source = Fields(raw), source
        sender = fields.text("sender")
        if not isinstance(raw, dict):
            recording.spoil("a message that is not an object")
            continue
        if sender not in ("human", "assistant"):
            recording.note(f"message of {sender}"[:60], is_known=False)
            continue
        text = fields.text("text")
        content = fields.items("content") or []
        parsed_blocks = [_read_claude_block(block, recording.names) for block in content]
        if not parsed_blocks and text:
            parsed_blocks = [(Text(text=text), {})]
        files: list[ParsedBlock] = []
        for attachment in fields.items("attachments") or ():
            inner = Fields(attachment)
            title, words = inner.text("file_name"), inner.text("extracted_content")
            if words is None:
                files.append(unknown(attachment))
            else:
                files.append((Document(title=title, text=words), inner.rest))
        parent = fields.text("parent_message_uuid")
        begins = None if parent == ROOT else ends.get(parent or "", recording.last)
        name, role = fields.text("uuid") or f"m{source.line}", "user" if sender == "human" else "assistant"
        recording.time = fields.text("created_at")
        # Results are stored in the reply that called the tool: each becomes a separate message.
        runs: list[tuple[str, list[ParsedBlock]]] = []
        for pair in [*parsed_blocks, *files] or [(Text(text=""), {})]:
            kind = "tool" if role == "assistant" and isinstance(pair[0], ToolOutput) else role
            if runs and runs[-1][0] == kind:
                runs[-1][1].append(pair)
            else:
                runs.append((kind, [pair]))
        for number, (kind, pairs) in enumerate(runs):
            first = number == 0
            own: Json = {"meta": False} if kind == "user" else {}
            entry = recording.add(
                name if first else f"{name}/{number + 1}",
                kind,
                pairs,
                fields.rest if first else {},
                parent=begins if first else recording.last,
                **own,
            )
            ends[name] = entry.id
    current = ends.get(str(about.rest.get("current_leaf_message_uuid")))
    more: Json = {} if current is None else {"leaf": current}
    return recording.make_session(
        **more,
        id=about.text("uuid") or "",
        title=about.text("name"),
        created=about.text("created_at"),
        updated=about.text("updated_at"),
        model=about.text("model"),
        extra=about.rest,
    )


def _read_claude_block(raw: Any, names: dict[str, str]) -> ParsedBlock:
    """Convert a block of Anthropic's API. Its calls may have no id."""
    if isinstance(raw, dict) and raw.get("type") == "tool_use" and not isinstance(raw.get("id"), str):
        raw = {**raw, "id": str(raw.get("name"))}
    if isinstance(raw, dict) and raw.get("type") == "tool_result":
        fields = Fields(raw, "type")
        call = fields.text("tool_use_id") or fields.text("name") or ""
        failed = fields.flag("is_error") is True
        content, tool = fields.any("content"), names.get(call)
        block, rest = make_output(
            call, content, lambda part: read_with_rest(part, names), tool, failed=failed
        )
        return block, rest | fields.rest
    if isinstance(raw, dict) and raw.get("type") == "thinking" and raw.get("thinking") == "":
        # For hidden reasoning, the summaries are the text.
        shown = [Fields(summary).text("summary") for summary in Fields(raw).items("summaries") or ()]
        raw = {**raw, "thinking": "\n".join(filter(None, shown))}
    return read_with_rest(raw, names)


def _read_chatgpt(about: Fields) -> Session:
    recording = Reading(CHATGPT)
    mapping = about.object("mapping") or {}
    shown: dict[str, str | None] = {}
    for source, key in placed(_sort_nodes(mapping)):
        node, recording.source = Fields(mapping[key]), source
        parent = node.text("parent")
        # A node without a message is skipped: its children get its parent.
        end = shown.get(parent) if parent is not None else None
        message = Fields(node.object("message"))
        shown[key] = end
        if not message.rest:
            recording.note("node without a message")
            continue
        author = Fields(message.object("author"))
        role = author.text("role")
        content = Fields(message.object("content"))
        details = Fields(message.rest.get("metadata"))
        parsed_blocks = _read_chatgpt_content(content)
        hidden = details.rest.get("is_visually_hidden_from_conversation") is True
        words = any(block.kind != "text" or block.text for block, _ in parsed_blocks)
        if role not in ("system", "user", "assistant", "tool"):
            recording.note(f"message of {role}"[:60], is_known=False)
            continue
        if role == "system" or not words:
            recording.system += [
                block for block, _ in parsed_blocks if isinstance(block, Text) and block.text
            ]
            recording.note("system message" if role == "system" else "empty message")
            continue
        more: Json = {"meta": hidden} if role == "user" else {}
        if role == "tool":
            tool = author.text("name")
            text = join_texts(parsed_blocks)
            rest = [block.model_dump() for block, _ in parsed_blocks if block.kind != "text"]
            parsed_blocks = [make_output("", text, unknown, tool)]
            if rest:
                message.rest["content"] = rest
        elif role == "assistant":
            more["model"] = details.text("model_slug")
        entry = recording.add(
            key, role, parsed_blocks, message.rest, parent=end, **more,
            timestamp=iso_seconds(message.number("create_time"))
        )  # fmt: skip
        shown[key] = entry.id
    current = about.text("current_node")
    if current is not None and current not in shown:
        recording.warnings.append(
            "the message that it ends with is not in the file; the last one counts as such"
        )
    return recording.make_session(
        id=about.text("conversation_id") or about.text("id") or "",
        title=about.text("title"),
        created=iso_seconds(about.number("create_time")),
        updated=iso_seconds(about.number("update_time")),
        leaf=shown.get(current or "") or recording.last,
        extra=about.rest,
    )


def _sort_nodes(mapping: Json) -> list[str]:
    """Return all nodes, each after its parent; nodes of a cycle come last."""
    below: dict[str | None, list[str]] = {}
    for key, raw in mapping.items():
        parent = Fields(raw).text("parent")
        below.setdefault(parent if parent in mapping else None, []).append(key)
    order: list[str] = []
    todo = list(reversed(below.get(None, [])))
    while todo:
        key = todo.pop()
        order.append(key)
        todo += reversed(below.get(key, []))
    visited = set(order)
    return [*order, *(key for key in mapping if key not in visited)]


def _read_chatgpt_content(content: Fields) -> list[ParsedBlock]:
    kind = content.text("content_type")
    if kind == "thoughts":
        thoughts = [Fields(thought) for thought in content.items("thoughts") or ()]
        words = [
            words for thought in thoughts if (words := thought.text("content") or thought.text("summary"))
        ]
        return [(Reasoning(text="\n".join(words)), content.rest)]
    if (parts := content.items("parts")) is not None:
        return find_blocks(parts, _read_chatgpt_part)
    if kind == "user_editable_context":
        # The user's profile and instructions.
        both = (content.text(key) for key in ("user_profile", "user_instructions"))
        about = "\n\n".join(filter(None, both))
        return [(Text(text=about), content.rest)] if about else []
    for key in ("text", "content", "result", "model_set_context", "output_str"):
        if (text := content.text(key)) is not None:
            block = Reasoning(text=text) if kind == "reasoning_recap" else Text(text=text)
            return [(block, content.rest)]
    return [unknown(content.rest, kind or "content")] if content.rest else []


def _read_chatgpt_part(raw: Any) -> ParsedBlock:
    """Convert text, or a picture that is not in the export."""
    fields = Fields(raw)
    if isinstance(raw, str):
        return Text(text=raw), {}
    if fields.rest.get("content_type") == "image_asset_pointer":
        return Image(url=fields.text("asset_pointer")), fields.rest
    if (text := fields.text("text")) is not None:
        return Text(text=text), fields.rest
    return unknown(raw)


CLAUDE_READER, CHATGPT_READER = (
    document_reader(name, title, partial(_judge, name), partial(_read, name))
    for name, title in ((CLAUDE, "export of Claude.ai"), (CHATGPT, "export of ChatGPT"))
)
