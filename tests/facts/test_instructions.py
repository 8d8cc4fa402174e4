"""Instruction files in force in a folder are a source of rules of their own, those at the root are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.facts.extract.instructions import find_attached
from inspector.facts.facts import find_facts
from inspector.facts.lint.check import lint
from inspector.facts.trace import trace_recorded
from inspector.session.session import Session
from tests.facts.test_explain import compact, use
from tests.test_cuts import build, say, user

RULE = "Never log a token."
FILE = f"# API\n\n{RULE}\nThe server listens on 8080.\n"


def after(path: str, output: str = FILE, summary: str = "All is well.", tool: str = "Read") -> Session:
    """A session below /app that read a file before its compaction."""
    given = {"command": f"cat {path}"} if tool == "Bash" else {"file_path": path}
    session = build(user("go"), *use(1, tool, output, **given), say("ok"), compact(summary), user("on"))
    return session.model_copy(update={"cwd": "/app"})


def speakers(session: Session) -> list[str]:
    return [said.by for fact in find_facts(session).by_kind("constraint") for said in fact.said]


def attached(path: str) -> Session:
    reminder = f"ok\n<system-reminder>\nContents of {path}:\n\n{FILE}</system-reminder>"
    return after("/app/api/main.py", reminder)


@pytest.mark.parametrize(
    "session",
    [
        after("/app/api/AGENTS.md"),
        after("api/CLAUDE.md", tool="Bash"),
        after("/app/api/v2/GEMINI.md", "\n".join(f"{n:6}→{x}" for n, x in enumerate(FILE.split("\n"), 1))),
        attached("/app/api/CLAUDE.md"),
        attached("/app/api/CLAUDE.md (project instructions)"),
    ],
    ids=["read", "cat", "numbered", "attached", "attached with a remark"],
)
def test_a_rule_of_a_folders_instruction_file_is_an_error_when_it_is_lost(session: Session) -> None:
    assert speakers(session) == ["file"]
    (finding,) = lint(session, rules="CI002")
    assert finding.severity == "error"
    assert finding.sentence == f"The constraint “{RULE}”, said by an instruction file in turn 1, is absent."
    (trace,) = trace_recorded(session)
    assert (
        trace["constraint", RULE]
        .why()
        .startswith(f'The rule "{RULE}" was first said by an instruction file in turn 1 (the output of ')
    )


HEADS = ("Contents of /app/api/CLAUDE.md:\n", "Contents of /app/lib/AGENTS.md (project):\n")
OTHERS = (
    "Contents of \n",
    "Contents of /app/CLAUDE.md:\n",
    "Contents of /app/.claude/rules/a.md:\n",
    "see Contents of /app/api/CLAUDE.md:\n",
    "Never log a token.\n",
    "\n",
)


@given(st.lists(st.sampled_from((*HEADS, *OTHERS)), max_size=8))
def test_every_instruction_file_of_a_folder_is_found_up_to_the_next_head(pieces: list[str]) -> None:
    """Derive the expected spans from the pieces: a heading is a whole line."""
    heads: list[tuple[int, int, bool]] = []
    text = ""
    for piece in pieces:
        at_line_start = not text or text.endswith("\n")
        if at_line_start and piece in (*HEADS, OTHERS[1]):
            heads.append((len(text), len(text) + len(piece) - 1, piece in HEADS))
        text += piece
    ends = [start for start, _, _ in heads[1:]] + [len(text)]
    expected = [(start, end) for (_, start, below), end in zip(heads, ends, strict=False) if below]
    assert list(find_attached(text, "/app")) == expected
