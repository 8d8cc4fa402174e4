"""mini-claude-code around its compaction: usage, stored sessions, hashes, requests (TIERED §2, §7, §8)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inspector.planning.assemble import live_context
from inspector.tokens.counters.tiered import flatten
from inspector.tokens.ledger import count_tokens
from inspector.wire.render import render_request
from tests.reference.prompt_cache import Fingerprint, find_changes, hash_json, take_fingerprint

from .compare import Found
from .mini import Json, Messages, estimate, legacy, parse

UNREAD = "the vector's shape is not told in TIERED.md"
UNLIKE = "hashes of keys sorted by the machine's language, which we do not imitate (TIERED §8)"
PARTS = Fingerprint._fields


def find_budget(usage: Json | None, fallback: Messages) -> Json:
    """The provider's word where it says anything of input or output, cache tokens not added; else ours."""
    told = [usage[name] for name in ("inputTokens", "outputTokens") if name in usage] if usage else []
    if told:
        return {"estimatedTokens": sum(told), "source": "api_usage"}
    return {"estimatedTokens": estimate(fallback), "source": "estimate"}


def check_estimates(given: Json, expected: Json) -> Found:
    """Messages estimated one by one and together, under whatever names the vector gives the figures."""
    lists = [value for value in given.values() if isinstance(value, list) and value]
    items = next((value for value in lists if isinstance(value[0], dict | list)), [])
    each = [estimate(_several(item)) for item in items]
    out: list[str] = []
    unread = not items
    for name, value in expected.items():
        if isinstance(value, int):
            out += [] if value == sum(each) else [f".{name}: {sum(each)}, expected {value}"]
        elif isinstance(value, list) and all(isinstance(item, int) for item in value):
            out += [] if value == each else [f".{name}: {each}, expected {value}"]
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            texts = [flatten(entry) for item in items for entry in parse(_several(item)).entries]
            out += [] if value == texts else [f".{name}: {texts}, expected {value}"]
        else:
            unread = True
    return out or (UNREAD if unread else [])


def _several(item: Any) -> Messages:
    return item if isinstance(item, list) else [item]


def compact_record(case: Json) -> tuple[Json, Json]:
    """The manual command on a stored session: its events after it, and what the archiver was given."""
    record, expected = case["input"]["record"], case["output"]
    events = record["events"]
    messages: Messages = []
    for event in events:
        if event["type"] in ("user_message", "assistant_message"):
            messages.append(event["message"])
        elif event["type"] == "tool_result":
            block = {"type": "tool_result", "result": event["result"]}
            messages.append({"role": "tool", "content": [block]})
    done = legacy(messages, case["input"].get("options") or {})
    terminal = [event for event in events if event["type"] == "terminal_state"]
    after = [{**event, "at": "<AT>"} for event in [*_tell(done.messages), *terminal]]
    told: Json = {
        "type": "compact",
        "beforeTokens": done.tokens[0],
        "afterTokens": done.tokens[1],
        "beforeEvents": len(events),
        "afterEvents": len(after) + 1,
        "at": "<AT>",
    }
    calls: list[Any] = []
    if case["input"]["archiver"] and done.archived:
        # Where the archiver wrote it is the archiver's word.
        told["archivePath"] = next(
            (e.get("archivePath") for e in expected["events"] if "archivePath" in e), None
        )
        calls = [_as_given(call, done.archived, record) for call in expected["archiver_calls"][:1]] or [[]]
    flags = {"archiver_called": len(calls), "has_terminal": bool(terminal)}
    return {"events": [*after, told], "archiver_calls": calls}, flags


def _as_given(call: Any, archived: Messages, record: Json) -> Any:
    """Our archive in the shape in which the vector's archiver was called."""
    if isinstance(call, int) and not isinstance(call, bool):
        return len(archived)
    if isinstance(call, list):
        nested = call and all(isinstance(item, list) for item in call)
        return [archived] if nested else archived
    if not isinstance(call, dict):
        return call
    known = {"sessionId": record["sessionId"], "version": 1}
    return {
        name: known[name] if name in known else _as_given(value, archived, record)
        for name, value in call.items()
    }


def _tell(messages: Messages) -> Iterator[Json]:
    """Messages as the events of a stored session."""
    for message in messages:
        if message["role"] == "tool":
            yield from ({"type": "tool_result", "result": block["result"]} for block in message["content"])
            continue
        yield {"type": f"{message['role']}_message", "message": message}
        if isinstance(message["content"], list):
            calls = [block for block in message["content"] if block["type"] == "tool_use"]
            yield from ({"type": "tool_use", "toolUse": block["toolUse"]} for block in calls)


def check_prefix(case: Json) -> Found:
    """Hashes of message lists, each prefix its own; or which parts of two fingerprints differ."""
    given, expected = case["input"], case["output"]
    if isinstance(given, dict) and isinstance(given.get("messages"), list):
        return _check_hashes(given, given["messages"], expected)
    if isinstance(given, dict) and isinstance(given.get("variants"), list):
        return _check_variants(given, expected)
    pairs, lists = list(_find_pairs(given)), list(_find_labels(expected))
    if not pairs or len(pairs) != len(lists):
        return UNREAD
    found = [list(find_changes(_fingerprint(a), _fingerprint(b))) for a, b in pairs]
    both = enumerate(zip(found, lists, strict=True))
    return [f".{i}: {mine}, expected {told}" for i, (mine, told) in both if mine != told]


def _check_variants(given: Json, expected: Any) -> Found:
    """Traces that differ from the base as their names say, each with the parts that are told to differ."""
    base = _base_fingerprint(given["base"])
    told = expected.get("sources") if isinstance(expected, dict) else None
    if not isinstance(told, dict) or set(told) != {*given["variants"]}:
        return UNREAD
    out = []
    for name in given["variants"]:
        mine = list(find_changes(base, _change(base, given["base"], name)))
        if mine != told[name]:
            out.append(f".sources.{name}: {mine}, expected {told[name]}")
    return out


def _base_fingerprint(trace: Json, system: Any = None) -> Fingerprint:
    """A system prompt given as blocks is the text that they hold."""
    prompt = trace["systemPrompt"] if system is None else system
    text = "".join(block["text"] for block in prompt) if isinstance(prompt, list) else prompt
    messages = trace.get("messages") or []
    return take_fingerprint(text, trace.get("tools"), messages, trace.get("directive"), trace.get("model"))


def _change(base: Fingerprint, trace: Json, name: str) -> Fingerprint:
    """The base with the parts changed that a variant is named after."""
    if "equal" in name:
        return _base_fingerprint(trace, [{"type": "text", "text": trace["systemPrompt"]}])
    marks = {"system": "system_prompt", "tools": "tools", "prefix": "message_prefix"}
    marks |= {"directive": "child_directive", "model": "model"}
    parts = [part for mark, part in marks.items() if mark in name or name == "all"]
    return base._replace(**{part: f"{getattr(base, part)}, changed" for part in parts})


def _check_hashes(given: Json, messages: Messages, expected: Any) -> Found:
    """Every prefix has a hash of its own, and each hash is ours of a prefix or of another value given."""
    each = [hash_json(messages[:size]) for size in range(len(messages) + 1)]
    known = {*each, *(hash_json(value) for _, value in _walk(given))}
    told = [(at, value) for at, value in _walk(expected) if _is_hash(value)]
    if not told:
        return UNREAD
    out = []
    for at, value in _walk(expected):
        if isinstance(value, list) and value and all(_is_hash(item) for item in value):
            if len(set(value)) != len(value):
                out.append(f"{at}: two prefixes share a hash")
            mine = each[len(each) - len(value) :]
            if set(value) <= known and value != mine:
                out.append(f"{at}: the hashes of other prefixes than expected")
    return out or ([] if all(value in known for _, value in told) else UNLIKE)


def _walk(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    yield at, value
    if isinstance(value, dict):
        for name, child in value.items():
            yield from _walk(child, f"{at}.{name}")
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _walk(child, f"{at}[{index}]")


def _is_hash(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")


def _is_trace(value: Any) -> bool:
    return isinstance(value, dict) and len(_fingerprint(value).model or "") > 0 and len(value) >= 3


def _fingerprint(trace: Json) -> Fingerprint:
    """A trace's five values, whatever the vector calls them."""
    words = {
        "system_prompt": ("system",),
        "tools": ("tool",),
        "message_prefix": ("prefix", "message"),
        "child_directive": ("directive",),
        "model": ("model",),
    }
    found: dict[str, Any] = {}
    for part, marks in words.items():
        for name, value in trace.items():
            if part not in found and any(mark in name.lower() for mark in marks):
                found[part] = value if isinstance(value, str) or value is None else hash_json(value)
    return Fingerprint(*(found.get(part) for part in PARTS))


def _find_pairs(value: Any) -> Iterator[tuple[Json, Json]]:
    """Two traces side by side, or one beside several it is held against, wherever they stand."""
    children = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    traces = [child for child in children if _is_trace(child)]
    if len(traces) == 2:
        yield traces[0], traces[1]
        return
    for child in children:
        several = child.values() if isinstance(child, dict) else child if isinstance(child, list) else ()
        if len(traces) == 1 and child is not traces[0] and all(_is_trace(trace) for trace in several):
            yield from ((traces[0], trace) for trace in several)
        elif not _is_trace(child):
            yield from _find_pairs(child)


def _find_labels(value: Any) -> Iterator[list[str]]:
    for _, found in _walk(value):
        if isinstance(found, list) and all(isinstance(item, str) and item in PARTS for item in found):
            yield found


def check_wire(case: Json) -> Found:
    """Roles and blocks of every request that the vector shows, and where its cache markers stand."""
    given, expected = case["input"], case["output"]
    messages = given.get("messages") if isinstance(given, dict) else given
    shown = [(at, value) for at, value in _walk(expected) if _is_sent(value)]
    if not isinstance(messages, list) or not shown:
        return UNREAD
    return [line for at, sent in shown for line in _check_request(messages[: len(sent)], sent, at)]


def _check_request(messages: Messages, sent: Messages, at: str) -> Iterator[str]:
    """A request of the first messages; those that follow each other in one role go out as one."""
    session = parse(messages)
    request = render_request(live_context(session, count_tokens(session, "tiered"))).request
    mine = [(m["role"], _plain(block)) for m in request["messages"] for block in _blocks(m)]
    theirs = [(m["role"], _plain(block)) for m in sent for block in _blocks(m)]
    for i, (a, b) in enumerate(zip(mine, theirs, strict=False)):
        if a != b:
            yield f"{at}: block {i}: {a}, expected {b}"
    if len(mine) != len(theirs):
        yield f"{at}: {len(mine)} blocks, expected {len(theirs)}"
    marked = [
        (i, j) for i, m in enumerate(sent) for j, block in enumerate(_blocks(m)) if "cache_control" in block
    ]
    last = [(len(sent) - 1, len(_blocks(sent[-1])) - 1)]
    if marked and marked != last:
        yield f"{at}: cache markers at {marked}, expected one at {last}"


def _is_sent(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(m, dict) and "role" in m and "content" in m for m in value)
    )


def _blocks(message: Json) -> list[Json]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _plain(block: Json) -> Json:
    """A block without its cache marker, a result's content as one string, and only what matters of it."""
    out = {name: value for name, value in block.items() if name != "cache_control"}
    if out.get("type") == "tool_result":
        out["is_error"] = bool(out.get("is_error"))
        if isinstance(out.get("content"), list):
            out["content"] = "".join(part.get("text", "") for part in out["content"])
    return out
