"""Where the cut of a kept share stands, counted by hand from the legal places of a real-sized session."""

from __future__ import annotations

import pytest

from inspector import count_tokens, make_plan, open_demo
from inspector.cuts import find_cuts
from inspector.policies.rules.keep_recent_share import KeepRecentShare
from inspector.session.blocks import Text, ToolOutput
from inspector.session.entries import Entry
from tests.test_cuts import build, call, say, user

DEMO = open_demo()
BEFORE = DEMO.at(next(entry for entry in DEMO.entries if entry.kind == "compaction").parent)
LEDGER = count_tokens(DEMO)
KEPT = "keep-recent-share"
OF_WINDOW = "keep at most the last 0.3 of all tokens of the window"


@pytest.mark.parametrize("snap", ["forwards", "backwards", "none"])
def test_the_cut_is_the_nearest_legal_place_on_its_side(snap: str) -> None:
    """So many messages from the end, then on, back, or nowhere."""
    n = len(BEFORE.live)
    legal = [place for place, one in enumerate(find_cuts(BEFORE)) if one.legal]
    sides = set()
    for amount in range(1, n - 1, 7):
        settings = {f"{KEPT}.amount": amount, f"{KEPT}.snap": snap}
        plan = make_plan(BEFORE, LEDGER, "langchain-summarization", {"settings": settings}, reason="manual")
        wanted = n - amount
        after = [place for place in legal if place >= wanted]
        before = [place for place in legal if place <= wanted]
        found = {"forwards": after[:1], "backwards": before[-1:], "none": [wanted]}[snap]
        if snap == "none" and wanted not in legal:
            # A place that a provider would refuse is moved by the planner, with a word about it.
            continue
        assert [plan.place] == (found or [None]), (amount, wanted)
        sides.add(found[0] == wanted if found else None)
    assert len(sides) > 1 or snap == "none"


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (KeepRecentShare(share=0.3, measure="characters"), "keep at most the last 0.3 of all characters"),
        (
            KeepRecentShare(share=0.3, measure="tokens", of="window"),
            OF_WINDOW,
        ),
        (KeepRecentShare(amount=20, measure="messages", least=True), "keep at least the last 20 messages"),
    ],
)
def test_the_rule_says_what_its_share_is_a_share_of(rule: KeepRecentShare, said: str) -> None:
    assert rule.sentence.startswith(said)


@pytest.mark.parametrize(("amount", "place"), [(1, 4), (3, 4), (4, 3), (5, 2)])
def test_two_results_and_words_beside_them_are_three_messages(amount: int, place: int) -> None:
    """PEERS §1: each result is a message of its own, and so are the words."""
    outputs = [ToolOutput(call_id=name, parts=(Text(text="ok"),)) for name in "ab"]
    answers = Entry(id="", role="user", blocks=(*outputs, Text(text="go on")))
    session = build(user(), say(), call("a", "b"), answers, say())
    rule = {"kind": KEPT, "amount": amount, "measure": "messages", "snap": "none"}
    plan = make_plan(session, count_tokens(session), {"name": "mine", "rules": [rule]}, reason="manual")
    assert plan.place == place


def test_where_the_cut_may_only_stand_further_back_there_is_none_before_the_first_message() -> None:
    """All of it is kept, and that message is the one that says anything."""
    rule = {"kind": KEPT, "share": 1.0, "snap": "backwards", "empty": False}
    session = build(user("please"), say(" "))
    plan = make_plan(session, count_tokens(session), {"name": "mine", "rules": [rule]}, reason="manual")
    assert plan.place is None
    assert "There is nothing to compact: no cut is legal there." in plan.why
