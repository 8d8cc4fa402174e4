"""Read Cline's sessions: messages, the sidecar file of a compaction, or a manifest that names the messages.

Source: FORMATS §6. Cline does not change the messages when it compacts. It writes the new context to
`<…>.compaction.json` in the same folder. If both files exist, the session contains every message and the
compaction. A sidecar alone is read as a context that begins with a summary. How Cline computes the hash of
the replaced messages is not published, so only their number is checked. The input includes cached tokens. A
task of an editor's extension is one list of messages (`tasks`); the file of its screen is in the same folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ....session.blocks import Document
from ....session.entries import Source, Usage
from ....session.garbage import paused_gc
from ....session.json_text import stringify
from ....session.session import Session
from ....text import plural
from ...json_document import (
    Fields,
    ParsedBlock,
    find_blocks,
    iso_time,
    load,
    load_other,
    placed,
    refuse,
    sniff_document,
)
from ...json_lines import Data, Reader, escape_name
from ...recording import Json, Reading, read_inclusive
from ...requests.anthropic_blocks import Names, read_with_rest
from .tasks import NAME, is_task, is_wrapped, read_task

MESSAGES, SIDECAR = ".messages.json", ".compaction.json"
TASK, SCREEN = "api_conversation_history.json", "ui_messages.json"
SUMMARIES = ("compaction", "compaction_summary")
_MANIFEST = ("session_id", "messages_path")


def _judge(value: Any) -> str | None:
    """Return None for messages or a manifest of a Cline session, else the reason."""
    if isinstance(value, list):
        return None if is_task(value) else "its messages are not from a Cline task"
    if not isinstance(value, dict):
        return "not a JSON object"
    if _is_manifest(value) or is_wrapped(value):
        return None
    if not isinstance(value.get("messages"), list):
        return "it has no list `messages`, and no `messages_path`"
    return None if is_cline(value) else "it has no three of `sessionId`, `version`, `agent` and `updated_at`"


def is_cline(value: Json) -> bool:
    """Return whether an object is a session of Cline. One of its four fields may be damaged."""
    return len({"sessionId", "version", "agent", "updated_at"} & set(value)) > 2


def _is_manifest(value: Json) -> bool:
    return all(isinstance(value.get(name), str) for name in _MANIFEST) and "messages" not in value


def find_beside(data: Data, name: str) -> tuple[str, ...]:
    """Return the names and patterns of the session's other files: messages, sidecar, or a task's screen."""
    if name.endswith(TASK):
        return (escape_name(name.removesuffix(TASK)) + SCREEN,)
    stem = name
    for end in (MESSAGES, SIDECAR, ".json"):
        if name.endswith(end):
            stem = name.removesuffix(end)
            break
    names = [escape_name(stem) + end for end in (MESSAGES, SIDECAR, ".json")]
    if name.endswith(SIDECAR):
        # In a copied session, sidecars may be named after the program that wrote them.
        names.append("*" + MESSAGES)
    return tuple(pattern for pattern in names if pattern != escape_name(name))


def read(data: Data) -> Session:
    """Read the session from this file alone. Raises `ReadError` for a manifest."""
    return read_all(data, {})


@paused_gc()
def read_all(data: Data, other_files: Mapping[str, Data]) -> Session:
    """Read the session with its other files. Raises `ReadError` for a manifest without messages."""
    document = load(data)
    if isinstance(document, dict) and is_wrapped(document) and not is_cline(document):
        document = document["messages"]
    if isinstance(document, list):
        screens = (load_other(content) for name, content in other_files.items() if name.endswith(SCREEN))
        return read_task(document, next(screens, None))
    if not isinstance(document, dict):
        raise refuse("it is not a JSON object")
    others = [Fields(load_other(content)).rest for content in other_files.values()]
    manifest = next((candidate for candidate in (document, *others) if _is_manifest(candidate)), {})
    if _is_manifest(document):
        messages = _find_same(document.get("session_id"), others, sidecar=False)
        if messages is None:
            where = str(document.get("messages_path")).replace("\\", "/").rpartition("/")[2]
            detail = (
                f"it only names a session; its messages are in {where:.80}, which is not in the same folder"
            )
            raise refuse(f"{detail}: open that file")
        document = messages
    if not isinstance(document.get("messages"), list):
        raise refuse("it has no list `messages`")
    number = document.get("sessionId")
    if _is_sidecar(document):
        whole = _find_same(number, others, sidecar=False)
        return _read(whole or document, document, manifest)
    return _read(document, _find_same(number, others, sidecar=True), manifest)


def _is_sidecar(value: Json) -> bool:
    if "source_message_count" in value:
        return True
    return any(_find_kind(message) for message in Fields(value).items("messages") or ())


def _find_kind(message: Any) -> str | None:
    """Return the kind of a summary message; None for any other message."""
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
    """Read the messages, and the compaction if the sidecar is another file."""
    fields = Fields(whole, "messages")
    rows = whole["messages"]
    other = None if sidecar is whole else sidecar
    recording = _Messages(other["messages"] if other else [])
    end = _find_end(rows, other) if other else len(rows)
    if end > len(rows):
        recording.warnings.append(
            f"its compaction replaces {plural(end, 'message')}, but there are {len(rows):,}; some are missing"
        )
    numbered = list(placed(rows))
    recording.split = other is not None
    recording.feed(numbered[:end])
    recording.split = False
    if other is not None:
        recording.add_sidecar(other, len(rows))
    recording.feed(numbered[end:])
    about = Fields(manifest, "version", "session_id")
    prompt = fields.text("system_prompt")
    fields.any("version")
    extra = fields.rest | ({"manifest": about.rest} if about.rest else {})
    if other is not None:
        extra["compaction"] = Fields(other, "messages", "system_prompt").rest
    details = Fields(about.object("metadata"))
    return recording.make_session(
        id=fields.text("sessionId") or "",
        title=details.text("title"),
        model=about.text("model") if all(e.model is None for e in recording.entries) else None,
        cwd=about.text("cwd"),
        created=about.text("started_at") or recording.entries[0].timestamp if recording.entries else None,
        updated=fields.text("updated_at"),
        system=tuple(block for block, _ in find_blocks(prompt, lambda raw: read_with_rest(raw, {}))),
        extra=extra,
    )


def _find_end(rows: list[Any], sidecar: Json) -> int:
    """Return the number of messages that the sidecar replaces: as recorded, or up to the last one in it."""
    count = sidecar.get("source_message_count")
    if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
        return count
    names = {name for message in sidecar["messages"] if isinstance(name := Fields(message).text("id"), str)}
    places = [index for index, row in enumerate(rows, 1) if Fields(row).text("id") in names]
    return places[-1] if places else len(rows)


class _Messages(Reading):
    """Add messages as entries. Blocks that the sidecar `after` repeats word by word are kept."""

    format = NAME

    def __init__(self, after: list[Any]) -> None:
        super().__init__()
        self.after = {print_ for message in after for print_ in _print_all(message)}
        self.kept_ids: dict[str, list[str]] = {}
        self.split = False  # whether kept and other blocks of a message become separate entries

    def take(self, source: Source, raw: Any) -> None:
        if not isinstance(raw, dict):
            self.spoil("a message that is not an object")
            return
        fields = Fields(raw)
        role = fields.text("role")
        if role is None:
            self.note("message without a role", is_known=False)
            return
        blocks, prints = self._take_blocks(fields), list(_print_all(raw))
        runs: list[tuple[bool, list[int]]] = []
        for index, print_ in enumerate(prints):
            is_kept = print_ in self.after
            if runs and (runs[-1][0] == is_kept or not self.split):
                runs[-1][1].append(index)
            else:
                runs.append((is_kept, [index]))
        reply = self._take_reply(fields)
        name = fields.text("id") or f"m{source.line}"
        kind = _find_kind(raw)
        for number, (is_kept, places) in enumerate(runs or [(False, [])]):
            parsed_blocks = [blocks[index] for index in places] if runs else blocks
            more: Json = dict(reply) if number == max(len(runs) - 1, 0) else {}
            if kind and not number:
                about = Fields(fields.rest.get("metadata"))
                texts = [block.text for block, _ in parsed_blocks if block.kind == "text"]
                summary = about.text("summary")
                boundary = {"summary": texts[-1] if summary is None and texts else summary}
                self.compact(
                    name,
                    None,
                    boundary | _read_details(about),
                    parsed_blocks=parsed_blocks,
                    extra=fields.rest,
                )
                continue
            attached = bool(parsed_blocks) and all(isinstance(block, Document) for block, _ in parsed_blocks)
            if role == "user" and attached and number:
                more["meta"] = True
            entry = self.add(name, role, parsed_blocks, {} if number else fields.rest, **more)
            if is_kept:
                for index in places:
                    self.kept_ids.setdefault(prints[index], []).append(entry.id)

    def _take_blocks(self, fields: Fields) -> list[ParsedBlock]:
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
        """Add the compaction of a sidecar as one entry: its own text, and what it kept."""
        own: list[ParsedBlock] = []
        kept_ids: list[str] = []
        details: Json = {}
        changed = 0
        for raw in sidecar["messages"]:
            if not isinstance(raw, dict):
                changed += 1
                continue
            about = Fields(raw.get("metadata"))
            if _find_kind(raw):
                summary = about.text("summary")
                details = {"summary": summary, **_read_details(about)} | {
                    k: v for k, v in details.items() if v
                }
            for block, print_ in zip(self._take_blocks(Fields(raw)), _print_all(raw), strict=True):
                if print_ in self.kept_ids:
                    kept_ids += self.kept_ids[print_]
                else:
                    own.append(block)
                    changed += block[0].kind != "text"
        if details.get("summary") is None:
            details["summary"] = "\n\n".join(block.text for block, _ in own if block.kind == "text")
        details["extra"] = {"messages": count}
        strange = "{} neither text nor of the session"
        self.warn(changed, strange, "block of its compaction is", "blocks of its compaction are")
        name = f"compaction-{sidecar.get('updated_at') or 1}"
        updated_at = sidecar.get("updated_at")
        self.compact(
            name,
            None,
            details | {"kept": tuple(dict.fromkeys(kept_ids))},
            parsed_blocks=own,
            timestamp=updated_at if isinstance(updated_at, str) else None,
        )


def _read_block(raw: Any, names: Names) -> ParsedBlock:
    """Convert a block of Anthropic's API, or a file that the user attached."""
    if isinstance(raw, dict) and raw.get("type") == "file":
        fields = Fields(raw, "type")
        title, content = fields.text("path"), fields.text("content")
        if content is not None:
            return Document(title=title, text=content), fields.rest
    return read_with_rest(raw, names)


def _print_all(message: Any) -> Iterator[str]:
    """Yield the identity of each block of a message: the message's id and the block's JSON."""
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
    """Return what a compaction records, as fields of a boundary."""
    details = Fields(about.object("details"))
    return {
        "trigger": {"manual_compaction": "manual"}.get(str(about.rest.get("reason")), about.text("reason")),
        "tokens_before": about.number("tokensBefore"),
        "files_read": details.strings("readFiles"),
        "files_modified": details.strings("modifiedFiles"),
    }


def read_metrics(raw: Any) -> Usage | None:
    """Return the usage and cost that Cline writes with a reply; the input includes cached tokens."""
    keys = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    if any(Fields(raw).number(key) is None for key in keys[:2]):
        return None
    return read_inclusive(raw, *keys, cost=raw.get("cost"))


READER = Reader(
    NAME,
    "Cline session",
    partial(sniff_document, judge=_judge),
    read,
    find_beside=find_beside,
    read_all=read_all,
    folder_file=TASK,
)
