"""The figures of exports of Claude.ai and of ChatGPT, of their first conversation with words: FORMATS §14.

Neither tells of tokens or compactions. What a tool answered stands in Claude.ai's reply and parts it in two.
ChatGPT's messages hang on each other; those on the way to `current_node` are the conversation.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .figures import Figures
from .tally import NotRecounted, Row, Tally, held, listed, read_document, say

_ROOT = "00000000-0000-4000-8000-000000000000"


def _conversations(path: Path, name: str) -> list[Row]:
    document = read_document(path)
    found = document if isinstance(document, list) else [document]
    return [each for each in found if isinstance(each, dict) and name in each]


def recount_claude(path: Path) -> Figures:
    """Every figure of the first conversation of Claude.ai's that holds a message."""
    for each in _conversations(path, "chat_messages"):
        messages = [m for m in listed(each["chat_messages"]) if isinstance(m, dict)]
        messages = [m for m in messages if m.get("sender") in ("human", "assistant")]
        if messages:
            return _count_claude(messages, each.get("current_leaf_message_uuid"))
    raise NotRecounted("no conversation with messages")


def _count_claude(messages: list[Row], leaf: Any) -> Figures:
    tally, turns = Tally(), 0
    where = {m.get("uuid"): at for at, m in enumerate(messages) if m.get("uuid")}
    way, at = set[int](), where.get(leaf, len(messages) - 1)
    while at >= 0 and at not in way:
        way.add(at)
        above = messages[at].get("parent_message_uuid")
        at = -1 if above == _ROOT else where.get(above, at - 1)
    for at, message in enumerate(messages):
        content = listed(message.get("content"))
        if message["sender"] == "human":
            words = say(content) or str(message.get("text") or "")
            more = listed(message.get("attachments")) or any(_kind(part) != "text" for part in content)
            turns += at in way and bool(words.strip() or more)
            continue
        before = ""
        for part in [*content, *listed(message.get("attachments"))] or [{"type": "text"}]:
            kind = "answer" if _kind(part) == "tool_result" else "said"
            if kind == "said" != before:
                tally.reply()
            before = kind
    return tally.close(turns)


def _kind(part: Any) -> str:
    return str(part.get("type")) if isinstance(part, dict) else "text"


def recount_chatgpt(path: Path) -> Figures:
    """Every figure of the first conversation of ChatGPT's that holds a message with words."""
    for each in _conversations(path, "mapping"):
        nodes = held(each, "mapping")
        speak = {key: held(node, "message") for key, node in nodes.items() if _words(held(node, "message"))}
        if not any(held(m, "author").get("role") in ("user", "assistant", "tool") for m in speak.values()):
            continue
        if each.get("current_node") not in nodes:
            raise NotRecounted("it does not tell which message it ends with")
        way, at = set[str](), each["current_node"]
        while at in nodes and at not in way:
            way.add(at)
            at = nodes[at].get("parent")
        tally, turns = Tally(), 0
        for key, message in speak.items():
            role = held(message, "author").get("role")
            hidden = held(message, "metadata").get("is_visually_hidden_from_conversation") is True
            turns += role == "user" and key in way and not hidden
            if role == "assistant":
                tally.reply()
        return tally.close(turns)
    raise NotRecounted("no conversation with messages")


def _words(message: Row) -> bool:
    """Whether a message says or shows anything."""
    content = held(message, "content")
    if content.get("content_type") == "thoughts":
        return True
    parts = content.get("parts")
    if isinstance(parts, list):
        return any(part if isinstance(part, str) else part is not None for part in parts)
    texts = [content[key] for key in ("text", "content", "result") if isinstance(content.get(key), str)]
    if texts:
        return bool(texts[0]) or content.get("content_type") == "reasoning_recap"
    return bool(content)
