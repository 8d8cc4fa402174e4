"""Inspect's logs, as JSON or `.eval` archives: a sample is a session, its model calls are whole requests.

In go the bytes, out comes a `Session` of the first sample; how many others there are is told. Source: FORMATS
§10. The `messages` of a sample are only its last state, so it is read from its model events, as `prefix.py`
tells; a compaction event between two of them says that the second begins anew. Figures of tokens count each
token once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import ReadError
from ..session.entries import Usage
from ..session.garbage import paused_gc
from ..session.json_text import dump_lossless
from ..session.session import Session
from ..text import plural
from .chat_messages import Names, read_chat, read_chat_tools
from .containers import open_zip, read_entry
from .json_document import FILE, Fields, load, place, sniff_document
from .json_lines import Data, Reader, decode
from .prefix import join_requests
from .recording import Json, Recording
from .threads import WholeRequest

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

NAME = "inspect"
ATTACHMENT = "attachment://"
HEADERS = ("header.json", "_journal/start.json")


def repack(data: Data, at: int = 0) -> Data:
    """An `.eval` archive as the JSON log of one of its samples, else the data. Raises `ReadError`."""
    archive = open_zip(data)
    if archive is None:
        return data
    with archive:
        header, samples = _find_samples(archive)
        if header is None or not samples:
            return data
        try:
            about, sample = (decode(read_entry(archive, item, data)) for item in (header, samples[at]))
        except ValueError as error:
            raise ReadError(FILE, detail=f"its archive holds broken JSON: {error}") from None
    log = (
        {**about, "samples": [sample], "other_samples": len(samples) - 1}
        if isinstance(about, dict)
        else about
    )
    return dump_lossless(log).encode("ascii")


def _find_samples(archive: ZipFile) -> tuple[ZipInfo | None, list[ZipInfo]]:
    names = {item.filename: item for item in archive.infolist()}
    samples = [item for name, item in names.items() if name.startswith("samples/")]
    return next((names[name] for name in HEADERS if name in names), None), samples


def list_samples(data: Data) -> list[tuple[str, int, Callable[[], Data]]]:
    """The samples of an `.eval` archive: name, size, and what gives the log of each; of other data none."""
    archive = open_zip(data)
    if archive is None:
        return []
    with archive:
        header, samples = _find_samples(archive)
    if header is None:
        return []
    return [
        (item.filename.removeprefix("samples/"), item.file_size, partial(repack, data, at))
        for at, item in enumerate(samples)
    ]


def sniff(data: Data) -> str | None:
    """None for an object with `eval` and samples."""
    return sniff_document(data, _judge)


def _judge(value: Any) -> str | None:
    if not isinstance(value, dict):
        return "not a JSON object"
    if not isinstance(value.get("eval"), dict) or "version" not in value:
        return "it has no `eval` and `version`"
    return None


@paused_gc()
def read(data: Data) -> Session:
    """The first sample. Raises `ReadError`, or `EmptySession` when nobody says anything in it."""
    document = load(data)
    samples = document.get("samples") if isinstance(document, dict) else None
    first = (
        next((each for each in samples if isinstance(each, dict)), None)
        if isinstance(samples, list)
        else None
    )
    if first is None or not isinstance(samples, list):
        raise ReadError(FILE, detail="it holds no sample of an Inspect log")
    made = Recording(NAME)
    told = document.get("other_samples")
    others = len(samples) - 1 + (told if isinstance(told, int) else 0)
    sample = Fields(first)
    name = f"{sample.rest.get('id')} (epoch {sample.rest.get('epoch')})"
    if others:
        more = plural(others, "other sample is", "other samples are")
        made.warnings.append(f"this is sample {name:.60}; {more} in the file and not read")
    requests = _read_events(made, sample)
    about = Fields(document.get("eval"))
    return join_requests(
        NAME, requests, made, id=sample.text("uuid") or name, title=about.text("task"), extra={"sample": name}
    )


def _read_events(made: Recording, sample: Fields) -> list[WholeRequest]:
    """The requests of a sample's model events; where it has none, its messages as one."""
    attached = Fields(sample.rest.get("attachments")).rest
    pool = sample.rest.get("message_pool")
    if not isinstance(pool, list):
        pool = Fields(sample.rest.get("events_data")).items("messages") or []
    names: Names = {}
    requests: list[WholeRequest] = []
    compaction: Json | None = None
    events = sample.items("events") or []
    for line, raw in enumerate(events, 1):
        source, event = place(line), Fields(raw)
        kind = event.text("event")
        if kind == "model":
            sent = _find_input(event, pool)
            output = Fields(event.object("output"))
            choices = output.items("choices") or []
            reply = [
                choice["message"]
                for choice in choices[:1]
                if isinstance(choice, dict) and "message" in choice
            ]
            requests.append(
                WholeRequest(
                    source,
                    read_chat([_open(message, attached) for message in sent], names),
                    read_chat([_open(message, attached) for message in reply], names),
                    usage=_read_usage(output.rest.get("usage")),
                    model=output.text("model") or event.text("model"),
                    tools=read_chat_tools(event.any("tools")),
                    time=event.text("timestamp"),
                    compaction=compaction,
                )
            )
            compaction = None
            continue
        if kind == "compaction":
            compaction = {
                "trigger": event.text("type"),
                "tokens_before": event.number("tokens_before"),
                "tokens_after": event.number("tokens_after"),
            }
        made.note(kind or "event without a kind", source, known=kind is not None)
    if not requests:
        # The last message is the reply whose output the sample has; of those before no usage is told.
        messages = [_open(message, attached) for message in sample.items("messages") or ()]
        output = Fields(sample.rest.get("output"))
        ends = bool(messages) and Fields(messages[-1]).rest.get("role") == "assistant"
        requests.append(
            WholeRequest(
                place(len(events) + 1),
                read_chat(messages[:-1] if ends else messages, names),
                read_chat(messages[-1:] if ends else [], names),
                usage=_read_usage(output.rest.get("usage")) if ends else None,
                model=output.text("model"),
            )
        )
    return requests


def _find_input(event: Fields, pool: list[Any]) -> list[Any]:
    """What was sent: in the event itself, or as ranges of the sample's pool of messages."""
    sent = event.items("input") or []
    for pair in event.items("input_refs") or ():
        if isinstance(pair, list) and len(pair) == 2 and all(type(number) is int for number in pair):
            sent = [*sent, *pool[max(pair[0], 0) : max(pair[1], 0)]]
    return sent


def _open(value: Any, attached: Json) -> Any:
    """A message with its attachments in place, in the words of OpenAI's messages."""
    if isinstance(value, str):
        if value.startswith(ATTACHMENT):
            return attached.get(value.removeprefix(ATTACHMENT), value)
        return value
    if isinstance(value, list):
        return [_open(item, attached) for item in value]
    if not isinstance(value, dict):
        return value
    opened = {key: _open(item, attached) for key, item in value.items()}
    if opened.get("type") == "image" and isinstance(opened.get("image"), str):
        opened |= {"type": "image_url", "image_url": opened.pop("image")}
    if opened.get("type") == "reasoning" and isinstance(opened.get("reasoning"), str):
        opened["text"] = opened.pop("reasoning")
    return opened


def _read_usage(raw: Any) -> Usage | None:
    fields = Fields(raw)
    given, output = fields.number("input_tokens"), fields.number("output_tokens")
    if given is None and output is None:
        return None
    return Usage(
        input=given or 0,
        output=output or 0,
        cache_read=fields.number("input_tokens_cache_read") or 0,
        cache_write=fields.number("input_tokens_cache_write") or 0,
        total=fields.number("total_tokens"),
    )


READER = Reader(NAME, "Inspect log", sniff, read)
