"""What becomes of facts: the demo's lost path end to end, each outcome on small sessions, and laws."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.demo import CONSTRAINT, LOST_PATH, open_demo
from inspector.errors import EditError
from inspector.facts.extract.collect import KINDS
from inspector.facts.facts import find_facts
from inspector.facts.grounding import Sources, check_grounding
from inspector.facts.mentions import find_runs
from inspector.facts.outcome_finder import TIERS
from inspector.facts.outcomes import OUTCOMES
from inspector.facts.regret import find_regret
from inspector.facts.trace import trace_again, trace_facts, trace_moves, trace_recorded
from inspector.facts.traced import Trace, TracedFact
from inspector.planning.assemble import build_context
from inspector.planning.planner import make_plan
from inspector.policies.policy import Policy, read_policy
from inspector.policies.registry import list_policies
from inspector.session.blocks import BlockRef
from inspector.session.entries import Entry
from inspector.session.queries import find_move
from inspector.session.session import Session
from inspector.text import has_words
from inspector.tokens.counter import Counter as TokenCounter
from inspector.tokens.ledger import count_tokens
from tests.shared import SHARED, needs_shared, open_shared
from tests.strategies import sessions
from tests.telling import compact, use
from tests.test_cuts import build, say, user

WORDS = TokenCounter("words", "Words", lambda texts: np.array([len(t.split()) for t in texts], np.int32))
LENGTH = TokenCounter("length", "Characters", lambda texts: np.array([len(t) for t in texts], np.int32))

SESSION = open_demo()
FACTS = find_facts(SESSION)
LEDGER = count_tokens(SESSION)
COMPACTION = next(entry for entry in SESSION.entries if entry.kind == "compaction")
BEFORE = SESSION.at(COMPACTION.parent)
(RECORDED,) = trace_recorded(SESSION, FACTS)


def rules_in(trace: Trace) -> list[TracedFact]:
    """The constraints that hold the demo's rule."""
    return [t for t in trace.select(kind="constraint") if CONSTRAINT in " ".join(t.fact.form.split())]


# The demo session, end to end.


def test_the_recorded_summary_loses_the_path_and_the_rule() -> None:
    traced = RECORDED[LOST_PATH]
    assert (traced.outcome, traced.tier, traced.stood, traced.stands) == ("absent", "recorded", True, ())
    assert next(fix.outcome for fix in traced.fixes() if fix.means == "pin") == "verbatim"
    assert rules_in(RECORDED)
    assert all(rule.outcome == "absent" for rule in rules_in(RECORDED))


def test_why_tells_where_the_path_was_said_and_what_removed_it() -> None:
    why = RECORDED[LOST_PATH].why()
    assert "\n" not in why
    assert "first mentioned by a tool in turn 1" in why
    assert "the last in turn 3" in why
    assert "does not mention this" in why
    assert "No list of files" in why


def test_the_columns_say_what_the_trace_says() -> None:
    trace, columns = RECORDED, RECORDED.to_columns()
    assert {len(column) for column in columns.values()} == {len(trace)}
    at = columns["form"].index(LOST_PATH)
    assert (columns["kind"][at], columns["outcome"][at], columns["tier"][at]) == (
        "file",
        "absent",
        "recorded",
    )
    assert columns["said"][at] == len(trace[LOST_PATH].said)
    facts = FACTS.to_columns()
    assert {len(column) for column in facts.values()} == {len(FACTS)}
    at = facts["form"].index(LOST_PATH)
    assert facts["said"][at] == len(FACTS[LOST_PATH])
    assert facts["operations"][at] == ", ".join(FACTS[LOST_PATH].operations)
    assert facts["first"][at] == str(FACTS[LOST_PATH].said[0].ref)


# Each outcome, on sessions small enough to read.


def ask(number: int, text: str, **arguments: str) -> tuple[Entry, Entry]:
    """A call of Read and its answer."""
    call, answer = use(number, "Read", text, **arguments)
    (output,) = answer.blocks
    return call, answer.model_copy(update={"blocks": (output.model_copy(update={"artifact": "a/1.txt"}),)})


def trace(session: Session, policy: str | Policy = "keep-recent-turns", **edits: object) -> Trace:
    plan = make_plan(session, count_tokens(session, WORDS), policy, edits, window=200_000, reason="manual")
    return trace_facts(find_facts(session), plan)


def one_turn_kept(session: Session) -> Trace:
    return trace(session, settings={"keep-recent-turns.turns": 1})


def test_a_block_that_stays_leaves_its_facts_verbatim() -> None:
    session = build(user("hello"), say(), user("look into src/auth.py please"), say())
    traced = one_turn_kept(session)["src/auth.py"]
    assert (traced.outcome, traced.stands) == ("verbatim", (BlockRef("e2", 0),))


def listing() -> Session:
    names = "src/left/util.py\nsrc/right/util.py\nsrc/other.py"
    return build(user("list"), *ask(1, names, pattern="*"), say("done"), user("open util.py now"), say())


def test_what_nothing_names_is_lost() -> None:
    traced = one_turn_kept(listing())["src/other.py"]
    assert (traced.outcome, traced.stands) == ("absent", ())
    assert "It is absent unless the summary names it" in traced.why()


def test_a_base_name_that_two_files_share_is_partial_and_ambiguous() -> None:
    traced = one_turn_kept(listing())["src/left/util.py"]
    assert (traced.outcome, traced.words, traced.stands) == ("partial", "util.py", (BlockRef("e4", 0),))
    assert traced.others == ("src/right/util.py",)
    assert "may mean" in traced.why()


@pytest.mark.parametrize(
    "error",
    ["<stdin> has no such name", "expected 3 but found <nil>", "=> the parser stopped here", "⛔ ✗ ⛔"],
)
def test_an_error_that_a_placeholder_quotes_is_there_whatever_marks_are_around_its_words(error: str) -> None:
    session = build(user("read"), *use(1, "Read", error, True, path="src/top.py"), say("done"))
    result = trace(session, "claude-code-analysis")
    assert result.select(kind="error")
    assert [(t.fact.form, t.outcome) for t in result.select(kind="error")] == [(error, "quoted")]


POINTERS = read_policy(
    {
        "name": "pointers",
        "rules": [{"kind": "keep-recent-turns", "turns": 1}, {"kind": "point-large-outputs"}],
    }
)


def test_an_output_that_became_a_pointer_leaves_its_facts_pointed_to() -> None:
    text = "see src/deep/inside.py " + "word " * 2_000
    session = build(user("read"), *ask(1, text, path="src/top.py"), say(), user("and now"), say())
    result = trace(session, POINTERS)
    assert result["src/deep/inside.py"].outcome == "pointer"
    assert result["src/deep/inside.py"].stands == (BlockRef("e2", 0),)
    assert result["src/top.py"].outcome == "verbatim"


def compacted(*summaries: str) -> Session:
    """A file is listed; then one recorded compaction for each summary, a turn after each."""
    entries = [user("list"), *ask(1, "src/auth.py src/main.py", pattern="*"), say("done")]
    return build(*entries, *(entry for text in summaries for entry in (compact(text), user("go on"), say())))


def test_a_sealed_summary_is_evidence_of_another_kind() -> None:
    (result,) = trace_recorded(session := compacted(""), find_facts(session))
    traced = result["src/auth.py"]
    assert (traced.outcome, traced.tier) == ("unknown", "inferred")
    assert "The summary is encrypted or missing." in traced.why()
    assert set(result.counts) == {"inferred"}


def test_what_nobody_said_has_an_answer_and_is_no_fact() -> None:
    with pytest.raises(EditError, match="nothing said so far"):
        RECORDED["file", "src/no/such.py"]
    assert "src/no/such.py" not in RECORDED
    unknown = RECORDED["src/no/such.py"]
    assert (unknown.said, unknown.stood, unknown.outcome) == ((), False, "absent")
    assert len(unknown.nearest) <= 3
    assert unknown.why().startswith('The words "src/no/such.py" are not said in this session.')


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
    result = check_grounding(line, sources)
    assert [item.what for item in result] == ([what] if what else [])


# Laws.


@given(sessions(), st.sampled_from([policy.name for policy in list_policies()]))
def test_every_fact_is_traced_once_and_its_outcome_is_what_the_context_says(
    session: Session, name: str
) -> None:
    facts = find_facts(session)
    plan = make_plan(session, count_tokens(session, LENGTH), name, reason="manual", window=200_000)
    result = trace_facts(facts, plan)
    keys = [(t.fact.kind, t.fact.form) for t in result]
    assert len(keys) == len(set(keys))
    on_path = {session.entries[i].id for i in session.path}
    said = {
        (fact.kind, fact.form)
        for kind in KINDS
        for fact in facts.by_kind(kind)
        if any(s.ref.entry in on_path and s.by != "summary" for s in fact.said)
    }
    assert set(keys) <= said
    # A file by the end of its path alone is the file whose path it is the end of.
    for kind, form in said - set(keys):
        assert kind == "file"
        assert any(other_kind == "file" and other.endswith("/" + form) for other_kind, other in keys)
    context = build_context(session, plan)
    standing = {ref for piece in context.pieces if not piece.summary for ref in piece.origin}
    texts = [" ".join(piece.block.text.split()) for piece in context.pieces]
    texts += [" ".join(item.text.split()) for item in (*session.system, *session.provided)]
    folded = [text.casefold() for text in texts]
    for traced in result:
        if traced.outcome == "verbatim":
            # An output can repeat an error of another one that is gone.
            assert traced.stood or traced.fact.kind == "error"
            assert all(ref in standing or ref.entry.startswith("@") for ref in traced.stands)
        if traced.outcome in ("quoted", "paraphrased", "changed", "contradicted"):
            words = traced.words.casefold()
            assert any(words in text for text in folded)
        if traced.outcome == "absent":
            form = " ".join(traced.fact.form.split())
            if traced.fact.kind != "file":
                assert not any(has_words(text, form) for text in texts)
            elif "/" in form or "." in form or form[:1].isupper():  # the word "go" names no file "go"
                assert not any(form in find_runs(text) for text in texts)
        assert traced.why()
    assert sum(n for tier in result.counts.values() for kind in tier.values() for n in kind.values()) == len(
        result.select()
    )


def values_of(traced: TracedFact) -> tuple[object, ...]:
    fact = traced.fact
    return fact.kind, fact.form, traced.outcome, traced.tier, traced.stands, traced.words, traced.stood


@given(sessions(), st.sampled_from([policy.name for policy in list_policies()]))
def test_what_a_plans_columns_say_is_what_each_fact_says_alone(session: Session, name: str) -> None:
    """Looked up one by one, with nothing kept of the moment, every fact has the outcome of its column."""
    plan = make_plan(session, count_tokens(session, LENGTH), name, reason="manual", window=200_000)
    result = trace_facts(find_facts(session), plan)
    again = trace_again(result.traced, plan)
    assert [item.stood for item in again] == result.stood.tolist()
    readable = np.flatnonzero(result.stood).tolist()
    assert [OUTCOMES[result.outcome[at]] for at in readable] == [again[at].outcome for at in readable]
    assert [TIERS[result.tier[at]] for at in readable] == [again[at].tier for at in readable]
    assert [values_of(item) for item in result if item.outcome != "partial"] == [
        values_of(item) for item in again if item.outcome != "partial"
    ]


@given(sessions())
def test_counts_and_selections_are_those_of_the_facts_one_by_one(session: Session) -> None:
    plan = make_plan(session, count_tokens(session, LENGTH), "flue", reason="manual", window=200_000)
    result = trace_facts(find_facts(session), plan)
    tally = Counter((t.tier, t.fact.kind, t.outcome) for t in result if t.stood)
    flat = {
        (tier, kind, outcome): number
        for tier, kinds in result.counts.items()
        for kind, outcomes in kinds.items()
        for outcome, number in outcomes.items()
    }
    assert flat == tally
    for outcome in OUTCOMES:
        assert result.select(outcome) == [t for t in result if t.stood and t.outcome == outcome]
        assert result.select(outcome, stood=False) == [t for t in result if t.outcome == outcome]
    for kind in KINDS:
        assert result.select(kind=kind) == [t for t in result if t.stood and t.fact.kind == kind]
    for wrong in ({"kind": "no such kind"}, {"outcome": "no such outcome"}):
        with pytest.raises(EditError, match="known: "):
            result.select(*[wrong["outcome"]] if "outcome" in wrong else (), kind=wrong.get("kind"))


@needs_shared
def test_on_a_real_session_the_columns_say_what_each_fact_says_alone() -> None:
    file = SHARED / "sessions" / "claude-code--entireio-cli" / "cc-2auto-1519l.jsonl"
    session = open_shared(file)
    ledger = count_tokens(session, LENGTH)
    compactions = [entry for entry in session.entries if entry.kind == "compaction"]
    plan = make_plan(
        session.at(compactions[1].parent), ledger, "mini-claude-code", reason="manual", window=200_000
    )
    result = plan.trace
    again = trace_again(result.traced, plan)
    assert len(result.select()) > 400
    assert [(t.outcome, t.tier, t.stood, t.stands) for t in result] == [
        (t.outcome, t.tier, t.stood, t.stands) for t in again
    ]


@needs_shared
def test_at_a_recorded_compaction_the_columns_say_what_each_fact_says_alone() -> None:
    traced = 0
    for file in sorted((SHARED / "sessions" / "claude-code--context-evaluator").rglob("*.jsonl")):
        session = open_shared(file)
        for result in trace_recorded(session):
            absent = {item.fact.number: item.fact.form for item in result.select("absent")}
            move = find_move(session, result.scene.entry)
            (again,) = trace_moves(session, session.facts, [move], range(len(session.facts)))
            traced += len(absent)
            outcomes_again = {item.fact.number: item.outcome for item in again if item.outcome != "absent"}
            assert {
                absent[number]: outcomes_again[number] for number in absent.keys() & outcomes_again.keys()
            } == {}
    assert traced > 50


@given(sessions())
def test_a_recorded_compaction_is_traced_the_same_way(session: Session) -> None:
    facts = find_facts(session)
    for result in trace_recorded(session, facts):
        assert all(bool(t.stands) == (t.outcome not in ("absent", "unknown")) for t in result)
        assert all(t.stood for t in result if t.outcome == "verbatim")
    for regret in find_regret(session, facts, count_tokens(session, LENGTH)):
        assert regret.traced.stood
        assert regret.tokens >= 0


def test_a_trace_has_the_views_of_a_mapping_as_the_facts_have() -> None:
    session = open_demo()
    trace = trace_recorded(session)[0]
    assert [*trace.values()] == [*trace] == [*trace.traced]
    assert [*trace.keys()] == [(traced.fact.kind, traced.fact.form) for traced in trace]
    assert {*trace.keys()} <= {*session.facts.keys()}
    assert all(traced.fact.form == session.facts[name].form for name, traced in trace.items())
