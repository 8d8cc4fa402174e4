"""A page shows the view that it was exported from, whatever of the session's words is not on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from inspector import checkpoint_from_text
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.page.html import make
from tests.claude_rows import Claude
from tests.exported import unpack_page
from tests.formats.test_claude_rewind import talk

SECRET = "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH"
RULE = "Please never touch data/almanac.json, it is signed, and always ask before you push."


def told_twice() -> Claude:
    """Shell commands, white space and a rewind before the last compaction: no page has their words."""
    rows = talk(3)
    rows.say("<bash-input>git pull</bash-input>").say(" \n").reply("Pulled.", 1100)
    rows.attach("15 left").rewind("from", "ask 3", "SUM").turn(4, 3000).compact("All of it.").turn(5, 1200)
    return rows


@pytest.mark.parametrize("look", ["recorded:1", "recorded:2"])
def test_the_header_and_the_timeline_of_a_page_are_those_of_the_workbench(look: str) -> None:
    session = told_twice().open()
    scene = WorkbenchModel(session, "auto").answer({})["_scene"]
    mark = next(one for one in scene["boundaries"] if one["look"] == look)
    model = WorkbenchModel(session, "auto")
    here = model.answer({"look": look, "at": mark["at"]})["_scene"]
    held, _ = unpack_page(make(model, policies=("flue",)).html)
    for part in ("header", "boundaries", "overview", "segments"):
        assert held["scene"][part] == here[part], part


def passages(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if {"text", "start", "marks"} <= value.keys():
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from passages(item)


def cut(text: str, start: int, end: int) -> str:
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


@pytest.mark.parametrize("said", ["", f"The hub's token is {SECRET}. "], ids=["nowhere else", "said before"])
def test_marked_words_are_those_that_were_meant_though_a_secret_stands_before_them(said: str) -> None:
    """The summary that somebody wrote holds the secret, alone or beside what was said."""
    rows = Claude().say(f"{said}{RULE}").reply("All right.", 4000).use("a", "word " * 500, 6000)
    session = rows.reply("Read it.", 6500).open()
    model = WorkbenchModel(session, "flue")
    model.answer({"cut": "end"})
    words = f"The user gave {SECRET} as the token. They asked to mind data/almanac.json."
    model.adopt_summary(model.plan, checkpoint_from_text(words))
    held, _ = unpack_page(make(model, policies=("flue",)).html)
    found = [one for one in passages(held["told"]) if "gave [redacted" in one["text"]]
    assert found
    for one in found:
        assert cut(one["text"], one["start"], one["end"]) == "They asked to mind data/almanac.json."
        assert "data/almanac.json" in {
            cut(one["text"], mark["start"], mark["end"]).rstrip(".") for mark in one["marks"]
        }
