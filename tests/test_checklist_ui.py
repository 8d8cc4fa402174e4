"""What has to be shown or said, row by row: where words are from, what is lost, how much room is left."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from inspector.planning.assemble import build_context, live_context
from inspector.planning.diff.contexts import diff_contexts
from inspector.planning.plan import Plan
from inspector.planning.plan_words import NOT_DETERMINISTIC
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import Checkpoint
from inspector.policies.policy import Edits
from inspector.replays.engine import replay
from inspector.session.blocks import Block, Reasoning, Text
from inspector.session.entries import Entry, Tool, Usage
from inspector.session.session import Session
from inspector.summaries.record import append_checkpoint
from inspector.text import printable
from inspector.tokens.counter import Counter
from inspector.tokens.ledger import count_tokens
from inspector.tokens.reported import add_usage
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.block import describe_body
from inspector.workbench.payloads.gauge import find_headroom, is_head_above, share_history
from inspector.workbench.payloads.replay import draw_run
from inspector.workbench.payloads.scene import PlanPayload, draw_plan
from tests.reference.patched import patch_context

WORDS = Counter("words", "Words", lambda texts: np.array([len(text.split()) for text in texts], np.int32))
IN_PLACE = "stud-wiki-deterministic"


def say(role: str, words: str, *more: Block, **fields: Any) -> Entry:
    return Entry(id="", role=role, blocks=(Text(text=words), *more), **fields)


def talk(*entries: Entry, **fields: Any) -> Session:
    """Entries e0, e1, … that follow each other."""
    linked = tuple(
        entry.model_copy(update={"id": f"e{i}", "parent": f"e{i - 1}" if i else None})
        for i, entry in enumerate(entries)
    )
    return Session(**{"format": "demo", "entries": linked, "leaf": linked[-1].id} | fields)


def turns(count: int, **fields: Any) -> Session:
    """Ten tokens a turn: a question of four words and an answer of six."""
    pairs = [(say("user", f"q{n} b c d"), say("assistant", f"a{n} b c d e f")) for n in range(count)]
    return talk(*(entry for pair in pairs for entry in pair), **fields)


def reported(count: int, head: int = 0, **fields: Any) -> Session:
    """The same, with the last reply's usage by the provider: just what is counted."""
    session = turns(count, **fields)
    *before, last = session.entries
    usage = Usage(input=head + 10 * count - 6, output=6)
    return session.model_copy(update={"entries": (*before, last.model_copy(update={"usage": usage}))})


def grow(session: Session, *entries: Entry) -> Session:
    """The session with more entries at its leaf."""
    made, parent = [], session.leaf
    for i, entry in enumerate(entries):
        made.append(entry.model_copy(update={"id": f"n{i}", "parent": parent}))
        parent = made[-1].id
    fields = {name: getattr(session, name) for name in Session.model_fields}
    return Session(**fields | {"entries": (*session.entries, *made), "leaf": parent})


def plan_of(session: Session, policy: Any = "keep-recent-turns", window: int = 100, **edits: Any) -> Plan:
    return make_plan(session, count_tokens(session, WORDS), policy, Edits(**edits), window=window)


def facts_of(plan: Plan, row: int) -> dict[str, str]:
    return dict(to_json(describe_body(plan, row))["facts"])


def picture(plan: Plan) -> PlanPayload:
    drawn = draw_plan(plan).payload
    json.dumps(to_json(drawn), allow_nan=False)
    return drawn


@pytest.fixture(scope="module")
def compacted() -> Session:
    """Six turns, a compaction that keeps the last four, and one turn more."""
    after = append_checkpoint(plan_of(turns(6)), Checkpoint(text="what was said"), "s1")
    return grow(after, say("user", "and now"), say("assistant", "well"))


# -- where reasoning is from ---------------------------------------------------------------------------


def test_S0_28_a_reply_of_no_model_and_a_file_that_tells_none_make_nothing_unportable() -> None:
    thought = Reasoning(text="hm")
    for model in (None, "<synthetic>"):
        made = say("assistant", "yes", thought, model=model)
        session = talk(say("user", "hi"), made, say("user", "and"), say("assistant", "no", model="m1"))
        assert "not portable" not in facts_of(plan_of(session), 2)
    assert facts_of(plan_of(talk(say("user", "hi"), say("assistant", "y", thought))), 2)["origin"] == (
        "not recorded"
    )


# -- what a model's summary does to all that follows ---------------------------------------------------


def test_S0_69_one_history_and_two_summaries_make_two_contexts() -> None:
    session = turns(6)
    plan = plan_of(session)
    one, other = (build_context(session, plan, Checkpoint(text=text)) for text in ("so", "or so"))
    assert one != other
    assert plan.deterministic is False and NOT_DETERMINISTIC in plan.notes
    in_place = plan_of(session, IN_PLACE)
    assert in_place.deterministic is True and NOT_DETERMINISTIC not in in_place.notes
    assert build_context(session, in_place) == build_context(session, plan_of(session, IN_PLACE))


def test_S0_70_S0_71_a_replay_says_from_which_step_on_it_is_one_of_many() -> None:
    session = turns(12)
    ledger = count_tokens(session, WORDS)
    settings = {"keep-recent-turns.turns": 1, "summarise-older.cap": 5}
    run = replay(session, "keep-recent-turns", ledger=ledger, settings=settings, window=100)
    drawn, _ = draw_run(run)
    (found,) = [found for found in drawn.findings if found.kind == "downstream"]
    assert found.step == run.adopted[0].step and "other turns after it" in found.sentence
    assert drawn.counts.findings == len(drawn.findings)
    calm, _ = draw_run(replay(session, "keep-recent-turns", ledger=ledger, window=10_000))
    alike, _ = draw_run(replay(session, IN_PLACE, ledger=ledger, window=100))
    assert not any(found.kind == "downstream" for one in (calm, alike) for found in one.findings)


def test_S0_71_a_diff_with_a_summary_on_either_side_warns(compacted: Session) -> None:
    session = turns(6)
    plan = plan_of(session)
    before, after = live_context(session, plan.ledger), build_context(session, plan)
    recorded = live_context(compacted, count_tokens(compacted, WORDS))
    for one, other in ((before, after), (after, before), (recorded, recorded)):
        diff = diff_contexts(one, other)
        assert diff.crosses_summary and "another run may write another summary" in repr(diff)
        assert patch_context(one, diff) == other
    in_place = build_context(session, plan_of(session, IN_PLACE))
    diff = diff_contexts(before, in_place)
    assert not diff.crosses_summary and "another summary" not in repr(diff)


# -- room that is left ---------------------------------------------------------------------------------


def test_S0_73_a_policy_that_counts_messages_has_its_headroom_in_messages() -> None:
    headroom = find_headroom(plan_of(turns(20), "openhands"))
    assert headroom is not None
    assert (headroom.left, headroom.pace, headroom.turns, headroom.unit) == (200, 2, 100, "message")


def test_S1_3_the_share_of_history_is_told_and_a_crossing_by_the_head_alone() -> None:
    even = plan_of(reported(4, 40, system=(Text(text="word " * 40),)))
    assert share_history(even) == 0.5
    said = picture(even).trigger
    assert "50 % of the context is history." in said and "by themselves" not in said
    full = plan_of(reported(1, 90, system=(Text(text="word " * 60),), tools=(Tool(name="w " * 28 + "w w"),)))
    assert is_head_above(full)
    assert "by themselves (" in picture(full).trigger
    assert not is_head_above(plan_of(reported(9))), "history alone crosses it"


# -- what is provided ----------------------------------------------------------------------------------


# -- the summary itself --------------------------------------------------------------------------------


def test_S0_115_what_a_summary_holds_is_shown_as_text_without_control_characters() -> None:
    evil = "<script>alert(1)</script>\x1b[31m\u202e"
    after = append_checkpoint(plan_of(turns(6)), Checkpoint(text=evil), "s1")
    body = describe_body(plan_of(after, window=1_000), 0)
    assert body.before.text == printable(evil) and "\x1b" not in body.before.text


def test_S1_32_what_is_lost_is_said_and_listed() -> None:
    plan = plan_of(turns(6))
    assert [str(ref) for ref in plan.lost] == ["e0/0", "e1/0", "e2/0", "e3/0"]
    (note,) = [note for note in plan.notes if note.startswith("Lossy")]
    assert note == "Lossy: 4 blocks are no longer verbatim (4 summarised); the file keeps them."
    assert note in picture(plan).notes
    assert {plan.session.block(ref).text for ref in plan.lost} == {
        *("q0 b c d", "a0 b c d e f", "q1 b c d", "a1 b c d e f")
    }, "the session still has them"
    calm = plan_of(turns(3))
    assert calm.lost == () and not any(note.startswith("Lossy") for note in calm.notes)


def test_S4_79_usage_that_leaves_the_summary_out_is_noticed() -> None:
    reply = Usage(input=100, output=10)
    asked = talk(
        *(say(role, "w", usage=reply if role == "assistant" else None) for role in ["user", "assistant"] * 6)
    )
    written = Checkpoint(text="so", usage=Usage(input=500, output=50))
    whole = append_checkpoint(plan_of(asked), written, "s1")
    replies = [
        entry.usage for entry in whole.entries if entry.usage is not None and entry.role == "assistant"
    ]
    assert add_usage(whole).prompt == 600 + 500
    assert add_usage(whole) != sum(replies, start=Usage())


# -- states and stages ---------------------------------------------------------------------------------


def test_S2_12_every_stage_has_a_look_of_its_own_and_the_last_resort_that_of_an_emergency() -> None:
    for name, emergencies in (("claude-code-analysis", 1), ("mini-claude-code", 0)):
        plan = plan_of(turns(12), name)
        looks = {stage.name: stage.look for stage in picture(plan).stages}
        assert len(looks) >= 3 and len(set(looks.values())) == len(looks)
        last = {stage.name for stage in plan.policy.stages if stage.reasons == ("overflow",)}
        assert {stage for stage, look in looks.items() if look == "emergency"} == last
        assert len(last) == emergencies
