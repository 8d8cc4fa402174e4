"""How a fact's fate is found: what of it stands in the texts that a compaction left, one fact at a time.

In go facts as columns and a scene, out comes an `Outcome` for each that someone looks at. What stands as it
was said goes before what restates it, that before a pointer, that before a part of a name.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .facts import Fact
from .mentions import Mention
from .occurrences import Occurrences, refer
from .session.blocks import BlockRef
from .session.session import Session
from .session.tree import Bools
from .standing import Stand, Standing
from .traced import Fate, Outcome, Scene, Tier

_WAYS: tuple[tuple[Fate, tuple[str, ...]], ...] = (
    ("verbatim", ("head", "shortened")),
    ("restated", ("summary", "notice")),
    ("pointed to", ("pointer",)),
)


def find_known(found: Occurrences, session: Session) -> tuple[Bools, Bools]:
    """The blocks on a session's path (bool per block, a last False), and the facts said there (bool each)."""
    on_path = np.zeros(len(session.entries), bool)
    on_path[list(session.path)] = True
    said: Bools = np.append(np.repeat(on_path, np.diff(session.tree.start)), False)
    return said, found.any(said)


def find_stood(found: Occurrences, known: Bools, before: Standing) -> Bools:
    """Which of the known facts can be read in a standing, in a block known to say them or anywhere else."""
    stood: Bools = found.any(before.rows) & known
    for number in np.flatnonzero(known & ~stood).tolist():
        stood[number] = before.names(found.pattern(number, before.session))
    return stood


class Outcomes:
    """The facts of a scene, each told when asked for. `said` and `known` are those of `find_known`."""

    def __init__(self, found: Occurrences, scene: Scene, said: Bools, known: Bools) -> None:
        self.found, self.scene, self.on_path, self.known = found, scene, said, known

    def fact(self, number: int) -> Fact:
        """A fact by its place in the columns."""
        return self.found.facts[number]

    def said(self, number: int) -> tuple[BlockRef, ...]:
        """The blocks on the path that say it."""
        rows = self.found.rows[self.found.first[number] : self.found.first[number + 1]]
        return refer(self.scene.session, rows[self.on_path[rows]])

    def find(self, number: int) -> Outcome:
        """What became of it."""
        found, scene = self.found, self.scene
        rows = found.rows[found.first[number] : found.first[number + 1]]
        rows = rows[self.on_path[rows] & scene.after.rows[rows]]
        if len(rows):
            return Outcome("verbatim", _whole_tier(scene), refer(scene.session, rows))
        return self._search(number)

    def _search(self, number: int) -> Outcome:
        """The fate of a fact none of whose blocks stands as it was said."""
        found, scene = self.found, self.scene
        pattern = found.pattern(number, scene.session)
        hits = list(scene.after.mentions(pattern))
        full = [(stand, mention) for stand, mention in hits if mention.full]
        # A plan's moment is read once for all plans; of a recorded compaction the little that it left.
        index = scene.after.index if scene.plan is None else scene.before.index
        unmarked = index.find(pattern, scene.after.rows)
        if unmarked is not None and unmarked[1].full:
            full = [(Stand(ref, "", "head"), unmarked[1]) for ref in unmarked[0]]
        for fate, ways in _WAYS:
            if places := [hit for hit in full if hit[0].how in ways]:
                return self._make(fate, places)
        if pointers := scene.after.pointers(self.said(number)):
            return self._make("pointed to", [(stand, Mention("", False)) for stand in pointers])
        if unmarked is not None:
            hits += [(Stand(ref, "", "head"), unmarked[1]) for ref in unmarked[0]]
        if hits:
            hits.sort(key=lambda hit: -len(hit[1].words))
            others = found.share_tail(found.facts[number], hits[0][1].words, self.known)
            return self._make("weakened", hits, others)
        return self._make("lost", [])

    def _make(
        self, fate: Fate, places: Sequence[tuple[Stand, Mention]], others: tuple[str, ...] = ()
    ) -> Outcome:
        # A summary that the file holds says so itself; a block that stands in it needs nobody's word.
        # That no more than a file's tail stands is no surer than that nothing does.
        told = fate not in ("weakened", "lost")
        sure = told and all(stand.recorded or stand.how == "head" for stand, _ in places)
        scene = self.scene
        tier: Tier = _whole_tier(scene) if fate == "verbatim" else "recorded" if sure else scene.tier
        refs = tuple(dict.fromkeys(stand.ref for stand, _ in places))
        return Outcome(fate, tier, refs, places[0][1].words if places else "", others)


def _whole_tier(scene: Scene) -> Tier:
    """What stands in the file needs nobody's word."""
    return "planned" if scene.plan is not None else "recorded"
