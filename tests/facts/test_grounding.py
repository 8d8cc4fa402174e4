"""What a summary may name though no message says it word for word, and what it may not."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha512
from pathlib import Path

import pytest

from inspector.facts.grounding import Sources, check_grounding, ground_recorded
from inspector.facts.trace import trace_recorded
from inspector.session.entries import Entry
from inspector.session.session import Session
from tests.claude_rows import Claude
from tests.shared import SHARED, needs_shared, open_shared
from tests.telling import compact
from tests.test_cuts import build, say, user


def summarised(text: str, *after: Entry, said: str = "go") -> Session:
    """Something said, then a recorded compaction whose summary is this text."""
    return build(user(said), say("done"), compact(text), *after)


def marks(session: Session) -> list[str]:
    (found,) = ground_recorded(session)
    return [mark.words for mark in found.unfounded]


def test_the_file_of_the_session_itself_is_no_invention() -> None:
    """A harness ends the summary with where its transcript stands."""
    name = "1284c080-f9cd-45f8-9942-ff58f5c517e5"
    text = f"Read the full transcript at: /home/ann/.app/{name}.jsonl or /home/ann/.app/{name}-b.jsonl"
    session = summarised(text)
    assert len(marks(session)) == 2
    assert marks(session.model_copy(update={"id": name})) == [f"/home/ann/.app/{name}-b.jsonl"]


@pytest.mark.parametrize(
    "said",
    [
        "see https://example.org/app/pull/136 please",
        "https://example.org/app/-/merge_requests/136",
        "gh pr view 136 --json title",
        'it said {"number": 136, "title": "x"}',
        "merge PR 136 now",
        "it is #136",
    ],
)
def test_the_number_of_an_issue_counts_however_it_was_written(said: str) -> None:
    assert marks(summarised("Created PR #136.", said=said)) == []
    assert marks(summarised("Created PR #137.", said=said)) == ["#137"]


COMMAND = (
    "<command-name>/compact</command-name>\n<command-message>compact</command-message>\n"
    "<command-args>mind the staging bucket above all</command-args>"
)


def test_what_the_compaction_was_asked_for_with_is_a_source() -> None:
    """Claude Code writes the command down behind the compaction that it made."""
    text = 'The user said "mind the staging bucket above all".'
    assert marks(summarised(text, user("go on"), say())) == ["mind the staging bucket above all"]
    assert marks(summarised(text, user(COMMAND), say())) == []
    # What is said from the next reply on was not known when the summary was written.
    assert marks(summarised(text, user("go on"), say(), user(COMMAND), say())) != []


@needs_shared
@pytest.mark.parametrize("share", [0.05, 0.3, 0.8])
def test_a_session_whose_first_lines_are_cut_off_has_no_line_without_ground(
    tmp_path: Path, share: float
) -> None:
    file = SHARED / "sessions" / "claude-code--entireio-cli" / "cc-2auto-1519l.jsonl"
    lines = file.read_text("utf-8").splitlines(keepends=True)
    rest = tmp_path / "rest.jsonl"
    first = next(n for n, line in enumerate(lines) if '"compact_boundary"' in line)
    rest.write_text("".join(lines[int(first * share) :]), "utf-8")
    groundings = ground_recorded(open_shared(rest))
    assert [(found.whole, found.unfounded == ()) for found in groundings][:1] == [(False, True)]
    assert all(found.whole for found in groundings[1:])


@pytest.mark.parametrize(
    ("said", "quoted"),
    [
        ("pls keep the old endpoints untill friday", "please keep the old endpoints until friday"),
        ("we shuold definitely ship the exporter first", "we should definitely ship the exporter first"),
        ("let's go wiht that aproach", "let's go with that approach"),
        ("fix teh bug", "fix the bug"),
    ],
)
def test_a_quote_may_correct_the_typing_of_what_was_said(said: str, quoted: str) -> None:
    text = f'The user said "{quoted}".'
    assert marks(summarised(text, said=said.replace("pls", "please"))) == []
    assert marks(summarised(text, said="we should ship the importer")) == [quoted]


@pytest.mark.parametrize(
    ("said", "quoted"),
    [
        ("do not ship it now", "do now ship it now"),
        ("ship v12 of it", "ship v13 of it"),
        ("keep red buttons", "keep blue buttons"),
    ],
)
def test_a_quote_may_not_change_a_negation_or_a_number(said: str, quoted: str) -> None:
    assert quoted in marks(summarised(f'The user said "{quoted}".', said=said))


def test_two_names_with_a_slash_between_them_are_no_path() -> None:
    text = "The scene is drawn with WebGL/Three.js from src/scene.js."
    assert marks(summarised(text)) == ["src/scene.js"]


def test_the_number_of_a_heading_and_encoded_data_are_no_facts() -> None:
    data = b64encode(sha512(b"one").digest() + sha512(b"two").digest()).decode()
    assert marks(summarised(f"## Stage 41:\nIt went on.\nPART 17. Tests\n{data}")) == []
    assert marks(summarised("It ran 41 tests.")) == ["41"]


_CLAUDE = "This session is being continued from a previous conversation that ran out of context.\n\n"
_DETAILS = "\n\nIf you need specific details from before compaction, read the transcript at: /home/u/s.jsonl"
_GO_ON = (
    '\nContinue the conversation from where it left off. Never preface with "I\'ll continue" or such words.'
)
FRAMES = {
    "Claude Code": (_CLAUDE, _DETAILS + _GO_ON),
    "Codex": ("Another language model started to solve this problem and produced a summary of it.\n", ""),
    "Flue": ("[Context Summary]\n\n", ""),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_words_that_the_harness_put_around_a_summary_are_no_evidence(frame: str) -> None:
    """Neither a quotation that nobody said, nor a word of a fact; the model's own words count as before."""
    opening, closing = FRAMES[frame]
    summary = 'He said "keep the blue door shut". See lib/x.py.'
    session = summarised(opening + summary + closing, user("on"), said="Is there `full` or `previous`?")
    assert marks(session) == ["keep the blue door shut", "lib/x.py"]
    words = re.findall(r"[a-z]{4,}", opening + closing)
    for word in words:
        (trace,) = trace_recorded(summarised(opening + summary + closing, said=f"mend `{word}()` and x"))
        assert trace["symbol", word].outcome == "absent", word
    assert (
        trace_recorded(session)[0].traced[0].explanation.evidence.searched.startswith("Searched 2 sentences")
    )


@pytest.mark.parametrize("mark", ["[Context Summary] ", "[Context Summary]\n\n"])
def test_a_summary_on_the_line_of_its_mark_is_read(mark: str) -> None:
    (trace,) = trace_recorded(summarised(f"{mark}Never push to main.", said="Never push to main."))
    assert trace["Never push to main."].outcome == "quoted"


def test_a_quote_may_have_other_quotation_marks_inside_and_leave_out_a_word_that_was_typed_twice() -> None:
    said = 'no more of the "the easy way" with our own stubs'
    for quote, wrong in (("no more of 'the easy way' with", False), ("no more of the 'easy day' with", True)):
        assert bool(marks(summarised(f'Ann: "{quote} our own stubs"', said=said))) == wrong


def test_a_message_that_the_compaction_came_before_was_said() -> None:
    """Its row has no successor: the compaction follows the reply before it."""
    late = "Can you merge both ledgers while you are at it?"
    quote = f'The user said: "{late} Also paint the quay."'
    talk = Claude().say("Look at the quay.").reply("I see it.", 9_000)
    reply = talk.parent
    talk.say(late).compact(quote)
    talk.rows[-2]["logicalParentUuid"] = reply
    session = talk.say("Go on.").reply("Yes.", 2_000).open()
    assert all(
        late not in session.entries[i].text for i in session.path if session.entries[i].kind == "message"
    )
    assert marks(session) == ["Also paint the quay."]


def test_a_file_is_the_same_with_and_without_the_sign_of_a_mention() -> None:
    sources = Sources(["Read @plan.md and @src/a.py, then b.md; it took 0.7h, then 0.3h."])
    assert not check_grounding("Read `plan.md`, `@b.md` and `src/a.py`: 0.7h/0.3h.", sources)
    assert check_grounding("Read `@c.md`.", sources)
