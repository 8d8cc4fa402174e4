"""I/O: the commands `hook`, `status-line` and `mcp` of the command line."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from .payload import CLAUDE, CODEX, HookError, HookPayload
from .state import read_folder_pins, read_pins, write_pins


def add_hook_commands(commands: Any) -> None:
    """Add the commands for harnesses to a parser's sub-commands."""
    hook = commands.add_parser(
        "hook",
        help="guard a harness's compactions: called by the harness with an event on stdin",
        epilog="Without a subcommand, `hook` answers the event on stdin and always ends with 0.",
    )
    tasks = hook.add_subparsers(required=True, metavar="install | uninstall | pin | focus")
    for name, do in (("install", _install), ("uninstall", _uninstall)):
        task = tasks.add_parser(name, help=f"{name} the hooks in the settings of Claude Code or Codex")
        task.add_argument("--harness", default=CLAUDE, choices=(CLAUDE, CODEX), help=f"default: {CLAUDE}")
        task.add_argument(
            "--scope", default="user", choices=("user", "project", "local"), help="default: user"
        )
        task.add_argument("--dry-run", action="store_true", help="print the change and write nothing")
        task.set_defaults(do=do)
    pin = tasks.add_parser("pin", help="repeat a text after every compaction in a folder, or list the pins")
    pin.add_argument("text", nargs="?", default="", help="default: list the pins")
    pin.add_argument("--remove", action="store_true", help="remove the pin of this text")
    pin.add_argument("--folder", default=".", help="the project's folder; default: this one")
    pin.set_defaults(do=_pin)
    focus = tasks.add_parser("focus", help="facts to keep, from what a plug-in writes to stdin")
    focus.set_defaults(do=_focus)
    status = commands.add_parser(
        "status-line", help="one line about the context, for a harness's status line"
    )
    status.add_argument("--then", metavar="COMMAND", help="your own status line's command, which comes first")
    status.set_defaults(do=_status_line)
    server = commands.add_parser("mcp", help="a read-only MCP server: four questions about a running session")
    server.set_defaults(do=_mcp)
    for task in (*tasks.choices.values(), status, server):
        task.set_defaults(code=0, unreadable=1, window=None)


def _install(args: Namespace) -> list[str]:
    from .install import apply_change, find_program, find_settings, make_groups, plan_install

    groups = make_groups(args.harness, find_program())
    path = find_settings(args.harness, args.scope, Path.cwd())
    try:
        if args.harness == CLAUDE:  # never both: the plugin may be enabled in the settings of another scope
            for scope in ("user", "project", "local"):
                other = find_settings(args.harness, scope, Path.cwd())
                if other != path and other.is_file():
                    plan_install(other, groups)
        change = plan_install(path, groups)
    except HookError as error:
        snippet = json.dumps({"hooks": {event: [group] for event, group in groups.items()}}, indent=2)
        raise HookError(f"{error}\nNothing was changed. The hooks, to add by hand:\n{snippet}") from error
    if args.dry_run or change.before == change.after:
        return change.diff() or [f"{path}: the hooks are installed"]
    apply_change(change, keep=True)
    notes = ["A running session may write its settings back without them: run this again to check."]
    if args.harness == CODEX:
        notes = ["Codex runs them once you have approved them in /hooks."]
    return [f"{path}: hooks installed", *notes]


def _uninstall(args: Namespace) -> list[str]:
    from .install import apply_change, find_settings, plan_uninstall

    path = find_settings(args.harness, args.scope, Path.cwd())
    change = plan_uninstall(path)
    if args.dry_run or change.before == change.after:
        return change.diff() or [f"{path}: no hooks of compaction-inspector"]
    apply_change(change, keep=False)
    return [f"{path}: hooks removed"]


def _pin(args: Namespace) -> list[str]:
    from ..redaction.cut import redact_text

    text, folder = " ".join(args.text.split()), str(Path(args.folder).resolve())
    own = read_folder_pins(folder)
    if not text:
        return read_pins(folder) or ["no pins"]
    if redact_text(text) != text:
        raise HookError("the pin holds a secret, and pins are given to a model")
    if args.remove and text not in own:
        raise HookError("there is no pin of this text; `hook pin` lists them")
    rest = [pin for pin in own if pin != text]
    write_pins(folder, rest if args.remove else [*rest, text])
    return [f"{'no longer pinned' if args.remove else 'pinned'} in {folder}: {text}"]


def _focus(args: Namespace) -> list[str]:
    """Write the facts to keep of a plug-in's {"cwd", "said", "files", "errors", "typed"}."""
    from .conversation import Conversation, TypedMessage, find_error_line
    from .given_back import write_focus_text
    from .snapshot import make_snapshot

    fields = json.loads(sys.stdin.buffer.read(64_000_000))
    texts, files, errors = (
        [str(item) for item in fields.get(key) or ()] for key in ("said", "files", "errors")
    )
    talk = Conversation([TypedMessage(0, text) for text in texts], dict.fromkeys(files, 0))
    talk.errors = {text: line for text in errors if (line := find_error_line(text))}
    payload = HookPayload("", "focus", "", "", str(fields.get("cwd") or ""), {})
    text = write_focus_text(make_snapshot(payload, talk, "", (), 0.0), str(fields.get("typed") or ""))
    return [text] if text else []


def _status_line(args: Namespace) -> list[str]:
    from .status_line import run_status_line

    run_status_line(["--then", args.then] if args.then else [])
    return []


def _mcp(args: Namespace) -> list[str]:
    from .mcp_server import serve_mcp

    serve_mcp()
    raise SystemExit(0)  # nothing more may be printed: stdout is the protocol's
