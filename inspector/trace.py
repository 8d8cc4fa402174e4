"""What becomes of every fact: where it was said, and what of it can still be read after a compaction.

In go the facts of a session and a plan, or a recorded compaction; out comes a `Trace`, one `Traced` for every
fact said so far. Three kinds of evidence are told apart and never added up: a summary that the file holds, a
stand-in for one that no model has written, and one that nobody but its provider can read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .blocks import BlockRef
from .errors import EditError
from .factpaths import canonical_path
from .facts import KINDS, Fact, Facts
from .mentions import Mention
from .occurrences import Occurrences, find_occurrences, refer
from .plan import Plan
from .printable import printable
from .session import Entry, Session
from .standing import Stand, Standing, stand_live, stand_plan
from .tree import COMPACTION
from .whylost import explain

if TYPE_CHECKING:
    from .fixes import Fix

FATES = ("verbatim", "restated", "pointed to", "weakened", "lost")
"""From what stands as it was said to what does not stand at all."""
TIERS = ("recorded", "planned", "inferred")
Fate = Literal["verbatim", "restated", "pointed to", "weakened", "lost"]
Tier = Literal["recorded", "planned", "inferred"]


@dataclass(frozen=True, eq=False, repr=False)
class Traced:
    """A fact and what becomes of it.

    `said` are the blocks on the path that say it, `stands` where it can still be read, `words` how it is
    written there; `others` are files of which the tail that stands is the tail too. `stood` says whether it
    could be read before; what was lost earlier cannot be lost again.
    """

    fact: Fact
    fate: Fate
    tier: Tier
    said: tuple[BlockRef, ...]
    stands: tuple[BlockRef, ...]
    scene: Scene
    words: str = ""
    others: tuple[str, ...] = ()
    stood: bool = True

    @property
    def ambiguous(self) -> bool:
        """Whether what stands of a file's name may mean another file too."""
        return bool(self.others)

    def why(self) -> str:
        """What became of it and why, in one paragraph.

        >>> from inspector.bundled import LOST_PATH, open_bundled
        >>> from inspector.facts import find_facts
        >>> session = open_bundled()
        >>> print(trace_recorded(session, find_facts(session))[0][LOST_PATH].why().split(". ")[2])
        The recorded compaction left nothing of it
        """
        return explain(self)

    def fixes(self) -> tuple[Fix, ...]:
        """Edits of the plan that keep it, the cheapest first; none for a recorded compaction."""
        from .fixes import find_fixes

        return () if self.scene.plan is None else find_fixes(self.scene.plan, self)

    def __repr__(self) -> str:
        form = printable(" ".join(self.fact.form.split()), 60)
        where = f" in {', '.join(map(str, self.stands[:2]))}" if self.stands else ""
        words = f' as "{printable(self.words, 40)}"' if self.fate == "weakened" else ""
        return f"Traced({self.fact.kind} {form!r}: {self.fate}{words}{where}, {self.tier})"


@dataclass(frozen=True, eq=False)
class Scene:
    """Where facts are traced: what stood before, what stands after, and what came between.

    `session` is the session before; `plan` or `entry` (a recorded compaction) is what happened.
    """

    session: Session
    before: Standing
    after: Standing
    plan: Plan | None = None
    entry: Entry | None = None

    @cached_property
    def turns(self) -> dict[str, int]:
        """The turn of every entry on the path, from 1."""
        path = self.session.path
        return {
            self.session.entries[path[at]].id: turn.number + 1
            for turn in self.session.turns
            for at in range(turn.first, turn.last + 1)
        }

    @property
    def tier(self) -> Tier:
        """Whose word it is that a fact is gone."""
        if self.plan is not None:
            return "planned"
        return "recorded" if any(stand.recorded and stand.text for stand in self.after.others) else "inferred"


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """Every fact said up to a compaction, once each, in the order of `facts`.

    `trace["src/a.py"]` or `trace["file", "src/a.py"]` finds one.
    """

    traced: tuple[Traced, ...]
    scene: Scene

    def __iter__(self) -> Iterator[Traced]:
        return iter(self.traced)

    def __len__(self) -> int:
        return len(self.traced)

    @cached_property
    def _index(self) -> dict[str | tuple[str, str], Traced]:
        index: dict[str | tuple[str, str], Traced] = {}
        for traced in self.traced:
            index[traced.fact.kind, traced.fact.form] = traced
            index.setdefault(traced.fact.form, traced)
        return index

    def _find(self, form: object) -> Traced | None:
        if not isinstance(form, str):
            return self._index.get(form) if isinstance(form, tuple) else None
        cwd = self.scene.session.cwd
        return self._index.get(form) or (self._index.get(canonical_path(form, cwd)) if form else None)

    def __getitem__(self, form: str | tuple[str, str]) -> Traced:
        found = self._find(form)
        if found is None:
            raise EditError("fact", str(form), "nothing said so far holds it")
        return found

    def __contains__(self, form: object) -> bool:
        return self._find(form) is not None

    def select(self, *fates: str, kind: str | None = None, stood: bool = True) -> list[Traced]:
        """The facts of these fates, of one kind; only those that stood before, unless told otherwise."""
        return [
            traced
            for traced in self.traced
            if (not fates or traced.fate in fates)
            and kind in (None, traced.fact.kind)
            and (traced.stood or not stood)
        ]

    @cached_property
    def counts(self) -> dict[str, dict[str, dict[str, int]]]:
        """{tier: {kind: {fate: facts}}} of the facts that stood before; tiers are never added up."""
        tally = Counter((t.tier, t.fact.kind, t.fate) for t in self.traced if t.stood)
        out: dict[str, dict[str, dict[str, int]]] = {}
        for (tier, kind, fate), number in sorted(tally.items(), key=_place):
            out.setdefault(tier, {}).setdefault(kind, {})[fate] = number
        return out

    def to_columns(self) -> dict[str, list[Any]]:
        """The same as plain columns, for a data frame of any kind."""
        columns: dict[str, list[Any]] = {"kind": [], "form": [], "fate": [], "tier": [], "stood": []}
        for traced in self.traced:
            row = (traced.fact.kind, traced.fact.form, traced.fate, traced.tier, traced.stood)
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
        return columns

    def __repr__(self) -> str:
        plan, entry = self.scene.plan, self.scene.entry
        name = plan.policy.name if plan is not None else entry.id if entry is not None else ""
        tally = Counter[str](traced.fate for traced in self.traced if traced.stood)
        fates = ", ".join(f"{tally[fate]:,} {fate}" for fate in FATES if tally[fate])
        gone = sum(not traced.stood for traced in self.traced)
        earlier = f"; {gone:,} were gone before" if gone else ""
        return f"Trace({printable(name)}, {self.scene.tier}: {fates or 'no facts'}{earlier})"


def _place(item: tuple[tuple[str, str, str], int]) -> tuple[int, int, int]:
    tier, kind, fate = item[0]
    return TIERS.index(tier), KINDS.index(kind), FATES.index(fate)


def trace_facts(facts: Facts, plan: Plan) -> Trace:
    """What becomes of every fact said up to the leaf of a plan's session, in the context the plan leaves.

    `facts` are those of the plan's file. Nothing is asked of a model: where one would write a summary the
    stand-in is read, and the evidence is "planned".

    >>> from inspector.bundled import open_bundled
    >>> from inspector.facts import find_facts
    >>> from inspector.ledger import count_tokens
    >>> from inspector.plan import make_plan
    >>> session = open_bundled()
    >>> plan = make_plan(session, count_tokens(session), "flue")
    >>> len(trace_facts(find_facts(session), plan)) > 100
    True
    """
    ledger = plan.ledger
    # The facts are kept beside what was made of them, so that their id is nobody else's meanwhile.
    _, found = ledger.remember(
        ("occurrences", id(facts)), lambda: (facts, find_occurrences(facts, plan.session))
    )
    before = ledger.remember(("standing", plan.session.leaf), lambda: stand_live(plan.session))
    return _trace(found, Scene(plan.session, before, stand_plan(plan), plan=plan))


def trace_one(traced: Traced, plan: Plan) -> Traced:
    """The same fact in another plan of the same session."""
    session, fact = plan.session, traced.fact
    start, index = session.tree.start, session.tree.index
    rows = np.array([int(start[index[ref.entry]]) + ref.block for ref in traced.said], np.int32)
    # No other facts are asked, so what is weakened here is not told apart from other files.
    found = Occurrences((fact,), rows, np.array([0, len(rows)], np.int32))
    return _trace(found, Scene(session, traced.scene.before, stand_plan(plan), plan=plan)).traced[0]


def trace_recorded(session: Session, facts: Facts) -> tuple[Trace, ...]:
    """The same for every recorded compaction on the path, in order: what stood right before and right after.

    >>> from inspector.bundled import LOST_PATH, open_bundled
    >>> from inspector.facts import find_facts
    >>> session = open_bundled()
    >>> trace_recorded(session, find_facts(session))[0][LOST_PATH].fate
    'lost'
    """
    found = find_occurrences(facts, session)
    traces = []
    for i in session.path:
        if session.tree.sort[i] != COMPACTION:
            continue
        entry = session.entries[i]
        before, after = session.at(entry.parent), session.at(entry.id)
        scene = Scene(before, stand_live(before), stand_live(after), entry=entry)
        traces.append(_trace(found, scene))
    return tuple(traces)


def _trace(found: Occurrences, scene: Scene) -> Trace:
    session = scene.session
    tree, path = session.tree, list(session.path)
    said = np.zeros(int(tree.start[-1]) + 1, bool)
    for i in path:
        said[tree.start[i] : tree.start[i + 1]] = True
    stood, stands = found.any(scene.before.rows), found.any(scene.after.rows)
    out = []
    for index in np.flatnonzero(found.any(said)).tolist():
        rows = found.rows[found.first[index] : found.first[index + 1]]
        rows = rows[said[rows]]
        refs = refer(session, rows)
        here = refer(session, rows[scene.after.rows[rows]]) if stands[index] else ()
        had = bool(stood[index]) or scene.before.names(found.pattern(index, session))
        out.append(
            Traced(found.facts[index], "verbatim", _whole_tier(scene), refs, here, scene, stood=had)
            if here
            else _search(found, index, scene, refs, had)
        )
    return Trace(tuple(out), scene)


def _whole_tier(scene: Scene) -> Tier:
    """What stands in the file needs nobody's word."""
    return "planned" if scene.plan is not None else "recorded"


def _search(found: Occurrences, index: int, scene: Scene, said: tuple[BlockRef, ...], stood: bool) -> Traced:
    """The fate of a fact none of whose blocks stands as it was said."""
    fact, pattern = found.facts[index], found.pattern(index, scene.session)
    hits = list(scene.after.mentions(pattern))
    full = [(stand, mention) for stand, mention in hits if mention.full]
    of = set(said)
    unmarked = scene.before.index.find(pattern, scene.after.rows)
    pointers = [stand for stand in scene.after.others if stand.how == "pointer" and of & set(stand.of)]

    def make(fate: Fate, places: Sequence[tuple[Stand, Mention]], others: tuple[str, ...] = ()) -> Traced:
        # A summary that the file holds says so itself; a block that stands in it needs nobody's word.
        sure = places and all(stand.recorded or stand.how == "head" for stand, _ in places)
        tier: Tier = _whole_tier(scene) if fate == "verbatim" else "recorded" if sure else scene.tier
        refs = tuple(dict.fromkeys(stand.ref for stand, _ in places))
        words = places[0][1].words if places else ""
        return Traced(fact, fate, tier, said, refs, scene, words, others, stood)

    if unmarked is not None and unmarked[1].full:
        full = [(Stand(ref, "", "head"), unmarked[1]) for ref in unmarked[0]]
    for fate, ways in _WAYS:
        if places := [hit for hit in full if hit[0].how in ways]:
            return make(fate, places)
    if pointers:
        return make("pointed to", [(stand, Mention("", False)) for stand in pointers])
    if unmarked is not None:
        hits += [(Stand(ref, "", "head"), unmarked[1]) for ref in unmarked[0]]
    if hits:
        hits.sort(key=lambda hit: -len(hit[1].words))
        return make("weakened", hits, found.share_tail(fact, hits[0][1].words))
    return make("lost", [])


_WAYS: tuple[tuple[Fate, tuple[str, ...]], ...] = (
    ("verbatim", ("head", "shortened")),
    ("restated", ("summary", "notice")),
    ("pointed to", ("pointer",)),
)
