"""The documentation site: `make docs`. Notebooks are shown as stored; nothing is run, nothing is fetched."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import plotly
from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from reference import write_reference  # noqa: E402

import inspector  # noqa: E402
from inspector.workbench.lessons.commands import write_course  # noqa: E402

write_reference(HERE / "reference")

project = "compaction-inspector"
author = project_copyright = "the compaction-inspector authors"
version = release = inspector.__version__

extensions = ["myst_nb"]
exclude_patterns = ["images", "course", "**.ipynb_checkpoints"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "off"
nb_merge_streams = True
suppress_warnings = ["mystnb.unknown_mime_type"]  # the widget's own; its picture is shown in its place

PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"  # on pages with a figure alone
html_static_path = ["site", str(PLOTLY)]
html_css_files = ["site.css"]
html_theme = "pydata_sphinx_theme"
html_title = "compaction-inspector"
html_context = {"default_mode": "auto"}  # without it the theme logs an error on every page
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "show_toc_level": 2,
    "logo": {"text": "compaction-inspector"},
}


FIGURE = "application/vnd.plotly.v1+json"


def draw_figures(app: Any, docname: str, source: list[str]) -> None:
    """A notebook's plotly figures are drawn in the page, as the notebook holds them."""
    if FIGURE not in source[0]:
        return
    notebook = json.loads(source[0])
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    for number, bundle in enumerate(output["data"] for output in outputs if FIGURE in output.get("data", {})):
        figure = bundle.pop(FIGURE)
        parts = [
            f"figure-{number}",
            figure["data"],
            figure["layout"],
            {"displaylogo": False, "responsive": True},
        ]
        values = ", ".join(json.dumps(part).replace("<", "\\u003c") for part in parts)
        bundle["text/html"] = (
            f'<div id="figure-{number}" class="plotly-figure"></div><script>'
            f'window.addEventListener("load", () => Plotly.newPlot({values}))</script>'
        )
    source[0] = json.dumps(notebook)


def add_plotly(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    if 'class="plotly-figure"' in context.get("body", ""):
        app.add_js_file(PLOTLY.name)


class Pictures(SphinxTransform):
    """A `<picture>` with a dark source, as the pages hold for GitHub, becomes two images of the site.

    The site has a switch of its own for light and dark, and copies only the files of images it knows.
    """

    default_priority = 100
    _SOURCE = re.compile(r'srcset="([^"]+)"')
    _IMAGE = re.compile(r'<img[^>]* alt="([^"]*)"[^>]* src="([^"]+)"')

    def apply(self, **kwargs: Any) -> None:
        for raw in list(self.document.findall(nodes.raw)):
            dark, light = self._SOURCE.search(raw.astext()), self._IMAGE.search(raw.astext())
            if raw.astext().lstrip().startswith("<picture>") and dark and light:
                about = unescape(light[1])
                images = [
                    nodes.image(uri=light[2], alt=about, classes=["only-light"]),
                    nodes.image(uri=dark[1], alt=about, classes=["only-dark"]),
                ]
                raw.replace_self(nodes.paragraph("", "", *images))


def missing_files(site: Path) -> Iterator[str]:
    """Every file of the site that a page shows or leads to and that is not there."""
    for page in site.rglob("*.html"):
        if "_static" in page.parts or page.name == "demo.html":
            continue
        for name in re.findall(r' (?:src|href|srcset)="([^"#?:]+)(?:[#?][^"]*)?"', page.read_text("utf-8")):
            if not (page.parent / unquote(name)).exists():
                yield f"{page.relative_to(site)}: {name}"


def check_files(app: Any, error: Exception | None) -> None:
    """Sphinx knows its own links and images; HTML in a page is checked here."""
    if error is None and app.builder.name == "html":
        missing = sorted(set(missing_files(Path(app.outdir))))
        if missing:
            raise ExtensionError("files that pages name and that are not there: " + "; ".join(missing))


def write_demo(app: Any, error: Exception | None) -> None:
    """The demo session and the lessons as pages: they open without Python and without network."""
    if error is None and app.builder.name == "html":
        inspector.export_html(inspector.open_demo(), Path(app.outdir) / "demo.html")
        write_course(Path(app.outdir) / "course", "../demo.html")


def setup(app: Any) -> None:
    app.connect("source-read", draw_figures)
    app.connect("html-page-context", add_plotly)
    app.add_transform(Pictures)
    app.connect("build-finished", write_demo)
    app.connect("build-finished", check_files, priority=900)
