"""Facts of tool arguments: files and what is done to them, commands, todos."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.facts.lint.check import lint
from inspector.session.toolcalls.shell import read_command
from tests.telling import CWD, answer, call, compact, forms, tell, use
from tests.test_cuts import build, say, user


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
        ("apply_patch", {"patchText": "*** Begin Patch\n*** Update File: a.py\n"}, "a.py", "edited"),
        ("shell", {"command": ["apply_patch", "*** Begin Patch\n*** Add File: b.py\n"]}, "b.py", "created"),
        ("exec_command", {"cmd": "sed -n '1,9p' a.py", "workdir": f"{CWD}/sub"}, "sub/a.py", "read"),
        ("local_shell", {"command": ["cat", "a b.py"]}, "a b.py", "read"),
        ("execute_command", {"command": "cat a.py"}, "a.py", "read"),
        ("replace_in_file", {"path": "a.py", "diff": "x"}, "a.py", "edited"),
        ("run_shell_command", {"command": "rm a.py"}, "a.py", "deleted"),
        ("read_many_files", {"paths": ["a.py"]}, "a.py", "read"),
        ("replace_string_in_file", {"filePath": f"{CWD}/a.py"}, "a.py", "edited"),
        ("multi_replace_string_in_file", {"replacements": [{"filePath": "a.py"}]}, "a.py", "edited"),
        ("run_in_terminal", {"command": "cat a.py"}, "a.py", "read"),
        ("view", {"path": f"{CWD}/a.py"}, "a.py", "read"),
        ("use_mcp_tool", {"tool_name": "delete_file", "arguments": {"path": "a.py"}}, "a.py", "deleted"),
        ("fs_read", {"operations": [{"mode": "Line", "path": "a.py"}]}, "a.py", "read"),
        ("Grep", {"pattern": "x", "path": "src/a.py"}, "src/a.py", "read"),
        ("Read", {"file_path": "C:\\app\\a.py"}, "C:/app/a.py", "read"),
        ("Read", {"file_path": "~/app/a.py"}, "a.py", "read"),
    ],
)
def test_what_a_tool_does_to_a_file_is_known_whatever_it_is_called(
    name: str, given: dict[str, Any], path: str, operation: str
) -> None:
    assert call(name, **given)["file", path].operations == (operation,)


@pytest.mark.parametrize(
    ("command", "touched"),
    [
        ("cat a.py b.py | head -3", [("a.py", "read"), ("b.py", "read")]),
        ("sed -n '1,20p' src/a.py", [("src/a.py", "read")]),
        ("sed -i '' 's/x/y/' a.py", [("a.py", "edited")]),
        ("head -n 5 a.txt; tail -20 b.txt", [("a.txt", "read"), ("b.txt", "read")]),
        ("grep -rn 'a b' src/", [("src/", "listed")]),
        ("grep -r x src a.py", [("src", "listed"), ("a.py", "read")]),
        ("go vet ./cmd/...", []),
        ("bun add @types/node react@18 && go doc github.com/a/b/c.Type", []),
        ("type C:\\app\\a.txt; del D:\\b.log", [("C:\\app\\a.txt", "read"), ("D:\\b.log", "deleted")]),
        ("mv 'a b.py' c.py", [("a b.py", "deleted"), ("c.py", "created")]),
        ("cp -r a.py d/", [("a.py", "read"), ("d/", "created")]),
        (
            "rm -rf build && mkdir -p out/x && touch t.md",
            [("build", "deleted"), ("out/x", None), ("t.md", "created")],
        ),
        ("echo hi > a.log", [("a.log", "created")]),
        ("make >> b.log 2>&1", [("b.log", "edited")]),
        ("make 2>/dev/null | tee -a c.log", [("c.log", "edited")]),
        ("cat > x.md <<'EOF'\nrm -rf y.md\nEOF\nls", [("x.md", "created")]),
        ("git rm a.py; git mv b.py c.py", [("a.py", "deleted"), ("b.py", "deleted"), ("c.py", "created")]),
        ("python3 scripts/run.py --fast", [("scripts/run.py", "ran")]),
        ("python -m pytest tests/ -v", [("tests/", None)]),
        ("python -m py_compile a.py", [("a.py", None)]),
        ("uv run python -m mypy src/a.py", [("src/a.py", None)]),
        ("cd x && python3 -Im json.tool a.json", [("a.json", None)]),
        ("python -mpytest tests/a.py", [("tests/a.py", None)]),
        ('python -c "import x" a.py', [("a.py", None)]),
        ("python a.py -m b.py -c c.py", [("a.py", "ran"), ("b.py", None), ("c.py", None)]),
        ("bash -lc 'ls' a.sh; bash -e b.sh c.txt", [("a.sh", None), ("b.sh", "ran"), ("c.txt", None)]),
        ("node --eval='1' a.js; node -e '1' b.js", [("a.js", None), ("b.js", None)]),
        ("perl -pi -e 's/x/y/' a.txt; ruby b.rb -e", [("a.txt", None), ("b.rb", "ran")]),
        ("FOO=1 sudo cat /etc/hosts", [("/etc/hosts", "read")]),
        ("cat $FILE *.py $(ls x.py)", []),
        ("ls -la src", [("src", "listed")]),
    ],
)
def test_a_shell_command_tells_what_it_does_to_files(command: str, touched: list[tuple[str, str]]) -> None:
    assert [(one.path, one.operation) for one in read_command(command)] == touched
    for one in read_command(command):
        assert command[one.start : one.end] == one.path


PROGRAMS = ("python", "python3", "uv run python", "node", "bash", "sh", "perl", "ruby", "deno", "bun", "tsx")
PROGRAMS += (
    "cat",
    "git diff",
    "git rm",
    "sed -i",
    "grep -r",
    "cp",
    "mv",
    "find",
    "tee",
    "black",
    "cd",
    "type",
)
WORDS = ("-m", "-c", "-e", "-lc", "-mpytest", "--eval", "-", "--", "pytest", "'x y'", '"$A"', "$(cat d.py)")
WORDS += ("a.py", "src/b.py", "tests/", "a.py", "HEAD:a.py", "1", "> out.txt", "< in.txt", "2>&1", "")


@given(
    st.lists(
        st.tuples(
            st.sampled_from(("", "FOO=1 ", "sudo ", "time ")),
            st.sampled_from(PROGRAMS),
            st.lists(st.sampled_from(WORDS), max_size=5),
            st.sampled_from((" && ", "; ", " | ", "\n", " || ")),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_a_word_of_a_command_names_one_file_with_one_operation(
    commands: list[tuple[str, str, list[str], str]],
) -> None:
    """Every command yields facts, and no two files have the same span."""
    command = "".join(f"{lead}{name} {' '.join(words)}{joint}" for lead, name, words, joint in commands)
    spans = [(touched.start, touched.end) for touched in read_command(command)]
    assert len(spans) == len(set(spans))
    assert all(0 <= start < end <= len(command) for start, end in spans)
    for argument in (command, ["bash", "-lc", command], command.split(" ")):
        facts = call("Bash", command=argument).by_kind("command")
        assert facts or not command.strip()


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
    block = "```sh\n# all of it\ntool build --fast \\\n  --all   # slow\ncurl https://a.dev/x\n```"
    assert forms(tell(block), "command") == ["tool build --fast --all", "curl https://a.dev/x"]
    assert forms(tell("First run `tool reset` or Run npm ci --quiet to start"), "command") == [
        "tool reset",
        "npm ci --quiet",
    ]
    assert forms(tell("<bash-input>git pull --rebase</bash-input>"), "command") == ["git pull --rebase"]


def test_todos_are_those_still_open() -> None:
    todos = [{"content": "write tests", "status": "pending"}, {"content": "read", "status": "completed"}]
    assert forms(call("TodoWrite", todos=todos), "todo") == ["write tests"]
    assert forms(tell("- [ ] ship it\n- [x] build\nTODO: rename"), "todo") == ["ship it", "rename"]
    assert forms(tell("packages with - [ ] to keep track"), "todo") == []
    assert forms(answer("## Plan\n- [ ] write the docs"), "todo") == ["write the docs"]
    boxes = call("update_todo_list", todos="[ ] write tests\n[-] run them\n[x] read")
    assert forms(boxes, "todo") == ["write tests", "run them"]
    assert forms(call("TaskUpdate", taskId="1", status="completed", description="all of it"), "todo") == []


NO = "The user doesn't want to proceed with this tool use. The tool use was rejected. STOP and wait."


@pytest.mark.parametrize(
    ("name", "given", "said", "form", "done"),
    [
        ("Write", {"file_path": "/app/new.py"}, NO, "new.py", ()),
        ("Edit", {"file_path": "/app/old.py"}, "String to replace not found in file.", "old.py", ()),
        ("Bash", {"command": "rm src/dead.py"}, NO, "src/dead.py", ()),
        ("Bash", {"command": "rm src/dead.py"}, "rm: src/dead.py: busy", "src/dead.py", ("deleted",)),
    ],
)
def test_a_call_that_was_refused_or_failed_only_names_its_files(
    name: str, given: dict[str, str], said: str, form: str, done: tuple[str, ...]
) -> None:
    session = build(*use(1, name, said, True, **given)).model_copy(update={"cwd": "/app"})
    assert session.facts["file", form].operations == done


def test_a_command_that_was_refused_was_never_run_and_its_refusal_is_no_error() -> None:
    session = build(*use(1, "Bash", NO, True, command="npm test"), compact("Nothing yet."))
    assert session.facts["command", "npm test"].operations == ()
    assert session.facts.by_kind("error") == ()
    assert session.facts.by_kind("constraint") == ()
    assert not lint(session, rules="CI005")


@pytest.mark.parametrize(("known", "form"), [("src/a.py", "src/a.py"), ("src/b.py", "lib/src/a.py")])
def test_in_another_folder_a_path_that_is_known_from_the_session_s_own_is_that(known: str, form: str) -> None:
    steps = *use(1, "Read", file_path=known), *use(2, "Bash", "see src/a.py", command="cd lib && pytest")
    session = build(user("go"), *steps, say()).model_copy(update={"cwd": CWD})
    assert form in [fact.form for fact in session.facts.by_kind("file")]
