"""What counts as needing a fact once more: content of a file, the same answer, an error with words."""

from __future__ import annotations

import pytest

from inspector.facts.facts import find_facts
from inspector.facts.needed_again import has_failed, is_specific, same_answer, shows_file
from inspector.facts.regret import Regret, find_regret
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry
from inspector.tokens.ledger import count_tokens
from tests.facts.test_trace import WORDS
from tests.test_cuts import build, say, user


def shell(number: int, command: str, text: str, failed: bool = False) -> tuple[Entry, Entry]:
    """A command and what it printed."""
    call = ToolCall(id=f"c{number}", name="Bash", input={"command": command})
    output = ToolOutput(call_id=f"c{number}", name="Bash", parts=(Text(text=text),), is_error=failed)
    asked = Entry(id="", role="assistant", blocks=(call,))
    return asked, Entry(id="", role="tool", blocks=(output,))


def regret(before: tuple[Entry, ...], after: tuple[Entry, ...]) -> list[Regret]:
    """What is regretted when a compaction that says nothing stands between."""
    told = Boundary(summary="all is well")
    summary = Entry(id="", kind="compaction", blocks=(Text(text="all is well"),), boundary=told)
    session = build(user("go"), *before, say(), summary, user("go on"), *after, say())
    return list(find_regret(session, find_facts(session), count_tokens(session, WORDS)))


def test_counting_the_lines_of_files_reads_none_of_them() -> None:
    shown = shell(1, "cat src/a.py src/b.py", "def a(): pass\ndef b(): pass")
    counted = shell(2, "wc -l src/a.py src/b.py", "1 src/a.py\n1 src/b.py")
    assert regret(shown, counted) == []
    again = regret(shown, shell(2, "head -5 src/b.py", "def b(): pass"))
    assert [(found.fact.kind, found.fact.form) for found in again] == [("file", "src/b.py")]


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("cat src/a.py", True),
        ("cd /repo && sed -n '1,9p' src/a.py | head -3", True),
        ("sudo tail -n 5 a.py", True),
        ("grep -n 'def' src/a.py", True),
        ("git blame src/a.py", True),
        ("git show HEAD:src/a.py", True),
        ("git diff src/a.py", False),
        ("git log -p src/a.py", False),
        ("git show other/branch:src/a.py", False),
        ("git show 1a2b3c4 -- src/a.py", False),
        ("wc -l src/a.py", False),
        ("cat src/a.py | wc -l", False),
        ("grep -c def src/a.py", False),
        ("rg -l def src/a.py", False),
        ("git diff --stat src/a.py", False),
        ("git log --oneline src/a.py", False),
        ("stat src/a.py", False),
        ("python src/a.py", False),
        ("cat src/b.py; ls src/a.py", False),
    ],
)
def test_only_what_prints_lines_of_a_file_shows_it(command: str, shown: bool) -> None:
    assert shows_file(ToolCall(id="c1", name="Bash", input={"command": command}), "src/a.py") is shown


def test_a_search_shows_a_file_when_it_gives_its_lines() -> None:
    asked = {"pattern": "def", "path": "src/a.py"}
    assert not shows_file(ToolCall(id="c1", name="Grep", input=asked), "src/a.py")
    assert not shows_file(ToolCall(id="c1", name="Grep", input={**asked, "output_mode": "count"}), "src/a.py")
    assert shows_file(ToolCall(id="c1", name="Grep", input={**asked, "output_mode": "content"}), "src/a.py")
    assert shows_file(ToolCall(id="c1", name="Read", input={"file_path": "src/a.py"}), "src/a.py")


def test_a_command_is_regretted_when_it_gives_the_same_answer() -> None:
    status = shell(1, "git status --short", " M src/a.py")
    assert regret(status, shell(2, "git status --short", " M src/other.py")) == []
    (found,) = (
        r for r in regret(status, shell(2, "git status --short", " M src/a.py")) if r.fact.kind == "command"
    )
    assert found.same
    assert regret(shell(1, "git add -A", ""), shell(2, "git add -A", "")) == []


def test_an_answer_is_the_same_when_only_its_figures_differ() -> None:
    assert same_answer("ok 12 in 0.4s", "ok 13 in 0.5s")
    assert not same_answer("ok", "FAIL")
    assert not same_answer(None, "ok")
    assert not same_answer(" ", " ")


ERROR = "src/a.py:3:1: error: Name 'thing' is not defined"


def test_an_error_is_regretted_when_it_says_what_is_wrong_in_runs_that_failed() -> None:
    def met(text: str, failed: bool) -> list[str]:
        found = regret(shell(1, "mypy src", text, failed), shell(2, "mypy src tests", text, failed))
        return [one.fact.form for one in found if one.fact.kind == "error"]

    assert met(ERROR, True) == [ERROR]
    # The flag is lost in a pipe; the verdict is not.
    assert met(f"{ERROR}\nFound 1 error in 1 file", False) == [ERROR]
    assert met(f"{ERROR}\n1274 pass\n0 fail", False) == []
    assert met("Exit code 1\nFAIL", True) == []


@pytest.mark.parametrize(
    "form",
    [
        "exit code 1",
        "FAIL",
        "FAIL example.io/app/cmd/strategy",
        "FAIL example.io/app/cmd [build failed]",
        "[lint] ERROR task failed",
        "The user doesn't want to proceed with this tool use. The tool use was rejected",
        "Command aborted",
        "npm error command sh -c biome check --write . && tsgo --noEmit",
        "String to replace not found in file.",
        "File does not exist.",
        "error: All fail",
        "AssertionError",
        "error: Item 3 failed",
    ],
)
def test_what_every_failing_run_says_is_no_error_of_its_own(form: str) -> None:
    assert not is_specific(form)


@pytest.mark.parametrize(
    "form",
    [
        ERROR,
        "undefined: shadowBranchName",
        "ModuleNotFoundError: No module named 'yaml_tools'",
        "--- FAIL: TestSessionState_CleansUp (0.00s)",
        "error: unrecognized subcommand 'bun'",
        "could not connect to the staging database of tenants",
    ],
)
def test_an_error_with_a_name_or_words_of_its_own_is_one(form: str) -> None:
    assert is_specific(form)


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ("Exit code 2\nno such thing", True),
        ("=== 1 failed, 3 passed in 0.10s ===", True),
        ("Tests  2 failed | 5 passed (7)", True),
        ("ok\nFAIL\texample.io/app 0.3s", True),
        ("Traceback (most recent call last):\n  boom", True),
        ("[limiter] Task 2 failed: error: Item 3 failed\n 12 pass\n 0 fail", False),
        ("12 passed, 0 failed", False),
        ("The command did not fail.", False),
    ],
)
def test_a_run_has_failed_when_its_end_says_so(text: str, failed: bool) -> None:
    assert has_failed(ToolOutput(call_id="c1", parts=(Text(text=text),))) is failed
    assert has_failed(ToolOutput(call_id="c1", parts=(Text(text=text),), is_error=True))
