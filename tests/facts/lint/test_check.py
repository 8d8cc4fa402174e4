"""The lint: every code on a session small enough to read, what chooses codes, and what is written out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.demo import CONSTRAINT, LOST_PATH, open_demo
from inspector.errors import PolicyError
from inspector.facts.lint.check import lint, list_undecided
from inspector.facts.lint.codes import LINT_CODES, SEVERITIES, LintFinding, LintReport
from inspector.facts.lint.report import find_line, write_github, write_report, write_sarif, write_text
from inspector.facts.trace import trace_recorded
from inspector.planning.planner import make_plan
from inspector.policies.policy import Policy
from inspector.policies.rules.drop_older import DropOlder
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from tests.strategies import sessions
from tests.telling import compact, use
from tests.test_cuts import build, say, user

SESSION = open_demo()


def found(*before: Entry, summary: str = "all is well", after: tuple[Entry, ...] = ()) -> list[LintFinding]:
    return list(lint(build(*before, compact(summary), *after, user("go on"), say())))


def write_json(report: LintReport, session: Session, fixes: bool = False) -> list[str]:
    return write_report("json", [("", report, session)], False, fixes=fixes)


def codes(*before: Entry, **more: Any) -> dict[str, str]:
    """{code: form} of what is found."""
    return {f.code: f.fact.form if f.fact is not None else "" for f in found(*before, **more)}


def test_the_demo_shows_its_lost_file_and_rule() -> None:
    findings = lint(SESSION)
    assert not findings.ok
    assert [f.fact.form for f in findings if f.code == "CI001" and f.fact is not None] == [LOST_PATH]
    assert any(CONSTRAINT in f.sentence for f in findings if f.code == "CI002")
    assert findings.counts["CI009"] == sum(f.code == "CI009" for f in findings) > 5
    assert findings.severities["error"] == sum(f.severity == "error" for f in findings)
    assert sum(findings.severities.values()) == len(findings)


def test_CI001_an_edited_file_is_lost_and_one_that_was_only_read_is_not_told() -> None:
    edit = use(1, "Edit", file_path="src/a.py", old_string="x", new_string="y")
    look = use(2, "Read", file_path="src/b.py")
    assert codes(user("work"), *look, *edit) == {"CI001": "src/a.py"}
    assert "CI001" not in codes(user("work"), *edit, summary="src/a.py was changed")


def test_CI002_a_rule_of_the_user_is_lost() -> None:
    rule = user("You must never push to main.")
    (finding,) = (f for f in found(rule, say()) if f.code == "CI002")
    assert finding.severity == "error"
    assert "said by the user in turn 1" in finding.sentence
    assert "CI002" not in codes(rule, say(), summary="You must never push to main.")


@pytest.mark.parametrize(
    ("code", "typed", "binds"),
    [
        ("CI002", "let's look at the invoices first", False),
        ("CI002", "make sure it's in the French folder", False),
        ("CI002", "Then it should list the prices.", False),
        ("CI002", "Show me each file that changed since Monday.", False),
        ("CI002", "Update every README so that it names the new flag.", False),
        ("CI002", "Run all benchmarks once and send me the numbers.", False),
        ("CI002", "Delete everything below build and start again, the short way.", False),
        ("CI002", "Write a test for any branch of this function.", False),
        ("CI002", "Propose where each of these files should go.", False),
        ("CI002", "Ideally we would see all of them, regardless of who made them.", False),
        ("CI002", "ok, wrte a plan in notes.md, it needs to cover everything we want.", False),
        ("CI002", "let's never rename a column", True),
        ("CI002", "Run the linter before each commit.", True),
        ("CI002", "Add a docstring to every new function.", True),
        ("CI002", "Mention the ticket in each pull request.", True),
        ("CI002", "Retry three times at most.", True),
        ("CI002", "It is forbidden to log passwords.", True),
        ("CI002", "Don't touch it.", True),
        ("CI002", "Every commit must be signed.", True),
        ("CI002", "This must never be cached.", True),
        ("CI014", "let's do 2 for now", False),
        ("CI014", "Let's move the helper into utils.py.", False),
        ("CI014", "option 2", False),
        ("CI014", "let's go with SQLite", True),
    ],
)
def test_a_request_or_choice_is_missed_until_the_user_goes_on_and_a_rule_in_later_turns(
    code: str, typed: str, binds: bool
) -> None:
    now = codes(user(typed), say())
    assert now.get(code, now.get("CI018")) == typed
    later = codes(user(typed), say(), user("Thanks. What does the parser do?"), say())
    assert later.get(code) == (typed if binds else None)


EDIT = use(1, "Edit", file_path="src/a.py", old_string="x", new_string="y")


@pytest.mark.parametrize(
    ("steps", "settles"),
    [
        (use(2, "Bash", "", command="git checkout -- src/a.py"), True),
        (use(2, "Bash", "", command="cd app; git restore src"), True),
        (use(2, "Bash", "", command="git -C app rm -q src/a.py"), True),
        (use(2, "Bash", "", command="rm -rf src/"), True),
        (
            use(2, "Bash", "[main 1a2b3c4] Fix", command="git add -A && git commit -m x && git push")
            + use(3, "Bash", "To host", command="git push"),
            True,
        ),
        (use(2, "Edit", file_path="src/a.py", old_string="y", new_string="z"), False),
        (use(2, "Bash", "fatal: rejected", command="git checkout -- src/a.py"), False),
        (use(2, "Bash", "", command="git restore --staged src/a.py"), False),
        (use(2, "Bash", "[main 1a2b3c4] Fix", command="git commit -am x"), False),
        (use(2, "Bash", "ok", command="git add src/b.py && git commit -m x && git push"), False),
        (use(2, "Bash", "", command="rm other/a.py"), False),
    ],
)
def test_CI001_a_settled_file_is_missed_only_once_it_is_changed_again(
    steps: tuple[Entry, ...], settles: bool
) -> None:
    later = user("Now explain the parser."), say(), user("thanks"), say()
    assert codes(user("work"), *EDIT, *steps, *later) == ({} if settles else {"CI001": "src/a.py"})
    again = use(9, "Edit", file_path="src/a.py", old_string="p", new_string="q")
    assert codes(user("work"), *EDIT, *steps, *later, *again)["CI001"] == "src/a.py"


def todos(number: int, *items: tuple[str, str]) -> tuple[Entry, Entry]:
    return use(number, "TodoWrite", todos=[{"content": text, "status": status} for text, status in items])


def test_CI003_only_what_the_last_list_left_open_counts() -> None:
    first = todos(1, ("write the parser", "pending"), ("write the docs", "pending"))
    last = todos(2, ("write the parser", "completed"), ("write the docs", "in_progress"))
    assert codes(user("work"), *first, *last)["CI003"] == "write the docs"
    done = todos(2, ("write the parser", "completed"), ("write the docs", "completed"))
    assert "CI003" not in codes(user("work"), *first, *done)


def test_CI004_the_last_error_is_lost_and_an_earlier_one_is_not_told() -> None:
    old = use(1, "Bash", "ValueError: the old one", True, command="make old")
    new = use(2, "Bash", "KeyError: the new one\nTypeError: and another", True, command="make new")
    lost = [f for f in found(user("work"), *old, *new) if f.code == "CI004"]
    assert ["KeyError" in f.sentence for f in lost] == [True]
    assert "CI004" not in codes(user("work"), *old, *new, summary="it ends in KeyError: the new one")


def test_CI005_the_check_that_failed_last_and_did_not_pass_since() -> None:
    failed = use(1, "Bash", "boom", True, command="make all")
    passed = use(2, "Bash", command="pytest tests/new.py")
    lost = [f.sentence for f in found(user("work"), *failed, *passed) if f.code == "CI005"]
    assert len(lost) == 1 and "make all" in lost[0]
    again = use(3, "Bash", command="make all")
    assert "CI005" not in codes(user("work"), *failed, *passed, *again)


@pytest.mark.parametrize(
    ("command", "summary", "lost"),
    [
        ("pytest -q tests", "pytest: 3 failed.", False),
        ("ruff check src", "ruff reports 3 errors.", False),
        ("make lint", "The build is broken.", True),
        ("npm run test", "Next: add a test for error handling.", True),
    ],
)
def test_CI005_a_failure_is_told_of_the_check_that_failed(command: str, summary: str, lost: bool) -> None:
    failed = use(1, "Bash", "boom", True, command=command)
    assert ("CI005" in codes(user("work"), *failed, summary=summary)) == lost


@pytest.mark.parametrize(
    ("command", "output", "summary"),
    [
        ("golangci-lint run", "q.go:4:2: G115: integer overflow (gosec)", "Left: golangci-lint, G115."),
        (
            "npx playwright test e2e/pay.spec.ts",
            "Error: page.goto: net::ERR_CERT_DATE_INVALID at",
            "The E2E run is against staging. It fails with a certificate error.",
        ),
        ("pytest -q", "FAILED tests/test_day.py::test_day_cached - assert 2 == 1", "Mend test_day_cached."),
        ("make", "ld: error: duplicate symbol: _start", "- **Duplicate symbol** (crt0)"),
    ],
)
def test_a_failure_that_is_told_by_its_code_its_test_or_in_other_words_is_not_absent(
    command: str, output: str, summary: str
) -> None:
    failed = use(1, "Bash", output, True, command=command)
    assert not {"CI004", "CI005"} & codes(user("work"), *failed, summary=summary).keys()
    others = ("We are on schedule.", "The E2E run is against staging. The colours fail to please.")
    for other in others[: 2 - ("E2E" in summary)]:
        # The failed command and its error are told once.
        assert {"CI004", "CI005"} & codes(user("work"), *failed, summary=other).keys() == {"CI004"}


def test_a_failure_of_a_chain_is_repaired_when_its_checks_pass() -> None:
    failed = use(1, "Bash", "KeyError: no table", True, command="just migrate && just test")
    for command, repaired in (("just fill && just test", True), ("just migrate", False)):
        later = use(2, "Bash", "12 passed", command=command)
        assert repaired != ("CI004" in codes(user("work"), *failed, *later))


def test_CI006_a_created_file_is_lost_whatever_was_done_to_it_later() -> None:
    write = use(1, "Write", file_path="src/new.py", content="x")
    edit = use(2, "Edit", file_path="src/new.py", old_string="x", new_string="y")
    assert codes(user("work"), *write, *edit)["CI006"] == "src/new.py"
    assert "CI001" not in codes(user("work"), *write, *edit)


def test_CI007_only_the_name_of_an_edited_file_is_left_and_another_file_has_it() -> None:
    look = use(1, "Read", file_path="src/right/util.py")
    edit = use(2, "Edit", file_path="src/left/util.py", old_string="x", new_string="y")
    lost = [f for f in found(user("work"), *look, *edit, summary="util.py is done") if f.code == "CI007"]
    assert [f.fact.form for f in lost if f.fact is not None] == ["src/left/util.py"]
    told = "Only “util.py” is left of the file src/left/util.py, and src/right/util.py has the same name"
    assert told in lost[0].sentence
    assert "CI007" not in codes(user("work"), *edit, summary="util.py is done")


def test_CI008_a_line_of_a_summary_that_nothing_grounds() -> None:
    (finding,) = (f for f in found(user("work"), say(), summary="Fixed src/ghost.py.") if f.code == "CI008")
    assert "src/ghost.py" in finding.sentence
    assert finding.refs[0].entry == finding.entry


def test_CI009_what_was_lost_and_read_again() -> None:
    look = use(1, "Read", "a long text", file_path="src/a.py")
    again = use(2, "Read", "a long text", file_path="src/a.py")
    lost = [f for f in found(user("work"), *look, after=again) if f.code == "CI009"]
    assert len(lost) == 1
    assert "read again" in lost[0].sentence


def test_CI010_a_decision_of_the_model_is_lost_and_is_only_told_where_it_is_asked_for() -> None:
    chosen = say("We decided to keep SQLite because it needs no server.")
    session = build(user("work"), chosen, compact("all is well"), user("go on"), say())
    assert "CI010" not in lint(session).counts
    (finding,) = lint(session, rules="CI010")
    assert "SQLite" in finding.sentence and finding.severity == "note"


def test_CI014_a_choice_of_the_user_is_lost() -> None:
    asked = user("let's go with SQLite because it needs no server")
    (finding,) = [one for one in found(asked, say()) if one.code == "CI014"]
    assert "SQLite" in finding.sentence and "by the user in turn 1" in finding.sentence
    assert finding.severity == "warning"


def test_CI011_what_a_summary_nobody_can_read_holds_is_unknown_and_no_loss() -> None:
    edit = use(1, "Edit", file_path="src/a.py", old_string="x", new_string="y")
    findings = lint(build(user("work"), *edit, compact(""), user("go on"), say()))
    assert findings.ok
    by_code = {f.code: f for f in findings}
    assert set(by_code) == {"CI011"}
    assert (by_code["CI011"].severity, by_code["CI011"].tier) == ("note", "inferred")
    assert by_code["CI011"].sentence.endswith(" cannot be read; its losses are unknown.")
    assert "(inferred)" in write_text(findings, SESSION)[0]


def test_a_policy_is_checked_where_the_context_was_fullest() -> None:
    findings = lint(SESSION, "mini-claude-code", "CI001")
    assert LOST_PATH in {f.fact.form for f in findings if f.fact is not None}
    assert {f.tier for f in findings} == {"planned"}
    assert {f.entry for f in findings} == {""}
    lost = next(f for f in findings if f.fact is not None and f.fact.form == LOST_PATH)
    assert lost.fix is not None
    assert lost.plan is not None
    assert lost.fix.plan.trace[LOST_PATH].outcome != "absent"


def test_a_plan_is_taken_as_it_is() -> None:
    plan = make_plan(SESSION, count_tokens(SESSION), "keep-recent-turns")
    findings = lint(SESSION, plan)
    assert "keep-recent-turns" in findings.looked
    assert {f.plan for f in findings} <= {plan}
    everything = lint(build(user("hello"), say()), "flue")
    assert everything.looked == "flue, nothing to compact"
    with pytest.raises(PolicyError):
        lint(SESSION, "no-such-policy")


def test_nothing_is_found_where_nothing_was_compacted() -> None:
    findings = lint(build(user("You must never push to main."), say()))
    assert (list(findings), findings.ok, findings.counts) == ([], True, {})
    assert repr(findings).startswith("LintReport(0 recorded compactions: nothing was checked: ")
    assert "--policy" in findings.notes[0]


def test_CI012_a_policy_that_changes_nothing_is_a_finding_and_not_a_green_run() -> None:
    session = build(user("hello " * 2_000), say())
    findings = lint(session, "pi", window=16_500)
    assert not findings.ok
    (finding,) = findings
    assert (finding.code, finding.tier) == ("CI012", "planned")
    assert finding.sentence.startswith("pi changes nothing at e1: ")
    assert finding.refs[0].entry == "e1"
    assert "CI012" not in lint(SESSION, "pi").counts


def test_CI013_what_a_provider_would_refuse_is_a_finding() -> None:
    plan = make_plan(
        SESSION, count_tokens(SESSION), Policy(name="mine", rules=(DropOlder(),)), {"cut": "end"}
    )
    refused = lint(SESSION, plan, "CI013")
    assert [finding.sentence for finding in refused] == [
        "mine leaves what a provider refuses: there is no message."
    ]
    assert not refused.ok and refused[0].plan is plan
    assert "CI013" not in lint(SESSION, "flue").counts


def called(*names: str) -> Entry:
    return Entry(id="", role="assistant", blocks=tuple(ToolCall(id=n, name="Read") for n in names))


def answered(name: str) -> Entry:
    output = ToolOutput(call_id=name, name="Read", parts=(Text(text="ok"),))
    return Entry(id="", role="tool", blocks=(output,))


def keeping(first: str | None) -> Entry:
    return compact("all is well", first_kept=first)


ORPHAN = (
    "A provider refuses the request after compaction {}: nothing in the previous message made the call 'B'."
)


@pytest.mark.parametrize(
    ("entries", "compaction", "refused"),
    [
        ((user(), called("A", "B"), answered("A"), answered("B"), keeping("e3"), user()), "e4", "e3"),
        ((user(), called("B"), keeping(None), answered("B"), say(), user()), "e2", "e3"),
        ((user(), say(), user(), say(), keeping("e2"), answered("B"), say(), user()), "e4", "e5"),
        (
            (user(), say(), keeping(None), user(), called("B"), keeping(None), answered("B"), say()),
            "e5",
            "e6",
        ),
        ((user(), say(), user(), called("A"), keeping("e2"), answered("B"), user()), "e4", "e5"),
    ],
)
def test_CI013_a_recorded_compaction_that_leaves_half_a_pair(
    entries: tuple[Entry, ...], compaction: str, refused: str
) -> None:
    """An output kept without its call, added after the compaction, or stored as its child."""
    (finding,) = (f for f in lint(build(*entries), rules="CI013") if "made the call 'B'" in f.sentence)
    assert finding.sentence == ORPHAN.format(compaction)
    assert (finding.entry, finding.tier, finding.severity) == (compaction, "recorded", "error")
    assert [str(ref) for ref in finding.refs] == [f"{refused}/0"]


# The table and the choosing.


def test_the_table_of_codes_is_complete_and_stable() -> None:
    assert list(LINT_CODES) == [f"CI{number:03}" for number in range(1, len(LINT_CODES) + 1)]
    assert "; ".join(one.name for one in LINT_CODES.values()) == (
        "edited file absent; user's rule absent; open to-do absent; last error absent; last "
        "result absent; created file absent; ambiguous file name; ungrounded summary line; needed"
        " again; decision absent; summary unreadable; nothing compacted; context refused; user's "
        "choice absent; superseded value carried on; value changed; rule contradicted; last "
        "request absent; earlier attempt absent; address or id absent; exception added"
    )
    for code, one in LINT_CODES.items():
        assert (one.code, one.severity in SEVERITIES) == (code, True)
        assert one.sentence.endswith(".")
        assert one.example.endswith((".", ".”"))


@given(sessions(), st.sampled_from((None, "flue", "mini-claude-code")))
def test_any_session_can_be_checked_and_choosing_is_leaving_out(session: Session, policy: str | None) -> None:
    every = lint(session, policy, window=2_000)
    for code in every.counts:
        chosen = lint(session, policy, code, window=2_000)
        assert [f.sentence for f in chosen] == [f.sentence for f in every if f.code == code]
        assert [f.sentence for f in every.select(code)] == [f.sentence for f in chosen]
    for finding in every:
        assert finding.code in LINT_CODES
        assert "\n" not in finding.sentence
    for lines in (write_text(every, session), write_github(every, session, "file")):
        assert all("\n" not in line and "\r" not in line for line in lines)
    assert json.loads(write_json(every, session)[0])["counts"] == every.counts


# What is written out.


def test_json_holds_everything_a_program_needs() -> None:
    findings = lint(SESSION, "mini-claude-code", "CI001")
    told = json.loads(write_json(findings, SESSION, fixes=True)[0])
    assert told["ok"] is False
    assert told["counts"] == {"CI001": len(findings)}
    first = told["findings"][0]
    assert (first["code"], first["tier"]) == ("CI001", "planned")
    assert first["fix"]["tokens"] == findings[0].fix.price
    assert json.loads(write_json(findings, SESSION)[0])["findings"][0]["fix"] is None


def test_sarif_names_every_rule_and_the_place_of_each_result() -> None:
    findings = lint(SESSION, rules="CI001,CI005")
    told = json.loads(write_sarif(findings, SESSION, "my run/s.jsonl")[0])
    assert told["version"] == "2.1.0"
    (run,) = told["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == list(LINT_CODES)
    assert len(run["results"]) == len(findings)
    for finding, result in zip(findings, run["results"], strict=True):
        assert (result["ruleId"], result["level"]) == (finding.code, finding.severity)
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == finding.code
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "my%20run/s.jsonl"
        assert place["region"]["startLine"] == find_line(finding, SESSION)


def test_a_report_without_a_finding_is_a_run_without_results() -> None:
    nothing = LintReport((), "a test")
    assert json.loads(write_sarif(nothing, SESSION, "s")[0])["runs"][0]["results"] == []


def test_what_acts_on_a_reader_is_shown_in_a_report() -> None:
    bad = LintFinding("CI001", "error", "\x1b[31m<b>\ud83d\x00</failure>")
    report = LintReport((bad,), "a \x08 test")
    sarif = json.loads(write_sarif(report, SESSION, "s")[0])
    assert "\x1b" not in sarif["runs"][0]["results"][0]["message"]["text"]


def test_github_commands_cannot_be_forged_by_a_transcript() -> None:
    """A line break or a percent sign in a form is written out, so no second command begins."""
    sentence = "bad\n::error::forged 100%"
    finding = LintFinding("CI001", "error", sentence)
    (line,) = write_github(LintReport((finding,), "a test"), SESSION, "a:b,c%\n.jsonl")
    assert line == (
        "::error file=a%3Ab%2Cc%25%0A.jsonl,title=CI001 edited file absent::bad%0A::error::forged 100%25"
    )


def test_the_last_todo_list_decides_and_an_empty_one_too() -> None:
    open_todo = {"content": "Write the parser for dates", "status": "pending", "activeForm": "Writing"}
    listed = use(1, "TodoWrite", todos=[open_todo])
    assert "CI003" in codes(user("work"), *listed)
    assert "CI003" not in codes(user("work"), *listed, *use(2, "TodoWrite", todos=[]))
    assert "CI003" in codes(user("work"), *listed, *use(2, "ci", checks=[{"name": "lint", "status": "ok"}]))


def update(
    number: int, task: Any, output: str = "Updated task", failed: bool = False, **arguments: Any
) -> Any:
    return use(number, "TaskUpdate", output, failed, taskId=task, **arguments)


@pytest.mark.parametrize(
    ("typed", "summary", "code", "said", "instead"),
    [
        ("la cita caduca a los 3 días", "la cita caduca a los 9 días", "CI016", "3", "9"),
        ("the broker waits 40 seconds", "The broker waits 14 seconds.", "CI016", "40", "14"),
        (
            "page Ana when more than 8 jobs fail",
            "Page Ana when fewer than 8 jobs fail",
            "CI016",
            "more",
            "fewer",
        ),
        (
            *("Stop reading from the old queue.", "Reading from the old queue goes on."),
            *("CI017", "Stop", "goes on"),
        ),
    ],
)
def test_a_plain_sentence_of_the_users_that_the_summary_changed_is_told(
    typed: str, summary: str, code: str, said: str, instead: str
) -> None:
    session = build(user(typed), say(), compact(summary), user("go on"), say())
    (told,) = [f for f in lint(session) if f.fact is not None and f.fact.form == typed]
    (row,) = session.compactions
    assert (told.code, row.changed, row.harm[0]) == (code, 1, 1)
    assert [traced.fact.form for traced in row.missing] == [typed]
    assert f"“{said}" in told.sentence and f"{instead}" in told.sentence


def test_a_plain_sentence_that_is_only_absent_or_asks_once_is_not_told() -> None:
    told = user("the broker listens on port 6612"), say(), user("thanks")
    assert "port" not in str(codes(*told, summary="All jobs pass."))
    asked, done = "can you drop the parser tests again", "drop the not so useful parser tests again"
    assert codes(user(asked), say(), user("thanks"), summary=done) == {}


@pytest.mark.parametrize(
    ("code", "typed", "column"),
    [
        ("CI014", "Let's go with sqlite for the queue.", "rules"),
        ("CI019", "I tried the retry decorator last week and it hid the timeout.", "rules"),
        ("CI020", "The ticket is https://tracker.example/DES-118.", "links"),
    ],
)
def test_what_the_user_decided_tried_or_pointed_to_is_missed_in_later_turns(
    code: str, typed: str, column: str
) -> None:
    session = build(
        user(typed), say(), user("thanks"), say(), compact("All jobs pass."), user("go on"), say()
    )
    (reported,) = (finding for finding in lint(session) if finding.fact is not None)
    (row,) = session.compactions
    assert (reported.code, reported.severity, row.harm[0]) == (code, "warning", 1)
    assert (row.rules, row.links) == ((1, 0) if column == "rules" else (0, 1))
    assert lint(build(user(typed), say(), compact(f"The user: {typed}"), user("go on"))).ok


def test_CI018_a_question_is_missed_until_it_is_answered() -> None:
    asked, look = user("Should the old prologue stay?"), use(1, "Read", file_path="prologue.md")
    assert "CI018" in codes(asked, *look)
    assert "CI018" not in codes(asked, *look, say())
    assert "CI018" not in codes(user("Good catch."), *look)


def test_CI018_what_was_said_last_is_missed_until_the_user_goes_on() -> None:
    last = "I will paste that paragraph tomorrow."
    assert codes(user(last), say()) == {"CI018": last}
    assert codes(user(last), say(), user("thanks"), say()) == {}
    assert codes(user(last), say(), summary=last) == {}


def test_CI004_a_failing_test_is_missed_although_another_one_passed_since() -> None:
    failed = use(1, "Bash", "FAIL test/orders.test.ts", failed=True, command="npm test -- orders")
    other = use(2, "Bash", "PASS test/dual.test.ts", command="npm test -- dual")
    typing = use(3, "Bash", "a.ts(1,7): error TS2322: No.", failed=True, command="npx tsc --noEmit")
    assert codes(user("go"), *failed, *other, *typing, summary="The compiler reports TS2322.") == {
        "CI004": "FAIL test/orders.test.ts"
    }
    again = use(4, "Bash", "Tests: 12 passed", command="npm test")
    assert codes(user("go"), *failed, *other, *again, summary="all is well") == {}


def test_a_value_is_told_once_with_its_sentence_and_never_for_pasted_words() -> None:
    rule = "Never listen on a port other than 6612."
    session = build(
        user(rule), say(), compact("Never listen on a port other than 6613."), user("go on"), say()
    )
    assert [(item.code, item.fact.form) for item in lint(session) if item.fact is not None] == [
        ("CI016", rule)
    ]
    pasted = "```\nlistening on 127.0.0.1:8913\n```"
    reported = codes(user(pasted), say(), user("thanks"), summary="It listened on 127.0.0.1:8914.")
    assert reported.keys() <= {"CI008"}


def test_rules_come_before_files_and_these_before_open_todos() -> None:
    edit = use(1, "Edit", file_path="src/a.py", old_string="x", new_string="y")
    todo = use(2, "TodoWrite", todos=[{"content": "Paint the door", "status": "pending"}])
    session = build(
        user("Never push to main."), *edit, *todo, user("thanks"), compact("all is well"), user("k")
    )
    (row,) = session.compactions
    assert [item.fact.kind for item in row.missing] == ["constraint", "file", "todo"]


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("cp -r a/templates src/templates", "The folder src/templates, created"),
        ("cp a/page.html src/page.html", "The file src/page.html, created"),
        ("mv src/old src/screens && touch src/screens/a.py", "The folder src/screens, moved"),
    ],
)
def test_a_folder_is_not_called_a_file(command: str, named: str) -> None:
    sentences = [finding.sentence for finding in found(*use(1, "Bash", command=command), user("thanks"))]
    assert any(sentence.startswith(named) for sentence in sentences), sentences


def test_every_undecided_rule_is_to_be_compared() -> None:
    rules = [
        "Never accept a cap under EUR 250,000 in total.",
        "Never send invoices without the stamp of the harbour.",
        "Use timer1 and not timer2, timer2 is for the buzzer.",
    ]
    summary = (
        "No cap below EUR 250,000. Invoices carry a stamp. The timer is timer2; timer1 is for the buzzer."
    )
    session = build(user("\n".join(rules)), say(), user("thanks"), compact(summary), user("k"))
    (trace,) = trace_recorded(session)
    assert {trace[form].outcome for form in rules} == {"unclear"}
    assert [item.fact.form for item in list_undecided(trace, session)] == rules
