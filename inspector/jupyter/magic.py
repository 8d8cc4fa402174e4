"""I/O: `%load_ext inspector` gives `%inspect`, which shows a session file in one line, and `%compaction`.

    %inspect session.jsonl --policy flue
    %inspect "my session.jsonl" --tab lesson --follow
    wb = %inspect session --versus claude-code
    %compaction status
    %compaction find "tide table"

`%compaction` asks about the newest session of the folder while its agent runs. Errors are shown as a
sentence, without a stack trace.
"""

from __future__ import annotations

import os
import shlex
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from ..errors import InspectorError
from ..policies.registry import names_of_policies
from ..session.session import Session
from ..text import error_sentence
from ..tokens.counters import COUNTERS
from ..workbench.inputs import TABS

if TYPE_CHECKING:
    from .widget import Workbench

NAME, COMPACTION = "inspect", "compaction"
QUESTIONS = ("status", "lost", "pinned", "find")


class _Refused(Exception):
    """The line is invalid, or only asked for help: there is nothing to show."""


class _Parser(ArgumentParser):
    """A parser that never ends the process."""

    def error(self, message: str) -> NoReturn:
        raise _Refused(message)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise _Refused(message or "")


def make_parser() -> ArgumentParser:
    """Build the parser of `%inspect`."""
    parser = _Parser(
        prog=f"%{NAME}",
        description="Show a session in the workbench: see its tokens, drag the cut, compare plans.",
        allow_abbrev=False,
        argument_default=SUPPRESS,
    )
    parser.add_argument("session", help="a session file, or a variable that holds a Session")
    parser.add_argument("--policy", metavar="NAME", help="the policy that plans (flue)")
    parser.add_argument("--cut", metavar="ID", help='first entry kept, or "end"')
    parser.add_argument("--since", metavar="ID", help="first entry compacted")
    parser.add_argument("--at", metavar="ID", help="the last entry of the context that is planned")
    parser.add_argument("--counter", metavar="NAME", help="the token counter (calibrated)")
    parser.add_argument("--window", metavar="TOKENS", type=int, help="the model's context window")
    parser.add_argument("--versus", metavar="NAME", help='another policy to compare with, or "recorded"')
    parser.add_argument("--replay", action="store_true", help="replay the whole session")
    parser.add_argument("--tab", choices=TABS, help="the tab that is open")
    parser.add_argument("--mode", choices=("explore", "teach", "debug"), help=SUPPRESS)  # as in 0.1
    parser.add_argument("--follow", action="store_true", help="follow the file while it grows")
    return parser


def inspect(line: str, variables: dict[str, Any] | None = None) -> Workbench | None:
    """Return the workbench for a line; None if it asked for help. `variables` may contain the session.

    Raises `ValueError` with a sentence for an invalid line, and the errors of `Workbench`.
    """
    arguments = _parse(make_parser(), line)
    if arguments is None:
        return None
    from .widget import Workbench

    return Workbench(_find(arguments, variables or {}), **_options(arguments))


def make_compaction_parser() -> ArgumentParser:
    """Build the parser of `%compaction`."""
    parser = _Parser(
        prog=f"%{COMPACTION}",
        description="Ask about a running session of Claude Code or Codex: the size of its context (status), "
        "what its last compaction lost (lost), pins and rules (pinned), and words in what was compacted away "
        "(find).",
        allow_abbrev=False,
    )
    parser.add_argument("question", nargs="?", choices=QUESTIONS, default="status")
    parser.add_argument("words", nargs="*", help="the words to find")
    parser.add_argument("--session", metavar="ID", default="", help="a session's id (newest of the folder)")
    return parser


def ask_compaction(line: str) -> dict[str, Any] | None:
    """Return the answer to a line of `%compaction`; None if it asked for help.

    Raises `ValueError` with a sentence for an invalid line, and the errors of `RunningSession`.
    """
    from ..hooks import tools

    arguments = _parse(make_compaction_parser(), line)
    if arguments is None:
        return None
    words = " ".join(arguments.words)
    if bool(words) != (arguments.question == "find"):
        fault = "Only find takes words" if words else "Words to find are missing"
        raise ValueError(f"{fault}. See %{COMPACTION} --help.")
    if words:
        return tools.find_in_history(words, session=arguments.session)
    questions = {"status": tools.context_status, "lost": tools.what_was_lost, "pinned": tools.pinned}
    return questions[arguments.question](arguments.session)


def _parse(parser: ArgumentParser, line: str) -> Namespace | None:
    """Parse the line of a magic; None if it asked for help."""
    try:
        return parser.parse_args(shlex.split(line, posix=os.name == "posix"))
    except _Refused as refused:
        if not str(refused):
            return None
        raise ValueError(f"{refused}. See {parser.prog} --help.") from None


def _find(arguments: Namespace, variables: dict[str, Any]) -> Session | str:
    value = variables.get(arguments.session)
    if isinstance(value, Session):
        return value
    name: str = arguments.session
    return name if os.name == "posix" else name.strip("\"'")


def _options(arguments: Namespace) -> dict[str, Any]:
    options = {name: value for name, value in vars(arguments).items() if name != "session"}
    if (versus := options.get("versus")) is not None:
        options["versus"] = {"recorded": True} if versus == "recorded" else {"policy": versus}
    return options


def complete(line: str) -> list[str]:
    """Return completions of the last word of a line, except file names.

    >>> complete("%inspect a.jsonl --policy keep-r")
    ['keep-recent-turns']
    >>> complete("%inspect a.jsonl --mo")
    ['--mode']
    >>> complete("%compaction ")
    ['find', 'lost', 'pinned', 'status']
    """
    *words, symbol = ["", *line.split()] if line[-1:].strip() else ["", *line.split(), ""]
    before = words[-1]
    choices: Iterable[str] = ()
    parser = make_parser()
    if line.lstrip().startswith(f"%{COMPACTION}"):
        parser = make_compaction_parser()
        choices = QUESTIONS if len(words) == 2 else ()
    elif before in ("--policy", "--versus"):
        choices = [*names_of_policies(), *(["recorded"] if before == "--versus" else [])]
    elif before == "--counter":
        choices = [counter.name for counter in COUNTERS]
    elif before == "--tab":
        choices = TABS
    if symbol.startswith("-"):
        choices = [name for action in parser._actions for name in action.option_strings]
    return sorted(name for name in choices if name.startswith(symbol))


def load_ipython_extension(shell: Any) -> None:
    """Add `%inspect` and `%compaction` to an IPython session; called by `%load_ext inspector`.

    >>> from IPython.core.interactiveshell import InteractiveShell
    >>> from traitlets.config import Config
    >>> shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    >>> load_ipython_extension(shell)
    >>> "--policy" in shell.find_line_magic("inspect").__doc__
    True
    """
    from IPython.core.error import UsageError

    def inspect_line(line: str) -> Any:
        try:
            return inspect(line, shell.user_ns)
        except (InspectorError, OSError, ValueError, ImportError) as error:
            raise UsageError(error_sentence(error)) from None

    def compaction_line(line: str) -> Any:
        try:
            return ask_compaction(line)
        except (InspectorError, OSError, ValueError) as error:
            raise UsageError(error_sentence(error)) from None

    inspect_line.__doc__ = make_parser().format_help()
    compaction_line.__doc__ = make_compaction_parser().format_help()
    shell.register_magic_function(inspect_line, "line", NAME)
    shell.register_magic_function(compaction_line, "line", COMPACTION)

    def find(_: Any, event: Any) -> list[str]:
        line = event.text_until_cursor
        # The part that IPython completes may be only the end of the word.
        done = len(line) - max(line.rfind(" "), line.rfind("\t")) - 1 - len(event.symbol)
        return [name[max(done, 0) :] for name in complete(line)]

    shell.set_hook("complete_command", find, str_key=f"%{NAME}")
    shell.set_hook("complete_command", find, str_key=f"%{COMPACTION}")


def unload_ipython_extension(shell: Any) -> None:
    """Remove `%inspect` and `%compaction`.

    >>> from IPython.core.interactiveshell import InteractiveShell
    >>> from traitlets.config import Config
    >>> shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    >>> load_ipython_extension(shell)
    >>> unload_ipython_extension(shell)
    >>> shell.find_line_magic("inspect") is None
    True
    """
    for name in (NAME, COMPACTION):
        shell.magics_manager.magics["line"].pop(name, None)
