"""A summary that quotes a whole message keeps each statement of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inspector import trace_recorded
from tests.claude_rows import Claude

NOUNS = st.lists(
    st.sampled_from(["harbour", "ledger", "orchard", "kiln", "turbine", "quarry", "almanac", "beacon"]),
    min_size=3,
    max_size=3,
    unique=True,
)
CHOICE = "Let's take the {}"
BESIDE = [
    "{}, can you open a ticket about the {}?",
    "hmm, the {1} is an odd place. {0} and tell me about it",
    "{}; the {} was turned down last week and is still broken",
    "I guess the old {1} said so? {0}",
]
INTRODUCED = st.sampled_from(['   - "{}"', 'The user said: "{}"', "6. All user messages:\n   - {}"])


def trace_choice(message: str, summary: str, nouns: list[str]) -> str:
    talk = Claude().say(f"Look at the {nouns[2]}.").reply("I see it.", 8_000)
    talk = talk.say(message).reply("Fine.", 9_000).compact(summary).say("Go on.").reply("Yes.", 2_000)
    return trace_recorded(talk.open())[0][CHOICE.format(nouns[0])].outcome


@given(NOUNS, st.sampled_from(BESIDE), INTRODUCED)
def test_a_statement_in_a_quoted_message_is_quoted(nouns: list[str], beside: str, introduced: str) -> None:
    message = beside.format(CHOICE.format(nouns[0]), nouns[1])
    assert trace_choice(message, introduced.format(message), nouns) == "quoted"


@given(NOUNS, st.sampled_from(BESIDE))
def test_words_that_the_message_does_not_have_may_change_it(nouns: list[str], beside: str) -> None:
    choice = CHOICE.format(nouns[0])
    message = beside.format(choice, nouns[1])
    for told in (
        f"The idea '{choice}' was rejected in favour of the {nouns[1]}.",
        f"{choice} or the {nouns[1]}.",
    ):
        assert trace_choice(message, told, nouns) not in ("quoted", "paraphrased"), told
