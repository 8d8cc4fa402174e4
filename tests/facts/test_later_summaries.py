"""What a later compaction does to a rule that an earlier summary has in other words, and other languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import trace_recorded
from inspector.facts.comparing import compare_fact, index_text
from inspector.facts.lint.check import lint
from inspector.session.session import Session
from tests.telling import compact, use
from tests.test_cuts import build, say, user

RULE = "Never commit to main."
VAGUE = "Work is committed on branches only, the main branch is off limits."


def run(rule: str, *summaries: str) -> Session:
    rows = [user(rule), say(), user("thanks"), say()]
    for summary in summaries:
        rows += [compact(summary), user("go on"), say()]
    return build(*rows)


@pytest.mark.parametrize(
    ("later", "code"),
    [
        ("The parser is done.", "CI002"),
        ("Commits go to main.", "CI017"),
        (VAGUE, ""),
        (RULE, ""),
    ],
)
def test_the_compaction_that_takes_an_unclear_rule_is_told(later: str, code: str) -> None:
    session = run(RULE, VAGUE, later)
    first, second = trace_recorded(session)
    assert first[RULE].outcome == "unclear"
    assert second[RULE].stood
    found = [(finding.code, finding.entry) for finding in lint(session, rules="CI002,CI017")]
    assert found == ([(code, session.compactions[1].entry)] if code else [])
    assert len(session.compactions[1].missing) == bool(code)


def test_what_an_earlier_compaction_lost_is_not_told_again() -> None:
    session = run(RULE, "The parser is done.", "The lexer is done.")
    (finding,) = lint(session, rules="CI002")
    assert finding.entry == session.compactions[0].entry


def test_a_changed_value_is_told_although_an_earlier_summary_was_unclear() -> None:
    session = run(
        "And grace time stays at 6 frames, do not change that, runners rely on it.",
        "Grace is 6 frames and must not be altered.",
        "Grace time: 8 frames.",
    )
    (finding,) = lint(session, rules="CI016")
    assert finding.entry == session.compactions[1].entry
    assert "“6”" in finding.sentence and "“8”" in finding.sentence


GERMAN = [
    "Das Protokoll bitte auf Deutsch und nicht länger als zwei Seiten.",
    "Die alte Anlage bleibt noch stehen, vorher nichts löschen.",
    "Bitte nie direkt auf die Produktion schreiben.",
]
ENGLISH = "The minutes are in German. The plant stays until the move is over."


@pytest.mark.parametrize("rule", GERMAN)
def test_a_rule_of_another_language_is_never_called_absent(rule: str) -> None:
    traced = trace_recorded(run(rule, ENGLISH))[0][rule]
    assert traced.outcome == "unclear"
    assert "another language" in traced.why()
    in_german = "Der Parser ist fertig, und die Tests sind es auch. Als nächstes kommt der Bericht."
    assert trace_recorded(run(rule, in_german))[0][rule].outcome == "absent"


@given(
    st.sampled_from([("Salmon", "STAR"), ("Redis", "Kafka"), ("Godot", "Unity")]),
    st.sampled_from(["Use {} rather than {}; we need it for one job only and it is ten times faster."]),
    st.sampled_from(["{} chosen over {}.", "The team picked {}, and {} is out.", "{} is in use, {} is not."]),
    st.sampled_from(["", "The build is green. ", "Eleven files were written and the report is next. "]),
)
def test_law_a_sentence_with_both_names_of_a_rule_leaves_it_undecided(
    names: tuple[str, str], rule: str, told: str, around: str
) -> None:
    typed = rule.format(*names)
    assert compare_fact("constraint", typed, index_text(around + told.format(*names))).outcome != "absent"
    assert compare_fact("constraint", typed, index_text(around + "The lexer is done.")).outcome == "absent"


@pytest.mark.parametrize("name", ["Snakefile", "Justfile", "Vagrantfile"])
def test_a_file_without_an_ending_is_known_by_its_name(name: str) -> None:
    write = use(1, "Write", file_path=f"/app/deploy/{name}", content="x")
    assert lint(build(user("go"), *write, compact(f"{name} is written."), user("k")), rules="CI006").ok
    assert not lint(build(user("go"), *write, compact("All is written."), user("k")), rules="CI006").ok


def test_a_failed_check_is_told_by_a_word_of_its_error() -> None:
    failed = use(1, "Bash", "ERROR: Unknown identifier: 'wave_time'.", True, command="make check")
    for summary, is_lost in (("wave_time is undefined.", False), ("The lexer is done.", True)):
        codes = {finding.code for finding in lint(build(user("go"), *failed, compact(summary), user("k")))}
        assert bool(codes & {"CI004", "CI005"}) == is_lost


@pytest.mark.parametrize("question", ["p-values", "grace time", "1.4.2"])
def test_a_question_is_answered_by_the_sentence_with_its_words(question: str) -> None:
    rule = "For table 1 give medians, no p-values, and grace time in frames, in version 1.4.2 only."
    session = run(rule, "Table 1 has medians, with p-values.")
    assert rule in session.why(question)
    assert "with p-values" in session.why(question)


@pytest.mark.parametrize(("later", "outcome"), [("The label should read FREEZE.", False), ("Thanks.", True)])
def test_a_name_that_the_user_gave_later_is_no_change_by_the_summary(later: str, outcome: bool) -> None:
    typed = "In the GUI the button label is HOLD, colour #3FB8AF when on."
    session = build(user(typed), say(), user(later), say(), compact("- Button label FREEZE, colour #3FB8AF"))
    assert (trace_recorded(session)[0][typed].outcome == "changed") == outcome


def test_a_rule_that_could_not_be_compared_is_told_when_it_is_gone() -> None:
    rule = "Bitte nie direkt auf die Produktion schreiben."
    german = "Der Parser ist fertig, und die Tests sind es auch. Als nächstes kommt der Bericht."
    session = run(rule, ENGLISH, german)
    (finding,) = lint(session, rules="CI002")
    assert finding.entry == session.compactions[1].entry


@pytest.mark.parametrize(
    "rule", ["Limit it to 5 per user, 10 per day.", "Only mail ops@acme.com and dev@acme.com."]
)
def test_english_with_words_of_other_languages_is_english(rule: str) -> None:
    assert trace_recorded(run(rule, ENGLISH))[0][rule].outcome == "absent"


def test_a_question_is_not_answered_by_a_word_inside_another() -> None:
    rule = "Give medians, no p-values, for each token."
    session = build(user("ok"), say(), user(rule), say(), compact("Medians, with p-values."), user("k"))
    assert rule in session.why("p-values")


def test_a_unit_in_a_letter_that_folds_to_it_is_read() -> None:
    text = index_text("Wait 5 s each time.")
    assert compare_fact("constraint", "Wait 5\u017f each time.", text).outcome != "absent"
