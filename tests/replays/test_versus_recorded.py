"""Where a policy fires in the context as it was recorded: by the most that a step held, not by its end."""

from __future__ import annotations

import numpy as np

from inspector.policies.policy import Policy
from inspector.policies.trigger import Trigger
from inspector.replays.timeline import find_life
from inspector.replays.versus_recorded import compare_recorded
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry, Usage
from inspector.session.session import Session
from inspector.tokens.counter import Counter
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens

LENGTH = Counter("length", "Characters", lambda texts: np.array([len(text) for text in texts], np.int32))


def test_the_peak_of_a_step_and_the_files_own_figure_are_held_against_the_threshold() -> None:
    """An output of 5,000 is emptied within its step; the file says that 6,500 stood before the compaction."""
    call = ToolCall(id="c", name="r", input={})
    output = ToolOutput(call_id="c", parts=(Text(text="x" * 5000),))
    told = Boundary(trigger="auto", tokens_before=6500)
    entries = (
        Entry(id="u1", blocks=(Text(text="u" * 1000),)),
        Entry(id="a1", parent="u1", role="assistant", blocks=(call,), usage=Usage(input=1000, output=3)),
        Entry(id="t1", parent="a1", role="tool", blocks=(output,)),
        Entry(id="m1", parent="t1", kind="micro", boundary=Boundary(kind="micro", cleared=("c",))),
        Entry(id="s1", parent="m1", kind="compaction", blocks=(Text(text="s"),), boundary=told),
    )
    session = Session(format="demo", entries=entries, leaf="s1")
    ledger = count_tokens(session, LENGTH)
    history = trace_history(session, ledger)
    life = find_life(session, ledger, history, "usage")
    step = int(history.step[2])
    assert life.recorded[step] < 1_200 < 6_000 <= life.peak[step]

    def fired(tokens: int) -> list[int | None]:
        trigger = Trigger(tokens=tokens, check="request")
        policy = Policy(name="p", trigger=trigger)
        return [beside.fired for beside in compare_recorded(life, history, policy, 200_000) if beside.tokens]

    assert fired(6_100) == [0], "the file's 6,500 are more"
    assert fired(7_000) == [None]


def told(size: int, **trigger: object) -> str:
    """What is said of the second of two compactions, in turn 3: there are 900 characters before it."""
    first, second = Boundary(trigger="auto", tokens_before=100), Boundary(trigger="auto")
    entries = (
        Entry(id="u1", blocks=(Text(text="u" * 100),)),
        Entry(id="s1", parent="u1", kind="compaction", blocks=(Text(text="s" * 50),), boundary=first),
        Entry(id="u2", parent="s1", blocks=(Text(text="v" * 200),)),
        Entry(id="a2", parent="u2", role="assistant", blocks=(Text(text="w" * 100),)),
        Entry(id="u3", parent="a2", blocks=(Text(text="x" * 300),)),
        Entry(id="a3", parent="u3", role="assistant", blocks=(Text(text="y" * 250),)),
        Entry(id="s2", parent="a3", kind="compaction", blocks=(Text(text="s"),), boundary=second),
    )
    session = Session(format="demo", entries=entries, leaf="s2")
    ledger = count_tokens(session, LENGTH)
    history = trace_history(session, ledger)
    life = find_life(session, ledger, history, "assembled")
    policy = Policy(name="p", trigger=Trigger(tokens=size, **trigger))  # type: ignore[arg-type]
    return list(compare_recorded(life, history, policy, 200_000))[-1].sentence


def test_how_much_more_it_takes_and_where_the_threshold_was_passed_are_told() -> None:
    """The summary of 50 and what was said since: 200, 100, 300 and 250; above a threshold is one more."""
    at = "Recorded in turn 3 at 900 tokens (0.5 % of the window); the policy fires "
    assert told(1_000, check="request") == (
        f"{at}above 1,000 (0.5 % of the window), 101 more than the 900 that were reached, since the recorded "
        "harness compacts earlier."
    )
    assert (
        told(899, check="request") == f"{at}in the same turn, above 899 (0.4 % of the window): there at 900."
    )
    passed = "which was passed in turn {}, but it does not look before "
    assert passed.format(2) in told(300, check="outputs")
    assert passed.format(3) in told(350, check="outputs")
    assert passed.format(3) in told(899, check="outputs")
    assert " 1 more than the 900 that were reached" in told(900, check="outputs")
