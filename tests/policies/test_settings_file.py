"""The settings file of the wiki: a session's thresholds stand over those for all sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, replay
from inspector.cli import main
from inspector.demo import read_demo
from inspector.errors import PolicyError
from inspector.policies.policy import Policy, read_policy
from inspector.policies.registry import find_policy
from inspector.policies.settings_file import read_settings
from tests.replays.test_engine import MANUAL, OFF, kinds, live, make_policy, turns


def write(**thresholds: Any) -> str:
    return json.dumps({"providers": {"main": {}}, "compaction": thresholds, "ui": "tui"})


def read(**texts: str) -> Policy:
    return read_policy(make_policy(OFF, MANUAL).model_dump(mode="json"), texts)


def warned(policy: Policy) -> list[float]:
    """The share of the window at which a life of nine turns of a tenth each is warned."""
    run = live(turns(9), policy)
    return [event.data["ratio"] for event in run.events if event.kind == "warned"]


def test_S1_21_the_session_s_settings_file_stands_over_the_global_one() -> None:
    everywhere = write(warn=0.6, require=0.9)
    assert warned(read()) == [0.84], "the profile's own 80 %"
    assert warned(read(**{"global": everywhere})) == [0.64]
    both = read(**{"global": everywhere, "session": write(warn=0.7)})
    assert warned(both) == [0.74]
    # What the session says nothing of is as it is for all sessions.
    assert (both.harness.warn, both.harness.require) == (0.7, 0.9)
    assert warned(read(**{"session": write(warn=0.7), "global": everywhere})) == [0.64], "the last one stands"
    assert read(session=write(warn=None)).harness.warn is None
    assert kinds(live(turns(9), read(session=write(warn=None)))) == []


def test_S1_21_a_file_without_thresholds_changes_nothing_and_a_trigger_can_be_set() -> None:
    assert read(**{"global": "{}", "session": '{"ui": {}}'}) == read()
    auto = read_policy(find_policy("stud-wiki-1.1").model_dump(mode="json"), {"session": write(trigger=0.5)})
    assert len(live(turns(6), auto, {"writer": {"oversize": 0}}).adopted) == 1
    assert live(turns(6), "stud-wiki-1.1", {"writer": {"oversize": 0}}).adopted == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (write(warn=1.2), r"settings\.json \(session\).*compaction\.warn = 1\.2"),
        (write(warn=-0.2), r"compaction\.warn = -0\.2: a share of the window lies above 0"),
        (write(require=0), r"compaction\.require = 0:"),
        (write(warn="80 %"), r"compaction\.warn = '80 %'"),
        (write(warn=True), r"compaction\.warn = True"),
        (write(wran=0.8), r"compaction\.wran is no threshold.*warn"),
        ('{"compaction": [0.8]}', r"settings\.json \(session\).*an object is needed"),
        ("[]", r"settings\.json \(session\).*an object is needed"),
        ("{", r"settings\.json \(session\).*no JSON"),
    ],
)
def test_S1_21_a_bad_value_is_named_with_its_file(text: str, said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        read(**{"global": write(warn=0.7), "session": text})


def test_S1_21_S1_22_thresholds_of_two_files_have_to_go_together() -> None:
    with pytest.raises(PolicyError, match=r"warn \(0\.9\) may not lie above require \(0\.85\)"):
        read(**{"global": write(warn=0.9), "session": write(require=0.85)})


def test_settings_are_those_that_a_policy_knows() -> None:
    assert read_settings({"session": write(warn=0.7, trigger=0.8, require=0.9)}) == {
        "harness.warn": 0.7,
        "trigger.ratio": 0.8,
        "harness.require": 0.9,
    }


def test_S1_21_a_policy_is_found_with_the_thresholds_of_one_text_or_of_several() -> None:
    text = json.dumps({"compaction": {"warn": 0.55}, "env": {"A": "b"}})
    assert find_policy("stud-merged", settings=text) == find_policy("stud-merged").configured(
        {"harness.warn": 0.55}
    )
    over = {"user": text, "project": json.dumps({"compaction": {"warn": 0.6, "require": None}})}
    harness = find_policy("stud-merged", settings=over).harness
    assert (harness.warn, harness.require) == (0.6, None)
    with pytest.raises(PolicyError, match="share of the window"):
        find_policy("stud-merged", settings=json.dumps({"compaction": {"require": 95}}))


def test_S1_21_the_command_takes_settings_files_and_names_what_is_wrong_with_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session, right, wrong = tmp_path / "s.jsonl", tmp_path / "settings.json", tmp_path / "wrong.json"
    session.write_bytes(read_demo())
    right.write_text('{"compaction": {"warn": 0.1, "require": 0.3}}')
    wrong.write_text('{"compaction": {"wran": 0.1}}')

    def ask(*more: str) -> tuple[int, str]:
        code = main(["replay", str(session), "--policy", "stud-warning", "--json", *more])
        told = capsys.readouterr()
        return code, told.out + told.err

    run = replay(open_session(session), find_policy("stud-warning", settings=right.read_text()))
    code, told = ask("--settings", str(right))
    assert code == 0 and [json.loads(line)["kind"] for line in told.splitlines()] == [
        event.kind for event in run.events
    ]
    assert told != ask()[1]
    code, told = ask("--settings", str(wrong))
    assert code == 2 and "wrong.json" in told and "wran" in told
    assert main(["lint", str(session), "--settings", str(right)]) == 2
    assert "--policy" in capsys.readouterr().err
