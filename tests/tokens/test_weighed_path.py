"""What is not in the file: what told it, its parts, and what a cut does to each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector.files import open_session, read_session
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.session.blocks import Reasoning, Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry, Source, Usage
from inspector.session.session import Session
from inspector.tokens.counter import Counter
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens
from inspector.tokens.models import window_of
from inspector.tokens.outside import Outside
from inspector.tokens.reattached import MOST, UNSEEN
from inspector.tokens.weighed_path import SEALED, TOLD, TYPICAL, find_outside

from ..predictions.measure import find_predictions
from ..shared import SHARED, needs_shared

LENGTH = Counter("length", "Characters", lambda texts: np.array([len(text) for text in texts], np.int32))
SESSIONS = SHARED / "sessions"


def say(name: str, parent: str | None, text: str, **given: Any) -> Entry:
    return Entry(id=name, parent=parent, blocks=(Text(text=text),), **given)


def reply(name: str, parent: str, prompt: int, text: str = "", output: int = 1, **given: Any) -> Entry:
    usage = Usage(input=prompt, output=output)
    blocks = given.pop("blocks", (Text(text=text),))
    return Entry(id=name, parent=parent, role="assistant", blocks=blocks, usage=usage, **given)


def withheld_session() -> Session:
    """1,000 are fixed; each of two steps reasons 300 tokens that nobody sees."""
    sealed = (Reasoning(text="", signature="s"), Text(text="a" * 50))
    return Session(
        format="demo",
        entries=(
            say("u1", None, "u" * 100),
            reply("a1", "u1", 1100, blocks=sealed, output=350),
            say("u2", "a1", "u" * 100),
            reply("a2", "u2", 1100 + 350 + 100, blocks=sealed, output=350),
            say("u3", "a2", "u" * 100),
            reply("a3", "u3", 1550 + 350 + 100, "a" * 50, output=50),
            say("u4", "a3", "u" * 100),
        ),
        leaf="u4",
    )


def outside_of(session: Session) -> Outside:
    return find_outside(session, count_tokens(session, LENGTH))


def test_what_is_fixed_stays_and_what_is_withheld_goes_with_its_step() -> None:
    session = withheld_session()
    ledger = count_tokens(session, LENGTH)
    found = find_outside(session, ledger)
    assert {name: part.tokens for name, part in found.parts.items()} == {
        "fixed": 1000,
        "withheld": 600,
        "earlier": 0,
        "attached": 0,
    }
    # Rows: u1, reasoning and text of a1, u2, reasoning and text of a2, u3, a3, u4.
    assert found.spread.tolist() == [0, 300, 0, 0, 300, 0, 0, 0, 0]
    plan = make_plan(session, ledger, "keep-recent-turns", {"cut": "u3"}, window=10_000)
    assert plan.before == 1000 + 600 + (4 * 100 + 3 * 50) == plan.counted_before + found.tokens
    assert plan.parts_after == {"fixed": 1000, "withheld": 0, "earlier": 0, "attached": 0}
    assert plan.after == 1000 + plan.summary_tokens + 100 + 50 + 100
    later = make_plan(session, ledger, "keep-recent-turns", {"cut": "u2"}, window=10_000)
    assert later.parts_after["withheld"] == 300, "the step that is kept keeps what it reasoned"
    assert later.cut_table.total[plan.place or 0] == plan.after
    assert later.cut_table.outside[plan.place or 0].tolist() == [1000, 0, 0, 0]


def test_a_file_that_begins_in_the_middle_says_so_and_a_cut_takes_what_came_before() -> None:
    session = Session(
        format="claude-code",
        entries=(
            say("u1", "gone", "u" * 100),
            reply("a1", "u1", 150_000, "a" * 50, output=50),
            say("u2", "a1", "u" * 100),
        ),
        leaf="u2",
    )
    ledger = count_tokens(session, LENGTH)
    found = find_outside(session, ledger)
    usual = TYPICAL["claude-code"]
    assert found.fixed[:3] == usual and not found.fixed.replies
    assert found.earlier[:3] == (149_900 - usual.tokens, 149_900 - usual.most, 149_900 - usual.least)
    plan = make_plan(session, ledger, "keep-recent-turns", {"cut": "u2"}, window=200_000)
    assert any("begins in the middle" in note for note in plan.notes)
    assert plan.before == 150_000 + 150 and plan.after < usual.tokens + 1_000
    low, high = plan.after_range
    assert low <= usual.least + plan.counted_after and high >= usual.most
    assert f"({low:,} to {high:,})" in repr(plan)
    # To the token: of what is not in the file only what is fixed is left, and the counted texts.
    assert low == plan.counted_after + usual.least
    assert high == plan.counted_after + usual.most + (MOST if plan.attaches else 0)
    # Where nothing is cut all of it is there, from the least to the most of each part.
    whole = make_plan(session, ledger, "claude-code", window=2_000_000)
    assert whole.place is None
    parts = whole.outside.parts.values()
    assert whole.after_range == (
        whole.counted_after + sum(part.low for part in parts),
        whole.counted_after + sum(part.high for part in parts),
    )
    # With its first row in the file it does not begin in the middle.
    whole = session.with_entries((session.entries[0].model_copy(update={"parent": None}),), "u1")
    assert not find_outside(whole, count_tokens(whole, LENGTH)).warnings


def test_the_first_request_after_a_compaction_tells_what_was_fixed_before_it() -> None:
    """50,000 were reported of 250 counted: that, and not 149,900, is in every request."""
    entries = (
        say("u1", "gone", "u" * 100),
        reply("a1", "u1", 150_000, "a" * 50, output=50),
        say("s1", "a1", "s" * 150, kind="compaction", boundary=Boundary(), sources=(Source(3, 0, 1),)),
        say("u2", "s1", "u" * 100),
        reply("a2", "u2", 50_250, "a" * 50, output=50),
    )
    session = Session(format="demo", entries=entries, leaf="a2")
    ledger = count_tokens(session, LENGTH)
    before = find_outside(session.at("a1"), ledger)
    assert (before.fixed.tokens, before.fixed.replies) == (50_000, ("a2",))
    assert before.earlier.tokens == 99_900
    assert find_outside(session, ledger).fixed.tokens == 50_000
    assert find_outside(session, ledger).earlier.tokens == 0


def begun_by_a_compaction(**told: Any) -> Session:
    boundary = Boundary(extra=dict(told))
    entries = (
        say("s1", "gone", "s" * 1_000, kind="compaction", boundary=boundary, sources=(Source(1, 0, 1),)),
        say("u2", "s1", "u" * 100),
        reply("a2", "u2", 53_000, "a" * 50, output=50),
    )
    return Session(format="claude-code", entries=entries, leaf="u2")


def test_a_file_that_begins_with_a_compaction_has_a_system_prompt_all_the_same() -> None:
    """What nothing tells is a guess with a range, said in a warning; the next request then tells it."""
    session = begun_by_a_compaction()
    found, usual = outside_of(session), TYPICAL["claude-code"]
    assert found.fixed[:3] == usual and not found.fixed.replies
    assert (found.attached.low, found.attached.tokens, found.attached.high) == (0, UNSEEN, MOST)
    assert any("System prompt and tools are not told" in warning for warning in found.warnings)
    later = outside_of(session.at("a2"))
    assert later.fixed.tokens + later.attached.tokens == 53_000 - 1_100
    # Outputs that were emptied at the very beginning tell as little of what stood before.
    emptied = say("m1", None, "", kind="compaction", boundary=Boundary(kind="micro"))
    micro = outside_of(Session(format="claude-code", entries=(emptied, say("u2", "m1", "hi")), leaf="u2"))
    assert micro.fixed[:3] == usual and micro.warnings


def test_what_claude_code_tells_of_the_conversation_after_a_compaction_is_used() -> None:
    """`postTokens` counts the conversation, what was attached again with it, and no system prompt."""
    entries = (
        say("u1", None, "u" * 100),
        reply("a1", "u1", 40_100, "a" * 50, output=50),
        *begun_by_a_compaction(postTokens=9_000).entries,
    )
    session = Session(format="claude-code", entries=entries, leaf="u2").with_entries(
        (*entries[:2], entries[2].model_copy(update={"parent": "a1"}), *entries[3:]), "u2"
    )
    ledger = count_tokens(session, LENGTH)
    found = find_outside(session, ledger)
    assert found.fixed.tokens == 40_000
    assert found.attached.tokens == 9_000 - 1_000
    assert ledger.count_context(session) + found.tokens == 40_000 + 9_000 + 100
    slack = round(TOLD * 49_000)
    assert (found.attached.low, found.attached.high) == (8_000 - slack, 8_000 + slack)
    assert any("9,000 tokens of conversation" in warning for warning in found.warnings)


def test_a_summary_that_only_the_provider_can_read_weighs_something() -> None:
    """A guess with a range first, then what the request after it told, which the next one is guessed by."""
    sealed = Boundary(extra={"unreadable": True})
    entries = (
        say("u1", None, "u" * 100),
        reply("a1", "u1", 5_100, "a" * 50, output=50),
        say("s1", "a1", "", kind="compaction", boundary=sealed, sources=(Source(3, 0, 1),)),
        say("u2", "s1", "u" * 100),
        reply("a2", "u2", 5_000 + 3_000 + 100, "a" * 50, output=50),
        say("s2", "a2", "", kind="compaction", boundary=sealed, sources=(Source(6, 0, 1),)),
        say("u3", "s2", "u" * 100),
    )
    session = Session(format="codex", entries=entries, leaf="u3")
    ledger = count_tokens(session, LENGTH)
    first = find_outside(session.at("u2"), ledger)
    assert first.fixed.tokens == 5_000
    assert first.attached[:3] == SEALED
    assert any("Only the provider can read the summary" in warning for warning in first.warnings)
    told = find_outside(session.at("a2"), ledger)
    assert (told.fixed.tokens, told.attached.tokens) == (5_000, 3_000) and told.attached.certain
    again = find_outside(session, ledger)
    assert (again.fixed.tokens, again.attached.tokens) == (5_000, 3_000) and not again.attached.certain


def test_a_count_far_above_what_was_reported_is_warned_of() -> None:
    def of(prompt: int) -> Outside:
        entries = (say("u1", None, "u" * 1_000), reply("a1", "u1", prompt, "a"))
        return outside_of(Session(format="demo", entries=entries, leaf="a1"))

    (warning,) = of(800).warnings
    assert warning.startswith("1,000 tokens are counted where 800 were reported")
    assert warning.endswith("may be 25% too large.")
    assert of(950).exceeds and not of(950).warnings
    # What is said to be too large is in the range; where nothing is, there is none.
    assert [of(prompt).bound(2_000) for prompt in (800, 950, 1_000)] == [
        (1_600, 2_000),
        (1_900, 2_000),
        (2_000, 2_000),
    ]


def test_a_plan_whose_counts_are_too_large_says_how_small_its_context_may_be() -> None:
    entries = (say("u1", None, "u" * 1_000), reply("a1", "u1", 800, "a" * 9), say("u2", "a1", "u" * 391))
    session = Session(format="demo", entries=entries, leaf="u2")
    plan = make_plan(
        session, count_tokens(session, LENGTH), "keep-recent-turns", {"cut": "u2"}, window=200_000
    )
    assert plan.outside.exceeds
    assert plan.after_range == (round(0.8 * plan.after), plan.after)


FIRST_ROWS = ["cc-1compact-417l.jsonl", "cc-2auto-1519l.jsonl", "cc-auto+manual-1161l.jsonl"]


@needs_shared
@pytest.mark.parametrize("name", FIRST_ROWS)
def test_a_real_session_from_its_compaction_on_is_about_as_large_as_reported(
    name: str, tmp_path: Path
) -> None:
    (path,) = SESSIONS.glob(f"claude-code--*/{name}")
    rows = path.read_bytes().splitlines(keepends=True)
    first = next(at for at, row in enumerate(rows) if b'"compact_boundary"' in row)
    (tmp_path / name).write_bytes(b"".join(rows[first:]))
    found = next(find_predictions(tmp_path / name))
    assert found.holds and found.warned
    assert abs(found.error) < 0.35, "without what is in every request it was told 94 % too small"


def test_a_plan_that_makes_the_context_larger_says_so() -> None:
    entries = (say("u1", None, "hi"), reply("a1", "u1", 100, "ho"), say("u2", "a1", "and?"))
    session = Session(format="demo", entries=entries, leaf="u2")
    ledger = count_tokens(session, LENGTH)
    plan = make_plan(session, ledger, "keep-recent-turns", {"cut": "u2"}, window=10_000)
    assert plan.after > plan.before == 98 + 8, "the stand-in is longer than two short messages"
    assert "larger than before" in repr(plan)
    assert any(note.startswith("This makes the context larger, by ") for note in plan.notes)


def test_replies_that_no_model_wrote_are_in_no_context() -> None:
    refused = say("e1", "a1", "API Error: overloaded", role="assistant", model="<synthetic>")
    entries = (say("u1", None, "u" * 100), reply("a1", "u1", 500, "a"), refused, say("u2", "e1", "u" * 7))
    session = Session(format="claude-code", entries=entries, leaf="u2")
    assert [session.entries[i].id for i in session.live.entries] == ["u1", "a1", "u2"]
    assert count_tokens(session, LENGTH).count_context() == 100 + 1 + 7


def test_reasoning_of_earlier_turns_is_not_counted_for_a_model_that_strips_it() -> None:
    def session(model: str) -> Session:
        thought = (Reasoning(text="t" * 40), Text(text="a" * 5))
        entries = (
            say("u1", None, "u" * 10),
            reply("a1", "u1", 500, blocks=thought, model=model),
            say("u2", "a1", "u" * 10),
            reply("a2", "u2", 600, blocks=thought, model=model),
        )
        return Session(format="demo", entries=entries, leaf="a2")

    counts = {}
    for model in ("claude-sonnet-4-5", "claude-opus-4-5"):
        made = session(model)
        ledger = count_tokens(made, LENGTH)
        counts[model] = [ledger.count_context(made.at(entry.id)) for entry in made.entries]
        assert trace_history(made, ledger).estimated[-1] == counts[model][-1]
    assert counts == {"claude-sonnet-4-5": [10, 55, 25, 70], "claude-opus-4-5": [10, 55, 65, 110]}


def test_claude_code_gives_a_model_of_4_6_the_small_window_unless_it_was_larger() -> None:
    def window(format: str, prompt: int, model: str = "claude-opus-4-6") -> int | None:
        entries = (say("u1", None, "hi"), reply("a1", "u1", prompt, "a", model=model))
        return window_of(Session(format=format, entries=entries, leaf="a1")).tokens

    assert window("claude-code", 100_000) == 200_000
    assert window("claude-code", 250_000) == 1_000_000
    assert window("claude-code", 100_000, "claude-opus-4-6[1m]") == 1_000_000
    assert window("claude-code", 100_000, "claude-opus-4-7") == 1_000_000
    assert window("anthropic-messages", 100_000) == 1_000_000


def reading(size: int) -> tuple[Entry, ...]:
    call = ToolCall(id="c1", name="Read", input={"file_path": "/src/a.py"})
    return (
        say("u1", None, "u" * 3000),
        reply("a1", "u1", 40_000, blocks=(call,)),
        Entry(
            id="t1",
            parent="a1",
            role="tool",
            blocks=(ToolOutput(call_id="c1", parts=(Text(text="x" * size),)),),
        ),
        say("s1", "t1", "s" * 100, kind="compaction", boundary=Boundary(), sources=(Source(4, 0, 1),)),
    )


@pytest.mark.parametrize(
    ("size", "more"), [(3000, 3000), (9000, 0)], ids=["a small file", "a file too large to come back"]
)
def test_claude_code_attaches_again_the_files_it_read_whole(size: int, more: int) -> None:
    found = outside_of(Session(format="claude-code", entries=reading(size), leaf="s1"))
    assert found.attached.tokens == round(0.8 * (more + 2000))
    assert found.attached.low == 0 and "Claude Code attaches again" in found.warnings[0]
    other = outside_of(Session(format="pi", entries=reading(size), leaf="s1"))
    assert other.attached.tokens == 0, "no other harness is known to do so"


@needs_shared
@pytest.mark.parametrize("name", ["cc-2auto-1519l.jsonl", "cc-image+compaction.jsonl"])
def test_a_session_without_its_beginning_is_compacted_to_what_was_reported(name: str) -> None:
    """The first 40 % of the lines are cut off; the recorded compaction left about 54,000 and 52,000."""
    path = SESSIONS / "claude-code--entireio-cli" / name
    rows = path.read_bytes().splitlines(keepends=True)
    session = read_session(b"".join(rows[len(rows) * 2 // 5 :]), name)
    mark = next(entry for entry in session.entries if entry.boundary is not None)
    ledger = count_tokens(session)
    before = session.at(mark.parent or next(e.id for e in reversed(session.entries) if e is mark))
    history = trace_history(session, ledger)
    moment = session.at(history.segments[0].at)
    found = find_outside(moment, ledger)
    assert any("begins in the middle" in warning for warning in found.warnings)
    assert found.earlier.tokens > 50_000 and found.fixed.tokens < 60_000
    plan: Plan = make_plan(moment, ledger, "claude-code", {"cut": "end"}, reason="manual")
    assert plan.after < 65_000 < plan.before, before


@needs_shared
def test_withheld_reasoning_does_not_survive_its_steps() -> None:
    """Where reasoning is sealed, what is not counted grows from 42,000 to over 170,000; the fixed stays."""
    session = open_session(SESSIONS / "claude-code--git-sync" / "cc-426k-ctx-1142l.jsonl")
    ledger = count_tokens(session)
    found = find_outside(session, ledger)
    assert found.fixed.tokens < 45_000 < 100_000 < found.withheld.tokens
    plan = make_plan(session, ledger, "claude-code", {"cut": "end"}, reason="manual")
    assert plan.parts_after["fixed"] == found.fixed.tokens
    assert plan.parts_after["withheld"] < 10_000 and plan.after < 130_000


@pytest.mark.parametrize("lost", [2, 3])
def test_outputs_without_their_calls_tell_that_rows_are_missing(lost: int) -> None:
    answers = tuple(
        Entry(
            id=f"o{at}",
            parent=f"o{at - 1}" if at else "u1",
            role="tool",
            blocks=(ToolOutput(call_id=f"gone{at}", parts=(Text(text="done"),)),),
        )
        for at in range(lost)
    )
    entries = (say("u1", None, "u" * 100), *answers, reply("a1", f"o{lost - 1}", 1_000, "a" * 50, output=50))
    session = Session(format="pi", entries=entries, leaf="a1")
    warnings = find_outside(session, count_tokens(session, LENGTH)).warnings
    assert any(f"{lost} outputs answer calls" in warning for warning in warnings) is (lost == 3)
