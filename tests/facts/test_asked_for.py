"""What a person asks for is rarely written as the transcript writes it: it is found all the same."""

from __future__ import annotations

import random
import re

import pytest

from inspector.errors import EditError
from inspector.facts.trace import trace_recorded
from inspector.facts.traced import Trace, TracedFact
from inspector.session.blocks import BlockRef, Text
from inspector.session.session import Session
from tests.facts.test_explain import compact, use
from tests.test_cuts import build, say, user
from tests.work import count_calls, limit_work

END = "system-reminder"
COMMIT = "9f5a3c761b2d4e6f8091a2b3c4d5e6f708192a3b"


def recorded(session: Session, cwd: str | None = None) -> Trace:
    return trace_recorded(session.model_copy(update={"cwd": cwd}) if cwd else session)[0]


def trace(session: Session, text: str, cwd: str | None = None) -> TracedFact:
    return recorded(session, cwd)[text]


@pytest.mark.parametrize("asked", [COMMIT, COMMIT[:7], COMMIT[:9]])
@pytest.mark.parametrize("told", [COMMIT, COMMIT[:7], COMMIT[:12]])
def test_a_commit_is_the_same_in_every_length(asked: str, told: str) -> None:
    session = build(
        user("go"),
        *use(1, "Bash", f"[main {COMMIT[:9]}] one", command="git commit"),
        *(say(f"Committed as {asked}."), compact(f"Committed `{told}`."), user("on")),
    )
    traced = trace(session, asked)
    assert (traced.fact.kind, traced.outcome, len(traced.named)) == ("id", "quoted", 2)
    assert "first said by a tool in turn 1" in traced.why()


def test_a_commit_that_only_begins_alike_is_another() -> None:
    other = COMMIT[:8] + "0" + COMMIT[9:20]
    session = build(user(f"see {COMMIT[:12]}"), say("ok"), compact(f"Saw {other}."), user("on"))
    traced = trace(session, COMMIT[:12])
    assert traced.outcome == "absent"
    both = build(user(f"{COMMIT[:12]} {other[:12]}"), say(COMMIT[:7]), compact(f"Saw {other}."), user("on"))
    # The shorter one begins both: it is no name of one of them alone.
    forms = {one.fact.form: one.outcome for one in recorded(both) if one.fact.kind == "id"}
    assert forms == {COMMIT[:12]: "absent", other[:12]: "quoted", COMMIT[:7]: "quoted"}


def test_the_same_commit_is_one_fact_by_its_longest_id() -> None:
    session = build(user(COMMIT), say(f"{COMMIT[:7]} and {COMMIT[:10]}"), compact("Nothing."), user("on"))
    assert [one.fact.form for one in recorded(session) if one.fact.kind == "id"] == [COMMIT]
    assert "right before" not in trace(session, COMMIT[:7]).why()


def test_what_stands_of_a_commit_in_another_length_is_quoted() -> None:
    session = build(user(COMMIT[:7]), say("ok"), compact(f"It is {COMMIT[:9]}."), user("on"))
    assert f"The summary says it: “{COMMIT[:9]}”." in trace(session, COMMIT[:7]).why()


@pytest.mark.parametrize("made_up", ["b2c3d4e5f6a7", "abc12340", "1a2b3c4d", "ab123456ff"])
def test_made_up_digits_that_begin_alike_are_two_ids(made_up: str) -> None:
    short = made_up[:7] if len(made_up) < 9 else made_up[:-2]
    session = build(user(f"see {made_up}"), say(f"and {short}"), compact(f"Saw {short}."), user("on"))
    forms = {one.fact.form: one.outcome for one in recorded(session) if one.fact.kind == "id"}
    assert forms == {made_up: "absent", short: "quoted"}


@pytest.mark.parametrize("commit", ["7f1234ed05b1", "abc9e07d4471", "0e45672bdd10"])
def test_a_commit_some_digits_of_which_count_up_is_known_in_every_length(commit: str) -> None:
    session = build(user(commit), say("ok"), compact(f"Fixed in {commit[:8]}."), user("on"))
    forms = {one.fact.form: one.outcome for one in recorded(session) if one.fact.kind == "id"}
    assert forms[commit] == "quoted"


def test_many_commits_that_begin_alike_are_found_as_soon_as_others() -> None:
    chance = random.Random(7)
    ids = [f"9f5a3c7{chance.randrange(16**5):05x}"[: chance.randrange(8, 13)] for _ in range(24_000)]

    def find(count: int) -> None:
        log = "\n".join(f"{commit} fix the thing" for commit in ids[:count])
        session = build(
            *(user("go"), *use(1, "Bash", log, command="git log --oneline")),
            *(say("ok"), compact(f"Saw {ids[0]}."), user("on")),
        )
        assert trace(session, ids[0]).outcome == "quoted"

    with limit_work():
        assert count_calls(lambda: find(24_000)) < 6 * count_calls(lambda: find(6_000))


def test_a_number_of_an_issue_is_no_place_in_the_working_directory() -> None:
    session = build(
        *(user("go"), *use(1, "Bash", "title: #1404 opened", command="cd /home/me/app && gh issue list")),
        *(say("ok"), compact("Looked at issues."), user("on")),
    )
    traced = trace(session, "#1404", "/home/me/app")
    assert (traced.fact.form, traced.outcome) == ("#1404", "absent")


def test_an_option_is_not_the_word_behind_its_dashes() -> None:
    session = build(
        user("the depth is 3; run it with --depth"), say("ok"), compact("Its depth is 3."), user()
    )
    assert trace(session, "--depth").outcome == "absent"
    assert trace(session, "depth").outcome == "quoted"


def test_a_word_is_a_word_though_a_folder_has_its_name() -> None:
    session = build(
        user("every checkpoint counts"),
        *use(1, "Bash", "a.go", command="ls checkpoint/"),
        *(say("ok"), compact("Each checkpoint counts."), user("on")),
    )
    found = recorded(session, "/home/me/app")
    assert (found["checkpoint"].fact.kind, found["checkpoint"].outcome) == ("text", "quoted")
    assert len(found["checkpoint"].named) == 2
    assert found["file", "checkpoint"].fact.kind == "file"


def test_the_name_of_a_file_tells_what_was_done_to_it_under_its_path() -> None:
    session = build(
        user("look at cuts.py"),
        *use(1, "Edit", "done", file_path="/home/me/app/src/cuts.py", old_string="a", new_string="b"),
        *(say("ok"), compact("Nothing."), user("on")),
    )
    why = trace(session, "cuts.py", "/home/me/app").why()
    assert (
        "was first said by the user in turn 1 (the user's words, e0/0); it was edited. It is src/cuts.py."
        in why
    )
    assert "never changed" not in why


def test_a_name_that_several_paths_end_in_tells_them() -> None:
    session = build(
        user("look at index.ts"),
        *(
            step
            for at, name in enumerate("abcd")
            for step in use(at, "Read", "x", file_path=f"{name}/index.ts")
        ),
        *(say("ok"), compact("Nothing."), user("on")),
    )
    why = trace(session, "index.ts").why()
    assert "That name ends 4 paths: a/index.ts, b/index.ts, c/index.ts and 1 more." in why


def test_a_folder_stands_where_a_longer_path_goes_through_it() -> None:
    session = build(
        user("go"),
        *use(1, "Bash", "a.ts", command="ls src/tui/"),
        *(say("ok"), compact("Read packages/agent/src/tui/a.ts."), user("on")),
    )
    assert trace(session, "src/tui/").outcome == "quoted"
    other = build(
        user("go"),
        *use(1, "Bash", "a.ts", command="ls src/tui/"),
        say("ok"),
        compact("Read src/gui/a.ts."),
        user(),
    )
    assert trace(other, "src/tui/").outcome == "absent"


@pytest.mark.parametrize(
    ("asked", "form"),
    [
        ("Use **pnpm**, not npm", "use `pnpm`, not npm"),
        ('"use pnpm"', "use `pnpm"),
        ("@src/cuts.py", "src/cuts.py"),
        ("parse_rows()", "parse_rows"),
        ("30s", "30 s"),
        ("PARSE_ROWS", "parse_rows"),
    ],
)
def test_marks_and_letters_case_are_not_what_is_asked_for(asked: str, form: str) -> None:
    session = build(
        user("use `pnpm`, not npm; see src/cuts.py where parse_rows(row, 3) waits for 30 s"),
        *(say("ok"), compact("Nothing."), user("on")),
    )
    assert trace(session, asked).fact.form == form


def test_words_that_are_only_alike_are_answered_with_the_nearest_line() -> None:
    session = build(user("use `pnpm`; the parser rows"), say("ok"), compact("Nothing."), user("on"))
    found = recorded(session)
    for asked in ("use the pnpm", "the parsed rows"):
        assert [line.text for line in found[asked].nearest] == ["use `pnpm`; the parser rows"]
        assert found[asked].said == (BlockRef("e0", 0),)
    for asked in ("pnp", "x"):
        assert (found[asked].said, found[asked].nearest, found[asked].stood) == ((), (), False)
        with pytest.raises(EditError, match=re.escape("nothing said so far holds it")):
            found["file", asked]


def test_a_part_of_a_command_that_ran_was_run() -> None:
    session = build(
        user("go"),
        *use(1, "Bash", "ok", command="cd app && git commit -m 'one' && git push"),
        *(say("ok"), compact("Nothing."), user("on")),
    )
    found = recorded(session)
    assert found["git commit"].why().startswith("The command git commit was first run by the model in turn 1")
    asked = build(user("git commit it later"), say("ok"), compact("Nothing."), user("on"))
    assert "was first said by the user" in trace(asked, "git commit").why()


def test_a_sentence_stands_in_other_words_and_code_does_not() -> None:
    said = "commit the changes of each section atomically"
    session = build(
        user(f"please {said}, would you; x = failed(to, get, agent)"),
        *(
            say("ok"),
            compact("- the changes of each section: commit atomically\n- failed to get agent"),
            user(),
        ),
    )
    traced = trace(session, said)
    assert (traced.fact.kind, traced.outcome) == ("text", "quoted")
    assert traced.words == "changes of each section: commit atomically"
    assert trace(session, "x = failed(to, get, agent)").outcome == "unclear"


def test_what_only_the_system_prompt_says_stands_in_every_request() -> None:
    session = build(user("go"), say("ok"), compact("Nothing."), user("on"))
    session = session.model_copy(update={"system": (Text(text="Write Report.md last."),)})
    traced = trace(session, "Report.md")
    assert (traced.outcome, traced.stood, traced.named) == ("verbatim", True, ())
    assert traced.why() == (
        "The file Report.md stands before the messages; no message says it. It stays as it is, in the system "
        "prompt."
    )


@pytest.mark.parametrize(
    "sent",
    [
        "# AGENTS.md instructions for /home/me/app\n\n<INSTRUCTIONS>\nKeep the lamp amber.\n</INSTRUCTIONS>",
        "<system-reminder>\nContents of /home/me/app/CLAUDE.md (project):\n\nKeep the lamp amber.\n",
    ],
)
def test_what_an_instruction_file_at_the_root_says_is_the_files(sent: str) -> None:
    sent_by_harness = user(sent).model_copy(update={"meta": True})
    session = build(sent_by_harness, user("go"), say("ok"), compact("Nothing."), user("on"))
    assert " first said by an instruction file in turn 1" in trace(session, "Keep the lamp amber").why()
    other = user("<system-reminder>Keep the lamp amber.</system-reminder>").model_copy(update={"meta": True})
    session = build(other, user("go"), say("ok"), compact("Nothing."), user("on"))
    assert " first said by the harness in " in trace(session, "Keep the lamp amber").why()


@pytest.mark.parametrize(
    ("sent", "who"),
    [
        (f"Keep calm.\n{{}}\n\nKeep the lamp amber.\n</{END}>", "an instruction file"),
        (f"{{}}\n\nKeep the lamp green.\n</{END}>\n<{END}>Keep the lamp amber.</{END}>", "the harness"),
    ],
)
def test_what_stands_before_or_behind_an_instruction_file_is_the_harnesses(sent: str, who: str) -> None:
    head = "Contents of /home/me/app/CLAUDE.md (project):"
    sent_by_harness = user(f"<{END}>\n{sent.format(head)}").model_copy(update={"meta": True})
    session = build(sent_by_harness, user("go"), say("ok"), compact("Nothing."), user("on"))
    assert f" first said by {who} in " in trace(session, "Keep the lamp amber").why()


def test_an_address_that_is_cut_short_is_partial() -> None:
    url = "https://linear.example/acme/issue/ENT-250/introduce-handlers"
    told = "see https://linear.example/acme/issue/ENT-250/..."
    for summary, outcome in ((told, "partial"), (f"{told[:-3]}other", "absent"), (f"see {url}", "quoted")):
        session = build(user(f"look at {url}"), say("ok"), compact(summary), user("on"))
        assert trace(session, url).outcome == outcome


def test_a_sentence_that_begins_as_a_command_is_words() -> None:
    session = build(user("can you make the icon smaller, then go test it"), say("ok"), compact("No."), user())
    found = recorded(session)
    assert {found[words].fact.kind for words in ("make the icon smaller", "go test it")} == {"text"}


def test_a_long_path_is_not_cut_without_a_sign() -> None:
    path = f"/home/me/{'deep/' * 18}cuts.py"
    session = build(
        user("see cuts.py"), *use(1, "Read", "x", file_path=path), say("ok"), compact("No."), user()
    )
    assert f"It is {path}." in trace(session, "cuts.py").why()


@pytest.mark.parametrize(
    ("said", "told", "outcome"),
    [
        ("limit = 50", "Tested with limit=50 (found 26).", "changed"),
        ("head_limit = 50", "with a head_limit: 50", "changed"),
        ("about 1100+ lines", "`main.ts` (~1100 lines)", "changed"),
        # Two letters name no subject of which this is another value.
        ("it waits for 30s", "waits for 30 s", "absent"),
        ("it waits for 30 s", "waits 30s", "absent"),
    ],
)
def test_a_figure_stands_however_its_name_and_unit_are_joined(said: str, told: str, outcome: str) -> None:
    form = re.sub(r"^(?:about|it waits for) ", "", said)
    session = build(user(f"mind that {said}"), say("ok"), compact(told), user("on"))
    assert trace(session, form).outcome == "quoted"
    other = build(user(f"mind that {said}"), say("ok"), compact(told.replace("0", "01")), user("on"))
    assert trace(other, form).outcome == outcome
