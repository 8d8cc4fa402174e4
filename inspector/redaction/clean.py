"""Redact a session: the same entries and blocks, with every text searched for secrets.

Only what a page can show keeps its text. Everything else of the file stays as structure, so that the columns
of a ledger still fit, and holds no words at all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from ..session.blocks import (
    Block,
    Document,
    Image,
    Reasoning,
    Text,
    ToolCall,
    ToolOutput,
    Unknown,
    Value,
    build,
)
from ..session.entries import Boundary, Entry, SubAgent
from ..session.labels import TextLabels, hash_text
from ..session.session import Session
from ..session.speakers import find_speech
from .redact import Redactor

BLANK = "[not on this page]"
"""Placeholder for the text of an entry that is not shown."""
SEALED = "[sealed]"

_ROLES = frozenset({"user", "assistant", "tool", "system"})
_STRUCTURE = ("speaker", "way", "copy_of", "failed", "source")
"""Extra fields of an entry that describe its position and origin."""
_WORDLESS = frozenset({"manifest", "format", "kind", "usage", "sources", "source", "leaf"})


def look_through(session: Session, shown: Collection[int], redactor: Redactor) -> None:
    """Search all texts that `clean_session` leaves readable for secrets; findings are located by reference.

    >>> from inspector import read_session
    >>> redactor = Redactor()
    >>> look_through(read_session([{"role": "user", "content": "TOKEN=hf_" + "abcDEF12" * 4}]), [0], redactor)
    >>> [(found.name.split()[0], found.times, found.where) for found in redactor.findings]
    [('huggingface-token', 1, ('m1/0',))]
    """
    for name in ("title", "cwd", "id", "model"):
        redactor.look(name, getattr(session, name) or "")
    for part in ("system", "tools", "provided", "warnings", "corrupt", "notes"):
        for index, value in enumerate(getattr(session, part)):
            redactor.look(f"@{part}/{index}", _texts(value))
    redactor.look("labels", [item.by for item in session.labels])
    redactor.look("extra", _extra(session, shown))
    for at in sorted(shown):
        entry = session.entries[at]
        for index, block in enumerate(entry.blocks):
            redactor.look(f"{entry.id}/{index}", _texts(block))
        own = (entry.id, entry.role, entry.model, entry.provider, entry.error, entry.sidechain)
        boundary = _texts(entry.boundary) if entry.boundary is not None else ""
        redactor.look(
            entry.id,
            [*(part or "" for part in (*own, entry.copied_from)), entry.aliases, boundary, entry.extra],
        )
        redactor.look_across(entry.id, [block.text for block in entry.blocks if isinstance(block, Text)])
        for block in entry.blocks:
            if isinstance(block, ToolOutput):
                redactor.look_across(entry.id, _words(block))
    # A call is shown as one line of JSON, which joins separate values: ["--token", "…"].
    bare = redactor.bare
    for at in sorted(shown):
        entry = session.entries[at]
        for index, block in enumerate(entry.blocks):
            if isinstance(block, ToolCall | Unknown):
                redactor.look(f"{entry.id}/{index}", _block(block, bare).text)


def find_secrets(session: Session) -> Redactor | None:
    """Return a redactor of a session's secrets, without personal data; None if it has no secrets."""
    redactor = Redactor()
    look_through(session, range(len(session.entries)), redactor)
    findings = redactor.findings
    if all(finding.grade != "secret" for finding in findings):
        return None
    return redactor.fork(frozenset(finding.name for finding in findings if finding.grade != "secret"))


def clean_session(session: Session, shown: Collection[int], redactor: Redactor) -> Session:
    """Return the session with the texts of the entries `shown` (positions) redacted, and no text in others.

    >>> from inspector import read_session
    >>> said = "TOKEN=hf_abcdefghijklmnopqrstuvwxyzABCDEFGH"
    >>> session = read_session([{"role": "user", "content": said}, {"role": "assistant", "content": "Set."}])
    >>> redactor = Redactor()
    >>> look_through(session, [0], redactor)
    >>> [entry.text for entry in clean_session(session, [0], redactor).entries]
    ['TOKEN=[redacted huggingface-token 63ae26e9]', '[not on this page]']
    """
    keep = frozenset(shown)
    entries = tuple(
        _entry(entry, redactor) if at in keep else _blank(entry, redactor)
        for at, entry in enumerate(session.entries)
    )
    fields = {
        name: _tidy(name, getattr(session, name), redactor.clean)
        for name in Session.model_fields
        if name not in ("entries", "subagents")
    }
    fields["entries"] = entries
    if len(shown) < len(entries):
        fields["judgements"] = ()  # they quote entries that are not shown
    fields["labels"] = _labels(session, entries, redactor.clean)
    fields["subagents"] = tuple(_quiet(subagent, redactor) for subagent in session.subagents)
    fields["extra"] = redactor.clean_tree(_extra(session, shown))
    leaf = session.leaf
    return build(Session, **{**fields, "leaf": None if leaf is None else redactor.clean(leaf)})


def redact_session(session: Session, redactor: Redactor | None = None) -> Session:
    """Return a session with the secrets in all its entries replaced by their names.

    `redactor` knows the secrets; by default those that `find_secrets` finds. Raises `RedactionError` if a
    secret that was found would still be there.

    >>> from inspector import read_session
    >>> said = "TOKEN=hf_abcdefghijklmnopqrstuvwxyzABCDEFGH"
    >>> redact_session(read_session([{"role": "user", "content": said}])).entries[0].text
    'TOKEN=[redacted huggingface-token 63ae26e9]'
    """
    redactor = find_secrets(session) if redactor is None else redactor
    if redactor is None:
        return session
    cleaned = clean_session(session, range(len(session.entries)), redactor)
    redactor.check(cleaned.model_dump())
    return cleaned


def _labels(
    session: Session, entries: tuple[Entry, ...], tidy: Callable[[str], str]
) -> tuple[TextLabels, ...]:
    """Return the labels of unchanged texts. The hash of a changed text would reveal what was removed."""
    if not session.labels:
        return ()
    same = {
        hash_text(block.text[span.start : span.end])
        for entry, cleaned in zip(session.entries, entries, strict=True)
        if entry.role in ("user", "tool")
        for block, now in zip(entry.blocks, cleaned.blocks, strict=True)
        if block.kind in ("text", "tool_output") and block.text == now.text
        for span in find_speech(entry, block)
        if span.speaker == "user"
    }
    return tuple(
        labels.model_copy(update={"by": tidy(labels.by)}) for labels in session.labels if labels.text in same
    )


def _extra(session: Session, shown: Collection[int]) -> dict[str, Any]:
    """Return the other fields of the file; queued prompts only if every entry is shown."""
    whole = len(frozenset(shown)) >= len(session.entries)
    return {name: value for name, value in session.extra.items() if whole or name != "queued"}


def _entry(entry: Entry, redactor: Redactor) -> Entry:
    fields: dict[str, Any] = {}
    for name in Entry.model_fields:
        value = getattr(entry, name)
        if name == "blocks":
            value = tuple(_block(block, redactor) for block in value)
        elif name == "extra":
            value = redactor.clean_tree(value)
        elif name != "role" or value not in _ROLES:
            value = _tidy(name, value, redactor.clean)
        fields[name] = value
    return build(Entry, **fields)


def _block(block: Any, redactor: Redactor) -> Any:
    """Return a block without secrets, and without unreadable bytes: data of files and encrypted content."""
    fields: dict[str, Any] = {}
    for name in type(block).model_fields.keys() - {"data", "url", "parts"}:
        value = getattr(block, name)
        if name in ("input", "raw", "provider_fields"):
            fields[name] = redactor.clean_tree(value)
        elif name in ("signature", "encrypted"):
            fields[name] = SEALED if value else value
        else:
            fields[name] = _tidy(name, value, redactor.clean)
    if isinstance(block, ToolOutput):
        fields["parts"] = tuple(_block(part, redactor) for part in block.parts)
        words = _words(block)
        if len(words) > 1:
            # They are shown as one text, so they are redacted as one; the first part contains it.
            cleaned = iter([redactor.clean("".join(words)), *[""] * len(words)])
            fields["parts"] = tuple(
                build(Text, text=next(cleaned)) if isinstance(part, Text) else part
                for part in fields["parts"]
            )
    return build(type(block), **fields)


def _words(output: ToolOutput) -> list[str]:
    return [part.text for part in output.parts if isinstance(part, Text)]


def _blank(entry: Entry, redactor: Redactor) -> Entry:
    """Return an entry that is not shown: role, time and cost, without text."""
    tidy = redactor.clean
    boundary = entry.boundary
    if boundary is not None:
        named = Boundary.model_fields.keys() - {"summary", "files_read", "files_modified", "extra"}
        fields = {name: _tidy(name, getattr(boundary, name), tidy) for name in named}
        figures = {name: value for name, value in boundary.extra.items() if isinstance(value, int | float)}
        boundary = build(Boundary, **fields, extra=redactor.clean_tree(figures))
    tidied = {
        name: _tidy(name, getattr(entry, name), tidy)
        for name in (
            *("id", "parent", "model", "provider", "stop_reason", "timestamp"),
            *("sidechain", "copied_from", "aliases"),
        )
    }
    same = {name: getattr(entry, name) for name in ("kind", "usage", "meta", "sources")}
    # The speaker, and what an entry repeats or recovers from, determine turns and compactions.
    structure = {name: entry.extra[name] for name in _STRUCTURE if isinstance(entry.extra.get(name), str)}
    role = entry.role if entry.role in _ROLES else tidy(entry.role)
    blocks = tuple(_wordless(block, tidy) for block in entry.blocks)
    extra = redactor.clean_tree(structure)
    return build(Entry, role=role, blocks=blocks, boundary=boundary, extra=extra, **tidied, **same)


def _quiet(subagent: SubAgent, redactor: Redactor) -> SubAgent:
    """Return a sub-agent of the session, which no page shows: its cost, without text."""
    texts = {
        name: tuple(_blank(reply, redactor) for reply in getattr(subagent, name))
        for name in ("replies", "results")
    }
    return build(SubAgent, id=redactor.clean(subagent.id), silent=subagent.silent, **texts)


def _wordless(block: Block, tidy: Callable[[str], str]) -> Block:
    if isinstance(block, Text):
        return build(Text, text=BLANK if block.text.strip() else "")
    if isinstance(block, Reasoning):
        return build(Reasoning, text=BLANK if block.text else "", signature=SEALED)
    if isinstance(block, ToolCall):
        return build(ToolCall, id=tidy(block.id), name=tidy(block.name))
    if isinstance(block, ToolOutput):
        part = build(Text, text=BLANK)
        return build(ToolOutput, call_id=tidy(block.call_id), parts=(part,), is_error=block.is_error)
    if isinstance(block, Image):
        return build(Image, width=block.width, height=block.height)
    return build(Document) if isinstance(block, Document) else build(Unknown)


def _tidy(name: str, value: Any, tidy: Callable[[str], str]) -> Any:
    """Redact the texts in a field; values without text are returned unchanged."""
    if name in _WORDLESS:
        return value
    if isinstance(value, str):
        return tidy(value)
    if isinstance(value, Value):
        return build(
            type(value), **{key: _tidy(key, getattr(value, key), tidy) for key in type(value).model_fields}
        )
    if isinstance(value, dict):
        return {_tidy("", key, tidy): _tidy("", item, tidy) for key, item in value.items()}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)(_tidy("", item, tidy) for item in value)
    return value


def _texts(value: Any) -> Any:
    """Return a value as JSON, without the data of pictures, files and encrypted content."""
    if isinstance(value, Value):
        # `parts` already contains the content of a provider's own result.
        unread = {"data", "signature", "encrypted", "sources", "source", "usage"}
        fields = {name: getattr(value, name) for name in type(value).model_fields if name not in unread}
        if isinstance(value, ToolOutput) and value.provider_fields is not None:
            own = value.provider_fields
            fields["provider_fields"] = {key: own[key] for key in own if key != "content"}
        return {name: _texts(item) for name, item in fields.items()}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return [_texts(item) for item in value]
    if isinstance(value, dict):
        return {key: _texts(item) for key, item in value.items()}
    return value if isinstance(value, str) else None
