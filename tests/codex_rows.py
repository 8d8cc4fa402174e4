"""Rows of Codex's rollouts."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]


def row(kind: str, **payload: Any) -> Row:
    return {"timestamp": "2026-10-01T08:00:00Z", "type": kind, "payload": payload}


def item(kind: str, **more: Any) -> Row:
    return row("response_item", type=kind, **more)


def codex_message(role: str, *parts: str | Row, **more: Any) -> Row:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": part} if isinstance(part, str) else part for part in parts]
    return item("message", role=role, content=content, **more)


META = row("session_meta", id="t1", timestamp="2026-10-01T08:00:00Z", cwd="/w")
