"""A session's life in columns, on sessions of one character a token."""

from __future__ import annotations

import pytest

from inspector.policies.trigger import Measure
from inspector.replays.engine import replay
from inspector.replays.timeline import Timeline, find_life
from inspector.session.blocks import Block, Reasoning, Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry, Usage
from inspector.session.session import Session
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens
from tests.tokens.test_weighed_path import LENGTH, outside_of, reply, say

ASKED = say("u1", None, "u" * 100)
SECOND = (say("u2", "a1", "u" * 100), reply("a2", "u2", 1_250, "a" * 50, output=50))
WHOLE = (ASKED, reply("a1", "u1", 1_100, "a" * 50, output=50), *SECOND)
"""1,000 tokens are in every request and not in the file."""


def session_of(*entries: Entry, form: str = "demo") -> Session:
    return Session(format=form, entries=entries, leaf=entries[-1].id)


def life_of(*entries: Entry, form: str = "demo", measure: Measure = "usage") -> Timeline:
    session = session_of(*entries, form=form)
    ledger = count_tokens(session, LENGTH)
    return find_life(session, ledger, trace_history(session, ledger), measure)


def test_what_replies_report_is_held_against_what_is_counted() -> None:
    life = life_of(*WHOLE)
    assert life.tokens.tolist() == life.weight.tolist() == [100, 50, 100, 50]
    assert life.hidden.tolist() == [1_000] * 4, "what the first reply says stands for what came before it"
    assert life.prompt.tolist() == [-1, 1_100, -1, 1_250] and life.output.tolist() == [0, 50, 0, 50]
    assert life.recorded.tolist() == life.peak.tolist() == [1_100, 1_150, 1_250, 1_300]
    assert life.reports.tolist() == life.requests.tolist() == life.replies.tolist() == [False, True] * 2
    assert (life.earlier, life.scale, life.exceeds) == (0, 1.0, False)


def test_where_less_is_reported_than_is_counted_every_size_is_a_counted_one() -> None:
    """The first reply tells of a request of 10 tokens, and 100 are counted."""
    life = life_of(ASKED, reply("a1", "u1", 10, "a" * 50, output=50), *SECOND)
    assert life.exceeds and life.earlier == 0 and life.scale == 1.0
    assert life.hidden.tolist() == [0] * 4 and life.prompt.tolist() == [-1] * 4
    assert life.recorded.tolist() == [100, 150, 250, 300] and not life.reports.any()
    assert life.output.tolist() == [0, 50, 0, 50], "the reply is counted, where it is not reported"


def test_a_run_says_when_its_sizes_are_counted_alone() -> None:
    less = session_of(ASKED, reply("a1", "u1", 10, "a" * 50, output=50), *SECOND)
    told = [
        replay(session, "pi", ledger=count_tokens(session, LENGTH)) for session in (less, session_of(*WHOLE))
    ]
    said = "every size is counted, as some reply reports less than is counted of its request"
    assert [said in repr(run) for run in told] == [True, False]
    assert [run.context.tolist() for run in told] == [[100, 150, 250, 300], [1_100, 1_150, 1_250, 1_300]]


def test_what_came_before_the_file_is_known_where_it_begins_in_the_middle() -> None:
    entries = (say("u1", "gone", "u" * 100), reply("a1", "u1", 150_000, "a" * 50, output=50))
    life = life_of(*entries, form="claude-code")
    assert life.earlier == outside_of(session_of(*entries, form="claude-code")).earlier.tokens > 0


def test_a_recorded_compaction_is_no_part_of_the_life_but_of_what_was_recorded() -> None:
    """After it 150 tokens of summary stand in the place of 150: prompts since are of another context."""
    told = say("s1", "a1", "s" * 150, kind="compaction", boundary=Boundary())
    life = life_of(
        *WHOLE[:2], told, say("u2", "s1", "u" * 100), reply("a2", "u2", 1_350, "a" * 50, output=50)
    )
    assert life.at.tolist() == [0, 1, 3, 4] and life.prompt.tolist() == [-1, 1_100, -1, -1]
    assert life.recorded.tolist() == [1_100, 1_150, 1_150, 1_250, 1_400]
    assert life.hidden.tolist() == [1_000] * 4 and life.output.tolist() == [0, 50, 0, 50]


def step(name: str, parent: str | None, role: str, *blocks: Block) -> Entry:
    return Entry(id=name, parent=parent, role=role, blocks=blocks)


CALL = ToolCall(id="c", name="r", input={})
OUTPUT, STRAY = (ToolOutput(call_id=name, parts=(Text(text="o" * 10),)) for name in ("c", "x"))


def test_a_call_stands_open_until_its_output_comes_whoever_speaks_between() -> None:
    """The model calls, says more, and is answered; an output of no call answers nobody."""
    life = life_of(
        step("u", None, "user", Text(text="hi")),
        step("a", "u", "assistant", CALL),
        step("b", "a", "assistant", Text(text="wait")),
        step("t", "b", "tool", OUTPUT),
        step("o", "t", "tool", STRAY),
        step("z", "o", "assistant", Text(text="ok")),
    )
    assert life.open.tolist() == [False, False, True, True, False, False, False]
    assert life.requests.tolist() == [False, True, False, False, False, True]
    assert life.answers.tolist() == [False, False, False, True, True, False]


def test_a_call_is_forgotten_once_the_user_spoke_and_the_model_speaks_anew() -> None:
    life = life_of(
        step("a", None, "assistant", CALL),
        step("u", "a", "user", Text(text="hi")),
        step("b", "u", "assistant", Text(text="yes")),
        step("t", "b", "tool", OUTPUT),
    )
    assert not life.open.any() and life.requests.tolist() == [True, False, True, False]


@pytest.mark.parametrize(("measure", "weight"), [("messages", [1, 1]), ("chars4_utf16", [25, 13])])
def test_a_policy_s_own_measure_weighs_messages(measure: Measure, weight: list[int]) -> None:
    """100 and 50 characters, a quarter of each rounded up."""
    assert life_of(*WHOLE[:2], measure=measure).weight.tolist() == weight


@pytest.mark.parametrize("words", ["r" * 200, ""])
def test_requests_without_their_reasoning_are_not_those_that_were_reported(words: str) -> None:
    """A harness that sends none: the 1,000 tokens of every request stay, the 200 that were reasoned go,
    whether the file holds their words or a seal alone."""
    thought = (Reasoning(text=words, signature="s"), Text(text="a" * 50))
    session = session_of(
        ASKED,
        reply("a1", "u1", 1_100, blocks=thought, output=250),
        say("u2", "a1", "u" * 100),
        reply("a2", "u2", 1_450, blocks=thought, output=250),
        say("u3", "a2", "u" * 100),
        reply("a3", "u3", 1_800, "a" * 50, output=50),
    )
    ledger = count_tokens(session, LENGTH)
    policy = {"name": "mine", "trigger": {"tokens": 10**6}, "rules": [{"kind": "keep-system"}]}
    sent = {}
    for sends in (True, False):
        given = policy | {"harness": {"send_reasoning": sends}}
        run = replay(session, given, ledger=ledger, window=10**6)
        sent[sends] = [tokens for tokens in run.sent.tolist() if tokens]
    assert sent == {True: [1_100, 1_450, 1_800], False: [1_100, 1_250, 1_400]}


def test_what_was_refused_is_counted_in_no_context() -> None:
    """The same talk without the reply that failed, which said a great deal, holds as much at every step."""
    refused = step("x", "u1", "assistant", Text(text="e" * 300)).model_copy(
        update={"error": "prompt is too long: 210000 tokens > 200000 maximum", "stop_reason": "error"}
    )
    later = (say("u2", "x", "u" * 100), step("a2", "u2", "assistant", Text(text="a" * 40)))
    with_it = life_of(ASKED, refused, *later)
    without = life_of(ASKED, say("u2", "u1", "u" * 100), later[1])
    assert with_it.recorded.tolist()[-2:] == without.recorded.tolist()[-2:] == [200, 240]
    assert with_it.peak.tolist()[-1] == 240


def test_a_request_that_nothing_is_reported_of_is_what_is_counted_and_what_is_hidden() -> None:
    """1,000 hidden by the first reply's word; the third request is 100 + 50 + 30 counted."""
    silent = step("a2", "u2", "assistant", Text(text="a" * 20))
    session = session_of(*WHOLE[:2], say("u2", "a1", "u" * 30), silent)
    run = replay(session, "flue", ledger=count_tokens(session, LENGTH), window=200_000)
    assert run.sent.tolist()[-1] == 1_000 + 100 + 50 + 30


def test_only_the_model_s_replies_tell_a_size_and_fail_for_length() -> None:
    """A user's entry that carries an error or a usage, as some logs have it, is neither."""
    failed = say("u2", "a1", "u" * 100).model_copy(
        update={"error": "prompt is too long: 210000 tokens > 200000 maximum", "usage": Usage(input=9_000)}
    )
    life = life_of(*WHOLE[:2], failed, WHOLE[3])
    assert life.tokens.tolist() == [100, 50, 100, 50] and not life.refusals
    assert life.hidden.tolist() == [1_000] * 4
    assert life.prompt.tolist() == [-1, 1_100, -1, 1_250]


def test_a_reply_that_reports_one_token_reports() -> None:
    life = life_of(say("u1", None, ""), reply("a1", "u1", 1, "", output=0))
    assert life.reports.tolist() == [False, True] and life.hidden.tolist() == [1, 1]
    assert life.before == 1


def test_what_no_entry_holds_stays_in_front_when_the_replay_plans() -> None:
    """1,000 tokens stand before every request; the second reply weighs 90 beyond its 10 that are counted."""
    hidden = reply("a1", "u1", 1_100, "a" * 10, output=100)
    later = (say("u2", "a1", "u" * 100), reply("a2", "u2", 1_300, "a" * 50, output=50))
    session = session_of(ASKED, hidden, *later)
    policy = {
        "name": "mine",
        "trigger": {"tokens": 1_250},
        "rules": [{"kind": "keep-recent-turns", "turns": 1}],
    }
    policy["rules"].append({"kind": "drop-older"})  # type: ignore[attr-defined]
    run = replay(session, policy, ledger=count_tokens(session, LENGTH), window=10**6)
    (done,) = run.compactions
    assert (done.plan.outside.fixed.tokens, done.plan.outside.withheld.tokens) == (1_000, 90)
    assert (done.before, done.after) == (1_350, 1_150)


def test_a_request_of_one_token_is_told_as_one() -> None:
    session = session_of(say("u1", None, ""), reply("a1", "u1", 1, "", output=0))
    run = replay(session, "flue", ledger=count_tokens(session, LENGTH), window=1_000)
    assert "sent 1 token in 1 request," in repr(run)


@pytest.mark.parametrize(("warn", "told"), [(0.47, True), (0.54, False)])
def test_what_an_entry_weighs_more_does_not_stand_before_the_messages(warn: float, told: bool) -> None:
    """1,000 of a window of 2,100 stand in front, and the first reply weighs 90 more than is counted: what
    stands in front is over 47 % by itself, and not over 54 % where the second request is."""
    hidden = reply("a1", "u1", 1_010, "a" * 10, output=100)
    later = (say("u2", "a1", "u" * 100), reply("a2", "u2", 1_210, "a" * 50, output=50))
    session = session_of(say("u1", None, "u" * 10), hidden, *later)
    policy = {"name": "mine", "harness": {"warn": warn}, "trigger": {"tokens": 10**6}, "rules": []}
    run = replay(session, policy, ledger=count_tokens(session, LENGTH), window=2_100)
    assert [event.step for event in run.events if event.kind == "warned"] == [1 if told else 3]
    assert any(finding.kind == "head" for finding in run.findings) == told


def test_a_reply_that_reports_one_token_has_one() -> None:
    """Only a reply that tells of no output is counted."""
    for told, output in ((1, 1), (0, 50)):
        life = life_of(ASKED, reply("a1", "u1", 1_100, "a" * 50, output=told))
        assert life.output.tolist() == [0, output]
