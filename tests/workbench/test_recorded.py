"""The compaction a file records, as a plan: one fate per block, and what stands is what is live after."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inspector import InspectorError, open_session
from inspector.demo import open_demo
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.policies.table import CLEARED, DROPPED, FATES, SUMMARISED, VERBATIM
from inspector.session.blocks import Text
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from inspector.summaries.compaction import compact
from inspector.tokens.counter import Counter
from inspector.tokens.history import History, trace_history
from inspector.tokens.ledger import Ledger, count_tokens
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.columns import unpack
from inspector.workbench.payloads.recorded import draw_recorded, find_recorded
from inspector.workbench.payloads.scene import CutPayload, PlanPayload, draw_plan
from inspector.workbench.queries import answer_query
from tests.claude_rows import Claude
from tests.shared import SHARED, list_few, needs_shared, open_shared
from tests.strategies import sessions
from tests.telling import use

LENGTH = Counter("length", "Characters", lambda texts: np.array([len(t) for t in texts], np.int32))


def chain(*entries: Entry, **more: Any) -> Session:
    """Entries one after another, named e0, e1, …"""
    made = [
        entry.model_copy(update={"id": f"e{i}", "parent": f"e{i - 1}" if i else None})
        for i, entry in enumerate(entries)
    ]
    return Session(format="made", entries=tuple(made), leaf=made[-1].id, **more)


def user(words: str) -> Entry:
    return Entry(id="", role="user", blocks=(Text(text=words),))


def model(words: str, **more: Any) -> Entry:
    return Entry(id="", role="assistant", blocks=(Text(text=words),), **more)


def compaction(words: str = "", **told: Any) -> Entry:
    blocks = (Text(text=words),) if words else ()
    return Entry(id="", kind="compaction", blocks=blocks, boundary=Boundary(**told))


def tool(number: int, length: int) -> tuple[Entry, Entry]:
    return use(number, "t", "x" * length)


def moment(session: Session, at: str, counter: Any = LENGTH) -> tuple[Plan, History]:
    ledger = count_tokens(session, counter)
    return make_plan(session.at(at), ledger, "keep-recent-turns"), trace_history(session, ledger)


def fates(plan: Plan, history: History) -> list[str]:
    return [FATES[code] for code in find_recorded(plan, history).fate]


def test_a_harness_that_keeps_nothing_cuts_at_the_end() -> None:
    """Claude Code replaces all it had by its summary."""
    session = chain(user("aaaa"), model("bbb"), compaction("sum", trigger="auto"), user("cc"))
    plan, history = moment(session, "e1")
    picture, data = draw_recorded(plan, history)
    assert fates(plan, history) == ["summarised", "summarised"]
    assert picture.cut == CutPayload(place=2, id="end", by="file")
    columns = unpack(picture.columns, data)
    assert columns["after_total"].tolist() == [-1, -1, 3]
    assert (picture.before.total, picture.after.total, columns["summary_tokens"][2]) == (7, 3, 3)


def test_a_micro_compaction_empties_in_place_and_cuts_nothing() -> None:
    micro = Entry(id="", kind="micro", boundary=Boundary(kind="micro", cleared=("c1",)))
    session = chain(user("aaaa"), *tool(1, 90), *tool(2, 80), micro, user("e"))
    plan, history = moment(session, "e4")
    assert fates(plan, history) == ["verbatim", "verbatim", "cleared", "verbatim", "verbatim"]
    picture, data = draw_recorded(plan, history)
    assert picture.cut.id == "" and picture.cut.place == 0
    assert (unpack(picture.columns, data)["after_total"] == -1).all()
    emptied = len("[output cleared by an earlier compaction]")
    assert picture.after.total == picture.before.total - 90 + emptied
    plan, history = moment(session, "e6")
    with pytest.raises(InspectorError, match="no compaction after this moment"):
        draw_recorded(plan, history)


# -- laws ----------------------------------------------------------------------------------------------


def assert_adds_up(picture: PlanPayload, columns: dict[str, Any]) -> None:
    """The sections are the totals, at the recorded place."""
    place = picture.cut.place
    assert sum(picture.before.sections) == picture.before.total
    assert sum(picture.after.sections) == picture.after.total
    if picture.cut.id != "":
        assert columns["after_total"][place] == picture.after.total


def assert_agrees(plan: Plan, history: History) -> None:
    """Each block has one fate; the blocks that stand are those live right after the boundary."""
    found = find_recorded(plan, history)
    session, ledger = plan.session, plan.ledger
    live, then = session.live, session.at(found.entry.id).live

    def names(view: Any) -> list[tuple[int, int]]:
        return list(zip(view.entries[view.position].tolist(), view.block.tolist(), strict=True))

    assert len(found.fate) == len(live.position)
    assert set(found.fate.tolist()) <= {VERBATIM, SUMMARISED, DROPPED, CLEARED}
    stands = {name for name, fate in zip(names(live), found.fate, strict=True) if fate in (VERBATIM, CLEARED)}
    assert stands == set(names(then)) & set(names(live))
    picture, data = draw_recorded(plan, history)
    columns = unpack(picture.columns, data)
    assert_adds_up(picture, columns)
    like, its = draw_plan(plan)
    shape = {name: (col.dtype, len(col)) for name, col in unpack(like.columns, its).items()}
    mine = {name: (col.dtype, len(col)) for name, col in columns.items()}
    shape.pop("added_tokens", None)  # of what a policy adds itself; a recorded compaction has it in its file
    assert mine == shape
    extra = {"told", "label", "entry", "source"}
    # A recorded compaction has no rules that could tell these.
    only = {"state", "states", "summary", "shortRecipe"}
    only |= {"splitFrom"}
    assert set(to_json(picture)) - extra == set(to_json(like)) - only
    between = [entry for entry in found.plan.session.entries if entry.id == found.entry.id]
    assert between and ledger is plan.ledger


def moments(session: Session, history: History) -> Iterator[str]:
    """The ends of the stretches, and a few others on the path."""
    yield from (segment.at for segment in history.segments)
    path = history.path.tolist()
    yield from (session.entries[i].id for i in path[:: max(1, len(path) // 6)])


def check_everywhere(session: Session, ledger: Ledger) -> int:
    history, seen = trace_history(session, ledger), 0
    for at in moments(session, history):
        plan = make_plan(session.at(at), ledger, "keep-recent-turns")
        try:
            find_recorded(plan, history)
        except InspectorError:
            continue
        assert_agrees(plan, history)
        seen += 1
    return seen


@given(sessions())
def test_every_block_has_one_fate_and_what_stands_is_what_is_live_after(session: Session) -> None:
    check_everywhere(session, count_tokens(session, LENGTH))


@given(
    sessions(least=2, orderly=True),
    st.sampled_from(
        ["codex", "flue", "pi", "claude-code-analysis", "inspect-trim", "stud-wiki-1.1", "gemini-cli"]
    ),
)
def test_what_our_own_compactions_left_is_what_they_promised(session: Session, policy: str) -> None:
    """As many tokens as the context has right after it, whatever stands again behind it."""
    ledger = count_tokens(session, LENGTH)
    done = compact(session, policy, lambda job, session: "So far.", ledger=ledger)
    assume(done.done and session.leaf is not None)
    plan, history = moment(done.after, session.leaf or "")
    found = find_recorded(plan, history)
    assert found.after == done.context.tokens
    picture, data = draw_recorded(plan, history)
    assert_adds_up(picture, unpack(picture.columns, data))


@needs_shared
@pytest.mark.parametrize("path", list_few()[::2], ids=lambda path: path.name)
def test_the_same_of_real_sessions(path: Path) -> None:
    try:
        session = open_shared(path)
    except InspectorError:
        pytest.skip("no reader for this format")
    seen = check_everywhere(session, count_tokens(session, "chars4_utf16"))
    on_path = [name for name, _ in session.boundaries if session.index[name] in session.path]
    assert (seen > 0) == (len(on_path) > 0 and session.index[on_path[-1]] != session.path[0])


def test_the_bundled_session_tells_what_its_compaction_lost() -> None:
    session = open_demo()
    ledger = count_tokens(session, "calibrated")
    history = trace_history(session, ledger)
    fullest = history.fullest
    assert fullest is not None
    plan = make_plan(session.at(fullest.at), ledger)
    assert_agrees(plan, history)
    picture, _ = draw_recorded(plan, history)
    assert {name for name, _, _ in picture.told} >= {"recorded before", "next request", "summary"}


@pytest.mark.parametrize(("extra", "why"), [({"unreadable": True}, "an encrypted"), ({}, "a missing")])
def test_an_encrypted_or_missing_summary_has_one_name_everywhere(extra: dict[str, Any], why: str) -> None:
    session = chain(user("aaaa"), model("b" * 50), compaction(extra=extra), user("c"))
    plan, history = moment(session, "e1")
    picture, _ = draw_recorded(plan, history)
    assert picture.sentence.text == f"Left of the cut: 2 blocks, 54 tokens became {why} summary."
    assert picture.sentence.loses
    word = why.split()[1]
    assert picture.unread == word
    shown = WorkbenchModel(session, "auto")
    shown.answer({"at": "e1", "look": "recorded:1"})
    query = {"id": 1, "place": shown.shown.place or 0, "look": "recorded:1"}
    asked = {
        name: answer_query(shown, {"type": name, **query}) for name in ("losses", "summaries", "context")
    }
    assert asked["losses"]["sentence"] == f"The losses are unknown: the summary is {word}."
    assert f"The summary is {word}" in asked["summaries"]["recorded"]["sentence"]
    assert f"The recorded summary is {word}" in asked["context"]["sentence"]
    assert answer_query(shown, {"type": "compactions", **query})["rows"][0]["summary"] == word
    # What a model wrote about is not called dropped.
    assert set(find_recorded(plan, history).fate.tolist()) == {SUMMARISED}


def find_listed(path: Path) -> Iterator[tuple[str, set[str]]]:
    """By line, straight from a rollout: of each compaction the texts that it lists as standing after it."""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        row = json.loads(line)
        if row["type"] == "compacted":
            items = row["payload"]["replacement_history"]
            said = ["\n".join(p.get("text", "") for p in item.get("content") or ()) for item in items]
            yield f"line-{number}", {text for text in said if text}


@needs_shared
@pytest.mark.parametrize("name", ["codex-2compacted-a6.jsonl", "codex-3compacted-2302l.jsonl"])
def test_as_recorded_keeps_what_a_codex_rollout_lists(name: str) -> None:
    """The plan keeps the listed messages and nothing else, and so the sentence counts all the others."""
    path = SHARED / "sessions" / "codex--agentv" / name
    session = open_session(path)
    ledger = count_tokens(session)
    history = trace_history(session, ledger)
    seen = 0
    for entry, listed in find_listed(path):
        before = session.at(session[entry].parent)
        plan = make_plan(before, ledger, "recorded")
        stays = plan.fate == VERBATIM
        kept = {before.entries[i].text for i in before.live.entries[np.unique(before.live.position[stays])]}
        assert kept and kept <= listed
        recorded = find_recorded(plan, history)
        assert ((recorded.fate == VERBATIM) == stays).all()
        gone = int(plan.table.tokens[~stays].sum())
        picture, _ = draw_recorded(plan, history)
        assert f"{int((~stays).sum())} blocks, {gone / 1000:.1f}k tokens" in picture.sentence.text
        assert picture.cut.id == "end" and gone > 100_000
        seen += 1
    assert seen >= 2


@pytest.mark.parametrize("left", [40, 400, 1900])
def test_the_parts_drawn_add_up_where_less_is_reported_than_is_counted(left: int) -> None:
    """The request before tells of 1,900 tokens that are not in the file; the one after may be smaller."""
    rows = Claude().say("word " * 100).reply("yes", 2000).compact("the summary " * 20)
    session = rows.say("on").reply("yes", left).open()
    ledger, history = count_tokens(session), trace_history(session, count_tokens(session))
    moment = session.at(session[session.boundaries[0][0]].parent)
    for plan in (
        make_plan(moment, ledger, "recorded"),
        make_plan(moment, ledger, "recorded", {"cut": "end"}),
    ):
        for drawn, data in (draw_plan(plan), draw_recorded(plan, history)):
            columns = unpack(drawn.columns, data)
            total = columns["after_total"]
            sections = columns["after_sections"].reshape(len(total), -1)
            assert sections.min() >= 0 and min(drawn.after.sections) >= 0
            assert (sections.sum(axis=1) == total)[total >= 0].all()
            assert sum(drawn.after.sections) == drawn.after.total == session.compactions[0].after
