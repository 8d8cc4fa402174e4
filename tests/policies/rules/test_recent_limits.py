"""What limits a recent share and old outputs: a lowest and a highest amount, turns, tokens, enough."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.formats.readers import read_session
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies.base_rule import Rule
from inspector.policies.policy import Policy
from inspector.policies.rules.clear_tool_outputs import DropOldOutputs
from inspector.policies.rules.keep_recent_share import KeepRecentShare
from inspector.policies.rules.summarise_older import SummariseOlder
from inspector.policies.trigger import Trigger
from inspector.session.blocks import KINDS
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from tests.strategies import sessions

OUTPUT = KINDS.index("tool_output")
LARGE = 1_000


def plan_of(session: Session, *rules: Rule, trigger: Trigger | None = None, window: int = 1_000) -> Plan:
    policy = Policy(name="mine", trigger=trigger or Trigger(), rules=rules)
    return make_plan(session, count_tokens(session, "chars4_utf16"), policy, window=window)


def talk(turns: int) -> Session:
    rows = [{"role": role, "content": "word " * 8} for _ in range(turns) for role in ("user", "assistant")]
    return read_session(rows)


@given(st.integers(3, 20), st.floats(0, 1), st.integers(0, 12), st.integers(0, 12))
def test_a_share_of_the_messages_stays_between_the_lowest_and_the_highest(
    turns: int, share: float, lowest: int, more: int
) -> None:
    session, highest = talk(turns), lowest + more
    rule = KeepRecentShare(
        share=share, measure="messages", snap="none", keep_last=False, lowest=lowest, highest=highest
    )
    plan, n = plan_of(session, rule, SummariseOlder()), 2 * turns
    if plan.place is None:
        assert lowest >= n or share == 1 or n - int(n * share) <= 1 or highest >= n
    else:
        assert min(lowest, n) - 1 <= n - plan.place <= highest + 1


@given(st.integers(2, 12), st.integers(0, 14))
def test_at_most_so_many_turns_stay_and_none_with_none(turns: int, most: int) -> None:
    rule = KeepRecentShare(amount=LARGE, measure="messages", keep_last=False, turns=most)
    plan = plan_of(talk(turns), rule, SummariseOlder())
    kept = None if plan.place is None else 2 * turns - plan.place
    # All of them leave nothing before the cut but, for a cut at the very front, the first message.
    assert kept == 2 * most if most < turns else kept in (None, 2 * turns - 1)


@given(sessions(orderly=True), st.integers(0, 4), st.integers(0, 300))
def test_outputs_of_the_newest_turns_and_within_the_tokens_stay(
    session: Session, turns: int, keep: int
) -> None:
    plan = plan_of(session, DropOldOutputs(turns=turns, keep_tokens=keep))
    live = plan.table.live
    changed = np.array([row in plan.outcome.blocks for row in range(len(plan.table.tokens))], bool)
    opens = np.flatnonzero(live.opens)
    if turns:
        first = int(opens[-turns]) if len(opens) >= turns else 0
        assert not changed[live.position >= first].any()
    for row in np.flatnonzero(changed).tolist():
        newer = [r for r in np.flatnonzero(plan.table.kind == OUTPUT).tolist() if r >= row]
        assert sum(-(-len(plan.table.block(r).text) // 4) for r in newer) > keep
