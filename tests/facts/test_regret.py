"""Regret: what was paid for once more, in tokens and money, and when there is none."""

from __future__ import annotations

import re
from decimal import Decimal
from difflib import SequenceMatcher

import pytest
from hypothesis import assume, given, settings

from inspector.demo import CONSTRAINT, LOST_PATH
from inspector.facts.facts import find_facts
from inspector.facts.regret import find_regret, sum_regret
from inspector.facts.trace import trace_recorded
from inspector.planning.planner import make_plan
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from inspector.tokens.prices import add_money, find_price, price_tokens
from tests.facts.test_trace import (
    BEFORE,
    COMPACTION,
    FACTS,
    LEDGER,
    LENGTH,
    RECORDED,
    SESSION,
    WORDS,
    ask,
    rules_in,
)
from tests.strategies import sessions
from tests.test_cuts import build, say, user

REGRET = find_regret(SESSION, FACTS, LEDGER)


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


def test_nothing_is_regretted_before_the_compaction() -> None:
    assert find_regret(BEFORE, FACTS, LEDGER) == ()


def test_regret_and_fixes_have_prices_where_the_model_has_one() -> None:
    """By hand: a call is what the model wrote, its output is sent once; dollars per million tokens."""
    (read,) = (r for r in REGRET if r.traced.fact.kind == "file" and r.traced.fact.form == LOST_PATH)
    model = SESSION[read.again.entry].model
    price = find_price(model).price
    assert price is not None
    call = int(LEDGER.tokens[LEDGER.row(read.again)])
    output = read.tokens - call
    by_hand = (Decimal(repr(price.output)) * call + Decimal(repr(price.input)) * output) / 1_000_000
    assert read.money is not None
    assert (read.money.amount, read.money.source) == (by_hand, price.note)
    assert read.price.startswith("$0.0")
    assert read.price in read.sentence
    tokens, money = sum_regret([read, read])
    assert (tokens, money) == (read.tokens, read.money)


def test_no_price_is_made_up_for_a_model_that_has_none() -> None:
    entries = tuple(entry.model_copy(update={"model": "mystery-1"}) for entry in SESSION.entries)
    session = SESSION.model_copy(update={"entries": entries, "model": "mystery-1"})
    session = Session.model_construct(**{name: getattr(session, name) for name in Session.model_fields})
    ledger = count_tokens(session)
    regrets = find_regret(session, session.facts, ledger)
    assert len(regrets) == len(REGRET)
    assert {regret.price for regret in regrets} == {""}
    assert sum_regret(regrets)[1] is None
    assert "$" not in regrets[0].sentence.rpartition(":")[2]
    plan = make_plan(session.at(COMPACTION.parent), ledger, "flue", {"cut": "end"})
    assert {fix.money for fix in plan.trace[LOST_PATH].fixes()} == {""}


def test_a_price_that_depends_on_the_size_of_the_request_is_taken_for_that_size() -> None:
    small, large = (price_tokens("claude-haiku-5-5", 1_000_000, request=n) for n in (100_000, 100_001))
    assert small is not None
    assert large is not None
    assert (str(small), str(large)) == ("$0.10", "$0.50")
    assert add_money([small, None]) is None
    assert str(add_money([small, large])) == "$0.60"


def test_nothing_is_regretted_when_the_output_still_stands() -> None:
    """The compaction keeps what was read, and it is read again."""
    entries = [user("read"), *ask(1, "text", file_path="src/auth.py"), say()]
    told = Boundary(summary="all is well", first_kept="e0")
    entries.append(Entry(id="", kind="compaction", blocks=(Text(text="all is well"),), boundary=told))
    entries += [user("again"), *ask(2, "text", file_path="src/auth.py"), say()]
    session = build(*entries)
    assert find_regret(session, find_facts(session), count_tokens(session, WORDS)) == ()


def compacted_away() -> Entry:
    told = Boundary(summary="all is well", first_kept=None)
    return Entry(id="", kind="compaction", blocks=(Text(text="all is well"),), boundary=told)


def read_again(*entries: Entry) -> list[int]:
    session = build(*entries)
    found = find_regret(session, find_facts(session), count_tokens(session, LENGTH))
    return [regret.parts[1].tokens for regret in found if regret.fact.kind == "file"]


def test_only_lines_that_were_shown_before_are_charged() -> None:
    """Twenty lines are shown, then all hundred; or the same ones after each was changed."""
    lines = [f"{number}\tvalue_{number} = {number * 7}" for number in range(1, 101)]
    some, every = "\n".join(lines[20:40]), "\n".join(lines)
    first = [user("read"), *ask(1, some, file_path="src/auth.py"), say(), compacted_away(), user("again")]
    assert read_again(*first, *ask(2, every, file_path="src/auth.py"), say()) == [len(some)]
    changed = some.replace("value", "amount")
    assert read_again(*first, *ask(2, changed, file_path="src/auth.py"), say()) == []


def test_lines_that_every_file_has_are_not_charged() -> None:
    code = [line for n in range(30) for line in (f"func shown_{n}() {{", "}", "")]
    other = [line for n in range(30) for line in (f"func other_{n}() {{", "}", "")]
    first = [user("read"), *ask(1, "\n".join(code), file_path="src/auth.go"), say(), compacted_away()]
    read = ask(2, "\n".join(other), file_path="src/auth.go")
    assert read_again(*first, user("again"), *read, say()) == []


def test_a_later_read_counts_if_the_first_shows_other_lines() -> None:
    lines = [f"value_{number} = {number * 7}" for number in range(60)]
    some, other = "\n".join(lines[:20]), "\n".join(lines[40:])
    first = [user("read"), *ask(1, some, file_path="src/auth.py"), say(), compacted_away(), user("again")]
    more = [*ask(2, other, file_path="src/auth.py"), say(), *ask(3, some, file_path="src/auth.py"), say()]
    assert read_again(*first, *more) == [len(some)]


def test_an_output_of_one_line_is_found_in_a_longer_one() -> None:
    lines = [f"value_{number} = {number * 7}" for number in range(60)]
    first = [user("read"), *ask(1, lines[30], file_path="src/auth.py"), say(), compacted_away(), user("go")]
    assert read_again(*first, *ask(2, "\n".join(lines), file_path="src/auth.py"), say()) == [len(lines[30])]


def test_a_file_with_another_figure_gives_another_answer() -> None:
    text = "\n".join(f"value_{number} = {number * 7}" for number in range(60))
    for other, same in ((text, True), (text.replace("= 210", "= 211"), False)):
        entries = [user("read"), *ask(1, text, file_path="src/auth.py"), say(), compacted_away(), user("go")]
        session = build(*entries, *ask(2, other, file_path="src/auth.py"), say())
        (regret,) = find_regret(session, find_facts(session), count_tokens(session, LENGTH))
        assert regret.same is same


def test_lines_that_another_output_brought_back_are_not_charged() -> None:
    lines = [f"value_{number} = {number * 7}" for number in range(60)]
    first = [user("read"), *ask(1, "\n".join(lines), file_path="src/auth.py"), say(), compacted_away()]
    diff = "diff src/auth.py\n" + "\n".join(lines[:40])
    again = [user("diff"), *run(7, "git diff src/auth.py", diff), say(), user("again")]
    read = ask(2, "\n".join(lines), file_path="src/auth.py")
    (tokens,) = read_again(*first, *again, *read, say())
    assert tokens == len("\n".join(lines[38:]))  # two lines lead into what did not come back


def test_what_the_first_compaction_took_away_is_not_charged_to_the_second() -> None:
    shown, name = "secret = 1", "src/auth.py"
    entries = [user("read"), *ask(1, shown, file_path=name), say(), compacted_away()]
    entries += [user(f"look at {name}"), say()]
    assert read_again(*entries, *ask(2, shown, file_path=name), say()) == [len(shown)]
    later = [*entries, compacted_away(), user("go on"), *ask(2, shown, file_path=name), say()]
    assert read_again(*later) == []


RULE = "Never edit the migrations by hand, they are generated."


def told_again(*later: str, rule: str = RULE) -> Session:
    """A rule, a summary that says nothing of it, and what the user says then."""
    told = Boundary(summary="All is well.", first_kept="e3")
    entries = [
        user(rule),
        say(),
        Entry(id="", kind="compaction", blocks=(Text(text="All is well."),), boundary=told),
    ]
    for words in later:
        entries += [user(words), say()]
    return build(*entries)


def rules_told(session: Session) -> list[tuple[str, str, int]]:
    """(rule, the words that repeat it, tokens) of what is regretted."""
    out = []
    for regret in find_regret(session, find_facts(session), count_tokens(session, LENGTH)):
        (part,) = regret.parts
        assert part.span is not None
        text = session.block(part.ref).text
        out.append((regret.traced.fact.form, text[slice(*part.span)], regret.tokens))
    return out


def test_a_rule_said_again_costs_its_sentence_and_not_the_message_around_it() -> None:
    again = "You must never edit the generated migrations by hand."
    log = "Here is what I see now: " + "line of a log\n" * 400
    assert rules_told(told_again(f"{log}\n{again}\nAnd the button is still blue.")) == [
        (RULE, again, len(again))
    ]


def test_a_regret_quotes_what_was_said_and_tells_the_turn_in_which_it_was_needed() -> None:
    session = told_again("How is it going?", RULE)
    (regret,) = find_regret(session, find_facts(session), count_tokens(session, LENGTH))
    # The rule is the first prompt, what follows the summary the second and the third.
    assert regret.turn == 3
    assert regret.sentence.startswith(f"The constraint “{RULE}” was said again in turn 3 after it was lost: ")


def test_two_rules_said_again_in_one_message_are_paid_for_each() -> None:
    """By hand: both sentences, and together no less; the same sentence twice counts once."""
    both = "Never edit the migrations by hand.\nAlways run the whole test suite before pushing."
    session = told_again(both, rule=both)
    regrets = find_regret(session, find_facts(session), count_tokens(session, LENGTH))
    assert [regret.tokens for regret in regrets] == [len(line) for line in both.split("\n")]
    assert sum_regret(regrets)[0] == sum_regret([*regrets, *regrets])[0] == len(both) - 1


def test_the_opposite_of_a_rule_does_not_repeat_it() -> None:
    assert rules_told(told_again("Always edit the migrations by hand, they are generated.")) == []
    assert rules_told(told_again("You should never forget to edit the migrations by hand.")) == []
    assert len(rules_told(told_again("Please don't edit the migrations by hand."))) == 1


def run(number: int, command: str, text: str) -> tuple[Entry, Entry]:
    name = f"r{number}"
    asked = ToolCall(id=name, name="Bash", input={"command": command})
    told = ToolOutput(call_id=name, name="Bash", parts=(Text(text=text),))
    return Entry(id="", role="assistant", blocks=(asked,)), Entry(id="", role="tool", blocks=(told,))


def test_a_command_run_again_after_a_change_checks_the_change() -> None:
    told = Boundary(summary="All is well.", first_kept="e4")
    gone = Entry(id="", kind="compaction", blocks=(Text(text="All is well."),), boundary=told)
    edit = ToolCall(id="w", name="Write", input={"file_path": "src/a.py", "content": "x"})
    done = ToolOutput(call_id="w", name="Write", parts=(Text(text="ok"),))
    change = (Entry(id="", role="assistant", blocks=(edit,)), Entry(id="", role="tool", blocks=(done,)))
    for between, regretted in (((), 1), (change, 0)):
        entries = [user("go"), *run(1, "npm run check", "all fine"), say(), gone, user("on"), *between]
        session = build(*entries, *run(2, "npm run check", "all fine"), say())
        found = find_regret(session, find_facts(session), count_tokens(session, LENGTH))
        assert len([regret for regret in found if regret.fact.kind == "command"]) == regretted


def test_a_summary_that_says_the_opposite_of_a_rule_does_not_restate_it() -> None:
    rule = "Never edit the database migrations by hand."
    for words, outcome in (
        ("Always edit the database migrations by hand.", "contradicted"),
        ("- By hand the database migrations are never to be edited: never edit.", "paraphrased"),
    ):
        told = Boundary(summary=words, first_kept="e2")
        session = build(
            user(rule), say(), Entry(id="", kind="compaction", blocks=(Text(text=words),), boundary=told)
        )
        (found,) = trace_recorded(session, find_facts(session))
        assert found["constraint", rule].outcome == outcome


# Laws.


@settings(max_examples=60, deadline=None)
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


@settings(max_examples=40, deadline=None)
@given(sessions(orderly=True))
def test_a_compaction_that_keeps_everything_is_never_regretted(session: Session) -> None:
    """The same path told again after a compaction that keeps all of it."""
    messages = [session.entries[i] for i in session.path if session.entries[i].kind == "message"]
    assume(messages)
    told = Boundary(summary="all is well", first_kept="e0")
    summary = Entry(id="", kind="compaction", blocks=(Text(text="all is well"),), boundary=told)
    copies = [
        entry.model_copy(update={"aliases": (), "sidechain": None})
        for entry in (*messages, summary, *messages)
    ]
    again = build(*copies)
    found = trace_recorded(again, facts := find_facts(again))
    if all(traced.outcome == "verbatim" for traced in found[0].select()):
        assert find_regret(again, facts, count_tokens(again, LENGTH)) == ()
