"""Two sentences that differ in a function word, in the thing a state belongs to, or in what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.facts.test_outcomes_read import AROUND, KEPT, SUBJECTS, outcome, trace

LINES = st.sampled_from(["{}", "- {}", "The user: {}", "**{}**", "1. {}"])
COMPARATIVES = ["larger", "smaller", "older", "newer", "heavier", "lighter", "quicker", "tighter", "warmer"]
COMPARING = [
    "The {one} must be {word} than {number} steps.",
    "Reject each of the {one} that is {word} than {number} pages.",
    "We want {word} than {number} rows in the {one}.",
    "The {one} should always stay {word} than the {two}.",
]


@given(
    st.sampled_from(COMPARING),
    st.permutations(SUBJECTS),
    st.lists(st.sampled_from([*COMPARATIVES, "more", "less", "fewer"]), min_size=2, max_size=2),
    st.integers(2, 900),
    AROUND,
    LINES,
)
def test_law_another_comparison_is_never_certified(
    frame: str, subjects: list[str], words: list[str], number: int, around: str, line: str
) -> None:
    typed, summary = (
        frame.format(one=subjects[0], two=subjects[1], word=word, number=number) for word in words
    )
    kept = outcome(typed, f"{around}\n{line.format(summary)}") in KEPT
    assert kept == (words[0] == words[1]) or {"less", "fewer"} >= set(words)


THINGS = ["pump", "heater", "lamp", "valve", "gate", "fan", "siren", "camera"]
STATES = st.sampled_from([("on", "off"), ("open", "closed"), ("armed", "idle"), ("up", "down")])
LISTS = [
    "In kiosk mode: {a} {x}, {b} {y}.",
    "When the alarm rings go to night mode ({a} {x}, {b} {y}).",
    "At night the {a} must be {x} and the {b} {y}.",
    "Leave the {a} {x} and the {b} {y} during a test.",
]
OTHERS = [
    "In kiosk mode the {a} and the {b} {x}.",
    "When the alarm rings: night mode with the {a} and the {b} {y}.",
    "At night the {a} is {y}, the {b} {x}.",
    "{a} {x} and {b} {x} during a test.",
]


@given(
    st.sampled_from(LISTS),
    st.sampled_from(OTHERS),
    st.permutations(THINGS),
    STATES,
    st.booleans(),
    AROUND,
    LINES,
)
def test_law_the_state_of_another_thing_is_never_certified(
    frame: str, other: str, things: list[str], states: tuple[str, str], turned: bool, around: str, line: str
) -> None:
    x, y = states[::-1] if turned else states
    typed = frame.format(a=things[0], b=things[1], x=x, y=y)
    for wrong in (
        other.format(a=things[0], b=things[1], x=x, y=y),
        frame.format(a=things[0], b=things[1], x=x, y=x),
    ):
        assert outcome(typed, f"{around}\n{line.format(wrong)}") not in KEPT
    assert outcome(typed, f"{around}\n{line.format(typed)}") in KEPT


ASIDES = ["without gaps", "without locks", "without a delay", "without salt"]
KEPT_PART = "The {one} are numbered {aside}"
PERMITTED = [
    " and may be {verb}d by an admin.",
    " and can be {verb}d.",
    "; only the owner may {verb} them.",
    " and will be {verb}d at night.",
    ".",
]
REFUSALS = [
    ", you must never {verb} or {more} one.",
    ", so never {verb} one.",
    ". Do not {verb} them.",
    "; nobody may {verb} or {more} them.",
]


@given(
    st.sampled_from(SUBJECTS),
    st.permutations(["delete", "rename", "archive", "remove", "replace"]),
    st.sampled_from(ASIDES),
    st.sampled_from(REFUSALS),
    st.sampled_from(PERMITTED),
    AROUND,
    LINES,
)
def test_law_a_refusal_that_only_its_neighbour_keeps_is_never_certified(
    one: str, verbs: list[str], aside: str, refusal: str, permitted: str, around: str, line: str
) -> None:
    typed = (KEPT_PART + refusal).format(one=one, aside=aside, verb=verbs[0], more=verbs[1])
    summary = (KEPT_PART + permitted).format(one=one, aside=aside, verb=verbs[0])
    assert outcome(typed, f"{around}\n{line.format(summary)}") not in KEPT
    assert outcome(typed, f"{around}\n{line.format(typed)}") in KEPT


@given(
    st.lists(st.integers(11, 99), min_size=3, max_size=5, unique=True),
    st.sampled_from(["km", "rows", "tiles", "volts", "slots"]),
    st.sampled_from(
        ["for {unit} in ({list})", "{unit}s = [{list}]", "scan {unit} ({list}) later", "{unit}: {list}"]
    ),
    AROUND,
)
def test_law_a_bare_number_of_a_list_is_no_value_with_its_unit(
    numbers: list[int], unit: str, code: str, around: str
) -> None:
    listed = code.format(unit=unit, list=", ".join(map(str, numbers)))
    value = f"{numbers[1]} {unit}"
    typed = f"Mask all within {value}."
    assert trace(typed, f"{around}\n- `{listed}`")[value].outcome not in KEPT
    assert trace(typed, f"{around}\n- {value} are masked")[value].outcome in KEPT


@pytest.mark.parametrize(
    ("typed", "summary"),
    [
        ("All tests must pass before the merge.", "Some tests must pass before the merge."),
        (
            "The tests and the docs must pass before a merge.",
            "The tests or the docs must pass before a merge.",
        ),
        ("Always turn on the tracing.", "Always turn off the tracing."),
        ("Turn the tracing off in the build.", "Turn the tracing on in the build."),
        ("Keep at most 5 backups on the disk.", "Keep more than 5 backups on the disk."),
        ("Only the guest may see the ledger.", "The guest may see only the ledger."),
        ("Give the ledger only to the guest.", "Give only the ledger to the guest."),
    ],
)
def test_the_opposite_function_word_is_not_certified(typed: str, summary: str) -> None:
    assert outcome(typed, summary) not in KEPT
    assert outcome(typed, typed) in KEPT


@pytest.mark.parametrize(
    ("typed", "summary"),
    [
        ("Safe mode: pump off, valve open.", "Safe mode with the valve open and the pump off."),
        ("Safe mode: pump off, valve open.", "In safe mode the pump is off and the valve is open."),
        ("Files must not be larger than 5 MB.", "Files of at most 5 MB."),
        ("Never delete rows from the ledger table.", "Deleting rows from the ledger table is never allowed."),
        ("Distances of 25, 50 and 75 km are masked.", "Masked are distances of 25, 50 and 75 km."),
    ],
)
def test_other_words_for_the_same_are_kept(typed: str, summary: str) -> None:
    assert outcome(typed, summary) in KEPT


@pytest.mark.parametrize(
    ("typed", "summary", "expected"),
    [
        ("The gate must close at 18:15 every day.", "The gate must close at 6:15 pm every day.", True),
        ("A render must finish within 150 seconds.", "A render must finish within 2.5 minutes.", True),
        ("Never store more than 2 GB per tenant.", "Never store more than 2048 MB per tenant.", True),
        ("Keep the drafts for 14 days at most.", "Keep the drafts for 2 weeks at most.", True),
        ("Keep the drafts for 60 minutes.", "The drafts must be kept for one hour.", True),
        ("Keep the drafts for 60 minutes.", "The drafts must be kept for one day.", False),
        ("The gate must close at 18:15 every day.", "The gate must close at 6:15 am every day.", False),
        ("A render must finish within 150 seconds.", "A render must finish within 2.5 hours.", False),
        ("Never store more than 2 GB per tenant.", "Never store more than 2048 GB per tenant.", False),
    ],
)
def test_equal_amounts_in_another_unit_are_kept(typed: str, summary: str, expected: bool) -> None:
    assert (outcome(typed, summary) in KEPT) == expected


@given(st.text("bcdfgklmnprst", min_size=1, max_size=9).filter(lambda ending: ending != "log"), AROUND)
def test_law_a_file_is_found_by_its_own_name_whatever_its_ending(ending: str, around: str) -> None:
    path = f"deploy/stage/network.{ending}"
    assert (
        trace(f"Open {path} first.", f"{around}\nFiles changed: network.{ending}, x")[path].outcome
        == "partial"
    )
    assert (
        trace(f"Open {path} first.", f"{around}\nFiles changed: network2.{ending}")[path].outcome != "partial"
    )


def test_another_subcommand_that_was_said_is_no_changed_command() -> None:
    typed = "Run `stackctl preview` now. Never start a deploy on your own."
    assert trace(typed, "Run `stackctl deploy` later.")["command", "stackctl preview"].outcome == "absent"
    assert trace(typed, "Run `stackctl inspect`.")["command", "stackctl preview"].outcome == "changed"


@pytest.mark.parametrize(
    ("typed", "summary", "other"),
    [
        (
            "Please don't publish on your own, I do that myself after reading it.",
            "- Do not publish on my own",
            "The tiles are blue.",
        ),
        ("必ず英語でコメントを書いてください", "コメントは英語で書く", "タイルは青い。"),
    ],
)
def test_a_rule_in_nearly_the_same_words_is_not_absent(typed: str, summary: str, other: str) -> None:
    assert outcome(typed, summary) == "unclear"
    assert outcome(typed, other) == "absent"


@given(
    st.sampled_from(["Use {x} for the {a} and {y} for the {b}.", "Give {x} to the {a}, {y} to the {b}."]),
    st.sampled_from(["The {a} uses {x}, the {b} {y}.", "{a} at {x} and {b} at {y}"]),
    st.permutations(THINGS),
    st.lists(st.integers(1000, 9999), min_size=2, max_size=2, unique=True),
    AROUND,
    LINES,
)
def test_law_values_that_two_things_exchanged_are_never_certified(
    frame: str, other: str, things: list[str], values: list[int], around: str, line: str
) -> None:
    typed, summary, crossed = (
        text.format(a=things[0], b=things[1], x=x, y=y)
        for text, (x, y) in ((frame, values), (other, values), (other, values[::-1]))
    )
    assert outcome(typed, f"{around}\n{line.format(crossed)}") not in KEPT
    assert outcome(typed, f"{things[1]}: {values[0]}, {things[0]}: {values[1]}") not in KEPT
    assert outcome(typed, f"{around}\n{line.format(summary)}") not in ("changed", "contradicted")


@pytest.mark.parametrize("bound", ["at least", "at most", "up to", "no more than"])
@pytest.mark.parametrize("exact", ["exactly", "precisely"])
def test_an_exact_number_is_no_limit(bound: str, exact: str) -> None:
    typed, summary = (f"Keep {word} 4 copies of the ledger." for word in (exact, bound))
    assert outcome(typed, summary) not in KEPT
    assert outcome(summary, typed) not in KEPT
    assert outcome(typed, typed) in KEPT


@given(
    st.sampled_from(["may", "must", "should", "can"]),
    st.permutations(["admins", "guests", "editors", "auditors"]),
    st.sampled_from(["delete", "publish", "archive"]),
    AROUND,
    LINES,
)
def test_law_a_refusal_without_its_verb_refuses_what_is_before_it(
    modal: str, people: list[str], verb: str, around: str, line: str
) -> None:
    frame = "{} {modal} {verb} rows, {} {modal} not."
    typed, summary = (frame.format(*some, modal=modal, verb=verb) for some in (people[:2], people[1::-1]))
    assert outcome(typed, f"{around}\n{line.format(summary)}") not in KEPT
    assert outcome(typed, f"{around}\n{line.format(typed)}") in KEPT


VERBS = ["delete", "rename", "archive", "squash", "restart", "publish"]
REFUSED_BOTH = [
    "Never {a} or {b} the {one}.",
    "Do not {a} and do not {b} the {one}.",
    "Do not {a} or {b} the {one}.",
    "Neither {a} nor {b} the {one}.",
    "Never {a} the {one} and never {b} the {one}.",
]
NOT_BOTH = [
    "{a} and {b} the {one}.",
    "Do not {a} the {one}, but {b} the {one}.",
    "Do not {a} the {one} and {b} the {one}.",
    "The {one} may be {a}d.",
    "Never {a} the {one}, and you may {b} the {one}.",
]


@given(
    st.permutations(REFUSED_BOTH),
    st.sampled_from(NOT_BOTH),
    st.permutations(VERBS),
    st.sampled_from(SUBJECTS),
    AROUND,
    LINES,
)
def test_law_two_refusals_in_another_form_are_no_contradiction(
    frames: list[str], wrong: str, verbs: list[str], one: str, around: str, line: str
) -> None:
    typed, summary, wrong = (text.format(a=verbs[0], b=verbs[1], one=one) for text in (*frames[:2], wrong))
    assert outcome(typed, f"{around}\n{line.format(summary)}") in {*KEPT, "unclear"}
    assert outcome(typed, f"{around}\n{line.format(wrong)}") not in KEPT


@given(
    st.sampled_from(SUBJECTS),
    st.permutations(["archive", "rename", "remove", "replace"]),
    st.sampled_from(ASIDES),
    st.sampled_from([", you must never {verb} or {more} one.", ". Never {more} or {verb} the {one}."]),
    st.sampled_from([" and may be {verb}d", " and can be {verb}d only by an admin"]),
    LINES,
)
def test_law_a_permission_beside_a_part_that_is_kept_certifies_no_refusal(
    one: str, verbs: list[str], aside: str, refusal: str, permitted: str, line: str
) -> None:
    kept = KEPT_PART.format(one=one, aside=aside)
    typed, summary = (
        kept + text.format(one=one, verb=verbs[0], more=verbs[1]) for text in (refusal, permitted)
    )
    assert outcome(typed, line.format(summary)) not in KEPT
    assert outcome(typed, line.format(f"{kept} and may be listed")) not in {*KEPT, "contradicted"}


@given(
    st.lists(
        st.sampled_from(["shelves", "ledgers", "folders", "cards"]), min_size=2, max_size=2, unique=True
    ),
    st.sampled_from(["are fine", "are allowed", "are okay", "may be used"]),
    st.sampled_from([" are forbidden", " are not allowed", " must not be renamed"]),
    st.sampled_from([", ", "; ", ", but ", " while "]),
    LINES,
)
def test_law_a_permission_for_one_of_two_things_keeps_no_refusal_of_both(
    things: list[str], permitted: str, refused: str, joint: str, line: str
) -> None:
    typed = f"{things[0]} and {things[1]}{refused}."
    split = f"{things[0]} {permitted}{joint}{things[1]}{refused}"
    assert outcome(typed, line.format(split)) not in KEPT
    assert outcome(typed, line.format(typed)) in KEPT


@given(
    st.sampled_from([("redis", "kafka"), ("salmon", "bwa"), ("vitest", "jest")]),
    st.sampled_from(["pull in", "use", "add", "install"]),
    st.sampled_from(
        ["use {a}, don't {verb} {b}", "{a} parser, don't {verb} {b}", "use {a}, do not {verb} {b}"]
    ),
    AROUND,
    LINES,
)
def test_law_a_refusal_behind_what_is_wanted_is_not_kept_without_its_negation(
    things: tuple[str, str], verb: str, frame: str, around: str, line: str
) -> None:
    typed = frame.format(a=things[0], b=things[1], verb=verb)
    turned = typed.replace("don't ", "").replace("do not ", "")
    assert outcome(typed, f"{around}\n{line.format(turned)}") not in KEPT
    assert outcome(typed, f"{around}\n{line.format(typed)}") in KEPT


@given(st.sampled_from(["binds tighter than", "comes before", "is stronger than"]), LINES)
def test_law_operators_that_are_small_words_cannot_change_places(relation: str, line: str) -> None:
    typed = f"AND {relation} OR."
    assert outcome(typed, line.format(f"OR {relation} AND.")) not in KEPT
    assert outcome(typed, line.format(typed)) in KEPT


@given(
    st.integers(3, 90),
    st.sampled_from(["workers", "rows", "browsers", "minutes"]),
    st.sampled_from(["up to", "at most", "at least"]),
    LINES,
)
def test_law_a_number_is_no_limit(number: int, unit: str, limit: str, line: str) -> None:
    typed = f"use {number} {unit}"
    assert outcome(typed, line.format(f"use {limit} {number} {unit}")) not in KEPT
    assert outcome(typed, line.format(typed)) in KEPT


@given(
    st.lists(st.integers(3, 900), min_size=3, max_size=3, unique=True),
    st.sampled_from(["make it {0} tanks instead of {1}", "use {0} tanks not {1}"]),
    LINES,
)
def test_law_a_value_that_is_ruled_out_is_not_changed(numbers: list[int], frame: str, line: str) -> None:
    told = f"The lengths fit {numbers[0]} tanks, all {numbers[2]} tests pass"
    assert outcome(frame.format(*numbers), line.format(told)) != "changed"


RULES = [
    ("Never rename the {one}", "never rename the {one}", "you may rename the {one}"),
    ("Do not open the {one} by hand", "do not open the {one} by hand", "you may open the {one} by hand"),
    ("Don't archive the {one}", "the {one} must not be archived", "the {one} may be archived"),
]
SOLE = [
    (", it is the only {thing}.", [", since no other {thing} exists", ", as there is no other {thing}"]),
    (", there is a single {thing}.", [", there is no second {thing}", " because no other {thing} is left"]),
]


@given(
    st.sampled_from(RULES),
    st.sampled_from(SOLE),
    st.sampled_from(SUBJECTS),
    st.sampled_from(["shelf", "ledger", "turbine", "harbour"]),
    st.integers(0, 1),
    AROUND,
    LINES,
)
def test_law_a_negation_of_a_reason_contradicts_no_rule(
    rule: tuple[str, str, str],
    reason: tuple[str, list[str]],
    one: str,
    thing: str,
    number: int,
    around: str,
    line: str,
) -> None:
    typed = (rule[0] + reason[0]).format(one=one, thing=thing)
    because = reason[1][number].format(thing=thing)
    kept, allowed = (line.format(summary.format(one=one) + because) for summary in rule[1:])
    assert outcome(typed, f"{around}\n{kept}") not in ("changed", "contradicted")
    assert outcome(typed, f"{around}\n{allowed}") not in KEPT


REQUESTS = [
    ("Keep the {one} of the {two}.", "the {one} of the {two}", "the {one} of the {two} is kept"),
    ("Please use the {one} for the {two}.", "the {one} for the {two}", "the {one} is used for the {two}"),
    ("Put the {one} into the {two}, please.", "the {one} into the {two}", "the {one} was put into the {two}"),
]
REVERSED = [
    "{object} was {verb}",
    "{object} has been {verb} since",
    "{object} would be {verb} soon, so the harbour is used",
    "{object} was {verb}; the harbour is kept",
    "we {verb} {object}",
    "{object}: {verb}",
]


@given(
    st.sampled_from(REQUESTS),
    st.permutations(SUBJECTS),
    st.sampled_from(REVERSED),
    st.sampled_from(["scrapped", "abandoned", "rejected", "reverted", "demolished", "postponed"]),
    AROUND,
    LINES,
)
def test_law_another_verb_said_of_what_is_asked_for_is_never_certified(
    request: tuple[str, str, str], subjects: list[str], frame: str, verb: str, around: str, line: str
) -> None:
    typed, thing, kept = (part.format(one=subjects[0], two=subjects[1]) for part in request)
    summary = frame.format(object=thing, verb=verb)
    assert outcome(typed, f"{around}\n{line.format(summary)}") not in KEPT
    assert outcome(typed, f"{around}\n{line.format(kept)}") in KEPT
