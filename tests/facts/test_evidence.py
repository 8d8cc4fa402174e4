"""Both sides of an outcome: a true sentence for each, and spans that are the words they stand for."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.facts.evidence import find_evidence
from inspector.facts.explanation import Passage
from inspector.facts.outcomes import OUTCOMES
from inspector.facts.trace import trace_recorded
from inspector.facts.traced import TracedFact
from inspector.session.session import Session
from tests.telling import compact
from tests.test_cuts import build, say, user


def compacted(said: tuple[str, ...], summary: str | None) -> Session:
    """Messages of a person, then a compaction with a summary; None for one that cannot be read."""
    turns = [entry for words in said for entry in (user(words), say("ok"))]
    return build(*turns, compact(summary or ""), user("on"))


def trace(said: tuple[str, ...], summary: str | None, kind: str, form: str) -> TracedFact:
    return trace_recorded(compacted(said, summary))[0][kind, form]


RULE = "Spend at most $500 per run."
PUSH = "Never push to main without a review."
EDIT = "Please edit src/cal/offsets.py now."
TABS = "Always use tabs in the Makefile."
RETRY = "Retry at most 3 times."
LINT = "Always run the linter and the tests before a commit."
PATH = "src/cal/offsets.py"
OLD, NEW = "Set retries = 3 in all.", "Set retries = 5 in all."
TABLE: list[tuple[str, str, tuple[str, ...], str, str | None, str]] = [
    ("constraint", "quoted", (RULE,), RULE, f"She said: {RULE}", f"The summary says it: “She said: {RULE}”"),
    (
        *("constraint", "paraphrased", (TABS,), TABS, "Tabs must always be used in the Makefile."),
        "The summary says it in other words: “Tabs must always be used in the Makefile.”",
    ),
    (
        *("constraint", "partial", (RETRY,), RETRY, "Retry about 3 times."),
        "You said “Retry at most 3 times.” (turn 1). The summary is less strict: “Retry about 3 times.”",
    ),
    (
        *("constraint", "changed", (RULE,), RULE, "Done. Spend at most $600 per run."),
        "You said “$500” (turn 1). The summary says “$600”.",
    ),
    (
        *("constraint", "contradicted", (PUSH,), PUSH, "Push to main without a review."),
        f"You said “{PUSH}” (turn 1). The summary says the opposite: “Push to main without a review.”",
    ),
    ("constraint", "absent", (RULE,), RULE, "All tests pass.", "The summary does not mention this."),
    ("constraint", "unknown", (RULE,), RULE, None, "The summary is encrypted or missing."),
    ("file", "quoted", (EDIT,), PATH, f"Edited {PATH}.", f"The summary says it: “{PATH}”."),
    ("file", "partial", (EDIT,), PATH, "Edited offsets.py.", "The summary has only “offsets.py” of it."),
    (
        *("file", "changed", (EDIT,), PATH, "Edited src/cal/offset.py."),
        f"You said “{PATH}” (turn 1). The summary says “src/cal/offset.py”.",
    ),
    ("file", "absent", (EDIT,), PATH, "All done.", "The summary does not mention this."),
    ("file", "unknown", (EDIT,), PATH, None, "The summary is encrypted or missing."),
    (
        *("number", "superseded", (OLD, NEW), "retries = 3", "Set."),
        "You had replaced it (turn 2): “Set retries = 5 in all.”; nothing is missing.",
    ),
]


@pytest.mark.parametrize(
    ("kind", "outcome", "said", "form", "summary", "sentence"),
    TABLE,
    ids=[f"{row[0]} {row[1]}" for row in TABLE],
)
def test_every_outcome_has_a_true_sentence(
    kind: str, outcome: str, said: tuple[str, ...], form: str, summary: str | None, sentence: str
) -> None:
    traced = trace(said, summary, kind, form)
    assert traced.outcome == outcome
    assert traced.explanation.outcome == sentence
    assert sentence in traced.why()


def test_an_unclear_rule_is_shown_with_the_sentence_that_leaves_it_open() -> None:
    traced = trace((LINT,), "The linter and the tests are part of a commit.", "constraint", LINT)
    assert traced.outcome == "unclear"
    assert "The linter and the tests are part of a commit." in traced.explanation.outcome
    assert find_evidence(traced).found is not None


def test_both_sides_of_a_changed_value_are_marked_and_nothing_else_differs() -> None:
    evidence = find_evidence(trace((RULE,), "Go on. Spend at most $600 per run. Stop.", "constraint", RULE))
    assert evidence.said is not None and evidence.found is not None
    assert evidence.said.cut(evidence.said.differs) == ["$500"]
    assert evidence.found.cut(evidence.found.differs) == ["$600"]
    assert evidence.said.cut(evidence.said.same) == evidence.found.cut(evidence.found.same)
    assert evidence.found.words == "Spend at most $600 per run."
    assert evidence.found.text == "Go on. Spend at most $600 per run. Stop."
    assert (evidence.said.speaker, evidence.said.turn, evidence.reason) == ("user", 1, "value")


def test_an_absent_file_is_shown_with_what_was_searched_and_the_closest_sentence() -> None:
    traced = trace((EDIT,), "All is well. The offsets helper kept one value.", "file", "src/cal/offsets.py")
    evidence = find_evidence(traced)
    assert evidence.found is not None and evidence.found.cut(evidence.found.same) == ["offsets"]
    assert (evidence.shared, evidence.wanted) == (1, 3)
    assert evidence.searched == "Searched 2 sentences for 2 forms of the path and the file name."
    far = trace((EDIT,), "All is well.", "file", "src/cal/offsets.py")
    assert far.explanation.searched.endswith("Nothing comes close.")


@pytest.mark.parametrize("mark", ["3.", "3)", "- 3.", "## 3.", "  3."])
def test_the_number_of_an_item_is_no_value_and_no_sentence(mark: str) -> None:
    summary = f"Done so far:\n{mark} The parser was split.\nThe gate has 8 signs."
    session = compacted(("The gate has 3 signs.",), summary)
    told = session.why("3 signs")
    assert "The summary says “8”" in told and f"“{mark.strip()}" not in told
    far = compacted(("The gate has 3 signs.",), f"Done so far:\n{mark} The parser was split.")
    assert "does not mention" in far.why("3 signs")


WORDS = tuple("spend at most $500 $600 per run never push to main src/a.py ünder".split())
TEXTS = st.lists(st.sampled_from((*WORDS, ".", "\n", "`", "😀")), min_size=1, max_size=14).map(" ".join)


@given(TEXTS, TEXTS)
def test_spans_are_within_their_text_and_stand_for_words_that_are_there(said: str, summary: str) -> None:
    session = compacted((said,), summary)
    for traced in trace_recorded(session)[0]:
        evidence = find_evidence(traced)
        for side, whole in ((evidence.said, said), (evidence.found, summary)):
            if side is not None and traced.outcome != "superseded":
                check_passage(side, whole)
                assert traced.explanation.wording.code.partition(":")[0] in (*OUTCOMES, "gone")


def check_passage(side: Passage, whole: str) -> None:
    assert side.text in whole
    assert 0 <= side.core.start <= side.core.end <= len(side.text)
    marks = sorted((*side.same, *side.differs))
    assert all(one.end <= other.start for one, other in pairwise(marks))
    for span in marks:
        words = side.text[span.start : span.end]
        assert words and words == words.strip() and words in whole
