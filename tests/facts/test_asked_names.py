"""One thing under several names: in other marks, cut short, as an address; and what a sentence calls it."""

from __future__ import annotations

import pytest

from inspector.errors import ArgumentError, EditError
from inspector.facts.trace import trace_recorded
from inspector.facts.traced import TracedFact
from tests.facts.test_explain import compact, use
from tests.test_cuts import build, say, user

SESSION_ID = "5d0c41ab-93e2-4f17-8b6a-2c9d7e1f0a34"


def lose(said: str, summary: str, asked: str) -> TracedFact:
    """What became of a text that the user said, after a compaction with this summary."""
    session = build(user(said), say("ok"), compact(summary), user("on"))
    return trace_recorded(session)[0][asked]


@pytest.mark.parametrize(
    ("said", "asked", "summary", "other"),
    [
        (
            "it says: usePump returned `undefined`. Why?",
            "returned undefined",
            "Fixed: usePump returned undefined.",
            "Fixed: usePump returned, undefinedly.",
        ),
        (
            "- **No manual gates** at all",
            "No manual gates",
            "Runs with no manual gates.",
            "No gates, manual.",
        ),
        (
            'so the "Tide view" is it',
            'the "Tide view"',
            "- The 'Tide view' leaks",
            "- The 'Tide viewer' leaks",
        ),
    ],
)
def test_words_stand_in_a_summary_in_other_marks_and_letters_case(
    said: str, asked: str, summary: str, other: str
) -> None:
    traced = lose(said, summary, asked)
    assert (traced.fact.kind, traced.outcome) == ("text", "quoted")
    # Other forms of the words, or the words apart, may say something else.
    assert lose(said, other, asked).outcome == "unclear"


def test_a_word_alone_is_itself_in_its_own_letters_only() -> None:
    assert lose("the Pump leaks", "The pump was sold.", "Pump").outcome == "absent"


@pytest.mark.parametrize("asked", ["`fill_tank`", "fill_tank()", "'fill_tank()'"])
def test_a_symbol_is_asked_for_in_marks(asked: str) -> None:
    session = build(
        user("`fill_tank()` is slow, fill_tank leaks; who calls fill_tank?"),
        *(say("`fill_tank` is called once."), compact("`fill_tank` leaks."), user("on")),
    )
    traced = trace_recorded(session)[0][asked]
    assert (traced.fact.kind, traced.fact.form, len(traced.named)) == ("symbol", "fill_tank", 2)


@pytest.mark.parametrize(
    "address", ["https://git.example/acme/tide/issues/1263", "https://git.example/acme/tide/pull/1263"]
)
@pytest.mark.parametrize("asked", ["#1263", "issue 1263", "PR #1263"])
def test_an_issue_is_the_same_by_its_number_and_by_its_address(address: str, asked: str) -> None:
    session = build(
        user(f"should we close {address}?"), say("No: #1263 stays."), compact(f"See {address}."), user("on")
    )
    traced = trace_recorded(session)[0][asked]
    assert (traced.fact.form, traced.outcome, len(traced.named)) == ("#1263", "quoted", 2)
    assert traced.why().startswith("The id #1263 was first said by the user in turn 1")
    other = build(user(f"close {address}?"), say("No: #1263 stays."), compact(f"See {address}4."), user("on"))
    assert trace_recorded(other)[0]["#1263"].outcome == "absent"


def test_a_summary_that_writes_the_first_digits_of_a_uuid_weakens_it() -> None:
    traced = lose(f"the log of {SESSION_ID} is empty", "Session 5d0c41ab logs nothing.", SESSION_ID)
    assert (traced.outcome, traced.words) == ("partial", "5d0c41ab")
    assert lose(f"the log of {SESSION_ID}", "Session 5d0c41ac logs nothing.", SESSION_ID).outcome == "absent"


def test_a_path_whose_first_folders_a_tool_left_out_is_the_same_file() -> None:
    whole, short = "cmd/pump/cli/strategy/fill_tank.go", ".../cli/strategy/fill_tank.go"
    session = build(
        user("go"),
        *use(1, "Read", "package strategy", file_path=whole),
        *use(2, "Bash", f" {short} | 12 +++", command="git diff --stat"),
        *(say("see fill_tank.go"), compact(f"Changed {short}."), user("on")),
    )
    trace = trace_recorded(session)[0]
    assert [one.fact.form for one in trace.select(kind="file")] == [whole]
    assert (trace[whole].outcome, trace[whole].words) == ("quoted", "cli/strategy/fill_tank.go")
    assert f"It is {whole}." in trace["fill_tank.go"].why()


def test_a_path_from_the_root_is_not_called_another_name_of_itself() -> None:
    session = build(user("see /srv/tide/pump"), say("ok"), compact("Nothing."), user("on"))
    assert " It is " not in trace_recorded(session)[0]["/srv/tide/pump"].why()


def test_a_part_of_a_longer_word_is_told_with_that_word() -> None:
    said = f"see 2026-05-01_{SESSION_ID}.jsonl"
    session = build(user(said), say("ok"), compact("Nothing."), user("on"))
    (recorded,) = trace_recorded(session)
    with pytest.raises(EditError, match="only a part of 2026-05-01_5d0c41ab-93e2") as refused:
        recorded["id", SESSION_ID]
    assert "(e0)" in str(refused.value)
    assert "only a part of 2026-05-01_5d0c41ab-93e2" in recorded[SESSION_ID].why()


def test_a_call_is_named_by_the_end_of_a_long_path_and_without_empty_brackets() -> None:
    path = f"/srv/tide/{'deep/' * 20}tank.go"
    session = build(
        user("go"),
        *use(1, "Edit", "ok", file_path=path, new_string="leak_rate = 3"),
        *use(2, "Note", "ok", words=["leak_rate"]),
        *(say("done"), compact("Nothing."), user("on")),
    )
    why = trace_recorded(session)[0]["leak_rate"].why()
    assert "the call Edit(…/deep/" in why and "deep/tank.go), " in why
    assert "the last in turn 1 (the call Note, " in why


def test_a_file_that_begins_in_the_middle_may_have_lost_what_is_asked_for() -> None:
    whole = build(user("go"), say("ok"), compact("Nothing."), user("on"))
    with pytest.raises(EditError, match=r"nothing said so far holds it$"):
        trace_recorded(whole)[0]["file", "the/tide.table"]
    asked = trace_recorded(whole)[0]["the tide table"]
    assert (asked.said, asked.nearest, asked.stood) == ((), (), False)
    assert asked.why() == 'The words "the tide table" are not said in this session.'
    first = whole.entries[0].model_copy(update={"parent": "gone"})
    cut = whole.model_copy(update={"entries": (first, *whole.entries[1:])})
    with pytest.raises(EditError, match=r"holds it; the file begins in the middle of its session$"):
        trace_recorded(cut)[0]["file", "the/tide.table"]
    assert "the file begins in the middle of its session" in trace_recorded(cut)[0]["the tide table"].why()


@pytest.mark.parametrize(
    ("said", "summary", "asked"),
    [
        ("1,200 requests a day", "Serves 1200 requests a day.", "1,200 requests"),
        ("1,200 requests a day", "Serves 1200 requests a day.", "1200 requests"),
        ("a margin of 12.5% is fine", "Margin: 12.5 %.", "12.5 %"),
        ("the cap is $710", "Capped at 710 dollars.", "$710"),
        ("the cap is 710 dollars", "Capped at $710.", "710 dollars"),
        ("it was 1,234.50 in all", "In all 1,234.50.", "1234.50"),
        ("a timeout of 31 seconds", "Timeout: 31s.", "31 seconds"),
        ("a timeout of 31 seconds", "Timeout: 31 seconds.", "31s"),
        ("allow 510 requests per minute", "Limit: 510 req/min.", "510 requests per minute"),
        ("allow 510 req/min", "Limit: 510 requests per minute.", "510 rpm"),
        ("allow 510 rpm", "Limit: 510 requests a minute.", "510 requests/minute"),
        # Letters that are others' capitals to a search make no name of a rate.
        ("allow 510 reque\u017fts/min", "Limit: 510 reque\u017fts/min.", "510  reque\u017fts/min"),
        ("at most 1,200 msgs/s", "Up to 1200 messages per second.", "1,200 messages per second"),
    ],
)
def test_an_amount_is_the_same_in_every_spelling(said: str, summary: str, asked: str) -> None:
    assert lose(said, summary, asked).outcome == "quoted"
    other = lose(said, summary.replace("1", "4"), asked).outcome
    assert other in ("changed", "unclear", "absent")
    assert other == "changed" or asked != "1,200 requests"


@pytest.mark.parametrize("asked", ["src/pump.py(12)", "pump.py line 12", "src/pump.py, lines 3-9"])
def test_a_file_is_asked_for_with_its_lines(asked: str) -> None:
    assert lose("see src/pump.py", "Read src/pump.py.", asked).fact.form.endswith("pump.py")


def test_an_address_without_its_scheme_is_partial_and_a_slash_at_its_end_is_nothing() -> None:
    for summary, outcome in (
        ("On tide.example/app now.", "partial"),
        ("On https://tide.example/app now.", "quoted"),
        ("On tide.example/other now.", "absent"),
    ):
        assert (
            lose("see https://tide.example/app/ please", summary, "https://tide.example/app/").outcome
            == outcome
        )


def test_words_with_an_address_among_them_are_words() -> None:
    asked = "Deploy to https://tide.example/app only from green"
    traced = lose(f"{asked}, and tell me; then go", "Nothing.", asked)
    assert (traced.fact.kind, traced.why().startswith('The words "Deploy')) == ("text", True)


def test_a_kind_that_is_none_is_refused() -> None:
    session = build(user("go"), say("ok"), compact("Nothing."), user("on"))
    with pytest.raises(ArgumentError, match="must be one of file, command"):
        trace_recorded(session)[0]["rule", "go"]


def test_a_file_that_a_tool_was_given_is_not_another_whose_path_ends_like_it() -> None:
    session = build(
        user("go"),
        *use(1, "Read", "one", file_path="README.md"),
        *use(2, "Edit", "two", file_path="docs/README.md", new_string="x"),
        *(say("see README.md and notes.md"), compact("Nothing."), user("on")),
    )
    why = trace_recorded(session)[0]["README.md"].why()
    assert "it was read." in why and "edited" not in why and "It is" not in why


def test_an_address_without_its_query_is_partial() -> None:
    asked = "https://tide.example/v2/limits?x=1#rate"
    traced = lose(f"fetch {asked} once", "See https://tide.example/v2/limits.", asked)
    assert (traced.outcome, traced.words) == ("partial", "https://tide.example/v2/limits")
    assert lose(f"fetch {asked} once", "See https://tide.example/v2/limitless.", asked).outcome == "absent"


def test_a_test_that_a_runner_names_with_its_file_is_partial_where_its_name_stands() -> None:
    asked = "tests/test_pump.py::test_fill_twice"
    assert lose(f"FAILED {asked} - boom", "test_fill_twice failed.", asked).outcome == "partial"
    assert lose(f"FAILED {asked} - boom", "test_fill failed.", asked).outcome == "absent"


@pytest.mark.parametrize("asked", ["#46", "PR 46", "pull/46"])
def test_a_pull_request_that_only_its_address_named_is_found_by_its_number(asked: str) -> None:
    address = "https://git.example/acme/tide/pull/46"
    traced = lose(f"see {address}", "PR #46 is open.", asked)
    assert (traced.outcome, len(traced.named)) == ("quoted", 1)
    whole = lose(f"see {address}", "PR #46 is open.", address)
    assert (whole.outcome, whole.words) == ("partial", "PR #46")


def test_an_error_without_its_class_is_partial() -> None:
    asked = "ModuleNotFoundError: No module named 'pump'"
    session = build(
        user("go"),
        *use(1, "Bash", asked, command="python run.py"),
        *(say("ok"), compact("No module named 'pump' came up."), user("on")),
    )
    traced = trace_recorded(session)[0][asked]
    assert (traced.outcome, traced.words) == ("partial", "No module named 'pump'")


def test_a_program_that_is_a_word_is_a_command_only_where_a_tool_was_given_it() -> None:
    assert lose("let it have a timeout 30 seconds long", "No.", "timeout 30 seconds").fact.kind == "text"
    ran = build(
        user("go"), *use(1, "Bash", "", command="timeout 30 make"), say("ok"), compact("No."), user("on")
    )
    assert trace_recorded(ran)[0]["timeout 30 make"].fact.kind == "command"
