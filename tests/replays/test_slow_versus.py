"""What was recorded beside where a policy would have fired, where every context is counted anew."""

from __future__ import annotations

import math
import random
from itertools import groupby
from typing import Any

import pytest

from inspector.replays.engine import replay
from inspector.session.session import Session
from inspector.tokens.history import CompactionMark, trace_history
from inspector.tokens.ledger import count_tokens
from tests.fixed_sessions import LENGTH, fixed_session
from tests.replays.test_slow_runs import find_open

SEEDS = range(100)


def without_reports(seed: int) -> Session:
    """A session with its compactions, of which no provider told a size and in which nothing failed."""
    session = fixed_session(seed)
    fields = {"usage": None, "error": None, "stop_reason": None}
    entries = tuple(entry.model_copy(update=fields) for entry in session.entries)
    return session.with_entries(entries, session.leaf)


def count_contexts(session: Session) -> list[int]:
    """Tokens in the context after each entry of the path."""
    ledger = count_tokens(session, LENGTH)
    moments = [session.at(session.entries[i].id) for i in session.path]
    return [ledger.head_tokens + int(ledger.live_tokens(moment).sum()) for moment in moments]


def draw_trigger(chance: random.Random) -> dict[str, Any]:
    fixed = {"tokens": chance.choice((0, 100, 400, 999, 1_000, 1_001, 3_000))}
    share = {"ratio": chance.choice((0.3, 0.5)), "strict": chance.choice((True, False))}
    reserve = {"reserve_tokens": chance.choice((0, 500))}
    check = chance.choice(("reply", "outputs", "request"))
    return chance.choice((fixed, share, reserve)) | {"check": check}


@pytest.mark.parametrize("seed", SEEDS)
def test_every_recorded_compaction_stands_beside_the_first_crossing_before_it(seed: int) -> None:
    session, chance = without_reports(seed), random.Random(seed)
    ledger = count_tokens(session, LENGTH)
    history = trace_history(session, ledger)
    sizes, path = count_contexts(session), [session.entries[i] for i in session.path]
    steps = history.step.tolist()
    grouped = groupby(range(len(path)), key=lambda at: steps[at])
    by_step = {step: [sizes[at] for at in places] for step, places in grouped}
    lived = [(at, e) for at, e in enumerate(path) if e.kind not in ("compaction", "micro", "note")]
    entries = [entry for _, entry in lived]
    still = find_open(entries)
    requests = [e.role == "assistant" and not still[n] for n, e in enumerate(entries)] + [False]
    for _ in range(3):
        told, window = draw_trigger(chance), chance.choice((800, 2_000, 5_000))
        policy = {"name": "mine", "trigger": told, "rules": [{"kind": "keep-system"}]}
        run = replay(session, policy, ledger=ledger, window=window)
        assert run.recorded.tolist() == [by_step[step][-1] for step in range(len(run))]
        looks = set()
        for number, (at, entry) in enumerate(lived):
            answers = any(block.kind == "tool_output" for block in entry.blocks)
            if {
                "reply": entry.role == "assistant" and not still[number + 1],
                "outputs": answers and requests[number + 1],
                "request": requests[number + 1],
            }[told["check"]]:
                looks.add(steps[at])
        marks = [mark for mark in history.marks if mark.kind == "compact"]
        assert [item.entry for item in run.against] == [mark.entry for mark in marks]
        begin = 0
        for item, mark in zip(run.against, marks, strict=True):
            stretch = range(begin, mark.step)
            most = {step: max(by_step[step]) for step in stretch}
            if stretch:
                most[mark.step - 1] = max(most[mark.step - 1], mark.before or 0)
            threshold = run.policy.trigger.threshold(window)
            above = [
                s for s in stretch if most[s] > threshold or (most[s] == threshold and not _is_above(told))
            ]
            last = {mark.step - 1} if told["check"] == "request" else set()
            hits = [step for step in above if step in looks | last]
            assert item.fired == (int(history.turn[hits[0]]) if hits else None), (told, window)
            before = path.index(session[mark.entry]) - 1
            recorded = sizes[before] if before >= 0 else mark.before or 0
            assert (item.tokens, item.step) == (recorded, mark.step)
            assert item.turn == int(history.turn[max(mark.step - 1, 0)])
            _check_words(item.sentence, mark, most, threshold, hits, above, _is_above(told), window, recorded)
            begin = mark.step


def _is_above(told: dict[str, Any]) -> bool:
    return "ratio" not in told or told["strict"]


def _check_words(
    sentence: str,
    mark: CompactionMark,
    most: dict[int, int],
    threshold: float,
    hits: list[int],
    above: list[int],
    strictly: bool,
    window: int,
    recorded: int,
) -> None:
    """The figures that the sentence tells."""
    share = f"{100 * recorded / window:.1f} % of the window"
    assert f"at {recorded:,} tokens ({share})" in sentence
    assert (", by hand" in sentence) == (mark.trigger == "manual")
    if hits:
        assert f"there at {most[hits[0]]:,}." in sentence
    elif above:
        assert "which was passed in turn" in sentence
    else:
        reached = max(most.values(), default=0)
        more = max(math.ceil(threshold) + strictly - reached, 1)
        assert f"{more:,} more than the {reached:,} that were reached" in sentence
