"""`%inspect`: a workbench in one line, in a real IPython; what cannot be done is told in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from inspector.demo import CONSTRAINT, LOST_PATH, open_demo, read_demo
from inspector.jupyter.widget import Workbench
from inspector.policies.registry import names_of_policies


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "inspector")
    yield shell
    for found in [each for each in shell.user_ns.values() if isinstance(each, Workbench)]:
        found.close()
    InteractiveShell.clear_instance()


def run(shell: InteractiveShell, line: str) -> Any:
    done = shell.run_cell(line)
    done.raise_error()
    return done.result


def test_a_file_is_shown_as_asked(shell: InteractiveShell, file: Path) -> None:
    asked = "--policy keep-recent-turns --counter chars4_utf16 --window 100000 --tab lesson"
    shown = run(shell, f'%inspect "{file}" {asked}')
    assert isinstance(shown, Workbench)
    assert (shown.policy, shown.tab) == ("keep-recent-turns", "lesson")
    assert shown.ledger.counter.name == "chars4_utf16"
    assert shown.plan.table.window == 100_000
    legal = [point.entry for point in shown.plan.cuts if point.legal]
    again = run(shell, f'%inspect "{file}" --cut {legal[3]} --at {shown.at} --versus claude-code-analysis')
    assert (again.cut, again.at, again.versus) == (legal[3], shown.at, {"policy": "claude-code-analysis"})
    shown.close()
    again.close()


def test_a_variable_that_holds_a_session_is_shown_and_can_be_kept(shell: InteractiveShell) -> None:
    shell.user_ns["session"] = open_demo()
    run(shell, "wb = %inspect session")
    assert shell.user_ns["wb"].session is open_demo()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("", "the following arguments are required: session"),
        ("nowhere.jsonl", "nowhere.jsonl: No such file or directory"),
        ("session --policy nope", "policy 'nope': no such policy; known: keep-recent-turns"),
        ("session --counter nope", "token counter 'nope'"),
        ("session --cut nope", "cut 'nope': no such entry"),
        ("session --tab loud", "argument --tab: invalid choice: 'loud'"),
        ("session --window many", "argument --window: invalid int value: 'many'"),
        ("session --polic flue", "unrecognized arguments: --polic flue. See %inspect --help"),
        ('"session', "No closing quotation"),
        ("/", "it is a folder"),
        ("session --follow", "only a file can be followed"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_sentence(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], line: str, sentence: str
) -> None:
    shell.user_ns["session"] = open_demo()
    done = shell.run_cell(f"%inspect {line}")
    told = capsys.readouterr()
    assert isinstance(done.error_in_exec, UsageError)
    assert sentence in str(done.error_in_exec)
    assert "Traceback" not in told.out + told.err
    assert f"UsageError: {done.error_in_exec}" in told.err


def test_policies_counters_tabs_and_options_are_completed(shell: InteractiveShell) -> None:
    def complete(line: str) -> set[str]:
        with provisionalcompleter():
            found = list(shell.Completer.completions(line, len(line)))
        return {line[: each.start] + each.text for each in found}

    line = "%inspect a.jsonl --policy "
    assert complete(line) >= {line + name for name in names_of_policies()}
    assert line + "keep-recent-turns" in complete(line + "keep-r")
    assert "%inspect a.jsonl --counter calibrated" in complete("%inspect a.jsonl --counter cal")
    assert "%inspect a.jsonl --tab lesson" in complete("%inspect a.jsonl --tab l")
    assert "%inspect a.jsonl --follow" in complete("%inspect a.jsonl --fo")
    assert "%inspect a.jsonl --versus recorded" in complete("%inspect a.jsonl --versus rec")


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A running session of the folder the notebook is in."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COMPACTION_INSPECTOR_STATE", str(tmp_path / "state"))
    for name in ("CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    folder = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(tmp_path))
    file = tmp_path / ".claude" / "projects" / folder / "s1.jsonl"
    file.parent.mkdir(parents=True)
    file.write_bytes(read_demo())
    return file.stem


def test_a_running_session_is_asked_in_one_line(shell: InteractiveShell, running: str) -> None:
    status = run(shell, "%compaction")
    assert status["session"] == running and status["tokens"] > 0
    assert run(shell, f"%compaction status --session {running}") == status
    assert any(item["text"].endswith(LOST_PATH) for item in run(shell, "%compaction lost")["lost"])
    assert any(CONSTRAINT[:40] in rule for rule in run(shell, "%compaction pinned")["rules"])
    found = run(shell, "%compaction find almanac.json")["excerpts"]
    assert found and all("almanac" in one["excerpt"] for one in found)


@pytest.mark.parametrize("line", ["find", "status tide", "nothing", "--session", "lost --session none"])
def test_an_invalid_question_is_a_sentence(
    shell: InteractiveShell, running: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = shell.run_cell(f"%compaction {line}")
    assert isinstance(done.error_in_exec, UsageError) and str(done.error_in_exec)
    assert "Traceback" not in "".join(capsys.readouterr())
