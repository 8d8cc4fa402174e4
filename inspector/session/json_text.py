"""Compact JSON exactly as ECMAScript's `JSON.stringify` writes it without indent.

The published estimates of Flue and pi count the UTF-16 units of this text, so it must match to the
character: numbers in JavaScript's form, integer-like keys first and ascending, only the escapes that
`JSON.stringify` makes, lone surrogates escaped. Source: FLUE §2, ECMA-262 §25.5.2.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from json.encoder import encode_basestring
from typing import Any

import msgspec

_encode = msgspec.json.Encoder().encode
_LONE = re.compile("[\ud800-\udfff]")
_EXACT = 2**53


def digest(value: Any) -> str:
    """SHA-256 of a JSON value whose keys are sorted, in hexadecimal.

    >>> digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})
    True
    """
    return sha256(json.dumps(value, sort_keys=True).encode("ascii")).hexdigest()


def stringify(value: Any) -> str:
    """`value` as compact JSON.

    >>> stringify({"b": 1.0, "2": None, "1": "\\u00e9\\n"})
    '{"1":"é\\\\n","2":null,"b":1}'
    """
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, int | float):
        return js_number(value)
    if isinstance(value, dict) and (flat := _flat(value)) is not None:
        return flat
    return _write(value, stringify, _quote, _ordered)


BASE64 = "[base64: "
"""The beginning of the note that `shorten_base64` inserts."""
_SHORTEST = 80
_DATA = re.compile(
    r"(?P<head>data:[\w.+-]+/[\w.+-]+(?:;[\w.+-]+=[^;,\"\\]*)*;base64,)[A-Za-z0-9+/_=\\-]*"
    rf'|"(?P<run>[A-Za-z0-9+/_=\\-]{{{_SHORTEST},}})"'
)


def shorten_base64(text: str) -> str:
    """Replace base64 data in JSON text by a note with its number of characters.

    Data URLs are shortened, and strings of at least 80 characters that are entirely base64.

    >>> shorten_base64('{"type":"song","data":"' + "UklGRiQ0" * 20 + '"}')
    '{"type":"song","data":"[base64: 160 characters]"}'
    """

    def shorten(match: re.Match[str]) -> str:
        head, run = match["head"], match["run"]
        if run is not None and not _is_base64(run):
            return match[0]
        size = len(match[0]) - len(head) if head else len(run)
        note = f"{BASE64}{size:,} characters]"
        return f"{head}{note}" if head else f'"{note}"'

    return _DATA.sub(shorten, text)


def _is_base64(run: str) -> bool:
    """Whether a string in JSON notation is base64: it has letters of both cases, digits and few symbols."""
    core = run.replace("\\n", "").replace("\\r", "").rstrip("=")
    marks = sum(map(core.count, "+/-_"))
    kinds = (str.isupper, str.islower, str.isdigit)
    return (
        len(core) >= _SHORTEST - 2
        and "\\" not in core
        and "=" not in core
        and 10 * marks < len(core)
        and all(any(map(kind, core)) for kind in kinds)
    )


def _write(
    value: Any,
    scalar: Callable[[Any], str],
    quote: Callable[[str], str],
    pairs_of: Callable[[dict[Any, Any]], list[tuple[Any, Any]]],
) -> str:
    """Compact JSON by an explicit stack: a transcript may nest deeper than Python recurses."""
    out: list[str] = []
    stack: list[Any] = [("value", value)]
    while stack:
        what, item = stack.pop()
        if what == "text":
            out.append(item)
        elif isinstance(item, dict):
            stack.append(("text", "}"))
            pairs = pairs_of(item)
            for index in range(len(pairs) - 1, -1, -1):
                key, child = pairs[index]
                stack.append(("value", child))
                stack.append(("text", ("," if index else "") + quote(str(key)) + ":"))
            stack.append(("text", "{"))
        elif isinstance(item, list | tuple):
            stack.append(("text", "]"))
            for index in range(len(item) - 1, -1, -1):
                stack.append(("value", item[index]))
                if index:
                    stack.append(("text", ","))
            stack.append(("text", "["))
        else:
            out.append(scalar(item))
    return "".join(out)


def _flat(item: dict[Any, Any]) -> str | None:
    """An object without nested ones, the usual tool input, in one pass; None for any other."""
    for key, child in item.items():
        # Nearly every value is a text under a name; a key of digits has a place of its own.
        if type(child) is not str or type(key) is not str or key[:1].isdigit():
            break
    else:
        # Of such an object the quick encoder writes what JavaScript does, but for lone surrogates.
        with suppress(UnicodeEncodeError):
            return _encode(item).decode()
    for child in item.values():
        if isinstance(child, dict | list | tuple):
            return None
    pairs = (f"{_quote(str(key))}:{stringify(child)}" for key, child in _ordered(item))
    return "{" + ",".join(pairs) + "}"


def _quote(text: str) -> str:
    # Python escapes what JavaScript escapes, but for lone surrogates.
    quoted = encode_basestring(text)
    return quoted if text.isascii() else _LONE.sub(lambda lone: f"\\u{ord(lone.group()):04x}", quoted)


def _ordered(item: dict[Any, Any]) -> list[tuple[Any, Any]]:
    """Integer-like keys (0 … 2**32 - 2) ascending, then the rest as inserted."""
    numbered = [key for key in item if _is_index(key)]
    if not numbered:
        return list(item.items())
    numbered.sort(key=int)
    number_keys = set(numbered)
    return [(key, item[key]) for key in numbered] + [(k, v) for k, v in item.items() if k not in number_keys]


def _is_index(key: Any) -> bool:
    if not isinstance(key, str) or not key.isascii() or not key.isdigit():
        return False
    return (key == "0" or key[0] != "0") and len(key) <= 10 and int(key) < 2**32 - 1


def js_number(value: int | float) -> str:
    """A number as JavaScript prints it.

    >>> [js_number(x) for x in (1.0, -0.0, 1e21, 1e-7, 1e20, 0.1)]
    ['1', '0', '1e+21', '1e-7', '100000000000000000000', '0.1']
    """
    if isinstance(value, int):
        if -_EXACT <= value <= _EXACT:
            return str(value)
        try:
            value = float(value)
        except OverflowError:
            return "null"
    if math.isnan(value) or math.isinf(value):
        return "null"
    if value == 0:
        return "0"
    digits, exponent = _shortest(abs(value))
    sign = "-" if value < 0 else ""
    size = len(digits)
    if size <= exponent <= 21:
        return sign + digits + "0" * (exponent - size)
    if 0 < exponent <= 21:
        return f"{sign}{digits[:exponent]}.{digits[exponent:]}"
    if -6 < exponent <= 0:
        return f"{sign}0.{'0' * -exponent}{digits}"
    power = exponent - 1
    mantissa = digits if size == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{sign}{mantissa}e{'+' if power > 0 else '-'}{abs(power)}"


def _shortest(value: float) -> tuple[str, int]:
    """The shortest digits d and exponent n with value = 0.d * 10**n, by Python's own repr."""
    mantissa, _, power = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    exponent = len(whole) + int(power or 0)
    if whole.strip("0") == "":
        exponent -= len(fraction) - len(fraction.lstrip("0")) + len(whole)
    return digits.rstrip("0") or "0", exponent


def dump_lossless(value: Any) -> str:
    """JSON for our own files: ASCII only, so lone surrogates survive a round trip."""
    try:
        return json.dumps(value, ensure_ascii=True, allow_nan=True)
    except RecursionError:
        return _write(value, json.dumps, json.dumps, lambda item: list(item.items()))
