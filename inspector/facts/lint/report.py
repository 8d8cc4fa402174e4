"""Format findings as text, JSON, GitHub annotations and SARIF."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

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
        lines.append(f"{finding.code} {finding.severity:<7}  {where}{finding.sentence}{_tier(finding)}")
        if fixes and finding.fix is not None:
            lines.append(f"               fix: {finding.fix.sentence} {finding.fix.price:+,} tokens")
    lines += [f"not checked: {printable(str(fault))}" for fault in findings.faults]
    return [*map(tidy, lines), f"{tidy(findings.looked)}: {findings.summary}"]


def write_json(findings: LintReport, session: Session, *, fixes: bool = False) -> list[str]:
    """Format the report as one JSON value. `line` is null if a finding concerns no block of the file."""
    report = {
        "looked": findings.looked,
        "ok": findings.ok,
        "counts": findings.counts,
        "severities": findings.severities,
        "faults": [fault._asdict() for fault in findings.faults],
        "findings": [_describe(finding, session, fixes) for finding in findings],
    }
    return [json.dumps(_find_redactor(findings, session).clean_tree(report), indent=2)]


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
        text = _escape(tidy(finding.sentence) + _tier(finding))
        lines.append(f"::{_LEVELS[finding.severity]} file={_escape(file, ':,')}{place},title={title}::{text}")
    head = f"::error file={_escape(file, ':,')},title=not checked::"
    return [*lines, *(head + _escape(str(fault)) for fault in findings.faults)]


def write_sarif(findings: LintReport, session: Session, file: str) -> list[str]:
    """Format SARIF 2.1.0 for code scanners and editors: one run with its rules and results."""
    from urllib.parse import quote

    codes = list(LINT_CODES)
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
    results, tidy = [], _find_redactor(findings, session).clean
    for finding in findings:
        place: dict[str, Any] = {"artifactLocation": {"uri": quote(file, safe="/", errors="surrogateescape")}}
        if at := find_line(finding, session):
            place["region"] = {"startLine": at}
        results.append(
            {
                "ruleId": finding.code,
                "ruleIndex": codes.index(finding.code),
                "level": finding.severity,
                "message": {"text": printable(tidy(finding.sentence) + _tier(finding))},
                "locations": [{"physicalLocation": place}],
            }
        )
    run: dict[str, Any] = {"tool": {"driver": {"name": NAME, "rules": rules}}, "results": results}
    if findings.faults:
        notes = [{"level": "error", "message": {"text": printable(str(f))}} for f in findings.faults]
        run["invocations"] = [{"executionSuccessful": False, "toolExecutionNotifications": notes}]
    return [json.dumps({"$schema": SARIF, "version": "2.1.0", "runs": [run]}, indent=2)]


FORMATS: dict[str, Callable[[LintReport, Session, str, bool], list[str]]] = {
    "text": lambda findings, session, _, fixes: write_text(findings, session, fixes=fixes),
    "json": lambda findings, session, _, fixes: write_json(findings, session, fixes=fixes),
    "github": lambda findings, session, file, _: write_github(findings, session, file),
    "sarif": lambda findings, session, file, _: write_sarif(findings, session, file),
}
"""Functions that format a report of a session, with the name of its file, and with fixes or without."""


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


def _tier(finding: LintFinding) -> str:
    return " (inferred)" if finding.tier == "inferred" else ""


def _describe(finding: LintFinding, session: Session, fixes: bool) -> dict[str, Any]:
    fact, fix = finding.fact, finding.fix if fixes else None
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
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
