"""What Python sends is of the kinds that the front end's types are made from (js/src/payloads/types.ts)."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from jsonschema import Draft7Validator

from inspector import count_tokens, open_demo, read_session
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.payloads.base_payload import Labelled, Payload, to_json
from inspector.workbench.payloads.header import describe_bill
from inspector.workbench.queries import answer_query
from tests.claude_rows import Claude, dump
from tests.golden_wire import draw_all
from tests.payload_types import FILE, TRAITS, list_replies, make_schema, to_text
from tests.workbench.asking import open_model


def test_the_schema_in_the_tree_is_that_of_the_payloads() -> None:
    assert FILE.read_text("utf-8") == to_text(make_schema()), "run `python -m tests.payload_types`"


@pytest.mark.parametrize("name", TRAITS)
def test_a_drawing_holds_what_its_kind_says_and_nothing_else(name: str) -> None:
    assert_is(draw_all()[name][0], name, "traits")


@pytest.mark.parametrize(
    "query",
    [
        {"type": "rows", "from": 0, "to": 5},
        {"type": "body", "row": 3},
        {"type": "summary", "place": 0},
        {"type": "search", "query": "tide"},
        {"type": "lesson", "place": 1},
        {"type": "rules"},
    ],
    ids=lambda query: query["type"],
)
def test_a_reply_holds_what_its_kind_says_and_nothing_else(model: WorkbenchModel, query: Any) -> None:
    reply = answer_query(model, {"id": "1", **query})
    assert (reply.pop("type"), reply.pop("id")) == (query["type"], "1"), reply
    assert_is(json.loads(json.dumps(reply)), query["type"], "replies")


@pytest.fixture(scope="module")
def model() -> WorkbenchModel:
    return open_model(open_demo(), "flue")


def assert_is(value: dict[str, Any], name: str, root: str) -> None:
    """The value is read as its kind by msgspec, and by whoever reads the schema."""
    schema = make_schema()
    part = {**schema["properties"][root]["properties"][name], "definitions": schema["definitions"]}
    Draft7Validator(part).validate(value)
    kinds: dict[str, type[Payload]] = {"traits": TRAITS, "replies": list_replies()}[root]
    assert to_json(msgspec.convert(value, kinds[name])) == value


def test_texts_are_made_safe_on_their_way_and_names_to_ask_by_stay() -> None:
    class Name(Labelled, frozen=True):
        finished = True

    assert to_json(Labelled("a", "\x1b[31mred"))["label"] == "␛[31mred"
    assert to_json(Name("\x1b", "b"))["id"] == "\x1b"


@pytest.mark.parametrize(
    ("model", "cost", "known"),
    [("claude-opus-4-5", "$0.92", "USD 0.92"), ("nobody-1", "cost not known", "not known")],
)
def test_the_bill_says_whether_its_sum_is_known(model: str, cost: str, known: str) -> None:
    """60,000 at 5 a million, 480,000 at 0.5 and 60,000 at 6.25: 0.30 + 0.24 + 0.375."""
    rows = Claude().say("Fix it.").reply("x", 600_000, model)
    bill = describe_bill(count_tokens(read_session(dump(rows.rows))))
    assert (bill.cost, bill.sentence) == (cost, f"Cost by the file's usage: {known}")
    assert all((row[-1] == "?") == (model == "nobody-1") for row in bill.rows)


def test_a_bill_with_a_part_that_is_not_known_says_so() -> None:
    rows = Claude().say("Fix it.").reply("x", 600_000).reply("y", 600_000, "nobody-1")
    bill = describe_bill(count_tokens(read_session(dump(rows.rows))))
    assert bill.cost.startswith("at least ") and bill.sentence.endswith(
        "; the price of some requests is unknown"
    )


def test_a_session_without_replies_has_no_bill() -> None:
    bill = describe_bill(count_tokens(read_session([{"role": "user", "content": "Fix it."}])))
    assert (bill.cost, bill.rows) == ("", [])
