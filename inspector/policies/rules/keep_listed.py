"""Keep listed: the entries that a recorded compaction lists as kept stay, on either side of the cut."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from ...cuts import PAIRS
from ...session.queries import find_kept_place, find_next_compaction
from ..base_rule import Rule
from ..table import VERBATIM, Claim, Decision, Table


class KeepListed(Rule):
    """Keep the entries that the compaction right after this point in time lists as kept.

    Codex lists the messages of the user and of the harness, and drops the calls and outputs between them. If
    the file lists no entries, or no compaction follows, the rule claims nothing. A file whose own cut parts
    a call from its output has them parted: pairs are then left as they fall.
    """

    title: ClassVar[str] = "Keep what the file lists"
    phrase: ClassVar[str] = "keep the entries that the file lists as kept"
    source: ClassVar[str] = (
        "the file itself: the entries that its compaction names as kept (Codex: `replacement_history`)"
    )
    locked: ClassVar[bool] = True

    kind: Literal["keep-listed"] = "keep-listed"

    def decide(self, table: Table) -> Decision:
        """Claim the blocks of listed entries, on both sides of the cut."""
        entry = find_next_compaction(table.session)
        names = () if entry is None or entry.boundary is None else entry.boundary.kept
        index = table.session.tree.index
        listed = [index[name] for name in names if name in index]
        rows = np.isin(table.live.entries, listed)[table.live.position]
        claim = Claim(rows, VERBATIM)
        parted = entry is not None and table.cuts[find_kept_place(table.session, entry)].rule in PAIRS
        return Decision(older=claim, kept=claim, unpaired=parted)
