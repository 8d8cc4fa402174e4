"""Facts looked up in texts: what a call was given is read as it was given, not as JSON writes it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.cuts import END
from inspector.facts import mentions
from inspector.facts.facts import find_facts
from inspector.facts.grounding import ground_recorded
from inspector.facts.mentions import SearchText
from inspector.facts.trace import trace_recorded
from inspector.planning.planner import make_plan
from inspector.session.blocks import ToolCall
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from tests.telling import compact, use
from tests.test_cuts import build, say, user
from tests.work import limit_work


def compacted(summary: str, *before: Entry) -> Session:
    """What was said, then a recorded compaction with this summary."""
    return build(*before, compact(summary), user("go on"))


def call(name: str, **given: object) -> Entry:
    return Entry(id="", role="assistant", blocks=(ToolCall(id="c1", name=name, input=given),))


@pytest.mark.parametrize(
    "content", ["see:\tsrc/deep/a.py", "first\nsrc/deep/a.py", 'print("\\tsrc/deep/a.py\\n")']
)
def test_a_path_behind_a_tab_or_a_line_break_of_a_call_is_that_path(content: str) -> None:
    session = compacted("Work on src/deep/a.py.", user("go"), call("Write", path="b.txt", content=content))
    (found,) = ground_recorded(session)
    assert [line.words for line in found.unfounded] == []
    forms = {fact.form for fact in find_facts(session).by_kind("file")}
    assert "src/deep/a.py" in forms
    assert not any(form.startswith(("/tsrc", "t/", "/t")) or form.endswith("/n") for form in forms)


RUN = "cd /app && go test ./... -race 2>&1 | tail -20"


@pytest.mark.parametrize(
    ("command", "summary", "outcome"),
    [
        (RUN, "Run `go test ./... -race` before each commit.", "quoted"),
        (RUN, "The tests pass (`go test`).", "partial"),
        (RUN, "The tests pass; going to test more.", "absent"),
        ("npm run lint && npm test > out.txt", "I ran npm test, then npm run lint.", "partial"),
        ("npm run lint -- --fix && npm test", "I ran npm run lint.", "partial"),
        ("grep -rn foo src | head -5", "A grep found it.", "absent"),
        ("timeout 60 pytest -q tests/a.py 2>/dev/null", "pytest -q tests/a.py is green", "quoted"),
    ],
)
def test_a_command_is_its_core_and_may_stand_in_part(command: str, summary: str, outcome: str) -> None:
    session = compacted(summary, user("go"), call("Bash", command=command))
    (trace,) = trace_recorded(session, find_facts(session))
    (traced,) = trace.select(kind="command")
    assert (traced.outcome, "tail" in traced.fact.form, ">" in traced.fact.form) == (outcome, False, False)
    # As it was typed it is the same fact.
    assert trace[command] is traced


@pytest.mark.parametrize(
    ("said", "summary", "outcome"),
    [
        ("I saw 200 tokens left.", "1,200 tokens were left", "changed"),
        ("I saw 200 tokens left.", "200 tokens were left, 1,200 tokens before", "quoted"),
        ("It says retries = 3 here.", "retries = 3.5 now", "changed"),
        ("It says retries = 3 here.", "retries = 3. Then more.", "quoted"),
    ],
)
def test_a_number_is_not_the_end_or_the_beginning_of_another(said: str, summary: str, outcome: str) -> None:
    session = compacted(summary, user("go"), say(said))
    numbers = [one for one in trace_recorded(session)[0] if one.fact.kind == "number"]
    assert [one.outcome for one in numbers] == [outcome]


WRITTEN = st.lists(st.sampled_from([*"a_1.,/-` é😀…", "ab", "10", "\n", "a.py"]), max_size=40).map("".join)


@given(WRITTEN, WRITTEN, st.integers(0, 40), st.integers(1, 8))
def test_law_a_long_text_holds_what_a_short_one_holds(text: str, other: str, at: int, length: int) -> None:
    """A long text looks where a wording's rarest word is, a short one everywhere."""
    with pytest.MonkeyPatch.context() as patch:
        for wording in (SearchText(text).flat[at : at + length], " ".join(other.split())):
            patch.setattr(mentions, "LONG", 10**6)
            everywhere = SearchText(text).has_words(wording)
            patch.setattr(mentions, "LONG", 0)
            assert SearchText(text).has_words(wording) == everywhere


def test_a_long_output_full_of_facts_is_traced_in_a_time_that_grows_with_it() -> None:
    """Half a megabyte of a log once took 4 s, four megabytes as many minutes."""
    log = "\n".join(
        f"src/part{n % 7}/file_{n}.py:{n}: error E{n}: see http://example.org/{n} and use name_{n} = {n * 7}"
        for n in range(16_000)
    )
    assert len(log) > 4 * mentions.LONG
    session = build(user("go"), *use(1, "Bash", log, command="cat log"), say("done"))
    plan = make_plan(session, count_tokens(session, "chars4_utf16"), "flue", {"cut": END})
    assert len(session.facts) > 10_000
    with limit_work(20):
        outcomes = [traced.outcome for traced in plan.trace]
    assert len(outcomes) == len(session.facts)
