"""Escape codes and format characters of a transcript appear in no repr, message, command output or report.

The session has them in every field that a harness writes, and in the name of its file.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import inspector
import inspector.facts
import inspector.planning
from inspector import Session
from inspector.cli import main
from inspector.errors import InspectorError

ACTS = "\x1b]0;OWNED\x07\x1b[31m\x9b2J\x85\u202eevil\u2066\u2028\ud800"
ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff]"
)
POLICIES = ("flue", "claude-code-analysis", "codex", "pi", "keep-recent-turns", "gemini-cli")


def rows() -> Iterator[dict[str, Any]]:
    parent = None
    for at in range(12):
        shared = {"sessionId": f"s{ACTS}", "cwd": f"/home/{ACTS}", "version": f"2.1{ACTS}", "gitBranch": ACTS}
        words = f"Never touch `src/{ACTS}.py`. Always use {ACTS} in a{at}.py. " + "word " * 150
        user = {"type": "user", "uuid": f"u{ACTS}{at}", "parentUuid": parent, "message": {"content": words}}
        yield shared | user
        call = {"type": "tool_use", "id": f"c{ACTS}{at}", "name": f"Edit{ACTS}"}
        call["input"] = {"file_path": f"/home/{ACTS}/b{at}.py", "command": f"pytest {ACTS}"}  # type: ignore[assignment]
        content = [{"type": "text", "text": f"I decided to use {ACTS} instead of c{at}.py."}, call]
        used = {"input_tokens": 9000 + at * 900, "output_tokens": 50}
        reply = {"id": f"m{at}{ACTS}", "role": "assistant", "model": f"claude-opus-4-5{ACTS}"}
        reply |= {"content": content, "usage": used, "stop_reason": f"end{ACTS}"}  # type: ignore[dict-item]
        yield shared | {"type": "assistant", "uuid": f"a{at}", "parentUuid": user["uuid"], "message": reply}
        output = {"type": "tool_result", "tool_use_id": call["id"], "content": f"Error: {ACTS} failed"}
        outputs = {"role": "user", "content": [output]}
        yield shared | {"type": "user", "uuid": f"t{at}", "parentUuid": f"a{at}", "message": outputs}
        parent = f"t{at}"
        if at == 7:
            metadata = {"trigger": f"auto{ACTS}", "preTokens": 15000}
            border = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": None}
            yield shared | border | {"logicalParentUuid": parent, "compactMetadata": metadata}
            summary = {"content": f"So far: {ACTS} in a0.py was edited."}
            follows = {"type": "user", "uuid": "sum", "parentUuid": "b", "isCompactSummary": True}
            yield shared | follows | {"message": summary}
            parent = "sum"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    name = "s\x1b]0;x\x07\u202e.jsonl" if sys.platform != "win32" else "s.jsonl"
    place = tmp_path_factory.mktemp("talks") / name
    place.write_text("\n".join(map(json.dumps, rows())))
    return place


@pytest.fixture(scope="module")
def session(file: Path) -> Session:
    session = inspector.open_session(file)
    assert (session.records, len(session.turns), len(session.boundaries)) == (38, 12, 1)
    return session


def values(session: Session) -> Iterator[tuple[str, object]]:
    """Yield the values that people display in a notebook, from the public functions."""
    ledger = inspector.count_tokens(session, "chars4_utf16")
    yield from {"session": session, "ledger": ledger}.items()
    yield "cost", inspector.price_session(session)
    yield "cuts", inspector.find_cuts(session)
    yield "facts", session.facts
    yield from (("fact", fact) for fact in session.facts.values())
    for policy in POLICIES:
        plan = inspector.make_plan(session, ledger, policy)
        context = inspector.build_context(session, plan)
        yield from {
            "plan": plan,
            "context": context,
            "plan trace": inspector.facts.trace_facts(session.facts, plan),
        }.items()
        yield from (("piece", piece) for piece in context.pieces)
        yield "diff", inspector.diff_contexts(inspector.live_context(session, ledger), context)
    run = inspector.replay(session, "claude-code-analysis")
    yield from {"run": run, "events": run.events}.items()
    yield "comparison", inspector.compare_policies(session, POLICIES[:2])
    yield "compaction", inspector.compact(session, "claude-code-analysis")
    for trace in inspector.trace_recorded(session):
        yield "trace", trace
        yield from (("traced", traced) for traced in trace)
    report = inspector.lint(session)
    yield "report", report
    yield from (("finding", finding) for finding in report)
    yield "regrets", inspector.find_regret(session, session.facts, ledger)
    yield "policy", inspector.find_policy("flue")


def test_no_repr_holds_what_acts(session: Session) -> None:
    texts: list[str] = []
    for name, value in values(session):
        assert not ACTING.search(repr(value) + str(value)), (name, ascii(repr(value)))
        texts.append(repr(value))
    assert any("OWNED" in text for text in texts), "the text itself is shown"


def wrong(session: Session, file: Path) -> Iterator[Any]:
    ledger = inspector.count_tokens(session, "chars4_utf16")
    yield lambda: inspector.find_policy(ACTS)
    yield lambda: inspector.count_tokens(session, ACTS)
    yield lambda: inspector.make_plan(session, ledger, "flue", {"cut": ACTS})
    yield lambda: inspector.make_plan(session, ledger, "flue", {"settings": {ACTS: 1}})
    yield lambda: inspector.make_plan(session, ledger, "flue", {"pins": {ACTS: "keep"}})
    yield lambda: inspector.replay(session, "flue", {ACTS: 1})
    yield lambda: inspector.lint(session, rules=[ACTS])
    yield lambda: inspector.open_session(file, format=ACTS)
    yield lambda: inspector.open_session(file, part=ACTS)
    yield lambda: inspector.read_session(b"Dear diary", ACTS)
    yield lambda: inspector.open_plan(file, session)
    yield lambda: inspector.export_session(session, ACTS)  # type: ignore[arg-type]
    yield lambda: session.at(ACTS)


def test_no_message_holds_what_acts(session: Session, file: Path) -> None:
    for call in wrong(session, file):
        with pytest.raises(InspectorError) as raised:
            call()
        assert not ACTING.search(str(raised.value)), ascii(str(raised.value))
        assert not ACTING.search(repr(raised.value)), ascii(repr(raised.value))


@pytest.mark.parametrize(
    "command",
    [
        *(["show", "FILE"], ["show", "FILE", "--estimate"], ["plan", "FILE"], ["plan", "FILE", "--json"]),
        *(["replay", "FILE"], ["replay", "FILE", "--json"], ["show", "FILE", "--cut", ACTS]),
        *(["check", "FILE", "--format", form] for form in ("text", "json", "github", "sarif")),
        ["show", f"FILE{ACTS}"],
        ["show", "FILE", "--policy", ACTS],
    ],
    ids=lambda command: " ".join(command).encode("ascii", "replace").decode()[:30],
)
def test_no_line_of_the_command_holds_what_acts(
    file: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main([argument.replace("FILE", str(file)) for argument in command])
    shown = "".join(capsys.readouterr())
    assert shown
    assert not ACTING.search(shown), ascii(shown)
