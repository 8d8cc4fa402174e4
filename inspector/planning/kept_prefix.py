"""The unchanged start of the context after a plan, which a provider's cache still holds (S3-2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..policies.table import VERBATIM, Bytes, Table


class KeptPrefix(NamedTuple):
    """The context before its first change.

    `message` is the live position of the first message that is changed, removed or preceded by a new one, or
    None. `rows` is the number of live blocks before it, `tokens` their size on the
    provider's scale, with everything before the first message, such as the system prompt.
    """

    message: int | None
    rows: int
    tokens: int


def find_prefix(table: Table, fate: Bytes, new: Iterable[int], head: int) -> KeptPrefix:
    """The prefix that stays under these fates, with new messages before the live positions `new`.

    `head` are the tokens before every message. A block may be changed in the middle of its message: the
    prefix then ends inside it.
    """
    live = table.live
    changed = np.flatnonzero(fate != VERBATIM)[:1].tolist()
    ends = [(row, int(live.position[row])) for row in changed]
    ends += [(int(live.start[place]), place) for place in new]
    rows, message = min(ends, default=(len(fate), None))
    outside = table.moment.outside
    whole = rows == len(fate) and message is None
    head += outside.system_and_tools.tokens + (outside.passing if whole or table.since else 0)
    return KeptPrefix(message, rows, head + int(table.tokens[:rows].sum()) + int(outside.spread[:rows].sum()))
