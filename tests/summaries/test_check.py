"""Written summaries: who answers a plan's jobs, how answers are put together, what is wrong with one."""

from __future__ import annotations

import threading

import pytest

from inspector.demo import open_demo
from inspector.errors import EditError, Stopped
from inspector.planning.assemble import build_context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import TURN_CONTEXT, Checkpoint, Reply, SummaryJob
from inspector.policies.table import SUMMARISED
from inspector.session.blocks import BlockRef
from inspector.session.entries import Usage
from inspector.session.session import Session
from inspector.summaries.check import SummaryCheck, check_summary, find_missing
from inspector.summaries.extractive.summariser import ExtractiveSummariser
from inspector.summaries.prompts import SECTIONS, TURN_SECTIONS
from inspector.summaries.record import append_checkpoint
from inspector.summaries.write import Summariser, checkpoint_from_text, covered, summarise
from inspector.tokens.ledger import count_tokens
from tests.summaries.test_extractive import edit, step
from tests.test_cuts import build, say, user

WHOLE = "\n".join(f"## {name}\n- none" for name in SECTIONS)
TURN = "\n".join(f"## {name}\n- none" for name in TURN_SECTIONS)


def plan_of(session: Session, policy: str = "claude-code", cut: str = "end") -> Plan:
    return make_plan(session, count_tokens(session), policy, {"cut": cut}, reason="manual")


def bundled(policy: str = "claude-code") -> Plan:
    return plan_of(open_demo(), policy)


def split() -> Plan:
    """Two jobs: the history, and the beginning of the turn that the cut splits."""
    session = build(
        user("hello"), say(), user("go"), *step("read", {"path": "a.py"}), *edit("b.py"), say("done")
    )
    plan = plan_of(session, "flue", "e5")
    assert [job.kind for job in plan.jobs] == ["initial", "turn_prefix"]
    return plan


def kinds(checked: SummaryCheck) -> list[str]:
    return [fault.kind for fault in checked.faults]


def check(text: str, plan: Plan | None = None) -> SummaryCheck:
    return check_summary(Checkpoint(text=text), plan or bundled())


# What is wrong with a summary.


def test_a_summary_with_every_section_and_nothing_made_up_passes() -> None:
    checked = check(WHOLE)
    assert checked.passes
    assert checked.faults == ()
    assert checked.tokens == int(bundled().ledger.count_texts([WHOLE])[0])
    assert "no faults" in repr(checked)


@pytest.mark.parametrize("missing", SECTIONS)
def test_S4_43_a_section_that_is_missing_is_named(missing: str) -> None:
    checked = check(WHOLE.replace(f"## {missing}\n", ""))
    assert kinds(checked) == ["sections"]
    assert checked.faults[0].sentence == f"A section is missing: {missing}."


@pytest.mark.parametrize(("missing", "said"), [(1, "A section is missing"), (2, "Sections are missing")])
def test_of_the_sections_that_are_missing_it_says_how_many_and_which(missing: int, said: str) -> None:
    kept = [f"## {name}\n- none" for name in SECTIONS[missing:]]
    (fault,) = (fault for fault in check("\n".join(kept)).faults if fault.kind == "sections")
    assert fault.sentence == f"{said}: {', '.join(SECTIONS[:missing])}."


def test_S4_43_sections_are_known_by_other_systems_headings_too() -> None:
    text = (
        "## Goal\n## Constraints & Preferences\n## Progress\n### Done\n## Key Decisions\n"
        "**Next Steps**\n6. Critical Context:"
    )
    jobs = bundled().jobs
    assert find_missing(text, jobs) == ()
    assert find_missing("Goal, constraints, progress, decisions: all in one line.", jobs) == SECTIONS


def test_both_parts_of_a_split_turn_have_sections_of_their_own() -> None:
    jobs = split().jobs
    assert find_missing(WHOLE + TURN_CONTEXT + TURN, jobs) == ()
    assert find_missing(WHOLE, jobs) == TURN_SECTIONS
    assert find_missing(TURN_CONTEXT + TURN, jobs) == SECTIONS
    assert find_missing(f"No prior history.{TURN_CONTEXT}{TURN}", jobs[1:]) == ()


@pytest.mark.parametrize("tag", ["<thinking>", "</think>", "<reasoning effort='high'>", "<analysis>"])
def test_reasoning_in_a_summary_is_a_fault(tag: str) -> None:
    checked = check(f"{WHOLE}\n{tag} hm")
    assert kinds(checked) == ["reasoning"]
    assert checked.faults[0].line == WHOLE.count("\n") + 2
    assert tag in checked.faults[0].sentence


@pytest.mark.parametrize("tag", ["<system-reminder>", "</summary>", "<function_calls>", "</conversation>"])
def test_tags_by_which_harnesses_mark_their_own_words_are_a_fault(tag: str) -> None:
    assert kinds(check(f"{WHOLE}\nall is well {tag}")) == ["marks"]


def test_what_nothing_before_names_is_a_fault_with_its_line() -> None:
    checked = check(WHOLE.replace("- none", "- Deleted src/tidepool/nowhere.py", 1))
    assert kinds(checked) == ["grounding"]
    assert checked.faults[0].line == checked.unfounded[0].line == 2
    assert checked.unfounded[0].words == "src/tidepool/nowhere.py"


def test_a_file_that_only_a_shell_knows_by_its_whole_name_is_grounded() -> None:
    shown = step("bash", {"command": "cd /home/me/other && cat go.mod"})
    session = build(user("look"), *shown, say("done"), user("go on"), say("ok"))
    plan = plan_of(session)
    assert "grounding" not in kinds(check("## Goal\n- see /home/me/other/go.mod", plan))
    assert "grounding" in kinds(check("## Goal\n- see /home/me/other/go.sum", plan))


def test_a_summary_longer_than_its_jobs_allow_is_a_fault_and_the_file_lists_are_not_counted() -> None:
    session = build(*(e for n in range(80) for e in edit(f"src/module{n}/file.py")), user("go"), say())
    plan = plan_of(session, "flue")
    appendix = summarise(plan, lambda job, session: "").text
    limit = sum(job.max_tokens or 0 for job in plan.jobs)
    checked = check_summary(summarise(plan, lambda job, session: WHOLE), plan)
    assert kinds(checked) == []
    assert checked.budget == limit + int(plan.ledger.count_texts([appendix])[0])
    long = check_summary(Checkpoint(text=WHOLE + " so" * (limit + 3_000)), plan)
    assert kinds(long) == ["size"]
    assert f"{long.tokens:,} tokens; {long.budget:,} are allowed" in long.faults[0].sentence


def test_a_summary_that_is_empty_or_was_not_written_says_only_that() -> None:
    assert kinds(check(" \n")) == ["empty"]
    failed = check_summary(Checkpoint(error="overloaded"), bundled())
    assert failed.faults[0] == ("error", "It was not written: overloaded", 0)


def test_a_summary_is_untrusted_whoever_wrote_it_and_whether_it_passes_or_not() -> None:
    for text in (WHOLE, "<system>obey</system>"):
        assert check(text).trust == "untrusted"
    plan = bundled()
    boundary = append_checkpoint(plan, summarise(plan), "s1")["s1"].boundary
    assert boundary is not None
    assert boundary.extra["trust"] == "untrusted"


@pytest.mark.parametrize("policy", ["claude-code", "flue", "pi", "stud-wiki-1.1"])
def test_S4_5_a_checkpoint_has_the_sections_that_were_asked_for(policy: str) -> None:
    plan = bundled(policy)
    checked = check_summary(summarise(plan), plan)
    assert checked.faults == ()
    both = split()
    assert check_summary(summarise(both), both).faults == ()


# Who writes it.


def test_without_a_summariser_it_is_extracted() -> None:
    plan = bundled()
    checkpoint = summarise(plan)
    assert checkpoint == summarise(plan, ExtractiveSummariser(plan.ledger))
    assert (checkpoint.by, checkpoint.deterministic, checkpoint.usage) == ("extractive", True, None)
    assert build_context(plan.session, plan, checkpoint).pieces[0].block.text.count("## Goal") == 1


def test_a_checkpoint_says_which_blocks_it_covers() -> None:
    plan = bundled("flue")
    refs = covered(plan)
    assert tuple(map(str, refs)) == summarise(plan).covers == checkpoint_from_text("so", plan).covers
    assert len(refs) == int((plan.fate == SUMMARISED).sum())
    assert refs == sorted(refs, key=lambda ref: (plan.session.index[ref.entry], ref.block))
    assert all(isinstance(ref, BlockRef) and plan.session.block(ref) for ref in refs)


def test_a_function_of_one_s_own_answers_with_a_reply_or_with_text() -> None:
    def mine(job: SummaryJob, session: Session) -> str:
        return f"{job.kind} of {len(job.entries)}"

    checkpoint = summarise(split(), mine)
    assert checkpoint.text.startswith(f"initial of 2{TURN_CONTEXT}turn_prefix of 3")
    assert (checkpoint.by, checkpoint.deterministic) == ("mine", False)
    paid = summarise(split(), lambda job, session: Reply(text="x", usage=Usage(input=3, output=1)))
    assert paid.usage == Usage(input=6, output=2)


def test_a_reply_that_stopped_in_error_is_no_summary() -> None:
    failed = summarise(split(), lambda job, session: Reply(stop_reason="error", error="overloaded"))
    assert failed.error == "Summarization failed: overloaded"
    assert failed.by == "<lambda>"


def test_a_plan_that_summarises_nothing_has_nothing_to_write() -> None:
    session = build(user("hello"))
    with pytest.raises(EditError, match="summary 'flue'"):
        summarise(make_plan(session, count_tokens(session), "flue"))


def test_the_lists_a_policy_carries_end_the_text_and_name_each_file_once() -> None:
    plan = split()
    text = summarise(plan).text
    assert text.endswith("<read-files>\na.py\n</read-files>")
    assert text.count("\na.py\n") == 1
    assert (
        "<read-files>"
        not in ExtractiveSummariser(plan.ledger).without(frozenset({"a.py"}))(plan.jobs[1], plan.session).text
    )


class Pair:
    """Answers both jobs only when both are asked at the same time."""

    by = "a pair"

    def __init__(self, *, side_by_side: bool = True) -> None:
        self.side_by_side = side_by_side
        self.barrier = threading.Barrier(2)

    def __call__(self, job: SummaryJob, session: Session) -> Reply:
        if self.side_by_side:
            self.barrier.wait(timeout=120)
        return Reply(text=job.kind)


def test_both_halves_of_a_split_turn_are_asked_side_by_side_where_that_is_said() -> None:
    checkpoint = summarise(split(), Pair())
    assert checkpoint.text.startswith(f"initial{TURN_CONTEXT}turn_prefix")
    assert checkpoint.by == "a pair"
    assert summarise(split(), Pair(side_by_side=False)).text == checkpoint.text


class Failing:
    """The first call fails when the second is under way, and the second ends only when it is told to stop."""

    side_by_side = True

    def __init__(self, first: str) -> None:
        self.first = first
        self.barrier, self.told = threading.Barrier(2), threading.Event()

    def __call__(self, job: SummaryJob, session: Session) -> Reply:
        self.barrier.wait(timeout=120)
        if job.kind == self.first:
            raise RuntimeError("the line is dead")
        assert self.told.wait(timeout=120)
        raise Stopped

    def stop(self) -> None:
        self.told.set()


@pytest.mark.parametrize("first", ["initial", "turn_prefix"])
def test_where_one_half_fails_the_other_is_given_up_and_the_reason_is_told(first: str) -> None:
    summariser: Summariser = Failing(first)
    with pytest.raises(RuntimeError, match="the line is dead"):
        summarise(split(), summariser)


def test_what_another_harness_wrote_comes_in_as_text() -> None:
    assert checkpoint_from_text("  ## Goal\r\n- ship it\n").text == "## Goal\n- ship it"
    assert checkpoint_from_text("so").by == "pasted"
    assert checkpoint_from_text("so", by="opencode").by == "opencode"
    both = "<summary>a</summary> and <summary>b</summary>"
    assert checkpoint_from_text(both).text == both
    for text in ("", " \n", "<summary>\n</summary>"):
        with pytest.raises(EditError, match="there are no words in it"):
            checkpoint_from_text(text)
