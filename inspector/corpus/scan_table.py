"""The results of a scan as a table: its rows, and sums over all sessions for each policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

from ..mixins import Framed
from ..text import html_lines, html_table, join_words, plural, printed, text_table
from .advice import Advice, choose_policy
from .columns import COLUMNS, Row, sum_kept
from .resample import Interval, Shares, resample_share

HEADINGS = ("policy", "compactions", "tokens left", "facts kept", "of the user's", "fires again", "errors")
SEALED = "inferred"
NESTED = ("sections", "facts", "findings", "cache_rebuilds")
"""Columns that contain a table."""
USER = "/user"
SILENT = "session that records none", "sessions that record none"
Moments = Literal["recorded", "fullest"]
NOTES = (
    (
        "Facts kept: of those that could be read before, the share that is there in full after; in brackets "
        "95 % of 2,000 draws of whole sessions. A policy's summary is the deterministic placeholder."
    ),
    "→ marks a policy that no other one beats in both tokens left and facts kept.",
)


class PolicyRow(NamedTuple):
    """One policy over all sessions, at recorded compactions or at the fullest points of the sessions.

    Attributes:
        policy: The policy; "recorded" for what the harnesses did.
        evidence: "recorded" or "planned".
        sessions: The number of sessions.
        compactions: The number of compactions, recorded or planned.
        sealed: The number of recorded summaries that are encrypted. They are excluded from every policy's
            `kept`.
        left: The share of the tokens that remain, with its interval by session.
        kept: The share of the facts that are there in full after the compaction.
        user: The same share of the facts that the user said first.
        before: The sum of the tokens before.
        after: The sum of the tokens after.
        again: The share of the points at which the policy would fire again on the result.
        front: Whether no other policy is as good in both `left` and `kept`, and better in one.
        errors: The number of points at which the policy could not be planned.

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
    front: bool
    errors: int


TextTable = tuple[str, Sequence[str], list[tuple[str, ...]], int]
"""A table to show: the line above it, its headings, its cells, and the number of columns with names."""


class ScanTable(Framed):
    """The rows of a scan. Iterating yields them in order, from the file if there is one.

    `files` is the number of files, `left_out` the policies whose rules other processes cannot know.

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
        """The rows with errors, those of whole files first."""
        return sorted((row for row in self if row["error"]), key=lambda row: bool(row["policy"]))

    def by_policy(self, moments: Moments | None = None) -> list[PolicyRow]:
        """Return a row for each policy: the recorded one first, then the others by facts kept.

        Args:
            moments: "recorded" for the points before recorded compactions, at which every policy is planned
                and compared with the harness; "fullest" for sessions without compactions; None for the
                recorded ones if there are any. The two are never added up.
        """
        if not self._by_policy:
            self._by_policy = self._sum_up()
        return self._by_policy[moments or ("recorded" if self._by_policy["recorded"] else "fullest")]

    def _sum_up(self) -> dict[Moments, list[PolicyRow]]:
        sealed = {_place(row) for row in self if row["evidence"] == SEALED}
        sums: dict[Moments, dict[str, _PolicySums]] = {"recorded": {}, "fullest": {}}
        copies = self._copies
        for row in self:
            # Compactions that a fork copied from another file of the scan count once.
            if (name := row["policy"]) and _place(row) not in copies:
                group = sums["recorded" if row["moment"] else "fullest"]
                group.setdefault(name, _PolicySums(name)).add(row, _place(row) in sealed)
        self._shares = {
            moments: {name: policy.shares for name, policy in by_name.items()}
            for moments, by_name in sums.items()
        }
        return {
            moments: _order([policy.finish() for policy in by_name.values()])
            for moments, by_name in sums.items()
        }

    def advise(self, budget: float | None = None) -> Advice | None:
        """Return the planned policy that keeps most facts within a budget of tokens, and its uncertainty.

        The budget is a share of the tokens. By default, it is the share that recorded compactions left, or
        that of the briefest policy if it is larger; half of the tokens if there are no recorded compactions.
        Returns None if no policy fits the budget, or none was measured.
        """
        rows = self.by_policy()
        shares = self._shares["recorded" if self._by_policy["recorded"] else "fullest"]
        candidates = [
            (row.policy, row.left.share, row.kept.share, shares[row.policy])
            for row in rows
            if row.evidence == "planned" and row.left.share is not None and row.kept.share is not None
        ]
        if budget is None:
            recorded = [row.left.share for row in rows if row.evidence == "recorded"]
            least = min((left for _, left, *_ in candidates), default=0.0)
            budget = 0.5 if not recorded or recorded[0] is None else max(recorded[0], least)
        return choose_policy(candidates, budget)

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
        """Return all rows as columns for a data frame. Each entry of a nested table has its own column:
        "sections.user.after", "facts.file/user.kept", "findings.CI001", "cache_rebuilds.expired.cost"."""
        rows = [flatten_row(row) for row in self]
        names = list(dict.fromkeys(name for row in rows for name in row))
        return {name: [row.get(name) for row in rows] for name in names}

    @printed
    def __repr__(self) -> str:
        lines = [self.headline]
        for head, headings, cells, names in self._tables():
            lines += ["", head, *text_table([headings, *cells], range(names, len(headings)))]
        return "\n".join([*lines, "", *self.notes])

    def _repr_html_(self) -> str:
        """Return the same tables as HTML, for a notebook."""
        shown: list[TextTable] = [*self._tables()] or [("", HEADINGS, [], 1)]
        tables = [
            html_table(headings, cells, numbers=range(names, len(headings)), around=(head, ""))
            for head, headings, cells, names in shown
        ]
        return html_lines([self.headline]) + "".join(tables) + html_lines(self.notes)

    def _tables(self) -> Iterator[TextTable]:
        for moments in get_args(Moments):
            if rows := self.by_policy(moments):
                many = max(row.sessions for row in rows)
                head = f"At the fullest moment of {plural(many, *SILENT)}"
                if moments == "recorded":
                    compactions = plural(
                        max(row.compactions + row.errors for row in rows), "recorded compaction"
                    )
                    head = f"Right before {compactions} of {plural(many, 'session')}"
                yield head, HEADINGS, [_cells(row) for row in rows], 1

    @property
    def headline(self) -> str:
        """One line that says what was scanned."""
        sessions = len({(row["digest"], row["part"]) for row in self if row["policy"]})
        failed = sum(1 for row in self.errors if not row["policy"])
        bad = f"; {plural(failed, 'file')} could not be measured" if failed else ""
        return f"Scan of {plural(self.files, 'file')}: {plural(sessions, 'session')}{bad}"

    @property
    def notes(self) -> list[str]:
        """Explanations for readers of the tables."""
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
    """Return a row with only plain values."""
    flat = {name: row[name] for name in COLUMNS if name not in NESTED}
    for name, (was, now) in (row["sections"] or {}).items():
        flat |= {f"sections.{name}.before": was, f"sections.{name}.after": now}
    for name, counts in (row["facts"] or {}).items():
        flat |= {f"facts.{name}.stood": sum(counts), f"facts.{name}.kept": sum_kept(counts)}
    for cause, (times, tokens, cost) in (row["cache_rebuilds"] or {}).items():
        rebuild = {"times": times, "tokens": tokens, "cost": cost}
        flat |= {f"cache_rebuilds.{cause}.{name}": value for name, value in rebuild.items()}
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

    def add(self, row: Row, sealed: bool) -> None:
        sums = self.sessions.setdefault((row["digest"], row["part"] or ""), [0] * 6)
        if row["error"]:
            self.many["errors"] += 1
            return
        self.many["compactions"] += 1
        if row["before"] is not None and row["after"] is not None:
            sums[0] += row["before"]
            sums[1] += row["after"]
        if sealed:
            self.many["sealed"] += 1
        elif row["stood"] is not None:
            sums[2] += row["stood"]
            sums[3] += row["kept"]
            user_counts = [counts for name, counts in row["facts"].items() if name.endswith(USER)]
            sums[4] += sum(map(sum, user_counts))
            sums[5] += sum(map(sum_kept, user_counts))
        if row["again"] is not None:
            self.many["fired"] += 1
            self.many["again"] += row["again"]

    @property
    def shares(self) -> Shares:
        """Facts kept and facts before, by session."""
        return {f"{digest} {part}": (s[3], s[2]) for (digest, part), s in self.sessions.items()}

    def finish(self) -> PolicyRow:
        sums = (self.sessions[name] for name in sorted(self.sessions))
        before, after, facts, facts_kept, user_facts, user_kept = zip(*sums, strict=True)
        many = self.many
        return PolicyRow(
            policy=self.policy,
            evidence="recorded" if self.policy == "recorded" else "planned",
            sessions=len(self.sessions),
            compactions=many["compactions"],
            sealed=many["sealed"],
            left=resample_share(after, before),
            kept=resample_share(facts_kept, facts),
            user=resample_share(user_kept, user_facts),
            before=sum(before),
            after=sum(after),
            again=many["again"] / many["fired"] if many["fired"] else None,
            front=False,
            errors=many["errors"],
        )


def _order(rows: list[PolicyRow]) -> list[PolicyRow]:
    ordered = [row._replace(front=_is_front(row, rows)) for row in rows]
    ordered.sort(key=lambda row: (row.policy != "recorded", -(row.kept.share or 0), row.after, row.policy))
    return ordered


def _is_front(row: PolicyRow, others: Iterable[PolicyRow]) -> bool:
    size, facts = row.left.share, row.kept.share
    if facts is None or size is None or row.evidence != "planned":
        return False
    points = ((other.left.share, other.kept.share) for other in others if other.evidence == "planned")
    measured = ((x, y) for x, y in points if x is not None and y is not None)
    return not any(x <= size and y >= facts and (x < size or y > facts) for x, y in measured)


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
