"""What is not in the file: what told it, its parts, and what a cut does to each."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from inspector.planning.planner import make_plan
from inspector.session.blocks import Reasoning, Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry, Source, Usage
from inspector.session.session import Session
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens
from inspector.tokens.not_in_file import NotInFile
from inspector.tokens.prediction import BESIDE, TYPICAL, find_not_in_file
from tests.fixed_sessions import LENGTH

from ..predictions.measure import find_predictions
from ..shared import SHARED, needs_shared

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


def outside_of(session: Session) -> NotInFile:
    return find_not_in_file(session, count_tokens(session, LENGTH))


def test_what_is_fixed_stays_and_what_is_withheld_goes_with_its_step() -> None:
    session = withheld_session()
    ledger = count_tokens(session, LENGTH)
    found = find_not_in_file(session, ledger)
    nothing = {"before_file": 0, "reattached": 0}
    told = {name: part.tokens for name, part in found.parts.items()}
    assert told == {"system_and_tools": 1000, "hidden_reasoning": 600, **nothing}
    # Rows: u1, reasoning and text of a1, u2, reasoning and text of a2, u3, a3, u4.
    assert found.spread.tolist() == [0, 300, 0, 0, 300, 0, 0, 0, 0]
    plan = make_plan(session, ledger, "keep-recent-turns", {"cut": "u3"}, window=10_000)
    assert plan.before == 1000 + 600 + (4 * 100 + 3 * 50) == plan.counted_before + found.tokens
    assert plan.parts_after == {"system_and_tools": 1000, "hidden_reasoning": 0, **nothing}
    assert plan.after == 1000 + plan.summary_tokens + 100 + 50 + 100
    later = make_plan(session, ledger, "keep-recent-turns", {"cut": "u2"}, window=10_000)
    assert later.parts_after["hidden_reasoning"] == 300, "the step that is kept keeps what it reasoned"
    assert later.cut_table.total[plan.place or 0] == plan.after
    assert later.cut_table.outside[plan.place or 0].tolist() == [1000, 0, 0, 0]


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
    before = find_not_in_file(session.at("a1"), ledger)
    assert (before.system_and_tools.tokens, before.system_and_tools.replies) == (50_000, ("a2",))
    assert before.before_file.tokens == 99_900
    assert find_not_in_file(session, ledger).system_and_tools.tokens == 50_000
    assert find_not_in_file(session, ledger).before_file.tokens == 0


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


def used(
    tool: str, name: str, size: tuple[int, int] | None = None, shown: str = "done", **given: Any
) -> tuple[Entry, Entry]:
    """A call of a file's tool and its output, of as many characters and lines."""
    call = ToolCall(id=f"c-{tool}-{name}", name=tool, input={"file_path": name, **given})
    output = ToolOutput(call_id=call.id, parts=(Text(text=shown),))
    extra = {} if size is None else {"file": dict(zip(("chars", "lines"), size, strict=True))}
    return (
        Entry(id=f"a-{tool}-{name}", role="assistant", blocks=(call,), usage=Usage(input=60_000, output=1)),
        Entry(id=f"t-{tool}-{name}", role="tool", blocks=(output,), extra=extra),
    )


def compacted(*steps: tuple[Entry, ...], first: str = "u" * 9_000) -> Session:
    """A session of these steps, compacted at its end. A counted token is a character."""
    cut = say("s1", None, "s" * 100, kind="compaction", boundary=Boundary(), sources=(Source(4, 0, 1),))
    entries = [say("u1", None, first), reply("a1", "u1", 40_000, "a" * 9_000), *chain(*steps), cut]
    linked = [
        entry.model_copy(update={"parent": above.id if above else None})
        for above, entry in zip([None, *entries], entries, strict=False)
    ]
    return Session(format="claude-code", entries=tuple(linked), leaf="s1")


def predicted(session: Session) -> int:
    """What the files, skills and plans are predicted to take, without the constant beside them."""
    found = outside_of(session)
    assert found.reattached.low == 0 and not found.reattached.replies
    return found.reattached.tokens - BESIDE


NUMBERED = ("   100→" + "x" * 93 + "\n") * 10


def test_of_edited_files_the_five_that_were_changed_last_come_back_with_line_numbers() -> None:
    """Each line takes 7 characters more; a file that was only read comes after those that were changed."""
    edits = [used("Edit", f"/f{at}", (100 * at, at)) for at in range(1, 8)]
    reads = used("Read", "/late", (3_000, 1), shown=NUMBERED)
    wanted = sum(100 * at + 7 * at for at in range(3, 8))
    assert predicted(compacted(*edits, reads)) == wanted
    # The first file, changed again, takes the place of the oldest of the five.
    again = used("Write", "/f1", (100, 1))
    assert predicted(compacted(*edits, reads, again)) == wanted - 321 + 107


@pytest.mark.parametrize(("chars", "more"), [(3_900, 3_907), (4_100, 0)])
def test_a_file_above_the_limit_takes_a_place_and_next_to_nothing(chars: int, more: int) -> None:
    small = [used("Edit", f"/f{at}", (50, 1)) for at in range(5)]
    large = used("Edit", "/large", (chars, 1))
    session = compacted(*small, large, used("Read", "/r", (10, 1), shown=NUMBERED))
    assert predicted(session) == 4 * 57 + more
    other = session.model_copy(update={"format": "pi"})
    assert outside_of(other).reattached.tokens == 0, "no other harness is known to do so"


def test_a_file_whose_row_tells_no_size_is_as_long_as_what_was_written_or_read() -> None:
    """An edit alone tells nothing, and neither does a figure that no file has; too long is too long."""
    call = used("Write", "/w", content="w" * 500)
    read = used("Read", "/r", shown="r" * 700)
    absurd = used("Edit", "/e", (10**400, -1))
    session = compacted(call, read, absurd, used("Read", "/long", shown="l" * 6_000))
    ledger = count_tokens(session, LENGTH)
    assert predicted(session) == int(ledger.entry_tokens[session.index["a-Write-/w"]]) + 700


def test_a_plan_and_each_skill_come_back_once() -> None:
    """The last plan counts; the same skill, used twice, is one. Files of plans take no place."""
    plan = used("Write", "/home/u/.claude/plans/one.md", (90, 1), content="p" * 90)
    skill = say("k1", None, "Base directory for this skill: /a\n" + "k" * 400, meta=True)
    longer = say("k2", None, "Base directory for this skill: /b\n" + "k" * 9_000, meta=True)
    twice = skill.model_copy(update={"id": "k3"})
    approved = ToolCall(id="x", name="ExitPlanMode", input={"plan": "q" * 300})
    leave = Entry(id="x1", role="assistant", blocks=(approved,))
    session = compacted(plan, (leave, skill, longer, twice))
    ledger = count_tokens(session, LENGTH)
    assert predicted(session) == int(ledger.entry_tokens[session.index["x1"]]) + len(skill.text) + 5_000


def test_files_that_the_first_prompt_names_are_no_part_of_the_system_prompt() -> None:
    """Claude Code puts them into the first request, and older versions keep no row of them."""

    def first(text: str, format: str = "claude-code") -> NotInFile:
        entries = (say("u1", None, text), reply("a1", "u1", 55_000, "a"))
        return outside_of(Session(format=format, entries=entries, leaf="a1"))

    usual = TYPICAL["claude-code"]
    named = first("read @src/main.py and tell me")
    assert named.system_and_tools.tokens == usual.tokens and named.before_file.tokens > 10_000
    assert "names with @" in named.warnings[0]
    for other in (first("ask me@example.org or @home"), first("read @src/main.py", "pi")):
        assert not other.before_file.tokens and other.system_and_tools.tokens > 50_000


def test_what_a_harness_estimates_after_its_compaction_is_used_until_a_request_reports_it() -> None:
    boundary = Boundary(trigger="auto", extra={"postTokens": 9_000})
    rows = [
        say("u0", None, "Mend it.", role="user"),
        reply("a0", "u0", 30_000, "It is mended."),
        say("c", "a0", "S" * 400, kind="compaction", boundary=boundary, sources=(Source(2, 0, 1),)),
    ]
    session = Session(entries=tuple(rows), format="claude-code", leaf="c")
    came = find_not_in_file(session, count_tokens(session, LENGTH)).reattached
    # The estimate is of the conversation: without the summary's 400, 8,600 are not in the file.
    assert came.tokens == 8_600
    assert came.low < 8_600 < came.high and "9,000" in came.note
