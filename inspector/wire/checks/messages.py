"""Rules about whole messages: their number, their roles, and that they are not empty.

Paragraphs (§) refer to CLAUDE.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from ...formats.requests.anthropic_blocks import SERVER_CALLS
from ...session.json_text import stringify
from ...tokens.models import is_of_another
from ..parsed import ParsedRequest, WireFault, clip
from ..render import PASSTHROUGH, PASSTHROUGH_IN_RESULT
from ..surrogates import has_lone_surrogate

MESSAGE_LIMIT = 100_000
BLOCKS = PASSTHROUGH | {
    *("text", "image", "document", "thinking", "redacted_thinking", "tool_use", "tool_result")
}
PARTS = PASSTHROUGH_IN_RESULT | {"text", "image", "document"}
"""Blocks that a request or a tool's result may contain; results of server tools have the same suffix."""
BODY_LIMIT = 32_000_000
"""Bytes of a request body: 32 MB, CLAUDE §1.3."""


def find_malformed(sent: ParsedRequest) -> Iterator[WireFault]:
    """A message is an object with a role and content; a block is an object with a type (§13)."""
    for path in sent.malformed:
        yield WireFault(
            path, "this is not shaped like a message or a block", f"{path}: Input should be an object"
        )


def find_malformed_length(sent: ParsedRequest) -> Iterator[WireFault]:
    """`max_tokens` is a whole number, 0 or more (§8, Messages API).

    0 is let through: whether it is taken differs between what has been published of it.
    """
    most = sent.body.get("max_tokens", 1)
    if not isinstance(most, int) or isinstance(most, bool):
        error = "max_tokens: Input should be a valid integer"
        yield WireFault("max_tokens", f"max_tokens is {str(most)[:20]!r} and no whole number", error)
    elif most < 0:
        error = "max_tokens: Input should be greater than or equal to 0"
        yield WireFault("max_tokens", f"max_tokens is {most:,}, and no reply is that short", error)


def find_no_message(sent: ParsedRequest) -> Iterator[WireFault]:
    """At least one message (§7.5)."""
    if not sent.messages and not sent.malformed:
        yield WireFault("messages", "there is no message", "messages: at least one message is required")


def find_too_many_messages(sent: ParsedRequest) -> Iterator[WireFault]:
    """At most 100,000 messages (§7.5)."""
    count = len(sent.messages)
    if count > MESSAGE_LIMIT:
        sentence = f"{count:,} messages are more than the {MESSAGE_LIMIT:,} of one request"
        yield WireFault(f"messages.{MESSAGE_LIMIT}", sentence, "messages: too many messages, at most 100,000")


def find_unknown_role(sent: ParsedRequest) -> Iterator[WireFault]:
    """Roles are user, assistant and system (§13)."""
    for message in sent.messages:
        if message.role not in ("user", "assistant", "system"):
            path = f"messages.{message.at}.role"
            yield WireFault(path, f"there is no role {clip(message.role)}", f"{path}: Unexpected role")


def find_first_not_user(sent: ParsedRequest) -> Iterator[WireFault]:
    """The first message is the user's, or opens with a compaction block (§7.5, §5.2)."""
    if not sent.messages or sent.messages[0].role == "user":
        return
    first = sent.messages[0]
    if not (first.spots and first.spots[0].type == "compaction"):
        sentence = f"the conversation opens with {clip(first.role)}, not with the user"
        yield WireFault("messages.0", sentence, 'messages: first message must use the "user" role')


def find_empty_message(sent: ParsedRequest) -> Iterator[WireFault]:
    """Only the assistant's last message may be empty (claude-code#4416), and the system's (§13)."""
    for message in sent.messages:
        last = message is sent.messages[-1] and message.role == "assistant"
        settings = message.role == "system" and "output_config" in message.body
        if not (message.spots or last or settings):
            path = f"messages.{message.at}"
            error = "all messages must have non-empty content except for the optional final assistant message"
            yield WireFault(path, "the message holds nothing", f"{path}: {error}")


def find_empty_text(sent: ParsedRequest) -> Iterator[WireFault]:
    """A text is not empty (§7.5), and a message with texts is not only white space (claude-code#23440)."""
    system = sent.body.get("system")
    for index, part in enumerate(system if isinstance(system, list) else ()):
        if isinstance(part, dict) and part.get("text") in ("", None):
            yield WireFault(
                f"system.{index}", "the text is empty", "system: text content blocks must be non-empty"
            )
    for message in sent.messages:
        texts = [(path, part) for spot in message.spots for path, part in spot.parts()]
        texts = [(path, part) for path, part in texts if part.get("type") == "text"]
        for path, part in texts:
            if part.get("text") in ("", None):
                yield WireFault(path, "the text is empty", "messages: text content blocks must be non-empty")
        own = [spot for spot in message.spots if spot.type == "text" and spot.name("text")]
        if own and not any(spot.name("text").strip() for spot in own):
            error = "messages: text content blocks must contain non-whitespace text"
            yield WireFault(own[0].path, "the message's text is nothing but white space", error)


def find_unknown_block(sent: ParsedRequest) -> Iterator[WireFault]:
    """Blocks are of the types that a request knows; a tool's result holds no call and no result (§13)."""
    for spot in sent.spots:
        for path, block in spot.parts():
            kind, inside = block.get("type"), path != spot.path
            is_known = kind in PARTS if inside else kind in BLOCKS or str(kind).endswith("_tool_result")
            if not is_known:
                where = "inside a tool's result" if inside else "in a message"
                error = f"{path}: Input tag {clip(kind)} found using 'type' does not match any expected tag"
                yield WireFault(path, f"the wire knows no block of type {clip(kind)} {where}", error)


def find_trailing_space(sent: ParsedRequest) -> Iterator[WireFault]:
    """If the request ends with text of the assistant, it has no trailing white space (forgecode#1872)."""
    turns = [turn for turn in sent.turns if turn.role != "system"]
    last = turns[-1].spots[-1] if turns and turns[-1].role == "assistant" and turns[-1].spots else None
    spaced = last is not None and last.type == "text" and last.name("text")[-1:].isspace()
    if last is not None and spaced and not is_of_another(sent.model):
        error = "messages: final assistant content cannot end with trailing whitespace"
        yield WireFault(last.path, "the assistant's last words end with white space", error)


def find_lone_surrogate(sent: ParsedRequest) -> Iterator[WireFault]:
    """Every text is valid Unicode (§7.8)."""
    error = "the request body is not valid JSON: no low surrogate in string"
    for part in ("system", "tools"):
        if has_lone_surrogate(sent.body.get(part)):
            yield WireFault(part, "a lone surrogate is not valid Unicode", error)
    for spot in sent.spots:
        if has_lone_surrogate(spot.block):
            yield WireFault(spot.path, "a lone surrogate is not valid Unicode", error)


def find_body_too_large(sent: ParsedRequest) -> Iterator[WireFault]:
    """A body is at most 32 MB, whatever its tokens; only images and documents can exceed it (§1.3)."""
    try:
        text = json.dumps(sent.body, ensure_ascii=False, default=str)
    except RecursionError:
        text = stringify(sent.body)
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > BODY_LIMIT:
        sentence = f"the body has {size / 1e6:.1f} MB, more than 32"
        error = "Request exceeds the maximum allowed number of bytes"
        yield WireFault("", sentence, error, "413 request_too_large")


def find_prefill(sent: ParsedRequest) -> Iterator[WireFault]:
    """From Claude 4.6 on the last message is not the assistant's (§7.6).

    Not prefill: a paused turn is sent back as it ended, with a server tool's block or a compaction (§5.1).
    A model without a version in its name must follow the rule, one of another maker need not.
    """
    turns = [turn for turn in sent.turns if turn.role != "system"]
    allowed = sent.is_before((4, 6)) or is_of_another(sent.model)
    if not turns or turns[-1].role != "assistant" or allowed:
        return
    ending = turns[-1].spots[-1].type if turns[-1].spots else ""
    if ending in (*SERVER_CALLS, "compaction") or ending.endswith("_tool_result"):
        return
    error = "This model does not support assistant message prefill"
    yield WireFault(f"messages.{turns[-1].message}", "the last words are the assistant's own", error)


def find_misplaced_system(sent: ParsedRequest) -> Iterator[WireFault]:
    """A system message follows a user message (or a server tool), and an assistant message is next (§7.7).

    Opus 4.8 and later accept the role, Sonnet 5 does not (PF mid-conversation-system-messages).
    """
    refused = sent.is_before((4, 8)) or sent.claude == ("sonnet", (5, 0))
    for index, message in enumerate(sent.messages):
        if message.role != "system":
            continue
        before = sent.messages[index - 1] if index else None
        after = sent.messages[index + 1] if index + 1 < len(sent.messages) else None
        ending = before.spots[-1].type if before and before.spots else ""
        paused = before is not None and before.role == "assistant" and ending.endswith("_tool_result")
        path = f"messages.{message.at}"
        if refused:
            yield WireFault(
                path,
                "this model knows no system message here",
                "role 'system' is not supported on this model",
            )
        elif before is None:
            error = "messages.0: use the top-level 'system' parameter for the initial system prompt"
            yield WireFault(path, "a system message cannot open the conversation", error)
        elif not (before.role == "user" or paused) or (after is not None and after.role != "assistant"):
            sentence = "a system message must be between a user message and one of the assistant"
            yield WireFault(path, sentence, f"{path}: system message is not allowed at this position")


def find_empty_compaction(sent: ParsedRequest) -> Iterator[WireFault]:
    """A compaction block contains a summary, or null if the compaction failed; never an empty text (§5.1)."""
    for spot in sent.spots:
        if spot.type == "compaction" and spot.block.get("content") == "":
            error = f"{spot.path}.compaction.content: String should have at least 1 character"
            yield WireFault(spot.path, "the compaction's summary is empty", error)
