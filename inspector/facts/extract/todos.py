"""Open tasks in text: boxes, `TODO:`, what someone says is needed, and lists of next steps."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..vocabulary import NO_END
from .typed import Hit
from .word_places import Places

_BOX = re.compile(r"(?:^|[\n\"→\t])[ \t]*(?:[-*+] |\d{1,3}\. )\[ \][ \t]+(\S[^\n]{2,400})")
_MARKED = re.compile(r"\bTODO(?:\([\w@.-]{1,40}\))?:[ \t]+(\S[^\n]{2,400})")
_STATUS = re.compile(r"(?:^|\n)[ \t]*#?\d{0,4}[.:]? ?\[(?:pending|in_progress)\] (\S[^\n]{2,400})")
_MARKS = {"[ ]": _BOX, "TODO": _MARKED, "[pending]": _STATUS, "[in_progress]": _STATUS}
TODO_MARKS = tuple(_MARKS)
_NEED = re.compile(
    r"(?:(?:^|(?<=[\n.!?:*-]))[ \t]*|(?<=\. )|(?<=, so )|(?<=, and )|(?<=, but ))"
    r"((?:(?:Now|Next|First|Then|So|Also|But|And|Finally|Actually),? )?"
    r"(?:(?:I|we|We)(?:['’]ll| will| would)? (?:still |also |now |just )?(?:need|have) to\b"
    r"|(?:Still n|N)eeds? to\b|[Tt]he next (?:\w+ )?(?:task|step|thing|item) is\b)"
    r"|(?:Remaining|Still to do|Left to do|Next up|Next steps?|Follow-?ups?):(?= \w))([^\n]{0,400})"
)
_HEADING = re.compile(
    r"(?im)^[ \t]*(?:#{1,6} +)?(?:\d{1,2}\. +)?(?:\*\*)?"
    r"((?:optional |immediate |suggested )?next(?: steps?| up)?(?!\.\w)"
    r"|remaining(?: (?:work|tasks?|steps?|items?|todos?))?|action items?|follow-?ups?"
    r"|(?:pending|open|outstanding|unfinished) (?:tasks?|todos?|items?|work|steps?)"
    r"|to-?dos?|what(?:['’]s| is) left|still (?:to do|needed|open|pending)|not (?:yet )?done(?: yet)?)\b"
    r"[^\n]{0,60}$"
)
_ITEM = re.compile(r"[ \t]*(?:[-*+•] |\d{1,3}[.)] )[ \t]*(?!\[x\])(?:\[ \] )?(\S[^\n]{2,400})")
_NOTHING = re.compile(r"(?i)(?:no(?:ne|thing)?\b|n/a\b|all (?:done|complete))")
_END = re.compile(rf"[.!?]{NO_END}(?=\s|$)")
_MOST = 40


def find_tasks(text: str) -> Iterator[Hit]:
    """What is needed or comes next, in someone's words."""
    for match in _NEED.finditer(text) if "eed to" in text or "ext " in text else ():
        stop = _END.search(match[2])
        rest = match[2][: stop.end() if stop else None].rstrip()
        if len(rest) > 8:
            end = match.end(1) + len(rest.rstrip(":"))
            yield match.start(1), end, " ".join(text[match.start(1) : end].split())
        elif rest in (":", " :"):
            yield from _items(text, match.end())
    for match in _HEADING.finditer(text):
        yield from _items(text, match.end())


def _items(text: str, at: int) -> Iterator[Hit]:
    """The items of the list that starts below; without one, the line below."""
    listed = 0
    for _ in range(_MOST):
        at += 1
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        item = _ITEM.match(text, at, end)
        line = text[at:end].strip()
        if item:
            listed += 1
            if not _NOTHING.match(item[1]):
                yield item.start(1), item.start(1) + len(item[1].rstrip()), " ".join(item[1].split())
        elif line and not listed and line[:1] not in "#`<|{\x1f":
            stop = _END.search(line)
            task = line[: stop.end() if stop else None].rstrip(":")
            if len(task) > 8 and not _NOTHING.match(task):
                start = text.find(line, at)
                yield start, start + len(task), " ".join(task.split())
            return
        elif (line and listed) or at >= len(text):
            return
        at = end


def find_todos(text: str, places: Places) -> Iterator[Hit]:
    """Tasks still open: `- [ ] …` and `TODO: …`; `places` are those of TODO_MARKS."""
    for mark, pattern in _MARKS.items():
        for match in pattern.finditer(text) if mark in places else ():
            task = match[1]
            for end in ('",', '"}', " [blocked by "):  # in a call's text its string ends there
                task = task.partition(end)[0]
            task = task.rstrip()
            if len(task) > 2:
                yield match.start(1), match.start(1) + len(task), " ".join(task.split())
