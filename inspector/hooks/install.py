"""I/O: install hooks in a harness's settings and take them out again, if its plugin is not used.

The text before is kept in the state folder, so that `uninstall` gives the same bytes back.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path
from typing import Any, NamedTuple

from .conversation import as_object as _object
from .payload import CODEX, HookError
from .settings_text import NAME, add_hooks, is_own, parse_settings, remove_hooks
from .state import find_state_folder, read_object, replace_file

_EVENTS = (
    ("PreCompact", "manual|auto", 10),
    ("PostCompact", "manual|auto", 20),
    ("SessionStart", "compact", 10),
    ("UserPromptSubmit", None, 10),
)
"""Events with their matchers and the seconds that the host waits at most."""
_KNOWS_POST = (2, 1, 101)
"""Before this version of Claude Code an unknown event makes a whole settings file void."""


class SettingsChange(NamedTuple):
    """A change of a settings file: its path, and the text before and after; None for no file."""

    path: Path
    before: str | None
    after: str | None

    def diff(self) -> list[str]:
        """Return the lines of a unified diff; none if nothing changes."""
        before, after = ((text or "").splitlines() for text in (self.before, self.after))
        return list(unified_diff(before, after, str(self.path), str(self.path), lineterm=""))


def find_settings(harness: str, scope: str, folder: Path) -> Path:
    """Return the path of a settings file, with links resolved."""
    if harness == CODEX:
        home = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
        return (home if scope == "user" else folder / ".codex").joinpath("hooks.json").resolve()
    home = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    place = home if scope == "user" else folder / ".claude"
    return (place / ("settings.local.json" if scope == "local" else "settings.json")).resolve()


def make_groups(harness: str, program: str) -> dict[str, dict[str, Any]]:
    """Return the groups to install, by event."""
    groups = dict[str, dict[str, Any]]()
    for event, matcher, seconds in _EVENTS:
        if event == "PostCompact" and harness != CODEX and not _knows_post():
            continue
        # Codex trusts a hook by its text, so it stays the same in every version.
        call = (
            {"command": f"{shlex.quote(program)} hook"}
            if harness == CODEX
            else {"command": program, "args": ["hook"]}
        )
        handler = {"type": "command", **call, "timeout": seconds}
        groups[event] = {**({"matcher": matcher} if matcher else {}), "hooks": [handler]}
    return groups


def plan_install(path: Path, groups: dict[str, dict[str, Any]]) -> SettingsChange:
    """Return the change that installs the hooks; nothing changes if they are there as they should be.

    Raises:
        HookError: The file is not understood, may not be written, or the plugin is enabled.
    """
    before = _read(path)
    text = "{}\n" if before is None else before
    settings = parse_settings(text, str(path))
    for name, enabled in _object(settings.get("enabledPlugins")).items():
        if enabled and name.partition("@")[0] == NAME:
            raise HookError(f"{path}: the plugin {name} is enabled: its hooks would run twice")
    own = [
        (event, {**group, "hooks": [handler]})
        for event, there in _object(settings.get("hooks")).items()
        for group in there
        for handler in group["hooks"]
        if is_own(handler)
    ]
    if own == list(groups.items()):
        return SettingsChange(path, before, before)
    after = add_hooks(remove_hooks(text, settings) if own else text, groups)
    parse_settings(after, str(path))
    return SettingsChange(path, before, after)


def plan_uninstall(path: Path) -> SettingsChange:
    """Return the change that takes the hooks out: back to the text before, if the file is as it was left."""
    before = _read(path)
    record = read_object(_find_record(path))
    if record and before is not None and record["after"] == _digest(before):
        return SettingsChange(path, before, record["before"])
    parse_settings("{}" if before is None else before, str(path))
    if before is None or not any(map(is_own, _handlers(before))):
        return SettingsChange(path, before, before)
    first = json.loads(record["before"] or "{}") if record else {}
    return SettingsChange(path, before, remove_hooks(before, first))


def apply_change(change: SettingsChange, *, keep: bool) -> None:
    """Write a change, and keep the text before or forget it.

    Raises:
        OSError: A file cannot be written; then the settings are as before.
        HookError: The settings changed meanwhile.
    """
    path, record = change.path, _find_record(change.path)
    if change.before != change.after:
        if keep:
            record.parent.mkdir(0o700, parents=True, exist_ok=True)
            before = change.before
            if before is not None and any(map(is_own, _handlers(before))):
                before = remove_hooks(before, {})  # hooks of an older path are not a state to return to
            fields = {"path": str(path), "before": before, "after": _digest(change.after or "")}
            replace_file(record, json.dumps(fields))
        if _read(path) != change.before:
            raise HookError(f"{path}: another program changed it meanwhile: run this again")
        if change.after is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o600
            replace_file(path, change.after)
            path.chmod(mode)
    if not keep:
        record.unlink(missing_ok=True)


def find_program() -> str:
    """Return the absolute path of this package's command: other programs have another PATH."""
    beside = Path(sys.executable).with_name(NAME)
    path = str(beside) if beside.exists() else shutil.which(NAME)
    return path or str(Path(sys.argv[0]).resolve())


def _read(path: Path) -> str | None:
    if not path.exists():
        return None
    if not path.is_file() or not path.stat().st_mode & stat.S_IWUSR:
        raise HookError(f"{path}: it is read-only or no file")
    with path.open(encoding="utf-8", newline="") as file:
        try:
            return file.read()
        except UnicodeDecodeError as error:
            raise HookError(f"{path}: it is not UTF-8") from error


def _handlers(text: str) -> list[dict[str, Any]]:
    settings = json.loads(text)
    return [h for there in _object(settings.get("hooks")).values() for group in there for h in group["hooks"]]


def _find_record(path: Path) -> Path:
    return find_state_folder() / "installs" / f"{_digest(str(path))[:24]}.json"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _knows_post() -> bool:
    """Return whether the installed Claude Code knows PostCompact; True if its version is unknown."""
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(["claude", "--version"], capture_output=True, text=True, timeout=10)
        match = re.match(r"(\d+)\.(\d+)\.(\d+)", done.stdout)
        return match is None or tuple(map(int, match.groups())) >= _KNOWS_POST
    return True
