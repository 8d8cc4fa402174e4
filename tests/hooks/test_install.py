"""Hooks in settings files of many shapes: put in once, taken out to the byte, and never both ways at once."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector import __version__
from inspector.cli import main
from tests.hooks.harness import FakeHarness, before_compaction

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "inspector" / "plugin"
EVENTS = {"PreCompact", "PostCompact", "SessionStart", "UserPromptSubmit"}
FOREIGN = {"matcher": "auto", "hooks": [{"type": "command", "command": "~/bin/save.sh hook", "timeout": 5}]}
OLD = {
    "hooks": [{"type": "command", "command": "/old/bin/compaction-inspector", "args": ["hook"], "timeout": 9}]
}


def pretty(value: Any, indent: int | str = 2) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False) + "\n"


SHAPES = {
    "empty object": "{}",
    "empty object with blanks": "{\n\n}\n",
    "one line, no newline at the end": '{"model":"opus","env":{"A":"1"}}',
    "two blanks": pretty({"model": "opus", "permissions": {"allow": ["Bash(ls:*)"]}, "größe": "ü"}),
    "tabs": pretty({"model": "opus", "hooks": {}}, "\t"),
    "four blanks, Windows line ends": pretty({"model": "opus", "z": [1, 2.50]}, 4).replace("\n", "\r\n"),
    "lists on one line": '{\n  "allow": ["a", "b"],\n  "hooks": {"Stop": []}\n}\n\n',
    "a foreign group": pretty({"hooks": {"PreCompact": [FOREIGN]}, "model": "opus"}),
    "an empty list of groups": '{"hooks": {"PreCompact": [ ]}, "a": 1e3}\n',
    "hooks first": pretty({"hooks": {"Stop": [FOREIGN], "SessionStart": [FOREIGN, FOREIGN]}, "b": None}),
    "escapes": '{"a": "\\u00e9\\ud83d\\ude00 } ] {", "hooks" : {"Stop":[]}}',
    "another plugin": pretty({"enabledPlugins": {"other@x": True, "compaction-inspector@x": False}}),
}
REFUSED = {
    "comments": '{\n  // mine\n  "model": "opus"\n}\n',
    "a trailing comma": '{"model": "opus",}\n',
    "nothing": "",
    "a byte order mark": "\ufeff{}",
    "a list": "[]",
    "hooks as a list": '{"hooks": []}',
    "groups as an object": '{"hooks": {"PreCompact": {}}}',
    "a key twice": '{"hooks": {}, "hooks": {}}',
    "no number": '{"a": NaN}',
    "the plugin": '{"enabledPlugins": {"compaction-inspector@x": true}}',
}


class Settings:
    """A home with a settings file."""

    def __init__(self, folder: Path) -> None:
        self.harness = FakeHarness(folder, before_compaction())
        self.path = folder / ".claude" / "settings.json"

    def run(self, *words: str, **environment: str) -> SimpleNamespace:
        """Run a command of `hook` in this process, with the environment of the home."""
        out, err = StringIO(), StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.setattr(os, "environ", {**self.harness.environment, **environment})
            patch.chdir(self.harness.home)
            code = main(["hook", *words])
        return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=err.getvalue())

    @property
    def hooks(self) -> dict[str, list[Any]]:
        return json.loads(self.path.read_text())["hooks"]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path)


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_installing_and_uninstalling_gives_the_same_bytes(settings: Settings, text: str) -> None:
    settings.path.write_bytes(text.encode())
    settings.path.chmod(0o640)
    assert settings.run("install").returncode == 0
    installed = settings.path.read_bytes()
    now, before = json.loads(installed), json.loads(text)
    for event, groups in before.get("hooks", {}).items():
        assert now["hooks"][event][: len(groups)] == groups
    ours = {event: groups[-1]["hooks"][0] for event, groups in now.pop("hooks").items() if event in EVENTS}
    assert ours.keys() == EVENTS and {tuple(hook["args"]) for hook in ours.values()} == {("hook",)}
    before.pop("hooks", None)
    assert now == before and list(now) == list(before)
    assert settings.run("install").returncode == 0
    assert settings.path.read_bytes() == installed
    assert stat.S_IMODE(settings.path.stat().st_mode) == 0o640
    assert settings.run("uninstall").returncode == 0
    assert settings.path.read_bytes() == text.encode()
    assert not list((settings.harness.state / "installs").iterdir())


def test_every_line_of_the_user_stays_as_it_is(settings: Settings) -> None:
    text = SHAPES["lists on one line"]
    settings.path.write_text(text)
    settings.run("install")
    written = settings.path.read_text()
    assert '  "allow": ["a", "b"],\n  "hooks": {"Stop": []' in written and written.endswith("}\n\n")


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_what_is_not_understood_is_not_touched(settings: Settings, text: str) -> None:
    settings.path.write_bytes(text.encode())
    done = settings.run("install")
    assert done.returncode == 1 and '"PreCompact"' in done.stderr and "Nothing was changed" in done.stderr
    assert settings.path.read_bytes() == text.encode()


def test_no_file_is_made_and_taken_away(settings: Settings) -> None:
    assert settings.run("install", "--dry-run").stdout.count("compaction-inspector") >= 4
    assert not settings.path.exists()
    settings.run("install")
    assert settings.hooks.keys() == EVENTS
    assert "-" in settings.run("uninstall", "--dry-run").stdout and settings.path.exists()
    settings.run("uninstall")
    assert not settings.path.exists()


def test_a_link_stays_a_link(settings: Settings) -> None:
    target = settings.harness.home / "dotfiles.json"
    target.write_text("{}")
    settings.path.symlink_to(target)
    settings.run("install")
    assert settings.path.is_symlink() and settings.hooks.keys() == EVENTS
    settings.run("uninstall")
    assert settings.path.is_symlink() and target.read_text() == "{}"


def test_a_read_only_file_is_not_touched(settings: Settings) -> None:
    settings.path.write_text("{}")
    settings.path.chmod(0o444)
    assert settings.run("install").returncode == 1 and settings.path.read_text() == "{}"


def test_hooks_of_an_older_path_are_replaced(settings: Settings) -> None:
    settings.path.write_text(
        pretty({"hooks": {"PreCompact": [FOREIGN, OLD], "Stop": [OLD]}, "model": "opus"})
    )
    settings.run("install")
    assert "/old/bin" not in settings.path.read_text() and settings.hooks["PreCompact"][0] == FOREIGN
    settings.run("uninstall")
    assert "compaction-inspector" not in settings.path.read_text()
    assert settings.hooks["PreCompact"] == [FOREIGN]


def test_what_was_changed_after_the_installation_stays(settings: Settings) -> None:
    settings.path.write_text(pretty({"model": "opus"}))
    settings.run("install")
    now = json.loads(settings.path.read_text())
    now["hooks"]["PreCompact"].insert(0, FOREIGN)
    settings.path.write_text(pretty({**now, "model": "haiku"}))
    settings.run("uninstall")
    assert settings.path.read_text() == pretty({"model": "haiku", "hooks": {"PreCompact": [FOREIGN]}})


@pytest.mark.parametrize("scope", ["project", "local"])
def test_a_plugin_enabled_in_another_scope_is_seen(settings: Settings, scope: str) -> None:
    settings.path.write_text(REFUSED["the plugin"])
    done = settings.run("install", "--scope", scope)
    name = "settings.json" if scope == "project" else "settings.local.json"
    assert done.returncode == 1 or settings.path == settings.harness.home / ".claude" / name
    assert "compaction-inspector@x is enabled" in done.stderr


def test_an_old_claude_gets_no_event_that_it_does_not_know(settings: Settings) -> None:
    program = settings.harness.home / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho '2.1.40 (Claude Code)'\n")
    program.chmod(0o755)
    settings.run("install", PATH=f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    assert settings.hooks.keys() == EVENTS - {"PostCompact"}


def test_codex_has_its_own_file_and_one_text(settings: Settings) -> None:
    path = settings.harness.home / ".codex" / "hooks.json"
    settings.run("install", "--harness", "codex")
    hooks = json.loads(path.read_text())["hooks"]
    commands = {groups[0]["hooks"][0]["command"] for groups in hooks.values()}
    assert len(commands) == 1 and commands.pop().endswith("compaction-inspector hook")
    settings.run("uninstall", "--harness", "codex")
    assert not path.exists()


def test_the_installed_hook_answers(settings: Settings) -> None:
    settings.run("install")
    handler = settings.hooks["PreCompact"][0]["hooks"][0]
    done = subprocess.run(
        [handler["command"], *handler["args"]],
        input=json.dumps(settings.harness.payload("PreCompact", trigger="auto")),
        capture_output=True,
        text=True,
        env=settings.harness.environment,
    )
    assert done.returncode == 0 and "almanac" in done.stdout


# The plugin


def test_the_plugin_has_one_name_and_the_version_of_the_package() -> None:
    market = json.loads((ROOT / ".claude-plugin/marketplace.json").read_text())
    assert (ROOT / market["plugins"][0]["source"]).resolve() == PLUGIN
    for kind in ("claude", "codex"):
        plugin = json.loads((PLUGIN / f".{kind}-plugin/plugin.json").read_text())
        assert (plugin["name"], plugin["version"]) == (market["plugins"][0]["name"], __version__)


def test_the_plugins_hooks_run_through_its_launcher(settings: Settings) -> None:
    hooks = json.loads((PLUGIN / "hooks/hooks.json").read_text())["hooks"]
    assert hooks.keys() == EVENTS
    for groups in hooks.values():
        assert groups[0]["hooks"][0]["timeout"] <= 20  # seconds
    event = json.dumps(settings.harness.payload("PreCompact", trigger="auto"))

    def run(**environment: str) -> subprocess.CompletedProcess[str]:
        command = hooks["PreCompact"][0]["hooks"][0]["command"]
        usual = {**settings.harness.environment, "CLAUDE_PLUGIN_ROOT": str(PLUGIN), "PATH": "/usr/bin:/bin"}
        return subprocess.run(
            command, shell=True, input=event, capture_output=True, text=True, env={**usual, **environment}
        )

    script = Path(sys.executable).with_name("compaction-inspector")
    assert "almanac" in run(COMPACTION_INSPECTOR=str(script)).stdout
    missing = run()
    assert (missing.returncode, missing.stdout, missing.stderr) == (0, "", "")


OPENCODE = """
import plugin from "PLUGIN/compact-with-facts.mjs"
const messages = [
  { info: { role: "user" }, parts: [{ type: "text", text: "Never push to main." }] },
  { info: { role: "assistant" }, parts: [{ type: "tool", callID: "1", tool: "edit",
    state: { status: "completed", input: { filePath: "/p/src/a.ts" }, output: "ok" } }] },
]
const client = { session: { messages: async () => ({ data: messages }) } }
const hooks = await plugin({ client, directory: "/p" })
const output = { context: [] }
await hooks["experimental.session.compacting"]({ sessionID: "s" }, output)
console.log(JSON.stringify(output.context))
"""
PI = """
import extension from "PLUGIN/compact-with-facts.mjs"
const entries = [
  { type: "message", message: { role: "user", content: [{ type: "text", text: "Never push to main." }] } },
  { type: "message", message: { role: "assistant", content: [{ type: "toolCall", id: "1", name: "edit",
    arguments: { path: "src/a.ts" } }] } },
]
let handler
extension({ registerCommand: (name, options) => { handler = options.handler } })
const asked = []
const compact = (options) => asked.push(options)
const ctx = { cwd: "/p", sessionManager: { getBranch: () => entries }, compact }
await handler("", ctx)
console.log(JSON.stringify(asked.map((options) => options.customInstructions ?? "")))
"""


@pytest.mark.parametrize("script", [OPENCODE, PI], ids=["opencode", "pi"])
def test_the_small_plug_ins_pass_facts_on_and_fail_open(
    settings: Settings, script: str, tmp_path: Path
) -> None:
    # .mjs: node reads a .js outside of a package as CommonJS
    (tmp_path / "compact-with-facts.mjs").write_text((PLUGIN / "compact-with-facts.js").read_text())
    # Node would wait for the timer of a program that could not be started.
    (tmp_path / "run.mjs").write_text(script.replace("PLUGIN", str(tmp_path)) + "process.exit()\n")
    program = Path(sys.executable).with_name("compaction-inspector")
    texts = {}
    for command in (str(program), "/nowhere/compaction-inspector"):
        done = subprocess.run(
            ["node", str(tmp_path / "run.mjs")],
            capture_output=True,
            text=True,
            env={**settings.harness.environment, "COMPACTION_INSPECTOR": command},
        )
        assert done.returncode == 0, done.stderr
        texts[command] = "".join(json.loads(done.stdout))
    assert "Never push to main." in texts[str(program)] and "src/a.ts" in texts[str(program)]
    assert texts["/nowhere/compaction-inspector"] == ""
