"""Rules of an instruction file that a harness sends are the harness's, and why() names the file."""

from __future__ import annotations

import pytest

from inspector.facts.facts import find_facts
from inspector.facts.lint.check import lint
from inspector.facts.trace import trace_recorded
from tests.telling import compact, use
from tests.test_cuts import build, say, user

RULE = "Never log a token."


@pytest.mark.parametrize("path", ["/app/api/CLAUDE.md", "/app/CLAUDE.md (project instructions)"])
def test_a_rule_of_an_attached_file_is_the_harnesses_and_no_loss(path: str) -> None:
    reminder = f"ok\n<system-reminder>\nContents of {path}:\n\n# API\n\n{RULE}\n</system-reminder>"
    read = use(1, "Read", reminder, file_path="/app/api/main.py")
    session = build(user("go"), *read, say("ok"), compact("All is well."), user("on"))
    (fact,) = find_facts(session).by_kind("constraint")
    assert (fact.form, [said.by for said in fact.said]) == (RULE, ["harness"])
    assert not lint(session, rules="CI002")
    why = trace_recorded(session)[0]["constraint", RULE].why()
    assert why.startswith(
        f'The rule "{RULE}" was first mentioned by an instruction file in turn 1 (the output of '
    )
