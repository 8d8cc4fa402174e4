"""What recorded compactions of real sessions keep, and what else would have kept: `make benchmark`.

The ground truth is deterministic: the facts that could be read right before a compaction that a file records,
found by the package's extractor, looked up in what stands right after. No model is asked. Tables: every
policy at the same moments; recorded summaries by kind and speaker, beside how well the extractor finds that
kind. A summary that only its provider can read is not available, and never 0. Intervals are by session.
Writes notebooks/benchmark.md and notebooks/leaderboard.json.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from inspector.corpus.columns import sum_kept
from inspector.corpus.resample import Interval
from inspector.corpus.scan_table import PolicyRow, ScanTable
from inspector.corpus.scanning import scan
from inspector.facts.extract.collect import BY, KINDS
from tests.bench.shares import FEW, pool, tabulate, tell_share
from tests.shared import SHARED

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ROOT / "notebooks"
SESSIONS = SHARED / "sessions"
ACCURACY = ROOT / "tests" / "cases" / "facts" / "accuracy.tsv"
LEFT_OUT = {
    "before-compaction.session.json": "the transcript of pi in another form",
    "step04-689l.jsonl": "an earlier state of step08-1350l.jsonl",
    "opencode-3compactions-65msgs.json": "real format, made-up content",
}
TOYS = ("agentsview--testdata", "atif--inspect_scout", "opencode--generated", "flue")
"""Folders of made-up content, of toys, or of what another folder holds in another form."""


def find_sources() -> list[Path]:
    """The files that are measured."""
    found = (
        path
        for folder in sorted(SESSIONS.iterdir())
        if folder.is_dir() and folder.name not in TOYS
        for path in sorted(folder.rglob("*"))
    )
    return [path for path in found if path.suffix in (".json", ".jsonl") and path.name not in LEFT_OUT]


def by_kind(table: ScanTable, of: Callable[[str, str], bool]) -> Interval:
    """What the recorded compactions keep of the facts of some kind and speaker."""
    return pool(
        (row["digest"], sum(counts), sum_kept(counts))
        for row in table
        if row["policy"] == "recorded" and row["evidence"] == "recorded"
        for name, counts in row["facts"].items()
        if of(*name.split("/"))
    )


def read_accuracy() -> dict[str, str]:
    """Precision and recall of the extractor by kind, from the table that `make accuracy` writes.

    Choices are scored on labels of what people typed alone, the other kinds on the half that was held back.
    """
    rows = csv.DictReader(ACCURACY.read_text("utf-8").splitlines(), delimiter="\t")
    found = {}
    for row in rows:
        if row["labels"] not in ("held", "clean"):
            continue  # what the patterns were made on, and what a model found
        labelled, told, matched = (int(row[name]) for name in ("labelled", "found", "matched"))
        found[row["kind"]] = f"{matched / told:.2f} / {matched / labelled:.2f} of {labelled}"
    return found


def tell_commit() -> tuple[str, str]:
    """The last commit and its day."""
    command = ["git", "log", "-1", "--format=%h %cs"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return told[0], told[1]


def describe_row(row: PolicyRow) -> dict[str, Any]:
    shares = {
        name: [None if x is None else round(x, 4) for x in getattr(row, name)]
        for name in ("left", "kept", "user")
    }
    return {"policy": row.policy, "evidence": row.evidence, "compactions": row.compactions, **shares}


def find_commit(told: str) -> str:
    """The commit in what is told of where a folder comes from."""
    found = re.search(r"[0-9a-f]{40}", told)
    return found[0][:12] if found else told


def list_hashes(paths: Sequence[Path]) -> list[list[str]]:
    """Each folder with its licence, and one hash over what was read of it."""
    rows = []
    for folder in sorted({SESSIONS / path.relative_to(SESSIONS).parts[0] for path in paths}):
        origin = (folder / "ORIGIN.md").read_text("utf-8") if (folder / "ORIGIN.md").exists() else ""
        fields = dict(
            line[2:].split(": ", 1) for line in origin.splitlines() if line.startswith("- ") and ": " in line
        )
        mine = sorted(path for path in paths if folder in path.parents)
        whole = sha256(b"".join(sha256(path.read_bytes()).digest() for path in mine)).hexdigest()[:16]
        licence = fields.get("license", "").split(" (")[0]
        rows.append(
            [
                fields.get("repo", folder.name),
                find_commit(fields.get("ref", "")),
                licence,
                str(len(mine)),
                whole,
            ]
        )
    return rows


def write(folder: Path = NOTEBOOKS) -> None:
    """Measure, and write the page and the leaderboard."""
    if not SESSIONS.exists():
        sys.exit("The shared transcripts are not beside this checkout: nothing is measured, nothing written.")
    table = scan(find_sources())
    compacted = {row["file"] for row in table if row["policy"] == "recorded"}
    paths = [path for path in find_sources() if str(path) in compacted]
    rows = table.by_policy("recorded")
    commit, day = tell_commit()
    board: dict[str, Any] = {
        "benchmark": "recorded compactions of real sessions",
        "version": version("compaction-inspector"),
        "commit": commit,
        "date": day,
        "sessions": len(paths),
        "compactions": rows[0].compactions,
        "sealed": rows[0].sealed,
        "policies": [describe_row(row) for row in rows],
    }
    (folder / "leaderboard.json").write_text(json.dumps(board, indent=1) + "\n", "utf-8")
    (folder / "benchmark.md").write_text("\n".join(write_page(table, rows, paths, board)), "utf-8")


def write_page(
    table: ScanTable, rows: Sequence[PolicyRow], paths: Sequence[Path], board: dict[str, Any]
) -> Iterator[str]:
    recorded = rows[0]
    yield TOP.format(
        compactions=recorded.compactions,
        sessions=recorded.sessions,
        sealed=recorded.sealed,
        readable=recorded.compactions - recorded.sealed,
        kept=recorded.kept,
        user=recorded.user,
        left=recorded.left,
        **{name: board[name] for name in ("version", "commit", "date")},
    )
    yield "## Every policy at the same moments"
    head = ["policy", "evidence", "tokens left", "facts kept", "of the user's"]
    yield from tabulate(
        head, [[r.policy, r.evidence, *map(tell_share, (r.left, r.kept, r.user))] for r in rows]
    )
    yield "## What the recorded summaries keep, by kind and by who said it first"
    scores = read_accuracy()
    kinds = [
        [
            kind,
            scores.get(kind, "–"),
            *(
                tell_share(by_kind(table, lambda k, b, kind=kind, by=by: k == kind and by in (b, "")))  # type: ignore[misc]
                for by in ("", "user", "model", "tool")
            ),
        ]
        for kind in KINDS
    ]
    head = ["kind", "extractor P / R", "all", "the user", "the model", "a tool"]
    yield from tabulate(head, kinds)
    yield KINDS_NOTE.format(few=FEW, others=", ".join(BY[3:]))
    yield "## Sources"
    yield SOURCES
    yield from tabulate(["repository", "commit", "licence", "files", "SHA-256"], list_hashes(paths))


TOP = """# A benchmark of recorded compactions

{compactions} compactions that {sessions} real, public sessions record, with ground truth that needs no model:
the facts that could be read right before (paths, commands, errors, ids, numbers, instructions, decisions,
messages that people typed), looked up in the context right after. {sealed} of them left a summary that only
its provider can read: not available, and never counted as 0.

**The {readable} readable ones keep {kept} of the facts, and {user} of those that the user
said first, in {left} of the tokens.**

Measured with version {version} at commit {commit}, {date}. `make benchmark` writes this page and
`leaderboard.json`. In brackets: 95 % of 2,000 draws of whole sessions. *Kept* is verbatim,
quoted or paraphrased: presence of the words, not their use. [Accuracy](guide/accuracy.md) reports
how much the extractor finds and misses. Policies are planned at the same moments, with a deterministic
placeholder if they would ask a model, so compare `planned` with `planned`. To add a row, use
`inspector.corpus.scan` with your policy, and open a pull request for `leaderboard.json`.
"""
KINDS_NOTE = """–: fewer than {few} facts. Speakers with few facts ({others}) are in *all* alone. *extractor
P / R*: precision and recall of the extractor on the given number of labels, none of which it was made with
(`make accuracy`); a message is the text that a person typed, so there is nothing to find.
"""
SOURCES = """
Read in place and never redistributed. The hash is over those files of a folder that record a compaction."""


if __name__ == "__main__":
    write()
    print("notebooks/benchmark.md, leaderboard.json")
