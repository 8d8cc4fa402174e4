"""How facts fade over several compactions in a row: those a file records, or those of a policy tried on it.

In go traces, or a session, a policy and a summariser; out come `Round`s. What is followed are the facts that
could be read right before the first compaction: how many of them stand after it, and after each that follows.
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
from ..facts.outcomes import IN_FULL, KEPT, OUTCOMES
from ..facts.trace import trace_moves
from ..facts.traced import Evidence, Trace
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
    """One of several compactions: how many facts stood before it, and their outcomes.

    The rest is of those that stood before the first: `left` counts those that stand now, in full or in part.
    By kind: `first` is how many there were, `kept` how many stand in full after this and after every one
    before it. `silent` and `silent_kept` count the same of those alone that nobody said again since the
    first, so that nothing but the compactions can have kept them.
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
    """How facts fade over several compactions, round by round; `trace_recorded` gives those of a file.

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
                sum(one in (*KEPT, "partial") for one in outcome.values()),
                *map(_by_kind, (cohort, unbroken, silent, silent & unbroken)),
            )
        )
    return tuple(rounds)


def _by_kind(facts: Iterable[Key]) -> dict[str, int]:
    counts = Counter(kind for kind, _ in facts)
    return {kind: counts[kind] for kind in KINDS if counts[kind]}


def _find_said_again(traces: Sequence[Trace]) -> set[Key]:
    """Facts that anybody said, and no summary, after the first compaction and before the last."""
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
    """One line: the share of the first facts that stand in full, before the first compaction and after each.

    `of` is whose line it is, a policy's or a kind's; `by` wrote the summaries. `tokens` are those of the
    context after each, where they are known.

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
    """What one policy and one summariser leave of a session, compacted again and again.

    `transitions` has one for each moment, and `traces` one for each compaction that came of them. `session`
    is the last, with all of them on its path. `rounds` are numbered by their moments.

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
        """One for each moment. The summaries are those that were written here, so what they keep is planned:
        the replies are those of the file, whatever had been left out by then."""
        return tuple(one._replace(tier="planned") for one in measure_decay(self.traces))

    @cached_property
    def tokens(self) -> tuple[tuple[int, int], ...]:
        """Of the context before and after each moment, counted."""
        return tuple((t.plan.ledger.count_context(t.plan.session), _count_after(t)) for t in self.transitions)

    def line(self, kind: str | None = None, *, silent: bool = False) -> DecayLine:
        """Its line, of all facts or of one kind; `silent` is of those alone that nobody said again.

        There are no shares of no facts.
        """
        first = self.rounds[0].silent if silent else self.rounds[0].first
        every = [first, *(one.silent_kept if silent else one.kept for one in self.rounds)]
        whole, *parts = (
            sum(kept.values()) if kind is None else kept.get(kind, 0) for kept in (first, *every)
        )
        shares = tuple(part / whole for part in parts) if whole else ()
        return DecayLine(kind or self.policy, self.by, shares, tuple(after for _, after in self.tokens))

    def to_columns(self) -> Mapping[str, Sequence[Any]]:
        """One row for each moment and kind of fact."""
        rows = [(n, one, kind) for n, one in enumerate(self.rounds) for kind in one.first]
        return {
            "policy": [self.policy for _ in rows],
            "by": [self.by for _ in rows],
            "round": [one.number for _, one, _ in rows],
            "kind": [kind for *_, kind in rows],
            "first": [one.first[kind] for _, one, kind in rows],
            "kept": [one.kept.get(kind, 0) for _, one, kind in rows],
            "silent": [one.silent.get(kind, 0) for _, one, kind in rows],
            "silent_kept": [one.silent_kept.get(kind, 0) for _, one, kind in rows],
            "compacted": [self.transitions[n].done for n, *_ in rows],
            "tokens_before": [self.tokens[n][0] for n, *_ in rows],
            "tokens_after": [self.tokens[n][1] for n, *_ in rows],
        }

    @printed
    def __repr__(self) -> str:
        made = sum(transition.done for transition in self.transitions)
        lines = [f"Decay({self.policy}, {self.by}: {made} of {len(self.transitions)} compacted)"]
        for one, (before, after) in zip(self.rounds, self.tokens, strict=True):
            kept, first = sum(one.kept.values()), sum(one.first.values())
            told = f"{kept:,} of {first:,} facts stand in full"
            lines.append(f"  {one.number}: {before:>9,} -> {after:>9,} tokens, {told}")
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
    """Compact a session again and again as it goes on, and follow what it said before the first time.

    The session is lived from its beginning without the compactions it records. Each time another equal share
    of its tokens was said, the last of them at its end and none while a tool is at work, `compact` is asked
    for by hand, and what the file says next follows. The replies are those of the file. Sizes are counted:
    what the file reports is of other contexts. `facts` are those of `strip_compactions(session)`, where they
    were found before. Raises as `compact` does, and `EditError` for a session with too few entries.

    >>> from inspector import open_demo
    >>> decay = compact_rounds(open_demo(), "claude-code", rounds=2)
    >>> [transition.entry for transition in decay.transitions]
    ['compaction-1', 'compaction-2']
    """
    expect("compact_rounds", session=(session, Session), rounds=(rounds, int), facts=(facts, Facts, None))
    if rounds < 1:
        raise ArgumentError("compact_rounds", "rounds", rounds, "at least 1")
    life = strip_compactions(session)
    facts = find_facts(life) if facts is None else facts
    ends = find_moments(life, count_tokens(life, counter), rounds)
    transitions: list[CompactionResult] = []
    now = life
    for number, end in enumerate(ends):
        if transitions:
            now = _go_on(transitions[-1].after, life, ends[number - 1])
        now = now.at(life.entries[end].id)
        # Each time is counted alike: the counter knows the texts it has counted before.
        ledger = count_tokens(now, counter)
        transitions.append(compact(now, policy, summariser, ledger=ledger, window=window))
    last = transitions[-1].after
    moves = ((t.plan.session.leaf, t.after.leaf, t.entry) for t in transitions)
    by = STAND_IN if summariser is None else name_of(summariser)
    name = transitions[0].plan.policy.name
    return Decay(name, by, tuple(transitions), tuple(trace_moves(last, facts, moves)))


def strip_compactions(session: Session) -> Session:
    """What was ever said on the path, one thing after the other: no compactions, and no reported usage."""
    made, parent = [], None
    for i in session.path:
        if session.tree.sort[i] not in UNSEEN:
            entry = session.entries[i].model_copy(update={"parent": parent, "usage": None})
            made.append(entry)
            parent = entry.id
    return session.with_entries(made, parent)


def find_moments(life: Session, ledger: Ledger, rounds: int) -> list[int]:
    """Positions of the entries after which an equal share of the tokens was said, and no call is open."""
    calm = [at for at, still in enumerate(_find_open(life)) if not still]
    said = np.cumsum(ledger.entry_tokens)
    ends: list[int] = []
    for number in range(1, rounds + 1):
        wanted = int(np.searchsorted(said, said[-1] * number / rounds)) if len(said) else 0
        last = ends[-1] if ends else -1
        end = next((at for at in calm if at > last and at >= wanted), None)
        end = end if end is not None else next((at for at in reversed(calm) if at > last), None)
        if end is None:
            raise EditError("rounds", str(rounds), "the session has too few entries for so many")
        ends.append(end)
    return ends


def _find_open(life: Session) -> Iterator[bool]:
    """For each entry whether a call that will be answered stands open after it."""
    answered = Counter(b.call_id for e in life.entries for b in e.blocks if b.kind == "tool_output")
    waiting: Counter[str] = Counter()
    for entry in life.entries:
        for block in entry.blocks:
            if block.kind == "tool_call" and answered[block.id]:
                waiting[block.id] += 1
            elif block.kind == "tool_output":
                answered[block.call_id] -= 1
                waiting.pop(block.call_id, None)
        yield bool(waiting)


def _go_on(after: Session, life: Session, end: int) -> Session:
    """The session with what the file says next behind its leaf; everything else stays where it is."""
    following = end + 1
    entry = life.entries[following].model_copy(update={"parent": after.leaf})
    entries = (*after.entries[:following], entry, *after.entries[following + 1 :])
    return after.with_entries(entries, after.leaf)
