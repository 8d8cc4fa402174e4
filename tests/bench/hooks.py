"""Measure the texts of hooks at every recorded compaction of the shared sessions: `make hooks`.

Each session file is cut at each of its compactions. A hook process gets the events that the harness sends
then, with the recorded summary, and the file as it was. No model is asked: the table counts what is in the
context, not what a model does with it. `python tests/bench/hooks.py FILE` times one more file.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from inspector.facts.indexed_text import ALL_SAID, IndexedText
from inspector.facts.statements import compare_statement
from inspector.hooks.conversation import Conversation
from inspector.hooks.payload import CLAUDE, CODEX
from inspector.hooks.transcript import read_conversation
from inspector.tokens.counters import find_counter
from tests.shared import SHARED

SESSIONS = SHARED / "sessions"
PAGE = Path(__file__).parents[2] / "notebooks" / "guide" / "hooks.md"
BEGIN, END = "<!-- table: make hooks -->", "<!-- end of the table -->"
MARKS = {CLAUDE: b'"compact_boundary"', CODEX: b'"type":"compacted"'}
SCRIPT = Path(sys.executable).with_name("compaction-inspector")
RETAINED = ("quoted", "paraphrased")


def count_text(text: str) -> int:
    """Return the tokens of a text."""
    return int(find_counter("o200k_base").count([text])[0])


def processor_seconds() -> float:
    """Seconds of the processor that ended children took: other work on the machine does not change them."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Row(NamedTuple):
    """One compaction."""

    name: str
    rules: int
    retained: int
    partial: int
    unknown: int
    with_words: int
    given_tokens: int
    focus_tokens: int
    files: int
    files_kept: int
    files_unknown: int
    seconds: dict[str, float]


def find_compactions() -> Iterator[tuple[str, Path, bytes, bytes, Conversation]]:
    """Harness, file, bytes before a compaction, bytes up to its summary, and the session read to there."""
    unique = set[str]()
    for path in sorted(SESSIONS.rglob("*.jsonl")):
        data = path.read_bytes()
        for harness, mark in MARKS.items():
            rows = data.splitlines(keepends=True) if mark in data else []
            for at, row in enumerate(rows):
                if mark not in row or (
                    harness == CLAUDE and json.loads(row).get("subtype") != "compact_boundary"
                ):
                    continue
                before = b"".join(rows[:at])
                after = before + b"".join(rows[at : at + (2 if harness == CLAUDE else 1)])
                with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
                    file.write(after)
                    file.flush()
                    talk = read_conversation(Path(file.name), harness)
                # A session that was recorded twice, at two lengths, counts once.
                if (text := talk.summary or talk.retained) and text not in unique:
                    unique.add(text)
                    yield harness, path, before, after, talk


def measure(harness: str, path: Path, before: bytes, after: bytes, talk: Conversation, number: int) -> Row:
    """Play one compaction to the hooks."""
    seconds = dict[str, float]()
    with tempfile.TemporaryDirectory() as folder:
        name = "s1.jsonl" if harness == CLAUDE else "rollout-s1.jsonl"
        file = Path(folder, "projects", "p", name)
        file.parent.mkdir(parents=True)
        file.write_bytes(before)
        environment = {**os.environ, "COMPACTION_INSPECTOR_STATE": str(Path(folder, "state")), "HOME": folder}

        def send(event: str, **fields: Any) -> str:
            usual = {
                "session_id": "s1",
                "transcript_path": str(file),
                "hook_event_name": event,
                "trigger": "auto",
            }
            words_back = json.dumps(
                {**usual, **({"turn_id": "t"} if harness == CODEX else {}), **fields}
            ).encode()
            start = processor_seconds()
            done = subprocess.run(
                [SCRIPT, "hook"], input=words_back, capture_output=True, env=environment, check=True
            )
            seconds[event] = processor_seconds() - start
            assert not done.stderr
            return done.stdout.decode()

        focus = send("PreCompact")
        start = send("SessionStart", source="compact")
        words_back = json.loads(start)["hookSpecificOutput"]["additionalContext"] if start else ""
        file.write_bytes(after)
        send("PostCompact", **({"compact_summary": talk.summary} if harness == CLAUDE else {}))
        send("UserPromptSubmit", prompt="go on")
        report = json.loads(Path(folder, "state", "sessions", "s1", "report.json").read_text())
    rules = [item for item in report["items"] if item["kind"] == "rule"]
    files = [item for item in report["items"] if item["kind"] == "file"]
    index = IndexedText(words_back)
    retained = [item for item in rules if item["outcome"] in RETAINED]
    back = [
        item
        for item in rules
        if item["outcome"] not in RETAINED
        and compare_statement(item["text"], index, ALL_SAID).outcome == "quoted"
    ]
    return Row(
        name=f"{path.parent.name}/{path.stem} {number}",
        rules=len(rules),
        retained=len(retained),
        partial=sum(item["outcome"] in ("partial", "unclear") for item in rules),
        unknown=sum(item["outcome"] == "unknown" for item in rules),
        with_words=len(retained) + len(back),
        given_tokens=count_text(words_back),
        focus_tokens=count_text(focus),
        files=len(files),
        files_kept=sum(item["outcome"] in RETAINED for item in files),
        files_unknown=sum(item["outcome"] == "unknown" for item in files),
        seconds=seconds,
    )


def write_table(rows: list[Row]) -> str:
    """Write the rows and their sums as Markdown."""
    head = (
        "| session, compaction | rules stated | kept by the summary | in part or unclear | unknown "
        "| kept with the words given back | their tokens | edited files kept | focus text, tokens |"
    )
    lines = [head, "|---|" + "--:|" * 8]
    for row in rows:
        files = f"{row.files_kept} of {row.files - row.files_unknown}"
        files += f", {row.files_unknown} unknown" if row.files_unknown else ""
        cells = (
            row.rules,
            row.retained,
            row.partial,
            row.unknown,
            row.with_words,
            row.given_tokens,
            files,
            row.focus_tokens,
        )
        lines.append(f"| {row.name} | {' | '.join(map(str, cells))} |")
    sums = [sum(getattr(row, name) for row in rows) for name in Row._fields[1:11]]
    rules, retained, partial, unknown, back, words_back, focus, files, files_kept, hidden = sums
    cells = (
        rules,
        retained,
        partial,
        unknown,
        back,
        words_back,
        f"{files_kept} of {files - hidden}, {hidden} unknown",
        focus,
    )
    lines.append(f"| **all {len(rows)}** | {' | '.join(f'**{cell}**' for cell in cells)} |")
    return "\n".join(lines)


def write_seconds(rows: list[Row]) -> str:
    """Write the median and the longest time of each event."""
    times = {event: [row.seconds[event] for row in rows] for event in rows[0].seconds}
    parts = [f"{event} {statistics.median(t):.2f} s (at most {max(t):.2f} s)" for event, t in times.items()]
    return f"Processor time of a hook's process, from start to end: {', '.join(parts)}."


def time_file(path: Path) -> None:
    """Print how long each event takes on a file."""
    data = path.read_bytes()
    talk = read_conversation(path, CLAUDE)
    row = measure(CLAUDE, path, data[: talk.boundary] if talk.boundary > 0 else data, data, talk, 0)
    print(f"{path.name}, {len(data) / 1e6:.0f} MB", {event: f"{t:.2f} s" for event, t in row.seconds.items()})


def main() -> None:
    if sys.argv[1:]:
        return time_file(Path(sys.argv[1]))
    if not SESSIONS.exists():
        raise SystemExit("the shared transcripts are not next to this checkout")
    rows, numbers = list[Row](), dict[Path, int]()
    for harness, path, before, after, talk in find_compactions():
        numbers[path] = numbers.get(path, 0) + 1
        rows.append(measure(harness, path, before, after, talk, numbers[path]))
    text = f"{write_table(rows)}\n\n{write_seconds(rows)}"
    print(text)
    page = PAGE.read_text("utf-8")
    first, _, rest = page.partition(BEGIN)
    PAGE.write_text(f"{first}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}", "utf-8")
    return None


if __name__ == "__main__":
    main()
