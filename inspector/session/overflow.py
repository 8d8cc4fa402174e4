"""Detect context overflow in a reply, by the rules of Flue and pi (FLUE §12).

Three cases: the provider's error text matches a known phrase; a reply stopped normally although more
input than the window was read; a reply was cut off with no output at 99 % of the window. And which of two
emergencies a refused request is: too many tokens, which a compaction cures, or too many bytes (K7).
"""

from __future__ import annotations

import re
from typing import Literal

from .blocks import Number
from .entries import Entry, Usage

Overflow = Literal["token_overflow", "byte_overflow"]
Version = Literal["pi-ai 0.73.0", "pi-ai 0.83.0", "pi 1.5.2"]
VERSIONS: tuple[Version, ...] = ("pi-ai 0.73.0", "pi-ai 0.83.0", "pi 1.5.2")

_EXCLUDED = (r"^Throttling error:", r"^Service unavailable:", r"rate limit", r"too many requests")
_N = r"[\d,]+"
# (pattern, first version that has it)
_PHRASES: tuple[tuple[str, int], ...] = (
    (r"prompt is too long", 0),
    (r"request_too_large", 0),
    (r"input is too long for requested model", 0),
    (r"exceeds the context window", 0),
    (r"input token count.*exceeds the maximum", 0),
    (r"maximum prompt length is \d+", 0),
    (r"reduce the length of the messages", 0),
    (r"maximum context length is \d+ tokens", 0),
    (r"exceeds the limit of \d+", 0),
    (r"exceeds the available context size", 0),
    (r"greater than the context length", 0),
    (r"context window exceeds limit", 0),
    (r"exceeded model token limit", 0),
    (r"too large for model with \d+ maximum context length", 0),
    (r"model_context_window_exceeded", 0),
    (r"prompt too long; exceeded (?:max )?context length", 0),
    (r"context[_ ]length[_ ]exceeded", 0),
    (r"too many tokens", 0),
    (r"token limit exceeded", 0),
    (rf"exceeds (?:the )?(?:model'?s )?maximum context length of {_N} tokens?", 1),
    (rf"exceeds (?:the )?(?:model'?s )?maximum context length \({_N}\)", 1),
    (rf"exceeds (?:the )?maximum allowed input length of {_N} tokens?", 1),
    (rf"input \({_N} tokens\) is longer than the model'?s context length \({_N} tokens\)", 1),
    (rf"prompt has {_N} tokens?, but the configured context size is {_N} tokens?", 1),
    (r"range of input length should be", 1),
    (r"prompt too long", 2),
    (r"context window exceeded", 2),
    (r"prompt exceeds max length", 2),
    (r"^[\w .-]+ API error \(413\):", 2),
    (r"^413\b", 2),
)
_NO_BODY = re.compile(r"^4(?:00|13)\s*(?:status code)?\s*\(no body\)", re.I)
# Texts of an HTTP 413. They are more reliable than the status (CLAUDE §1.3).
_BYTES = re.compile(r"request_too_large|(?:request|entity|payload) too large", re.I)
_SIZE = re.compile(r"\b(?:bytes|Mi?B)\b", re.I)
_PROMPT = re.compile(
    "|".join(p for p, _ in _PHRASES if "413" not in p and p != "request_too_large") + r"|prompt_too_long",
    re.I,
)
_STATUS = re.compile(r"^(?:[\w .-]*\bAPI error:? \(?)?([45]\d\d)\b", re.I)
_EXCLUDE = re.compile("|".join(_EXCLUDED), re.I)
_MATCH = tuple(re.compile("|".join(p for p, since in _PHRASES if since <= v), re.I) for v in range(3))


def is_overflow(
    stop_reason: str | None,
    error: str | None,
    usage: Usage | None,
    window: Number,
    *,
    provider: str | None = None,
    version: Version = "pi-ai 0.73.0",
) -> bool:
    """Return whether a reply is a context overflow. `window` is in tokens; 0 means unknown.

    >>> is_overflow("error", "prompt is too long: 213462 tokens > 200000 maximum", None, 200_000)
    True
    """
    index = VERSIONS.index(version)
    if stop_reason == "error" and error:
        if index == 1 and "(request_too_large)" in error:
            return True
        no_body = _NO_BODY.search(error) and (index < 2 or provider == "cerebras")
        if not _EXCLUDE.search(error) and (no_body or _MATCH[index].search(error)):
            return True
    if usage is None or not window > 0:
        return False
    read = usage.input + usage.cache_read
    if stop_reason == "stop":
        return read > window
    return stop_reason == "length" and usage.output == 0 and read >= 0.99 * window


def read_stop(reply: Entry) -> str | None:
    """Return why a reply ended, in the terms of Flue and pi for the stop reasons of providers.

    >>> [read_stop(Entry(id="m", stop_reason=reason)) for reason in ("end_turn", "max_tokens", "error", None)]
    ['stop', 'length', 'error', 'stop']

    A reply that was cut off where the window ends was cut off for its length, and is an answer (CLAUDE §1.3).
    """
    reason = (reply.stop_reason or "").lower()
    if reason in ("error", "aborted"):
        return reason
    if reply.error is not None:
        return "error"
    if any(block.kind == "tool_call" for block in reply.blocks):
        return "toolUse"
    return "length" if reason in ("length", "max_tokens", "model_context_window_exceeded") else "stop"


def read_error(reply: Entry) -> str | None:
    """Return the text of a failed reply's error, None without one.

    Some files have only a code there, such as "invalid_request", and the provider's message in the reply.

    >>> from inspector.session.blocks import Text
    >>> said = (Text(text="Prompt is too long"),)
    >>> read_error(Entry(id="m", error="invalid_request", blocks=said))
    'invalid_request: Prompt is too long'
    """
    code = reply.error
    if code is None or " " in code or not reply.text:
        return code
    return f"{code}: {reply.text}"


STATUS = {"token_overflow": 400, "byte_overflow": 413}
"""The HTTP status of each refusal according to the API's documentation, for a refusal that no file records;
seed 002 says 413 for both."""


def find_status(error: str | None) -> int | None:
    """Return the HTTP status at the beginning of an error's text, or None.

    >>> find_status("413 prompt is too long"), find_status("API Error: 400 {}"), find_status("too long")
    (413, 400, None)
    """
    match = _STATUS.match(error or "")
    return int(match[1]) if match else None


def read_status(reply: Entry) -> int | None:
    """Return the HTTP status that a failed reply records, in its error or in the text after an error's code.

    >>> [read_status(Entry(id="m", error=said)) for said in ("400 prompt is too long", "prompt is too long")]
    [400, None]
    """
    return find_status(reply.error) or (find_status(reply.text) if read_stop(reply) == "error" else None)


def classify_refusal(status: int | None, message: str | None) -> Overflow | None:
    """Classify a refused request as a kind of overflow; None for another error.

    Too many tokens is a 400 whose text says so; too many bytes is a 413. Seed 002 calls a too long prompt a
    413 too, so words about the prompt decide before the status does. Throttling and failing servers (429,
    5xx) are neither, whatever they say. Source: S2-22, CLAUDE §1.3.

    >>> classify_refusal(400, "prompt is too long: 213462 tokens > 200000 maximum")
    'token_overflow'
    >>> classify_refusal(413, "request_too_large: Request exceeds the maximum size")
    'byte_overflow'
    """
    text = message or ""
    if _EXCLUDE.search(text) or (status is not None and (status == 429 or status >= 500)):
        return None
    tokens = "token" in text.lower()
    large = status == 413 or re.match(r"413\b", text)
    if not tokens and (_BYTES.search(text) or (large and _SIZE.search(text))):
        return "byte_overflow"
    if _PROMPT.search(text) or (large and tokens):
        return "token_overflow"
    if large:
        return "byte_overflow"
    return "token_overflow" if _NO_BODY.search(text) else None


def find_refusal(reply: Entry) -> Overflow | None:
    """Which kind of overflow a failed reply is the refusal of; None for another failure, and for an answer,
    whatever it says.

    >>> find_refusal(Entry(id="m", stop_reason="error", error="prompt is too long: 213462 tokens"))
    'token_overflow'
    >>> find_refusal(Entry(id="m", stop_reason="model_context_window_exceeded")) is None
    True
    """
    if read_stop(reply) != "error":
        return None
    return classify_refusal(None, f"{read_error(reply) or reply.text} {reply.stop_reason or ''}")
