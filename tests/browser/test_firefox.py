"""The workbench in Firefox: as a widget, as a document of JupyterLab, and as an exported page.

Each draws itself, its cut goes where the mouse takes it and on by a key, and nothing is complained of.
Skipped where there is no Firefox: Debian's package firefox-esr is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.bare import WidgetServer
from tests.browser.firefox import Firefox, find_firefox, start_firefox
from tests.browser.lab import Lab
from tests.browser.product import Workbench, open_demo
from tests.browser.screen import SHOTS

FOUND = find_firefox()
pytestmark = pytest.mark.skipif(FOUND is None, reason="no Firefox here: apt-get install firefox-esr")
LEFT = "\ue012"  # the arrow key, as WebDriver calls it
HANDLE = "document.querySelector('[data-testid=cut-handle]')"
PLACE = f"{HANDLE}?.getAttribute('aria-valuetext')"


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    with start_firefox(str(FOUND), tmp_path_factory.mktemp("firefox")) as firefox:
        yield firefox


def check_cut_moves(firefox: Firefox, name: str) -> tuple[str, str, str]:
    """What the cut says of itself at first, after a drag to the middle, and after an arrow."""
    first = firefox.wait_for(PLACE)
    firefox.wait_for("document.querySelector('[data-testid=cause]')?.textContent.includes('Absent.')")
    x, y, middle = firefox.run(
        f"(() => {{ const a = {HANDLE}.getBoundingClientRect();"
        " const b = document.querySelector('[data-testid=bars]').getBoundingClientRect();"
        " return [a.x + a.width / 2, a.y + a.height / 2, b.x + b.width / 2] })()"
    )
    firefox.drag(x, y, middle)
    dragged = firefox.wait_for(f"{PLACE} !== {first!r} && {PLACE}")
    firefox.run(f"{HANDLE}.focus()")
    firefox.press(LEFT)
    nudged = firefox.wait_for(f"{PLACE} !== {dragged!r} && {PLACE}")
    SHOTS.mkdir(exist_ok=True)
    firefox.screenshot(SHOTS / f"firefox-{name}.png")
    assert firefox.errors == []
    return first, dragged, nudged


def test_in_firefox_a_widget_s_cut_moves_and_python_hears_of_it(
    firefox: Firefox, widgets: WidgetServer
) -> None:
    firefox.open(widgets.base)
    firefox.run("window.bare.connected.then(() => true)")
    workbench = Workbench(open_demo(), policy="auto", height=880)
    try:
        firefox.run(f"window.bare.show({workbench.model_id!r}).then(() => true)")
        before = workbench.plan.after
        _, dragged, nudged = check_cut_moves(firefox, "widget")
        firefox.run("window.bare.settle().then(() => true)")
        assert workbench.plan.after != before and "after" in nudged and dragged != nudged
        assert workbench.cut in workbench.plan.cuts.ids
    finally:
        workbench.close()
    assert widgets.complaints == []


def test_in_firefox_a_session_opens_as_a_document_of_jupyterlab(firefox: Firefox, lab: Lab) -> None:
    name = lab.write_session("firefox.session.jsonl")
    firefox.open(f"{lab.base}/lab?token={lab.token}&reset")
    firefox.wait_for("window.jupyterapp !== undefined && window.jupyterapp.restored.then(() => true)")
    firefox.errors.clear()  # of JupyterLab itself
    firefox.run(
        f"window.jupyterapp.commands.execute('docmanager:open', {{ path: {name!r} }}).then(() => true)"
    )
    check_cut_moves(firefox, "document")


def test_in_firefox_an_exported_page_works_from_a_disk(firefox: Firefox, exported_page: Path) -> None:
    firefox.open(exported_page.as_uri())
    check_cut_moves(firefox, "page")
