"""Read the sub-agents whose replies are in a Claude Code session's own file.

While a sub-agent works, rows of type `progress` hold its complete replies with their usage, except for the
last one: the result of the call that started the sub-agent has its usage, and the number of tool calls. Only
lines that can hold such data are decoded. Source: files of versions 2.0 to 2.1, and CLAUDE §3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ....session.blocks import Block, Text, build
from ....session.entries import Entry, Source, SubAgent, Usage
from ...json_document import Fields
from ...json_lines import decode
from ...requests.anthropic_blocks import Names, read_content, read_usage
from .replies import ReplyName, name_reply
from .rows import AgentRow, ProgressRow


class ReplySummary(NamedTuple):
    """A summary of a reply: the tokens of its request, which identify it, its model, and its tool calls."""

    prompt_tokens: tuple[Any, ...]
    model: str | None
    calls: int


class RecordedReplies(NamedTuple):
    """Replies that are entries: their names, and those of each sub-agent; None for rows that name none.

    `whole` are sub-agents with complete replies.
    """

    messages: frozenset[ReplyName]
    by_agent: dict[str | None, list[ReplySummary]]
    whole: frozenset[str] = frozenset()


def summarise_reply(reply: Entry) -> ReplySummary:
    """Return the summary of a reply."""
    prompt_tokens = tuple(getattr(reply.usage, name, 0) for name in ("input", "cache_read", "cache_write"))
    return ReplySummary(prompt_tokens, reply.model, sum(block.kind == "tool_call" for block in reply.blocks))


def index_replies(
    agents: Mapping[int, str | None], entries: Sequence[Entry]
) -> dict[str | None, list[ReplySummary]]:
    """Find the replies of sub-agents in these entries; `agents` maps an index to its sub-agent."""
    by_agent: dict[str | None, list[ReplySummary]] = {}
    for at, agent in agents.items():
        if entries[at].usage is not None:
            by_agent.setdefault(agent, []).append(summarise_reply(entries[at]))
    return by_agent


class _Reply:
    """The rows of one reply that may not be complete."""

    def __init__(self, agent: str, name: ReplyName, source: Source) -> None:
        self.agent, self.name = agent, name
        self.usage: Usage | None = None
        self.fields: dict[str, Any] = {}
        self.rows: dict[str, list[Block]] = {}
        self.source = source

    def make(self) -> Entry:
        blocks = tuple(block for part in self.rows.values() for block in part)
        named = {"role": "assistant", "sidechain": self.agent, "sources": (self.source,)}
        return build(Entry, id=next(iter(self.rows)), blocks=blocks, usage=self.usage, **named, **self.fields)


class _Result(NamedTuple):
    """The result of a call that started a sub-agent: its last reply if recorded, and its number of calls."""

    agent: str
    last: Entry | None
    calls: int | None


class SubAgentRows:
    """The replies and results of sub-agents read so far, in file order."""

    def __init__(self) -> None:
        self.replies: dict[tuple[str, ReplyName], _Reply] = {}
        self.results: dict[str, _Result] = {}
        self.names: Names = {}

    def take_progress(self, source: Source, data: ProgressRow) -> None:
        """Read a progress row of a sub-agent. Rows without a reply are ignored."""
        row, agent = data.message, data.agent_id
        if type(row) is not AgentRow or row.type != "assistant" or not isinstance(agent, str):
            return
        message = Fields(row.message)
        usage_fields = message.object("usage")
        usage, model = read_usage(usage_fields), message.text("model")
        if usage is None or model == "<synthetic>" or row.is_api_error_message is True:
            return
        line = f"line-{source.line}"
        called = name_reply(message.text("id") or line, usage_fields)
        reply = self.replies.setdefault((agent, called), _Reply(agent, called, source))
        name = row.uuid if isinstance(row.uuid, str) else line
        reply.rows[name] = read_content(message.any("content"), self.names)
        if reply.usage is None or reply.usage.output <= usage.output:
            reply.usage = usage
        fields = {
            "model": model,
            "stop_reason": message.text("stop_reason"),
            "timestamp": row.timestamp if isinstance(row.timestamp, str) else None,
        }
        reply.fields |= {key: value for key, value in fields.items() if value is not None}

    def take_result(self, source: Source, line: memoryview) -> None:
        """Read the row of a result that describes a sub-agent."""
        row = _decode(bytes(line))
        result = Fields(row.object("toolUseResult"))
        agent = result.text("agentId") or result.text("taskId")
        calls, status = result.number("totalToolUseCount"), result.text("status")
        if calls is None and status != "async_launched":
            return
        name = row.text("uuid") or f"line-{source.line}"
        usage = read_usage(result.object("usage"))
        last = None
        if usage is not None and usage.prompt:
            content = result.items("content") or ()
            texts = (Fields(part).text("text") for part in content)
            last = build(
                Entry,
                id=name,
                role="assistant",
                blocks=tuple(build(Text, text=text) for text in texts if text),
                usage=usage,
                model=result.text("resolvedModel"),
                timestamp=row.text("timestamp"),
                sidechain=agent or name,
                sources=(source,),
            )
        self.results[name] = _Result(agent or name, last, None if calls is None else round(calls))

    def make(self, recorded: RecordedReplies) -> tuple[SubAgent, ...]:
        """Return every sub-agent with replies that are not in `recorded`."""
        replies: dict[str, list[Entry]] = {}
        for reply in self.replies.values():
            if reply.name not in recorded.messages:
                replies.setdefault(reply.agent, []).append(reply.make())
        results: dict[str, list[_Result]] = {}
        for result in self.results.values():
            results.setdefault(result.agent, []).append(result)
        subagents = (
            _make(agent, replies.get(agent, []), results.get(agent, []), recorded)
            for agent in dict.fromkeys((*replies, *results))
        )
        return tuple(
            subagent for subagent in subagents if subagent.replies or subagent.results or subagent.silent
        )


def _make(agent: str, replies: list[Entry], results: list[_Result], recorded: RecordedReplies) -> SubAgent:
    known_replies = [*map(summarise_reply, replies), *recorded.by_agent.get(agent, [])]
    prompts = {
        reply.prompt_tokens
        for summaries in (known_replies, *recorded.by_agent.values())
        for reply in summaries
    }
    model = next((reply.model for reply in reversed(known_replies) if reply.model is not None), None)
    last_replies = [result.last for result in results if result.last is not None]
    unrecorded = [last for last in last_replies if summarise_reply(last).prompt_tokens not in prompts]
    if agent in recorded.whole:
        unrecorded, silent = [], False
    elif known_replies:
        silent = sum(reply.calls for reply in known_replies) < sum(result.calls or 0 for result in results)
    else:
        silent = bool(unrecorded) or len(last_replies) < len(results)
    return SubAgent(
        id=agent,
        replies=tuple(replies),
        results=tuple(last.model_copy(update={"model": last.model or model}) for last in unrecorded),
        silent=silent,
    )


def _decode(raw: bytes) -> Fields:
    """Decode the row with all its fields; {} if a field is invalid that was not needed before."""
    try:
        return Fields(decode(raw))
    except ValueError:
        return Fields({})
