"""Which judgements an outcome leaves to a reader, and what each of them counts."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import count_tokens, lint, make_plan, read_session
from inspector.errors import EditError
from inspector.facts.outcomes import MISSING, UNDECIDED
from inspector.facts.trace import trace_facts, trace_recorded
from inspector.session.session import Session
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.payloads.story import judge_story
from inspector.workbench.queries import answer_query, reply_to
from tests.claude_rows import Claude, dump
from tests.workbench.asking import open_model

ABSENT, PARTLY = (
    "Never push to the release branch.",
    "Always run the slow integration suite on staging first.",
)
SUMMARY = "The integration suite was mentioned, and so was staging."


def talk(summary: str = SUMMARY) -> Session:
    """Two rules before a compaction; the first is said again after it."""
    said = Claude().say(ABSENT).reply("Understood.", 5_000).say(PARTLY).reply("Yes.", 6_000)
    return read_session(dump(said.compact(summary).say(ABSENT).reply("Yes.", 2_000).rows), "talk.jsonl")


def open_story(
    session: Session, form: str, pick: str, question: str = "story", **more: str
) -> dict[str, Any]:
    """The reply to a question about a fact and what became of it, as the browser reads it."""
    model = open_model(session)
    fact = session.facts["constraint", form]
    named = {"number": fact.number, "kind": fact.kind, "form": fact.form, "place": model.plan.place or 0}
    return answer(model, {"type": question, "id": "1", **named, "pick": pick, **more})


def answer(model: WorkbenchModel, query: dict[str, Any]) -> dict[str, Any]:
    if query["type"] == "judge":
        return reply_to(query, lambda asked: {"judged": judge_story(model, asked).verdict})
    return answer_query(model, query)


def test_what_is_undecided_is_lost_or_not_and_a_claim_is_right_or_not() -> None:
    session = talk()
    trace = trace_recorded(session)[0]
    assert trace[ABSENT].outcome == "absent" and trace[PARTLY].outcome in ("partial", "unclear")
    assert open_story(session, ABSENT, "recorded:1")["verdicts"] == ["right", "not lost"]
    assert open_story(session, PARTLY, "recorded:1")["verdicts"] == ["lost", "not lost"]
    for form, verdict in ((ABSENT, "lost"), (PARTLY, "right")):
        with pytest.raises(EditError):
            trace[form].judge(verdict)  # type: ignore[arg-type]
        assert open_story(session, form, "recorded:1", "judge", verdict=verdict)["type"] == "error"
        assert open_story(session, form, "recorded:1", "judge", verdict="not lost")["judged"] == "not lost"


def test_what_is_judged_lost_is_a_finding_that_says_so_until_it_is_withdrawn() -> None:
    session = talk()
    partly = trace_recorded(session)[0][PARTLY]
    judged = session.with_judgements([partly.judge("lost")])
    assert session.compactions[0].rules == 1 and judged.compactions[0].rules == 2
    (more,) = {one.sentence for one in lint(judged)} - {one.sentence for one in lint(session)}
    assert PARTLY in more and more.endswith("You marked it lost.")
    reply = open_story(judged, PARTLY, "recorded:1")
    assert (reply["verdict"], reply["code"]) == ("lost", "CI002")
    assert judged.with_judgements([partly.judge("withdrawn")]).compactions[0].rules == 1


def test_what_cannot_be_read_is_not_written_or_was_needed_again_asks_nothing() -> None:
    session = talk()
    before = session.at(session[session.boundaries[0][0]].parent)
    plan = make_plan(before, count_tokens(before), "claude-code-analysis", {"cut": "end"})
    unread = talk("")
    planned = trace_facts(before.facts, plan, placeholder=False)
    traces = [planned[ABSENT], trace_recorded(unread)[0][ABSENT]]
    assert plan.is_unwritten and traces[0].outcome == "absent" and traces[1].outcome == "unknown"
    for traced in traces:
        with pytest.raises(EditError):
            traced.judge("not lost")
        assert traced.judge("withdrawn").verdict == "withdrawn"
    assert open_story(unread, ABSENT, "recorded:1")["verdicts"] == []
    assert open_story(session, ABSENT, "again:0")["verdicts"] == []
    assert open_story(session, ABSENT, "again:0", "judge", verdict="not lost")["type"] == "error"


def test_every_outcome_of_a_session_offers_what_its_group_says() -> None:
    groups = {"right": MISSING, "lost": UNDECIDED, "not lost": (*MISSING, *UNDECIDED)}
    for traced in trace_recorded(talk())[0].select():
        for verdict, outcomes in groups.items():
            if traced.outcome in outcomes:
                assert traced.judge(verdict).verdict == verdict  # type: ignore[arg-type]
            else:
                with pytest.raises(EditError):
                    traced.judge(verdict)  # type: ignore[arg-type]
