"""Facts of running text: what counts as one, and what only looks like one."""

from __future__ import annotations

import pytest

from inspector.facts.facts import find_facts
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.toolcalls.call_paths import canonical_path
from tests.shared import SHARED, needs_shared, open_shared
from tests.telling import CWD, answer, call, forms, talk, tell


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


def test_code_that_only_speaks_of_errors_is_no_error() -> None:
    code = "raise ValueError('x')\nexcept TypeError:\nreturn fmt.Errorf(x)\n0 errors found"
    assert forms(answer(code), "error") == []
    assert forms(answer("Warning: error handling is off\nerror @ chunk.js\nFound 0 errors."), "error") == []
    assert forms(answer("TypeError: in a log that is read", command="cat a.log"), "error") == []


def test_a_failed_output_tells_its_exit_code_and_what_went_wrong() -> None:
    facts = answer("Exit code 2\nsomething odd happened", failed=True)
    assert forms(facts, "error") == ["exit code 2", "something odd happened"]
    assert forms(answer("exited with code 0"), "error") == []
    assert forms(answer('ok\nerror: script "lint" exited with code 1'), "error") == [
        'error: script "lint" exited with code 1'
    ]


def test_what_a_command_prints_before_it_fails_is_no_error() -> None:
    printed = "Exit code 1\nFrom github.com:a/b\n * branch main\nAuto-merging a.go\nAuto-merging b.go"
    assert forms(answer(printed, failed=True), "error") == ["exit code 1"]


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


def test_addresses_end_before_the_sentence_does() -> None:
    facts = tell("see (https://example.org/a_(b)?q=1#x), and https://x.dev/y.")
    assert forms(facts, "url") == ["https://example.org/a_(b)?q=1#x", "https://x.dev/y"]
    traced = "at f (http://localhost:3000/a.js:12:7) in http://localhost:3000, https://a.dev/users{/name}"
    assert forms(tell(traced), "url") == [
        "http://localhost:3000/a.js",
        "http://localhost:3000",
        "https://a.dev/users{/name}",
    ]
    assert forms(tell("clone git@github.com:a/b.git."), "url") == ["git@github.com:a/b.git"]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Please, never edit the lock file by hand.", "never edit the lock file by hand."),
        ("**Important**: never edit **the lock file by hand.", "never edit the lock file by hand."),
        ("Never call `run` in `tests/.", "Never call `run` in tests/."),
    ],
)
def test_a_sentence_has_no_comma_before_it_and_no_half_of_a_mark(text: str, form: str) -> None:
    (rule,) = forms(tell(text), "constraint")
    assert rule.endswith(form)
    assert rule.count("**") % 2 == rule.count("`") % 2 == 0


@needs_shared
def test_on_a_real_session_no_sentence_begins_or_ends_with_half_a_mark() -> None:
    session = open_shared(SHARED / "sessions" / "claude-code--context-evaluator" / "cc-1compact-417l.jsonl")
    facts = find_facts(session)
    every = [*facts.values(), *facts.summaries.values()]
    sentences = [fact.form for fact in every if fact.kind in ("constraint", "decision", "todo")]
    assert len(sentences) > 10
    odd = [form for form in sentences if form.count("**") % 2 or form.count("`") % 2 or form[0] in ",;:.)"]
    assert odd == []


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
        *("9b6bd9e", "#42", "ENT-109", "acme/shop#7", "0db2eb3b-5ed8-4b70-88c6-a3f7104eb251"),
    }


def test_blobs_digests_and_the_uuids_of_logs_are_no_ids() -> None:
    log = (
        "index 1c1f7d3a..5bb54271 100644\nsession_id=0db2eb3b-5ed8-4b70-88c6-a3f7104eb251\nsha256:"
        + "ab12" * 16
    )
    assert forms(answer(log), "id") == []


def test_diff_heads_and_attributes_name_no_strange_paths() -> None:
    text = "12\tdiff --git a/src/x.go b/src/x.go\n13\tif s.cfg.Prune {"
    assert forms(answer(text, command="git diff"), "file") == ["src/x.go"]


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


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "`StepCount` stays at 1. A limit of 50. MaxSize is 30.",
            ["StepCount = 1", "limit = 50", "MaxSize = 30"],
        ),
        ('<img width=\\"99\\"> and {"total": "12"}', ["width = 99", "total = 12"]),
        ("a 200ms timeout, a 30-second timeout", ["200ms timeout", "30-second timeout"]),
        ("3 failing tests, 4 open issues, 2 of tests", ["3 failing tests", "4 open issues"]),
        ("x == 3, the score is 4, since 5 things, w = -2", ["w = -2"]),
    ],
)
def test_numbers_are_told_in_words_too(text: str, found: list[str]) -> None:
    assert sorted(forms(tell(text), "number")) == sorted(found)


def test_numbers_are_found_in_files_and_listings() -> None:
    assert forms(answer("12:\tCount: 1,", command="grep -n Count src/a.go"), "number") == ["Count = 1"]
    assert forms(answer("RETRIES = 5", command="cat src/a.py"), "number") == ["RETRIES = 5"]


def test_rules_and_choices_are_the_users_and_decisions_the_models() -> None:
    text = "Fix it. Never touch the database! Is that always so? We chose sqlite because it is small."
    assert forms(tell(text), "constraint") == ["Never touch the database!"]
    assert forms(tell(text), "choice") == ["We chose sqlite because it is small."]
    assert forms(tell(text, "assistant"), "decision") == ["We chose sqlite because it is small."]
    assert forms(tell(text), "decision") == forms(tell(text, "assistant"), "constraint") == []
    reminded = tell("ok\n<system-reminder>You must never say this.</system-reminder>\nalways use uv")
    assert forms(reminded, "constraint") == ["You must never say this.", "always use uv"]
    assert [fact.said[0].by for fact in reminded.by_kind("constraint")] == ["harness", "user"]


def test_a_rule_is_told_and_not_reported() -> None:
    told = "I never saw it. It always fails. I don't think so. Please don't touch a.py! (never push)"
    told += " Use uv, not pip."
    assert forms(tell(told), "constraint") == ["Please don't touch a.py!", "never push", "Use uv, not pip."]


@pytest.mark.parametrize(
    "rule",
    [
        "The label should say Rules, not just Rule",
        "Wrap only the tree in a provider",
        "Use `resetCSS` to prevent style changes",
        "Fetch the comments before replying",
        "The rest needs to be kept",
        "we don't use default exports",
        "no new dependencies",
        "let's just limit it to 20 for now",
        "请不要改动数据库",
        "テストは必ず実行",
    ],
)
def test_orders_that_limit_and_what_should_be_are_rules(rule: str) -> None:
    assert forms(tell(f"Hello there. {rule}.\nThanks"), "constraint") == [f"{rule}."]


@pytest.mark.parametrize(
    "told",
    [
        "It only checks the branch",
        "It ran before I pushed",
        "I should be able to see it",
        "This should work",
        "Should we keep it",
        "There are no new errors",
        'it("should render the list")',
        "The logs leave no doubt",
        "I don't think this is working as it should",
        "Keep in mind that files may be changed before they are committed",
        "It is fine if we don't need to commit",
        "The limit was raised to 20",
    ],
)
def test_what_is_only_told_is_no_rule(told: str) -> None:
    assert forms(tell(f"Hello there. {told}.\nThanks"), "constraint") == []


def test_a_tag_ends_a_sentence_and_is_no_word_of_it() -> None:
    text = "<command-args>keep each commit small please (no broken state)</command-args> Generated files"
    assert forms(tell(text + " may not be edited."), "constraint") == [
        "keep each commit small please (no broken state)",
        "Generated files may not be edited.",
    ]


def test_reminders_in_an_output_are_the_harness_s_words_and_no_part_of_the_file() -> None:
    text = "x = 1\n<system-reminder>\nYou must never run this.\n</system-reminder>\ny = 2"
    facts = answer(text, command="cat a.py")
    (rule,) = facts.by_kind("constraint")
    assert (rule.form, rule.said[0].by, rule.said[0].ref.block) == ("You must never run this.", "harness", 0)
    assert text[rule.said[0].start : rule.said[0].end] == rule.form
    assert forms(facts, "number") == ["x = 1", "y = 2"]
    shown = answer('1: print("<system-reminder>You must not.</system-reminder>")', command="cat a.py")
    assert forms(shown, "constraint") == []


def test_reasons_alone_are_no_decisions_and_clauses_stand_alone() -> None:
    text = "It fails because it is old. Keep the old ones since they are small. This is simpler but wrong. "
    text += "Bigger icons, and the button uses blue instead of red. I need to check why, since it fails."
    assert forms(tell(text, "assistant"), "decision") == [
        "Keep the old ones since they are small.",
        "Bigger icons, and the button uses blue instead of red.",
    ]


def test_a_decision_settles_and_does_not_weigh() -> None:
    text = "I'll use sets instead of lists. Maybe we could use lists instead of sets. It fails because of "
    text += "a typo. Let me patch it here since the parser is fragile. Should we use X instead of Y?"
    assert forms(tell(text, "assistant"), "decision") == [
        "I'll use sets instead of lists.",
        "Let me patch it here since the parser is fragile.",
    ]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ('{"error": {"code": 7, "message": "No such bucket"}}', ["No such bucket"]),
        (
            '{"error":"invalid_grant","error_description":"Token has expired"}',
            ["invalid_grant", "Token has expired"],
        ),
        ('{"message":"Bad credentials","docs":"https://x.dev","status":"401"}', ["Bad credentials"]),
        ('{"errors":[{"path":"a","message":"must be a string"}]}', ["must be a string"]),
        ('{\\"error\\":{\\"message\\":\\"max_tokens too large\\"}}', ["max_tokens too large"]),
        ("< HTTP/2 503 \nbody", ["HTTP/2 503"]),
        ('{"error": null, "message": "all fine", "status": 200}', []),
        ('{"message": "checkpoint skipped (no changes)", "errors": []}', []),
    ],
)
def test_a_body_that_tells_of_an_error_needs_no_flag(body: str, found: list[str]) -> None:
    facts = answer(body, command="curl -s https://x.dev/api")
    assert forms(facts, "error") == found
    for fact in facts.by_kind("error"):
        assert all(body[said.start : said.end] == fact.form for said in fact.said)
    assert forms(answer(body, command="cat a.json"), "error") == []


def test_what_the_model_quotes_as_an_error_is_one_where_the_output_holds_it() -> None:
    run = ToolCall(id="c", name="Bash", input={"command": "./deploy"})
    output = ToolOutput(call_id="c", parts=(Text(text="step 1 ok\npeer closed the channel early\n"),))
    talked = 'It fails with `peer closed the channel early`; the docs say "peer is gone for good".'
    facts = find_facts(talk(("assistant", run), ("tool", output), ("assistant", Text(text=talked))))
    (error,) = facts.by_kind("error")
    assert error.form == "peer closed the channel early"
    assert [(said.ref.entry, said.by) for said in error.said] == [("e1", "tool"), ("e2", "model")]
    # Without an output that holds it, it is a saying.
    assert forms(tell(talked, role="assistant"), "error") == []


@needs_shared
def test_on_a_real_session_an_error_without_a_flag_is_found_with_its_place() -> None:
    session = open_shared(SHARED / "sessions" / "claude-code--git-sync" / "cc-426k-ctx-1142l.jsonl")
    said = find_facts(session)["error", "unknown channel NAK"].said
    assert {one.by for one in said} == {"tool", "model"}
    assert all(session.block(one.ref).text[one.start : one.end] == "unknown channel NAK" for one in said)
