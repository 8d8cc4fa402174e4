"""pi's sessions since September 2026: edits of the context, usage of no message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inspector import export_session, open_session, price_session, read_session
from inspector.session.session import Session
from tests.recount.__main__ import compare
from tests.rows import dump

Record = dict[str, Any]
HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-10-03T14:00:00.000Z", "cwd": "/w"}


def record(type_: str, name: str, parent: str | None, **more: Any) -> Record:
    return {"type": type_, "id": name, "parentId": parent, "timestamp": "2026-10-03T14:00:01.000Z", **more}


def message(name: str, parent: str | None, role: str, content: Any, **more: Any) -> Record:
    return record("message", name, parent, message={"role": role, "content": content, "timestamp": 1, **more})


def reply(name: str, parent: str, *content: Any) -> Record:
    cost = {"input": 0.25, "output": 0.25, "cacheRead": 0, "cacheWrite": 0, "total": 0.5}
    usage = {"input": 100, "output": 5, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 105, "cost": cost}
    told = {"provider": "anthropic", "model": "claude-sonnet-4-5", "stopReason": "stop", "usage": usage}
    return message(name, parent, "assistant", list(content), **told)


def call(name: str) -> Record:
    return {"type": "toolCall", "id": name, "name": "read", "arguments": {"path": "a.md"}}


def output(name: str, parent: str, of: str, words: str) -> Record:
    return message(
        name, parent, "toolResult", [{"type": "text", "text": words}], toolCallId=of, toolName="read"
    )


def save(folder: Path, *records: Record) -> Path:
    file = folder / "s.jsonl"
    file.write_bytes(dump(HEADER, *records))
    return file


def is_recounted(file: Path, session: Session) -> bool:
    return all(each.same for each in compare(file, session))


def edit(name: str, parent: str, target: str, replacement: Any) -> Record:
    return record("context_edit", name, parent, targetId=target, replacement=replacement)


def test_a_compaction_that_names_itself_as_the_first_kept_keeps_nothing(tmp_path: Path) -> None:
    session = open_session(
        save(
            tmp_path,
            message("u1", None, "user", "Mend the docs"),
            reply("a1", "u1", {"type": "text", "text": "Mended."}),
            record("compaction", "c1", "a1", summary="Docs mended.", firstKeptEntryId="c1", tokensBefore=105),
            message("u2", "c1", "user", "Go on"),
        )
    )
    assert session.live_names == ["c1", "u2"]


def test_edits_that_empty_outputs_are_followed_from_there_on(tmp_path: Path) -> None:
    session = open_session(
        file := save(
            tmp_path,
            message("u1", None, "user", "Read both"),
            reply("a1", "u1", call("c1"), call("c2")),
            output("o1", "a1", "c1", "The first file says one."),
            output("o2", "o1", "c2", "The second file says two."),
            edit("e1", "o2", "o1", None),
            edit("e2", "e1", "o2", {"content": "[emptied]"}),
            reply("a2", "e2", {"type": "text", "text": "Done."}),
        )
    )
    ((name, boundary),) = session.boundaries
    assert (name, boundary.kind, boundary.cleared) == ("e1", "micro", ("c1", "c2"))
    assert session.live.cleared.tolist() == [False, False, False, True, True, False]
    assert not session.at("o2").live.cleared.any(), "before the edit they stand as they were said"
    assert session["e2"].id == "e1"
    assert (session.unknown, session.records, session.warnings) == (0, 8, ())
    assert is_recounted(file, session)


def test_usage_of_no_message_is_paid_once_and_is_no_context(tmp_path: Path) -> None:
    nothing = dict.fromkeys(("input", "output", "cacheWrite"), 0)
    cost = {**nothing, "cacheRead": 0.125, "total": 0.125}
    usage = {**nothing, "cacheRead": 50_000, "totalTokens": 50_000, "cost": cost}
    about = {"kind": "cache_warm", "provider": "anthropic", "model": "claude-sonnet-4-5", "usage": usage}
    session = open_session(
        file := save(
            tmp_path,
            message("u1", None, "user", "Hello"),
            reply("a1", "u1", {"type": "text", "text": "Hi."}),
            record("usage", "w1", "a1", contributionId="k", **about),
            record("usage", "w2", "w1", contributionId="k", **about),
            record("branch_summary", "b1", "w2", fromId="x", summary="A way that was left.", usage=usage),
            message("u2", "b1", "user", "Go on"),
        )
    )
    assert price_session(session).cost.total == 0.5 + 0.125 + 0.125
    assert session.live_names == ["u1", "a1", "b1", "u2"]
    assert len(session.turns) == 2
    assert is_recounted(file, session)


def test_records_of_oh_my_pi_name_the_model_the_title_and_what_a_compaction_left() -> None:
    header, sizes = {**HEADER, "title": "Docs"}, {"tokensBefore": 30_179, "tokensAfter": 16_868}
    rows: list[Record] = [
        header,
        record("model_change", "m1", None, model="openai/gpt-5"),
        record("model_change", "m2", "m1", model="openai/gpt-5-mini", role="smol"),
        record("service_tier_change", "t1", "m2", serviceTier=None),
        record("mode_change", "n1", "t1", mode="plan"),
        message("u1", "n1", "user", "Mend the docs"),
        message("u2", "u1", "user", "Go on"),
        record("compaction", "c1", "u2", summary="s", firstKeptEntryId="u2", **sizes),
    ]
    session = read_session(dump(*rows))
    ((_, boundary),) = session.boundaries
    assert (session.model, session.title, session.unknown) == ("gpt-5", "Docs", 0)
    assert (boundary.tokens_before, boundary.tokens_after) == (30_179, 16_868)
    assert "tokensAfter" not in session["c1"].extra
    written = export_session(session, "pi")
    kept = [json.loads(row) for row in written.splitlines()]
    assert [row["tokensAfter"] for row in kept if row["type"] == "compaction"] == [16_868]
