"""Sub-agents whose replies stand in rows of progress, and what the result of their call tells (D5)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from inspector.formats.harnesses.claude_code.read import ClaudeCodeLines
from inspector.formats.json_lines import iter_lines
from inspector.formats.readers import read_session
from inspector.session.entries import SubAgent, Usage
from inspector.session.session import Session
from tests.shared import SHARED, needs_shared, open_shared

HAIKU = "claude-haiku-4-5-20251001"


def tokens(input: int, write: int, read: int, output: int) -> dict[str, Any]:
    cached = {"cache_creation_input_tokens": write, "cache_read_input_tokens": read}
    return {"input_tokens": input, **cached, "output_tokens": output}


USED, LAST = tokens(3, 900, 50, 2), tokens(1, 20, 950, 9)


def row(uuid: str, **fields: Any) -> dict[str, Any]:
    return {"uuid": uuid, "parentUuid": None, "sessionId": "s", **fields}


def user(uuid: str, content: Any = "go", **fields: Any) -> dict[str, Any]:
    return row(uuid, type="user", message={"role": "user", "content": content}, **fields)


def reply(uuid: str, id: str, usage: Any = None, **fields: Any) -> dict[str, Any]:
    content = fields.pop("content", [{"type": "tool_use", "id": f"t-{uuid}", "name": "Read", "input": {}}])
    message = {"id": id, "role": "assistant", "model": HAIKU, "content": content, "usage": usage or USED}
    return row(uuid, type="assistant", message=message, **fields)


def progress(uuid: str, inner: Any, agent: Any = "a1", kind: str = "agent_progress") -> dict[str, Any]:
    return row(uuid, type="progress", data={"type": kind, "agentId": agent, "message": inner})


def result(uuid: str, **told: Any) -> dict[str, Any]:
    output = {"type": "tool_result", "tool_use_id": "t", "content": "done"}
    return user(uuid, [output], toolUseResult={"status": "completed", "agentId": "a1", **told})


def read(*rows: Any) -> Session:
    return read_session("".join(json.dumps(each) + "\n" for each in rows).encode(), "s.jsonl")


def test_a_reply_in_rows_of_progress_is_kept_once_with_all_its_blocks_and_no_entry() -> None:
    later = {**USED, "output_tokens": 30}
    session = read(
        user("u"),
        progress("p1", reply("r1", "m1")),
        progress("p2", user("r2")),
        progress("p3", reply("r3", "m1", later)),
        progress("p4", reply("r3", "m1")),
        progress("p5", reply("r5", "m2"), agent="a2"),
    )
    assert [entry.id for entry in session.entries] == ["u"]
    assert session.records == 6
    one, two = session.subagents
    assert (one.id, two.id) == ("a1", "a2")
    assert [entry.id for entry in one.replies] == ["r1"]
    said = one.replies[0]
    assert [block.kind for block in said.blocks] == ["tool_call", "tool_call"]
    assert (said.model, said.sidechain) == (HAIKU, "a1")
    # The most complete of the rows counts, not the last.
    assert said.usage == Usage(input=3, cache_write=900, cache_read=50, output=30)


def test_the_last_reply_is_told_by_the_result_of_the_call_alone() -> None:
    texts = [{"type": "text", "text": "All is well."}]
    session = read(
        user("u"),
        progress("p1", reply("r1", "m1")),
        result("d", totalToolUseCount=1, usage=LAST, content=texts),
    )
    (agent,) = session.subagents
    (last,) = agent.results
    assert (last.model, last.text) == (HAIKU, "All is well.")
    assert last.usage == Usage(input=1, cache_write=20, cache_read=950, output=9)
    assert not agent.silent


@pytest.mark.parametrize(
    ("told", "silent"),
    [
        ({"totalToolUseCount": 1, "usage": LAST}, False),
        ({"totalToolUseCount": 2, "usage": LAST}, True),  # a call that no row shows
        ({"totalToolUseCount": 1, "usage": USED}, False),  # the last reply is in a row
    ],
)
def test_calls_that_no_row_shows_tell_of_requests_that_are_not_in_the_file(told: Any, silent: bool) -> None:
    session = read(user("u"), progress("p1", reply("r1", "m1")), result("d", **told))
    assert [agent.silent for agent in session.subagents] == [silent]
    assert [len(agent.results) for agent in session.subagents] == [int(told["usage"] is LAST)]


def test_a_sub_agent_without_any_reply_in_the_file_is_silent() -> None:
    done = result("d", totalToolUseCount=7, totalTokens=800, usage=LAST)
    started = result("e", status="async_launched", agentId="a2")
    whole, background = read(user("u"), done, started).subagents
    assert (whole.silent, len(whole.results), whole.results[0].model) == (True, 1, None)
    assert background == SubAgent(id="a2", silent=True)


def test_sub_agents_that_are_entries_of_the_file_are_not_told_again() -> None:
    session = read(
        user("u"),
        user("s1", isSidechain=True),
        {**reply("s2", "m1"), "parentUuid": "s1", "isSidechain": True},
        progress("p1", reply("r1", "m1")),
        result("d", totalToolUseCount=1, usage=USED, agentId=None),
    )
    assert session.subagents == ()
    assert [entry.usage is not None for entry in session.entries] == [False, False, True, False]


def test_a_reply_that_a_sub_agent_is_shown_again_is_charged_once_where_it_was_said() -> None:
    side = {**reply("s1", "m1"), "isSidechain": True, "agentId": "a9"}
    for rows in ((reply("r1", "m1"), side), (side, reply("r1", "m1"))):
        session = read(user("u"), *rows)
        assert {entry.id: entry.usage is not None for entry in session.entries} == {
            "u": False,
            "r1": True,
            "s1": False,
        }


def test_in_a_file_of_a_sub_agents_own_what_it_says_last_is_its_conversation() -> None:
    one, two = ({**reply(name, "m1"), "isSidechain": True, "agentId": name} for name in ("a1", "a2"))
    session = read(user("u", isSidechain=True, agentId="a2"), one, two)
    assert {entry.id: (entry.sidechain, entry.usage is None) for entry in session.entries} == {
        "u": (None, True),
        "a1": ("a1", True),
        "a2": (None, False),
    }


def odd_rows() -> Iterator[Any]:
    for value in (None, 7, "x", [], {}):
        yield progress("p", value)
        yield progress("p", reply("r", "m"), agent=value)
        yield row("p", type="progress", data=value, note="agent_progress")
        yield progress("p", {**reply("r", "m"), "message": value})
        yield user("p", toolUseResult=value, note="async_launched")
        yield result("p", totalToolUseCount=value, usage=value, content=value)
        inner = reply("r", "m")
        yield progress("p", {**inner, "message": {**inner["message"], "usage": value, "content": value}})
    yield progress("p", reply("r", "m"), kind="hook_progress")
    yield progress("p", {**reply("r", "m"), "isApiErrorMessage": True})


def test_rows_of_another_shape_tell_of_no_reply() -> None:
    for odd in odd_rows():
        agents = read(user("u"), odd).subagents
        assert all(reply.usage is not None for agent in agents for reply in (*agent.replies, *agent.results))


def test_a_growing_file_tells_the_same_as_a_whole_one() -> None:
    rows = [user("u"), progress("p1", reply("r1", "m1")), result("d", totalToolUseCount=1, usage=LAST)]
    data = "".join(json.dumps(each) + "\n" for each in rows).encode()
    lines = ClaudeCodeLines()
    for source, line in iter_lines(data):
        lines.take(source, line)
        grown = lines.make_session().subagents
    assert grown == read(*rows).subagents


@needs_shared
@pytest.mark.parametrize(
    ("name", "agents", "replies", "results", "silent"),
    [
        ("claude-code--cipher-box/cc-2.1.49-1compact-993l.jsonl", 1, 16, 1, 0),
        ("claude-code--entireio-cli/cc-micro-only.jsonl", 6, 54, 6, 0),
        ("claude-code--entireio-cli/cc-3auto-compactions-893l.jsonl", 4, 0, 4, 4),
        ("claude-code--git-sync/cc-2.1.183-648l.jsonl", 4, 0, 0, 4),
        ("claude-code-sidechains--claude-code-viewer/cc-sidechain-438l.jsonl", 0, 0, 0, 0),
    ],
)
def test_sub_agents_of_real_sessions(name: str, agents: int, replies: int, results: int, silent: int) -> None:
    """Counted by hand from the rows: messages of progress rows, and results without one."""
    found = open_shared(SHARED / "sessions" / name).subagents
    assert len(found) == agents
    assert sum(len(each.replies) for each in found) == replies
    assert sum(len(each.results) for each in found) == results
    assert sum(each.silent for each in found) == silent
