"""Wrong arguments of the public functions: each is told at the door, by its name, and none from inside."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import inspector
from inspector.errors import ArgumentError, InspectorError, OtherSession
from inspector.session.blocks import Text
from inspector.session.entries import Entry
from inspector.session.session import Session


class Things(NamedTuple):
    """One of each that the public functions take."""

    session: Session
    other: Session
    ledger: inspector.Ledger
    plan: inspector.Plan
    context: inspector.Context
    facts: inspector.Facts


@cache
def things() -> Things:
    session = inspector.open_demo()
    ledger = inspector.count_tokens(session)
    plan = inspector.make_plan(session, ledger, "flue")
    said = Entry(id="a", role="user", blocks=(Text(text="Hello"),))
    other = Session(format="demo", entries=(said,), leaf="a")
    return Things(session, other, ledger, plan, inspector.live_context(session, ledger), session.facts)


NO_SESSION = (None, 7, True, "session.jsonl", {}, [])
NO_PATH = (None, 7, True, "", "a\0b", "~nobody-is-called-so/x", b"a", [])
Call = Callable[[Things, Any], Any]


def t_function() -> None:
    """A function, passed where another type is expected."""


DOORS: dict[str, tuple[Call, tuple[Any, ...]]] = {
    "open_session path": (lambda t, it: inspector.open_session(it), NO_PATH),
    "open_session format": (lambda t, it: inspector.open_session("x", it), (7, True, ["pi"])),
    "save_session session": (lambda t, it: inspector.save_session(it, "x.json"), NO_SESSION),
    "save_session path": (lambda t, it: inspector.save_session(t.session, it), NO_PATH),
    "save_plan plan": (lambda t, it: inspector.save_plan(it, "x.json"), (None, "x", 7)),
    "save_plan path": (lambda t, it: inspector.save_plan(t.plan, it), NO_PATH),
    "reopen_session path": (lambda t, it: inspector.reopen_session(it), NO_PATH),
    "reopen_session at": (lambda t, it: inspector.reopen_session("x.jsonl", it), (7, True, b"a", [])),
    "open_plan path": (lambda t, it: inspector.open_plan(it, t.session), NO_PATH),
    "open_earlier path": (lambda t, it: inspector.open_earlier(it), NO_PATH),
    "read_session data": (
        lambda t, it: inspector.read_session(it),
        (None, 7, True, "session.jsonl", Path("x"), {1, 2}, [object()]),
    ),
    "read_session format": (lambda t, it: inspector.read_session(b"{}", "x", it), (7, True)),
    "count_tokens session": (lambda t, it: inspector.count_tokens(it), NO_SESSION),
    "count_tokens counter": (lambda t, it: inspector.count_tokens(t.session, it), (None, 7, "nope", True)),
    "price_session session": (lambda t, it: inspector.price_session(it), NO_SESSION),
    "price_session price": (lambda t, it: inspector.price_session(t.session, it), (3, "cheap", True)),
    "find_cuts session": (lambda t, it: inspector.find_cuts(it), NO_SESSION),
    "find_policy policy": (lambda t, it: inspector.find_policy(it), (None, 7, True, "nope", [])),
    "add_policy policy": (lambda t, it: inspector.add_policy(it), (None, 7, "nope", {"name": 1})),
    "make_plan session": (lambda t, it: inspector.make_plan(it, t.ledger), NO_SESSION),
    "make_plan swapped": (lambda t, it: inspector.make_plan(t.ledger, it), (things,)),
    "make_plan ledger": (lambda t, it: inspector.make_plan(t.session, it), (7, ["flue"])),
    "make_plan policy": (lambda t, it: inspector.make_plan(t.session, t.ledger, it), (7, "nope")),
    "make_plan edits": (
        lambda t, it: inspector.make_plan(t.session, t.ledger, "flue", it),
        (7, "end", [1], {"cut": 7}, {"pins": "e1"}, {"nope": 1}),
    ),
    "make_plan window": (
        lambda t, it: inspector.make_plan(t.session, t.ledger, window=it),
        (-1, True, 0.5, "200k"),
    ),
    "make_plan reason": (lambda t, it: inspector.make_plan(t.session, t.ledger, reason=it), (7, "x")),
    "live_context": (lambda t, it: inspector.live_context(it, t.ledger), NO_SESSION),
    "live_context ledger": (lambda t, it: inspector.live_context(t.session, it), (None, "x", 7)),
    "build_context session": (lambda t, it: inspector.build_context(it, t.plan), NO_SESSION),
    "build_context plan": (lambda t, it: inspector.build_context(t.session, it), (None, "flue", 7)),
    "build_context text": (lambda t, it: inspector.build_context(t.session, t.plan, it), ("So far.", 7)),
    "diff_contexts": (lambda t, it: inspector.diff_contexts(t.context, it), (None, "x", 7)),
    "render_request context": (lambda t, it: inspector.render_request(it), (None, "x", {})),
    "render_request max_tokens": (
        lambda t, it: inspector.render_request(t.context, max_tokens=it),
        (-1, True, None, "4096"),
    ),
    "check_request": (lambda t, it: inspector.check_request(it), (None, "x", [], 7)),
    "check_context": (lambda t, it: inspector.check_context(it), (None, "x", {}, 7)),
    "check_context rules": (
        lambda t, it: inspector.check_context(t.context, rules=it),
        ("orphan_result", ("orphan",), ("orphan_result", 7)),
    ),
    "context_management": (lambda t, it: inspector.context_management(it), (None, 7, "nope")),
    "trace_recorded session": (lambda t, it: inspector.trace_recorded(it, t.facts), NO_SESSION),
    "trace_recorded facts": (lambda t, it: inspector.trace_recorded(t.session, it), ("x", [])),
    "keep_facts plan": (lambda t, it: inspector.keep_facts(it, ["x"]), (None, "x", 7)),
    "keep_facts forms": (lambda t, it: inspector.keep_facts(t.plan, it), (None, "src/a.py", 7, b"x")),
    "keep_facts tokens": (lambda t, it: inspector.keep_facts(t.plan, [], it), (-1, True, 0.5, "x")),
    "keep_facts least": (lambda t, it: inspector.keep_facts(t.plan, [], least=it), (None, "most", 7)),
    "write_focus facts": (lambda t, it: inspector.write_focus(it), (None, "src/a.py", 7, [7])),
    "find_regret session": (lambda t, it: inspector.find_regret(it, t.facts, t.ledger), NO_SESSION),
    "find_regret facts": (lambda t, it: inspector.find_regret(t.session, it, t.ledger), (None, "x", [])),
    "find_regret ledger": (lambda t, it: inspector.find_regret(t.session, t.facts, it), (None, "x", 7)),
    "lint session": (lambda t, it: inspector.lint(it), NO_SESSION),
    "lint policy": (lambda t, it: inspector.lint(t.session, it), (7, "nope", [])),
    "lint rules": (lambda t, it: inspector.lint(t.session, rules=it), ("nope", ["CI999"])),
    "summarise plan": (lambda t, it: inspector.summarise(it), (None, "x", 7)),
    "summarise summariser": (lambda t, it: inspector.summarise(t.plan, it), ("x", 7, True)),
    "checkpoint_from_text": (lambda t, it: inspector.checkpoint_from_text(it), (None, 7, "", b"x")),
    "compact session": (lambda t, it: inspector.compact(it), NO_SESSION),
    "compact policy": (lambda t, it: inspector.compact(t.session, it), (None, 7, "nope")),
    "compact summariser": (lambda t, it: inspector.compact(t.session, "flue", it), ("So far.", 7)),
    "compact edits": (lambda t, it: inspector.compact(t.session, edits=it), (7, "end", [1])),
    "save_compaction": (lambda t, it: inspector.save_compaction(it, "x"), (None, "x", 7)),
    "export_session session": (lambda t, it: inspector.export_session(it, "pi"), NO_SESSION),
    "export_session format": (lambda t, it: inspector.export_session(t.session, it), (None, 7, "nope")),
    "replay session": (lambda t, it: inspector.replay(it), NO_SESSION),
    "replay settings": (
        lambda t, it: inspector.replay(t.session, settings=it),
        ([1], 7, "x", True, {"nope": 1}),
    ),
    "replay window": (lambda t, it: inspector.replay(t.session, window=it), (-1, True, "x")),
    "replay scenario": (lambda t, it: inspector.replay(t.session, scenario=it), (7, "x", [1], {"nope": 1})),
    "compare_policies session": (lambda t, it: inspector.compare_policies(it), NO_SESSION),
    "compare_policies policies": (lambda t, it: inspector.compare_policies(t.session, it), (7, True, [7])),
    "compact_rounds session": (lambda t, it: inspector.compact_rounds(it), NO_SESSION),
    "compact_rounds rounds": (
        lambda t, it: inspector.compact_rounds(t.session, rounds=it),
        (0, -1, True, 1.5, "x", None),
    ),
    "export_html path": (lambda t, it: inspector.export_html(t.session, it), NO_PATH),
    "export_html what": (lambda t, it: inspector.export_html(it, "x.html"), (None, 7, {})),
    "scan sources": (
        lambda t, it: inspector.scan(it, "flue", workers=0),
        (7, True, object(), "", "\0", "\ud800", [None], [7], b"x"),
    ),
    "scan policies": (lambda t, it: inspector.scan([], it), (7, True, object(), [None], b"x", t_function)),
    "scan measures": (lambda t, it: inspector.scan([], measures=it), (None, 7, "x", [None], object())),
    "scan into": (lambda t, it: inspector.scan([], into=it), (7, True, b"x", [], "\0", "\ud800", "")),
    "scan tell": (lambda t, it: inspector.scan([], tell=it), (7, "x", [], {})),
    "sessions home": (lambda t, it: inspector.sessions(home=it), (7, True, b"x", [], "\0", "\ud800", "")),
    "sessions index": (
        lambda t, it: inspector.sessions(home="gone", index=it),
        (7, True, b"x", [], "\0", "\ud800", ""),
    ),
    "replay tell": (lambda t, it: inspector.replay(t.session, tell=it), (7, "x", [])),
    "replay history": (lambda t, it: inspector.replay(t.session, history=it), (7, "x", {}, things)),
    "compact on_event": (lambda t, it: inspector.compact(t.session, on_event=it), (7, "x", [])),
    "compare_policies tell": (lambda t, it: inspector.compare_policies(t.session, tell=it), (7, "x", [])),
    "count_tokens tell": (lambda t, it: inspector.count_tokens(t.session, tell=it), (7, "x", [])),
    "check_context more rules": (
        lambda t, it: inspector.check_context(t.context, rules=it),
        (7, True, [None], object(), b"x"),
    ),
    "lint more rules": (lambda t, it: inspector.lint(t.session, rules=it), (7, True, [None], object(), b"x")),
    "sum_regret": (lambda t, it: inspector.sum_regret(it), (None, 7, "x", b"x", [None], things)),
    "open_lesson": (lambda t, it: inspector.open_lesson(it), (None, 7, True, b"x", [], "\0.md", "\ud800.md")),
    "ClaudeSummariser additions": (
        lambda t, it: inspector.ClaudeSummariser("claude-opus-4-5", additions=it),
        (None, 7, b"x", "x", object()),
    ),
    "ClaudeSummariser prompt": (
        lambda t, it: inspector.ClaudeSummariser("claude-opus-4-5", prompt=it),
        (None, 7, [], {}, "nope"),
    ),
    "ClaudeSummariser keep": (
        lambda t, it: inspector.ClaudeSummariser("claude-opus-4-5", keep=it),
        (None, 7, [None], object(), b"x"),
    ),
    "ClaudeLabeller keep": (
        lambda t, it: inspector.ClaudeLabeller("claude-opus-4-5", keep=it),
        (None, 7, [None], object(), b"x"),
    ),
    "Facts": (lambda t, it: inspector.Facts(it, it), (None, 7, "x", {}, [])),
    "draw_decay": (lambda t, it: inspector.draw_decay(it), (None, 7, "x", [7], [])),
}
CASES = [
    pytest.param(call, it, id=f"{name}-{at}")
    for name, (call, wrong) in DOORS.items()
    for at, it in enumerate(wrong)
]


@pytest.mark.parametrize(("call", "it"), CASES)
def test_a_wrong_argument_is_told_at_the_door(
    call: Call, it: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = things().session if it is things else it
    with pytest.raises(InspectorError) as caught:
        call(things(), given)
    told = str(caught.value)
    assert told and "\n" not in told
    assert list(tmp_path.iterdir()) == []


def test_an_argument_is_named_with_what_it_should_be() -> None:
    session, ledger = things().session, things().ledger
    with pytest.raises(TypeError, match="make_plan: session must be a Session, not a Ledger"):
        inspector.make_plan(ledger, session)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="compact_rounds: rounds must be at least 1, not 0"):
        inspector.compact_rounds(session, rounds=0)
    with pytest.raises(ArgumentError, match=r'forms must be a list .* as \["src/a\.py"\], not the string'):
        inspector.keep_facts(things().plan, "src/a.py")
    with pytest.raises(ArgumentError, match="there is no user nobody-is-called-so here"):
        inspector.open_session("~nobody-is-called-so/x")
    with pytest.raises(ArgumentError, match="open_session reads a file by its path"):
        inspector.read_session("session.jsonl")


def test_a_plan_of_another_session_or_moment_builds_no_context() -> None:
    t = things()
    earlier = t.session.at(t.session.entries[t.session.path[40]].id)
    with pytest.raises(OtherSession, match="the plan was made for another session"):
        inspector.build_context(t.other.model_copy(update={"leaf": t.session.leaf}), t.plan)
    with pytest.raises(OtherSession, match=f"made for another point in time, at {t.session.leaf}"):
        inspector.build_context(earlier, t.plan)
    with pytest.raises(OtherSession):
        inspector.build_context(t.other, t.plan)
    again = t.session.at(t.session.leaf)
    assert inspector.build_context(again, t.plan) == inspector.build_context(t.session, t.plan)


@pytest.mark.parametrize(
    "data",
    [
        '{"messages": [{"role": "user", "content": "Hello"}], "model": "claude-demo"}',
        b'[{"role": "user", "content": "Hello"}]',
        bytearray(b'[{"role": "user", "content": "Hello"}]'),
        [{"role": "user", "content": "Hello"}],
        {"messages": [{"role": "user", "content": "Hello"}]},
        '{"type": "user", "uuid": "u", "parentUuid": null, "message": {"content": "Hello"}}\n',
    ],
)
def test_a_session_is_read_from_bytes_text_and_messages(data: Any) -> None:
    assert [entry.text for entry in inspector.read_session(data).entries] == ["Hello"]
