"""Why a fact is where it is: every cause on a small session, and the value that the paragraph is made of."""

from __future__ import annotations

from inspector.facts.facts import find_facts
from inspector.facts.trace import trace_recorded
from inspector.facts.traced import TracedFact
from inspector.session.session import Session
from tests.shared import SHARED, needs_shared, open_shared
from tests.telling import compact, use
from tests.test_cuts import build, say, user


def traced(session: Session, form: str, at: int = 0) -> TracedFact:
    return trace_recorded(session, find_facts(session))[at][form]


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
                    assert "does not mention this" in why
                near = found.evidence.found
                assert near is None or near.text in text or one.outcome == "verbatim"
                assert not one.named or f"{len(one.named):,} blocks" in why or len(one.named) == 1
