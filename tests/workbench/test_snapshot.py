"""What stands in a notebook when no widget does: a picture and a table of the same figures, and no words."""

from __future__ import annotations

import re
from base64 import b64decode
from xml.etree import ElementTree as ET

import nbformat
import pytest
from hypothesis import given
from nbformat.v4 import new_code_cell, new_notebook, new_output

from inspector.demo import open_demo
from inspector.jupyter.widget import Workbench
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.palette import NEUTRALS
from inspector.workbench.payloads.scene import Payload
from inspector.workbench.snapshot import draw_still, show_still, tabulate
from tests.strategies import sessions

SVG = "{http://www.w3.org/2000/svg}"


def draw(session: Session, policy: str = "flue", **inputs: object) -> tuple[Payload, Payload]:
    model = WorkbenchModel(session, policy, ledger=count_tokens(session, "chars4_utf16"))
    told = model.answer(inputs)
    return (told["_scene"], told["_scene_data"]), (told["_plan"], told["_plan_data"])


@pytest.fixture(scope="module")
def workbench() -> Workbench:
    return Workbench(open_demo(), "flue")


def test_the_widget_shows_a_picture_where_there_are_no_widgets(workbench: Workbench) -> None:
    bundle, _ = workbench._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert bundle["text/plain"] == repr(workbench)
    hint = "<p>A picture: run this cell (⇧⏎) to move the cut.</p>"
    assert bundle["text/html"] == workbench.snapshot().html + hint
    assert hint not in workbench.snapshot().html  # which needs no cell to be run
    assert len(bundle["text/html"]) < 40_000


def test_the_same_workbench_has_the_same_picture_on_every_run(workbench: Workbench) -> None:
    assert Workbench(open_demo(), "flue").snapshot().html == workbench.snapshot().html


def test_a_picture_is_xml_whatever_a_session_calls_its_model() -> None:
    """Characters that no XML may hold would leave a reader with a broken picture."""
    session = open_demo()
    odd = session.model_copy(update={"model": "m\x00<b>&\ufffe\uffff\ud800\u202e"})
    scene, plan = draw(odd)
    scene[0]["header"]["size"] += "\ufffe <script>"
    root = ET.fromstring(draw_still(scene, plan))
    assert "<script>" in "".join(root.itertext())


def test_table_and_picture_tell_the_plans_own_figures(workbench: Workbench) -> None:
    plan = workbench.plan
    table = workbench.snapshot().html
    assert f"{plan.before:,}" in table
    assert f"{plan.after:,}" in table
    assert f"{plan.before:,}" != f"{plan.after:,}"
    sums = [re.findall(r'align="right">([\d,]+)</td>', row) for row in re.findall(r"<tr>(.*?)</tr>", table)]
    rows = [[int(cell.replace(",", "")) for cell in row] for row in sums if row]
    for side in (0, 1):
        assert sum(row[side] for row in rows[:-1]) == rows[-1][side]


def test_the_names_of_the_parts_do_not_cover_one_another() -> None:
    session = open_demo()
    model = WorkbenchModel(session, "flue")
    sent = model.answer({"at": session.entries[session.path[-1]].id})
    picture = draw_still((sent["_scene"], sent["_scene_data"]), (sent["_plan"], sent["_plan_data"]))
    names = re.findall(r'<text x="(\d+)" y="(\d+)" font-size="10" class="f-dim"[^>]*>([^<]*)', picture)
    ends: dict[str, float] = {}
    for x, y, name in names:
        assert float(x) >= ends.get(y, 0), name
        ends[y] = float(x) + 5 * len(name)  # a letter is 10 px high
    assert {"not in the file: hidden reasoning", "not in the file: attached again"} <= {n for *_, n in names}
    assert max(ends.values()) < 960


def test_no_words_of_the_transcript_are_in_the_picture(workbench: Workbench) -> None:
    data = re.findall(r"base64,([^\"]*)", workbench.snapshot().html)[0]
    told = workbench.snapshot().html + b64decode(data).decode() + workbench.snapshot().svg
    entries = workbench.session.entries
    words = {word for entry in entries[:40] for word in re.findall(r"[A-Za-z]{9,}", entry.text)}
    known = {"compaction", "summarised", "unexplained", "assistant", "reasoning"}
    assert not {word for word in words - known if word in told}
    assert str(workbench.session.title) not in told


def test_the_picture_is_an_image_of_its_own_that_asks_for_nothing(workbench: Workbench) -> None:
    svg = workbench.snapshot().svg
    root = ET.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert {node.tag.removeprefix(SVG) for node in root.iter()} <= {
        "svg", "title", "style", "defs", "pattern", "rect", "path", "circle", "text",
    }  # fmt: skip
    assert re.findall(r"(?:href|src|url)\s*[=(]\s*[\"']?(?!#)[^)#]", svg.replace("xmlns", "")) == []
    # Whatever strips styles leaves a light picture on its own ground.
    for node in root.iter(f"{SVG}text"):
        assert node.get("fill", "").startswith("#")
    assert root.findall(f"{SVG}rect")[0].get("fill") == NEUTRALS["ground"][0]


@given(sessions())
def test_any_session_has_a_picture(session: Session) -> None:
    scene, plan = draw(session, "keep-recent-turns")
    assert ET.fromstring(draw_still(scene, plan)).tag == f"{SVG}svg"
    assert ET.fromstring(tabulate(scene, plan)).tag == "table"
    assert show_still(scene, plan).startswith("<div><img ")


def notebook_with(workbench: Workbench, state: bool) -> nbformat.NotebookNode:
    """As Jupyter saves it; `state` with what a widget's state looks like in the notebook's metadata."""
    bundle, _ = workbench._repr_mimebundle_()
    cell = new_code_cell("wb", outputs=[new_output("execute_result", data=bundle, execution_count=1)])
    notebook = new_notebook(cells=[cell])
    if state:
        model = {"model_name": "AnyModel", "model_module": "anywidget", "state": {}}
        notebook.metadata.widgets = {
            "application/vnd.jupyter.widget-state+json": {
                "state": {workbench.model_id: model}, "version_major": 2, "version_minor": 0
            }
        }  # fmt: skip
    return notebook


def convert(notebook: nbformat.NotebookNode, *preprocessors: str) -> str:
    exporter = pytest.importorskip("nbconvert").HTMLExporter()
    for name in preprocessors:
        exporter.register_preprocessor(f"nbconvert.preprocessors.{name}", enabled=True)
    body, _ = exporter.from_notebook_node(notebook)
    return str(body)


def parts(html: str) -> tuple[str, str]:
    """Picture and table; nbconvert writes the attributes in an order of its own."""
    (image,) = re.findall(r'<img[^>]*src="(data:image/svg\+xml;base64,[\w+/=]*)"', html)
    table = "".join(re.findall(r"<td[^>]*>[\d,]+</td>", html))
    return image, table


def test_nbconvert_shows_the_picture_not_a_blank(workbench: Workbench) -> None:
    body = convert(notebook_with(workbench, state=False))
    assert parts(body) == parts(workbench.snapshot().html)
    assert '<script type="application/vnd.jupyter.widget-view+json">' not in body
