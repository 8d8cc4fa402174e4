"""The extractive summary beside the recorded ones, as a page: `make summaries`.

For every compaction that a shared transcript records in readable words, the same entries are written up by
`ExtractiveSummariser` in as many tokens as the recorded summary has (o200k_base), and every fact that could
be read before is looked up after, once with each text in its place. Two runs write the same bytes.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from inspector.facts.extract.collect import KINDS
from inspector.facts.facts import Facts, Occurrence, find_facts
from inspector.facts.occurrences import Occurrences, find_occurrences
from inspector.facts.remaining import Remaining, RemainingText, stand_live
from inspector.formats.readers import read_session
from inspector.planning.summary_jobs import SummaryJob
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.session.tree import COMPACTION
from inspector.summaries.extractive.summariser import ExtractiveSummariser
from inspector.tokens.ledger import Ledger, count_tokens
from tests.shared import SHARED

SESSIONS = SHARED / "sessions"
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
COUNTER = "o200k_base"
HARNESSES = {
    "Claude Code": ("claude-code*/*.jsonl", "growth*/*.jsonl", "inspect--inspect_scout/cc-*.jsonl"),
    "pi": ("pi*/*.jsonl",),
    "Flue": ("flue/*.json",),
}
AGAIN = {"Flue": "the transcript of pi in another form"}
TWICE = {"step04-689l.jsonl": "an earlier state of step08-1350l.jsonl"}


class Case(NamedTuple):
    """One file."""

    harness: str
    name: str
    session: Session
    facts: Facts


def read_cases() -> Iterator[Case]:
    """Every file that may record compactions."""
    for harness, patterns in HARNESSES.items():
        for path in sorted(path for pattern in patterns for path in SESSIONS.glob(pattern)):
            session = read_session(path.read_bytes(), path.name)
            yield Case(harness, path.name, session, find_facts(session))


_CHANGES = {"created", "edited", "deleted"}


GROUPS: dict[str, Callable[[str, Sequence[Occurrence]], bool]] = {
    "files changed": lambda kind, said: kind == "file" and any(one.operation in _CHANGES for one in said),
    "errors": lambda kind, said: kind == "error",
    "the user's rules": lambda kind, said: kind == "constraint" and any(one.by == "user" for one in said),
}
"""What must not be forgotten, told by what was said of it until then."""


class Pair(NamedTuple):
    """One recorded compaction: what facts before, and what each text keeps of it.

    `recorded` and `extracted` are facts kept by group or kind, `stood` those there were; tokens of both.
    """

    case: Case
    entry: str
    recorded_tokens: int
    extracted_tokens: int
    stood: Counter[str]
    recorded: Counter[str]
    extracted: Counter[str]


def make_job(session: Session, entry: Entry, tokens: int) -> SummaryJob:
    """The job that this recorded compaction was: what it took away, in the order it stood."""
    before, after = session.at(entry.parent), session.at(entry.id)
    kept = {session.entries[i].id for i in after.live.entries.tolist()}
    live = [session.entries[i] for i in before.live.entries.tolist()]
    earlier = live[0] if before.live.summary == 0 else None
    told = None
    if earlier is not None:
        written = earlier.boundary.summary if earlier.boundary is not None else None
        told = written if written is not None else earlier.text
    names = tuple(one.id for one in live if one is not earlier and one.id not in kept)
    return SummaryJob(
        kind="update" if told else "initial", entries=names, max_tokens=tokens, previous=told, thinking=False
    )


def keeps(found: Occurrences, session: Session, standing: Remaining, number: int) -> bool:
    """Whether all of a fact can be read: in a block that stands, in another text, or unmarked in a block."""
    rows = found.rows[found.first[number] : found.first[number + 1]]
    if standing.rows[rows].any():
        return True
    pattern = found.pattern(number, session)
    if standing.names(pattern):
        return True
    unmarked = standing.index.find(pattern, standing.rows)
    return unmarked is not None and unmarked[1].full


def swap(standing: Remaining, entry: Entry, text: str) -> Remaining:
    """The same with another text in the recorded summary's place."""
    others = [stand for stand in standing.others if stand.ref.entry != entry.id]
    mine = [stand for stand in standing.others if stand.ref.entry == entry.id]
    put = RemainingText(mine[0].ref, text, "summary", (), True)
    return Remaining(standing.session, standing.rows, (*others, put))


def compare(case: Case, ledger: Ledger) -> Iterator[Pair]:
    """Every compaction on the path whose summary can be read and that took anything away."""
    session = case.session
    found = find_occurrences(case.facts, session)
    for i in session.path:
        entry = session.entries[i]
        if session.tree.sort[i] != COMPACTION or not entry.text:
            continue
        tokens = int(ledger.count_texts([entry.text])[0])
        job = make_job(session, entry, tokens)
        if not job.entries:
            continue
        moment = session.at(entry.parent)
        text = ExtractiveSummariser(ledger, tokens=tokens)(job, moment).text
        before, recorded = stand_live(moment), stand_live(session.at(entry.id))
        extracted = swap(recorded, entry, text)
        path = {session.entries[at].id for at in moment.path}
        counts = Counter[str](), Counter[str](), Counter[str]()
        for number, fact in enumerate(found.facts):
            if fact.said[0].ref.entry not in path or not keeps(found, session, before, number):
                continue
            said = [one for one in fact.said if one.ref.entry in path]
            groups = [name for name, belongs in GROUPS.items() if belongs(fact.kind, said)]
            groups += [fact.kind, "all kinds"]
            counts[0].update(groups)
            if keeps(found, session, recorded, number):
                counts[1].update(groups)
            if keeps(found, session, extracted, number):
                counts[2].update(groups)
        yield Pair(case, entry.id, tokens, int(ledger.count_texts([text])[0]), *counts)


def measure() -> list[Pair]:
    pairs = []
    for case in read_cases():
        if case.name not in TWICE:
            pairs += compare(case, count_tokens(case.session))
    return pairs


TOP = """\
# A summary without a model, compared with the recorded ones

For each of the {pairs} compactions that real sessions record with a summary in readable words, the same
entries are written up by `ExtractiveSummariser` in at most as many tokens as the recorded summary has. Then
every fact that could be read before is looked up after, once with each text in its place; the blocks that
the compaction kept next to its summary are the same both times. `make summaries` writes this page, the
same bytes each time.

- **kept**: a block contains the fact verbatim, or a remaining text names all of it. This is string presence,
  decided by the package's own extractor, which `ExtractiveSummariser` uses too to find what it copies. So
  this says how much fits into a summary of that length when nothing is rephrased; not which of the two a
  model would continue from better. An error in other words counts as absent for both.
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


def share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "–"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> Iterator[str]:
    """A table of Markdown, closed by an empty line; columns after the first `left` are to the right."""
    lines = [header, ["---"] * left + ["---:"] * (len(header) - left), *rows]
    yield from ("| " + " | ".join(line) + " |" for line in lines)
    yield ""


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
    return table(["facts", "facts before", "recorded", "kept", "extractive", "kept"], rows)


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
