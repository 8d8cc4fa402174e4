"""How facts fade over several compactions in a row: lived, measured, drawn."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inspector import open_demo
from inspector.errors import EditError
from inspector.facts.facts import find_facts
from inspector.facts.trace import trace_recorded
from inspector.replays.decay import DecayLine, compact_rounds, find_moments, measure_decay, strip_compactions
from inspector.session.session import Session
from inspector.summaries.extractive.summariser import ExtractiveSummariser
from inspector.tokens.ledger import count_tokens
from tests.strategies import sessions
from tests.test_cuts import answer, build, call, say, user


def words(number: int) -> str:
    return " ".join(f"word{number}-{at}" for at in range(60))


def story() -> Session:
    """Six turns; src/first.py is named in the first alone, src/again.py in the third too."""
    said = [
        "Look at src/first.py and src/again.py.",
        "On.",
        "Now src/again.py once more.",
        "On.",
        "On.",
        "On.",
    ]
    return build(*(part for at, text in enumerate(said) for part in (user(text), say(words(at)))))


POLICY = {"name": "all", "rules": [{"kind": "keep-system"}, {"kind": "summarise-all"}]}


def remember(*forms: str) -> object:
    """A summariser that passes on these words as long as it is shown them."""

    def write(job: object, session: Session) -> str:
        shown = " ".join(
            [getattr(job, "previous", None) or "", *(session[name].text for name in job.entries)]  # type: ignore[attr-defined]
        )
        return "Files: " + " ".join(form for form in forms if form in shown)

    return write


def test_what_a_summary_passes_on_is_kept_and_what_it_drops_is_lost_for_good() -> None:
    decay = compact_rounds(story(), POLICY, remember("src/first.py"), rounds=3)  # type: ignore[arg-type]
    assert [move.done for move in decay.transitions] == [True] * 3
    assert [one.first["file"] for one in decay.rounds] == [2, 2, 2]
    # Of two files and two sentences one file is told; its name alone says nothing of the sentence around it.
    assert decay.rounds[0].first == {"file": 2, "statement": 2}
    assert decay.rounds[0].left == 1
    # src/again.py is said anew in the third turn: it was lost before, so it is not kept.
    assert [one.kept.get("file", 0) for one in decay.rounds] == [1, 1, 1]
    assert decay.line("file") == DecayLine("file", "write", (1.0, 0.5, 0.5, 0.5), decay.line().tokens)
    assert decay.line(kind="file") == decay.line("file"), "it has a name"
    assert "3 of 3 compacted" in repr(decay) and " 1 of 4 facts remain in full" in repr(decay)
    assert decay.to_columns()["kept"] == [one.kept.get(kind, 0) for one in decay.rounds for kind in one.first]
    # Said again after the first compaction, it says nothing of what the compactions keep.
    assert decay.rounds[0].silent["file"] == 1 and decay.line("file", silent=True).shares == (1.0,) * 4
    forgets = compact_rounds(story(), POLICY, lambda job, session: "Nothing.", rounds=3)
    assert forgets.line("file").shares == (1.0, 0.0, 0.0, 0.0)


def test_each_round_goes_on_from_the_one_before() -> None:
    seen: list[str | None] = []

    def write(job: object, session: Session) -> str:
        seen.append(job.previous)  # type: ignore[attr-defined]
        return f"Summary {len(seen)}."

    decay = compact_rounds(story(), POLICY, write, rounds=3)
    assert seen == [None, "Summary 1.", "Summary 2."]
    session = decay.session
    path = [session.entries[i] for i in session.path]
    assert [entry.id for entry in path if entry.kind == "compaction"] == [
        f"compaction-{n}" for n in (1, 2, 3)
    ]
    # Everything that was said stands once on the path, in its order.
    said = [entry.text for entry in path if entry.kind == "message"]
    assert said == [entry.text for entry in story().entries]


def test_the_moments_are_equal_shares_apart_and_never_inside_a_call() -> None:
    session = build(
        user(words(0)), call("a"), answer("a"), say(words(1)), user("x"), call("b", "c"), answer("b")
    )
    session = strip_compactions(build(*session.entries, answer("c"), say(words(2))))
    ledger = count_tokens(session)
    assert find_moments(session, ledger, 3)[-1] == len(session.entries) - 1
    for rounds in range(1, 4):
        ends = find_moments(session, ledger, rounds)
        assert ends == sorted(set(ends)) and not {1, 5, 6} & set(ends)
    # The first entry may be a moment of its own, and later ones are never the same.
    heavy = strip_compactions(build(user(words(0)), say("x"), user("y")))
    assert find_moments(heavy, count_tokens(heavy), 3) == [0, 1, 2]
    even = strip_compactions(build(*(user("one word more") for _ in range(8))))
    assert find_moments(even, count_tokens(even), 4) == [1, 3, 5, 7]
    with pytest.raises(EditError, match="too few entries"):
        find_moments(session, ledger, 40)
    with pytest.raises(EditError, match="too few entries"):
        compact_rounds(build(), "flue")


@given(
    sessions(least=4, orderly=True),
    st.sampled_from(["flue", "pi", "claude-code-analysis", "codex", "inspect-trim"]),
)
def test_a_line_never_rises_and_never_counts_more_than_there_was(session: Session, policy: str) -> None:
    try:
        decay = compact_rounds(session, policy, ExtractiveSummariser(), rounds=3)
    except EditError:
        assume(False)
    for one in decay.rounds:
        assert all(one.kept.get(kind, 0) <= one.first[kind] for kind in one.first)
        assert all(one.silent_kept.get(kind, 0) <= one.kept.get(kind, 0) for kind in one.first)
        assert sum(one.outcomes.values()) == one.stood
    shares = decay.line().shares
    assert list(shares) == sorted(shares, reverse=True)
    path = {decay.session.entries[i].id for i in decay.session.path}
    assert {move.entry for move in decay.transitions if move.done} <= path


def test_recorded_compactions_are_measured_by_the_same_function() -> None:
    """What compact_rounds leaves in a session is what a file would record."""
    decay = compact_rounds(open_demo(), "claude-code-analysis", ExtractiveSummariser(), rounds=3)
    facts = find_facts(strip_compactions(open_demo()))
    again = measure_decay(trace_recorded(decay.session, facts))
    assert [one.kept for one in again] == [one.kept for one in decay.rounds]
    assert {one.tier for one in again} == {"recorded"} and {one.tier for one in decay.rounds} == {"planned"}
