"""The cost stays below the limit of the preview, counted at the server with prices stated here."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from inspector import ClaudeLabeller, ClaudeSummariser, count_tokens, make_plan, read_session, summarise
from inspector.errors import AnswerRefused, InspectorError
from inspector.planning.plan import Plan
from inspector.session.session import Session
from tests.loopback import KEY, Cue, Loopback

MODEL = "claude-opus-4-5"
WRITTEN, OUT = 6.25, 25.0
"""US dollars per million tokens: written to the cache, output."""


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


def typed(count: int) -> Session:
    rows = []
    for number in range(count):
        rows.append({"role": "user", "content": f"step {number}: Always use tabs in file{number}. " * 6})
        rows.append({"role": "assistant", "content": "ok"})
    return read_session(rows)


def plan_of(turns: int = 14, **settings: int) -> Plan:
    rows = [{"role": role, "content": "word " * 300} for _ in range(turns) for role in ("user", "assistant")]
    session = read_session(rows)
    edits = {"cut": "m21", "settings": settings}
    return make_plan(session, count_tokens(session, "chars4_utf16"), "keep-recent-turns", edits)


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


# -- waiting, and answers without an end -------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda size: "x" * size, lambda size: "\n" * size], ids=["words", "lines"])
def test_an_answer_longer_than_it_may_be_is_not_read_to_its_end(make: Callable[[int], str]) -> None:
    plan = plan_of(**{"summarise-older.cap": 10})
    assert plan.jobs[0].max_tokens == 10
    most = 10 * 1_000 + (1 << 20)
    with Loopback(Cue(text=make(most * 11 // 10))) as server:
        # The server sends pieces of 16 characters, so the events are many times as long as the text.
        with pytest.raises(AnswerRefused, match="longer than") as caught:
            summarise(plan, ClaudeSummariser(MODEL, base_url=server.url))
        assert caught.value.kind == "too_long" and len(server.asked) == 1
