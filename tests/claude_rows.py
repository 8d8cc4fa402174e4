"""Rows of a Claude Code transcript with known sizes: requests, compactions, outputs that are cleared."""

from __future__ import annotations

import json
from typing import Any

from inspector.formats.readers import read_session
from inspector.session.session import Session

Row = dict[str, Any]
SMALL, LARGE = "claude-haiku-4-5", "claude-opus-4-5"


def dump(rows: list[Row]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


class Claude:
    """Rows of a transcript, each the child of the one before."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.parent: str | None = None

    def add(self, kind: str, **fields: Any) -> Claude:
        name, side = f"r{len(self.rows)}", bool(fields.get("isSidechain"))
        common = {"sessionId": "s", "cwd": "/w", "version": "2.1.40", "isSidechain": side}
        self.rows.append({"parentUuid": self.parent, "uuid": name, "type": kind, **common, **fields})
        if not side:
            self.parent = name
        return self

    def say(self, text: str) -> Claude:
        return self.add("user", message={"role": "user", "content": text})

    def reply(self, text: str, request: int, model: str = LARGE, **fields: Any) -> Claude:
        """A reply to a request of so many tokens, nine tenths of which came from the cache or went there."""
        cached = request * 8 // 10
        written = request // 10
        usage = {
            "input_tokens": request - cached - written,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": written,
            "output_tokens": len(text),
        }
        content = [{"type": "text", "text": text}]
        message = {"id": f"m{len(self.rows)}", "role": "assistant", "model": model, "content": content}
        return self.add("assistant", message={**message, "stop_reason": "end_turn", "usage": usage}, **fields)

    def compact(self, summary: str = "s" * 300) -> Claude:
        """The harness states a wrong size before, from which no size after follows."""
        meta = {"trigger": "auto", "preTokens": 77_777}
        self.add("system", subtype="compact_boundary", compactMetadata=meta)
        self.rows[-1]["parentUuid"] = None
        return self.add("user", isCompactSummary=True, message={"role": "user", "content": summary})

    def clear(self, call: str) -> Claude:
        meta = {"trigger": "auto", "preTokens": 77_777, "tokensSaved": 400, "compactedToolIds": [call]}
        return self.add("system", subtype="microcompact_boundary", microcompactMetadata=meta)

    def use(
        self, call: str, result: str, request: int, name: str = "Bash", given: Row | None = None
    ) -> Claude:
        block = {"type": "tool_use", "id": call, "name": name, "input": given or {"command": "ls"}}
        usage = {"input_tokens": request, "output_tokens": 20}
        message = {"id": f"m{len(self.rows)}", "role": "assistant", "model": LARGE, "content": [block]}
        self.add("assistant", message={**message, "stop_reason": "tool_use", "usage": usage})
        output = {"type": "tool_result", "tool_use_id": call, "content": result}
        return self.add("user", message={"role": "user", "content": [output]})

    def open(self) -> Session:
        return read_session(dump(self.rows))
