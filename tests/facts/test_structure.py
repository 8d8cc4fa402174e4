"""Two sentences with the same words: who does what, when, how many, and what is negated."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import checkpoint_from_text, make_plan, read_session
from tests.facts.test_outcomes_read import AROUND, KEPT, called, outcome, trace, trace_turns

LINES = st.sampled_from(["{}", "- {}", "The user: {}", "**{}**", "1. {}"])
NOUNS = ["harbour", "ledger", "orchard", "kiln", "turbine", "quarry", "almanac", "beacon"]
SWAPPED = [
    # What a relative clause negates is not what the main clause negates.
    ("Do not archive a {a} that is {p}.", "Archive a {a} that is not {p}."),
    ("A {a} must not list a {b} that was {p}.", "A {a} must list a {b} that was not {p}."),
    ("Never open a {a} which contains a {b}.", "Open a {a} which never contains a {b}."),
    ("It must not be possible to sell a {a} that was {p}.", "It must be possible to sell a {a} not {p}."),
    # Roles.
    ("Replace the {a} with the {b}.", "Replace the {b} with the {a}."),
    ("Let the {a} call the {b}.", "The {a} should be called by the {b}."),
    ("The {a} must sign what the {b} has {p}.", "What the {a} has {p} must be signed by the {b}."),
    (
        "Only the {a} may approve a {b} that the {c} has {p}.",
        "Only the {c} may approve a {b} {p} by the {a}.",
    ),
    # Two clauses.
    ("You paint the {a}; Ida will paint the {b}.", "Ida will paint the {a}; you paint the {b}."),
    ("Avoid the {a} and use the {b} in the {c}.", "Use the {a} and avoid the {b} in the {c}."),
    # Times.
    ("Check the {a} during the {b}.", "Check the {a} after the {b}."),
    ("From 2031 on the {a} must be {p}.", "Up to 2031 the {a} must be {p}."),
    ("Keep the {a} for 30 days.", "Keep the {a} after 30 days."),
    ("As of Monday nobody may use the {a}.", "Until Monday nobody may use the {a}."),
    # Quantities.
    ("Each {a} must have a {b} before you ship.", "One {a} must have a {b} before you ship."),
    ("At least one {a} must cover the {b}.", "Every {a} must cover the {b}."),
    ("Count the {a} every night.", "Count the {a} every Sunday night."),
    ("Show every {a} to the {b}.", "Show the first {a} to the {b}."),
    ("Never print a {a} in any {b}.", "Never print a {a} in the {c} {b}."),
    ("Put each {a} in one {b}.", "Put each {a} in separate {b} parts."),
    ("None of the {a} may move.", "Not all of the {a} may move."),
    # What is limited, allowed or the condition.
    ("Only the {a} may see the {b}.", "The {a} may see only the {b}."),
    ("You may use the {a} in the {b}.", "The user requires the {a} in the {b}."),
    ("Clear the {a} whenever the {b} changes.", "Change the {b} whenever the {a} is cleared."),
    # Limits.
    ("A {a} may not be longer than {n} lines.", "A {a} must be at least {n} lines long."),
    ("The {a} must hold at least {n} rows.", "The {a} may not hold more than {n} rows."),
    # Questions, and what somebody else did.
    ("Use the {a} for the {b}.", "The user asked whether the {a} could be used for the {b}."),
    ("Keep the {a} in the {b}.", "The former owner kept the {a} in the {b}."),
    ("Paint the {a} before the {b}.", "The old guide says to paint the {a} before the {b}."),
    ("Paint the {a} before the {b}.", '"Paint the {a} before the {b}" was suggested and rejected.'),
    ("Paint the {a} before the {b}.", "Paint the {a} before the {b}, which the user does not want."),
    ("Paint the {a} before the {b}.", "The plan to paint the {a} before the {b} was turned down."),
    ("Paint the {a} before the {b}.", "Painting the {a} before the {b} was put off to a later year."),
    ("Never open the {a}.", "Never open the {a} during the trial; afterwards it is allowed."),
    ("Never open the {a}.", "The assistant had wrongly assumed that the {a} must never be opened."),
    # Whom, and how many of them.
    ("Ask me before you drain a {a}.", "Ask the night watch before you drain a {a}."),
    ("Paint the {a} every week.", "Paint the {a} every other week."),
    ("Count all the {a} papers.", "Count a sample of the {a} papers."),
    ("No {a} papers.", "No {a} papers, aside from the ones in the {b}."),
    # Causes.
    ("The {a} is shut because the {b} is wet.", "The {b} is wet because the {a} is shut."),
    ("Prefer the {a} over the {b}.", "Prefer the {b} over the {a}."),
    # A label before it, and what is noted behind it.
    ("Paint the {a} before the {b}.", "Rejected: paint the {a} before the {b}."),
    ("Paint the {a} before the {b}.", "Not decided: paint the {a} before the {b}."),
    ("Paint the {a} before the {b}.", "Withdrawn by the user: paint the {a} before the {b}."),
    ("Paint the {a} before the {b}.", "Until yesterday: paint the {a} before the {b}."),
    ("Paint the {a} before the {b}.", "Ideally, paint the {a} before the {b}."),
    ("Paint the {a} before the {b}.", "~~Paint the {a} before the {b}.~~"),
    ("Paint the {a} before the {b}.", "If the user wanted it, the {a} would be {p} before the {b}."),
    ("Never open the {a}.", "Never open the {a} (was wrong)."),
    ("Never open the {a}.", "Never open the {a} - dropped."),
    ("Never open the {a}.", "Never open the {a} for now."),
    ("Never open the {a}.", "Never open the {a}?"),
    ("Paint the {a} before the {b}.", "NOT: paint the {a} before the {b}."),
    ("Paint the {a} before the {b}.", "Paint the {a} before the {b} (was)."),
    ("Remove the {a} before the {b}.", "Removing the {a} before the {b} was dropped."),
    ("Use GET for the {a} of the {b}.", "Use POST for the {a} of the {b}."),
    # Symbols and check boxes.
    ("Paint the {a} before the {b}.", "❌ Paint the {a} before the {b}."),
    ("Paint the {a} before the {b}.", "Paint the {a} before the {b} 🚫"),
    ("Paint the {a} before the {b}.", "| Paint the {a} before the {b} | ✗ |"),
    ("Paint the {a} before the {b}.", "[~] Paint the {a} before the {b}."),
    # Quantities, and a verb that only one of two parts has.
    ("Ring the bell when any {a} is {p}.", "Ring the bell when every {a} is {p}."),
    ("Copy the {a} of year {n} and drop the {b} {c}.", "Copying: {a} of year {n}, {b} {c}."),
    ("Do NOT open the {a} before the {b}.", "Do open the {a} before the {b}."),
]
TURNED = [
    "Rejected approaches",
    "Rules withdrawn by the user",
    "Open questions",
    "Things NOT to do",
    "Out of scope",
]
KEEPING = [
    "Rules",
    "6. All user messages",
    "Constraints & Preferences",
    "Key decisions",
    "Primary request and intent",
]
SAME = [
    ("Do not archive a {a} that is {p}.", "Do not archive a {a} that is {p}."),
    ("Replace the {a} with the {b}.", "The user wants to replace the {a} with the {b}."),
    ("Let the {a} call the {b}.", "The {b} should be called by the {a}."),
    ("Check the {a} during the {b}.", "During the {b} check the {a}."),
    ("Keep the {a} for 30 days.", "The {a} must be kept for 30 days."),
    ("Each {a} must have a {b} before you ship.", "Before you ship, each {a} must have a {b}."),
    ("A {a} may not be longer than {n} lines.", "A {a} may be at most {n} lines long."),
    ("A {a} must hold at least {n} rows.", "A {a} may not hold fewer than {n} rows."),
    ("Never open the {a}.", "The user explicitly asked to never open the {a}."),
    ("Never open the {a}.", 'The user said: "Never open the {a}." Next: the {b}.'),
    ("Only the {a} may inspect the {b}.", "The {b} may only be inspected by the {a}."),
    ("Clear the {a} whenever the {b} changes.", "Whenever the {b} changes, clear the {a}."),
    ("Put each {a} in one {b}.", "Each {a} is put in one {b}."),
    ("Never open the {a} without a {b}.", "Never open the {a} without a {b}, please."),
    ("Do NOT open the {a} before the {b}.", "Do not open the {a} before the {b}."),
    ("Remove the {a} before the {b}.", "The {a} is dropped before the {b}."),
    ("Paint the {a} before the {b}.", '"😭 paint the {a} before the {b}"'),
    ("Paint the {a} before the {b}.", "✅ Paint the {a} before the {b}."),
    ("Paint the {a} before the {b}.", 'Turn {n} (most recent): "Paint the {a} before the {b}."'),
    ("Paint the {a} before the {b}.", 'Messages: "hi", "Paint the {a} before the {b}", "go on with the {c}"'),
    ("Paint the {a} before the {b}.", 'The user added: "ok, paint the {a} before the {b}"'),
]
DONE = st.sampled_from(["sealed", "painted", "drained", "polished"])


def fill(frame: str, nouns: list[str], done: str, number: int) -> str:
    return frame.format(a=nouns[0], b=nouns[1], c=nouns[2], p=done, n=number)


@given(st.sampled_from(SWAPPED), st.permutations(NOUNS), DONE, st.integers(20, 900), AROUND, LINES)
def test_law_the_same_words_in_another_structure_are_never_certified(
    frames: tuple[str, str], nouns: list[str], done: str, number: int, around: str, line: str
) -> None:
    typed, summary = (fill(frame, nouns, done, number) for frame in frames)
    assert outcome(typed, f"{around}\n{line.format(summary)}") not in KEPT


@given(
    st.sampled_from(TURNED),
    st.sampled_from(KEEPING),
    st.sampled_from(NOUNS),
    st.sampled_from(["{}:", "## {}"]),
)
def test_law_a_heading_is_read_with_the_lines_below_it(
    turned: str, keeping: str, noun: str, heading: str
) -> None:
    rule = f"Never open the {noun}."
    for head, is_kept in ((turned, False), (keeping, True)):
        other, title = heading.format("Summary"), heading.format(head)
        told = outcome(rule, f"{other}\n\n{title}\n   - The turnips are ripe.\n   - {rule}\n\nNext: rest.")
        assert (told in KEPT) == is_kept, head


@given(st.sampled_from(SAME), st.permutations(NOUNS), DONE, st.integers(20, 900), AROUND, LINES)
def test_law_the_same_structure_is_kept(
    frames: tuple[str, str], nouns: list[str], done: str, number: int, around: str, line: str
) -> None:
    typed, summary = (fill(frame, nouns, done, number) for frame in frames)
    assert outcome(typed, f"{around}\n{line.format(summary)}") in KEPT


@pytest.mark.parametrize(
    ("typed", "summary"),
    [
        (
            "When you change the schema, always write a migration for it too.",
            "An optional access was put in.",
        ),
        (
            "You may use the almanac for the report.",
            "Using the almanac for the report is optional but allowed.",
        ),
        ("Remove the old ledgers.", "The user asked to remove the not so useful old ledgers."),
        ("Delete the legacy kilns.", "Delete the legacy kilns that are no longer used."),
        ("Never open the quarry without a permit.", "Opening the quarry requires a permit."),
        (
            "Keep `QUARRY_DEPTH` (used by the kiln page).",
            "Removed `openQuarry` (no longer used; the kiln page uses it).",
        ),
        (
            "Keep the old ledgers until June.",
            "The old ledgers stay until June ends (do not remove them earlier).",
        ),
        ("Use a kiln for the plates.", "Use a kiln for the plates, not an oven (the oven was dropped)."),
        ("Put the keys into the vault.", "The keys are no longer in the shed; they were put into the vault."),
        ("Let the guest cancel the tour.", "The tour can be cancelled by the guest."),
        ("Refuse crates above 10 kg.", "Crates above 10 kg are refused, smaller ones accepted."),
        ("Paint the harbour in a blue pallete.", "Paint the harbour in a blue palette."),
        ("the nubmers of the ledger are wrong", "The numbers of the ledger are wrong."),
        (
            "We need to clean the turbine with warm water.",
            "The user: can you clean the turbine with warm water?",
        ),
        ("Write down the depth of each kiln.", "The user asked: can you write down the depth of each kiln?"),
    ],
)
def test_what_negates_something_else_does_not_contradict(typed: str, summary: str) -> None:
    assert outcome(typed, f"The harbour was drained. {summary}") not in {"contradicted", "changed"}


def test_a_line_number_is_no_value() -> None:
    typed = "When two ledgers are merged (line 343-364), the older entry is lost."
    assert outcome(typed, "When two ledgers are merged (lines 12-33) the older entry is lost.") != "changed"


@given(st.integers(60, 120))
def test_law_a_wrapped_message_is_read_by_its_sentences(width: int) -> None:
    words = "No beacon may be lit while the kiln is warm, because its smoke hides the light from the boats "
    sentence = words + "that come in between the two old harbours, and they would miss the narrow passage."
    lines = f"Hello.\n\n{textwrap.fill(sentence + ' Thanks, that is all for today.', width)}\n\nBye."
    facts = {fact.form for fact in read_session([{"role": "user", "content": lines}]).facts.every}
    assert sentence in facts or textwrap.fill(sentence, width).count("\n") < 2


@pytest.mark.parametrize(
    ("said", "summary"),
    [
        ("`kilnDepth`: 0.15 → **0.02**", "`kilnDepth` is 0.02 now."),
        ("kilnDepth = 12", "`kilnDepth` was 9 but 12 was expected."),
        ("kilnDepth = 12, then kilnDepth = 9", "`kilnDepth` is 9."),
    ],
)
def test_a_number_is_not_changed_to_one_that_was_said(said: str, summary: str) -> None:
    told = trace(said, summary)
    assert not {fact.outcome for fact in told.select()} & {"changed", "contradicted"}


def test_the_limit_of_one_call_is_not_changed_by_another() -> None:
    read = called("Read", "x = y", path="a.py", limit=25)
    told = trace_turns(
        "The page limit is 50. Read a.py.", "Read it.", *read, "Done.", "Go on.", "Done so far."
    )
    assert [fact.outcome for fact in told.select() if fact.fact.form.startswith("limit")] != ["changed"]


@given(
    st.sampled_from(
        ("Keep one commit for each step.", "Never renumber the receipts!", "Ask me before a merge.")
    ),
    st.sampled_from(('"{}"', "“{}”", "`{}`", "**{}**", "'{}'")),
    st.sampled_from(("deleted", "abandoned", "suspended", "replaced", "skipped", "lost", "forgotten")),
    st.sampled_from(("The rule {} was {}", "{} ({})", "{} — {}", "{} → {}", "{}, {}", "{}: {}", "- {} - {}")),
)
def test_what_follows_the_full_stop_of_a_quotation_is_read(
    rule: str, marks: str, verb: str, frame: str
) -> None:
    text = frame.format(marks.format(rule), verb)
    assert outcome(rule, text) not in ("quoted", "paraphrased"), text
    assert outcome(rule, marks.format(rule)) == "quoted"


@given(st.sampled_from("moved updated closed deleted changed edited".split()))
def test_a_verb_in_front_of_a_quoted_rule_may_change_it(verb: str) -> None:
    assert outcome("Use tabs.", f'The user {verb} the rule "Use tabs."') == "unclear"


def test_a_rule_that_is_cancelled_later_in_the_summary_is_not_certified() -> None:
    rule = "Never touch the migrations folder."
    for later in (
        "From now on you may touch the migrations folder.",
        "The migrations folder may be changed.",
    ):
        assert outcome(rule, f"{rule} {later}") == "unclear"
        assert outcome(rule, f"{rule} The tests pass.") == "quoted"


@pytest.mark.parametrize(
    ("rule", "text", "right"),
    [
        ("Make the timeout 45 seconds, not 30.", "The timeout is 45 seconds, was 30.", ("unclear",)),
        (
            "Never touch the migrations folder.",
            "Hands off the migrations folder.",
            ("unclear", "paraphrased"),
        ),
        ("The upload limit is 25 MB.", "Upload limit: 25 GB", ("changed",)),
        ("The upload limit is 25 MB.", "Upload limit 25 megabytes", ("quoted", "paraphrased")),
        ("Never log passwords.", "Passwords must never be logged.", ("paraphrased",)),
        ("Never log passwords.", "The passwords log was never there.", ("unclear",)),
        ("Never log passwords.", "Was never asked to log passwords", ("unclear",)),
        ("I prefer small commits.", "The user prefers small commits.", ("quoted", "paraphrased")),
        ("Commit after each step.", "Commit after each step — no exceptions", ("quoted",)),
        (
            "Have a look at https://a.org/b/c first.",
            "Have a look at https://a.org/b/... first.",
            ("partial",),
        ),
    ],
)
def test_rules_of_a_harness_builder(rule: str, text: str, right: tuple[str, ...]) -> None:
    assert outcome(rule, text) in right


@pytest.mark.parametrize(
    ("first", "later", "summary"),
    [
        ("Set the timeout to 30 seconds.", "No, make that 45 seconds instead.", "Timeout: 45 seconds."),
        (
            "Use ROUND_HALF_UP, and set the timeout of the tax service to 30 seconds.",
            "Accounting wants ROUND_HALF_EVEN. And make the timeout 45 seconds, not 30.",
            "ROUND_HALF_EVEN; timeout 45 seconds.",
        ),
    ],
)
def test_a_correction_in_the_next_message_supersedes(first: str, later: str, summary: str) -> None:
    rows = [
        {"role": role, "content": text}
        for text in (first, later, "Go on.")
        for role, text in (("user", text), ("assistant", "Yes."))
    ]
    plan = make_plan(read_session(rows), "keep-recent-turns", cut="turn 3")
    written = plan.with_summary(checkpoint_from_text(summary))
    assert written.trace[first].outcome == "superseded"
