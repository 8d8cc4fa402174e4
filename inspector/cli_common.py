"""What commands have in common: the session, its tokens, the policy with its settings, and the output."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Any, TextIO

from .errors import CounterError, EditError
from .paths import read_texts
from .text import error_sentence, printable

if TYPE_CHECKING:
    from .session.session import Session
    from .tokens.ledger import Ledger

DEFAULT_COUNTER = "calibrated"
UNNAMED = "(settings are for a policy: name it with --policy)"


def read_input(args: Namespace) -> Session:
    """Open the session in the file of the arguments."""
    from .files import open_session

    return open_session(args.file, part=args.part)


def count_input(args: Namespace, session: Session) -> Ledger:
    from .tokens.counters import ESTIMATE
    from .tokens.ledger import count_tokens

    if not getattr(args, "estimate", False):
        return count_tokens(session, args.counter)
    if args.counter != DEFAULT_COUNTER:
        raise CounterError(
            args.counter, "--estimate selects its own counter: use only one of the two options"
        )
    return count_tokens(session, ESTIMATE)


def read_own_settings(args: Namespace) -> dict[str, Any]:
    from .policies.settings_file import read_settings

    return read_settings(read_texts(args.settings))


def configure_input(args: Namespace, suffix: str = "") -> Any:
    """The policy with the settings of the files, `suffix` added to its name; without any, its name."""
    from .policies.registry import configure_policy

    if not (settings := read_own_settings(args)):
        return args.policy
    policy = configure_policy(UNNAMED if args.policy in (None, "auto") else args.policy, settings)
    return policy.model_copy(update={"name": f"{policy.name}{suffix}"})


def read_summary(args: Namespace) -> str | None:
    """Return the text of the file that --summary names; None without one. Raises `EditError` for a file that
    is not UTF-8."""
    if args.summary is None:
        return None
    try:
        return next(iter(read_texts([args.summary]).values()))
    except UnicodeDecodeError:
        raise EditError("summary", args.summary, "it is not a text in UTF-8") from None


def complain(error: Exception, code: int) -> int:
    """Write an error to the standard error, and return the exit code for it."""
    write(sys.stderr, error_sentence(error))
    return code


def write(stream: TextIO, text: str) -> None:
    """Write text without control characters, and replace characters that the encoding lacks."""
    encoding = stream.encoding or "utf-8"
    stream.write(printable(text).encode(encoding, "replace").decode(encoding) + "\n")
    stream.flush()
