"""Rules about tools: every call has one result, directly after it and in its place, and every result a call.

Paragraphs (§) are those of CLAUDE.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...formats.requests.anthropic_blocks import SERVER_CALLS
from ..parsed import ParsedRequest, Spot, WireFault, WireTurn, clip

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def is_server_result(kind: str) -> bool:
    """Whether a block of this type is the result of a server tool, in the assistant's own message."""
    return kind.endswith("_tool_result")


def find_malformed_tool(sent: ParsedRequest) -> Iterator[WireFault]:
    """A tool is an object with a name; a client tool has an object schema for its input (§13)."""
    tools = sent.body.get("tools")
    if tools is not None and not isinstance(tools, list | tuple):
        yield WireFault("tools", "the tools are not a list", "tools: Input should be a valid list")
    for path, tool in _tools(sent, whole=True):
        if not isinstance(tool, dict):
            yield WireFault(path, "this tool is not an object", f"{path}: Input should be an object")
        elif tool.get("type") in (None, "custom"):
            if not isinstance(tool.get("name"), str):
                error = f"{path}.custom.name: Field required"
                yield WireFault(path, "the tool has no name", error)
            schema = tool.get("input_schema")
            if not isinstance(schema, dict):
                error = f"{path}.custom.input_schema: Field required"
                yield WireFault(path, "the tool has no schema for its input", error)
            elif schema.get("type") != "object":
                error = f"{path}.custom.input_schema.type: Input should be 'object'"
                yield WireFault(path, "the tool's schema does not describe an object", error)


def find_misnamed_tool(sent: ParsedRequest) -> Iterator[WireFault]:
    """Names of tools are 1 to 128 letters, digits, _ and - (§13), in definitions and calls."""
    defined = [(f"{path}.custom.name", path, tool.get("name")) for path, tool in _tools(sent)]
    called = [
        (f"{spot.path}.tool_use.name", spot.path, spot.block.get("name"))
        for spot in sent.spots
        if spot.type == "tool_use"
    ]
    for field, path, name in [*defined, *called]:
        if isinstance(name, str) and not _NAME.fullmatch(name):
            error = f"{field}: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            yield WireFault(path, f"the name {clip(name)} of a tool is not one the wire takes", error)


def find_repeated_tool(sent: ParsedRequest) -> Iterator[WireFault]:
    """Tools have different names (widely reported 400, e.g. forgecode#892)."""
    names: set[str] = set()
    for path, tool in _tools(sent):
        name = tool.get("name")
        if isinstance(name, str):
            if name in names:
                yield WireFault(
                    path, f"the tool {clip(name)} is given twice", "tools: Tool names must be unique."
                )
            names.add(name)


def _tools(sent: ParsedRequest, whole: bool = False) -> Iterator[tuple[str, Any]]:
    """Yield (path, tool) for all tools, or for those that are objects."""
    tools = sent.body.get("tools")
    for index, tool in enumerate(tools if isinstance(tools, list | tuple) else ()):
        if whole or isinstance(tool, dict):
            yield f"tools.{index}", tool


def find_misplaced_tool_block(sent: ParsedRequest) -> Iterator[WireFault]:
    """Calls and all blocks of server tools are the assistant's; a tool's result is the user's (§7.1–4)."""
    for spot in sent.spots:
        if spot.type == "tool_result":
            owner = "user"
        elif spot.type == "tool_use" or spot.type in SERVER_CALLS or is_server_result(spot.type):
            owner = "assistant"
        else:
            continue
        if spot.role != owner:
            error = f"messages.{spot.message}: `{spot.type}` blocks can only be in `{owner}` messages"
            yield WireFault(
                spot.path, f"a {spot.type} is with {clip(spot.role)}, not with the {owner}", error
            )


def find_misshapen_id(sent: ParsedRequest) -> Iterator[WireFault]:
    """Ids of calls are made of letters, digits, _ and - (widely reported 400, e.g. forgecode#1142)."""
    for spot in sent.spots:
        field = {"tool_use": "id", "tool_result": "tool_use_id"}.get(spot.type)
        if field is not None and not _ID.fullmatch(spot.name(field)):
            error = f"{spot.path}.{spot.type}.{field}: String should match pattern '^[a-zA-Z0-9_-]+$'"
            yield WireFault(
                spot.path, f"the id {clip(spot.block.get(field))} is not one the wire takes", error
            )


def find_repeated_id(sent: ParsedRequest) -> Iterator[WireFault]:
    """Calls have different ids (§7.5: reported, not documented)."""
    ids: set[str] = set()
    for spot in sent.spots:
        if spot.type == "tool_use" or spot.type in SERVER_CALLS:
            name = spot.name("id")
            if name in ids:
                error = f"{spot.path}: `tool_use` ids must be unique"
                yield WireFault(spot.path, f"the id {clip(name)} names an earlier call too", error)
            ids.add(name)


def find_input_not_object(sent: ParsedRequest) -> Iterator[WireFault]:
    """A call's input is an object (§13)."""
    for spot in sent.spots:
        if spot.type in ("tool_use", *SERVER_CALLS) and not isinstance(spot.block.get("input"), dict):
            error = f"{spot.path}.{spot.type}.input: Input should be a valid dictionary"
            yield WireFault(spot.path, "the call's input is not an object", error)


def find_unanswered_call(sent: ParsedRequest) -> Iterator[WireFault]:
    """Every call is answered in the very next message (§7.1)."""
    for index, turn in enumerate(sent.turns):
        calls = turn.of("tool_use") if turn.role == "assistant" else []
        if not calls:
            continue
        following = sent.turns[index + 1] if index + 1 < len(sent.turns) else None
        answered = {spot.name("tool_use_id") for spot in following.of("tool_result")} if following else set()
        for spot in calls:
            if (name := spot.name("id")) not in answered:
                sentence = (
                    f"the call {clip(name)} of {clip(spot.name('name'))} is not answered in the next message"
                )
                error = "`tool_use` ids were found without `tool_result` blocks immediately after: "
                yield WireFault(spot.path, sentence, f"messages.{spot.message}: {error}{name}")


def find_orphan_result(sent: ParsedRequest) -> Iterator[WireFault]:
    """Every result answers a call of the previous message (§7.2)."""
    for index, turn in enumerate(sent.turns):
        results = turn.of("tool_result") if turn.role == "user" else []
        if not results:
            continue
        previous = sent.turns[index - 1] if index else None
        calls = {spot.name("id") for spot in previous.of("tool_use")} if previous else set()
        for spot in results:
            if (name := spot.name("tool_use_id")) not in calls:
                error = f"{spot.path}: unexpected `tool_use_id` found in `tool_result` blocks: {name}"
                yield WireFault(
                    spot.path, f"nothing in the previous message made the call {clip(name)}", error
                )


def find_repeated_result(sent: ParsedRequest) -> Iterator[WireFault]:
    """A call has one result (widely reported 400, e.g. hindsight#4250)."""
    for turn in sent.turns:
        ids: set[str] = set()
        for spot in turn.of("tool_result"):
            name = spot.name("tool_use_id")
            if name in ids:
                error = (
                    "each tool_use must have a single result. Found multiple `tool_result` blocks with id: "
                )
                yield WireFault(
                    spot.path, f"the call {clip(name)} is answered twice", f"{spot.path}: {error}{name}"
                )
            ids.add(name)


def find_late_result(sent: ParsedRequest) -> Iterator[WireFault]:
    """Results come first in their message, text after them (§7.3)."""
    for turn in sent.turns:
        other: Spot | None = None
        for spot in turn.spots if turn.role == "user" else ():
            if spot.type != "tool_result":
                other = other or spot
            elif other is not None:
                error = "`tool_use` ids were found without `tool_result` blocks immediately after: "
                sentence = f"the result follows a {other.type} in the same message"
                name = spot.name("tool_use_id")
                yield WireFault(spot.path, sentence, f"messages.{max(0, turn.message - 1)}: {error}{name}")


def find_unexplained_error(sent: ParsedRequest) -> Iterator[WireFault]:
    """A result that is an error is not empty (widely reported 400, e.g. markform#153)."""
    for spot in sent.spots:
        if (
            spot.type == "tool_result"
            and spot.block.get("is_error") is True
            and not spot.block.get("content")
        ):
            error = f"{spot.path}.tool_result: content cannot be empty if `is_error` is true"
            yield WireFault(spot.path, "the output is an error that says nothing", error)


def find_unpaired_server_tool(sent: ParsedRequest) -> Iterator[WireFault]:
    """Find server tool calls without a result in the same assistant turn, and results without a call (§7.4).

    There are two exceptions. If the client's tools are called as well, for example by the server tool itself,
    the result may be in a later turn, after messages that contain only tool results (programmatic tool
    calling). And the last turn may have an open call, because a paused turn is sent back unchanged.
    """
    waiting: dict[str, Spot] = {}
    lone: list[Spot] = []
    for turn in sent.turns:
        if turn.role == "user" and not _continues(turn):
            lone += waiting.values()
            waiting = {}
        for spot in turn.spots:
            if spot.type in SERVER_CALLS:
                waiting[spot.name("id")] = spot
            elif is_server_result(spot.type) and waiting.pop(spot.name("tool_use_id"), None) is None:
                lone.append(spot)
    for spot in sorted(lone, key=lambda spot: (spot.message, spot.at)):
        if spot.type in SERVER_CALLS:
            named = clip(spot.name("name"))
            error = f"{named} tool use was found without a corresponding tool_result block"
            error = f"messages.{spot.message}: {error}"
            sentence = f"the server's call {clip(spot.name('id'))} has no result in this turn"
        else:
            name = spot.name("tool_use_id")
            error = f"{spot.path}: unexpected `tool_use_id` found in `{spot.type}` blocks: {name}"
            sentence = f"nothing in this turn made the server's call {clip(name)}"
        yield WireFault(spot.path, sentence, error)


def _continues(turn: WireTurn) -> bool:
    """Whether a message contains only tool results, so that the assistant's turn continues after it."""
    return bool(turn.spots) and all(spot.type == "tool_result" for spot in turn.spots)
