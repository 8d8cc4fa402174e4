"""Compare a snapshot with the summary that replaced the conversation: absent and changed facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from ..facts.indexed_text import ALL_SAID, IndexedText, SaidBefore
from ..facts.outcomes import MISSING, TRAITS, FactComparison
from ..facts.statements import compare_statement
from ..facts.things import compare_thing
from .given_back import MOST_LOSSES, write_lines
from .snapshot import clean_line

_WRAPPED = re.compile(r"<summary>(.*?)(?:</summary>|\Z)", re.DOTALL)
_LOSSES = "Differences between the summary of the last compaction and the statements of the user:"
_WORDS = {
    "absent": 'not in the summary: "{text}"',
    "changed": 'stated: "{text}"; the summary says: "{words}"',
    "contradicted": 'stated: "{text}"; the summary says the opposite: "{words}"',
}


def make_report(
    snapshot: dict[str, Any],
    summary: str,
    retained: str,
    is_typed: Callable[[str], bool],
    *,
    sealed: bool = False,
) -> dict[str, Any]:
    """Compare a snapshot with a summary.

    Args:
        snapshot: The snapshot from before the compaction.
        summary: The harness's summary; only the part in <summary> counts, if there is one.
        retained: The messages that the compaction kept in addition.
        is_typed: Whether the user typed some words.
        sealed: The summary is encrypted or missing: what `retained` does not hold has the outcome "unknown".
    """
    inside = _WRAPPED.search(summary)
    summary = inside[1] if inside else summary
    text = IndexedText(f"{summary}\n{retained}")
    items = list[dict[str, str]]()
    for kind, form, comparison in _compare(snapshot, text, SaidBefore(is_typed)):
        outcome = "unknown" if sealed and comparison.outcome == "absent" else comparison.outcome
        items.append({"kind": kind, "text": form, "outcome": outcome, "words": clean_line(comparison.words)})
    return {
        "session": snapshot["session"],
        "harness": snapshot["harness"],
        "snapshot": snapshot["time"],
        "items": items,
        "reported": False,
    }


def _compare(
    snapshot: dict[str, Any], text: IndexedText, is_typed: SaidBefore
) -> Iterator[tuple[str, str, FactComparison]]:
    for rule in snapshot["rules"]:
        yield "rule", rule, compare_statement(rule, text, is_typed)
    for pin in snapshot["pins"]:
        yield "pin", pin, compare_statement(pin, text, is_typed)
    for line in snapshot["errors"]:
        yield "error", line, compare_statement(line, text, ALL_SAID, asks=False, exact=True)
    for todo in snapshot["todos"]:
        yield "todo", todo, compare_statement(todo, text, ALL_SAID, asks=False)
    for name in snapshot["files"]:
        # The values of the whole session are not known here, so another file's name does not change this one.
        yield "file", name, compare_thing("file", name, text, ALL_SAID)


def find_lost(report: dict[str, Any]) -> list[dict[str, str]]:
    """Return the rules and pins that the summary lost: partial and undecided ones are only in the report."""
    return [i for i in report.get("items", ()) if i["kind"] in ("rule", "pin") and i["outcome"] in MISSING]


def write_losses(report: dict[str, Any], where: str) -> str:
    """Write the lost rules and pins for the next prompt, and `where` the report is; "" for none."""
    lines = [_WORDS[item["outcome"]].format(**item) for item in find_lost(report)]
    text = write_lines(_LOSSES, lines, MOST_LOSSES - len(where.encode()) - 16)
    return f"{text}\nWhole report: {where}" if text else ""


def write_page(report: dict[str, Any]) -> str:
    """Write a report for a person, in Markdown."""
    kinds = {"rule": "Rules", "pin": "Pins", "error": "Errors", "todo": "To-dos", "file": "Edited files"}
    lines = ["# Facts in the summary of a compaction", "", f"Session `{report['session']}`.", ""]
    for kind, heading in kinds.items():
        items = [item for item in report["items"] if item["kind"] == kind]
        retained = sum(item["outcome"] in ("quoted", "paraphrased") for item in items)
        lines += [f"## {heading}: {retained} of {len(items)} kept", ""] * bool(items)
        for item in items:
            label = TRAITS[item["outcome"]].label
            shown = item["words"] if item["outcome"] not in ("quoted", "absent") else ""
            lines.append(f"- {label}: {item['text']}{f' (the summary: {shown})' if shown else ''}")
        lines += [""] * bool(items)
    return "\n".join(lines)
