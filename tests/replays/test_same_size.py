"""A replay and a plan at the same point in time know the same size: by the replies up to there alone."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import count_tokens, list_policies, make_plan, open_demo, replay
from inspector.files import open_session
from inspector.session.blocks import Text
from inspector.session.entries import Entry, Usage
from inspector.session.session import Session
from tests.claude_rows import Claude
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
    for seed in range(2):
        assert compare(talk(seed, share), policy) > 8


@pytest.mark.parametrize("policy", POLICIES[::2])
def test_so_they_do_in_the_demo(policy: str) -> None:
    assert compare(open_demo(), policy) >= 2


@needs_shared
@pytest.mark.parametrize("name", FILES)
def test_so_they_do_in_real_sessions(name: str) -> None:
    assert compare(open_session(SHARED / "sessions" / name), "flue") > 5


SHED = ("claude-sonnet-4-5-20250929", "claude-haiku-4-5", "claude-opus-4-1-20250805")
"""Models that are not shown, nor charged for, the reasoning of earlier turns."""
KEEP = ("claude-opus-4-6", "claude-sonnet-4-6")


@st.composite
def reasoners(draw: st.DrawFn) -> Session:
    """Turns with reasoning and tools in the rows of Claude Code. Some replies report what their provider
    charged by a tokenizer of its own; the model may change between two turns."""
    dice = Random(draw(st.integers(0, 2**16)))
    models = draw(st.lists(st.sampled_from((*SHED, *KEEP)), min_size=1, max_size=2))
    rate, reports = draw(st.sampled_from((0.8, 1.1, 1.5))), draw(st.sampled_from((0.4, 1.0)))
    turns, claude = draw(st.integers(2, 7)), Claude()
    shown, earlier, newer = 3_000.0, 0.0, 0.0

    def write(most: int) -> tuple[str, float]:
        words = [dice.choice(("tide", "moon", "pier", "gull")) for _ in range(dice.randrange(5, most))]
        return " ".join(words), rate * len(words)

    for turn in range(turns):
        (asked, size), model = write(300), models[turn * len(models) // turns]
        claude.say(asked)
        shown, earlier, newer = shown + size, earlier + newer, 0.0
        for calls in range(dice.randrange(0, 3), -1, -1):
            (thought, thinking), (said, saying) = write(900), write(200)
            request = shown + newer + (earlier if model in KEEP else 0)
            usage = {"input_tokens": round(request), "output_tokens": round(thinking + saying)}
            content = [
                {"type": "thinking", "thinking": thought, "signature": "s"},
                {"type": "text", "text": said},
            ]
            name = f"m{len(claude.rows)}"
            if calls:
                content.append({"type": "tool_use", "id": name, "name": "Bash", "input": {"command": "ls"}})
            message = {"id": name, "role": "assistant", "model": model, "content": content}
            claude.add("assistant", message=message | ({"usage": usage} if dice.random() < reports else {}))
            shown, newer = shown + saying, newer + thinking
            if calls:
                output, size = write(600)
                result = {"type": "tool_result", "tool_use_id": name, "content": output}
                claude.add("user", message={"role": "user", "content": [result]})
                shown += size
    return claude.open()


@given(reasoners(), st.sampled_from([policy.name for policy in list_policies()]), st.integers(6, 40))
def test_a_replay_is_as_large_as_a_plan_until_it_changes_the_context(
    session: Session, policy: str, window: int
) -> None:
    ledger = count_tokens(session, "calibrated")
    run = replay(session, policy, {"provider": "accepts"}, ledger=ledger, window=window * 1_000)
    changed = [event.step for event in run.events if event.kind == "stage" and event.before != event.after]
    first = min([len(run), *changed, *(compaction.step for compaction in run.adopted)])
    reply = next((i for i, entry in enumerate(session.entries) if entry.usage), len(session.entries))
    for step, entry in enumerate(run.entry.tolist()[:first]):
        plan = make_plan(session.at(session.entries[entry].id), ledger, policy, window=window * 1_000)
        # The first report tells what a request holds beyond the file: a plan before it cannot know.
        if entry >= reply:
            assert int(run.context[step]) == plan.before == int(run.recorded[step])
    for compaction in run.adopted[:1]:
        assert compaction.before == compaction.plan.before
