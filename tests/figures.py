"""The figures that README and guide state, written from the tables that were measured: `make figures`.

A page holds each between two comments, `<!-- figure: NAME -->` and `<!-- end -->`. What stands there is
made of committed tables, never typed: `tests/cases/predictions.tsv` and `stated.tsv` (`make predictions`),
`tests/cases/facts/accuracy.tsv` (`make accuracy`), `notebooks/summaries.md` (`make summaries`),
`notebooks/guide/hooks.md` (`make hooks`) and `notebooks/leaderboard.json` (`make benchmark`). Tests hold the
pages to these tables and, beside the shared transcripts, the first two tables to the code.
"""

from __future__ import annotations

import csv
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Protocol

ROOT = Path(__file__).resolve().parents[1]
PREDICTIONS = ROOT / "tests" / "cases" / "predictions.tsv"
STATED = ROOT / "tests" / "cases" / "stated.tsv"
ACCURACY = ROOT / "tests" / "cases" / "facts" / "accuracy.tsv"
HOOKS = ROOT / "notebooks" / "guide" / "hooks.md"
SUMMARIES = ROOT / "notebooks" / "summaries.md"
LEADERBOARD = ROOT / "notebooks" / "leaderboard.json"
HANDFUL = 1_000
"""Tokens up to which a context is a test's, whose usage nobody weighed."""
PLACE = re.compile(r"(<!-- figure: ([\w-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
WIDTH = 150


class Score(Protocol):
    """A tally of labels."""

    @property
    def labelled(self) -> int: ...
    @property
    def found(self) -> int: ...
    @property
    def matched(self) -> int: ...


def find_pages() -> list[Path]:
    """README, and every page of the guide."""
    return [ROOT / "README.md", *sorted((ROOT / "notebooks" / "guide").glob("*.md"))]


def fill_page(page: str) -> str:
    """The page with every figure as the committed tables have it.

    Raises `KeyError` for a figure that nobody makes.
    """
    return PLACE.sub(lambda place: f"{place[1]}{FIGURES[place[2]]()}\n{place[4]}", page)


def _wrap(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def tell_predictions() -> str:
    """How far predictions of the context after a compaction are off. Each compaction counts once."""
    table = csv.DictReader(PREDICTIONS.read_text("utf-8").splitlines()[:-1], delimiter="\t")
    weighed = [row for row in table if int(row["reported"]) > HANDFUL and "--generated" not in row["file"]]
    rows = list({(row["kind"], row["reported"]): row for row in weighed}.values())
    groups: dict[str, list[float]] = {}
    for row in rows:
        ours = row["file"].startswith(("claude-code", "growth-series"))
        made = "of Claude Code" if ours else "of Codex, Flue and pi"
        name = f"compactions {made}" if row["kind"] == "compact" else "clearings of outputs"
        groups.setdefault(name, []).append(abs(float(row["error"].rstrip(" %"))))
    parts = [
        f"{len(errors)} {name}: median {median(errors):.1f} %, 90th percentile {_ninth(errors):.1f} %"
        for name, errors in sorted(groups.items())
    ]
    held = sum(int(row["low"]) <= int(row["reported"]) <= int(row["high"]) for row in rows)
    return _wrap(
        f"The size of a context after a compaction, predicted for the {len(rows)} distinct ones that shared "
        "real sessions record and compared with the provider's next request (repeats, generated files and "
        f"contexts of at most {HANDFUL:,} tokens left out). The errors: of {'; of '.join(parts)}. "
        f"{held} of {len(rows)} lie in the stated range (`make predictions`)."
    )


def _ninth(errors: list[float]) -> float:
    """Return the 90th percentile."""
    return sorted(errors)[-(-9 * len(errors) // 10) - 1]


def tell_stated() -> str:
    """What files state of their compactions' sizes beside ours, by format and moment."""
    rows = csv.DictReader(STATED.read_text("utf-8").splitlines()[:-1], delimiter="\t")
    errors: dict[tuple[str, str, str], list[float]] = {}
    for row in rows:
        kind = "cleared outputs" if row["kind"] == "micro" else "compaction"
        errors.setdefault((row["format"], kind, row["moment"]), []).append(float(row["error"].rstrip(" %")))
    return "\n".join(
        [
            "| format | what | stated | figures | median error | worst |",
            "|---|---|---|---|---|---|",
            *(
                f"| `{name}` | {kind} | {moment} | {len(those)} | {median(map(abs, those)):.1f} % "
                f"| {max(those, key=abs):+.1f} % |"
                for (name, kind, moment), those in sorted(errors.items())
            ),
        ]
    )


def _read_accuracy(table: str) -> dict[str, dict[str, str]]:
    rows = csv.DictReader(ACCURACY.read_text("utf-8").splitlines(), delimiter="\t")
    return {row["kind"]: row for row in rows if row["labels"] == table}


def _score(row: dict[str, str]) -> str:
    found, labelled, matched = (int(row[name]) for name in ("found", "labelled", "matched"))
    precision, recall = (f"{matched / of:.2f}".removeprefix("0") if of else "–" for of in (found, labelled))
    return f"{precision} / {recall}"


def tell_accuracy() -> str:
    """How well facts are found, by kind."""
    rows = _read_accuracy("held")
    return "\n".join(
        [
            "| precision / recall | " + " | ".join(rows) + " |",
            "|---|" + "---|" * len(rows),
            "| held-out half | " + " | ".join(map(_score, rows.values())) + " |",
            "| labelled there | " + " | ".join(row["labelled"] for row in rows.values()) + " |",
        ]
    )


def tell_typed() -> str:
    """How well rules and choices that people typed are found."""
    halves = {
        "clean": "by patterns: the clean half, which no developer read",
        "dev": "by patterns: the half for development",
        "clean-read": "by a model that is asked: the clean half",
        "dev-read": "by a model that is asked: the half for development",
    }
    rows = {told: _read_accuracy(half) for half, told in halves.items()}
    return "\n".join(
        [
            "| precision / recall | rules | labelled | choices | labelled |",
            "|---|---|---|---|---|",
            *(
                f"| {told} | {_score(row['rule'])} | {row['rule']['labelled']} "
                f"| {_score(row['choice'])} | {row['choice']['labelled']} |"
                for told, row in rows.items()
            ),
        ]
    )


def _read_summaries() -> dict[str, list[int]]:
    """By group: how many stood before, are kept by the recorded summaries, and by the extractive ones."""
    text = SUMMARIES.read_text("utf-8").partition("## All together")[2]
    found = {}
    for line in text.partition("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6 and cells[0].startswith("**"):
            found[cells[0].strip("*")] = [int(cells[at].replace(",", "")) for at in (1, 2, 4)]
    return found


def _count_summaries() -> str:
    found = re.search(r"each of the (\d+) compactions", SUMMARIES.read_text("utf-8"))
    if found is None:
        raise ValueError(f"{SUMMARIES} does not say how many compactions it is about")
    return found[1]


def tell_recorded() -> str:
    """What recorded compactions keep, for the first screen of the README."""
    groups, board = _read_summaries(), json.loads(LEADERBOARD.read_text("utf-8"))
    (row,) = (row for row in board["policies"] if row["policy"] == "recorded")
    files, errors, rules = (groups[name] for name in ("files changed", "errors", "the user's rules"))
    return _wrap(
        f"In real sessions, {board['compactions'] - board['sealed']} recorded compactions with a readable "
        f"summary keep {100 * row['kept'][0]:.0f} % of the facts that were in the context before, and "
        f"{100 * row['user'][0]:.0f} % of those that the user was the first to state ([benchmark]"
        "(notebooks/benchmark.md): "
        f"{board['date']}, {board['commit']}). For {_count_summaries()} of them a summary was written "
        f"without a model too: the recorded ones keep {files[1]} of {files[0]} changed files, {errors[1]} of "
        f"{errors[0]} errors and {rules[1]} of {rules[0]} rules that a person had typed, clear or "
        "not; the extractive "
        f"ones, in no more tokens, {files[2]}, {errors[2]} and {rules[2]} ([method](notebooks/summaries.md))."
    )


def tell_hooks() -> str:
    """What the words that hooks give back add to the recorded summaries."""
    (line,) = (line for line in HOOKS.read_text("utf-8").splitlines() if line.startswith("| **all "))
    name, stated, kept, *_, back, tokens, _, _ = (cell.strip(" *") for cell in line.strip("|").split("|"))
    return _wrap(
        f"Over {name.removeprefix('all ')} recorded compactions the summaries kept {kept} of {stated} "
        "clearly stated rules; with the hook, which repeats these rules word for word, "
        f"{'all ' * (back == stated)}{back} are in the context, for {tokens} tokens in all. The rules are "
        "few, and no effect on a model was measured ([what is verified](notebooks/guide/hooks.md))."
    )


def tell_summaries() -> str:
    """What the extractive summary keeps beside the recorded ones."""
    files, errors, rules = (
        _read_summaries()[name] for name in ("files changed", "errors", "the user's rules")
    )
    return _wrap(
        f"On the {_count_summaries()} compactions that real sessions record in readable words, in no more "
        f"tokens than the recorded summaries have, the extractive summary keeps {files[2]} of {files[0]} "
        f"changed files (the recorded ones {files[1]}), {errors[2]} of {errors[0]} errors ({errors[1]}) and "
        f"{rules[2]} of {rules[0]} rules that a person typed ({rules[1]}), by literal presence."
    )


FIGURES: dict[str, Callable[[], str]] = {
    "accuracy": tell_accuracy,
    "hooks": tell_hooks,
    "predictions": tell_predictions,
    "recorded": tell_recorded,
    "stated": tell_stated,
    "summaries": tell_summaries,
    "typed": tell_typed,
}


def write_scores(labels: str, scores: Mapping[str, Score]) -> list[str]:
    """The lines of `accuracy.tsv` for one half of the labels: labelled, found and matched, by kind."""
    return [
        f"{labels}\t{kind}\t{tally.labelled}\t{tally.found}\t{tally.matched}"
        for kind, tally in scores.items()
    ]


def read_scores(labels: str) -> list[str]:
    """The same as committed."""
    return [line for line in ACCURACY.read_text("utf-8").splitlines() if line.startswith(f"{labels}\t")]


def measure_accuracy() -> Iterator[str]:
    """The lines of `accuracy.tsv`, scored anew."""
    from tests import labelled, typed

    yield "labels\tkind\tlabelled\tfound\tmatched"
    yield from write_scores("held", labelled.score(labelled.find_all, "held"))
    for half in typed.HALVES:
        yield from write_scores(half, typed.score(half))
        yield from write_scores(f"{half}-read", typed.score(half, read=True))


def main(arguments: list[str]) -> int:
    """Write every page; with `--measure`, score the labels before."""
    if arguments == ["--measure"]:
        ACCURACY.write_text("\n".join(measure_accuracy()) + "\n", "utf-8")
    elif arguments:
        print("usage: python -m tests.figures [--measure]", file=sys.stderr)
        return 2
    for path in find_pages():
        page = path.read_text("utf-8")
        if (filled := fill_page(page)) != page:
            path.write_text(filled, "utf-8")
            print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
