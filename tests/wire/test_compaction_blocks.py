"""Compactions by Anthropic's API: the block is sent back unchanged, first in the context."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector import (
    check_context,
    check_request,
    count_tokens,
    export_session,
    lint,
    live_context,
    read_session,
    render_request,
)
from inspector.session.session import Session
from tests.summaries.test_server_side import BOUND

Json = dict[str, Any]

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


def user(*blocks: Json | str) -> Json:
    return {
        "role": "user",
        "content": [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks],
    }


def assistant(*blocks: Json) -> Json:
    return {"role": "assistant", "content": list(blocks)}


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


@pytest.mark.parametrize("kind", ["in a reply", "paused, then continued", "the second one"])
@pytest.mark.parametrize("form", ["requests", "messages"])
def test_logs_in_lines_know_the_block_too(kind: str, form: str) -> None:
    """Requests with replies, each with all messages before it; or the messages alone."""
    messages, first, betas = TALKS[kind]
    lines = list(messages)
    if form == "requests":
        lines = [
            {"request": {"model": BOUND, "messages": messages[:at]}, "response": {**message, "model": BOUND}}
            for at, message in enumerate(messages)
            if message["role"] == "assistant"
        ]
        lines.append({"request": {"model": BOUND, "messages": messages}, "response": assistant(WORDS)})
    session = read_session("".join(f"{json.dumps(line)}\n" for line in lines).encode())
    assert session.format == ("request-log" if form == "requests" else "message-lines")
    context = live_context(session, count_tokens(session))
    rendered = render_request(context, model=BOUND)
    assert rendered.request["messages"][: len(messages) - first] == list(messages[first:])
    assert rendered.betas == betas
    assert sum(entry.kind == "compaction" for entry in session.entries) == str(messages).count(
        "'signature': 'c2ln'"
    )


def test_a_request_that_names_its_header_has_it() -> None:
    """Otherwise the position decides: only a compaction on demand is the first message."""
    edits = {"edits": [{"type": "compact_20260112"}]}
    for more in ({"betas": ["compact-2026-01-12", "other-2026"]}, {"context_management": edits}):
        session = read(assistant(BLOCK), user("Go on."), **more)
        assert render_request(live_context(session, count_tokens(session))).betas == THRESHOLD


def test_another_model_is_sent_its_words_as_the_user_s() -> None:
    messages, _, _ = TALKS["paused, then continued"]
    session = read(*messages)
    rendered = render_request(live_context(session, count_tokens(session)), model="claude-opus-4-6")
    assert rendered.request["messages"] == [user(BLOCK["content"], "Go on.")]
    assert (rendered.betas, check_request(rendered.request)) == ((), ())


def test_a_mark_of_the_cache_is_no_part_of_it() -> None:
    """A request has at most four cache marks, and marks are not sent again."""
    marked = {**BLOCK, "cache_control": {"type": "ephemeral"}}
    session = read(*BEFORE, assistant(marked), user("Go on."))
    rendered = render_request(live_context(session, count_tokens(session)))
    assert rendered.request["messages"][0] == assistant(BLOCK)


def test_a_compaction_that_failed_changes_nothing() -> None:
    failed = {"type": "compaction", "content": None}
    messages = (*BEFORE, assistant(failed, WORDS), user("Go on."))
    session = read(*messages)
    rendered = render_request(live_context(session, count_tokens(session)))
    assert rendered.request["messages"] == list(messages)
    assert rendered.betas == ()


def test_a_file_that_has_no_place_for_the_block_says_so() -> None:
    messages, _, _ = TALKS["in a reply"]
    losses = {loss.name: loss.times for loss in export_session(read(*messages), "claude-code").losses}
    assert losses["sealed"] == 1


def test_a_policy_is_not_blamed_and_not_excused_for_it() -> None:
    """The session itself is valid, so the policy's context is judged alone."""
    messages, _, _ = TALKS["in a reply"]
    session = read(*messages, model="claude-opus-4-6")
    assert [finding.code for finding in lint(session, "claude-code", rules="CI013")] == []
