"""A file that may be written: what it would hold, which is shown first, and where it stands then."""

from __future__ import annotations

from typing import NamedTuple

from .base_payload import Labelled, Payload


class NewFilePreview(Payload, frozen=True):
    """What would be written, as lines of a label (`id`) and what it says (`label`).

    `places` are where a session can be reopened, by the id of the last entry it would hold, and `at` the one
    that is shown. `problem` says why nothing can be written, "" where it can.
    """

    kind: str
    name: str
    lines: list[Labelled]
    places: list[Labelled]
    at: str
    problem: str


class NewFileReply(Payload, frozen=True):
    """A file that was written: its name, its path as the host tells it, and how one goes on from it."""

    name: str
    path: str
    sentence: str


class NewFile(NamedTuple):
    """A file that is ready to be written; `content` is empty where there is a problem."""

    preview: NewFilePreview
    content: bytes
    sentence: str
