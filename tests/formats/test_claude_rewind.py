"""What `/rewind` of Claude Code leaves: the rows it kept, with its summary before them or behind them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from inspector import build_context, count_tokens, make_plan
from inspector.formats.exports.writers import FORMATS, export_session
from inspector.formats.readers import read_session
from inspector.planning.assemble import live_context
from inspector.session.session import Session
from inspector.session.tree import COMPACTION
from inspector.tokens.history import count_along, trace_history
from inspector.workbench.payloads.recorded import draw_recorded
from tests.claude_rows import Claude


class Talk(Claude):
    """Turns "ask 1", "tell 1", … in a talk that is rewound."""

    def turn(self, number: int, request: int = 1000) -> Talk:
        self.say(f"ask {number}").reply(f"tell {number}", request)
        return self

    def rows_from(self, first: str) -> int:
        """The place of the row that says these words."""
        return next(at for at, row in enumerate(self.rows) if words_of(row) == first)

    def attach(self, words: str) -> Talk:
        """What the harness puts beside the conversation, as newer versions write it."""
        told = {"type": "total_tokens_reminder"}
        self.add("attachment", attachment=told, rendered=[{"content": words}])
        return self

    def rewind(self, direction: str, chosen: str, summary: str, standing: list[str] | None = None) -> Talk:
        """Summarise from the prompt `chosen` on, or up to it; `standing` are the rows in force."""
        standing = standing or [row["uuid"] for row in self.rows]
        at = standing.index(self.rows[self.rows_from(chosen)]["uuid"])
        kept = standing[:at] if direction == "from" else standing[at:]
        name = f"r{len(self.rows)}"
        anchor = name if direction == "from" else f"r{len(self.rows) + 1}"
        meta: dict[str, Any] = {"trigger": "manual", "preTokens": 1005, "postTokens": 900}
        if kept:
            meta["preservedSegment"] = {"headUuid": kept[0], "anchorUuid": anchor, "tailUuid": kept[-1]}
            meta["preservedMessages"] = {"anchorUuid": anchor, "uuids": kept}
        logical = standing[at - 1] if at else None
        self.add("system", subtype="compact_boundary", compactMetadata=meta, logicalParentUuid=logical)
        self.rows[-1]["parentUuid"] = None
        self.add("user", isCompactSummary=True, message={"role": "user", "content": summary})
        return self


def words_of(row: dict[str, Any]) -> str:
    content = row.get("message", {}).get("content", "")
    return content if isinstance(content, str) else content[0].get("text", "")


def seen(session: Session) -> list[str]:
    """The words of the context, in order, as a request holds them."""
    return [piece.block.text for piece in live_context(session, count_tokens(session)).pieces]


def talk(turns: int) -> Talk:
    made = Talk()
    for number in range(1, turns + 1):
        made.turn(number)
    return made


FROM = talk(3).rewind("from", "ask 2", "SUM")
UP_TO = talk(3).rewind("up to", "ask 3", "SUM")


def test_from_here_the_summary_stands_behind_what_was_kept() -> None:
    session = FROM.open()
    assert seen(session) == ["ask 1", "tell 1", "SUM"]
    assert session.entries[session.live.entries[session.live.summary]].text == "SUM"


def test_up_to_here_the_chosen_prompt_and_all_after_it_follow_the_summary() -> None:
    assert seen(UP_TO.open()) == ["SUM", "ask 3", "tell 3"]


def test_from_the_first_prompt_nothing_stands_but_the_summary() -> None:
    assert seen(talk(2).rewind("from", "ask 1", "SUM").turn(3).open()) == ["SUM", "ask 3", "tell 3"]


def test_kept_attachments_stay_in_their_places() -> None:
    made = Talk().turn(1).attach("15 left").turn(2).turn(3).rewind("from", "ask 3", "SUM")
    assert seen(made.open()) == ["ask 1", "tell 1", "15 left", "ask 2", "tell 2", "SUM"]


def test_a_summary_that_was_kept_stands_where_it_stood() -> None:
    """Up to here, then from here: the first summary opens the context, the second one closes it."""
    made = talk(3).rewind("up to", "ask 3", "ONE").turn(4)
    rows = [row["uuid"] for row in made.rows]
    summary, kept = rows[made.rows_from("ONE")], rows[made.rows_from("ask 3") : made.rows_from("ask 3") + 2]
    standing = [rows[made.rows_from("ONE") - 1], summary, *kept, *rows[made.rows_from("ask 4") :]]
    made.rewind("from", "ask 4", "TWO", standing).turn(5)
    assert seen(made.open()) == ["ONE", "ask 3", "tell 3", "TWO", "ask 5", "tell 5"]


def test_three_times_from_here_leaves_three_summaries_in_order() -> None:
    made = talk(2).rewind("from", "ask 2", "ONE")
    for number, summary in ((3, "TWO"), (4, "THREE")):
        made.turn(number)
        gone = {"ask 2", "tell 2", "ask 3", "tell 3"} - {f"ask {number}", f"tell {number}"}
        standing = [row["uuid"] for row in made.rows if words_of(row) not in gone]
        made.rewind("from", f"ask {number}", summary, standing)
    session = made.turn(5).open()
    assert seen(session) == ["ask 1", "tell 1", "ONE", "TWO", "THREE", "ask 5", "tell 5"]
    assert session.live.turn.tolist() == sorted(session.live.turn.tolist())


def test_a_prompt_that_was_restored_hangs_off_no_rewind() -> None:
    """A restore before `/compact` leaves the abandoned rows out of what the compaction took."""
    made = talk(2)
    made.parent = made.rows[1]["uuid"]
    made.turn(3)
    meta = {"trigger": "manual", "preTokens": 1000}
    made.add("system", subtype="compact_boundary", compactMetadata=meta, logicalParentUuid=made.parent)
    made.rows[-1]["parentUuid"] = None
    made.add("user", isCompactSummary=True, message={"role": "user", "content": "SUM"})
    session = made.open()
    said = [entry.text for entry in (session.entries[i] for i in session.path)]
    assert said == ["ask 1", "tell 1", "ask 3", "tell 3", "SUM"]


@pytest.mark.parametrize("made", [FROM, UP_TO], ids=["from", "up to"])
def test_all_who_tell_of_a_rewind_agree(made: Talk) -> None:
    session = Talk.turn(_copy(made), 9).open()
    ledger, row = count_tokens(session, "calibrated"), session.compactions[0]
    path = session.trail
    cuts = np.flatnonzero(session.tree.sort[path] == COMPACTION).tolist()
    along = count_along(session, ledger, path, cuts).tolist()
    assert along == [ledger.count_context(session.at(session.entries[i].id)) for i in path]
    plan = make_plan(session.at(session[row.entry].parent), ledger, "recorded")
    drawn, _ = draw_recorded(plan, trace_history(session, ledger))
    assert (plan.before, plan.after) == (row.before, row.after)
    assert (drawn.before.total, drawn.after.total) == (row.before, row.after)
    assert seen(session.at(row.entry)) == [
        piece.block.text for piece in build_context(plan.session, plan).pieces
    ]


@pytest.mark.parametrize("made", [FROM, UP_TO], ids=["from", "up to"])
def test_what_the_harness_announces_is_counted_once(made: Talk) -> None:
    """`postTokens` tells the conversation, and what is announced is a part of it: to the request it left come
    the system prompt and the tools alone, which are what the first request held beyond the words."""
    copy = _copy(made)
    words = "a tool that is announced to the model, with all it can do. " * 40
    told = {"type": "deferred_tools_delta", "addedLines": [words]}
    copy.rows.insert(1, {**copy.rows[0], "type": "attachment", "attachment": told, "uuid": "t"})
    copy.rows[1].update(parentUuid=copy.rows[0]["uuid"])
    del copy.rows[1]["message"]
    for before, after in pairwise(copy.rows[2:4]):
        before["parentUuid"], after["parentUuid"] = "t", before["uuid"]
    session = copy.open()
    row, announced = session.compactions[0], int(count_tokens(session).count_texts([words])[0])
    assert row.source == "predicted" and announced > 500
    assert 900 < row.after <= 900 + 1000 - announced


@pytest.mark.parametrize("format", FORMATS)
def test_an_export_of_a_rewound_session_holds_the_same_words_in_order(format: Any) -> None:
    twice = talk(2).rewind("from", "ask 2", "ONE").turn(3)
    standing = [row["uuid"] for row in twice.rows if words_of(row) not in ("ask 2", "tell 2")]
    twice.rewind("from", "ask 3", "TWO", standing).turn(4)
    for session in (Talk.turn(_copy(FROM), 9).open(), twice.open()):
        assert seen(read_session(export_session(session, format), "x", format)) == seen(session)


def _copy(made: Talk) -> Talk:
    other = Talk()
    other.rows, other.parent = [dict(row) for row in made.rows], made.parent
    return other


@pytest.mark.parametrize(("made", "since", "side"), [(FROM, 2, "suffix"), (UP_TO, 0, "prefix")])
def test_the_recorded_plan_has_the_direction_that_was_chosen(made: Talk, since: int, side: str) -> None:
    session = made.open()
    compaction = next(entry for entry in session.entries if entry.kind == "compaction")
    plan = make_plan(session.at(str(compaction.parent)), policy="recorded")
    assert (plan.side, plan.table.since) == (side, since)
    assert [piece.block.text for piece in build_context(plan.session, plan).pieces] == seen(session)
