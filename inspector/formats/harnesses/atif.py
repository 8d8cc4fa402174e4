"""ATIF trajectories, which Harbor writes for many agents: a step per prompt, reply or event.

In go the bytes, out comes a `Session`. Source: FORMATS §11. A trajectory may go on in other files; they are
found beside it and read as one. Their first steps repeat what the model is shown from then on
(`is_copied_context`): what stands in the file before counts as kept, the rest are the words of a compaction.
A step of the system says that there was one. Usage counts what the cache gave as input, and a copied step's
is not counted again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from ...errors import ReadError
from ...session.blocks import Image, Reasoning, Text, ToolCall
from ...session.entries import Entry, Source
from ...session.garbage import paused_gc
from ...session.json_text import stringify
from ...session.session import Session
from ..json_document import FILE, Fields, Found, find_blocks, load, place, sniff_document
from ..json_lines import Data, Reader, escape_name
from ..recording import Json, Recording, make_cost, make_output, parse_given, read_inclusive
from ..requests.chat_messages import read_chat_tools, read_part

NAME = "atif"
USED = ("prompt_tokens", "completion_tokens", "cached_tokens")
_PART = re.compile(r"\.cont-(\d+)(?=\.json$)")
_PLAIN = re.compile(r"[\w.-]+")


def _leaves_cache_out(documents: Iterable[Json]) -> bool:
    """Whether the prompts of these files lack what the cache gave, against the schema.

    One writer wrote them all, and shows itself at any step where the prompt is less than that.
    """
    whole = [each for document in documents for each in (document, *_list_agents(document))]
    steps = (step for each in whole for step in each["steps"])
    used = (Fields(Fields(step).rest.get("metrics")) for step in steps)
    figures = ((each.number(USED[0]), each.number(USED[2])) for each in used)
    return any(sent is not None and cached is not None and cached > sent for sent, cached in figures)


def _list_agents(document: Json) -> list[Json]:
    """The trajectories of sub-agents in a file."""
    told = document.get("subagent_trajectories")
    return [each for each in told if judge_trajectory(each) is None] if isinstance(told, list) else []


def _add_cache(metrics: Any) -> Any:
    """Figures whose prompt lacks what the cache gave, with it, as the schema has them."""
    sent, cached = (Fields(metrics).number(key) for key in (USED[0], USED[2]))
    return metrics if sent is None or cached is None else {**metrics, USED[0]: sent + cached}


def judge_trajectory(value: Any) -> str | None:
    """None for an object whose `schema_version` is one of ATIF's, with steps."""
    if not isinstance(value, dict):
        return "not a JSON object"
    if not str(value.get("schema_version")).startswith("ATIF-v"):
        return "its `schema_version` is none of ATIF's"
    return None if isinstance(value.get("steps"), list) else "it has no list `steps`"


def find_beside(data: Data, name: str) -> tuple[str, ...]:
    """The files that the trajectory goes on in, and those that it goes on from."""
    base = _PART.sub("", name)
    stem = escape_name(base.removesuffix(".json").removesuffix(".trajectory"))
    names = [escape_name(base), f"{stem}.json", f"{stem}.trajectory.json"]
    names += [f"{stem}.cont-*.json", f"{stem}.trajectory.cont-*.json"]
    try:
        told = Fields(load(data)).text("continued_trajectory_ref") or ""
    except ReadError:
        told = ""
    if _PLAIN.fullmatch(told):
        names.append(told)
    return tuple(dict.fromkeys(each for each in names if each != escape_name(name)))


def read(data: Data) -> Session:
    """This file alone. Raises `ReadError`, or `EmptySession` when nobody says anything."""
    return read_all(data, {})


@paused_gc()
def read_all(data: Data, beside: Mapping[str, Data]) -> Session:
    """The trajectory with the files that it goes on in. Raises as `read` does."""
    own = load(data)
    if judge_trajectory(own) is not None:
        raise ReadError(FILE, detail="it is no ATIF trajectory")
    documents = {_find_number(own): own}
    for name in sorted(beside):
        other = _load_other(beside[name])
        if judge_trajectory(other) is None and other.get("session_id") == own.get("session_id"):
            documents.setdefault(_find_number(other, name), other)
    reading = _Trajectory(_leaves_cache_out(documents.values()))
    for number in sorted(documents):
        reading.take_file(number, documents[number])
    return reading.make_session(documents)


def _load_other(data: Data) -> Any:
    try:
        return load(data)
    except ReadError:
        return None


def _find_number(document: Json, name: str = "") -> int:
    """Which of the files of a trajectory one is: 0 for the first."""
    told = Fields(Fields(document.get("agent")).rest.get("extra")).rest.get("continuation_index")
    if isinstance(told, int) and not isinstance(told, bool) and told >= 0:
        return told
    if found := _PART.search(name):
        return int(found[1][:6])
    return int(any(_is_copied(step) for step in document["steps"]))


def _is_copied(step: Any) -> bool:
    return isinstance(step, dict) and step.get("is_copied_context") is True


class _Trajectory:
    """What has been read of a trajectory, step after step."""

    def __init__(self, cache_left_out: bool) -> None:
        self.cache_left_out = cache_left_out
        self.made = Recording(NAME)
        self.system: list[Found] = []
        self.names: dict[str, str] = {}
        self.prints: dict[str, list[str]] = {}
        self.pending: Json | None = None
        self.source: Source | None = None
        self.time: str | None = None
        self.side: str | None = None
        self.end: str | None = None
        self.line = 0

    def take_file(self, number: int, document: Json) -> None:
        """One file: what it copies, then its own steps."""
        steps = document["steps"]
        model = Fields(document.get("agent")).text("model_name")
        copied = next((at for at, step in enumerate(steps) if not _is_copied(step)), len(steps))
        begin = f"c{number}/" if number else ""
        if copied and self.made.entries:
            self._take_copied(begin, steps[:copied], model)
            steps = steps[copied:]
        elif copied:
            self.made.warnings.append("it begins in another file, which is not beside it")
        for raw in steps:
            self._take(begin, raw, model)
        for at, agent in enumerate(_list_agents(document), 1):
            self._take_agent(f"{begin}agent-{at}", agent)

    def _take_agent(self, name: str, document: Json) -> None:
        """A sub-agent's steps, which stand apart."""
        kept = self.side, self.end, self.pending, self.names
        self.side = Fields(document).text("trajectory_id") or Fields(document).text("session_id") or name
        self.end, self.pending, self.names = None, None, {}
        model = Fields(document.get("agent")).text("model_name")
        for raw in document["steps"]:
            self._take(f"{name}/", raw, model)
        self._close()
        self.side, self.end, self.pending, self.names = kept

    def _take(self, begin: str, raw: Any, model: str | None) -> None:
        """One step."""
        self.line += 1
        source = place(self.line)
        if not isinstance(raw, dict):
            self.made.spoil(source, "a step that is not an object")
            return
        fields = Fields(raw, "is_copied_context")
        told = fields.rest.get("step_id")
        name = f"{begin}{told}" if isinstance(told, int | str) else f"{begin}step-{self.line}"
        kind, time = fields.text("source"), fields.text("timestamp")
        change = Fields(Fields(fields.rest.get("extra")).rest.get("context_management"))
        if kind == "system" and change.rest.get("type") == "compaction":
            self._close()
            words = _read_replacement(fields)
            self.pending, self.source, self.time = _read_change(name, change, fields), source, time
            if words:
                # The step itself holds what stands in the place of all before it.
                self._close(words)
            return
        if kind not in ("system", "user", "agent"):
            self.made.note(f"step of source {kind}", source, known=False)
            return
        found = _read_words(fields)
        if kind == "system" and self.end is None and self.side is None:
            # A prompt is text and pictures; what is neither stands there as its JSON.
            held = (Text, Image)
            self.system += [(b if isinstance(b, held) else Text(text=b.text), more) for b, more in found]
            self.made.note("system prompt", source)
            return
        if self.pending is not None and kind == "user":
            # Before the next reply only the harness speaks: these are the words of the compaction.
            self._close(found, source, fields.rest, name)
            return
        self._close()
        if kind == "agent":
            self._add_reply(name, source, fields, found, model, time, copied=_is_copied(raw))
            return
        more: Json = {"meta": True} if kind == "system" else {}
        self._add(name, "user", found, source, fields.rest, timestamp=time, **more)

    def _add(self, name: str, role: str, found: list[Found], source: Source | None, extra: Json,
             **more: Any) -> Entry:  # fmt: skip
        entry = self.made.add(name, role, found, source, extra, parent=self.end, sidechain=self.side, **more)
        self.end = entry.id
        self.prints.setdefault(_print_of(role, found), []).append(entry.id)
        return entry

    def _add_reply(
        self, name: str, source: Source | None, fields: Fields, found: list[Found], model: str | None,
        time: str | None, *, copied: bool,
    ) -> None:  # fmt: skip
        """A reply, and what its calls were answered."""
        if thought := fields.text("reasoning_content"):
            found = [(Reasoning(text=thought), {}), *found]
        for raw in fields.items("tool_calls") or ():
            inner = Fields(raw)
            call, tool = inner.text("tool_call_id"), inner.text("function_name")
            if tool is None:
                fields.rest.setdefault("tool_calls", []).append(raw)
                continue
            self.names[call or tool] = tool
            asked = ToolCall(id=call or tool, name=tool, input=parse_given(inner.any("arguments")))
            found.append((asked, inner.rest))
        observation = Fields(fields.object("observation"))
        results = observation.items("results") or []
        usage = None
        if not copied and fields.rest.get("llm_call_count") != 0:
            metrics = fields.rest.get("metrics")
            usage = read_inclusive(_add_cache(metrics) if self.cache_left_out else metrics, *USED)
            if usage is not None and isinstance(metrics, dict):
                usage = usage.model_copy(update={"cost": make_cost(metrics.get("cost_usd"))})
        said = fields.text("model_name") or model
        entry = self._add(
            name, "assistant", found, source, fields.rest, timestamp=time, usage=usage, model=said
        )
        outputs: list[Found] = []
        seen: list[Found] = []
        for raw in results:
            inner = Fields(raw)
            answered, content = inner.text("source_call_id"), inner.any("content")
            if answered is None:
                # What an agent without calls is shown: a harness's message.
                words = find_blocks(content, _read_content)
                seen += [
                    (block, more | (inner.rest if not at else {})) for at, (block, more) in enumerate(words)
                ]
                continue
            block, more = make_output(answered, content, _read_content, self.names.get(answered))
            outputs.append((block, more | inner.rest))
        if outputs:
            self._add(f"{entry.id}/results", "tool", outputs, None, observation.rest, timestamp=time)
        if seen:
            self._add(f"{entry.id}/seen", "user", seen, None, {}, timestamp=time, meta=True)

    def _take_copied(self, begin: str, steps: list[Any], model: str | None) -> None:
        """The steps that a file repeats: kept, or new and so of the compaction."""
        new: list[tuple[Any, list[Found], Source]] = []
        kept: list[str] = []
        for raw in steps:
            self.line += 1
            fields = Fields(raw)
            role = "assistant" if fields.text("source") == "agent" else "user"
            found = _read_words(fields)
            same = self.prints.get(_print_of(role, found))
            if same:
                kept.append(same[0] if len(same) == 1 else same.pop(0))
                self.made.note("copied step", place(self.line))
            else:
                new.append((raw, found, place(self.line)))
        first = next((at for at, (raw, _, _) in enumerate(new) if raw.get("source") == "agent"), len(new))
        words = [block for _, found, _ in new[:first] for block in found]
        if self.pending is None:
            self.pending, self.source, self.time = {"name": f"{begin}compaction", "boundary": {}}, None, None
        boundary = self.pending["boundary"]
        boundary["kept"] = tuple(dict.fromkeys(kept))
        self._close(words, None, {}, "")
        for _, _, source in new[:first]:
            self.made.also(self.end or "", source)
        for raw, found, source in new[first:]:
            fields = Fields(raw, "is_copied_context", "message")
            name = f"{begin}{raw.get('step_id', source.line)}"
            if fields.text("source") == "agent":
                time = fields.text("timestamp")
                self._add_reply(name, source, fields, found, model, time, copied=True)
            else:
                self._add(name, "user", found, source, fields.rest, meta=True)

    def _close(
        self, words: list[Found] | None = None, source: Source | None = None, extra: Json | None = None,
        step: str = "",
    ) -> None:  # fmt: skip
        """Add the compaction that was told, with its words where there are any."""
        if self.pending is None:
            return
        told, self.pending = self.pending, None
        boundary = told["boundary"]
        if not words:
            boundary["extra"] = {**boundary.get("extra", {}), "unreadable": True}
        beside = (told.get("extra") or {}) | (extra or {})
        entry = self.made.compact(
            told["name"], None, self.source, boundary, found=words or [], extra=beside,
            parent=self.end, timestamp=self.time, sidechain=self.side,
        )  # fmt: skip
        if source is not None:
            self.made.also(entry.id, source)
        self.end = entry.id

    def make_session(self, documents: Mapping[int, Json]) -> Session:
        """All of it. Raises `EmptySession` when nobody says anything."""
        last = Fields(documents[max(documents)], "steps", "subagent_trajectories")
        agent = Fields(last.object("agent"))
        goes_on = last.text("continued_trajectory_ref")
        if goes_on:
            self.made.warnings.append(f"it goes on in {goes_on:.80}, which is not beside it")
        if self.pending is not None and self.source is not None:
            # What the model was shown after it stands in a file that is not there.
            self.made.note("compaction", self.source)
        if sorted(documents) != list(range(min(documents), max(documents) + 1)):
            self.made.warnings.append("files of it between others are missing")
        tools = read_chat_tools(agent.any("tool_definitions"))
        self.made.times = [entry.timestamp for entry in self.made.entries if entry.timestamp]
        harness, version = agent.text("name"), agent.text("version")
        extra = last.rest | {"harness": harness, "version": version, "agent": agent.rest}
        return self.made.make_session(
            id=last.text("session_id") or "",
            model=agent.text("model_name"),
            system=tuple(block for block, _ in self.system),
            tools=tools,
            leaf=self.end,
            extra=extra
            | ({"version": version} if version else {})
            | ({"agent": agent.rest} if agent.rest else {}),
        )


def _read_change(name: str, change: Fields, fields: Fields) -> Json:
    """The compaction that a step of the system tells of."""
    change.any("type")
    before, after = change.number("tokens_before"), change.number("tokens_after")
    boundary: Json = {"trigger": change.text("trigger"), "tokens_before": before, "tokens_after": after}
    if change.rest:
        boundary["extra"] = change.rest
    fields.rest.pop("extra", None)
    return {"name": name, "boundary": boundary, "extra": fields.rest}


def _read_replacement(fields: Fields) -> list[Found]:
    """What a compaction's own step shows in the place of all before it; nothing where another step does."""
    results = Fields(fields.rest.get("observation")).items("results") or ()
    shown = (Fields(each).rest.get("content") for each in results)
    return [part for content in shown if content for part in find_blocks(content, _read_content)]


def _read_words(fields: Fields) -> list[Found]:
    content = fields.any("message")
    return [] if content == "" else find_blocks(content, _read_content)


def _read_content(raw: Any) -> Found:
    """A part of a message: text, or a picture in a file beside the trajectory."""
    fields = Fields(raw)
    source = Fields(fields.rest.get("source"))
    path = source.text("path")
    if fields.rest.get("type") == "image" and path is not None:
        return Image(media_type=source.text("media_type"), url=path), source.rest
    return read_part(raw, {})


def _print_of(role: str, found: list[Found]) -> str:
    """What a message is known by when it is copied: its role and its words."""
    return stringify([role, [block.text for block, _ in found if block.kind == "text"]])


READER = Reader(
    NAME,
    "ATIF trajectory",
    partial(sniff_document, judge=judge_trajectory),
    read,
    find_beside=find_beside,
    read_all=read_all,
)
