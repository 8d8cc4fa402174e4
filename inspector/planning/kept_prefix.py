"""What a plan leaves as it was from the front on: what a provider's cache still knows of it (S3-2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..policies.table import VERBATIM, Bytes, Table


class KeptPrefix(NamedTuple):
    """What stands before the first thing that is rewritten.

    `message` is the live position of the first message that is changed or gone, or before which something
    new stands; None when nothing is. `rows` are the live blocks before it, `tokens` theirs on the provider's
    scale, with the head and what else stands before every message.
    """

    message: int | None
    rows: int
    tokens: int


def find_prefix(table: Table, fate: Bytes, new: Iterable[int], head: int) -> KeptPrefix:
    """The prefix that stays under these fates, where something new stands before the live positions `new`.

    `head` are the tokens before every message. A block may be changed in the middle of its message: the
    prefix then ends inside it.
    """
    live = table.live
    changed = np.flatnonzero(fate != VERBATIM)[:1].tolist()
    ends = [(row, int(live.position[row])) for row in changed]
    ends += [(int(live.start[place]), place) for place in new]
    rows, message = min(ends, default=(len(fate), None))
    outside = table.moment.outside
    head += outside.fixed.tokens + (outside.passing if rows == len(fate) and message is None else 0)
    return KeptPrefix(message, rows, head + int(table.tokens[:rows].sum()) + int(outside.spread[:rows].sum()))
