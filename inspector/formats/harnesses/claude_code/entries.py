"""A finished draft of a Claude Code file -> an entry, with its boundary if it is a compaction.

Names of the metadata: CLAUDE §3.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from ....session.blocks import Number, assemble
from ....session.entries import Boundary, Entry, Usage, is_tokens
from ...json_document import Fields
from ...recording import make_cost
from ...requests.anthropic_blocks import read_usage
from .chain import LineChain, stands_behind
from .draft import Draft, ReplyFields
from .rows import UsageFields

SYNTHETIC = "<synthetic>"
"""The model named in messages that Claude Code writes itself. No provider reported their usage."""


def make_entry(draft: Draft, boundary: Boundary | None) -> Entry:
    """Return the entry of a linked draft: the same object as before if nothing changed."""
    cached = draft.cached_entry
    parent = draft.above if draft.up is None else draft.up.id
    if cached is not None and cached.parent == parent and cached.sidechain == draft.side:
        return cached
    kind, reply = draft.kind, draft.reply or _NO_REPLY
    blocks, aliases, sources = draft.contents
    entry = assemble(
        Entry,
        {
            "id": draft.id,
            "parent": parent,
            "role": draft.role,
            "kind": kind,
            "blocks": blocks,
            "usage": None if reply.usage is None else _read_usage(reply.usage, draft, reply),
            "model": reply.model,
            "provider": None,
            "stop_reason": reply.stop_reason,
            "error": reply.error,
            "timestamp": draft.timestamp,
            "meta": draft.meta,
            "sidechain": draft.side,
            "copied_from": draft.copied_from if reply is not _NO_REPLY or kind == "compaction" else None,
            "boundary": boundary,
            "aliases": aliases,
            "sources": sources,
            "extra": draft.extra or {},
        },
    )
    # The kept messages of a compaction depend on the rows around it.
    draft.cached_entry = entry if kind == "message" else None
    return entry


_NO_REPLY = ReplyFields()


def _read_usage(usage: UsageFields, draft: Draft, reply: ReplyFields) -> Usage | None:
    """Return the usage of a reply, once, with the cost that versions until mid-2025 wrote (`costUSD`).

    Messages that Claude Code itself wrote have no usage.
    """
    if draft.again or reply.model == SYNTHETIC or reply.error is not None:
        return None
    read = read_usage(asdict(usage))
    if read is None or not reply.cost:
        return read
    return read.model_copy(update={"cost": make_cost(reply.cost)})


def make_boundaries(chain: LineChain, drafts: list[Draft]) -> dict[int, Boundary]:
    """The boundaries of the compactions among all drafts of a file, which are linked, by their order."""
    return {
        draft.order: _make_boundary(draft, chain, drafts)
        for draft in drafts
        if draft.kind not in ("message", "note")
    }


def _make_boundary(draft: Draft, chain: LineChain, drafts: list[Draft]) -> Boundary:
    """Make the boundary of a compaction.

    `postTokens` remains in the metadata: it counts the conversation without system prompt and tools, so it is
    no size of a request (anthropics/claude-code issue 87602, read in November 2026).
    """
    fields = Fields(draft.metadata)
    metadata = fields.rest
    kept_drafts = chain.find_kept(draft, drafts)
    if kept_drafts:
        for name in ("preservedMessages", "preservedSegment"):
            metadata.pop(name, None)
    trigger = metadata.pop("trigger") if isinstance(metadata.get("trigger"), str) else None
    return Boundary(
        kind="micro" if draft.kind == "micro" else "compact",
        trigger=trigger,
        tokens_before=_pop_number(metadata, "preTokens"),
        tokens_saved=_pop_number(metadata, "tokensSaved"),
        kept=tuple(kept_draft.id for kept_draft in kept_drafts),
        summary_last=bool(kept_drafts) and stands_behind(draft),
        cleared=fields.strings("compactedToolIds"),
        extra=metadata,
    )


def _pop_number(metadata: dict[str, Any], name: str) -> Number | None:
    value = metadata.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool) and is_tokens(value):
        del metadata[name]
        return value
    return None
