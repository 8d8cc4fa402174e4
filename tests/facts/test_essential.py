"""Essential facts: what stays of the work, by construction, through the doors of a session's facts."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import read_session
from inspector.facts import Facts
from tests.work import limit_work

CWD = "/work/app"
Message = dict[str, Any]
_ids = count()


def call(name: str, out: str = "ok", failed: bool = False, **given: Any) -> list[Message]:
    """A call and its output, as messages."""
    number = f"c{next(_ids)}"
    result = {"type": "tool_result", "tool_use_id": number, "content": out, "is_error": failed}
    return [
        {"role": "assistant", "content": [{"type": "tool_use", "id": number, "name": name, "input": given}]},
        {"role": "user", "content": [result]},
    ]


def shell(command: str, out: str = "ok", failed: bool = False) -> list[Message]:
    return call("Bash", out, failed, command=command)


def facts_of(*messages: Message | list[Message], typed: str = "Go") -> Facts:
    flat = [one for item in messages for one in (item if isinstance(item, list) else [item])]
    session = read_session([{"role": "user", "content": typed}, *flat])
    return session.model_copy(update={"cwd": CWD}).facts


def essential(facts: Facts) -> dict[tuple[str, str], str]:
    """By kind and form the reason of each essential fact."""
    return {key: fact.essential for key, fact in facts.items() if fact.essential}


FILES = ["src/a.py", "b.md", "/work/app/deep/c.ts"]
STEPS = st.lists(
    st.tuples(st.sampled_from(["Write", "Edit", "rm", "Read"]), st.sampled_from(FILES)), max_size=12
)


@given(STEPS)
def test_a_file_is_essential_exactly_if_it_was_changed_and_is_still_there(
    steps: list[tuple[str, str]],
) -> None:
    there: dict[str, bool] = {}
    messages = []
    for tool, path in steps:
        messages += shell(f"rm {path}") if tool == "rm" else call(tool, file_path=path)
        if tool != "Read":
            there[path.removeprefix("/work/app/")] = tool != "rm"
    found = essential(facts_of(messages))
    assert found == {("file", path): "file changed and still there" for path, stays in there.items() if stays}


@pytest.mark.parametrize(
    "step",
    [
        shell("echo x > /tmp/out.txt"),
        shell("date > ~/stamp.log"),
        shell("mkdir -p build/cache"),
        shell("ls src/"),
        shell("cat src/a.py"),
        call("Write", file_path="/tmp/probe.py", content="x"),
        call("Write", file_path="/private/tmp/probe.py", content="x"),
        call("Write", file_path="/home/me/.claude/plans/plan.md", content="x"),
        call("Edit", "File has not been read yet", failed=True, file_path="src/a.py"),
        [*call("Write", file_path="probe.py", content="x"), *shell("rm probe.py")],
    ],
)
def test_scratch_files_directories_and_what_was_only_looked_at_are_not(step: list[Message]) -> None:
    assert not any(kind == "file" for kind, _ in essential(facts_of(step)))


def test_a_typed_rule_is_essential_and_a_reminders_rule_is_not() -> None:
    typed = "Never touch main.\nLet's go with sqlite.\nThe page is slow.\n"
    facts = facts_of(typed=typed + "<system-reminder>You must always lint.</system-reminder>")
    assert facts.by_kind("constraint")[-1].form == "You must always lint."
    last = {("statement", "The page is slow."): "asked last"}
    kept = {("constraint", "Never touch main."): "rule", ("choice", "Let's go with sqlite."): "choice"}
    assert essential(facts) == kept | last
    later = {"role": "user", "content": "thanks"}
    assert essential(facts_of(later, typed=typed)) == kept


ITEMS = ["draw the map", "count the boats", "paint the door"]


@given(
    st.lists(
        st.lists(st.sampled_from(["pending", "in_progress", "completed"]), min_size=3, max_size=3), max_size=4
    )
)
def test_the_last_list_says_which_todos_are_open(lists: list[list[str]]) -> None:
    calls = [
        call("TodoWrite", todos=[{"content": i, "status": s} for i, s in zip(ITEMS, states, strict=True)])
        for states in lists
    ]
    last = lists[-1] if lists else []
    still = {item for item, state in zip(ITEMS, last, strict=False) if state != "completed"}
    assert {form for (kind, form), why in essential(facts_of(*calls)).items() if why == "open to-do"} == still


RUNS = st.lists(
    st.tuples(st.sampled_from(["npm run build", "go vet ./...", "make docs"]), st.booleans()), max_size=8
)


@given(RUNS)
def test_an_error_is_essential_until_its_command_succeeds(runs: list[tuple[str, bool]]) -> None:
    messages, state = [], dict[str, str]()
    for number, (command, fails) in enumerate(runs):
        error = f"Error: {command} broke in step {number}"
        messages += shell(command, error if fails else "done", failed=fails)
        state[command] = error if fails else ""
    found = {form for (_, form), why in essential(facts_of(messages)).items() if why == "last error"}
    assert found == {error for error in state.values() if error}


def test_a_box_that_a_person_left_open_is_an_open_todo() -> None:
    found = essential(facts_of(typed="- [ ] ship the map\n- [x] draw it"))
    assert found["todo", "ship the map"] == "open to-do" and ("todo", "draw it") not in found


def test_a_call_that_ran_well_settles_no_error_of_another_tool() -> None:
    failed = call("deploy", "Error: the bucket is locked", failed=True)
    found = essential(facts_of(failed, call("Read", file_path="a.py"), shell("ls -la")))
    assert found == {("error", "Error: the bucket is locked"): "last error"}
    assert essential(facts_of(failed, call("deploy"))) == {}


def test_many_commands_that_fail_take_little_time() -> None:
    failing = [shell(f"pytest tests/d{n}/t.py", f"Error: part {n} is broken", True) for n in range(500)]
    passing = [shell(f"npm run lint src/{n}") for n in range(500)]
    facts = facts_of(*failing, *passing)
    with limit_work(20):
        assert set(essential(facts).values()) == {"last error"}


def test_only_the_last_failing_outputs_count_but_every_failing_test() -> None:
    early = shell("go test ./a", "--- FAIL: TestOld (0.00s)\n    a_test.go:3: expected 1, got 2", True)
    runs = [shell(f"./run{n}.sh", f"Error: number {n} is wrong", True) for n in range(9)]
    found = essential(facts_of(early, *runs))
    assert {form for (_, form), why in found.items() if why == "failing test"} == {"FAIL: TestOld"}
    assert {form for (_, form), why in found.items() if why == "last error"} == {
        f"Error: number {n} is wrong" for n in (6, 7, 8)
    }
    assert essential(facts_of(early, shell("go test ./..."))) == {}


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        ("Great work, the tables load much faster now.", ""),
        ("Thanks, that reads better than before.", ""),
        ("Looks good, but the margin of the second table is wrong.", "asked last"),
        ("Can you look at the margin of the second table?", "asked last"),
        ("Great, now do the same for the second table.", "asked last"),
        ("Nice, continue with the second table.", "asked last"),
    ],
)
def test_what_a_person_said_last_is_essential_unless_it_only_praises(last: str, reason: str) -> None:
    said = zip(("user", "assistant") * 2, ("Fix the tables.", "Done.", last, "Ok."), strict=True)
    session = read_session([{"role": role, "content": words} for role, words in said])
    assert [fact["essential"] for fact in session.facts.to_dicts() if fact["form"] == last] == [reason]
