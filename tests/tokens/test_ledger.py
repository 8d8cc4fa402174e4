"""The ledger: every block once, every sum the same from every side, and every number with its source."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from inspector.errors import OtherSession
from inspector.formats.readers import read_session
from inspector.session.blocks import (
    KINDS,
    BlockRef,
    Document,
    Image,
    Reasoning,
    Text,
    ToolCall,
    ToolOutput,
    Unknown,
)
from inspector.session.entries import Boundary, Entry, Provided, Tool, Usage
from inspector.session.session import Session
from inspector.tokens.counter import Counter
from inspector.tokens.counters import chars4_utf16, find_counter, tiered
from inspector.tokens.ledger import CLEARED_TEXT, Ledger, clear_output, count_tokens
from inspector.tokens.rows import SECTIONS
from inspector.tokens.weighed_path import find_outside
from tests.shared import SHARED, needs_shared
from tests.strategies import sessions

LENGTH = Counter("length", "Characters", lambda texts: np.array([len(text) for text in texts], np.int32))
"""Counts characters, so that a test can count along."""


def say(name: str, parent: str | None, text: str, role: str = "user", **given: object) -> Entry:
    return Entry.model_validate(
        {"id": name, "parent": parent, "role": role, "blocks": (Text(text=text),), **given}
    )


def section_of(ledger: Ledger, ref: str) -> str:
    return SECTIONS[ledger.section[ledger.row(BlockRef.parse(ref))]]


# -- laws: any session ----------------------------------------------------------------------------------


@settings(max_examples=60)
@given(sessions())
def test_every_block_is_one_row_and_rows_and_references_answer_each_other(session: Session) -> None:
    ledger = count_tokens(session, LENGTH)
    blocks = [block for entry in session.entries for block in entry.blocks]
    head = len(session.system) + len(session.tools) + len(session.provided)
    assert (len(ledger), ledger.head) == (head + len(blocks), head)
    assert [KINDS[code] for code in ledger.kind[head:]] == [block.kind for block in blocks]
    for row in range(len(ledger)):
        assert ledger.row(ledger.ref(row)) == row
    for index, entry in enumerate(session.entries):
        rows = range(ledger.start[index], ledger.start[index + 1])
        assert [ledger.ref(row) for row in rows] == [BlockRef(entry.id, b) for b in range(len(entry.blocks))]
        assert all(ledger.entry[row] == index for row in rows)


@settings(max_examples=60)
@given(sessions())
def test_S1_7_sums_are_the_same_from_every_side(session: Session) -> None:
    """A tally per section, per entry and per turn, all of the same tokens."""
    ledger = count_tokens(session, LENGTH)
    assert ledger.prefix[0] == 0 and np.array_equal(np.diff(ledger.prefix), ledger.tokens)
    assert ledger.total == ledger.tokens.sum() == ledger.head_tokens + ledger.entry_tokens.sum()
    assert ledger.head_sections.sum() == ledger.head_tokens
    sections = ledger.by_section()
    assert tuple(sections) == SECTIONS
    assert sum(sections.values()) == ledger.count_context()
    assert ledger.count_context() == ledger.head_tokens + ledger.live_tokens(session).sum()
    assert ledger.turn_tokens(session).sum() == sum(ledger.entry_tokens[i] for i in session.path)


@settings(max_examples=60)
@given(sessions())
def test_the_live_context_is_a_selection_of_rows(session: Session) -> None:
    ledger = count_tokens(session, LENGTH)
    rows, tokens, live = ledger.live_rows(session), ledger.live_tokens(session), session.live
    assert len(set(rows.tolist())) == len(rows)
    assert np.array_equal(tokens[~live.cleared], ledger.tokens[rows][~live.cleared])
    assert set(tokens[live.cleared].tolist()) <= {len(CLEARED_TEXT)}


@settings(max_examples=40)
@given(sessions(least=1))
def test_a_ledger_does_not_depend_on_the_leaf(session: Session) -> None:
    ledger = count_tokens(session, LENGTH)
    for entry in session.entries:
        earlier = session.at(entry.id)
        assert np.array_equal(count_tokens(earlier, LENGTH).tokens, ledger.tokens)
        assert ledger.count_context(earlier) == sum(ledger.by_section(earlier).values())
        outside = find_outside(earlier, ledger)
        assert min(part.tokens for part in outside.parts.values()) >= 0
        assert outside.low <= outside.tokens <= outside.high
        assert int(outside.spread.sum()) == outside.withheld.tokens


@settings(max_examples=40)
@given(sessions())
def test_weights_are_those_of_the_measure_and_are_made_once(session: Session) -> None:
    ledger = count_tokens(session, LENGTH)
    assert ledger.weights("chars4_utf16").tolist() == [chars4_utf16.weigh(e) for e in session.entries]
    assert ledger.weights("tiered").tolist() == [tiered.weigh(e) for e in session.entries]
    assert ledger.weights("tiered") is ledger.weights("tiered")
    assert np.array_equal(ledger.weights("o200k_base"), count_tokens(session).entry_tokens)


@settings(max_examples=40)
@given(sessions())
def test_any_session_can_be_counted_calibrated_and_shown(session: Session) -> None:
    ledger = count_tokens(session, "calibrated")
    assert len(ledger.tokens) == len(ledger) and (ledger.tokens >= 0).all()
    assert repr(ledger) == repr(count_tokens(session, "calibrated"))
    reported = ledger.reported
    assert len(reported.entry) == len(reported.prompt) == len(reported.output)


# -- sections and kinds ---------------------------------------------------------------------------------


def test_S0_74_every_block_falls_into_its_section() -> None:
    session = Session(
        format="demo",
        system=(Text(text="be brief"),),
        tools=(Tool(name="read", description="reads", input_schema={"type": "object"}), Tool(name="ls")),
        provided=(Provided(name="clock", text="noon"),),
        entries=(
            say("u1", None, "hello"),
            say("u2", "u1", "reminder", meta=True),
            Entry(
                id="a1",
                parent="u2",
                role="assistant",
                blocks=(
                    Reasoning(text="hm"),
                    Text(text="yes"),
                    ToolCall(id="c1", name="read", input={"path": "a"}),
                    Unknown(type="odd", raw={"x": 1}),
                ),
            ),
            Entry(
                id="t1",
                parent="a1",
                role="tool",
                blocks=(ToolOutput(call_id="c1", parts=(Text(text="out"),)),),
            ),
            say("s1", "t1", "so far", kind="compaction"),
            say("b1", "s1", "the branch", kind="branch_summary"),
            say("x1", "b1", "beep", role="bashExecution"),
            say("y1", "x1", "rules", role="system"),
        ),
        leaf="y1",
    )
    ledger = count_tokens(session, LENGTH)
    found = {
        str(ledger.ref(row)): (SECTIONS[ledger.section[row]], int(ledger.tokens[row]))
        for row in range(len(ledger))
    }
    assert found == {
        "@system/0": ("system", 8),
        "@tools/0": ("tools", len('read\nreads\n{"type":"object"}')),
        "@tools/1": ("tools", 2),
        "@provided/0": ("provided", 4),
        "u1/0": ("user", 5),
        "u2/0": ("user", 8),
        "a1/0": ("reasoning", 2),
        "a1/1": ("assistant", 3),
        "a1/2": ("tool_call", len('read{"path":"a"}')),
        "a1/3": ("unknown", len('{"x":1}')),
        "t1/0": ("tool_output", 3),
        "s1/0": ("compacted", 6),
        "b1/0": ("compacted", 10),
        "x1/0": ("unknown", 4),
        "y1/0": ("system", 5),
    }


def test_an_output_counts_all_it_holds() -> None:
    """Text, a plain document, a block nobody knows, and a picture by the published formula."""
    output = ToolOutput(
        call_id="c1",
        parts=(
            Text(text="abc"),
            Document(text="plain words"),
            Unknown(type="odd", raw=[1, 2]),
            Text(text="de"),
            Image(width=1000, height=1000),
        ),
    )
    session = Session(format="demo", entries=(Entry(id="t", role="tool", blocks=(output,)),), leaf="t")
    exact = find_counter("o200k_base").count
    assert count_tokens(session).total == int(exact(["abcde", "plain words", "[1,2]"]).sum()) + 1296


def test_pictures_cost_what_is_published_for_the_model() -> None:
    picture = Image(width=1920, height=1080)
    for model, tokens in (
        (None, 1560),
        ("claude-sonnet-4-5", 1560),
        ("claude-opus-4-7", 2691),
        ("gpt-5.5", 0),
    ):
        session = Session(format="demo", model=model, entries=(Entry(id="u", blocks=(picture,)),), leaf="u")
        ledger = count_tokens(session)
        assert ledger.total == tokens
        assert bool(ledger.uncounted) == (tokens == 0)


def test_what_cannot_be_counted_is_listed_and_said() -> None:
    blocks = (
        Image(url="https://example.org/a.png"),
        Document(media_type="application/pdf", data="JVBERi0="),
        Document(text="plain"),
        Reasoning(signature="c2ln"),
        Reasoning(encrypted="ZW5j"),
        Reasoning(text="open", signature="c2ln"),
        ToolOutput(call_id="c", parts=(Text(text="see"), Image(data="AAAA"))),
    )
    session = Session(format="demo", entries=(Entry(id="e", blocks=blocks),), leaf="e")
    ledger = count_tokens(session)
    assert [str(ref) for ref in ledger.uncounted] == ["e/0", "e/1", "e/3", "e/4", "e/6"]
    sealed = "2 blocks of sealed reasoning"
    told = f"not counted: 1 document that is no plain text, 2 pictures of unknown cost, {sealed}"
    assert told in repr(ledger)


def test_an_output_emptied_earlier_counts_as_its_placeholder() -> None:
    call = Entry(id="a", role="assistant", blocks=(ToolCall(id="c1", name="read", input={}),))
    output = ToolOutput(call_id="c1", parts=(Text(text="x" * 9000), Image(width=200, height=200)))
    entries = (
        call,
        Entry(id="t", parent="a", role="tool", blocks=(output,)),
        Entry(
            id="m", parent="t", role="system", kind="micro", boundary=Boundary(kind="micro", cleared=("c1",))
        ),
    )
    session = Session(format="demo", entries=entries, leaf="m")
    ledger = count_tokens(session)
    placeholder = int(find_counter("o200k_base").count([CLEARED_TEXT])[0])
    assert ledger.live_tokens(session).tolist() == [ledger.tokens[0], placeholder]
    assert ledger.live_tokens(session.at("t")).tolist() == ledger.tokens.tolist()
    cleared = clear_output(output)
    assert isinstance(cleared, ToolOutput) and (cleared.text, cleared.call_id) == (CLEARED_TEXT, "c1")


# -- references and other sessions ----------------------------------------------------------------------


@pytest.mark.parametrize("ref", ["u/1", "u/-1", "nobody/0", "@system/0", "@tools/3"])
def test_a_reference_to_nothing_is_a_key_error(ref: str) -> None:
    session = Session(format="demo", entries=(say("u", None, "hi"),), tools=(Tool(name="ls"),), leaf="u")
    with pytest.raises(KeyError):
        count_tokens(session, LENGTH).row(BlockRef.parse(ref))


def test_a_ledger_of_another_session_is_refused() -> None:
    one, other = (Session(format="demo", entries=(say(name, None, "hi"),), leaf=name) for name in "ab")
    with pytest.raises(OtherSession, match="counted of another session"):
        count_tokens(one, LENGTH).live_tokens(other)


# -- reported beside counted ----------------------------------------------------------------------------


def reply(name: str, parent: str, prompt: int, text: str = "ok", **given: object) -> Entry:
    return say(name, parent, text, role="assistant", usage=Usage(cache_read=prompt, output=7), **given)


def test_the_first_request_tells_what_is_fixed_and_the_next_what_a_step_weighed() -> None:
    """Of the last reply its own word tells: 7 tokens, where 2 are counted."""
    session = Session(
        format="demo",
        system=(Text(text="s" * 30),),
        entries=(
            say("u1", None, "u" * 100),
            reply("a1", "u1", 1000),
            say("u2", "a1", "v" * 50),
            reply("a2", "u2", 1200),
            reply("a3", "a2", 9999, stop_reason="error"),
            say("u3", "a3", "w" * 77),
        ),
        leaf="u3",
    )
    ledger = count_tokens(session, LENGTH)
    found = ledger.outside
    assert (found.entry, found.reported, found.counted) == ("a2", 1200, 182)
    assert (found.fixed.tokens, found.fixed.replies) == (1000 - 130, ("a1",))
    assert found.withheld.tokens == (1200 - 182) - (1000 - 130) + (7 - 2)
    # The reply a1 wrote 5 tokens beyond its words; the rest of its step goes by what is counted: 2 and 50.
    assert found.spread.tolist() == [0, 5 + 6, 137, 5, 0, 0]
    first = find_outside(session.at("a1"), ledger)
    assert (first.reported, first.counted, first.fixed.tokens, first.tokens) == (1000, 130, 870, 875)
    assert "1,200 reported for the last request, 182 counted" in repr(ledger)
    assert ledger.by_section()["system"] == 30
    assert ledger.reported.prompt.tolist() == [1000, 1200, 9999]
    assert ledger.reported.output.tolist() == [7, 7, 7]
    assert ledger.reported.entry.tolist() == [1, 3, 4]


def test_what_was_told_before_a_compaction_is_kept_after_it() -> None:
    session = Session(
        format="demo",
        entries=(
            say("u1", None, "u" * 100),
            say("a0", "u1", "a" * 900, role="assistant"),
            say("u2", "a0", "v" * 50),
            reply("a1", "u2", 2000),
            say("s1", "a1", "summary", kind="compaction", boundary=Boundary(first_kept="u2")),
        ),
        leaf="s1",
    )
    ledger = count_tokens(session, LENGTH)
    assert ledger.count_context() == 7 + 50 + 2
    found = ledger.outside
    assert (found.entry, found.reported, found.fixed.tokens) == (None, 0, 2000 - 1050)
    assert found.withheld.tokens == 7 - 2 and found.fixed.low < 950 < found.fixed.high


def test_where_more_is_counted_than_reported_every_size_is_a_counted_one() -> None:
    session = Session(format="demo", entries=(say("u", None, "x" * 500), reply("a", "u", 100)), leaf="a")
    found = count_tokens(session, LENGTH).outside
    assert (found.tokens, found.exceeds) == (0, True)
    assert "more than was reported, so every size here is a counted one" in found.note


def test_without_usage_nothing_is_outside() -> None:
    session = Session(format="demo", entries=(say("u", None, "hi"),), leaf="u")
    found = count_tokens(session, LENGTH).outside
    assert (found.tokens, found.entry, found.note) == (0, None, "No reply in the context reports its usage.")


def test_usage_that_tells_only_a_total_is_used() -> None:
    answer = say("a", "u", "ok", role="assistant", usage=Usage(output=20, total=120))
    session = Session(format="demo", entries=(say("u", None, "hi"), answer), leaf="a")
    ledger = count_tokens(session, LENGTH)
    assert ledger.reported.prompt.tolist() == [100]
    assert ledger.outside.reported == 100


# -- the picture in a terminal --------------------------------------------------------------------------


def test_a_ledger_shows_itself_as_a_table() -> None:
    session = Session(
        format="demo",
        entries=(say("u", None, "x" * 1500), reply("a", "u", 2500, "y" * 500), say("v", None, "z" * 100)),
        leaf="a",
    )
    assert repr(count_tokens(session, LENGTH)).splitlines() == [
        "Ledger: 2,000 tokens in the context, 2,100 in the file (3 blocks)",
        "  user        1,500   75.0 %",
        "  assistant     500   25.0 %",
        "  fixed       1,000  not in the file",
        "  total       3,000  2,500 reported for the last request, 1,500 counted",
        "  Characters",
    ]


def test_an_empty_session_has_an_empty_ledger() -> None:
    ledger = count_tokens(Session(format="demo"), "calibrated")
    assert (len(ledger), ledger.total, ledger.count_context(), ledger.entry_tokens.tolist()) == (0, 0, 0, [])
    assert repr(ledger).startswith("Ledger: 0 tokens in the context, 0 in the file (0 blocks)")


# -- real sessions --------------------------------------------------------------------------------------


@needs_shared
@pytest.mark.parametrize(
    "name",
    [
        "claude-code--entireio-cli/cc-1auto-1micro.jsonl",
        "claude-code--context-evaluator/cc-1compact-2img.jsonl",
        "flue/before-compaction.session.json",
    ],
)
def test_a_real_session_adds_up_and_counts_less_than_was_reported(name: str) -> None:
    """No o200k count of the file can be more than Claude's of the whole request (PEERS §5.5: 1.13–1.30)."""
    path = SHARED / "sessions" / name
    session = read_session(path.read_bytes(), path.name)
    ledger = count_tokens(session)
    assert sum(ledger.by_section().values()) == ledger.count_context()
    found = ledger.outside
    assert 0 < found.counted < found.reported
    assert found.tokens >= found.reported - found.counted, "what came since weighs more too"
    assert found.reported in ledger.reported.prompt
    last = session.at(session[found.entry or ""].parent)
    told = find_outside(last, ledger)
    assert ledger.count_context(last) + told.tokens == pytest.approx(found.reported, rel=0.05)
