"""Copied requests of a fork are billed in its parent, and a scan counts a copied compaction once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import inspector
from inspector.formats.exports.fork import fork_session
from inspector.session.session import Session
from tests.codex_rows import codex_message
from tests.formats.test_claude_code import boundary, reply, summary, text, user
from tests.formats.test_claude_replies import usage
from tests.rows import dump

Row = dict[str, Any]
SONNET = "claude-sonnet-4-5"


def write(path: Path, rows: list[Row]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(dump(*rows))
    return path


def dollars(fresh: int, read: int, written: int, out: int) -> float:
    """Compute a cost at Sonnet 4.5's prices per million: 3 in, 15 out, 0.30 read, 3.75 written."""
    return (fresh * 3 + read * 0.3 + written * 3.75 + out * 15) / 1e6


def talk(session: str) -> list[Row]:
    """Return two turns, a compaction, and a third turn."""
    more = {"model": SONNET, "stop_reason": "end_turn"}
    rows = [
        user("u1", None, "Set up the repo in src/setup.py."),
        reply("a1", "u1", text("Done."), usage=usage(100, 20_000, 5_000, 200), **more),
        user("u2", "a1", "Add tests."),
        reply("a2", "u2", text("Added."), usage=usage(50, 25_000, 2_000, 300), **more),
        boundary("b1", "a2"),
        summary("s1", "b1", "The repo is set up."),
        user("u3", "s1", "Go on."),
        reply("a3", "u3", text("On it."), usage=usage(10, 9_000, 500, 40), **more),
    ]
    return [{**row, "sessionId": session} for row in rows]


PAID = dollars(100, 20_000, 5_000, 200) + dollars(50, 25_000, 2_000, 300) + dollars(10, 9_000, 500, 40)
OWN = dollars(60, 27_000, 1_500, 100)


def fork(parent: list[Row], session: str, *, last: str = "a3") -> list[Row]:
    """Return a fork as Claude Code's `/branch` writes it, with a turn of its own."""
    copied = []
    for row in parent:
        origin = {"sessionId": row["sessionId"], "messageUuid": row["uuid"]}
        copied.append({**row, "sessionId": session, "forkedFrom": origin})
    used = usage(60, 27_000, 1_500, 100)
    own = [
        user(f"u-{session}", last, "Try it with sqlite instead."),
        reply(f"a-{session}", f"u-{session}", text("Ok."), usage=used, model=SONNET, stop_reason="end_turn"),
    ]
    return [*copied, *({**row, "sessionId": session} for row in own)]


def cost(session: Session) -> float:
    result = inspector.price_session(session).cost
    assert result is not None
    return result.total


def test_a_fork_s_bill_is_its_own_requests(tmp_path: Path) -> None:
    parent = inspector.open_session(write(tmp_path / "p.jsonl", talk("p")))
    child = inspector.open_session(write(tmp_path / "c.jsonl", fork(talk("p"), "c")))
    assert cost(parent) == pytest.approx(PAID, abs=1e-9)
    assert cost(child) == pytest.approx(OWN, abs=1e-9)
    bill = inspector.price_session(child)
    assert len(bill) == 1
    result = f"3 requests are copied from session p (USD {PAID:.4f}): charged there, not in this bill."
    assert result in bill.notes and result in repr(bill)
    # The copied compaction is charged in the parent too.
    assert not any("compaction" in note for note in bill.notes)
    assert any("compaction" in note for note in inspector.price_session(parent).notes)
    assert parent.warnings == ()
    assert child.warnings == ("it is a fork: 3 requests are copied from session p and charged there",)
    # The sizes of the copied requests are still known.
    assert child["a2"].usage == parent["a2"].usage


def names() -> Iterator[str]:
    yield from (f"{number:08d}-0000-4000-8000-000000000000" for number in count(1))


def test_a_session_that_was_reopened_pays_for_what_follows(tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", talk("p"))
    make = names()
    content = fork_session(
        inspector.open_session(path), path.read_bytes(), "a2", "c", lambda: next(make), "Again"
    )
    (tmp_path / "c.jsonl").write_bytes(content)
    session = inspector.open_session(tmp_path / "c.jsonl")
    assert len(inspector.price_session(session)) == 0
    last = session.entries[-1].id
    used = usage(60, 27_000, 1_500, 100)
    own = [
        user("u9", last, "Rather so.", sessionId="c"),
        reply("a9", "u9", text("Ok."), usage=used, model=SONNET, stop_reason="end_turn", sessionId="c"),
    ]
    with (tmp_path / "c.jsonl").open("ab") as file:
        file.write(dump(*own))
    assert cost(inspector.open_session(tmp_path / "c.jsonl")) == pytest.approx(OWN, abs=1e-9)


# pi


def pi_message(name: str, parent: str | None, second: int, role: str, words: str) -> Row:
    message: Row = {"role": role, "content": [{"type": "text", "text": words}], "timestamp": 0}
    if role == "assistant":
        tokens = {"input": 1_000, "output": 10, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1_010}
        message |= {"model": SONNET, "provider": "anthropic", "api": "anthropic-messages", "usage": tokens}
        message |= {"stopReason": "stop"}
    stamp = f"2026-05-01T10:00:{second:02d}.000Z"
    return {"type": "message", "id": name, "parentId": parent, "timestamp": stamp, "message": message}


def pi_header(session: str, second: int, **more: Any) -> Row:
    stamp = f"2026-05-01T10:00:{second:02d}.000Z"
    return {"type": "session", "version": 3, "id": session, "timestamp": stamp, "cwd": "/w", **more}


PI = [pi_message("m1", None, 1, "user", "Hi."), pi_message("m2", "m1", 2, "assistant", "Hello.")]
PI_OWN = [pi_message("m3", "m2", 31, "user", "And?"), pi_message("m4", "m3", 32, "assistant", "So.")]


@pytest.mark.parametrize(
    "parent",
    ["/home/me/.pi/agent/sessions/--w--/2026-05-01T10-00-00-000Z_p-1.jsonl", "C:\\s\\x_p-1.jsonl", "p-1"],
)
def test_a_fork_of_pi_pays_for_what_follows_its_header(parent: str, tmp_path: Path) -> None:
    rows = [pi_header("c-1", 30, parentSession=parent), *PI, *PI_OWN]
    session = inspector.open_session(write(tmp_path / "c.jsonl", rows))
    assert [entry.copied_from for entry in session.entries] == ["p-1", "p-1", None, None]
    bill = inspector.price_session(session)
    assert (len(bill), bill.fresh.tolist()) == (1, [1_000])
    assert any("1 request is copied from session p-1" in note for note in bill.notes)
    # A session that only names its predecessor, as a hand-over does, has no copied rows.
    alone = [pi_header("c-1", 0, parentSession=parent), *PI, *PI_OWN]
    assert len(inspector.price_session(inspector.open_session(write(tmp_path / "a.jsonl", alone)))) == 2


# Codex


def codex(second: float, kind: str, **payload: Any) -> Row:
    stamp = f"2026-05-01T10:{int(second) // 60:02d}:{second % 60:06.3f}Z"
    return {"timestamp": stamp, "type": kind, "payload": payload}


def codex_turn(second: float, words: str, total: int, gap: float = 5) -> list[Row]:
    """Return a prompt, a reply of 1,000 tokens, and a total."""
    last = {"input_tokens": 990, "cached_input_tokens": 0, "output_tokens": 10, "total_tokens": 1_000}
    sums = {"input_tokens": total - 10, "cached_input_tokens": 0, "output_tokens": 10, "total_tokens": total}
    info = {"total_token_usage": sums, "last_token_usage": last, "model_context_window": 200_000}
    out, prompt = codex_message("assistant", f"{words} ok"), codex_message("user", words)
    return [
        codex(second, "response_item", **prompt["payload"]),
        codex(second + gap, "response_item", **out["payload"]),
        codex(second + gap, "event_msg", type="token_count", info=info),
    ]


def header(second: float, session: str, **more: Any) -> Row:
    stamp = codex(second, "x")["timestamp"]
    return codex(second, "session_meta", id=session, timestamp=stamp, cwd="/w", **more)


SPAWNED = {"subagent": {"thread_spawn": {"parent_thread_id": "p", "depth": 1}}}
PARENT = [*codex_turn(10, "First", 1_000), *codex_turn(30, "Second", 2_000)]
REWRITTEN = [*codex_turn(600.2, "First", 1_000, gap=0.3), *codex_turn(600.9, "Second", 2_000, gap=0.9)]
OWN_TURN = codex_turn(640, "Third", 3_000)


@pytest.mark.parametrize(
    "rows",
    [
        [header(600, "c", forked_from_id="p"), header(0, "p"), *PARENT, *OWN_TURN],
        [header(600, "c", forked_from_id="p"), *PARENT, *OWN_TURN],
        [header(600, "c", forked_from_id="p"), header(600.1, "p"), *REWRITTEN, *OWN_TURN],
        [header(600, "c", forked_from_id="p"), header(600, "p"), *PARENT, header(600, "c"), *OWN_TURN],
        [header(600, "c", source=SPAWNED), header(600.1, "p"), *REWRITTEN, *OWN_TURN],
        [header(600, "c", parent_thread_id="p"), header(0, "p"), *PARENT, *OWN_TURN],
    ],
    ids=["times", "no second header", "written anew", "header again", "spawned", "spawned, times"],
)
def test_a_fork_of_codex_pays_for_what_follows_the_copies(rows: list[Row], tmp_path: Path) -> None:
    session = inspector.open_session(write(tmp_path / "rollout-c.jsonl", rows))
    bill = inspector.price_session(session)
    assert [session.entries[at].text for at in bill.entry] == ["Third ok"]
    assert (bill.fresh.tolist(), bill.output.tolist()) == ([990], [10])
    assert any("2 requests are copied from session p" in note for note in bill.notes)
    assert any("first 6 rows are a copy" in warning for warning in session.warnings)
    assert len(session.turns) == 3 and session.records == len(rows)
