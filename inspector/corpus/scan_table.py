"""What a scan found, as a table: its rows, and for each policy what it leaves and keeps over all sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

from ..mixins import Framed
from ..text import html_table, join_words, plural, printed
from .advice import Advice, Candidate, choose_policy
from .aftermath import HEADINGS as AFTERMATH_HEADINGS
from .aftermath import AftermathRow, sum_aftermath
from .columns import COLUMNS, Row, sum_kept
from .resample import Interval, Shares, resample_share

HEADINGS = ("policy", "compactions", "tokens left", "facts kept", "of the user's", "fires again", "errors")
SEALED = "inferred"
NESTED = ("sections", "facts", "findings", "cache_rebuilds")
"""Columns that hold a table of their own."""
USER = "/user"
Moments = Literal["recorded", "fullest"]
NOTES = (
    (
        "Facts kept: of those that could be read before, the share that stands in full after; in brackets "
        "95 % of 2,000 draws of whole sessions. A policy's summary is the deterministic stand-in."
    ),
    "→ marks a policy that no other one beats in both tokens left and facts kept.",
)


class PolicyRow(NamedTuple):
    """One policy over all sessions, at moments of one sort.

    sessions, compactions   in how many it was planned, or recorded, at how many moments
    sealed    moments whose recorded summary nobody can read: they are left out of every policy's `kept`
    left      share of the tokens before that stand after, with its interval by session
    kept      share of the facts that stood which stand in full after
    user      the same of the facts that the user said first
    before, after   tokens, all moments added up
    again     share of the moments at which the policy would fire again at once on what is left
    cost_first, cost_next   mean dollars of the first request after, and of each later one; None without
              a price
    regret_tokens   tokens paid again for what a recorded compaction took away; None of a planned one
    front     no other policy leaves as little and keeps as much, with one of the two better
    errors    moments where it could not be planned

    >>> from inspector.corpus.columns import fill_row
    >>> one = {"digest": "a", "moment": 1, "policy": "flue", "evidence": "planned", "facts": {}}
    >>> rows = [one | {"before": 100, "after": 20, "stood": 10, "kept": 8}]
    >>> row: PolicyRow = ScanTable(lambda: map(fill_row, rows), 1).by_policy()[0]
    >>> str(row.left), str(row.kept), row.front
    ('20%', '80%', True)
    """

    policy: str
    evidence: str
    sessions: int
    compactions: int
    sealed: int
    left: Interval
    kept: Interval
    user: Interval
    before: int
    after: int
    again: float | None
    cost_first: float | None
    cost_next: float | None
    regret_tokens: int | None
    front: bool
    errors: int


class _Shown(NamedTuple):
    """A table as text: what stands over it, and how many of its columns are names."""

    head: str
    headings: Sequence[str]
    cells: list[tuple[str, ...]]
    names: int = 1


class ScanTable(Framed):
    """The rows of a scan. Iterating gives them one after another, from the file where there is one.

    `files` is how many files were asked for, `left_out` the policies that no other process could know.

    >>> from inspector.corpus.columns import fill_row
    >>> one = {"digest": "a", "moment": 1, "evidence": "planned", "before": 100, "stood": 10, "facts": {}}
    >>> made = [{"policy": "flue", "after": 20, "kept": 8}, {"policy": "codex", "after": 30, "kept": 5}]
    >>> table = ScanTable(lambda: (fill_row(one | row) for row in made), files=1)
    >>> [(row.policy, str(row.kept)) for row in table.by_policy()], table.advise(0.25).policy
    ([('flue', '80%'), ('codex', '50%')], 'flue')
    """

    def __init__(self, read: Callable[[], Iterable[Row]], files: int, left_out: Sequence[str] = ()) -> None:
        self._read, self.files, self.left_out = read, files, tuple(left_out)
        self._by_policy: dict[Moments, list[PolicyRow]] = {}
        self._shares: dict[Moments, dict[str, Shares]] = {}

    def __iter__(self) -> Iterator[Row]:
        return iter(self._read())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def errors(self) -> list[Row]:
        """The rows that say that something could not be measured, a file's as a whole first."""
        return sorted((row for row in self if row["error"]), key=lambda row: bool(row["policy"]))

    def by_policy(self, moments: Moments | None = None) -> list[PolicyRow]:
        """A row for each policy: what was recorded first, then who keeps the largest share of the facts.

        `moments` are those right before the "recorded" compactions, where every policy is asked for what a
        harness really did, or the "fullest" of the sessions that record none; None takes the recorded ones
        where there are some. The two are never added up.
        """
        if not self._by_policy:
            self._by_policy = self._sum_up()
        return self._by_policy[moments or ("recorded" if self._by_policy["recorded"] else "fullest")]

    def _sum_up(self) -> dict[Moments, list[PolicyRow]]:
        sealed = {_place(row) for row in self if row["evidence"] == SEALED}
        sums: dict[Moments, dict[str, _PolicySums]] = {"recorded": {}, "fullest": {}}
        for row in self._list_originals():
            if name := row["policy"]:
                group = sums["recorded" if row["moment"] else "fullest"]
                group.setdefault(name, _PolicySums(name)).add(row, _place(row) in sealed)
        self._shares = {
            moments: {name: one.shares for name, one in mine.items()} for moments, mine in sums.items()
        }
        return {moments: _order([one.finish() for one in mine.values()]) for moments, mine in sums.items()}

    def advise(self, budget: float | None = None, moments: Moments | None = None) -> Advice | None:
        """Which planned policy keeps most of the facts in at most this share of the tokens, and how surely.

        Without a `budget` it is what the recorded compactions left, or the briefest policy where that is
        more, and half of the tokens where none is recorded. `moments` as in `by_policy`. None where no policy
        is that brief, or none was measured.
        """
        rows = self.by_policy(moments)
        chosen: Moments = moments or ("recorded" if self._by_policy["recorded"] else "fullest")
        shares = self._shares[chosen]
        candidates = [
            Candidate(row.policy, row.left.share, row.kept.share, shares[row.policy])
            for row in rows
            if row.evidence == "planned" and row.left.share is not None and row.kept.share is not None
        ]
        if budget is None:
            recorded = [row.left.share for row in rows if row.evidence == "recorded"]
            least = min((one.left for one in candidates), default=0.0)
            budget = 0.5 if not recorded or recorded[0] is None else max(recorded[0], least)
        return choose_policy(candidates, budget)

    def aftermath(self) -> list[AftermathRow]:
        """What followed the recorded compactions, by harness, version and trigger: what was read, run, met
        and said again, and how far it was to the next changed file."""
        return sum_aftermath(self._list_originals())

    def _list_originals(self) -> Iterator[Row]:
        """Yield the rows without copies: compactions that a fork copied from another file of the scan."""
        copies = self._copies
        return (row for row in self if _place(row) not in copies)

    @cached_property
    def _copies(self) -> set[tuple[str, str, int]]:
        """The copied compactions, each by its file, part and number."""
        marked = {_place(row): (row["session"], row["copied_from"]) for row in self if row["moment"]}
        origins = {(session, place[2]): copied for place, (session, copied) in marked.items()}
        counted = {(session, place[2]) for place, (session, copied) in marked.items() if copied is None}
        copies = set()
        for place, (session, copied) in marked.items():
            visited: set[str] = set()
            while copied is not None and copied not in visited:
                visited.add(copied)
                session, copied = copied, origins.get((copied, place[2]))
            if visited and (session, place[2]) in counted:
                copies.add(place)
            counted.add((session, place[2]))
        return copies

    def to_columns(self) -> dict[str, list[Any]]:
        """Every row as columns, for a data frame. Of what is a table of its own each entry has a column:
        "sections.user.after", "facts.file/user.kept", "findings.CI001", "cache_rebuilds.expired.cost"."""
        rows = [flatten_row(row) for row in self]
        names = list(dict.fromkeys(name for row in rows for name in row))
        return {name: [row.get(name) for row in rows] for name in names}

    @printed
    def __repr__(self) -> str:
        lines = [self.headline]
        for table in self._tables():
            rows = [table.headings, *table.cells]
            wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
            lines += ["", table.head]
            for row in rows:
                cells = enumerate(zip(row, wide, strict=True))
                words = (c.ljust(w) if at < table.names else c.rjust(w) for at, (c, w) in cells)
                lines.append("  ".join(words).rstrip())
        return "\n".join([*lines, "", *self.notes])

    def _repr_html_(self) -> str:
        """The same tables as HTML, for a notebook."""
        shown = [*self._tables()] or [_Shown("", HEADINGS, [])]
        last = len(shown) - 1
        return "".join(
            html_table(
                table.headings,
                table.cells,
                numbers=range(table.names, len(table.headings)),
                around=(
                    table.head if at else f"{self.headline}\n{table.head}",
                    "\n".join(self.notes) if at == last else "",
                ),
            )
            for at, table in enumerate(shown)
        )

    def _tables(self) -> Iterator[_Shown]:
        if told := self.by_policy("recorded"):
            compactions = max(row.compactions + row.errors for row in told)
            sessions = plural(max(row.sessions for row in told), "session")
            head = f"Right before {plural(compactions, 'recorded compaction')} of {sessions}"
            yield _Shown(head, HEADINGS, [_cells(row) for row in told])
        if told := self.by_policy("fullest"):
            many = plural(
                max(row.sessions for row in told), "session that records none", "sessions that record none"
            )
            yield _Shown(f"At the fullest moment of {many}", HEADINGS, [_cells(row) for row in told])
        if after := self.aftermath():
            head = "After the recorded compactions, until the next"
            yield _Shown(head, AFTERMATH_HEADINGS, [row.cells for row in after], names=3)

    @property
    def headline(self) -> str:
        """What was scanned, in a line."""
        sessions = len({(row["digest"], row["part"]) for row in self if row["policy"]})
        failed = sum(1 for row in self.errors if not row["policy"])
        bad = f"; {plural(failed, 'file')} could not be measured" if failed else ""
        return f"Scan of {plural(self.files, 'file')}: {plural(sessions, 'session')}{bad}"

    @property
    def notes(self) -> list[str]:
        """What one has to know to read the tables."""
        notes = [*NOTES]
        if sealed := max((row.sealed for row in self.by_policy("recorded")), default=0):
            notes.append(
                f"{plural(sealed, 'recorded summary', 'recorded summaries')} cannot be read: these moments "
                "are left out of facts kept, not counted as lost."
            )
        if copies := len(self._copies):
            several = plural(copies, "compaction is a fork's copy", "compactions are forks' copies")
            notes.append(f"{several}: counted once, in the original session.")
        if self.left_out:
            names = join_words(self.left_out)
            notes.append(
                f"Left out, as only this process knows their rules: {names}. workers=0 takes them too."
            )
        reasons = Counter(row["error"].split(":")[0] for row in self.errors)
        notes += [f"{plural(many, 'row')} in .errors: {reason}." for reason, many in reasons.most_common(5)]
        if (advice := self.advise()) is not None:
            notes.append(str(advice))
        return notes


def flatten_row(row: Row) -> Row:
    """A row whose every value is plain."""
    flat = {name: row[name] for name in COLUMNS if name not in NESTED}
    for name, (was, now) in (row["sections"] or {}).items():
        flat |= {f"sections.{name}.before": was, f"sections.{name}.after": now}
    for name, counts in (row["facts"] or {}).items():
        flat |= {f"facts.{name}.stood": sum(counts), f"facts.{name}.kept": sum_kept(counts)}
    for cause, (times, tokens, cost) in (row["cache_rebuilds"] or {}).items():
        told = {"times": times, "tokens": tokens, "cost": cost}
        flat |= {f"cache_rebuilds.{cause}.{name}": value for name, value in told.items()}
    flat |= {f"findings.{code}": many for code, many in (row["findings"] or {}).items()}
    return flat


def _place(row: Row) -> tuple[str, str, int]:
    return row["digest"], row["part"] or "", row["moment"]


class _PolicySums:
    """The sums of one policy by session."""

    def __init__(self, policy: str) -> None:
        self.policy = policy
        self.sessions: dict[tuple[str, str], list[int]] = {}
        self.many = Counter[str]()
        self.first = self.next = 0.0
        self.regret: int | None = None

    def add(self, row: Row, sealed: bool) -> None:
        mine = self.sessions.setdefault((row["digest"], row["part"] or ""), [0] * 6)
        if row["error"]:
            self.many["errors"] += 1
            return
        self.many["compactions"] += 1
        if row["before"] is not None and row["after"] is not None:
            mine[0] += row["before"]
            mine[1] += row["after"]
        if sealed:
            self.many["sealed"] += 1
        elif row["stood"] is not None:
            mine[2] += row["stood"]
            mine[3] += row["kept"]
            said = [counts for name, counts in row["facts"].items() if name.endswith(USER)]
            mine[4] += sum(map(sum, said))
            mine[5] += sum(map(sum_kept, said))
        if row["again"] is not None:
            self.many["fired"] += 1
            self.many["again"] += row["again"]
        if row["cost_first"] is not None and row["currency"] == "USD":
            self.many["priced"] += 1
            self.first += row["cost_first"]
            self.next += row["cost_next"]
        if row["regret_tokens"] is not None:
            self.regret = (self.regret or 0) + row["regret_tokens"]

    @property
    def shares(self) -> Shares:
        """{session: (facts kept, facts that stood)}."""
        return {f"{digest} {part}": (s[3], s[2]) for (digest, part), s in self.sessions.items()}

    def finish(self) -> PolicyRow:
        before, after, stood, kept, said, said_kept = zip(
            *(self.sessions[name] for name in sorted(self.sessions)), strict=True
        )
        many, priced = self.many, self.many["priced"]
        return PolicyRow(
            policy=self.policy,
            evidence="recorded" if self.policy == "recorded" else "planned",
            sessions=len(self.sessions),
            compactions=many["compactions"],
            sealed=many["sealed"],
            left=resample_share(after, before),
            kept=resample_share(kept, stood),
            user=resample_share(said_kept, said),
            before=sum(before),
            after=sum(after),
            again=many["again"] / many["fired"] if many["fired"] else None,
            cost_first=self.first / priced if priced else None,
            cost_next=self.next / priced if priced else None,
            regret_tokens=self.regret,
            front=False,
            errors=many["errors"],
        )


def _order(made: list[PolicyRow]) -> list[PolicyRow]:
    told = [row._replace(front=_is_front(row, made)) for row in made]
    told.sort(key=lambda row: (row.policy != "recorded", -(row.kept.share or 0), row.after, row.policy))
    return told


def _is_front(row: PolicyRow, others: Iterable[PolicyRow]) -> bool:
    if row.kept.share is None or row.left.share is None or row.evidence != "planned":
        return False
    for other in others:
        if other.evidence != row.evidence or other.kept.share is None or other.left.share is None:
            continue
        less, more = row.left.share - other.left.share, other.kept.share - row.kept.share
        if less >= 0 and more >= 0 and (less > 0 or more > 0):
            return False
    return True


def _cells(row: PolicyRow) -> tuple[str, ...]:
    return (
        ("→ " if row.front else "") + row.policy,
        f"{row.compactions:,}",
        str(row.left),
        str(row.kept),
        str(row.user),
        "" if row.again is None else f"{row.again:.0%}",
        f"{row.errors:,}" if row.errors else "",
    )
