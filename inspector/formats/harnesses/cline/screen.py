"""Read the requests of a Cline or Roo Code task from its screen, `ui_messages.json`.

Until 2026 only the screen has the usage of a request: in a row `api_req_started` whose text is JSON. Sources:
FORMATS §6, and tasks of both. A row with the index of its messages (`conversationHistoryIndex`) belongs to
the next reply. If rows have no index and there are as many requests as replies, they are paired in order.
Otherwise a reply gets the last request before it, by time, if no other reply came between. Whether `tokensIn`
includes cached tokens depends on the provider: if it is smaller than the cached tokens in one request of the
task, it does not. Interrupted rows and requests without a reply have no figures and are not counted.
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
    """A request on the screen, and the number of messages before it; -1 if unknown."""

    before: int
    counts: Json
    model: str | None
    provider: str | None
    time: str | None


def read_requests(rows: Any) -> list[ScreenRequest]:
    """Return the requests on a screen that have figures."""
    return list(_find_requests(rows)) if isinstance(rows, list) else []


def _find_requests(rows: list[Any]) -> Iterator[ScreenRequest]:
    for row in rows:
        fields = Fields(row)
        if fields.rest.get("say") != STARTED:
            continue
        try:
            figures = Fields(decode((fields.text("text") or "").encode("utf-8", "surrogatepass")))
        except ValueError:
            continue
        if not any(figures.rest.get(name) for name in _USED[:2]):
            continue
        about, index = Fields(fields.rest.get("modelInfo")), fields.number("conversationHistoryIndex")
        yield ScreenRequest(
            -1 if index is None else int(index) + 1,
            figures.rest,
            about.text("modelId"),
            about.text("providerId"),
            iso_time(fields.number("ts")),
        )


def place_requests(
    requests: Sequence[ScreenRequest], replies: Sequence[int], times: Sequence[str | None]
) -> dict[int, ScreenRequest]:
    """Assign requests, in the order of the screen, to replies, whose indices ascend.

    Returns them by the reply's index; {} if that is not possible.
    """
    if requests and all(request.before >= 0 for request in requests):
        placed: dict[int, ScreenRequest] = {}
        for request in requests:
            index = bisect_left(replies, request.before)
            if index < len(replies):
                placed[replies[index]] = request
        return placed
    if len(requests) == len(replies):
        return dict(zip(replies, requests, strict=True))
    request_times = [request.time for request in requests]
    if None in request_times or None in times or request_times != sorted(filter(None, request_times)):
        return {}
    placed = {}
    used_requests: set[int] = set()
    for index, time in zip(replies, times, strict=True):
        last = bisect_right(request_times, time) - 1  # type: ignore[type-var]
        if last >= 0 and last not in used_requests:
            placed[index] = requests[last]
            used_requests.add(last)
    return placed


def read_screen_usage(requests: Sequence[ScreenRequest]) -> list[Usage]:
    """Return the usage of each request."""
    figures = [[_count(request.counts, name) for name in _USED] for request in requests]
    inclusive = all(sent >= read + written for sent, _, read, written in figures)
    return [
        Usage(
            input=sent - read - written if inclusive else sent,
            output=replied,
            cache_read=read,
            cache_write=written,
            cost=make_cost(request.counts.get("cost")),
        )
        for request, (sent, replied, read, written) in zip(requests, figures, strict=True)
    ]


def _count(figures: Json, name: str) -> float:
    value = Fields(figures).number(name)
    return value if value is not None and value >= 0 else 0


class Condensed:
    """The compactions on the screen of a Roo Code task: sizes before and after, and the cost."""

    def __init__(self, rows: Any) -> None:
        self._compactions: list[Json] = []
        for row in rows if isinstance(rows, list) else ():
            fields = Fields(row)
            self._compactions += [
                sizes.rest
                for name in ("contextCondense", "contextTruncation")
                if (sizes := Fields(fields.rest.get(name))).rest
            ]

    def find(self, key: str, name: Any, summary: str | None, entry: Json) -> Json:
        """Find a compaction by its id or summary. Returns sizes for a boundary; adds the cost to `entry`."""
        for index, record in enumerate(self._compactions):
            if (name is None or record.get(key) != name) and (
                not summary or record.get("summary") != summary
            ):
                continue
            del self._compactions[index]  # count a compaction only once, even if its summary is repeated
            fields = Fields(record)
            cost = make_cost(fields.number("cost"))
            if cost is not None:
                entry["usage"] = Usage(cost=cost)
            return {
                "tokens_before": fields.number("prevContextTokens"),
                "tokens_after": fields.number("newContextTokens"),
            }
        return {}


def read_ranges(rows: Any) -> dict[int, tuple[int, int]]:
    """Return the ranges of messages that Cline removed, by the index of the message after which it did so.

    Each row contains the range that is valid from then on. A larger range is a truncation; a smaller one
    restores messages.

    >>> row = {"conversationHistoryIndex": 6, "conversationHistoryDeletedRange": [2, 3]}
    >>> read_ranges([row, row, {**row, "conversationHistoryIndex": 9}])
    {6: (2, 3)}
    """
    ranges: dict[int, tuple[int, int]] = {}
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
            ranges[int(index)] = pair[0], pair[1]
            end = pair[1]
    return ranges
