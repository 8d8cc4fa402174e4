"""The figures of a session of Cline's, from its messages: FORMATS §6.

`inputTokens` of a reply includes what was read from the cache and written to it. A compaction stands in a
file of its own beside the messages, which stay whole: one of its messages says so in `metadata.kind`. Nothing
is told of what it took. A third file only names the session. A person speaks in every message of the user's
that answers no tool.

A task of an editor's extension is a list of messages. What stood in the figures of a reply is `tokens` there.
A person's are the texts in `<task>`, `<feedback>` and `<user_message>`, outside of what a tool answered that
ends no turn, and every other text that begins as no harness's does. Roo Code's summaries and markers of
truncation are compactions. Before 2026 the figures of a reply stand in `ui_messages.json`: of the first
reply after the messages that a row tells, else in the order of the replies where there are as many.
`tokensIn` holds the cache's where in no request it is less than that.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from .figures import Figures, Request, whole, write_bill
from .tally import Tally, held, listed, read_document, say, split_inclusive

Message = dict[str, Any]


def recount(path: Path) -> Figures:
    """Every figure of the messages, and of the compaction where the file is one or one stands beside it."""
    document = read_document(path)
    if isinstance(document, dict) and document.get("version") == 2 and "sessionId" not in document:
        document = document["messages"]  # Roo Code's since 2026
    if isinstance(document, list):
        messages = [each for each in document if isinstance(each, dict)]
        return _recount_task(messages, _read_screen(path), _read_costs(path), _count_cuts(path))
    messages = _load(path)
    if not messages:
        path = path.with_name(f"{path.stem}.messages.json")
        messages = _load(path)
    compacted = _is_sidecar(path)
    if compacted:
        own = path.with_name(path.name.removesuffix(".compaction.json") + ".messages.json")
        beside = [own] if own.exists() else sorted(path.parent.glob("*.messages.json"))
        same = [each for each in beside if _is_same(path, each) and not _is_sidecar(each)]
        compacted = bool(same) or _count_compactions(messages) > 0
        messages = _load(same[0]) if same else messages
    else:
        sidecar = path.with_name(path.name.removesuffix(".messages.json") + ".compaction.json")
        compacted = sidecar.exists() and _is_same(path, sidecar) and _is_sidecar(sidecar)
    turns = sum(_is_typed(message) for message in messages)
    figures = Figures(turns=max(turns, 1), compactions=int(compacted))
    replies: list[list[Request]] = []
    for message in messages:
        if message["role"] != "assistant":
            continue
        figures.replies += 1
        told = message.get("metrics")
        if not isinstance(told, dict):
            continue
        sent, reply = whole(told.get("inputTokens")), whole(told.get("outputTokens"))
        read, written = whole(told.get("cacheReadTokens")), whole(told.get("cacheWriteTokens"))
        cost = dict.fromkeys(("input", "cacheRead", "cacheWrite", "output"), 0.0)
        tokens = [sent - read - written, read, written, 0, reply]
        model = (message.get("modelInfo") or {}).get("id")
        replies.append([Request(model, tokens, {**cost, "total": float(told.get("cost") or 0)})])
        figures.largest_request = max(figures.largest_request, sent)
        figures.largest_context = max(figures.largest_context, sent + reply)
    write_bill(figures, replies, {}, {"compactions": figures.compactions}, figures.replies)
    return figures


def _load(path: Path) -> list[Message]:
    messages = json.loads(path.read_bytes()).get("messages")
    return messages if isinstance(messages, list) else []


def _is_sidecar(path: Path) -> bool:
    """Whether a file holds the state after a compaction."""
    return "source_message_count" in read_document(path) or _count_compactions(_load(path)) > 0


def _is_same(path: Path, other: Path) -> bool:
    """Whether two files are of one session, as far as they tell."""
    ours, theirs = (read_document(each).get("sessionId") for each in (path, other))
    return ours is None or ours == theirs


def _count_compactions(messages: list[Message]) -> int:
    kinds = (str((message.get("metadata") or {}).get("kind", "")) for message in messages)
    return sum(kind.startswith("compaction") for kind in kinds)


def _is_typed(message: Message) -> bool:
    content = message["content"]
    if message["role"] != "user" or _count_compactions([message]):
        return False
    return isinstance(content, str) or not any(part.get("type") == "tool_result" for part in content)


_RESULT = re.compile(r"\s*\[([a-z_]+)( (?:for|in|to) .*?)?\] Result:", re.DOTALL)
_ASKED = re.compile(r"</slug>\s*<name>[^<]*</name>\s*<model>([^<\s]+)</model>")
_PERSON = re.compile(r"<(?:task|feedback|user_message)>\s*\S")
_OWN = (
    *("<environment_details", "<explicit_instructions", "<file_content", "<system-reminder", "[ERROR]"),
    *("[TASK RESUMPTION]", "# task_progress", "# TODO LIST", "Files attached by the user:", "<answer>"),
    *("The user denied this operation", "(This is an automated message"),
)
_ENDS = ("attempt_completion", "plan_mode_respond")


def _read_screen(path: Path) -> list[tuple[int | None, Message, Any]]:
    """The requests of `ui_messages.json` beside a task: messages before each, its figures, its model."""
    screen = path.with_name(path.name.replace("api_conversation_history", "ui_messages"))
    rows = listed(read_document(screen)) if screen != path and screen.exists() else []
    found = []
    for row in rows:
        row = held({"": row}, "")
        if row.get("say") == "api_req_started" and str(row.get("text")).startswith("{"):
            told = json.loads(row["text"])
            if told.get("tokensIn") or told.get("tokensOut"):
                index = row.get("conversationHistoryIndex")
                model = held(row, "modelInfo").get("modelId")
                found.append((None if index is None else index + 1, {**told, "asked": row.get("ts")}, model))
    return found


def _read_costs(path: Path) -> list[Message]:
    """What each summary took, as the task's screen tells it with its id or its words."""
    screen = path.with_name(path.name.replace("api_conversation_history", "ui_messages"))
    rows = listed(read_document(screen)) if screen != path and screen.exists() else []
    return [told for row in rows if (told := held(row, "contextCondense"))]


def _count_cuts(path: Path) -> int:
    """How often the range of the messages that are left out grew."""
    screen = path.with_name(path.name.replace("api_conversation_history", "ui_messages"))
    rows = listed(read_document(screen)) if screen != path and screen.exists() else []
    ends = [
        row["conversationHistoryDeletedRange"][1]
        for row in rows
        if row.get("conversationHistoryDeletedRange")
    ]
    return sum(end > max(ends[:at], default=-1) for at, end in enumerate(ends))


def _recount_task(
    messages: list[Message],
    screen: list[tuple[int | None, Message, Any]],
    costs: list[Message],
    cuts: int,
) -> Figures:
    tally = Tally()
    turns = 0
    summed = [
        at for at, each in enumerate(messages) if each.get("isSummary") or each.get("isTruncationMarker")
    ]
    sealed = [at for at, each in enumerate(messages) if each.get("type") == "reasoning"]
    places = [
        at
        for at, each in enumerate(messages)
        if each.get("role") == "assistant" and at not in summed and at not in sealed
    ]
    shown = dict(zip(places, screen, strict=True)) if len(places) == len(screen) else {}
    if screen and all(before is not None for before, _, _ in screen):
        shown = {}
        for request in screen:
            after = [at for at in places if at >= (request[0] or 0)]
            shown |= {after[0]: request} if after else {}
    elif screen and len(places) != len(screen) and all("ts" in messages[at] for at in places):
        for at in places:
            before = [each for each in screen if each[1]["asked"] <= messages[at]["ts"]]
            if before and before[-1] not in shown.values():
                shown[at] = before[-1]
    apart = any(
        told["tokensIn"] < whole(told.get("cacheReads")) + whole(told.get("cacheWrites"))
        for _, told, _ in screen
    )
    calls: dict[str, str] = {}
    model_told = None
    for at, message in enumerate(messages):
        for part in listed(message.get("content")):
            if held({"p": part}, "p").get("type") == "tool_use":
                calls[str(part.get("id"))] = str(part.get("name"))
        if message.get("isSummary") is True or message.get("isTruncationMarker") is True:
            names = {message.get("condenseId"), say_all(message.get("content"))} - {None, ""}
            own = [each for each in costs if {each.get("condenseId"), each.get("summary")} & names]
            cost = own[0].get("cost") if own else None
            costs = [each for each in costs if each is not own[0]] if own else costs
            tally.compact([0] * 5 if cost else None, None, cost)
        elif at in places:
            told = held(message, "metrics", "tokens")
            tokens = [told.get(name) for name in ("prompt", "completion", "cached")]
            model = held(message, "modelInfo").get("modelId") or (None if at in shown else model_told)
            cost = held(message, "metrics").get("cost")
            if told or at not in shown:
                tally.reply(split_inclusive(*tokens) if told else None, model, cost)
                continue
            _, told, named = shown[at]
            tokens = [
                whole(told.get(name)) for name in ("tokensIn", "cacheReads", "cacheWrites", "tokensOut")
            ]
            tokens[0] -= 0 if apart else tokens[1] + tokens[2]
            tally.reply([*tokens[:3], 0, tokens[3]], model or named or model_told, told.get("cost"))
        elif message.get("role") == "user":
            found = _ASKED.search(say_all(message.get("content")))
            model_told = found[1] if found else model_told
            turns += _asks(message.get("content"), calls)
    for _ in range(cuts):
        tally.compact()
    return tally.close(turns)


def say_all(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(_find_words(content))


def _find_words(content: Any) -> list[str]:
    parts = (part for part in listed(content) if isinstance(part, dict) and part.get("type") == "text")
    return [text for part in parts if isinstance(text := part.get("text"), str)]


def _asks(content: Any, calls: dict[str, str]) -> bool:
    tool = ""  # whose result the next text is
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else listed(content)
    for part in parts:
        if not isinstance(part, dict):
            continue
        if part.get("type") == "tool_result":
            name = calls.get(str(part.get("tool_use_id")))
            if name in _ENDS and _PERSON.search(say(part.get("content"))):
                return True
        if part.get("type") != "text" or not isinstance(text := part.get("text"), str):
            continue
        if found := _RESULT.match(text):
            tool = found[1]
            if text[found.end() :].strip():
                if tool in _ENDS and _PERSON.search(text):
                    return True
                tool = ""
        elif tool:
            if tool in _ENDS and _PERSON.search(text):
                return True
            tool = ""
        elif text.lstrip().startswith(("New instructions", "New message")):
            if _PERSON.search(text):
                return True
        elif text.strip() and not text.lstrip().startswith(_OWN):
            return True
    return False
