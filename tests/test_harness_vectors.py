"""Vectors of today's harnesses: a few of each folder wherever the tests run, all of them where they are
beside this checkout; and that the comparison sees what it is for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import harness_checks, harnesses
from tests.conformance.__main__ import main
from tests.shared import SHARED, needs_shared

CASES = Path(__file__).parent / "cases" / "harnesses"
VECTORS = sorted(CASES.glob("*/*.json"))
COMPARED = [file for file in VECTORS if json.loads(file.read_text("utf-8"))["output"].get("messages")]
PARTLY = {
    "cline": "prompts that alone are too large are shortened there (27)",
    "haystack": "a sum rounds differently (03), and steps have a summary of their own (17)",
}
"""Folders of which some vectors fail, and why."""


@pytest.mark.parametrize("file", VECTORS, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_a_policy_does_what_the_real_function_did(file: Path) -> None:
    assert harnesses.check_file(file) == []


@pytest.mark.parametrize("file", COMPARED, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_another_output_than_the_real_one_is_a_mismatch(file: Path, tmp_path: Path) -> None:
    case = json.loads(file.read_text("utf-8"))
    output = case["output"]
    fewer = output | {"messages": output["messages"][:-1]}
    rested = output | {"fired": not output["fired"]}
    wrongs = [fewer, rested]
    if kept := [told for told in output["messages"] if told.get("same") is True]:
        changed = {"from": kept[-1]["from"], "same": False, "parts": [7]}
        messages = [changed if told is kept[-1] else told for told in output["messages"]]
        wrongs.append(output | {"messages": messages})
    for wrong in wrongs:
        assert check(case | {"output": wrong}, file.parent.name, tmp_path)


def test_files_in_another_order_than_the_real_program_attached_them_are_a_mismatch(tmp_path: Path) -> None:
    case = json.loads((CASES / "claude-code" / "05.json").read_text("utf-8"))
    assert check(case, "claude-code", tmp_path) == []
    request = next(r for r in reversed(case["output"]["requests"]) if r["kind"] == "model")
    marked = [m for m in request["messages"] if "FILEMARK1" in (m.get("marks") or ())]
    marked[0]["marks"] = ["FILEMARK2"]
    assert check(case, "claude-code", tmp_path)
    marked[0]["marks"] = ["FILEMARK1"]
    reply = next(m for m in request["messages"] if m["role"] == "assistant")
    reply["marks"] = []
    assert check(case, "claude-code", tmp_path)


def check(case: dict[str, Any], folder: str, path: Path) -> Any:
    (path / folder).mkdir(exist_ok=True)
    file = path / folder / "01.json"
    file.write_text(json.dumps(case), "utf-8")
    return harnesses.check_file(file)


def test_every_folder_that_is_checked_has_vectors_here() -> None:
    assert {file.parent.name for file in VECTORS} == harness_checks.CHECKS.keys()


def test_a_folder_without_a_policy_fails_and_is_said_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder, name in (("crewai", "09"), ("unheard-of", "01"), ("unheard-of", "02")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / f"{name}.json").write_bytes((CASES / "crewai" / "09.json").read_bytes())
    assert main(["harnesses", str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [
        ["folder", "passed", "failed"],
        ["crewai", "1", "0"],
        ["unheard-of", "0", "2", *harnesses.NO_POLICY.split()],
        ["1", "passed,", "2", "failed"],
    ]


@needs_shared
def test_all_vectors_of_the_folders_with_a_policy_pass(capsys: pytest.CaptureFixture[str]) -> None:
    main(["harnesses", str(SHARED / "vectors" / "harnesses")])
    lines = capsys.readouterr().out.splitlines()
    table = {
        line.split()[0]: line for line in lines[lines.index(next(x for x in lines if "folder " in x)) + 1 :]
    }
    for folder in harness_checks.CHECKS.keys() - PARTLY.keys():
        assert table[folder].split()[2:] == ["0"], table[folder]
    passed, said, failed, _ = lines[-1].split()
    assert (int(passed) >= 391, said) == (True, "passed,")
    assert int(failed) == sum(int(line.split()[2]) for name, line in table.items() if name != passed)
