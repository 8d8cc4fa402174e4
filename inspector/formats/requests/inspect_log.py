"""Read Inspect's logs, JSON or `.eval` archives: a sample is a session, its model calls are whole requests.

Source: FORMATS §10. The session is the first sample; a warning reports the number of others. The `messages`
of a sample are only its last state, so the model events are read as requests and joined by `prefix.py`. A
compaction event between two of them means that the second begins with a new context. Token figures are
disjoint.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from ...session.entries import Source, Usage
from ...session.json_text import dump_lossless
from ...session.session import Session
from ...text import plural
from ..containers import StoredFile, open_zip, read_entry
from ..json_document import Fields, document_reader, list_objects, load, place, refuse, sniff_document
from ..json_lines import Data, decode
from ..recording import Json, Reading, find_figure, read_inclusive
from .chat_messages import ChatMessage, Names, read_chat, read_chat_tools
from .prefix import WholeRequest, join_requests

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo


POINTERS = ("attachment://", "tc://")
"""Prefixes of texts that refer to an attachment; the second occurs in logs of 2024."""
APART = ("tool", "scorer", "scorers", "branch", "subtask")
"""Types of spans whose requests are a sub-agent's, a judge's, or of an abandoned branch."""
MEDIA = ("audio", "video", "document")
NAME = "inspect"
HEADERS = ("header.json", "_journal/start.json")


def open_message(value: Any, attached: Json) -> Any:
    """Insert the attachments of a message, and convert it to OpenAI's form."""
    if isinstance(value, str):
        for pointer in POINTERS:
            if value.startswith(pointer):
                return attached.get(value.removeprefix(pointer), value)
        return value
    if isinstance(value, list):
        return [open_message(item, attached) for item in value]
    if not isinstance(value, dict):
        return value
    opened = {key: open_message(item, attached) for key, item in value.items()}
    if isinstance(parts := opened.get("content"), list):
        opened["content"] = [part for item in parts for part in _split_part(item)]
    return opened


def _split_part(part: Any) -> list[Any]:
    """Convert a part of a message. A call of a tool that the provider ran is split from its output."""
    if not isinstance(part, dict):
        return [part]
    kind = part.get("type")
    if kind == "image" and isinstance(part.get("image"), str):
        rest = {key: item for key, item in part.items() if key != "image"}
        return [{**rest, "type": "image_url", "image_url": part["image"]}]
    if kind == "reasoning" and isinstance(part.get("reasoning"), str):
        return [_open_reasoning(part)]
    if kind == "tool_use" and "arguments" in part:
        call = {key: item for key, item in part.items() if key not in ("result", "error")}
        answer = part.get("error") or part.get("result")
        result = {"type": "tool_call_response", "id": part.get("id"), "result": answer}
        return [{**call, "type": "tool_call"}, *([result] if answer else [])]
    if kind in MEDIA and isinstance(part.get(kind), str):
        return [_open_file(part, kind)]
    inner = Fields(Fields(part.get("data")).rest.get("compaction_metadata")).rest if kind == "data" else {}
    if isinstance(inner.get("content"), str):
        return [{"type": "text", "text": inner["content"]}]
    if isinstance(inner.get("encrypted_content"), str):
        return [{"type": "redacted_thinking", "data": inner["encrypted_content"]}]
    return [part]


def _open_reasoning(part: Json) -> Json:
    """Convert reasoning: its summary is the text, because the reasoning itself may be encrypted."""
    rest = {key: item for key, item in part.items() if key not in ("reasoning", "summary")}
    summary = part.get("summary") if isinstance(part.get("summary"), str) else ""
    if part.get("redacted") is True:
        return {**rest, "text": summary, "encrypted_content": part["reasoning"]}
    return {**rest, "text": part["reasoning"] or summary}


def _open_file(part: Json, kind: str) -> Json:
    rest = {key: item for key, item in part.items() if key != kind}
    head, comma, data = part[kind].partition(";base64,")
    sort = head.removeprefix("data:") if comma else f"{kind}/{part.get('format', '')}"
    where = {"data": data} if comma else {"uri": part[kind]}
    return {"mime_type": sort, **rest, "type": "file", **where}


class Surroundings:
    """The open spans and steps around events."""

    def __init__(self) -> None:
        self._spans: dict[str, str] = {}  # the tool call around each span, "" for none
        self._steps: list[str] = []

    def take(self, event: Json, kind: str | None) -> str:
        """Return the tool call or "scorer" around an event, "" if it belongs to the session itself."""
        if kind == "span_begin" and isinstance(event.get("id"), str):
            within = self._spans.get(str(event.get("parent_id")), "")
            self._spans[event["id"]] = event["id"] if event.get("type") in APART else within
        elif kind == "step" and event.get("action") == "begin":
            self._steps.append(str(event.get("type")))
        elif kind == "step" and event.get("action") == "end" and self._steps:
            self._steps.pop()
        judged = "scorer" if "scorer" in self._steps else ""
        return self._spans.get(str(event.get("span_id")), "") or judged


def repack(data: Data, index: int = 0) -> Data:
    """Convert an `.eval` archive to the JSON log of one of its samples; else return the data.

    Raises `ReadError`.
    """
    archive = open_zip(data)
    if archive is None:
        return data
    with archive:
        header, samples = _find_samples(archive)
        if header is None or not samples:
            return data
        try:
            about, sample = (decode(read_entry(archive, item, data)) for item in (header, samples[index]))
        except ValueError as error:
            raise refuse(f"its archive holds broken JSON: {error}") from None
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


def list_samples(data: Data) -> list[StoredFile]:
    """Return the samples of an `.eval` archive or of a log with several, as stored files; else empty."""
    archive = open_zip(data)
    if archive is None:
        return [] if sniff_document(data, _judge) is not None else _list_written(load(data))
    with archive:
        header, samples = _find_samples(archive)
    if header is None:
        return []
    return [
        StoredFile(item.filename.removeprefix("samples/"), item.file_size, partial(repack, data, index))
        for index, item in enumerate(samples)
    ]


def _list_written(log: Any) -> list[StoredFile]:
    """Return the samples of a JSON log, named as in an archive; empty if there is only one."""
    samples = Fields(log).items("samples") or []
    files: list[StoredFile] = []
    for sample in list_objects(samples) if len(samples) > 1 else ():
        written = dump_lossless({**log, "samples": [sample]}).encode("ascii")
        name = f"{sample.get('id')}_epoch_{sample.get('epoch')}.json"
        files.append(StoredFile(name, len(written), partial(bytes, written)))
    return files


def _judge(value: Any) -> str | None:
    """Return None for an object with `eval` and samples, else the reason."""
    if not isinstance(value, dict):
        return "not a JSON object"
    if not isinstance(value.get("eval"), dict) or "version" not in value:
        return "it has no `eval` and `version`"
    return None


def _read(document: Any) -> Session:
    """Read the first sample. Raises `ReadError`, or `EmptySession` if it contains no messages."""
    samples = document.get("samples") if isinstance(document, dict) else None
    first = next(iter(list_objects(samples)), None)
    if first is None or not isinstance(samples, list):
        raise refuse("it holds no sample of an Inspect log")
    recording = Reading(NAME)
    other_count = document.get("other_samples")
    others = len(samples) - 1 + (other_count if isinstance(other_count, int) else 0)
    sample = Fields(first)
    name = f"{sample.rest.get('id')} (epoch {sample.rest.get('epoch')})"
    if others:
        more = plural(others, "other sample is", "other samples are")
        recording.warnings.append(f"this is sample {name:.60}; {more} in the file and not read")
    requests = _read_events(recording, sample)
    about = Fields(document.get("eval"))
    return join_requests(
        NAME,
        requests,
        recording,
        id=sample.text("uuid") or name,
        title=about.text("task"),
        extra={"sample": name},
    )


def _read_events(recording: Reading, sample: Fields) -> list[WholeRequest]:
    """Return the requests of a sample's model events; without events, its messages as one request."""
    attached = {
        **Fields(Fields(sample.rest.get("transcript")).rest.get("content")).rest,
        **Fields(sample.rest.get("attachments")).rest,
    }
    names: Names = {}
    pool = _Pool(sample, attached, names)
    requests: list[WholeRequest] = []
    compactions: dict[str, tuple[Source, Json]] = {}  # by the tool call in which they occurred
    around = Surroundings()
    sent: list[ChatMessage] = []
    sent_within: dict[str, list[ChatMessage]] = {}  # the messages sent last, by the surrounding tool call
    events = sample.items("events") or Fields(sample.rest.get("transcript")).items("events") or []
    for line, raw, within in _flatten(events):
        source, event = place(line), Fields(raw)
        kind = event.text("event")
        call = around.take(event.rest, kind) or within
        if kind == "model":
            sent = sent_within[call] = pool.find_input(event, sent_within.get(call, sent))
            compaction_source, compaction = compactions.pop(call, (None, None))
            output = Fields(event.object("output"))
            # For a cached reply, Inspect repeats the usage of the original call. No request was sent.
            cached = event.rest.get("cache") == "read"
            choices = output.items("choices") or []
            reply = [
                choice["message"]
                for choice in choices[:1]
                if isinstance(choice, dict) and "message" in choice
            ]
            requests.append(
                WholeRequest(
                    source,
                    list(sent),
                    read_chat([open_message(message, attached) for message in reply], names),
                    usage=None if cached else _read_usage(output.rest.get("usage")),
                    model=output.text("model") or event.text("model"),
                    tools=read_chat_tools(open_message(event.any("tools"), attached)),
                    time=event.text("timestamp"),
                    key=call,
                    apart=call != "",
                    compaction=compaction,
                    compacted_at=compaction_source,
                    extra={"cache": "read"} if cached else {},
                )
            )
            continue
        if kind == "compaction":
            fields = {
                "trigger": event.text("type"),
                "tokens_before": event.number("tokens_before"),
                "tokens_after": event.number("tokens_after"),
            }
            if call in compactions:
                recording.note(kind, compactions[call][0])
            compactions[call] = source, fields
            continue
        recording.note(kind or "event without a kind", source, is_known=kind is not None)
    for compaction_source, _ in compactions.values():
        recording.note("compaction", compaction_source)
    if not requests:
        # The last message is the reply with the sample's output; earlier replies have no usage.
        messages = [open_message(message, attached) for message in sample.items("messages") or ()]
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


def _flatten(events: list[Any], within: str = "", line: int = 0) -> Iterator[tuple[int, Any, str]]:
    """Yield each event with its index and the path of the events around it, "" for none.

    In older logs, the event of a tool or of a part of the task contains the events within it. These get the
    index of the outer event.
    """
    for number, raw in enumerate(events, 1):
        place_ = line or number
        yield place_, raw, within
        inner = raw.get("events") if isinstance(raw, dict) else None
        if isinstance(inner, list) and inner:
            yield from _flatten(inner, f"{within}/{number}", place_)


class _Pool:
    """The sent messages: in an event, or in the sample's pool, whose messages are read once."""

    def __init__(self, sample: Fields, attached: Json, names: Names) -> None:
        pool = sample.rest.get("message_pool")
        if not isinstance(pool, list):
            pool = Fields(sample.rest.get("events_data")).items("messages") or []
        self._raw: list[Any] = pool
        self._read: dict[int, list[ChatMessage]] = {}
        self._attached, self._names = attached, names

    def find_input(self, event: Fields, before: list[ChatMessage]) -> list[ChatMessage]:
        """Return the messages of a call. If it records only new ones, they are appended to `before`."""
        own = read_chat(
            [open_message(raw, self._attached) for raw in event.items("input") or ()], self._names
        )
        if event.flag("input_delta"):
            return [*before, *own]
        for pair in event.items("input_refs") or ():
            if isinstance(pair, list) and len(pair) == 2 and all(type(number) is int for number in pair):
                begin, end = max(pair[0], 0), min(pair[1], len(self._raw))
                own += [message for index in range(begin, end) for message in self._take(index)]
        return own

    def _take(self, index: int) -> list[ChatMessage]:
        if index not in self._read:
            self._read[index] = read_chat([open_message(self._raw[index], self._attached)], self._names)
        return self._read[index]


def _read_usage(raw: Any) -> Usage | None:
    *figures, total = (find_figure(raw, name) for name in _USED)
    prompt, output, read, written = (figure or 0 for figure in figures)
    # In older logs some inputs include cached tokens.
    return read_inclusive(raw, *_USED, inclusive=bool(read + written) and total == prompt + output)


_USED = (
    "input_tokens",
    "output_tokens",
    "input_tokens_cache_read",
    "input_tokens_cache_write",
    "total_tokens",
)


READER = document_reader(NAME, "Inspect log", _judge, _read)
