"""The golden vectors of the published systems, run as a test where they are beside this checkout."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.session.session import Session
from tests.conformance import flue, leaf_scan
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


def test_a_vector_that_breaks_its_check_is_named_and_the_others_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = SHARED / "vectors/tiered"
    for name in ("001-estimate-text.json", "074-q-reactive-prompt-too-long.json"):
        (tmp_path / name).write_bytes((cases / name).read_bytes())
    broken = json.loads((cases / "075-q-reactive-exhausted.json").read_text("utf-8"))
    del broken["input"]["initialMessages"]
    (tmp_path / "005-broken.json").write_text(json.dumps(broken), "utf-8")
    (tmp_path / "006-torn.json").write_text('{"id": ', "utf-8")
    (tmp_path / "007-new.json").write_text('{"id": "007-new", "family": "dance"}', "utf-8")
    assert main(["tiered", str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "2 passed, 3 failed"
    assert [line.split(":")[0] for line in lines[:-1]] == ["075-q-reactive-exhausted", "006-torn", "007-new"]


def test_a_scan_of_every_leaf_is_counted_and_a_wrong_count_is_named(tmp_path: Path) -> None:
    entries = json.loads((SHARED / "vectors/flue/handcrafted/b-abandoned-branch.json").read_text("utf-8"))
    session = entries["input"]["session"]
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "one.session.json").write_text(json.dumps(session), "utf-8")
    (tmp_path / "vectors" / "real").mkdir(parents=True)
    settings = {"enabled": True, "reserveTokens": 16_384, "keepRecentTokens": 10}
    counted = leaf_scan.scan(flue.parse(session), settings, 200_000)
    assert sum(counted.values()) == len(session["entries"])
    assert len(counted) > 1
    for wrong in (0, 1):
        counts = {**counted, "compact": counted["compact"] + wrong}
        scan = {"session": "sessions/one.session.json", "settings": settings, "outcomes": counts}
        file = tmp_path / "vectors" / "real" / "leaf-scan.json"
        file.write_text(json.dumps({"schema": "leaf-scan/1", "scans": [scan]}), "utf-8")
        ((_, found),) = flue.run(tmp_path / "vectors")
        assert bool(found) == bool(wrong)


def test_flue_traces_go_through_our_transition_as_through_the_real_session(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["traces", str(SHARED / "vectors/flue")]) == 0, capsys.readouterr().out[-4000:]
    traces = len(list((SHARED / "vectors/flue/traces").glob("*.json")))
    assert capsys.readouterr().out.splitlines()[-1] == f"{traces} passed, 0 failed"


def test_a_mismatch_is_named_by_its_path() -> None:
    expected = {"cut": {"firstKeptIndex": 3}, "list": [1, 2], "few": {"count": 2, "first": "a", "last": "b"}}
    actual = {"cut": {"firstKeptIndex": 4}, "list": [1], "few": ["a", "c"]}
    assert list(flue.compare(actual, expected)) == [
        ".cut.firstKeptIndex: 4, expected 3",
        ".list: 1 items, expected 2",
        ".few.last: 'c', expected 'b'",
    ]


def test_the_command_fails_for_a_folder_without_vectors(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.conformance", "flue", str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (1, "0 passed, 0 failed")


def test_an_empty_session_is_planned_too() -> None:
    assert flue.parse({"version": 3, "entries": [], "leafId": None}) == Session(format="flue")
