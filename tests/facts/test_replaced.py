"""Values that the user replaced: what is stale, what is not, and what is told of it."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import lint, trace_recorded
from inspector.facts.replaced import find_replacements
from inspector.session.session import Session
from tests.telling import compact
from tests.test_cuts import build, say, user
from tests.work import count_calls, limit_work


def talk(*said: str, summary: str = "All is well.", model: str = "fine") -> Session:
    """What the user said, one message each, then a compaction with nothing kept."""
    turns = [entry for words in said for entry in (user(words), say(model))]
    return build(*turns, compact(summary), user("go on"), say())


OLD, NEW = "The monthly cap is $481.", "Actually, the monthly cap is now $710."


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [
        (OLD, NEW, "$481"),
        (OLD, "Please raise the monthly cap to $900.", "$481"),
        ("Set requestTimeout = 30 for all of them.", "requestTimeout is 45 now.", "requestTimeout = 30"),
        ("Never spend more than $481 a month.", "Never spend more than $710 a month.", "$481"),
        ("The staging host is db-7.", "Correction: the staging host is db-9.", "db-7"),
        ("The deadline is 2026-03-01.", "Move the deadline to 2026-04-01.", "2026-03-01"),
        (OLD, "Make it $710 instead of $481.", "$481"),
        (OLD, "It should be $710, not $481.", "$481"),
        ("The staging host is db-7.", "Please use db-9 rather than db-7.", "db-7"),
        ("Cap the monthly cost to $481.", "Make it $710 a month instead of $481.", "$481"),
        ("Upload limit: 25 MB", "Upload limit: 50 MB", "25 MB"),
    ],
)
def test_a_value_that_was_replaced_is_stale(old: str, new: str, value: str) -> None:
    session = talk("hello there", old, new)
    traced = trace_recorded(session, session.facts)[0][value]
    assert traced.outcome == "superseded" and traced.replacement is not None
    assert traced.replacement.words == new.rstrip() and traced.replacement.ref.entry == "e4"
    assert not traced.carried and traced.stands == ()
    assert new in traced.why() and "nothing is missing" in traced.why()
    # What took its place is as lost as anything, and before the second sentence nothing was stale.
    now = traced.replacement.value
    assert trace_recorded(session, session.facts)[0][now].outcome == "absent"
    alone = talk("hello there", old, "go on")
    assert trace_recorded(alone, alone.facts)[0][value].outcome == "absent"


def test_a_rule_that_was_replaced_is_no_loss_and_the_new_one_is() -> None:
    session = talk("Never spend more than $481 a month.", "Never spend more than $710 a month.")
    lost = [one.fact.form for one in lint(session) if one.code == "CI002" and one.fact is not None]
    assert lost == ["Never spend more than $710 a month."]


@pytest.mark.parametrize(
    "said",
    [
        (OLD, "The yearly cap is $710."),
        (OLD, "Is the monthly cap $710?"),
        ("Look at issue 12.", "Look at issue 14."),
        ("Fix src/a.py.", "Fix src/b.py."),
        ("We have 12 tests.", "We have 14 tests."),
        (OLD, "> the monthly cap is $710."),
        (OLD, 'He wrote: "the monthly cap is $710."'),
        (OLD, "Make it $710 instead of $480."),
        (OLD, "Should we make it $710 instead of $481?"),
        (OLD, "$481 is not much. Should we make it $710?"),
        (OLD, "Use a script instead of $481."),
        ("Add 2 menus.", "Add 3 buttons instead of 2 menus."),
        ("Meet at 12:30.", "Meet at 12:45."),
        ("The timeout of the pump is 30 seconds.", "Actually, make the pause 45 seconds."),
        ("Wait 30 seconds.", "Make it 45 seconds, not 30 files."),
        ("The API port is 8080. The admin port is 8080.", "Use 9000 instead of 8080."),
    ],
)
def test_what_was_not_replaced_is_not_stale(said: tuple[str, ...]) -> None:
    session = talk(*said)
    (trace,) = trace_recorded(session, session.facts)
    assert trace.select("superseded", stood=False) == []
    if "$481" in said[0]:
        assert trace["$481"].outcome == "absent"


def test_a_value_that_comes_back_is_not_stale_and_the_one_between_is() -> None:
    session = talk(OLD, NEW, "No, keep it as it was: the monthly cap is $481.")
    (trace,) = trace_recorded(session, session.facts)
    assert (trace["$481"].outcome, trace["$710"].outcome) == ("absent", "superseded")


@given(st.lists(st.integers(2, 9), min_size=1, max_size=6))
def test_only_the_last_value_said_is_not_stale(values: list[int]) -> None:
    session = talk(*(f"The retry limit is {value}0." for value in values))
    (trace,) = trace_recorded(session, session.facts)
    for value in set(values):
        expected = "absent" if value == values[-1] else "superseded"
        assert trace[f"The retry limit is {value}0."].outcome == expected


def test_many_values_take_no_time_squared() -> None:
    """Each word has its own value, and only the last sentence replaces one. Others take values of nothing."""
    words = ["".join(letters) for letters in product("abcdefghij", repeat=4)]
    values = [f"The w{word} is {10_000 + number}." for number, word in enumerate(words)]
    taken = [f"Make it {50_000 + number} instead of {30_000 + number}." for number in range(len(words))]

    def find(count: int) -> None:
        session = talk(OLD, "\n".join(values[:count]), "\n".join(taken[:count]), NEW)
        replaced = find_replacements(session.facts)
        forms = [fact.form for fact in session.facts.values()]
        assert {forms[number]: later.value for number, later in replaced.items()} == {OLD: "$710"}

    with limit_work():
        assert count_calls(lambda: find(4_000)) < 6 * count_calls(lambda: find(1_000))


@given(
    st.sampled_from(
        ["Uploads have a limit of {} {}.", "max {} {} per icon, svg only", "Never take more than {} {} a day"]
    ),
    st.sampled_from(["Ops say that {} {} is too little. {} {} {}.", "hm, {} {} looks poor\n{} {} {}"]),
    st.sampled_from(["Make it", "use", "go with"]),
    st.integers(2, 400),
    st.integers(2, 400),
    st.sampled_from(["MB", "px", "tokens", "seconds"]),
)
def test_law_a_value_taken_after_the_old_one_replaces_it(
    rule: str, later: str, take: str, old: int, new: int, unit: str
) -> None:
    said = rule.format(old, unit)
    after = (said, later.format(old, unit, take, new, unit))
    session = talk("hello there", *after, summary="svg only.")
    traced = trace_recorded(session, session.facts)[0][said]
    assert (traced.outcome == "superseded") == (old != new)
    if "svg" in said:  # what binds on its own still holds
        session = talk("hello there", *after)
        assert trace_recorded(session, session.facts)[0][said].outcome == "absent"
    apart = talk("hello there", said, later.format(old, "sheep", take, new, unit))
    assert trace_recorded(apart, apart.facts)[0][said].outcome == "absent"


@given(
    st.sampled_from(["The ride price is ${}.", "Charge ${} per ride.", "Rides: ${} at most, for all."]),
    st.sampled_from(
        ["Make it ${} instead of ${}.", "use ${}, not ${}", "Please set it to ${} rather than ${}"]
    ),
    st.lists(st.integers(2, 99), min_size=2, max_size=2, unique=True),
    st.booleans(),
)
def test_law_a_value_named_beside_the_one_in_its_place_is_replaced(
    said: str, later: str, values: list[int], told: bool
) -> None:
    old, new = values
    rule, taken = said.format(old), later.format(new, old)
    session = talk("hello there", rule, taken, summary=said.format(new) if told else "All is well.")
    traced = trace_recorded(session, session.facts)[0][rule]
    assert traced.outcome == "superseded" and traced.replacement is not None
    assert traced.replacement.words == taken
    # Of two things with one value, neither is known to be meant.
    both = talk("hello there", rule, f"Refund ${old} for a late van.", taken)
    outcomes = trace_recorded(both, both.facts)[0]
    assert outcomes[f"Refund ${old} for a late van."].outcome == "absent"
