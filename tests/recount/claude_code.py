"""The figures of a Claude Code file, from its rows.

The rules, as CLAUDE §3, §5.1 and §9 have them:

- A reply is several rows with one `message.id`; its usage is that of the row that tells the most output, and
  counts once, for the conversation before a sub-agent that was shown it.
- `usage.cache_creation` tells how long what was written lives. `usage.iterations` are the requests that the
  reply took: the last of type message, or of fallback_message (another model's, after a refusal), is its
  context; all are paid, one of type compaction as a compaction.
- Rows that `retractedMessageUuids` names are replies that were refused: paid, and in no later context.
- A reply of which no row has a `stop_reason` was written down while it streamed: where its output is less
  than its text, thinking and tool calls (name and compact JSON) in o200k_base, those are its output.
- Rows of `<synthetic>` and with `isApiErrorMessage` are Claude Code's own: no tokens, no money.
- Sub-agents: rows with `isSidechain`, and replies in rows of type progress (`data.type` agent_progress). The
  last reply of the latter is only in `toolUseResult.usage`. A run of which calls are missing is unknown.
- Files of sub-agents, `<session>/subagents/agent-<id>.jsonl` or beside it, are a session's where their first
  row that names a session names it and all that is said is a sidechain's. What the session's own file holds
  too counts there. One whose lines are all JSON and which ends with a reply without calls is whole: what else
  tells of it adds nothing.
- A turn opens with a prompt of a person on the way from the last row to the first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .figures import Figures, Request, count_words, whole, write_bill

Row = dict[str, Any]
_COUNTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
# What harnesses write in the user's name, up to its end tag if there is one: CLAUDE §3.
_NOT_TYPED = re.compile(
    r"\s*(?:<(task-notification|local-command-(?:stdout|stderr|caveat)|bash-(?:input|stdout|stderr)"
    r"|command-(?:name|message|args|contents)|system-reminder|user-prompt-submit-hook|teammate-message"
    r"|agent-message|tick|cross-session-message|fork-boilerplate|github-webhook-activity"
    r"|mcp-(?:polling|resource)-update|scheduled-task)\b(?:.*?</\1>|.*)"
    r"|\[Request interrupted by user[^\]]*\])",
    re.DOTALL,
)
_OUTPUT = re.compile(r"\s*Read the output file to retrieve the result: .*")  # ends a task's notification
_NAMED = ("user", "assistant", "system", "attachment")


class Reply:
    """The rows of one reply together."""

    def __init__(self) -> None:
        self.usage: Row | None = None
        self.model: str | None = None
        self.ended = self.own_words = False
        self.blocks: dict[str, list[Row]] = {}

    def take(self, row: Row, message: Row, number: Any) -> None:
        usage = message.get("usage")
        if isinstance(usage, dict) and (
            self.usage is None or whole(usage.get("output_tokens")) >= whole(self.usage.get("output_tokens"))
        ):
            self.usage = usage
        if isinstance(message.get("model"), str):
            self.model = message["model"]
        self.ended |= isinstance(message.get("stop_reason"), str)
        self.own_words |= self.model == "<synthetic>" or row.get("isApiErrorMessage") is True
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        self.blocks[str(row.get("uuid") or number)] = [block for block in blocks if isinstance(block, dict)]

    @property
    def calls(self) -> int:
        return sum(block.get("type") == "tool_use" for row in self.blocks.values() for block in row)

    @property
    def words(self) -> int:
        """Tokens of what it says, thinks and calls."""
        total = 0
        for block in (block for row in self.blocks.values() for block in row):
            for key in ("text", "thinking"):
                if block.get("type") == key and isinstance(block.get(key), str):
                    total += count_words(block[key])
            if block.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use"):
                arguments = block.get("input")
                called = (
                    ""
                    if arguments is None
                    else json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
                )
                total += count_words(str(block.get("name")) + called)
        return total

    @property
    def input_counts(self) -> tuple[int, ...]:
        return tuple(whole((self.usage or {}).get(name)) for name in _COUNTS)

    @property
    def last(self) -> Row:
        """The figures of the request that made the context: the last message among those listed."""
        usage = self.usage or {}
        listed = usage.get("iterations")
        rows = listed if isinstance(listed, list) else []
        kinds = ("message", "fallback_message")
        messages = [row for row in rows if isinstance(row, dict) and row.get("type") in kinds]
        return messages[-1] if messages else usage

    def bill(self, model: str | None, figures: Figures) -> tuple[list[Request], list[Request]]:
        """Its requests, and those of compactions; both empty for what took nothing."""
        usage = self.usage or {}
        listed = usage.get("iterations")
        rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
        if len(rows) == 1 and rows[0].get("type") == "message":
            rows = [rows[0]]
        rows = rows or [usage]
        requests = [(row.get("type"), _request(row, row.get("model") or self.model or model)) for row in rows]
        own = [request for kind, request in requests if kind != "compaction"]
        if not any(sum(request.tokens) for _, request in requests):
            return [], []
        if own and not self.ended:
            reported, words = sum(request.tokens[4] for request in own), self.words
            if reported < words:
                own[-1].tokens[4] += words - reported
                figures.counted += 1
        return own, [request for kind, request in requests if kind == "compaction"]


def _request(row: Row, model: str | None) -> Request:
    fresh, read, written = (whole(row.get(name)) for name in _COUNTS)
    split = row.get("cache_creation")
    has_split = isinstance(split, dict) and any(
        f"ephemeral_{ttl}_input_tokens" in split for ttl in ("5m", "1h")
    )
    hour = 0
    if has_split and isinstance(split, dict):
        hour = whole(split.get("ephemeral_1h_input_tokens"))
        if _COUNTS[2] not in row:
            written = hour + whole(split.get("ephemeral_5m_input_tokens"))
        hour = min(hour, written)
    tokens = [fresh, read, written - hour, hour, whole(row.get("output_tokens"))]
    return Request(model, tokens, hour_told=has_split)


def read_rows(path: Path) -> Iterator[tuple[Any, Row]]:
    """The rows that are JSON objects, with their line numbers."""
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        try:
            row = json.loads(line.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogatepass"))
        except ValueError:
            continue
        if isinstance(row, dict):
            yield number, row


class _AgentFile:
    """The rows of a sub-agent's file that no other file holds, whose they are, and whether all are there."""

    def __init__(self, path: Path, known_names: set[Any]) -> None:
        agent = path.name.removeprefix("agent-").removesuffix(".jsonl")
        every = list(read_rows(path))
        self.session = next(
            (row["sessionId"] for _, row in every if isinstance(row.get("sessionId"), str)), None
        )
        self.all_talk = [row for _, row in every if row.get("type") in ("user", "assistant")]
        self.rows = [
            (f"{path}:{number}", {"agentId": agent, **row})
            for number, row in every
            if row.get("uuid") is None or row.get("uuid") not in known_names
        ]
        self.agent = next((row["agentId"] for _, row in reversed(self.rows) if row.get("message")), agent)
        last = self.all_talk[-1].get("message") if self.all_talk else None
        name = last.get("id") if isinstance(last, dict) else None
        ends = [row["message"] for row in self.all_talk if name and row["message"].get("id") == name]
        calls = any(block.get("type") == "tool_use" for message in ends for block in _blocks(message))
        lines = sum(bool(line.strip()) for line in path.read_bytes().split(b"\n"))
        self.whole = bool(ends) and not calls and lines == len(every)

    def belongs(self, session: Any, inside: bool) -> bool:
        named = self.session == session if self.session is not None else inside
        return named and bool(self.all_talk) and all(row.get("isSidechain") is True for row in self.all_talk)


def _blocks(message: Row) -> list[Row]:
    content = message.get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _find_agents(path: Path, rows: list[tuple[Any, Row]]) -> Iterator[_AgentFile]:
    """The files of sub-agents of this session that lie beside it."""
    if path.name.startswith("agent-"):
        return
    named = [row.get("sessionId") for _, row in rows if row.get("type") in ("user", "assistant", "system")]
    session = next((name for name in reversed(named) if isinstance(name, str)), None)
    known_names = {row.get("uuid") for _, row in rows}
    inside = path.parent / path.name.partition(".jsonl")[0] / "subagents"
    for folder in (inside, *sorted(inside.glob("workflows/*")), path.parent):
        for file in sorted(folder.glob("agent-*.jsonl")):
            agent = _AgentFile(file, known_names)
            if agent.belongs(session, folder != path.parent):
                known_names |= {row.get("uuid") for _, row in agent.rows}
                yield agent


def recount(path: Path) -> Figures:
    """Every figure of the file, with those of its sub-agents beside it."""
    rows: list[tuple[Any, Row]] = [(number, _name(row, number)) for number, row in read_rows(path)]
    files = list(_find_agents(path, rows))
    talk = [
        (number, row)
        for number, row in rows
        if row.get("type") in ("user", "assistant") and isinstance(row.get("message"), dict)
    ]
    if talk and all(row.get("isSidechain") is True for _, row in talk):
        # A sub-agent's own file: what the last one says is the conversation there.
        agent = talk[-1][1].get("agentId")
        rows, talk = (
            [
                (
                    number,
                    {**row, "isSidechain": row.get("agentId") != agent if "isSidechain" in row else False},
                )
                for number, row in part
            ]
            for part in (rows, talk)
        )
    figures = Figures()
    main: dict[str, Reply] = {}
    side: dict[tuple[str, Any], Reply] = {}
    for number, row in talk:
        if row["type"] != "assistant":
            continue
        name = row["message"].get("id")
        name = name if isinstance(name, str) else str(row.get("uuid") or number)
        if row.get("isSidechain") is True:
            reply = side.setdefault((name, row.get("agentId")), Reply())
        else:
            reply = main.setdefault(name, Reply())
        reply.take(row, row["message"], number)
    for number, row in (numbered for file in files for numbered in file.rows):
        if row.get("type") == "assistant" and isinstance(row.get("message"), dict):
            name = row["message"].get("id")
            name = name if isinstance(name, str) else str(row.get("uuid") or number)
            side.setdefault((name, row["agentId"]), Reply()).take(row, row["message"], number)
    agents = {key: reply for key, reply in side.items() if key[0] not in main}
    agent_names: set[str] = set()
    for key in list(agents):
        if key[0] in agent_names:
            del agents[key]
        agent_names.add(key[0])
    every = [*rows, *(numbered for file in files for numbered in file.rows)]
    whole_ones = {file.agent for file in files if file.whole}
    lines = _read_subagents(every, {*main, *agent_names}, agents, whole_ones)
    model = next(
        (reply.model for reply in reversed(main.values()) if reply.model and not reply.own_words), None
    )
    replies: list[list[Request]] = []
    apart: dict[str, list[Request]] = {"sub-agents": [], "sub-agents' last replies": [], "compaction": []}
    for reply in main.values():
        own, compactions = reply.bill(model, figures) if not reply.own_words else ([], [])
        replies.append(own)
        apart["compaction"] += compactions
    for name, others in (
        ("sub-agents", [*agents.values(), *lines.replies]),
        ("sub-agents' last replies", lines.results),
    ):
        for reply in others:
            own, compactions = reply.bill(None, figures) if not reply.own_words else ([], [])
            apart[name] += own
            apart["compaction"] += compactions
    compactions = sum(_count_compactions(part) for part in (rows, *(file.rows for file in files)))
    unknown = {"sub-agents": lines.silent, "compactions": max(compactions - len(apart["compaction"]), 0)}
    reply_count = sum(not reply.own_words for reply in main.values())
    write_bill(figures, replies, apart, unknown, reply_count)
    way = _walk(rows)
    figures.compactions = compactions
    emptied = {row.get("uuid") for _, row in every if row.get("subtype") == "microcompact_boundary"}
    figures.emptied = len(emptied)
    gone = {row for _, retraction in every for row in retraction.get("retractedMessageUuids") or ()}
    remaining = {name: reply for name, reply in main.items() if not gone >= reply.blocks.keys()}
    figures.replies = len(remaining)
    figures.turns = max(sum(_opens(row) for _, row in way) + _count_queued(rows, way), 1)
    sizes = [_request(reply.last, None).tokens for reply in remaining.values() if not reply.own_words]
    figures.largest_request = max((sum(tokens[:4]) for tokens in sizes), default=0)
    talked = [row for _, row in way if row.get("type") == "assistant"]
    on_way = {row["message"].get("id") for row in talked} | {row.get("uuid") for row in talked}
    for name, reply in remaining.items():
        if name in on_way and not reply.own_words and reply.usage:
            tokens = _request(reply.last, None).tokens
            output = tokens[4] if reply.ended or not sum(tokens) else max(tokens[4], reply.words)
            figures.largest_context = max(figures.largest_context, sum(tokens[:4]) + output)
    return figures


class _SubAgents:
    """Replies in rows of progress, last ones told by results alone, and runs that are not told whole."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.results: list[Reply] = []
        self.silent = 0


def _read_subagents(
    rows: list[tuple[Any, Row]],
    elsewhere: set[str],
    side: dict[tuple[str, Any], Reply],
    whole_ones: set[Any],
) -> _SubAgents:
    result = _SubAgents()
    progress: dict[tuple[str, str], Reply] = {}
    results: dict[str, dict[str, tuple[Reply | None, int]]] = {}
    for number, row in rows:
        data = row.get("data")
        if row.get("type") == "progress" and isinstance(data, dict) and data.get("type") == "agent_progress":
            inner = data.get("message")
            if not isinstance(inner, dict) or inner.get("type") != "assistant" or not data.get("agentId"):
                continue
            message = inner.get("message")
            if isinstance(message, dict) and isinstance(message.get("usage"), dict):
                name = str(message.get("id") or number)
                progress.setdefault((name, data["agentId"]), Reply()).take(inner, message, number)
        report = row.get("toolUseResult")
        if row.get("type") == "user" and isinstance(report, dict):
            calls = report.get("totalToolUseCount")
            counted = isinstance(calls, int | float) and not isinstance(calls, bool)
            if not counted and report.get("status") != "async_launched":
                continue
            last = None
            if isinstance(report.get("usage"), dict) and any(
                whole(report["usage"].get(name)) for name in _COUNTS
            ):
                last = Reply()
                content = report.get("content")
                last.take(row, {"usage": report["usage"], "content": content or []}, number)
                last.model = report.get("resolvedModel")
            agent = report.get("agentId") or report.get("taskId") or row.get("uuid") or str(number)
            results.setdefault(str(agent), {})[str(row.get("uuid") or number)] = last, whole(calls)
    by_agent: dict[str, list[Reply]] = {}
    for (name, agent), reply in progress.items():
        if name not in elsewhere and not reply.own_words:
            by_agent.setdefault(agent, []).append(reply)
            result.replies.append(reply)
    recorded_counts = {reply.input_counts for reply in side.values()}
    for agent, by_row in results.items():
        if agent in whole_ones:
            continue
        reports = list(by_row.values())
        replies = [*by_agent.get(agent, []), *(reply for (_, who), reply in side.items() if who == agent)]
        there = recorded_counts | {reply.input_counts for reply in replies}
        lasts = [last for last, _ in reports if last is not None]
        alone = [last for last in lasts if last.input_counts not in there]
        for last in alone:
            last.model = last.model or next((reply.model for reply in reversed(replies) if reply.model), None)
        result.results += alone
        if replies:
            result.silent += sum(reply.calls for reply in replies) < sum(calls for _, calls in reports)
        else:
            result.silent += bool(alone) or len(lasts) < len(reports)
    return result


def _name(row: Row, number: Any) -> Row:
    """A row with a name: where a file was cut down to what is said, rows have none and follow each other."""
    named = isinstance(row.get("uuid"), str) or row.get("type") not in _NAMED
    return row if named else {**row, "uuid": f"line {number}"}


def _count_compactions(rows: list[tuple[Any, Row]]) -> int:
    """Boundaries, each once, and summaries that no boundary announces."""
    boundaries: set[str] = set()
    waiting = count = 0
    summaries: set[str] = set()
    for number, row in rows:
        name = str(row.get("uuid") or number)
        if (
            row.get("type") == "system"
            and row.get("subtype") == "compact_boundary"
            and name not in boundaries
        ):
            boundaries.add(name)
            count, waiting = count + 1, waiting + 1
        elif row.get("type") == "user" and row.get("isCompactSummary") is True and name not in summaries:
            summaries.add(name)
            if waiting:
                waiting -= 1
            else:
                count += 1
    return count


def _walk(rows: list[tuple[Any, Row]]) -> list[tuple[Any, Row]]:
    """The rows from the last one that is said in the conversation up to the first, in file order.

    A compaction's row follows the one that was before it. Where a parent is not in the file, or stands after
    a compaction that kept it, the row before stands for it. The last row is that which a rewind names, if
    nothing is said after it.
    """
    by_name: dict[str, tuple[Any, Row]] = {}
    last: str | None = None
    pinned: list[Any] = []  # where a rewind left the conversation, until something is said after it
    for number, row in rows:
        kind, name = row.get("type"), row.get("uuid")
        if kind == "last-prompt" and row.get("explicit") is True:
            pinned = [row.get("leafUuid")]
        if kind in ("user", "assistant", "system", "attachment", "progress") and isinstance(name, str):
            if row.get("isSidechain") is not True:
                # A row that is written again stands where it first stood, with what it says now.
                if name not in by_name and (
                    kind in ("user", "assistant") or "compact" in str(row.get("subtype"))
                ):
                    pinned = []
                by_name[name] = by_name[name][0] if name in by_name else number, row
                last = name if kind in ("user", "assistant") else last
    chained = list(by_name.values())
    where = {row["uuid"]: at for at, (_, row) in enumerate(chained)}
    if pinned == [None]:
        return []
    if pinned and pinned[0] in where:
        last = pinned[0]
    at: int | None = where.get(last) if last is not None else None
    way: list[tuple[Any, Row]] = []
    visited: set[int] = set()
    while at is not None and at not in visited:
        visited.add(at)
        row = chained[at][1]
        way.append(chained[at])
        above = row.get("parentUuid")
        if row.get("subtype") == "compact_boundary":
            above = row.get("logicalParentUuid") or above
            if where.get(above, -1) > at:
                at -= 1
                continue
        if above is None and "parentUuid" in row:
            at = at - 1 if row.get("subtype") == "compact_boundary" and at else None
        else:
            at = where.get(above, at - 1 if at else None)
    return sorted(way, key=lambda numbered: numbered[0])


def _opens(row: Row) -> bool:
    """Whether a person says here what the model is to answer."""
    if row.get("type") != "user" or row.get("isMeta") is True or row.get("isCompactSummary") is True:
        return False
    content = row["message"].get("content") if isinstance(row.get("message"), dict) else None
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    own = [block for block in blocks if isinstance(block, dict) and block.get("type") != "tool_result"]
    if not own or content in (None, ""):
        return False
    origin = row.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    if kind is not None and kind != "human":
        return False
    if kind is None and row.get("promptSource") == "system":
        return False
    texts = [str(block.get("text") or "") for block in own if block.get("type") == "text"]
    return any(map(_typed, texts)) or any(block.get("type") in ("image", "document") for block in own)


def _typed(text: str) -> bool:
    """Whether words are left without the harness's. A slash command that asks begins with its message."""
    if text.lstrip().startswith("<command-message>"):
        return True
    while match := _NOT_TYPED.match(text) or _OUTPUT.match(text):
        text = text[match.end() :]
    return bool(text.strip())


def _count_queued(rows: list[tuple[Any, Row]], way: list[tuple[Any, Row]]) -> int:
    """Prompts that a person typed while the model worked, and that reached it in no row of theirs.

    They wait from `enqueue` on. `remove` hands one over in the middle of the work, newer versions with an
    attachment; after `dequeue` it comes in a row of its own, and `popAll` gives it back. Older versions do
    not name what they remove: what was typed is handed over before reports are. Only what reached the model
    on the way counts.
    """
    waiting: list[str] = []
    handed: list[str] = []
    attached: list[str] = []
    others: list[str] = []  # handed over with an attachment that names another sender than a person
    here = {row.get("uuid") for _, row in way}
    # Outputs of parallel calls hang off different rows of one reply.
    replies = {row["message"].get("id") for _, row in way if row.get("type") == "assistant"} - {None}
    for _, row in rows:
        message = row.get("message") if isinstance(row.get("message"), dict) else {}
        answer = row.get("type") == "user" and not _opens(row) and row.get("parentUuid") in here
        if answer or (row.get("type") == "assistant" and message.get("id") in replies):
            here.add(row.get("uuid"))
    on_way = True
    for _, row in rows:
        message = row.get("message") if isinstance(row.get("message"), dict) else {}
        text, operation = _plain_text(row.get("content")), row.get("operation")
        attachment = row.get("attachment")
        if row.get("type") in ("user", "assistant") and row.get("isSidechain") is not True:
            # What failed stays beside the way, and says nothing of where the work goes on.
            failed = row.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>"
            on_way = on_way if failed else row.get("uuid") in here
            typed = _text(row)
            own = row["type"] == "user" and not row.get("isMeta") and not row.get("isCompactSummary")
            if own and typed:
                waiting = [text for text in waiting if text != typed and not (_asks(text) and text in typed)]
        elif row.get("type") == "attachment" and isinstance(attachment, dict):
            origin = attachment.get("origin")
            kind = origin.get("kind") if isinstance(origin, dict) else None
            person = kind in (None, "human") and attachment.get("commandMode") in (None, "prompt")
            if attachment.get("type") == "queued_command" and not person:
                others.append(_plain_text(attachment.get("prompt")))
            elif attachment.get("type") == "queued_command" and row.get("uuid") in here:
                attached.append(_plain_text(attachment.get("prompt")))
        elif row.get("type") != "queue-operation":
            continue
        elif operation == "enqueue" and text:
            waiting.append(text)
        elif operation == "remove" and waiting:
            removed = text or min(waiting, key=lambda text: not _asks(text))
            if removed in waiting:
                waiting.remove(removed)
                handed += [removed] if on_way else []
        elif operation == "popAll":
            waiting.clear()
    return sum(_asks(text) for text in attached + [text for text in handed if text not in attached + others])


def _asks(text: str) -> bool:
    """Whether a queued text asks the model: no report or note of a task, and no command."""
    return _typed(text) and not text.startswith('{"task_id"') and not re.match(r"/[^\s/]*(\s|$)", text)


def _plain_text(content: Any) -> str:
    return content if isinstance(content, str) else _text({"message": {"content": content}})


def _text(row: Row) -> str:
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))
