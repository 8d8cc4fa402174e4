"""The session's life: what stood in the context at every step, and where the workbench opens."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from inspector.files import open_session
from inspector.formats.readers import read_session
from inspector.planning.planner import make_plan
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry, Usage
from inspector.session.session import Session
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.columns import ColumnPacker, unpack
from inspector.workbench.payloads.scene import draw_plan, draw_scene
from tests.shared import SHARED, needs_shared
from tests.strategies import sessions
from tests.work import count_calls, limit_work

CLAUDE = SHARED / "sessions" / "claude-code--entireio-cli"


def chain(*entries: dict[str, Any], **more: Any) -> Session:
    """Entries e0, e1, … that follow each other, unless they name another parent."""
    made = tuple(
        Entry(**({"id": f"e{at}", "parent": f"e{at - 1}" if at else None} | given))
        for at, given in enumerate(entries)
    )
    return Session(format="demo", entries=made, **({"leaf": made[-1].id} | more))


def say(words: str, **more: Any) -> dict[str, Any]:
    return {"blocks": (Text(text=words),)} | more


def reply(words: str, **more: Any) -> dict[str, Any]:
    return say(words, role="assistant") | more


def call(name: str) -> dict[str, Any]:
    return {"role": "assistant", "blocks": (ToolCall(id=name, name="bash", input={"command": "ls"}),)}


def output(name: str, words: str) -> dict[str, Any]:
    return {"role": "tool", "blocks": (ToolOutput(call_id=name, parts=(Text(text=words),)),)}


def compaction(**boundary: Any) -> dict[str, Any]:
    return say("what was", kind="compaction", boundary=Boundary(**boundary))


def micro(*cleared: str) -> dict[str, Any]:
    return {"role": "system", "kind": "micro", "boundary": Boundary(kind="micro", cleared=cleared)}


def check_law(session: Session) -> None:
    """Every step holds what the ledger counts for the context at its last entry."""
    ledger = count_tokens(session, "chars4_utf16")
    history = trace_history(session, ledger)
    last = {int(step): int(at) for step, at in zip(history.step, history.path, strict=True)}
    for step, at in last.items():
        moment = session.at(session.entries[at].id)
        assert history.estimated[step] == ledger.count_context(moment), (step, moment.leaf)
    for segment in history.segments:
        assert history.estimated[segment.last_step] == ledger.count_context(session.at(segment.at))


@given(sessions())
def test_every_step_holds_what_the_ledger_counts_for_it(session: Session) -> None:
    check_law(session)


def test_an_emptied_output_counts_its_placeholder_before_and_after_a_compaction_that_keeps_it() -> None:
    check_law(
        chain(
            say("list"),
            call("c1"),
            output("c1", "long " * 400),
            call("c2"),
            output("c2", "wide " * 300),
            micro("c1"),
            reply("done"),
            compaction(first_kept="e3", kept=("e2", "e4", "nowhere")),
            say("more"),
            micro("c2", "c1"),
            call("c1"),
            output("c1", "again " * 200),
            compaction(first_kept="e6"),
            reply("end"),
        )
    )


@pytest.mark.parametrize(
    ("entries", "tokens"),
    [
        ((reply("a", usage=Usage(input=900, output=100)), say("x" * 400)), 1100),
        ((reply("a", usage=Usage(input=900, output=100)), reply("b" * 400, usage=Usage())), 1100),
        ((reply("a", usage=Usage(input=9), stop_reason="aborted"), say("x" * 399)), 101),
        ((say("x" * 400),), 100),
    ],
)
def test_a_stretch_ends_with_its_last_usage_and_what_is_counted_after_it(
    entries: tuple[dict[str, Any], ...], tokens: int
) -> None:
    session = chain(*entries)
    ledger = count_tokens(session, "chars4_utf16")
    (segment,) = trace_history(session, ledger).segments
    assert segment.tokens == tokens


def test_a_usage_before_a_compaction_says_nothing_of_the_stretch_after_it() -> None:
    session = chain(reply("a", usage=Usage(input=90_000)), compaction(), say("x" * 4000))
    first, second = trace_history(session, count_tokens(session, "chars4_utf16")).segments
    assert first.tokens == 90_000
    assert second.tokens == 1002


def test_a_number_of_tokens_beyond_32_bits_is_drawn_at_the_end_of_its_column() -> None:
    pack = ColumnPacker()
    pack.add("far", np.array([3_000_000_000, -(2**40), 7]))
    assert unpack(pack.columns, pack.data)["far"].tolist() == [2**31 - 1, -(2**31), 7]


def usage_file(value: str) -> bytes:
    """A Claude Code file of eight replies that all report `value` as their input tokens."""
    lines = []
    for at in range(0, 16, 2):
        parent = f'"u{at - 1}"' if at else "null"
        said = json.dumps({"role": "user", "content": "words " * 500})
        lines.append(f'{{"type": "user", "uuid": "u{at}", "parentUuid": {parent}, "message": {said}}}')
        lines.append(
            f'{{"type": "assistant", "uuid": "u{at + 1}", "parentUuid": "u{at}", "message": {{"id": "m{at}",'
            f' "role": "assistant", "model": "claude-x", "content": [{{"type": "text", "text": "ok"}}],'
            f' "usage": {{"input_tokens": {value}, "output_tokens": {at}}}}}}}'
        )
    return "\n".join(lines).encode()


@pytest.mark.parametrize("counter", ["chars4_utf16", "calibrated"])
@pytest.mark.parametrize(
    "value", ["3000000000", "NaN", "Infinity", "-Infinity", "1e400", "1" + "0" * 400, "1e30", "-5"]
)
def test_no_usage_number_keeps_a_session_from_being_drawn(value: str, counter: str) -> None:
    session = read_session(usage_file(value))
    ledger = count_tokens(session, counter)
    assert "Ledger" in repr(ledger)
    history = trace_history(session, ledger)
    plan = make_plan(session, ledger=ledger)
    scene, _ = draw_scene(plan, history)
    draw_plan(plan)
    json.dumps(to_json(scene), allow_nan=False)
    if value == "3000000000":
        assert session.warnings == ()
        assert history.fullest is not None
        assert history.fullest.tokens == 3_000_000_014
    else:
        (warning,) = session.warnings
        assert warning.startswith("8 reported token figures are negative, not finite or far too large")
        assert warning in scene.notices


@pytest.mark.parametrize(("broken", "told"), [(3, None), (4, "1 more line"), (6, "3 more lines")])
def test_lines_that_cannot_be_read_are_told_three_and_then_counted(broken: int, told: str | None) -> None:
    session = read_session(usage_file("1") + b"\n" + b"{\n" * broken)
    ledger = count_tokens(session)
    scene, _ = draw_scene(make_plan(session, ledger=ledger), trace_history(session, ledger))
    notices = [notice for notice in scene.notices if "could not be read" in notice]
    assert [notice for notice in notices if "more line" in notice] == (
        [f"{told} could not be read; session.corrupt lists all."] if told else []
    )
    assert len(notices) == 3 + (told is not None)


def test_a_plan_is_drawn_where_more_than_32_bits_are_unexplained() -> None:
    session = read_session(usage_file("3000000000"))
    draw_plan(make_plan(session, count_tokens(session, "chars4_utf16")))


def test_reports_that_grow_absurdly_fit_no_factor() -> None:
    content = usage_file("@").decode()
    for at in range(1, 9):
        content = content.replace("@", f"{at}000000000", 1)
    ledger = count_tokens(read_session(content.encode()), "calibrated")
    assert ledger.calibration is not None
    assert (ledger.calibration.fitted, ledger.calibration.factor) == (False, 1.0)
    assert "no tokenizer" in ledger.source


def test_a_recorded_compaction_whose_figures_are_not_finite_is_a_mark_without_them() -> None:
    far = float("inf")
    session = chain(say("a"), compaction(tokens_before=far, tokens_after=float("nan")), say("b"))
    (mark,) = trace_history(session, count_tokens(session, "chars4_utf16")).marks
    assert (mark.before, mark.after) == (None, None)


def test_a_moment_off_the_main_path_covers_no_steps_and_says_so() -> None:
    session = chain(
        say("a"),
        reply("b"),
        compaction(),
        say("c"),
        say("other", parent="e1"),
        reply("aside", parent=None, sidechain="agent"),
        leaf="e3",
    )
    ledger = count_tokens(session, "chars4_utf16")
    history = trace_history(session, ledger)
    notice = "This moment is not on the session's main path."

    def draw(leaf: str | None) -> tuple[tuple[int, int], bool]:
        scene, _ = draw_scene(make_plan(session.at(leaf), ledger=ledger), history)
        return (scene.overview.first, scene.overview.last), notice in scene.notices

    assert draw("e4") == ((0, -1), True)
    assert draw("e5") == ((0, -1), True)
    assert draw("e0") == ((0, 0), False)
    assert draw("e1") == ((0, 1), False)
    assert draw("e3") == ((2, 3), False)
    assert draw(None) == ((0, -1), False)


def test_a_hundred_thousand_entries_are_traced_in_a_moment() -> None:
    rows: list[dict[str, Any]] = []
    for at in range(0, 100_000, 2):
        rows += [call(f"c{at}"), output(f"c{at}", "some words")]
        if at % 2000 == 0:
            rows[-2:] = [micro(*(f"c{i}" for i in range(max(at - 2000, 0), at, 2))), say("go")]
        elif at % 10_000 == 5002:
            rows[-1] = compaction(first_kept=f"e{at - 500}")

    def trace(entries: list[dict[str, Any]]) -> int:
        session = chain(*entries)
        ledger = count_tokens(session, "chars4_utf16")
        assert len(session.path) == len(session.entries)
        histories: list[Any] = []
        calls = count_calls(lambda: histories.append(trace_history(session, ledger)))
        assert histories[0].estimated[-1] == ledger.count_context(session)
        return calls

    with limit_work():
        assert trace(rows) < 15 * trace(rows[:10_000])


@needs_shared
def test_a_micro_compaction_in_a_real_session_is_seen() -> None:
    session = open_session(CLAUDE / "cc-1auto-1micro.jsonl")
    ledger = count_tokens(session, "chars4_utf16")
    for segment in (history := trace_history(session, ledger)).segments:
        assert history.estimated[segment.last_step] == ledger.count_context(session.at(segment.at))


@needs_shared
def test_a_stretch_of_a_real_session_that_ends_with_a_user_is_as_full_as_was_reported() -> None:
    session = open_session(CLAUDE / "cc-3auto-compactions-893l.jsonl")
    segments = trace_history(session, count_tokens(session)).segments
    assert segments[1].tokens == pytest.approx(155_000, rel=0.01)
