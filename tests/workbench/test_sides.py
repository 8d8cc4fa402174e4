"""The beginning of what is compacted as an input of the workbench: asked for, shown, kept and put away."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from inspector.demo import open_demo
from inspector.errors import EditError
from inspector.formats.readers import read_session
from inspector.planning.saved_plan import pack_plan
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.page.export import export_html
from inspector.workbench.payloads.columns import unpack
from inspector.workbench.saved_plans import choose_saved
from tests.claude_rows import Claude, dump
from tests.exported import read_at, unpack_page
from tests.workbench.asking import open_model


@pytest.fixture
def model() -> WorkbenchModel:
    return open_model(open_demo(), "flue")


def name_start(model: WorkbenchModel, number: int) -> str:
    """The entry at one of the places where what is compacted may begin."""
    return model.plan.cuts.ids[int(np.flatnonzero(model.plan.cuts.starts)[number])]


def test_a_beginning_alone_compacts_all_that_follows_and_the_scene_keeps_its_places(
    model: WorkbenchModel,
) -> None:
    legal, starts = model.plan.cuts.legal.tolist(), model.plan.cuts.starts.tolist()
    since = name_start(model, 30)
    answer = model.answer({"since": since})
    assert (model.plan.side, model.inputs["cut"]) == ("suffix", "")
    assert answer["_plan"]["since"] == model.plan.table.since > 0
    again = WorkbenchModel(open_demo(), "flue")
    scene = again.answer({"since": since})
    columns = unpack(scene["_scene"]["columns"], scene["_scene_data"])
    assert columns["place_legal"].tolist() == legal
    assert columns["place_starts"].tolist() == starts


def test_another_policy_or_moment_begins_at_the_beginning(model: WorkbenchModel) -> None:
    model.answer({"since": name_start(model, 10)})
    model.answer({"policy": "keep-recent-turns"})
    assert (model.inputs["since"], model.plan.side) == ("", "prefix")
    model.answer({"since": name_start(model, 10)})
    model.answer({"at": model.history.segments[-1].at})
    assert model.inputs["since"] == ""


def test_a_beginning_behind_the_cut_is_refused_and_nothing_changes(model: WorkbenchModel) -> None:
    before, plan = model.inputs, model.plan
    with pytest.raises(EditError):
        model.answer({"since": name_start(model, 20), "cut": name_start(model, 10)})
    assert (model.inputs, model.plan) == (before, plan)


def test_a_saved_plan_and_a_page_have_it_too(model: WorkbenchModel, tmp_path: Path) -> None:
    model.answer({"since": name_start(model, 10), "cut": name_start(model, 40)})
    saved = pack_plan(model.plan)
    assert choose_saved(saved, model.session, "a plan")["since"] == model.inputs["since"]
    page, _ = unpack_page(export_html(model, tmp_path / "page.html").path.read_text("utf-8"))
    drawn = page["plan"]["drawn"]
    assert read_at(drawn["since"], 0) == read_at(drawn["since"], 1) == model.plan.table.since


def test_the_notes_name_the_prompt_to_choose_in_rewind() -> None:
    rows = Claude().say("First fix the calendar.").reply("done", 1000)
    rows.say("Then write the tests.").reply("done", 1000)
    model = WorkbenchModel(read_session(dump(rows.rows)), "flue")
    model.answer({"at": "r3", "since": "r2"})
    said = [note for note in model.plan.notes if "/rewind" in note]
    assert len(said) == 1
    assert "“Then write the tests.”" in said[0]
    assert "from here" in said[0]
    model.answer({"since": "", "cut": "r2"})
    assert any("up to here" in note and "Then write" in note for note in model.plan.notes)
