"""Compactions by Anthropic's API: the block is sent back unchanged, first in the context."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector import check_context, check_request, count_tokens, live_context, read_session, render_request
from inspector.session.session import Session
from tests.summaries.test_server_side import BOUND
from tests.wire.test_checks import Json, assistant, user

BLOCK: Json = {
    "type": "compaction",
    "content": "The tide tables moved to src/tides.py.",
    "encrypted_content": "EpQB",
    "signature": "c2ln",
    "tool_changes": [{"type": "tool_addition", "name": "tides"}],
    "field_of_tomorrow": [1],
}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "sealed"}
WORDS = {"type": "text", "text": "Done."}
CALL = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a.py"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a"}]}
AGAIN, REST = {**CALL, "id": "t2"}, {**RESULT, "tool_use_id": "t2"}


def read(*messages: Json, **more: Any) -> Session:
    body = {"model": BOUND, "max_tokens": 9, "messages": list(messages), **more}
    assert check_request(body) == ()
    return read_session(json.dumps(body).encode())


BEFORE = (user("Go."), assistant(THOUGHT, CALL), user(RESULT))
THRESHOLD, ON_DEMAND = ("compact-2026-01-12",), ("compact-2026-09-04",)
TALKS: dict[str, tuple[tuple[Json, ...], int, tuple[str, ...]]] = {
    "in a reply": ((*BEFORE, assistant(BLOCK, THOUGHT, WORDS), user("And now?")), 3, THRESHOLD),
    "with a call": ((*BEFORE, assistant(BLOCK, THOUGHT, AGAIN), user(REST)), 3, THRESHOLD),
    "paused": ((*BEFORE, assistant(BLOCK)), 3, THRESHOLD),
    "paused, then continued": ((*BEFORE, assistant(BLOCK), user("Go on.")), 3, THRESHOLD),
    "the second one": (
        (*BEFORE, assistant({**BLOCK, "content": "Old."}, WORDS), user("So?"), assistant(BLOCK), user("Ok.")),
        5,
        THRESHOLD,
    ),
    "first, then the user": ((assistant(BLOCK), user("Go on."), assistant(WORDS), user("Ok.")), 0, ON_DEMAND),
    "first, then the assistant": ((user(BLOCK), assistant(THOUGHT, WORDS), user("Ok.")), 0, ON_DEMAND),
}
"""Messages, the index of the compaction in force, and the beta header that it needs."""


@pytest.mark.parametrize("kind", TALKS)
def test_the_context_begins_with_the_provider_s_own_block(kind: str) -> None:
    """The server ignores everything before it; all later messages are sent unchanged."""
    messages, first, betas = TALKS[kind]
    session = read(*messages)
    context = live_context(session, count_tokens(session))
    rendered = render_request(context)
    assert rendered.request["messages"] == list(messages[first:])
    assert (rendered.betas, rendered.left_out) == (betas, ())
    assert check_context(context) == ()


def test_reasoning_after_it_stays_valid_where_it_is_bound() -> None:
    """The server keeps the binding across its own compaction, but refuses the reasoning after our summary."""
    messages, _, _ = TALKS["in a reply"]
    session = read(*messages)
    ledger = count_tokens(session)
    before = live_context(session.at("m3"), ledger)
    assert check_context(live_context(session, ledger), previous=before) == ()


def test_another_model_is_sent_its_words_as_the_user_s() -> None:
    messages, _, _ = TALKS["paused, then continued"]
    session = read(*messages)
    rendered = render_request(live_context(session, count_tokens(session)), model="claude-opus-4-6")
    assert rendered.request["messages"] == [user(BLOCK["content"], "Go on.")]
    assert (rendered.betas, check_request(rendered.request)) == ((), ())


def test_a_compaction_that_failed_changes_nothing() -> None:
    failed = {"type": "compaction", "content": None}
    messages = (*BEFORE, assistant(failed, WORDS), user("Go on."))
    session = read(*messages)
    rendered = render_request(live_context(session, count_tokens(session)))
    assert rendered.request["messages"] == list(messages)
    assert rendered.betas == ()
