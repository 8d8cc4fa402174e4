from __future__ import annotations
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from inspector.assembly import build_context, live_context
from inspector.cuts import find_cuts
from inspector.ledger import count_tokens
from inspector.plan import make_plan
from inspector.policy import Edits
from inspector.wire import check_context
from tests.strategies import sessions
from tests.test_laws import LENGTH, calls_and_outputs, sections_of
from inspector.diff import diff_contexts, patch
NAMES = ("langchain-summarization","langchain-trim","langchain-clear","inspect-edit","inspect-trim","openhands","codex","gemini-cli")
KN = {"langchain-summarization":{"keep-recent-share.amount":3},"langchain-trim":{"keep-recent-share.amount":300},"codex":{"keep-user-words.tokens":30},"gemini-cli":{"budget-outputs.tokens":20,"budget-outputs.characters":40},"openhands":{"condense-middle.events":6,"condense-middle.first":1},"inspect-trim":{"keep-recent-share.share":0.4}}
@settings(max_examples=1500, deadline=None)
@given(st.data())
@pytest.mark.parametrize("orderly",[False,True])
def test_laws(orderly, data):
    session = data.draw(sessions(orderly=orderly))
    name = data.draw(st.sampled_from(NAMES))
    legal = [p.entry for p in find_cuts(session) if p.legal]
    cut = data.draw(st.sampled_from([None, None, *legal]))
    reason = data.draw(st.sampled_from(["auto","manual","overflow"]))
    knobs = data.draw(st.sampled_from([{}, KN.get(name,{})]))
    model = data.draw(st.sampled_from([None,"claude-fable-5-1"]))
    session = session.model_copy(update={"model": model})
    plan = make_plan(session, count_tokens(session, LENGTH), name, Edits(cut=cut, settings=knobs), window=10_000, reason=reason)
    before, after = live_context(session, plan.ledger), build_context(session, plan)
    assert patch(before, diff_contexts(before, after)) == after
    assert plan.after == after.tokens
    if plan.place is not None:
        c,o = calls_and_outputs(after); assert c==o
    blocks=[b for e in session.entries for b in e.blocks]
    for p in after.pieces:
        if p.block.kind=="reasoning": assert any(p.block is b for b in blocks)
    if orderly and not (cut is not None and "trim" in name):
        had, has = ({v.rule for v in check_context(c, awaits_user=True, model="claude-opus-4-5")} for c in (before, after))
        assert has <= had | {"unexplained_error","loop_without_thinking"}, (name, has-had)
    for point in plan.cuts:
        if point.legal:
            there = make_plan(session, plan.ledger, plan.policy, Edits(cut=point.entry), window=10_000, reason=reason)
            assert plan.cut_table.total[point.place] == there.after
