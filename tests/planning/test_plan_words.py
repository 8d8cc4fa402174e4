"""What a plan says of itself, word for word, on sessions of one word a token."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.planning.plan import Plan
from inspector.planning.plan_words import shorten_name, write_recipe, write_spec
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import CAME_WHOLE, Checkpoint
from inspector.policies.registry import find_policy
from inspector.session.entries import Entry
from inspector.session.session import Session
from tests.planning.test_plan import FIVE_TURNS, count, plan_of
from tests.test_cuts import answer, build, call, say, user

DROPS = {"kind": "drop-older"}
LAST = {"kind": "keep-recent-turns", "turns": 1}
TALK = (user("a b c d e f g h"), say(), user("i j k l"), say())
"""Fourteen tokens, of which the second turn has five."""


def plan_by(*rules: dict[str, Any], on: tuple[Entry, ...] = TALK, edits: Any = None, **parts: Any) -> Plan:
    session = build(*on)
    reason = parts.pop("reason", "auto")
    return make_plan(
        session, count(session), {"name": "mine", "rules": list(rules)} | parts, edits, reason=reason
    )


def test_the_line_says_where_the_cut_stands_and_what_is_left() -> None:
    assert repr(plan_by(LAST, DROPS)) == (
        "Plan(mine: cut at e2 (turn 2), 14 -> 5 tokens; blocks: 2 verbatim, 2 dropped)"
    )
    assert repr(plan_by(DROPS, edits={"cut": "end"})) == (
        "Plan(mine: cut at end, 14 -> 0 tokens; blocks: 4 dropped)"
    )
    large = plan_by(LAST, DROPS, on=(user(), say(), user("a " * 300), say()))
    assert repr(large).startswith("Plan(mine: cut at e2 (turn 2), 303 -> 301 tokens; blocks:"), "no span"
    fifth = plan_of(FIVE_TURNS, settings={"keep-recent-turns.turns": 1})
    assert "cut at e8 (turn 5), " in repr(fifth)
    longer = plan_of(FIVE_TURNS)
    after = 24 + longer.summary_tokens
    assert repr(longer) == (
        f"Plan(keep-recent-turns: cut at e2 (turn 2), 30 -> {after} tokens, larger than before; "
        "blocks: 8 verbatim, 2 summarised; not deterministic)"
    )
    assert f"This makes the context larger, by {after - 30} tokens: nothing is won by it." in longer.notes


def test_the_line_of_a_plan_without_a_cut_says_why_or_what_changes() -> None:
    assert repr(plan_of(build(user(), say()))) == (
        "Plan(keep-recent-turns: There is nothing to compact: the context holds 1 turn. 2 tokens stay)"
    )
    silent = plan_by(
        {"kind": "keep-system"}, on=(user(), call("a", signed=True), answer("a")), harness=SILENT
    )
    # Reasoning of a harness that keeps none is nowhere: neither before nor among what is dropped.
    assert repr(silent) == "Plan(mine: no cut, 3 tokens stay)"


SILENT = {"send_reasoning": False}


def test_the_line_says_who_wrote_and_that_it_does_not_fit() -> None:
    plan = plan_by(LAST, {"kind": "summarise-older"}, trigger={"tokens": 3})
    assert repr(plan).endswith("2 summarised; does not fit; not deterministic)")
    assert "What is left would trigger" in plan.notes[-3]
    written = plan.with_summary(Checkpoint(text="only this", by="a friend"))
    assert repr(written).endswith("2 summarised; summary by a friend; does not fit; not deterministic)")
    alike = plan.with_summary(Checkpoint(text="only this", by="a rule", deterministic=True))
    assert repr(alike).endswith("2 summarised; summary by a rule; does not fit)")


@pytest.mark.parametrize(
    ("messages", "note"),
    [
        (0, "Nothing is left to send: a request needs at least one message."),
        (1, "The context would not begin with the user's words, as providers ask for."),
        (2, None),
    ],
)
def test_how_the_context_would_begin(messages: int, note: str | None) -> None:
    plan = plan_by({"kind": "keep-recent-messages", "messages": messages}, DROPS)
    assert [one for one in plan.notes if "Lossy" not in one] == ([note] if note else [])


def test_a_context_that_began_with_the_model_is_not_made_to_begin_so() -> None:
    on = (say(), user(), say(), user())
    plan = plan_by({"kind": "keep-recent-messages", "messages": 2}, DROPS, on=on)
    assert plan.fate.tolist() == plan_by({"kind": "keep-recent-messages", "messages": 2}, DROPS).fate.tolist()
    assert len(plan.notes) == 1 and plan.notes[0].startswith("Lossy: 2 blocks")
    own = plan_by({"kind": "keep-recent-messages", "messages": 2}, {"kind": "summarise-older"})
    assert not any("begin with" in note for note in own.notes), "a summary is said in the user's name"


def test_words_that_are_shortened_still_begin_the_context() -> None:
    plan = plan_by({"kind": "snip-everything", "characters": 10}, on=(user("a " * 300), say(), user(), say()))
    assert plan.outcome.changed.any() and not any("begin with" in note for note in plan.notes)


def test_a_summary_that_came_whole_where_each_turn_was_to_have_one_is_told() -> None:
    whole = Checkpoint(text="all in one")
    per_turn = {"kind": "summarise-older", "per": "turn"}
    many = plan_by(LAST, per_turn, on=FIVE_TURNS.entries)
    assert len(many.jobs) == 4 and CAME_WHOLE in many.with_summary(whole).notes
    assert CAME_WHOLE not in plan_by(LAST, per_turn).with_summary(whole).notes, "one turn, one summary"
    once = plan_by(LAST, {"kind": "summarise-older"}, on=FIVE_TURNS.entries)
    assert CAME_WHOLE not in once.with_summary(whole).notes


def test_a_missed_target_is_told_with_what_is_left() -> None:
    missed = "The target of 2 is missed: 5 are left by the policy's own measure."
    trigger = {"tokens": 20, "measure": "assembled"}
    assert missed in plan_by(LAST, DROPS, trigger=trigger, target={"tokens": 2}).notes
    met = plan_by(LAST, DROPS, trigger=trigger, target={"tokens": 5})
    assert [note for note in met.notes if "Lossy" not in note] == []


def test_a_cut_by_hand_that_changes_nothing_says_so_and_why() -> None:
    nothing = plan_by({"kind": "keep-system"}, edits={"cut": "e2"})
    assert list(nothing.notes) == ["This policy changes nothing at this cut."]
    assert plan_by(DROPS, edits={"cut": "e2"}).notes[0].startswith("Lossy")


def test_halves_of_calls_that_went_are_counted() -> None:
    one = plan_of(build(user(), call("lost"), user(), say()), cut="e1")
    assert "1 call or output is left out, without its other half; no request may carry such." in one.notes
    two = plan_of(build(user(), call("lost"), user(), call("gone"), user(), say()), cut="e1")
    assert (
        "2 calls or outputs are left out, without their other half; no request may carry such." in two.notes
    )


def test_what_the_sixth_rule_drops_is_not_said_to_be_withheld() -> None:
    """Rules are told by their number, and what no rule did by numbers that are none of theirs."""
    kinds = ("keep-system", "keep-pairs", "snip-long-text", "dedupe-reads", "keep-recent-turns", "drop-older")
    rules = [{"kind": kind} | ({"turns": 1} if kind == "keep-recent-turns" else {}) for kind in kinds]
    plan = plan_by(*rules)
    assert plan.rule_of(0) == "drop-older" and plan.outcome.changed.tolist() == [True, True, False, False]
    assert list(plan.notes) == [
        "Lossy: 2 blocks are no longer verbatim (2 dropped); the file keeps them.",
    ]


def test_reasoning_that_no_request_holds_is_counted() -> None:
    on = (user(), call("a", signed=True), answer("a"), call("b", signed=True), answer("b"), say())
    plan = plan_by({"kind": "keep-system"}, on=on, harness=SILENT)
    assert plan.notes[0] == (
        "This harness keeps no reasoning: 2 blocks of it in the file, none in the context."
    )


@pytest.mark.parametrize(("policy", "told"), [("mini-claude-code-compat", True), ("mini-claude-code", False)])
def test_a_pair_torn_by_the_cut_is_told_where_it_is_sent_torn(policy: str, told: bool) -> None:
    """The last two of four messages stay; a call stands before them, its output is the first of them."""
    session = build(user(), call("a"), answer("a"), say())
    settings = {"keep-recent-messages.messages": 2, "target.tokens": 1}
    plan = make_plan(session, count(session), policy, {"settings": settings})
    assert any("cuts where a provider refuses: The model would see" in note for note in plan.notes) is told


def test_the_recipe_names_the_moment_the_edits_and_the_reason() -> None:
    assert (
        write_recipe(plan_of(FIVE_TURNS)) == "make_plan(session, ledger, 'keep-recent-turns', window=200000)"
    )
    moment = FIVE_TURNS.at("e3")
    asked = make_plan(moment, count(moment), "keep-recent-turns", {"cut": "e2"}, reason="manual")
    assert write_recipe(asked) == (
        "make_plan(session.at('e3'), ledger, 'keep-recent-turns', Edits(cut='e2'), reason='manual')"
    )
    assert write_spec(asked) == {"policy": "keep-recent-turns", "edits": {"cut": "e2"}, "reason": "manual"}
    assert write_spec(plan_of(FIVE_TURNS)) == {"policy": "keep-recent-turns", "edits": {}, "window": 200_000}
    written = asked.with_summary(Checkpoint(text="a summary", by="a friend"))
    assert write_recipe(written).endswith("reason='manual').with_summary(checkpoint)")


def test_a_short_recipe_names_the_moment_by_its_beginning() -> None:
    names = ["12345678-first", "87654321-second", "12345678-later", "aside"]
    links = [None, names[0], names[1], names[1]]
    entries = tuple(
        entry.model_copy(update={"id": name, "parent": parent, "sidechain": "a" if name == "aside" else None})
        for entry, name, parent in zip((user(), say(), user(), say()), names, links, strict=True)
    )
    session = Session(format="test", entries=entries, leaf="12345678-later")
    last = make_plan(session, count(session), "keep-recent-turns")
    assert write_recipe(last, short=True).startswith("make_plan(session, "), "a side chain is no later moment"
    # A note is one: a reader takes it for the leaf.
    noted = [*entries, user().model_copy(update={"id": "note", "parent": names[2], "kind": "note"})]
    ended = Session(format="test", entries=tuple(noted), leaf="note")
    assert write_recipe(make_plan(ended, count(ended), "keep-recent-turns")).startswith("make_plan(session, ")
    for name, short in (("87654321-second", "87654321"), ("12345678-first", "12345678-f")):
        moment = session.at(name)
        plan = make_plan(moment, count(moment), "keep-recent-turns")
        assert write_recipe(plan, short=True).startswith(f"make_plan(session.at('{short}'), ")
        assert write_recipe(plan).startswith(f"make_plan(session.at('{name}'), ")
        assert session.at(short).leaf == name


def test_the_recipe_of_a_policy_of_one_s_own_holds_what_is_not_so_by_default() -> None:
    mine = plan_by(LAST, DROPS)
    assert (
        "{'name': 'mine', 'rules': [{'kind': 'keep-recent-turns', 'turns': 1}, {'kind': 'drop-older'}]}"
        in (write_recipe(mine))
    )
    changed = find_policy("keep-recent-turns").configured({"keep-recent-turns.turns": 2})
    session = FIVE_TURNS
    assert "'turns': 2" in write_recipe(make_plan(session, count(session), changed)), "the name is not enough"
    set_by_edit = plan_of(session, settings={"keep-recent-turns.turns": 2})
    assert write_recipe(set_by_edit).startswith("make_plan(session, ledger, 'keep-recent-turns', Edits(")


@pytest.mark.parametrize(
    "names", [["abcdefgh-1", "abcdefgh-2"], ["abcdefgh-1", "x"], ["abcdefghijk", "abcdefgh"]]
)
def test_a_name_is_short_where_no_other_begins_so(names: list[str]) -> None:
    session = Session(format="test", entries=tuple(user().model_copy(update={"id": name}) for name in names))
    short = {
        "abcdefgh-1abcdefgh-2": "abcdefgh-1",
        "abcdefgh-1x": "abcdefgh",
        "abcdefghijkabcdefgh": "abcdefghi",
    }
    assert shorten_name(session, names[0]) == short["".join(names)]
    assert shorten_name(session, None) is None
