"""The status line and the MCP server, driven as processes; the server by the official client."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from inspector.demo import CONSTRAINT, LOST_PATH, read_demo
from inspector.hooks.tools import find_in_history, pinned, what_was_lost
from tests.hooks.harness import FakeHarness, chain, lines, recorded_summary, typed

RULE = "Never push to main without a passing CI run."
SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
needs_mcp = pytest.mark.skipif(find_spec("mcp") is None, reason="the package mcp is not installed")


def reply(tokens: int, text: str = "Done.") -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "message": {**message, "usage": {"input_tokens": tokens}}}


def said_in_rows(*texts: str) -> list[dict[str, Any]]:
    """One reply of the model, a row for each of its blocks, as Claude Code writes it."""
    return [
        {
            "type": "assistant",
            "message": {"id": "m1", "role": "assistant", "content": [{"type": "text", "text": text}]},
        }
        for text in texts
    ]


def boundary(**meta: Any) -> dict[str, Any]:
    return {"type": "system", "subtype": "compact_boundary", "compactMetadata": meta}


GROWING = [
    typed(RULE),
    *[row for size in range(1, 6) for row in (reply(10_000 * size), typed(f"go on {size}"))],
]
"""50,000 tokens after 5 turns, 10,000 more in each."""


class Line:
    def __init__(self, folder: Path, rows: list[dict[str, Any]]) -> None:
        self.harness = FakeHarness(folder, lines(rows))

    def show(
        self, *words: str, data: bytes | None = None, window: dict[str, Any] | None = None, **environment: str
    ) -> str:
        fields = {
            "session_id": "s1",
            "transcript_path": str(self.harness.file),
            "context_window": window or {},
        }
        done = subprocess.run(
            [sys.executable, "-m", "inspector.start", "status-line", *words],
            input=json.dumps(fields).encode() if data is None else data,
            capture_output=True,
            env={**self.harness.environment, **environment},
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()


def test_the_line_counts_turns_to_the_threshold_and_rules(tmp_path: Path) -> None:
    line = Line(tmp_path, GROWING)
    window = {"used_percentage": 61, "context_window_size": 140_000}
    assert line.show(window=window) == "ctx 61 % · compacts in ≈ 9 turns · 1 rule at risk\n"
    usage = {"input_tokens": 5_000, "cache_read_input_tokens": 100_000, "cache_creation_input_tokens": 5_000}
    assert "≈ 3 turns" in line.show(window={**window, "current_usage": usage})


@pytest.mark.parametrize(
    ("environment", "turns"),
    [
        ({"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "70000"}, 2),
        ({"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50"}, 2),
        ({"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "60"}, 1),
    ],
)
def test_the_environment_sets_the_threshold(tmp_path: Path, environment: dict[str, str], turns: int) -> None:
    shown = Line(tmp_path, GROWING).show(window={"context_window_size": 140_000}, **environment)
    assert f"≈ {turns} turn" in shown


def test_the_last_compaction_tells_the_threshold(tmp_path: Path) -> None:
    rows = [typed("Hello."), reply(150_000), boundary(preTokens=80_000), *GROWING]
    assert "≈ 3 turns" in Line(tmp_path, rows).show()


def test_the_users_own_line_comes_first_and_always(tmp_path: Path) -> None:
    line = Line(tmp_path, GROWING)
    own = f"{sys.executable} -c \"import sys, json; print('mine', json.load(sys.stdin)['session_id'])\""
    assert line.show("--then", own).splitlines()[0] == "mine s1"
    assert line.show("--then", "echo mine", data=b"{torn") == "mine\n"
    assert line.show("--then", "exit 3").startswith("ctx")
    assert line.show(data=b"") == line.show(data=b'{"session_id": "../x"}') == ""


# The MCP server


def ask(harness: FakeHarness, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Answers of the server, in the order of the calls; the tools' names first."""
    from mcp import Client, StdioServerParameters

    async def run() -> list[Any]:
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "inspector.start", "mcp"], env=harness.environment
        )
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in tools)
            results = [await client.call_tool(name, fields) for name, fields in calls]
            return [sorted(tool.name for tool in tools), *results]

    return asyncio.run(run())


@needs_mcp
def test_the_four_questions_are_answered(tmp_path: Path) -> None:
    harness = FakeHarness(tmp_path, read_demo())
    names, status, pinned, lost, history, refused = ask(
        harness,
        ("context_status", {}),
        ("pinned", {}),
        ("what_was_lost", {}),
        ("find_in_history", {"question": CONSTRAINT}),
        ("pinned", {"session": "../x"}),
    )
    assert names == ["context_status", "find_in_history", "pinned", "what_was_lost"]
    assert status.structured_content["tokens"] > 1000 and "ctx" in status.structured_content["line"]
    assert any(CONSTRAINT in rule for rule in pinned.structured_content["rules"])
    assert any(item["text"].endswith(LOST_PATH) for item in lost.structured_content["lost"])
    excerpt = history.structured_content["excerpts"][0]
    row = read_demo().splitlines()[excerpt["line"] - 1]
    assert CONSTRAINT.encode() in row and CONSTRAINT in excerpt["excerpt"] and excerpt["role"] == "user"
    assert refused.is_error and "Traceback" not in str(refused.content)


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> Callable[[FakeHarness], None]:
    """Let this process have the environment that a harness gives."""
    return lambda harness: monkeypatch.setattr(os, "environ", harness.environment)


def test_what_was_lost_is_the_hooks_report(tmp_path: Path, inside: Callable[[FakeHarness], None]) -> None:
    harness = FakeHarness(tmp_path, lines([typed(RULE), typed("go on")]))
    harness.send("PreCompact", trigger="auto")
    harness.send("PostCompact", trigger="auto", compact_summary="Work goes on.")
    inside(harness)
    lost = what_was_lost()["lost"]
    assert [(item["text"], item["outcome"]) for item in lost] == [(RULE, "absent")]


def test_history_is_searched_before_the_compaction_alone_and_redacted(
    tmp_path: Path, inside: Callable[[FakeHarness], None]
) -> None:
    rows = [
        typed(f"The harbour key is {SECRET} for Skarvik."),
        typed("x" * 5000 + " the lighthouse of Skarvik " + "y" * 5000),
        *said_in_rows("Let me look.", "The beacon of Langvik.", "Done."),
        boundary(trigger="auto"),
        {"type": "user", "isCompactSummary": True, "message": {"role": "user", "content": "A lighthouse."}},
        typed("Go on."),
        boundary(trigger="auto"),
        {"type": "user", "isCompactSummary": True, "message": {"role": "user", "content": "Work goes on."}},
        typed("The lighthouse is at Eldvik now."),
    ]
    harness = FakeHarness(tmp_path, lines(chain(rows)))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    inside(harness)
    answers = [find_in_history(words, 99) for words in ("Skarvik", SECRET, "Eldvik", "beacon")]
    skarvik, secret, eldvik, beacon = (answer["excerpts"] for answer in answers)
    lighthouse = find_in_history("lighthouse")["excerpts"]
    assert [item["line"] for item in lighthouse] == [2] and len(lighthouse[0]["excerpt"]) <= 502
    assert {item["line"] for item in skarvik} == {1, 2}
    assert [item["line"] for item in beacon] == [4]
    assert secret == eldvik == [] and SECRET not in str(answers)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_without_an_id_it_is_the_newest_session_of_the_folder(
    tmp_path: Path, inside: Callable[[FakeHarness], None]
) -> None:
    harness = FakeHarness(tmp_path, lines([typed(RULE)]))
    del harness.environment["CLAUDE_CODE_SESSION_ID"]
    harness.environment["CLAUDE_PROJECT_DIR"] = "/home/marit/tidepool.git"
    folder = harness.file.parent.with_name("-home-marit-tidepool-git")
    shutil.copytree(harness.file.parent, folder)
    (folder / "old.jsonl").write_bytes(lines([typed("You must always be old.")]))
    os.utime(folder / "old.jsonl", (1, 1))
    inside(harness)
    assert pinned()["rules"] == [RULE]


def test_without_the_package_the_server_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text("raise ImportError('left out')")
    done = subprocess.run(
        [sys.executable, "-m", "inspector.start", "mcp"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])},
    )
    assert done.returncode == 1 and "compaction-inspector[mcp]" in done.stderr and done.stdout == ""


def test_the_summary_of_the_demo_loses_what_the_status_line_calls_at_risk(tmp_path: Path) -> None:
    assert CONSTRAINT not in recorded_summary() and LOST_PATH not in recorded_summary()
    assert "rules at risk" in Line(tmp_path, [json.loads(row) for row in read_demo().splitlines()]).show()


def test_without_a_hook_what_was_lost_is_read_from_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = FakeHarness(tmp_path, read_demo())
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COMPACTION_INSPECTOR_STATE", str(harness.state))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    lost = what_was_lost("s1")["lost"]
    assert {"file", "rule"} <= {item["kind"] for item in lost}
    assert any(CONSTRAINT[:40] in item["text"] for item in lost)
    assert any(item["text"].endswith(LOST_PATH) for item in lost)
    before = FakeHarness(tmp_path, lines(GROWING))
    assert what_was_lost(before.session)["lost"] == []
    assert not harness.state.exists()


def test_jupyters_mcp_server_finds_the_tools() -> None:
    """As it reads them: the entry point gives a list of `module:name`, and each is a described function."""
    (found,) = entry_points(group="jupyter_server_mcp.tools", name="compaction-inspector")
    for spec in found.load()():
        module, _, name = spec.partition(":")
        tool = getattr(import_module(module), name)
        assert tool.__doc__ and set(signature(tool).parameters) >= {"session"}
