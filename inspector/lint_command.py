"""The command `lint`: files and folders checked one after another, and one report of them all.

A file that cannot be read does not stop the others.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .cli_common import DEFAULT_COUNTER, complain, configure_input, count_input, read_input, read_summary
from .errors import CounterError, EditError, InspectorError, PolicyError, ReadError

if TYPE_CHECKING:
    from .facts.lint.codes import LintReport
    from .session.session import Session


def lint_files(args: Namespace) -> list[str]:
    """Return the lines of the report on every file, and set the exit code."""
    from .facts.lint.report import write_report

    are_several = len(args.file) > 1 or Path(args.file[0]).is_dir()
    return write_report(args.format, _check_files(args, are_several), are_several, fixes=args.fixes)


def _check_files(args: Namespace, are_several: bool) -> Iterator[tuple[str, LintReport, Session]]:
    """Yield the report on every file that can be checked; in the end, set the exit code."""
    from .facts.lint.report import find_earlier

    baseline, paths, worst, is_checked = _read_baseline(args), args.file, 0, False
    for file, is_named in list(_list_files(paths)):
        args.file = file
        try:
            session = read_input(args)
            report = _check(args, session)
        except (InspectorError, OSError) as error:
            if not are_several or isinstance(error, PolicyError | EditError | CounterError):
                raise
            # A folder also holds files of other programs.
            code = 0 if type(error) is ReadError and not is_named else args.unreadable
            worst = max(worst, complain(error, code))
            continue
        if baseline is not None:
            report = report.mark_known(find_earlier(baseline, file))
        worst = max(worst, report.exit_code)
        is_checked = True
        yield file, report, session
    args.code = worst if is_checked else max(worst, args.unreadable)
    if not is_checked:
        complain(ReadError(", ".join(paths), detail="no session in it could be checked"), args.code)


def _list_files(paths: list[str]) -> Iterator[tuple[str, bool]]:
    """Yield each file, and whether it was named, not found in a folder that was."""
    for path in paths:
        if not Path(path).is_dir():
            yield path, True
            continue
        from .corpus.scanning import list_files

        yield from ((name, False) for name in sorted(name for name, _ in list_files(path)))


def _read_baseline(args: Namespace) -> dict[str, list[str]] | None:
    from .facts.lint.report import read_baseline

    if args.baseline is None:
        return None
    try:
        return read_baseline(Path(args.baseline).read_text("utf-8"))
    except ValueError as error:
        problem = f"it is not the output of lint --format json ({error})"
        raise EditError("baseline", args.baseline, problem) from None


def _check(args: Namespace, session: Session) -> LintReport:
    from .facts.lint.codes import report_uncompacted

    rules = [args.select, *(f"-{code.strip()}" for code in args.ignore.split(",") if code.strip())]
    if args.policy is None and args.counter == DEFAULT_COUNTER and args.summary is None:
        report = report_uncompacted(session, rules)
        if report is not None:
            return report
    from .facts.lint.check import lint

    # With the default counter, the check counts tokens only if it needs them.
    ledger = None if args.counter == DEFAULT_COUNTER else count_input(args, session)
    more: dict[str, Any] = {"ledger": ledger, "window": args.window, "summary": read_summary(args)}
    return lint(session, configure_input(args), rules, **more)
