"""The fingerprints know values by what they hold, and tell two runs apart."""

from __future__ import annotations

from dataclasses import make_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from inspector.session.blocks import Text
from tests.fingerprints.__main__ import compare
from tests.fingerprints.names import Names, api
from tests.fingerprints.plain import Plain, dump
from tests.fingerprints.run import Wanted, digest, hash_session
from tests.fingerprints.sources import Source


class Old(NamedTuple):
    a: int
    b: str


@pytest.mark.parametrize("name", Names.HOMES)
def test_every_name_that_is_asked_is_there(name: str) -> None:
    assert getattr(api, name) is not None


def test_the_name_of_a_class_makes_no_difference_and_what_it_holds_does() -> None:
    new = make_dataclass("New", ["b", "a"])
    assert Plain()(Old(1, "x")) == Plain()(new("x", 1)) == {"a": 1, "b": "x"}
    assert Plain()(Old(1, "x")) != Plain()(Old(2, "x"))


def test_a_word_that_is_renamed_is_the_same_word() -> None:
    assert Plain()({"conduct.warn": 0.5, "kind": "conduct"}) == {"harness.warn": 0.5, "kind": "harness"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.array([1, 2], np.int32), np.array([1, 3], np.int32)),
        (np.array([1, 2], np.int32), np.array([1, 2], np.int64)),
        (np.zeros((2, 1)), np.zeros(2)),
        (Text(text="a"), Text(text="\ud800")),
        (1, 1.0),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ],
)
def test_values_that_differ_are_told_apart(one: Any, other: Any) -> None:
    plain = Plain()
    assert dump(plain(one)) != dump(plain(other))
    assert dump(plain(one)) == dump(Plain()(one))


def test_what_nobody_knows_is_refused() -> None:
    with pytest.raises(TypeError, match="object"):
        Plain()(object())


def test_two_runs_give_the_same_hashes_and_one_that_differs_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [hash_session(Source("demo", None), Wanted(policy="flue-2", part="plan")) for _ in range(2)]
    assert digest(runs[0]) == digest(runs[1])
    (line,) = runs[0]
    before, after = tmp_path / "before.jsonl", tmp_path / "after.jsonl"
    before.write_text(dump(line) + "\n")
    after.write_text(dump(line | {"hash": "0"}) + "\n")
    assert compare(before, before) == 0
    assert capsys.readouterr().out == "1 equal, 0 different\n"
    assert compare(before, after) == 1
    assert capsys.readouterr().out.splitlines()[0] == "differs: demo  flue-2  plan"
