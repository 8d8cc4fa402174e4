"""What the documentation adds to Sphinx: figures, pictures for both themes, files that are there."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from inspector.formats.readers import READERS
from tests.test_floors import ROOT

pytest.importorskip("sphinx", reason="the documentation's tools are not installed")


@pytest.fixture(scope="module")
def conf() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "notebooks" / "conf.py"))


def test_the_table_of_formats_describes_each_file_and_no_shared_code(tmp_path: Path) -> None:
    runpy.run_path(str(ROOT / "notebooks" / "reference.py"))["write_reference"](tmp_path)
    rows = [row.split(" | ") for row in (tmp_path / "formats.md").read_text("utf-8").splitlines()]
    content = {row[0].strip("| `"): row[2] for row in rows if row[0].startswith("| `") and len(row) == 4}
    assert content["codex"].startswith("Rollouts of OpenAI Codex")
    assert content["flue"].startswith("Flue's persisted sessions")
    assert len(content) == len(READERS)
    # Only two harnesses with one reader, and the exports of two services, have the same words.
    assert len(set(content.values())) >= len(content) - 3


def test_every_stored_figure_is_drawn_on_its_page(conf: dict[str, Any]) -> None:
    figures = 0
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        source = [path.read_text("utf-8")]
        stored = source[0].count('"application/vnd.plotly.v1+json"')
        conf["draw_figures"](None, path.stem, source)
        drawn = [
            output["data"]["text/html"]
            for cell in json.loads(source[0])["cells"]
            for output in cell.get("outputs", ())
            if "plotly-figure" in str(output.get("data", {}).get("text/html"))
        ]
        assert len(drawn) == stored
        assert all(html.count("Plotly.newPlot(") == 1 and html.count("</") == 2 for html in drawn)
        figures += stored
    assert figures >= 4


def test_a_text_in_a_figure_ends_no_script(conf: dict[str, Any]) -> None:
    figure = {"data": [{"name": "</script><b>"}, {"name": "<!--<script"}], "layout": {}}
    output = {"data": {"application/vnd.plotly.v1+json": figure}}
    source = [json.dumps({"cells": [{"outputs": [output]}]})]
    conf["draw_figures"](None, "one", source)
    html = json.loads(source[0])["cells"][0]["outputs"][0]["data"]["text/html"]
    assert "</script><b>" not in html and html.endswith("</script>") and html.count("</script>") == 1
    assert "<!--" not in html and html.count("<script") == 1
