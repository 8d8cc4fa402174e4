"""The course as static pages: one for each lesson, the list of them, and one with a cut to drag.

A page holds its script, its style and its data, and asks for nothing. Its step is in its address
(`lesson-2.html#3`), and progress is kept in the browser. `lesson.js` with `lesson-2.json` is the same lesson
as an ES module, for MyST and for other pages.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import Any

from ..page.html import MARK, hash_source, read_static
from .bundled import FINAL, build_trial, list_names, open_bundled

NO_SCRIPT = "This lesson runs in the browser and needs scripts, which are off here."


def write_page(title: str, content: dict[str, Any]) -> str:
    """One page of the course. `content` holds a lesson, the titles of all or a trial, and links."""
    script, style = (
        read_static("lesson-page.js"),
        read_static("lesson.css") + "body{margin:0}#course{min-height:100vh}",
    )
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    policy = (
        f"default-src 'none'; script-src '{hash_source(script)}'; style-src '{hash_source(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        f'<meta name="generator" content="{MARK}">\n<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)} · compaction</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<main id="course"></main>\n<noscript><p>{NO_SCRIPT}</p></noscript>\n'
        f'<script type="application/json" id="data">{data}</script>\n<script>{script}</script>\n'
        "</body>\n</html>\n"
    )


def list_titles() -> list[dict[str, Any]]:
    """Data of each lesson for the list of lessons."""
    return [
        {
            **{field: lesson[field] for field in ("name", "number", "title", "goal", "version")},
            "questions": sum(step["kind"] != "reveal" for step in lesson["steps"]),
        }
        for lesson in map(open_bundled, list_names())
    ]


def name_page(name: str) -> str:
    """The file of a lesson: "lesson-2.html"."""
    return "final.html" if name == FINAL else f"lesson-{list_names().index(name) + 1}.html"


def build_pages(workbench: str = "demo.html", alone: bool = False) -> Iterator[tuple[str, str]]:
    """All files of the course by name. `workbench` is the address of the workbench on the demo session. With
    `alone` each lesson is a file that links to no other, as a learning platform stores it."""
    names = list_names()
    if not alone:
        yield "index.html", write_page("Lessons", {"titles": list_titles()})
    yield "try.html", write_page("Drag the cut", {"trial": build_trial()})
    for name, following in zip(names, [*names[1:], ""], strict=True):
        lesson = open_bundled(name)
        links = {
            "contents": "index.html",
            "next": name_page(following) if following else "index.html",
            "workbench": workbench,
        }
        if alone:
            links = dict.fromkeys(links, "")
        page = name_page(name)
        yield page, write_page(lesson["title"], {"lesson": lesson, "links": links})
        yield page.replace(".html", ".json"), json.dumps(lesson, ensure_ascii=False, separators=(",", ":"))
    for name in ("lesson.js", "lesson.css"):
        yield name, read_static(name)
