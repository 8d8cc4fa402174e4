"""What becomes of facts: the demo's lost path end to end, each fate on small sessions, and laws."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.assembly import build_context, live_context
from inspector.blocks import BlockRef, Text, ToolCall, ToolOutput
from inspector.bundled import CONSTRAINT, LOST_PATH, open_bundled
from inspector.context import Context
from inspector.counter import Counter as TokenCounter
from inspector.decay import measure_decay
from inspector.errors import EditError
from inspector.facts import find_facts
from inspector.fixes import find_fixes, write_focus
from inspector.grounding import Sources, check_grounding, ground_recorded
from inspector.ledger import count_tokens
from inspector.mentions import find_runs, has_words
from inspector.plan import Plan, make_plan
from inspector.policies import list_policies
from inspector.policy import Policy
from inspector.readers import read_session
from inspector.regret import find_regret
from inspector.rules import read_policy
from inspector.session import Boundary, Entry, Session
from inspector.trace import FATES, Trace, Traced, trace_facts, trace_recorded
from inspector.wire import check_context, check_request, render_request
from tests.shared import SHARED, needs_shared
from tests.strategies import sessions
from tests.test_cuts import build, say, user

WORDS = TokenCounter("words", "Words", lambda texts: np.array([len(t.split()) for t in texts], np.int32))
LENGTH = TokenCounter("length", "Characters", lambda texts: np.array([len(t) for t in texts], np.int32))

SESSION = open_bundled()
FACTS = find_facts(SESSION)
LEDGER = count_tokens(SESSION)
COMPACTION = next(entry for entry in SESSION.entries if entry.kind == "compaction")
BEFORE = SESSION.at(COMPACTION.parent)
(RECORDED,) = trace_recorded(SESSION, FACTS)
REGRET = find_regret(SESSION, FACTS, LEDGER)


def rules_in(trace: Trace) -> list[Traced]:
    """The constraints that hold the demo's rule."""
    return [t for t in trace.select(kind="constraint") if CONSTRAINT in " ".join(t.fact.form.split())]


# The demo session, end to end.


def test_the_recorded_summary_loses_the_path_and_the_rule() -> None:
    traced = RECORDED[LOST_PATH]
    assert (traced.fate, traced.tier, traced.stood, traced.stands) == ("lost", "recorded", True, ())
    assert traced.fixes() == ()
    assert rules_in(RECORDED)
    assert all(rule.fate == "lost" for rule in rules_in(RECORDED))


def test_what_the_recorded_summary_names_is_restated_there() -> None:
    traced = RECORDED["src/tidepool/jobs/outbox.py"]
    assert (traced.fate, traced.stands) == ("restated", (BlockRef(COMPACTION.id, 0),))


def test_files_agree_with_a_literal_recount_of_the_recorded_summary() -> None:
    """Written apart: a file is named where its path, or for weakened its base name, is in the summary."""
    summary = "\n".join(block.text for block in COMPACTION.blocks)
    files = [traced for traced in RECORDED.select(kind="file") if "/" in traced.fact.form]
    assert len(files) > 20
    for traced in files:
        path = traced.fact.form if "." in traced.fact.form else f"{traced.fact.form}/"
        if traced.fate == "restated":
            assert path.removeprefix("/home/marit/tidepool/") in summary
        elif traced.fate == "weakened":
            assert path.rpartition("/")[2] in summary
            assert path not in summary
        else:
            assert traced.fate == "lost"
            assert path not in summary


def test_why_tells_where_the_path_was_said_and_what_removed_it() -> None:
    why = RECORDED[LOST_PATH].why()
    assert "\n" not in why
    assert "first said by a tool in turn 1" in why
    assert "the last in turn 3" in why
    assert "does not name it" in why
    assert "no list of files" in why


def test_the_path_and_the_rule_are_regretted() -> None:
    (read,) = (r for r in REGRET if r.traced.fact.kind == "file" and r.traced.fact.form == LOST_PATH)
    call = SESSION.block(read.again)
    assert isinstance(call, ToolCall)
    assert (call.name, read.traced.fate) == ("Read", "lost")
    assert [SESSION.block(ref).kind for ref in read.paid] == ["tool_call", "tool_output"]
    assert read.tokens == sum(int(LEDGER.tokens[LEDGER.row(ref)]) for ref in read.paid) > 1_000
    told = [r for r in REGRET if r.traced.fact.kind == "constraint"]
    assert {r.traced.fact.form for r in told} == {t.fact.form for t in rules_in(RECORDED)}
    assert all(CONSTRAINT in SESSION.block(r.again).text for r in told)


def test_nothing_is_regretted_before_the_compaction() -> None:
    assert find_regret(BEFORE, FACTS, LEDGER) == ()


def short_summary() -> tuple[Plan, Traced]:
    """A plan whose summary is cut before it comes to the path."""
    edits = {"cut": "end", "settings": {"summarise-older.cap": 300}}
    plan = make_plan(BEFORE, LEDGER, "flue", edits)
    return plan, trace_facts(FACTS, plan)[LOST_PATH]


def test_why_tells_that_the_summary_was_cut_and_what_the_file_list_saw() -> None:
    _, traced = short_summary()
    assert (traced.fate, traced.tier) == ("lost", "planned")
    why = traced.why()
    assert "The summary is cut at 300 tokens" in why
    assert "summarise-older (summarised)" in why
    assert "saw only tools named read, write and edit with a `path`" in why
    assert "Read(file_path)" in why


def test_fixes_keep_the_path_at_the_price_they_state() -> None:
    plan, traced = short_summary()
    fixes = traced.fixes()
    assert {"pin", "cut", "knob"} <= {fix.means for fix in fixes}
    assert [fix.price for fix in fixes] == sorted(fix.price for fix in fixes)
    for fix in fixes:
        again = make_plan(BEFORE, LEDGER, fix.policy, fix.edits)
        assert again.after - plan.after == fix.price
        assert trace_facts(FACTS, again)[LOST_PATH].fate == fix.fate
        assert FATES.index(fix.fate) < FATES.index("lost")
        context = build_context(BEFORE, again)
        assert LOST_PATH in "\n".join(piece.block.text for piece in context.pieces)
        assert check_request(render_request(context).request) == ()


def test_what_stands_needs_no_fix() -> None:
    plan = make_plan(BEFORE, LEDGER, "flue")
    traced = next(t for t in trace_facts(FACTS, plan) if t.fate == "verbatim")
    assert find_fixes(plan, traced) == ()


def test_focus_names_what_to_keep() -> None:
    assert write_focus([]) == ""
    assert LOST_PATH in write_focus([RECORDED[LOST_PATH]]).split("\n")[1]


def test_the_demos_summary_makes_up_nothing() -> None:
    (found,) = ground_recorded(SESSION)
    assert found.read
    assert found.unfounded == ()


def recount(path: str, inside: str, text: str) -> str:
    """A plain look for a path in a text: whole, relative, or any tail that begins no longer path."""
    if path in text or inside in text:
        return "restated"
    parts = inside.split("/")
    tails = ("/".join(parts[at:]) for at in range(1, len(parts)))
    found = any(re.search(rf"(?<![\w./-]){re.escape(tail)}(?!\w)", text) for tail in tails)
    return "weakened" if found else "lost"


@needs_shared
def test_on_real_sessions_the_figures_equal_a_literal_recount() -> None:
    """Files that Claude Code's tools were given as `file_path`, in every recorded compaction."""
    ours, plain = Counter[str](), Counter[str]()
    for file in sorted((SHARED / "sessions").glob("claude-code*/*.jsonl")):
        session = read_session(file.read_bytes(), file.name)
        for found in trace_recorded(session, find_facts(session)):
            before, entry = found.scene.session, found.scene.entry
            assert entry is not None
            blocks = [block for i in before.path for block in before.entries[i].blocks]
            inputs = [b.input for b in blocks if isinstance(b, ToolCall) and isinstance(b.input, dict)]
            for path in {asked["file_path"] for asked in inputs if "file_path" in asked}:
                fate = found[path].fate
                ours[fate] += 1
                plain[recount(path, path.removeprefix(f"{session.cwd}/"), entry.text)] += 1
    assert ours == plain
    assert sum(ours.values()) > 150


# Each fate, on sessions small enough to read.


def ask(number: int, text: str, **arguments: str) -> tuple[Entry, Entry]:
    """A call of Read and its answer."""
    name = f"c{number}"
    call = Entry(id="", role="assistant", blocks=(ToolCall(id=name, name="Read", input=arguments),))
    output = ToolOutput(call_id=name, name="Read", parts=(Text(text=text),), artifact="a/1.txt")
    return call, Entry(id="", role="tool", blocks=(output,))


def trace(session: Session, policy: str | Policy = "keep-recent-turns", **edits: object) -> Trace:
    plan = make_plan(session, count_tokens(session, WORDS), policy, edits, window=200_000, reason="manual")
    return trace_facts(find_facts(session), plan)


def one_turn_kept(session: Session) -> Trace:
    return trace(session, settings={"keep-recent-turns.turns": 1})


def test_a_block_that_stays_leaves_its_facts_verbatim() -> None:
    session = build(user("hello"), say(), user("look into src/auth.py please"), say())
    traced = one_turn_kept(session)["src/auth.py"]
    assert (traced.fate, traced.stands) == ("verbatim", (BlockRef("e2", 0),))


def test_a_fact_without_a_word_in_it_is_found_too() -> None:
    launch = ToolCall(id="c1", name="bash", input={"command": "🚀 💻"})
    done = ToolOutput(call_id="c1", name="bash", parts=(Text(text="done"),))
    calls = (Entry(id="", role="assistant", blocks=(launch,)), Entry(id="", role="tool", blocks=(done,)))
    session = build(user("go"), *calls, say(), user("now 🚀 💻 again"), say())
    traced = one_turn_kept(session)["🚀 💻"]
    assert (traced.fate, traced.stands) == ("verbatim", (BlockRef("e4", 0),))


def test_a_stand_in_that_names_it_restates_it() -> None:
    session = build(user("look into src/auth.py please"), say(), user("thanks"), say())
    traced = one_turn_kept(session)["src/auth.py"]
    assert (traced.fate, traced.tier) == ("restated", "planned")
    assert traced.stands == (BlockRef("@summary", 0),)


def listing() -> Session:
    names = "src/left/util.py\nsrc/right/util.py\nsrc/other.py"
    return build(user("list"), *ask(1, names, pattern="*"), say("done"), user("open util.py now"), say())


def test_what_nothing_names_is_lost() -> None:
    traced = one_turn_kept(listing())["src/other.py"]
    assert (traced.fate, traced.stands) == ("lost", ())
    assert "left nothing of it" in traced.why()


def test_a_base_name_that_two_files_share_is_weakened_and_ambiguous() -> None:
    traced = one_turn_kept(listing())["src/left/util.py"]
    assert (traced.fate, traced.words, traced.stands) == ("weakened", "util.py", (BlockRef("e4", 0),))
    assert traced.others == ("src/right/util.py",)
    assert traced.ambiguous
    assert "may mean" in traced.why()


POINTERS = read_policy(
    {
        "name": "pointers",
        "rules": [{"kind": "keep-recent-turns", "turns": 1}, {"kind": "point-large-outputs"}],
    }
)


def test_an_output_that_became_a_pointer_leaves_its_facts_pointed_to() -> None:
    text = "see src/deep/inside.py " + "word " * 2_000
    session = build(user("read"), *ask(1, text, path="src/top.py"), say(), user("and now"), say())
    found = trace(session, POINTERS)
    assert found["src/deep/inside.py"].fate == "pointed to"
    assert found["src/deep/inside.py"].stands == (BlockRef("e2", 0),)
    assert found["src/top.py"].fate == "verbatim"


def test_what_the_system_prompt_says_is_never_lost() -> None:
    session = build(user("list"), *ask(1, "src/auth.py", pattern="*"), say(), user("go on"), say())
    session = session.model_copy(update={"system": (Text(text="Mind src/auth.py."),)})
    traced = one_turn_kept(session)["src/auth.py"]
    assert (traced.fate, traced.stands) == ("verbatim", (BlockRef("@system", 0),))


def compacted(*summaries: str) -> Session:
    """A file is listed; then one recorded compaction for each summary, a turn after each."""
    entries = [user("list"), *ask(1, "src/auth.py src/main.py", pattern="*"), say("done")]
    for text in summaries:
        blocks = (Text(text=text),) if text else ()
        entries.append(Entry(id="", kind="compaction", blocks=blocks, boundary=Boundary(summary=text)))
        entries += [user("go on"), say()]
    return build(*entries)


def test_a_sealed_summary_is_evidence_of_another_kind() -> None:
    (found,) = trace_recorded(session := compacted(""), find_facts(session))
    traced = found["src/auth.py"]
    assert (traced.fate, traced.tier) == ("lost", "inferred")
    assert "sealed or missing" in traced.why()
    assert set(found.counts) == {"inferred"}


def test_what_was_lost_once_is_not_lost_again() -> None:
    session = compacted("src/auth.py was listed", "nothing to tell")
    first, second = trace_recorded(session, find_facts(session))
    assert [first[name].fate for name in ("src/auth.py", "src/main.py")] == ["restated", "lost"]
    assert [second[name].fate for name in ("src/auth.py", "src/main.py")] == ["lost", "lost"]
    assert [second[name].stood for name in ("src/auth.py", "src/main.py")] == [True, False]
    assert "an earlier one had removed it" in second["src/main.py"].why()
    files = [t for t in second.select("lost") if t.fact.kind == "file"]
    assert [t.fact.form for t in files] == ["src/auth.py"]


def test_decay_follows_what_stood_before_the_first_round() -> None:
    session = compacted("src/auth.py was listed", "nothing to tell")
    rounds = measure_decay(trace_recorded(session, find_facts(session)))
    assert [one.number for one in rounds] == [1, 2]
    assert rounds[0].left > rounds[1].left == 0
    assert measure_decay(()) == ()


def test_nothing_is_regretted_when_the_output_still_stands() -> None:
    """The compaction keeps what was read, and it is read again."""
    entries = [user("read"), *ask(1, "text", file_path="src/auth.py"), say()]
    told = Boundary(summary="all is well", first_kept="e0")
    entries.append(Entry(id="", kind="compaction", blocks=(Text(text="all is well"),), boundary=told))
    entries += [user("again"), *ask(2, "text", file_path="src/auth.py"), say()]
    session = build(*entries)
    assert find_regret(session, find_facts(session), count_tokens(session, WORDS)) == ()


def test_an_unknown_fact_is_a_named_error() -> None:
    with pytest.raises(EditError, match="nothing said so far"):
        RECORDED["src/no/such.py"]
    assert "src/no/such.py" not in RECORDED


def test_words_are_found_whole() -> None:
    assert has_words("run (a.py) now", "a.py")
    assert not has_words("run data.py or a.pyc", "a.py")
    assert not has_words("anything", "")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("Fixed src/ghost.py.", "path"),
        ("Commit deadbee1 has it.", "id"),
        ("All 4,711 tests pass.", "number"),
        ('The user said "delete the whole database".', "quote"),
        ('The user said "I changed the parser".', "user"),
        ("Fixed src/auth.py in 1a2b3c4; 1,200 tests.", None),
    ],
)
def test_a_summary_is_held_against_what_it_summarises(line: str, what: str | None) -> None:
    sources = Sources(["fix src/auth.py"], ["I changed the parser in 1a2b3c4; 1200 passed"])
    found = check_grounding(line, sources)
    assert [item.what for item in found] == ([what] if what else [])


# Laws.


@settings(max_examples=60, deadline=None)
@given(sessions(), st.sampled_from([policy.name for policy in list_policies()]))
def test_every_fact_is_traced_once_and_its_fate_is_what_the_context_says(session: Session, name: str) -> None:
    facts = find_facts(session)
    plan = make_plan(session, count_tokens(session, LENGTH), name, reason="manual", window=200_000)
    found = trace_facts(facts, plan)
    keys = [(t.fact.kind, t.fact.form) for t in found]
    assert len(keys) == len(set(keys))
    on_path = {session.entries[i].id for i in session.path}
    said = {
        (fact.kind, fact.form)
        for kind in {t.fact.kind for t in found}
        for fact in facts.by_kind(kind)
        if any(s.ref.entry in on_path and s.by != "summary" for s in fact.said)
    }
    assert set(keys) == said
    context = build_context(session, plan)
    standing = {ref for piece in context.pieces if not piece.summary for ref in piece.origin}
    texts = [" ".join(piece.block.text.split()) for piece in context.pieces]
    texts += [" ".join(item.text.split()) for item in (*session.system, *session.provided)]
    for traced in found:
        if traced.fate == "verbatim":
            assert all(ref in standing or ref.entry.startswith("@") for ref in traced.stands)
        if traced.fate == "restated" and traced.words != "the same in other words":
            assert any(traced.words in text for text in texts)
        if traced.fate == "lost":
            form = " ".join(traced.fact.form.split())
            named = [set(find_runs(text)) if traced.fact.kind == "file" else text for text in texts]
            assert not any(form in text if isinstance(text, set) else has_words(text, form) for text in named)
        assert traced.why()
    assert sum(n for tier in found.counts.values() for kind in tier.values() for n in kind.values()) == len(
        found.select()
    )


@settings(max_examples=30, deadline=None)
@given(sessions())
def test_a_recorded_compaction_is_traced_the_same_way(session: Session) -> None:
    facts = find_facts(session)
    for found in trace_recorded(session, facts):
        assert all(bool(t.stands) == (t.fate != "lost") for t in found)
    for regret in find_regret(session, facts, count_tokens(session, LENGTH)):
        assert regret.traced.stood
        assert regret.tokens >= 0


def refusals(context: Context) -> set[str]:
    return {v.rule for v in check_context(context, awaits_user=True, model="claude-opus-4-5")}


@settings(max_examples=40, deadline=None)
@given(sessions(orderly=True, least=3), st.sampled_from(["flue", "keep-recent-turns", "claude-code"]))
def test_a_fix_costs_what_it_says_and_breaks_nothing(session: Session, name: str) -> None:
    edits = {"settings": {"summarise-older.cap": 5}} if name == "flue" else {}
    plan = make_plan(session, count_tokens(session, LENGTH), name, edits, reason="manual", window=2_000)
    had = refusals(live_context(session, plan.ledger)) | refusals(build_context(session, plan))
    for traced in trace_facts(find_facts(session), plan).select("lost", "weakened", "restated")[:4]:
        for fix in find_fixes(plan, traced):
            assert fix.plan.after - plan.after == fix.price
            assert FATES.index(fix.fate) < FATES.index(traced.fate)
            assert refusals(build_context(session, fix.plan)) <= had
