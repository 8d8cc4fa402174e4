"""I/O: the command line, `compaction-inspector`.

    compaction-inspector show session.jsonl
    compaction-inspector show session.jsonl --estimate
    compaction-inspector plan session.jsonl --policy flue --json
    compaction-inspector replay session.jsonl --policy stud-wiki-1.1 --json
    compaction-inspector lint session.jsonl --policy flue --select CI001,CI002
    compaction-inspector lint transcripts/ --format json > known.json
    compaction-inspector lint transcripts/ --baseline known.json
    compaction-inspector export session.jsonl page.html
    compaction-inspector sessions
    compaction-inspector scan transcripts/ --policy flue,codex --into rows.jsonl
    compaction-inspector sweep transcripts/ --policy flue --set keep-recent-tokens.tokens=8000,20000
    compaction-inspector demo --page
    compaction-inspector hook install
    compaction-inspector grade answers/

Exit codes: 0 for success, 1 if a file could not be read or written, 2 for invalid arguments. `lint` exits
with 0 if it found no error, 1 if it found one, and 2 if it could not check; `diff` does the same for
regressions. An error is reported in one sentence. Each command imports the modules that it alone needs.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .cli_common import (
    DEFAULT_COUNTER,
    complain,
    configure_input,
    count_input,
    read_input,
    read_own_settings,
    read_summary,
    write,
)
from .errors import CounterError, EditError, InspectorError, PolicyError
from .facts.lint.codes import LINT_CODES, REPORTS
from .hooks.commands import add_hook_commands
from .lint_command import lint_files
from .text import draw_bar, text_table
from .workbench.lessons.commands import add_commands

if TYPE_CHECKING:
    from pathlib import Path

    from .planning.plan import Plan
    from .workbench.model import WorkbenchModel

FAILED, REFUSED, INTERRUPTED = 1, 2, 130
LOADED = 100_000
"""Objects to allocate before the first garbage collection: more than a short command creates."""
PLACE = 'an id, or "turn 5"'
SETTINGS = "a settings.json with the policy's thresholds; of several the last counts"
DEMO_FILE = "demo.session.jsonl"  # by such a name JupyterLab opens it as a workbench
NO_LAB = (
    "JupyterLab is not installed: `python -m pip install jupyterlab` installs it, and "
    "`compaction-inspector demo --page` shows the demo without it"
)
EXIT_CODES = "Ends with 0 when no error was found, 1 when one was, 2 when the session could not be checked."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, by default with the arguments of the process. Return the exit code."""
    if arguments is None:
        # Loaded objects are needed until the process ends: collecting garbage every few hundred objects
        # would take a twelfth of the time of a short command.
        gc.set_threshold(LOADED)
    args = make_parser().parse_args(arguments)
    try:
        if args.window is not None:
            from .policies.policy import check_window

            check_window(args.window)
        write(sys.stdout, "\n".join(args.do(args)))
    except BrokenPipeError:
        # The reader closed the pipe; nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return INTERRUPTED
    except (PolicyError, EditError, CounterError) as error:
        return complain(error, REFUSED)
    except (InspectorError, OSError) as error:
        return complain(error, args.unreadable)
    return int(args.code)


def make_parser() -> ArgumentParser:
    """Build the parser of the command line."""
    parser = ArgumentParser(
        prog="compaction-inspector",
        description="See what a context compaction keeps, what it loses and what it costs.",
        epilog="For the interactive workbench, open the session in Jupyter.",
    )
    parser.add_argument("--version", action=_ShowVersion)
    commands = parser.add_subparsers(
        required=True,
        metavar="show | plan | replay | lint | export | reopen | convert | sessions | scan | sweep | diff "
        "| demo | course | grade | hook | status-line | mcp",
    )
    show = commands.add_parser("show", help="a session, its tokens and what a policy does, as a table")
    plan = commands.add_parser("plan", help="a policy's plan in short, or all of it as JSON")
    replayed = commands.add_parser(
        "replay", help="the session replayed under a policy, or its audit: one event per line"
    )
    codes = ", ".join(f"{lint_code.code} {lint_code.name}" for lint_code in LINT_CODES.values())
    check = commands.add_parser(
        "lint",
        aliases=["check"],
        help="losses that a compaction should have avoided",
        epilog=f"{EXIT_CODES} {codes}.",
    )
    export = commands.add_parser("export", help="the workbench as one HTML file, secrets redacted")
    reopened = commands.add_parser("reopen", help="the session at an entry, as a new session to continue")
    reopened.add_argument("file", help="a session file of Claude Code's or pi's; it is only read")
    reopened.add_argument("--at", metavar="ID", help="last entry to copy; default: the session's end")
    reopened.add_argument("--to", metavar="PATH", help='default: "<new id>.jsonl" next to the file')
    reopened.set_defaults(do=_reopen, code=0, unreadable=FAILED, window=None)
    converted = commands.add_parser("convert", help="the session in another harness's format, in a new file")
    converted.add_argument("file", help="a session file of any format that is known; it is only read")
    converted.add_argument("format", help="flue, pi, claude-code, codex, or openai for a request's body")
    converted.add_argument("--redact", action="store_true", help="replace secrets by their names")
    converted.add_argument("to", help="path of the new file")
    converted.add_argument("--at", metavar="ID", help="last entry to write; default: the session's end")
    converted.add_argument("--part", metavar="NAME", help="session to read from an archive of several")
    converted.set_defaults(do=_convert, code=0, unreadable=FAILED, window=None)
    listed = commands.add_parser("sessions", help="the sessions on this machine, newest first")
    listed.add_argument("--newest", type=int, default=30, metavar="N", help="default: 30; 0 for all")
    listed.add_argument("--json", action="store_true", help="as JSON, one session per line")
    listed.set_defaults(do=_sessions, code=0, unreadable=FAILED, window=None)
    _add_corpus(commands)
    add_hook_commands(commands)
    add_commands(commands)
    tried = commands.add_parser(
        "demo",
        help="the demo session in JupyterLab, or as a page",
        epilog="Both are written to a new temporary folder; keep or remove it.",
    )
    where = tried.add_mutually_exclusive_group()
    where.add_argument("--page", action="store_true", help="as one HTML page, instead of in JupyterLab")
    tried.add_argument("--no-browser", action="store_true", help="print the address and open no browser")
    where.add_argument("--port", type=int, metavar="N", help="JupyterLab's; default: the first free one")
    tried.set_defaults(do=_demo, code=0, unreadable=FAILED, window=None)
    tasks = ((show, _show), (plan, _plan), (replayed, _replay), (check, lint_files), (export, _export))
    for command, do in tasks:
        # A build must distinguish a session that could not be checked from one with findings.
        command.set_defaults(do=do, code=0, unreadable=REFUSED if command is check else FAILED)
        several: dict[str, Any] = {"nargs": "+"} if command is check else {}
        what = ", or a folder of them" if command is check else ""
        command.add_argument("file", help=f"a session file of any format that is known{what}", **several)
        command.add_argument("--part", metavar="NAME", help="session to read from an archive of several")
        first = {
            check: "the compactions the file records",
            replayed: "the policy of the harness that wrote it, or flue",
        }.get(command, "the workbench's own choice")
        default = "auto" if command is export else None
        command.add_argument("--policy", default=default, metavar="NAME", help=f"default: {first}")
        command.add_argument("--settings", action="append", default=[], metavar="FILE", help=SETTINGS)
        command.add_argument(
            "--counter", default=DEFAULT_COUNTER, metavar="NAME", help=f"default: {DEFAULT_COUNTER}"
        )
        command.add_argument("--window", type=int, metavar="TOKENS", help="default: the model's window")
        if command in (show, plan):
            when = "point in time to plan; default: the workbench's choice, with --policy the fullest"
            command.add_argument("--at", metavar="ID", help=when)
            command.add_argument("--cut", metavar="PLACE", help=f'the first entry kept: {PLACE}, or "end"')
            command.add_argument("--since", metavar="PLACE", help=f"the first entry compacted: {PLACE}")
        if command in (show, plan, check):
            own = "a text of your own, as the summary of the plan"
            command.add_argument("--summary", metavar="FILE", help=own)
    show.add_argument(
        "--estimate",
        action="store_true",
        help="the context's size by an estimate, at once; no policy is planned unless one is named",
    )
    plan.add_argument("--json", action="store_true", help="as JSON")
    what = "each event with the harness's own record, then the findings, as JSON"
    replayed.add_argument("--json", action="store_true", help=what)
    outside = 'what happens, as a JSON object; {"provider": "accepts"} lets requests above the window pass'
    replayed.add_argument("--scenario", metavar="JSON", help=outside)
    check.add_argument("--select", default="", metavar="CODES", help="codes or their beginnings: CI001,CI002")
    check.add_argument("--ignore", default="", metavar="CODES", help="codes to leave out")
    check.add_argument("--format", default="text", choices=REPORTS, help="default: text")
    known = "JSON of an earlier run: its findings are marked as known, and do not fail the build"
    check.add_argument("--baseline", metavar="FILE", help=known)
    check.add_argument("--fixes", action="store_true", help="with a policy: the cheapest fix of each finding")
    export.add_argument("page", help="path of the page")
    export.add_argument("--replace", action="store_true", help="overwrite a file of another kind")
    return parser


def _add_corpus(commands: Any) -> None:
    """Add the commands for many sessions."""
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
            "--into", metavar="FILE", help="add rows to this file, and continue from those it has"
        )
        what = "what to measure, separated by commas: facts, regret, findings"
        command.add_argument("--measures", default="facts,regret", help=what)
        command.add_argument("--workers", type=int, metavar="N", help="processes; default: one per processor")
        command.add_argument(
            "--seconds", type=float, default=300.0, help="time limit for one file; default: 300"
        )
        command.add_argument(
            "--memory", type=float, default=4.0, metavar="GIB", help="memory limit for one file; default: 4"
        )
        command.add_argument("--json", action="store_true", help="every row as JSON, one per line")
        command.set_defaults(do=do, code=0, unreadable=FAILED, window=None)
    scanned.add_argument("--policy", default="", metavar="NAMES", help="separated by commas; default: all")
    swept.add_argument(
        "--policy",
        required=True,
        metavar="NAMES",
        help="separated by commas; each is varied by the settings that it has, else planned unchanged",
    )
    swept.add_argument(
        "--set", action="append", required=True, metavar="KEY=A,B,...", help='such as "trigger.ratio=0.7,0.8"'
    )
    compared = commands.add_parser(
        "diff",
        help="regressions of a newer scan against an older one, on the same sessions",
        epilog="Ends with 0 when nothing got worse, 1 when something did, 2 when they cannot be compared.",
    )
    compared.add_argument("old", help="a file that scan --into wrote")
    compared.add_argument("new", help="a file of a newer scan")
    drop = "tolerated drop in the share of facts kept; default: 0.02"
    compared.add_argument("--kept", type=float, default=0.02, metavar="SHARE", help=drop)
    rise = "tolerated rise in the share of tokens left; default: 0.05"
    compared.add_argument("--left", type=float, default=0.05, metavar="SHARE", help=rise)
    compared.set_defaults(do=_diff, code=0, unreadable=REFUSED, window=None)


class _ShowVersion(Action):
    """Action of --version. It looks the version of the installed package up only when used."""

    def __init__(self, option_strings: Sequence[str], dest: str, **more: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version and end", **more)

    def __call__(self, parser: ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        write(sys.stdout, version("compaction-inspector"))
        parser.exit()


def _show(args: Namespace) -> list[str]:
    if args.estimate and not (
        args.policy or args.settings or args.at or args.cut or args.since or args.window or args.summary
    ):
        return _show_sizes(args)
    from .tokens.cost import price_session
    from .workbench.payloads.sections import ALL_SECTIONS, LABELS, sum_sections

    model = _open(args)
    plan = _write_in(args, model.plan)
    before, after = sum_sections(plan)
    rows = [("tokens", "before", "after", "")]
    for name, was, now in zip(ALL_SECTIONS, before.tolist(), after.tolist(), strict=True):
        if was or now:
            rows.append(
                (f"  {LABELS.get(name, name)}", f"{was:,}", f"{now:,}", draw_bar(now, was, int(before.max())))
            )
    rows.append(("  all", f"{int(before.sum()):,}", f"{int(after.sum()):,}", ""))
    table = text_table(rows, (1, 2))
    head = [title] if (title := plan.session.title or plan.session.id) else []
    cost = ["", repr(bill)] if (bill := price_session(model.session)).lines else []
    sentences = [*_tell_plan(plan), *model.describe_opening()]
    return [*head, repr(model.session), "", *sentences, "", *table, "", model.ledger.source, *cost]


def _tell_plan(plan: Plan) -> list[str]:
    """Describe a plan, and whether its policy fires; a recorded compaction did."""
    verdict = [] if plan.policy.name == "recorded" else [plan.verdict.describe()]
    return [repr(plan), *verdict, *plan.notes]


def _show_sizes(args: Namespace) -> list[str]:
    """The context by section, by the estimate: without a plan, a price or a table of tokens."""
    session = read_input(args)
    head = [title] if (title := session.title or session.id) else []
    return [*head, repr(session), "", repr(count_input(args, session))]


def _plan(args: Namespace) -> list[str]:
    model = _open(args)
    plan = _write_in(args, model.plan)
    if args.json:
        return [json.dumps(describe_plan(plan), indent=2)]
    return [*_tell_plan(plan), *model.describe_opening()]


def _write_in(args: Namespace, plan: Plan) -> Plan:
    """Put the text of --summary into a plan."""
    return plan if (text := read_summary(args)) is None else plan.with_summary(text)


def describe_plan(plan: Plan) -> dict[str, Any]:
    """Return a plan as JSON: its effect in tokens and blocks. `make_plan` rebuilds it from its `spec`."""
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
        "trigger": {
            name: getattr(plan.verdict, name)
            for name in ("fires", "tokens", "threshold", "missing", "sentence")
        },
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


def _replay(args: Namespace) -> list[str]:
    from .replays.engine import replay

    session = read_input(args)
    try:
        scenario = json.loads(args.scenario or "{}")
    except ValueError as error:
        raise EditError("scenario", args.scenario, f"it is not valid JSON: {error}") from None
    options = {"settings": read_own_settings(args), "window": args.window}
    run = replay(session, args.policy, scenario, ledger=count_input(args, session), **options)
    rows = [event.to_json() | {"record": event.record_in(run.policy.harness.dialect)} for event in run.events]
    rows += [{**note._asdict(), "kind": "finding", "finding": note.kind} for note in run.findings]
    return [json.dumps(row) for row in rows] if args.json else [repr(run)]


def _export(args: Namespace) -> list[str]:
    from .workbench.page.export import export_html

    file = args.file if args.part is None else read_input(args)
    inputs = {"policy": configure_input(args, "-set"), "counter": args.counter, "window": args.window}
    return [repr(export_html(file, args.page, replace=args.replace, **inputs))]


def _sessions(args: Namespace) -> list[str]:
    from .library import dump_found, sessions, summarise_found

    listed = sessions(args.newest or None)
    if args.json:
        return [dump_found(session_file) for session_file in listed]
    return [str(listed), *([summarise_found(listed)] if listed else [])]


def _scan(args: Namespace) -> list[str]:
    return _scan_under(args, _read_names(args.policy) or None)


def _sweep(args: Namespace) -> list[str]:
    from .corpus.scanning import expand_grid

    grid: dict[str, list[Any]] = {}
    for assignment in args.set:
        key, equals, values = assignment.partition("=")
        if not equals:
            raise PolicyError(args.policy, f"--set {assignment!r:.60}: KEY=A,B is needed")
        grid[key.strip()] = [_read_value(value) for value in values.split(",")]
    return _scan_under(args, expand_grid(_read_names(args.policy), grid))


def _read_names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _read_value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _scan_under(args: Namespace, policies: Any) -> list[str]:
    from .corpus.measure import Limits
    from .corpus.scanning import scan

    table = scan(
        args.paths or None,
        policies,
        into=args.into,
        measures=[name.strip() for name in args.measures.split(",") if name.strip()],
        workers=args.workers,
        limits=Limits(args.seconds, int(args.memory * (1 << 30))),
    )
    return [json.dumps(row) for row in table] if args.json else [repr(table)]


def _diff(args: Namespace) -> list[str]:
    from .corpus.regressions import compare_scans, count_common
    from .corpus.row_store import open_scan

    old, new = open_scan(args.old), open_scan(args.new)
    common = count_common(old, new)
    if not common:
        raise EditError("diff", args.new, f"it has no session and policy in common with {args.old}")
    regressions = compare_scans(old, new, kept=args.kept, left=args.left)
    args.code = FAILED if regressions else 0
    moments = f"{common:,} moments under a policy are in both"
    return [
        *(regression.sentence for regression in regressions),
        f"Worse in {len(regressions)}; {moments}." if regressions else f"Nothing got worse; {moments}.",
    ]


def _reopen(args: Namespace) -> list[str]:
    from .files import reopen_session

    return [str(reopen_session(args.file, args.at, args.to))]


def _convert(args: Namespace) -> list[str]:
    from .files import save_export

    session = read_input(args)
    moment = session if args.at is None else session.at(args.at)
    losses = save_export(moment, args.to, args.format, redact=args.redact)
    return [args.to, *(loss.sentence for loss in losses)]


def _demo(args: Namespace) -> list[str]:
    import tempfile
    from importlib.util import find_spec
    from pathlib import Path

    from .demo import read_demo

    if not args.page and find_spec("jupyterlab") is None:
        raise InspectorError(NO_LAB)
    folder = Path(tempfile.mkdtemp(prefix="compaction-inspector-"))
    session = folder / DEMO_FILE
    session.write_bytes(read_demo())
    return _demo_page(args, session) if args.page else _demo_lab(args, session)


def _demo_page(args: Namespace, session: Path) -> list[str]:
    import webbrowser

    from .workbench.page.export import export_html

    export_html(session, page := session.with_name("demo.html"))
    if not args.no_browser:
        webbrowser.open(page.as_uri())
    return [str(page)]


def _demo_lab(args: Namespace, session: Path) -> list[str]:
    """Run JupyterLab with the session open in it, until the user ends it."""
    write(sys.stdout, str(session))
    command = [
        *(sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={session.parent}"),
        *(f"--LabApp.default_url=/lab/tree/{DEMO_FILE}", "--LabApp.news_url=None"),
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    if args.no_browser:
        command.append("--no-browser")
    if args.port is not None:
        command.append(f"--port={args.port}")
    if os.name == "posix":
        if os.geteuid() == 0:
            # A container's only user is often root, which JupyterLab refuses by default.
            command.append("--allow-root")
        # Replace this process, so that JupyterLab receives Ctrl+C and other signals.
        os.execv(sys.executable, command)
    import subprocess

    args.code = FAILED if subprocess.call(command) else 0
    return ["JupyterLab has ended."]


def _open(args: Namespace) -> WorkbenchModel:
    """Open the file in a workbench without a screen, with the requested plan."""
    from .workbench.model import WorkbenchModel

    session = read_input(args)
    ledger = count_input(args, session)
    model = WorkbenchModel(session, args.policy or "auto", window=args.window, ledger=ledger)
    inputs = {"cut": args.cut or "", "since": args.since or "", "settings": read_own_settings(args)}
    if args.at is not None:
        inputs["at"] = args.at
    model.answer(inputs)
    return model


if __name__ == "__main__":
    raise SystemExit(main())
