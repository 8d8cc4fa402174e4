"""The pair that holds both sides of the wire: pictures of one small session as Python sends them.

    python -m tests.golden_wire

writes `tests/cases/wire/{scene,plan,run}.json` and `.bin` anew. Do it when the wire is meant to change, and
read the difference: `tests/workbench/test_recorded_replies.py` holds Python to these files,
`js/test/golden.test.ts` the front end, each by figures recounted from the session below.

The session, in tokens (a token is four characters; e4 is a recorded compaction whose summary weighs 15):

    turn 1   e0 user 10 · e1 text 5, call 5 · e2 output 100 · e3 text 20
    turn 2   e4 summary 15 · e5 user 10 · e6 reasoning 8, text 12; the provider reports 31 + 20
    turn 3   e7 user 6 · e8 call 5 · e9 output 40 · e10 text 7; beside it a helper's s0 9
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inspector import add_policy, count_tokens, make_plan, replay
from inspector.policies.policy import Edits, Policy
from inspector.policies.rules.drop_older import DropOlder
from inspector.policies.rules.keep_recent_turns import KeepRecentTurns
from inspector.policies.trigger import Trigger
from inspector.session.blocks import Block, Reasoning, Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry, Usage
from inspector.session.session import Session
from inspector.tokens.history import trace_history
from inspector.workbench.payloads.payload import to_json
from inspector.workbench.payloads.replay import draw_run
from inspector.workbench.payloads.scene import draw_plan, draw_scene

FOLDER = Path(__file__).parent / "cases" / "wire"
NAMES = ("scene", "plan", "run")
WINDOW, SEQ = 200, 7

POLICY = Policy(
    name="golden",
    title="Golden",
    source="Made for this test.",
    trigger=Trigger(tokens=145, measure="assembled", check="request"),
    rules=(KeepRecentTurns(turns=1), DropOlder()),
)


def words(tokens: int) -> Text:
    return Text(text="four" * tokens)


def call(number: int) -> ToolCall:
    """`read{"path":"a.py"}` has 19 characters: 5 tokens."""
    return ToolCall(id=f"call{number}", name="read", input={"path": "a.py"})


def output(number: int, tokens: int) -> ToolOutput:
    return ToolOutput(call_id=f"call{number}", name="read", parts=(words(tokens),))


def entry(number: int, role: str, *blocks: Block, **more: Any) -> Entry:
    parent = f"e{number - 1}" if number else None
    return Entry(id=f"e{number}", parent=parent, role=role, blocks=blocks, **more)


def make_session() -> Session:
    return Session(
        format="golden",
        title="Three turns",
        model="nobody",
        leaf="e10",
        entries=(
            entry(0, "user", words(10)),
            entry(1, "assistant", words(5), call(1)),
            entry(2, "tool", output(1, 100)),
            entry(3, "assistant", words(20)),
            entry(
                4, "user", words(15), kind="compaction", boundary=Boundary(trigger="auto", tokens_before=140)
            ),
            entry(5, "user", words(10)),
            entry(6, "assistant", Reasoning(text="four" * 8), words(12), usage=Usage(input=31, output=20)),
            entry(7, "user", words(6)),
            entry(8, "assistant", call(2)),
            entry(9, "tool", output(2, 40)),
            entry(10, "assistant", words(7)),
            Entry(id="s0", parent="e8", sidechain="helper", role="user", blocks=(words(9),)),
        ),
    )


def draw_all() -> dict[str, tuple[dict[str, Any], bytes]]:
    """The three pictures of the session: its last moment, a plan with a pin, and the whole lived again.

    The policy is known by its name from then on.
    """
    add_policy(POLICY)
    session = make_session()
    ledger = count_tokens(session, "chars4_utf16")
    history = trace_history(session, ledger)
    plan = make_plan(session, ledger, POLICY.name, Edits(pins=("e6/1",)), window=WINDOW)
    run = replay(session, POLICY.name, ledger=ledger, history=history, window=WINDOW)
    drawn = {
        "scene": draw_scene(plan, history),
        "plan": draw_plan(plan, SEQ),
        "run": draw_run(run, SEQ),
    }
    return {name: (to_json(payload), data) for name, (payload, data) in drawn.items()}


def to_text(picture: dict[str, Any]) -> str:
    """As a file holds it: a column a line, everything else spread out, so that a difference can be read."""
    columns = picture["columns"]
    rest = json.dumps({name: value for name, value in picture.items() if name != "columns"}, indent=1)
    lines = ",\n".join(f"  {json.dumps(column)}" for column in columns)
    return f'{rest[:-2]},\n "columns": [\n{lines}\n ]\n}}\n'


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, (picture, data) in draw_all().items():
        (FOLDER / f"{name}.json").write_text(to_text(picture), "utf-8")
        (FOLDER / f"{name}.bin").write_bytes(data)


if __name__ == "__main__":
    main()
