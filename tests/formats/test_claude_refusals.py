"""Claude Code: refused replies that were made anew, and outputs that were sent shorter than they stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspector import open_session, price_session
from inspector.session.session import Session
from tests.formats.test_claude_code import Row, call, output, reply, system, text, user
from tests.recount.__main__ import compare
from tests.rows import dump

FABLE, OPUS = "claude-fable-5", "claude-opus-4-8"
ASKED = "Which ports does the scanner open?"


def figures(sent: int, read: int, written: int, **more: Any) -> Row:
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    return dict(zip(names, (sent, read, 0, written), strict=True)) | more


def final_reply(name: str, parent: str, *blocks: Row, model: str = OPUS, usage: Row, **more: Any) -> Row:
    return reply(name, parent, *blocks, model=model, usage=usage, stop_reason="end_turn", **more)


def open_rows(folder: Path, *rows: Row) -> Session:
    """The session, once its figures are those of a recount."""
    (file := folder / "s1.jsonl").write_bytes(dump(*({**each, "sessionId": "s1"} for each in rows)))
    session = open_session(file)
    assert [each for each in compare(file, session) if not each.same] == []
    assert session.unknown == 0
    return session


def live(session: Session) -> str:
    return "\n".join(block.text for ref in session.live_refs() if (block := session.block(ref)))


def test_a_reply_made_by_the_fallback_has_the_fallback_s_figures(tmp_path: Path) -> None:
    """The provider lists the refused attempt and the one that answered; the sums are those of the last."""
    refused = figures(5_600, 1_000, 2, type="message", model=FABLE)
    served = figures(400, 6_000, 700, type="fallback_message", model=OPUS)
    handed = {"type": "fallback", "from": {"model": FABLE}, "to": {"model": OPUS}}
    usage = figures(400, 6_000, 700, iterations=[refused, served])
    answer = final_reply("a1", "u1", handed, text("It opens 8080."), usage=usage)
    (file := tmp_path / "s1.jsonl").write_bytes(dump(user("u1", None, ASKED), answer))
    session = open_session(file)
    used = session.entries[1].usage
    assert used is not None and (used.prompt, used.output) == (6_400, 700)
    bill = price_session(session)
    assert bill.requests.tokens[:, (0, 1, 4)].sum(axis=0).tolist() == [6_000, 7_000, 702], "both are paid"
    assert [each for each in compare(file, session) if not each.same] == []


def test_a_refused_reply_that_was_taken_back_is_in_no_later_request(tmp_path: Path) -> None:
    models = {"originalModel": FABLE, "fallbackModel": OPUS}
    gone = {"retractedMessageUuids": ["a1", "a2"], "refusedUserMessageUuid": None}
    session = open_rows(
        tmp_path,
        user("u1", None, ASKED),
        final_reply("a1", "u1", text("I begin with the"), model=FABLE, usage=figures(10, 0, 4), id="m1"),
        final_reply("a2", "a1", text("firewall, which"), model=FABLE, usage=figures(10, 0, 9), id="m1"),
        system("s1", "a2", "model_refusal_fallback", **models, **gone),
        final_reply("a3", "s1", text("It opens 8080."), usage=figures(12, 0, 6)),
        user("u2", "a3", "And 9090?"),
    )
    assert live(session) == f"{ASKED}\nIt opens 8080.\nAnd 9090?"
    assert len(session.turns) == 2
    assert price_session(session).requests.tokens.sum() == 10 + 9 + 12 + 6, "what was refused is paid"


def test_an_output_too_long_to_be_sent_counts_as_what_was_sent(tmp_path: Path) -> None:
    whole = "a line of the log\n" * 2_000
    sent = "<persisted-output>\nKept in t1.txt. It begins: a line of the log\n</persisted-output>"
    replaced = [{"kind": "tool-result", "toolUseId": "t1", "replacement": sent}, {"kind": "other"}]
    session = open_rows(
        tmp_path,
        user("u1", None, "What does the log say?"),
        final_reply("a1", "u1", call("t1", "Bash"), usage=figures(10, 0, 5)),
        user("u2", "a1", [output("t1", whole)]),
        {"type": "content-replacement", "replacements": replaced},
        final_reply("a2", "u2", text("The same line again and again."), usage=figures(90, 0, 8)),
    )
    assert session.entries[2].blocks[0].text == sent
    assert whole.strip() not in live(session)
