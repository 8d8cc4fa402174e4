"""ATIF's trajectories and the files they go on in, beside a count of steps that shares no code with it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.session.blocks import Reasoning
from tests.recount.__main__ import compare
from tests.shared import SHARED

CASES = Path(__file__).parents[1] / "cases" / "formats"
FIRST, SECOND = CASES / "atif.json", CASES / "atif.cont-1.json"
REAL = sorted((SHARED / "sessions").glob("atif--*/*.json"))


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
    assert first.warnings == ("it goes on in atif.cont-1.json, which is not beside it",)
    assert not first.boundaries and first.notes[-1].type == "compaction"
    second = read_session(SECOND.read_bytes())
    assert second.warnings == ("it begins in another file, which is not beside it",)
    assert [entry.usage is None for entry in second.entries if entry.role == "assistant"] == [True, False]


def test_a_file_of_another_run_beside_it_is_not_taken(tmp_path: Path) -> None:
    shutil.copy(FIRST, tmp_path / "atif.json")
    other = json.loads(SECOND.read_text("utf-8")) | {"session_id": "run-2"}
    (tmp_path / "atif.cont-1.json").write_text(json.dumps(other), "utf-8")
    assert open_session(tmp_path / "atif.json").id == "run-1"
    assert not open_session(tmp_path / "atif.json").boundaries


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


def test_a_compaction_whose_step_holds_the_summary_leaves_the_next_prompt_a_prompt() -> None:
    change = {"context_management": {"type": "compaction", "boundary": "replace"}}
    steps = [
        {"step_id": 1, "source": "user", "message": "Make hello.txt."},
        {"step_id": 2, "source": "agent", "message": "Made."},
        {
            "step_id": 3,
            "source": "system",
            "message": "The context was compacted",
            "extra": change,
            "observation": {"results": [{"content": "hello.txt is there."}]},
        },
        {"step_id": 4, "source": "user", "message": "Delete it."},
        {"step_id": 5, "source": "agent", "message": "Deleted."},
    ]
    agent = {"name": "demo", "version": "1", "model_name": "demo/one"}
    document = {"schema_version": "ATIF-v1.7", "session_id": "r", "agent": agent, "steps": steps}
    session = read_session(document)
    ((name, boundary),) = session.boundaries
    assert session[name].text == "hello.txt is there." and "unreadable" not in boundary.extra
    assert session.live_names == [name, "4", "5"] and len(session.turns) == 2
    results = steps[2]["observation"]
    results["results"] = [{"subagent_trajectory_ref": [{"trajectory_path": "x.json"}]}]  # type: ignore[index]
    assert len(read_session(document).turns) == 1


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


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_a_real_trajectory_holds_what_its_steps_hold(path: Path) -> None:
    session = open_session(path)
    chain = [path, *path.parent.glob("terminus*.json")] if path.name.startswith("terminus") else [path]
    steps = [step for file in set(chain) for step in json.loads(file.read_text("utf-8"))["steps"]]
    own = [step for step in steps if not step.get("is_copied_context")]
    told = [step["metrics"] for step in own if step.get("metrics")]
    usages = [entry.usage for entry in session.entries if entry.usage is not None]
    assert sum(usage.prompt for usage in usages) == sum(each["prompt_tokens"] for each in told)
    assert sum(usage.output for usage in usages) == sum(each["completion_tokens"] for each in told)
    marks = [step for step in steps if "context_management" in (step.get("extra") or {})]
    assert len(session.boundaries) == len(marks)
    assert (session.records, session.unknown, session.corrupt) == (len(steps), 0, ())
    assert len(session.turns) == 1


def test_a_prompt_that_is_less_than_what_the_cache_gave_did_not_hold_it() -> None:
    metrics = {"prompt_tokens": 12, "cached_tokens": 120, "completion_tokens": 9}
    steps = [
        {"step_id": 1, "source": "user", "message": "Go"},
        {"step_id": 2, "source": "agent", "message": "Gone", "metrics": metrics},
    ]
    usage = (
        read_session({"schema_version": "ATIF-v1.7", "agent": {"name": "a"}, "steps": steps}).entries[1].usage
    )
    assert usage is not None and (usage.input, usage.cache_read, usage.prompt) == (12, 120, 132)


@pytest.mark.parametrize("shows", ["step", "agent", "continuation", "nowhere"])
def test_a_writer_that_leaves_the_cache_out_of_one_prompt_leaves_it_out_of_all(
    shows: str, tmp_path: Path
) -> None:
    def trajectory(*told: tuple[int, int], **more: Any) -> dict[str, Any]:
        steps: list[dict[str, Any]] = [{"step_id": 1, "source": "user", "message": "Go"}]
        for number, (sent, cached) in enumerate(told, 2):
            metrics = {"prompt_tokens": sent, "cached_tokens": cached, "completion_tokens": 9}
            steps.append({"step_id": number, "source": "agent", "message": f"{number}", "metrics": metrics})
        document = {"schema_version": "ATIF-v1.7", "session_id": "s", "agent": {"name": "a"}}
        return {**document, "steps": steps, **more}

    odd = (12, 120)
    document = trajectory((200, 150), (300, 0), *([odd] if shows == "step" else []))
    agents = [trajectory((50, 40), *([odd] if shows == "agent" else [])), 7]
    document["subagent_trajectories"] = agents
    path = tmp_path / "run.json"
    path.write_text(json.dumps(document))
    if shows == "continuation":
        follows = trajectory(odd)
        follows["agent"]["extra"] = {"continuation_index": 1}
        (tmp_path / "run.cont-1.json").write_text(json.dumps(follows))
    session = open_session(path)
    used = [(each.usage.input, each.usage.cache_read) for each in session.entries if each.usage]
    apart = shows != "nowhere"
    assert used[:2] == [(200 if apart else 50, 150), (300, 0)]
    assert (50 if apart else 10, 40) in used
    assert [str(figure) for figure in compare(path, session) if not figure.same] == []


def test_a_trajectory_may_have_brackets_in_its_name(tmp_path: Path) -> None:
    for part, path in (("", FIRST), (".cont-1", SECOND)):
        (tmp_path / f"run[1]{part}.json").write_bytes(path.read_bytes())
    assert len(open_session(tmp_path / "run[1].json").entries) == len(open_session(FIRST).entries)
    (tmp_path / "run[1].cont-1.json").unlink()
    assert len(open_session(tmp_path / "run[1].json").entries) < len(open_session(FIRST).entries)
