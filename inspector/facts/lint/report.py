"""Format findings as text, JSON, GitHub annotations and SARIF."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any, NamedTuple

from ...redaction.clean import find_secrets
from ...redaction.redact import Redactor
from ...session.session import Session
from ...text import printable
from .codes import LINT_CODES, LintFinding, LintReport

SARIF = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
NAME = "compaction-inspector"
_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


def write_text(findings: LintReport, session: Session, *, fixes: bool = False) -> list[str]:
    """Format a line per finding, with its line in the file, and a summary as the last line."""
    lines, tidy = [], _find_redactor(findings, session).clean
    for finding in findings:
        at = find_line(finding, session)
        where = f"line {at}: " if at else ""
        lines.append(f"{finding.code} {finding.severity:<7}  {where}{finding.sentence}{_tell_more(finding)}")
        if fixes and finding.fix is not None:
            lines.append(f"               fix: {finding.fix.sentence} {finding.fix.price:+,} tokens")
    lines += [f"not checked: {printable(str(fault))}" for fault in findings.faults]
    return [*map(tidy, lines), f"{tidy(findings.looked)}: {findings.summary}"]


def _report(findings: LintReport, session: Session, file: str, fixes: bool) -> dict[str, Any]:
    """Return the report as JSON. `line` is null if a finding concerns no block of the file."""
    report = {
        "looked": findings.looked,
        "ok": findings.ok,
        "counts": findings.counts,
        "severities": findings.severities,
        "notes": list(findings.notes),
        "faults": [fault._asdict() for fault in findings.faults],
        "findings": [_describe(finding, session, fixes) for finding in findings],
    }
    return {"file": printable(file), **_find_redactor(findings, session).clean_tree(report)}


def write_github(findings: LintReport, session: Session, file: str) -> list[str]:
    """Format workflow commands, which GitHub shows next to the file.

    >>> from inspector.facts.lint.check import lint
    >>> from inspector.demo import open_demo
    >>> session = open_demo()
    >>> print(write_github(lint(session, rules="CI001"), session, "a,b.jsonl")[0][:64])
    ::error file=a%2Cb.jsonl,line=69,title=CI001 edited file absent:
    """
    lines, tidy = [], _find_redactor(findings, session).clean
    for finding in findings:
        at = find_line(finding, session)
        place = f",line={at}" if at else ""
        title = f"{finding.code} {finding.name}"
        text = _escape(tidy(finding.sentence) + _tell_more(finding))
        level = "notice" if finding.is_known else _LEVELS[finding.severity]
        lines.append(f"::{level} file={_escape(file, ':,')}{place},title={title}::{text}")
    place = f"file={_escape(file, ':,')},title=not checked::"
    return [
        *lines,
        *(f"::notice {place}{_escape(tidy(note))}" for note in findings.notes),
        *(f"::error {place}{_escape(str(fault))}" for fault in findings.faults),
    ]


def write_sarif(findings: LintReport, session: Session, file: str) -> list[str]:
    """Format SARIF 2.1.0 for code scanners and editors: one run with its rules and results."""
    return _join_sarif([_make_run(findings, session, file)])


class _SarifPart(NamedTuple):
    """The results of one file, its notifications, and whether everything in it was checked."""

    results: list[dict[str, Any]]
    notifications: list[dict[str, Any]]
    whole: bool


def _make_run(findings: LintReport, session: Session, file: str) -> _SarifPart:
    from urllib.parse import quote

    codes = list(LINT_CODES)
    results, tidy = [], _find_redactor(findings, session).clean
    artifact = {"artifactLocation": {"uri": quote(file, safe="/", errors="surrogateescape")}}
    for finding in findings:
        place: dict[str, Any] = {**artifact}
        if at := find_line(finding, session):
            place["region"] = {"startLine": at}
        result = {
            "ruleId": finding.code,
            "ruleIndex": codes.index(finding.code),
            "level": finding.severity,
            "message": {"text": printable(tidy(finding.sentence) + _tell_more(finding))},
            "locations": [{"physicalLocation": place}],
            "partialFingerprints": {"compactionInspector/v1": finding.fingerprint},
        }
        results.append(result | ({"baselineState": "unchanged"} if finding.is_known else {}))
    messages = [("note", tidy(note)) for note in findings.notes]
    messages += [("error", str(fault)) for fault in findings.faults]
    notes = [
        {"level": level, "message": {"text": printable(text)}, "locations": [{"physicalLocation": artifact}]}
        for level, text in messages
    ]
    return _SarifPart(results, notes, not findings.faults)


def _join_sarif(runs: list[_SarifPart]) -> list[str]:
    rules = [
        {
            "id": check.code,
            "name": check.name.title().replace(" ", ""),
            "shortDescription": {"text": check.name},
            "fullDescription": {"text": check.sentence},
            "defaultConfiguration": {"level": check.severity},
        }
        for check in LINT_CODES.values()
    ]
    results = [result for run in runs for result in run.results]
    whole: dict[str, Any] = {"tool": {"driver": {"name": NAME, "rules": rules}}, "results": results}
    if notes := [note for run in runs for note in run.notifications]:
        succeeded = all(run.whole for run in runs)
        whole["invocations"] = [{"executionSuccessful": succeeded, "toolExecutionNotifications": notes}]
    return [json.dumps({"$schema": SARIF, "version": "2.1.0", "runs": [whole]}, indent=2)]


def write_report(
    format: str, reports: Iterable[tuple[str, LintReport, Session]], are_several: bool, *, fixes: bool = False
) -> list[str]:
    """Format the reports on files as lines, each file as it comes, so that no session is held longer.

    Args:
        format: One of `REPORTS`.
        reports: The name of each file, its report, and its session.
        are_several: Whether several files, or a folder, were asked for.
        fixes: Whether text and JSON name a fix for each finding.
    """
    if format == "text":
        texts = [(file, write_text(report, session, fixes=fixes)) for file, report, session in reports]
        return [line for file, lines in texts for line in [printable(file)] * are_several + lines]
    if format == "json":
        parts = [_report(report, session, file, fixes) for file, report, session in reports]
        return [json.dumps(parts if are_several else parts[0], indent=2)]
    if format == "github":
        return [line for file, report, session in reports for line in write_github(report, session, file)]
    return _join_sarif([_make_run(report, session, file) for file, report, session in reports])


def read_baseline(text: str) -> dict[str, list[str]]:
    """Read the fingerprints in the JSON of earlier reports, by the names of their files.

    Raises `ValueError` for anything else.

    >>> read_baseline('{"file": "runs/a.jsonl", "findings": [{"fingerprint": "c0ffee"}]}')
    {'runs/a.jsonl': ['c0ffee']}
    """
    value = json.loads(text)
    baseline: dict[str, list[str]] = {}
    try:
        for report in value if isinstance(value, list) else [value]:
            prints = [str(finding["fingerprint"]) for finding in report["findings"]]
            baseline.setdefault(str(report["file"]), []).extend(prints)
    except (KeyError, TypeError):
        raise ValueError("it has no findings with fingerprints") from None
    return baseline


def find_earlier(baseline: dict[str, list[str]], file: str) -> list[str]:
    """Return the fingerprints of a file in a baseline. In another folder, a file is found by its name if only
    one file of the baseline has it.

    >>> baseline = {"runs/a.jsonl": ["c0ffee"], "old/b.jsonl": [], "new/b.jsonl": ["f00d"]}
    >>> find_earlier(baseline, "elsewhere/a.jsonl"), find_earlier(baseline, "elsewhere/b.jsonl")
    (['c0ffee'], [])
    >>> find_earlier(baseline, "./old/b.jsonl"), find_earlier(baseline, "./new/b.jsonl")
    ([], ['f00d'])
    """
    path = PurePath(printable(file))
    by_path = {PurePath(other): prints for other, prints in baseline.items()}  # "./a" is "a"
    if path in by_path:
        return by_path[path]
    prints = [listed for other, listed in by_path.items() if other.name == path.name]
    return prints[0] if len(prints) == 1 else []


def _find_redactor(findings: LintReport, session: Session) -> Redactor:
    """Return the redactor for a report: it may leave the machine, so it contains no secret of the session."""
    return (find_secrets(session) if findings else None) or Redactor()


def find_line(finding: LintFinding, session: Session) -> int | None:
    """Return the line of the file, from 1, of the block that a finding's sentence is about, else of its last.

    The blocks of a reply may be records of their own."""
    for ref in filter(None, (finding.at, *reversed(finding.refs))):
        if ref.entry in session.index and (sources := session[ref.entry].sources):
            apart = len(sources) == len(session[ref.entry].blocks)
            return sources[ref.block if apart else 0].line
    return None


def _tell_more(finding: LintFinding) -> str:
    return (" (inferred)" if finding.tier == "inferred" else "") + (" (known)" if finding.is_known else "")


def _describe(finding: LintFinding, session: Session, fixes: bool) -> dict[str, Any]:
    fact, fix = finding.fact, finding.fix if fixes else None
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "fingerprint": finding.fingerprint,
        "known": finding.is_known,
        "tier": finding.tier,
        "compaction": finding.entry,
        "kind": None if fact is None else fact.kind,
        "form": None if fact is None else fact.form,
        "refs": [str(ref) for ref in finding.refs],
        "line": find_line(finding, session),
        "sentence": finding.sentence,
        "fix": None if fix is None else {"sentence": fix.sentence, "tokens": fix.price, "cost": fix.money},
    }


def _escape(text: str, more: str = "") -> str:
    for sign in ("%", "\r", "\n", *more):
        text = text.replace(sign, f"%{ord(sign):02X}")
    return printable(text)
