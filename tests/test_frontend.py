"""The front end draws what Python decided: it plans, counts and matches nothing, and asks only its own hosts.

`tests/frontend.mjs` reads the sources by TypeScript's own compiler, which knows a text from a list.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
Fact = dict[str, Any]

# The parts from the bottom up, and what each may import. A panel imports no other panel; nobody imports
# an entry (widget, lab, page).
IMPORTS: dict[str, set[str]] = {
    "payloads": set(),
    "model": {"payloads"},
    "hosts": {"payloads"},
    "ui": {"payloads", "model"},
    "store": {"payloads", "model", "ui"},
    "panels": {"payloads", "model", "ui", "store"},
    "layout": {"payloads", "model", "ui", "store", "panels"},
    "lab": {"hosts", "ui", "layout"},
    "page": {"payloads", "model", "hosts", "layout"},
    "course": {"payloads", "model", "ui"},
    "widget.ts": {"payloads", "layout"},
}
# What runs without a page.
BARE = {"payloads", "model"}
# Names of a page's world that what runs without a page may use: every JavaScript runtime has them.
ANYWHERE = {"AbortController", "TextDecoder", "TextEncoder", "clearTimeout", "performance", "queueMicrotask"}
ANYWHERE |= {"setTimeout", "structuredClone"}

ASKING = {"EventSource", "RTCPeerConnection", "SharedWorker", "WebSocket", "WebTransport", "Worker"}
ASKING |= {"XMLHttpRequest", "fetch", "importScripts", "open", "sendBeacon"}

# (file, what is done): why it is no search in a transcript.
SEARCHES: dict[tuple[str, str], str] = {
    ("model/format.ts", ".replace()"): "puts digits of a number in groups",
    ("model/format.ts", ".split()"): "where a path may go on in a new line",
    ("model/format.ts", "/(?<=\\/)/"): "where a path may go on in a new line",
    ("model/format.ts", "/\\.0+$/"): "takes the zeros off a number",
    ("model/format.ts", "/\\B(?=(\\d{3})+(?!\\d))/g"): "puts digits of a number in groups",
    (
        "model/block-refs.ts",
        ".lastIndexOf()",
    ): "a block's name is its entry and its number, with a slash between",
    ("ui/lane-names.ts", ".split()"): "the first word of a lane's name",
    ("page/search.ts", r"/^(?:turn )?(\d{1,6})$/i"): "a page has no Python: a turn by its number",
    ("hosts/block-links.ts", ".replace()"): "takes the # off an address",
    ("hosts/block-links.ts", "/^#/"): "takes the # off an address",
    ("panels/search/panel.ts", ".includes()"): "finds keys by their help, which is ours",
    ("panels/totals/gauge.ts", ".includes()"): "finds the state that a threshold's mark belongs to",
    ("lab/session-list.ts", ".includes()"): "narrows the list of files, as the file browser's filter does",
    ("lab/placeholder.ts", ".split()"): "sets the reasons of a refusal, which is ours, line by line",
    ("lab/placeholder.ts", "/ — |; /"): "sets the reasons of a refusal, which is ours, line by line",
    ("lab/documents.ts", ".endsWith()"): "whether an address names this file",
    ("lab/names.ts", ".lastIndexOf()"): "a file's name without its folders",
    ("lab/names.ts", "/\\.jsonl?$/i"): "whether a file may be a session, by its name alone",
    ("lab/notebook.ts", ".endsWith()"): "whether a file is a notebook, by its name alone",
    ("page/answers.ts", ".startsWith()"): "the kind of a question in the key of its recorded answer",
    ("page/answers.ts", ".endsWith()"): "the number of a fact in the key of its recorded answer",
    ("panels/summary/sides.tsx", ".split()"): "the height of a field, by the lines of its text",
    ("page/data.ts", ".split()"): "a preview, by its length, from the text that it begins",
    ("page/data.ts", "/[ \\t\\n\\r\\f\\v]+/"): "a preview, by its length, from the text that it begins",
    ("page/data.ts", ".replace()"): "puts the cut's name where Python left its place in the recipe",
    ("panels/block-details/details.ts", ".replace()"): "our own label of who decided",
    ("panels/block-details/details.ts", "/^by /"): "our own label of who decided",
    ("course/chart.tsx", ".replace()"): "makes a class name of a section's name",
    ("course/chart.tsx", ".includes()"): "fates are one letter each",
    ("course/controls.tsx", ".includes()"): "narrows the list of a question's answers, which are ours",
    ("course/controls.tsx", ".indexOf()"): "marks the words that narrow the list of answers",
    ("ui/dom.ts", ".replace()"): "makes a class name of a section's name",
    ("ui/dom.ts", "/[^a-z_]/g"): "makes a class name of a section's name",
    ("model/block-titles.ts", ".startsWith()"): "our own label of an unknown rule",
    ("layout/help-dialog.ts", ".split()"): "our own table of keys",
    ("layout/key-listener.ts", "/Enter|Arrow/"): "the name of a key",
    ("layout/key-listener.ts", "/^([acvxyz]|Arrow.*|Home|End|Enter|Backspace|Delete)$/"): "the name of a key",
    ("layout/key-table.ts", "/^(Arrow|F6)/"): "the name of a key",
    ("page/answers.ts", ".includes()"): "a look is a word of ours",
    ("page/search.ts", ".search()"): "a page has no Python, and searches the texts that are in it",
    (
        "page/search.ts",
        'new RegExp(words.replace(SYNTAX, "\\\\$&"), "giu")',
    ): "a page has no Python, and searches the texts that are in it",
    ("page/search.ts", ".matchAll()"): "a page has no Python, and searches the texts that are in it",
    ("page/search.ts", ".replace()"): "sets what is searched for as it is, and a preview in one line",
    ("page/search.ts", "/[\\^$\\\\.*+?()[\\]{}|/]/g"): "sets what is searched for as it is",
    ("page/search.ts", "/[\\s\\p{C}]/gu"): "sets a preview in one line",
    ("panels/facts/findings.tsx", ".startsWith()"): "a look is a word of ours",
    (
        "panels/rules/panel.tsx",
        ".includes()",
    ): "whether a rule's sentence, which is ours, has a place for a control",
    ("panels/rules/settings.tsx", ".includes()"): "narrows the list of settings, whose words are ours",
    ("panels/rules/panel.tsx", ".split()"): "puts a rule's controls into its sentence, which is ours",
    ("panels/rules/panel.tsx", "/(\\{\\w+\\})/"): "puts a rule's controls into its sentence, which is ours",
    ("ui/stage-bar.ts", ".replace()"): "takes the dot off a sentence of ours",
    ("ui/stage-looks.ts", ".replace()"): "makes a class name of a stage's name",
    ("ui/stage-looks.ts", "/[^a-z0-9]/g"): "makes a class name of a stage's name",
    ("ui/stage-bar.ts", "/\\.$/"): "takes the dot off a sentence of ours",
    ("ui/theme.ts", "/(^|\\s)(vscode-dark|vscode-high-contrast|dark|dark-theme)(\\s|$)/"): "a theme's class",
}
# (file, name): why it asks nobody else.
ASKS: dict[tuple[str, str], str] = {
    ("lab/panel.ts", "import()"): "the extension's own chunk with the workbench",
    ("lab/sidebar.ts", "import()"): "the extension's own chunk with the list of sessions",
    ("course/module.ts", "fetch"): "the lesson of the page that embeds it",
    ("widget.ts", "import()"): "the tabs that come later, from the text that the package sent",
}


@cache
def read_sources() -> dict[str, list[Any]]:
    """What is found in js/."""
    node = shutil.which("node")
    assert node is not None and (ROOT / "js" / "node_modules" / "typescript").is_dir(), (
        "the front end's tools are not installed: run `make build`"
    )
    command = [node, str(ROOT / "tests" / "frontend.mjs"), str(ROOT / "js")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, list[Any]] = json.loads(done.stdout)
    return found


def part(file: str) -> str:
    """ "panels" for "src/panels/timeline/lanes.ts"."""
    return file.split("/")[1]


def facts(*whats: str) -> list[Fact]:
    return [fact for fact in read_sources()["facts"] if fact["what"] in whats]


def place(fact: Fact) -> tuple[str, str]:
    return fact["file"].removeprefix("src/"), fact["detail"]


def tell(found: list[Fact], reason: str) -> None:
    lines = [f"js/{fact['file']}:{fact['line']}: {fact['detail']}: {reason}" for fact in found]
    assert not lines, "\n" + "\n".join(lines)


def test_every_part_of_the_front_end_has_its_place() -> None:
    files = read_sources()["files"]
    assert {part(name) for name in files} <= IMPORTS.keys()
    assert len(files) > 40


def folder(file: str) -> str:
    """ "panels/timeline" for "src/panels/timeline/lanes.ts"."""
    return file.removeprefix("src/").rpartition("/")[0]


def test_imports_go_down_and_no_panel_imports_a_panel() -> None:
    def allowed(file: str, target: str) -> bool:
        mine, theirs = part(file), part(target)
        if mine == theirs:
            return mine != "panels" or folder(file) == folder(target)
        return theirs in IMPORTS[mine]

    wrong = [
        f"js/{found['file']} may not import {found['target']}"
        for found in read_sources()["imports"]
        if found["own"] and not allowed(found["file"], found["target"])
    ]
    assert not wrong, "\n" + "\n".join(wrong)


def test_imports_go_in_no_circle() -> None:
    graph: dict[str, set[str]] = {}
    for found in read_sources()["imports"]:
        if found["own"] and not found["types"]:
            graph.setdefault(found["file"], set()).add(found["target"])
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_payloads_and_model_know_no_page() -> None:
    used = [fact for fact in facts("page") if part(fact["file"]) in BARE and fact["detail"] not in ANYWHERE]
    tell(used, "payloads/ and model/ run without a page")


def test_nothing_is_searched_matched_or_taken_apart_in_the_browser() -> None:
    found = [fact for fact in facts("search", "pattern") if place(fact) not in SEARCHES]
    tell(found, "Python searches and matches; say in SEARCHES why this is neither")


def test_nothing_is_counted_from_the_length_of_a_text() -> None:
    tell(facts("estimate"), "tokens are counted by Python")


def test_what_python_decided_is_changed_by_nobody() -> None:
    tell(facts("decides"), "scenes, plans and runs are as Python sent them")


def test_a_text_never_becomes_markup_or_code() -> None:
    tell(facts("markup", "code"), "a transcript is text")


def test_only_hosts_ask_and_only_their_own_server() -> None:
    asks = [fact for fact in facts("page") if fact["detail"] in ASKING] + facts("asks")
    tell([fact for fact in asks if place(fact) not in ASKS], "say in ASKS whom it asks")


def test_no_allowance_is_left_over() -> None:
    searched = {place(fact) for fact in facts("search", "pattern")}
    asked = {place(fact) for fact in facts("page", "asks")}
    assert SEARCHES.keys() - searched == set()
    assert ASKS.keys() - asked == set()
