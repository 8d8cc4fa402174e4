"""The extractive summary beside the recorded ones, as a page: `make summaries`.

Two runs write the same bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from inspector.facts.extract.collect import KINDS
from tests.bench.bench_summary import GROUPS, HARNESSES, TWICE, Pair, measure
from tests.bench.bench_survival import AGAIN
from tests.bench.retention import COUNTER, NOTEBOOKS
from tests.bench.retention_page import share, table

TOP = """\
# A summary without a model, beside the recorded ones

For each of the {pairs} compactions that real sessions record with a summary in readable words, the same
entries are written up by `ExtractiveSummariser` in at most as many tokens as the recorded summary has. Then
every fact that could be read before is looked up after, once with each text in its place; what the
compaction left standing beside its summary is the same both times. `make summaries` writes this page anew,
the same bytes each time.

- **kept**: the fact stands verbatim in a block, or a text that stands names all of it. It is string presence,
  told by the package's own extractor, and `ExtractiveSummariser` finds what it copies by the same one. So
  this says how much fits into a summary of that length when nothing is rephrased; not which of the two a
  model would rather read on from. An error told in other words counts as absent for both.
- **recorded**: the harness asked a model; the summary is in the file. **extractive**: made here, no model
  asked, the same bytes on every machine.
- **files changed** were created, edited or deleted until then; **the user's rules** are constraints that a
  user said; the kinds below are all facts, these included. Tokens are counted by {counter}.
"""
BOTTOM = """\
Every compaction on the path of a public transcript in a format of the package's whose summary can be read and
that took anything away. Left out: {left}.
"""


def write_page(pairs: Sequence[Pair]) -> str:
    mine = [pair for pair in pairs if pair.case.harness not in AGAIN]
    out = [TOP.format(pairs=len(mine), counter=COUNTER)]
    out += ["## All together", "", *_table(mine)]
    for harness in HARNESSES:
        if some := [pair for pair in pairs if pair.case.harness == harness]:
            again = f" ({AGAIN[harness]}; not in the sums above)" if harness in AGAIN else ""
            out += [f"## {harness}: {_count(some)}{again}", "", *_table(some)]
    out += ["## One by one", ""]
    heads = ["file", "entry", "tokens recorded", "tokens extractive"]
    heads += [f"{group}: recorded, extractive" for group in GROUPS]
    out += table(heads, [list(_row(pair)) for pair in mine], 2)
    worse = [
        f"`{pair.case.name}` {pair.entry[:8]}: {group}"
        for group in GROUPS
        for pair in mine
        if pair.extracted[group] < pair.recorded[group]
    ]
    out += [f"Fewer than recorded: {'; '.join(worse) or 'nowhere'}.", ""]
    out.append(BOTTOM.format(left="; ".join(f"`{name}` ({why})" for name, why in TWICE.items())))
    return "\n".join(out)


def _count(pairs: Sequence[Pair]) -> str:
    return "1 compaction" if len(pairs) == 1 else f"{len(pairs)} compactions"


def _table(pairs: Sequence[Pair]) -> Iterator[str]:
    tokens = [f"{sum(pair.recorded_tokens for pair in pairs):,}"]
    tokens.append(f"{sum(pair.extracted_tokens for pair in pairs):,}")
    rows = [["tokens", "", tokens[0], "", tokens[1], ""]]
    for group in (*GROUPS, *KINDS, "all kinds"):
        stood, recorded, extracted = (
            sum(getattr(pair, which)[group] for pair in pairs) for which in ("stood", "recorded", "extracted")
        )
        if stood:
            name = f"**{group}**" if group in GROUPS else group
            kept = (f"{recorded:,}", share(recorded, stood), f"{extracted:,}", share(extracted, stood))
            rows.append([name, f"{stood:,}", *kept])
    return table(["facts", "stood before", "recorded", "kept", "extractive", "kept"], rows)


def _row(pair: Pair) -> Iterator[str]:
    yield f"`{pair.case.name}`"
    yield pair.entry[:8]
    yield f"{pair.recorded_tokens:,}"
    yield f"{pair.extracted_tokens:,}"
    for group in GROUPS:
        stood = pair.stood[group]
        yield f"{pair.recorded[group]}, {pair.extracted[group]} of {stood}" if stood else "–"


def write(folder: Path = NOTEBOOKS) -> None:
    """Measure, and write the page."""
    pairs = measure()
    if not pairs:
        sys.exit("The shared transcripts are not beside this checkout: nothing is measured, nothing written.")
    (folder / "summaries.md").write_text(write_page(pairs), "utf-8", newline="\n")


if __name__ == "__main__":
    write()
    print("notebooks/summaries.md")
