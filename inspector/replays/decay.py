"""Measure how many facts survive several compactions in a row, recorded or planned by a policy.

The input is traces, or a session, a policy and a summariser; the result is a `Round` for each compaction. It
follows the facts that were in the context right before the first compaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError, EditError, expect
from ..facts.extract.collect import KINDS
from ..facts.facts import Facts, find_facts
from ..facts.outcome_finder import Evidence
from ..facts.outcomes import IN_FULL, OUTCOMES, RETAINED
from ..facts.trace import trace_moves
from ..facts.traced import Trace
from ..mixins import Drawable, Framed
from ..policies.policy import Policy
from ..session.live import UNSEEN
from ..session.session import Session
from ..summaries.compaction import STAND_IN, CompactionResult, compact
from ..summaries.write import Summariser, name_of
from ..text import printed
from ..tokens.counter import Counter as TokenCounter
from ..tokens.ledger import Ledger, count_tokens


class Round(NamedTuple):
    """One of several compactions: how many facts were in the context before it, and their outcomes.

    The other figures count the facts before the first compaction: `left` those that remain now, in full or in
    part. By kind: `first` is their number, `kept` the number that remained in full after this and every
    earlier compaction. `silent` and `silent_kept` count only facts that were not restated since the first
    compaction, so that only the compactions can have kept them.
    """

    number: int
    entry: str
    tier: Evidence
    stood: int
    outcomes: dict[str, int]
    left: int
    first: dict[str, int]
    kept: dict[str, int]
    silent: dict[str, int]
    silent_kept: dict[str, int]


Key = tuple[str, str]


def measure_decay(traces: Sequence[Trace]) -> tuple[Round, ...]:
    """Return a `Round` for each trace of a compaction; `trace_recorded` returns the traces of a file.

    >>> from inspector import open_demo, trace_recorded
    >>> session = open_demo()
    >>> (only,) = measure_decay(trace_recorded(session))
    >>> only.first["file"], only.kept["file"]
    (59, 16)
    """
    cohort = {(t.fact.kind, t.fact.form) for t in traces[0] if t.stood} if traces else set[Key]()
    silent = cohort - _find_said_again(traces)
    unbroken = set(cohort)
    rounds = []
    for number, trace in enumerate(traces, 1):
        standing = [traced for traced in trace if traced.stood]
        counts = Counter[str](traced.outcome for traced in standing)
        outcome = {key: t.outcome for t in trace if (key := (t.fact.kind, t.fact.form)) in cohort}
        unbroken = {key for key in unbroken if outcome.get(key) in IN_FULL}
        rounds.append(
            Round(
                number,
                trace.scene.entry.id if trace.scene.entry is not None else "",
                trace.scene.tier,
                len(standing),
                {name: counts[name] for name in OUTCOMES if counts[name]},
                sum(value in (*RETAINED, "partial") for value in outcome.values()),
                *map(_by_kind, (cohort, unbroken, silent, silent & unbroken)),
            )
        )
    return tuple(rounds)


def _by_kind(facts: Iterable[Key]) -> dict[str, int]:
    counts = Counter(kind for kind, _ in facts)
    return {kind: counts[kind] for kind in KINDS if counts[kind]}


def _find_said_again(traces: Sequence[Trace]) -> set[Key]:
    """Facts that a message, not a summary, restated between the first compaction and the last."""
    if len(traces) < 2:
        return set()
    before, session = traces[0].scene.session, traces[-1].scene.session
    earlier = set(before.path)
    since = {
        session.entries[i].id
        for i in session.path
        if i not in earlier
        and session.entries[i].kind == "message"
        and "copy_of" not in session.entries[i].extra
    }
    return {(t.fact.kind, t.fact.form) for t in traces[-1] if any(ref.entry in since for ref in t.said)}


class DecayLine(NamedTuple):
    """The share of the first facts that remain in full, before the first compaction and after each.

    `of` is the policy or the kind of fact; `by` wrote the summaries. `tokens` are the tokens of the context
    after each compaction, if they are known.

    >>> line = DecayLine("flue", "by hand", (1.0, 0.75, 0.5), (8_000, 9_000))
    >>> [f"{share:.0%}" for share in line.shares[1:]]
    ['75%', '50%']
    """

    of: str
    by: str
    shares: tuple[float, ...]
    tokens: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Decay(Framed, Drawable):
    """The facts of a session after repeated compactions by one policy and one summariser.

    `transitions` has an item for each point in time, `traces` one for each compaction that took place.
    `session` is the last session, with all compactions on its path. `rounds` are numbered by point in time.

    >>> from inspector import read_session
    >>> answer = {"role": "assistant", "content": "It is short."}
    >>> session = read_session([{"role": "user", "content": "Read src/a.py."}, answer])
    >>> decay: Decay = compact_rounds(session, "claude-code", lambda job, session: "Nothing yet.", rounds=1)
    >>> decay.rounds[0].stood, decay.rounds[0].outcomes, decay.line("file").shares
    (2, {'absent': 2}, (1.0, 0.0))
    """

    policy: str
    by: str
    transitions: tuple[CompactionResult, ...]
    traces: tuple[Trace, ...]

    @property
    def session(self) -> Session:
        return self.transitions[-1].after

    @cached_property
    def rounds(self) -> tuple[Round, ...]:
        """A `Round` for each point in time. The evidence is "planned": the summaries were written here, and
        the replies are those in the file, regardless of the facts that were lost."""
        return tuple(item._replace(tier="planned") for item in measure_decay(self.traces))

    @cached_property
    def tokens(self) -> tuple[tuple[int, int], ...]:
        """Counted tokens of the context before and after each compaction."""
        return tuple((t.plan.ledger.count_context(t.plan.session), _count_after(t)) for t in self.transitions)

    def line(self, kind: str | None = None, *, silent: bool = False) -> DecayLine:
        """Return the shares of all facts or of one kind; with `silent` only of facts never restated.

        The line has no shares if there are no such facts.
        """
        first = self.rounds[0].silent if silent else self.rounds[0].first
        every = [first, *(item.silent_kept if silent else item.kept for item in self.rounds)]
        whole, *parts = (
            sum(counts.values()) if kind is None else counts.get(kind, 0) for counts in (first, *every)
        )
        shares = tuple(part / whole for part in parts) if whole else ()
        return DecayLine(kind or self.policy, self.by, shares, tuple(after for _, after in self.tokens))

    def to_columns(self) -> Mapping[str, Sequence[Any]]:
        """One row for each point in time and kind of fact."""
        rows = [(n, item, kind) for n, item in enumerate(self.rounds) for kind in item.first]
        return {
            "policy": [self.policy for _ in rows],
            "by": [self.by for _ in rows],
            "round": [item.number for _, item, _ in rows],
            "kind": [kind for *_, kind in rows],
            "first": [item.first[kind] for _, item, kind in rows],
            "kept": [item.kept.get(kind, 0) for _, item, kind in rows],
            "silent": [item.silent.get(kind, 0) for _, item, kind in rows],
            "silent_kept": [item.silent_kept.get(kind, 0) for _, item, kind in rows],
            "compacted": [self.transitions[n].done for n, *_ in rows],
            "tokens_before": [self.tokens[n][0] for n, *_ in rows],
            "tokens_after": [self.tokens[n][1] for n, *_ in rows],
        }

    @printed
    def __repr__(self) -> str:
        compactions = sum(transition.done for transition in self.transitions)
        lines = [f"Decay({self.policy}, {self.by}: {compactions} of {len(self.transitions)} compacted)"]
        for item, (before, after) in zip(self.rounds, self.tokens, strict=True):
            in_full, first = sum(item.kept.values()), sum(item.first.values())
            summary = f"{in_full:,} of {first:,} facts remain in full"
            lines.append(f"  {item.number}: {before:>9,} -> {after:>9,} tokens, {summary}")
        return "\n".join(lines)


def _count_after(transition: CompactionResult) -> int:
    ledger = transition.ledger if transition.done else transition.plan.ledger
    return ledger.count_context(transition.after)


def compact_rounds(
    session: Session,
    policy: str | Policy | Mapping[str, Any] = "flue",
    summariser: Summariser | None = None,
    *,
    rounds: int = 5,
    counter: str | TokenCounter = "o200k_base",
    window: int | None = None,
    facts: Facts | None = None,
) -> Decay:
    """Compact a session repeatedly as it grows, and follow the facts from before the first compaction.

    The session is replayed from its beginning without its recorded compactions. It is compacted after each
    equal share of its tokens, the last time at its end, but never while a tool call is open. The replies are
    those in the file. Sizes are counted, because the file reports sizes of other contexts. `facts` are the
    facts of `strip_compactions(session)`, if they are known. Raises the errors of `compact`, and `EditError`
    for a session with too few entries.

    >>> from inspector import open_demo
    >>> decay = compact_rounds(open_demo(), "claude-code", rounds=2)
    >>> [transition.entry for transition in decay.transitions]
    ['compaction-1', 'compaction-2']
    """
    expect("compact_rounds", session=(session, Session), rounds=(rounds, int), facts=(facts, Facts, None))
    if rounds < 1:
        raise ArgumentError("compact_rounds", "rounds", rounds, "at least 1")
    stripped = strip_compactions(session)
    facts = find_facts(stripped) if facts is None else facts
    ends = find_moments(stripped, count_tokens(stripped, counter), rounds)
    transitions: list[CompactionResult] = []
    now = stripped
    for number, end in enumerate(ends):
        if transitions:
            now = _go_on(transitions[-1].after, stripped, ends[number - 1])
        now = now.at(stripped.entries[end].id)
        # Counting the whole context again is cheap: the counter caches its texts.
        ledger = count_tokens(now, counter)
        transitions.append(compact(now, policy, summariser, ledger=ledger, window=window))
    last = transitions[-1].after
    moves = ((t.plan.session.leaf, t.after.leaf, t.entry) for t in transitions)
    by = STAND_IN if summariser is None else name_of(summariser)
    name = transitions[0].plan.policy.name
    return Decay(name, by, tuple(transitions), tuple(trace_moves(last, facts, moves)))


def strip_compactions(session: Session) -> Session:
    """Return the session with all messages of its path in one line, without compactions and usage."""
    entries, parent = [], None
    for i in session.path:
        if session.tree.sort[i] not in UNSEEN:
            entry = session.entries[i].model_copy(update={"parent": parent, "usage": None})
            entries.append(entry)
            parent = entry.id
    return session.with_entries(entries, parent)


def find_moments(stripped: Session, ledger: Ledger, rounds: int) -> list[int]:
    """Positions of the entries that end an equal share of the tokens and leave no call open."""
    calm = [at for at, still in enumerate(_find_open(stripped)) if not still]
    totals = np.cumsum(ledger.entry_tokens)
    ends: list[int] = []
    for number in range(1, rounds + 1):
        target = int(np.searchsorted(totals, totals[-1] * number / rounds)) if len(totals) else 0
        last = ends[-1] if ends else -1
        end = next((at for at in calm if at > last and at >= target), None)
        end = end if end is not None else next((at for at in reversed(calm) if at > last), None)
        if end is None:
            raise EditError("rounds", str(rounds), "the session has too few entries for this number")
        ends.append(end)
    return ends


def _find_open(stripped: Session) -> Iterator[bool]:
    """For each entry, whether a call that is answered later is open after it."""
    answered = Counter(b.call_id for e in stripped.entries for b in e.blocks if b.kind == "tool_output")
    waiting: Counter[str] = Counter()
    for entry in stripped.entries:
        for block in entry.blocks:
            if block.kind == "tool_call" and answered[block.id]:
                waiting[block.id] += 1
            elif block.kind == "tool_output":
                answered[block.call_id] -= 1
                waiting.pop(block.call_id, None)
        yield bool(waiting)


def _go_on(after: Session, stripped: Session, end: int) -> Session:
    """Return the session with the file's next entry after its leaf; the other entries stay."""
    following = end + 1
    entry = stripped.entries[following].model_copy(update={"parent": after.leaf})
    entries = (*after.entries[:following], entry, *after.entries[following + 1 :])
    return after.with_entries(entries, after.leaf)
