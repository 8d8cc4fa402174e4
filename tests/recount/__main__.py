"""Every figure a person reads of a session, beside the same counted again from the raw file.

    python -m tests.recount PATH [PATH ...]

prints a table for each session below the paths (a file, or a folder with files in it) and a last line
`N passed, N failed`: how many figures were the same, money to a hundredth of a cent. What the package does
not open is passed over; a format that is not recounted is named. The exit code is 0 when all were the same.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from inspector import count_tokens, open_session, price_session
from inspector.errors import InspectorError
from inspector.session.session import Session
from inspector.tokens.history import trace_history

from . import claude_code, codex, copilot, gemini, opencode, openhands, pi
from .figures import Figures
from .tally import NotRecounted

RECOUNTS = {
    "claude-code": claude_code.recount,
    "pi": pi.recount,
    "flue": pi.recount,
    "codex": codex.recount,
    "copilot-cli": copilot.recount,
    "gemini-cli": gemini.recount,
    "qwen": gemini.recount_qwen,
    "opencode": opencode.recount,
    "openhands": openhands.recount,
}
"""What recounts the files of a format."""
CENT = 0.01
"""Money is the same when it is the same to a hundredth of this."""


class Compared(NamedTuple):
    """A figure as the package has it and as it was recounted."""

    name: str
    ours: float | None
    recounted: float | None

    @property
    def same(self) -> bool:
        if self.ours is None or self.recounted is None:
            return self.ours is self.recounted
        return abs(self.ours - self.recounted) < CENT / 100

    def __str__(self) -> str:
        cells = f"{_write(self.ours):>16} {_write(self.recounted):>16}"
        return f"  {'' if self.same else '!':1} {self.name:<36} {cells}"


def _write(value: float | None) -> str:
    if value is None:
        return "?"
    return f"{value:,.4f}" if isinstance(value, float) else f"{value:,}"


def compare(path: Path, session: Session) -> list[Compared]:
    """Every figure of a session, beside the one recounted from its file."""
    return list(_compare(read_figures(session), RECOUNTS[session.format](path)))


def read_figures(session: Session) -> Figures:
    """The package's own figures, through its public doors."""
    bill = price_session(session)
    said = (entry for entry in session.entries if entry.role == "assistant" and entry.kind == "message")
    replies = [entry for entry in said if entry.sidechain is None]
    kinds = [boundary.kind for _, boundary in session.boundaries]
    sent = (round(entry.usage.prompt) for entry in replies if entry.usage is not None)
    contexts = trace_history(session, count_tokens(session)).reported
    return Figures(
        turns=len(session.turns),
        replies=len(replies),
        compactions=kinds.count("compact"),
        emptied=kinds.count("micro"),
        largest_request=max(sent, default=0),
        largest_context=max(int(contexts.max()) if len(contexts) else 0, 0),
        counted=bill.counted,
        lines={line.name: (line.calls, line.tokens, line.money) for line in bill.lines},
        total=None if bill.cost is None else bill.cost.total,
    )


def _compare(ours: Figures, theirs: Figures) -> Iterator[Compared]:
    for name in (
        "turns",
        "replies",
        "compactions",
        "emptied",
        "largest_request",
        "largest_context",
        "counted",
    ):
        yield Compared(name.replace("_", " "), getattr(ours, name), getattr(theirs, name))
    for name in dict.fromkeys((*ours.lines, *theirs.lines)):
        both = ours.lines.get(name, (0, 0, 0.0)), theirs.lines.get(name, (0, 0, 0.0))
        for what, mine, other in zip(("requests", "tokens", "money"), *both, strict=True):
            yield Compared(f"{name}: {what}", mine, other)
    yield Compared("money of all that is known", ours.total, theirs.total)


def find_sessions(paths: list[Path]) -> Iterator[tuple[Path, Session]]:
    """The files that the package opens."""
    for path in paths:
        files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
        for file in files:
            try:
                yield file, open_session(file)
            except (InspectorError, OSError) as error:
                if file == path:
                    print(error, file=sys.stderr)


def main(arguments: list[str]) -> int:
    if not arguments:
        print("usage: python -m tests.recount PATH [PATH ...]", file=sys.stderr)
        return 2
    passed = failed = 0
    for path, session in find_sessions(list(map(Path, arguments))):
        if session.format not in RECOUNTS:
            print(f"{path}: not recounted: a file of {session.format}")
            continue
        try:
            figures = compare(path, session)
        except NotRecounted as reason:
            print(f"{path} ({session.format}): not recounted: {reason}")
            continue
        except Exception as error:
            # One file that cannot be counted again does not hide what the others say.
            print(f"{path} ({session.format}): cannot be recounted: {error!r}")
            failed += 1
            continue
        wrong = sum(not figure.same for figure in figures)
        passed, failed = passed + len(figures) - wrong, failed + wrong
        print(f"{path} ({session.format}): the package's figures, and those recounted")
        print("\n".join(map(str, figures)))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
