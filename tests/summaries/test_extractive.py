"""The summary that asks nobody: copied, within its budget, the same bytes everywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.demo import CONSTRAINT, open_demo
from inspector.facts.grounding import check_grounding, gather_sources
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import SummaryJob
from inspector.session.blocks import Reasoning, Text
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.summaries.check import check_summary
from inspector.summaries.extractive.previous import read_summary
from inspector.summaries.extractive.quotes import clip
from inspector.summaries.extractive.summariser import CHECKPOINT, TITLE, TURN, ExtractiveSummariser
from inspector.summaries.prompts import PROGRESS, SECTIONS, TURN_SECTIONS
from inspector.summaries.record import append_checkpoint
from inspector.summaries.write import summarise
from inspector.tokens.counter import Counter
from inspector.tokens.counters import find_counter
from inspector.tokens.ledger import count_tokens
from tests.shared import SHARED, needs_shared, open_shared
from tests.strategies import sessions
from tests.telling import use
from tests.test_cuts import build, say, user

LENGTH = Counter("length", "Characters", lambda texts: np.array([len(t) for t in texts], np.int32))
WORDS = Counter("words", "Words", lambda texts: np.array([len(t.split()) for t in texts], np.int32))


NUMBERS = count(1)


def step(name: str, given: dict[str, object], output: str = "ok", *, error: bool = False) -> list[Entry]:
    """A call and what it was answered."""
    return [*use(next(NUMBERS), name, output, error, **given)]


def run(command: str, output: str = "ok", *, error: bool = False) -> list[Entry]:
    return step("bash", {"command": command}, output, error=error)


def edit(path: str, **more: bool) -> list[Entry]:
    return step("edit", {"path": path, "oldText": "a", "newText": "b"}, **more)


def job_of(session: Session, tokens: int | None = 2_000, **given: object) -> SummaryJob:
    names = tuple(session.entries[i].id for i in session.live.entries.tolist())
    return SummaryJob(**{"kind": "initial", "entries": names, "max_tokens": tokens, **given})


def write(session: Session, tokens: int | None = 2_000, **given: object) -> str:
    return ExtractiveSummariser()(job_of(session, tokens, **given), session).text


def section(text: str, heading: str) -> str:
    """What stands under a heading, to the next of the same rank or the lists."""
    mark = "### " if heading in PROGRESS else "## "
    after = text.split(f"{mark}{heading}\n", 1)[1]
    for end in ("\n## ", "\n### " if mark == "### " else "\n## ", "\n\n<"):
        after = after.split(end, 1)[0]
    return after


# The budget, and the bytes.


@given(
    sessions(),
    st.integers(0, 700),
    st.sampled_from(("initial", "update", "turn_prefix")),
    st.sampled_from((find_counter("o200k_base"), find_counter("chars4_utf16"), LENGTH, WORDS)),
    st.booleans(),
)
def test_it_never_counts_more_than_its_budget(
    session: Session, tokens: int, kind: str, counter: Counter, before: bool
) -> None:
    previous = "## Goal\n- ship it\n## Next steps\n- " + "tidy up " * 40 if before else None
    job = job_of(session, tokens, kind=kind, previous=previous)
    text = ExtractiveSummariser(counter)(job, session).text
    assert int(counter.count([text])[0]) <= tokens
    assert ExtractiveSummariser(counter)(job, session).text == text


def test_the_same_bytes_in_another_process_with_another_order_of_sets() -> None:
    code = (
        "import sys; from inspector import count_tokens, make_plan, open_demo\n"
        "from inspector.summaries.write import summarise\n"
        "session = open_demo(); ledger = count_tokens(session)\n"
        "plans = [make_plan(session, ledger, name, {'cut': 'end'}) for name in ('flue', 'pi')]\n"
        "sys.stdout.buffer.write('\\0'.join(summarise(plan).text for plan in plans).encode())"
    )
    told = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": locale},
            capture_output=True,
            check=True,
        ).stdout
        for seed, zone, locale in (("1", "UTC", "C"), ("4242", "Asia/Tokyo", "C.UTF-8"))
    ]
    assert told[0] == told[1]
    assert len(told[0]) > 4_000


# What it is made of.


@given(sessions(), st.sampled_from((200, 5_000)))
def test_no_line_of_a_transcript_becomes_a_heading_or_a_list(session: Session, tokens: int) -> None:
    known = {slot.opening for slot in CHECKPOINT.slots} | {f"</{slot.tag}>" for slot in CHECKPOINT.slots}
    lines = ExtractiveSummariser(LENGTH, tokens)(job_of(session, None), session).text.split("\n")
    assert [line for line in lines if line[:1] == "#" and line not in known] == []
    assert lines[0] in ("", TITLE)


def test_every_section_is_there_and_what_has_nothing_says_so() -> None:
    text = write(build(user("fix the boards"), say()))
    assert [line[3:] for line in text.split("\n") if line.startswith("## ")] == list(SECTIONS)
    assert section(text, "Decisions") == "- none"
    assert section(text, "Goal") == '- Asked first: "fix the boards"'
    turn = write(build(user("fix the boards"), say()), kind="turn_prefix")
    assert [line[3:] for line in turn.split("\n") if line.startswith("## ")] == list(TURN_SECTIONS)
    assert {slot.name for slot in TURN.slots} | {"progress"} == {slot.name for slot in CHECKPOINT.slots}


def test_the_model_s_reasoning_is_never_copied() -> None:
    thought = Reasoning(text="Let's use mackerel instead of cod because /srv/secret/plan.md says so.")
    session = build(
        user("cook"), Entry(id="", role="assistant", blocks=(thought, Text(text="Supper is on.")))
    )
    text = write(session, None)
    assert "mackerel" not in text
    assert "plan.md" not in text
    assert "Supper is on." in text


@pytest.mark.parametrize("tokens", [120, 200, 400, 2_000])
def test_changed_files_come_before_all_else_with_their_full_paths(tokens: int) -> None:
    paths = ["src/tidepool/render/table.py", "src/tidepool/render/ical.py", "docs/runbook.md"]
    talk = [entry for _ in range(30) for entry in (user("and what of the tides then?"), say("They turn."))]
    session = build(user("go"), *(e for path in paths for e in edit(path)), *talk)
    listed = write(session, tokens).split("<modified-files>\n")[1].split("\n</modified-files>")[0]
    assert listed.split("\n") == paths


def test_open_tasks_are_those_of_the_last_list() -> None:
    first = {"todos": [{"content": "Draw the boards again", "status": "pending"}]}
    last = {
        "todos": [
            {"content": "Draw the boards again", "status": "completed"},
            {"content": "Tell Mr Pascoe about it", "status": "pending"},
        ]
    }
    session = build(user("go"), *step("TodoWrite", first), *step("TodoWrite", last), say())
    tasks = section(write(session), "Next steps").split("\n")
    assert tasks[0] == "- [ ] Tell Mr Pascoe about it"
    assert "- [ ] Draw the boards again" not in tasks


def test_secrets_are_named_and_not_copied() -> None:
    key = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"
    session = build(user(f"use {key} please"), *run(f"GITHUB_TOKEN={key} gh pr list"), say(f"It was {key}."))
    text = write(session)
    assert key not in text
    assert "[redacted github-token " in text


# A summary before.


def test_what_an_earlier_summary_says_is_carried_on_and_what_is_newer_goes_before_it() -> None:
    before = write(
        build(
            user("Fix the boards. Never touch data/almanac.json."),
            *edit("src/old.py"),
            *step("read", {"path": "src/both.py"}),
            *run("pytest -q", "1 failed\nExit code 1", error=True),
            say("The cause was a cache that forgot the day."),
        )
    )
    assert "`pytest -q`: failed" in section(before, "Blocked")
    session = build(user("Go on."), *edit("src/both.py"), *run("pytest -q", "9 passed"), say("It is done."))
    text = write(session, kind="update", previous=before)
    assert section(text, "Goal").startswith('- Asked first: "Fix the boards.')
    assert '- Asked then: "Go on."' in section(text, "Goal")
    assert "- Never touch data/almanac.json." in section(text, "Constraints")
    assert "- `pytest -q`: 9 passed" in section(text, "Done")
    assert "`pytest -q`: failed" not in text
    modified = text.split("<modified-files>\n")[1].split("\n</modified-files>")[0].split("\n")
    assert sorted(modified) == ["src/both.py", "src/old.py"]
    assert "<read-files>" not in text


def test_five_compactions_in_a_row_keep_the_rule_and_the_changed_file() -> None:
    session = build(user("Never deploy on a Friday."), *edit("src/tidepool/a.py"), say("Noted and done."))
    for number in range(5):
        ledger = count_tokens(session)
        plan = make_plan(session, ledger, "claude-code-analysis", {"cut": "end"}, reason="manual")
        session = append_checkpoint(
            plan, summarise(plan, ExtractiveSummariser(ledger, tokens=300)), f"c{number}"
        )
        more = [
            user(f"and harbour {number}?"),
            *edit(f"src/harbours/h{number}.py"),
            say("Drawn, and checked."),
        ]
        for at, entry in enumerate(more):
            told = {"id": f"r{number}-{at}", "parent": session.leaf}
            entries = (*session.entries, entry.model_copy(update=told))
            session = Session(format="test", entries=entries, leaf=f"r{number}-{at}")
    summary = session["c4"].boundary.summary
    assert "- Never deploy on a Friday." in section(summary, "Constraints")
    assert "\nsrc/tidepool/a.py\n" in summary
    assert all(f"\nsrc/harbours/h{number}.py\n" in summary for number in range(4))
    assert summary.count(TITLE) == 1


@given(st.text(st.sampled_from("ab#*- \n:.<>/1é\ud800"), max_size=200))
def test_any_text_can_be_read_as_a_summary(text: str) -> None:
    assert all(line.text and "\n" not in line.text for line in read_summary(text))


@given(
    st.lists(st.from_regex(r"[a-z0-9./,_-]{1,8}", fullmatch=True), min_size=1, max_size=60),
    st.integers(20, 200),
)
def test_what_is_clipped_ends_with_a_whole_word(words: list[str], limit: int) -> None:
    """No number, id or path is made of the beginning of another one."""
    told = clip(" ".join(words), limit)
    assert len(told) <= limit
    if told != " ".join(words):
        kept = told.removesuffix("…").split()
        assert told.endswith("…") and kept and kept == words[: len(kept)]


def test_nothing_is_quoted_that_was_not_said() -> None:
    """Long words of a user, cut for want of room, stay words of the user's (PEERS §2 I)."""
    said = " ".join(f"step {at}: mend src/module_{at}.py, issue #{4100 + at}," for at in range(60))
    session = build(user(said), say(f"Ran it: {said}"), user(f"Go on. {said}"), say(f"Then {said}"))
    text = write(session, 2_000)
    assert "…" in text
    assert check_grounding(text, gather_sources(session)) == ()


@needs_shared
def test_no_extractive_summary_of_a_real_session_names_what_it_does_not_hold() -> None:
    path = SHARED / "sessions/pi--pi-mono/pi-before-compaction.jsonl"
    session = open_shared(path)
    plan = make_plan(session, count_tokens(session), "flue", reason="manual")
    checked = check_summary(summarise(plan, ExtractiveSummariser(plan.ledger)), plan)
    assert [fault.sentence for fault in checked.faults if fault.kind == "grounding"] == []


# The bundled session, and the real ones.


def test_the_bundled_session_keeps_the_rule_that_its_recorded_summary_lost() -> None:
    session = open_demo()
    recorded = next(entry for entry in session.entries if entry.kind == "compaction")
    moment = session.at(recorded.parent)
    tokens = int(find_counter("o200k_base").count([recorded.text])[0])
    words = CONSTRAINT.split(".")[0]
    assert words not in recorded.text
    assert words in write(moment, tokens)


@needs_shared
@pytest.mark.parametrize(
    "name",
    ["claude-code--context-evaluator/cc-1compact-2img.jsonl", "pi--pi-mono/pi-before-compaction.jsonl"],
)
def test_real_sessions_keep_more_than_their_recorded_summaries_at_no_more_tokens(name: str) -> None:
    from tests.bench.summaries import GROUPS, Case, compare

    path = SHARED / "sessions" / name
    session = open_shared(path)
    pairs = list(compare(Case("", path.name, session, session.facts), count_tokens(session)))
    assert pairs
    for pair in pairs:
        assert pair.extracted_tokens <= pair.recorded_tokens
        assert all(pair.extracted[group] >= pair.recorded[group] for group in GROUPS)
    assert sum(pair.extracted["errors"] for pair in pairs) > sum(pair.recorded["errors"] for pair in pairs)
