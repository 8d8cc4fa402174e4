"""What a Binder launch opens."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest
from playwright.sync_api import Page, expect

from tests.browser.lab import READY, Lab, run_all, wait_until_restored
from tests.browser.screen import ROOT


@pytest.fixture
def page(lab_page: Page) -> Page:
    """One tab of JupyterLab for all tests here."""
    return lab_page


def test_a_binder_launch_opens_the_lessons(page: Page, lab: Lab) -> None:
    """What binder/postBuild imports, under a name of its own so that other tests start empty."""
    assert "jupyter lab workspaces import binder/workspace.json" in (ROOT / "binder/postBuild").read_text()
    (lab.notebooks / "notebooks").mkdir()
    shutil.copy(ROOT / "notebooks/00-lessons.ipynb", lab.notebooks / "notebooks")
    workspace = json.loads((ROOT / "binder/workspace.json").read_text("utf-8"))
    assert workspace["metadata"]["id"] == "default"
    kept = lab.notebooks.parent / "binder.json"
    kept.write_text(json.dumps(workspace | {"metadata": {"id": "binder"}}), "utf-8")
    folder = str(lab.notebooks.parent / "workspaces")
    subprocess.run(
        [sys.executable, "-m", "jupyterlab", "workspaces", "import", str(kept)],
        env={**os.environ, "JUPYTERLAB_WORKSPACES_DIR": folder},
        check=True,
        capture_output=True,
    )
    page.goto(f"{lab.base}/lab/workspaces/binder?token={lab.token}")
    wait_until_restored(page)
    tab = page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab.lm-mod-current")
    expect(tab).to_contain_text("00-lessons.ipynb")
    page.evaluate(READY)
    run_all(page)
    # The notebook's last cells ask for a later step, which opens once the first question is done.
    expect(page.get_by_test_id("lesson")).to_contain_text("Which kind of content holds the most tokens?")
