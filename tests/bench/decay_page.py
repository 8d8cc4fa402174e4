"""The page of `make decay`: what is measured, the tables, the sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from inspector.replays.decay import Round
from tests.bench.retention_page import share, table

STAND_IN, NOBODY = "stand-in", "nobody"
FEW = 20

TOP = """\
# What five compactions leave

<picture>
<source media="(prefers-color-scheme: dark)" srcset="images/decay-dark.svg">
<img alt="The share of facts that stand in full after each of five compactions" src="images/decay-light.svg">
</picture>

{sessions} real sessions that say at least 200,000 tokens each. Each is lived from its beginning without the
compactions it records, and compacted at five moments, an equal share of its tokens apart, the last at its
end. Followed are the {facts:,} facts that could be read right before the first. `make decay` writes this
page, `decay.csv` and the figures anew, the same bytes each time; `compact_rounds(session, policy)` does it
for a session of yours, and `notebooks/04-what-five-compactions-leave.ipynb` shows how.

- **kept**: the fact stands in full, verbatim, quoted or paraphrased, after this compaction and after every
  one before it. **silent**: the same of the {silent:,} facts that nobody said again after the first
  compaction, so that nothing but the compactions can have kept them.
- **planned**: no model is asked, and the replies are those of the file, whatever was left out by then.
  *stand-in* is the marked placeholder of a plan, one line for each entry; *extractive* is
  `ExtractiveSummariser` at its default of 4,000 tokens; *nobody*: the policy has nothing written up. Both
  are tools, not models: what a model keeps is in none of these rows, but in those of the recorded
  compactions below.
- It is string presence, told by the package's own extractor: an error in other words counts as absent.
- Policies at their published settings, asked by hand at each moment; one that finds nothing to do leaves
  everything, and *compacted* tells how often it did something. *tokens left* is the context after the five
  compactions, all sessions together, by o200k_base: compare at like tokens.
"""
RECORDED = """\
## What files record by themselves

Compactions in a row on the path of one session, at their own moments, so neither facts nor sizes are those
above. **recorded**: the file holds the summary. **inferred**: it is sealed, and what is kept is what stands
beside it; the model may know more.
"""


class Counts(Protocol):
    """A row of figures."""

    @property
    def session(self) -> str: ...
    @property
    def done(self) -> int: ...
    @property
    def first(self) -> int: ...
    @property
    def kept(self) -> int: ...
    @property
    def silent(self) -> int: ...
    @property
    def silent_kept(self) -> int: ...
    @property
    def before(self) -> int: ...
    @property
    def after(self) -> int: ...


Pooled = tuple[Sequence[Counts], Mapping[str, Sequence[Counts]]]


def write_page(
    pooled: Mapping[tuple[str, str], Pooled],
    sessions: Sequence[tuple[str, str]],
    recorded: Mapping[str, Sequence[Round]],
    still: Sequence[str],
) -> str:
    whole = next(iter(pooled.values()))[0][0]
    order = sorted(pooled, key=lambda key: (-pooled[key][0][-1].after, key))
    rounds = [f"after {row + 1}" for row in range(len(pooled[order[0]][0]))]
    out = [TOP.format(sessions=len(sessions), facts=whole.first, silent=whole.silent)]
    out += ["## Kept, by policy and summariser (planned)", ""]
    heads = ["policy", "written by", "compacted", *rounds, "silent after 5", "tokens left"]
    out += table(heads, [list(_row(key, pooled[key][0], len(sessions))) for key in order], 2)
    if still:
        named = ", ".join(f"`{name}`" for name in still)
        out += [
            f"Not shown, since what they do is done anew in each request and stored nowhere: {named}.",
            "",
        ]
    kinds = [kind for kind, rows in pooled[order[0]][1].items() if rows[0].first >= FEW]
    first = {kind: pooled[order[0]][1][kind][0].first for kind in kinds}
    out += ["## Kept after five, by kind (planned)", ""]
    heads = ["policy", "written by", *(f"{kind} ({first[kind]:,})" for kind in kinds)]
    rows = [[*key, *(share(pooled[key][1][kind][-1].kept, first[kind]) for kind in kinds)] for key in order]
    out += table(heads, rows, 2)
    out += [
        f"In brackets: facts of the kind before the first; kinds with fewer than {FEW} are not shown.",
        "",
    ]
    out.append(RECORDED)
    heads = ["file", "evidence", "facts before the first", "after 1", "after 2", "after 3", "silent"]
    out += table(heads, [list(_recorded(name, rounds)) for name, rounds in recorded.items()], 2)
    out += ["*silent*: after the last, of the facts that nobody said again, and of how many.", ""]
    out += ["## The sessions", ""]
    out += table(["file", "harness"], [[f"`{name}`", harness] for name, harness in sessions], 2)
    return "\n".join(out)


def _row(key: tuple[str, str], rows: Sequence[Counts], sessions: int) -> Iterator[str]:
    last = rows[-1]
    yield from key
    yield f"{sum(row.done for row in rows)} of {sessions * len(rows)}"
    yield from (share(row.kept, row.first) for row in rows[:-1])
    yield f"**{share(last.kept, last.first)}**"
    yield share(last.silent_kept, last.silent)
    yield f"{last.after:,}"


def _recorded(name: str, rounds: Sequence[Round]) -> Iterator[str]:
    first, silent = sum(rounds[0].first.values()), sum(rounds[0].silent.values())
    yield f"`{name}`"
    yield ", ".join(dict.fromkeys(one.tier for one in rounds))
    yield f"{first:,}"
    yield from (share(sum(one.kept.values()), first) for one in rounds[:3])
    yield from ("–" for _ in range(3 - len(rounds)))
    yield f"{share(sum(rounds[-1].silent_kept.values()), silent)} of {silent:,}"
