"""Labels of rules and choices in texts that users typed, and a reader's judgements of findings.

Labels come from a model (`ClaudeLabeller`) or a person. They belong to a text, not to a position: the text is
identified by its hash, so its labels also apply in a fork of the session, at another leaf or in another file,
and a text is labelled only once.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, Literal

from pydantic import Field, field_validator

from .blocks import Chars, Value

Place = Annotated[int, Field(strict=True, ge=0, lt=1 << 31)]
Spans = tuple[tuple[Place, Place], ...]
"""Spans of a text: first character, and the one after the last."""


class TextLabels(Value):
    """The rules and choices of one typed text. They are complete: a text without any has empty labels.

    `text` is the hash of the text (`hash_text`), `by` the name of the model or the person that labelled it.

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


Verdict = Literal["right", "lost", "not lost"]


class FindingJudgement(Value):
    """A reader's judgement of what a compaction did to a fact.

    A fact judged "not lost" is no finding and is counted nowhere. One of which the summary has a part, or
    which is unclear, counts as absent if it is judged "lost". "withdrawn" takes a judgement back. `entry` is
    the entry of the recorded compaction; "" for every plan.
    """

    kind: Chars
    form: Chars
    entry: Chars = ""
    verdict: Verdict | Literal["withdrawn"]


def hash_text(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8.

    >>> hash_text("hi")[:16]
    '8f434346648f6b96'
    """
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
