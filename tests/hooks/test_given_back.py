"""The workbench shows the words that the hook's process prints, for the same file."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session
from inspector.demo import read_demo
from inspector.workbench.controller import Controller
from tests.bench.hooks import find_compactions
from tests.hooks.harness import HOOK, FakeHarness, before_compaction, called, chain, lines, typed
from tests.hooks.test_hook import RULE, SECRET, codex, rollout
from tests.shared import needs_shared

REFUSAL = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to "
    "proceed, the user said:\nYou must never use Redis."
)
RULES = {
    "a secret": ([typed(f"Never show the token {SECRET} to anyone.")], "Never show the token"),
    "more than the cap": (
        [typed(f"You must never write number {n} {'and so on ' * 20}.") for n in range(90)],
        "older rules are not repeated",
    ),
    "the reason of a refusal": ([typed("Build the store."), *called("Bash", {}, REFUSAL)], "never use Redis"),
    "a turn that was rewound": ([typed(RULE), typed("Always answer in German.", parentUuid=None)], RULE),
    "a sub-agent's task": (
        [
            typed(RULE),
            typed("You must only read.", isSidechain=True),
            *[{**row, "isSidechain": True} for row in called("Bash", {}, REFUSAL)],
            typed("Go on.", parentUuid="u0"),
        ],
        RULE,
    ),
    "a hidden rule": ([typed(RULE), typed("<system-reminder>Never mention this.</system-reminder>")], RULE),
    "a tag": ([typed("Never <b>push</b> & never `merge` on a Friday.")], "<b>push</b> & never"),
    "a rule that was taken back": (
        [typed("Never use walrus operators."), typed(RULE), typed("forget the walrus thing")],
        RULE,
    ),
    "none": ([typed("What does src/a.py do?")], ""),
}


def shown(path: Path, **inputs: Any) -> dict[str, Any]:
    """The section of the tab, for a plan of the session at its end."""
    controller = Controller(open_session(path), lambda traits: None, "flue", counter="chars4_utf16")
    controller.start(inputs or {"at": controller.model.session.leaf})
    reply = controller.reply({"type": "summaries", "id": 1, "place": controller.model.plan.place or 0})
    controller.close()
    assert reply is not None
    return reply["givenBack"]  # type: ignore[no-any-return]


def printed(harness: FakeHarness, **fields: Any) -> str:
    harness.send("PreCompact", trigger="auto", **fields)
    done = harness.send("SessionStart", source="compact")
    return done.context if done.out else ""


@pytest.mark.parametrize(("rows", "some"), RULES.values(), ids=RULES)
def test_the_words_are_the_hooks(tmp_path: Path, rows: list[dict[str, Any]], some: str) -> None:
    harness = FakeHarness(tmp_path, lines(chain(rows)))
    words, section = printed(harness), shown(harness.file)
    assert section["text"] == words
    assert some in words and "walrus" not in words
    assert SECRET not in words and len(words.encode()) <= 3000
    assert bool(words) == bool(section["size"]) != bool(section["sentence"])


def test_with_the_pins_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    harness = FakeHarness(tmp_path, lines(chain([typed("What does src/a.py do?")])))
    pin = [*HOOK, "pin", "Deploys are frozen until Monday", "--folder", "/home/marit"]
    subprocess.run(pin, env=harness.environment, check=True, capture_output=True)
    monkeypatch.setenv("COMPACTION_INSPECTOR_STATE", str(harness.state))
    words = printed(harness)
    assert "Deploys are frozen until Monday" in words
    assert shown(harness.file)["text"] == words


def test_at_a_recorded_compaction_they_are_of_what_was_said_before_it(tmp_path: Path) -> None:
    harness = FakeHarness(tmp_path, before_compaction())
    words = printed(harness)
    harness.file.write_bytes(read_demo())
    session = open_session(harness.file)
    recorded = next(entry for entry in session.entries if entry.boundary and entry.boundary.kind == "compact")
    assert words and shown(harness.file, at=recorded.parent)["text"] == words


def test_of_codex(tmp_path: Path) -> None:
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": RULE}]}
    rows = [
        codex("session_meta", id="0199", cwd="/p", timestamp="2026-11-01T00:00:00Z"),
        codex("response_item", **message),
        codex("event_msg", type="user_message", message=RULE),
    ]
    harness = rollout(tmp_path, rows)
    words = printed(harness, turn_id="t1")
    assert RULE in words
    assert shown(harness.file)["text"] == words


def test_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    harness = FakeHarness(tmp_path, lines(chain([typed(RULE)])))
    monkeypatch.delenv("COMPACTION_INSPECTOR_STATE", raising=False)
    monkeypatch.setenv("HOME", "/proc/none")
    assert RULE in shown(harness.file)["text"]


@needs_shared
def test_at_every_compaction_that_shared_sessions_record(tmp_path: Path) -> None:
    number = 0
    for number, (name, path, before, after, _) in enumerate([*find_compactions()][::3], 1):
        folder = tmp_path / str(number)
        folder.mkdir()
        harness = rollout(folder, []) if name == "codex" else FakeHarness(folder, b"")
        harness.file.write_bytes(before)
        words = printed(harness, **({"turn_id": "t1"} if name == "codex" else {}))
        harness.file.write_bytes(after)
        session = open_session(harness.file)
        last = [e for e in session.entries if e.boundary and e.boundary.kind == "compact"][-1]
        assert shown(harness.file, at=last.parent)["text"] == words, path
    assert number > 5
