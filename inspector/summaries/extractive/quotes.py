"""Quotes of users and the model, cut to the room of a summary, and sentences that forbid something.

Places are numbers that grow along the path: the entry's position times 2^32, and the offset in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...facts.extract.typed import typed_sentences
from ...facts.replaced import find_typed
from ...redaction.cut import redact_long, redact_text
from ...session.session import Session
from ...session.speakers import find_speech, who_speaks
from ...text import printable

WORDS = 600
"""Characters of the first and the last request; the model's last words have half of it, others a third."""

VALUE = re.compile(
    r"""(?x) https?:// | (?<![\w.])[$€£]?\d[\d.,:/-]*\d | \b[\w-]*[a-z]\d[\w-]*\b | \b\w+[-_/]\w*\d\w*
    | [\w.-]+/[\w./-]*\w | `[^`]+` | \b\d+[ ]of[ ]\d+ | (?<=[a-z,][ ])(?!I\b)[A-Z][\w-]+"""
)
"""A number, a code, an address, a path, something quoted as code, or a name within a sentence."""
_FIGURE = re.compile(r"(?<![\w./-])#?\d[\d,.]*\d%? [A-Za-z]{4}")
"""A number of two digits and more, and what it counts."""
_SENTENCE = re.compile(r"(?<=[.!?:])\s+")
_SPACE, _BETWEEN = re.compile(r" "), re.compile(r"[^\w.,]")
_MOST_REST = 100_000  # characters: more than any summary is given
_TELLING = 25  # characters; "Done." and "Good point." say nothing


def find_requests(session: Session) -> list[tuple[int, str]]:
    """(place, words) of what the user asks for, without what the harness puts among it."""
    requests = []
    for at, entry in enumerate(session.entries):
        if entry.opens_turn:
            parts = (
                block.text[start:end]
                for block in entry.blocks
                if block.kind == "text"
                for start, end, speaker, _ in find_speech(entry, block)
                if speaker == "user" or who_speaks(entry).way in ("plan", "task")
            )
            text = " ".join(parts).strip()
            if text:
                requests.append((at << 32, text))
    return requests


def find_statements(session: Session) -> list[tuple[int, str]]:
    """(place, words) of the sentences a person typed that state a value: no questions, nothing pasted."""
    return [(at, words) for at, words in _find_said(session, WORDS // 3) if VALUE.search(words)]


def find_bans(session: Session) -> list[tuple[int, str]]:
    """(place, words) of the sentences a person typed that plainly forbid something."""
    return [(at, words) for at, words in _find_said(session, WORDS) if plainly_forbids(words)]


def _find_said(session: Session, most: int) -> Iterator[tuple[int, str]]:
    """(place, words) of the sentences of at most `most` characters that a person typed, without questions."""
    for at, _, start, _, words in find_typed(session):
        if len(words) <= most and not words.endswith("?"):
            yield (at << 32) + start, words


def find_rest(session: Session, listed: int) -> list[tuple[int, str]]:
    """(place, words) of all sentences that a person typed, then of all the model said, each the latest first.

    With the `listed` characters of other lines they have at most three quarters of the session's characters:
    a summary is to be shorter than what it is about.
    """
    typed = [((at << 32) + start, words) for at, _, start, _, words in find_typed(session)]
    replies = [
        (at + place, words) for at, text in find_answers(session) for place, _, words in typed_sentences(text)
    ]
    whole = sum(len(block.text) for entry in session.entries for block in entry.blocks)
    room = min(_MOST_REST, whole * 3 // 4 - listed)
    rest = []
    for at, words in [*reversed(typed), *reversed(replies)]:
        room -= len(words)
        if room < 0:
            break
        if len(words) >= _TELLING:
            rest.append((at, words))
    return rest


def find_findings(answers: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """(place, words) of the sentences among what the model says that give a figure: its results and counts.

    >>> find_findings([(0, "Done. 204 responses are never cached.")])
    [(6, '204 responses are never cached.')]
    """
    return [
        (at + place, words)
        for at, text in answers
        for place, _, words in typed_sentences(text)
        if len(words) <= WORDS // 3 and _FIGURE.search(words)
    ]


def find_answers(session: Session) -> list[tuple[int, str]]:
    """(place, words) of what the model says, without its reasoning."""
    entries = enumerate(session.entries)
    return [(at << 32, e.text.strip()) for at, e in entries if e.role == "assistant" and e.text.strip()]


def find_sentence(text: str) -> str:
    """The first sentence that is long enough to say something; empty without one.

    >>> find_sentence("Done. The boards show the right hour again.")
    'The boards show the right hour again.'
    """
    for line in text[: 4 * WORDS].split("\n"):
        for sentence in _SENTENCE.split(line.strip(" #>*-")):
            if len(sentence) >= _TELLING:
                return clip(sentence, WORDS // 3)
    return ""


def last_line(text: str) -> str:
    """The last line that says anything."""
    tail = text[-4 * WORDS :]
    if len(text) > len(tail) and "\n" not in tail.rstrip():
        tail = redact_text(text[-80 * WORDS :])[-4 * WORDS :]
    lines = (line.strip() for line in reversed(tail.split("\n")))
    return next((" ".join(line.split()) for line in lines if line), "")


def clip(text: str, limit: int) -> str:
    """Return at most `limit` characters of a text on one line, safe to show; a longer one without secrets."""
    text = redact_long(text, limit)
    line = " ".join(text[: 4 * limit].split())
    whole = len(line) <= limit and len(text) <= 4 * limit
    return printable(line if whole else f"{cut_words(line, limit - 1)}…")


def cut_words(line: str, limit: int) -> str:
    """Cut a line to at most `limit` characters, if possible without splitting its last word, number or path.

    A word that fills half the room is still cut, at a sign between its parts if it has one.

    >>> cut_words("see src/a.py and src/b.py", 20), cut_words("x" * 40, 20) == "x" * 20
    ('see src/a.py and', True)
    """
    if len(line) <= limit:
        return line
    for ends in (_SPACE, _BETWEEN):
        if breaks := [match.start() for match in ends.finditer(line, limit // 2, limit + 1)]:
            return line[: breaks[-1]]
    return line[:limit]


def quote(text: str, limit: int) -> str:
    """The same in quotation marks."""
    return f'"{clip(text, limit)}"'


# Safety rules: sentences that a person typed to forbid something, or to allow it under one condition only. A
# summary that loses them does more harm than by losing any other line, so an extract begins with them. The
# facts decide which sentences are rules; a sentence that plainly forbids counts even if it is not a fact.
_CUES = re.compile(
    r"""(?ix)
    \b(?:never | do[ ]not | don['’]?t | must[ ]not | mustn['’]?t | may[ ]not | shall[ ]not | shan['’]?t
      | should[ ]not | shouldn['’]?t | can[ ]?not | can['’]?t | without | unless | nobody | no[ ]one | avoid
      | refrain | forbidden | prohibited | not[ ]allowed | off[ -]limits | hands[ ]off | away[ ]from
      | free[ ]of | (?:under | in | on | at)[ ]no[ ] | no[ ][^.\n]{1,80}[ ](?:ever | until | please)
      | only[ ][^.\n]{1,120}?\b(?:after | once | when | if | with | may | can | has | then)
      | not[ ][^.\n]{1,80}?\b(?:before | until)
      | niemals | auf[ ]keinen | nicht[ ]ohne | jamais | nunca)\b
    | (?<![\w-])no[ ](?:[a-z-]+[ ]){1,4}(?:at|in|on|to|from)\b
    | 不要 | 不得 | 请勿 | 請勿 | 禁止 | 只能 | ないでください | てはいけません | 절대"""
)
_PLAIN = re.compile(
    r"""(?ix)
    ^\W*(?:[^:.!?\n]{1,40}:[ ]+ | (?:please | and | but | also | so | ok(?:ay)?)[, ]+)*
      (?:never[ ]\w | (?:do[ ]not | don['’]?t)[ ](?!know | think | see | understand | worry | mind | want)\w
      | under[ ]no[ ] | at[ ]no[ ])
    | \b(?:must[ ](?:not|never) | mustn['’]t)\b"""
)


def forbids(rule: str) -> bool:
    """Whether a rule forbids something, or allows it under a condition.

    >>> forbids("Never push to main."), forbids("Only deploy after the tests pass."), forbids("Use tabs.")
    (True, True, False)
    """
    return _CUES.search(rule) is not None


def plainly_forbids(sentence: str) -> bool:
    """Whether a sentence forbids something, whatever else is known of it.

    >>> plainly_forbids("Please don't touch the lock file."), plainly_forbids("I don't see why it must fail.")
    (True, False)
    """
    return _PLAIN.search(sentence) is not None
