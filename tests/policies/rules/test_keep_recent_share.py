"""Where the cut of a kept share stands, counted by hand from the valid cut points of a real-sized session."""

from __future__ import annotations

import pytest

from inspector import count_tokens, make_plan, open_demo
from inspector.cuts import find_cuts

DEMO = open_demo()
BEFORE = DEMO.at(next(entry for entry in DEMO.entries if entry.kind == "compaction").parent)
LEDGER = count_tokens(DEMO)
KEPT = "keep-recent-share"


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
