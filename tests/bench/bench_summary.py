"""What a summary keeps: the extractive one beside the recorded one, at the same moment and no more tokens.

For every compaction that a shared transcript of the package's formats records in readable words: the same
entries are written up by `ExtractiveSummariser` in as many tokens as the recorded summary has (o200k_base),
and every
fact that could be read before is looked up after, once with each text in its place. What the compaction left
standing is the same both times. A fact counts as kept when it stands verbatim or is quoted in full; that is
string presence, so an error told in other words counts as absent for both.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from inspector.facts.extract.collect import KINDS
from inspector.facts.facts import Said
from inspector.facts.occurrences import Occurrences, find_occurrences
from inspector.facts.remaining import Remaining, RemainingText, stand_live
from inspector.planning.summary_jobs import SummaryJob
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.session.tree import COMPACTION
from inspector.summaries.extractive.summariser import ExtractiveSummariser
from inspector.tokens.ledger import Ledger, count_tokens
from tests.bench.bench_survival import AGAIN, Case, read_cases

HARNESSES = ("Claude Code", "pi", "Flue")
TWICE = {"step04-689l.jsonl": "an earlier state of step08-1350l.jsonl"}
_CHANGES = {"created", "edited", "deleted"}


GROUPS: dict[str, Callable[[str, Sequence[Said]], bool]] = {
    "files changed": lambda kind, said: kind == "file" and any(one.operation in _CHANGES for one in said),
    "errors": lambda kind, said: kind == "error",
    "the user's rules": lambda kind, said: kind == "constraint" and any(one.by == "user" for one in said),
}
"""What must not be forgotten, told by what was said of it until then."""


class Pair(NamedTuple):
    """One recorded compaction: what stood before, and what each text keeps of it.

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
        if case.harness in HARNESSES and case.name not in TWICE:
            pairs += compare(case, count_tokens(case.session))
    return pairs


COLUMNS = "   stood  recorded        extracted"


def show(pairs: Sequence[Pair], group: str) -> str:
    stood, recorded, extracted = (
        sum(getattr(pair, which)[group] for pair in pairs) for which in ("stood", "recorded", "extracted")
    )
    if not stood:
        return ""
    return (
        f"{stood:>8,}{recorded:>10,} ({recorded / stood:>4.0%}){extracted:>10,} ({extracted / stood:>4.0%})"
    )


def tabulate(pairs: Sequence[Pair]) -> Iterator[tuple[str, str]]:
    tokens = f"{sum(p.recorded_tokens for p in pairs):>18,}{sum(p.extracted_tokens for p in pairs):>17,}"
    yield "  tokens", tokens
    for group in (*GROUPS, *KINDS, "all kinds"):
        if row := show(pairs, group):
            yield f"  {group}", row


def run() -> Iterator[tuple[str, str]]:
    pairs = measure()
    if not pairs:
        yield "summaries", "not measured: the shared transcripts are not beside this checkout"
        return
    for harness in HARNESSES:
        mine = [pair for pair in pairs if pair.case.harness == harness]
        yield "", ""
        yield f"{harness}: {AGAIN.get(harness, f'{len(mine)} compactions')}", COLUMNS
        yield from tabulate(mine)
    mine = [pair for pair in pairs if pair.case.harness not in AGAIN]
    yield "", ""
    yield f"all: {len(mine)} compactions", COLUMNS
    yield from tabulate(mine)
    yield "", ""
    for group in GROUPS:
        worse = [p for p in pairs if p.extracted[group] < p.recorded[group]]
        names = ", ".join(f"{p.case.name} {p.entry[:8]}" for p in worse)
        yield f"fewer {group} than recorded", names or "nowhere"


if __name__ == "__main__":
    for label, value in run():
        print(f"{label:<40} {value}")
