"""The lint of plans: a text of one's own as the summary, and a session that needs no compaction."""

from __future__ import annotations

import json

import pytest

from inspector.demo import open_demo
from inspector.errors import EditError
from inspector.facts.lint.check import lint
from inspector.facts.lint.codes import LintReport
from inspector.planning.planner import make_plan
from inspector.session.session import Session
from inspector.summaries.extractive.summariser import ExtractiveSummariser
from inspector.summaries.write import summarise
from inspector.tokens.ledger import count_tokens
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.payloads.findings import describe_losses
from tests.telling import use
from tests.test_cuts import build, say, user

DROP_OLDER = [{"kind": "keep-recent-turns", "turns": 1}, {"kind": "drop-older"}]
KEEP_LAST = [{"kind": "keep-recent-turns", "turns": 1}, {"kind": "summarise-older"}]


@pytest.mark.parametrize(("window", "why"), [(200_000, "Does not fire"), (None, "--window")])
def test_a_session_that_needs_no_compaction_is_no_error(window: int | None, why: str) -> None:
    report = lint(build(user("hello"), say()), "flue", window=window)
    assert (list(report), report.ok, report.exit_code) == ([], True, 0)
    assert report.notes[0].startswith("nothing was checked: flue has nothing to compact.")
    assert why in report.summary


def talk_of_a_fix() -> Session:
    """A short talk about one file, of which 12 tests pass."""
    edit = use(1, "Edit", file_path="src/a.py", old_string="x", new_string="y")
    return build(user("Fix src/a.py."), *edit, say("12 tests pass."), user("Go on."), say("Done."), user("?"))


def test_CI008_a_text_of_ones_own_is_checked_as_a_recorded_summary_is() -> None:
    session = talk_of_a_fix()
    plan = make_plan(session, {"name": "mine", "rules": KEEP_LAST}, reason="manual")
    invented = plan.with_summary("Fixed src/currency.py; 250 tests pass.")
    assert {f.sentence.split(";")[0] for f in lint(session, invented, "CI008")} == {
        "Line 1 names the path src/currency.py",
        "Line 1 names the number 250",
    }
    assert not lint(session, plan.with_summary("Fixed src/a.py; 12 tests pass."), "CI008")
    # Neither the placeholder nor quotations of the session invent anything.
    quoted = summarise(plan, ExtractiveSummariser(count_tokens(session), tokens=200))
    assert not lint(session, plan, "CI008")
    assert not lint(session, plan.with_summary(quoted), "CI008")


def test_a_report_gives_its_exit_code_and_sarif() -> None:
    report = lint(talk_of_a_fix(), {"name": "mine", "rules": DROP_OLDER})
    assert report.exit_code == 1 and not report.ok
    results = json.loads(report.to_sarif("runs/a.jsonl"))["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == [finding.code for finding in report]
    assert "runs/a.jsonl" in str(results[0])
    known = report.mark_known({finding.fingerprint for finding in report})
    assert (known.exit_code, len(known)) == (0, len(report))
    with pytest.raises(EditError, match="no session"):
        LintReport((), "nothing").to_sarif()


def test_a_report_says_what_an_unwritten_summary_has_to_name() -> None:
    """The placeholder quotes the session, which proves nothing of the summary that a model writes."""
    session = open_demo()
    moment = session.at(session[session.compactions[0].entry].parent or "")
    plan = make_plan(moment, policy="flue", reason="manual")
    report = lint(session, plan)
    assert plan.is_unwritten and report.unwritten > 0 and report.ok
    assert f"{report.unwritten} facts would be missing unless it names them" in report.summary
    assert lint(session, plan.with_summary("Nothing.")).unwritten == 0
    kept = next(each for each in plan.trace.select("quoted") if each.stands[0].entry == "@summary")
    assert "The summary of this plan says it" not in kept.why() and "The placeholder" in kept.why()
    model = WorkbenchModel(session)
    model.answer({"policy": "flue", "at": moment.leaf, "look": "plan"})
    shown = describe_losses(model, {"place": model.plan.place})
    assert f"{lint(session, model.plan).unwritten} facts" in shown.sentence
