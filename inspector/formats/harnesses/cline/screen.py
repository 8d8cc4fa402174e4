"""What the screen of a Cline or Roo Code task tells beside its messages: `ui_messages.json` -> its requests.

Until 2026 the figures of a request stand only there, in a row `api_req_started` whose text is JSON. Sources:
FORMATS §6, and tasks of both. A row that names where the messages stood (`conversationHistoryIndex`) is of
the next reply; where rows name none, as many requests as replies are one each in their order, and of
others a reply's is the last one before it, by their times, where no other reply came between. Whether
`tokensIn` holds what the cache gave depends on the provider: where in one request of the task it is less than
that, it does not. Rows that were cut off, and requests without a reply, have no figures and count as nothing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ....session.entries import Usage
from ...json_document import Fields, iso_time
from ...json_lines import decode
from ...recording import Json, make_cost

STARTED = "api_req_started"
_USED = ("tokensIn", "tokensOut", "cacheReads", "cacheWrites")


class ScreenRequest(NamedTuple):
    """A request as the screen tells it: how many messages stood before it, -1 for unknown; what it took."""

    before: int
    told: Json
    model: str | None
    provider: str | None
    time: str | None


def read_requests(rows: Any) -> list[ScreenRequest]:
    """The requests that a screen tells the figures of."""
    return list(_find_requests(rows)) if isinstance(rows, list) else []


def _find_requests(rows: list[Any]) -> Iterator[ScreenRequest]:
    for row in rows:
        fields = Fields(row)
        if fields.rest.get("say") != STARTED:
            continue
        try:
            told = Fields(decode((fields.text("text") or "").encode("utf-8", "surrogatepass")))
        except ValueError:
            continue
        if not any(told.rest.get(name) for name in _USED[:2]):
            continue
        about, index, time = (
            Fields(fields.rest.get("modelInfo")),
            fields.number("conversationHistoryIndex"),
            fields.number("ts"),
        )
        yield ScreenRequest(
            -1 if index is None else int(index) + 1,
            told.rest,
            about.text("modelId"),
            about.text("providerId"),
            None if time is None else iso_time(time),
        )


def place_requests(
    requests: Sequence[ScreenRequest], replies: Sequence[int], times: Sequence[str | None]
) -> dict[int, ScreenRequest]:
    """The request of each reply, by the reply's position among the messages; {} where nothing tells.

    The positions ascend; `times` are when the replies came, as far as they say so.
    """
    if requests and all(request.before >= 0 for request in requests):
        placed: dict[int, ScreenRequest] = {}
        for request in requests:
            at = bisect_left(replies, request.before)
            if at < len(replies):
                placed[replies[at]] = request
        return placed
    if len(requests) == len(replies):
        return dict(zip(replies, requests, strict=True))
    asked = [request.time for request in requests]
    if None in asked or None in times or asked != sorted(filter(None, asked)):
        return {}
    placed = {}
    taken: set[int] = set()
    for at, time in zip(replies, times, strict=True):
        last = bisect_right(asked, time) - 1  # type: ignore[type-var]
        if last >= 0 and last not in taken:
            placed[at] = requests[last]
            taken.add(last)
    return placed


def read_screen_usage(requests: Sequence[ScreenRequest]) -> list[Usage]:
    """What each took."""
    figures = [[_count(request.told, name) for name in _USED] for request in requests]
    inclusive = all(sent >= read + written for sent, _, read, written in figures)
    return [
        Usage(
            input=sent - read - written if inclusive else sent,
            output=replied,
            cache_read=read,
            cache_write=written,
            cost=make_cost(request.told.get("cost")),
        )
        for request, (sent, replied, read, written) in zip(requests, figures, strict=True)
    ]


def _count(told: Json, name: str) -> float:
    value = Fields(told).number(name)
    return value if value is not None and value >= 0 else 0


class Condensed:
    """What the screen of a Roo Code task tells of its compactions: sizes before and after, and the cost."""

    def __init__(self, rows: Any) -> None:
        self._told: list[Json] = []
        for row in rows if isinstance(rows, list) else ():
            fields = Fields(row)
            self._told += [
                told.rest
                for name in ("contextCondense", "contextTruncation")
                if (told := Fields(fields.rest.get(name))).rest
            ]

    def find(self, key: str, name: Any, summary: str | None, entry: Json) -> Json:
        """The sizes as fields of a boundary, by a name or a summary's words; the cost goes into `entry`."""
        for at, told in enumerate(self._told):
            if (name is None or told.get(key) != name) and (not summary or told.get("summary") != summary):
                continue
            del self._told[at]  # a summary that is written twice was made once
            fields = Fields(told)
            cost = make_cost(fields.number("cost"))
            if cost is not None:
                entry["usage"] = Usage(cost=cost)
            return {
                "tokens_before": fields.number("prevContextTokens"),
                "tokens_after": fields.number("newContextTokens"),
            }
        return {}


def read_ranges(rows: Any) -> dict[int, tuple[int, int]]:
    """The first and last message that Cline left out of its requests, by the message that it cut them after.

    Each row tells of the range that holds since. One that grows is a cut; one that shrinks was restored.

    >>> row = {"conversationHistoryIndex": 6, "conversationHistoryDeletedRange": [2, 3]}
    >>> read_ranges([row, row, {**row, "conversationHistoryIndex": 9}])
    {6: (2, 3)}
    """
    found: dict[int, tuple[int, int]] = {}
    end = -1
    for row in rows if isinstance(rows, list) else ():
        fields = Fields(row)
        pair, index = (
            fields.rest.get("conversationHistoryDeletedRange"),
            fields.number("conversationHistoryIndex"),
        )
        if not (isinstance(pair, list) and len(pair) == 2 and all(type(number) is int for number in pair)):
            continue
        if pair[1] > end and index is not None and 0 <= pair[0] <= pair[1] <= index:
            found[int(index)] = pair[0], pair[1]
            end = pair[1]
    return found
