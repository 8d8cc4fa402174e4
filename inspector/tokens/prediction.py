"""Session + ledger -> what the next request holds that is not in the file: reported, or else predicted.

1. System prompt and tools are what a request holds beyond its entries, if it holds nothing else. If a harness
   attaches files, only the requests before its first compaction tell; else they are typical.
2. The first request after a compaction reports what came with it: what is left beyond its entries and 1.
3. Until then, Claude Code is predicted to attach again the five files that were modified last, with line
   numbers; files that were only read follow, the latest first. A file above 5,000 tokens takes a place, but
   only its path is attached. Added are the plan and the skills that were used, each up to 5,000 tokens and
   all up to 25,000 (recorded requests of 2.1.332). Newer versions keep a row of each: nothing is predicted.
4. If a file begins in the middle, or the first prompt names files with @, the first request held more than 1.

Measured on 13 compactions of versions 2.1.7 to 2.1.49 (`make predictions`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..session.blocks import ToolCall
from ..session.entries import is_tokens
from ..session.queries import is_sealed
from ..session.session import Session
from ..session.tree import ASSISTANT, TOOL
from .ledger import Ledger
from .memo import Memo
from .not_in_file import NOTHING, NotInFile, Part
from .request_sizes import RequestSizes

_NOTE = "typical; nothing in the file reports it"
TYPICAL = {"claude-code": Part(42_000, 15_000, 60_000, (), _NOTE)}
"""System prompt and tools if nothing reports them. Claude Code 2.1.7 to 2.1.210: 28 to 46 thousand tokens in
the sessions of 100 recorded compactions. A first request above the most holds something else too."""
ELSEWHERE, MIDDLE = Part(8_000, 1_000, 40_000, (), _NOTE), 100_000
"""Other harnesses: 2.6 thousand in pi's first request. None is published: only above 100,000 tokens it is
sure that a first request holds something else."""
ATTACHING = frozenset({"claude-code"})
"""Formats of harnesses that attach files again."""
FILES, FILE, SKILL, SKILLS = 5, 5_000, 5_000, 25_000
"""Published: files that are attached, and the most tokens of a file, of a skill and of all skills."""
LARGEST, BESIDE = 4_000, 500
"""Fitted to the 13 compactions: counted tokens of the largest file that is attached, and the provider's
tokens besides files, plan and skills. Fitted without one of the nine sessions, the first is 4,000 eight times
of nine, the second from 0 to 1,000."""
MOST = FILES * FILE + BESIDE
UNSEEN = 10_400
"""The mean of the 13, from 3 to 21,161, for a file without the entries before the compaction."""
ENCRYPTED, MOST_ENCRYPTED = 2_200, 6_000
"""The requests after 3 compactions of Codex held 2,157 to 3,131 tokens more than those before."""
UNFITTED, DRIFT, EXCEEDING, MISSING = 0.7, 0.05, 0.1, 3
"""How many tokens more a counted one may be without a fitted scale; by which share system prompt and tools
differ at most from those reported before. Warn if a tenth more is counted than reported, and if three outputs
have no call: a file may begin with up to two."""
NUMBER, CHARS = "   100→", 4
"""The prefix of a line in the output of Read; characters of a token if nothing was read."""
TOOLS, PLANS = ("Read", "Write", "Edit", "MultiEdit"), "/.claude/plans/"
SKILL_TEXT, MENTION = "Base directory for this skill:", re.compile(r"(?:^|\s)@[\w~.-]*[/.][\w./-]*")

_PREDICTIONS: Memo[NotInFile] = Memo(64)
_AFTER_FIRST: Memo[Part] = Memo()
_SHOWS: Memo[bool] = Memo()


def find_not_in_file(session: Session, ledger: Ledger) -> NotInFile:
    """Find what the context at the session's leaf holds that is not in the file. Kept with the ledger.

    Only requests on the path to the leaf are used, with two exceptions: the provider's scale is fitted to all
    requests of the session, and if the first request on the path held something else, the first one after a
    compaction of the file reports system prompt and tools.

    >>> from inspector import count_tokens, open_demo
    >>> session = open_demo()
    >>> found = find_not_in_file(session, count_tokens(session))
    >>> sum(part.tokens for part in found.parts.values()) == found.tokens > found.system_and_tools.tokens > 0
    True
    """
    ledger.check(session)
    return _PREDICTIONS.of(ledger, lambda: _find(RequestSizes(session, ledger)), session.leaf)


def find_before_file(sizes: RequestSizes) -> int:
    """Return the tokens before the file, as they were until the first recorded compaction."""
    return _divide(sizes, 0)[1].tokens


def _find(sizes: RequestSizes) -> NotInFile:
    last, lost, out = len(sizes.cuts), len(sizes.session.live.orphans), list[str]()
    rows, spread, tokens = sizes.rows(last), sizes.spread(), sizes.tokens
    size, counted = (int(sizes.prompt[-1]), int(sizes.counted[-1])) if len(sizes.at) else (0, 0)
    result = NotInFile(spread=np.zeros_like(spread))
    if len(rows):
        result = replace(result, reported=size, counted=counted, entry=sizes.names(rows)[-1])
    missing = [f"{lost:,} outputs answer calls that are not in the context: rows of the file are missing."]
    missing = missing if lost >= MISSING else []
    if counted > size:
        warning = (
            f"{counted:,} tokens are counted where {size:,} were reported: every size here is a counted "
            f"one, and may be {counted / size - 1:.0%} too large."
        )
        out = [warning] if counted > (1 + EXCEEDING) * size else []
        return replace(result, exceeds=True, warnings=(*out, *missing), overcounted=1 - size / counted)
    system, more = _divide(sizes, last)
    if more.tokens and not last:
        out.append(more.note)
    if system.high - system.low > 2 * DRIFT * system.tokens + 1:
        out.append(f"No request reports system prompt and tools: {system.low:,} to {system.high:,} tokens.")
    if not (more.certain or more.replies):
        out.append(more.note)
    scale, (_, since, less) = sizes.scale, sizes.emptied
    if len(sizes.at) and not scale.fitted and not len(rows):
        out.append("Too few replies show how the provider counts text: the rest is a guess.")
    wide = max(scale.high - scale.middle, scale.middle - scale.low) if scale.fitted else UNFITTED
    unsure = less[since > sizes.at[-1]] if len(rows) else tokens[sizes.where[sizes.session.live.entries]]
    hidden, slack = int(spread.sum()), round(wide * int(unsure.sum()))
    note = "growth of the steps beyond the counted tokens"
    return replace(
        result,
        system_and_tools=system.within(),
        hidden_reasoning=Part(hidden, hidden - slack, hidden + slack, sizes.names(rows), note).within(),
        before_file=NOTHING if last else more.within(),
        reattached=more.within() if last else NOTHING,
        spread=spread,
        scale=scale.middle,
        warnings=(*out, *missing),
    )


def _divide(sizes: RequestSizes, number: int) -> tuple[Part, Part]:
    """Find system prompt and tools after a number of compactions, and what else belongs to no entry."""
    rows, why = sizes.rows(number), _why_more(sizes, number)
    rest, names = sizes.remainder(number) if len(rows) else 0, sizes.names(rows[:1])
    if len(rows) and not why:
        return Part(rest, rest, rest, names, "the part of the request beyond its entries"), NOTHING
    system = _find_system(sizes)
    if not len(rows):
        drift = round(DRIFT * system.tokens) if system.certain else 0
        system = system._replace(low=system.low - drift, high=system.high + drift)
        return system, _expect(sizes, number) if why else NOTHING
    tokens, low, high = (min(value, rest) for value in system[:3])
    if not number:
        why = (
            f"The file {why}: {rest - tokens:,} tokens ({rest - high:,} to {rest - low:,}) of the first "
            "request are not in it. A compaction takes them too."
        )
    more = Part(rest - tokens, rest - high, rest - low, names, why)
    return system._replace(tokens=tokens, low=low, high=high), more


def _find_system(sizes: RequestSizes) -> Part:
    """Find system prompt and tools by the last request that holds nothing else, else by the first request
    after a compaction of the file, else take the typical ones."""
    for number in range(len(sizes.cuts), -1, -1):
        if len(sizes.rows(number)) and not _why_more(sizes, number):
            return _divide(sizes, number)[0]
    usual, silent = TYPICAL.get(sizes.session.format, ELSEWHERE), not len(sizes.rows(0))
    if silent and not sizes.cuts:
        return NOTHING
    reported = _AFTER_FIRST.of(sizes.ledger, lambda: _find_after_first(sizes.ledger, usual.low))
    if reported.tokens:
        return reported
    before = sizes.path[: sizes.cuts[0]] if silent else sizes.path[:0]
    # Replies before a compaction that report nothing are followed by others that do not.
    unknown = silent and (usual is ELSEWHERE or (sizes.session.tree.role[before] == ASSISTANT).any())
    return NOTHING if unknown else usual


def _find_after_first(ledger: Ledger, least: int) -> Part:
    sizes = RequestSizes(ledger.session, ledger)
    number = int(sizes.segment[np.argmax(sizes.segment > 0)]) if len(sizes.segment) else 0
    if not number:
        return NOTHING
    rest, came = sizes.remainder(number), _expect(sizes, number) if _why_more(sizes, number) else NOTHING
    tokens, low = (max(rest - more, min(rest, least)) for more in (came.tokens, came.high))
    note = "reported by the first request after a recorded compaction"
    return Part(tokens, low, rest, sizes.names(sizes.rows(number)[:1]), note)


def _why_more(sizes: RequestSizes, number: int) -> str:
    """Return why requests after a number of compactions hold more than system prompt, tools and entries; ""
    if they do not."""
    session, entries = sizes.session, sizes.session.entries

    def look() -> bool:
        return bool(session.provided) or any(entry.extra.get("way") == "attached" for entry in entries)

    unseen = session.format in ATTACHING and not _SHOWS.of(sizes.ledger, look)
    if number:
        entry = entries[int(sizes.path[sizes.cuts[number - 1]])]
        return "added with the compaction" if is_sealed(entry) or (entry.sources and unseen) else ""
    if not len(sizes.rows(0)):
        return ""
    usual, first = TYPICAL.get(session.format), int(sizes.path[0])
    if sizes.remainder(0) <= (usual or ELSEWHERE).tokens:
        return ""
    large = int(sizes.residual[0]) > (usual.high if usual else MIDDLE)
    if (
        large
        or entries[first].parent not in (None, *session.index)
        or session.tree.role[first] in (ASSISTANT, TOOL)
    ):
        return "begins in the middle of its session"
    opening = (entries[i] for i in sizes.path[: sizes.at[0]].tolist())
    named = unseen and any(MENTION.search(entry.text) for entry in opening if entry.opens_turn)
    return "lacks what the prompt names with @" if named else ""


def _expect(sizes: RequestSizes, number: int) -> Part:
    """Predict what came with a compaction that no request has reported."""
    if is_sealed(sizes.session.entries[int(sizes.path[sizes.cuts[number - 1]])]):
        earlier = next((n for n in range(number - 1, 0, -1) if len(sizes.rows(n))), 0)
        tokens = _divide(sizes, earlier)[1].tokens if earlier else 0
        tokens, most = tokens or ENCRYPTED, max(tokens, MOST_ENCRYPTED)
        note = f"Only the provider can read the summary: about {tokens:,} tokens, at most {most:,}."
        return Part(tokens, 0, most, (), note)
    unseen = number == 1 and not len(sizes.rows(0))
    tokens, more = (UNSEEN, 0) if unseen else _predict_reattached(sizes, number)
    note = (
        "Claude Code attaches again the files that were modified last, the plan and the skills; the "
        f"file does not show them. About {tokens:,} tokens, at most {MOST + more:,}."
    )
    return Part(tokens, 0, MOST + more, (), note)


def _predict_reattached(sizes: RequestSizes, number: int) -> tuple[int, int]:
    """Predict the provider's tokens of what is attached again: all, and the plan's and the skills'.

    A file has the tokens of its characters and line numbers (`extra["file"]`), at the tokens of a character
    that was read. If the row does not record its length, it has those that were written or read.
    """
    ledger, first, end = sizes.ledger, sizes.cuts[number - 2] if number > 1 else 0, sizes.cuts[number - 1]
    per_line, calls = int(ledger.count_texts([NUMBER])[0]), dict[str, tuple[str, str, int]]()
    files: dict[str, tuple[int, int]] = {}  # characters and lines; tokens and -1 if these are not recorded
    used, changed, skills, plan, read, chars = dict[str, int](), dict[str, int](), dict[str, int](), 0, 0, 0
    for place, i in enumerate(sizes.path[:end].tolist()):
        entry = sizes.session.entries[i]
        plan = int(ledger.entry_tokens[i]) if entry.extra.get("way") == "plan" else plan
        tokens = ledger.tokens[ledger.start[i] : ledger.start[i + 1]].tolist()
        for block, counted in zip(entry.blocks, tokens, strict=True):
            if isinstance(block, ToolCall):
                args = block.input if isinstance(block.input, Mapping) else {}
                if block.name == "ExitPlanMode" and args.get("plan"):
                    plan = counted
                elif block.name in TOOLS and isinstance(name := args.get("file_path"), str):
                    calls[block.id] = block.name, name, counted
            elif block.kind == "text" and entry.meta and block.text.startswith(SKILL_TEXT):
                skills[block.text.partition("\n")[0]] = min(counted, SKILL)
            elif block.kind == "tool_output" and block.call_id in calls and not block.is_error:
                tool, name, written = calls.pop(block.call_id)
                if PLANS in name:
                    plan = written if tool == "Write" else plan
                    continue
                if tool == "Read":
                    lines = block.text.count("\n") + 1
                    read += max(counted - per_line * lines, 0)
                    chars += max(len(block.text) - len(NUMBER) * lines, 0)
                size = entry.extra.get("file")
                length = [size.get("chars"), size.get("lines")] if isinstance(size, Mapping) else [None]
                known = [n for n in length if isinstance(n, int) and is_tokens(n)]
                if len(known) == 2:
                    files[name] = known[0], known[1]
                elif tool in ("Read", "Write"):
                    files[name] = (counted if tool == "Read" else written), -1
                used |= {name: place} if place >= first else {}
                changed |= {name: place} if tool != "Read" else {}
    density = read / chars if chars else 1 / CHARS

    def measure(name: str) -> float:
        length, lines = files.get(name, (0, -1))
        tokens, limit = (length, FILE) if lines < 0 else (density * length, LARGEST)
        return tokens + per_line * max(lines, 0) if tokens <= limit else 0

    order = sorted(used, key=lambda name: (changed.get(name, -1), used[name]), reverse=True)
    more, scale = plan + min(sum(skills.values()), SKILLS), sizes.scale.middle
    whole = scale * (sum(map(measure, order[:FILES])) + more) + BESIDE
    # Everything attached again was in the context before.
    return round(min(whole, scale * int(sizes.tokens[first:end].sum()))), round(scale * more)
