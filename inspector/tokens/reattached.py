"""Predict from the file what Claude Code attaches again after it has compacted the context.

The five files that were modified last are attached again, with line numbers. A file above 5,000 tokens takes
a place, but only its path is attached. Added are the plan and the skills that were used, each up to 5,000
tokens and all up to 25,000 (recorded requests of 2.1.332). The order of modification is known only for files
that a call changed. The others follow them, the latest read first.

Measured on 13 compactions of versions 2.1.7 to 2.1.49: the median error of the predicted request is 4.0 %,
the 90th percentile 15.3 %. Newer versions keep a row of each attachment; then nothing is predicted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..session.blocks import ToolCall
from ..session.entries import is_tokens
from .ledger import Ledger
from .memo import Memo
from .request_sizes import RequestSizes

FILES, FILE, SKILL, SKILLS = 5, 5_000, 5_000, 25_000
"""Published: files that are attached, and the most tokens of a file, of a skill and of all skills."""
LARGEST, BESIDE = 4_000, 500
"""Fitted to the 13 compactions: counted tokens of the largest file that is attached, and the provider's
tokens besides files, plan and skills. Fitted without one of the nine sessions, the first is 4,000 eight times
of nine, the second from 0 to 1,000, and the median error for that session is 4.3 %."""
MOST = FILES * FILE + BESIDE
UNSEEN = 10_400
"""The mean of the 13, from 3 to 21,161, for a file without the entries before the compaction."""
ATTACHING = frozenset({"claude-code"})
"""Formats of harnesses that attach files again."""
NUMBER = "   100→"
"""The prefix of a line in the output of Read."""
CHARS = 4
"""Characters of a token if nothing was read."""

TOOLS = {"Read": "read", "Write": "change", "Edit": "change", "MultiEdit": "change"}
PLANS, SKILL_TEXT = "/.claude/plans/", "Base directory for this skill:"


class Attachable(NamedTuple):
    """Something that may be attached again: a file that was read or changed, a skill, a plan.

    `tokens` are counted. Of a file they include line numbers, and are 0 if only its path is attached. They
    are None if the length of the file is unknown from the call.
    """

    at: int
    kind: str
    name: str
    tokens: float | None


_ATTACHABLE: Memo[list[Attachable]] = Memo()


def predict_reattached(sizes: RequestSizes, number: int) -> tuple[int, int]:
    """Predict what is attached again after a compaction, in the provider's tokens.

    Args:
        sizes: The requests on the path.
        number: The number of the compaction, from 1.

    Returns:
        All tokens, and those of them that are the plan's and the skills'.
    """
    first, end = sizes.cuts[number - 2] if number > 1 else 0, sizes.cuts[number - 1]
    last_read, changed = dict[str, int](), dict[str, int]()
    files, skills, plan = dict[str, float](), dict[str, float](), 0.0
    every = _ATTACHABLE.of(sizes.ledger, lambda: _find_attachable(sizes.ledger))
    places = sizes.where[[item.at for item in every]].tolist() if every else ()
    for place, (_, kind, name, tokens) in zip(places, every, strict=True):
        if not 0 <= place < end:
            continue
        if kind == "plan":
            plan = tokens or 0
        elif kind == "skill":
            skills[name] = min(tokens or 0, SKILL)
        else:
            files[name] = files.get(name, 0) if tokens is None else tokens
            if kind == "change":
                changed[name] = place
            if place >= first:
                last_read[name] = place
    latest = sorted(last_read, key=lambda name: (changed.get(name, -1), last_read[name]), reverse=True)[
        :FILES
    ]
    more = plan + min(sum(skills.values()), SKILLS)
    # Everything attached again was in the context before.
    most, scale = int(sizes.tokens[first:end].sum()), sizes.scale.middle
    tokens = scale * (sum(files[name] for name in latest) + more) + BESIDE
    return round(min(tokens, scale * most)), round(scale * more)


def _find_attachable(ledger: Ledger) -> list[Attachable]:
    """Find what may be attached again in all entries.

    The tokens of a file are its characters (`extra["file"]`) times the tokens of a character that was read,
    plus the tokens of its line numbers. If the row does not record its length, the tokens of the call that
    wrote the file, or of the part that was read.
    """
    out, sized = list[Attachable](), list[tuple[int, Any, Any]]()
    calls: dict[str, tuple[str, str, int]] = {}
    number_tokens = int(ledger.count_texts([NUMBER])[0])
    tokens = chars = 0
    for at, entry in enumerate(ledger.session.entries):
        row, size = int(ledger.start[at]), entry.extra.get("file")
        if entry.extra.get("way") == "plan":
            out.append(Attachable(at, "plan", "", int(ledger.entry_tokens[at])))
        for number, block in enumerate(entry.blocks):
            counted = int(ledger.tokens[row + number])
            if isinstance(block, ToolCall):
                args = block.input if isinstance(block.input, Mapping) else {}
                name = args.get("file_path")
                if block.name == "ExitPlanMode" and args.get("plan"):
                    out.append(Attachable(at, "plan", "", counted))
                elif block.name in TOOLS and isinstance(name, str):
                    calls[block.id] = block.name, name, counted
            elif block.kind == "tool_output" and block.call_id in calls and not block.is_error:
                tool, name, written = calls.pop(block.call_id)
                if PLANS in name:
                    out += [Attachable(at, "plan", "", written)] if tool == "Write" else []
                    continue
                if tool == "Read":
                    lines = block.text.count("\n") + 1
                    tokens += max(counted - number_tokens * lines, 0)
                    chars += max(len(block.text) - len(NUMBER) * lines, 0)
                if isinstance(size, Mapping):
                    sized.append((len(out), size.get("chars"), size.get("lines")))
                shown = {"Read": counted, "Write": written}.get(tool)
                out.append(Attachable(at, TOOLS[tool], name, shown and shown * (shown <= FILE)))
            elif block.kind == "text" and entry.meta and block.text.startswith(SKILL_TEXT):
                out.append(Attachable(at, "skill", block.text.partition("\n")[0], counted))
    density = tokens / chars if chars else 1 / CHARS
    for where, length, lines in sized:
        if all(isinstance(number, int) and is_tokens(number) for number in (length, lines)):
            plain = density * length
            whole = plain + number_tokens * lines
            out[where] = out[where]._replace(tokens=whole if plain <= LARGEST else 0.0)
    return out
