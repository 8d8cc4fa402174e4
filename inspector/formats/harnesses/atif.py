"""Read ATIF trajectories, which Harbor writes for many agents: one step per prompt, reply or event.

Source: FORMATS §11. A trajectory may continue in other files of the same folder; all of them are read as one.
The first steps of such a file repeat the new context (`is_copied_context`): steps that occurred before are
kept, and the others are the text of a compaction. A step of source `system` records the compaction. The
input includes cached tokens, and the usage of copied steps is not counted again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from ...session.blocks import Image, Reasoning, Text
from ...session.entries import Entry, Source
from ...session.garbage import paused_gc
from ...session.json_text import stringify
from ...session.session import Session
from ..json_document import (
    Fields,
    ParsedBlock,
    find_blocks,
    find_lack,
    load,
    load_other,
    place,
    refuse,
    sniff_document,
)
from ..json_lines import Data, Reader, escape_name
from ..recording import Json, Reading, make_call, make_output, read_inclusive
from ..requests.chat_messages import read_chat_tools, read_part

NAME = "atif"
USED = ("prompt_tokens", "completion_tokens", "cached_tokens")
_PART = re.compile(r"\.cont-(\d+)(?=\.json$)")
_PLAIN = re.compile(r"[\w.-]+")


def _leaves_cache_out(documents: Iterable[Json]) -> bool:
    """Return whether the prompt figures of these files lack cached tokens, in violation of the schema.

    All files have the same writer. One step with a prompt smaller than its cached tokens proves it.
    """
    whole = [trajectory for document in documents for trajectory in (document, *_list_agents(document))]
    steps = (step for trajectory in whole for step in trajectory["steps"])
    used = (Fields(Fields(step).rest.get("metrics")) for step in steps)
    figures = ((trajectory.number(USED[0]), trajectory.number(USED[2])) for trajectory in used)
    return any(sent is not None and cached is not None and cached > sent for sent, cached in figures)


def _list_agents(document: Json) -> list[Json]:
    """Return the trajectories of sub-agents in a file."""
    agents = document.get("subagent_trajectories")
    return [agent for agent in agents if judge_trajectory(agent) is None] if isinstance(agents, list) else []


def _add_cache(metrics: Any) -> Any:
    """Add the cached tokens to a prompt figure that lacks them, as the schema requires."""
    sent, cached = (Fields(metrics).number(key) for key in (USED[0], USED[2]))
    return metrics if sent is None or cached is None else {**metrics, USED[0]: sent + cached}


def judge_trajectory(value: Any) -> str | None:
    """Return None for an object with steps and a `schema_version` of ATIF, else the reason."""
    if lack := find_lack(value):
        return lack
    if not str(value.get("schema_version")).startswith("ATIF-v"):
        return "its `schema_version` is not one of ATIF's"
    return find_lack(value, steps=list) or None


def find_beside(data: Data, name: str) -> tuple[str, ...]:
    """Return the names and patterns of the files before and after this one."""
    base = _PART.sub("", name)
    stem = escape_name(base.removesuffix(".json").removesuffix(".trajectory"))
    names = [escape_name(base), f"{stem}.json", f"{stem}.trajectory.json"]
    names += [f"{stem}.cont-*.json", f"{stem}.trajectory.cont-*.json"]
    reference = Fields(load_other(data)).text("continued_trajectory_ref") or ""
    if _PLAIN.fullmatch(reference):
        names.append(reference)
    return tuple(dict.fromkeys(file_name for file_name in names if file_name != escape_name(name)))


def read(data: Data) -> Session:
    """Read this file alone. Raises `ReadError`, or `EmptySession` if it contains no messages."""
    return read_all(data, {})


@paused_gc()
def read_all(data: Data, other_files: Mapping[str, Data]) -> Session:
    """Read the trajectory with the other files that belong to it. Raises the same errors as `read`."""
    own = load(data)
    if judge_trajectory(own) is not None:
        raise refuse("it is not an ATIF trajectory")
    documents = {_find_number(own): own}
    for name in sorted(other_files):
        other = load_other(other_files[name])
        if judge_trajectory(other) is None and other.get("session_id") == own.get("session_id"):
            documents.setdefault(_find_number(other, name), other)
    reading = _Trajectory(_leaves_cache_out(documents.values()))
    for number in sorted(documents):
        reading.take_file(number, documents[number])
    return reading.join(documents)


def _find_number(document: Json, name: str = "") -> int:
    """Return the index of a file in its trajectory; 0 for the first."""
    index = Fields(Fields(document.get("agent")).rest.get("extra")).rest.get("continuation_index")
    if isinstance(index, int) and not isinstance(index, bool) and index >= 0:
        return index
    if match := _PART.search(name):
        return int(match[1][:6])
    return int(any(_is_copied(step) for step in document["steps"]))


def _is_copied(step: Any) -> bool:
    return isinstance(step, dict) and step.get("is_copied_context") is True


class _Trajectory(Reading):
    """State while a trajectory is read step by step."""

    format = NAME

    def __init__(self, cache_left_out: bool) -> None:
        super().__init__()
        self.cache_left_out = cache_left_out
        self.prints: dict[str, list[str]] = {}
        self.pending: Json | None = None
        self.began_at: Source | None = None
        self.began: str | None = None
        self.side: str | None = None
        self.end: str | None = None
        self.step = 0

    def take_file(self, number: int, document: Json) -> None:
        """Read one file: first the copied steps, then its own."""
        steps = document["steps"]
        model = Fields(document.get("agent")).text("model_name")
        copied = next((index for index, step in enumerate(steps) if not _is_copied(step)), len(steps))
        begin = f"c{number}/" if number else ""
        if copied and self.entries:
            self._take_copied(begin, steps[:copied], model)
            steps = steps[copied:]
        elif copied:
            self.warnings.append("it begins in another file, which is not in the same folder")
        for raw in steps:
            self._take(begin, raw, model)
        for index, agent in enumerate(_list_agents(document), 1):
            self._take_agent(f"{begin}agent-{index}", agent)

    def _take_agent(self, name: str, document: Json) -> None:
        """Read a sub-agent's steps as a sidechain."""
        saved = self.side, self.end, self.pending, self.names
        self.side = Fields(document).text("trajectory_id") or Fields(document).text("session_id") or name
        self.end, self.pending, self.names = None, None, {}
        model = Fields(document.get("agent")).text("model_name")
        for raw in document["steps"]:
            self._take(f"{name}/", raw, model)
        self._close()
        self.side, self.end, self.pending, self.names = saved

    def _take(self, begin: str, raw: Any, model: str | None) -> None:
        """Read one step."""
        self.step += 1
        source = place(self.step)
        if not isinstance(raw, dict):
            self.spoil("a step that is not an object", source)
            return
        fields = Fields(raw, "is_copied_context")
        step_id = fields.rest.get("step_id")
        name = f"{begin}{step_id}" if isinstance(step_id, int | str) else f"{begin}step-{self.step}"
        kind, time = fields.text("source"), fields.text("timestamp")
        change = Fields(Fields(fields.rest.get("extra")).rest.get("context_management"))
        if kind == "system" and change.rest.get("type") == "compaction":
            self._close()
            words = _read_replacement(fields)
            self.pending, self.began_at, self.began = _read_change(name, change, fields), source, time
            if words:
                # The step itself contains the text that replaces the earlier steps.
                self._close(words)
            return
        if kind not in ("system", "user", "agent"):
            self.note(f"step of source {kind}", source, is_known=False)
            return
        parsed_blocks = _read_words(fields)
        if kind == "system" and self.end is None and self.side is None:
            # A system prompt has text and images; other blocks are added as text of their JSON.
            kinds = (Text, Image)
            self.system += [b if isinstance(b, kinds) else Text(text=b.text) for b, _ in parsed_blocks]
            self.note("system prompt", source)
            return
        if self.pending is not None and kind == "user":
            # A user step before the next reply is not the user's: it is the text of the compaction.
            self._close(parsed_blocks, source, fields.rest, name)
            return
        self._close()
        if kind == "agent":
            self._add_reply(name, source, fields, parsed_blocks, model, time, copied=_is_copied(raw))
            return
        more: Json = {"meta": True} if kind == "system" else {}
        self._add(name, "user", parsed_blocks, source, fields.rest, timestamp=time, **more)

    def _add(self, name: str, role: str, parsed_blocks: list[ParsedBlock], source: Source | None, extra: Json,
             **more: Any) -> Entry:  # fmt: skip
        more |= {"source": source, "parent": self.end, "sidechain": self.side}
        entry = self.add(name, role, parsed_blocks, extra, **more)
        self.end = entry.id
        self.prints.setdefault(_print_of(role, parsed_blocks), []).append(entry.id)
        return entry

    def _add_reply(
        self,
        name: str,
        source: Source | None,
        fields: Fields,
        parsed_blocks: list[ParsedBlock],
        model: str | None,
        time: str | None,
        *,
        copied: bool,
    ) -> None:
        """Add a reply and the results of its calls."""
        if thought := fields.text("reasoning_content"):
            parsed_blocks = [(Reasoning(text=thought), {}), *parsed_blocks]
        for raw in fields.items("tool_calls") or ():
            inner = Fields(raw)
            call, tool = inner.text("tool_call_id"), inner.text("function_name")
            if tool is None:
                fields.rest.setdefault("tool_calls", []).append(raw)
                continue
            call_block = make_call(self.names, call or tool, tool, inner.any("arguments"))
            parsed_blocks.append((call_block, inner.rest))
        observation = Fields(fields.object("observation"))
        results = observation.items("results") or []
        usage = None
        if not copied and fields.rest.get("llm_call_count") != 0:
            metrics = Fields(fields.rest.get("metrics")).rest
            figures = _add_cache(metrics) if self.cache_left_out else metrics
            usage = read_inclusive(figures, *USED, cost=metrics.get("cost_usd"))
        reply_model = fields.text("model_name") or model
        entry = self._add(
            name,
            "assistant",
            parsed_blocks,
            source,
            fields.rest,
            timestamp=time,
            usage=usage,
            model=reply_model,
        )
        outputs: list[ParsedBlock] = []
        unanswered: list[ParsedBlock] = []
        for raw in results:
            inner = Fields(raw)
            answered, content = inner.text("source_call_id"), inner.any("content")
            if answered is None:
                # Content without a call is a message of the harness.
                words = find_blocks(content, _read_content)
                unanswered += [
                    (block, more | (inner.rest if not index else {}))
                    for index, (block, more) in enumerate(words)
                ]
                continue
            block, more = make_output(answered, content, _read_content, self.names.get(answered))
            outputs.append((block, more | inner.rest))
        if outputs:
            self._add(f"{entry.id}/results", "tool", outputs, None, observation.rest, timestamp=time)
        if unanswered:
            self._add(f"{entry.id}/seen", "user", unanswered, None, {}, timestamp=time, meta=True)

    def _take_copied(self, begin: str, steps: list[Any], model: str | None) -> None:
        """Read the copied steps of a file: kept ones, and new ones that belong to the compaction."""
        new: list[tuple[Any, list[ParsedBlock], Source]] = []
        kept_ids: list[str] = []
        for raw in steps:
            self.step += 1
            fields = Fields(raw)
            role = "assistant" if fields.text("source") == "agent" else "user"
            parsed_blocks = _read_words(fields)
            same = self.prints.get(_print_of(role, parsed_blocks))
            if same:
                kept_ids.append(same[0] if len(same) == 1 else same.pop(0))
                self.note("copied step", place(self.step))
            else:
                new.append((raw, parsed_blocks, place(self.step)))
        first = next(
            (index for index, (raw, _, _) in enumerate(new) if raw.get("source") == "agent"), len(new)
        )
        words = [block for _, parsed_blocks, _ in new[:first] for block in parsed_blocks]
        if self.pending is None:
            self.pending, self.began_at, self.began = (
                {"name": f"{begin}compaction", "boundary": {}},
                None,
                None,
            )
        boundary = self.pending["boundary"]
        boundary["kept"] = tuple(dict.fromkeys(kept_ids))
        self._close(words, None, {}, "")
        for _, _, source in new[:first]:
            self.also(self.end or "", source)
        for raw, parsed_blocks, source in new[first:]:
            fields = Fields(raw, "is_copied_context", "message")
            name = f"{begin}{raw.get('step_id', source.line)}"
            if fields.text("source") == "agent":
                time = fields.text("timestamp")
                self._add_reply(name, source, fields, parsed_blocks, model, time, copied=True)
            else:
                self._add(name, "user", parsed_blocks, source, fields.rest, meta=True)

    def _close(
        self, words: list[ParsedBlock] | None = None, source: Source | None = None, extra: Json | None = None,
        step: str = "",
    ) -> None:  # fmt: skip
        """Add the pending compaction with its text, if there is any."""
        if self.pending is None:
            return
        pending, self.pending = self.pending, None
        boundary = pending["boundary"]
        if not words:
            boundary["extra"] = {**boundary.get("extra", {}), "unreadable": True}
        outer_fields = (pending.get("extra") or {}) | (extra or {})
        entry = self.compact(
            pending["name"], None, boundary, words or [], extra=outer_fields, source=self.began_at,
            parent=self.end, timestamp=self.began, sidechain=self.side,
        )  # fmt: skip
        if source is not None:
            self.also(entry.id, source)
        self.end = entry.id

    def join(self, documents: Mapping[int, Json]) -> Session:
        """Build the session. Raises `EmptySession` if there are no messages."""
        last = Fields(documents[max(documents)], "steps", "subagent_trajectories")
        agent = Fields(last.object("agent"))
        next_file = last.text("continued_trajectory_ref")
        if next_file:
            self.warnings.append(f"it continues in {next_file:.80}, which is not in the same folder")
        if self.pending is not None and self.began_at is not None:
            # The text of this compaction is in a file that is missing.
            self.note("compaction", self.began_at)
        if sorted(documents) != list(range(min(documents), max(documents) + 1)):
            self.warnings.append("some of its files are missing")
        tools = read_chat_tools(agent.any("tool_definitions"))
        self.times = [entry.timestamp for entry in self.entries if entry.timestamp]
        harness, version = agent.text("name"), agent.text("version")
        extra = last.rest | {"harness": harness, "version": version, "agent": agent.rest}
        return self.make_session(
            id=last.text("session_id") or "",
            model=agent.text("model_name"),
            tools=tools,
            leaf=self.end,
            extra=extra
            | ({"version": version} if version else {})
            | ({"agent": agent.rest} if agent.rest else {}),
        )


def _read_change(name: str, change: Fields, fields: Fields) -> Json:
    """Read the compaction that a system step records."""
    change.any("type")
    before, after = change.number("tokens_before"), change.number("tokens_after")
    boundary: Json = {"trigger": change.text("trigger"), "tokens_before": before, "tokens_after": after}
    if change.rest:
        boundary["extra"] = change.rest
    fields.rest.pop("extra", None)
    return {"name": name, "boundary": boundary, "extra": fields.rest}


def _read_replacement(fields: Fields) -> list[ParsedBlock]:
    """Return the text in a compaction's own step; empty if another step contains it."""
    results = Fields(fields.rest.get("observation")).items("results") or ()
    shown = (Fields(result).rest.get("content") for result in results)
    return [part for content in shown if content for part in find_blocks(content, _read_content)]


def _read_words(fields: Fields) -> list[ParsedBlock]:
    content = fields.any("message")
    return [] if content == "" else find_blocks(content, _read_content)


def _read_content(raw: Any) -> ParsedBlock:
    """Convert a part of a message: text, or an image in a file next to the trajectory."""
    fields = Fields(raw)
    source = Fields(fields.rest.get("source"))
    path = source.text("path")
    if fields.rest.get("type") == "image" and path is not None:
        return Image(media_type=source.text("media_type"), url=path), source.rest
    return read_part(raw, {})


def _print_of(role: str, parsed_blocks: list[ParsedBlock]) -> str:
    """Return the role and the text of a message, to recognise its copies."""
    return stringify([role, [block.text for block, _ in parsed_blocks if block.kind == "text"]])


READER = Reader(
    NAME,
    "ATIF trajectory",
    partial(sniff_document, judge=judge_trajectory),
    read,
    find_beside=find_beside,
    read_all=read_all,
)
