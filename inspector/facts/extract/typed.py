"""What is a person's own in words they typed: without the logs, the code and the reviews they pasted.

In goes a text, out comes the same text with blanks where something was pasted, so that places stay. A line
is pasted when it reads like a program's (a time stamp, a level, a stack frame, JSON, a prompt), when it is
inside a fence, or when it lies between such lines. Quoted is a line after ">", what stands in a tag for a
file or a quote, an error's JSON, and what follows a word that says whose it is: 'he said: "…"', "got this
feedback: …", "in the console: …", to the closing mark, to the end of the line, or, where the line ends there,
to the end of the next paragraph. It costs the rules that a person makes theirs by quoting them; the second
paragraph of a quote without marks is still taken for their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from .sentences import Hit, holds_any

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
_TAG = re.compile(
    r"(?i)<(file|file_contents?|document|document_content|attached_file|pasted|paste|quote"
    r"|blockquote)\b[^<>\n]{0,200}>"
)
_BODY = re.compile(r"(?s)\{\"(?:type\": ?\"error|error\": ?\{).{0,2000}?\}[^{}]{0,200}\}")
_QUOTED = re.compile(r"(?m)^[ \t]*>[^\n]*")
_SAYS = re.compile(
    r"""(?ix)(?:
      \b(?!(?:i|we|user|i['’]ve|we['’]ve|and|but|as|just|already|also|have|has|was|is)\b)[\w@.'’-]{1,40}[ ]
      (?:(?:also|just|then|clearly|always)[ ])?
      (?:said|says|wrote|writes|commented|comments|replied|insists|claims|told[ ](?:me|us|you)|answered)
      (?:[ ](?:that|this|(?:to|on|in|here|about)[ ][^\n:"“]{1,30}))?
    | \b(?:got|here(?:['’]s|[ ]is)|with|have|get|getting)[ ](?:this|the|some|these)[ ](?:[\w-]+[ ])?
      (?:feedback|comments?|review|message|error|warnings?|reply|answer)
    | \bin[ ]the[ ](?:console|logs?|terminal)
    )[ ]*(?::[ \t]*|,?[ ]+(?=["“])|,[ ](?=["“]))"""
)
_SAYING = (
    "said", "says", "wrote", "writes", "comment", "replied", "insists", "claims", "told ", "answer",
    "feedback", "review", "message", "error", "warning", "reply", "in the ",
)  # fmt: skip
"""In lower case: a text with none of these tells nobody's words, which takes less long to see."""
_CLOSING = {'"': '"', "“": "”", "'": "'", "‘": "’", "`": "`"}
_REACH = 2000
_BESIDE = 6  # so many lines between two that were printed are printed too
_JSON = re.compile(r"\{\"\w+\":.{400,}")
_LONG = 40  # so many lines after the first printed one: a dump to its end


def blank_pasted(text: str) -> str:
    """The text with blanks for what was pasted into it or quoted in it.

    >>> blank_pasted("It fails:\\nERROR: you must never do that\\nNever retry it.")
    'It fails:\\n                              \\nNever retry it.'
    >>> blank_pasted('He said: "never push". Keep it small.')
    'He said:              . Keep it small.'
    """
    if "```" in text or "~~~" in text:
        text = _FENCE.sub(lambda match: _blank(match[0]), text)
    text = _blank_quoted(text)
    if "\n" not in text and len(text) < 400:
        return text
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


def _blank_quoted(text: str) -> str:
    if "</" in text:
        text = _blank_spans(text, _find_tagged(text))
    if '{"' in text:
        text = _BODY.sub(lambda match: _blank(match[0]), text)
    if ">" in text:
        text = _QUOTED.sub(lambda match: _blank(match[0]), text)
    if not _may_quote(text):
        return text
    return _blank_spans(
        text, [(match.end(), _end_quote(text, match.end())) for match in _SAYS.finditer(text)]
    )


def _may_quote(text: str) -> bool:
    """Whether a word that may say whose words follow stands before a colon or a quotation mark."""
    if not text.isascii():
        # It may hold other quotation marks, and letters that are taken for another case of a word's.
        return holds_any(text.lower(), _SAYING)
    last = max(text.rfind(":"), text.rfind('"'))
    return last > 0 and holds_any(text[:last].lower(), _SAYING)


def _find_tagged(text: str) -> Iterator[tuple[int, int]]:
    """Where a tag and what it closes stand; each sort of tag that nothing closes is looked for once."""
    end = 0
    open_ended = set[str]()
    for match in _TAG.finditer(text):
        name = match[1].lower()
        if match.start() < end or name in open_ended:
            continue
        closing = re.compile(f"(?i)</{name}>").search(text, match.end())
        if closing is None:
            open_ended.add(name)
            continue
        end = closing.end()
        yield match.start(), end


def _blank_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with blanks for these parts, which come in order and may lie in one another."""
    out, done = [], 0
    for start, end in spans:
        if end > done:
            out += [text[done : max(start, done)], _blank(text[max(start, done) : end])]
            done = end
    return "".join([*out, text[done:]])


def _end_quote(text: str, start: int) -> int:
    """Where what is quoted from `start` ends."""
    closing = _CLOSING.get(text[start : start + 1])
    if closing is not None:
        closed = text.find(closing, start + 1, start + _REACH)
        while closed >= 0 and text[closed + 1 : closed + 2].isalnum():  # the apostrophe of "don't"
            closed = text.find(closing, closed + 1, start + _REACH)
        if closed >= 0:
            return closed + 1
    line = text.find("\n", start)
    line = len(text) if line < 0 else line
    if text[start:line].strip():
        return line
    while line < len(text) and text[line].isspace():
        line += 1
    after = text.find("\n\n", line)
    return len(text) if after < 0 else after


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


# It begins with one of a few characters, which a search goes to at once.
_STOP = re.compile(
    r"[。！？；\n .!?<\t](?:(?<=[。！？；\n])|(?<= )\| "
    r"|(?<=[.!?])(?<!\be\.g.)(?<!\bi\.e.)(?<!\bvs.)(?<!\bno(?=\. ?\d).)[.!?]*"
    r"(?=[\s)*<]|[\"'](?!\s[a-z])|$)"
    r"|(?:(?<=^[ \t])[ \t]*<|(?<=^<)|(?<=<)/)[a-z][\w-]{2,40}>)",
    re.MULTILINE,
)
_ASIDE = re.compile(r"\([^()\n]{1,200}\)(?=\s+[A-Z])")
_ASKS_TOO = re.compile(
    r"(?i)[,;] *(?:(?:but|and|so|or) )?(?:can|could|should|do|does|is|are|what|how|why|would|will|i (?:assume"
    r"|guess|suppose))\b[^,;]*\?$"
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
        if text[until : until + 1] == '"' and words.count('"') % 2:  # say "done."
            words, end = words + '"', until + 1
        if words.endswith("?") and (asked := _ASKS_TOO.search(words)):
            words = words[: asked.start()].rstrip()
        if len(words) > 3 and len(words) <= _MOST:
            yield start, start + len(words), " ".join(words.split())
        at = end
