"""The reader that asks a model for rules and choices: the real client against a server on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector import Session, count_tokens, lint, make_plan, open_demo, read_session
from inspector.errors import AnswerRefused, EditError, KeyMissing, OtherSession, RequestRefused
from inspector.redaction.clean import clean_session, look_through
from inspector.redaction.redact import Redactor
from inspector.session.labels import TextLabels, hash_text
from inspector.summaries.claude.labeller import MOST_SENT, ClaudeLabeller
from inspector.workbench.controller import Controller
from inspector.workbench.model import WorkbenchModel
from tests.loopback import Cue, Loopback, fail

MODEL = "claude-opus-4-5"
OPEN = Callable[..., Loopback]
pytestmark = pytest.mark.usefixtures("provider_key")
FIRST = "Numbers in the table are plain integers. Never push to main. Can you add the sum?"
SECOND = "celery, it is there anyway. Never rename a column."


def talk(*texts: str) -> Session:
    """A person's messages, each answered."""
    rows = [
        ({"role": "user", "content": text}, {"role": "assistant", "content": f"Done {at}."})
        for at, text in enumerate(texts)
    ]
    return read_session([message for pair in rows for message in pair])


def labeller(server: Loopback, **options: Any) -> ClaudeLabeller:
    return ClaudeLabeller(MODEL, base_url=server.url, max_retries=0, **options)


def answer(*stretches: tuple[int, str, str]) -> Cue:
    return Cue(text=json.dumps([{"n": n, "kind": kind, "quote": quote} for n, kind, quote in stretches]))


def forms(session: Session, kind: str) -> list[str]:
    return [fact.form for fact in session.facts.by_kind(kind)]


# What is sent.


def test_what_is_shown_before_is_what_arrives_and_looking_sends_nothing(serve: OPEN) -> None:
    server = serve(answer())
    asked = labeller(server)
    shown = asked.preview(talk(FIRST, SECOND))
    assert server.received == [] and shown.tokens > 0 and shown.price is not None
    asked(talk(FIRST, SECOND))
    (sent,) = server.asked
    (told,) = shown.requests
    assert {key: value for key, value in sent.body.items() if key != "stream"} == told.body
    assert FIRST in sent.text and SECOND in sent.text
    assert "Done 0." in sent.text, "what the model said before a message"
    assert "Done 1." not in sent.text, "nothing was typed after it"
    assert "2 texts that people typed" in repr(shown)


def test_only_what_a_person_typed_is_sent_of_a_session(serve: OPEN) -> None:
    session = open_demo()
    server = serve(answer())
    labeller(server)(session)
    typed = {said.ref for fact in session.facts.by_kind("message") for said in fact.said if said.by == "user"}
    assert typed
    for ref in typed:
        assert json.dumps(session.block(ref).text[:200], ensure_ascii=False)[1:-1] in server.asked[0].text  # type: ignore[union-attr]
    outputs = [
        b.text for e in session.entries for b in e.blocks if b.kind == "tool_output" and len(b.text) > 500
    ]
    assert outputs and not any(text[:200] in server.asked[0].text for text in outputs)


def test_a_secret_stays_here_and_the_rule_it_stands_in_is_found_whole(serve: OPEN) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    said = f"Deploy with the token {secret} and nothing else. Thanks."
    server = serve()
    asked = labeller(server)
    (shown,) = asked.preview(talk(said)).requests
    assert secret not in shown.text and "[redacted" in shown.text
    sent = json.loads(shown.body["messages"][0]["content"][0]["text"])[0]["typed"]
    server.cues.append(answer((1, "rule", sent[: sent.index(" Thanks")])))
    result = asked(talk(said))
    assert secret.encode() not in server.bytes
    assert result.labels[0].rules == ((0, said.index(" Thanks")),) and result.left_out == 0


def test_a_secret_is_sent_where_its_name_is_kept_and_a_name_that_none_has_is_refused(serve: OPEN) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    server = serve()
    (found,) = labeller(server).preview(talk(f"Use {secret} for it.")).redacted
    (kept,) = labeller(server, keep=[found.name]).preview(talk(f"Use {secret} for it.")).requests
    assert secret in kept.text
    with pytest.raises(EditError, match="nobody"):
        labeller(server, keep=["nobody 12345678"]).preview(talk("Use it."))


def test_of_a_long_text_the_beginning_and_the_end_are_sent_and_that_is_said(serve: OPEN) -> None:
    long = "Use tabs. " + "x y " * MOST_SENT + "Never push."
    shown = labeller(serve()).preview(talk(long))
    (asked,) = shown.requests
    assert len(asked.text) < MOST_SENT + 6_000 and "Use tabs." in asked.text and "Never push." in asked.text
    assert "1 text is longer than 12,000 characters: without the middle" in repr(shown)


# What comes of it.


def test_labels_take_the_place_of_patterns_in_the_texts_that_were_read_alone(serve: OPEN) -> None:
    server = serve(answer((1, "rule", "Numbers in the table are plain integers.")))
    before = talk(FIRST)
    assert forms(before, "constraint") == ["Never push to main."], "by patterns"
    result = labeller(server)(before)
    after = talk(FIRST, SECOND).with_labels(result.labels)
    assert forms(after, "constraint") == [
        "Numbers in the table are plain integers.",
        "Never rename a column.",
    ]
    (said,) = after.facts["constraint", "Numbers in the table are plain integers."].said
    assert (said.start, said.end, said.by) == (0, 40, "user")
    assert [fact.form for fact in after.facts.by_kind("message")] == [FIRST, SECOND]


def test_a_choice_that_only_its_question_makes_one_is_followed_through_a_compaction(serve: OPEN) -> None:
    session = talk(FIRST, SECOND, "Go on.", "And on.")
    result = labeller(serve(answer((2, "choice", "celery, it is there anyway"))))(session)
    assert (result.rules, result.choices, result.left_out) == (0, 1, 0)
    read = session.with_labels(result.labels)
    plan = make_plan(read, count_tokens(read), "flue", {"cut": "end"}, reason="manual")
    (row,) = [one for one in plan.trace if one.fact.kind == "choice"]
    assert row.fact.form == "celery, it is there anyway" and row.fate != "verbatim"
    assert "celery" in row.why()
    assert [one for one in plan.trace if one.fact.kind == "constraint"] == []
    assert lint(read, "flue") is not None


def test_labels_stay_with_a_session_at_another_leaf_and_in_a_file(serve: OPEN) -> None:
    session = talk(FIRST, SECOND)
    read = session.with_labels(labeller(serve(answer((1, "choice", "Never push to main."))))(session).labels)
    again = read_session(read.model_dump_json().encode())
    for one in (read.at(read.entries[1].id), again):
        assert forms(one, "choice") == ["Never push to main."], one
    assert again.labels == read.labels and read.tree is session.tree


def test_a_quote_that_stands_in_no_text_is_left_out_and_counted(serve: OPEN) -> None:
    server = serve(
        answer(
            (1, "rule", "Numbers in the table are floats."),  # in none
            (2, "rule", "Never push to main."),  # in the other one
            (7, "rule", "Never push to main."),  # no such message
            (1, "rule", " "),
            (1, "rule", "Numbers in\n the table are plain integers."),  # blanks alone differ
        )
    )
    result = labeller(server)(talk(FIRST, SECOND))
    assert result.left_out == 4 and [one.rules for one in result.labels] == [((0, 40),), ()]
    assert "4 quotes that stand in no text left out" in repr(result)


def test_a_stretch_that_is_said_twice_is_two_places(serve: OPEN) -> None:
    said = "No tabs. Fix it. No tabs."
    result = labeller(serve(answer((1, "rule", "No tabs."), (1, "rule", "No tabs."))))(talk(said))
    assert result.labels[0].rules == ((0, 8), (17, 25))


def test_nobody_is_asked_twice(serve: OPEN) -> None:
    server = serve(answer(), answer((1, "rule", "Never rename a column.")))
    asked = labeller(server)
    read = talk(FIRST).with_labels(asked(talk(FIRST)).labels)
    grown = talk(FIRST, SECOND).with_labels(read.labels)
    other = labeller(server)
    assert "texts that have labels already are not sent" in repr(other.preview(grown))
    result = other(grown)
    assert FIRST not in server.asked[1].text and SECOND in server.asked[1].text
    assert [one.text for one in result.labels] == [hash_text(SECOND)]
    assert other(grown.with_labels(result.labels)).labels == () and len(server.asked) == 2


def test_what_was_answered_before_a_failure_is_kept_and_the_rest_asked_for(serve: OPEN) -> None:
    texts = [f"{name} {'word ' * 2_000}" for name in "abcd"]
    server = serve(answer((1, "rule", "a word")), fail(529), answer((1, "choice", "d word")))
    asked = labeller(server)
    with pytest.raises(RequestRefused):
        asked(talk(*texts))
    result = asked(talk(*texts))
    assert len(server.asked) == 3 and texts[0][:50] not in server.asked[2].text
    assert len(result.labels) == 4 and (result.rules, result.choices) == (1, 1)


def test_a_page_without_secrets_keeps_the_labels_of_texts_that_hold_none(serve: OPEN) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    session = talk(FIRST, f"The token is {secret}, keep it.")
    server = serve(answer((1, "choice", "Never push to main."), (2, "rule", "keep it")))
    read = session.with_labels(labeller(server)(session).labels)
    assert len(read.labels) == 2
    redactor = Redactor()
    look_through(read, read.path, redactor)
    clean = clean_session(read, read.path, redactor)
    assert [one.text for one in clean.labels] == [hash_text(FIRST)]
    assert forms(clean, "choice") == ["Never push to main."]


def test_a_file_that_grows_keeps_what_was_marked(serve: OPEN) -> None:
    session = talk(FIRST)
    read = session.with_labels(labeller(serve(answer((1, "choice", "Never push to main."))))(session).labels)
    model = WorkbenchModel(read)
    model.follow(talk(FIRST, SECOND))
    controller = Controller(read, lambda traits: None, "flue")
    controller.start({})
    controller.grow(talk(FIRST, SECOND))
    for grown in (model, controller.model):
        assert forms(grown.session, "choice") == ["Never push to main."]
        assert forms(grown.session, "constraint") == ["Never rename a column."]
        assert forms(grown.ledger.session, "choice") == ["Never push to main."]
    controller.close()


def test_a_ledger_counted_before_the_labels_is_no_ledger_of_theirs(serve: OPEN) -> None:
    session = talk(FIRST)
    ledger = count_tokens(session)
    read = session.with_labels([TextLabels(text=hash_text(FIRST), by="me")])
    with pytest.raises(OtherSession, match="counted before these labels"):
        make_plan(read, ledger)
    plans = make_plan(read, count_tokens(read, known=ledger)), make_plan(session, ledger)
    assert [sum(row.fact.kind == "constraint" for row in plan.trace) for plan in plans] == [0, 1]


# Answers that cannot stand.


@pytest.mark.parametrize(
    ("cue", "kind"),
    [
        (Cue(text='[{"n": 1, "kind": "rule"', stop_reason="max_tokens"), "cut_off"),
        (Cue(text="", stop_reason="end_turn"), "empty"),
        (Cue(text="I would rather not.", stop_reason="refusal"), "refusal"),
        (Cue(text="There are two rules."), "broken"),
        (Cue(text='[{"n": 1}]'), "broken"),
        (Cue(text='[{"n": "1", "kind": "rule", "quote": "Never push to main."}]'), "broken"),
        (Cue(text='[{"n": 1, "kind": "wish", "quote": "Never push to main."}]'), "broken"),
        (Cue(text='[["n", 1]]'), "broken"),
    ],
)
def test_an_answer_that_is_no_list_of_stretches_is_refused(serve: OPEN, cue: Cue, kind: str) -> None:
    with pytest.raises(AnswerRefused) as caught:
        labeller(serve(cue))(talk(FIRST))
    assert caught.value.kind == kind and caught.value.used is not None
    assert "summary" not in str(caught.value)


def test_words_around_the_list_do_no_harm(serve: OPEN) -> None:
    cue = Cue(text=f"Here it is:\n```json\n{answer((1, 'rule', 'Never push to main.')).text}\n```")
    assert labeller(serve(cue))(talk(FIRST)).rules == 1


def test_without_a_key_nothing_is_sent(serve: OPEN, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    server = serve()
    with pytest.raises(KeyMissing):
        labeller(server)(talk(FIRST))
    assert server.received == []


def test_a_session_in_which_nobody_typed_anything_new_asks_nothing(serve: OPEN) -> None:
    server = serve()
    result = labeller(server)(read_session([{"role": "assistant", "content": "Never push."}]))
    assert result.labels == () and server.received == []
    assert "nothing to send" in repr(
        labeller(server).preview(read_session([{"role": "assistant", "content": "a"}]))
    )


# Whatever is marked, that is what the facts say.

WORDS = st.text(st.sampled_from("ab Never.\n,'-*`é漢"), min_size=1, max_size=60).filter(
    lambda text: text.strip() != ""
)


@settings(max_examples=60)
@given(st.lists(WORDS, min_size=1, max_size=4, unique=True), st.data())
def test_facts_have_the_stretches_that_labels_name_and_no_others(
    texts: list[str], data: st.DataObject
) -> None:
    session = talk(*texts)
    spans = st.tuples(st.integers(0, 60), st.integers(1, 60)).map(lambda span: (span[0], span[0] + span[1]))
    labels = []
    for text in texts:
        marked = [
            tuple(
                sorted(
                    {
                        span
                        for span in data.draw(st.lists(spans, max_size=3))
                        if span[1] <= len(text) and text[slice(*span)].strip()
                    }
                )
            )
            for _ in range(2)
        ]
        labels.append(TextLabels(text=hash_text(text), by="me", rules=marked[0], choices=marked[1]))
    facts = session.with_labels(labels).facts
    for kind, name in (("constraint", "rules"), ("choice", "choices")):
        found = sorted(
            (session.block(said.ref).text, said.start, said.end)  # type: ignore[union-attr]
            for fact in facts.by_kind(kind)
            for said in fact.said
        )
        named = sorted(
            (text, *span) for text, one in zip(texts, labels, strict=True) for span in getattr(one, name)
        )
        # A stretch of marks alone ("**", "`") says nothing and is no fact.
        assert set(found) <= set(named)
        assert [each for each in named if any(c.isalnum() for c in each[0][each[1] : each[2]])] == [
            each for each in found if any(c.isalnum() for c in each[0][each[1] : each[2]])
        ]
