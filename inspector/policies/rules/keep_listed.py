"""Keep listed: what a recorded compaction names as kept stays, wherever it stands."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from ...session.queries import find_next_compaction
from ..base_rule import Rule
from ..table import VERBATIM, Claim, Decision, Table


class KeepListed(Rule):
    """The entries that the compaction right after this moment lists as kept stay as they are.

    Codex lists a person's messages and the harness's, and drops the calls and outputs between them. Where the
    file lists none, or no compaction follows, nothing is claimed.
    """

    title: ClassVar[str] = "Keep what the file lists"
    phrase: ClassVar[str] = "what the file lists as kept stays as it is"
    source: ClassVar[str] = (
        "the file itself: what its compaction names as kept (Codex: `replacement_history`)"
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
        return Decision(older=claim, kept=claim)
