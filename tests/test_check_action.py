"""The action that lints transcripts in a workflow, and the hook: their steps are run as they stand."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from inspector.cli import main
from inspector.demo import read_demo

ROOT = Path(__file__).parents[1]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / ".github/actions/check/action.yml").read_text("utf-8"))
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))


def run_action(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The action's steps but the one that installs, in bash, with the environment that a workflow sets."""
    given = {name: told.get("default", "") for name, told in ACTION["inputs"].items()} | inputs
    (step,) = (one for one in ACTION["runs"]["steps"] if one["name"] == "Lint")
    assert "${{" not in step["run"]
    there = {
        name: given[value.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, value in step["env"].items()
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(
        command,
        cwd=folder,
        env=os.environ | there | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a demo.jsonl").write_bytes(read_demo())
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "short.jsonl").write_text(
        '{"type": "user", "uuid": "u1", "parentUuid": null, "message": {"role": "user", "content": "Hello"}}',
        "utf-8",
    )
    return tmp_path


def test_the_action_fails_on_what_was_lost_and_annotates_it(folder: Path) -> None:
    done = run_action(folder, files="*.jsonl inner/*.jsonl")
    assert done.returncode == 1, done.stderr
    assert "::error file=a demo.jsonl" in done.stdout
    assert "offsets.py" in done.stdout
    assert run_action(folder, files="inner/*.jsonl").returncode == 0
    assert run_action(folder, files="*.jsonl", select="CI003").returncode == 0


def test_the_action_takes_a_baseline(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", str(folder / "a demo.jsonl"), "--format", "json"]) == 1
    (folder / "known.txt").write_text(capsys.readouterr().out, "utf-8")
    done = run_action(folder, files="*.jsonl", baseline="known.txt")
    assert done.returncode == 0, done.stdout
    assert "::error" not in done.stdout and "(known)" in done.stdout


def test_the_action_plans_a_policy_and_leaves_codes_out(folder: Path) -> None:
    done = run_action(folder, files="*.jsonl", policy="langchain-trim")
    assert done.returncode == 1
    codes = {
        line.partition("title=")[2][:5] for line in done.stdout.splitlines() if line.startswith("::error")
    }
    assert codes
    assert (
        run_action(folder, files="*.jsonl", policy="langchain-trim", ignore=",".join(codes)).returncode == 0
    )


def test_the_hook_looks_at_every_file_it_is_given(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, *command = shlex.split(HOOK["entry"])
    short, demo = str(folder / "inner" / "short.jsonl"), str(folder / "a demo.jsonl")
    bad = folder / "bad.jsonl"
    bad.write_text("nothing", "utf-8")
    assert main([*command, short]) == 0
    assert main([*command, short, demo]) == 1
    assert "offsets.py" in capsys.readouterr().out
    assert main([*command, str(bad), demo]) == 2
    told = capsys.readouterr()
    assert "offsets.py" in told.out
    assert "bad.jsonl" in told.err
    assert main([*command, short, demo, "--format", "sarif"]) == 1
