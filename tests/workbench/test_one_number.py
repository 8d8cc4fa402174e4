"""A recorded compaction and a plan have one size before and one after, wherever they are shown."""

from __future__ import annotations

import re
from itertools import cycle
from typing import Any

import numpy as np
import pytest

from inspector import make_plan, open_demo, replay
from inspector.corpus.measure import measure_session
from inspector.policies.registry import names_of_policies
from inspector.session.queries import find_next_compaction
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.page.html import make
from inspector.workbench.payloads.columns import unpack
from inspector.workbench.queries import answer_query
from inspector.workbench.snapshot import tabulate
from tests.exported import unpack_page
from tests.fixed_sessions import fixed_ledger, fixed_session
from tests.shared import SHARED, needs_shared, open_shared

REAL = [
    "claude-code--entireio-cli/cc-3auto-compactions-893l.jsonl",
    "claude-code--entireio-cli/cc-auto+manual-1161l.jsonl",
    "claude-code--entireio-cli/cc-1auto-1micro.jsonl",
    "codex--agentv/codex-3compacted-2302l.jsonl",
    "opencode--generated/opencode-3compactions-65msgs.json",
    "pi--pi-mono/pi-before-compaction.jsonl",
]


def compare_places(session: Session) -> int:
    """Select each compaction in turn and hold every place against the first overview; how many there were."""
    ledger = count_tokens(session, "calibrated")
    model = WorkbenchModel(session, "auto", ledger=ledger)
    scene = model.answer({})["_scene"]
    known = {one["look"]: (one["before"], one["after"]) for one in scene["boundaries"]}
    for one in scene["boundaries"]:
        told = model.answer({"look": one["look"], "at": one["at"]})
        # The screen is drawn anew, and no button says anything else.
        if told.get("_scene"):
            assert [(new["name"], new["label"]) for new in told["_scene"]["boundaries"]] == [
                (old["name"], old["label"]) for old in scene["boundaries"]
            ]
        assert model.recorded is not None
        # A note with the size of the last request says what the context has with what followed.
        notices = (told.get("_scene") or scene)["notices"]
        sizes = [note for note in notices if " tokens as reported" in note]
        followed = [note for note in sizes if "what follows" in note]
        assert all(f"the context has {one['before']:,}" in note for note in followed), (one["name"], followed)
        scene_has = [note for note in sizes if f"has {one['before']:,} tokens" in note]
        assert len(followed) + len(scene_has) == len(sizes)
        picture = model.recorded.drawn.payload
        assert (picture.before.total, picture.after.total) == known[one["look"]], one["name"]
        assert (sum(picture.before.sections), sum(picture.after.sections)) == known[one["look"]]
        assert picture.source == one["source"].partition(",")[0]
        gauge: Any = picture.gauge
        assert gauge.low <= picture.after.total <= gauge.high
        if picture.source == "reported":
            assert gauge.low == gauge.high
        if picture.rules:
            changes = [rule.delta for rule in picture.rules if rule.delta is not None]
            assert picture.before.total + sum(changes) == picture.after.total
        if not picture.unread:
            place = picture.cut.place
            context = answer_query(model, {"type": "context", "id": 1, "place": place})
            assert context["right"]["tokens"] == picture.after.total
    return len(known)


def compare_doors(session: Session) -> None:
    """A plan, a scan's rows and a replay say of each compaction what the overview says."""
    ledger = count_tokens(session, "calibrated")
    scene = WorkbenchModel(session, "auto", ledger=ledger).answer({})["_scene"]
    wholes = [one for one in scene["boundaries"] if one["kind"] == "compact"]
    rows = list(measure_session(session, (), counter="calibrated", measures=()))
    assert [(row["before"], row["after"]) for row in rows] == [
        (one["before"], one["after"]) for one in wholes
    ]
    for one in wholes:
        moment = session.at(one["at"])
        assert find_next_compaction(moment) is not None
        plan = make_plan(moment, ledger, "recorded")
        if plan.summarises:
            assert (plan.before, plan.after) == (one["before"], one["after"])
            assert plan.cut_table.total[plan.place] in (plan.after, -1)
    run = replay(session, "flue", ledger=ledger)
    assert [beside.tokens for beside in run.against] == [one["before"] for one in wholes]


def test_the_demo_says_one_number() -> None:
    session = open_demo()
    assert compare_places(session) == 2
    compare_doors(session)


@needs_shared
@pytest.mark.parametrize("name", REAL)
def test_a_real_session_says_one_number(name: str) -> None:
    session = open_shared(SHARED / "sessions" / name)
    assert compare_places(session) >= 2
    compare_doors(session)


def test_an_exported_page_says_the_same() -> None:
    model = WorkbenchModel(open_demo(), "auto")
    scene = model.answer({})["_scene"]
    held, _ = unpack_page(make(model).html)
    assert [(one["name"], one["source"]) for one in held["scene"]["boundaries"]] == [
        (one["name"], one["source"]) for one in scene["boundaries"]
    ]
    after = scene["boundaries"][0]["after"]
    assert held["side"][0]["after"]["total"] == after
    assert held["recorded"]["plan"][0]["after"]["total"] == after
    assert held["told"]["context recorded:1"]["right"]["tokens"] == after


def test_an_edit_of_what_was_recorded_starts_from_the_reported_size() -> None:
    """A block that is pinned adds its own tokens to the size that was reported, and nothing else."""
    session = open_demo()
    ledger = count_tokens(session, "calibrated")
    (name, _), *_ = session.boundaries
    moment = session.at(session[name].parent)
    plan = make_plan(moment, ledger, "recorded")
    pin = str(moment.live_refs()[0])
    pinned = make_plan(moment, ledger, "recorded", {"pins": [pin]})
    assert pinned.after - plan.after == pinned.counted_after - plan.counted_after > 0
    assert pinned.after_range == (pinned.after, pinned.after)


@pytest.mark.parametrize(
    ("name", "policy"), list(zip(cycle(("demo", 7, 11)), names_of_policies(), strict=False))
)
def test_the_screen_shows_the_size_of_the_plan_and_of_every_cut_by_hand(name: int | str, policy: str) -> None:
    """Also if a policy waits for its trigger, while some of its stages run before every request."""
    session = fixed_session(name) if isinstance(name, int) else open_demo()
    ledger = fixed_ledger(name) if isinstance(name, int) else count_tokens(session)
    size = make_plan(session, ledger, "flue").before
    for window, mode in ((size, "auto"), (size * 5 // 4, "auto"), (size * 20, "auto"), (size, "manual")):
        model = WorkbenchModel(session, policy, ledger=ledger, window=window)
        sent = model.answer({"settings": {"harness.mode": mode}})
        plan, shown, columns = (
            model.shown,
            sent["_plan"],
            unpack(sent["_plan"]["columns"], sent["_plan_data"]),
        )
        place, sections = shown["cut"]["place"], columns["after_sections"].reshape(len(model.shown.cuts), -1)
        assert shown["after"]["total"] == sum(shown["after"]["sections"]) == plan.after
        table = tabulate((sent["_scene"], sent["_scene_data"]), (shown, sent["_plan_data"]))
        assert re.findall(r">all</th>.*>([\d,]+)</td>", table) == [f"{plan.after:,}"]
        entry = unpack(sent["_scene"]["columns"], sent["_scene_data"])["block_entry"]
        fate = np.where(entry < place, columns["fate_older"], columns["fate_kept"])
        assert fate.tolist() == plan.fate.tolist()
        # Without a cut, or at one that is not valid, the screen shows the sums above instead of the columns.
        if shown["cut"]["id"] and columns["after_total"][place] != -1:
            assert columns["after_total"][place] == sections[place].sum() == plan.after
            assert columns["summary_tokens"][place] == plan.summary_tokens
        legal = np.flatnonzero(plan.cuts.legal).tolist()
        for cut in legal[:: max(1, len(legal) // 5)]:
            moved = model.plan.with_edits(plan.edits.model_copy(update={"cut": plan.cuts.ids[cut]}))
            there = plan if cut == place and shown["cut"]["id"] else moved
            assert columns["after_total"][cut] == sections[cut].sum() == there.after
            assert columns["summary_tokens"][cut] == there.summary_tokens
            text = answer_query(model, {"type": "summary", "id": 1, "place": cut})["text"]
            assert bool(text) == there.summarises
