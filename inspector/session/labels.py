"""What a reader marked in texts that people typed: which stretches of them are rules, and which are choices.

Such a reader is a model that was asked (`ClaudeLabeller`) or a person. What is marked belongs to a text and
not to a place: the text is known by its hash, so it is marked wherever it stands again, in a fork of the
session, at another leaf or in another file, and nobody has to be asked twice.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated

from pydantic import Field, field_validator

from .blocks import Chars, Value

Place = Annotated[int, Field(strict=True, ge=0, lt=1 << 31)]
Spans = tuple[tuple[Place, Place], ...]
"""Stretches of a text: first character, and the one after the last."""


class TextLabels(Value):
    """The rules and choices of one typed text, all that there are: a text that was read and holds none has
    labels too.

    `text` is the hash of the text (`hash_text`), `by` who read it: the name of a model, or of a person.

    >>> said = "Take sqlite. Never touch main.py!"
    >>> labels = TextLabels(text=hash_text(said), by="me", rules=((13, 33),), choices=((0, 12),))
    >>> from inspector import read_session
    >>> facts = read_session([{"role": "user", "content": said}]).with_labels([labels]).facts
    >>> [fact.form for fact in facts.by_kind("choice")], [fact.form for fact in facts.by_kind("constraint")]
    (['Take sqlite.'], ['Never touch main.py!'])
    """

    text: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    by: Chars
    rules: Spans = ()
    choices: Spans = ()

    @field_validator("rules", "choices")
    @classmethod
    def check_spans(cls, spans: Spans) -> Spans:
        if any(start >= end for start, end in spans):
            raise ValueError("a stretch ends before it begins")
        return spans


def hash_text(text: str) -> str:
    """SHA-256 of a text in UTF-8.

    >>> hash_text("hi")[:16]
    '8f434346648f6b96'
    """
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
