"""Why a fact is where it is: every cause on a small session, and the value that the paragraph is made of."""

from __future__ import annotations

from inspector.facts.facts import find_facts
from inspector.facts.trace import trace_recorded
from inspector.facts.traced import TracedFact
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from tests.shared import SHARED, needs_shared, open_shared
from tests.test_cuts import build, say, user


def use(number: int, name: str, output: str = "ok", **given: object) -> list[Entry]:
    """A call and its answer."""
    call = ToolCall(id=f"c{number}", name=name, input=given)
    answer = ToolOutput(call_id=call.id, name=name, parts=(Text(text=output),))
    return [Entry(id="", role="assistant", blocks=(call,)), Entry(id="", role="tool", blocks=(answer,))]


def compact(summary: str) -> Entry:
    blocks = (Text(text=summary),)
    return Entry(id="", kind="compaction", blocks=blocks, boundary=Boundary(summary=summary))


def traced(session: Session, form: str, at: int = 0) -> TracedFact:
    return trace_recorded(session, find_facts(session))[at][form]


def codes(one: TracedFact) -> list[str]:
    return [cause.code for cause in one.explanation.because]


def test_a_file_that_was_only_searched_is_told_apart_from_one_that_was_changed() -> None:
    searched = use(1, "Grep", "src/old/parser.py", pattern="def", path="src/old/parser.py")
    changed = use(2, "Edit", file_path="src/new/writer.py", old_string="a", new_string="b")
    session = build(user("go"), *searched, *changed, say("done"), compact("All is done."), user("on"))
    assert codes(traced(session, "src/old/parser.py")) == [
        "summary is silent",
        "never changed",
        "no list of files",
    ]
    assert (
        "It was never changed, only read and listed (last in turn 1)."
        in traced(session, "src/old/parser.py").why()
    )
    assert codes(traced(session, "src/new/writer.py")) == ["summary is silent", "no list of files"]


def test_a_summary_that_lists_changed_files_only_is_said_to() -> None:
    names = ["alpha", "bravo", "carol", "delta"]
    changed = [
        e for n, x in enumerate(names) for e in use(n, "Edit", file_path=f"new/{x}.py", new_string="b")
    ]
    looked = [e for n, x in enumerate(names, 9) for e in use(n, "Read", file_path=f"old/{x}x.py")]
    summary = "Changed new/alpha.py, new/bravo.py, new/carol.py and new/delta.py."
    session = build(user("go"), *changed, *looked, say("done"), compact(summary), user("on"))
    why = traced(session, "old/bravox.py").why()
    assert "names 4 of the 4 files that were changed, and 0 of the 4 that were only read." in why


def test_the_subject_that_survives_is_quoted_with_what_it_is_of_the_fact() -> None:
    summary = "Tests pass. The cause was the offsets helper, which kept one value. Next: docs."
    changed = use(1, "Edit", file_path="src/cal/offsets.py", new_string="b")
    session = build(user("go"), *changed, say("done"), compact(summary), user("on"))
    found = traced(session, "src/cal/offsets.py").explanation.evidence.found
    assert found is not None and found.words == "The cause was the offsets helper, which kept one value."
    assert found.cut(found.same) == ["offsets"]
    assert (
        "The closest sentence has 1 of 3 words: “The cause was the offsets helper"
        in traced(session, "src/cal/offsets.py").why()
    )


def test_a_rule_that_was_said_twice_is_not_called_said_once() -> None:
    rule = "Never push to the main branch without asking me."
    once = build(user(rule), say("ok"), compact("Nothing yet."), user("on"))
    twice = build(user(rule), say("ok"), user(f"Again: {rule}"), say("ok"), compact("Nothing."), user("on"))
    (form,) = [fact.form for fact in find_facts(once).by_kind("constraint")]
    assert codes(traced(once, form)) == ["summary is silent", "said once"]
    again = traced(twice, form)
    assert len(again.named) == 2
    assert "said once" not in codes(again)
    assert "2 blocks say it, the last in turn 2" in again.why()


def test_what_was_gone_before_is_laid_to_the_compaction_that_took_it() -> None:
    read = use(1, "Read", file_path="src/early.py")
    session = build(
        *(user("go"), *read, say(), compact("Read src/early.py."), user("on"), say()),
        *(compact("On we go."), user("more"), say(), compact("The end."), user("last")),
    )
    first, second, third = (traced(session, "src/early.py", at) for at in range(3))
    assert [one.outcome for one in (first, second, third)] == ["quoted", "absent", "absent"]
    assert second.explanation.when == "the second recorded compaction"
    assert "The second summary does not mention this." in second.why()
    assert "the second recorded compaction left nothing of it." in third.why()
    assert third.explanation.because == ()


def test_what_a_cleared_output_said_was_taken_by_no_compaction() -> None:
    read = use(1, "Read", "the colour is teal", file_path="src/early.py")
    clear = Entry(id="", kind="micro", boundary=Boundary(kind="micro", cleared=("c1",)))
    session = build(user("go"), *read, say(), clear, user("on"), compact("On we go."), user("more"))
    why = traced(session, "the colour is teal").why()
    assert "It could not be read before this compaction: its output was cleared." in why
    assert "recorded compaction" not in why


def test_a_command_is_said_to_be_run_and_not_twice_in_one_sentence() -> None:
    session = build(
        user("go"), *use(1, "Bash", command="cd /x && make all | tail -3"), compact("Ok."), user("on")
    )
    why = traced(session, "make all").why()
    assert why.startswith("The command make all was first run by the model in turn 1 (the call Bash")


@needs_shared
def test_on_real_sessions_every_paragraph_agrees_with_its_outcome() -> None:
    """Every loss names the compaction, no paragraph quotes what is there as lost, each is one line."""
    for name in ("cc-2auto-1519l.jsonl", "cc-auto+manual-1161l.jsonl"):
        session = open_shared(SHARED / "sessions" / "claude-code--entireio-cli" / name)
        for trace in trace_recorded(session, session.facts):
            text = "\n".join(block.text for block in trace.scene.entry.blocks) if trace.scene.entry else ""
            for one in [one for one in trace if one.fact.kind in ("file", "url", "id")][::7]:
                found, why = one.explanation, one.why()
                assert "\n" not in why and found.what == one.outcome and found.word == one.tier
                if one.stood and one.outcome == "absent":
                    assert found.outcome.endswith("does not mention this.")
                    assert "does not name it" in why
                near = found.evidence.found
                assert near is None or near.text in text or one.outcome == "verbatim"
                assert not one.named or f"{len(one.named):,} blocks" in why or len(one.named) == 1
