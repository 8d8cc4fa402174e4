"""Facts: what is found in tool arguments and in text, where, and at what cost."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from inspector.blocks import Block, Text, ToolCall, ToolOutput
from inspector.disk import open_session
from inspector.errors import ReadError
from inspector.factpaths import PathFinder, canonical_path
from inspector.facts import KINDS, Facts, find_facts
from inspector.factshell import read_command
from inspector.facttools import fold, operation_of, unescape
from inspector.factwords import tidy_error
from inspector.session import Boundary, Entry, Session
from tests.shared import SHARED, needs_shared
from tests.strategies import sessions

CWD = "/home/ann/app"


def talk(*said: tuple[str, Block], cwd: str | None = CWD) -> Session:
    """A session of one block per entry: (role, block)."""
    entries = tuple(
        Entry(id=f"e{n}", parent=f"e{n - 1}" if n else None, role=role, blocks=(block,))
        for n, (role, block) in enumerate(said)
    )
    return Session(format="demo", cwd=cwd, entries=entries, leaf=entries[-1].id if entries else None)


def tell(text: str, role: str = "user") -> Facts:
    return find_facts(talk((role, Text(text=text))))


def call(name: str, **given: Any) -> Facts:
    return find_facts(talk(("assistant", ToolCall(id="c", name=name, input=given))))


def answer(text: str, command: str = "make", failed: bool = False) -> Facts:
    return find_facts(
        talk(
            ("assistant", ToolCall(id="c", name="Bash", input={"command": command})),
            ("tool", ToolOutput(call_id="c", parts=(Text(text=text),), is_error=failed)),
        )
    )


def forms(facts: Facts, kind: str) -> list[str]:
    return [fact.form for fact in facts.by_kind(kind)]


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("/home/ann/app/src/a.py", "src/a.py"),
        ("src/a.py:12:3", "src/a.py"),
        ("./src/../src/a.py", "src/a.py"),
        ("src/a.py#L10-L20", "src/a.py"),
        ("~/app/src/a.py", "src/a.py"),
        ("~/notes.md", "/home/ann/notes.md"),
        ("/etc/hosts", "/etc/hosts"),
        ("/home/ann/app2/a.py", "/home/ann/app2/a.py"),
        ("C:\\Users\\ann\\a.py", "C:/Users/ann/a.py"),
        ("src\\win\\a.py", "src/win/a.py"),
        ("/home/ann/app", "."),
        ("file:///home/ann/app/a.py", "a.py"),
    ],
)
def test_a_path_has_one_canonical_form(written: str, form: str) -> None:
    assert canonical_path(written, CWD) == form


def test_a_windows_directory_is_told_apart_from_case_only_by_its_own_rules() -> None:
    assert canonical_path("c:\\Work\\App\\src\\a.py", "C:\\work\\app") == "src/a.py"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see src/auth.py:12 and `tests/test_auth.py`.", ["src/auth.py", "tests/test_auth.py"]),
        ("open README.md, then /etc/nginx/nginx.conf", ["README.md", "/etc/nginx/nginx.conf"]),
        ("@src/a.ts is mine", ["src/a.ts"]),
        ('in "/home/ann/app/My Docs/a b.txt" it says', ["My Docs/a b.txt"]),
        ("C:\\Users\\x\\a.py fails", ["C:/Users/x/a.py"]),
        ("--- a/src/x.go\n+++ b/src/x.go", ["src/x.go"]),
        ("src/a.py-12-import os\nsrc/a.py:13:def f", ["src/a.py"]),
        ("資料/設計.md を読む", ["資料/設計.md"]),
        ("and/or, N/A, 1/2, read/write, 24/7, text/html", []),
        ("https://example.org/a/b.py is an address", []),
        ("console.log(x); self.map; e.g. Node.js; v1.2.3", []),
        ("import { a } from './b.js'", []),
        ("</div> and ${HOME}/x.py and src/*.py", []),
        ("github.com/a/b/c.go is a package", []),
    ],
)
def test_text_names_paths(text: str, found: list[str]) -> None:
    assert forms(tell(text), "file") == found


@pytest.mark.parametrize(
    ("name", "given", "path", "operation"),
    [
        ("Read", {"file_path": f"{CWD}/src/a.py"}, "src/a.py", "read"),
        ("read", {"path": "src/a.py"}, "src/a.py", "read"),
        ("Write", {"file_path": f"{CWD}/b", "content": "x"}, "b", "created"),
        ("MultiEdit", {"file_path": "a.py", "edits": []}, "a.py", "edited"),
        ("NotebookEdit", {"notebook_path": "n.ipynb"}, "n.ipynb", "edited"),
        ("Glob", {"pattern": "*.py", "path": "src"}, "src", "listed"),
        ("LS", {"path": f"{CWD}/src/"}, "src", "listed"),
        ("mcp__filesystem__read_file", {"path": "x/y.md"}, "x/y.md", "read"),
        ("mcp__fs__move_file", {"source": "a.md", "destination": "b.md"}, "a.md", "deleted"),
        ("str_replace_based_edit_tool", {"command": "view", "path": "/etc/hosts"}, "/etc/hosts", "read"),
        ("read_files", {"files": [{"path": "a.py"}, {"path": "b.py"}]}, "b.py", "read"),
        ("shell", {"command": ["bash", "-lc", "cat a.py"], "workdir": "sub"}, "sub/a.py", "read"),
        ("apply_patch", {"input": "*** Begin Patch\n*** Add File: n/new.py\n+x"}, "n/new.py", "created"),
        ("apply_patch", {"input": "*** Begin Patch\n*** Delete File: old.py\n"}, "old.py", "deleted"),
    ],
)
def test_what_a_tool_does_to_a_file_is_known_whatever_it_is_called(
    name: str, given: dict[str, Any], path: str, operation: str
) -> None:
    assert call(name, **given)["file", path].operations == (operation,)


def test_writing_a_file_that_was_read_edits_it() -> None:
    steps = [
        ToolCall(id=str(n), name=name, input={"file_path": "a.py"})
        for n, name in enumerate(["Read", "Write"])
    ]
    facts = find_facts(talk(*(("assistant", step) for step in steps)))
    assert facts["a.py"].operations == ("read", "edited")


def test_a_tool_without_a_known_verb_does_nothing_to_a_file() -> None:
    assert operation_of("browser_click") is None
    assert call("browser_click", path="shots/1.png")["shots/1.png"].operations == ()


@pytest.mark.parametrize(
    ("command", "touched"),
    [
        ("cat a.py b.py | head -3", [("a.py", "read"), ("b.py", "read")]),
        ("sed -n '1,20p' src/a.py", [("src/a.py", "read")]),
        ("sed -i '' 's/x/y/' a.py", [("a.py", "edited")]),
        ("head -n 5 a.txt; tail -20 b.txt", [("a.txt", "read"), ("b.txt", "read")]),
        ("grep -rn 'a b' src/", [("src/", "read")]),
        ("mv 'a b.py' c.py", [("a b.py", "deleted"), ("c.py", "created")]),
        ("cp -r a.py d/", [("a.py", "read"), ("d/", "created")]),
        (
            "rm -rf build && mkdir -p out/x && touch t.md",
            [("build", "deleted"), ("out/x", "created"), ("t.md", "created")],
        ),
        ("echo hi > a.log", [("a.log", "created")]),
        ("make >> b.log 2>&1", [("b.log", "edited")]),
        ("make 2>/dev/null | tee -a c.log", [("c.log", "edited")]),
        ("cat > x.md <<'EOF'\nrm -rf y.md\nEOF\nls", [("x.md", "created")]),
        ("git rm a.py; git mv b.py c.py", [("a.py", "deleted"), ("b.py", "deleted"), ("c.py", "created")]),
        ("python3 scripts/run.py --fast", [("scripts/run.py", "read")]),
        ("FOO=1 sudo cat /etc/hosts", [("/etc/hosts", "read")]),
        ("cat $FILE *.py $(ls x.py)", []),
        ("ls -la src", [("src", "listed")]),
    ],
)
def test_a_shell_command_tells_what_it_does_to_files(command: str, touched: list[tuple[str, str]]) -> None:
    assert [(one.path, one.operation) for one in read_command(command)] == touched
    for one in read_command(command):
        assert command[one.start : one.end] == one.path


def test_a_relative_path_after_cd_starts_there() -> None:
    facts = answer("lib/x.py:3: error: bad", command="cd sub && cat a.py")
    assert facts["file", "sub/a.py"].operations == ("read",)
    assert ("file", "sub/lib/x.py") in facts


def test_commands_are_run_by_tools_and_quoted_by_words() -> None:
    facts = call("Bash", command="pytest  -q\ttests/test_a.py")
    assert forms(facts, "command") == ["pytest -q tests/test_a.py"]
    assert facts["pytest -q tests/test_a.py"].operations == ("ran",)
    assert forms(tell("use `npm run check`, not `the other way`"), "command") == ["npm run check"]
    assert forms(tell("```bash\n$ make test\n```"), "command") == ["make test"]


@pytest.mark.parametrize(
    ("line", "form"),
    [
        ("TypeError: x is not a function", "TypeError: x is not a function"),
        ("E   AssertionError: assert 1 == 2", "AssertionError: assert 1 == 2"),
        (
            "src/a.ts(3,4): error TS2304: Cannot find name 'x'.",
            "src/a.ts(3,4): error TS2304: Cannot find name 'x'.",
        ),
        ("bash: foo: command not found", "bash: foo: command not found"),
        ("fatal: not a git repository", "fatal: not a git repository"),
        ("--- FAIL: TestLogin (0.01s)", "FAIL: TestLogin"),
        ("\x1b[31merror\x1b[0m: could not compile", "error: could not compile"),
        ("./x.go:12:3: undefined: y", "./x.go:12:3: undefined: y"),
    ],
)
def test_lines_that_report_an_error(line: str, form: str) -> None:
    assert form in forms(answer(f"building\n{line}\ndone"), "error")


def test_code_that_only_speaks_of_errors_is_no_error() -> None:
    code = "raise ValueError('x')\nexcept TypeError:\nreturn fmt.Errorf(x)\n0 errors found"
    assert forms(answer(code), "error") == []
    assert forms(answer("TypeError: in a log that is read", command="cat a.log"), "error") == []


def test_a_failed_output_tells_its_exit_code_and_what_went_wrong() -> None:
    facts = answer("Exit code 2\nsomething odd happened", failed=True)
    assert forms(facts, "error") == ["exit code 2", "something odd happened"]
    assert forms(answer("exited with code 0"), "error") == []


def test_symbols_are_what_code_defines_and_words_quote() -> None:
    code = "def load_user(x):\nclass Cart(Base):\nfunc (s *Store) Save(x int)\nfunction run() {\nfn main() {"
    assert set(forms(answer(code), "symbol")) == {"load_user", "Cart", "Save", "run", "main"}
    assert forms(tell("call `find_facts()` or `plainword`"), "symbol") == ["find_facts"]


def test_addresses_end_before_the_sentence_does() -> None:
    facts = tell("see (https://example.org/a_(b)?q=1#x), and https://x.dev/y.")
    assert forms(facts, "url") == ["https://example.org/a_(b)?q=1#x", "https://x.dev/y"]


def test_ids_are_commits_uuids_and_issues() -> None:
    text = "9b6bd9e fixes #42, ENT-109 and acme/shop#7; UTF-8, defaced, 1234567; "
    text += "0db2eb3b-5ed8-4b70-88c6-a3f7104eb251"
    assert set(forms(tell(text), "id")) == {
        *("9b6bd9e", "#42", "ENT-109", "acme/shop#7", "0db2eb3b-5ed8-4b70-88c6-a3f7104eb251"),
    }


def test_diff_heads_and_attributes_name_no_strange_paths() -> None:
    text = "12\tdiff --git a/src/x.go b/src/x.go\n13\tif s.cfg.Prune {"
    assert forms(answer(text, command="git diff"), "file") == ["src/x.go"]


def test_numbers_have_a_name() -> None:
    assert forms(tell("timeout = 30, coverage: 87 %; at 12:30 a.py:12"), "number") == [
        "timeout = 30",
        "coverage = 87 %",
    ]
    assert forms(answer("3 passed, 1 failed"), "number") == ["3 passed", "1 failed"]


def test_rules_are_the_users_and_decisions_anyones() -> None:
    text = "Fix it. Never touch the database! Is that always so? We chose sqlite because it is small."
    assert forms(tell(text), "constraint") == ["Never touch the database!"]
    assert forms(tell(text), "decision") == ["We chose sqlite because it is small."]
    assert forms(tell(text, "assistant"), "constraint") == []
    reminded = tell("ok\n<system-reminder>You must never say this.</system-reminder>\nalways use uv")
    assert forms(reminded, "constraint") == ["always use uv"]


def test_todos_are_those_still_open() -> None:
    todos = [{"content": "write tests", "status": "pending"}, {"content": "read", "status": "completed"}]
    assert forms(call("TodoWrite", todos=todos), "todo") == ["write tests"]
    assert forms(tell("- [ ] ship it\n- [x] build\nTODO: rename"), "todo") == ["ship it", "rename"]


def test_text_of_a_recorded_summary_is_kept_apart() -> None:
    summary = Entry(
        id="s",
        parent="a",
        role="user",
        kind="compaction",
        boundary=Boundary(),
        blocks=(Text(text="did src/b.py"),),
    )
    first = Entry(id="a", role="user", blocks=(Text(text="read src/a.py"),))
    facts = find_facts(Session(format="demo", cwd=CWD, entries=(first, summary), leaf="s"))
    assert list(facts) == [("file", "src/a.py")]
    assert list(facts.summaries) == [("file", "src/b.py")]
    assert facts.summaries["src/b.py"].said[0].by == "summary"


def test_a_fact_is_found_by_form_by_kind_and_form_and_by_any_way_to_write_its_path() -> None:
    facts = tell("see src/a.py and src/b.py, again src/a.py")
    fact = facts[f"{CWD}/src/a.py"]
    assert fact.form == facts["src/a.py"].form == facts["file", "src/a.py"].form == "src/a.py"
    assert [said.start for said in fact.said] == [4, 33]
    assert "nowhere.py" not in facts and ("url", "src/a.py") not in facts
    assert repr(facts) == "Facts(2 files; said 3×)"


def check_laws(session: Session) -> Facts:
    facts = find_facts(session)
    order = {position: n for n, position in enumerate(session.path)}
    for told in (facts, facts.summaries):
        assert sum(told.counts.values()) == len(told)
        for fact in told.values():
            assert fact.kind in KINDS and 0 < len(fact.form) <= 400
            assert len(fact.said) == len(fact) > 0
            places = [
                (order[session.index[said.ref.entry]], said.ref.block, said.start) for said in fact.said
            ]
            assert places == sorted(places)
            for said in fact.said:
                block = session.block(said.ref)
                assert 0 <= said.start < said.end <= len(block.text)
                text = block.text[said.start : said.end]
                assert reads_as(fact.kind, decode(text) if block.kind == "tool_call" else text, fact.form)
    return facts


def decode(text: str) -> str:
    """Part of a call's JSON as the characters it stands for."""
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return unescape(text)


def reads_as(kind: str, text: str, form: str) -> bool:
    """Whether the text at a span is the fact, as far as the span alone can tell."""
    if kind == "file":
        return canonical_path(text).rsplit("/", 1)[-1] == form.rsplit("/", 1)[-1] or form == "."
    if kind == "error":
        return tidy_error(text) == form or form in fold(text) or form.rsplit(" ", 1)[-1] in text
    if kind == "number":
        return text.endswith(form.rsplit(" ", 1)[-1])
    return fold(text)[:60] == form[:60]


@given(sessions())
@settings(max_examples=40, deadline=None)
def test_every_span_reads_as_its_fact_and_stands_in_path_order(session: Session) -> None:
    unique = len({entry.id for entry in session.entries}) == len(session.entries)
    if unique:
        check_laws(session)


@given(sessions())
@settings(max_examples=20, deadline=None)
def test_facts_are_the_same_every_time(session: Session) -> None:
    one, two = find_facts(session), find_facts(session)
    assert list(one) == list(two)
    for name in ("fact", "entry", "block", "start", "end", "by", "operation", "offset"):
        assert np.array_equal(getattr(one, name), getattr(two, name))


HOSTILE = (
    *("a/", "/..", '"/ ', "'", "must ", "error ", "://", "a1", "-1", "#1", "`a b", "func (", "=1", "$("),
    *(
        "cat <<A\n",
        "- [ ] ",
        ".py",
        "exit code ",
        "we decided. ",
        "12345678-1234-",
        ": 1",
        "@",
        "\x1b[",
        "\\",
    ),
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_no_text_is_slow(piece: str) -> None:
    """Four times the text takes at most some four times as long: nothing backtracks without bound."""

    def spend(size: int) -> float:
        text = piece * (size // len(piece))
        session = talk(
            ("user", Text(text=text)), ("assistant", ToolCall(id="c", name="bash", input={"command": text}))
        )
        start = time.perf_counter()
        find_facts(session)
        return time.perf_counter() - start

    small, large = min(spend(50_000) for _ in range(2)), spend(200_000)
    assert large < 10 * small + 0.5


def test_a_huge_path_is_no_fact() -> None:
    assert len(PathFinder(None)._verdicts) == 0
    assert forms(tell("src/" + "a" * 500 + ".py"), "file") == []


def real_sessions() -> list[Session]:
    found = []
    for path in sorted((SHARED / "sessions").rglob("*")):
        if path.suffix in (".json", ".jsonl"):
            try:
                found.append(open_session(path))
            except ReadError:
                continue
    return found


@needs_shared
def test_every_path_that_arguments_name_is_found_in_real_sessions() -> None:
    named = 0
    for session in real_sessions():
        facts = find_facts(session)
        for position in session.path:
            for at, block in enumerate(session.entries[position].blocks):
                if block.kind != "tool_call" or not isinstance(block.input, dict):
                    continue
                for key in ("file_path", "path", "notebook_path"):
                    path = block.input.get(key)
                    if isinstance(path, str) and path:
                        fact = facts["file", canonical_path(path, session.cwd)]
                        ref = (session.entries[position].id, at)
                        assert any(tuple(said.ref) == ref and said.by == "model" for said in fact.said)
                        named += 1
    assert named > 1500


@needs_shared
def test_the_laws_hold_on_real_sessions() -> None:
    names = ("cc-3auto-compactions-893l.jsonl", "pi-before-compaction.jsonl", "cc-cjk159.jsonl")
    for name in names:
        path = next((SHARED / "sessions").rglob(name))
        assert len(check_laws(open_session(path))) > 100
