"""Findings written for a person, for a program, and for GitHub's annotations."""

from __future__ import annotations

import json
from typing import Any

from ...session.session import Session
from ...text import printable
from .codes import LintFinding, LintReport

FORMATS = ("text", "json", "github")
_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


def write_text(findings: LintReport, session: Session, *, fixes: bool = False) -> list[str]:
    """A line for each finding, with the line of the file where it is said, and a last one that adds up."""
    lines = []
    for finding in findings:
        at = find_line(finding, session)
        where = f"line {at}: " if at else ""
        lines.append(f"{finding.code} {finding.severity:<7}  {where}{finding.sentence}{_tier(finding)}")
        if fixes and finding.fix is not None:
            lines.append(f"               fix: {finding.fix.sentence} {finding.fix.price:+,} tokens")
    said = ", ".join(f"{n:,} {name}{'s' * (n != 1)}" for name, n in findings.severities.items() if n)
    return [*lines, f"{findings.looked}: {said or 'nothing found'}"]


def write_json(findings: LintReport, session: Session, *, fixes: bool = False) -> list[str]:
    """All of it as one JSON value; `line` is null where a finding is about no block of the file."""
    return [
        json.dumps(
            {
                "looked": findings.looked,
                "ok": findings.ok,
                "counts": findings.counts,
                "severities": findings.severities,
                "findings": [_describe(finding, session, fixes) for finding in findings],
            },
            indent=2,
        )
    ]


def write_github(findings: LintReport, session: Session, file: str) -> list[str]:
    """Workflow commands, which GitHub shows beside the file.

    >>> from inspector.facts.lint.check import lint
    >>> from inspector.demo import open_demo
    >>> session = open_demo()
    >>> print(write_github(lint(session, rules="CI001"), session, "a,b.jsonl")[0][:62])
    ::error file=a%2Cb.jsonl,line=79,title=CI001 edited file lost:
    """
    lines = []
    for finding in findings:
        at = find_line(finding, session)
        place = f",line={at}" if at else ""
        title = f"{finding.code} {finding.name}"
        said = _escape(finding.sentence + _tier(finding))
        lines.append(f"::{_LEVELS[finding.severity]} file={_escape(file, ':,')}{place},title={title}::{said}")
    return lines


def find_line(finding: LintFinding, session: Session) -> int | None:
    """The line of the file (from 1) that last says what a finding is about."""
    for ref in reversed(finding.refs):
        if ref.entry in session.index and (sources := session[ref.entry].sources):
            return sources[0].line
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
