"""Regret: what was paid for once more, in tokens and money, and when there is none."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

import pytest
from hypothesis import assume, given

from inspector.demo import CONSTRAINT, LOST_PATH
from inspector.facts.facts import find_facts
from inspector.facts.regret import find_regret
from inspector.facts.trace import trace_recorded
from inspector.session.blocks import ToolCall, ToolOutput
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from tests.facts.test_trace import COMPACTION, FACTS, LEDGER, LENGTH, RECORDED, SESSION, WORDS, ask, rules_in
from tests.strategies import sessions
from tests.telling import compact, use
from tests.test_cuts import build, say, user

REGRET = find_regret(SESSION, FACTS, LEDGER)


GONE = compact("all is well")


def bare(lines: list[str]) -> list[str]:
    return [re.sub(r"^ *\d+[^\w\s]", "", line).strip() for line in lines]


def test_the_path_and_the_rule_are_regretted() -> None:
    (read,) = (r for r in REGRET if r.traced.fact.kind == "file" and r.traced.fact.form == LOST_PATH)
    call = SESSION.block(read.again)
    assert isinstance(call, ToolCall)
    assert (call.name, read.traced.outcome) == ("Read", "absent")
    assert [SESSION.block(ref).kind for ref in read.paid] == ["tool_call", "tool_output"]
    # Of the output only what had been shown before it is charged: the file was edited in between.
    again = SESSION.block(read.paid[1]).text.splitlines()
    place = [entry.id for entry in SESSION.entries].index(COMPACTION.id)
    earlier = [
        block.text.splitlines()
        for entry in SESSION.entries[:place]
        for block in entry.blocks
        if isinstance(block, ToolOutput) and "def " in block.text and block.name == "Read"
    ]
    kept = {
        at
        for lines in earlier
        for match in SequenceMatcher(None, bare(lines), bare(again), autojunk=False).get_matching_blocks()
        if match.size >= 3
        for at in range(match.b, match.b + match.size)
    }
    by_hand = int(LEDGER.count_texts(["\n".join(again[at] for at in sorted(kept))])[0])
    call_tokens = int(LEDGER.tokens[LEDGER.row(read.again)])
    assert len(kept) < len(again)
    # difflib aligns the two texts once; lines that moved are not in its blocks, short ones may be.
    assert read.tokens - call_tokens == pytest.approx(by_hand, rel=0.05)
    told = [r for r in REGRET if r.traced.fact.kind == "constraint"]
    assert {r.traced.fact.form for r in told} == {t.fact.form for t in rules_in(RECORDED)}
    assert all(CONSTRAINT in SESSION.block(r.again).text for r in told)


def test_nothing_is_regretted_when_the_output_still_stands() -> None:
    """The compaction keeps what was read, and it is read again."""
    entries = [user("read"), *ask(1, "text", file_path="src/auth.py"), say()]
    entries.append(compact("all is well", first_kept="e0"))
    entries += [user("again"), *ask(2, "text", file_path="src/auth.py"), say()]
    session = build(*entries)
    assert find_regret(session, find_facts(session), count_tokens(session, WORDS)) == ()


def read_again(*entries: Entry) -> list[int]:
    session = build(*entries)
    found = find_regret(session, find_facts(session), count_tokens(session, LENGTH))
    return [regret.parts[1].tokens for regret in found if regret.fact.kind == "file"]


def test_only_lines_that_were_shown_before_are_charged() -> None:
    """Twenty lines are shown, then all hundred; or the same ones after each was changed."""
    lines = [f"{number}\tvalue_{number} = {number * 7}" for number in range(1, 101)]
    some, every = "\n".join(lines[20:40]), "\n".join(lines)
    first = [user("read"), *ask(1, some, file_path="src/auth.py"), say(), GONE, user("again")]
    assert read_again(*first, *ask(2, every, file_path="src/auth.py"), say()) == [len(some)]
    changed = some.replace("value", "amount")
    assert read_again(*first, *ask(2, changed, file_path="src/auth.py"), say()) == []


def test_a_file_read_in_several_parts_is_paid_for_each_part_once() -> None:
    lines = [f"value_{number} = {number * 7}" for number in range(60)]
    whole, parts = "\n".join(lines), ["\n".join(lines[at : at + 20]) for at in (0, 20, 40)]
    entries = [user("read"), *ask(1, whole, file_path="src/auth.py"), say(), GONE, user("again")]
    for number, part in enumerate([*parts, parts[1]], 2):
        entries += [*ask(number, part, file_path="src/auth.py"), say()]
    session = build(*entries)
    (regret,) = find_regret(session, find_facts(session), count_tokens(session, LENGTH))
    outputs = [part.tokens for part in regret.parts if session.block(part.ref).kind == "tool_output"]
    assert (regret.times, outputs) == (3, [len(part) for part in parts])
    assert "3 times from turn 2 on" in regret.sentence


def test_a_part_of_an_answer_is_not_the_same_answer() -> None:
    """The first answer has sixty lines; the second has all of them or the first forty."""
    lines = [f"value_{number} = {number * 7}" for number in range(60)]
    first = [user("read"), *ask(1, "\n".join(lines), file_path="src/auth.py"), say(), compact("all is well")]
    for shown, same in ((60, True), (40, False)):
        again = ask(2, "\n".join(lines[:shown]), file_path="src/auth.py")
        session = build(*first, user("again"), *again, say())
        (regret,) = find_regret(session, find_facts(session), count_tokens(session, LENGTH))
        assert (regret.same, regret.parts[1].tokens) == (same, len("\n".join(lines[:shown])))


@pytest.mark.parametrize(
    ("reason", "found"),
    [
        ("sh: 1: poetry: command not found", True),
        ("error: unrecognized subcommand 'sync'\n\nUsage: poetry <COMMAND>", True),
        ("Resolved 12 packages", False),
    ],
)
def test_a_command_that_cannot_start_is_learned_again_whatever_was_changed(reason: str, found: bool) -> None:
    """No flag marks the output as an error, and a file is edited in between."""
    edit = use(8, "Bash", "", command="echo x > a.py")
    first = [user("go"), *use(1, "Bash", reason, command="poetry sync"), say(), GONE, user("again")]
    session = build(
        *first,
        *edit,
        *use(2, "Bash", reason, command="poetry sync"),
        say(),
        *use(3, "Bash", reason, command="poetry sync"),
        say(),
    )
    regrets = find_regret(session, find_facts(session), count_tokens(session, LENGTH))
    assert ("command" in {regret.fact.kind for regret in regrets}) is found


# Laws.


@given(sessions())
def test_nothing_is_regretted_where_nothing_was_lost(session: Session) -> None:
    """Regret is of what a compaction took: a fact that does not stand as it did, an output that is gone."""
    facts, ledger = find_facts(session), count_tokens(session, LENGTH)
    lost = {}
    for found in trace_recorded(session, facts):
        entry, scene = found.scene.entry, found.scene
        assert entry is not None
        lost[entry.id] = bool((scene.before.rows & ~scene.after.rows).any())
    for regret in find_regret(session, facts, ledger):
        assert lost[regret.entry]
        assert regret.traced.stood
        assert regret.traced.outcome != "verbatim" or regret.traced.fact.kind == "file"
        whole = sum(int(ledger.tokens[ledger.row(ref)]) for ref in regret.paid)
        if regret.traced.fact.kind == "constraint":
            assert regret.tokens <= whole
        else:
            assert regret.tokens == whole
    if not lost:
        assert find_regret(session, facts, ledger) == ()


@given(sessions(orderly=True))
def test_a_compaction_that_keeps_everything_is_never_regretted(session: Session) -> None:
    """The same path told again after a compaction that keeps all of it."""
    messages = [session.entries[i] for i in session.path if session.entries[i].kind == "message"]
    assume(messages)
    summary = compact("all is well", first_kept="e0")
    copies = [
        entry.model_copy(update={"aliases": (), "sidechain": None})
        for entry in (*messages, summary, *messages)
    ]
    again = build(*copies)
    found = trace_recorded(again, facts := find_facts(again))
    if all(traced.outcome == "verbatim" for traced in found[0].select()):
        assert find_regret(again, facts, count_tokens(again, LENGTH)) == ()
