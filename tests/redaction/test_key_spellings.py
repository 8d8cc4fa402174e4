"""A long value behind the name of a key: found after every sign and in any case. A test is no key."""

from __future__ import annotations

import random
from itertools import product

import pytest

from inspector.redaction.detect import find_spans

LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
SIGNS = (" = ", "=>", " := ", "::", "\t", "   ", ": ")
NAMES = (
    "cloudant_key",
    "clApiKey",
    "softlayer_token",
    "SL-KEY",
    "slpass",
    "secret_key",
    "iam-token",
    "api_key",
)


@pytest.mark.parametrize(("name", "sign"), list(product(NAMES, SIGNS)))
@pytest.mark.parametrize(("letters", "length"), [(16, 64), (36, 64), (16, 48), (36, 44)])
def test_a_value_as_long_as_a_hash_is_found(name: str, sign: str, letters: int, length: int) -> None:
    value = "".join(random.Random(length * letters).choices(LETTERS[:letters], k=length))
    text = f"{name}{sign}{value}"
    (span,) = find_spans(text)
    assert text[span.start : span.end].lstrip(":") == value


@pytest.mark.parametrize(
    "text", ["--- PASS: TestMigrateGate2IfNeeded_AndTheStateIsInvalid (0.00s)", "bypass: no"]
)
def test_what_only_ends_in_such_a_name_is_left(text: str) -> None:
    assert list(find_spans(text)) == []


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("name", NAMES)
def test_a_value_that_begins_with_test_is_one_too(name: str, sign: str) -> None:
    value = "test" + "".join(random.Random(7).choices(LETTERS, k=40))
    text = f"{name}{sign}{value}"
    assert [text[span.start : span.end].lstrip(":") for span in find_spans(text)] == [value]
