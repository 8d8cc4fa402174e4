"""The reader that asks a model for rules and choices: the real client against a server on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import Session, open_demo, read_session
from inspector.errors import AnswerRefused, KeyMissing
from inspector.session.labels import TextLabels, hash_text
from inspector.summaries.claude.labeller import LONGEST_ANSWER, ClaudeLabeller
from tests.loopback import Cue, Loopback

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
    typed = {said.ref for fact in session.facts.by_kind("statement") for said in fact.said}
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
    assert shown.body["max_tokens"] < LONGEST_ANSWER
    assert secret not in shown.text and "[redacted" in shown.text
    sent = json.loads(shown.body["messages"][0]["content"][0]["text"])[0]["typed"]
    server.cues.append(answer((1, "rule", sent[: sent.index(" Thanks")])))
    result = asked(talk(said))
    assert secret.encode() not in server.bytes
    assert result.labels[0].rules == ((0, said.index(" Thanks")),) and result.left_out == 0


# What comes of it.


def test_labels_take_the_place_of_patterns_in_the_texts_that_were_read_alone(serve: OPEN) -> None:
    server = serve(answer((1, "rule", "Numbers in the table are plain integers.")))
    before = talk(FIRST)
    assert forms(before, "constraint") == ["Never push to main."]
    result = labeller(server)(before)
    after = talk(FIRST, SECOND).with_labels(result.labels)
    assert forms(after, "constraint") == [
        "Numbers in the table are plain integers.",
        "Never rename a column.",
    ]
    (said,) = after.facts["constraint", "Numbers in the table are plain integers."].said
    assert (said.start, said.end, said.by) == (0, 40, "user")
    assert forms(after, "statement") == [
        "Never push to main.",
        "Can you add the sum?",
        "celery, it is there anyway.",
    ]


def test_labels_stay_with_a_session_at_another_leaf_and_in_a_file(serve: OPEN) -> None:
    session = talk(FIRST, SECOND)
    read = session.with_labels(labeller(serve(answer((1, "choice", "Never push to main."))))(session).labels)
    again = read_session(read.model_dump_json().encode())
    for one in (read.at(read.entries[1].id), again):
        assert forms(one, "choice") == ["Never push to main."], one
    assert again.labels == read.labels and read.tree is session.tree


def test_nobody_is_asked_twice(serve: OPEN) -> None:
    server = serve(answer(), answer((1, "rule", "Never rename a column.")))
    asked = labeller(server)
    read = talk(FIRST).with_labels(asked(talk(FIRST)).labels)
    grown = talk(FIRST, SECOND).with_labels(read.labels)
    other = labeller(server)
    assert "1 text was read already: not sent" in repr(other.preview(grown))
    result = other(grown)
    assert FIRST not in server.asked[1].text and SECOND in server.asked[1].text
    assert [one.text for one in result.labels] == [hash_text(SECOND)]
    assert other(grown.with_labels(result.labels)).labels == () and len(server.asked) == 2


# Answers that cannot stand.


@pytest.mark.parametrize(
    ("cue", "kind"),
    [
        (Cue(text='[{"n": 1, "kind": "rule"', stop_reason="max_tokens"), "cut_off"),
        (Cue(text="", stop_reason="end_turn"), "empty"),
        (Cue(text="I would rather not.", stop_reason="refusal"), "refusal"),
        (Cue(text="There are two rules."), "broken"),
        (Cue(text='[["n", 1]]'), "broken"),
        (Cue(text='[{"n": 1'), "broken"),
        (Cue(text='[{"n": 1, "kind": "rule", "quote": "Use "x" and never return [] here."}]'), "broken"),
        (Cue(text="Message 2 gives [], and so on."), "broken"),
    ],
)
def test_an_answer_that_is_no_list_of_stretches_is_refused(serve: OPEN, cue: Cue, kind: str) -> None:
    with pytest.raises(AnswerRefused) as caught:
        labeller(serve(cue))(talk(FIRST))
    assert caught.value.kind == kind and caught.value.used is not None
    assert "summary" not in str(caught.value)


def test_without_a_key_nothing_is_sent(serve: OPEN, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    server = serve()
    with pytest.raises(KeyMissing):
        labeller(server)(talk(FIRST))
    assert server.received == []


# Whatever is marked, that is what the facts say.

WORDS = st.text(st.sampled_from("ab Never.\n,'-*`é漢"), min_size=1, max_size=60).filter(
    lambda text: text.strip() != ""
)


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
