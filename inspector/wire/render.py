"""Context -> the body of an Anthropic Messages request, and what could not go into it.

Nothing is sent and nothing is repaired: a context that is not fit to send renders to a body that
`check_request` refuses with reasons. The shapes are the public parameter types of `anthropic` 2.12.0
(CLAUDE §13) and the rules of CLAUDE §7–8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import expect, expect_count
from ..formats.requests.anthropic_blocks import SERVER_CALLS, find_unwritable, write_tool_block
from ..planning.context import Context, Piece
from ..session.blocks import (
    Block,
    BlockRef,
    Document,
    Image,
    Reasoning,
    Text,
    ToolCall,
    ToolOutput,
    Unknown,
    is_run_by_provider,
)
from .surrogates import has_lone_surrogate, replace_lone_surrogates

Json = dict[str, Any]

PASSTHROUGH = frozenset(
    [
        "search_result",
        *SERVER_CALLS,
        "container_upload",
        "compaction",
        "tool_addition",
        "tool_removal",
        "mcp_tool_listing",
        "fallback",
    ]
)
"""Block types of a request that the project has no kind for; server tools' results are added by suffix."""

PASSTHROUGH_IN_RESULT = frozenset(["search_result", "tool_reference", "browser_state"])
"""The same block types inside a `tool_result`."""

_ROLES = {"user": "user", "tool": "user", "assistant": "assistant", "system": "system"}
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A part of the context that is not in the request.

    `where` is a path in the context (`pieces.4`, `pieces.4.parts.0`, `system.1`, `provided.0`).
    """

    where: str
    reason: str
    origin: tuple[BlockRef, ...] = ()


class Size(NamedTuple):
    """An image in the request, in pixels."""

    path: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Rendered:
    """A request body and its relation to the context.

    `left_out` names what is not in it. `replaced` holds the paths of texts in which lone surrogates
    became U+FFFD. `pieces` maps (message, block) of the body to the index of its piece. `sizes` are the
    images of known size, which the body itself does not contain. `betas` are the required headers.
    """

    request: Json
    left_out: tuple[LeftOut, ...]
    replaced: tuple[str, ...]
    pieces: dict[tuple[int, int], int]
    sizes: tuple[Size, ...]
    betas: tuple[str, ...] = ()

    def piece_at(self, path: str) -> int | None:
        """Return the index of the piece of `messages.3.content.1` (or a path inside it), if any."""
        parts = path.split(".")
        if len(parts) < 4 or parts[0] != "messages" or not (parts[1].isdigit() and parts[3].isdigit()):
            return None
        return self.pieces.get((int(parts[1]), int(parts[3])))


def render_request(context: Context, *, model: str | None = None, max_tokens: int = 4096) -> Rendered:
    """Build the request body that sends `context` to the model.

    Consecutive messages of one role are merged, as the provider would do. In a user message all `tool_result`
    blocks come first; every output of a client's tool is one, whatever the role of its entry. Calls and
    results of tools that the provider ran are sent unchanged. Contributions of context providers are appended
    to the system prompt, one block each, under their name in brackets: there they can neither separate a call
    from its output nor open the conversation. A provider's compaction for another model is sent as text.

    Args:
        context: The context to send.
        model: The model; by default the context's. If neither is known, the body has no `model`.
        max_tokens: The request's `max_tokens`.

    >>> from inspector.session.blocks import Text
    >>> say = lambda role, text, n: Piece(Text(text=text), role, n, (), "verbatim", 1)
    >>> context = Context((), (), (), (say("user", "Hi.", 0), say("user", "Help!", 1)))
    >>> render_request(context).request["messages"]
    [{'role': 'user', 'content': [{'type': 'text', 'text': 'Hi.'}, {'type': 'text', 'text': 'Help!'}]}]
    """
    expect("render_request", context=(context, Context), model=(model, str, None))
    expect_count("render_request", max_tokens=max_tokens)
    name = model or context.model
    renderer = _Renderer(name)
    request: Json = {"model": name} if name else {}
    request["max_tokens"] = max_tokens
    if system := renderer.system(context):
        request["system"] = system
    if context.tools:
        request["tools"] = renderer.tools(context)
    turns = renderer.turns(context.pieces)
    request["messages"] = [{"role": role, "content": [block for _, block in turn]} for role, turn in turns]
    sizes = renderer.sizes(request["messages"])
    replaced = [
        path
        for part in ("system", "tools", "messages")
        for index, item in enumerate(request.get(part, ()))
        if has_lone_surrogate(item)
        for path in replace_lone_surrogates(request[part], index, f"{part}.{index}")
    ]
    pieces = {(i, j): piece for i, (_, turn) in enumerate(turns) for j, (piece, _) in enumerate(turn)}
    sealed = context.pieces[0].sealed if context.pieces else None
    betas = sealed.betas if sealed is not None and sealed.suits(name) else ()
    return Rendered(request, tuple(renderer.left_out), tuple(replaced), pieces, sizes, betas)


class _Renderer:
    """Renders one context. Collects what is left out and the sizes of images."""

    def __init__(self, model: str | None) -> None:
        self.model = model
        self.left_out: list[LeftOut] = []
        self.measured: dict[int, Image] = {}
        self.unwritable: frozenset[str] = frozenset()

    def system(self, context: Context) -> list[Json]:
        blocks: list[Json] = []
        for index, block in enumerate(context.system):
            if isinstance(block, Text):
                blocks += self.text(block.text, f"system.{index}")
            else:
                self.left_out.append(LeftOut(f"system.{index}", "the system prompt can hold only text"))
        for index, provided in enumerate(context.provided):
            label = f"[{provided.name}]\n"
            blocks += self.text(provided.text, f"provided.{index}", label=label)
        return blocks

    def tools(self, context: Context) -> list[Json]:
        tools: list[Json] = []
        for index, tool in enumerate(context.tools):
            schema = tool.input_schema
            if schema is not None and not isinstance(schema, dict):
                reason = "a tool's schema must be an object"
                self.left_out.append(LeftOut(f"tools.{index}.input_schema", reason))
                schema = None
            fields = dict(tool.provider_fields or {})
            if tool.description:
                fields["description"] = tool.description
            if schema or fields.get("type") in (None, "custom"):
                fields["input_schema"] = schema or {"type": "object"}
            tools.append({"name": tool.name, **fields})
        return tools

    def turns(self, pieces: tuple[Piece, ...]) -> list[tuple[str, list[tuple[int, Json]]]]:
        """Return (role, [(index of the piece, block)]) per message, with tool results first."""
        turns: list[tuple[str, list[tuple[int, Json]]]] = []
        self.unwritable = find_unwritable(piece.block for piece in pieces)
        for index, piece in enumerate(pieces):
            role = _side(piece)
            where = f"pieces.{index}"
            if piece.sealed is not None and not index and piece.sealed.suits(self.model):
                # The provider's own compaction is the first message. An assistant message may continue it
                # (CLAUDE §5.1); otherwise the next message has another role (§5.2).
                follows = next((_side(other) for other in pieces[1:] if _side(other)), "user")
                side = "user" if follows == "assistant" != role else "assistant"
                turns.append((side, [(index, dict(piece.sealed.block))]))
                continue
            if piece.sealed is not None and not index:
                role = "user"  # sent as text, and the first message must be the user's
            if role is None:
                reason = f"there is no role {piece.role!r} on the wire"
                self.left_out.append(LeftOut(where, reason, piece.origin))
                continue
            for block in self.block(piece.block, where, piece.origin):
                if not turns or turns[-1][0] != role:
                    turns.append((role, []))
                turns[-1][1].append((index, block))
        for role, blocks in turns:
            if role == "user":
                blocks.sort(key=lambda item: item[1]["type"] != "tool_result")
        return turns

    def block(self, block: Block, where: str, origin: tuple[BlockRef, ...]) -> list[Json]:
        """Convert a block to its JSON; [] if it cannot be sent, with the reason in `left_out`."""
        match block:
            case Text(text=text):
                return self.text(text, where, origin)
            case ToolCall(id=call) | ToolOutput(call_id=call) if call in self.unwritable:
                reason = "the provider's own result cannot be replaced: it is sent whole or not at all"
            case ToolCall():
                call_ = write_tool_block(block)
                return [call_ if block.input is not None else {**call_, "input": {}}]
            case ToolOutput():
                return [self.tool_result(block, where, origin)]
            case Reasoning():
                sealed = _thinking(block)
                if isinstance(sealed, dict):
                    return [sealed]
                reason = sealed
            case Image() | Document():
                if source := _source(block):
                    return [self.file(block, source)]
                reason = f"this {block.kind} has neither data with its media type nor an address"
            case Unknown(raw=raw) if isinstance(raw, dict) and _passes(raw.get("type"), where):
                return [dict(raw)]
            case Unknown(type=name):
                reason = f"the wire has no block of type {name!r} here"
        self.left_out.append(LeftOut(where, reason, origin))
        return []

    def text(self, text: str, where: str, origin: tuple[BlockRef, ...] = (), label: str = "") -> list[Json]:
        if text.strip():
            return [{"type": "text", "text": label + text}]
        if text:
            self.left_out.append(LeftOut(where, "a text of white space alone is refused", origin))
        return []

    def file(self, block: Image | Document, source: Json) -> Json:
        wire: Json = {"type": block.kind, "source": source}
        if isinstance(block, Image):
            self.measured[id(wire)] = block
        elif block.title:
            wire["title"] = block.title
        return wire

    def tool_result(self, output: ToolOutput, where: str, origin: tuple[BlockRef, ...]) -> Json:
        if is_run_by_provider(output):
            return write_tool_block(output)
        content = [
            wire
            for index, part in enumerate(output.parts)
            for wire in self.block(part, f"{where}.parts.{index}", origin)
        ]
        error = {"is_error": True} if output.is_error else {}
        return {"type": "tool_result", "tool_use_id": output.call_id, "content": content, **error}

    def sizes(self, messages: list[Json]) -> tuple[Size, ...]:
        """Return the path and size of each image whose size is known."""
        if not self.measured:
            return ()
        return tuple(
            Size(path, image.width, image.height)
            for i, message in enumerate(messages)
            for path, block in _spread(message["content"], f"messages.{i}")
            if (image := self.measured.get(id(block))) is not None and image.width and image.height
        )


def _side(piece: Piece) -> str | None:
    """Return the role of a piece in the request.

    Outputs of the client's tools are sent by the user, results of the provider's tools by the assistant.
    """
    client = isinstance(piece.block, ToolOutput) and not is_run_by_provider(piece.block)
    return "user" if client else _ROLES.get(piece.role)


def _spread(content: list[Json], path: str) -> Iterator[tuple[str, Json]]:
    """Yield (path, block) for each block, including those inside tool results."""
    for index, block in enumerate(content):
        yield f"{path}.content.{index}", block
        if block.get("type") == "tool_result":
            yield from _spread(block["content"], f"{path}.content.{index}")


def _thinking(block: Reasoning) -> Json | str:
    """Return signed or encrypted thinking unchanged, or why it cannot be sent (§8)."""
    if has_lone_surrogate([block.text, block.signature, block.encrypted]):
        return "reasoning with a lone surrogate cannot be sent as it was sealed"
    if block.signature:
        return {"type": "thinking", "thinking": block.text, "signature": block.signature}
    if block.encrypted:
        return {"type": "redacted_thinking", "data": block.encrypted}
    return "reasoning without its signature cannot be sent as thinking"


def _source(block: Image | Document) -> Json | None:
    if isinstance(block, Document) and block.text.strip():
        return {"type": "text", "media_type": "text/plain", "data": block.text}
    if block.data and block.media_type:
        return {"type": "base64", "media_type": block.media_type, "data": block.data}
    if block.url and (inline := _DATA_URL.match(block.url)):
        return {"type": "base64", "media_type": inline[1], "data": block.url[inline.end() :]}
    return {"type": "url", "url": block.url} if block.url else None


def _passes(name: Any, where: str) -> bool:
    if not isinstance(name, str):
        return False
    if ".parts." in where:
        return name in PASSTHROUGH_IN_RESULT
    return name in PASSTHROUGH or name.endswith("_tool_result")
