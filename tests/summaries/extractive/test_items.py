"""What a copied summary has room for first, how long its quotes are, and where each line stands."""

from __future__ import annotations

from tests.summaries.test_extractive import run, section, write
from tests.test_cuts import build, say, user

PAD = " So it was told to everybody who asked for it in the days before." * 4
DUMP = "error: " + " ".join(f"blob{number}" for number in range(60))


def test_what_comes_first_is_there_wherever_what_comes_after_it_is() -> None:
    """Both of a pair are as long, and stand in one section: only the order decides who gets the room."""
    session = build(
        user("go"),
        *run("make", "error: no rule to make target", error=True),
        *run("strings a", DUMP, error=True),
        *run("pytest old", "1 passed"),
        *run("pytest new", "2 passed"),
        user("And the first one?"),
        say("Always take the left one."),
        user("And the other one?"),
        say("fine"),
        user("Never take the right one."),
        say("fine"),
    )
    pairs = [
        ("no rule to make", "blob0"),
        ("pytest new", "pytest old"),
        ("other one", "first one"),
        ("right one", "left one"),
    ]
    alone = set()
    for tokens in range(40, 300, 10):
        text = write(session, tokens)
        for first, then in pairs:
            assert first in text or then not in text, (tokens, first, then)
            if first in text and then not in text:
                alone.add(first)
    assert alone == {first for first, _ in pairs}, "each pair was parted by some budget"


def test_a_value_that_the_user_states_is_told_once_and_as_it_was_said_last() -> None:
    session = build(
        user("Please look at the queue."),
        say("There are 204 jobs waiting, and one worker takes them."),
        *(entry for host in "579" for entry in (user(f"The staging host is db-{host}.{PAD}"), say("fine"))),
        user("Is the port 8080 or the host db-6.internal?"),
        say("fine"),
    )
    text = section(write(session, 400), "Critical context")
    assert "- The staging host is db-9." in text
    assert "host is db-7" not in text and "host is db-5" not in text and "Is the port" not in text


def test_a_value_that_was_replaced_is_told_nowhere() -> None:
    """Neither as what was stated, nor as a rule, nor among the values; a request is quoted as it was."""
    session = build(
        user("Never spend more than $481 a month, whatever the vendor says."),
        say("fine"),
        user("The staging host is db-7. Set requestTimeout = 30."),
        say("fine"),
        user("Never spend more than $710 a month, whatever the vendor says."),
        say("fine"),
        user("Move the staging host to db-9. requestTimeout is 45 now."),
        say("fine"),
        user("and now?"),
        say("fine"),
    )
    lines = write(session, 600).split("\n")
    text = "\n".join(line for line in lines if not line.startswith("- Asked"))
    for new, old in (("$710", "$481"), ("db-9", "db-7"), ("requestTimeout is 45", "requestTimeout = 30")):
        assert new in text and old not in text, old
