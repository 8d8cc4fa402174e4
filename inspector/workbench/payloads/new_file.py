"""A file to be written: its preview, and its path after it was written."""

from __future__ import annotations

from typing import NamedTuple

from .base_payload import Labelled, Payload


class NewFilePreview(Payload, frozen=True):
    """Preview of a file, as lines of a label (`id`) and a text (`label`).

    `places` are the points at which a session can be reopened, by the id of the last entry to keep; `at` is
    the selected one. `problem` is the reason for which the file cannot be written, or "".
    """

    name: str
    lines: list[Labelled]
    places: list[Labelled]
    at: str
    problem: str


class NewFileReply(Payload, frozen=True):
    """A written file: its path on the host, and how to continue from it."""

    path: str
    sentence: str


class NewFile(NamedTuple):
    """A file that is ready to be written; `content` is empty if there is a problem."""

    preview: NewFilePreview
    content: bytes
    sentence: str
