"""The session manifest: the structure of a transcript.

A `Session` is a tree of entries with a leaf. The path from the root to the leaf is the conversation. The
next context (`session.live`) is that path after its compactions. All values are frozen; turns,
steps and the live view are derived and never stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from ..errors import EditError, expect, expect_items
from ..mixins import Framed, ask
from ..text import plural, printed
from .blocks import Block, BlockRef, Chars, Image, Text, Value
from .entries import (
    Boundary,
    Corrupt,
    Entry,
    Note,
    Provided,
    StatedTotal,
    SubAgent,
    Tool,
    Turn,
    count_recorded,
)
from .labels import FindingJudgement, TextLabels, Verdict
from .provenance import FILE_MODE, Provenance, find_provenance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .live import Live
    from .tree import Ints, Tree

_TURN = re.compile(r"(?i)turn (\d{1,9})")

MANIFEST: Literal["session-manifest/1"] = "session-manifest/1"
"""Name and version of the JSON form of a `Session`."""


class Session(Value, Framed):
    """A transcript of any format, in one shape.

    >>> from inspector import read_session
    >>> session = read_session([{"role": "user", "content": "Name a prime."},
    ...                         {"role": "assistant", "content": "Seven."}])
    >>> session
    Session(anthropic-messages, 2 records, 1 turn, 0 compactions, 0 unknown)
    >>> session["m2"].text, session.leaf, session.at("m1").path
    ('Seven.', 'm2', (0,))
    """

    manifest: Literal["session-manifest/1"] = MANIFEST
    format: Chars
    id: Chars = ""
    title: Chars | None = None
    model: Chars | None = None
    window: int | None = None
    cwd: Chars | None = None
    created: Chars | None = None
    updated: Chars | None = None
    system: tuple[Text | Image, ...] = ()
    tools: tuple[Tool, ...] = ()
    provided: tuple[Provided, ...] = ()
    entries: tuple[Entry, ...] = ()
    leaf: Chars | None = None
    subagents: tuple[SubAgent, ...] = ()
    totals: tuple[StatedTotal, ...] = ()
    notes: tuple[Note, ...] = ()
    corrupt: tuple[Corrupt, ...] = ()
    warnings: tuple[str, ...] = ()
    labels: tuple[TextLabels, ...] = ()
    judgements: tuple[FindingJudgement, ...] = ()
    extra: dict[str, Any] = Field(default_factory=dict)

    def at(self, entry_id: str | None) -> Session:
        """Return this session as it was when an entry was its last one. All entries are shared.

        Args:
            entry_id: The id of the entry, or a unique prefix of it; "turn 5" for the last entry of the fifth
                turn; None for the point before the first entry.

        Raises:
            EditError: There is no such entry or turn, or the prefix is not unique.

        >>> from inspector import open_demo
        >>> session = open_demo()
        >>> session.at("820f59b6").leaf, len(session.at("turn 5").turns)
        ('820f59b6-ac5d-42af-a447-0e91c81e5d1b', 5)
        """
        expect("at", entry_id=(entry_id, str, None))
        if entry_id is not None:
            turn = self.find_turn(entry_id)
            index = self._find(entry_id) if turn is None else self.path[turn.last]
            entry_id = self.entries[index].id
        return self._alike(leaf=entry_id)

    def find_turn(self, name: str, role: str = "at") -> Turn | None:
        """Return the turn with a name such as "turn 5", counted from 1; None for other names.

        Raises `EditError` if the path has no such turn; `role` says there what the name refers to.
        """
        number = _TURN.fullmatch(name)
        if number is None or name in self.index:
            return None
        if not 1 <= int(number[1]) <= len(self.turns):
            raise EditError(role, name, f"the path has {plural(len(self.turns), 'turn')}, counted from 1")
        return self.turns[int(number[1]) - 1]

    def _find(self, entry_id: str) -> int:
        """Return the position of an entry by its id, an alias, or a unique prefix of one."""
        if (position := self.index.get(entry_id)) is not None:
            return position
        positions = {at for name, at in self.index.items() if entry_id and name.startswith(entry_id)}
        if len(positions) == 1:
            return positions.pop()
        if positions:
            names = sorted(self.entries[at].id for at in positions)
            some = f"{', '.join(names[:3])}{', …' if len(names) > 3 else ''}"
            raise EditError("at", entry_id, f"{len(names):,} entries begin with it: {some}; give more of one")
        raise EditError("at", entry_id, "no such entry in this session")

    def with_entries(self, entries: Iterable[Entry], leaf: str | None, **others: Any) -> Session:
        """Return the session with other entries, another leaf, and `others` of its fields changed.

        Nothing is validated. Values derived from the old entries are not copied.

        >>> one = Entry(id="a", role="user")
        >>> Session(format="demo", title="One").with_entries([one], "a", window=9).path
        (0,)
        """
        fields = {name: getattr(self, name) for name in Session.model_fields}
        session = Session.model_construct(**{**fields, "entries": tuple(entries), "leaf": leaf, **others})
        session.__dict__[FILE_MODE] = self.__dict__.get(FILE_MODE)
        return session

    def _alike(self, **others: Any) -> Session:
        """Return the session with other fields than its entries changed; the tree is shared."""
        session = self.with_entries(self.entries, **{"leaf": self.leaf, **others})
        session.__dict__["tree"] = self.tree
        return session

    def with_labels(self, labels: Sequence[TextLabels]) -> Session:
        """Return the session with labels of rules and choices in typed texts.

        For labelled texts, facts, traces and the workbench use the labels; for other texts they use patterns.
        Labels of texts that are not in the session have no effect; of several labels of a text the last one
        counts. Tokens must be counted again for the returned session. Raises `ArgumentError` for other
        values.

        >>> from inspector import open_demo
        >>> len(open_demo().with_labels([TextLabels(text="0" * 64, by="me")]).labels)
        1
        """
        new_labels = expect_items("with_labels", "labels", labels, TextLabels)
        by_text = {item.text: item for item in (*self.labels, *new_labels)}
        ordered = tuple(by_text[text] for text in sorted(by_text))
        return self._alike(labels=ordered)

    def with_judgements(self, judgements: Sequence[FindingJudgement]) -> Session:
        """Return the session with a reader's judgements of findings added; the last one of a finding counts.

        `lint`, `find_regret`, `compactions` and the workbench leave out what is judged "not lost".

        >>> from inspector import open_demo
        >>> session = open_demo()
        >>> lost = session.compactions[0].missing[0]
        >>> judged = session.with_judgements([lost.judge("not lost")])
        >>> session.compactions[0].harm[0] - judged.compactions[0].harm[0]
        1
        """
        added = expect_items("with_judgements", "judgements", judgements, FindingJudgement)
        by_fact = {
            (judgement.entry, judgement.kind, judgement.form): judgement
            for judgement in (*self.judgements, *added)
        }
        stay = tuple(by_fact[key] for key in sorted(by_fact) if by_fact[key].verdict != "withdrawn")
        judged = self._alike(judgements=stay)
        judged.__dict__ |= {"facts": self.facts} if "facts" in self.__dict__ else {}
        return judged

    @cached_property
    def verdicts(self) -> dict[tuple[str, str, str], Verdict]:
        """The judgements by the compaction's entry ("" for a plan), the fact's kind and its form."""
        return {
            (judgement.entry, judgement.kind, judgement.form): judgement.verdict
            for judgement in self.judgements
            if judgement.verdict != "withdrawn"
        }

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Session:
        """Return a copy with changed fields. Values cached for the old fields are not copied."""
        copy = super().model_copy(update=update, deep=deep)
        for name in copy.__dict__.keys() - Session.model_fields.keys() - {FILE_MODE} if update else ():
            del copy.__dict__[name]
        return copy

    @cached_property
    def tree(self) -> Tree:
        """The entries as columns, the same at every leaf."""
        from .tree import grow_tree

        return grow_tree(self.entries)

    @property
    def index(self) -> dict[str, int]:
        """Position in `entries` by entry id or alias. If an id occurs twice, the last entry counts."""
        return self.tree.index

    def __getitem__(self, entry_id: str) -> Entry:
        return self.entries[self.index[entry_id]]

    def block(self, ref: BlockRef | str) -> Block:
        """Return the block of a reference, or of its text, such as "m2/1"; only blocks of entries, not of the
        system prompt.

        Raises `EditError` for a text that names no block.
        """
        if isinstance(ref, BlockRef):
            return self[ref.entry].blocks[ref.block]
        expect("block", ref=(ref, BlockRef, str))
        entry, _, number = ref.rpartition("/")
        blocks = self[entry].blocks if entry in self.index else ()
        if not number.isdecimal() or int(number) >= len(blocks):
            has = f"; {entry} has {plural(len(blocks), 'block')}, from {entry}/0 on" if blocks else ""
            raise EditError("block", ref, f'no such block; "m2/1" is the second block of entry m2{has}')
        return blocks[int(number)]

    def block_row(self, ref: BlockRef) -> int:
        """Return the row of a block among all blocks of the file."""
        return int(self.tree.start[self.tree.index[ref.entry]]) + ref.block

    @cached_property
    def path(self) -> tuple[int, ...]:
        """Positions in `entries` from the root to the leaf. Empty when the leaf is unknown (FLUE §1.1)."""
        return tuple(self.trail.tolist())

    @cached_property
    def trail(self) -> Ints:
        """`path` as an int32 array."""
        from .live import find_path

        return find_path(self.tree, self.leaf)

    @cached_property
    def path_index(self) -> Ints:
        """int32 per entry: its index on the path, -1 for an entry that is not on it."""
        from .live import index_path

        return index_path(self.trail, len(self.entries))

    @cached_property
    def turn_of(self) -> Mapping[str, int]:
        """The turn of every entry on the path by its id, from 1."""
        from .live import TurnNumbers

        return TurnNumbers(self.tree, self.entries, self.trail, self.path_index)

    @cached_property
    def named(self) -> Ints:
        """int32: the positions on the path of entries that name their model, in order."""
        return self.trail[self.tree.model[self.trail] >= 0]

    def path_since(self, entry_id: str | None) -> tuple[Entry, ...]:
        """Return the entries on the path after one: all for None, none if it is not on it (FLUE §1.1)."""
        path = [self.entries[i] for i in self.path]
        if entry_id is None:
            return tuple(path)
        after = next((at + 1 for at, entry in enumerate(path) if entry.id == entry_id), len(path))
        return tuple(path[after:])

    @cached_property
    def live(self) -> Live:
        """The context at the leaf, as columns."""
        from .live import ANY_ORDER, find_live

        return find_live(self.tree, self.entries, self.trail, self.format in ANY_ORDER)

    @property
    def live_names(self) -> list[str]:
        """The entries of the live view by name, in context order."""
        return [self.entries[i].id for i in self.live.entries.tolist()]

    def live_refs(self, rows: NDArray[Any] | slice = slice(None)) -> list[BlockRef]:
        """References to live blocks by their rows (integers); to all of them by default."""
        live = self.live
        owners, blocks = live.entries[live.position[rows]].tolist(), live.block[rows].tolist()
        return [BlockRef(self.entries[i].id, block) for i, block in zip(owners, blocks, strict=True)]

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """Turns on the path. Entries before the user's first message belong to the first turn."""
        opens = self.tree.opens[self.trail].nonzero()[0].tolist()
        starts = [0, *opens[1:]] if len(self.trail) else []
        ends = [*starts[1:], len(self.trail)]
        return tuple(
            Turn(n, first, end - 1) for n, (first, end) in enumerate(zip(starts, ends, strict=False))
        )

    @cached_property
    def facts(self) -> Any:
        """The facts on the path that may have to be remembered: `Facts`, cached.

        >>> from inspector import open_demo
        >>> open_demo().facts["src/tidepool/calendar/offsets.py"].operations
        ('listed', 'read', 'edited')
        """
        return ask("facts", self)

    def find_facts(self, question: str, most: int = 5) -> Any:
        """Find the facts and lines that match a question in the user's own words: `FactMatches`.

        >>> from inspector import open_demo
        >>> open_demo().find_facts("offsets.py")[0].fact.form
        'src/tidepool/calendar/offsets.py'
        """
        return ask("answer", self, question, most)

    def why(self, question: str) -> str:
        """Explain what happened to something in the recorded compaction that harmed it most.

        >>> from inspector import open_demo
        >>> open_demo().why("offsets.py").partition(" was ")[0]
        'The file offsets.py'
        """
        answer: str = ask("answer why", self, question)
        return answer

    @property
    def compactions(self) -> Any:
        """The recorded compactions and clearings as a table: `CompactionTable`, in file order.

        >>> from inspector import open_demo
        >>> [(row.turn, row.after < row.before, row.files > 0) for row in open_demo().compactions]
        [(15, True, True), (19, True, False)]
        """
        return ask("compactions", self)

    def __dir__(self) -> list[str]:
        """Return the names of this class alone: a caller of `dir()` has no use for those of pydantic."""
        names = {"to_dicts", "to_pandas", *vars(Session), *Session.model_fields}
        return sorted(name for name in names if not name.startswith(("_", "model_")))

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the entries on the path as columns: their id, turn (from 1), speaker, kind, time and text.

        >>> from inspector import open_demo
        >>> columns = open_demo().to_columns()
        >>> columns["turn"][0], columns["role"][0], columns["kind"].count("compaction")
        (1, 'user', 1)
        """
        path = [self.entries[index] for index in self.path]
        return {
            "entry": [entry.id for entry in path],
            "turn": [self.turn_of.get(entry.id, 0) for entry in path],
            "role": [entry.role for entry in path],
            "kind": [entry.kind for entry in path],
            "time": [entry.timestamp for entry in path],
            "blocks": [len(entry.blocks) for entry in path],
            "text": [entry.text for entry in path],
        }

    @cached_property
    def boundaries(self) -> tuple[tuple[str, Boundary], ...]:
        """(entry id, boundary) of every recorded compaction in the file, in file order."""
        return tuple((entry.id, entry.boundary) for entry in self.entries if entry.boundary is not None)

    @property
    def source(self) -> Provenance:
        """Harness, version, model and folder, from the file; None for what it does not record.

        >>> from inspector import open_demo
        >>> open_demo().source.harness, open_demo().source.model
        ('Claude Code', 'claude-opus-4-5-20251101')
        """
        return find_provenance(self.format, self.model, self.cwd, self.extra)

    @property
    def records(self) -> int:
        """Records of the file: those inside entries, the notes and the corrupt ones."""
        return sum(len(entry.sources) for entry in self.entries) + len(self.notes) + len(self.corrupt)

    @property
    def unknown(self) -> int:
        """Records of unknown type plus blocks of unknown kind."""
        return self.tree.unknown + sum(not note.known for note in self.notes)

    @printed
    def __repr__(self) -> str:
        facts = [
            plural(self.records, "record"),
            plural(len(self.turns), "turn"),
            count_recorded(boundary for _, boundary in self.boundaries),
            f"{self.unknown} unknown",
        ]
        if self.corrupt:
            facts.append(f"{len(self.corrupt)} corrupt")
        return f"Session({self.format}, {', '.join(facts)})"

    __str__ = __repr__
