"""Plans that compact from an entry on, or a range: what stays, where the summary is, what is written."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import (
    build_context,
    check_context,
    checkpoint_from_text,
    compact,
    count_tokens,
    export_session,
    live_context,
    make_plan,
    open_demo,
    read_session,
)
from inspector.errors import EditError, PolicyError
from inspector.planning.context import Context
from inspector.planning.plan import Plan
from inspector.planning.saved_plan import make_again, read_plan, write_plan
from inspector.policies.table import FATES
from inspector.session.session import Session
from tests.claude_rows import Claude

WRITTEN = checkpoint_from_text("What was said so far.")


def talk(calls: list[int]) -> Session:
    """A turn for each number: a prompt, so many calls with outputs, a reply."""
    rows = Claude()
    for turn, count in enumerate(calls, 1):
        rows.say(f"ask {turn}")
        for call in range(count):
            rows.use(f"c{turn}-{call}", f"output {call} of turn {turn}", 1000)
        rows.reply(f"tell {turn}", 1000)
    return rows.open()


@st.composite
def sides(draw: st.DrawFn) -> Plan:
    """A plan that begins after the first message, perhaps with a cut before the end."""
    session = talk(draw(st.lists(st.integers(0, 2), min_size=2, max_size=5)))
    cuts = make_plan(session, "flue").cuts
    since = draw(st.sampled_from(np.flatnonzero(cuts.starts)[1:].tolist()))
    cut = draw(st.sampled_from([place for place in np.flatnonzero(cuts.legal).tolist() if place > since]))
    policy = draw(st.sampled_from(["flue", "claude-code", "keep-recent-turns", "pi"]))
    return make_plan(session, policy, since=cuts.ids[since], cut=cuts.ids[cut])


def texts(context: Context) -> list[str]:
    return [piece.block.text for piece in context.pieces]


@given(sides())
def test_what_is_outside_the_range_stays_and_the_summary_is_between(plan: Plan) -> None:
    place, since = plan.place, plan.table.since
    assert place is not None and plan.side == ("suffix" if place == len(plan.session.live) else "range")
    inside = (plan.session.live.position >= since) & (plan.session.live.position < place)
    assert [FATES[code] for code in plan.fate] == ["summarised" if row else "verbatim" for row in inside]
    context = build_context(plan.session, plan, WRITTEN)
    now = texts(live_context(plan.session, plan.ledger))
    first, last = int(inside.argmax()), int(inside.sum())
    summary = context.pieces[first]
    assert [piece.summary for piece in context.pieces].count(True) == 1 and summary.summary
    assert texts(context) == [*now[:first], summary.block.text, *now[first + last :]]
    assert [str(ref) for ref in summary.origin] == [str(ref) for ref in plan.lost]
    origins = [plan.session.index[piece.origin[0].entry] for piece in context.pieces]
    assert all(a <= b for a, b in pairwise(origins))


@given(sides())
def test_tokens_before_and_after_add_up(plan: Plan) -> None:
    kept = int(plan.table.tokens[plan.fate == 0].sum())
    assert plan.counted_after == plan.ledger.head_tokens + kept + plan.summary_tokens
    written = plan.with_summary(WRITTEN)
    for each in (plan, written):
        assert build_context(plan.session, each).tokens == each.after == each.cut_table.total[each.place]
    assert plan.prefix.message == plan.table.since


@given(sides())
def test_a_provider_takes_the_context(plan: Plan) -> None:
    assert check_context(build_context(plan.session, plan, WRITTEN), awaits_user=True) == ()


@given(sides())
def test_the_written_file_has_the_context_that_was_planned(plan: Plan) -> None:
    promised = build_context(plan.session, plan, WRITTEN)
    done = compact(plan.session, plan.policy, WRITTEN, edits=plan.edits)
    assert done.after.entries[: len(plan.session.entries)] == plan.session.entries
    for text_format in ("claude-code", "pi", "codex"):
        back = read_session(export_session(done.after, text_format))
        assert texts(live_context(back, count_tokens(back))) == texts(promised), text_format
    assert len(make_again(read_plan(write_plan(plan)), plan.session).lost) == len(plan.lost)


@given(sides())
def test_a_saved_plan_is_the_same_again(plan: Plan) -> None:
    again = make_again(read_plan(write_plan(plan)), plan.session)
    assert (again.edits, again.after, again.side) == (plan.edits, plan.after, plan.side)
    assert make_plan(plan.session, plan.ledger, **plan.spec_json).after == plan.after


def test_from_here_is_written_as_claude_code_writes_it() -> None:
    """The fields of `samples/claude-code-rewind/01`: the anchor of what is kept is the boundary itself."""
    session = talk([0, 1, 0])
    done = compact(session, "claude-code", WRITTEN, edits={"since": "r2"})
    rows = [json.loads(row) for row in export_session(done.after, "claude-code").splitlines()]
    boundary = next(row for row in rows if row.get("subtype") == "compact_boundary")
    summary = next(row for row in rows if row.get("isCompactSummary"))
    kept = {"anchorUuid": boundary["uuid"]}
    meta = boundary["compactMetadata"]
    assert meta["preservedMessages"] == kept | {"uuids": ["r0", "r1"]}
    assert meta["preservedSegment"] == kept | {"headUuid": "r0", "tailUuid": "r1"}
    assert (boundary["parentUuid"], boundary["logicalParentUuid"]) == (None, "r1")
    assert summary["summarizeMetadata"]["direction"] == "from"
    assert summary["parentUuid"] == boundary["uuid"]


def test_a_trace_finds_what_stays_before_the_range_and_after_it() -> None:
    rows = Claude()
    for turn in range(1, 4):
        rows.say(f"open src/part{turn}/main.py").reply("done", 1000)
    plan = make_plan(rows.open(), "flue", since="turn 2", cut="turn 3").with_summary(WRITTEN)
    outcomes = [plan.trace[f"src/part{turn}/main.py"].outcome for turn in range(1, 4)]
    assert outcomes == ["verbatim", "absent", "verbatim"]
    lost = plan.trace["src/part2/main.py"].why()
    assert "summarised" in str(lost)
    assert plan.diff().counts["insert"] == 1


def test_without_a_cut_everything_from_there_on_is_compacted() -> None:
    session = open_demo()
    plan = make_plan(session, since="turn 18")
    assert (plan.side, plan.cut and plan.cut.entry) == ("suffix", "end")
    assert plan.edits.cut is None and "since='" in plan.recipe
    moved = plan.with_edits(plan.edits.model_copy(update={"cut": "end", "since": None}))
    assert (moved.side, moved.table.since) == ("prefix", 0)


def test_from_the_first_message_on_is_the_whole_context() -> None:
    session = talk([0, 0])
    whole, since = make_plan(session, "flue", cut="end"), make_plan(session, "flue", since="turn 1")
    assert (since.side, since.after, len(since.lost)) == ("prefix", whole.after, len(whole.lost))


@pytest.mark.parametrize(
    ("edits", "sentence"),
    [
        ({"since": "end"}, "nothing is after the end"),
        ({"since": "turn 9"}, "counted from 1"),
        ({"since": "nobody"}, "no such entry"),
        ({"since": "turn 2", "cut": "turn 2"}, "nothing to compact before this place"),
        ({"since": "turn 2", "cut": "turn 1"}, "nothing to compact before this place"),
        ({"since": "r4"}, "without the call"),
        ({"since": "turn 2", "cut": "r4"}, "without the call"),
    ],
)
def test_a_range_that_has_no_meaning_is_refused(edits: dict[str, str], sentence: str) -> None:
    with pytest.raises(EditError) as raised:
        make_plan(talk([0, 1]), "flue", **edits)  # type: ignore[arg-type]
    assert sentence in str(raised.value)


def test_a_provider_that_compacts_itself_takes_no_since() -> None:
    policy = "anthropic-context-editing"
    settings = {"summarise-all.enabled": True, "summarise-all.by": "provider"}
    with pytest.raises(PolicyError, match="takes no `since`"):
        make_plan(talk([0, 0]), policy, {"settings": settings, "since": "r2"})


def test_an_earlier_summary_stays_before_the_range() -> None:
    session = talk([0, 0])
    once = compact(session, "flue", WRITTEN, edits={"cut": "end"}).after
    rows = Claude()
    rows.say("ask 1").reply("tell 1", 1000).compact("SUM 1").say("ask 2").reply("tell 2", 1000)
    session = rows.open()
    plan = make_plan(session, "flue", since="turn 2")
    assert texts(build_context(session, plan, WRITTEN))[0] == "SUM 1"
    assert plan.jobs[0].previous is None and once.live.summary == 0
    done = compact(session, "flue", WRITTEN, edits={"since": plan.edits.since})
    assert [text.split(".")[0] for text in texts(done.context)] == ["SUM 1", "What was said so far"]
