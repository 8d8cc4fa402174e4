"""What a person asks for is rarely written as the transcript writes it: it is found all the same."""

from __future__ import annotations

import pytest

from inspector.facts.trace import trace_recorded
from inspector.facts.traced import Trace, TracedFact
from inspector.session.session import Session
from tests.telling import compact, use
from tests.test_cuts import build, say, user

COMMIT = "9f5a3c761b2d4e6f8091a2b3c4d5e6f708192a3b"


def recorded(session: Session, cwd: str | None = None) -> Trace:
    return trace_recorded(session.model_copy(update={"cwd": cwd}) if cwd else session)[0]


def trace(session: Session, text: str, cwd: str | None = None) -> TracedFact:
    return recorded(session, cwd)[text]


@pytest.mark.parametrize("asked", [COMMIT, COMMIT[:7], COMMIT[:9]])
@pytest.mark.parametrize("told", [COMMIT, COMMIT[:7], COMMIT[:12]])
def test_a_commit_is_the_same_in_every_length(asked: str, told: str) -> None:
    session = build(
        user("go"),
        *use(1, "Bash", f"[main {COMMIT[:9]}] one", command="git commit"),
        *(say(f"Committed as {asked}."), compact(f"Committed `{told}`."), user("on")),
    )
    traced = trace(session, asked)
    assert (traced.fact.kind, traced.outcome, len(traced.named)) == ("id", "quoted", 2)
    assert "first mentioned by a tool in turn 1" in traced.why()


def test_a_number_of_an_issue_is_no_place_in_the_working_directory() -> None:
    session = build(
        *(user("go"), *use(1, "Bash", "title: #1404 opened", command="cd /home/me/app && gh issue list")),
        *(say("ok"), compact("Looked at issues."), user("on")),
    )
    traced = trace(session, "#1404", "/home/me/app")
    assert (traced.fact.form, traced.outcome) == ("#1404", "absent")


def test_a_word_is_a_word_though_a_folder_has_its_name() -> None:
    session = build(
        user("every checkpoint counts"),
        *use(1, "Bash", "a.go", command="ls checkpoint/"),
        *(say("ok"), compact("Each checkpoint counts."), user("on")),
    )
    found = recorded(session, "/home/me/app")
    assert (found["checkpoint"].fact.kind, found["checkpoint"].outcome) == ("text", "quoted")
    assert len(found["checkpoint"].named) == 2
    assert found["file", "checkpoint"].fact.kind == "file"


@pytest.mark.parametrize(
    ("asked", "form"),
    [
        ("Use **pnpm**, not npm", "use `pnpm`, not npm"),
        ('"use pnpm"', "use `pnpm"),
        ("@src/cuts.py", "src/cuts.py"),
        ("parse_rows()", "parse_rows"),
        ("30s", "30 s"),
        ("PARSE_ROWS", "parse_rows"),
    ],
)
def test_marks_and_letters_case_are_not_what_is_asked_for(asked: str, form: str) -> None:
    session = build(
        user("use `pnpm`, not npm; see src/cuts.py where parse_rows(row, 3) waits for 30 s"),
        *(say("ok"), compact("Nothing."), user("on")),
    )
    assert trace(session, asked).fact.form == form
