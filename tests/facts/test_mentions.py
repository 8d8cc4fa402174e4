"""Facts looked up in texts: what a call was given is read as it was given, not as JSON writes it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.cuts import END
from inspector.errors import EditError
from inspector.facts import mentions
from inspector.facts.facts import find_facts
from inspector.facts.grounding import ground_recorded
from inspector.facts.lint.check import lint
from inspector.facts.mentions import SearchText, find_paths, find_runs
from inspector.facts.trace import trace_recorded
from inspector.files import open_session
from inspector.planning.planner import make_plan
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from inspector.session.toolcalls.call_paths import canonical_path
from inspector.tokens.ledger import count_tokens
from tests.shared import SHARED, needs_shared, open_shared
from tests.test_cuts import build, say, user
from tests.work import limit_work


def compacted(summary: str, *before: Entry) -> Session:
    """What was said, then a recorded compaction with this summary."""
    entry = Entry(id="", kind="compaction", blocks=(Text(text=summary),), boundary=Boundary(summary=summary))
    return build(*before, entry, user("go on"))


def tail(path: str) -> str:
    return path.rpartition("/")[2]


def call(name: str, **given: object) -> Entry:
    return Entry(id="", role="assistant", blocks=(ToolCall(id="c1", name=name, input=given),))


@pytest.mark.parametrize(
    "content", ["see:\tsrc/deep/a.py", "first\nsrc/deep/a.py", 'print("\\tsrc/deep/a.py\\n")']
)
def test_a_path_behind_a_tab_or_a_line_break_of_a_call_is_that_path(content: str) -> None:
    session = compacted("Work on src/deep/a.py.", user("go"), call("Write", path="b.txt", content=content))
    (found,) = ground_recorded(session)
    assert [line.words for line in found.unfounded] == []
    forms = {fact.form for fact in find_facts(session).by_kind("file")}
    assert "src/deep/a.py" in forms
    assert not any(form.startswith(("/tsrc", "t/", "/t")) or form.endswith("/n") for form in forms)


def test_a_path_of_windows_keeps_folders_that_begin_like_an_escape() -> None:
    assert list(find_runs(r"at C:\new\test\readme.md now")) == ["at", "C:/new/test/readme.md", "now"]
    assert list(find_runs(r"one a.go\nb.go two")) == ["one", "a.go", "b.go", "two"]


SHOT = "/home/ann/Desktop/Screenshot 2026-01-12 at 3.04.05\u202fPM.png"


@pytest.mark.parametrize(
    ("path", "summary", "outcome"),
    [
        (SHOT, f"The user sent {SHOT}: red.", "quoted"),
        (SHOT, "The user sent /home/ann/Desktop/Screenshot 2026-01-12 at 3.04.05 PM.png: red.", "quoted"),
        (SHOT, "It is `Screenshot 2026-01-12 at 3.04.05 PM.png`.", "partial"),
        (SHOT, "The user sent a screenshot of 2026-01-12.", "absent"),
        ("src/My Notes/to do.md", "Open: src/My Notes/to do.md", "quoted"),
        ("src/app/(shop)/[id]/page.tsx", "Edited src/app/(shop)/[id]/page.tsx.", "quoted"),
        ("src/app/(shop)/[id]/page.tsx", "Edited page.tsx.", "partial"),
    ],
)
def test_a_path_with_a_space_or_a_bracket_is_looked_up_whole(path: str, summary: str, outcome: str) -> None:
    session = compacted(summary, user("look"), call("Read", file_path=path))
    (trace,) = trace_recorded(session, find_facts(session))
    assert trace[path].outcome == outcome
    assert trace[" ".join(path.split())] is trace[path]
    assert trace[path].stood


def test_a_path_with_a_space_that_is_kept_stands_and_is_found_again_in_words() -> None:
    session = build(user(f"look at {SHOT} again"), call("Read", file_path=SHOT), say(f"{SHOT} is red"))
    fact = find_facts(session)["file", SHOT]
    assert [said.by for said in fact.said] == ["user", "model", "model"]


def test_a_mention_that_no_search_takes_for_a_path_counts_where_it_stands() -> None:
    """First and last are literal: glued to a bracket, inside what Write writes."""
    session = compacted(
        "Fixed it.",
        user("glob src/deep/*a.py or <src/deep/a.py>"),
        call("Read", file_path="src/deep/a.py"),
        say("done"),
        call("Write", file_path="notes.md", content="import\tsrc/deep/a.py:12"),
    )
    (trace,) = trace_recorded(session, find_facts(session))
    assert [session.index[ref.entry] for ref in trace["src/deep/a.py"].named] == [0, 1, 3]


def test_one_file_under_two_names_is_one_from_the_moment_it_can_be_told() -> None:
    session = compacted(
        "Fixed a.py.",
        user("look at deep/a.py"),
        say("a.py is short"),
        call("Read", file_path="src/deep/a.py"),
    )
    facts = find_facts(session)
    (trace,) = trace_recorded(session, facts)
    assert [one.fact.form for one in trace.select(kind="file")] == ["src/deep/a.py"]
    whole = trace["src/deep/a.py"]
    assert [session.index[ref.entry] for ref in whole.named] == [0, 1, 2]
    assert (whole.outcome, whole.words) == ("partial", "a.py")
    # Asked for by the name that the summary has, the answer is about that name.
    assert (trace["a.py"].outcome, trace["deep/a.py"].outcome) == ("quoted", "partial")


def test_a_short_name_that_two_files_end_with_or_a_tool_was_given_is_a_file_of_its_own() -> None:
    two = compacted("-", user("a.py of src/one/a.py or src/two/a.py"), say("done"))
    given = compacted("-", user("see src/one/a.py"), call("Read", file_path="a.py"))
    for session in (two, given):
        (trace,) = trace_recorded(session, find_facts(session))
        assert "a.py" in [one.fact.form for one in trace.select(kind="file")]


def test_a_git_address_behind_another_address_moves_no_place() -> None:
    """Both kinds are found one after the other, and what is left is searched at its own place."""
    said = "see https://example.org/one and git@example.org:own/repo.git then src/late.py"
    fact = find_facts(build(user(said), say("done")))["file", "src/late.py"]
    assert [said[place.start : place.end] for place in fact.said] == ["src/late.py"]


@needs_shared
@pytest.mark.parametrize("name", ["cc-2.1.183-648l.jsonl", "cc-426k-ctx-1142l.jsonl"])
def test_on_a_real_session_the_place_of_a_path_holds_that_path(name: str) -> None:
    session = open_shared(SHARED / "sessions" / "claude-code--git-sync" / name)
    wrong = [
        (fact.form, words)
        for fact in find_facts(session).by_kind("file")
        for said in fact.said
        for words in [session.block(said.ref).text[said.start : said.end]]
        if words.strip("./~") and fact.form != "." and tail(canonical_path(words)) != tail(fact.form)
    ]
    assert wrong == []


RUN = "cd /app && go test ./... -race 2>&1 | tail -20"


@pytest.mark.parametrize(
    ("command", "summary", "outcome"),
    [
        (RUN, "Run `go test ./... -race` before each commit.", "quoted"),
        (RUN, "The tests pass (`go test`).", "partial"),
        (RUN, "The tests pass; going to test more.", "absent"),
        ("npm run lint && npm test > out.txt", "I ran npm test, then npm run lint.", "partial"),
        ("npm run lint -- --fix && npm test", "I ran npm run lint.", "partial"),
        ("grep -rn foo src | head -5", "A grep found it.", "absent"),
        ("timeout 60 pytest -q tests/a.py 2>/dev/null", "pytest -q tests/a.py is green", "quoted"),
    ],
)
def test_a_command_is_its_core_and_may_stand_in_part(command: str, summary: str, outcome: str) -> None:
    session = compacted(summary, user("go"), call("Bash", command=command))
    (trace,) = trace_recorded(session, find_facts(session))
    (traced,) = trace.select(kind="command")
    assert (traced.outcome, "tail" in traced.fact.form, ">" in traced.fact.form) == (outcome, False, False)
    # As it was typed it is the same fact.
    assert trace[command] is traced


@pytest.mark.parametrize(
    ("summary", "outcome"),
    [
        ("It fails: src/a.go:12:3: undefined: makeThing, did you mean madeThing?", "quoted"),
        ("It fails with undefined: makeThing.", "partial"),
        ("makeThing is not there.", "unclear"),
        ("Changed src/a.go.", "absent"),
    ],
)
def test_an_error_may_stand_in_part(summary: str, outcome: str) -> None:
    error = "src/a.go:12:3: undefined: makeThing, did you mean madeThing?"
    output = ToolOutput(call_id="c1", name="Bash", parts=(Text(text=error),), is_error=True)
    failed = Entry(id="", role="tool", blocks=(output,))
    session = compacted(summary, user("go"), call("Bash", command="go build ./..."), failed)
    (trace,) = trace_recorded(session, find_facts(session))
    assert trace["error", error].outcome == outcome


@needs_shared
def test_on_a_real_session_no_command_has_what_only_sets_how_it_is_shown() -> None:
    session = open_shared(SHARED / "sessions" / "claude-code--git-sync" / "cc-426k-ctx-1142l.jsonl")
    commands = [fact.form for fact in find_facts(session).by_kind("command") if "<<" not in fact.form]
    assert len(commands) > 100
    shown = re.compile(r"2>(?:&1|/dev/null)$|\| (?:tail|head)\b[^|]*$|^cd \S+ &&")
    assert [form for form in commands if shown.search(form)] == []


def test_words_that_are_no_fact_are_traced_all_the_same() -> None:
    session = compacted("The retry budget is spent.", user("the retry budget is spent, says ops"), say("ok"))
    (trace,) = trace_recorded(session, find_facts(session))
    assert (trace["retry budget is spent"].outcome, trace["says ops"].outcome) == ("quoted", "absent")
    assert trace["says ops"].fact.kind == "text"
    assert trace["says ops"].why().startswith('The words "says ops" were first said by the user in turn 1')
    assert "never told" not in trace
    assert (trace["never told"].said, trace["never told"].outcome) == ((), "absent")
    with pytest.raises(EditError):
        trace["file", "never told"]


@pytest.mark.parametrize("name", ["src/table.ts", "src/new/reader.ts", "My.App/test/Run.cs"])
def test_a_summary_names_a_file_of_windows_whose_folders_begin_like_an_escape(name: str) -> None:
    path = name.replace("/", "\\")
    session = compacted(f"Edited {path}.", user("go"), call("Edit", file_path=f"C:\\app\\{path}"))
    session = session.model_copy(update={"cwd": "C:\\app"})
    (trace,) = trace_recorded(session, find_facts(session))
    assert trace[name].outcome == "quoted"
    assert not lint(session, rules="CI001")


@pytest.mark.parametrize(
    ("summary", "outcome"),
    [
        ("ran pytest src/a.py -q: green", "quoted"),
        ("ran pytest src/a.py: green", "partial"),
        ("ran pytest src/b.py: green", "absent"),
    ],
)
def test_a_command_without_the_options_at_its_end_is_a_part_of_it(summary: str, outcome: str) -> None:
    session = compacted(summary, user("go"), call("Bash", command="pytest src/a.py -q"))
    (trace,) = trace_recorded(session, find_facts(session))
    assert trace["command", "pytest src/a.py -q"].outcome == outcome


@needs_shared
@pytest.mark.parametrize("name", ["pi--pi-mono/pi-before-compaction.jsonl", "cline"])
def test_paths_of_a_text_are_its_runs_with_a_folder_or_an_ending(name: str) -> None:
    place = SHARED / "sessions" / name
    files = [place] if place.is_file() else sorted(place.glob("*.json"))[:1]
    texts = [block.text for path in files for entry in open_session(path).entries for block in entry.blocks]
    texts += [r"one\two.py C:\new\t.txt a\nb.c", "see ./x/ ... file:///a/b.c:12-40 c.go#L12", ""]
    for text in texts:
        assert find_paths(text) == {run for run in find_runs(text, both=True) if "." in run or "/" in run}


@pytest.mark.parametrize(
    ("said", "summary", "outcome"),
    [
        ("I saw 200 tokens left.", "1,200 tokens were left", "changed"),
        ("I saw 200 tokens left.", "200 tokens were left, 1,200 tokens before", "quoted"),
        ("It says retries = 3 here.", "retries = 3.5 now", "changed"),
        ("It says retries = 3 here.", "retries = 3. Then more.", "quoted"),
    ],
)
def test_a_number_is_not_the_end_or_the_beginning_of_another(said: str, summary: str, outcome: str) -> None:
    session = compacted(summary, user("go"), say(said))
    numbers = [one for one in trace_recorded(session)[0] if one.fact.kind == "number"]
    assert [one.outcome for one in numbers] == [outcome]


WRITTEN = st.lists(st.sampled_from([*"a_1.,/-` é😀…", "ab", "10", "\n", "a.py"]), max_size=40).map("".join)


@settings(max_examples=300, deadline=None)
@given(WRITTEN, WRITTEN, st.integers(0, 40), st.integers(1, 8))
def test_law_a_long_text_holds_what_a_short_one_holds(text: str, other: str, at: int, length: int) -> None:
    """A long text looks where a wording's rarest word is, a short one everywhere."""
    with pytest.MonkeyPatch.context() as patch:
        for wording in (SearchText(text).flat[at : at + length], " ".join(other.split())):
            patch.setattr(mentions, "LONG", 10**6)
            everywhere = SearchText(text).has_words(wording)
            patch.setattr(mentions, "LONG", 0)
            assert SearchText(text).has_words(wording) == everywhere


def test_a_long_output_full_of_facts_is_traced_in_a_time_that_grows_with_it() -> None:
    """Half a megabyte of a log once took 4 s, four megabytes as many minutes."""
    log = "\n".join(
        f"src/part{n % 7}/file_{n}.py:{n}: error E{n}: see http://example.org/{n} and use name_{n} = {n * 7}"
        for n in range(45_000)
    )
    assert len(log) > 4 * mentions.LONG
    output = ToolOutput(call_id="c1", name="Bash", parts=(Text(text=log),))
    answer = Entry(id="", role="tool", blocks=(output,))
    session = build(user("go"), call("Bash", command="cat log"), answer, say("done"))
    plan = make_plan(session, count_tokens(session, "chars4_utf16"), "flue", {"cut": END})
    assert len(session.facts) > 10_000
    with limit_work():
        outcomes = [traced.outcome for traced in plan.trace]
    assert len(outcomes) == len(session.facts)
