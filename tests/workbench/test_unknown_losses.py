"""A compaction whose summary nobody can read: every place says that its losses are unknown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector import Session, lint
from inspector.formats.readers import read_session
from inspector.planning.summary_jobs import Checkpoint
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.page.html import make
from inspector.workbench.queries import answer_query
from tests.claude_rows import Claude, dump
from tests.exported import unpack_page
from tests.workbench.test_recorded import chain, compaction, user
from tests.workbench.test_recorded import model as said

RULE = "Never push to the branch release/12."


def read_claude(*, summary: str = "") -> Session:
    """Claude Code: a boundary, and its summary if there is one."""
    rows = Claude().say(RULE).reply("The tide table is generated.", 1_000).compact(summary)
    if not summary:
        rows.rows.pop()
        rows.parent = rows.rows[-1]["uuid"]
    return read_session(dump(rows.say("Go on.").reply("Yes.", 400).rows), "talk.jsonl")


def read_codex(asked: str, *, summary: str = "") -> Session:
    """Codex: the user's message stays, the rest is in a summary that is encrypted unless it is given."""

    def row(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": "2026-01-01T00:00:00Z", "type": kind, "payload": payload}

    def message(role: str, text: str) -> dict[str, Any]:
        kind = "output_text" if role == "assistant" else "input_text"
        return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}

    sealed = {"type": "compaction", "encrypted_content": "gAAAA" * 40}
    left = [message("user", asked), message("user", summary) if summary else sealed]
    rows = [
        row("session_meta", id="s", cwd="/w", timestamp="2026-01-01T00:00:00Z", cli_version="0.140.0"),
        row("response_item", **message("user", asked)),
        row("response_item", **message("assistant", "Two targets: app and core.")),
        row("compacted", message=summary, replacement_history=left),
        row("response_item", **message("user", "Go on.")),
        row("response_item", **message("assistant", "Yes.")),
    ]
    return read_session("\n".join(map(json.dumps, rows)).encode(), "codex.jsonl")


def read_clearing() -> Session:
    """Claude Code: a clearing that does not say which outputs it emptied."""
    rows = Claude().say(RULE).reply("Yes.", 1_000)
    meta = {"trigger": "auto", "preTokens": 77_777, "tokensSaved": 400}
    rows.add("system", subtype="microcompact_boundary", microcompactMetadata=meta)
    return read_session(dump(rows.say("Go on.").reply("Yes.", 400).rows), "talk.jsonl")


class Screen:
    """The answers of the workbench that shows the only recorded compaction of a session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.model = WorkbenchModel(session, "auto")
        self.model.answer({})
        (row,) = session.compactions
        self.look = "recorded:1" if row.kind == "compact" else "cleared:1"
        self.model.answer({"look": self.look, "at": session[row.entry].parent})

    def ask(self, what: str, **more: Any) -> dict[str, Any]:
        place = self.model.shown.place or 0
        return answer_query(self.model, {"type": what, "id": 1, "place": place, **more})


UNREAD = {
    "claude": (read_claude, "missing"),
    "codex": (lambda: read_codex("Summarize the repo layout."), "encrypted"),
    "codex with a rule that stays": (lambda: read_codex(RULE), "encrypted"),
}


@pytest.mark.parametrize("name", UNREAD)
def test_every_place_says_that_the_losses_of_an_unread_summary_are_unknown(name: str) -> None:
    make_session, why = UNREAD[name]
    screen = Screen(make_session())
    (row,) = screen.session.compactions
    assert not row.known and row.to_dict()["known"] is False
    assert "unknown" in repr(row) and "0 fact" not in repr(row)
    cells = repr(screen.session.compactions).splitlines()[-1].split()
    assert cells[-7:-2] == ["?"] * 5 and cells[-1] == why
    losses = screen.ask("losses")
    assert "unknown" in losses["sentence"] and (losses["tone"], losses["total"]) == ("", 0)
    for findings in (
        screen.ask("findings", look=screen.look),
        screen.ask("findings", look=screen.look, rowFrom=0, rowTo=2),
    ):
        assert (findings["sentence"], findings["total"]) == (losses["sentence"], 0)
        assert not findings["known"] and not findings["groups"]
    (counts,) = screen.ask("compactions")["rows"]
    assert (counts["known"], counts["summary"]) == (False, why)
    assert "unknown" in counts["losses"] and "No essential" not in counts["losses"]
    side = screen.ask("summaries")["recorded"]
    assert not side["text"] and ("encrypted" in side["sentence"]) == (why == "encrypted")
    (note,) = [finding for finding in lint(screen.session) if finding.code == "CI011"]
    assert note.sentence.endswith("its losses are unknown.") and " fact" not in note.sentence


@pytest.mark.parametrize("name", UNREAD)
def test_an_exported_page_says_it_as_well(name: str) -> None:
    screen = Screen(UNREAD[name][0]())
    sentence = screen.ask("losses")["sentence"]
    page = json.dumps(unpack_page(make(screen.model).html), default=str)
    assert sentence in page and "was lost in" not in page


@pytest.mark.parametrize(
    "session",
    [read_claude(summary=f"The user said: {RULE}"), read_codex("Hello.", summary=f"They said: {RULE}")],
    ids=["claude", "codex"],
)
def test_a_summary_that_can_be_read_shows_what_was_lost(session: Session) -> None:
    screen = Screen(session)
    assert screen.session.compactions[0].known and screen.ask("compactions")["rows"][0]["known"]
    assert screen.ask("losses")["tone"] == "good"
    findings = screen.ask("findings", look=screen.look)
    assert findings["known"] and "was lost in ◆1" in findings["sentence"]
    assert screen.ask("compactions")["rows"][0]["summary"].isdigit()
    assert "CI011" not in {finding.code for finding in lint(session)}


def test_a_clearing_that_names_no_output_has_unknown_losses() -> None:
    screen = Screen(read_clearing())
    (row,) = screen.session.compactions
    (counts,) = screen.ask("compactions")["rows"]
    assert not row.known and not counts["known"] and counts["summary"] == ""
    losses = screen.ask("losses")
    assert "unknown" in losses["sentence"] and losses["tone"] == ""
    assert losses["sentence"] in screen.ask("findings", look=screen.look)["sentence"]


def test_an_earlier_summary_that_stays_does_not_tell_what_an_encrypted_one_says() -> None:
    later = compaction(kept=("e2",), extra={"unreadable": True})
    session = chain(
        user("Hello."), said("Yes."), compaction("They said hello."), user(RULE), said("Yes."), later
    )
    first, second = session.compactions
    assert (first.known, second.known, second.rules, second.why_unread) == (True, False, 0, "encrypted")


def test_a_summary_that_is_not_written_promises_nothing() -> None:
    """Every essential fact stays as it is, but the summary is to tell of others."""
    session = chain(
        user("Draw the table."), said("`src/tide.py` has 3 harbours. " * 60), user(RULE), said("Yes.")
    )
    model = WorkbenchModel(session, "flue", window=20_000)
    model.answer({"cut": session.entries[-2].id})
    rows = {"from": 0, "to": len(model.plan.fate), "look": "plan"}
    asked = {"type": "", "id": 1, "place": model.plan.place, **rows}
    for text, known in (("", False), ("`src/tide.py` has 3 harbours.", True)):
        if text:
            model.adopt_summary(model.plan, Checkpoint(text=text, by="pasted"))
        losses, findings, selected = (
            answer_query(model, {**asked, "type": kind}) for kind in ("losses", "findings", "selection")
        )
        assert (losses["tone"], losses["total"]) == ("good" if known else "", 0)
        assert ("unknown" in losses["sentence"]) is not known
        assert ("unknown" in findings["sentence"]) is not known
        assert (findings["known"], selected["known"], selected["missing"]) == (known, known, [])
