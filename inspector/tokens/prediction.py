"""Session + ledger -> what the next request holds that is not in the file: reported, or else predicted.

Beyond its entries, a request holds the system prompt and the tools, and after a compaction the files that the
harness attached again or an encrypted summary. The first request after a compaction reports their size;
before that it is predicted, with a range.

If the file begins in the middle, or the first prompt names files with `@`, the first request held more than
system prompt and tools. Then the typical figures are used, and the rest came before the file.

After a compaction, Claude Code attaches the five files that were modified last again, with line numbers. A
file above 5,000 tokens takes a place, but only its path is attached. Added are the plan and the skills that
were used, each up to 5,000 tokens and all up to 25,000 (recorded requests of 2.1.332). The order of
modification is known only for files that a call changed. The others follow them, the latest read first.
Measured on 13 compactions of versions 2.1.7 to 2.1.49: the median error of the predicted request is 4.0 %,
the 90th percentile 15.3 %. Newer versions keep a row of each attachment; then nothing is predicted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..session.blocks import ToolCall
from ..session.entries import Entry, is_tokens
from ..session.queries import find_end, is_sealed
from ..session.session import Session
from ..session.tree import ASSISTANT, MICRO, TOOL
from .ledger import Ledger
from .memo import Memo
from .not_in_file import NOTHING, NotInFile, Part
from .reported import whole_tokens
from .request_sizes import RequestSizes
from .rows import SECTIONS

ENCRYPTED, MOST_ENCRYPTED = 2_200, 6_000
"""The requests after 3 compactions of Codex held 2,157 to 3,131 tokens more than those before."""
UNFITTED = 0.7
"""How many tokens more a counted one may be without a fitted scale: as with the newest tokenizers."""
DRIFT = 0.05
"""The share by which system prompt and tools differ at most between stretches that report them."""
ESTIMATED, EXCEEDING, MISSING = 0.1, 0.1, 3
"""Claude Code's own estimate (`postTokens`) may be off by a tenth of the request. Warn if a tenth more is
counted than reported, and if three outputs have no call: a file may begin with up to two."""
MENTION = re.compile(r"(?:^|\s)@[\w~.-]*[/.][\w./-]*")
"""A file or folder that a prompt names with @."""


_NOTE = "typical; nothing in the file reports it"
TYPICAL = {"claude-code": Part(42_000, 15_000, 60_000, (), _NOTE)}
"""System prompt and tools if nothing reports them. Claude Code 2.1.7 to 2.1.210: 28 to 46 thousand tokens in
the sessions of 100 recorded compactions. A first request above the most holds something else too."""
ELSEWHERE, MIDDLE = Part(8_000, 1_000, 40_000, (), _NOTE), 100_000
"""Other harnesses: 2.6 thousand in pi's first request. None is published: only above 100,000 tokens it is
sure that a first request holds something else."""

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

_PREDICTIONS: Memo[NotInFile] = Memo(64)
_AFTER_FIRST: Memo[Part] = Memo()
_SHOWS: Memo[bool] = Memo()
_ATTACHABLE: Memo[list[Attachable]] = Memo()


def find_not_in_file(session: Session, ledger: Ledger) -> NotInFile:
    """Find what the context at the session's leaf holds that is not in the file. Kept with the ledger.

    Only what is on the path to the leaf is used, with one exception: if a file begins in the middle, the
    first request after its first recorded compaction reports the size of system prompt and tools.

    >>> from inspector import count_tokens, open_demo
    >>> session = open_demo()
    >>> found = find_not_in_file(session, count_tokens(session))
    >>> sum(part.tokens for part in found.parts.values()) == found.tokens > found.system_and_tools.tokens > 0
    True
    """
    ledger.check(session)
    return _PREDICTIONS.of(ledger, lambda: _Prediction(RequestSizes(session, ledger)).make(), session.leaf)


def find_before_file(sizes: RequestSizes) -> int:
    """Return the tokens before the beginning of the file, as they were until the first recorded
    compaction."""
    return _Prediction(sizes).begin()[1].tokens


class _Prediction:
    """The parts of a context that are not in the file."""

    def __init__(self, sizes: RequestSizes) -> None:
        self.sizes, self.session, self.ledger = sizes, sizes.session, sizes.ledger
        self.usual = TYPICAL.get(self.session.format, ELSEWHERE)

    def make(self) -> NotInFile:
        """Divide what is not in the file of the context at the leaf."""
        sizes = self.sizes
        rows = sizes.rows(len(sizes.cuts))
        row = int(rows[-1]) if len(rows) else -1
        size, counted = (int(sizes.prompt[row]), int(sizes.counted[row])) if len(rows) else (0, 0)
        result = NotInFile(
            spread=np.zeros(len(self.session.live.position), np.int64),
            reported=size,
            counted=counted,
            entry=sizes.names(rows)[-1] if len(rows) else None,
        )
        if len(sizes.at) and sizes.residual[-1] < 0:
            over = max(1 - int(sizes.prompt[-1]) / int(sizes.counted[-1]), 0.0)
            warnings = self._warn_exceeding() + self._warn_missing()
            return replace(result, exceeds=True, warnings=warnings, overcounted=over)
        system, before = self.begin()
        attached = NOTHING
        for number in range(1, len(sizes.cuts) + 1):
            system, attached = self._go_on(number, system, attached)
            before = NOTHING
        spread, slack = sizes.spread(), self._find_slack(row)
        tokens, note = int(spread.sum()), "growth of the steps beyond the counted tokens"
        return replace(
            result,
            system_and_tools=system.within(),
            hidden_reasoning=Part(tokens, tokens - slack, tokens + slack, sizes.names(rows), note).within(),
            before_file=before.within(),
            reattached=attached.within(),
            spread=spread,
            scale=sizes.scale.middle,
            warnings=self._warn(system, before, attached, is_reported=bool(len(rows))),
        )

    def begin(self) -> tuple[Part, Part]:
        """Find system prompt and tools, and what came before the file, of the first stretch."""
        sizes, path, usual = self.sizes, self.sizes.path, self.usual
        rows = sizes.rows(0)
        if not len(rows):
            # A file that begins with a compaction has no request before it. If there are replies before it,
            # they report nothing, and neither will those after it.
            tree, first = self.session.tree, path[: sizes.cuts[0]] if sizes.cuts else path[:0]
            replied = (tree.role[first] == ASSISTANT).any()
            bounded = sizes.cuts or (len(path) and tree.sort[path[0]] == MICRO)
            typical = self.session.format in TYPICAL and bounded and not replied
            return (usual if typical else NOTHING), NOTHING
        rest, names = sizes.remainder(0), sizes.names(rows[:1])
        if rest <= usual.tokens or not (self._begins_in_the_middle() or self._mentions_files()):
            return Part(rest, rest, rest, names, "the part of the first request beyond its entries"), NOTHING
        system = _AFTER_FIRST.of(self.ledger, lambda: _find_after_first(self.ledger))
        system = system if system.tokens else usual
        tokens, low, high = (min(value, rest) for value in system[:3])
        note = "the part of the first request beyond that"
        before = Part(rest - tokens, rest - high, rest - low, names, note)
        return system._replace(tokens=tokens, low=low, high=high), before

    def _go_on(self, number: int, system: Part, before: Part) -> tuple[Part, Part]:
        """Find system prompt and tools, and what came with the compaction, of the stretch after it."""
        sizes = self.sizes
        rows = sizes.rows(number)
        if not len(rows) and (remaining := self._find_left(number, system)).tokens:
            return system, remaining
        is_reported = bool(len(rows)) and bool(system.replies)
        is_read = len(rows) or number == len(sizes.cuts) or is_sealed(self._find_compaction(number + 1))
        came = self._expect(number, before, is_reported) if is_read else NOTHING
        if not len(rows):
            drift = round(DRIFT * system.tokens) if system.certain else 0
            return system._replace(low=system.low - drift, high=system.high + drift), came
        names, rest = sizes.names(rows[:1]), sizes.remainder(number)
        note = "the part of the first request after the last compaction beyond its entries"
        if came is NOTHING:
            return Part(rest, rest, rest, names, note), NOTHING
        # Without an earlier request only the sum of both is reported.
        least = min(rest, self.usual.low)
        tokens = min(system.tokens, rest) if is_reported else max(rest - came.tokens, least)
        low, high = (tokens, tokens) if is_reported else (min(max(rest - came.high, least), tokens), rest)
        system = Part(tokens, low, high, system.replies or names, system.note if is_reported else note)
        return system, Part(rest - tokens, rest - high, rest - low, names, "added with the compaction")

    def _find_compaction(self, number: int) -> Entry:
        return self.session.entries[int(self.sizes.path[self.sizes.cuts[number - 1]])]

    def _expect(self, number: int, before: Part, is_reported: bool) -> Part:
        """Predict the tokens attached with a compaction unless a request has reported them (`is_reported`).

        `before` are the values of the compaction before it."""
        compaction = self._find_compaction(number)
        if compaction.sources and self._attaches_unseen():
            unseen = is_reported or (number == 1 and not len(self.sizes.rows(0)))
            tokens, more = (UNSEEN, 0) if unseen else predict_reattached(self.sizes, number)
            note = (
                "Claude Code attaches again the files that were modified last, the plan and the skills; the "
                f"file does not show them. About {tokens:,} tokens, at most {MOST + more:,}."
            )
            return Part(tokens, 0, MOST + more, (), note)
        if not is_sealed(compaction):
            return NOTHING
        tokens = before.tokens or ENCRYPTED
        most = max(tokens, MOST_ENCRYPTED)
        note = f"Only the provider can read the summary: about {tokens:,} tokens, at most {most:,}."
        return Part(tokens, 0, most, (), note)

    def _find_left(self, number: int, system: Part) -> Part:
        """Find what came with a compaction after which the harness estimates the conversation (`postTokens`):
        it is the estimate without the summary, what was kept, and the attachments and provided content that
        the file shows."""
        sizes = self.sizes
        compaction = self._find_compaction(number)
        boundary = compaction.boundary
        recorded = boundary.left if boundary is not None and boundary.tokens_after is None else None
        tokens_left = 0 if recorded is None else whole_tokens(recorded)
        if not tokens_left:
            return NOTHING
        end = sizes.where[self.session.index[find_end(self.session, compaction.id)]]
        # What is provided is a part of the estimate; system prompt and tools are not.
        head = self.ledger.head_sections[[SECTIONS.index("system"), SECTIONS.index("tools")]]
        in_context = int(sizes.full[end] - head.sum())
        tokens = max(tokens_left - round(sizes.scale.middle * in_context), 0)
        slack = round(ESTIMATED * (tokens_left + system.tokens))
        note = (
            f"Claude Code estimates {tokens_left:,} tokens of conversation after its compaction; {tokens:,} "
            "of them are not in the file, give or take a tenth of the request."
        )
        return Part(tokens, max(tokens - slack, 0), tokens + slack, (), note)

    def _begins_in_the_middle(self) -> bool:
        """Whether the beginning of the session is not in the file: the first entry follows one that is not in
        it, or is a reply, or the first request is larger than any system prompt."""
        sizes, session, first = self.sizes, self.session, int(self.sizes.path[0])
        parent = session.entries[first].parent
        cut = parent is not None and parent not in session.index
        most = self.usual.high if session.format in TYPICAL else MIDDLE
        large = (sizes.residual[sizes.rows(0)[:1]] > most).any()
        return bool(cut or large or session.tree.role[first] in (ASSISTANT, TOOL))

    def _mentions_files(self) -> bool:
        """Whether the first prompt names files with @, and no row holds what was attached for it."""
        first = self.sizes.path[: int(self.sizes.at[0])].tolist()
        texts = (entry.text for entry in map(self.session.entries.__getitem__, first) if entry.opens_turn)
        return self._attaches_unseen() and any(map(MENTION.search, texts))

    def _attaches_unseen(self) -> bool:
        """Whether the harness attaches files, and the version that wrote the file keeps no row of them."""
        entries = self.session.entries

        def look() -> bool:
            return bool(self.session.provided) or any(e.extra.get("way") == "attached" for e in entries)

        return self.session.format in ATTACHING and not _SHOWS.of(self.ledger, look)

    def _find_slack(self, row: int) -> int:
        """Find by how many tokens hidden reasoning may be off: 0 if a reply reports it and nothing was
        cleared since."""
        sizes, scale = self.sizes, self.sizes.scale
        wide = max(scale.high - scale.middle, scale.middle - scale.low) if scale.fitted else UNFITTED
        if row < 0:
            return round(wide * int(sizes.tokens[sizes.where[self.session.live.entries]].sum()))
        _, since, less = sizes.emptied
        return round(wide * int(less[since > int(sizes.at[row])].sum()))

    def _warn_exceeding(self) -> tuple[str, ...]:
        """Warn if the last request was counted much larger than it was reported."""
        reported, counted = int(self.sizes.prompt[-1]), int(self.sizes.counted[-1])
        warning = (
            f"{counted:,} tokens are counted where {reported:,} were reported: every size here is a counted "
            f"one, and may be {counted / reported - 1:.0%} too large."
        )
        return (warning,) if counted > (1 + EXCEEDING) * reported else ()

    def _warn(self, system: Part, before: Part, attached: Part, is_reported: bool) -> tuple[str, ...]:
        out = []
        if before.tokens:
            middle = self._begins_in_the_middle()
            why = "begins in the middle of its session" if middle else "lacks what the prompt names with @"
            out.append(
                f"The file {why}: {before.tokens:,} tokens ({before.low:,} to {before.high:,}) of the first "
                "request are not in it. A compaction takes them too."
            )
        if system.high - system.low > 2 * DRIFT * system.tokens + 1:
            out.append(
                f"No request reports system prompt and tools: {system.low:,} to {system.high:,} tokens."
            )
        if not attached.certain and not attached.replies:
            out.append(attached.note)
        if len(self.sizes.at) and not self.sizes.scale.fitted and not is_reported:
            out.append("Too few replies show how the provider counts text: the rest is a guess.")
        return (*out, *self._warn_missing())

    def _warn_missing(self) -> tuple[str, ...]:
        """Warn if outputs in the context have no calls there."""
        lost = len(self.session.live.orphans)
        warning = f"{lost:,} outputs answer calls that are not in the context: rows of the file are missing."
        return (warning,) if lost >= MISSING else ()


def _find_after_first(ledger: Ledger) -> Part:
    """Find system prompt and tools by the first request after a file's first compaction, if there is one."""
    sizes = RequestSizes(ledger.session, ledger)
    rows = sizes.rows(1)
    if not len(rows):
        return NOTHING
    prediction, rest = _Prediction(sizes), sizes.remainder(1)
    came, least = prediction._expect(1, NOTHING, False), min(rest, prediction.usual.low)
    note = "reported by the request after the first recorded compaction"
    return Part(
        max(rest - came.tokens, least), max(rest - came.high, least), rest, sizes.names(rows[:1]), note
    )


class Attachable(NamedTuple):
    """Something that may be attached again: a file that was read or changed, a skill, a plan.

    `tokens` are counted. Of a file they include line numbers, and are 0 if only its path is attached. They
    are None if the length of the file is unknown from the call.
    """

    at: int
    kind: str
    name: str
    tokens: float | None


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
    for at, kind, name, tokens in _ATTACHABLE.of(sizes.ledger, lambda: _find_attachable(sizes.ledger)):
        place = int(sizes.where[at])
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
    order = sorted(last_read, key=lambda name: (changed.get(name, -1), last_read[name]), reverse=True)
    more = plan + min(sum(skills.values()), SKILLS)
    # Everything attached again was in the context before.
    most, scale = int(sizes.tokens[first:end].sum()), sizes.scale.middle
    tokens = scale * (sum(files[name] for name in order[:FILES]) + more) + BESIDE
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
