"""Condensing the middle, on sessions small enough to count by hand (PEERS §1, openhands-sdk 1.58.0).

The real condenser is asked in `tests/policies/test_peers.py`, where its package can be installed.
"""

from __future__ import annotations

from typing import Any

import pytest

from inspector.policies.trigger import Reason
from inspector.session.blocks import Text, ToolOutput
from inspector.session.entries import Entry
from inspector.session.session import Session
from tests.policies.test_peers import kept, plan_of
from tests.test_cuts import answer, build, call, say, user

MESSAGES = "us" * 20


def conversation(letters: str, system: str = "") -> Session:
    """One entry a letter: u and s speak ten words, c calls, C thinks and calls, P calls two tools at once;
    a answers the oldest of these, o in the user's name, A with a user's words beside it, and the call w waits
    for ever."""
    entries: list[Entry] = []
    open_calls: list[str] = []
    for number, letter in enumerate(letters):
        if letter in "us":
            entries.append((user if letter == "u" else say)("w" * 10))
        elif letter in "cCPw":
            ids = [f"{number}", f"{number}b"] if letter == "P" else [f"{number}"]
            open_calls = [*open_calls, *ids] if letter != "w" else open_calls
            entries.append(call(*ids, signed=letter == "C"))
        elif letter == "a":
            entries.append(answer(open_calls.pop(0)))
        else:
            output = ToolOutput(call_id=open_calls.pop(0), parts=(Text(text="ok"),))
            words = (Text(text="go on"),) if letter == "A" else ()
            entries.append(Entry(id="", role="user", blocks=(output, *words)))
    session = build(*entries)
    return session.model_copy(update={"system": (Text(text=system),)}) if system else session


def numbers(letters: str, system: str = "", reason: Reason = "auto", **knobs: Any) -> list[int]:
    """The entries that stay, the others being condensed."""
    named = {f"condense_middle__{name}": value for name, value in knobs.items()}
    plan = plan_of(conversation(letters, system), "openhands", reason=reason, **named)
    return sorted(int(name[1:]) for name in kept(plan))


@pytest.mark.parametrize(
    ("letters", "knobs", "stay"),
    [
        pytest.param(MESSAGES[:10], {}, [*range(10)], id="no more than the limit"),
        pytest.param(MESSAGES[:12], {}, [0, 1, 10, 11], id="half of ten, less the first two and the summary"),
        pytest.param(MESSAGES[:12], {"system": "w"}, [0, 10, 11], id="the system prompt is one of the first"),
        pytest.param(MESSAGES[:12], {"system": "w", "first": 0}, [8, 9, 10, 11], id="it stays anyway"),
        pytest.param(MESSAGES[:12], {"first": 3}, [0, 1, 2, 11], id="three stay in front, one behind"),
        pytest.param(MESSAGES[:12], {"reason": "manual"}, [0, 1, 10, 11], id="the lesser of two tails"),
        pytest.param(
            MESSAGES[:12], {"reason": "manual", "events": 40}, [0, 1, 9, 10, 11], id="asked: half of twelve"
        ),
        pytest.param("usPaausususu", {"events": 12}, [0, 1, 9, 10, 11], id="two calls are two events"),
        pytest.param("ususususcAus", {}, [0, 1, 10, 11], id="words beside an output are one more event"),
        pytest.param("ususususcous", {}, [0, 1, 10, 11], id="an output in the user's name is one alone"),
        pytest.param("uswususususus", {}, [0, 1, 11, 12], id="a call that nobody answers is none"),
        pytest.param("ususususucas", {}, [0, 1, 11], id="a call takes its output with it"),
        pytest.param("usususCacaca", {}, [0, 1], id="a loop that a thought opened goes as a whole"),
        pytest.param("ususususCaCa", {}, [0, 1, 10, 11], id="a second thought opens a loop of its own"),
        pytest.param("usCasucasuca", {}, [0, 1, 10, 11], id="words end a loop, and later calls open none"),
        pytest.param("usususcacaca", {}, [0, 1, 10, 11], id="without a thought there is no loop"),
    ],
)
def test_what_is_condensed_by_number(letters: str, knobs: dict[str, Any], stay: list[int]) -> None:
    assert numbers(letters, **({"events": 10} | knobs)) == stay


@pytest.mark.parametrize(
    ("knobs", "stay"),
    [
        pytest.param({"tokens": 120}, [*range(12)], id="no more than the limit"),
        pytest.param({"tokens": 100}, [0, 1, 10, 11], id="more than 70 of 120 go: eight messages"),
        pytest.param({"tokens": 80, "first": 1}, [0, 10, 11], id="more than 80 go: nine messages"),
        pytest.param({"tokens": 100, "first": 0, "system": "wwwww"}, [8, 9, 10, 11], id="75 with the prompt"),
        pytest.param({"tokens": 30, "first": 0}, [11], id="more than 105 go: eleven messages"),
        pytest.param({"tokens": 100, "first": 50}, [], id="nothing lies after the first: all of it"),
        pytest.param({"tokens": 120, "system": "w"}, [0, 8, 9, 10, 11], id="the system prompt weighs too"),
    ],
)
def test_what_is_condensed_by_tokens(knobs: dict[str, Any], stay: list[int]) -> None:
    """Ten tokens a message: what goes is more than what lies beyond half of the limit."""
    assert numbers(MESSAGES[:12], **knobs) == stay
