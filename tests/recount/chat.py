"""The figures of logs of whole requests, and of Inspect's logs, which hold such: FORMATS §9, §10, §13.

Requests are put behind each other: what one begins with that the conversation holds already counts once. A
request that begins otherwise is a compaction, or an emptying where only outputs became shorter; one that
shares nothing with any conversation is another one, and the longest by its requests is the session.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from .figures import Figures
from .tally import (
    NotRecounted,
    Row,
    Tally,
    held,
    is_typed,
    listed,
    load,
    read_document,
    read_rows,
    say,
    split_inclusive,
    unpack_zstd,
    whole,
)

_WRAPPERS = ("request", "body", "params", "request_body", "kwargs")
_INSTRUCTIONS = ("system", "developer")


@dataclass
class Asked:
    """A request: what was sent, what came back, and what it took."""

    sent: list[Row]
    reply: list[Row]
    tokens: list[int] | None
    model: Any
    key: str = ""
    compacted: bool = False
    total: Any = None
    loose: bool = False  # the key names what ran together, not what was said to one another
    cost: Any = None
    apart: bool = False  # a sub-agent's or a judge's


@dataclass
class _Talk:
    key: str
    loose: bool = False
    system: str = ""
    line: list[str] = field(default_factory=list)
    messages: list[Row] = field(default_factory=list)
    requests: int = 0
    replies: list[tuple[list[int] | None, Any, Any]] = field(default_factory=list)
    turns: int = 0
    compactions: int = 0
    emptied: int = 0
    last: list[Row] = field(default_factory=list)
    apart: bool = False
    asked: str | None = None  # the print of the last message of the last request, where a user said it
    summaries: list[tuple[list[int] | None, Any, Any]] = field(default_factory=list)


def recount(path: Path) -> Figures:
    """Every figure of a log of requests."""
    try:
        document = read_document(path)
    except ValueError:
        document = list(read_rows(path))
    if isinstance(document, dict) and "entries" in held(document, "log"):
        raise NotRecounted("an HTTP archive")
    if isinstance(document, list) and not all(_body(each) for each in document):
        document = [{"messages": document}]
    asked = [_ask(each) for each in (document if isinstance(document, list) else [document]) if _body(each)]
    if any(each is None for each in asked):
        raise NotRecounted("requests that go on from a reply by its id, or hold no messages")
    return join([each for each in asked if each is not None])


def recount_inspect(path: Path) -> Figures:
    """Every figure of the first sample of an Inspect log in JSON."""
    document = _read_log(path)
    sample = next(each for each in listed(document.get("samples")) if isinstance(each, dict))
    old = held(sample, "transcript")
    attached = {**held(old, "content"), **held(sample, "attachments")}
    pool = sample.get("message_pool")
    pool = pool if isinstance(pool, list) else listed(held(sample, "events_data").get("messages"))
    asked: list[Asked] = []
    compacted: set[str] = set()
    spans: dict[str, Row] = {}
    steps: list[Any] = []
    sent: list[Row] = []
    sent_by: dict[str, list[Row]] = {}
    for event, inside in _every(listed(sample.get("events")) or listed(old.get("events"))):
        kind = event.get("event")
        if kind == "span_begin" and isinstance(event.get("id"), str):
            spans[str(event.get("id"))] = event
        elif kind == "step" and event.get("action") == "begin":
            steps.append(event.get("type"))
        elif kind == "step" and event.get("action") == "end" and steps:
            steps.pop()
        key = _called(spans, event) or ("scorer" if "scorer" in steps else "") or inside
        if kind == "compaction":
            compacted.add(key)
        if kind != "model":
            continue
        own = list(listed(event.get("input")))
        for pair in listed(event.get("input_refs")):
            if [type(each) for each in listed(pair)] == [int, int]:
                own += pool[max(pair[0], 0) : max(pair[1], 0)]
        sent = sent_by[key] = sent_by.get(key, sent) + own if event.get("input_delta") else own
        output = held(event, "output")
        choices = listed(output.get("choices"))[:1]
        reply = [choice["message"] for choice in choices if held({"": choice}, "").get("message")]
        model = output.get("model") or event.get("model")
        tokens = _split_inspect(output.get("usage"))
        total = held(output, "usage").get("total_tokens")
        said, back = _open(sent, attached), _open(reply, attached)
        asked.append(Asked(said, back, tokens, model, key, key in compacted, total, apart=key != ""))
        compacted.discard(key)
    if not asked:
        messages = _open(listed(sample.get("messages")), attached)
        ends = bool(messages) and messages[-1].get("role") == "assistant"
        output = held(sample, "output")
        tokens = _split_inspect(output.get("usage")) if ends else None
        asked = [
            Asked(
                messages[:-1] if ends else messages,
                messages[-1:] if ends else [],
                tokens,
                output.get("model"),
            )
        ]
    return join(asked)


def _every(events: list[Any], inside: str = "") -> list[tuple[Row, str]]:
    """Each event, and the one that it stands in; older logs keep what a tool did in the tool's event."""
    found: list[tuple[Row, str]] = []
    for at, event in enumerate(events):
        if isinstance(event, dict):
            found.append((event, inside))
            found += _every(listed(event.get("events")), f"{inside}/{at}")
    return found


def _called(spans: dict[str, Row], event: Row) -> str:
    """The nearest span around an event that is a tool's, a judge's or a branch."""
    name = str(event.get("span_id"))
    seen: set[str] = set()  # a span may stand in itself
    while name in spans and name not in seen:
        seen.add(name)
        if spans[name].get("type") in ("tool", "scorer", "scorers", "branch", "subtask"):
            return name
        name = str(spans[name].get("parent_id"))
    return ""


def _read_log(path: Path) -> Any:
    """A log in JSON, or the one sample of an `.eval` archive, as a log of it."""
    if not path.read_bytes().startswith(b"PK"):
        return read_document(path)
    with ZipFile(path) as archive:
        names = [item for item in archive.infolist() if item.filename.startswith("samples/")]
        if not names:
            raise NotRecounted("an archive of something else")
        item = names[0]
        if item.compress_type != 93:
            return {"samples": [load(archive.read(item))]}
        data, at = path.read_bytes(), item.header_offset
        at += 30 + sum(int.from_bytes(data[at + n : at + n + 2], "little") for n in (26, 28))
        return {"samples": [load(unpack_zstd(data[at : at + item.compress_size]))]}


def join(asked: list[Asked]) -> Figures:
    """The figures of requests in their order."""
    talks: list[_Talk] = []
    for each in asked:
        said, system = list(each.sent), ""
        while said and said[0].get("role") in _INSTRUCTIONS:
            system += say_all(said.pop(0))
        prints = [_print(message) for message in said]
        talk = _find(talks, each, prints, system)
        talk.system = system
        same = _shared(talk.line, prints)
        if not (each.compacted and same < len(talk.line)) and same in (len(talk.line), len(prints) or -1):
            talk.emptied += bool(each.compacted and talk.line)
            del talk.line[same:], talk.messages[same:]
            _add(talk, said[same:], prints[same:])
        elif _only_shorter(talk.messages[same:], said[same:]):
            talk.emptied += 1
            old = len(talk.line)
            talk.line, talk.messages = prints[:old], said[:old]
            _add(talk, said[old:], prints[old:])
        else:
            talk.compactions += 1
            if _summed_up(talk, prints):
                talk.summaries.append(talk.replies.pop()[:3])
                talk.turns -= _opens(talk.messages[-2])
                del talk.line[-2:], talk.messages[-2:]
            known = set(talk.line)
            stays = max((at + 1 for at, print_ in enumerate(prints) if print_ in known), default=0)
            if talk.line and talk.line[-1] not in prints and all(each in known for each in prints[:stays]):
                stays = min(stays + 1, len(said))
            talk.line, talk.messages = prints[:stays], said[:stays]
            _add(talk, said[stays:], prints[stays:])
        own = _merge(each.reply)
        for at, message in enumerate(own):
            talk.line.append(_print(message))
            talk.messages.append(message)
            end = at == len(own) - 1
            talk.replies.append((each.tokens if end else None, each.model, each.total, each.cost))
        talk.requests += 1
        talk.last = own
        talk.asked = prints[-1] if said and said[-1].get("role") == "user" else None
    main = max(talks, key=lambda talk: (not talk.apart, talk.requests))
    tally = Tally()
    for talk in talks:
        for tokens, model, total, cost in talk.replies:
            if talk is main:
                tally.reply(tokens, model, cost, total=total)
            else:
                tally.aside(tokens, model, cost)
        tally.figures.emptied += talk.emptied
        for tokens, model, _ in talk.summaries:
            tally.compact(tokens, model)
        for _ in range(talk.compactions - len(talk.summaries)):
            tally.compact()
    return tally.close(main.turns)


def say_all(message: Row) -> str:
    """The words of a message, a text or parts."""
    content = message.get("content")
    return content if isinstance(content, str) else say(content)


def _is_other(before: str, now: str) -> bool:
    """Whether instructions are another agent's: less than two thirds of the shorter begins or ends alike."""
    short = min(len(before), len(now))
    start = next((at for at in range(short) if before[at] != now[at]), short)
    end = next((at for at in range(short - start) if before[-1 - at] != now[-1 - at]), short - start)
    return bool(before and now) and start + end < short * 2 / 3


def _find(talks: list[_Talk], each: Asked, prints: list[str], system: str) -> _Talk:
    best: tuple[int, int, int] | None = None
    for at, talk in enumerate(talks):
        same = _shared(talk.line, prints)
        goes_on = talk.loose and each.loose and 1 < len(talk.line) == same
        if talk.key != each.key and not goes_on:
            continue
        known = set(talk.line)
        shared = same, sum(print_ in known for print_ in prints)
        if not any(shared) and _is_other(talk.system, system):
            continue
        words = "\n".join(say(message.get("content")) for message in talk.last).strip()
        summed = len(words) >= 40 and any(
            words in print_ or json.dumps(words)[1:-1] in print_ for print_ in prints[:2]
        )
        named = (each.key and not each.loose) or each.compacted
        if (any(shared) or named or summed) and (best is None or shared >= best[:2]):
            best = (*shared, at)
    if best is not None:
        return talks[best[2]]
    talks.append(_Talk(each.key, each.loose, apart=each.apart))
    return talks[-1]


def _add(talk: _Talk, said: list[Row], prints: list[str]) -> None:
    for message in said:
        if message.get("role") in ("assistant", "model"):
            told = message.get("usage")
            total = held(message, "usage").get("total_tokens")
            own = (split_usage(told), message.get("model"), total)
            talk.replies.append((*message.get("took", own), None))
        talk.turns += _opens(message)
    talk.line += prints
    talk.messages += said


def _shared(line: list[str], prints: list[str]) -> int:
    count = 0
    while count < min(len(line), len(prints)) and line[count] == prints[count]:
        count += 1
    return count


def _summed_up(talk: _Talk, prints: list[str]) -> bool:
    """Whether the last request was for the summary: its reply is a part of a message that is sent now."""
    if talk.asked is None or talk.asked in prints or talk.line[-1] in prints or len(talk.last) != 1:
        return False
    words = say_all(talk.last[0]).strip()
    inner = (
        words.partition("<summary>")[2].rpartition("</summary>")[0].strip() if "<summary>" in words else ""
    )
    known = set(talk.line)
    new = [print_ for print_ in prints if print_ not in known]
    quoted = json.dumps(inner or words, ensure_ascii=False)[1:-1]
    return len(talk.line) > 2 and len(words) >= 40 and any(quoted in print_ for print_ in new)


def _only_shorter(before: list[Row], after: list[Row]) -> bool:
    """Whether nothing but outputs of tools is another, and shorter."""
    if len(after) < len(before):
        return False
    shorter: set[str] = set()
    longer: set[str] = set()
    for old, new in zip(before, after, strict=False):
        if _print(old) == _print(new):
            continue
        if old.get("role") != "tool" or {**old, "content": "", "id": 0} != {**new, "content": "", "id": 0}:
            return False
        text = say(new["content"])
        (shorter if len(text) < len(say(old["content"])) else longer).add(text)
    return bool(shorter) and longer <= shorter


def _opens(message: Row) -> bool:
    if message.get("role") not in ("user", "human"):
        return False
    content = message.get("content")
    own = [
        part
        for part in listed(content)
        if isinstance(part, dict) and part.get("type") not in ("tool_result", "function_call_output")
    ]
    if any(part.get("type") not in ("text", "input_text", None) for part in own):
        return True
    return is_typed(content if isinstance(content, str) else say(own))


def _print(message: Row) -> str:
    """What a message is known by when it is sent again: its role, words, calls and outputs."""
    content = message.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else listed(content)
    kept: list[Any] = [message.get("role")]
    for part in parts:
        if (
            isinstance(part, dict)
            and isinstance(part.get("text"), str)
            and "reasoning" not in str(part.get("type"))
        ):
            kept += [part["text"].strip()] if part["text"].strip() else []
        elif isinstance(part, dict) and part.get("type") not in (
            "reasoning",
            "thinking",
            "redacted_thinking",
        ):
            kept.append({name: value for name, value in part.items() if name != "cache_control"})
    for call in listed(message.get("tool_calls")):
        told = held(call, "function") or call
        kept.append([told.get("name") or call.get("function"), told.get("arguments")])
    kept.append(message.get("tool_call_id"))
    return json.dumps(kept, ensure_ascii=False, sort_keys=True)


def _merge(messages: list[Row]) -> list[Row]:
    """A reply's messages; items of one that have no role are part of it."""
    items = [each for each in messages if "role" not in each]
    return messages if len(items) < 2 else [{"role": "assistant", "content": items}]


def _body(value: Any, levels: int = 3) -> Row:
    """The request in a value, within what is around it."""
    if not isinstance(value, dict):
        return {}
    if isinstance(value.get("messages"), list):
        return value if "role" not in value else {}
    if isinstance(value.get("input"), str | list) and ("model" in value or "instructions" in value):
        return value
    for name in _WRAPPERS if levels else ():
        if inner := _body(value.get(name), levels - 1):
            return inner
    return {}


def _ask(value: Row) -> Asked | None:
    body = _body(value)
    if "messages" not in body or isinstance(value.get("request"), str):
        return None
    reply = next(
        (value[name] for name in ("response", "response_body", "output", "completion") if name in value), None
    )
    answer = reply if isinstance(reply, dict) else value if "choices" in value else body
    answer = answer["body"] if isinstance(answer.get("body"), dict) else answer
    if isinstance(stream := answer.get("body_raw"), str):
        if '"message_start"' not in stream:
            return None
        answer = _join_stream(stream)
    messages = [each for each in body["messages"] if isinstance(each, dict)]
    if "choices" in answer:
        said = [
            choice["message"]
            for choice in listed(answer["choices"])[:1]
            if isinstance(choice.get("message"), dict)
        ]
    elif answer is not body and isinstance(answer.get("content"), list):
        said = [{"role": "assistant", "content": answer["content"]}]
    elif isinstance(answer.get("output"), list) or isinstance(reply, str):
        return None
    else:
        said = []
    usage = next((u for each in (answer, value, body) if isinstance(u := each.get("usage"), dict)), None)
    keys = ("session_id", "conversation_id", "thread_id", "conversation")
    keys += ("traj_id", "trajectory_id", "instance_id", "custom_id")
    key = next((k for name in keys if isinstance(k := value.get(name, body.get(name)), str)), "")
    total = usage.get("total_tokens") if usage is not None else None
    return Asked(
        messages, said, split_usage(usage), answer.get("model") or body.get("model"), key, total=total
    )


def _join_stream(text: str) -> Row:
    """The reply that a stream of a server's events told in pieces."""
    told: Row = {}
    usage: Row = {}
    parts: dict[int, Row] = {}
    for line in text.splitlines():
        if not line.startswith("data: {") or not line.endswith("}"):
            continue
        event = json.loads(line.removeprefix("data: "))
        told = held(event, "message") or told
        usage = usage | held(held(event, "message"), "usage") | held(event, "usage")
        if event.get("type") == "content_block_start":
            parts[event["index"]] = dict(event["content_block"])
        elif event.get("type") == "content_block_delta":
            part, delta = parts[event["index"]], held(event, "delta")
            for name in ("text", "thinking", "signature", "partial_json"):
                if name in delta:
                    part[name] = part.get(name, "") + delta[name]
    for part in parts.values():
        if "partial_json" in part:
            part["input"] = json.loads(part.pop("partial_json") or "{}")
    return told | {"content": list(parts.values()), "usage": usage}


def split_usage(usage: Any) -> list[int] | None:
    """Tokens of OpenAI's usage, whose input holds the cache's, or of Anthropic's, whose does not."""
    if not isinstance(usage, dict) or not usage:
        return None
    if "prompt_tokens" in usage or "completion_tokens" in usage:
        cached = held(usage, "prompt_tokens_details").get("cached_tokens") or usage.get(
            "cache_read_input_tokens"
        )
        written = usage.get("cache_creation_input_tokens")
        return split_inclusive(usage.get("prompt_tokens"), usage.get("completion_tokens"), cached, written)
    if "input_tokens_details" in usage or "total_tokens" in usage:
        details = held(usage, "input_tokens_details")
        read, written = details.get("cached_tokens", details.get("cache_read")), details.get("cache_creation")
        return split_inclusive(usage.get("input_tokens"), usage.get("output_tokens"), read, written)
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    fresh, read, written = (whole(usage.get(name)) for name in names)
    hour = min(whole(held(usage, "cache_creation").get("ephemeral_1h_input_tokens")), written)
    return [fresh, read, written - hour, hour, whole(usage.get("output_tokens"))]


def _split_inspect(usage: Any) -> list[int] | None:
    """Tokens of a call; the older logs of some providers count the cache's in the input, and so the sum."""
    if not isinstance(usage, dict):
        return None
    names = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write", "output_tokens")
    fresh, read, written, output = (whole(usage.get(name)) for name in names)
    if read + written and usage.get("total_tokens") == fresh + output:
        fresh = max(fresh - read - written, 0)
    return [fresh, read, written, 0, output]


def _open(value: Any, attached: Row) -> Any:
    """A value with what it points to in its place."""
    if isinstance(value, str):
        for begin in ("attachment://", "tc://"):
            if value.startswith(begin):
                return attached.get(value[len(begin) :], value)
        return value
    if isinstance(value, list):
        return [_open(each, attached) for each in value]
    return {name: _open(each, attached) for name, each in value.items()} if isinstance(value, dict) else value
