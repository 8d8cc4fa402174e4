"""Groups that are folded or dropped: their sizes against a limit, and a window that is not known."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import build_context, count_tokens, find_policy, make_plan, read_session
from inspector.planning.plan import Plan
from inspector.session.session import Session


def work(steps: int, words: int) -> Session:
    """A question, steps of one call with a long output each, and an answer."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Mend it."}]
    for n in range(steps):
        call = {"type": "tool_use", "id": f"c{n}", "name": "ls", "input": {}}
        output = {"type": "tool_result", "tool_use_id": f"c{n}", "content": f"step {n} " + "word " * words}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [output]}]
    return read_session([*messages, {"role": "assistant", "content": "Done."}])


def plan_of(session: Session, amount: int, **more: Any) -> Plan:
    settings = {
        "trigger.ratio": 0.01,
        "fold-calls.keep": 0,
        "fold-calls.limit": 60,
        "drop-groups.ratio": None,
        "drop-groups.share": None,
        "drop-groups.amount": amount,
        **more,
    }
    policy = find_policy("agent-framework").configured(settings)
    return make_plan(session, count_tokens(session, "chars4_utf16"), policy, window=20_000)


@pytest.mark.parametrize("measure", ["tokens", "agent-framework"])
def test_a_group_that_was_folded_has_the_size_of_its_line(measure: str) -> None:
    session = work(6, 400)
    assert count_tokens(session, "chars4_utf16").count_context() > 2_500
    folded = plan_of(session, 500, **{"drop-groups.measure": measure})
    texts = [piece.block.text for piece in build_context(session, folded).pieces]
    assert [text[:21] for text in texts[1:-1]] == ["[Tool results: ls: st" for n in range(6)]
    assert len(texts) == 8, "every line fits in the limit"
    # A limit below the lines takes the oldest of them.
    fewer = plan_of(session, 60, **{"drop-groups.measure": measure})
    assert 0 < len(build_context(session, fewer).pieces) < 8


@pytest.mark.parametrize(("order", "left"), [("best-fit", ["a", "b", "d"]), ("contiguous", ["d"])])
def test_a_group_that_does_not_fit_is_skipped_or_ends_what_stays(order: str, left: list[str]) -> None:
    rows = [
        {"role": "user", "content": name * size} for name, size in zip("abcd", (4, 4, 90, 4), strict=True)
    ]
    session = read_session(rows)
    settings = {"drop-groups.order": order, "drop-groups.amount": 20, "drop-groups.measure": "tokens"}
    policy = find_policy("mastra-token-limiter").configured({**settings, "drop-groups.overhead": 0})
    plan = make_plan(session, count_tokens(session, "chars4_utf16"), policy, window=20_000)
    assert [piece.block.text[0] for piece in build_context(session, plan).pieces] == left


@pytest.mark.parametrize("policy", ["haystack-pruning", "haystack-window", "haystack-summary"])
def test_a_share_of_a_window_that_is_not_known_takes_nothing(policy: str) -> None:
    session = work(6, 400)
    plan = make_plan(session, count_tokens(session), policy, window=0, reason="manual")
    assert plan.after == plan.before
    assert "window is not known" in plan.why
    known = make_plan(session, count_tokens(session), policy, window=1_000, reason="manual")
    assert known.after < known.before
