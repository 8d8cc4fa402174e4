"""What a copied summary has room for first, how long its quotes are, and where each line stands."""

from __future__ import annotations

from inspector.session.blocks import Text
from inspector.session.entries import Boundary, Entry
from inspector.summaries.extractive.summariser import ExtractiveSummariser
from tests.summaries.test_extractive import WORDS, edit, job_of, run, section, step, write
from tests.test_cuts import build, say, user


def todo(*contents: str) -> list[Entry]:
    return step("TodoWrite", {"todos": [{"content": text, "status": "pending"} for text in contents]})


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


def test_a_dump_that_came_last_does_not_take_the_room_of_an_error_that_tells_something() -> None:
    """Both are about as long; beyond 300 characters an error is a dump."""
    told, dump = (
        "error: " + " ".join(f"{word}{n:03}" for n in range(size)) for word, size in (("t", 55), ("d", 62))
    )
    session = build(
        user("go"), *run("make", told, error=True), *run("make all", dump, error=True), say("fine")
    )
    seen = set()
    for tokens in range(100, 600, 50):
        context = section(write(session, tokens), "Critical context")
        seen.add(("t000" in context, "d000" in context))
    assert (False, True) not in seen and (True, False) in seen


def test_of_changed_files_the_last_ones_have_room_first() -> None:
    paths = [f"src/part{number}.py" for number in range(10, 22)]
    session = build(user("go"), *(entry for path in paths for entry in edit(path)), say("ok"))
    counts = set()
    for tokens in (100, 140, 180):
        text = write(session, tokens)
        shown = [path for path in paths if path in text]
        assert shown == paths[len(paths) - len(shown) :]
        counts.add(len(shown))
    assert len(counts) > 1 and 0 < min(counts) < len(paths)


def test_a_bare_fail_does_not_go_before_an_error_that_tells_something() -> None:
    session = build(
        user("go"), *run("make", "error: it broke", error=True), *run("make all", "FAIL: a", error=True)
    )
    for tokens in range(60, 130, 10):
        context = section(write(session, tokens), "Critical context")
        assert "it broke" in context or "FAIL: a" not in context


def test_an_error_of_nine_characters_goes_behind_one_of_ten_that_is_older() -> None:
    """Too short to tell anything. Counted in words both cost the same, so that neither fills what is left."""
    short, longer = "error: xy", "error: abc"
    assert (len(short), len(longer)) == (9, 10)
    session = build(
        user("go"),
        *step("fetch", {"of": "one"}, longer, error=True),
        *step("fetch", {"of": "two"}, short, error=True),
    )
    seen = set()
    for budget in range(80):
        lines = ExtractiveSummariser(WORDS)(job_of(session, budget), session).text.split("\n")
        seen.add((f"- {longer}" in lines, f"- {short}" in lines))
    assert seen == {(False, False), (True, False), (True, True)}


def test_first_and_last_words_are_quoted_at_length_and_those_between_shortly() -> None:
    """600 characters, half of that for the model's last words, a third for what was asked between."""
    words = " ".join(f"w{number:03}" for number in range(200))
    session = build(
        user(f"one {words}"),
        say(f"An early answer goes here {words}"),
        user(f"two {words}"),
        say("ok"),
        user(f"three {words}"),
        say(f"last {words}"),
    )
    text = write(session, 4_000)
    goal = section(text, "Goal").splitlines()
    quoted = [line.split('"')[1] for line in goal]
    assert [line.split('"')[0] for line in goal] == ["- Asked first: ", "- Asked then: ", "- Asked last: "]
    # The last word that has room is whole: a word and its space are five characters.
    assert [600 >= len(quoted[0]) > 594, 200 >= len(quoted[1]) > 194, 600 >= len(quoted[2]) > 594] == [
        True
    ] * 3
    assert all(said.endswith("…") for said in quoted)
    assert 300 >= len(section(text, "In progress").removeprefix("- ")) > 294
    (early,) = [line for line in section(text, "Done").splitlines() if "An early answer" in line]
    assert 200 >= len(early.removeprefix("- ")) > 194


def test_a_command_and_its_end_are_a_third_as_long_each() -> None:
    command = "make " + " ".join(f"w{number:03}" for number in range(80))
    end = " ".join(f"e{number:03}" for number in range(80))
    session = build(user("go"), *run(command, end), say("ok"))
    (line,) = [
        line for line in section(write(session, 4_000), "Done").splitlines() if line.startswith("- `make")
    ]
    asked, said = line.removeprefix("- `").split("`: ")
    assert 200 >= len(asked) > 194 and 200 >= len(said) > 194


def test_tasks_go_by_the_last_list_that_names_them() -> None:
    session = build(
        user("go"),
        *todo("Draw the boards again", "Paint the northern wall"),
        say("We need to push the branch first."),
        user("now"),
        *todo("Paint the northern wall", "Tell Mr Pascoe about it"),
        *step("read", {"path": "serve.go"}, "// TODO: support thin packs\n"),
        say("ok"),
    )
    text = write(session, 4_000)
    assert section(text, "Next steps").splitlines() == [
        "- [ ] Paint the northern wall",
        "- [ ] Tell Mr Pascoe about it",
        "- In what was read: support thin packs",
    ]
    assert "- Off the list of tasks: Draw the boards again" in section(text, "Done").splitlines()


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


def test_two_files_to_be_mended_are_both_told() -> None:
    """Neither replaces the other, although only the path differs."""
    asked = (
        entry for name in "abc" for entry in (user(f"Have a look into src/{name}.py.{PAD}"), say("fine"))
    )
    text = write(build(user("go"), *asked, user("and now?"), say("fine")), 600)
    assert all(f"- Have a look into src/{name}.py." in text for name in "abc")


def test_without_headings_there_is_more_room_and_short_sentences_come_first() -> None:
    session = build(
        user("IMPORTANT: Never touch the old importer, however slow it gets in the weeks to come."),
        say("fine"),
        user("Never push."),
        say("fine"),
        user("IMPORTANT RULE: Always run make."),
        say("fine"),
    )
    writer = ExtractiveSummariser(headings=False)
    lines = writer(job_of(session, 24), session).text.splitlines()
    assert lines[0] == "[Extracted]" and not any(line.startswith("#") for line in lines)
    assert "- Never push." in lines and "- Always run make." in lines
    assert "old importer, however" not in "\n".join(lines)


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


def test_files_that_the_summary_before_names_stand_in_its_order_after_what_is_new() -> None:
    """More of them than its own line has room for; of a small budget the first have the room."""
    files = [f"d/{number}_{letter}.py" for number, letter in enumerate("abcdefghijklmnopqrstuvwxyz")]
    told = " ".join(f"the work went on with {file} and then" for file in files)
    summary = Entry(id="k", kind="compaction", role="user", boundary=Boundary(), blocks=(Text(text=told),))
    error = run("make", "error: no rule to make target x", error=True)
    session = build(user("go"), summary, user("go on"), *error, say("fine"), user("more"))
    small = section(write(session, 120), "Critical context").splitlines()
    assert small[0] == "- error: no rule to make target x"
    named = small[1].removeprefix("- Files named before: ").split(", ")
    assert 2 < len(named) < len(files) and named == files[: len(named)]
    for tokens in (120, 300, 2_000):
        lines = section(write(session, tokens), "Critical context").splitlines()
        (line,) = (line for line in lines if line.startswith("- Files named before: "))
        assert lines.index(line) == len(lines) - 1
        shown = [files.index(file) for file in line.removeprefix("- Files named before: ").split(", ")]
        assert shown == sorted(shown)
