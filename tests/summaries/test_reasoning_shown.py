"""What became of reasoning, by what the summariser was shown of it."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import compact, count_tokens, find_policy, make_plan, replay
from inspector.planning.summary_jobs import Checkpoint
from inspector.policies.events import AuditEvent
from inspector.policies.table import FATES
from inspector.session.session import Session
from inspector.summaries.extractive.summariser import ExtractiveSummariser
from inspector.summaries.prompts import write_prompt
from inspector.summaries.write import summarise
from tests.replays.test_seed_records import talk

BLIND = find_policy("stud-wiki-1.1").configured({"summarise-older.thinking": False})


def audit(session: Session, policy: Any, summariser: Any = None) -> dict[str, dict[str, Any]]:
    """The records of a compaction, by the kind of the event."""
    events: list[AuditEvent] = []
    compact(session, policy, summariser, on_event=events.append)
    return {event.kind: event.record_in("stud-wiki") or {} for event in events}


def by_rule(records: dict[str, dict[str, Any]]) -> dict[str, int]:
    rows = records["completed"]["retention"].values()
    return {rule: sum(row[rule] for row in rows) for rule in ("verbatim", "summarized", "dropped")}


class Copying:
    """The same text each time, with what the model thought in it."""

    deterministic = True

    def __call__(self, job: Any, session: Session) -> str:
        return "\n".join(write_prompt(job, session).parts)


def test_S0_69_the_record_says_whether_the_summary_is_deterministic() -> None:
    session = talk(9)
    plan = make_plan(session, "stud-wiki-1.1")
    copied, told = ExtractiveSummariser(count_tokens(session)), Checkpoint(text="So far.")
    for summariser, same in (
        (copied, True),
        (None, True),
        (summarise(plan, copied), True),
        (Copying(), True),
        (told, False),
        (lambda job, of: "So far.", False),
    ):
        assert audit(session, "stud-wiki-1.1", summariser)["completed"]["deterministic"] is same


def test_S0_109_reasoning_that_no_summariser_was_shown_is_not_told_as_downgraded() -> None:
    session = talk(9)
    extracted = summarise(make_plan(session, "stud-wiki-1.1"))
    blind: list[str] = []

    def write(job: Any, of: Session) -> str:
        blind.extend(write_prompt(job, of).parts)
        return "So far."

    for policy, summariser in (
        ("stud-wiki-1.1", ExtractiveSummariser(count_tokens(session))),
        ("stud-wiki-1.1", extracted),
        ("stud-wiki-1.1", None),
        (BLIND, write),
        (BLIND, Copying()),
    ):
        records = audit(session, policy, summariser)
        assert "reasoning_downgraded" not in records
        assert by_rule(records) == {"verbatim": 4, "summarized": 0, "dropped": 5}
    assert "so so" not in "".join(blind)
    for shown in (Copying(), lambda job, of: "So far.", Checkpoint(text="So far.", by="a person")):
        records = audit(session, "stud-wiki-1.1", shown)
        assert records["reasoning_downgraded"]["blocks"] == 5
        assert by_rule(records) == {"verbatim": 4, "summarized": 5, "dropped": 0}


@pytest.mark.parametrize("name", ["stud-wiki-1.1", "flue", "pi"])
def test_S0_97_reasoning_that_is_not_shown_is_dropped_and_nothing_else_changes(name: str) -> None:
    session, settings = talk(12), {"keep-recent-tokens.tokens": 4_000} if name != "stud-wiki-1.1" else {}
    plans = [
        make_plan(session, find_policy(name).configured(settings | {"summarise-older.thinking": shown}))
        for shown in (True, False)
    ]
    assert plans[0].place == plans[1].place and plans[0].after == plans[1].after
    kinds = [block.kind for entry in session.entries for block in entry.blocks]
    changed = [
        (kind, FATES[a], FATES[b])
        for kind, a, b in zip(kinds, plans[0].fate.tolist(), plans[1].fate.tolist(), strict=True)
        if a != b
    ]
    assert changed and set(changed) == {("reasoning", "summarised", "dropped")}
    summaries = [summarise(plan, Copying()).text for plan in plans]
    assert ["so so" in text for text in summaries] == [True, False]


def test_S0_97_a_replay_tells_the_same() -> None:
    for policy, words in (("stud-wiki-1.1", {"summarised"}), (BLIND, {"dropped"})):
        run = replay(talk(12), policy, window=12_000)
        rows = [row for e in run.events if e.kind == "completed" for row in e.data["retention"].values()]
        assert {rule for row in rows for rule, count in row.items() if count} == words | {"verbatim"}
        assert ("reasoning_downgraded" in {e.kind for e in run.events}) is (words == {"summarised"})
