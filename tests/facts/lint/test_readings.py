"""What the checks find on the shared sessions, read by hand: how much of it is right, code by code."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path

from inspector.facts.lint.check import lint
from tests.shared import SHARED, needs_shared, open_shared

READINGS = Path(__file__).parents[2] / "cases" / "facts" / "readings.jsonl"
ERRORS, WARNINGS = ("CI001", "CI006"), ("CI004", "CI005")
FILES = (
    "claude-code--cipher-box/cc-2.1.49-1compact-993l.jsonl",
    "claude-code--context-evaluator/cc-1compact-2img.jsonl",
    "claude-code--context-evaluator/cc-1compact-417l.jsonl",
    "claude-code--entireio-cli/cc-1auto-1micro.jsonl",
    "claude-code--entireio-cli/cc-2auto-1519l.jsonl",
    "claude-code--entireio-cli/cc-3auto-compactions-893l.jsonl",
    "claude-code--entireio-cli/cc-auto+manual-1161l.jsonl",
    "claude-code--entireio-cli/cc-image+compaction.jsonl",
    "flue/before-compaction.session.json",
    "growth-series--entireio-cli/step08-1350l.jsonl",
    "pi--pi-mono/pi-before-compaction.jsonl",
)
"""Every finding of these codes in these files was read."""
LEAST = {**dict.fromkeys(ERRORS, 0.95), **dict.fromkeys(WARNINGS, 0.8)}


def digest(sentence: str) -> str:
    """A finding without its words."""
    return sha256(sentence.encode()).hexdigest()[:16]


@needs_shared
def test_what_the_checks_find_is_right() -> None:
    """Every finding of these codes is read."""
    rows = [json.loads(line) for line in READINGS.read_text("utf-8").splitlines()]
    read = {(row["file"], row["entry"], row["code"], row["digest"]): row["right"] for row in rows}
    right, counted, unread = Counter[str](), Counter[str](), []
    for file in FILES:
        for finding in lint(open_shared(SHARED / "sessions" / file), rules=",".join(LEAST)):
            key = (file, finding.entry, finding.code, digest(finding.sentence))
            if key in read:
                counted[finding.code] += 1
                right[finding.code] += read[key]
            else:
                unread.append(finding.sentence)
    assert unread == []
    assert counted.total() == len(rows), "a row that is no finding any more is to be deleted"
    for code, least in LEAST.items():
        assert right[code] >= least * counted[code], (code, right[code], counted[code])
