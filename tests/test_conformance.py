"""The golden vectors of the published systems, run as a test where they are beside this checkout."""

from __future__ import annotations

import pytest

from tests.conformance import flue
from tests.conformance.__main__ import main
from tests.shared import SHARED, needs_shared

pytestmark = needs_shared


def test_flue_plans_as_the_real_functions_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flue", str(SHARED / "vectors/flue")]) == 0, capsys.readouterr().out[-4000:]
    passed = capsys.readouterr().out.splitlines()[-1]
    assert passed.endswith(" passed, 0 failed")
    assert int(passed.split()[0]) > 600


def test_tiered_plans_as_the_real_functions_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tiered", str(SHARED / "vectors/tiered")]) == 0, capsys.readouterr().out[-4000:]
    passed = capsys.readouterr().out.splitlines()[-1]
    assert passed.endswith(" passed, 0 failed")
    assert int(passed.split()[0]) >= 60


def test_more_tiered_vectors_pass_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tiered", str(SHARED / "vectors/tiered-more")]) == 0, capsys.readouterr().out[-4000:]
    vectors = len(list((SHARED / "vectors/tiered-more").glob("[0-9]*.json")))
    assert capsys.readouterr().out.splitlines() == [f"{vectors} passed, 0 failed"]


def test_flue_traces_go_through_our_transition_as_through_the_real_session(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["traces", str(SHARED / "vectors/flue")]) == 0, capsys.readouterr().out[-4000:]
    traces = len(list((SHARED / "vectors/flue/traces").glob("*.json")))
    assert capsys.readouterr().out.splitlines()[-1] == f"{traces} passed, 0 failed"


def test_a_mismatch_is_named_by_its_path() -> None:
    expected = {"cut": {"firstKeptIndex": 3}, "list": [1, 2], "few": {"count": 2, "first": "a", "last": "b"}}
    actual = {"cut": {"firstKeptIndex": 4}, "list": [1], "few": ["a", "c"]}
    named = [line.partition(":")[0] for line in flue.compare(actual, expected)]
    assert named == [".cut.firstKeptIndex", ".list", ".few.last"]
