"""The budget for tool outputs, kept before every request of a replay: a word is a token (S2-46 to S2-48)."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.replays.run import Run
from inspector.session.blocks import ToolCall
from inspector.session.session import Session

from .test_engine import at, live, say, talk, tools, turn

BUDGET = {"spill-outputs.budget": 1_000, "spill-outputs.preview": 10}
"""Characters: 200 words of "word "."""
LARGE, SMALL = 1_000, 20
SPILLED = 9 + 2
"""Words that stand where an output went to a file: those about it, and ten characters of it."""


def run_of(session: Session, scenario: Any = None, window: int = 100_000, **settings: Any) -> Run:
    return live(session, "claude-code", scenario, window=window, settings={**BUDGET, **settings})


def stages(run: Run) -> list[tuple[str, int | None, int | None]]:
    return [(e.data["stage"], e.before, e.after) for e in run.events if e.kind == "stage" and e.data["ran"]]


def test_S2_48_under_the_trigger_no_request_carries_more_than_the_budget() -> None:
    session = talk(say("user", 4), *tools(0, LARGE), *tools(1, SMALL), *tools(2, LARGE), say("assistant", 2))
    run = run_of(session)
    assert (run.adopted, run.status) == ((), "finished")
    # 4 asked, then each reply is 4 and its output; the large ones stand as a few words.
    assert run.sent.tolist() == [0, 4, 8 + SPILLED, 8 + SPILLED + 24, 36 + 2 * SPILLED]
    assert stages(run) == [
        ("budget", 8 + LARGE, 8 + SPILLED),
        ("budget", 36 + SPILLED + LARGE, 36 + 2 * SPILLED),
    ]
    assert run.context.tolist()[-1] == 38 + 2 * SPILLED


def test_S2_48_what_is_spilled_before_it_was_sent_takes_nothing_from_the_cached_prefix() -> None:
    session = talk(say("user", 4), *tools(0, LARGE), *tools(1, LARGE), say("assistant", 2))
    run = run_of(session)
    assert run.cached.tolist()[1:] == [0, *run.sent.tolist()[1:-1]]


def test_S2_48_with_the_budget_switched_off_all_of_it_is_sent() -> None:
    session = talk(say("user", 4), *tools(0, LARGE), say("assistant", 2))
    run = run_of(session, **{"spill-outputs.enabled": False})
    assert run.sent.tolist() == [0, 4, 1_008]
    assert stages(run) == []


@pytest.mark.parametrize(
    ("deed", "reason", "stage"),
    [("compact", "manual", "auto"), ("token_overflow", "overflow", "reactive")],
)
def test_S2_48_the_budget_comes_first_for_every_reason(deed: str, reason: str, stage: str) -> None:
    session = talk(
        *(say("user", 4), *tools(0, LARGE), say("assistant", 2)),
        *(say("user", 4), *tools(1, LARGE), *tools(2, LARGE), say("assistant", 2)),
    )
    run = run_of(session, at("e6", deed) | {"writer": {}})
    (item,) = run.adopted
    assert item.reason == reason
    trace = item.plan.stages
    assert trace[0].name == "budget"
    assert [told.name for told in trace if told.ran] == ["budget", stage]
    # Whatever was compacted, of what is sent afterwards no message is over its budget either.
    assert run.sent.max() < 100
    assert {told for told, _, _ in stages(run)} == {"budget", stage}


def test_S2_48_before_the_other_stages_a_message_over_the_budget_is_spilled() -> None:
    """The second request would be over 95 % of the window; what stands after the budget is not."""
    session = talk(say("user", 4), *tools(0, 960), say("assistant", 2), *turn())
    run = run_of(session, window=1_000)
    assert (run.adopted, run.sent.max()) == ((), 14 + SPILLED)
    assert "threshold_hit" not in [event.kind for event in run.events]
    loud = run_of(session, window=1_000, **{"spill-outputs.enabled": False})
    assert loud.adopted[0].reason == "auto"


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


def test_S2_48_a_tool_that_is_exempt_is_sent_whole() -> None:
    session = talk(say("user", 4), *tools(0, LARGE), say("assistant", 2))
    run = run_of(session, **{"spill-outputs.exempt_tools": ["read"]})
    assert run.sent.tolist() == [0, 4, 1_008]
