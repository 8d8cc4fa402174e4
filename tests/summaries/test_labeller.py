"""The reader that asks a model for rules and choices: the real client against a server on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from inspector import Session, count_tokens, export_session, lint, make_plan, open_demo, read_session
from inspector.errors import (
    AnswerRefused,
    ArgumentError,
    EditError,
    KeyMissing,
    OtherSession,
    ReadError,
    RequestRefused,
    Stopped,
)
from inspector.facts.typed_texts import find_typed_texts
from inspector.formats.manifest import dump_manifest
from inspector.redaction.clean import clean_session, look_through
from inspector.redaction.redact import Redactor
from inspector.session.labels import TextLabels, hash_text
from inspector.summaries.claude.labeller import LONGEST_ANSWER, ClaudeLabeller
from inspector.workbench.controller import Controller
from inspector.workbench.model import WorkbenchModel
from tests.loopback import Cue, Loopback, fail
from tests.work import limit_work

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


def test_a_secret_is_sent_where_its_name_is_kept_and_a_name_that_none_has_is_refused(serve: OPEN) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    server = serve(answer())
    (found,) = labeller(server).preview(talk(f"Use {secret} for it.")).redacted
    (kept,) = labeller(server, keep=[found.name]).preview(talk(f"Use {secret} for it.")).requests
    assert secret in kept.text
    wrong = labeller(server, keep=["nobody 12345678"])
    for ask in (wrong.preview, wrong):
        with pytest.raises(EditError, match="nobody"):
            ask(talk("Use it."))
    assert server.received == []


def test_a_long_text_is_read_in_parts_and_a_rule_in_its_middle_is_found(serve: OPEN) -> None:
    long = "Hello.\n" + "x y\n" * 2_800 + "Never push to main.\n" + "x y\n" * 4_000 + "Thanks."
    server = serve()
    asked = labeller(server)
    shown = asked.preview(talk(long))
    assert len(shown.requests) == 3 and "1 text is longer than 10,000 characters: in parts" in repr(shown)
    sent = [json.loads(one.body["messages"][0]["content"][0]["text"])[0]["typed"] for one in shown.requests]
    assert "".join(sent) == long
    holds = ["Never push to main." in words for words in sent]
    server.cues.extend(answer((1, "rule", "Never push to main.")) if here else answer() for here in holds)
    result = asked(talk(long))
    assert [long[slice(*span)] for span in result.labels[0].rules] == ["Never push to main."]
    assert result.left_out == 0 and forms(talk(long).with_labels(result.labels), "constraint") == [
        "Never push to main."
    ]


TOKEN = "ghp_" + "a1B2c3D4e5" * 4


@pytest.mark.parametrize("more", [369, 380, 390, 395, 5_000])
def test_a_secret_that_a_cut_would_part_is_taken_out_before(serve: OPEN, more: int) -> None:
    said = f"I use {TOKEN} " + "y " * (more // 2)
    typed = "a " * (5_000 - more // 2) + TOKEN + " b" * 6_000
    rows = [
        {"role": "user", "content": typed},
        {"role": "assistant", "content": said},
        {"role": "user", "content": "Go."},
    ]
    server = serve()
    labeller(server)(read_session(rows))
    for at in range(0, 40, 5):
        assert TOKEN[at : at + 12].encode() not in server.bytes


def test_secrets_of_the_environment_are_taken_out_whatever_signs_they_hold(
    serve: OPEN, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = {"DB_PASSWORD": 'en"v\\secretXX99zz2', "SIGN_KEY_SECRET": "line1abc77\nline2def88"}
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    (asked,) = (
        labeller(serve()).preview(talk(*(f"It is {value} today." for value in secrets.values()))).requests
    )
    assert asked.text.count("[redacted environment-secret") == 2


def test_shell_commands_and_reasoning_are_not_sent(serve: OPEN) -> None:
    ran = "<command>\ncat notes\n</command>\n<result>\nCONFIDENTIAL\n</result>"
    ran = f"<user_shell_command>\n{ran}\n</user_shell_command>"
    rows = [
        {"role": "user", "content": "Which store?"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "A, or B."},
                {"type": "thinking", "thinking": "He hides it."},
            ],
        },
        {
            "role": "user",
            "content": ran,
        },
        {"role": "user", "content": "<bash-input>ls secrets</bash-input>"},
        {"role": "user", "content": "I ran the following shell command:\n```sh\nls secrets\n```"},
        {"role": "user", "content": "B."},
    ]
    (asked,) = labeller(serve()).preview(read_session(rows)).requests
    assert "Which store?" in asked.text and "A, or B." in asked.text
    for words in ("CONFIDENTIAL", "cat notes", "ls secrets", "He hides it"):
        assert words not in asked.text


def test_what_is_personal_goes_out_where_that_is_asked_for(serve: OPEN) -> None:
    session = talk("Ask bob.li@acme-corp.io first.")
    texts = [
        labeller(serve(), personal=personal).preview(session).requests[0].text for personal in (False, True)
    ]
    assert ["bob.li@acme-corp.io" in text for text in texts] == [True, False]


def test_half_a_sign_is_sent_as_a_sign_that_there_is(serve: OPEN) -> None:
    server = serve()
    server.cues.append(answer((1, "rule", "Use it \ufffd always.")))
    result = labeller(server)(talk("Use it \ud83d always."))
    assert b"\\\\ud83d" not in server.asked[0].raw and result.rules == 1


def test_a_text_that_ends_like_the_beginning_of_a_secret_takes_nothing_of_the_next_along(serve: OPEN) -> None:
    texts = (
        'In .netrc: machine h login bob password "',
        "Never push to main.",
        "Keep http://localhost:3000\n@src/main.py as it is.",
    )
    server = serve(answer((2, "rule", texts[1]), (3, "rule", texts[2])))
    result = labeller(server)(talk(*texts))
    sent = json.loads(server.asked[0].body["messages"][0]["content"][0]["text"])
    assert [one["typed"] for one in sent] == list(texts)
    assert (result.rules, result.left_out) == (2, 0)


def test_a_placeholder_is_never_cut_in_two_and_what_it_stands_for_is_told(serve: OPEN) -> None:
    typed = "a" * 9_980 + f" {TOKEN}" + " b" * 30
    said = f"I use {TOKEN} " + "y " * 185
    rows = [
        {"role": "user", "content": typed},
        {"role": "assistant", "content": said},
        {"role": "user", "content": "Go."},
    ]
    shown = labeller(serve()).preview(read_session(rows))
    text = "".join(one.text for one in shown.requests)
    assert text.count("[redacted ") == text.count("redacted ") == 1 and [
        one.times for one in shown.redacted
    ] == [1]


# What comes of it.


def test_labels_take_the_place_of_patterns_in_the_texts_that_were_read_alone(serve: OPEN) -> None:
    server = serve(answer((1, "rule", "Numbers in the table are plain integers.")))
    before = talk(FIRST)
    by_words = ["Numbers in the table are plain integers.", "Never push to main."]
    assert forms(before, "constraint") == by_words
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


def test_a_choice_that_only_its_question_makes_one_is_followed_through_a_compaction(serve: OPEN) -> None:
    session = talk(FIRST, SECOND, "Go on.", "And on.")
    result = labeller(serve(answer((2, "choice", "celery, it is there anyway"))))(session)
    assert (result.rules, result.choices, result.left_out) == (0, 1, 0)
    read = session.with_labels(result.labels)
    plan = make_plan(read, count_tokens(read), "flue", {"cut": "end"}, reason="manual")
    (row,) = [one for one in plan.trace if one.fact.kind == "choice"]
    assert row.fact.form == "celery, it is there anyway" and row.outcome != "verbatim"
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
    assert "4 stretches left out that no text holds" in repr(result)


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
    assert "1 text was read already: not sent" in repr(other.preview(grown))
    result = other(grown)
    assert FIRST not in server.asked[1].text and SECOND in server.asked[1].text
    assert [one.text for one in result.labels] == [hash_text(SECOND)]
    assert other(grown.with_labels(result.labels)).labels == () and len(server.asked) == 2


def test_what_was_answered_before_a_failure_is_kept_and_the_rest_asked_for(serve: OPEN) -> None:
    texts = [f"{name} {'word ' * 1_500}" for name in "abc"]
    server = serve(
        answer((1, "rule", "a word"), (1, "rule", "b word")),
        fail(529),
        answer(),
        answer((1, "choice", "c word")),
    )
    asked = labeller(server)
    with pytest.raises(RequestRefused) as caught:
        asked(talk(*texts))
    assert caught.value.used is not None and caught.value.used.tokens > 1_000, "the first answer was paid for"
    result = asked(talk(*texts))
    assert len(server.asked) == 4 and all(texts[0][:50] not in one.text for one in server.asked[2:])
    assert len(result.labels) == 3 and (result.rules, result.choices, result.left_out) == (1, 1, 1)
    assert result.usage.tokens > 2_000, "of two requests"


def test_texts_whose_answer_cannot_be_used_are_asked_for_in_halves_and_the_rest_is_read(serve: OPEN) -> None:
    refused = Cue(text="No.", stop_reason="refusal")
    server = serve(
        refused, answer((1, "rule", "Never push to main.")), refused, refused, answer((1, "rule", "D."))
    )
    result = labeller(server)(talk(FIRST, "B.", "C.", "D."))
    sent = [json.loads(one.body["messages"][0]["content"][0]["text"]) for one in server.asked]
    assert [[one["typed"][0] for one in texts] for texts in sent] == [
        ["N", "B", "C", "D"], ["N", "B"], ["C", "D"], ["C"], ["D"]
    ]  # fmt: skip
    assert len(result.labels) == 3 and result.unread == 1 and result.rules == 2
    assert "1 text not read: the model refused to read it" in repr(result)


def test_a_request_that_the_provider_refuses_is_parted_and_of_a_text_without_a_part_nothing_more_is_asked(
    serve: OPEN,
) -> None:
    long = "".join(f"{at} {'word ' * 1_900}\n" for at in range(3))
    server = serve(fail(400, "Output blocked by content filtering policy"), answer((1, "rule", "No tabs.")))
    result = labeller(server)(talk(long, "No tabs."))
    sent = [
        [m["typed"][:2] for m in json.loads(one.body["messages"][0]["content"][0]["text"])]
        for one in server.asked
    ]
    assert sent == [["0 "], ["No"]]
    assert (result.unread, result.rules) == (1, 1) and "the provider refused it" in repr(result)
    with pytest.raises(RequestRefused) as caught:
        labeller(serve(fail(400, "Output blocked")))(talk("No tabs."))
    assert caught.value.kind == "invalid"


def test_a_provider_that_refuses_everything_is_not_asked_for_every_text(serve: OPEN) -> None:
    texts = [f"{number}. No tabs." for number in range(40)]
    server = serve(*(fail(400, "Your credit balance is too low") for _ in range(80)))
    with pytest.raises(RequestRefused, match="credit balance"):
        labeller(server)(talk(*texts))
    assert len(server.asked) == 3


def test_of_a_long_text_only_the_parts_that_are_missing_are_asked_for_again(serve: OPEN) -> None:
    long = "".join(f"{at} {'word ' * 1_900}\n" for at in range(3))
    server = serve(answer((1, "rule", "0 word")), answer(), fail(529), answer((1, "rule", "2 word")))
    asked = labeller(server)
    with pytest.raises(RequestRefused):
        asked(talk(long))
    (labels,) = asked(talk(long)).labels
    assert len(server.asked) == 4 and [long[slice(*span)] for span in labels.rules] == ["0 word", "2 word"]


def test_what_a_stopped_call_had_taken_is_in_the_next_ones_usage(serve: OPEN) -> None:
    texts = [f"{name} {'word ' * 2_000}" for name in "ab"]
    server = serve(answer(), answer())
    asked = labeller(
        server,
        tell=lambda progress: asked.stop() if progress.share == 1.0 and len(server.asked) == 1 else None,
    )
    with pytest.raises(Stopped):
        asked(talk(*texts))
    assert asked(talk(*texts)).usage.tokens > 4_000


def test_a_text_that_is_too_long_for_the_model_is_told_and_the_others_are_read(serve: OPEN) -> None:
    server = serve(answer(), window=2_500)
    result = labeller(server)(talk("Use tabs.", "x y " * 2_400))
    assert len(result.labels) == 1 and result.unread == 1 and "does not fit" in repr(result)


def test_a_stop_between_two_requests_ends_it(serve: OPEN) -> None:
    server = serve(answer(), answer(), answer())
    asked = labeller(server, tell=lambda progress: asked.stop() if progress.share == 1.0 else None)
    with pytest.raises(Stopped):
        asked(talk(*(f"{name} {'word ' * 2_000}" for name in "abc")))
    assert len(server.asked) == 1


def test_a_quote_is_taken_where_it_is_a_sentence_and_not_where_it_cuts_a_word(serve: OPEN) -> None:
    said = "We refuse it. Do not use tabs.\n    use tabs in Makefiles. Then use it."
    cue = answer((1, "rule", "use tabs"), (1, "rule", "use it"))
    (labels,) = labeller(serve(cue))(talk(said)).labels
    assert labels.rules == (
        ((at := said.index("use tabs in")), at + 8),
        ((at := said.rindex("use it")), at + 6),
    )


@pytest.mark.parametrize(
    "quote",
    ["a [redacted x] a [redacted x] zzz", "[redacted x]", "add [redacted x] done", "a " * 3_000 + "z"],
)
def test_a_placeholder_that_no_text_holds_stands_in_none_and_is_looked_for_at_once(
    serve: OPEN, quote: str
) -> None:
    text = "Please add the sum and push it when done. " + "a " * 4_000
    with limit_work():
        result = labeller(serve(answer((1, "rule", quote))))(talk(text))
    assert (result.rules, result.left_out) == (0, 1)


@pytest.mark.parametrize(
    ("said", "quote", "wanted"),
    [
        (f"Deploy with {TOKEN}", "Deploy with {}", f"Deploy with {TOKEN}"),
        (
            f"Fix it. {TOKEN} must never be used. Go.",
            "{} must never be used.",
            f"{TOKEN} must never be used.",
        ),
        (
            f"Take {TOKEN} or {TOKEN}, no other. Go.",
            "Take {} or {}, no other.",
            f"Take {TOKEN} or {TOKEN}, no other.",
        ),
    ],
)
def test_a_quote_with_a_placeholder_is_the_words_that_it_stands_for(
    serve: OPEN, said: str, quote: str, wanted: str
) -> None:
    (shown,) = labeller(serve()).preview(talk(said)).redacted
    placeholder = f"[redacted {shown.name}]"
    (labels,) = labeller(serve(answer((1, "rule", quote.replace("{}", placeholder)))))(talk(said)).labels
    assert [said[slice(*span)] for span in labels.rules] == [wanted]


def test_an_answer_to_a_question_has_the_choices_of_its_labels_alone() -> None:
    session = open_asked()
    (whole,) = forms(session, "choice")
    texts = [text for text in find_typed_texts(session) if " ".join(text.text.split()) == whole]
    (text,) = texts
    none = session.with_labels([TextLabels(text=text.digest, by="me")])
    some = session.with_labels([TextLabels(text=text.digest, by="me", choices=((0, 4),))])
    assert forms(none, "choice") == [] and forms(some, "choice") == [text.text[:4]]
    assert whole in forms(none, "statement") and whole not in forms(session, "statement")


def open_asked() -> Session:
    """A question that the model asked by a tool, and its answer."""
    call = {
        "type": "tool_use",
        "id": "t1",
        "name": "AskUserQuestion",
        "input": {"questions": [{"question": "Which store?"}]},
    }
    told = 'User has answered your questions: "Which store?"="celery". You can now continue with the answers.'
    result = {"type": "tool_result", "tool_use_id": "t1", "content": told}
    return read_session(
        [
            {"role": "user", "content": "Go."},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"rules": ((0, 1 << 40),)},
        {"rules": ((-9, -1),)},
        {"choices": ((5, 5),)},
        {"choices": ((True, 5),)},
        {"text": "AB" * 32},
        {"text": "ab"},
    ],
)
def test_labels_that_cannot_be_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TextLabels(**{"text": "0" * 64, "by": "me", **fields})
    manifest = {**talk(FIRST).model_dump(), "labels": [{"text": "0" * 64, "by": "me", **fields}]}
    with pytest.raises(ReadError):
        read_session(json.dumps(manifest).encode())


def test_what_is_no_label_is_refused_by_name_and_a_stretch_behind_the_text_is_none() -> None:
    session = talk(FIRST)
    for wrong in (3, [{"text": "0" * 64}], TextLabels(text="0" * 64, by="me"), None):
        with pytest.raises(ArgumentError, match="with_labels"):
            session.with_labels(wrong)  # type: ignore[arg-type]
    beyond = session.with_labels([TextLabels(text=hash_text(FIRST), by="me", rules=((0, 10_000), (0, 7)))])
    assert forms(beyond, "constraint") == ["Numbers"]


def test_an_export_that_holds_no_labels_says_so_and_a_manifest_holds_them_only_where_there_are_any() -> None:
    session = talk(FIRST)
    read = session.with_labels([TextLabels(text=hash_text(FIRST), by="me")])
    losses = {loss.name: loss[1] for loss in export_session(read, "claude-code").losses}
    assert losses["marked"] == 1 and "marked" not in {
        loss.name for loss in export_session(session, "pi").losses
    }
    assert '"labels"' in dump_manifest(read) and '"labels"' not in dump_manifest(session)


def test_the_order_in_which_labels_are_given_makes_no_other_session() -> None:
    labels = [TextLabels(text=hash_text(text), by="me") for text in (FIRST, SECOND)]
    session = talk(FIRST, SECOND)
    ledger = count_tokens(session.with_labels(labels))
    assert make_plan(session.with_labels(labels[::-1]), ledger)


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
    with pytest.raises(OtherSession, match="counted under other labels"):
        make_plan(read, ledger)
    plans = make_plan(read, count_tokens(read, known=ledger)), make_plan(session, ledger)
    assert [sum(row.fact.kind == "constraint" for row in plan.trace) for plan in plans] == [0, 2]


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


@pytest.mark.parametrize(
    "stretch",
    [
        {"n": 1},
        {"n": "1", "kind": "rule"},
        {"n": 1, "kind": "wish", "quote": "Never push to main."},
        {"n": 1, "kind": "rule", "quote": 3},
        {"n": [1], "kind": "rule", "quote": "Never push to main."},
        {"n": 7, "kind": "rule", "quote": "Never push to main."},
    ],
)
def test_a_stretch_that_is_not_told_as_asked_is_left_out_and_the_others_stand(
    serve: OPEN, stretch: dict[str, Any]
) -> None:
    good = {"n": 1.0, "kind": "Rule", "quote": "Never push to main."}
    result = labeller(serve(Cue(text=f"Message [1] has:\n{json.dumps([stretch, good])}\nSee [note].")))(
        talk(FIRST)
    )
    assert (result.rules, result.left_out) == (
        (1, 1) if isinstance(stretch, dict) else (0, 0)
    ) or result.rules == 1


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
