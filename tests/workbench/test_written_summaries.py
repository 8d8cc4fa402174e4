"""A plan with a written summary: every figure counts it, and taken away it leaves nothing behind."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given

from inspector import count_tokens, make_plan, open_demo
from inspector.jupyter.kept import keep_summary, read_kept
from inspector.planning.assemble import build_context
from inspector.planning.plan import Plan
from inspector.planning.plan_words import NOT_DETERMINISTIC
from inspector.planning.summary_jobs import Checkpoint
from inspector.policies.policy import Edits
from inspector.policies.registry import names_of_policies
from inspector.policies.table import FATES
from inspector.summaries.write import summarise
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.payloads.columns import unpack
from inspector.workbench.payloads.lesson import play_rules
from inspector.workbench.payloads.scene import draw_plan
from inspector.workbench.written_summaries import MOST, fill_in, keep, load_written, update_written
from tests.strategies import chars
from tests.test_laws import plans

HOSTILE = "</pre><script>alert(1)</script>\x1b[31m\u202e\ud83d\x00 [a](javascript:x) " + "long " * 2_000


def check_figures(plan: Plan) -> None:
    """All that tell what is left tell the same."""
    place = plan.place
    assert place is not None
    table = plan.cut_table
    context = build_context(plan.session, plan)
    assert context.tokens == plan.after
    assert sum(piece.tokens for piece in context.pieces if piece.summary and piece.message <= 0) == (
        plan.summary_tokens
    )
    whole = int(table.sections[place].sum()) + int(table.outside[place].sum())
    assert int(table.total[place]) == whole == plan.after
    assert int(table.summary[place]) == plan.summary_tokens
    drawn, data = draw_plan(plan)
    assert drawn.after.total == plan.after
    assert sum(drawn.after.sections) == drawn.after.total
    assert int(unpack(drawn.columns, data)["summary_tokens"][place]) == plan.summary_tokens
    steps = play_rules(plan, place).steps
    assert steps[-1].after == plan.after
    assert steps[-1].summary == plan.summary_tokens
    assert min(step.summary for step in steps) >= 0


@given(st.one_of(plans(summarising=True), plans()), chars)
def test_every_figure_counts_the_summary_that_was_written(plan: Plan, words: str) -> None:
    assume(plan.summarises)
    filled = plan.with_summary(Checkpoint(text=words, by="pasted"))
    check_figures(filled)
    assert filled.after - plan.after == filled.summary_tokens - plan.summary_tokens
    others = [place for place in range(len(plan.cuts)) if place != plan.place]
    assert filled.cut_table.total[others].tolist() == plan.cut_table.total[others].tolist()


@given(plans(summarising=True), chars)
def test_a_summary_that_is_taken_away_leaves_nothing_of_it(plan: Plan, words: str) -> None:
    assume(plan.summarises)
    filled = plan.with_summary(Checkpoint(text=words, by="pasted"))
    again = filled.with_summary(None)
    assert (again.after, again.recipe, again.left, again.fits) == (
        plan.after,
        plan.recipe,
        plan.left,
        plan.fits,
    )
    assert draw_plan(again) == draw_plan(plan)
    assert filled.with_summary(filled.checkpoint) is filled


@given(plans(summarising=True), st.data())
def test_a_summary_stands_where_the_same_is_written_up_and_nowhere_else(
    plan: Plan, data: st.DataObject
) -> None:
    assume(plan.summarises)
    written = keep((), plan, Checkpoint(text="All is well.", by="pasted"))
    legal = [point for point in plan.cuts if point.legal]
    point = data.draw(st.sampled_from(legal))
    edits = plan.edits.model_copy(update={"cut": point.entry})
    other = make_plan(plan.session, plan.ledger, plan.policy, edits, window=plan.table.given_window)
    assert (fill_in(other, written).checkpoint is not None) == (other.jobs == plan.jobs)
    assert fill_in(other, keep(written, plan, None)).checkpoint is None


@pytest.mark.parametrize("policy", ["auto", "flue"])
def test_a_pin_keeps_the_summary_that_was_written_from_more(policy: str) -> None:
    session = open_demo()
    model = WorkbenchModel(session, policy)
    model.answer({"at": session[session.boundaries[0][0]].parent, "look": "plan"})
    bare = model.plan
    model.adopt_summary(bare, Checkpoint(text="All is well.", by="pasted"))
    summarised = bare.fate == FATES.index("summarised")
    pin = str(bare.session.live_refs()[int(np.flatnonzero(summarised)[-1])])
    model.answer({"pins": [pin]})
    pinned = model.plan
    assert pinned.checkpoint is not None and pinned.checkpoint.text == "All is well."
    assert (pinned.fate == FATES.index("summarised")).sum() < summarised.sum()
    # The line of code makes the same plan again, and no name says that this is what the file records.
    names = {"session": session, "ledger": model.ledger, "make_plan": make_plan, "Edits": Edits}
    assert eval(pinned.recipe, {**names, "checkpoint": pinned.checkpoint}).after == pinned.after
    if policy == "auto":
        assert draw_plan(pinned)[0].gauge.name == "As recorded, new summary + 1 pin"
        assert model.choice is not None and "written here" in model.choice.reason
    model.adopt_summary(pinned, None)
    assert model.plan.checkpoint is None or model.plan.checkpoint.text != "All is well."


def test_S0_69_a_plan_says_that_a_model_writes_only_where_one_does() -> None:
    session = open_demo()
    bare = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    copied = bare.with_summary(summarise(bare))
    asked = bare.with_summary(Checkpoint(text="All is well.", by="claude-opus-4-5"))
    for plan, by_a_model in ((bare, True), (copied, False), (asked, True)):
        assert plan.deterministic is not by_a_model
        assert (NOT_DETERMINISTIC in plan.notes) is by_a_model


def test_a_stored_summary_takes_the_place_of_its_own_plan_s_alone() -> None:
    """Other stored summaries stay, including those that this version cannot load."""
    session = open_demo()
    ledger = count_tokens(session)
    flue, pi = (make_plan(session, ledger, policy, {"cut": "end"}) for policy in ("flue", "pi"))
    strange = {"policy": "one of tomorrow", "jobs": 7}
    text = json.dumps({"version": 1, "written": [strange]})
    for plan, words in ((flue, "one"), (pi, "two"), (flue, HOSTILE)):
        text = update_written(text, plan, Checkpoint(text=words), 10**6)
    assert json.loads(text)["written"][0] == strange
    stored = load_written(text, session)
    texts = [fill_in(plan, stored).checkpoint for plan in (flue, pi)]
    assert [checkpoint and checkpoint.text for checkpoint in texts] == [HOSTILE, "two"]
    text = update_written(text, flue, None, 10**6)
    assert fill_in(flue, load_written(text, session)).checkpoint is None
    assert fill_in(pi, load_written(text, session)).checkpoint is not None
    text = update_written(text, pi, None, 10**6)
    assert json.loads(text)["written"] == [strange]
    assert update_written("", pi, None, 10**6) == ""


def test_summaries_that_are_stored_at_once_are_all_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    session = open_demo()
    ledger = count_tokens(session)
    plans = [make_plan(session, ledger, policy, {"cut": "end"}) for policy in names_of_policies()]
    plans = [plan for plan in plans if plan.jobs][:MOST]
    path = str(tmp_path / "story.jsonl")
    with ThreadPoolExecutor(MOST) as pool:
        list(pool.map(lambda plan: keep_summary(path, plan, Checkpoint(text=plan.policy.name)), plans))
    stored = read_kept(path, session)
    assert {written.checkpoint.text for written in stored} == {plan.policy.name for plan in plans}
