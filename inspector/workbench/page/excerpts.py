"""Redact the answers to queries: pieces of the session's texts, with the figures and verdicts as they are."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar, get_args

from msgspec.structs import fields, replace

from ...redaction.redact import Redactor
from ...text import utf16_length
from ..payloads.base_payload import Payload
from ..payloads.story import StoryMark, StoryPassage

_P = TypeVar("_P", bound=Payload)


def redact_answer(answer: _P, redactor: Redactor) -> _P:
    """Return an answer without its secrets. What is a name in our own vocabulary stays as it is."""
    if isinstance(answer, StoryPassage):
        return _redact_passage(answer, redactor)  # type: ignore[return-value]
    changes = {name: _redact(getattr(answer, name), redactor) for name in _list_texts(type(answer))}
    return replace(answer, **changes)


@cache
def _list_texts(kind: type[Payload]) -> list[str]:
    """Return the fields of a payload that hold texts."""
    return [field.name for field in fields(kind) if _holds_text(field.type)]


def _holds_text(kind: Any) -> bool:
    """Whether a type has a text that is not one of a list of names.

    >>> from typing import Literal
    >>> _holds_text(list[str] | None), _holds_text(int | Literal["kept"]), _holds_text(list[StoryMark])
    (True, False, True)
    """
    return (
        kind is str
        or (isinstance(kind, type) and issubclass(kind, Payload))
        or any(_holds_text(part) for part in get_args(kind))
    )


def _redact(value: Any, redactor: Redactor) -> Any:
    if isinstance(value, str):
        return redactor.clean_excerpt(value)[0]
    if isinstance(value, Payload):
        return redact_answer(value, redactor)
    if isinstance(value, dict):
        return {key: _redact(item, redactor) for key, item in value.items()}
    return [_redact(item, redactor) for item in value] if isinstance(value, list) else value


def _redact_passage(passage: StoryPassage, redactor: Redactor) -> StoryPassage:
    """Move the spans along with the words that they mark."""
    bounds = [passage.start, passage.end, *(at for mark in passage.marks for at in (mark.start, mark.end))]
    whole = passage.text.encode("utf-16-le", "surrogatepass")
    offsets = [len(whole[: 2 * at].decode("utf-16-le", "surrogatepass")) for at in bounds]
    text, moved = redactor.clean_excerpt(passage.text, offsets)
    start, end, *rest = (utf16_length(text[:at]) for at in moved)
    marks = [
        StoryMark(low, high, mark.differs)
        for low, high, mark in zip(rest[::2], rest[1::2], passage.marks, strict=True)
    ]
    title, note = (redactor.clean_excerpt(words)[0] for words in (passage.title, passage.note))
    return replace(passage, title=title, note=note, text=text, start=start, end=end, marks=marks)
