"""The documentation site: `make docs`. Notebooks are shown as stored; nothing is run, nothing is fetched."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from reference import write_reference  # noqa: E402

import inspector  # noqa: E402

write_reference(HERE / "reference")

project = "compaction-inspector"
author = project_copyright = "the compaction-inspector authors"
version = release = inspector.__version__

extensions = ["myst_nb"]
exclude_patterns = ["images", "**.ipynb_checkpoints"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "off"
nb_merge_streams = True
suppress_warnings = ["mystnb.unknown_mime_type"]  # the widget's own; its picture is shown in its place

html_static_path = ["site"]
html_css_files = ["site.css"]
html_theme = "pydata_sphinx_theme"
html_title = "compaction-inspector"
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


def write_demo(app: Any, error: Exception | None) -> None:
    """The demo session as a page beside the others: it opens without Python and without network."""
    if error is None and app.builder.name == "html":
        inspector.export_html(inspector.open_demo(), Path(app.outdir) / "demo.html")


def setup(app: Any) -> None:
    app.connect("build-finished", write_demo)
