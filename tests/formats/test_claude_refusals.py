"""Claude Code: refused replies that were made anew, and outputs that were sent shorter than they stand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inspector import open_session, price_session
from inspector.session.session import Session
from tests.recount.__main__ import compare

Row = dict[str, Any]
FABLE, OPUS = "claude-fable-5", "claude-opus-4-8"


def row(kind: str, name: str, parent: str | None, **more: Any) -> Row:
    about = {"isSidechain": False, "sessionId": "s1", "version": "2.1.278"}
    return {"type": kind, "uuid": name, "parentUuid": parent, **about, **more}


def asked(name: str, parent: str | None, content: Any) -> Row:
    return row("user", name, parent, message={"role": "user", "content": content})


def said(name: str, parent: str, content: list[Row], model: str, usage: Row, message: str = "") -> Row:
    told = {"id": message or f"msg-{name}", "model": model, "content": content, "stop_reason": "end_turn"}
    return row("assistant", name, parent, message={"role": "assistant", **told, "usage": usage})


def text(words: str) -> Row:
    return {"type": "text", "text": words}


def figures(sent: int, read: int, output: int, **more: Any) -> Row:
    return {
        "input_tokens": sent,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": 0,
        "output_tokens": output,
        **more,
    }


def save(folder: Path, *rows: Row) -> Path:
    file = folder / "s1.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return file


def live(session: Session) -> str:
    return "\n".join(block.text for ref in session.live_refs() if (block := session.block(ref)))


def test_a_reply_made_by_the_fallback_has_the_fallback_s_figures(tmp_path: Path) -> None:
    """The provider lists the refused attempt and the one that answered; the sums are those of the last."""
    refused = figures(5_600, 1_000, 2, type="message", model=FABLE)
    served = figures(400, 6_000, 700, type="fallback_message", model=OPUS)
    handed = {"type": "fallback", "from": {"model": FABLE}, "to": {"model": OPUS}}
    usage = figures(400, 6_000, 700, iterations=[refused, served])
    session = open_session(
        file := save(
            tmp_path,
            asked("u1", None, "Which ports does the scanner open?"),
            said("a1", "u1", [handed, text("It opens 8080.")], OPUS, usage),
        )
    )
    reply = session.entries[1].usage
    assert reply is not None
    assert (reply.prompt, reply.output) == (6_400, 700)
    bill = price_session(session)
    assert bill.requests.tokens[:, (0, 1, 4)].sum(axis=0).tolist() == [6_000, 7_000, 702], "both are paid"
    assert [each for each in compare(file, session) if not each.same] == []


def test_a_refused_reply_that_was_taken_back_is_in_no_later_request(tmp_path: Path) -> None:
    taken_back = row(
        "system",
        "s1",
        "a2",
        subtype="model_refusal_fallback",
        originalModel=FABLE,
        fallbackModel=OPUS,
        retractedMessageUuids=["a1", "a2"],
        refusedUserMessageUuid=None,
    )
    session = open_session(
        file := save(
            tmp_path,
            asked("u1", None, "Which ports does the scanner open?"),
            said("a1", "u1", [text("I begin with the")], FABLE, figures(10, 0, 4), "m1"),
            said("a2", "a1", [text("firewall, which")], FABLE, figures(10, 0, 9), "m1"),
            taken_back,
            said("a3", "s1", [text("It opens 8080.")], OPUS, figures(12, 0, 6)),
            asked("u2", "a3", "And 9090?"),
        )
    )
    assert live(session) == "Which ports does the scanner open?\nIt opens 8080.\nAnd 9090?"
    assert session.unknown == 0
    assert len(session.turns) == 2
    assert price_session(session).requests.tokens.sum() == 10 + 9 + 12 + 6, "what was refused is paid"
    assert [each for each in compare(file, session) if not each.same] == []


def test_an_output_too_long_to_be_sent_counts_as_what_was_sent(tmp_path: Path) -> None:
    whole = "a line of the log\n" * 2_000
    sent = (
        "<persisted-output>\nKept in tool-results/t1.txt. It begins: a line of the log\n</persisted-output>"
    )
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "cat log"}}
    replaced = [{"kind": "tool-result", "toolUseId": "t1", "replacement": sent}, {"kind": "other"}]
    session = open_session(
        save(
            tmp_path,
            asked("u1", None, "What does the log say?"),
            said("a1", "u1", [use], OPUS, figures(10, 0, 5)),
            asked("u2", "a1", [{"type": "tool_result", "tool_use_id": "t1", "content": whole}]),
            {"type": "content-replacement", "sessionId": "s1", "replacements": replaced},
            said("a2", "u2", [text("The same line again and again.")], OPUS, figures(90, 0, 8)),
        )
    )
    assert session.entries[2].blocks[0].text == sent
    assert whole.strip() not in live(session)
    assert session.unknown == 0
