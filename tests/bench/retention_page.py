"""The page of `make retention`: what is measured, the tables, the sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from inspector.corpus.columns import COUNTED

TOP = """\
# What a compaction leaves of what was said

<picture>
<source media="(prefers-color-scheme: dark)" srcset="images/retention-dark.svg">
<img alt="Facts by outcome for each policy, and the share kept of each kind" src="images/retention-light.svg">
</picture>

{sessions} real sessions, each at its fullest moment, with the {facts:,} facts that could be read there:
file paths, commands, error lines, symbols, addresses, ids, numbers with a name, instructions, decisions,
todos. Each policy plans a compaction of that moment, as if it were asked for by hand; then every fact is
looked up in what stands after it. `make retention` writes this page, `retention.csv` and the figures
anew, the same bytes each time.

- **verbatim**: a block that says it stands as it was. **quoted**: a summary has the same words or value.
  **pointer**: a pointer stands in its block's place. **partial**: only a part stands, as the tail of a path.
  **absent**: nothing does. *kept* is verbatim, quoted and paraphrased. Outcomes without facts are left out.
- It is string presence. An error told in other words does not count as that error, and a path that stands
  may be of no use. Found by the package's own extractor, whose precision and recall are measured by its
  tests.
- **planned**: no model is asked. Where one would write a summary, a stand-in made of the transcript's own
  lines is read, so *quoted* says what a summary of that size could hold, not what a model would choose.
  Policies are the built-in ones at their published settings; those aim at budgets of their own, so
  compare at like tokens.
- Tokens are counted by {counter} over all sessions. A policy that finds nothing to do leaves everything;
  *acts in* tells in how many sessions it does something.
"""
RECORDED = """\
## What the same files record

Every compaction on the path of these sessions, at its own moment, so the facts are not those above.
**recorded**: the file itself holds the summary, or the block. **inferred**: the summary is sealed, and
nothing that can be read says it; the model may know it all the same. The two are never added up; shares
are of all facts that could be read before, so the rows of one harness make 100 % together.
"""
BOTTOM = """\
Public transcripts with at least {full:,} tokens at their fullest moment, by the provider's own count or
ours where it told none. Left out: {left}; and what was never that full.
"""


class Counts(Protocol):
    """A row of figures: facts by outcome, tokens before and after."""

    @property
    def session(self) -> str: ...
    @property
    def outcomes(self) -> tuple[int, ...]: ...
    @property
    def before(self) -> int: ...
    @property
    def after(self) -> int: ...
    @property
    def stood(self) -> int: ...
    @property
    def kept(self) -> int: ...


Pool = Callable[..., Counts]


def share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "–"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> Iterator[str]:
    """A table of Markdown, closed by an empty line; columns after the first `left` are to the right."""
    lines = [header, ["---"] * left + ["---:"] * (len(header) - left), *rows]
    yield from ("| " + " | ".join(line) + " |" for line in lines)
    yield ""


def by_policy(
    planned: Mapping[str, Sequence[Counts]], names: Sequence[str], pool: Pool, outcomes: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    for by, mine in planned.items():
        whole = pool(mine)
        each = [pool([row for row in mine if row.session == name]) for name in names]
        acts = sum(row.before != row.after or row.outcomes[0] < row.stood for row in each)
        shares = (share(whole.outcomes[COUNTED.index(name)], whole.stood) for name in outcomes)
        kept = f"**{share(whole.kept, whole.stood)}**"
        yield by, f"{acts} of {len(names)}", share(whole.after, whole.before), *shares, kept


def by_harness(
    recorded: Mapping[tuple[str, str], Sequence[Counts]], pool: Pool, outcomes: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    every = Counter[str]()
    for (_, by), mine in recorded.items():
        every[by] += pool(mine).stood
    for (tier, by), mine in recorded.items():
        whole = pool(mine)
        shares = (share(whole.outcomes[COUNTED.index(name)], every[by]) for name in outcomes)
        number = str(len({row.session for row in mine}))
        left = share(whole.after, whole.before)
        yield by, tier, number, left, f"{whole.stood:,}", *shares, f"**{share(whole.kept, every[by])}**"


def kept_of_kinds(
    recorded: Mapping[tuple[str, str], Sequence[Counts]], kinds: Sequence[str], few: int, pool: Pool
) -> Iterator[tuple[str, ...]]:
    """What stands for certain of each kind, as a share of all that could be read before."""
    for (tier, by), mine in recorded.items():
        if tier == "recorded":
            all_tiers = [row for (_, other), rows in recorded.items() if other == by for row in rows]
            stood = [pool(all_tiers, (kind,)).stood for kind in kinds]
            kept = [pool(mine, (kind,)).kept for kind in kinds]
            yield by, *(share(a, b) if b >= few else "–" for a, b in zip(kept, stood, strict=True))
