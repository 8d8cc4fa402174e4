"""Names of which one ends another, however many there are, against plain walks over all of them."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.facts.beginnings import find_beginning, find_longest, read_backwards
from inspector.facts.lint.check import lint
from inspector.facts.trace import trace_plan, trace_recorded
from inspector.planning.planner import make_plan
from inspector.tokens.ledger import count_tokens
from tests.facts.test_explain import compact, use
from tests.test_cuts import build, say, user
from tests.work import limit_work

PATHS = st.lists(st.sampled_from("ab"), min_size=1, max_size=4).map("/".join)


@given(st.lists(PATHS, unique=True, max_size=10), st.data())
def test_a_path_is_anothers_end_where_all_it_ends_are_that_one(paths: list[str], data: st.DataObject) -> None:
    paths.sort(key=read_backwards)
    short = [data.draw(st.booleans()) for _ in paths]
    words = list(map(read_backwards, paths))
    expected: dict[int, int] = {}
    for at, path in enumerate(paths):
        longer = [number for number, other in enumerate(paths) if other.endswith(f"/{path}")]
        assert paths[find_beginning(words, words[at])] == [path, *(paths[number] for number in longer)]
        whole = max(longer, key=lambda number: len(paths[number]), default=None)
        if whole is not None and short[at]:
            between = [number for number in longer if number != whole]
            if all(short[one] and paths[whole].endswith(f"/{paths[one]}") for one in between):
                expected[at] = whole
    assert find_longest(words, short) == expected


@pytest.mark.parametrize(
    ("summary", "seventh", "others"),
    [
        # A bare name beside a longer path of that name is that path's.
        ("Changed pkg7/src/index.ts and index.ts again.", "quoted", "absent"),
        ("Changed another index.ts.", "partial", "partial"),
        ("Changed src/index.ts.", "partial", "partial"),
    ],
)
def test_thousands_of_files_of_one_name_are_traced_at_once(summary: str, seventh: str, others: str) -> None:
    """A listing of a monorepo: the summary names one of them whole, or one by an end that all have."""
    files = [f"pkg{number}/src/index.ts" for number in range(6_000)]
    session = build(
        *(user("go"), *use(1, "Bash", "\n".join(files), command="find . -name index.ts"), say("ok")),
        *(compact(summary), user("on")),
    )
    with limit_work():
        (trace,) = trace_recorded(session)
        outcomes = {traced.fact.form: traced.outcome for traced in trace if traced.fact.kind == "file"}
    assert {form: outcomes[form] for form in files} == {
        form: seventh if form == files[7] else others for form in files
    }
    like = trace[files[0]].others
    assert like[:2] == ((files[1], files[2]) if others == "partial" else ())
    assert len(like) in (0, len(files) - 1)


def test_so_they_are_for_a_plan_and_its_findings() -> None:
    """The stand-in names the command that listed them, and so the name that all have."""
    files = "\n".join(f"./pkg{number}/src/index.ts" for number in range(4_000))
    more = [entry for number in range(3) for entry in (user(f"go on {number}"), say("ok"))]
    session = build(user("go"), *use(1, "Bash", files, command="find . -name index.ts"), say("ok"), *more)
    ledger = count_tokens(session, "chars4_utf16")
    plan = make_plan(session, ledger, "keep-recent-turns", {"cut": "end"})
    with limit_work():
        outcomes = Counter(
            traced.outcome for traced in trace_plan(plan) if traced.fact.kind == "file" and traced.stood
        )
        assert len(lint(session, plan, ledger=ledger)) < 10
    assert outcomes == {"partial": 4_000, "quoted": 1}


def test_thousands_of_messages_and_long_addresses_are_traced_at_once() -> None:
    """The longest word of each stands in all of them: the rarest tells where one stands."""
    deep = "\n".join(f"https://h.example/{'a/' * 60}{number}" for number in range(800))
    typed = [
        entry for n in range(2_000) for entry in (user(f"look at {n} and the parser, it is slow"), say("ok"))
    ]
    session = build(*typed, *use(1, "Bash", deep, command="cat urls"), say("ok"), user("on"), say("ok"))
    ledger = count_tokens(session, "chars4_utf16")
    plan = make_plan(session, ledger, "keep-recent-turns", {"cut": "end"})
    with limit_work():
        trace = trace_plan(plan)
        outcomes = Counter((traced.fact.kind, traced.outcome) for traced in trace)
    assert sum(number for (kind, _), number in outcomes.items() if kind == "url") == 800
    assert sum(number for (kind, _), number in outcomes.items() if kind == "statement") == 2_001
