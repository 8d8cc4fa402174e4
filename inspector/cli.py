"""DOOR: the command line, `compaction-inspector`.

    compaction-inspector show session.jsonl
    compaction-inspector show session.jsonl --estimate
    compaction-inspector show session.jsonl --policy claude-code
    compaction-inspector plan session.jsonl --policy flue --json
    compaction-inspector replay session.jsonl --policy stud-wiki-1.1 --json
    compaction-inspector lint session.jsonl --policy flue --select CI001,CI002
    compaction-inspector export session.jsonl page.html
    compaction-inspector sessions
    compaction-inspector scan transcripts/ --policy flue,codex --into rows.jsonl
    compaction-inspector sweep transcripts/ --policy flue --set keep-recent-tokens.tokens=8000,20000
    compaction-inspector diff yesterday.jsonl today.jsonl
    compaction-inspector reopen session.jsonl --at 820f59b6
    compaction-inspector convert session.jsonl codex rollout.jsonl
    compaction-inspector demo
    compaction-inspector demo --page

It ends with 0 when it did what was asked, 1 when a file could not be read or written, and 2 when what was
asked makes no sense. `lint` ends with 0 when it found no error, 1 when it found one, and 2 when it could not
look; `diff` does the same for what got worse. What went wrong is told in one sentence. What a command alone
needs is imported by that command.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from .errors import CounterError, EditError, InspectorError, PolicyError
from .facts.lint.codes import LINT_CODES, REPORTS
from .paths import read_texts
from .text import draw_bar, error_sentence, printable

if TYPE_CHECKING:
    from pathlib import Path

    from .planning.plan import Plan
    from .session.session import Session
    from .tokens.ledger import Ledger
    from .workbench.model import WorkbenchModel

FAILED, REFUSED, INTERRUPTED = 1, 2, 130
LOADED = 100_000
"""New objects after which memory is looked through for the first time: more than a short command makes."""
DEFAULT_COUNTER = "calibrated"
UNNAMED = "(settings are for a policy: name it with --policy)"
SETTINGS = "a settings.json with the policy's thresholds; of several the last counts"
BY_LINE = ("text", "github")
"""Forms of a report that can follow one another."""
DEMO_FILE = "demo.session.jsonl"  # by such a name JupyterLab opens it as a workbench
NO_LAB = (
    "JupyterLab is not installed: `python -m pip install jupyterlab` installs it, and "
    "`compaction-inspector demo --page` shows the demo without it"
)
EXIT_CODES = "Ends with 0 when no error was found, 1 when one was, 2 when the session could not be checked."


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments say, by default those of the process. The exit code."""
    if arguments is None:
        # The process is this command's own, and what it loads stays to its end: looking for what could go
        # every few hundred objects would be a twelfth of a short command.
        gc.set_threshold(LOADED)
    asked = make_parser().parse_args(arguments)
    try:
        if asked.window is not None:
            from .policies.policy import check_window

            check_window(asked.window)
        _say("\n".join(asked.do(asked)))
    except BrokenPipeError:
        # Whoever read has seen enough; nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return INTERRUPTED
    except (PolicyError, EditError, CounterError) as error:
        return _complain(error, REFUSED)
    except (InspectorError, OSError) as error:
        return _complain(error, asked.unreadable)
    return int(asked.code)


def make_parser() -> ArgumentParser:
    """What can be asked."""
    parser = ArgumentParser(
        prog="compaction-inspector",
        description="See what a context compaction keeps, what it loses and what it costs.",
        epilog="For the workbench, with the hand on the cut, open the session in Jupyter.",
    )
    parser.add_argument("--version", action=_TellVersion)
    commands = parser.add_subparsers(
        required=True,
        metavar="show | plan | replay | lint | export | reopen | convert | sessions | scan | sweep | diff "
        "| demo",
    )
    show = commands.add_parser("show", help="a session, its tokens and what a policy does, as a table")
    plan = commands.add_parser("plan", help="a policy's plan in short, or all of it as JSON")
    lived = commands.add_parser(
        "replay", help="the session lived again under a policy, or its audit: an event a line"
    )
    codes = ", ".join(f"{one.code} {one.name}" for one in LINT_CODES.values())
    check = commands.add_parser(
        "lint",
        aliases=["check"],
        help="what a compaction lost that it should not have",
        epilog=f"{EXIT_CODES} {codes}.",
    )
    export = commands.add_parser("export", help="the workbench as one HTML file, secrets redacted")
    reopened = commands.add_parser(
        "reopen", help="the session as it stood at an entry, as a new session to go on from"
    )
    reopened.add_argument("file", help="a session file of Claude Code's or pi's; it is only read")
    reopened.add_argument("--at", metavar="ID", help="the last entry it holds; default: the session's end")
    reopened.add_argument("--to", metavar="PATH", help='default: "<new id>.jsonl" beside the file')
    reopened.set_defaults(do=_reopen, code=0, unreadable=FAILED, window=None)
    converted = commands.add_parser("convert", help="the session in another harness's format, in a new file")
    converted.add_argument("file", help="a session file of any format that is known; it is only read")
    names = "flue, pi, claude-code, codex, or openai for a request's body"
    converted.add_argument("format", help=names)
    converted.add_argument("--redact", action="store_true", help="replace secrets by their names")
    converted.add_argument("to", help="where the new file goes")
    converted.add_argument("--at", metavar="ID", help="the last entry it holds; default: the session's end")
    converted.add_argument("--part", metavar="NAME", help="of an archive of several sessions, the one meant")
    converted.set_defaults(do=_convert, code=0, unreadable=FAILED, window=None)
    listed = commands.add_parser("sessions", help="the sessions on this machine, newest first")
    listed.add_argument("--newest", type=int, default=30, metavar="N", help="default: 30; 0 for all")
    listed.add_argument("--json", action="store_true", help="as JSON, a session a line")
    listed.set_defaults(do=_sessions, code=0, unreadable=FAILED, window=None)
    _add_corpus(commands)
    tried = commands.add_parser(
        "demo",
        help="the demo session in JupyterLab, or as a page that needs none",
        epilog="Both stand in a new temporary folder, which is yours to keep or to remove.",
    )
    where = tried.add_mutually_exclusive_group()
    where.add_argument("--page", action="store_true", help="as one HTML page, in place of JupyterLab")
    tried.add_argument("--no-browser", action="store_true", help="open no browser, only tell where it is")
    where.add_argument("--port", type=int, metavar="N", help="JupyterLab's; default: the first free one")
    tried.set_defaults(do=_demo, code=0, unreadable=FAILED, window=None)
    tasks = ((show, _show), (plan, _plan), (lived, _replay), (check, _lint), (export, _export))
    for command, do in tasks:
        # To a build, a session that could not be looked at is no session with a finding.
        command.set_defaults(do=do, code=0, unreadable=REFUSED if command is check else FAILED)
        several: dict[str, Any] = {"nargs": "+"} if command is check else {}
        command.add_argument("file", help="a session file of any format that is known", **several)
        command.add_argument(
            "--part", metavar="NAME", help="of an archive of several sessions, the one meant"
        )
        first = "the compactions the file records" if command is check else "flue"
        default = None if command in (check, show) else "flue"
        if command is export:
            first, default = "what a workbench opens on", "auto"
        command.add_argument("--policy", default=default, metavar="NAME", help=f"default: {first}")
        if command is not export:
            command.add_argument("--settings", action="append", default=[], metavar="FILE", help=SETTINGS)
        command.add_argument(
            "--counter", default=DEFAULT_COUNTER, metavar="NAME", help=f"default: {DEFAULT_COUNTER}"
        )
        command.add_argument("--window", type=int, metavar="TOKENS", help="in place of the model's")
        if command in (show, plan):
            command.add_argument("--at", metavar="ID", help="the moment planned; default: the fullest")
            command.add_argument("--cut", metavar="ID", help='the first entry kept, or "end"')
    show.add_argument(
        "--estimate",
        action="store_true",
        help="the context's size by an estimate, at once; no policy is planned unless one is named",
    )
    plan.add_argument("--json", action="store_true", help="as JSON")
    lived.add_argument("--json", action="store_true", help="each event and the harness's own record, as JSON")
    outside = 'what happens, as a JSON object; {"provider": "accepts"} lets requests above the window pass'
    lived.add_argument("--scenario", metavar="JSON", help=outside)
    check.add_argument("--select", default="", metavar="CODES", help="codes or their beginnings: CI001,CI002")
    check.add_argument("--ignore", default="", metavar="CODES", help="codes to leave out")
    check.add_argument("--format", default="text", choices=REPORTS, help="default: text")
    check.add_argument("--fixes", action="store_true", help="with a policy: the cheapest fix of each finding")
    export.add_argument("page", help="where the page goes")
    export.add_argument("--replace", action="store_true", help="write over a file of another kind")
    return parser


def _add_corpus(commands: Any) -> None:
    """What is asked of many sessions at once."""
    scanned = commands.add_parser("scan", help="many sessions under many policies: what is left and kept")
    swept = commands.add_parser("sweep", help="many sessions under policies, with every value of a setting")
    for command, do in ((scanned, _scan), (swept, _sweep)):
        command.add_argument(
            "paths",
            nargs="*",
            metavar="PATH",
            help="files, folders, addresses; default: this machine's sessions",
        )
        command.add_argument(
            "--into", metavar="FILE", help="add rows to this file, and go on from what it holds"
        )
        command.add_argument("--measures", default="facts,regret", help="of facts, regret and findings")
        command.add_argument("--workers", type=int, metavar="N", help="processes; default: one a processor")
        command.add_argument(
            "--seconds", type=float, default=300.0, help="for one file at most; default: 300"
        )
        command.add_argument(
            "--memory", type=float, default=4.0, metavar="GIB", help="for one file; default: 4"
        )
        command.add_argument("--json", action="store_true", help="every row as JSON, one a line")
        command.set_defaults(do=do, code=0, unreadable=FAILED, window=None)
    scanned.add_argument("--policy", default="", metavar="NAMES", help="comma between them; default: all")
    swept.add_argument(
        "--policy",
        required=True,
        metavar="NAMES",
        help="comma between them; each with the settings that it has, one without any as it is",
    )
    swept.add_argument(
        "--set", action="append", required=True, metavar="KEY=A,B,...", help='such as "trigger.ratio=0.7,0.8"'
    )
    compared = commands.add_parser(
        "diff",
        help="what a newer scan does worse than an older one, on the same sessions",
        epilog="Ends with 0 when nothing got worse, 1 when something did, 2 when they cannot be compared.",
    )
    compared.add_argument("old", help="a file that scan --into wrote")
    compared.add_argument("new", help="another one")
    compared.add_argument(
        "--kept", type=float, default=0.02, metavar="SHARE", help="of the facts that may be kept less; 0.02"
    )
    compared.add_argument(
        "--left", type=float, default=0.05, metavar="SHARE", help="of the tokens that may be left more; 0.05"
    )
    compared.set_defaults(do=_diff, code=0, unreadable=REFUSED, window=None)


class _TellVersion(Action):
    """--version. What the installed package calls itself is looked up when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, **more: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version and end", **more)

    def __call__(self, parser: ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        _say(version("compaction-inspector"))
        parser.exit()


def _show(asked: Namespace) -> list[str]:
    if asked.estimate and not (asked.policy or asked.settings or asked.at or asked.cut or asked.window):
        return _show_sizes(asked)
    from .tokens.cost import price_session
    from .workbench.payloads.sections import ALL_SECTIONS, LABELS, sum_sections

    model = _open(asked)
    plan = model.plan
    before, after = sum_sections(plan)
    rows = [("tokens", "before", "after", "")]
    for name, was, now in zip(ALL_SECTIONS, before.tolist(), after.tolist(), strict=True):
        if was or now:
            rows.append(
                (f"  {LABELS.get(name, name)}", f"{was:,}", f"{now:,}", draw_bar(now, was, int(before.max())))
            )
    rows.append(("  all", f"{int(before.sum()):,}", f"{int(after.sum()):,}", ""))
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = [f"{a:<{wide[0]}}  {b:>{wide[1]}}  {c:>{wide[2]}}  {d}".rstrip() for a, b, c, d in rows]
    head = [title] if (title := plan.session.title or plan.session.id) else []
    cost = ["", repr(bill)] if (bill := price_session(model.session)).lines else []
    said = [*head, repr(model.session), "", repr(plan), *plan.notes]
    return [*said, "", *table, "", model.ledger.source, *cost]


def _show_sizes(asked: Namespace) -> list[str]:
    """The context by section, by the estimate: without a plan, a price or a table of tokens."""
    session = _read(asked)
    head = [title] if (title := session.title or session.id) else []
    return [*head, repr(session), "", repr(_count(asked, session))]


def _count(asked: Namespace, session: Session) -> Ledger:
    from .tokens.counters import ESTIMATE
    from .tokens.ledger import count_tokens

    if not getattr(asked, "estimate", False):
        return count_tokens(session, asked.counter)
    if asked.counter != DEFAULT_COUNTER:
        raise CounterError(asked.counter, "--estimate is a counter of its own: leave one of the two out")
    return count_tokens(session, ESTIMATE)


def _read_settings(asked: Namespace) -> dict[str, Any]:
    from .policies.settings_file import read_settings

    return read_settings(read_texts(asked.settings))


def _plan(asked: Namespace) -> list[str]:
    plan = _open(asked).plan
    if not asked.json:
        return [repr(plan), *plan.notes]
    return [json.dumps(describe_plan(plan), indent=2)]


def describe_plan(plan: Plan) -> dict[str, Any]:
    """A plan as JSON: what it does, in tokens and blocks. By its `spec`, `make_plan` makes it again."""
    from collections import Counter

    from .policies.table import FATES
    from .workbench.payloads.sections import ALL_SECTIONS, sum_sections

    before, after = sum_sections(plan)
    fates = Counter(plan.fate[plan.outcome.is_history].tolist())
    return {
        "policy": plan.policy.name,
        "at": plan.session.leaf,
        "cut": None if plan.cut is None else plan.cut.entry,
        "why": plan.why,
        "before": int(before.sum()),
        "after": int(after.sum()),
        "after_range": list(plan.after_range),
        "outside": {
            name: {
                "before": part.tokens,
                "after": plan.parts_after[name],
                "low": part.low,
                "high": part.high,
                "replies": list(part.replies),
                "note": part.note,
            }
            for name, part in plan.outside.parts.items()
            if part.tokens or part.high
        },
        "fits": plan.fits,
        "trigger": plan.verdict._asdict(),
        "sections": {
            name: {"before": was, "after": now}
            for name, was, now in zip(ALL_SECTIONS, before.tolist(), after.tolist(), strict=True)
            if was or now
        },
        "saved": plan.saved,
        "prefix": plan.prefix._asdict(),
        "folded": [{"turn": item.turn, "tokens": item.tokens} for item in plan.segments],
        "blocks": {fate: fates[code] for code, fate in enumerate(FATES) if fates[code]},
        "lost": [str(ref) for ref in plan.lost],
        "summaries": len(plan.jobs),
        "deterministic": plan.deterministic,
        "notes": list(plan.notes),
        "counter": plan.ledger.source,
        "spec": plan.spec_json,
        "recipe": plan.recipe,
    }


def _replay(asked: Namespace) -> list[str]:
    from .replays.engine import replay

    session = _read(asked)
    try:
        scenario = json.loads(asked.scenario or "{}")
    except ValueError as error:
        raise EditError("scenario", asked.scenario, f"it is no JSON: {error}") from None
    options = {"settings": _read_settings(asked), "window": asked.window}
    run = replay(session, asked.policy, scenario, ledger=_count(asked, session), **options)
    records = ({"record": event.record_in(run.policy.harness.dialect)} for event in run.events)
    rows = zip(run.events, records, strict=True)
    return [json.dumps(event.to_json() | more) for event, more in rows] if asked.json else [repr(run)]


def _lint(asked: Namespace) -> list[str]:
    """One file after another: one that cannot be read keeps none of the others from being looked at."""
    files, code = asked.file, 0
    if len(files) > 1 and asked.format not in BY_LINE:
        raise EditError(
            "format", asked.format, f"of several files the findings are told as {' or '.join(BY_LINE)}"
        )
    told: list[str] = []
    for asked.file in files:
        try:
            told += _lint_file(asked)
        except (InspectorError, OSError) as error:
            if len(files) == 1 or isinstance(error, PolicyError | EditError | CounterError):
                raise
            asked.code = _complain(error, asked.unreadable)
        code = max(code, asked.code)
    asked.code = code
    return told


def _lint_file(arguments: Namespace) -> list[str]:
    from .facts.lint.codes import report_uncompacted
    from .facts.lint.report import FORMATS

    session = _read(arguments)
    rules = [arguments.select, *(f"-{code.strip()}" for code in arguments.ignore.split(",") if code.strip())]
    plain = arguments.policy is None and arguments.counter == DEFAULT_COUNTER
    findings = report_uncompacted(session, rules) if plain else None
    if findings is None:
        from .facts.lint.check import lint
        from .policies.registry import configure_policy

        # With the default counter, the check counts tokens only if it needs them.
        ledger = None if arguments.counter == DEFAULT_COUNTER else _count(arguments, session)
        settings = _read_settings(arguments)
        policy = configure_policy(arguments.policy or UNNAMED, settings) if settings else arguments.policy
        findings = lint(session, policy, rules, ledger=ledger, window=arguments.window)
    arguments.code = FAILED if not findings.ok else REFUSED if findings.faults else 0
    return FORMATS[arguments.format](findings, session, arguments.file, arguments.fixes)


def _export(asked: Namespace) -> list[str]:
    from .workbench.page.export import export_html

    inputs = {"policy": asked.policy, "counter": asked.counter, "window": asked.window}
    file = asked.file if asked.part is None else _read(asked)
    return [repr(export_html(file, asked.page, replace=asked.replace, **inputs))]


def _sessions(asked: Namespace) -> list[str]:
    from .library import dump_found, sessions, summarise_found

    found = sessions(asked.newest or None)
    if asked.json:
        return [dump_found(one) for one in found]
    return [str(found), *([summarise_found(found)] if found else [])]


def _scan(asked: Namespace) -> list[str]:
    return _scan_under(asked, _read_names(asked.policy) or None)


def _sweep(asked: Namespace) -> list[str]:
    from .corpus.scanning import expand_grid

    grid: dict[str, list[Any]] = {}
    for told in asked.set:
        key, equals, values = told.partition("=")
        if not equals:
            raise PolicyError(asked.policy, f"--set {told!r:.60}: KEY=A,B is needed")
        grid[key.strip()] = [_read_value(value) for value in values.split(",")]
    return _scan_under(asked, expand_grid(_read_names(asked.policy), grid))


def _read_names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _read_value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _scan_under(asked: Namespace, policies: Any) -> list[str]:
    from .corpus.measure import Limits
    from .corpus.scanning import scan

    table = scan(
        asked.paths or None,
        policies,
        into=asked.into,
        measures=[name.strip() for name in asked.measures.split(",") if name.strip()],
        workers=asked.workers,
        limits=Limits(asked.seconds, int(asked.memory * (1 << 30))),
        tell=_tell_share if sys.stderr.isatty() else None,
    )
    return [json.dumps(row) for row in table] if asked.json else [repr(table)]


def _tell_share(share: float) -> None:
    """How far it is, on the terminal's last line."""
    sys.stderr.write(f"\r{share:4.0%}" if share < 1 else "\r    \r")
    sys.stderr.flush()


def _diff(asked: Namespace) -> list[str]:
    from .corpus.regressions import compare_scans, count_common
    from .corpus.row_store import open_scan

    old, new = open_scan(asked.old), open_scan(asked.new)
    common = count_common(old, new)
    if not common:
        raise EditError("diff", asked.new, f"it has no session and policy in common with {asked.old}")
    found = compare_scans(old, new, kept=asked.kept, left=asked.left)
    asked.code = FAILED if found else 0
    moments = f"{common:,} moments under a policy are in both"
    return [
        *(one.sentence for one in found),
        f"Worse in {len(found)}; {moments}." if found else f"Nothing got worse; {moments}.",
    ]


def _reopen(asked: Namespace) -> list[str]:
    from .files import reopen_session

    return [str(reopen_session(asked.file, asked.at, asked.to))]


def _convert(asked: Namespace) -> list[str]:
    from .files import save_export

    session = _read(asked)
    moment = session if asked.at is None else session.at(asked.at)
    losses = save_export(moment, asked.to, asked.format, redact=asked.redact)
    return [asked.to, *(loss.sentence for loss in losses)]


def _demo(asked: Namespace) -> list[str]:
    import tempfile
    from importlib.util import find_spec
    from pathlib import Path

    from .demo import read_demo

    if not asked.page and find_spec("jupyterlab") is None:
        raise InspectorError(NO_LAB)
    folder = Path(tempfile.mkdtemp(prefix="compaction-inspector-"))
    session = folder / DEMO_FILE
    session.write_bytes(read_demo())
    return _demo_page(asked, session) if asked.page else _demo_lab(asked, session)


def _demo_page(asked: Namespace, session: Path) -> list[str]:
    import webbrowser

    from .workbench.page.export import export_html

    page = session.with_name("demo.html")
    export_html(session, page)
    if not asked.no_browser:
        webbrowser.open(page.as_uri())
    return [str(page)]


def _demo_lab(asked: Namespace, session: Path) -> list[str]:
    """JupyterLab with the session open in it, until somebody ends it."""
    _say(str(session))
    command = [
        *(sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={session.parent}"),
        *(f"--LabApp.default_url=/lab/tree/{DEMO_FILE}", "--LabApp.news_url=None"),
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    if asked.no_browser:
        command.append("--no-browser")
    if asked.port is not None:
        command.append(f"--port={asked.port}")
    if os.name == "posix":
        if os.geteuid() == 0:
            # A container's only user is often root, and JupyterLab asks whether that is meant.
            command.append("--allow-root")
        # In this process's place, so that Ctrl+C and whatever else ends it is JupyterLab's to answer.
        os.execv(sys.executable, command)
    import subprocess

    asked.code = FAILED if subprocess.call(command) else 0
    return ["JupyterLab has ended."]


def _open(asked: Namespace) -> WorkbenchModel:
    """The file in a workbench without a screen, with the plan that is asked for."""
    from .workbench.model import WorkbenchModel

    session = _read(asked)
    ledger = _count(asked, session)
    model = WorkbenchModel(session, asked.policy or "flue", window=asked.window, ledger=ledger)
    inputs = {"cut": asked.cut or "", "settings": _read_settings(asked)}
    if asked.at is not None:
        inputs["at"] = asked.at
    model.answer(inputs)
    return model


def _read(asked: Namespace) -> Session:
    """The session in the file that is asked about."""
    from .files import open_session

    return open_session(asked.file, part=asked.part)


def _say(text: str) -> None:
    _write(sys.stdout, text)


def _complain(error: Exception, code: int) -> int:
    _write(sys.stderr, error_sentence(error))
    return code


def _write(stream: TextIO, text: str) -> None:
    """Transcripts hold what a terminal would act on, and characters it may not have."""
    encoding = stream.encoding or "utf-8"
    stream.write(printable(text).encode(encoding, "replace").decode(encoding) + "\n")
    stream.flush()


if __name__ == "__main__":
    raise SystemExit(main())
