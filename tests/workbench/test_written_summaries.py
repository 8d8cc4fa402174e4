"""A plan with a written summary: every figure counts it, and taken away it leaves nothing behind."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import assume, given, settings

from inspector import checkpoint_from_text, count_tokens, make_plan, open_demo
from inspector.jupyter.kept_summaries import keep_summary, read_kept
from inspector.planning.assemble import build_context
from inspector.planning.plan import Plan
from inspector.planning.plan_words import NOT_DETERMINISTIC
from inspector.planning.summary_jobs import Checkpoint
from inspector.policies.registry import names_of_policies
from inspector.summaries.write import summarise
from inspector.tokens.history import trace_history
from inspector.workbench.payloads.columns import unpack
from inspector.workbench.payloads.lesson import play_rules
from inspector.workbench.payloads.provenance import BY_MODEL
from inspector.workbench.payloads.scene import draw_plan, draw_scene
from inspector.workbench.snapshot import Snapshot
from inspector.workbench.written_summaries import (
    MOST,
    WrittenSummary,
    fill_in,
    keep,
    load_written,
    update_written,
)
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


@settings(max_examples=60)
@given(st.one_of(plans(summarising=True), plans()), chars)
def test_every_figure_counts_the_summary_that_was_written(plan: Plan, words: str) -> None:
    assume(plan.summarises)
    filled = plan.with_summary(Checkpoint(text=words, by="pasted"))
    check_figures(filled)
    assert filled.after - plan.after == filled.summary_tokens - plan.summary_tokens
    others = [place for place in range(len(plan.cuts)) if place != plan.place]
    assert filled.cut_table.total[others].tolist() == plan.cut_table.total[others].tolist()


@settings(max_examples=40)
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


@settings(max_examples=40)
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


@pytest.mark.parametrize("policy", names_of_policies())
@pytest.mark.parametrize("words", ["All is well.", HOSTILE], ids=["short", "hostile"])
def test_the_demo_counts_it_under_every_policy(policy: str, words: str) -> None:
    session = open_demo()
    plan = make_plan(session, count_tokens(session), policy, {"cut": "end"})
    if not plan.summarises:
        return
    filled = plan.with_summary(checkpoint_from_text(words, plan))
    check_figures(filled)
    still = Snapshot(draw_scene(filled, trace_history(session, plan.ledger)), draw_plan(filled))
    html = str(still._repr_mimebundle_())
    assert f"{filled.after:,}" in html
    assert "<script>" not in html


def test_a_file_that_says_something_else_by_the_same_names_has_no_summary_yet() -> None:
    session = open_demo()
    plan = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    written = keep((), plan, checkpoint_from_text("All is well.", plan))
    first = next(at for at, entry in enumerate(session.entries) if entry.id == plan.jobs[0].entries[0])
    block = session.entries[first].blocks[0]
    said = session.entries[first].model_copy(
        update={"blocks": (block.model_copy(update={"text": "Something else."}),)}
    )
    entries = (*session.entries[:first], said, *session.entries[first + 1 :])
    other = session.model_copy(update={"entries": entries})
    plans = [make_plan(each, count_tokens(each), "flue", {"cut": "end"}) for each in (session, other)]
    assert plans[0].jobs == plans[1].jobs
    assert [fill_in(each, written).checkpoint is None for each in plans] == [False, True]


def test_S0_69_a_plan_says_that_a_model_writes_only_where_one_does() -> None:
    session = open_demo()
    bare = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    copied = bare.with_summary(summarise(bare))
    asked = bare.with_summary(Checkpoint(text="All is well.", by="claude-opus-4-5"))
    for plan, by_a_model in ((bare, True), (copied, False), (asked, True)):
        told = draw_plan(plan)[0]
        assert plan.deterministic is not by_a_model
        assert (BY_MODEL in told.cut.sentence) is by_a_model
        assert (NOT_DETERMINISTIC in plan.notes) is by_a_model


def test_only_the_last_summaries_are_kept() -> None:
    session = open_demo()
    ledger = count_tokens(session)
    bare = make_plan(session, ledger, "flue")
    legal = [point.entry for point in bare.cuts if point.legal][: MOST + 2]
    made = [make_plan(session, ledger, "flue", {"cut": name}) for name in legal]
    made = [plan for plan in made if plan.summarises]
    written: tuple[WrittenSummary, ...] = ()
    for plan in made:
        written = keep(written, plan, checkpoint_from_text("All is well.", plan))
    assert len(written) == min(MOST, len(made))
    assert fill_in(made[-1], written).checkpoint is not None


def test_what_is_kept_in_a_file_comes_back_for_the_same_plan_alone() -> None:
    session = open_demo()
    ledger = count_tokens(session)
    made = [make_plan(session, ledger, policy, {"cut": "end"}) for policy in names_of_policies()]
    writing = [plan for plan in made if plan.jobs]
    assert len(writing) > 10
    for plan in writing:
        checkpoint = Checkpoint(text=HOSTILE, by="pasted", model="m", truncated=True)
        kept = keep((), plan, checkpoint)
        text = update_written("", plan, checkpoint, 10**6)
        assert text.isascii()
        again = load_written(text, session)
        assert again == kept, plan.policy.name
        assert fill_in(plan, again).after == fill_in(plan, kept).after
        # A session that says anything else where the summary was written from has none.
        at = session.tree.index[plan.jobs[0].entries[0]]
        other = session.entries[at].model_copy(update={"role": "tool"})
        entries = (*session.entries[:at], other, *session.entries[at + 1 :])
        assert load_written(text, session.model_copy(update={"entries": entries})) == ()


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"version": 2, "written": []}', '{"version": 1, "written": [{}, 3, null]}', "\xff"],
)
def test_what_is_no_file_of_ours_holds_no_summary(text: str) -> None:
    assert load_written(text, open_demo()) == ()


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


def test_of_summaries_that_are_too_long_together_the_newest_stay() -> None:
    session = open_demo()
    ledger = count_tokens(session)
    plans = [make_plan(session, ledger, policy, {"cut": "end"}) for policy in ("flue", "pi", "codex")]
    text = ""
    for plan in plans:
        text = update_written(text, plan, Checkpoint(text="x" * 40_000), 120_000)
        assert len(text) <= 120_000
    stored = load_written(text, session)
    assert [fill_in(plan, stored).checkpoint is not None for plan in plans] == [False, True, True]


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
