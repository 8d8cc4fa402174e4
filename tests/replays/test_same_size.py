"""A replay and a plan at the same point in time know the same size: by the replies up to there alone."""

from __future__ import annotations

from random import Random

import pytest

from inspector import count_tokens, make_plan, open_demo, replay
from inspector.files import open_session
from inspector.session.blocks import Text
from inspector.session.entries import Entry, Usage
from inspector.session.session import Session
from tests.shared import SHARED, needs_shared

POLICIES = ["flue", "claude-code-analysis", "mini-claude-code", "keep-recent-turns"]
SHARES = [0.0, 0.3, 1.0]
FILES = [
    "openai-chat--context-viewer/completions-ask_github.json",
    "claude-code--entireio-cli/cc-small-no-compaction.jsonl",
    "flue/before-compaction.session.json",
]


def talk(seed: int, share: float) -> Session:
    """A session with 2,000 tokens of system prompt that no entry holds, of which a share of the replies
    reports its usage, with reasoning that is hidden and text that takes a fifth more than is counted."""
    dice, entries, size = Random(seed), [], 2_000
    for turn in range(14):
        text = "tide and moon " * dice.randrange(20, 400)
        entries.append(Entry(id=f"u{turn}", role="user", blocks=(Text(text=text),)))
        size += len(text) * 3 // 10
        said = "low water " * dice.randrange(5, 60)
        output = len(said) * 3 // 10 + dice.randrange(0, 3_000)
        # The last reply reports in each session: what only it tells is not known before.
        usage = Usage(input=size, output=output) if turn == 13 or dice.random() < share else None
        entries.append(Entry(id=f"a{turn}", role="assistant", blocks=(Text(text=said),), usage=usage))
        size += len(said) * 3 // 10
    chained = (
        entry.model_copy(update={"parent": entries[number - 1].id if number else None})
        for number, entry in enumerate(entries)
    )
    return Session(format="demo", id="talk", entries=tuple(chained), leaf="a13")


def compare(session: Session, policy: str) -> int:
    """Compare each step before the first recorded compaction and before the first of the replay; return how
    many there are."""
    ledger = count_tokens(session)
    run = replay(session, policy, {"provider": "accepts"}, ledger=ledger, window=10**8)
    recorded = next((i for i, entry in enumerate(session.entries) if entry.kind == "compaction"), 10**9)
    steps = [step for step, entry in enumerate(run.entry.tolist()) if 0 <= entry < recorded]
    first = run.adopted[0].step if run.adopted else len(run)
    # Stages that run before every request change what the plan's context holds at the next step.
    changed = [event.step for event in run.events if event.kind == "stage" and event.before != event.after]
    steps = [step for step in steps if step < min([first, *filter(None, changed)])]
    reply = next(i for i, entry in enumerate(session.entries) if entry.usage)
    asked = session.at(session.entries[reply].parent)
    # The first request held the prompt and tools that only its reply reports; a plan before it cannot know.
    more = max(
        0, session.entries[reply].usage.request - make_plan(asked, ledger, policy, window=10**8).before
    )
    for step in steps[:: max(1, len(steps) // 25)]:
        there = session.at(session.entries[int(run.entry[step])].id)
        before = make_plan(there, ledger, policy, window=10**8).before
        assert int(run.context[step]) == before + more * (int(run.entry[step]) < reply)
    return len(steps)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("share", SHARES)
def test_a_replay_and_a_plan_know_one_size_at_each_step(share: float, policy: str) -> None:
    for seed in range(4):
        assert compare(talk(seed, share), policy) > 8


@pytest.mark.parametrize("policy", POLICIES)
def test_so_they_do_in_the_demo(policy: str) -> None:
    assert compare(open_demo(), policy) >= 2


@needs_shared
@pytest.mark.parametrize("name", FILES)
def test_so_they_do_in_real_sessions(name: str) -> None:
    assert compare(open_session(SHARED / "sessions" / name), "flue") > 5
