"""Cline's sessions: messages, the sidecar of a compaction, and a manifest that names the messages.

In go the bytes of any of them, out comes a `Session`. Cline leaves the messages whole when it compacts, and
writes what the model is shown from then on into `<…>.compaction.json` beside them. Where both are there, the
session holds every message, and the compaction as one. A sidecar alone opens as what it is: a context that
begins with a summary. Source: FORMATS §6. How Cline computes the hash of the messages that a sidecar stands
for is not published, so only their number is checked. Usage counts what the cache gave as input. A task
of an editor's extension is one list of messages (`tasks`), with its screen beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ....errors import ReadError
from ....session.blocks import Document
from ....session.entries import Usage
from ....session.garbage import paused_gc
from ....session.json_text import stringify
from ....session.session import Session
from ....text import plural
from ...json_document import FILE, Fields, Found, find_blocks, iso_time, load, place, sniff_document
from ...json_lines import Data, Reader, escape_name
from ...recording import Json, Recording, make_cost, read_inclusive
from ...requests.anthropic_blocks import Names, read_with_rest
from .tasks import NAME, is_task, is_wrapped, read_task

MESSAGES, SIDECAR = ".messages.json", ".compaction.json"
TASK, SCREEN = "api_conversation_history.json", "ui_messages.json"
SUMMARIES = ("compaction", "compaction_summary")
_MANIFEST = ("session_id", "messages_path")


def _judge(value: Any) -> str | None:
    """None for messages, or a manifest, that say they are of a session of Cline's."""
    if isinstance(value, list):
        return None if is_task(value) else "its messages tell of no task of Cline's"
    if not isinstance(value, dict):
        return "not a JSON object"
    if _is_manifest(value) or is_wrapped(value):
        return None
    if not isinstance(value.get("messages"), list):
        return "it has no list `messages`, and no `messages_path`"
    return None if is_cline(value) else "it has no three of `sessionId`, `version`, `agent` and `updated_at`"


def is_cline(value: Json) -> bool:
    """Whether messages stand in a session of Cline's: one of its four fields may be damaged."""
    return len({"sessionId", "version", "agent", "updated_at"} & set(value)) > 2


def _is_manifest(value: Json) -> bool:
    return all(isinstance(value.get(name), str) for name in _MANIFEST) and "messages" not in value


def find_beside(data: Data, name: str) -> tuple[str, ...]:
    """The other files of the session: its messages and its sidecar, or a task's screen, by their names."""
    if name.endswith(TASK):
        return (escape_name(name.removesuffix(TASK)) + SCREEN,)
    stem = name
    for end in (MESSAGES, SIDECAR, ".json"):
        if name.endswith(end):
            stem = name.removesuffix(end)
            break
    names = [escape_name(stem) + end for end in (MESSAGES, SIDECAR, ".json")]
    if name.endswith(SIDECAR):
        # A copy of a session may call its sidecars after what made them.
        names.append("*" + MESSAGES)
    return tuple(each for each in names if each != escape_name(name))


def read(data: Data) -> Session:
    """The session as far as this file holds it. Raises `ReadError` for a manifest alone."""
    return read_all(data, {})


@paused_gc()
def read_all(data: Data, beside: Mapping[str, Data]) -> Session:
    """The session with what its other files say of it. Raises `ReadError` for a manifest without messages."""
    document = load(data)
    if isinstance(document, dict) and is_wrapped(document) and not is_cline(document):
        document = document["messages"]
    if isinstance(document, list):
        screens = (_load_any(content) for name, content in beside.items() if name.endswith(SCREEN))
        return read_task(document, next(screens, None))
    if not isinstance(document, dict):
        raise ReadError(FILE, detail="it is not a JSON object")
    others = [_load_other(content) for content in beside.values()]
    manifest = next((each for each in (document, *others) if _is_manifest(each)), {})
    if _is_manifest(document):
        messages = _find_same(document.get("session_id"), others, sidecar=False)
        if messages is None:
            where = str(document.get("messages_path")).replace("\\", "/").rpartition("/")[2]
            detail = f"it only names a session; its messages are in {where:.80}, which is not beside it"
            raise ReadError(FILE, detail=f"{detail}: open that file")
        document = messages
    if not isinstance(document.get("messages"), list):
        raise ReadError(FILE, detail="it has no list `messages`")
    number = document.get("sessionId")
    if _is_sidecar(document):
        whole = _find_same(number, others, sidecar=False)
        return _read(whole or document, document, manifest)
    return _read(document, _find_same(number, others, sidecar=True), manifest)


def _load_any(data: Data) -> Any:
    try:
        return load(data)
    except ReadError:
        return None


def _load_other(data: Data) -> Json:
    value = _load_any(data)
    return value if isinstance(value, dict) else {}


def _is_sidecar(value: Json) -> bool:
    if "source_message_count" in value:
        return True
    return any(_find_kind(message) for message in Fields(value).items("messages") or ())


def _find_kind(message: Any) -> str | None:
    """What a message says it is, where it stands for what was compacted."""
    about = message.get("metadata") if isinstance(message, dict) else None
    kind = about.get("kind") if isinstance(about, dict) else None
    return kind if isinstance(kind, str) and kind in SUMMARIES else None


def _find_same(number: Any, others: list[Json], *, sidecar: bool) -> Json | None:
    for other in others:
        if isinstance(other.get("messages"), list) and number in (other.get("sessionId"), None):
            if _is_sidecar(other) == sidecar:
                return other
    return None


def _read(whole: Json, sidecar: Json | None, manifest: Json) -> Session:
    """The messages, cut by their sidecar where it is another file's."""
    made = Recording(NAME)
    fields = Fields(whole, "messages")
    rows = whole["messages"]
    apart = sidecar if sidecar is not None and sidecar is not whole else None
    writer = _Messages(made, [] if apart is None else apart["messages"])
    end = len(rows) if apart is None else _find_end(rows, apart)
    if apart is not None and end > len(rows):
        made.warnings.append(
            f"its compaction stands for {plural(end, 'message')}, and there are {len(rows):,}; some are lost"
        )
    for line, raw in enumerate(rows[:end], 1):
        writer.add(raw, line, split=apart is not None)
    if apart is not None:
        writer.add_sidecar(apart, len(rows))
    for line, raw in enumerate(rows[end:], end + 1):
        writer.add(raw, line)
    about = Fields(manifest, "version", "session_id")
    given = fields.text("system_prompt")
    fields.any("version")
    extra = fields.rest | ({"manifest": about.rest} if about.rest else {})
    if apart is not None:
        extra["compaction"] = Fields(apart, "messages", "system_prompt").rest
    details = Fields(about.object("metadata"))
    return made.make_session(
        id=fields.text("sessionId") or "",
        title=details.text("title"),
        model=about.text("model") if all(e.model is None for e in made.entries) else None,
        cwd=about.text("cwd"),
        created=about.text("started_at") or made.entries[0].timestamp if made.entries else None,
        updated=fields.text("updated_at"),
        system=tuple(block for block, _ in find_blocks(given, _read_text)),
        extra=extra,
    )


def _read_text(raw: Any) -> Found:
    return read_with_rest(raw, {})


def _find_end(rows: list[Any], sidecar: Json) -> int:
    """How many messages the sidecar stands for: told, or as many as the last that it still holds."""
    count = sidecar.get("source_message_count")
    if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
        return count
    names = {name for message in sidecar["messages"] if isinstance(name := Fields(message).text("id"), str)}
    places = [at for at, row in enumerate(rows, 1) if Fields(row).text("id") in names]
    return places[-1] if places else len(rows)


class _Messages:
    """Messages as entries. `after` are those of a sidecar: what stands in it word by word is kept."""

    def __init__(self, made: Recording, after: list[Any]) -> None:
        self.made = made
        self.names: Names = {}
        self.after = {print_ for message in after for print_ in _print_all(message)}
        self.kept: dict[str, list[str]] = {}

    def add(self, raw: Any, line: int, *, split: bool = False) -> None:
        """A message. Where only some of its blocks are kept, it is `split` into entries."""
        source = place(line)
        if not isinstance(raw, dict):
            self.made.spoil(source, "a message that is not an object")
            return
        fields = Fields(raw)
        role = fields.text("role")
        if role is None:
            self.made.note("message without a role", source, known=False)
            return
        blocks, prints = self._take_blocks(fields), list(_print_all(raw))
        runs: list[tuple[bool, list[int]]] = []
        for at, print_ in enumerate(prints):
            kept = print_ in self.after
            if runs and (runs[-1][0] == kept or not split):
                runs[-1][1].append(at)
            else:
                runs.append((kept, [at]))
        reply = self._take_reply(fields)
        name = fields.text("id") or f"m{line}"
        kind = _find_kind(raw)
        for number, (kept, places) in enumerate(runs or [(False, [])]):
            found = [blocks[at] for at in places] if runs else blocks
            more: Json = dict(reply) if number == max(len(runs) - 1, 0) else {}
            if kind and not number:
                about = Fields(fields.rest.get("metadata"))
                texts = [block.text for block, _ in found if block.kind == "text"]
                summary = about.text("summary")
                boundary = {"summary": texts[-1] if summary is None and texts else summary}
                self.made.compact(
                    name, None, source, boundary | _read_details(about), found=found, extra=fields.rest
                )
                continue
            attached = bool(found) and all(isinstance(block, Document) for block, _ in found)
            if role == "user" and attached and number:
                more["meta"] = True
            entry = self.made.add(
                name, role, found, None if number else source, {} if number else fields.rest, **more
            )
            if kept:
                for at in places:
                    self.kept.setdefault(prints[at], []).append(entry.id)

    def _take_blocks(self, fields: Fields) -> list[Found]:
        return find_blocks(fields.any("content"), lambda raw: _read_block(raw, self.names))

    def _take_reply(self, fields: Fields) -> Json:
        about = Fields(fields.object("modelInfo"))
        usage = read_metrics(fields.rest.get("metrics"))
        reply: Json = {"usage": usage, "model": about.text("id"), "provider": about.text("provider")}
        if about.rest:
            fields.rest["modelInfo"] = about.rest
        reply["timestamp"] = iso_time(fields.number("ts"))
        return reply

    def add_sidecar(self, sidecar: Json, count: int) -> None:
        """The compaction that a sidecar tells of, in one entry: its own words, and what it kept."""
        own: list[Found] = []
        kept: list[str] = []
        told: Json = {}
        changed = 0
        for raw in sidecar["messages"]:
            if not isinstance(raw, dict):
                changed += 1
                continue
            about = Fields(raw.get("metadata"))
            if _find_kind(raw):
                summary = about.text("summary")
                told = {"summary": summary, **_read_details(about)} | {k: v for k, v in told.items() if v}
            for block, print_ in zip(self._take_blocks(Fields(raw)), _print_all(raw), strict=True):
                if print_ in self.kept:
                    kept += self.kept[print_]
                else:
                    own.append(block)
                    changed += block[0].kind != "text"
        if told.get("summary") is None:
            told["summary"] = "\n\n".join(block.text for block, _ in own if block.kind == "text")
        told["extra"] = {"messages": count}
        if changed:
            blocks = plural(changed, "block of its compaction is", "blocks of its compaction are")
            self.made.warnings.append(f"{blocks} neither text nor of the session")
        name = f"compaction-{sidecar.get('updated_at') or 1}"
        at = sidecar.get("updated_at")
        self.made.compact(
            name,
            None,
            None,
            told | {"kept": tuple(dict.fromkeys(kept))},
            found=own,
            timestamp=at if isinstance(at, str) else None,
        )


def _read_block(raw: Any, names: Names) -> Found:
    """A block of Anthropic's, or a file that a person attached."""
    if isinstance(raw, dict) and raw.get("type") == "file":
        fields = Fields(raw, "type")
        title, content = fields.text("path"), fields.text("content")
        if content is not None:
            return Document(title=title, text=content), fields.rest
    return read_with_rest(raw, names)


def _print_all(message: Any) -> Iterator[str]:
    """What each block of a message is known by: the message's id and its JSON."""
    if not isinstance(message, dict):
        return
    content = message.get("content")
    if content is None:
        return
    blocks = content if isinstance(content, list) else [content]
    for raw in blocks:
        block = {"type": "text", "text": raw} if isinstance(raw, str) else raw
        yield stringify([message.get("id"), block])


def _read_details(about: Fields) -> Json:
    """What a compaction tells of itself, as fields of a boundary."""
    details = Fields(about.object("details"))
    return {
        "trigger": {"manual_compaction": "manual"}.get(str(about.rest.get("reason")), about.text("reason")),
        "tokens_before": about.number("tokensBefore"),
        "files_read": details.strings("readFiles"),
        "files_modified": details.strings("modifiedFiles"),
    }


def read_metrics(raw: Any) -> Usage | None:
    """What Cline writes beside a reply: tokens, those of the cache among what was sent, and the cost."""
    keys = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    usage = read_inclusive(raw, *keys)
    if usage is None or any(Fields(raw).number(key) is None for key in keys[:2]):
        return None
    return usage.model_copy(update={"cost": make_cost(raw.get("cost"))})


READER = Reader(
    NAME,
    "Cline session",
    partial(sniff_document, judge=_judge),
    read,
    find_beside=find_beside,
    read_all=read_all,
    folder_file=TASK,
)
