"""A page shows the view that it was exported from, whatever of the session's words is not on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector import checkpoint_from_text, export_html, open_demo, open_session
from inspector.session.session import Session
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.page.html import make
from inspector.workbench.queries import answer_query
from tests.claude_rows import Claude, dump
from tests.exported import all_texts, unpack_page
from tests.formats.test_claude_rewind import talk
from tests.shared import SHARED, needs_shared
from tests.workbench.asking import open_model

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
    held, _ = unpack_page(make(model).html)
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
    held, _ = unpack_page(make(model).html)
    found = [one for one in passages(held["told"]) if "gave [redacted" in one["text"]]
    assert found
    for one in found:
        assert cut(one["text"], one["start"], one["end"]) == "They asked to mind data/almanac.json."
        assert "data/almanac.json" in {
            cut(one["text"], mark["start"], mark["end"]).rstrip(".") for mark in one["marks"]
        }


def test_a_page_of_a_file_opens_at_the_compaction_that_did_the_most_harm(tmp_path: Path) -> None:
    """The first one lost a file that was changed; the last one, where the file ends, lost nothing."""
    rows = Claude().say("Mend the clock.")
    change = {"file_path": "/w/src/clock.py", "old_string": "a", "new_string": "b"}
    rows.use("e1", "Done.", 9_000, "Edit", change).say("And now?").reply("Good. " * 400, 9_500)
    rows.compact("Nothing else was done.").say("Go on with the bells.").reply("So I do. " * 300, 30_000)
    rows.compact("The bells are rung.").say("Thanks.").reply("Welcome.", 3_000)
    source = tmp_path / "two.jsonl"
    source.write_bytes(dump(rows.rows))
    export_html(source, tmp_path / "page.html")
    held, _ = unpack_page((tmp_path / "page.html").read_text("utf-8"))
    assert held["wanted"]["look"] == "recorded:1"
    assert any("src/clock.py" in text for text in all_texts(held["told"]["findings recorded:1"]))


REAL = [
    "claude-code--context-evaluator/cc-1compact-417l.jsonl",
    "opencode--generated/opencode-3compactions-65msgs.json",
    "atif--inspect_scout/terminus_2-context-summarization.trajectory.json",
]


WORD = "mothwing"
"""A password that nothing but its surroundings tells to be one."""


def personal() -> Session:
    """Names and secrets in paths, rules, errors and the summary: most facts read otherwise on a page."""
    rows = Claude().say(f"{RULE} The token is {SECRET}; write to ann.lee@example.org about it.")
    for number in range(3):
        path = f"/Users/annlee42/app/{number}/mod{number}.py"
        rows.use(f"r{number}", f"x = {number}\n" * 400, 9_000 * (number + 1), "Read", {"file_path": path})
        change = {"file_path": path, "old_string": "x", "new_string": f"DB_PASSWORD={WORD}"}
        rows.use(f"e{number}", f"Error: login of annlee42 refused: {SECRET}", 9_500, "Edit", change)
    rows.say(f"Never print {WORD} anywhere.").reply("I will not.", 29_000)
    rows.compact(f"Worked for annlee42 with {SECRET}. Changed /Users/annlee42/app/0/mod0.py and mod1.py.")
    rows.use("again", "x = 2\n" * 400, 6_000, "Read", {"file_path": "/Users/annlee42/app/2/mod2.py"})
    return rows.reply("Done.", 6_500).open()


def compare_answers(live: Any, held: Any, where: str) -> None:
    """Every number, verdict and sentence is the same; a text may differ if something was taken out of it."""
    if isinstance(live, dict) and isinstance(held, dict):
        assert live.keys() == held.keys(), where
        texts = [value for value in held.values() if isinstance(value, str)]
        moved = any("redacted" in text for text in texts)
        for key in live.keys() - ({"start", "end", "marks", "total"} if moved else set()):
            compare_answers(live[key], held[key], f"{where}.{key}")
    elif isinstance(live, list) and isinstance(held, list):
        # Of a long list of facts a page holds the first.
        assert len(live) == len(held) or (where.endswith(".facts") and len(live) > len(held) > 20), where
        for at, (one, other) in enumerate(zip(live, held, strict=False)):
            compare_answers(one, other, f"{where}[{at}]")
    elif not (isinstance(held, str) and "redacted" in held):
        assert live == held, where


def compare_with_live(session: Session) -> None:
    """Hold each answer of the exported opening against the workbench's own."""
    model = open_model(session, "auto")
    held = unpack_page(make(model).html)[0]["told"]
    for look in dict.fromkeys([model.inputs["look"], "plan"]):
        model.answer({"look": look})
        query = {"id": 1, "place": model.shown.place or 0, "look": look}
        for kind in ("compactions", "summaries", "losses", "context_facts", "findings"):
            live = answer_query(model, {"type": kind, **query})
            assert live.pop("type") == kind and live.pop("id") == 1
            compare_answers(live, held[f"{kind} {look}"], f"{kind} {look}")
        live = answer_query(model, {"type": "context", **query})
        page = held[f"context {look}"]
        for part in ("left", "right", "runs", "count", "changes"):
            compare_answers(live[part], page[part], f"context {look}.{part}")
        for group in answer_query(model, {"type": "findings", **query})["groups"]:
            for row in group["rows"]:
                names = ("number", "kind", "form", "pick")
                story = answer_query(model, {"type": "story", **query, **{name: row[name] for name in names}})
                assert story.pop("type") == "story" and story.pop("id") == 1
                compare_answers(story, held[f"story {row['pick']} {row['number']}"], f"story {row['title']}")


@pytest.mark.parametrize("make_session", [open_demo, lambda: told_twice().open(), personal])
def test_a_page_says_the_numbers_and_sentences_of_the_workbench(make_session: Any) -> None:
    compare_with_live(make_session())


@needs_shared
@pytest.mark.parametrize("name", REAL)
def test_the_page_of_a_real_session_says_what_the_workbench_says(name: str) -> None:
    compare_with_live(open_session(SHARED / "sessions" / name))


def test_what_only_its_surroundings_tell_to_be_a_secret_is_in_no_finding() -> None:
    """Where it stands without them a block has its own text, as before."""
    held, _ = unpack_page(make(WorkbenchModel(personal(), "auto")).html)
    names = [
        name for name in held["told"] if name.partition(" ")[0] in ("findings", "story", "context_facts")
    ]
    texts = [text for name in names for text in all_texts(held["told"][name])]
    assert any("Never print" in text for text in texts)
    assert not any(WORD in text or SECRET[:12] in text for text in texts)
