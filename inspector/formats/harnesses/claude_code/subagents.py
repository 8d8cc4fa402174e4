"""Sub-agents whose replies stand in a Claude Code file beside its conversation.

While a sub-agent works, rows of type `progress` hold its replies whole, with their usage. The last one is in
none of them: the result of the call that started it tells its usage, and how many tools were called. Only
lines that can hold such things are decoded. Source: files of versions 2.0 to 2.1, and CLAUDE §3.
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


class Heard(NamedTuple):
    """A reply in short: tokens of its request, which tell it from others, its model, and its tool calls."""

    asked: tuple[Any, ...]
    model: str | None
    calls: int


class Spoken(NamedTuple):
    """Replies that are entries.

    Attributes:
        messages: the names of all of them.
        heard: the replies of each sub-agent; the key None is for rows that name no sub-agent.
        whole: sub-agents whose replies are complete.
    """

    messages: frozenset[ReplyName]
    heard: dict[str | None, list[Heard]]
    whole: frozenset[str] = frozenset()


def hear(reply: Entry) -> Heard:
    """The reply in short."""
    asked = tuple(getattr(reply.usage, name, 0) for name in ("input", "cache_read", "cache_write"))
    return Heard(asked, reply.model, sum(block.kind == "tool_call" for block in reply.blocks))


def find_heard(agents: Mapping[int, str | None], entries: Sequence[Entry]) -> dict[str | None, list[Heard]]:
    """What sub-agents say in these entries; `agents` tells whose those of theirs are."""
    heard: dict[str | None, list[Heard]] = {}
    for at, agent in agents.items():
        if entries[at].usage is not None:
            heard.setdefault(agent, []).append(hear(entries[at]))
    return heard


class _Reply:
    """The rows of one reply, in the making."""

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
    """What the result of a call tells of the sub-agent: its last reply if told, the calls it made."""

    agent: str
    last: Entry | None
    calls: int | None


class SubAgentRows:
    """What was found so far, in file order."""

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

    def make(self, spoken: Spoken) -> tuple[SubAgent, ...]:
        """Return every sub-agent whose replies are not all among the entries of `spoken`."""
        replies: dict[str, list[Entry]] = {}
        for reply in self.replies.values():
            if reply.name not in spoken.messages:
                replies.setdefault(reply.agent, []).append(reply.make())
        results: dict[str, list[_Result]] = {}
        for result in self.results.values():
            results.setdefault(result.agent, []).append(result)
        made = (
            _make(agent, replies.get(agent, []), results.get(agent, []), spoken)
            for agent in dict.fromkeys((*replies, *results))
        )
        return tuple(each for each in made if each.replies or each.results or each.silent)


def _make(agent: str, replies: list[Entry], results: list[_Result], spoken: Spoken) -> SubAgent:
    known = [*map(hear, replies), *spoken.heard.get(agent, [])]
    seen = {each.asked for said in (known, *spoken.heard.values()) for each in said}
    model = next((each.model for each in reversed(known) if each.model is not None), None)
    told = [result.last for result in results if result.last is not None]
    untold = [last for last in told if hear(last).asked not in seen]
    if agent in spoken.whole:
        untold, silent = [], False
    elif known:
        silent = sum(each.calls for each in known) < sum(result.calls or 0 for result in results)
    else:
        silent = bool(untold) or len(told) < len(results)
    return SubAgent(
        id=agent,
        replies=tuple(replies),
        results=tuple(last.model_copy(update={"model": last.model or model}) for last in untold),
        silent=silent,
    )


def _decode(raw: bytes) -> Fields:
    """The row once more, with all its fields. A row that could be read may hold one that cannot."""
    try:
        return Fields(decode(raw))
    except ValueError:
        return Fields({})
