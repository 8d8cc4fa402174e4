"""What is published about models: windows, what they do with old thinking, what a picture costs.

Pure look-ups by the model's name, as files write it (`claude-opus-4-5-20251101`, `claude-sonnet-4.6`,
`us.anthropic.claude-…-v1:0`). Sources are Anthropic's platform documentation, read in 2026: pages
context-windows, context-editing, thinking, preserved-thinking and vision. Other makers' figures are not
guessed: if the file does not record a figure, the result is None and a sentence.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import ceil
from typing import Literal, NamedTuple

import numpy as np

from ..session.entries import SYNTHETIC as SYNTHETIC
from ..session.entries import is_tokens
from ..session.session import Session

ModelClass = Literal["strip", "keep", "bound"]
CLAUDE_CODE = "claude-code"
_WINDOW, _LARGE_WINDOW = 200_000, 1_000_000
_LARGE_SUFFIX = "[1m]"
_NEWEST_FIRST = re.compile(
    r"claude-(?P<family>opus|sonnet|haiku|fable|mythos)(?:-(?P<major>\d{1,2})(?!\d)(?:[-.](?P<minor>\d{1,2})(?!\d))?)?"
)
_OLD_STYLE = re.compile(r"claude-(?P<major>\d{1,2})(?:[-.](?P<minor>\d{1,2}))?-(?P<family>opus|sonnet|haiku)")
# longest edge in pixels, most tokens
_STANDARD, _HIGH = (1568, 1568), (2576, 4784)
_PATCH = 28


class ClaudeName(NamedTuple):
    """A Claude model's family and version; (0, 0) when the name holds none."""

    family: str
    version: tuple[int, int]


_EXTENDED = ClaudeName("opus", (4, 6)), ClaudeName("sonnet", (4, 6))


class Window(NamedTuple):
    """A context window in tokens, None if unknown, and its source."""

    tokens: int | None
    source: str


def find_claude(model: str | None) -> ClaudeName | None:
    """Family and version out of a model's name, or None when it is not a Claude model.

    >>> find_claude("us.anthropic.claude-sonnet-4-5-20250929-v1:0")
    ClaudeName(family='sonnet', version=(4, 5))
    """
    name = (model or "").lower()
    match = _OLD_STYLE.search(name) or _NEWEST_FIRST.search(name)
    if match is None:
        return None
    return ClaudeName(match["family"], (int(match["major"] or 0), int(match["minor"] or 0)))


def name_maker(model: str | None) -> str | None:
    """Return the maker of a model by its name: "anthropic" for the Claude models, None if unknown.

    >>> name_maker("claude-opus-4-5"), name_maker("other")
    ('anthropic', None)
    """
    return "anthropic" if find_claude(model) is not None else None


def name_entry(session: Session) -> str:
    """The provider entry that answers in a session: the first that a reply names, else who makes the model,
    else "main"."""
    for entry in session.entries:
        if named := entry.provider or name_maker(entry.model):
            return named
    return name_maker(session.model) or "main"


def is_same(name: str | None, other: str | None) -> bool:
    """Whether two names are of one model: equal, or of the same family and version.

    >>> is_same("claude-opus-5-5", "us.anthropic.claude-opus-5-5-20261001"), is_same("gpt-5", "gpt-5.5")
    (True, False)
    """
    claude = find_claude(name)
    return name == other or (claude is not None and any(claude.version) and claude == find_claude(other))


def find_class(model: str | None) -> ModelClass | None:
    """Return how a model treats the thinking of earlier turns; None if that is not published.

    `strip` drops it silently: Opus up to 4.1, Sonnet up to 4.5, Haiku up to 4.5. `keep` retains and counts
    it: Opus from 4.5, Sonnet from 4.6, Fable, Mythos. `bound` also refuses it when anything before it was
    edited: Fable from 5.1, Opus from 5.5. Source: context-editing (defaults of `clear_thinking_20251015`),
    preserved-thinking.

    >>> [find_class(m) for m in ("claude-haiku-4-5", "claude-opus-4-6", "claude-fable-5-1", "gpt-5.5")]
    ['strip', 'keep', 'bound', None]
    """
    claude = find_claude(model)
    if claude is None:
        return None
    family, version = claude
    if version == (0, 0):
        return "keep" if family in ("fable", "mythos") else None
    if family in ("fable", "mythos"):
        return "bound" if family == "fable" and version >= (5, 1) else "keep"
    if family == "opus":
        return "bound" if version >= (5, 5) else "keep" if version >= (4, 5) else "strip"
    if family == "sonnet":
        return "keep" if version >= (4, 6) else "strip"
    return "strip" if version <= (4, 5) else None


def strips_thinking(model: str | None) -> bool:
    """Whether a model is not shown, and not charged for, the thinking of earlier turns."""
    return find_class(model) == "strip"


def published_window(model: str | None) -> int | None:
    """The context window published for a model, in tokens: the default where several are offered.

    1,000,000: Opus and Sonnet from 4.6, Fable, Mythos 5, and any name that ends in `[1m]`. 200,000: other
    Claude models. Source: context-windows; the suffix is Claude Code's (model configuration).
    """
    claude = find_claude(model)
    if claude is None:
        return None
    family, version = claude
    if _LARGE_SUFFIX in (model or "").lower() or family == "fable":
        return _LARGE_WINDOW
    since = {"opus": (4, 6), "sonnet": (4, 6), "mythos": (5, 0)}.get(family)
    if version == (0, 0) and family != "mythos":
        return None
    return _LARGE_WINDOW if since is not None and version >= since else _WINDOW


def model_of(session: Session) -> str | None:
    """Return the model that reads the context next: the model of the last reply on the path, else the
    session's."""
    for index in session.named[::-1]:
        model = session.entries[int(index)].model
        if model != SYNTHETIC:
            return model
    return session.model


_OTHERS = re.compile(
    r"gpt|codex|chatgpt|\bo[134]\b|gemini|gemma|llama|mistral|mixtral|devstral|qwen|deepseek|kimi|grok|glm|nova|minimax"
)
"""Parts of the names of models of other makers."""
_SERVING = ("anthropic", "claude", "bedrock", "vertex", "foundry", "azure")
"""Parts of the names of providers that serve Anthropic's API with its context editing."""


def is_of_another(model: str | None) -> bool:
    """Whether a model is known to be of another maker than Anthropic, by its name.

    >>> [is_of_another(model) for model in ("gpt-5.5", "claude-opus-4-5", "mine", None)]
    [True, False, False, False]
    """
    return find_claude(model) is None and _OTHERS.search((model or "").lower()) is not None


def refuse_context_editing(session: Session) -> str:
    """Return why the provider that is asked next makes no edits of Anthropic's context editing; "" if it may.

    A model that the file does not name, or whose maker is not known, is not known to lack it.

    >>> from inspector import read_session
    >>> message = {"role": "user", "content": "Name a prime."}
    >>> refuse_context_editing(read_session({"model": "gpt-5.5", "messages": [message]}))
    "Context editing is Anthropic's: the provider of gpt-5.5 clears nothing."
    """
    model = model_of(session)
    named = (session.entries[int(index)] for index in session.named[::-1])
    provider = next((entry.provider or "" for entry in named if entry.model == model), "").lower()
    who = f"the provider of {model:.60}" if is_of_another(model) else f"{provider:.60}"
    if not is_of_another(model) and (not provider or any(part in provider for part in _SERVING)):
        return ""
    return f"Context editing is Anthropic's: {who} clears nothing."


def window_of(session: Session) -> Window:
    """The session's context window and how it is known.

    The window that the file states comes first, then the one published for the model. The published figure
    is a default: a session that was compacted automatically below 200,000 tokens had the smaller window, and
    a session with an answered request above 200,000 tokens had the larger one. The size that a compaction
    records before itself is not evidence of the larger window (anthropics/claude-code issue 82863).
    """
    if session.window:
        return Window(session.window, "recorded in the file")
    model = model_of(session)
    published = published_window(model)
    if published is None:
        return Window(
            None, f"not recorded in the file, and none is published here for {model or 'an unnamed model'}"
        )
    largest = _largest_answered(session, model)
    # The recorded size before a compaction is an estimate, perhaps of a refused request. It can rule out the
    # smaller window but not prove the larger one.
    before = max((boundary.tokens_before or 0 for _, boundary in session.boundaries), default=0)
    if published > _WINDOW >= max(largest, before) and _LARGE_SUFFIX not in (model or "").lower():
        if any(b.kind == "compact" and b.trigger != "manual" for _, b in session.boundaries):
            return Window(
                _WINDOW,
                f"observed: {published:,} is published for {model}, but the session was compacted and "
                f"its largest context was {ceil(max(largest, before)):,} tokens",
            )
    # Claude Code gives these models the large window only if their name requests it (model configuration).
    claude = find_claude(model)
    is_extended = claude in _EXTENDED and _LARGE_SUFFIX not in (model or "").lower()
    if session.format == CLAUDE_CODE and is_extended and largest <= _WINDOW:
        return Window(
            _WINDOW,
            f"{_WINDOW:,} in Claude Code unless the model's name ends in {_LARGE_SUFFIX}; none was larger",
        )
    if largest > published:
        return Window(
            max(_LARGE_WINDOW, largest),
            f"observed: {published:,} is published for {model}, but a context held {largest:,} tokens",
        )
    return Window(published, f"published for {model}")


def _largest_answered(session: Session, model: str | None) -> int:
    """Return the largest reported context after a reply of a model, in tokens.

    Refused and failed requests and those of other models are not counted.
    """
    tree = session.tree
    sizes = np.where(tree.totals > 0, tree.totals, tree.usages.sum(axis=1))
    for row in np.argsort(-np.nan_to_num(sizes), kind="stable").tolist():
        entry = session.entries[int(tree.reports[row])]
        if entry.usage is None or entry.cut_short or not is_tokens(entry.usage.tokens):
            continue
        if is_same(entry.model or session.model, model):
            return ceil(entry.usage.tokens)
    return 0


def image_tokens(width: int | None, height: int | None, model: str | None = None) -> int | None:
    """Visual tokens of an image of `width` x `height` pixels; None if the size or the model is unknown.

    One token per 28 x 28 patch, after shrinking to the largest size of the same shape that keeps within
    the longest edge and the most tokens. Both limits are higher from Claude 4.7 on; for a model that is not
    known the lower ones apply. None for models of other vendors. Source: vision.

    >>> image_tokens(1920, 1080), image_tokens(1920, 1080, "claude-opus-4-7")
    (1560, 2691)
    """
    claude = find_claude(model)
    if (model and claude is None) or not width or not height or min(width, height) < 1:
        return None
    return _patches(width, height, *(_STANDARD if claude is None or claude.version < (4, 7) else _HIGH))


@lru_cache(maxsize=4096)
def _patches(width: int, height: int, edge: int, most: int) -> int:
    """Columns x rows at the largest scale that fits, in exact arithmetic.

    Columns and rows only step up just past a whole patch, so the largest scale is 1, the one of the
    longest edge, or one that makes a side a whole number of patches. A scale is a fraction (up, down).
    """
    scales = [(1, 1), (edge, max(width, height))]
    scales += [(_PATCH * n, side) for side in (width, height) for n in range(1, edge // _PATCH + 1)]
    best, tokens = (0, 1), 1
    for up, down in scales:
        if up > down or up * max(width, height) > edge * down:
            continue
        columns = -(-width * up // (_PATCH * down))
        rows = -(-height * up // (_PATCH * down))
        if columns * rows <= most and up * best[1] > best[0] * down:
            best, tokens = (up, down), columns * rows
    return tokens
