"""What is a person's own in words they typed: without the logs, the code and the reviews they pasted.

In goes a text, out comes the same text with blanks where something was pasted, so that places stay. A line
is pasted when it reads like a program's (a time stamp, a level, a stack frame, JSON, a prompt), when it is
inside a fence, or when it lies between such lines. What remains may still be someone else's prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from .sentences import Hit

_FENCE = re.compile(
    r"^[ \t]*(?:```|~~~)[^\n]*\n.*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_PRINTED = re.compile(
    r"""(?ix)^[ \t]*(?:
      \d{4}-\d\d-\d\d[T ]\d | \d\d:\d\d:\d\d | [A-Z][a-z]{2}\ +\d+\ \d\d: | time=\d
    | \[[\w .:/-]{2,40}\]\ (?=\S+[\ :]) | (?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE)\b[: |\[]
    | at\ \S+(?:\ \(|$) | at\ [a-z]+$ | File\ " | Traceback\b | \s*\^+\s*$ | [❯➜$%>#]\ \S | \S+@\S+[:$]
    | (?:error|warning|fatal|panic|exit\ status|npm\ err!?)\b[: ] | \w*(?:Error|Exception)\b[:( ]
    | ["'{}\[\]]+.{0,80}["'{}\[\]],?$ | "\w+":\ | [⏺⎿✓✗●│┃└├─═] | (?:@@|diff\ --git|[+-]{3}\ )
    | \S+\.\w{1,4}:\d+:?\d* | \S+\ *\|\ +\d+\ [+-] | \./\.git/ )"""
)
_BESIDE = 6  # so many lines between two that were printed are printed too
_JSON = re.compile(r"\{\"\w+\":.{400,}")
_LONG = 40  # so many lines after the first printed one: a dump to its end


def blank_pasted(text: str) -> str:
    """The text with blanks for what was pasted into it.

    >>> blank_pasted("It fails:\\nERROR: you must never do that\\nNever retry it.")
    'It fails:\\n                              \\nNever retry it.'
    """
    if "\n" not in text and len(text) < 400:
        return text
    if "```" in text or "~~~" in text:
        text = _FENCE.sub(lambda match: _blank(match[0]), text)
    lines = text.split("\n")
    printed = [at for at, line in enumerate(lines) if _PRINTED.match(line[:300]) or _JSON.search(line)]
    if not printed:
        return text
    out = set(printed)
    for one, other in pairwise(printed):
        if other - one <= _BESIDE:
            out.update(range(one, other))
    if len(printed) > _LONG // 2 and len(lines) - printed[0] > _LONG:
        out.update(range(printed[0], printed[-1] + 1))
    return "\n".join(_blank(line) if at in out else line for at, line in enumerate(lines))


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


_STOP = re.compile(r"[。！？；]|[.!?]+(?=[\s\"')*<]|$)|\n| \| |</?[a-z][\w-]{2,40}>")
_ASIDE = re.compile(r"\([^()\n]{1,200}\)(?=\s+[A-Z])")
_ASKS_TOO = re.compile(
    r"(?i)[,;] *(?:(?:but|and|so|or) )?(?:can|could|should|do|does|is|are|what|how|why|would|will)\b[^,;]*\?$"
)
_LEAD = re.compile(r"[\s\-*>•#|]*(?:\d{1,2}[.)]\s+)?")
_MOST = 400


def typed_sentences(text: str) -> Iterator[Hit]:
    """(start, end, form) of every sentence. Of one that ends in a question, what comes before the question.

    >>> [form for _, _, form in typed_sentences("- let's use it, can you show it? It is late. Fine!")]
    ["let's use it", 'It is late.', 'Fine!']
    """
    at = 0
    while at < len(text):
        stop = _STOP.search(text, at)
        end = stop.end() if stop else len(text)
        lead = _LEAD.match(text, at, end)
        start = lead.end() if lead else at
        if (aside := _ASIDE.match(text, start, end)) is not None:
            stop, end = None, aside.end()
            start += 1
        until = stop.start() if stop and stop[0][0] == "<" else end - 1 if aside else end
        words = text[start:until].rstrip(" \t\r\n|:")
        if words.endswith("?") and (asked := _ASKS_TOO.search(words)):
            words = words[: asked.start()].rstrip()
        if len(words) > 3 and len(words) <= _MOST:
            yield start, start + len(words), " ".join(words.split())
        at = end
