"""Survival of facts in recorded compactions, counted a second time from the raw lines of the files.

Nothing of the extractor, the readers or the search is used for the second count: JSON lines, the chain of
`parentUuid`, and plain `in` for a path's absolute form, its relative form and its tails.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.corpus.columns import COUNTED
from inspector.facts.extract.collect import KINDS
from inspector.facts.facts import find_facts
from inspector.facts.mentions import Mention, SearchText, make_pattern
from inspector.facts.remaining import stand_plan
from inspector.facts.trace import trace_facts, trace_recorded
from inspector.planning.planner import make_plan
from inspector.policies.registry import POLICIES, find_policy
from inspector.session.blocks import ToolCall
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.tokens.counter import Counter as TokenCounter
from inspector.tokens.ledger import count_tokens
from tests.bench.bench_survival import read_cases
from tests.bench.foreign import read_others
from tests.bench.retention import NOTEBOOKS, find_full, measure_plans, pool
from tests.shared import SHARED, needs_shared, open_shared
from tests.strategies import sessions
from tests.test_cuts import build, user

LENGTH = TokenCounter("length", "Characters", lambda texts: np.array([len(t) for t in texts], np.int32))

Row = dict[str, Any]


class Recount(NamedTuple):
    """One recorded compaction: every `file_path` given before it, its outcome, and whether it stood."""

    entry: str
    outcomes: dict[str, str]
    stood: dict[str, bool]


@cache
def recount(file: Path) -> list[Recount]:
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
    known = {row["uuid"]: row for row in rows if isinstance(row.get("uuid"), str)}
    replies: dict[str, list[Row]] = {}
    for row in rows:
        if row.get("type") == "assistant":
            replies.setdefault(row["message"].get("id") or row["uuid"], []).append(row)
    cwd = next(row["cwd"] for row in rows if row.get("cwd"))
    summaries = {row["parentUuid"]: row for row in rows if row.get("isCompactSummary")}
    out = []
    for at, row in enumerate(rows):
        if row.get("subtype") != "compact_boundary" or row["uuid"] not in summaries:
            continue
        above = row.get("logicalParentUuid")
        if above not in known:
            # The file does not hold the row it names; then it is the last of the conversation before it.
            above = next(
                r["uuid"] for r in reversed(rows[:at]) if "message" in r and not r.get("isSidechain")
            )
        before = list(chain(above, known, replies))
        last = next((r for r in before if r.get("subtype") == "compact_boundary"), None)
        since = before[: before.index(last)] if last is not None else before
        paths = list(dict.fromkeys(path for r in reversed(before) for path in file_paths(r)))
        written = said(summaries[row["uuid"]])
        earlier = said(summaries[last["uuid"]]) if last is not None else ""
        everything = "\n".join(string for r in before for string in strings(r))
        recent = "\n".join(json.dumps(r["message"], ensure_ascii=False) for r in since if "message" in r)
        out.append(
            Recount(
                row["uuid"],
                {path: look(path, cwd, written, everything) for path in paths},
                {path: is_whole(path, cwd, earlier) or is_whole(path, cwd, recent) for path in paths},
            )
        )
    return out


def chain(uuid: str | None, known: dict[str, Row], replies: dict[str, list[Row]]) -> Iterator[Row]:
    """The rows before a compaction, the last first; a reply written as several rows comes whole."""
    seen: set[str] = set()
    walked: set[str] = set()
    while uuid in known and uuid not in walked:
        walked.add(uuid)
        row = known[uuid]
        same = replies.get(row["message"].get("id"), ()) if row.get("type") == "assistant" else ()
        for other in (row, *reversed(same)):
            if other["uuid"] not in seen:
                seen.add(other["uuid"])
                if not other.get("isSidechain"):
                    yield other
        compacted = row.get("subtype") == "compact_boundary"
        uuid = row.get("logicalParentUuid") if compacted else row.get("parentUuid")


def file_paths(row: Row) -> Iterator[str]:
    """What the calls in a row were given as `file_path`."""
    content = row["message"]["content"] if row.get("type") == "assistant" else ()
    for block in content if isinstance(content, list) else ():
        given = block.get("input") if block.get("type") == "tool_use" else None
        if isinstance(given, dict) and isinstance(given.get("file_path"), str):
            yield given["file_path"]


def said(row: Row) -> str:
    content = row["message"]["content"]
    return content if isinstance(content, str) else "\n".join(block.get("text", "") for block in content)


def strings(value: object) -> Iterator[str]:
    """Every text in a row."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings(part)


def is_whole(path: str, cwd: str, text: str) -> bool:
    """Whether a path stands whole: absolute, or relative to the working directory.

    A longer path may end in the relative one, but not in one that has a single part: that is any file's name.
    """
    inside = path.removeprefix(cwd + "/")
    longer = "/" in inside and inside != path
    return stands(path, text) or stands(inside, text, "/" if longer else "")


def look(path: str, cwd: str, text: str, known: str) -> str:
    """Whole, or an end of two parts or more that is no other known file's: quoted. Such an end of several
    files, or the name alone: partial. Nothing, or the name of another path that stands there: absent."""
    if is_whole(path, cwd, text):
        return "quoted"
    parts = path.strip("/").split("/")
    for at in range(1, len(parts)):
        tail = "/".join(parts[at:])
        if stands(tail, text):
            if "/" in tail:
                return "partial" if has_several_files(tail, cwd, known) else "quoted"
            return "absent" if re.search(rf"[\w.@-]/{re.escape(tail)}(?![\w/-]|\.\w)", text) else "partial"
    return "absent"


def has_several_files(tail: str, cwd: str, known: str) -> bool:
    """Whether paths that are not the end of each other end in the same parts."""
    ending = set(re.findall(rf"[\w.@~+/-]*/{re.escape(tail)}(?![\w/-]|\.\w)", known))
    paths = {path.removeprefix(f"{cwd}/").lstrip("./") for path in ending}
    return sum(not any(f"/{other}".endswith(f"/{path}") for other in paths - {path}) for path in paths) > 1


def stands(words: str, text: str, before: str = "") -> bool:
    """Whether words stand in a text as no part of a longer name; `before` is what may stand before them."""
    begin = rf"(?<![\w.~@%+/-])(?:\./)?|(?<={before})" if before else r"(?<![\w.~@%+/-])(?:\./)?"
    return re.search(rf"(?:{begin}){re.escape(words)}(?![\w/-]|\.\w)", text) is not None


def is_compacted(file: Path) -> bool:
    return any('"compact_boundary"' in line for line in file.read_text("utf-8").splitlines())


FILES = sorted(SHARED.glob("sessions/*/*.jsonl")) if SHARED.exists() else []
COMPACTED = [file for file in FILES if is_compacted(file)]


@needs_shared
@pytest.mark.parametrize("file", COMPACTED, ids=lambda file: file.name)
def test_paths_given_as_file_path_have_the_outcome_of_a_literal_recount(file: Path) -> None:
    """Path by path: quoted by its whole or a sure end, partial by its base name, else absent."""
    session = open_shared(file)
    traces = trace_recorded(session, session.facts)
    counted = recount(file)
    assert [t.scene.entry.id for t in traces if t.scene.entry] == [c.entry for c in counted]
    for trace, plain in zip(traces, counted, strict=True):
        assert {path: trace[path].outcome for path in plain.outcomes} == plain.outcomes
        assert {path: trace[path].stood for path in plain.outcomes} == plain.stood


@needs_shared
def test_the_recount_has_something_to_count() -> None:
    outcomes = Counter(
        outcome for file in COMPACTED for one in recount(file) for outcome in one.outcomes.values()
    )
    assert sum(outcomes.values()) > 150
    assert min(outcomes[outcome] for outcome in ("quoted", "partial", "absent")) > 5


# How a summary writes a path, and where it is looked for.


def files(*names: str, cwd: str = "/home/ann/app") -> Session:
    """A session in which `Read` is given these."""
    calls = [ToolCall(id=f"c{n}", name="Read", input={"file_path": name}) for n, name in enumerate(names)]
    return build(user("go"), Entry(id="", role="assistant", blocks=tuple(calls))).model_copy(
        update={"cwd": cwd}
    )


def mention(session: Session, form: str, text: str) -> Mention | None:
    return SearchText(text).find(make_pattern(find_facts(session)["file", form], session))


@pytest.mark.parametrize(
    "text",
    [
        "read src/a.py:12-40 again",
        "src/a.py:12:3: undefined",
        "failed src/a.py::test_b",
        "see @src/a.py",
        "**src/a.py**:",
        "(`/home/ann/app/src/a.py`)",
        "src/a.py#L3-L9",
    ],
)
def test_what_comes_after_a_path_is_no_part_of_it(text: str) -> None:
    found = mention(files("/home/ann/app/src/a.py"), "src/a.py", text)
    assert found is not None
    assert found.full


@pytest.mark.parametrize(
    ("form", "text"), [("src/go", "let it go"), ("a/rules", "the rules hold"), ("docs", "docs")]
)
def test_a_word_of_every_text_is_no_tail_of_a_folder(form: str, text: str) -> None:
    assert mention(files(f"/home/ann/app/{form}"), form, text) is None


def test_a_file_without_an_ending_is_still_known_by_its_name() -> None:
    session = files("/home/ann/app/sub/Makefile", "/home/ann/app/docs")
    assert mention(session, "sub/Makefile", "in the Makefile") == Mention("Makefile", False)
    assert mention(session, "docs", "see docs/a.md") == Mention("docs/", True)


def test_a_file_in_the_working_directory_is_not_every_file_of_its_name() -> None:
    """One that was only ever called by its name is."""
    session = files("/home/ann/app/util.py")
    assert mention(session, "util.py", "src/util.py") == Mention("src/util.py", False)
    named = build(user("look into util.py please")).model_copy(update={"cwd": "/home/ann/app"})
    assert mention(named, "util.py", "src/util.py") == Mention("src/util.py", True)


def test_the_working_directory_is_known_by_its_own_name() -> None:
    session = files("/home/ann/app")
    assert mention(session, ".", "cd /home/ann/app") == Mention("/home/ann/app", True)
    assert mention(session, ".", "1. nothing. 2. here") is None


@settings(max_examples=60, deadline=None)
@given(sessions(), st.sampled_from(["flue", "mini-claude-code", "langchain-clear"]))
def test_only_texts_that_cannot_name_a_fact_are_left_out_of_the_search(session: Session, name: str) -> None:
    facts = find_facts(session)
    plan = make_plan(session, count_tokens(session, LENGTH), name, reason="manual", window=200_000)
    standing = stand_plan(plan)
    for fact in facts.values():
        pattern = make_pattern(fact, session)
        every = [(stand, SearchText(stand.text).find(pattern)) for stand in standing.others]
        literal = [(stand, found) for stand, found in every if found is not None]
        mentions = [*standing.mentions(pattern)]
        if pattern.statement is None:
            assert mentions == literal
        # A summary may say a statement in other words too.
        assert {stand for stand, _ in literal} <= {stand for stand, _ in mentions}
        assert all(stand.how == "summary" for stand, _ in mentions if (stand, _) not in literal)
        said = {said.ref for said in fact.said}
        pointers = [stand for stand in standing.others if stand.how == "pointer" and said & set(stand.of)]
        assert standing.pointers(said) == pointers


# The benchmark's tables.


@needs_shared
def test_a_codex_summary_is_empty_and_what_stays_is_what_the_file_lists() -> None:
    sessions = [session for harness, _, session in read_others(SHARED / "sessions") if harness == "Codex"]
    for session in sessions:
        assert session.warnings == ()
        for trace in trace_recorded(session, find_facts(session)):
            outcomes = {(t.tier, t.outcome) for t in trace if t.stood}
            assert ("inferred", "unknown") in outcomes
            assert outcomes <= {("recorded", "verbatim"), ("inferred", "partial"), ("inferred", "unknown")}
            kept = set(trace.scene.entry.boundary.kept)  # type: ignore[union-attr]
            assert {ref.entry for t in trace if t.outcome == "verbatim" for ref in t.stands} <= kept | {
                "@system"
            }
    assert sessions


@needs_shared
def test_retention_counts_every_fact_that_stood_once_by_its_outcome() -> None:
    case = next(case for case in read_cases() if case.name == "cc-1compact-417l.jsonl")
    (full,) = find_full(iter([case]))
    policies = [find_policy("flue"), find_policy("langchain-clear")]
    rows = list(measure_plans(full, policies))
    assert len(rows) == len(policies) * len(KINDS)
    for policy in policies:
        mine = [row for row in rows if row.by == policy.name]
        moment = case.session.at(full.at)
        plan = make_plan(moment, full.ledger, policy, reason="manual")
        standing = [t for t in trace_facts(case.facts, plan) if t.stood]
        assert {row.kind: dict(zip(COUNTED, row.outcomes, strict=True)) for row in mine} == {
            kind: {
                outcome: sum(t.fact.kind == kind and t.outcome == outcome for t in standing)
                for outcome in COUNTED
            }
            for kind in KINDS
        }
        assert sum(row.stood for row in mine) == pool(mine).stood == len(standing)
        assert {(row.before, row.after) for row in mine} == {(plan.before, plan.after)}


def test_the_published_numbers_add_up() -> None:
    """Per row the outcomes make up what stood, the kinds all kinds, the sessions all sessions."""
    lines = list(csv.DictReader((NOTEBOOKS / "retention.csv").read_text("utf-8").splitlines()))
    assert {line["by"] for line in lines if line["tier"] == "planned"} == {policy.name for policy in POLICIES}
    whole: dict[tuple[str, str], Counter[str]] = {}
    for line in lines:
        outcomes = [int(line[outcome]) for outcome in COUNTED]
        assert sum(outcomes) == int(line["stood"])
        sums = whole.setdefault((line["tier"], line["by"]), Counter())
        by_kind, by_session = line["kind"] != "all", line["session"] != "all"
        sums["kinds" if by_kind else "sessions" if by_session else "all"] += int(line["stood"])
    assert all(sums["kinds"] == sums["sessions"] == sums["all"] > 0 for sums in whole.values())
