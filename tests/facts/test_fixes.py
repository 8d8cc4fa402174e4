"""Fixes: each keeps what was needed at the price it says, applied by hand; words for a summariser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector import Checkpoint
from inspector.demo import LOST_PATH
from inspector.errors import EditError
from inspector.facts.facts import find_facts
from inspector.facts.fixes import find_fixes
from inspector.facts.focus import write_focus
from inspector.facts.regret import Regret, find_regret
from inspector.facts.trace import trace_facts, trace_recorded
from inspector.facts.traced import Fix
from inspector.planning.assemble import build_context, live_context
from inspector.planning.context import Context
from inspector.planning.planner import make_plan
from inspector.policies.policy import Edits
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from inspector.wire.checks import check_context, check_request
from inspector.wire.render import render_request
from tests.facts.test_trace import BEFORE, FACTS, LEDGER, LENGTH, RECORDED, SESSION
from tests.strategies import sessions
from tests.test_cuts import build, say, user

NUMBERED = "\n".join(f"    {at}\tdef part_{at}(): return {at}" for at in range(1, 9))
PATH = "src/tank.py"


def use(number: int, name: str, output: str = "ok", error: bool = False, **given: object) -> list[Entry]:
    """A call and its answer."""
    call = ToolCall(id=f"c{number}", name=name, input=given)
    answer = ToolOutput(call_id=call.id, name=name, parts=(Text(text=output),), is_error=error)
    return [Entry(id="", role="assistant", blocks=(call,)), Entry(id="", role="tool", blocks=(answer,))]


def compact(summary: str) -> Entry:
    blocks = (Text(text=summary),)
    return Entry(id="", kind="compaction", blocks=blocks, boundary=Boundary(summary=summary))


def lose(*entries: Entry, after: Sequence[Entry] = (), summary: str = "Work went on.") -> Session:
    """A session whose compaction says nothing of what came before."""
    return build(user("hello"), *entries, say("ok"), compact(summary), user("go on"), *after, say("done"))


def fixes_of(session: Session, form: str | tuple[str, str], policy: str = "recorded") -> tuple[Fix, ...]:
    """The fixes of what the first recorded compaction lost."""
    traced = trace_recorded(session)[0][form]
    edits = None if policy == "recorded" else {"cut": "end"}
    before = traced.scene.session
    return traced.fixes(make_plan(before, count_tokens(session, LENGTH), policy, edits))


def pins_of(session: Session, form: str | tuple[str, str]) -> list[list[str]]:
    return [fix.changes["pins"] for fix in fixes_of(session, form) if fix.means == "pin"]


# By construction: what holds the value, and what only names the thing.


def mentions(*, failed: bool = False) -> list[Entry]:
    """A file named in a search that finds nothing, in a full read and in an echo of a task list."""
    return [
        *use(1, "Grep", "No matches found", pattern="leak", path=PATH),
        *use(2, "Read", "No such file" if failed else NUMBERED, error=failed, file_path=PATH),
        *use(3, "TaskUpdate", f"Task updated: look at {PATH}", task=f"look at {PATH}"),
        *use(4, "Bash", "", command=f"git add {PATH}"),
    ]


@pytest.mark.parametrize("again", [False, True])
def test_of_a_file_the_read_is_pinned_and_no_echo(again: bool) -> None:
    after = use(9, "Read", NUMBERED, file_path=PATH) if again else []
    session = lose(*mentions(), after=after)
    assert pins_of(session, PATH) == [["e3/0"]]
    (pin,) = (fix for fix in fixes_of(session, PATH) if fix.means == "pin")
    kept = "\n".join(p.block.text for p in build_context(pin.plan.session, pin.plan).pieces)
    assert NUMBERED in kept and "No matches found" not in kept
    assert pin.holds == ("8 of 8 lines re-read in turn 2" if again else "the last full read")


def test_a_list_of_files_is_no_fix_where_the_lines_were_needed() -> None:
    never = lose(*use(1, "Read", NUMBERED, file_path=PATH))
    again = lose(*never.entries[1:3], after=use(9, "Read", NUMBERED, file_path=PATH))
    assert {"carry"} <= {fix.means for fix in fixes_of(never, PATH, "flue")}
    assert "carry" not in {fix.means for fix in fixes_of(again, PATH, "flue")}


def test_a_search_that_found_nothing_is_no_place_of_a_file() -> None:
    """What was never read: the listing has its path, the failed calls hold nothing."""
    listed = "\n".join(f"src/{name}.py" for name in ("tank", "pump", "valve"))
    assert pins_of(lose(*mentions(failed=True)), PATH) == [["e6/0"]]
    assert pins_of(lose(*mentions(failed=True)[:4]), PATH) == []
    assert pins_of(lose(*mentions(failed=True)[:4], *use(5, "Glob", listed, pattern="*.py")), PATH) == [
        ["e6/0"]
    ]


def test_of_two_reads_the_one_with_the_lines_that_were_read_again() -> None:
    lines = NUMBERED.splitlines()
    some = ("\n".join(lines[:5]), "\n".join(lines[4:]))
    reads = [*use(1, "Read", some[0], file_path=PATH), *use(2, "Read", some[1], file_path=PATH)]
    first = lose(*reads, after=use(9, "Read", some[0], file_path=PATH))
    second = lose(*reads, after=use(9, "Read", "\n".join(lines[5:7]), file_path=PATH))
    assert (pins_of(first, PATH), pins_of(second, PATH)) == ([["e1/0"]], [["e3/0"]])
    assert pins_of(lose(*reads, after=use(9, "Read", "    1\tall is new", file_path=PATH)), PATH) == []


def test_a_read_and_its_edits_are_pinned_together_where_only_they_hold_the_lines() -> None:
    was, now = "def part_1(): return 1", "def first(): return 0"
    edits = [
        *use(1, "Read", NUMBERED, file_path=PATH),
        *use(2, "Edit", "updated", file_path=PATH, old_string=was, new_string=now),
    ]
    session = lose(*edits, after=use(9, "Read", NUMBERED.replace(was, now), file_path=PATH))
    assert pins_of(session, PATH) == [["e1/0", "e3/0"]]
    # A later edit that nobody read again stays out.
    more = use(3, "Edit", "updated", file_path=PATH, old_string="x", new_string="\n".join("xyz"))
    longer = lose(*edits, *more, after=use(9, "Read", NUMBERED.replace(was, now), file_path=PATH))
    assert pins_of(longer, PATH) == [["e1/0", "e3/0"]]
    # Without a need for all of it, the edit is enough.
    assert pins_of(lose(*edits), PATH)[0] == ["e3/0"]


def test_a_rule_is_asked_for_first_and_then_kept_by_its_smallest_block() -> None:
    rule = "Never push to main without a passing CI run."
    long = user("\n\n".join(["The tank is old and the pump is loud."] * 40 + [rule]))
    session = lose(long, say("ok"), user(rule), say("ok"))
    ask, pin, *_ = fixes_of(session, ("constraint", rule))
    assert (ask.means, ask.outcome, ask.proved, ask.changes) == ("instruct", "asked for", False, {})
    assert rule in ask.text and ask.price == len(rule)
    assert "nothing proves" in ask.sentence
    assert (pin.means, pin.outcome, pin.proved, pin.changes) == ("pin", "verbatim", True, {"pins": ["e3/0"]})


def test_a_rule_that_is_only_said_in_a_long_message_is_asked_for_in_few_tokens() -> None:
    rule = "Never push to main without a passing CI run."
    session = lose(user("\n\n".join(["The tank is old and the pump is loud."] * 40 + [rule])))
    ask, pin = fixes_of(session, ("constraint", rule))[:2]
    assert (ask.means, pin.means) == ("instruct", "pin")
    assert ask.price < 50 < pin.price


def test_a_rule_that_the_summary_quotes_is_not_asked_for() -> None:
    rule = "Never push to main without a passing CI run."
    session = lose(user(rule), summary=f"The user said: {rule}")
    assert trace_recorded(session)[0]["constraint", rule].outcome == "quoted"
    assert "instruct" not in {fix.means for fix in fixes_of(session, ("constraint", rule))}


def test_a_number_is_kept_by_the_cheaper_of_the_blocks_that_say_it() -> None:
    session = lose(
        user("The retry limit is 7 attempts, as the harbour office asked for in its long letter of May."),
        say("Retry limit: 7 attempts."),
    )
    assert pins_of(session, ("number", "7 attempts")) == [["e2/0"], ["e1/0"]]


def test_a_failing_test_is_kept_by_the_output_that_says_so() -> None:
    run = "--- FAIL: TestResume_SessionLogAlreadyExists (0.01s)\nFAIL\nexit code 1"
    session = lose(
        user("TestResume_SessionLogAlreadyExists is new"),
        *use(1, "Bash", run, command="go test ./...", error=True),
    )
    (error, *_) = trace_recorded(session)[0].select("absent", kind="error")
    pinned = pins_of(session, ("error", error.fact.form))
    assert pinned == [["e3/0"]]


def test_what_only_a_placeholder_names_is_not_kept_by_a_longer_one() -> None:
    """A setting that makes room for more words of a summary proves nothing of what is written there."""
    plan = make_plan(BEFORE, LEDGER, "flue", {"cut": "end", "settings": {"summarise-older.cap": 300}})
    traced = trace_facts(FACTS, plan)["README.md"]
    assert traced.outcome == "absent"
    longer = make_plan(BEFORE, LEDGER, "flue", {"cut": "end", "settings": {"summarise-older.cap": 30_000}})
    assert trace_facts(FACTS, longer)["README.md"].outcome == "quoted"
    means = {fix.means for fix in traced.fixes()}
    assert {"pin", "cut", "carry"} <= means and "knob" not in means


def test_a_rule_s_number_is_raised_where_that_keeps_the_block() -> None:
    session = build(user("Read it."), *use(1, "Read", NUMBERED, file_path=PATH), say(), user("on"), say())
    plan = make_plan(
        session,
        count_tokens(session, LENGTH),
        "keep-recent-turns",
        {"settings": {"keep-recent-turns.turns": 1}},
        reason="manual",
    )
    traced = plan.trace[PATH]
    (fix,) = (fix for fix in traced.fixes() if fix.means == "knob")
    assert fix.changes == {"settings": {"keep-recent-turns.turns": 2}}
    assert fix.plan.trace[PATH].outcome == "verbatim"


def test_why_tells_that_the_summary_was_cut_and_what_the_file_list_saw() -> None:
    plan = make_plan(BEFORE, LEDGER, "flue", {"cut": "end", "settings": {"summarise-older.cap": 300}})
    traced = trace_facts(FACTS, plan)[LOST_PATH]
    assert (traced.outcome, traced.tier) == ("absent", "planned")
    why = traced.why()
    assert "The summary is cut at 300 tokens" in why
    assert "summarise-older (summarised)" in why
    assert "saw only tools named read, write and edit with a `path`" in why
    assert "Read(file_path)" in why


def test_the_lost_path_of_the_demo_is_kept_with_the_lines_that_were_read_again() -> None:
    plan = make_plan(BEFORE, LEDGER, "flue", {"cut": "end"})
    (regret,) = (r for r in find_regret(SESSION, SESSION.facts, LEDGER) if r.fact.form == LOST_PATH)
    needed = {line.split("\t")[-1].split("→")[-1].strip() for line in _answer(regret).splitlines()}
    fixes = RECORDED[LOST_PATH].fixes(plan)
    assert fixes and [fix.price for fix in fixes] == sorted(fix.price for fix in fixes)
    for fix in fixes:
        again = make_plan(BEFORE, LEDGER, "flue", apply(plan.edits, fix.changes))
        assert (again.after - plan.after, again.trace[LOST_PATH].outcome) == (fix.price, "verbatim")
        context = build_context(BEFORE, again)
        kept = "\n".join(piece.block.text.replace("\\n", "\n") for piece in context.pieces)
        lines = [line for line in needed if line and '"' not in line]
        assert sum(line in kept for line in lines) >= 0.9 * len(lines) > 20
        assert check_request(render_request(context).request) == ()
    with pytest.raises(EditError, match="another moment"):
        RECORDED[LOST_PATH].fixes(make_plan(SESSION, LEDGER, "flue"))


def _answer(regret: Regret) -> str:
    return SESSION.block(regret.paid[-1]).text


def test_a_policy_without_a_list_of_files_is_given_one_by_a_setting() -> None:
    plan = make_plan(BEFORE, LEDGER, "keep-recent-turns", {"cut": "end"})
    (carry,) = (fix for fix in RECORDED["README.md"].fixes(plan) if fix.means == "carry")
    assert carry.changes["settings"]["carry-file-operations.enabled"] is True
    again = make_plan(BEFORE, LEDGER, "keep-recent-turns", apply(plan.edits, carry.changes))
    assert again.after == plan.after + carry.price
    assert "carry-file-operations" in {rule.kind for rule in again.policy.rules}


def test_what_stands_needs_no_fix() -> None:
    plan = make_plan(BEFORE, LEDGER, "flue")
    traced = next(t for t in trace_facts(FACTS, plan) if t.outcome == "verbatim")
    assert find_fixes(plan, traced) == ()


def test_what_another_plan_keeps_by_itself_needs_no_fix() -> None:
    plan = make_plan(BEFORE, LEDGER, "claude-code")
    lost = RECORDED[LOST_PATH]
    assert lost.outcome == "absent" and plan.trace[LOST_PATH].outcome == "verbatim"
    assert find_fixes(plan, lost) == ()


def test_focus_names_what_to_keep() -> None:
    assert write_focus([]) == write_focus([], "instructions") == ""
    assert LOST_PATH in write_focus([RECORDED[LOST_PATH]]).split("\n")[1]


def test_instructions_for_an_api_are_a_whole_prompt_that_keeps_its_limit() -> None:
    """They stand in the place of the default prompt, and an API takes 16,384 characters."""
    few = write_focus([RECORDED[LOST_PATH]], "instructions")
    assert few.startswith("Summarise the conversation")
    assert few.endswith(write_focus([RECORDED[LOST_PATH]]))
    many = write_focus(RECORDED.select(), "instructions")
    assert len(many) <= 16_384
    assert many.splitlines()[-1] == f"- and {len(RECORDED.select()) - many.count(chr(10) + '- ') + 1:,} more"
    with pytest.raises(EditError, match="known: compact, instructions"):
        write_focus([], "poem")  # type: ignore[arg-type]


# Laws.


def refusals(context: Context) -> set[str]:
    return {v.rule for v in check_context(context, awaits_user=True, model="claude-opus-4-5")}


EVERY = ["flue", "keep-recent-turns", "claude-code", "mini-claude-code", "openhands"]


@settings(max_examples=60, deadline=None)
@given(sessions(orderly=True, least=3), st.sampled_from(EVERY))
def test_a_fix_costs_what_it_says_keeps_the_fact_and_breaks_nothing(session: Session, name: str) -> None:
    """Planned again from its edits it has the price and the outcome it claims; words alone prove nothing."""
    edits = {"settings": {"summarise-older.cap": 5}} if name == "flue" else {}
    given_window = {"window": 2_000, "reason": "manual"}
    plan = make_plan(session, count_tokens(session, LENGTH), name, edits, **given_window)  # type: ignore[arg-type]
    had = refusals(live_context(session, plan.ledger)) | refusals(build_context(session, plan))
    for traced in trace_facts(find_facts(session), plan).select("absent", "partial", "quoted")[:4]:
        asked = [fix for fix in find_fixes(plan, traced) if not fix.proved]
        proved = [fix for fix in find_fixes(plan, traced) if fix.proved]
        assert [fix.changes for fix in asked] in ([], [{}])
        assert [fix.price for fix in proved] == sorted(fix.price for fix in proved)
        for fix in proved:
            changed = apply(plan.edits, fix.changes)
            assert changed == fix.edits
            again = make_plan(session, plan.ledger, name, changed, **given_window)  # type: ignore[arg-type]
            assert again.after - plan.after == fix.price
            # A summary that nobody wrote has to prove it without words of its own.
            now = trace_facts(find_facts(session), again, placeholder=False)[
                traced.fact.kind, traced.fact.form
            ]
            assert now.outcome == fix.outcome and now.outcome in ("verbatim", "quoted", "paraphrased")
            assert refusals(build_context(session, again)) <= had
            names = {"make_plan": make_plan, "Edits": Edits, "session": session, "ledger": plan.ledger}
            assert eval(fix.recipe, names).after == again.after


def apply(edits: Edits, changes: Mapping[str, Any]) -> Edits:
    """What a hand would do with a fix's changes."""
    new = dict(changes)
    if "pins" in new:
        new["pins"] = (*edits.pins, *new["pins"])
    if "settings" in new:
        new["settings"] = {**edits.settings, **new["settings"]}
    return edits.model_copy(update=new)


def test_words_that_are_no_fact_have_fixes_too() -> None:
    """Of a plan, and of what the file records: the pin keeps the block that says them."""
    said = build(
        user("the lamp must glow amber at dusk, and nothing else"), say("ok"), user("go"), say("done")
    )
    plan = make_plan(said, count_tokens(said), "flue", {"cut": "end"}).with_summary(
        Checkpoint(text="Nothing.")
    )
    recorded = build(*said.entries, compact("Nothing."), user("on"))
    for traced in (plan.trace["glow amber at"], trace_recorded(recorded)[0]["glow amber at"]):
        assert (traced.fact.kind, traced.outcome) == ("text", "absent")
        before = traced.scene.session
        mended = traced.fixes(make_plan(before, count_tokens(before), "flue", {"cut": "end"}))
        assert mended[0].means == "pin" and mended[0].outcome == "verbatim"
        context = build_context(before, mended[0].plan)
        assert any("glow amber at" in piece.block.text for piece in context.pieces)


def test_what_only_a_block_that_names_it_can_keep_is_kept_by_that_block() -> None:
    """The block that said it is gone since an earlier compaction; a tool printed the name again."""
    session = build(
        user("`fill_tank` leaks"),
        *(say("ok"), compact("fill_tank leaks."), user("again")),
        *use(1, "Bash", "warning: fill_tank was slow", command="make"),
        *(say("ok"), compact("Nothing."), user("on")),
    )
    traced = trace_recorded(session)[1]["fill_tank"]
    assert (traced.outcome, traced.stood) == ("absent", True)
    before = traced.scene.session
    plan = make_plan(before, count_tokens(before), "flue", {"cut": "end"})
    fixes = traced.fixes(plan)
    assert [fix.means for fix in fixes if fix.proved][:1] == ["pin"]
