"""Rules that the model broke: told by name alone, never by guess."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import open_demo, read_session
from inspector.errors import InspectorError
from inspector.facts import find_broken_rules

Row = dict[str, Any]
EDIT = ("Edit", {"file_path": "data/almanac.json", "old_string": "a", "new_string": "b"})


def say(text: str) -> list[Row]:
    return [{"role": "user", "content": text}]


def call(tool: tuple[str, Row], number: int = 1, failed: bool = False) -> list[Row]:
    """A call and its output."""
    name, given = tool
    use = {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}
    done = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "done", "is_error": failed}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [done]}]


def run(command: str, number: int = 1) -> list[Row]:
    return call(("Bash", {"command": command}), number)


def broken(*parts: list[Row]) -> list[str]:
    rows = [row for part in parts for row in part]
    return [one.what for one in find_broken_rules(read_session(rows))]


@pytest.mark.parametrize(
    ("rule", "tool", "what"),
    [
        ("Never touch data/almanac.json.", EDIT, "edited data/almanac.json"),
        ("Please do not edit data/almanac.json!", EDIT, "edited data/almanac.json"),
        (
            "Fix it, but don't modify data/almanac.json",
            ("Bash", {"command": "sed -i s/a/b/ data/almanac.json"}),
            "edited data/almanac.json",
        ),
        (
            "Do not delete docs/notes.md.",
            ("Bash", {"command": "rm docs/notes.md"}),
            "deleted docs/notes.md",
        ),
        ("Never push.", ("Bash", {"command": "cd x && git push origin main"}), "ran git push origin main"),
        ("Never force push.", ("Bash", {"command": "git push --force"}), "ran git push --force"),
        ("Never run `npm publish`.", ("Bash", {"command": "npm publish"}), "ran npm publish"),
    ],
)  # fmt: skip
def test_an_act_that_a_rule_forbids_by_name_is_told(rule: str, tool: tuple[str, Row], what: str) -> None:
    assert broken(say(rule), call(tool)) == [what]
    # Before the rule nothing is broken, and what failed did nothing.
    assert broken(call(tool), say(rule)) == []
    assert broken(say(rule), call(tool, failed=True)) == []


@pytest.mark.parametrize(
    ("rule", "tool"),
    [
        ("Never touch data/other.json.", EDIT),
        ("Never delete data/almanac.json.", EDIT),
        ("Always edit data/almanac.json.", EDIT),
        ("Never touch src/a.py, edit data/almanac.json.", EDIT),
        ("Never edit data/almanac.json before the tests pass.", EDIT),
        ("Do not edit data/almanac.json unless I say so.", EDIT),
        ("Never touch data/almanac.json.", ("Read", {"file_path": "data/almanac.json"})),
        ("We don't need to commit.", ("Bash", {"command": "git commit -m x"})),
        ("Never push to main.", ("Bash", {"command": "git push origin feature"})),
        ("Never push.", ("Bash", {"command": "git log --grep push"})),
        ("Never run `npm publish`.", ("Bash", {"command": "npm test"})),
    ],
)  # fmt: skip
def test_what_a_rule_does_not_forbid_by_name_is_left_out(rule: str, tool: tuple[str, Row]) -> None:
    assert broken(say(rule), call(tool)) == []


def test_a_rule_ends_where_the_user_names_its_object_again() -> None:
    rule, again = say("Never touch data/almanac.json."), say("Now change data/almanac.json for me.")
    assert broken(rule, again, call(EDIT)) == []
    assert broken(rule, call(EDIT), again, call(EDIT, 2)) == ["edited data/almanac.json"]
    assert broken(say("Never push."), say("All right, push it."), run("git push")) == []


def test_who_speaks_decides_and_each_act_is_told_once() -> None:
    reply = [{"role": "assistant", "content": "Never touch data/almanac.json."}]
    assert broken(say("Hello"), reply, say("go on"), call(EDIT)) == []
    rule = say("Never touch data/almanac.json.")
    assert broken(rule, call(EDIT), call(EDIT, 2)) == ["edited data/almanac.json"] * 2


def test_it_says_against_which_words() -> None:
    rows = [*say("Never touch data/almanac.json."), *call(EDIT)]
    (one,) = find_broken_rules(read_session(rows))
    assert one.said.by == "user"
    assert one.sentence.startswith("The model edited data/almanac.json in ")
    assert 'against "Never touch data/almanac.json."' in one.sentence


def test_the_demo_s_model_keeps_to_its_rule_and_wrong_arguments_are_refused() -> None:
    assert find_broken_rules(open_demo()) == ()
    with pytest.raises(InspectorError):
        find_broken_rules("session.jsonl")  # type: ignore[arg-type]
