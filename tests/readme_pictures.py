"""The pictures of the screen in the README and the guide: `make pictures`, by the Chromium that is installed.

The demo session as an exported page, 1400 by 900, light and dark, as it opens.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

from inspector import export_html, open_demo
from tests.browser.conftest import find_chromium

FOLDER = Path(__file__).parents[1] / "notebooks" / "images"
SIZE = {"width": 1400, "height": 900}


def main() -> None:
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "page.html"
        export_html(open_demo(), page)
        chromium = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            tab = chromium.new_page(viewport=SIZE, color_scheme=scheme)
            tab.goto(page.as_uri())
            tab.get_by_test_id("cause").wait_for()
            tab.wait_for_timeout(500)
            tab.screenshot(path=FOLDER / f"workbench-{scheme}.png")
            print(f"notebooks/images/workbench-{scheme}.png")
        chromium.close()


if __name__ == "__main__":
    main()
