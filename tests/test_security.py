"""A transcript is untrusted: whatever is in it stays text, and no size or depth of it breaks anything."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from inspector.files import open_session
from inspector.planning.assemble import build_context, live_context
from inspector.planning.diff.contexts import diff_contexts
from inspector.planning.planner import make_plan
from inspector.session.session import Session
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens
from inspector.wire.render import render_request
from inspector.workbench.payloads.base_payload import Payload, to_json
from inspector.workbench.payloads.block import describe_body, describe_rows, describe_summary
from inspector.workbench.payloads.scene import draw_plan, draw_scene
from tests.reference.patched import patch_context

HOSTILE = {
    "script": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "link": "[click](javascript:alert(1)) http://example.com/pixel.png",
    "ansi": "\x1b[31mred\x1b[0m\x1b]8;;http://example.com\x07link\x1b]8;;\x07",
    "right-to-left": "\u202egnp.exe\u2066\u200f",
    "surrogates": "half \ud83d and \udc00",
    "nul": "a\x00b\x7f\x85",
    "spaces": " " * 1_200_000,
    "one line of 10 MB": "x" * 10_000_000,
}


def claude_rows(text: str, value: Any) -> str:
    """A small Claude Code file that says `text` everywhere and hands a tool `value`."""
    call = {"type": "tool_use", "id": "t", "name": text[:200] or "x", "input": {"path": text, "deep": "@"}}
    rows: list[dict[str, Any]] = [
        {"type": "user", "message": {"role": "user", "content": text}},
        {
            "type": "assistant",
            "message": {"id": "m", "role": "assistant", "model": text[:99], "content": [call]},
        },
        {
            "type": "user",
            "message": {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t", "content": text}],
            },
        },
        {
            "type": "assistant",
            "message": {"id": "n", "role": "assistant", "content": [{"type": "text", "text": text}]},
        },
        {"type": "user", "message": {"role": "user", "content": "and now?"}},
    ]
    common = {"sessionId": text[:99], "isSidechain": False, "cwd": text[:99], "version": text[:99]}
    lines = []
    for i, row in enumerate(rows):
        lines.append(json.dumps({**common, **row, "uuid": f"u{i}", "parentUuid": f"u{i - 1}" if i else None}))
    return "\n".join(lines).replace('"@"', value) + "\n"


def walk_through(session: Session) -> None:
    """Everything the product does with a session, short of a browser."""
    ledger = count_tokens(session, "calibrated")
    repr(session), repr(ledger)
    plan = make_plan(
        session, ledger, "keep-recent-turns", {"settings": {"keep-recent-turns.turns": 1}}, window=10_000
    )
    before, after = live_context(session, ledger), build_context(session, plan)
    assert patch_context(before, diff_contexts(before, after)) == after
    json.dumps(render_request(after).request).encode("utf-8")
    payloads: list[Payload] = [draw_scene(plan, trace_history(session, ledger)).payload]
    payloads += [
        draw_plan(plan).payload,
        *describe_rows(plan, 0, 99),
        describe_summary(plan, plan.place or 0),
    ]
    payloads += [describe_body(plan, row) for row in range(len(plan.table.tokens))]
    told = [to_json(payload) for payload in payloads]
    text = json.dumps(told, ensure_ascii=False)
    text.encode("utf-8")
    assert not set(text) & set("\x1b\x00\x07\u202e\u2066\u200f\x85")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("something asked the network")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_carried_as_text(name: str, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text(claude_rows(HOSTILE[name], "1"), "utf-8")
    session = open_session(path)
    assert session.entries[0].text == HOSTILE[name]
    walk_through(session)


@pytest.mark.parametrize("depth", [500, 100_000])
def test_deep_json_opens_or_is_listed_as_corrupt(depth: int, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text(claude_rows("hello", "[" * depth + "]" * depth), "utf-8")
    session = open_session(path)
    assert session.records == 5
    assert len(session.entries) + len(session.corrupt) == 5
    walk_through(session)


def test_a_file_that_lies_about_its_numbers_opens(tmp_path: Path) -> None:
    usage = {
        "input_tokens": -5,
        "output_tokens": 1e308,
        "cache_read_input_tokens": "many",
        "cache_creation_input_tokens": None,
    }
    row = {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "hm"}], "usage": usage}
    lines = [
        {"type": "user", "uuid": "a", "parentUuid": None, "message": {"role": "user", "content": "hi"}},
        {"type": "assistant", "uuid": "b", "parentUuid": "a", "message": row},
        {"type": "user", "uuid": "c", "parentUuid": "c", "message": {"role": "user", "content": "a loop"}},
    ]
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(json.dumps({**line, "sessionId": "s", "isSidechain": False}) for line in lines))
    walk_through(open_session(path))
