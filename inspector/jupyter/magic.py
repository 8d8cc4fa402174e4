"""DOOR: `%load_ext inspector` gives `%inspect`, which shows a session file in one line.

    %inspect session.jsonl --policy flue
    %inspect "my session.jsonl" --tab lesson --follow
    wb = %inspect session --versus claude-code

What cannot be done is told in a sentence, without a stack trace.
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

NAME = "inspect"


class _Refused(Exception):
    """The line is not what it should be, or asked for help only: there is nothing to show."""


class _Parser(ArgumentParser):
    """Never ends the process it runs in."""

    def error(self, message: str) -> NoReturn:
        raise _Refused(message)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise _Refused(message or "")


def make_parser() -> ArgumentParser:
    """What `%inspect` understands."""
    parser = _Parser(
        prog=f"%{NAME}",
        description="Show a session in the workbench: see its tokens, drag the cut, compare plans.",
        allow_abbrev=False,
        argument_default=SUPPRESS,
    )
    parser.add_argument("session", help="a session file, or a variable that holds a Session")
    parser.add_argument("--policy", metavar="NAME", help="the policy that plans (flue)")
    parser.add_argument("--cut", metavar="ID", help='first entry kept, or "end"')
    parser.add_argument("--at", metavar="ID", help="the moment that is planned: its last entry")
    parser.add_argument("--counter", metavar="NAME", help="what counts tokens (calibrated)")
    parser.add_argument("--window", metavar="TOKENS", type=int, help="the model's context window")
    parser.add_argument("--versus", metavar="NAME", help='another policy beside it, or "recorded"')
    parser.add_argument("--replay", action="store_true", help="live the whole session again")
    parser.add_argument("--tab", choices=TABS, help="the tab that is open")
    parser.add_argument("--mode", choices=("explore", "teach", "debug"), help=SUPPRESS)  # as in 0.1
    parser.add_argument("--follow", action="store_true", help="follow the file while it grows")
    return parser


def inspect(line: str, variables: dict[str, Any] | None = None) -> Workbench | None:
    """The workbench a line asks for; None where it asked for help. `variables` may hold a session by name.

    Raises `ValueError` with a sentence for a line that makes no sense, and what `Workbench` raises.
    """
    try:
        arguments = make_parser().parse_args(shlex.split(line, posix=os.name == "posix"))
    except _Refused as refused:
        if not str(refused):
            return None
        raise ValueError(f"{refused}. %{NAME} --help tells what can be asked.") from None
    from .widget import Workbench

    return Workbench(_find(arguments, variables or {}), **_options(arguments))


def _find(arguments: Namespace, variables: dict[str, Any]) -> Session | str:
    found = variables.get(arguments.session)
    if isinstance(found, Session):
        return found
    name: str = arguments.session
    return name if os.name == "posix" else name.strip("\"'")


def _options(arguments: Namespace) -> dict[str, Any]:
    options = {name: value for name, value in vars(arguments).items() if name != "session"}
    if (versus := options.get("versus")) is not None:
        options["versus"] = {"recorded": True} if versus == "recorded" else {"policy": versus}
    return options


def complete(line: str) -> list[str]:
    """What the last word of a line may become; names of files are not our affair.

    >>> complete("%inspect a.jsonl --policy keep-r")
    ['keep-recent-turns']
    >>> complete("%inspect a.jsonl --mo")
    ['--mode']
    """
    *words, symbol = ["", *line.split()] if line[-1:].strip() else ["", *line.split(), ""]
    before = words[-1]
    choices: Iterable[str] = ()
    if before in ("--policy", "--versus"):
        choices = [*names_of_policies(), *(["recorded"] if before == "--versus" else [])]
    elif before == "--counter":
        choices = [counter.name for counter in COUNTERS]
    elif before == "--tab":
        choices = TABS
    elif symbol.startswith("-"):
        choices = [name for action in make_parser()._actions for name in action.option_strings]
    return sorted(name for name in choices if name.startswith(symbol))


def load_ipython_extension(shell: Any) -> None:
    """Add `%inspect` to an IPython session: what `%load_ext inspector` calls.

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

    inspect_line.__doc__ = make_parser().format_help()
    shell.register_magic_function(inspect_line, "line", NAME)

    def find(_: Any, event: Any) -> list[str]:
        line = event.text_until_cursor
        # What IPython takes for the beginning of a name may be less than the whole word.
        done = len(line) - max(line.rfind(" "), line.rfind("\t")) - 1 - len(event.symbol)
        return [name[max(done, 0) :] for name in complete(line)]

    shell.set_hook("complete_command", find, str_key=f"%{NAME}")


def unload_ipython_extension(shell: Any) -> None:
    """Take `%inspect` away again.

    >>> from IPython.core.interactiveshell import InteractiveShell
    >>> from traitlets.config import Config
    >>> shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    >>> load_ipython_extension(shell)
    >>> unload_ipython_extension(shell)
    >>> shell.find_line_magic("inspect") is None
    True
    """
    shell.magics_manager.magics["line"].pop(NAME, None)
