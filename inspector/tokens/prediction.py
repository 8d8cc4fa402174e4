"""Session + ledger -> what the next request holds that is not in the file: reported, or else predicted.

1. System prompt and tools are what a request holds beyond its entries, if it holds nothing else. If a harness
   attaches files, only requests before the first compaction show it; otherwise their size is the typical one.
2. The first request after a compaction reports what came with it: the rest, without entries and item 1.
3. Until then, the harness's own estimate counts, if the file has one. Without it, Claude Code is predicted to
   attach again the five files that were modified last, with line numbers; files that were only read follow,
   the latest first. A file above 5,000 tokens takes a place, but only its path is attached. The plan
   and the used skills are added, each up to 5,000 tokens, all up to 25,000 (recorded requests of 2.1.332).
   Newer versions keep a row of each: nothing is predicted. `make predictions` measures the errors.
4. If a file begins in the middle, or the first prompt names files with @, the first request holds more than
   item 1.
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

TYPICAL = {"claude-code": Part(42_000, 15_000, 60_000, (), "typical; nothing in the file reports it")}
ELSEWHERE, MIDDLE = Part(8_000, 1_000, 40_000, (), "typical; nothing in the file reports it"), 100_000
"""System prompt and tools if nothing reports them. Claude Code 2.1.7 to 2.1.210: 28 to 46 thousand tokens in
the sessions of 100 recorded compactions; a first request above the most holds something else too. Of other
harnesses (pi: 2.6 thousand) none is published: only above 100,000 tokens this is sure."""
ATTACHING = frozenset({"claude-code"})
"""Formats of harnesses that attach files again."""
FILES, FILE, SKILL, SKILLS = 5, 5_000, 5_000, 25_000
"""Published: files that are attached, and the most tokens of a file, of a skill and of all skills."""
LARGEST, BESIDE = 4_000, 500
"""Fitted to the 13 compactions: counted tokens of the largest file that is attached, and the provider's
tokens besides files, plan and skills. Fitted without one of the nine sessions, the first is 4,000 eight times
of nine, the second from 0 to 1,000."""
MOST, UNSEEN = FILES * FILE + BESIDE, 10_400
"""The most, and the mean of the 13 (3 to 21,161), for a file without the entries before the compaction."""
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
_AFTER_FIRST, _SHOWS = Memo[Part](), Memo[bool]()


def find_not_in_file(session: Session, ledger: Ledger) -> NotInFile:
    """Find what the context at the session's leaf holds that is not in the file. Kept with the ledger.

    Only requests on the path to the leaf are used, with one exception: if the first of them held something
    else, the first one after a compaction of the file reports system prompt and tools.
    """
    ledger.check(session)
    return _PREDICTIONS.of(ledger, lambda: _find(RequestSizes(session, ledger)), session.leaf)


def _find(sizes: RequestSizes) -> NotInFile:
    last, lost, out = len(sizes.cuts), len(sizes.session.live.orphans), list[str]()
    spread, size, counted = sizes.spread(), int(sizes.prompt[-1:].sum()), int(sizes.counted[-1:].sum())
    names, result = sizes.names(sizes.rows(last)), NotInFile(spread=np.zeros_like(spread))
    result = replace(result, reported=size, counted=counted, entry=names[-1]) if names else result
    missing = f"{lost:,} outputs answer calls that are not in the context: rows of the file are missing."
    missed = (missing,) * (lost >= MISSING)
    if counted > size:
        over, share = 1 - size / counted, f"may be {counted / size - 1:.0%} too large"
        warning = f"{counted:,} tokens are counted where {size:,} were reported: each size {share}."
        warnings = (warning,) * (counted > (1 + EXCEEDING) * size) + missed
        return replace(result, exceeds=True, warnings=warnings, overcounted=over)
    system, more = divide_request(sizes, last)
    if more.tokens and not last:
        out.append(
            f"The file {more.note}: {more.tokens:,} tokens ({more.low:,} to {more.high:,}) of the first "
            "request are not in it. A compaction takes them too."
        )
    if system.high - system.low > 2 * DRIFT * system.tokens + 1:
        out.append(f"No request reports system prompt and tools: {system.low:,} to {system.high:,} tokens.")
    if not (more.certain or more.replies):
        out.append(more.note)
    scale, (_, since, less) = sizes.scale, sizes.emptied
    if len(sizes.at) and not scale.fitted and not names:
        out.append("Too few replies show how the provider counts text: the rest is a guess.")
    wide = max(scale.high - scale.middle, scale.middle - scale.low) if scale.fitted else UNFITTED
    unsure = less[since > sizes.at[-1]] if names else sizes.tokens[sizes.where[sizes.session.live.entries]]
    hidden, slack, note = int(spread.sum()), round(wide * int(unsure.sum())), "growth beyond counted tokens"
    return replace(
        result,
        system_and_tools=system.within(),
        hidden_reasoning=Part(hidden, hidden - slack, hidden + slack, names, note).within(),
        before_file=NOTHING if last else more.within(),
        reattached=more.within() if last else NOTHING,
        spread=spread,
        scale=scale.middle,
        warnings=(*out, *missed),
    )


def divide_request(sizes: RequestSizes, number: int) -> tuple[Part, Part]:
    """Find system prompt and tools after a number of compactions, and what else belongs to no entry."""
    rows, why = sizes.rows(number), _why_more(sizes, number)
    rest, names = sizes.remainder(number) if len(rows) else 0, sizes.names(rows[:1])
    if len(rows) and not why:
        return Part(rest, rest, rest, names, "the part of the request beyond its entries"), NOTHING
    system = _find_system(sizes)
    if not len(rows) and number and (estimate := sizes.read_estimate(number, system.tokens)).tokens:
        return system, estimate
    if not len(rows):
        drift = round(DRIFT * system.tokens) if system.certain else 0
        more = _expect(sizes, number) if why else NOTHING
        return system._replace(low=system.low - drift, high=system.high + drift), more
    tokens, low, high = (min(value, rest) for value in system[:3])
    more = Part(rest - tokens, rest - high, rest - low, names, why)
    return system._replace(tokens=tokens, low=low, high=high), more


def _find_system(sizes: RequestSizes) -> Part:
    """Find system prompt and tools by the last request of nothing else, or after a compaction of the file."""
    for number in range(len(sizes.cuts), -1, -1):
        if len(sizes.rows(number)) and not _why_more(sizes, number):
            return divide_request(sizes, number)[0]
    usual, silent = TYPICAL.get(sizes.session.format, ELSEWHERE), not len(sizes.rows(0))
    reported = _AFTER_FIRST.of(sizes.ledger, lambda: _find_after_first(sizes.ledger, usual.low))
    if reported.tokens and not (silent and not sizes.cuts):
        return reported
    # Replies that report nothing are followed by others that do not.
    before = sizes.session.tree.role[sizes.path[: sizes.cuts[0] if sizes.cuts else None]]
    unknown = not sizes.cuts or usual is ELSEWHERE or (before == ASSISTANT).any()
    return NOTHING if silent and unknown else usual


def _find_after_first(ledger: Ledger, least: int) -> Part:
    sizes = RequestSizes(ledger.session, ledger)
    if (number := next(filter(None, sizes.segment.tolist()), 0)) == 0:
        return NOTHING
    rest, came = sizes.remainder(number), _expect(sizes, number) if _why_more(sizes, number) else NOTHING
    tokens, low = (max(rest - more, min(rest, least)) for more in (came.tokens, came.high))
    note = "reported by the first request after a recorded compaction"
    return Part(tokens, low, rest, sizes.names(sizes.rows(number)[:1]), note)


def _why_more(sizes: RequestSizes, number: int) -> str:
    """Return why requests after a number of compactions hold more than prompt, tools and entries, or ""."""
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
    large, parent = int(sizes.residual[0]) > (usual.high if usual else MIDDLE), entries[first].parent
    cut = parent is not None and parent not in session.index
    if large or cut or session.tree.role[first] in (ASSISTANT, TOOL):
        return "begins in the middle of its session"
    opening = (entries[i] for i in sizes.path[: sizes.at[0]].tolist())
    named = unseen and any(MENTION.search(entry.text) for entry in opening if entry.opens_turn)
    return "lacks what the prompt names with @" if named else ""


def _expect(sizes: RequestSizes, number: int) -> Part:
    """Predict what came with a compaction that no request has reported."""
    if is_sealed(sizes.session.entries[int(sizes.path[sizes.cuts[number - 1]])]):
        earlier = next((n for n in range(number - 1, 0, -1) if len(sizes.rows(n))), 0)
        tokens = divide_request(sizes, earlier)[1].tokens if earlier else 0
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
                stated = [n for n in length if isinstance(n, int) and is_tokens(n)]
                if len(stated) == 2:
                    files[name] = stated[0], stated[1]
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
