"""A request body as the rules read it: messages, the turns they merge into, and blocks with their paths.

Consecutive messages of one role are one turn, as the provider merges them (CLAUDE §7), so a rule
about "the next message" looks at the next turn. What is not shaped like a request at all is set aside as
`malformed` and reported, never raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from ..tokens.models import ClaudeName, ModelClass, find_class, find_claude
from .render import Json, Size


@dataclass(frozen=True, slots=True)
class Violation:
    """One reason for which the provider would refuse the request.

    `path` is the place in the body (`messages.3.content.0`). `provider_error` is the answer to expect:
    status, error type and the words of the message, as the provider publishes or its users report them.
    """

    rule: str
    path: str
    sentence: str
    provider_error: str


class WireFault(NamedTuple):
    """The finding of a rule; `error` is the message of the 400, without the status."""

    path: str
    sentence: str
    error: str
    status: str = "400 invalid_request_error"


class Spot(NamedTuple):
    """A block and its position: `message` and `at` as in `messages.{message}.content.{at}`."""

    message: int
    at: int
    role: str
    type: str
    block: Json

    @property
    def path(self) -> str:
        return f"messages.{self.message}.content.{self.at}"

    def name(self, field: str) -> str:
        """Return a field that should be a text; empty if it is not."""
        value = self.block.get(field)
        return value if isinstance(value, str) else ""

    def parts(self) -> Iterator[tuple[str, Json]]:
        """Yield (path, block) for this block, and for the blocks in it if it is a tool result."""
        yield self.path, self.block
        content = self.block.get("content")
        if self.type == "tool_result" and isinstance(content, list):
            for index, part in enumerate(content):
                if isinstance(part, dict):
                    yield f"{self.path}.content.{index}", part


class WireMessage(NamedTuple):
    at: int
    role: str
    spots: list[Spot]
    body: Json


class WireTurn(NamedTuple):
    """Consecutive messages of one role. `message` is the index of the first."""

    message: int
    role: str
    spots: list[Spot]

    def of(self, kind: str) -> list[Spot]:
        return [spot for spot in self.spots if spot.type == kind]


@dataclass(frozen=True)
class ParsedRequest:
    """A parsed request body. `previous` is the body sent before; `sizes` are images of known size."""

    body: Json
    messages: tuple[WireMessage, ...]
    malformed: tuple[str, ...]
    model_class: ModelClass = "keep"
    previous: ParsedRequest | None = None
    sizes: tuple[Size, ...] = ()

    @cached_property
    def turns(self) -> tuple[WireTurn, ...]:
        turns: list[WireTurn] = []
        for message in self.messages:
            if turns and turns[-1].role == message.role:
                turns[-1].spots.extend(message.spots)
            else:
                turns.append(WireTurn(message.at, message.role, list(message.spots)))
        return tuple(turns)

    @cached_property
    def spots(self) -> tuple[Spot, ...]:
        return tuple(spot for message in self.messages for spot in message.spots)

    @property
    def model(self) -> str | None:
        model = self.body.get("model")
        return model if isinstance(model, str) else None

    @cached_property
    def claude(self) -> ClaudeName | None:
        """The model's family and version; None if its name does not contain both."""
        claude = find_claude(self.model)
        return claude if claude is not None and claude.version > (0, 0) else None

    def is_before(self, version: tuple[int, int]) -> bool:
        """Whether the model is known to be older than `version`."""
        return self.claude is not None and self.claude.version < version


Check = Callable[[ParsedRequest], Iterator[WireFault]]
"""A rule: yields its findings in a request, in order. Its name is `find_` and the name of the violation."""


def read_request(
    body: Json,
    *,
    model_class: ModelClass | None = None,
    previous: Json | None = None,
    sizes: tuple[Size, ...] = (),
) -> ParsedRequest:
    """Read a request body, linear in its blocks. Without `model_class` the model's is taken, else `keep`."""
    messages: list[WireMessage] = []
    malformed: list[str] = []
    listed = body.get("messages")
    if not isinstance(listed, list | tuple):
        malformed.append("messages")
        listed = ()
    for i, message in enumerate(listed):
        role = message.get("role") if isinstance(message, dict) else None
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        if not isinstance(role, str) or not isinstance(content, list | tuple):
            malformed.append(f"messages.{i}")
            continue
        spots: list[Spot] = []
        for j, block in enumerate(content):
            kind = block.get("type") if isinstance(block, dict) else None
            if isinstance(kind, str):
                spots.append(Spot(i, j, role, kind, block))
            else:
                malformed.append(f"messages.{i}.content.{j}")
        messages.append(WireMessage(i, role, spots, message))
    before = None if previous is None else read_request(previous)
    sent = ParsedRequest(body, tuple(messages), tuple(malformed), model_class or "keep", before, sizes)
    return sent if model_class else replace(sent, model_class=find_class(sent.model) or "keep")


def clip(value: Any) -> str:
    """Quote and shorten a name from a transcript for a sentence."""
    text = value if isinstance(value, str) else type(value).__name__
    return repr(text if len(text) <= 60 else text[:59] + "…")
