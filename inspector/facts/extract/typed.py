"""What is a person's own in words they typed: without the logs, the code and the reviews they pasted.

In goes a text, out comes the same text with blanks where something was pasted, so that places stay. A line
is pasted when it reads like a program's (a time stamp, a level, a stack frame, JSON, a prompt), when it is
inside a fence, or when it lies between such lines. Quoted is a line after ">", the text in a tag for a
file or a quote, an error's JSON, and what follows a word that says whose it is: 'he said: "…"', "got this
feedback: …", "in the console: …", to the closing mark, to the end of the line, or, if the line ends there,
up to the next paragraph that speaks to the model. Encoded data (base64) is not
typed. The price: rules that a person adopts by quoting them are missed.

A review without such words before it may be pasted or typed: `find_review` knows it by its shape. Its
sentences are statements, and none of them is a rule or a choice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from ..vocabulary import NO_END

Hit = tuple[int, int, str]
"""A span and the form of what was found there."""


def holds_any(text: str, words: Iterable[str]) -> bool:
    """Whether a text holds one of these words."""
    return any(map(text.__contains__, words))


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
    | \S+\.\w{1,4}:\d+:?\d* | \S+\ *\|\ +\d+\ [+-] | \./\.git/ | .*\ \\$ )"""
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
_CLOSING = {'"': '"', "“": "”", "'": "'", "‘": "’", "`": "`"}
_REACH = 2000
_BESIDE = 6  # up to 6 lines between two printed lines count as printed
_SPEAKS = re.compile(
    r"\n[ \t]*\n[ \t]*(?=[a-z'’]+[\s,.!?](?!=)|(?i:please|i|we|you|let['’]?s|can|could|should|would|is|are"
    r"|what|why|how|ok(?:ay)?|so|but|and|now|never|always|only|do|don['’]?t|make|fix|use|keep|add|remove|check|look|also)\b)"
)
"""The break before a paragraph that a person writes to the model below what they quoted."""
_ENCODED = re.compile(
    r"(?a)(?<![\w+/=.-])(?=[a-z\d_+/-]*[A-Z])(?=[A-Z\d_+/-]*[a-z])[\w+/-]{64,}={0,2}(?![\w+/=.-])"
)
_CHANGES = re.compile(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z]")
_JSON = re.compile(r"\{\"\w+\":.{400,}")
_LONG = 20  # more printed lines than this are a dump, from the first to the last


def blank_pasted(text: str) -> str:
    """The text with blanks for what was pasted into it or quoted in it.

    >>> blank_pasted("It fails:\\nERROR: you must never do that\\nNever retry it.")
    'It fails:\\n                              \\nNever retry it.'
    >>> blank_pasted('He said: "never push". Keep it small.')
    'He said:              . Keep it small.'
    """
    text = blank_encoded(text)
    for mark, pattern in (("```", _FENCE), ("~~~", _FENCE), ('{"', _BODY), (">", _QUOTED)):
        text = pattern.sub(lambda match: _blank(match[0]), text) if mark in text else text
    text = _blank_spans(text, _find_tagged(text)) if "</" in text else text
    text = _blank_spans(text, [(m.end(), _end_quote(text, m.end())) for m in _SAYS.finditer(text)])
    lines = text.split("\n")
    printed = [at for at, line in enumerate(lines) if _PRINTED.match(line[:300]) or _JSON.search(line)]
    out = {*printed, *(at + 1 for at in printed if lines[at][-2:] == " \\")}
    for line_number, other in pairwise(printed):
        if other - line_number <= _BESIDE or len(printed) > _LONG:
            out.update(range(line_number, other))
    return "\n".join(_blank(line) if at in out else line for at, line in enumerate(lines)) if out else text


_LINES = re.compile(r"(?i)\blines? \d+|\w\.\w{1,5}:\d+\b")
_PERSONAL = re.compile(r"(?i)\b(?:i|me|my|we|us|our|you|your|please|let['’]?s|pls|thanks)\b")


def find_review(text: str) -> tuple[int, int] | None:
    """Return the span of a review, three sentences about lines of a file that address no one; None without
    one.

    A last paragraph that speaks to the model is not part of it.

    >>> review = "Line 9 blocks. It must be fast. Never sort it at lines 4-7.\\n\\nplease fix it"
    >>> find_review(review) == (0, review.index("please") - 2), find_review("Never sort line 9.")
    (True, None)
    """
    last = [match for match in _SPEAKS.finditer(text) if "\n\n" not in text[match.end() :].strip()][-1:]
    own = text[last[0].end() :].strip() if last else ""
    end = last[0].start() if last and ("\n" not in own or _PERSONAL.search(own)) else len(text)
    if _LINES.search(text, 0, end) is None or _PERSONAL.search(text, 0, end):
        return None
    return (0, end) if sum(1 for _ in typed_sentences(text[:end])) > 2 else None


def blank_encoded(text: str) -> str:
    """Return the text with blanks for encoded data, such as base64.

    Encoded is a long run of letters and digits in which small ones, capitals and digits take turns.

    >>> blank_encoded("cat " + "src/very/long/Path" * 5) == "cat " + "src/very/long/Path" * 5
    True
    """
    return _ENCODED.sub(
        lambda run: _blank(run[0]) if 2.5 * len(_CHANGES.findall(run[0])) > len(run[0]) else run[0], text
    )


def _find_tagged(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of tags with their contents; a tag that is never closed is searched only once."""
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
    after = _SPEAKS.search(text, line)
    return len(text) if after is None else after.start()


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


# It begins with one of a few characters, which a search goes to at once.
_STOP = re.compile(
    r"[。！？；\n .!?<\t](?:(?<=[。！？；\n])|(?<= )\| "
    rf"|(?<=[.!?]){NO_END}(?<!\bno(?=\. ?\d).)[.!?]*"
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
_NUMBER = re.compile(r"\d{1,3}\.")
_CUT = re.compile(r"(?s).{200,399}(?=\s)")


def typed_sentences(text: str) -> Iterator[Hit]:
    """Yield (start, end, form) of every sentence, also of a question at the end of another one.

    >>> [form for _, _, form in typed_sentences("- let's use it, can you show it? It is late. Ok!")]
    ["let's use it", 'can you show it?', 'It is late.', 'Ok!']
    """
    at, text = 0, _unwrap(text)
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
        question = _ASKS_TOO.search(words) if words.endswith("?") else None
        cuts = [question.start() if question else len(words), len(words)]
        first = 0
        for cut in cuts:
            yield from _cut_long(words[first:cut], start + first)
            first = cut
        at = end


def _unwrap(text: str) -> str:
    """Return a text with blanks for the line breaks inside its paragraphs, if an editor wrapped the lines: if
    the first word of each line would not have fitted in the line before it."""
    if text.count("\n") < _FEWEST_BREAKS:
        return text
    paragraphs = groupby(text.split("\n"), key=lambda line: bool(line.strip()))
    return "\n".join(_join_wrapped(list(lines)) for _, lines in paragraphs)


def _join_wrapped(lines: Sequence[str]) -> str:
    """Return the lines of a paragraph as one if an editor wrapped them."""
    width = max(map(len, lines))
    is_wrapped = (
        len(lines) > _FEWEST_BREAKS
        and width <= _WIDEST
        and all(
            following.strip()
            and len(line) + len(following.split(None, 1)[0]) >= width
            and not _BEGINS_ITEM.match(following)
            for line, following in pairwise(lines)
        )
    )
    return (" " if is_wrapped else "\n").join(lines)


_BEGINS_ITEM = re.compile(r"\s*(?:[-*+•>#|]|\d{1,3}[.)])\s|\s{4}|\t")
_FEWEST_BREAKS, _WIDEST = 2, 160


def _cut_long(words: str, start: int) -> Iterator[Hit]:
    """Yield a sentence; a long one in parts of at most 400 characters."""
    at = 0
    while at < len(words):
        cut = _CUT.match(words, at) if len(words) - at > _MOST else None
        end = cut.end() if cut else min(len(words), at + _MOST)
        clause = words[at:end].strip(" \t\r\n,;")
        if any(map(str.isalnum, clause)) and not _NUMBER.fullmatch(clause):
            begin = start + at + words[at:end].find(clause)
            yield begin, begin + len(clause), " ".join(clause.split())
        at = end
