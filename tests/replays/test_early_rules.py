"""The budget for tool outputs, kept before every request of a replay: a word is a token (S2-46 to S2-48)."""

from __future__ import annotations

from typing import Any

from inspector.replays.run import Run
from inspector.session.blocks import ToolCall
from inspector.session.session import Session

from .test_engine import live, say, talk, tools

BUDGET = {"spill-outputs.budget": 1_000, "spill-outputs.preview": 10}
"""Characters: 200 words of "word "."""
SPILLED = 9 + 2
"""Words that stand where an output went to a file: those about it, and ten characters of it."""


def run_of(session: Session, scenario: Any = None, window: int = 100_000, **settings: Any) -> Run:
    return live(session, "claude-code-analysis", scenario, window=window, settings={**BUDGET, **settings})


def stages(run: Run) -> list[tuple[str, int | None, int | None]]:
    return [(e.data["stage"], e.before, e.after) for e in run.events if e.kind == "stage" and e.data["ran"]]


def test_S2_46_S2_48_one_message_may_have_several_outputs_and_each_message_a_budget_of_its_own() -> None:
    calls = [ToolCall(id=f"p{n}", name="read", input={}) for n in range(3)]
    gave = [tools(n, 150)[1].blocks[0].model_copy(update={"call_id": f"p{n}"}) for n in range(3)]
    parallel = [
        say("assistant", 1, *calls),
        *(say("tool", 0).model_copy(update={"blocks": (b,)}) for b in gave),
    ]
    together = run_of(talk(say("user", 4), *parallel, say("assistant", 2)))
    # 150 words are 750 characters: of three in one message two go to files.
    assert together.sent.tolist()[-1] == 8 + 150 + 2 * SPILLED
    apart = talk(say("user", 4), *tools(0, 150), *tools(1, 150), *tools(2, 150), say("assistant", 2))
    assert stages(run_of(apart)) == []
