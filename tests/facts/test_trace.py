"""What becomes of facts: the demo's lost path end to end, each outcome on small sessions, and laws."""

from __future__ import annotations

import re
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.demo import CONSTRAINT, LOST_PATH, open_demo
from inspector.errors import ArgumentError, EditError, FrameError
from inspector.facts.extract.collect import KINDS
from inspector.facts.facts import find_facts
from inspector.facts.grounding import Sources, check_grounding, ground_recorded
from inspector.facts.mentions import find_runs
from inspector.facts.outcomes import OUTCOMES
from inspector.facts.regret import find_regret
from inspector.facts.trace import (
    find_moment,
    trace_again,
    trace_facts,
    trace_recorded,
    trace_rounds,
)
from inspector.facts.traced import TIERS, Trace, TracedFact
from inspector.planning.assemble import build_context
from inspector.planning.planner import make_plan
from inspector.policies.policy import Policy, read_policy
from inspector.policies.registry import list_policies
from inspector.replays.decay import measure_decay
from inspector.session.blocks import BlockRef, Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from inspector.text import has_words
from inspector.tokens.counter import Counter as TokenCounter
from inspector.tokens.ledger import count_tokens
from tests.shared import SHARED, needs_shared, open_shared
from tests.strategies import sessions
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
    assert traced.fixes() == ()
    assert rules_in(RECORDED)
    assert all(rule.outcome == "absent" for rule in rules_in(RECORDED))


def test_what_the_recorded_summary_names_is_restated_there() -> None:
    traced = RECORDED["src/tidepool/jobs/outbox.py"]
    assert (traced.outcome, traced.stands) == ("quoted", (BlockRef(COMPACTION.id, 0),))


def test_files_agree_with_a_literal_recount_of_the_recorded_summary() -> None:
    """Written apart: a file is named where its path, or for weakened its base name, is in the summary."""
    summary = "\n".join(block.text for block in COMPACTION.blocks)
    files = [traced for traced in RECORDED.select(kind="file") if "/" in traced.fact.form]
    assert len(files) > 20
    for traced in files:
        path = traced.fact.form if "." in traced.fact.form else f"{traced.fact.form}/"
        if traced.outcome == "quoted":
            assert path.removeprefix("/home/marit/tidepool/") in summary
        elif traced.outcome == "partial":
            assert path.rpartition("/")[2] in summary
            assert path not in summary
        else:
            assert traced.outcome == "absent"
            assert path not in summary


def test_why_tells_where_the_path_was_said_and_what_removed_it() -> None:
    why = RECORDED[LOST_PATH].why()
    assert "\n" not in why
    assert "first said by a tool in turn 1" in why
    assert "the last in turn 3" in why
    assert "does not name it" in why
    assert "No list of files" in why


def test_facts_and_trace_are_found_once_and_shared_between_moments() -> None:
    assert SESSION.facts is SESSION.facts
    plan = make_plan(BEFORE, LEDGER, "flue")
    assert plan.trace is plan.trace
    assert plan.trace["src/tidepool/jobs/outbox.py"].fact.facts is SESSION.facts
    assert [(t.fact.form, t.outcome) for t in plan.trace] == [
        (t.fact.form, t.outcome) for t in trace_facts(FACTS, plan)
    ]


def test_a_moment_on_another_branch_has_facts_of_its_own() -> None:
    session = build(user("look into src/a.py"), say(), user("look into src/b.py"), say())
    other = Entry(id="o1", parent="e1", role="user", blocks=(Text(text="look into src/other.py"),))
    session = session.model_copy(update={"entries": (*session.entries, other)})
    plan = make_plan(session.at("o1"), count_tokens(session, WORDS), "flue")
    assert "src/other.py" in plan.trace
    assert "src/b.py" not in plan.trace


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


def test_without_pandas_a_frame_is_a_named_error_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    for table in (RECORDED, FACTS):
        with pytest.raises(FrameError, match=r"pip install pandas, or hand to_columns\(\)"):
            table.to_frame()


def test_with_pandas_there_is_a_frame() -> None:
    pytest.importorskip("pandas")
    assert len(RECORDED.to_frame()) == len(RECORDED)
    assert list(FACTS.to_frame().columns) == list(FACTS.to_columns())


def test_the_demos_summary_makes_up_nothing() -> None:
    (found,) = ground_recorded(SESSION)
    assert found.read
    assert found.unfounded == ()


def recount(path: str, inside: str, text: str, others: set[str]) -> str:
    """A plain look for a path in a text: whole, relative, by an end of two parts or more, or by its name.

    An end that other files have as well is a part, and so is the name, unless another path there has it.
    """
    if path in text or inside in text:
        return "quoted"
    parts = inside.split("/")
    for at in range(1, len(parts)):
        tail = "/".join(parts[at:])
        if not re.search(rf"(?<![\w./-]){re.escape(tail)}(?!\w)", text):
            continue
        if "/" in tail:
            return "partial" if any(other.endswith(f"/{tail}") for other in others - {path}) else "quoted"
        return "absent" if re.search(rf"\w/{re.escape(tail)}(?!\w)", text) else "partial"
    return "absent"


@needs_shared
def test_on_real_sessions_the_figures_equal_a_literal_recount() -> None:
    """Files that Claude Code's tools were given as `file_path`, in every recorded compaction."""
    ours, plain = Counter[str](), Counter[str]()
    for file in sorted((SHARED / "sessions").glob("claude-code*/*.jsonl")):
        session = open_shared(file)
        for found in trace_recorded(session, session.facts):
            before, entry = found.scene.session, found.scene.entry
            assert entry is not None
            blocks = [block for i in before.path for block in before.entries[i].blocks]
            inputs = [b.input for b in blocks if isinstance(b, ToolCall) and isinstance(b.input, dict)]
            paths = {asked["file_path"] for asked in inputs if "file_path" in asked}
            for path in paths:
                outcome = found[path].outcome
                ours[outcome] += 1
                plain[recount(path, path.removeprefix(f"{session.cwd}/"), entry.text, paths)] += 1
    assert ours == plain
    assert sum(ours.values()) > 150


# Each outcome, on sessions small enough to read.


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
    assert (traced.outcome, traced.stands) == ("verbatim", (BlockRef("e2", 0),))


def test_a_fact_without_a_word_in_it_is_found_too() -> None:
    launch = ToolCall(id="c1", name="bash", input={"command": "🚀 💻"})
    done = ToolOutput(call_id="c1", name="bash", parts=(Text(text="done"),))
    calls = (Entry(id="", role="assistant", blocks=(launch,)), Entry(id="", role="tool", blocks=(done,)))
    session = build(user("go"), *calls, say(), user("now 🚀 💻 again"), say())
    traced = one_turn_kept(session)["🚀 💻"]
    assert (traced.outcome, traced.stands) == ("verbatim", (BlockRef("e4", 0),))


def test_a_stand_in_that_names_it_restates_it() -> None:
    session = build(user("look into src/auth.py please"), say(), user("thanks"), say())
    traced = one_turn_kept(session)["src/auth.py"]
    assert (traced.outcome, traced.tier) == ("quoted", "planned")
    assert traced.stands == (BlockRef("@summary", 0),)


@pytest.mark.parametrize(
    ("command", "outcome"),
    [
        ("git log --oneline -5", "quoted"),
        ("go vet ./cmd/... 2>&1", "quoted"),
        (f"python -m build {'--with-a-long-option ' * 20}--done", "partial"),
    ],
)
def test_a_stand_in_keeps_a_command_only_if_it_has_all_of_it(command: str, outcome: str) -> None:
    call, output = ask(1, "done")
    call = Entry(
        id="", role="assistant", blocks=(ToolCall(id="c1", name="Bash", input={"command": command}),)
    )
    session = build(user("check it please"), call, output, say("fine"), user("thanks"), say())
    (traced,) = (one for one in one_turn_kept(session) if one.fact.kind == "command")
    assert traced.outcome == outcome, traced.why()


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
    assert found["src/deep/inside.py"].outcome == "pointer"
    assert found["src/deep/inside.py"].stands == (BlockRef("e2", 0),)
    assert found["src/top.py"].outcome == "verbatim"


def test_what_the_system_prompt_says_is_never_lost() -> None:
    session = build(user("list"), *ask(1, "src/auth.py", pattern="*"), say(), user("go on"), say())
    session = session.model_copy(update={"system": (Text(text="Mind src/auth.py."),)})
    traced = one_turn_kept(session)["src/auth.py"]
    assert (traced.outcome, traced.stands) == ("verbatim", (BlockRef("@system", 0),))


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
    assert (traced.outcome, traced.tier) == ("unknown", "inferred")
    assert "The summary is encrypted or missing." in traced.why()
    assert set(found.counts) == {"inferred"}


def test_what_was_lost_once_is_not_lost_again() -> None:
    session = compacted("src/auth.py was listed", "nothing to tell")
    first, second = trace_recorded(session, find_facts(session))
    assert [first[name].outcome for name in ("src/auth.py", "src/main.py")] == ["quoted", "absent"]
    assert [second[name].outcome for name in ("src/auth.py", "src/main.py")] == ["absent", "absent"]
    assert [second[name].stood for name in ("src/auth.py", "src/main.py")] == [True, False]
    assert "the first recorded compaction left nothing of it" in second["src/main.py"].why()
    files = [t for t in second.select("absent") if t.fact.kind == "file"]
    assert [t.fact.form for t in files] == ["src/auth.py"]


def test_why_names_what_carried_a_fact_last_not_where_it_was_said_last() -> None:
    session = compacted("src/auth.py was listed", "nothing to tell")
    summary = next(entry.id for entry in session.entries if entry.kind == "compaction")
    _, second = trace_recorded(session, find_facts(session))
    why = second["src/auth.py"].why()
    assert "1 block said it, the last in turn 1 (the output of Read" in why
    assert f"only the summary of an earlier compaction ({summary}/0) said it." in why
    assert "says it, the last in" not in why


def test_why_counts_the_blocks_that_still_stood_apart() -> None:
    """An earlier compaction kept one of the two messages that say it."""
    entries = [user("look into src/auth.py"), say(), user("now src/auth.py again"), say()]
    entries.append(Entry(id="", kind="compaction", boundary=Boundary(summary="", first_kept="e2")))
    entries += [user("go on"), say(), Entry(id="", kind="compaction", boundary=Boundary(summary=""))]
    session = build(*entries)
    first, second = trace_recorded(session, find_facts(session))
    assert "2 blocks say it, the last in turn 2" in first["src/auth.py"].why()
    why = second["src/auth.py"].why()
    assert "2 blocks say it; 1 was still there, the last in turn 2" in why


def test_a_plan_tells_what_became_of_the_summary_that_alone_named_a_fact() -> None:
    session = compacted("src/auth.py was listed")
    traced = trace(session, "flue", cut="end")["src/auth.py"]
    why = traced.why()
    assert "only the summary of an earlier compaction" in why
    assert "1 block that says it went to" in why


def unmarked() -> Session:
    """A command is run, then compacted away; then it is named in words, and they are kept."""
    run = ToolCall(id="c1", name="Bash", input={"command": "./gen.sh --all"})
    done = ToolOutput(call_id="c1", name="Bash", parts=(Text(text="done"),))
    entries = [
        user("go"),
        Entry(id="", role="assistant", blocks=(run,)),
        Entry(id="", role="tool", blocks=(done,)),
    ]
    entries += [
        say(),
        Entry(id="", kind="compaction", blocks=(Text(text="ok"),), boundary=Boundary(summary="ok")),
    ]
    entries += [user("so ./gen.sh --all did it"), say()]
    told = Boundary(summary="ok", first_kept="e5")
    entries += [
        Entry(id="", kind="compaction", blocks=(Text(text="ok"),), boundary=told),
        user("go on"),
        say(),
    ]
    return build(*entries)


def test_what_a_block_says_without_being_known_to_say_it_stood_before() -> None:
    session = unmarked()
    facts = find_facts(session)
    fact = facts["command", "./gen.sh --all"]
    assert {said.ref.entry for said in fact.said} == {"e1"}
    _, second = trace_recorded(session, facts)
    traced = second["command", "./gen.sh --all"]
    assert (traced.outcome, traced.stands, traced.stood) == ("verbatim", (BlockRef("e5", 0),), True)
    assert traced.named == (BlockRef("e1", 0), BlockRef("e5", 0))
    assert "the last in turn 2 (the user's words, e5/0)" in traced.why()
    assert trace(session.at("e6"))["command", "./gen.sh --all"].stood


def test_decay_follows_what_stood_before_the_first_round() -> None:
    session = compacted("src/auth.py was listed", "nothing to tell")
    rounds = measure_decay(trace_recorded(session, find_facts(session)))
    assert [one.number for one in rounds] == [1, 2]
    assert rounds[0].left > rounds[1].left == 0
    assert measure_decay(()) == ()


def test_what_nobody_said_has_an_answer_and_is_no_fact() -> None:
    with pytest.raises(EditError, match="nothing said so far"):
        RECORDED["file", "src/no/such.py"]
    assert "src/no/such.py" not in RECORDED
    asked = RECORDED["src/no/such.py"]
    assert (asked.said, asked.stood, asked.outcome) == ((), False, "absent")
    assert len(asked.nearest) <= 3
    assert asked.why().startswith('The words "src/no/such.py" are not said in this session.')


@pytest.mark.parametrize("asked", [5, None, ("file",), ("file", 5), ("file", "a.py", "b.py")])
def test_what_is_no_text_is_a_named_error(asked: Any) -> None:
    with pytest.raises(ArgumentError, match="must be a text, or a kind and a text"):
        RECORDED[asked]
    assert asked not in RECORDED


def test_words_are_found_whole() -> None:
    assert has_words("run (a.py) now", "a.py")
    assert not has_words("run data.py or a.pyc", "a.py")
    assert not has_words("anything", "")
    assert has_words("f(arg1,2) and v1.2", "arg1") and has_words("in 12, 200 were left.", "200")


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
def test_every_fact_is_traced_once_and_its_outcome_is_what_the_context_says(
    session: Session, name: str
) -> None:
    facts = find_facts(session)
    plan = make_plan(session, count_tokens(session, LENGTH), name, reason="manual", window=200_000)
    found = trace_facts(facts, plan)
    keys = [(t.fact.kind, t.fact.form) for t in found]
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
        assert any(one == "file" and other.endswith("/" + form) for one, other in keys)
    context = build_context(session, plan)
    standing = {ref for piece in context.pieces if not piece.summary for ref in piece.origin}
    texts = [" ".join(piece.block.text.split()) for piece in context.pieces]
    texts += [" ".join(item.text.split()) for item in (*session.system, *session.provided)]
    folded = [text.casefold() for text in texts]
    for traced in found:
        if traced.outcome == "verbatim":
            # An output can repeat an error of another one that is gone.
            assert traced.stood or traced.fact.kind == "error"
            assert all(ref in standing or ref.entry.startswith("@") for ref in traced.stands)
        if traced.outcome in ("quoted", "paraphrased", "changed", "contradicted"):
            words = traced.words.casefold()
            assert any(words in text for text in folded)
        if traced.outcome == "absent":
            form = " ".join(traced.fact.form.split())
            named = [set(find_runs(text)) if traced.fact.kind == "file" else text for text in texts]
            assert not any(form in text if isinstance(text, set) else has_words(text, form) for text in named)
        assert traced.why()
    assert sum(n for tier in found.counts.values() for kind in tier.values() for n in kind.values()) == len(
        found.select()
    )


def tell(traced: TracedFact) -> tuple[object, ...]:
    fact = traced.fact
    return fact.kind, fact.form, traced.outcome, traced.tier, traced.stands, traced.words, traced.stood


@settings(max_examples=60, deadline=None)
@given(sessions(), st.sampled_from([policy.name for policy in list_policies()]))
def test_what_a_plans_columns_say_is_what_each_fact_says_alone(session: Session, name: str) -> None:
    """Looked up one by one, with nothing kept of the moment, every fact has the outcome of its column."""
    plan = make_plan(session, count_tokens(session, LENGTH), name, reason="manual", window=200_000)
    found = trace_facts(find_facts(session), plan)
    again = trace_again(found.traced, plan)
    assert [one.stood for one in again] == found.stood.tolist()
    mine = np.flatnonzero(found.stood).tolist()
    assert [OUTCOMES[found.outcome[at]] for at in mine] == [again[at].outcome for at in mine]
    assert [TIERS[found.tier[at]] for at in mine] == [again[at].tier for at in mine]
    assert [tell(one) for one in found if one.outcome != "partial"] == [
        tell(one) for one in again if one.outcome != "partial"
    ]


@settings(max_examples=30, deadline=None)
@given(sessions())
def test_counts_and_selections_are_those_of_the_facts_one_by_one(session: Session) -> None:
    plan = make_plan(session, count_tokens(session, LENGTH), "flue", reason="manual", window=200_000)
    found = trace_facts(find_facts(session), plan)
    tally = Counter((t.tier, t.fact.kind, t.outcome) for t in found if t.stood)
    flat = {
        (tier, kind, outcome): number
        for tier, kinds in found.counts.items()
        for kind, outcomes in kinds.items()
        for outcome, number in outcomes.items()
    }
    assert flat == tally
    for outcome in OUTCOMES:
        assert found.select(outcome) == [t for t in found if t.stood and t.outcome == outcome]
        assert found.select(outcome, stood=False) == [t for t in found if t.outcome == outcome]
    for kind in KINDS:
        assert found.select(kind=kind) == [t for t in found if t.stood and t.fact.kind == kind]
    assert found.select("no such outcome") == found.select(kind="no such kind") == []


def test_a_fact_that_was_gone_before_is_looked_up_when_someone_asks() -> None:
    session = compacted("src/auth.py was listed")
    found = trace(session, "flue", cut="end")
    files = found.kind == KINDS.index("file")
    assert [found.stood[files].tolist(), found.outcome[files].tolist().count(-1)] == [[True, False], 1]
    assert (found["src/main.py"].outcome, found["src/main.py"].stood) == ("absent", False)
    assert found["src/main.py"] is next(t for t in found if t.fact.form == "src/main.py")


@needs_shared
@pytest.mark.parametrize("policy", ["flue", "langchain-clear", "mini-claude-code"])
def test_on_a_real_session_the_columns_say_what_each_fact_says_alone(policy: str) -> None:
    file = SHARED / "sessions" / "claude-code--entireio-cli" / "cc-2auto-1519l.jsonl"
    session = open_shared(file)
    ledger = count_tokens(session, LENGTH)
    compactions = [entry for entry in session.entries if entry.kind == "compaction"]
    plan = make_plan(session.at(compactions[1].parent), ledger, policy, reason="manual", window=200_000)
    found = plan.trace
    again = trace_again(found.traced, plan)
    assert len(found.select()) > 400
    assert [(t.outcome, t.tier, t.stood, t.stands) for t in found] == [
        (t.outcome, t.tier, t.stood, t.stands) for t in again
    ]


@needs_shared
@pytest.mark.parametrize(
    "name", ["claude-code--entireio-cli", "claude-code--cipher-box", "claude-code--context-evaluator"]
)
def test_at_a_recorded_compaction_the_columns_say_what_each_fact_says_alone(name: str) -> None:
    traced = 0
    for file in sorted((SHARED / "sessions" / name).rglob("*.jsonl")):
        session = open_shared(file)
        for found in trace_recorded(session):
            absent = {one.fact.number: one.fact.form for one in found.select("absent")}
            every = range(len(session.facts))
            rounds = trace_rounds(session, session.facts, lambda _, numbers=every: numbers)
            (again,) = (one for one in rounds if one.scene.entry is found.scene.entry)
            traced += len(absent)
            found_again = {one.fact.number: one.outcome for one in again if one.outcome != "absent"}
            assert {
                absent[number]: found_again[number] for number in absent.keys() & found_again.keys()
            } == {}
    assert traced > 50


@settings(max_examples=30, deadline=None)
@given(sessions())
def test_a_recorded_compaction_is_traced_the_same_way(session: Session) -> None:
    facts = find_facts(session)
    for found in trace_recorded(session, facts):
        assert all(bool(t.stands) == (t.outcome not in ("absent", "unknown")) for t in found)
        assert all(t.stood for t in found if t.outcome == "verbatim")
    for regret in find_regret(session, facts, count_tokens(session, LENGTH)):
        assert regret.traced.stood
        assert regret.tokens >= 0


def test_a_session_counted_anew_looks_for_no_fact_again() -> None:
    session = open_demo()
    facts = find_facts(session)
    plans = [
        make_plan(session, count_tokens(session, name), "flue") for name in ("chars4_utf16", "o200k_base")
    ]
    traces = [trace_facts(facts, plan) for plan in plans]
    assert find_moment(facts, plans[0]) is find_moment(facts, plans[1])
    # Another moment, and other facts, are looked for on their own.
    earlier = make_plan(session.at(session.entries[-9].id), plans[0].ledger, "flue")
    assert find_moment(facts, earlier) is not find_moment(facts, plans[0])
    assert find_moment(find_facts(session), plans[0]) is not find_moment(facts, plans[0])
    assert traces[0].stood.tolist() == traces[1].stood.tolist()


def test_a_session_s_own_facts_are_asked_about_where_none_are_given() -> None:
    (mine,) = trace_recorded(SESSION)
    assert [(one.fact.number, one.outcome) for one in mine] == [
        (one.fact.number, one.outcome) for one in RECORDED
    ]
