"""What recorded compactions of real sessions keep, and what else would have kept: `make benchmark`.

The ground truth is deterministic: the facts that could be read right before a compaction that a file records,
found by the package's extractor, looked up in what stands right after. No model is asked. Tables: every
policy at the same moments; recorded summaries by kind and speaker, beside how well the extractor finds that
kind, and by where a fact stood; what was needed again and paid for; texts of 5, 10, 20 and 30 % of the tokens
before, made by baselines; five compactions in a row as `make decay` measured them. A summary that only
its provider can read is not available, and never 0. Intervals are by session. Writes notebooks/benchmark.md,
notebooks/leaderboard.json and the figure.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from tests.bench.benchmark_figure import draw_benchmark
from tests.bench.given_size import list_groups, list_sizes, measure_texts, tell_sizes
from tests.bench.loss import (
    list_carriers,
    list_regret,
    measure_carriers,
    measure_regret,
    tell_carriers,
    tell_regret,
)
from tests.bench.retention import LEFT_OUT
from tests.bench.shares import FEW, pool, tabulate, tell_share
from tests.bench.yardsticks import Yardsticks, list_yardsticks, measure_yardsticks, tell_yardsticks
from tests.shared import SHARED

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ROOT / "notebooks"
SESSIONS = SHARED / "sessions"
ACCURACY = ROOT / "tests" / "cases" / "facts" / "accuracy.tsv"
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
    yardsticks = measure_yardsticks(SESSIONS)
    table = scan(find_sources())
    compacted = {row["file"] for row in table if row["policy"] == "recorded"}
    paths = [path for path in find_sources() if str(path) in compacted]
    texts = [text for path in paths for text in measure_texts(path)]
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
        "readable": sum_readable(table),
        "policies": [describe_row(row) for row in rows],
        "carriers": list_carriers([row for path in paths for row in measure_carriers(path)]),
        "regret": list_regret([measure_regret(path) for path in paths]),
        "texts": list_sizes(texts),
        "groups": list_groups(texts),
        "rounds": list_rounds(NOTEBOOKS / "decay.csv"),
        "yardsticks": list_yardsticks(yardsticks),
    }
    (folder / "leaderboard.json").write_text(json.dumps(board, indent=1) + "\n", "utf-8")
    for name in ("light", "dark"):
        picture = draw_benchmark(board["policies"], name == "dark")
        (folder / "images" / f"benchmark-{name}.svg").write_text(picture, "utf-8", newline="\n")
    (folder / "benchmark.md").write_text(
        "\n".join(write_page(table, rows, paths, board, yardsticks)), "utf-8"
    )


def sum_readable(table: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """The facts before each recorded compaction that can be read, counted once for each, and those kept."""
    mine = [row for row in table if row["policy"] == "recorded" and row["evidence"] == "recorded"]
    return {name: sum(row[name] for row in mine) for name in ("stood", "kept")}


def list_rounds(path: Path) -> list[dict[str, Any]]:
    """What stands after each of five compactions in a row, of the facts that stood before the first.

    By policy and by who wrote its summaries; `half_gone` is the first compaction after which not more than
    half of them stand, None where more do to the end.
    """
    found = []
    for row in csv.DictReader(path.read_text("utf-8").splitlines()):
        if (row["session"], row["kind"]) != ("all", "all"):
            continue
        first = int(row["first"])
        kept = [int(row[f"kept_{number}"]) for number in range(1, 6)]
        gone = next((number for number, left in enumerate(kept, 1) if 2 * left <= first), None)
        found.append(
            {
                "policy": row["policy"],
                "by": row["by"],
                "first": first,
                "kept": kept,
                "half_gone": gone,
                "tokens_left": int(row["tokens_5"]),
            }
        )
    return sorted(found, key=lambda row: (-row["kept"][-1], row["tokens_left"], row["policy"], row["by"]))


def name_least(carriers: Iterable[Mapping[str, Any]]) -> str:
    """The two kinds of block of whose facts, where they stood in no other, least is kept."""
    alone = sorted((row["kept"][0], row["carrier"]) for row in carriers if row["alone"])
    return " or ".join(f"{carrier} ({share:.0%})" for share, carrier in alone[:2])


def write_page(
    table: ScanTable,
    rows: Sequence[PolicyRow],
    paths: Sequence[Path],
    board: dict[str, Any],
    yardsticks: Yardsticks,
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
    yield "## What they keep, by where it stood"
    yield CARRIERS_NOTE.format(least=name_least(board["carriers"]))
    head = ["where it stood", "facts there", "kept", "facts there alone", "kept of these"]
    yield from tabulate(head, tell_carriers(board["carriers"]))
    yield "## What was lost and then paid for again"
    lost = board["readable"]["stood"] - board["readable"]["kept"]
    again = board["regret"][-1]["again"]
    yield REGRET.format(readable=recorded.compactions - recorded.sealed, lost=lost, again=again)
    head = ["needed again", "times", "in sessions", "tokens", "cost at least"]
    yield from tabulate(head, tell_regret(board["regret"]))
    yield from tell_sizes(board["texts"], board["groups"])
    yield from tell_rounds(board["rounds"])
    yield from tell_yardsticks(yardsticks)
    yield "## Sources"
    yield SOURCES
    yield from tabulate(["repository", "commit", "licence", "files", "SHA-256"], list_hashes(paths))


def tell_rounds(rounds: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield "## Five compactions in a row"
    yield ROUNDS.format(first=rounds[0]["first"])
    head = [
        *("policy", "summaries by"),
        *(f"after {number}" for number in range(1, 6)),
        *("half is gone after", "tokens left"),
    ]
    yield from tabulate(
        head,
        [
            [
                *(row["policy"], row["by"]),
                *(f"{left / row['first']:.0%}" for left in row["kept"]),
                *("–" if row["half_gone"] is None else f"{row['half_gone']}", f"{row['tokens_left']:,}"),
            ]
            for row in rounds
        ],
    )


TOP = """# A benchmark: what recorded compactions keep

<picture>
<source media="(prefers-color-scheme: dark)" srcset="images/benchmark-dark.svg">
<img alt="Facts kept and tokens left, by policy" src="images/benchmark-light.svg">
</picture>

{compactions} compactions that {sessions} real, public sessions record, with ground truth that needs no model:
the facts that could be read right before (paths, commands, errors, ids, numbers, instructions, decisions,
what people typed), looked up in what stands right after. {sealed} of them left a summary that only its
provider can read: not available, and never counted as 0.

**The {readable} readable ones keep {kept} of the facts, and {user} of those that the user
said first, in {left} of the tokens.**

Measured with version {version} at commit {commit}, {date}. `make benchmark` writes this page and
`leaderboard.json` anew. In brackets: 95 % of 2,000 draws of whole sessions. *Kept* is verbatim,
quoted or paraphrased: presence of the words, not their use. What the extractor finds, and misses, stands
under [accuracy](guide/accuracy.md). Policies are planned at the same moments, with a deterministic stand-in
where they would ask a model, so compare `planned` with `planned`. To add a row: `inspector.corpus.scan` with
your policy, and a pull request to `leaderboard.json`.
"""
KINDS_NOTE = """–: fewer than {few} facts. Speakers with few facts ({others}) are in *all* alone. *extractor
P / R*: precision and recall of what finds the facts, on so many labels that it was not made with
(`make accuracy`); a message is what a person typed, so there is nothing to find.
"""
CARRIERS_NOTE = """
By the kind of block that said a fact and could be read right before: a fact that stood in several counts in
each of them, and the last two columns count those that stood in that one alone. Of these is kept least what
stood in {least}."""
REGRET = """
After the {readable} readable compactions, until the next one: a file that the model read again though no
output that showed it was left; a command run again with the same answer; an error met again; a rule that the
user typed again. Tokens and cost are of what was sent once more, sent once; that it stays in the context
afterwards comes on top. Of {lost:,} facts that were not kept, counted at each compaction, {again} are
known to have been needed again, so a share of facts kept is no measure of harm by itself."""
ROUNDS = """
Of the {first:,} facts that stood right before the first of five compactions of long real sessions, those that
stand in full after it and after every one before it; [What five compactions leave](decay.md) tells how that
is measured, by kind and by session. *half is gone after* is the first compaction after which not more than
half of them stand, – where more do to the end. *tokens left* is the context after the fifth, all sessions
together. The table is that of `make decay`, which is run apart from this page.
"""
SOURCES = """
Read in place and never redistributed. The hash is over those files of a folder that record a compaction."""


if __name__ == "__main__":
    write()
    print("notebooks/benchmark.md, leaderboard.json, images/benchmark-light.svg, images/benchmark-dark.svg")
