"""Where a cut may stand, on sessions small enough to read."""

from __future__ import annotations

import pytest

from inspector.cuts import find_cuts
from inspector.errors import EditError
from inspector.formats.readers import read_session
from inspector.planning.assemble import build_context
from inspector.planning.planner import make_plan
from inspector.session.blocks import Reasoning, Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens


def build(*entries: Entry) -> Session:
    """A chain of entries, ids e0, e1, …"""
    chained = [
        entry.model_copy(update={"id": f"e{i}", "parent": f"e{i - 1}" if i else None})
        for i, entry in enumerate(entries)
    ]
    return Session(format="test", entries=tuple(chained), leaf=chained[-1].id if chained else None)


def user(text: str = "please") -> Entry:
    return Entry(id="", role="user", blocks=(Text(text=text),))


def say(text: str = "fine") -> Entry:
    return Entry(id="", role="assistant", blocks=(Text(text=text),))


def call(*ids: str, signed: bool = False) -> Entry:
    thought = (Reasoning(text="hm", signature="s"),) if signed else ()
    return Entry(
        id="", role="assistant", blocks=(*thought, *(ToolCall(id=i, name="Read", input={}) for i in ids))
    )


def answer(*ids: str) -> Entry:
    return Entry(
        id="", role="tool", blocks=tuple(ToolOutput(call_id=i, parts=(Text(text="ok"),)) for i in ids)
    )


def verdicts(session: Session) -> list[str]:
    return [point.rule or "legal" for point in find_cuts(session)]


def test_the_first_place_has_nothing_before_it_and_the_last_keeps_nothing() -> None:
    assert verdicts(build(user(), say())) == ["nothing-before", "legal", "legal"]
    assert find_cuts(build(user(), say()))[2].entry == "end"


def test_S4_77_a_cut_between_a_call_and_its_output_would_orphan_the_output() -> None:
    session = build(user(), call("a"), answer("a"), say())
    assert verdicts(session) == ["nothing-before", "legal", "orphan-output", "legal", "legal"]
    assert "unexpected tool_use_id" in find_cuts(session)[2].sentence


def test_an_output_after_other_replies_stays_with_its_call_where_the_provider_takes_that() -> None:
    """OpenAI's Responses API, which Codex uses, accepts that; Anthropic only in the next message."""
    late = build(user(), call("A", "B"), answer("B"), say("B is here"), answer("A"), say(), user())
    assert late.live.pending.tolist() and late.live.orphans.tolist()
    codex = late.model_copy(update={"format": "codex"})
    inside = ["orphan-output", "inside-batch", "inside-batch"]
    assert verdicts(codex) == ["nothing-before", "legal", *inside, "legal", "legal", "legal"]
    assert codex.live.lone.tolist() == []
    plan = make_plan(codex, count_tokens(codex), "pi", {"cut": "e1"})
    assert [piece.block.kind for piece in build_context(codex, plan).pieces].count("tool_output") == 2


def test_a_reasoning_loop_that_waits_for_its_reply_stays_whole() -> None:
    session = build(user(), call("a", signed=True), answer("a"), call("b"), answer("b"))
    assert verdicts(session) == [
        "nothing-before",
        "legal",
        "orphan-output",
        "open-loop",
        "orphan-output",
        "legal",
    ]
    closed = build(user(), call("a", signed=True), answer("a"), call("b"), answer("b"), say())
    assert verdicts(closed)[3] == "legal"


def test_nothing_before_the_recorded_summary_can_be_compacted_again() -> None:
    summary = Entry(id="", kind="compaction", blocks=(Text(text="so far"),), boundary=Boundary())
    assert verdicts(build(user(), summary, user(), say())) == [
        "nothing-before",
        "prior-compaction",
        "legal",
        "legal",
    ]


@pytest.mark.parametrize(("place", "nearest"), [(0, 1), (2, 1), (3, 3), (4, 4)])
def test_the_nearest_legal_place(place: int, nearest: int) -> None:
    assert find_cuts(build(user(), call("a"), answer("a"), say())).nearest(place) == nearest


def test_a_place_is_found_by_the_entry_that_it_keeps_and_an_unknown_one_is_named() -> None:
    session = read_session([{"role": role, "content": "word"} for role in ("user", "assistant") * 3])
    cuts = find_cuts(session)
    for cut in cuts:
        assert cuts[cut.entry] == cut == cuts[cut.place]
    assert cuts["end"].place == len(session.live)
    for unknown in ("e5", "m7", ""):
        with pytest.raises(EditError, match=f"cut '{unknown}': no such entry in this context.* m1 to m6"):
            cuts[unknown]
    with pytest.raises(EditError, match="its entries: none"):
        find_cuts(Session(format="test"))["m1"]
