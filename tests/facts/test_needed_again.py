"""What counts as needing a fact once more: content of a file, the same answer, an error with words."""

from __future__ import annotations

import pytest

from inspector.facts.facts import find_facts
from inspector.facts.needed_again import shows_file
from inspector.facts.regret import Regret, find_regret
from inspector.session.blocks import ToolCall
from inspector.session.entries import Entry
from inspector.tokens.ledger import count_tokens
from tests.facts.test_trace import WORDS
from tests.telling import compact, use
from tests.test_cuts import build, say, user


def shell(number: int, command: str, text: str) -> tuple[Entry, Entry]:
    """A command and what it printed."""
    return use(number, "Bash", text, command=command)


def regret(before: tuple[Entry, ...], after: tuple[Entry, ...]) -> list[Regret]:
    """What is regretted when a compaction that says nothing stands between."""
    session = build(user("go"), *before, say(), compact("all is well"), user("go on"), *after, say())
    return list(find_regret(session, find_facts(session), count_tokens(session, WORDS)))


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


def test_a_command_is_regretted_when_it_gives_the_same_answer() -> None:
    status = shell(1, "git status --short", " M src/a.py")
    assert regret(status, shell(2, "git status --short", " M src/other.py")) == []
    (found,) = (
        r for r in regret(status, shell(2, "git status --short", " M src/a.py")) if r.fact.kind == "command"
    )
    assert found.same
    assert regret(shell(1, "git add -A", ""), shell(2, "git add -A", "")) == []
