"""The pair that holds both sides of the wire: pictures of two small sessions as Python sends them.

    python -m tests.golden_wire

writes `tests/cases/wire/{scene,plan,run}.json` and `.bin` anew, and `manual_*` of the second session. Do it
when the wire is meant to change, and read the difference: `tests/workbench/test_recorded_replies.py` holds
Python to these files, `js/test/golden.test.ts` and `js/test/shown.test.ts` the front end, each by figures
recounted from the sessions below.

The session, in tokens (a token is four characters; e4 is a recorded compaction whose summary weighs 15):

    turn 1   e0 user 10 · e1 text 5, call 5 · e2 output 100 · e3 text 20
    turn 2   e4 summary 15 · e5 user 10 · e6 reasoning 8, text 12; the provider reports 31 + 20
    turn 3   e7 user 6 · e8 call 5 · e9 output 40 · e10 text 7; beside it a helper's s0 9

The second one, under a harness that waits for its user's /compact and a provider that clears old outputs from
its requests; a context provider adds 30 to each of them:

    turn 1   m0 user 10 · m1 reasoning 8, call 5 · m2 output 40 · m3 text 20
    turn 2   m4 user 6 · m5 reasoning 9, calls 5 and 5 · m6 outputs 70 and 30 · m7 text 12
    turn 3   m8 user 6 · m9 text 7

Its plan is for a window of 300, 263 of which are taken. It is lived again in one of 130, which the second
request of turn 2 does not fit into although all outputs but the newest are cleared from it; in turn 3 the
user says /compact.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inspector import add_policy, count_tokens, make_plan, replay
from inspector.policies.harness import Harness
from inspector.policies.policy import Edits, Policy
from inspector.policies.rules.clear_tool_outputs import ClearToolOutputs
from inspector.policies.rules.drop_older import DropOlder
from inspector.policies.rules.keep_recent_turns import KeepRecentTurns
from inspector.policies.rules.keep_system import KeepSystem
from inspector.policies.rules.summarise_older import SummariseOlder
from inspector.policies.trigger import Trigger
from inspector.session.blocks import Block, Reasoning, Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry, Provided, Usage
from inspector.session.session import Session
from inspector.tokens.history import trace_history
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.replay import DrawnRun, draw_run
from inspector.workbench.payloads.scene import DrawnPlan, DrawnScene, draw_plan, draw_scene

FOLDER = Path(__file__).parent / "cases" / "wire"
NAMES = ("scene", "plan", "run", "manual_scene", "manual_plan", "manual_run")
Drawn = DrawnScene | DrawnPlan | DrawnRun
WINDOW, SEQ = 200, 7
ROOMY, NARROW = 300, 130

POLICY = Policy(
    name="golden",
    title="Golden",
    source="Made for this test.",
    trigger=Trigger(tokens=145, measure="assembled", check="request"),
    rules=(KeepRecentTurns(turns=1), DropOlder()),
)

MANUAL = Policy(
    name="golden-manual",
    title="Golden, by hand",
    source="Made for this test.",
    trigger=Trigger(tokens=999, measure="assembled", check="request"),
    harness=Harness(mode="manual", warn=0.8),
    rules=(
        KeepSystem(),
        KeepRecentTurns(turns=2),
        ClearToolOutputs(keep=1),
        SummariseOlder(split_turns=False, cap=5),
    ),
)


def words(tokens: int) -> Text:
    return Text(text="four" * tokens)


def call(number: int) -> ToolCall:
    """`read{"path":"a.py"}` has 19 characters: 5 tokens."""
    return ToolCall(id=f"call{number}", name="read", input={"path": "a.py"})


def thought(tokens: int) -> Reasoning:
    return Reasoning(text="four" * tokens)


def output(number: int, tokens: int) -> ToolOutput:
    return ToolOutput(call_id=f"call{number}", name="read", parts=(words(tokens),))


def entry(number: int, role: str, *blocks: Block, chain: str = "e", **more: Any) -> Entry:
    parent = f"{chain}{number - 1}" if number else None
    return Entry(id=f"{chain}{number}", parent=parent, role=role, blocks=blocks, **more)


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


def make_manual() -> Session:
    return Session(
        format="golden",
        title="By hand",
        model="nobody",
        leaf="m9",
        provided=(Provided(name="notes", text="four" * 30, origin="project file AGENTS.md"),),
        entries=(
            entry(0, "user", words(10), chain="m"),
            entry(1, "assistant", thought(8), call(1), chain="m"),
            entry(2, "tool", output(1, 40), chain="m"),
            entry(3, "assistant", words(20), chain="m"),
            entry(4, "user", words(6), chain="m"),
            entry(5, "assistant", thought(9), call(2), call(3), chain="m"),
            entry(6, "tool", output(2, 70), output(3, 30), chain="m"),
            entry(7, "assistant", words(12), chain="m"),
            entry(8, "user", words(6), chain="m"),
            entry(9, "assistant", words(7), chain="m"),
        ),
    )


def draw_all() -> dict[str, tuple[dict[str, Any], bytes]]:
    """The three pictures of each session: its last moment, a plan, and the whole lived again.

    The policies are known by their names from then on.
    """
    return {
        name: (to_json(payload), data) for name, (payload, data) in (draw_first() | draw_manual()).items()
    }


def draw_first() -> dict[str, Drawn]:
    """The first session; its plan has a pin."""
    add_policy(POLICY)
    session = make_session()
    ledger = count_tokens(session, "chars4_utf16")
    history = trace_history(session, ledger)
    plan = make_plan(session, ledger, POLICY.name, Edits(pins=("e6/1",)), window=WINDOW)
    run = replay(session, POLICY.name, ledger=ledger, history=history, window=WINDOW)
    return {
        "scene": draw_scene(plan, history),
        "plan": draw_plan(plan, SEQ),
        "run": draw_run(run),
    }


def draw_manual() -> dict[str, Drawn]:
    """The second session, warned in the plan, above its window and compacted in the run."""
    add_policy(MANUAL)
    session = make_manual()
    ledger = count_tokens(session, "chars4_utf16")
    history = trace_history(session, ledger)
    plan = make_plan(session, ledger, MANUAL.name, window=ROOMY)
    compact = {"acts": [{"at": "m9", "do": "compact"}], "provider": "accepts"}
    run = replay(session, MANUAL.name, compact, ledger=ledger, history=history, window=NARROW)
    return {
        "manual_scene": draw_scene(plan, history),
        "manual_plan": draw_plan(plan, SEQ),
        "manual_run": draw_run(run),
    }


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
