"""The cost stays below the limit of the preview, counted at the server with prices stated here."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from inspector import ClaudeLabeller, ClaudeSummariser, count_tokens, make_plan, read_session, summarise
from inspector.errors import AnswerRefused, InspectorError, RequestRefused
from inspector.planning.plan import Plan
from inspector.session.session import Session
from tests.loopback import KEY, Cue, Loopback, fail

MODEL = "claude-opus-4-5"
FRESH, WRITTEN, OUT = 5.0, 6.25, 25.0
"""US dollars per million tokens: sent, written to the cache, output."""


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


def typed(count: int) -> Session:
    rows = []
    for number in range(count):
        rows.append({"role": "user", "content": f"step {number}: Always use tabs in file{number}. " * 6})
        rows.append({"role": "assistant", "content": "ok"})
    return read_session(rows)


def plan_of(turns: int = 14) -> Plan:
    rows = [{"role": role, "content": "word " * 300} for _ in range(turns) for role in ("user", "assistant")]
    session = read_session(rows)
    return make_plan(session, count_tokens(session, "chars4_utf16"), "keep-recent-turns", {"cut": "m21"})


def spend(server: Loopback, longest: bool) -> float:
    """Compute the cost of the requests that the server answered.

    Four bytes sent are a token, and all tokens are written to the cache. An answer has one token, or as many
    as its request allows if `longest` is set.
    """
    sent = sum(len(request.raw) // 4 for request in server.asked)
    output = sum(request.body["max_tokens"] if longest else 1 for request in server.asked)
    return (sent * WRITTEN + output * OUT) / 1e6


PROSE = Cue(text="Here are the rules: none")
ANSWERS = {
    "prose": PROSE,
    "a refusal": Cue(text="I cannot", stop_reason="refusal"),
    "cut off": Cue(text="half", stop_reason="max_tokens"),
    "too long for the window": Cue(text="half", stop_reason="model_context_window_exceeded"),
    "nothing": Cue(text=""),
}


@pytest.mark.parametrize("count", [1, 90])
@pytest.mark.parametrize("name", ANSWERS)
def test_a_labeller_never_spends_more_than_its_preview_states(name: str, count: int) -> None:
    session = typed(count)
    with Loopback(*[ANSWERS[name]] * 5_000) as server:
        labeller = ClaudeLabeller(MODEL, base_url=server.url)
        preview = labeller.preview(session)
        with pytest.raises(AnswerRefused) as caught:
            labeller(session)
        assert preview.most is not None and preview.price is not None
        assert f"at most {preview.most}" in repr(preview)
        assert len(preview.requests) <= len(server.asked) <= preview.limit.requests
        assert caught.value.used.prompt <= preview.limit.sent
        assert caught.value.used.output <= preview.limit.output
        assert spend(server, longest=False) <= float(preview.most.amount)


def test_everything_is_asked_for_once_before_anything_is_asked_for_again() -> None:
    """The answer to the first request cannot be read; the answers to the others can."""
    session = typed(90)
    with Loopback() as server:
        labeller = ClaudeLabeller(MODEL, base_url=server.url)
        preview = labeller.preview(session)
        server.cues.append(PROSE)
        result = labeller(session)
        first = [json.dumps(request.body, sort_keys=True) for request in preview.requests]
        bodies = [dict(request.body) for request in server.asked]
        for body in bodies:
            body.pop("stream")
        assert [json.dumps(body, sort_keys=True) for body in bodies[: len(first)]] == first
        assert len(server.asked) == len(first) + 2 and result.unread == 0


def test_texts_beyond_the_limit_are_counted_as_unread_and_the_next_call_reads_them() -> None:
    session = typed(90)
    with Loopback() as server:
        labeller = ClaudeLabeller(MODEL, base_url=server.url)
        first = len(labeller.preview(session).requests)
        server.cues.extend([*[Cue(text="[]")] * (first - 1), *[PROSE] * 200])
        result = labeller(session)
        assert result.labels and result.unread
        server.cues.clear()
        assert labeller(session).unread == 0


@pytest.mark.parametrize("name", [name for name in ANSWERS if name != "prose"])
def test_a_summariser_never_spends_more_than_its_preview_states(name: str) -> None:
    plan = plan_of()
    with Loopback(*[ANSWERS[name]] * 100) as server:
        claude = ClaudeSummariser(MODEL, base_url=server.url)
        preview = claude.preview(plan)
        try:
            used = summarise(plan, claude).usage
        except InspectorError as error:
            used = error.used  # type: ignore[attr-defined]
        assert used is not None and preview.most is not None
        assert used.prompt <= preview.limit.sent and used.output <= preview.limit.output
        assert len(server.asked) <= preview.limit.requests
        assert spend(server, longest=False) <= float(preview.most.amount)


def test_answers_as_long_as_they_may_be_stay_below_the_most() -> None:
    """Three requests: the first, and two that ask for a shorter summary."""
    plan = plan_of()
    limit = plan.jobs[0].max_tokens or 16_000
    long = Cue(text="x" * 4 * limit, stop_reason="max_tokens")
    with Loopback(*[long] * 9) as server:
        claude = ClaudeSummariser(MODEL, base_url=server.url)
        preview = claude.preview(plan)
        assert summarise(plan, claude).truncated
        assert len(server.asked) == 3 and preview.most is not None
        assert spend(server, longest=True) <= float(preview.most.amount)


def test_a_provider_that_counts_more_tokens_ends_the_run_sooner() -> None:
    """With a token per character, fewer requests are repeated than with a token per four characters."""
    plan = plan_of()

    class Costly(Loopback):
        def use(self, body: dict[str, Any]) -> dict[str, Any]:
            size = len(json.dumps(body))
            return {"input_tokens": size, "output_tokens": 1}

    with Costly(*[Cue(stop_reason="max_tokens")] * 9) as server:
        claude = ClaudeSummariser(MODEL, base_url=server.url)
        preview = claude.preview(plan)
        reply = summarise(plan, claude)
        assert reply.truncated and len(server.asked) == 1
        assert reply.usage is not None and reply.usage.prompt <= preview.limit.sent
        assert [event.kind for event in claude.events][-1] == "summary_truncated"


# -- waiting, and answers without an end -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"retry-after": "100000"}, "asks to wait 28 hours"),
        ({"retry-after": "61"}, "asks to wait 61 seconds"),
        ({"retry-after": "1e300"}, "days"),
        ({"retry-after": "inf"}, "days"),
        ({"retry-after-ms": "7200000"}, "asks to wait 2 hours"),
        ({"retry-after": "Wed, 21 Oct 2099 07:28:00 GMT"}, "days"),
    ],
)
@pytest.mark.parametrize("status", [429, 503, 529])
def test_a_long_wait_is_told_and_not_kept(headers: dict[str, str], words: str, status: int) -> None:
    with Loopback(Cue(status, "slow down", headers=headers)) as server:
        with pytest.raises(RequestRefused, match=words):
            summarise(plan_of(), ClaudeSummariser(MODEL, base_url=server.url))
        assert len(server.asked) == 1


@pytest.mark.parametrize("value", ["-5", "nan", "soon", "", "Wed, 21 Oct 1999 07:28:00 GMT"])
def test_a_wait_that_is_none_is_passed_over(value: str) -> None:
    with Loopback(Cue(429, headers={"retry-after": value})) as server:
        assert summarise(plan_of(), ClaudeSummariser(MODEL, base_url=server.url)).text
        assert len(server.asked) == 2


def test_a_wait_of_seconds_stands_in_the_events() -> None:
    with Loopback(fail(429), Cue(429, headers={"retry-after": "1"})) as server:
        claude = ClaudeSummariser(MODEL, base_url=server.url)
        summarise(plan_of(), claude)
        assert [event.data for event in claude.events] == [
            {"error": "http-429"}, {"error": "http-429", "wait": 1}
        ]  # fmt: skip


@pytest.mark.parametrize("make", [lambda size: "x" * size, lambda size: "\n" * size], ids=["words", "lines"])
def test_an_answer_longer_than_it_may_be_is_not_read_to_its_end(make: Callable[[int], str]) -> None:
    plan = plan_of()
    most = (plan.jobs[0].max_tokens or 16_000) * 1_000 + (1 << 20)

    with Loopback(Cue(text=make(1_000_000) * (most // 900_000))) as server:
        # The server sends pieces of 16 characters, so the events are many times as long as the text.
        with pytest.raises(AnswerRefused, match="longer than") as caught:
            summarise(plan, ClaudeSummariser(MODEL, base_url=server.url))
        assert caught.value.kind == "too_long" and len(server.asked) == 1
