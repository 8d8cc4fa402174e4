"""The lint: every code on a session small enough to read, what chooses codes, and what is written out."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.demo import CONSTRAINT, LOST_PATH, open_demo
from inspector.errors import EditError, PolicyError
from inspector.facts.lint.check import lint
from inspector.facts.lint.codes import LINT_CODES, SEVERITIES, LintFinding, LintReport, choose
from inspector.facts.lint.report import FORMATS, find_line, write_github, write_json, write_text
from inspector.planning.planner import make_plan
from inspector.policies.policy import Policy
from inspector.policies.rules.drop_older import DropOlder
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from tests.strategies import sessions
from tests.test_cuts import build, say, user

SESSION = open_demo()


def act(number: int, tool: str, told: str = "ok", failed: bool = False, **given: Any) -> tuple[Entry, Entry]:
    """A call and its answer."""
    call = ToolCall(id=f"c{number}", name=tool, input=given)
    output = ToolOutput(call_id=f"c{number}", name=tool, parts=(Text(text=told),), is_error=failed)
    return Entry(id="", role="assistant", blocks=(call,)), Entry(id="", role="tool", blocks=(output,))


def compact(summary: str) -> Entry:
    blocks = (Text(text=summary),) if summary else ()
    return Entry(id="", kind="compaction", blocks=blocks, boundary=Boundary(summary=summary))


def found(*before: Entry, summary: str = "all is well", after: tuple[Entry, ...] = ()) -> list[LintFinding]:
    return list(lint(build(*before, compact(summary), *after, user("go on"), say())))


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
    edit = act(1, "Edit", file_path="src/a.py", old_string="x", new_string="y")
    look = act(2, "Read", file_path="src/b.py")
    assert codes(user("work"), *look, *edit) == {"CI001": "src/a.py"}
    assert "CI001" not in codes(user("work"), *edit, summary="src/a.py was changed")


def test_CI002_a_rule_of_the_user_is_lost() -> None:
    rule = user("You must never push to main.")
    (finding,) = (f for f in found(rule, say()) if f.code == "CI002")
    assert finding.severity == "error"
    assert "said by the user in turn 1" in finding.sentence
    assert "CI002" not in codes(rule, say(), summary="You must never push to main.")


def todos(number: int, *items: tuple[str, str]) -> tuple[Entry, Entry]:
    return act(number, "TodoWrite", todos=[{"content": text, "status": status} for text, status in items])


def test_CI003_only_what_the_last_list_left_open_counts() -> None:
    first = todos(1, ("write the parser", "pending"), ("write the docs", "pending"))
    last = todos(2, ("write the parser", "completed"), ("write the docs", "in_progress"))
    assert codes(user("work"), *first, *last)["CI003"] == "write the docs"
    done = todos(2, ("write the parser", "completed"), ("write the docs", "completed"))
    assert "CI003" not in codes(user("work"), *first, *done)


def test_CI004_the_last_error_is_lost_and_an_earlier_one_is_not_told() -> None:
    old = act(1, "Bash", "ValueError: the old one", True, command="make old")
    new = act(2, "Bash", "KeyError: the new one\nTypeError: and another", True, command="make new")
    lost = [f for f in found(user("work"), *old, *new) if f.code == "CI004"]
    assert ["KeyError" in f.sentence for f in lost] == [True]
    assert "CI004" not in codes(user("work"), *old, *new, summary="it ends in KeyError: the new one")


def test_CI005_the_check_that_failed_last_and_did_not_pass_since() -> None:
    failed = act(1, "Bash", "boom", True, command="make all")
    passed = act(2, "Bash", command="pytest tests/new.py")
    lost = [f.sentence for f in found(user("work"), *failed, *passed) if f.code == "CI005"]
    assert len(lost) == 1 and "make all" in lost[0]
    again = act(3, "Bash", command="make all")
    assert "CI005" not in codes(user("work"), *failed, *passed, *again)


@pytest.mark.parametrize(
    ("summary", "lost"),
    [
        ("The build is broken in src/a.c.", False),
        ("The build passes.", True),
        ("The build is clean: 0 errors.", True),
        ("TestShadow_CommitBeforeStop still fails.", True),
        ("Everything else is fine.", True),
    ],
)
def test_CI005_a_result_told_in_words_is_not_lost(summary: str, lost: bool) -> None:
    failed = act(1, "Bash", "boom", True, command="make all")
    assert ("CI005" in codes(user("work"), *failed, summary=summary)) == lost


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
    failed = act(1, "Bash", "boom", True, command=command)
    assert ("CI005" in codes(user("work"), *failed, summary=summary)) == lost


def test_CI005_a_type_check_that_the_check_of_the_project_ran_again_is_no_loss() -> None:
    failed = act(1, "Bash", "boom", True, command="npx tsc --noEmit")
    assert "CI005" in codes(user("work"), *failed)
    assert "CI005" not in codes(user("work"), *failed, *act(2, "Bash", command="npm run check"))


def test_CI005_a_result_told_by_the_name_of_its_test_is_not_lost() -> None:
    failed = act(1, "Bash", "FAIL", True, command="go test ./... -run TestShadow_CommitBeforeStop -v")
    told = "TestShadow_CommitBeforeStop still fails."
    assert "CI005" in codes(user("work"), *failed, summary="Looked at the hooks.")
    assert "CI005" not in codes(user("work"), *failed, summary=told)


def test_CI006_a_created_file_is_lost_whatever_was_done_to_it_later() -> None:
    write = act(1, "Write", file_path="src/new.py", content="x")
    edit = act(2, "Edit", file_path="src/new.py", old_string="x", new_string="y")
    assert codes(user("work"), *write, *edit)["CI006"] == "src/new.py"
    assert "CI001" not in codes(user("work"), *write, *edit)


def test_CI007_a_name_that_two_files_have_is_ambiguous() -> None:
    reads = (*act(1, "Read", file_path="src/left/util.py"), *act(2, "Read", file_path="src/right/util.py"))
    lost = [f for f in found(user("work"), *reads, summary="util.py was read") if f.code == "CI007"]
    assert len(lost) == 2
    assert "only “util.py” is left, which src/right/util.py is called too" in lost[0].sentence
    one = act(1, "Read", file_path="src/left/util.py")
    assert "CI007" not in codes(user("work"), *one, summary="util.py was read")


def test_CI008_a_line_of_a_summary_that_nothing_grounds() -> None:
    (finding,) = (f for f in found(user("work"), say(), summary="Fixed src/ghost.py.") if f.code == "CI008")
    assert "src/ghost.py" in finding.sentence
    assert finding.refs[0].entry == finding.entry


def test_CI009_what_was_lost_and_read_again() -> None:
    look = act(1, "Read", "a long text", file_path="src/a.py")
    again = act(2, "Read", "a long text", file_path="src/a.py")
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
    edit = act(1, "Edit", file_path="src/a.py", old_string="x", new_string="y")
    findings = lint(build(user("work"), *edit, compact(""), user("go on"), say()))
    assert findings.ok
    by_code = {f.code: f for f in findings}
    assert set(by_code) == {"CI011"}
    assert (by_code["CI011"].severity, by_code["CI011"].tier) == ("note", "inferred")
    assert by_code["CI011"].sentence.endswith(" cannot be read; what became of 2 facts is unknown.")
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
    assert [finding.code for finding in everything] == ["CI012"]
    with pytest.raises(PolicyError):
        lint(SESSION, "no-such-policy")


def test_nothing_is_found_where_nothing_was_compacted() -> None:
    findings = lint(build(user("You must never push to main."), say()))
    assert (list(findings), findings.ok, findings.counts) == ([], True, {})
    assert repr(findings) == "LintReport(0 recorded compactions: nothing found)"


def test_CI012_a_policy_that_changes_nothing_is_a_finding_and_not_a_green_run() -> None:
    session = build(user("hello"), say())
    findings = lint(session, "pi")
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
    return compact("all is well").model_copy(
        update={"boundary": Boundary(summary="all is well", first_kept=first)}
    )


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


@pytest.mark.parametrize(
    "entries",
    [
        (user(), called("B"), answered("B"), say(), keeping("e3"), user(), say()),
        (user(), called("B"), answered("B"), keeping("e1"), say(), user()),
        (user(), called("B"), keeping("e1"), answered("B"), say(), user()),
        (user(), say(), keeping(None), user()),
        (user(), say(), keeping(None)),
        (answered("B"), user(), say(), user(), keeping("e0"), say(), user()),
        (keeping(None), answered("B"), say(), user(), say()),
    ],
)
def test_a_recorded_compaction_is_not_blamed_for_what_is_whole_or_was_broken_before(
    entries: tuple[Entry, ...],
) -> None:
    """Nor is a compaction with nothing before it in the file."""
    assert list(lint(build(*entries), rules="CI013")) == []


def test_a_fault_of_the_session_itself_is_none_of_the_plans() -> None:
    # The session begins with the assistant, which a provider refuses before any plan does.
    session = build(say(), user("go on"), say(), user("and on"), say())
    assert "CI013" not in lint(session, "pi").counts


# The table and the choosing.


def test_the_table_of_codes_is_complete_and_stable() -> None:
    assert list(LINT_CODES) == [f"CI{number:03}" for number in range(1, len(LINT_CODES) + 1)]
    assert [lint.name for lint in LINT_CODES.values()] == [
        "edited file absent",
        "user constraint absent",
        "open todo absent",
        "last error absent",
        "last result absent",
        "created file absent",
        "ambiguous file name",
        "ungrounded summary line",
        "regret",
        "decision absent",
        "summary unreadable",
        "nothing compacted",
        "context refused",
        "user's choice absent",
        "superseded value carried on",
        "value changed",
        "rule contradicted",
    ]
    for code, one in LINT_CODES.items():
        assert one.code == code
        assert one.severity in SEVERITIES
        assert one.sentence.endswith(".")
        assert one.example.endswith(".")


@pytest.mark.parametrize(
    ("rules", "chosen"),
    [
        (None, set(LINT_CODES) - {"CI010"}),
        ("", set(LINT_CODES) - {"CI010"}),
        ("CI001", {"CI001"}),
        ("ci001, CI002", {"CI001", "CI002"}),
        (["CI001", "CI002,CI003"], {"CI001", "CI002", "CI003"}),
        ("-CI007", set(LINT_CODES) - {"CI007", "CI010"}),
        ("ALL", set(LINT_CODES)),
        ("CI00,-CI007", {code for code in LINT_CODES if code < "CI010"} - {"CI007"}),
        (["-CI007", "CI00"], {code for code in LINT_CODES if code < "CI010"} - {"CI007"}),
        ("ALL,-CI01", {code for code in LINT_CODES if code < "CI010"}),
    ],
)
def test_codes_are_chosen_by_their_beginnings(rules: Any, chosen: set[str]) -> None:
    assert choose(rules) == chosen


@pytest.mark.parametrize("rules", ["CI999", "-XX", "-", "edited"])
def test_a_rule_that_names_no_code_is_a_named_error(rules: str) -> None:
    with pytest.raises(EditError, match="no such check; known: CI001"):
        lint(SESSION, rules=rules)


@settings(max_examples=30, deadline=None)
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


def test_columns_have_a_row_for_each_finding() -> None:
    findings = lint(SESSION)
    columns = findings.to_columns()
    assert {len(column) for column in columns.values()} == {len(findings)}
    assert columns["code"] == [f.code for f in findings]
    assert columns["form"][columns["code"].index("CI001")] == LOST_PATH


def test_a_line_of_the_file_is_told_for_what_stands_in_it() -> None:
    (finding,) = lint(SESSION, rules="CI001")
    at = find_line(finding, SESSION)
    assert at == SESSION[finding.refs[-1].entry].sources[0].line
    assert f"line {at}:" in write_text(lint(SESSION, rules="CI001"), SESSION)[0]


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
    told = json.loads("\n".join(FORMATS["sarif"](findings, SESSION, "my run/s.jsonl", False)))
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


def test_in_junit_errors_fail_and_the_rest_passes() -> None:
    findings = lint(SESSION)
    root = ET.fromstring("\n".join(FORMATS["junit"](findings, SESSION, "s.jsonl", False)))
    cases = root.findall("testsuite/testcase")
    failures = root.findall("testsuite/testcase/failure")
    assert int(root.attrib["tests"]) == len(cases) == len(findings)
    assert int(root.attrib["failures"]) == len(failures) == findings.severities["error"] > 0
    assert len(root.findall("testsuite/testcase/system-out")) == len(cases) - len(failures)
    assert {case.attrib["name"][:5] for case in cases} == set(findings.counts)


def test_a_report_without_a_finding_is_one_test_that_passes_and_a_run_without_results() -> None:
    nothing = LintReport((), "a test")
    root = ET.fromstring("\n".join(FORMATS["junit"](nothing, SESSION, "s", False)))
    assert (root.attrib["tests"], root.attrib["failures"]) == ("1", "0")
    assert not root.findall("testsuite/testcase/failure")
    assert json.loads(FORMATS["sarif"](nothing, SESSION, "s", False)[0])["runs"][0]["results"] == []


def test_what_acts_on_a_reader_is_shown_in_xml_and_json() -> None:
    bad = LintFinding("CI001", "error", "\x1b[31m<b>\ud83d\x00</failure>")
    report = LintReport((bad,), "a \x08 test")
    failure = ET.fromstring("\n".join(FORMATS["junit"](report, SESSION, "s\x01", False))).find(".//failure")
    assert failure is not None and failure.attrib["message"] == "␛[31m<b>\ufffd␀</failure>"
    sarif = json.loads(FORMATS["sarif"](report, SESSION, "s", False)[0])
    assert "\x1b" not in sarif["runs"][0]["results"][0]["message"]["text"]


def test_github_commands_cannot_be_forged_by_a_transcript() -> None:
    """A line break or a percent sign in a form is written out, so no second command begins."""
    sentence = "bad\n::error::forged 100%"
    finding = LintFinding("CI001", "error", sentence)
    (line,) = write_github(LintReport((finding,), "a test"), SESSION, "a:b,c%\n.jsonl")
    assert line == (
        "::error file=a%3Ab%2Cc%25%0A.jsonl,title=CI001 edited file absent::bad%0A::error::forged 100%25"
    )


def test_levels_of_github_are_the_severities() -> None:
    lines = write_github(lint(SESSION), SESSION, "s.jsonl")
    assert {re.match(r"::(\w+) ", line)[1] for line in lines} == {"error", "warning"}  # type: ignore[index]


def test_what_failed_or_was_never_answered_changed_nothing() -> None:
    edit = {"file_path": "src/nope.py", "old_string": "x", "new_string": "y"}
    assert "CI001" not in codes(user("work"), *act(1, "Edit", "File not found", True, **edit))
    assert "CI001" not in codes(user("work"), act(1, "Edit", **edit)[0])
    assert codes(user("work"), *act(1, "Edit", **edit))["CI001"] == "src/nope.py"


def test_a_file_that_was_made_and_taken_away_again_is_no_loss() -> None:
    made = act(1, "Write", file_path="scratch.py", content="x")
    assert codes(user("work"), *made)["CI006"] == "scratch.py"
    assert "CI006" not in codes(user("work"), *made, *act(2, "Bash", command="rm scratch.py"))


def test_the_last_todo_list_decides_and_an_empty_one_too() -> None:
    open_todo = {"content": "Write the parser for dates", "status": "pending", "activeForm": "Writing"}
    listed = act(1, "TodoWrite", todos=[open_todo])
    assert "CI003" in codes(user("work"), *listed)
    assert "CI003" not in codes(user("work"), *listed, *act(2, "TodoWrite", todos=[]))
    assert "CI003" in codes(user("work"), *listed, *act(2, "ci", checks=[{"name": "lint", "status": "ok"}]))


def create(number: int, subject: str, output: str = "", **arguments: Any) -> tuple[Entry, Entry]:
    """Return the entries with which Claude Code's TaskCreate adds a task to the list."""
    output = output or f"Task #{number} created successfully: {subject}"
    return act(number, "TaskCreate", output, subject=subject, description="all of it", **arguments)


def update(
    number: int, task: Any, output: str = "Updated task", failed: bool = False, **arguments: Any
) -> Any:
    return act(number, "TaskUpdate", output, failed, taskId=task, **arguments)


def open_todos(*before: Entry) -> list[str]:
    """Return the texts of the open items that a compaction lost."""
    return [f.fact.form for f in found(*before) if f.code == "CI003" and f.fact is not None]


PORT, LEXER = "Port the CLI flags to click", "Write the lexer tests"


@pytest.mark.parametrize("output", ["", '{"task": {"id": "2", "subject": "x"}}', "Created."])
def test_tasks_that_are_written_one_by_one_are_a_todo_list(output: str) -> None:
    """A later update names a task by its number alone, which the output of TaskCreate states."""
    both = (*create(1, PORT), *create(2, LEXER, output))
    assert sorted(open_todos(user("work"), *both)) == [PORT, LEXER]
    for done in ("completed", "deleted", "resolved"):
        assert open_todos(user("work"), *both, *update(3, "2", status=done)) == [PORT]
    assert open_todos(user("work"), *both, *update(3, 2, status="completed")) == [PORT]
    started = update(3, "2", status="in_progress", activeForm="Writing")
    assert sorted(open_todos(user("work"), *both, *started)) == [PORT, LEXER]


def test_numbers_of_tasks_are_those_that_their_outputs_state() -> None:
    """The numbers need not begin at 1, and may come in another order."""
    both = (
        *act(1, "TaskCreate", f"Task #8 created successfully: {PORT}", subject=PORT),
        *act(2, "TaskCreate", f"Task #7 created successfully: {LEXER}", subject=LEXER),
    )
    assert open_todos(user("work"), *both, *update(3, "7", status="completed")) == [PORT]
    assert open_todos(user("work"), *both, *update(3, "1", status="completed")) == [PORT, LEXER]


def test_a_task_that_is_renamed_reopened_or_not_updated() -> None:
    created = create(1, PORT)
    renamed = update(2, "1", subject="Port all flags to typer")
    assert open_todos(user("work"), *created, *renamed) == ["Port all flags to typer"]
    done = update(2, "1", status="completed")
    assert open_todos(user("work"), *created, *done) == []
    assert open_todos(user("work"), *created, *done, *update(3, "1", status="pending")) == [PORT]
    assert open_todos(user("work"), *created, *update(2, "1", "No such task", True, status="completed")) == [
        PORT
    ]
    again = act(3, "TaskCreate", f"Task #1 created successfully: {LEXER}", subject=LEXER)
    assert open_todos(user("work"), *created, *done, *again) == [LEXER]
    missing = act(1, "TaskCreate", "Permission denied", True, subject=PORT)
    assert open_todos(user("work"), *missing) == []


def test_a_todo_list_of_lines_with_boxes_decides_too() -> None:
    listed = act(1, "update_todo_list", todos=f"[ ] {PORT}\n[x] {LEXER}")
    assert open_todos(user("work"), *listed) == [PORT]
    assert open_todos(user("work"), *listed, *act(2, "update_todo_list", todos=f"[x] {PORT}")) == []


def test_a_call_whose_id_comes_again_has_the_answer_that_follows_it() -> None:
    good = act(1, "Bash", "all passed", command="make good")
    bad = act(1, "Bash", "error: it broke in src/a.py", True, command="make bad")
    told = [f.fact.form for f in found(user("w"), *good, *bad) if f.code == "CI005" and f.fact]
    assert told == ["make bad"]
