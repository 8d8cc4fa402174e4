"""ATIF's trajectories and the files they go on in, beside a count of steps that shares no code with it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from inspector import open_session, read_session
from inspector.session.blocks import Reasoning
from tests.rows import CASES

FIRST, SECOND = CASES / "atif.json", CASES / "atif.cont-1.json"


def test_a_trajectory_and_what_it_goes_on_in_are_one_session_by_whichever_file_it_is_opened() -> None:
    session = open_session(FIRST)
    assert open_session(SECOND) == session
    assert (session.id, session.model, session.warnings) == ("run-1", "demo/one", ())
    assert session.extra["harness"] == "terminus-2" and session.extra["version"] == "2.0.0"
    assert [block.text for block in session.system] == ["You work in a terminal."]
    assert session["3"].blocks[0] == Reasoning(text="An empty folder?")
    assert session["3/results"].blocks[0].text == "old.txt"
    assert session["4/seen"].meta
    assert len(session.turns) == 1


def test_a_compaction_is_what_the_copied_steps_say_and_what_they_repeat_was_kept() -> None:
    session = open_session(FIRST)
    ((name, boundary),) = session.boundaries
    assert (boundary.tokens_before, boundary.tokens_after, boundary.kept) == (160, 90, ("2",))
    assert session[name].text == "You take over: old.txt is gone, hello.txt is still to be made."
    assert session.live_names == [name, "2", "c1/3", "c1/4", "c1/5", "c1/5/results"]


def test_the_tokens_of_a_copied_step_are_not_counted_again() -> None:
    usages = [entry.usage for entry in open_session(FIRST).entries if entry.usage is not None]
    assert [(each.input, each.cache_read, each.output) for each in usages] == [
        (40, 60, 10),
        (40, 100, 20),
        (95, 0, 12),
    ]
    assert usages[0].cost is not None and usages[0].cost.total == 0.5


def test_a_file_alone_says_what_is_not_there(tmp_path: Path) -> None:
    shutil.copy(FIRST, tmp_path / "run.json")
    first = open_session(tmp_path / "run.json")
    assert first.warnings == ("it continues in atif.cont-1.json, which is not in the same folder",)
    assert not first.boundaries and first.notes[-1].type == "compaction"
    second = read_session(SECOND.read_bytes())
    assert second.warnings == ("it begins in another file, which is not in the same folder",)
    assert [entry.usage is None for entry in second.entries if entry.role == "assistant"] == [True, False]


def test_a_compaction_in_one_file_is_the_prompt_that_follows_it() -> None:
    document: dict[str, Any] = json.loads(FIRST.read_text("utf-8"))
    document["steps"] += [
        {"step_id": 6, "source": "user", "message": "In short: old.txt is gone."},
        {"step_id": 7, "source": "agent", "message": "Done."},
    ]
    del document["continued_trajectory_ref"]
    session = read_session(document)
    assert [session[name].text for name in session.live_names] == ["In short: old.txt is gone.", "Done."]
    document["steps"].pop(5)
    sealed = read_session(document)
    ((name, boundary),) = sealed.boundaries
    assert boundary.extra["unreadable"] is True and sealed[name].text == ""


def test_a_sub_agents_steps_stand_apart_and_an_unknown_step_is_counted() -> None:
    document: dict[str, Any] = json.loads(FIRST.read_text("utf-8"))
    own = {
        **document,
        "trajectory_id": "helper",
        "steps": [{"step_id": 1, "source": "agent", "message": "Hm."}],
    }
    document["subagent_trajectories"] = [own]
    document["steps"].append({"step_id": 6, "source": "weather", "message": "Rain."})
    session = read_session(document)
    assert [entry.text for entry in session.entries if entry.sidechain == "helper"] == ["Hm."]
    assert session.unknown == 1
    assert all(session.entries[at].sidechain is None for at in session.path)
