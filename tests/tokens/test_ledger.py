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
from inspector.tokens.counters import find_counter
from inspector.tokens.ledger import CLEARED_TEXT, clear_output, count_tokens
from inspector.tokens.prediction import find_not_in_file
from inspector.tokens.rows import SECTIONS
from tests.fixed_sessions import LENGTH
from tests.shared import SHARED, needs_shared
from tests.strategies import sessions


def say(name: str, parent: str | None, text: str, role: str = "user", **given: object) -> Entry:
    return Entry.model_validate(
        {"id": name, "parent": parent, "role": role, "blocks": (Text(text=text),), **given}
    )


# -- laws: any session ----------------------------------------------------------------------------------


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
        outside = find_not_in_file(earlier, ledger)
        assert min(part.tokens for part in outside.parts.values()) >= 0
        assert outside.low <= outside.tokens <= outside.high
        assert int(outside.spread.sum()) == outside.hidden_reasoning.tokens


@given(sessions())
def test_any_session_can_be_counted_calibrated_and_shown(session: Session) -> None:
    ledger = count_tokens(session, "calibrated")
    assert len(ledger.tokens) == len(ledger) and (ledger.tokens >= 0).all()
    assert repr(ledger) == repr(count_tokens(session, "calibrated"))


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
    assert (found.system_and_tools.tokens, found.system_and_tools.replies) == (1000 - 130, ("a1",))
    assert found.hidden_reasoning.tokens == (1200 - 182) - (1000 - 130) + (7 - 2)
    # The reply a1 wrote 5 tokens beyond its words; the rest of its step goes by what is counted: 2 and 50.
    assert found.spread.tolist() == [0, 5 + 6, 137, 5, 0, 0]
    first = find_not_in_file(session.at("a1"), ledger)
    assert (first.reported, first.counted, first.system_and_tools.tokens, first.tokens) == (
        1000,
        130,
        870,
        875,
    )
    assert "1,200 reported for the last request, 182 counted" in repr(ledger)
    assert ledger.by_section()["system"] == 30


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
    assert found.reported in {round(entry.usage.request) for entry in session.entries if entry.usage}
    last = session.at(session[found.entry or ""].parent)
    told = find_not_in_file(last, ledger)
    assert ledger.count_context(last) + told.tokens == pytest.approx(found.reported, rel=0.05)
