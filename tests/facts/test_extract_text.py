"""Facts of running text: what counts as one, and what only looks like one."""

from __future__ import annotations

import pytest

from inspector.session.toolcalls.canonical_path import canonical_path
from tests.telling import CWD, answer, call, forms, tell


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


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see src/auth.py:12 and `tests/test_auth.py`.", ["src/auth.py", "tests/test_auth.py"]),
        ("open README.md, then /etc/nginx/nginx.conf", ["README.md", "/etc/nginx/nginx.conf"]),
        ("@src/a.ts is mine", ["src/a.ts"]),
        ('in "/home/ann/app/My Docs/a b.txt" it says', ["My Docs/a b.txt"]),
        ("/home/ann/My\\ Shots/a\\ b.png dropped", ["/home/ann/My Shots/a b.png"]),
        ("[Image: source: /home/ann/Desk top/a b.png]", ["/home/ann/Desk top/a b.png"]),
        (
            "look at ~/Desktop/Screenshot 2026-01-12 at 3.04.05\u202fPM.png please",
            ["/home/ann/Desktop/Screenshot 2026-01-12 at 3.04.05\u202fPM.png"],
        ),
        ("C:\\Users\\x\\a.py fails", ["C:/Users/x/a.py"]),
        ("--- a/src/x.go\n+++ b/src/x.go", ["src/x.go"]),
        ("src/a.py-12-import os\nsrc/a.py:13:def f", ["src/a.py"]),
        ("資料/設計.md を読む", ["資料/設計.md"]),
        ("and/or, N/A, 1/2, read/write, 24/7, text/html", []),
        ("https://example.org/a/b.py is an address", []),
        ("console.log(x); self.map; e.g. Node.js; v1.2.3", []),
        ("import { a } from './b.js'", []),
        ("git log origin/main..HEAD, v1.2.3...v1.3.0, feat/a...main", []),
        ("GET /metadata.json and /users.json; main.ts/cli.ts", []),
        ("</div> and ${HOME}/x.py and src/*.py", []),
        ("github.com/a/b/c.go is a package", []),
        ("/app/ent-109/src/a.py-12-\tx = 1", ["/app/ent-109/src/a.py"]),
        ('only ".json" and "src/.mjs" are suffixes; file%d.go is a pattern', []),
        ('<id>/0/a.json and dir + "/a.json" are pieces, <f>/etc/a.conf</f> is none', ["/etc/a.conf"]),
        ("1. **store.go** and **src/a.py:3** are bold, **/x.py is a glob", ["store.go", "src/a.py"]),
        ("`app.log`, `console.log` and x.log", ["app.log"]),
        ("go.mod, Cargo.lock, Makefile and .gitignore", ["go.mod", "Cargo.lock", "Makefile", ".gitignore"]),
        ("in a components/ directory; `src/lib/`; (types/, etc.)", ["components", "src/lib", "types"]),
        ("├── core/ and and/ or `refs/heads/` or `feature/x/`", ["core"]),
        ("`/src/hooks/` and /path/to/repo but `/api/users/`", ["/src/hooks", "/path/to/repo"]),
        ("run ./cmd/... on all, fraction.js@5.3.4, a.go+b.go, /home/ann/exam...", []),
    ],
)
def test_text_names_paths(text: str, found: list[str]) -> None:
    assert forms(tell(text), "file") == found


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
        ("FAIL", "FAIL"),
        ("[test:ci] ERROR task failed", "[test:ci] ERROR task failed"),
        ("[Routes] Error in POST /api: no body", "[Routes] Error in POST /api: no body"),
        ("npm error code 2", "npm error code 2"),
        ("CONFLICT (content): Merge conflict in a.go", "CONFLICT (content): Merge conflict in a.go"),
        ("  × Formatter would have printed this:", "Formatter would have printed this:"),
        ("Found 3 errors.", "Found 3 errors."),
        ("    a_test.go:12: count = 7, want 6", "a_test.go:12: count = 7, want 6"),
        ("jq: parse error: invalid literal", "jq: parse error: invalid literal"),
        ("thread 'main' panicked at src/a.rs:3:5:", "thread 'main' panicked at src/a.rs:3:5:"),
        ("gh: Not Found (HTTP 404)", "gh: Not Found (HTTP 404)"),
        ("make: *** [Makefile:3: all] Error 1", "make: *** [Makefile:3: all] Error 1"),
    ],
)
def test_lines_that_report_an_error(line: str, form: str) -> None:
    assert form in forms(answer(f"building\n{line}\ndone"), "error")


def test_a_failed_output_tells_its_exit_code_and_what_went_wrong() -> None:
    facts = answer("Exit code 2\nsomething odd happened", failed=True)
    assert forms(facts, "error") == ["exit code 2", "something odd happened"]
    assert forms(answer("exited with code 0"), "error") == []
    assert forms(answer('ok\nerror: script "lint" exited with code 1'), "error") == [
        'error: script "lint" exited with code 1'
    ]


def test_symbols_are_what_code_defines_and_words_quote() -> None:
    code = "def load_user(x):\nclass Cart(Base):\nfunc (s *Store) Save(x int)\nfunction run() {\nfn main() {"
    assert set(forms(answer(code), "symbol")) == {"load_user", "Cart", "Save", "run", "main"}
    quoted = tell("call `find_facts()`, `Session.open(path)` or `plainword`, not `git`, `true` or `a.py`")
    assert forms(quoted, "symbol") == ["find_facts", "Session.open", "plainword"]
    assert forms(answer("x = store.load()"), "symbol") == ["store.load"]
    assert forms(tell("TestLogin fails, test_login too; an *TestEnv is none"), "symbol") == [
        "TestLogin",
        "test_login",
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[https://x.dev/a](<https://x.dev/a>)", ["https://x.dev/a"]),
        ("[https://b.dev](https://b.dev)", ["https://b.dev"]),
        ("[https://b.dev](https://c.dev/d_(e)).", ["https://b.dev", "https://c.dev/d_(e)"]),
        ("[the page](https://b.dev/x), (see https://c.dev/y[1])", ["https://b.dev/x", "https://c.dev/y[1]"]),
        ("見る：https://b.dev/x。次に（https://c.dev）", ["https://b.dev/x", "https://c.dev"]),
        ("(https://b.dev/( and", ["https://b.dev/"]),
    ],
)
def test_an_address_ends_where_its_markdown_does(text: str, found: list[str]) -> None:
    facts = tell(text)
    assert forms(facts, "url") == found
    for fact in facts.by_kind("url"):
        assert all(text[said.start : said.end] == fact.form for said in fact.said)


def test_ids_are_commits_uuids_and_issues() -> None:
    text = "9b6bd9e fixes #42, ENT-109 and acme/shop#7; UTF-8, defaced, 1234567; "
    text += "0db2eb3b-5ed8-4b70-88c6-a3f7104eb251 task #3 "
    assert set(forms(tell(text), "id")) == {
        *("9b6bd9e", "#42", "ENT-109", "acme/shop#7", "0db2eb3b-5ed8-4b70-88c6-a3f7104eb251")
    }


def test_numbers_have_a_name() -> None:
    assert forms(tell("timeout = 30, coverage: 87 %; at 12:30 a.py:12"), "number") == [
        "timeout = 30",
        "coverage = 87 %",
    ]
    assert forms(answer("3 passed, 1 failed"), "number") == ["3 passed", "1 failed"]
    assert forms(tell("some 1100 lines; StepCount→1; id: 7 and line: 3 are none"), "number") == [
        "1100 lines",
        "StepCount = 1",
    ]
    run = call("Bash", command="go test -count=1 -timeout 30s", timeout=60000)
    assert set(forms(run, "number")) == {"count = 1", "timeout = 30s", "timeout = 60000"}


def test_a_number_whose_name_says_nothing_is_no_fact() -> None:
    assert forms(tell("read it: 4, i = 7, startLine: 12, retries: 3, n: 40 %"), "number") == [
        "retries = 3",
        "n = 40 %",
    ]
    code = "let hits = 0;\nconst maxPages = 0;\nlet limit = 5;"
    assert forms(answer(code, command="cat a.ts"), "number") == ["maxPages = 0", "limit = 5"]
    header = "Chunk ID: 8a12c8\nWall time: 0.0023 seconds\nOriginal token count: 178\nOutput:\n"
    assert forms(answer(f"{header}coverage: 87%", command="make"), "number") == ["coverage = 87%"]


def test_rules_and_choices_are_the_users_and_decisions_the_models() -> None:
    text = "Fix it. Never touch the database! Is that always so? We chose sqlite because it is small."
    assert forms(tell(text), "constraint") == ["Never touch the database!"]
    assert forms(tell(text), "choice") == ["We chose sqlite because it is small."]
    assert forms(tell(text, "assistant"), "decision") == ["We chose sqlite because it is small."]
    assert forms(tell(text), "decision") == forms(tell(text, "assistant"), "constraint") == []
    reminded = tell("ok\n<system-reminder>You must never say this.</system-reminder>\nalways use uv")
    assert forms(reminded, "constraint") == ["You must never say this.", "always use uv"]
    assert [fact.said[0].by for fact in reminded.by_kind("constraint")] == ["harness", "user"]


def test_reminders_in_an_output_are_the_harness_s_words_and_no_part_of_the_file() -> None:
    text = "depth = 1\n<system-reminder>\nYou must never run this.\n</system-reminder>\npages = 2"
    facts = answer(text, command="cat a.py")
    (rule,) = facts.by_kind("constraint")
    assert (rule.form, rule.said[0].by, rule.said[0].ref.block) == ("You must never run this.", "harness", 0)
    assert text[rule.said[0].start : rule.said[0].end] == rule.form
    assert forms(facts, "number") == ["depth = 1", "pages = 2"]
    shown = answer('1: print("<system-reminder>You must not.</system-reminder>")', command="cat a.py")
    assert forms(shown, "constraint") == []
