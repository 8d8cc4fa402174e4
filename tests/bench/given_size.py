"""Texts of a given size in place of a summary: for `make benchmark`.

At each compaction that files record with a readable summary, baselines write one text of at most 5, 10, 20
and 30 % of the tokens before, in place of everything. What is kept is told by kind, by speaker and by where a
fact stood.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from inspector.corpus.columns import sum_kept
from inspector.corpus.measure import count_facts, facts_of
from inspector.corpus.resample import Interval
from inspector.facts.extract.collect import BY, KINDS
from inspector.facts.facts import Facts
from inspector.facts.trace import trace_plan, trace_recorded
from inspector.files import open_session
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.session.session import Session
from inspector.summaries.extractive.summariser import ExtractiveSummariser
from inspector.summaries.write import checkpoint_from_text, summarise
from inspector.tokens.counter import Longs
from inspector.tokens.ledger import Ledger, count_tokens
from tests.bench.loss import CARRIERS, SUMMARY, find_carriers, tally_carriers
from tests.bench.shares import FEW, pool, shorten, tabulate, tell_share

SHARES = (0.05, 0.10, 0.20, 0.30)
COUNTER = "o200k_base"


class Text(NamedTuple):
    """What one baseline kept at one moment: of so many facts that stood, in a text of so many tokens.

    `groups` tells (stood, kept) of the facts of a kind, of a speaker, and of a carrier.
    """

    by: str
    share: float
    session: str
    tokens: int
    before: int
    stood: int
    kept: int
    groups: dict[tuple[str, str], tuple[int, int]]


Baseline = Callable[[Plan, int], str]


def list_lines(session: Session) -> list[str]:
    """What stands in the context, line by line."""
    entries = (session.entries[i] for i in dict.fromkeys(session.live.entries.tolist()))
    return [
        line
        for entry in entries
        for block in entry.blocks
        for line in block.text.splitlines()
        if line.strip()
    ]


def count_fitting(lines: Sequence[str], ledger: Ledger, tokens: int) -> int:
    """How many of the first lines fit into so many tokens, by the sum of their own."""
    sizes = ledger.count_texts([f"{line}\n" for line in lines]).cumsum()
    return int((sizes <= tokens).sum())


def keep_last(plan: Plan, tokens: int) -> str:
    lines = list_lines(plan.session)[::-1]
    return "\n".join(lines[: count_fitting(lines, plan.ledger, tokens)][::-1])


def keep_random(plan: Plan, tokens: int) -> str:
    lines = list_lines(plan.session)
    order = list(range(len(lines)))
    random.Random(7).shuffle(order)
    some = order[: count_fitting([lines[n] for n in order], plan.ledger, tokens)]
    return "\n".join(lines[n] for n in sorted(some))


def extract(plan: Plan, tokens: int) -> str:
    return summarise(plan, ExtractiveSummariser(plan.ledger, tokens=tokens)).text


BASELINES: dict[str, Baseline] = {"last lines": keep_last, "random lines": keep_random, "extractive": extract}


def measure_texts(path: Path) -> Iterator[Text]:
    """Every baseline at every readable recorded compaction of a file, and the summary that was recorded."""
    session = open_session(path)
    ledger = count_tokens(session, COUNTER)
    found: tuple[Facts, Longs] | None = None
    for trace in trace_recorded(session, session.facts):
        if trace.scene.tier != "recorded":
            continue
        moment = trace.scene.session
        plan = make_plan(moment, ledger, "claude-code", {"cut": "end"}, reason="manual")
        before = plan.counted_before
        written = make_plan(moment, ledger, "recorded", reason="manual").checkpoint
        texts = [("recorded", 0.0, "" if written is None else written.text)]
        texts += [
            (by, share, make(plan, int(share * before))) for by, make in BASELINES.items() for share in SHARES
        ]
        for by, share, text in texts:
            if text.strip():
                kept = trace_plan(plan.with_summary(checkpoint_from_text(f"<summary>{text}</summary>")))
                told, size = count_facts(kept), int(ledger.count_texts([text])[0])
                facts = facts_of(kept)  # all traces of a moment are of the same
                if found is None or found[0] is not facts:
                    found = facts, find_carriers(facts.session, facts)
                groups = group_facts(told["facts"])
                for row in tally_carriers(kept, *found, path.name):
                    if not row.alone or row.carrier == SUMMARY:
                        groups["carrier", row.carrier] = row.stood, row.kept
                yield Text(by, share, path.name, size, before, told["stood"], told["kept"], groups)


def group_facts(facts: dict[str, list[int]]) -> dict[tuple[str, str], tuple[int, int]]:
    """(stood, kept) by kind and by who said it first, of what `count_facts` tells of both."""
    groups: dict[tuple[str, str], tuple[int, int]] = {}
    for name, counts in facts.items():
        for group in zip(("kind", "by"), name.split("/"), strict=True):
            stood, kept = groups.get(group, (0, 0))
            groups[group] = stood + sum(counts), kept + sum_kept(counts)
    return groups


def pool_texts(texts: Sequence[Text], group: tuple[str, str] | None = None) -> Interval:
    """The share kept of all facts, or of those of one group; none of fewer than FEW of them."""
    counts = (
        (text.session, *((text.stood, text.kept) if group is None else text.groups.get(group, (0, 0))))
        for text in texts
    )
    return pool(counts, 1 if group is None else FEW)


def group(texts: Sequence[Text]) -> Iterator[tuple[str, float, list[Text]]]:
    for by in ("recorded", *BASELINES):
        for share in (0.0, *SHARES):
            if mine := [text for text in texts if (text.by, text.share) == (by, share)]:
                yield by, share, mine


GROUPS = (
    *(("kind", kind) for kind in KINDS),
    *(("by", by) for by in BY[:3]),
    *(("carrier", carrier) for carrier in (*CARRIERS, SUMMARY)),
)
"""What the texts of a given size are divided by: kinds, speakers, and where a fact stood."""
SPEAKERS = {"user": "said by the user", "model": "said by the model", "tool": "said by a tool"}


def list_groups(texts: Sequence[Text]) -> list[dict[str, Any]]:
    """What each baseline keeps of each group at each size, for the leaderboard."""
    return [
        {"of": what, "group": name, "by": by, "share": share, "kept": shorten(pool_texts(mine, (what, name)))}
        for what, name in GROUPS
        for by, share, mine in group(texts)
        if share
    ]


def tell_groups(groups: Sequence[dict[str, Any]]) -> Iterator[str]:
    """One table: a row for each kind, speaker and carrier, a column for each baseline and size."""
    yield GROUPED
    head = ["", *(f"{by}, {share:.0%}" for by in BASELINES for share in SHARES)]
    kept = {(row["of"], row["group"], row["by"], row["share"]): row["kept"][0] for row in groups}
    rows = []
    for what, name in GROUPS:
        title = {"kind": name, "by": SPEAKERS.get(name, name), "carrier": f"in {name}"}[what]
        shares = [kept.get((what, name, by, share)) for by in BASELINES for share in SHARES]
        rows.append([title, *("–" if share is None else f"{share:.0%}" for share in shares)])
    yield from tabulate(head, rows)


def list_sizes(texts: Sequence[Text]) -> list[dict[str, Any]]:
    """What each text keeps of all facts, and its own share of the tokens before, for the leaderboard."""
    return [
        {"by": by, "share": share, "kept": shorten(pool_texts(mine)), "size": round(_weigh(mine), 4)}
        for by, share, mine in group(texts)
    ]


def _weigh(texts: Sequence[Text]) -> float:
    return sum(text.tokens for text in texts) / sum(text.before for text in texts)


def tell_sizes(sizes: Sequence[dict[str, Any]], groups: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The section of the page."""
    yield "## Texts of a given size"
    yield TEXTS
    found = {(row["by"], row["share"]): row for row in sizes}
    lines = []
    for by in BASELINES:
        mine = [found[by, share] for share in SHARES]
        lines.append([by, *(tell_share(Interval(*row["kept"])) for row in mine)])
        lines.append([f"{by}: its own size", *(f"{row['size']:.1%}" for row in mine)])
    yield from tabulate(["text", *(f"{share:.0%} of before at most" for share in SHARES)], lines)
    yield from tell_groups(groups)
    own = found["recorded", 0.0]
    yield OWN.format(size=own["size"], kept=tell_share(Interval(*own["kept"])))


TEXTS = """
One text in place of everything before, at most as large as the share of the tokens says: the last lines,
random lines (seed 7), and the package's extractive summary, which ends by itself where it has nothing more to
tell. The extractive one chooses by the same extractor that scores it, so its row says how much fits into that
size when one knows what is asked for; no other row knows. Facts kept:"""
GROUPED = """The same by kind, by who said it first, and by where it stood (a fact that stood in several
counts in each); intervals are in `leaderboard.json`:"""
OWN = """The recorded summaries have {size:.1%} of the tokens before, and keep {kept} of the facts
in their own words alone.
"""
