"""Files of sub-agents beside a Claude Code session's own: they stand apart in it, each reply charged once."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector import count_tokens, open_session, price_session, scan
from inspector.corpus.scanning import list_files
from inspector.files import FollowedFile, read_plans_beside, save_session
from inspector.library import sessions
from inspector.session.session import Session
from inspector.tokens.bill import BillLine
from inspector.workbench.payloads.subagents import place_sides
from tests.formats.test_claude_code import call, output, text
from tests.recount.__main__ import compare
from tests.rows import dump
from tests.shared import SHARED, needs_shared

OPUS, HAIKU = "claude-opus-4-5-20251101", "claude-haiku-4-5-20251001"
MAIN = "5e55-10n"
TASK = "Find the slow test."
FIRST, LAST = (30, 900, 7), (12, 950, 40)
"""Tokens of the sub-agent's two requests: fresh, read from the cache, replied."""


def row(uuid: str, parent: str | None, **fields: Any) -> dict[str, Any]:
    time = f"2026-01-01T00:00:{10 + sum(map(ord, uuid)) % 40}.000Z"
    told = {"uuid": uuid, "parentUuid": parent, "isSidechain": False, "sessionId": MAIN, "timestamp": time}
    return {**told, **fields}


def user(uuid: str, parent: str | None, content: Any, **fields: Any) -> dict[str, Any]:
    return row(uuid, parent, type="user", message={"role": "user", "content": content}, **fields)


def reply(
    uuid: str, parent: str | None, id: str, used: tuple[int, int, int], *blocks: Any, **fields: Any
) -> dict[str, Any]:
    calls = any(block["type"] == "tool_use" for block in blocks)
    message = {
        "id": id,
        "role": "assistant",
        "model": HAIKU if fields.get("isSidechain") else OPUS,
        "content": list(blocks),
        "stop_reason": "tool_use" if calls else "end_turn",
        "usage": usage(used),
    }
    return row(uuid, parent, type="assistant", message=message, **fields)


def usage(used: tuple[int, int, int]) -> dict[str, int]:
    names = "input_tokens", "cache_read_input_tokens", "output_tokens"
    return {**dict(zip(names, used, strict=True)), "cache_creation_input_tokens": 0}


def start() -> list[dict[str, Any]]:
    """The conversation up to the call that starts a sub-agent."""
    task = call("t1", "Task") | {"input": {"prompt": TASK}}
    return [user("u1", None, "Make the tests fast."), reply("a1", "u1", "m1", (5, 0, 20), task)]


def finish(**told: Any) -> list[dict[str, Any]]:
    """The conversation from the result of that call on."""
    result = {"status": "completed", "agentId": "ab1", "totalToolUseCount": 1, "usage": usage(LAST), **told}
    return [
        user("u2", "a1", [output("t1", "test_tides takes 9 s.")], toolUseResult=result),
        reply("a2", "u2", "m2", (9, 40, 4), text("It is test_tides.")),
    ]


def agent(id: str = "ab1", session: str = MAIN, **fields: Any) -> list[dict[str, Any]]:
    """What the sub-agent did: one call, and its answer."""
    own = {"isSidechain": True, "sessionId": session, **({"agentId": id} | fields)}
    return [
        user(f"{id}-1", None, TASK, **own),
        reply(f"{id}-2", f"{id}-1", f"{id}-m1", FIRST, call("t2", "Bash"), **own),
        user(f"{id}-3", f"{id}-2", [output("t2", "9.0s test_tides")], **own),
        reply(f"{id}-4", f"{id}-3", f"{id}-m2", LAST, text("test_tides takes 9 s."), **own),
    ]


def write(place: Path, *rows: dict[str, Any]) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(dump(*rows))
    return place


def inside(folder: Path, name: str = "ab1") -> Path:
    return folder / MAIN / "subagents" / f"agent-{name}.jsonl"


def in_workflow(folder: Path, name: str = "ab1") -> Path:
    return folder / MAIN / "subagents" / "workflows" / "wf_1" / f"agent-{name}.jsonl"


def outside(folder: Path, name: str = "ab1") -> Path:
    return folder / f"agent-{name}.jsonl"


LAYOUTS = pytest.mark.parametrize("lay", [inside, in_workflow, outside])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The session's file."""
    return write(tmp_path / f"{MAIN}.jsonl", *start(), *finish())


def bill(session: Session) -> dict[str, BillLine]:
    return {line.name: line for line in price_session(session).lines}


def check(path: Path) -> Session:
    """The session, once its figures are those of a count of all its files, and it goes through a manifest."""
    session = open_session(path)
    assert [str(figure) for figure in compare(path, session) if not figure.same] == []
    place = path.parent / "saved.json"
    save_session(session, place)
    assert open_session(place) == session
    place.unlink()
    return session


@LAYOUTS
def test_a_sub_agents_file_joins_its_session_and_its_cost_is_known(
    path: Path, tmp_path: Path, lay: Callable[[Path], Path]
) -> None:
    alone = open_session(path)
    assert [(each.id, each.silent) for each in alone.subagents] == [("ab1", True)]
    assert bill(alone)["unknown: sub-agents"].calls == 1
    write(lay(tmp_path), *agent())
    session = check(path)
    apart = [(entry.role, entry.text) for entry in session.entries if entry.sidechain is not None]
    assert apart == [("user", TASK), ("assistant", ""), ("tool", ""), ("assistant", "test_tides takes 9 s.")]
    assert {entry.sidechain for entry in session.entries} == {None, "ab1"}
    assert session.subagents == ()
    lines = bill(session)
    # 1, 0.1 and 5 dollars for a million tokens fresh, from the cache and replied.
    spent = (30 + 12) * 1 + (900 + 950) * 0.1 + (7 + 40) * 5
    assert lines["sub-agents"][1:3] == (2, sum(FIRST) + sum(LAST))
    assert lines["sub-agents"].money == pytest.approx(spent / 1e6)
    assert {name for name in lines if "unknown" in name or "last" in name} == set()
    assert lines["input"].tokens == 5 + 9
    assert "1 sub-agent is read from files next to it, as sidechains" in session.warnings


@LAYOUTS
def test_what_a_sub_agent_was_started_as_is_read_from_the_file_beside_it(
    path: Path, tmp_path: Path, lay: Callable[[Path], Path]
) -> None:
    beside = write(lay(tmp_path), *agent())
    about = {"agentType": "Explore", "description": "find slow tests", "toolUseId": "t", "spawnDepth": 1}
    place = beside.with_name("agent-ab1.meta.json")
    place.write_text(json.dumps(about), "utf-8")
    session = check(path)
    assert session.extra["agents"] == {"ab1": about}
    (lane,) = place_sides(session, count_tokens(session)).named
    assert lane.task == "Explore: find slow tests"
    place.write_text('{"agentType": ', "utf-8")
    broken = open_session(path)
    assert "agents" not in broken.extra and broken.entries == session.entries
    (lane,) = place_sides(broken, count_tokens(broken)).named
    assert lane.task == TASK


@LAYOUTS
def test_its_words_are_nobodys_prompt_and_in_no_context(
    path: Path, tmp_path: Path, lay: Callable[[Path], Path]
) -> None:
    before = open_session(path)
    write(lay(tmp_path), *agent())
    session = open_session(path)
    assert session.entries[: len(before.entries)] == before.entries and session.leaf == before.leaf
    assert list(session.path) == list(before.path) and len(session.turns) == 1
    assert session.entries[4].extra["speaker"] == "model"
    assert not any(entry.sources for entry in session.entries[4:])
    sides = place_sides(session, count_tokens(session))
    assert [side.task for side in sides.named] == [TASK]


def test_replies_told_by_the_main_file_too_count_once_and_as_the_sub_agents_file_tells_them(
    tmp_path: Path,
) -> None:
    began = {**agent()[1]}
    began["message"] = {**began["message"], "usage": usage((30, 900, 1)), "stop_reason": None}
    told = {"type": "agent_progress", "agentId": "ab1", "message": began}
    path = write(tmp_path / f"{MAIN}.jsonl", *start(), row("p1", "a1", type="progress", data=told), *finish())
    without = bill(open_session(path))
    assert without["sub-agents"].calls == without["sub-agents' last replies"].calls == 1
    write(inside(tmp_path), *agent())
    lines = bill(check(path))
    assert lines["sub-agents"][1:3] == (2, sum(FIRST) + sum(LAST))
    assert "sub-agents' last replies" not in lines


def test_what_the_session_itself_said_is_charged_there(path: Path, tmp_path: Path) -> None:
    """A sub-agent may be shown the conversation: its file begins with copies, under other names."""
    shown = [{**each, "uuid": f"c-{each['uuid']}", "isSidechain": True, "agentId": "ab1"} for each in start()]
    write(inside(tmp_path), *shown, *agent())
    lines = bill(check(path))
    assert lines["sub-agents"].calls == 2 and lines["input"].tokens == 5 + 9


def test_files_of_other_sessions_join_nothing(path: Path, tmp_path: Path) -> None:
    before = open_session(path)
    write(outside(tmp_path), *agent(session="another"))
    write(outside(tmp_path, "zz9"), *agent("zz9", session="another"))
    write(inside(tmp_path, "zz8"), *agent("zz8", session="another"))
    write(tmp_path / "another" / "subagents" / "agent-ab1.jsonl", *agent())
    assert check(path) == before
    # A beginning that names no session is read on, and what is no row at all is nobody's.
    write(outside(tmp_path, "zz7"), {"type": "mode", "mode": "x" * 9_000}, *agent("zz7", session="another"))
    outside(tmp_path, "zz6").write_bytes(b"\x00\xff" * 99)
    assert open_session(path) == before


def test_the_file_of_a_sub_agent_opens_by_itself(tmp_path: Path) -> None:
    write(tmp_path / f"{MAIN}.jsonl", *start(), *finish())
    write(outside(tmp_path, "cd2"), *agent("cd2"))
    session = check(write(outside(tmp_path), *agent()))
    assert {entry.sidechain for entry in session.entries} == {None} and len(session.entries) == 4
    assert session.extra["agent_id"] == "ab1" and bill(session)["input"].calls == 2


def test_a_broken_file_costs_a_warning_and_never_the_session(path: Path, tmp_path: Path) -> None:
    before = open_session(path)
    whole = dump(*agent())
    write(inside(tmp_path))
    for end in range(0, len(whole), 7):
        inside(tmp_path).write_bytes(whole[:end])
        session = check(path)
        assert session.entries[:4] == before.entries and session.corrupt == ()
        assert len(session.warnings) > len(before.warnings), end
    # Of one whose last rows are missing, the result tells what they took.
    for end in (2, 3):
        inside(tmp_path).write_bytes(dump(*agent()[:end]))
        assert bill(check(path))["sub-agents' last replies"].calls == 1
    # One that lost a call leaves unknown what that took, and begins where it can be read.
    inside(tmp_path).write_bytes(dump(agent()[0]) + b"{]\n" + dump(*agent()[2:]))
    assert bill(check(path))["unknown: sub-agents"].calls == 1
    inside(tmp_path).write_bytes(b"{]\n" + dump(*agent()[1:]))
    assert [entry.parent for entry in check(path).entries[4:]] == [None, "ab1/ab1-2", "ab1/ab1-3"]
    inside(tmp_path).write_bytes(b"{]\n" + dump(*agent()) + b'[1]\n{"type": "new", "uuid": "x"}\n')
    assert check(path).warnings[-2:] == (
        "2 lines in files of its sub-agents cannot be read",
        "1 row of unknown types in files of its sub-agents: passed over",
    )


def test_no_link_out_of_the_folder_is_followed(tmp_path: Path) -> None:
    path = write(tmp_path / "project" / f"{MAIN}.jsonl", *start(), *finish())
    before = open_session(path)
    secret = write(tmp_path / "elsewhere" / "agent-ab1.jsonl", *agent())
    outside(path.parent).symlink_to(secret)
    (path.parent / MAIN).mkdir()
    (path.parent / MAIN / "subagents").symlink_to(secret.parent)
    assert open_session(path) == before
    (path.parent / MAIN / "subagents").unlink()
    (path.parent / MAIN).rmdir()
    (path.parent / MAIN).symlink_to(tmp_path / "other")
    write(tmp_path / "other" / "subagents" / "agent-ab1.jsonl", *agent())
    assert open_session(path) == before


@LAYOUTS
def test_a_session_is_followed_while_its_sub_agents_work(tmp_path: Path, lay: Callable[[Path], Path]) -> None:
    path = write(tmp_path / f"{MAIN}.jsonl", *start())
    followed = FollowedFile(path)
    for end in range(1, 5):
        write(lay(tmp_path), *agent()[:end])
        assert followed.poll() == open_session(path) and followed.poll() is None
        assert len(followed.session.entries) == 2 + end
    with path.open("ab") as file:
        file.write(dump(*finish())[:-20])
    assert followed.poll() == open_session(path)
    with path.open("ab") as file:
        file.write(dump(*finish())[-20:])
    assert followed.poll() == open_session(path) and followed.session.subagents == ()
    lay(tmp_path).unlink()
    assert followed.poll() == open_session(path) and len(followed.session.entries) == 4


@LAYOUTS
def test_a_list_of_sessions_names_the_session_alone(tmp_path: Path, lay: Callable[[Path], Path]) -> None:
    project = tmp_path / ".claude" / "projects" / "p"
    path = write(project / f"{MAIN}.jsonl", *start(), *finish())
    os.utime(path, (1_000_000, 1_000_000))
    write(lay(project), *agent())
    for _ in range(2):
        listed = sessions(newest=1, home=tmp_path, index=tmp_path / "index")
        assert [one.path.name for one in listed] == [f"{MAIN}.jsonl"]
    assert listed[0].turns == 1
    money = price_session(open_session(listed[0].path)).cost
    assert money is not None and listed[0].cost == pytest.approx(money.total)
    assert [Path(name).name for name, _ in list_files(project)] == [f"{MAIN}.jsonl"]


@pytest.mark.parametrize("known", [False, True])
def test_a_scan_of_this_machine_measures_a_sub_agent_in_its_session_alone(
    known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    project = tmp_path / ".claude" / "projects" / "p"
    path = write(project / f"{MAIN}.jsonl", *start(), *finish())
    write(outside(project), *agent())
    if known:
        assert len(sessions()) == 1
    table = scan(None, ["flue"], workers=0)
    assert {row["file"] for row in table} == {str(path)}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("name", ["agent-x.jsonl", f"{MAIN}.jsonl", "agent-ab1.meta.json", "s.plan.json"])
def test_a_named_pipe_is_not_opened(name: str, tmp_path: Path) -> None:
    """Nobody writes into it: to open it would wait for ever."""
    project = tmp_path / ".claude" / "projects" / "p"
    write(outside(project), *agent())
    path = write(project / "s.jsonl", *(each | {"sessionId": "s"} for each in start()))
    os.mkfifo(project / name)
    done: list[object] = []

    def look() -> None:
        done.append(len(sessions(home=tmp_path, index=tmp_path / "index")))
        done.append(len(list_files(project)))
        done.append(read_plans_beside(str(path)))
        done.append(len(open_session(path).entries))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(120)
    # Of a folder every file is tried, and the pipe refused when its turn comes.
    assert done == [2, 3, {}, 2]


@needs_shared
def test_a_public_session_has_its_sub_agent() -> None:
    folder = SHARED / "sessions" / "inspect--inspect_scout" / "cc-subagent"
    session = open_session(folder / "agent_session.jsonl")
    apart = [entry for entry in session.entries if entry.sidechain == "atest01"]
    assert len(session.entries) == 8 and len(apart) == 4 and session.subagents == ()
    assert bill(session)["sub-agents"][1:3] == (2, 80 + 20 + 120 + 40)
