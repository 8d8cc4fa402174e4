"""The command line: tables, JSON, exit codes, and a sentence for what went wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from inspector import Workbench, count_tokens, make_plan, open_session, price_session
from inspector.cli import main
from inspector.demo import LOST_PATH, read_demo
from tests.claude_rows import Claude, dump
from tests.exported import all_texts, unpack_page


def run(*arguments: object, **more: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "inspector.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def test_show_tells_the_session_the_plan_and_its_tokens_by_section(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(file), "--policy", "keep-recent-turns"]) == 0
    told = capsys.readouterr().out
    assert "Session(claude-code, 560 records, 21 turns" in told
    assert "Plan(keep-recent-turns: cut at" in told
    told, _, bill = told.partition("\nBill: ")
    rows = {line.split("  ")[1]: line for line in told.splitlines() if line.startswith("  ")}
    *sections, whole = [
        [int(word.replace(",", "")) for word in line.split() if word[0].isdigit()] for line in rows.values()
    ]
    assert [sum(column) for column in zip(*sections, strict=True)] == whole
    assert told.splitlines()[-1].startswith("fitted to the provider: o200k_base x ")
    assert f"Bill: {bill.rstrip()}" == repr(price_session(open_session(file)))
    assert "cache write 1h" in bill


def test_it_says_which_of_several_compactions_it_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chat, path = Claude(), tmp_path / "two.jsonl"
    for number in range(2):
        chat.say(f"Draw the tide table of harbour {number}.")
        chat.reply("It is drawn. " * 500, 90_000 - 50_000 * number)
        chat.compact("The tables are drawn.")
    chat.say("Go on.")
    path.write_bytes(dump(chat.rows))
    for command in ("show", "plan"):
        assert main([command, str(path)]) == 0
        assert "This is ◆1 of 2 recorded compactions, the fullest;" in capsys.readouterr().out
        assert main([command, str(path), "--policy", "flue"]) == 0
        assert "recorded compactions, the fullest" not in capsys.readouterr().out


def test_check_tells_what_was_lost_and_ends_with_1_for_an_error(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lint", str(file)]) == 1
    assert main(["check", str(file)]) == 1, "as it was called in 0.1"
    told = capsys.readouterr().out.splitlines()
    assert any(line.startswith("CI001 error") and LOST_PATH in line for line in told)
    assert told[-1].startswith("1 recorded compaction, 1 clearing: ")
    assert main(["check", str(file), "--select", "CI008"]) == 0
    assert capsys.readouterr().out == "1 recorded compaction, 1 clearing: nothing found\n"


def test_check_ends_with_2_where_it_could_not_look(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """1 says that an error was found; a build must not take a wrong path for one."""
    picture = tmp_path / "a.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n")
    for unreadable, said in ((picture, "a PNG picture"), (tmp_path / "nowhere", "No such file")):
        assert main(["check", str(unreadable)]) == 2
        assert said in capsys.readouterr().err
        assert main(["show", str(unreadable)]) == 1
        capsys.readouterr()
    assert "Ends with 0 when no error was found" in run("lint", "--help").stdout.replace("\n", " ")


def test_a_cut_and_a_moment_can_be_named(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = open_session(file)
    at = session.entries[session.path[40]].id
    moment = session.at(at)
    plan = make_plan(moment, count_tokens(session, "calibrated"), "flue")
    cut = [point.entry for point in plan.cuts if point.legal][2]
    assert main(["plan", str(file), "--at", at, "--cut", cut, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["at"], told["cut"]) == (at, cut)


def test_a_plan_from_an_entry_on_is_that_of_python(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = open_session(file)
    at = session.entries[session.path[40]].id
    since = session.entries[session.path[session.at(at).turns[1].first]].id
    ledger = count_tokens(session, "calibrated")
    plans = [make_plan(session.at(at), ledger, "flue", cut="end", since=start) for start in (since, None)]
    command = ["plan", str(file), "--policy", "flue", "--at", at, "--cut", "end", "--json"]
    after = []
    for more in (["--since", since], []):
        assert main([*command, *more]) == 0
        after.append(json.loads(capsys.readouterr().out)["after"])
    assert after == [plan.after for plan in plans] and after[0] != after[1]


def test_export_writes_one_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a short session: the page of the whole one is made by `demo --page`."""
    file, page = tmp_path / "short.jsonl", tmp_path / "page.html"
    file.write_bytes(b"".join(read_demo().splitlines(keepends=True)[:40]))
    assert main(["export", str(file), str(page)]) == 0
    assert page.read_text("utf-8").startswith("<!")
    assert "redacted" in capsys.readouterr().out
    settings = tmp_path / "settings.json"
    settings.write_text('{"compaction": {"warn": 0.5, "trigger": 0.61}}')
    with_settings = ["export", str(file), str(page), "--settings", str(settings)]
    assert main([*with_settings, "--policy", "claude-code-analysis"]) == 0
    assert "claude-code-analysis-set" in all_texts(unpack_page(page.read_text("utf-8"))[0])
    assert main(with_settings) == 2  # settings are for a policy, and none is named
    assert "name it with --policy" in capsys.readouterr().err
    page.write_text("mine")
    assert main(["export", str(file), str(page)]) == 1
    assert page.read_text() == "mine"
    assert "is not overwritten" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["show", "nowhere.jsonl"], 1, "nowhere.jsonl: No such file or directory"),
        (["show", "/"], 1, "it is a folder"),
        (["plan", "FILE", "--policy", "nope"], 2, "policy 'nope': no such policy"),
        (["plan", "FILE", "--counter", "nope"], 2, "token counter 'nope'"),
        (["plan", "FILE", "--cut", "nope"], 2, "cut 'nope': no such entry in this context"),
        (["plan", "FILE", "--at", "nope"], 2, "at 'nope': no such entry in this session"),
        (["plan", "FILE", "--window", "-1"], 2, "window"),
    ],
)
def test_what_went_wrong_is_one_sentence_and_an_exit_code(
    file: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, sentence: str
) -> None:
    assert main([str(file) if word == "FILE" else word for word in arguments]) == code
    told = capsys.readouterr()
    assert sentence in told.err and told.err.count("\n") == 1
    assert told.out == ""


def test_what_is_no_command_is_told_with_the_usage() -> None:
    done = run("destroy", "x")
    assert done.returncode == 2
    assert "usage: compaction-inspector" in done.stderr and "Traceback" not in done.stderr
    assert run("--version").stdout.strip() == version("compaction-inspector")


def test_a_recorded_compaction_is_not_said_not_to_fire(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(dump(Claude().say("Go.").reply("Done.", 9_000).compact().reply("On.", 8_000).rows))
    assert main(["show", str(path)]) == 0
    told = capsys.readouterr().out
    assert "Plan(recorded:" in told and "fire" not in told
    assert main(["show", str(path), "--policy", "claude-code"]) == 0
    assert "Does not fire" in capsys.readouterr().out


def make_temporary(folder: Path) -> dict[str, str]:
    """An environment with a temporary folder of its own, and a browser that notes what it is to open."""
    browser = folder / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >> "{folder}/opened"\n')
    browser.chmod(0o755)
    (folder / "temporary").mkdir()
    own = {"TMPDIR": str(folder / "temporary"), "BROWSER": f"{browser} %s", "HOME": str(folder)}
    own |= {name: str(folder / "jupyter") for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")}
    return {**os.environ, **own, "JUPYTER_RUNTIME_DIR": str(folder / "running")}


@pytest.fixture
def temporary(tmp_path: Path) -> dict[str, str]:
    return make_temporary(tmp_path)


class DemoPages(NamedTuple):
    """What `demo --page` wrote, first with --no-browser; `opened` tells what a browser had opened by then."""

    folder: Path
    unseen: Path
    opened: bool
    page: Path


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoPages:
    folder = tmp_path_factory.mktemp("demo")
    environment = make_temporary(folder)
    unseen = Path(run("demo", "--page", "--no-browser", env=environment).stdout.strip())
    opened = (folder / "opened").exists()
    done = run("demo", "--page", env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    return DemoPages(folder, unseen, opened, Path(done.stdout.strip()))


def test_the_demo_is_one_page_that_a_browser_opens_where_it_is_wanted(demo: DemoPages) -> None:
    assert demo.unseen.is_file() and not demo.opened
    page = demo.page
    assert page.is_relative_to(demo.folder / "temporary") and page != demo.unseen
    assert page.read_text("utf-8").startswith("<!")
    assert (demo.folder / "opened").read_text() == f"{page.as_uri()}\n"
    assert [path.read_bytes() for path in page.parent.glob("*.jsonl")] == [read_demo()]


def test_without_a_policy_the_terminal_plans_what_the_workbench_opens_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talk = Claude().say("Begin. " * 400).reply("Good.", 3_000)
    recorded = tmp_path / "compacted.jsonl"
    plain = tmp_path / "plain.jsonl"
    plain.write_bytes(dump(talk.rows))
    recorded.write_bytes(dump(talk.compact("We went on.").say("Go on.").reply("Yes.", 700).rows))
    for file, policy in ((recorded, "recorded"), (plain, "claude-code")):
        plan = Workbench(file).plan
        assert main(["plan", str(file), "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["policy"], told["at"], told["after"]) == (policy, plan.session.leaf, plan.after)
        assert main(["show", str(file)]) == 0
        assert repr(plan).splitlines()[0] in capsys.readouterr().out
