"""A summary that stays above its budget: diagnosed, asked for again with less, and cut in the end."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from inspector.files import open_session
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import Reply, SummaryJob
from inspector.session.entries import Usage
from inspector.session.session import Session
from inspector.summaries.compaction import compact
from inspector.summaries.limit import cut_text
from inspector.summaries.store import save_compaction
from inspector.summaries.write import Summariser, summarise
from inspector.tokens.ledger import count_tokens
from tests.replays.test_engine import WORDS, make_policy, turns

BUDGET = 5


def plan_of() -> Plan:
    session = turns(6)
    return make_plan(
        session, count_tokens(session, WORDS), make_policy(budget=BUDGET), window=100, reason="manual"
    )


def wordy(words: int) -> tuple[list[int | None], Summariser]:
    """A summariser that writes so many words whatever it is asked for, and the limits it was asked with."""
    asked: list[int | None] = []

    def write(job: SummaryJob, session: Session) -> Reply:
        asked.append(job.max_tokens)
        text = " ".join(f"word{n}" for n in range(words))
        return Reply(text=text, usage=Usage(input=100, output=words))

    return asked, write


def test_S0_103_S0_104_S0_105_a_summary_that_stays_too_long_is_cut_to_its_budget_and_says_so(
    tmp_path: Path,
) -> None:
    plan = plan_of()
    asked, write = wordy(500)
    done = compact(plan.session, plan.policy, write, ledger=plan.ledger, window=100, reason="manual")
    assert asked == [5, 2, 1], "the budget first, then half of the limit before"
    assert done.checkpoint is not None and done.entry is not None
    assert done.checkpoint.text == "word0 word1 word2 word3 word4" and done.checkpoint.truncated
    assert [(one.size, one.budget, one.limit) for one in done.checkpoint.oversize] == [
        (500, 5, 2),
        (500, 5, 1),
        (500, 5, None),
    ]
    # Every call was paid for; the block that is stored holds no more than the budget.
    assert done.checkpoint.usage == Usage(input=300, output=1500)
    entry = done.after[done.entry]
    assert count_tokens(done.after, WORDS).count_blocks(entry.blocks).tolist() == [BUDGET]
    assert entry.boundary is not None and entry.boundary.extra["truncated"] is True
    assert "was cut to it" in " ".join(done.plan.with_summary(done.checkpoint).notes)
    # The flag is in the file, and comes back out of it.
    saved = save_compaction(done, tmp_path)
    (boundary,) = [told for _, told in open_session(saved.manifest).boundaries]
    assert boundary.extra["truncated"] is True
    assert boundary.extra["oversize"][0] == {"size": 500, "budget": 5, "limit": 2}


def test_S0_104_a_second_answer_that_keeps_the_limit_stands_whole() -> None:
    limits: list[int | None] = []

    def write(job: SummaryJob, session: Session) -> str:
        limits.append(job.max_tokens)
        return "far too many words for it" if len(limits) == 1 else "short enough"

    made = summarise(plan_of(), write)
    assert (made.text, made.truncated, limits) == ("short enough", False, [5, 2])
    assert [(one.size, one.limit) for one in made.oversize] == [(6, 2)]


def test_what_keeps_its_budget_is_asked_for_once_and_nothing_is_said_of_it() -> None:
    asked, write = wordy(BUDGET)
    made = summarise(plan_of(), write)
    assert (asked, made.truncated, made.oversize) == ([5], False, ())
    assert made.provenance() == {"by": "write", "deterministic": False}


def test_S0_64_S0_65_what_a_summariser_says_of_itself_is_recorded() -> None:
    class Mine:
        by, provider, model, prompt = "mine", "home", "model-2", "house-prompt"

        def __call__(self, job: SummaryJob, session: Session) -> str:
            return "so far"

    plan = plan_of()
    done = compact(plan.session, plan.policy, Mine(), ledger=plan.ledger, window=100, reason="manual")
    assert done.entry is not None
    boundary = done.after[done.entry].boundary
    assert boundary is not None
    names = ("by", "provider", "model", "prompt")
    assert [boundary.extra[name] for name in names] == ["mine", "home", "model-2", "house-prompt"]
    # A function of one's own says nothing, and nothing is made up.
    plain = compact(plan.session, plan.policy, lambda job, session: "so far", ledger=plan.ledger, window=100)
    assert plain.entry is not None
    told = plain.after[plain.entry].boundary
    assert told is not None and not {"provider", "model", "prompt"} & told.extra.keys()


@given(st.text(max_size=60), st.integers(0, 20))
def test_a_cut_text_is_a_beginning_within_its_budget(text: str, budget: int) -> None:
    def count(part: str) -> int:
        return len(part.split())

    short = cut_text(text, budget, count)
    assert text.startswith(short) and count(short) <= budget
    assert short.split() == text.split()[: len(short.split())]
    assert count(short) == min(count(text), budget)


def test_a_counter_that_takes_more_for_less_is_obeyed_character_by_character() -> None:
    """Cut to words, the text has no blank at its end any more, which this counter takes two tokens for."""

    def count(text: str) -> int:
        return len(text.rstrip()) + 2 * (not text.endswith(" "))

    assert cut_text("abcd efgh", 5, count) == "abc"
    assert cut_text("abcd efgh", 6, count) == "abcd"
    assert cut_text("abcd efgh", 1, count) == ""
