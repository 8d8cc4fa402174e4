"""Which reasoning stays: that of the loop that still goes on, counted back by hand."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from inspector.planning.planner import make_plan
from inspector.policies.policy import read_policy
from inspector.policies.table import FATES
from inspector.session.blocks import Block, Reasoning, Text, ToolCall, ToolOutput
from inspector.session.entries import Entry
from inspector.tokens.ledger import count_tokens
from tests.test_cuts import build


def entries_of(steps: list[str]) -> list[Entry]:
    """`a` thinks and calls, `s` thinks and speaks, `o` answers the call, `u` asks, `e` says nothing."""
    entries: list[Entry] = []
    asked = ""
    for number, step in enumerate(steps):
        blocks: tuple[Block, ...] = ()
        role = "assistant" if step in "ase" else "user"
        if step in "as":
            blocks = (Reasoning(text=f"thought {number}"), Text(text="Yes."))
        if step == "a":
            asked = f"c{number}"
            blocks = (*blocks, ToolCall(id=asked, name="r", input={}))
        elif step == "o" and asked:
            role, blocks, asked = "tool", (ToolOutput(call_id=asked, parts=(Text(text="out"),)),), ""
        elif step in "uo":
            blocks = (Text(text="Go on."),)
        elif step == "e":
            blocks = (Text(text=""),)
        entries.append(Entry(id="", role=role, blocks=blocks))
    return entries


def loop_begins(entries: list[Entry]) -> int:
    """Where the loop begins that the context ends in: back over messages that all answer a call."""
    messages: list[tuple[bool, list[int]]] = []
    for at, entry in enumerate(entries):
        if all(block.kind == "text" and not block.text for block in entry.blocks):
            continue
        speaks = entry.role == "assistant"
        if messages and messages[-1][0] == speaks:
            messages[-1][1].append(at)
        else:
            messages.append((speaks, [at]))
    first = len(entries)
    if not messages or messages[-1][0]:
        return first
    for speaks, places in reversed(messages):
        if speaks:
            first = places[0]
        elif not any(block.kind == "tool_output" for at in places for block in entries[at].blocks):
            break
    return first


@given(st.lists(st.sampled_from("asouue"), min_size=1, max_size=14))
@example(list("uao"))
@example(list("usuaoao"))
@example(list("uaoeaou"))
@example(list("uaous"))
@example(list("uaoue"))
@example(list("uuaoauo"))
def test_without_any_kept_reply_the_reasoning_of_the_open_loop_alone_stays(steps: list[str]) -> None:
    entries = entries_of(steps)
    session = build(*entries)
    rule = {"kind": "keep-newest-reasoning", "replies": 0, "loop": True}
    policy = read_policy({"name": "mine", "rules": [rule]})
    plan = make_plan(session, count_tokens(session), policy, reason="manual")
    live = session.live
    stays = {
        int(live.position[row])
        for row, code in enumerate(plan.fate.tolist())
        if FATES[code] == "verbatim"
        and entries[int(live.position[row])].blocks[live.block[row]].kind == "reasoning"
    }
    thinks = {at for at, entry in enumerate(entries) if any(b.kind == "reasoning" for b in entry.blocks)}
    assert stays == {at for at in thinks if at >= loop_begins(entries)}
