"""The command `lint` on files and folders: what it says, its exit code, and a baseline of known findings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inspector import lint, open_session
from inspector.cli import main
from inspector.demo import read_demo
from tests.claude_rows import Claude, dump

FORMATS = ("text", "json", "github", "sarif")
TALK = Claude().say("Never push to main. Mend src/tides/offsets.py.")
TALK.use("c1", "ok", 9_000, "Edit", {"file_path": "/w/src/tides/offsets.py"}).reply("It is mended.", 9_500)
TALK.compact("The tides were mended.").say("Go on.").reply("Yes.", 800)
LOST = dump(TALK.rows)
"""A session whose compaction lost a file and a rule."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A session whose compaction lost something, one without a compaction, and a file that is none."""
    (tmp_path / "b-lost.jsonl").write_bytes(LOST)
    talk = [{"role": "user", "content": "Never push to main."}, {"role": "assistant", "content": "Good."}]
    (tmp_path / "a-short.json").write_text(json.dumps(talk), "utf-8")
    (tmp_path / "settings.json").write_text('{"theme": "dark"}', "utf-8")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = main(["lint", *map(str, arguments)])
    return code, capsys.readouterr().out


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_says_that_nothing_was_checked(
    folder: Path, capsys: pytest.CaptureFixture[str], format: str
) -> None:
    code, out = run(capsys, folder / "a-short.json", "--format", format)
    assert code == 0
    assert "nothing was checked: no compaction is recorded" in out and "--policy" in out
    if format == "sarif":
        (done,) = json.loads(out)["runs"][0]["invocations"]
        assert [note["level"] for note in done["toolExecutionNotifications"]] == ["note"]
    if format == "github":
        assert out.startswith("::notice file=")


def test_rows_that_were_not_read_are_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damaged = folder / "damaged.jsonl"
    damaged.write_bytes(b"\n".join([*LOST.splitlines()[:2], b'{"type": "user", "uu', b""]))
    code, out = run(capsys, damaged)
    assert code == 0 and "1 row of the file was not read" in out


def test_a_folder_is_all_its_sessions_in_order(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, folder, "--format", "json")
    reports: list[dict[str, Any]] = json.loads(out)
    assert code == 1
    assert [Path(report["file"]).name for report in reports] == ["a-short.json", "b-lost.jsonl"]
    assert [report["ok"] for report in reports] == [True, False]
    code, out = run(capsys, folder, "--format", "sarif")
    results = json.loads(out)["runs"][0]["results"]
    assert code == 1 and len(results) == len(reports[1]["findings"])
    assert main(["lint", str(folder / "settings.json")]) == 2


def test_what_a_baseline_knows_does_not_fail_the_build(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost, baseline = folder / "b-lost.jsonl", tmp_path / "baseline.txt"
    baseline.write_text(run(capsys, lost, "--format", "json", "--select", "CI001")[1], "utf-8")
    code, out = run(capsys, lost, "--select", "CI001", "--baseline", baseline)
    assert code == 0 and "(known)" in out and " known" in out.splitlines()[-1]
    # A rule that is lost is not in it.
    assert run(capsys, lost, "--select", "CI001,CI002", "--baseline", baseline)[0] == 1
    _, out = run(capsys, lost, "--baseline", baseline, "--format", "sarif")
    results = json.loads(out)["runs"][0]["results"]
    unchanged = [result for result in results if result.get("baselineState") == "unchanged"]
    assert {result["ruleId"] for result in unchanged} == {"CI001"}
    assert all(result["partialFingerprints"] for result in results)


def test_a_fingerprint_stays_when_the_lines_move(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lost, moved = folder / "b-lost.jsonl", folder / "moved.jsonl"
    moved.write_bytes(b'{"type": "file-history-snapshot", "messageId": "x"}\n' * 7 + LOST)
    reports = [json.loads(run(capsys, file, "--format", "json")[1])["findings"] for file in (lost, moved)]
    lines, prints = (
        [[item[key] for item in report] for report in reports] for key in ("line", "fingerprint")
    )
    assert lines[0] != lines[1] and prints[0] == prints[1]


def test_a_file_that_is_no_baseline_is_named(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "wrong.txt"
    for text in ("none", "[1]", '{"findings": [{}]}'):
        wrong.write_text(text, "utf-8")
        assert main(["lint", str(folder / "b-lost.jsonl"), "--baseline", str(wrong)]) == 2
        assert "wrong.txt" in capsys.readouterr().err


def test_a_text_of_ones_own_is_the_summary(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "summary.txt"
    text.write_text("Edited src/currency/ghost.py.", "utf-8")
    lost = folder / "b-lost.jsonl"
    lost.write_bytes(read_demo())
    _, out = run(capsys, lost, "--policy", "flue", "--summary", text, "--select", "CI008")
    assert "src/currency/ghost.py" in out
    for command in ("plan", "show"):
        assert main([command, str(lost), "--policy", "flue", "--summary", str(text)]) == 0
        assert "summary by pasted" in capsys.readouterr().out
    assert main(["lint", str(lost), "--summary", str(text)]) == 2
    assert "policy" in capsys.readouterr().err


def test_a_loss_that_occurs_again_is_not_in_the_baseline(folder: Path) -> None:
    report = lint(open_session(folder / "b-lost.jsonl"), rules="CI001")
    (finding,) = report
    twice = replace(report, findings=(finding, finding))
    assert [item.is_known for item in twice.mark_known([finding.fingerprint])] == [True, False]
    assert not twice.mark_known([finding.fingerprint]).ok and report.mark_known([finding.fingerprint]).ok


def test_a_baseline_of_another_folder_with_the_same_name_is_not_taken(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "s.jsonl").write_bytes((folder / "b-lost.jsonl").read_bytes())
    (tmp_path / "third").mkdir()
    (tmp_path / "third" / "s.jsonl").write_bytes((folder / "b-lost.jsonl").read_bytes())
    baseline = tmp_path / "baseline.txt"
    written = run(capsys, tmp_path / "old", tmp_path / "new", "--format", "json", "--select", "CI001")[1]
    baseline.write_text(written, "utf-8")
    assert run(capsys, tmp_path / "new", "--select", "CI001", "--baseline", baseline)[0] == 0
    assert run(capsys, tmp_path / "third", "--select", "CI001", "--baseline", baseline)[0] == 1


def test_a_folder_without_sessions_and_a_text_in_another_encoding_are_named(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["lint", str(tmp_path / "empty"), "--format", "json"]) == 2
    printed = capsys.readouterr()
    assert json.loads(printed.out) == [] and "no session in it" in printed.err
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"\xff\xfe")
    assert main(["lint", str(folder / "b-lost.jsonl"), "--policy", "flue", "--summary", str(bad)]) == 2
    assert "UTF-8" in capsys.readouterr().err


def test_a_folder_with_one_session_is_reported_as_a_list(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "s.jsonl").write_bytes((folder / "b-lost.jsonl").read_bytes())
    assert isinstance(json.loads(run(capsys, tmp_path / "one", "--format", "json")[1]), list)
    assert "s.jsonl" in run(capsys, tmp_path / "one")[1]
