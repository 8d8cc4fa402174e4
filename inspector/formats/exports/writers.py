"""Write a session in the format of other harnesses, or as a request to OpenAI.

The output is read again by our own reader and compared with the session, so that every loss is counted and
reported. The Anthropic request is `wire.render_request`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal, Self

from ...errors import EditError, EmptySession, expect
from ...redaction.clean import redact_session
from ...session.blocks import Block, ToolOutput
from ...session.entries import Usage
from ...session.json_text import dump_lossless
from ...session.queries import is_summary
from ...session.session import Session
from ...tokens.ledger import clear_output
from ..harnesses.claude_code import write as claude_code
from ..harnesses.pi import flue
from ..harnesses.pi import read as pi
from ..readers import read_session
from ..requests.anthropic_blocks import DIRECT
from .linearize import BranchEntry, Loss, find_twigs, leave_out, list_losses, split_runs
from .path_writers import write_codex, write_openai

Format = Literal["flue", "pi", "claude-code", "codex", "openai"]
LABELS = ("name", "status", "artifact")
"""Labels of an output that the model is not sent."""
FORMATS: dict[str, Callable[[Session, Sequence[BranchEntry]], tuple[bytes, Counter[str]]]] = {
    "flue": flue.write,
    "pi": pi.write,
    "claude-code": claude_code.write,
}
"""Formats that store a whole session with its branches."""
PATH_FORMATS: dict[str, Callable[[Session, Sequence[BranchEntry]], tuple[bytes, Counter[str]]]] = {
    "codex": write_codex,
    "openai": write_openai,
}
"""Formats that store only its path."""
READ_AS = {"openai": "request-log"}
"""The reader of a format, if it has another name."""
ALL_FORMATS = FORMATS | PATH_FORMATS


class Transcript(bytes):
    """The bytes of an export, and its `losses` compared with the session."""

    losses: tuple[Loss, ...]

    def __new__(cls, content: bytes, losses: tuple[Loss, ...]) -> Self:
        transcript = super().__new__(cls, content)
        transcript.losses = losses
        return transcript


def export_session(session: Session, format: Format, *, redact: bool = False) -> Transcript:
    """Return the session in another format, which our reader reads back to the same context.

    "codex" and "openai" (the body of a Chat Completions request) store only the path, the others also the
    branches. If a format links branches to the path in another way than the session, the path is preserved.

    With `redact`, secrets are replaced by their names; without it the export contains the original text.
    Raises `EditError` if the format does not exist, or the session has no messages.

    >>> from inspector import open_demo
    >>> exported = export_session(open_demo(), "claude-code")
    >>> [loss.name for loss in exported.losses]
    ['sidechains', 'records']
    """
    expect("export_session", session=(session, Session), format=(format, str))
    if format not in ALL_FORMATS:
        raise EditError("export", format, f"no such format; there are {', '.join(ALL_FORMATS)}")
    session = redact_session(session) if redact else session
    twigs = find_twigs(session) if format in FORMATS else []
    content, losses, hurt = _write(session, twigs, format)
    # The path must be preserved. Branches below its last entry are the likeliest to be read as a part of it.
    for fewer in (leave_out(twigs, session.leaf), ()) if twigs and hurt else ():
        tried = _write(session, fewer, format)
        if tried[2] < hurt:
            content, losses, hurt = tried
    return Transcript(content, list_losses(losses))


def _write(session: Session, twigs: Sequence[BranchEntry], format: Format) -> tuple[bytes, Counter[str], int]:
    """Return the bytes, the number of losses by kind, and the number of losses in the context."""
    content, losses = ALL_FORMATS[format](session, twigs)
    try:
        again = read_session(content, "the export", READ_AS.get(format, format))
    except EmptySession:
        raise EditError("export", session.id, "there is no message on the path to the leaf") from None
    shown = compare_contexts(session, again)
    losses["marked"] = len(session.labels) + len(session.judgements)
    return content, losses + shown + _compare_branches(session, again), shown.total()


def compare_contexts(session: Session, again: Session) -> Counter[str]:
    """Count the differences between two contexts, by the kind of block."""
    losses = Counter[str]()
    before_rows, after_rows = _shown(session), _shown(again)
    before, after = ([_key(role, block) for role, block, _ in shown] for shown in (before_rows, after_rows))
    if before != after:
        for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            if tag != "equal":
                losses["added"] += max(d - c - (b - a), 0)
                for index in range(a, b):
                    _, block, summary = before_rows[index]
                    other = after_rows[c + index - a] if c + index - a < d else None
                    same = other is not None and _key("", block) == _key("", other[1])
                    losses["role" if same else "summary" if summary else block.kind] += 1
    outputs = [[b for _, b, _ in shown if isinstance(b, ToolOutput)] for shown in (before_rows, after_rows)]
    for old, new in zip(*outputs, strict=False):
        labels = ((getattr(output, name) for name in LABELS) for output in (old, new))
        losses["labels"] += any(a is not None and a != b for a, b in zip(*labels, strict=True))
    used = [[entry.usage for entry in path] for path in (session.path_since(None), again.path_since(None))]
    usages = [[_drop_plain_total(usage) for usage in path if usage is not None] for path in used]
    losses["usage"] += sum(usage not in usages[1] for usage in usages[0])
    return +losses


def _drop_plain_total(usage: Usage) -> Usage:
    """Return the usage without its total, if that is only the sum."""
    summed = usage.total == usage.prompt + usage.output
    return usage.model_copy(update={"total": None}) if summed else usage


def _compare_branches(session: Session, again: Session) -> Counter[str]:
    """Count entries of other branches that have another parent or text, or are missing."""
    lost = 0
    for entry, hangs in find_twigs(session):
        index = again.tree.index.get(entry.id)
        above = None if index is None else again.tree.parent[index]
        name = None if above is None else again.entries[above].id
        same = name == hangs or (name is not None and name.startswith(f"{hangs}."))
        whole = entry.kind == "message" and len(split_runs(entry)) == 1
        lost += index is None or not same or (whole and again.entries[index].text != entry.text)
    return Counter(branches=lost)


def _shown(session: Session) -> list[tuple[str, Block, bool]]:
    """Return role and block of everything in the context, and whether it is a summary."""
    live = session.live
    entries = [session.entries[i] for i in live.entries.tolist()]
    out: list[tuple[str, Block, bool]] = []
    for index, number, emptied in zip(
        live.position.tolist(), live.block.tolist(), live.cleared.tolist(), strict=True
    ):
        entry = entries[index]
        block = clear_output(entry.blocks[number]) if emptied else entry.blocks[number]
        out.append((entry.role, block, entry.kind != "message" and is_summary(entry)))
    return out


def _key(role: str, block: Block) -> str:
    """Return the content of a block that the model is sent."""
    fields: dict[str, Any] = block.model_dump()
    if fields.get("provider_fields") == DIRECT:
        fields["provider_fields"] = None
    for name in LABELS if isinstance(block, ToolOutput) else ():
        fields.pop(name)
    return f"{role} {dump_lossless(fields)}"
