"""Sidechains beside a moment: where they ran, by whose call, and that none of it is counted as context."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from inspector.planning.planner import make_plan
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens
from inspector.workbench.payloads.columns import unpack
from inspector.workbench.payloads.scene import draw_scene
from inspector.workbench.payloads.subagents import place_sides
from tests.shared import SHARED, needs_shared
from tests.strategies import sessions


def say(name: str, parent: str | None, words: str, **more: object) -> Entry:
    return Entry(id=name, parent=parent, blocks=(Text(text=words),), **more)


def call(name: str, parent: str, *tasks: str, **more: object) -> Entry:
    blocks = tuple(ToolCall(id=f"{name}.{i}", name="Task", input={"prompt": t}) for i, t in enumerate(tasks))
    return Entry(id=name, parent=parent, role="assistant", blocks=blocks, **more)


def answer(name: str, parent: str, to: str, **more: object) -> Entry:
    block = ToolOutput(call_id=to, name="Task", parts=(Text(text="done"),))
    return Entry(id=name, parent=parent, role="tool", blocks=(block,), **more)


def side(name: str, of: str, words: str, **more: object) -> Entry:
    return say(name, None, words, sidechain=of, **more)


def make(*entries: Entry, leaf: str) -> Session:
    return Session(format="test", entries=entries, leaf=leaf)


TWO = make(
    say("u1", None, "Do both."),
    call("c1", "u1", "look around", "write it down"),
    side("a1", "a", "look around"),
    side("a2", "a", "found three files"),
    answer("o1", "c1", "c1.0"),
    side("b1", "b", "write it down"),
    answer("o2", "o1", "c1.1"),
    say("r1", "o2", "Both are done.", role="assistant"),
    leaf="r1",
)


def test_a_sidechain_stands_beside_the_step_whose_call_started_it() -> None:
    ledger = count_tokens(TWO, "chars4_utf16")
    sides = place_sides(TWO, ledger)
    assert [(side.label, side.task) for side in sides.named] == [
        ("sub-agent 1", "look around"),
        ("sub-agent 2", "write it down"),
    ]
    assert sides.lane.tolist() == [0, 1]
    assert sides.step.tolist() == [TWO.live.step[1]] * 2
    tokens = dict(zip((e.id for e in TWO.entries), ledger.entry_tokens.tolist(), strict=True))
    assert sides.tokens.tolist() == [tokens["a1"] + tokens["a2"], tokens["b1"]]


@given(sessions())
def test_only_the_tokens_of_sidechains_are_beside_a_moment(session: Session) -> None:
    ledger = count_tokens(session, "chars4_utf16")
    sides = place_sides(session, ledger)
    aside = [entry.sidechain is not None for entry in session.entries]
    assert sides.tokens.sum() <= ledger.entry_tokens[aside].sum()
    assert sides.tokens.sum() == sum(side.tokens for side in sides.named)
    assert len({*zip(sides.lane.tolist(), sides.step.tolist(), strict=True)}) == len(sides.lane)
    if len(session.live):
        assert sides.step.max(initial=0) <= session.live.step[-1]


def test_a_scene_without_sidechains_pays_nothing_and_one_with_them_names_them_as_text() -> None:
    for session, count in ((TWO, 2), (make(say("u1", None, "Hi."), leaf="u1"), 0)):
        ledger = count_tokens(session, "chars4_utf16")
        scene, data = draw_scene(make_plan(session, ledger), trace_history(session, ledger))
        columns = unpack(scene.columns, data)
        assert len(scene.sides) == len(columns["side_tokens"]) == count
    evil = make(say("u1", None, "Hi."), side("a", "s", "\x1b[31m<script>\n\u202e"), leaf="u1")
    ledger = count_tokens(evil, "chars4_utf16")
    (told,) = place_sides(evil, ledger).named
    assert "\x1b" not in told.task
    assert "\u202e" not in told.task


@needs_shared
def test_a_real_session_with_five_sub_agents_has_them_beside_the_two_messages_that_started_them() -> None:
    from inspector.files import open_session

    folder = SHARED / "sessions" / "claude-code-sidechains--claude-code-viewer"
    session = open_session(folder / "cc-sidechain-438l.jsonl")
    ledger = count_tokens(session, "chars4_utf16")
    sides = place_sides(session, ledger)
    first = [sides.step[sides.lane == lane].min() for lane in range(5)]
    steps = [session.live.entries[session.live.step == step] for step in first]
    blocks = [[block for at in step for block in session.entries[at].blocks] for step in steps]
    assert [sum(block.kind == "tool_call" for block in step) for step in blocks] == [3, 3, 3, 2, 2]
    aside = np.array([entry.sidechain is not None for entry in session.entries])
    assert sides.tokens.sum() == ledger.entry_tokens[aside].sum()
