"""What people type as facts: every sentence, marked as a rule or a choice; and how well the two are found."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import lint, read_session
from inspector.facts.extract.statements import find_statements
from inspector.facts.trace import trace_recorded
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from tests.figures import read_scores, write_scores
from tests.shared import SHARED, needs_shared, open_shared
from tests.typed import FILES, HALVES, KINDS, READ, find_marks, hash_file, print_table, read_labels, score
from tests.work import count_calls, limit_work

FLOORS = {
    "clean": {"rule": (0.5, 0.55), "choice": (0.3, 0.2)},
    "dev": {"rule": (0.5, 0.33), "choice": (0.8, 0.6)},
}
"""Precision and recall on both halves, a little under what was measured."""


STATED = ("constraint", "choice", "statement")


def marks(text: str, *kinds: str) -> list[str]:
    """The forms of these kinds of a message with this text, in order."""
    facts = read_session([{"role": "user", "content": text}]).facts
    return [fact.form for fact in facts.values() if fact.kind in kinds]


def told(*words: str | Entry, summary: str) -> Session:
    """Messages of a user, a compaction with this summary, and one word after it."""
    said = [word if isinstance(word, Entry) else Entry(id="", blocks=(Text(text=word),)) for word in words]
    made = Entry(id="", kind="compaction", blocks=(Text(text=summary),), boundary=Boundary(summary=summary))
    after = Entry(id="", role="assistant", blocks=(Text(text="ok"),))
    entries = [
        entry.model_copy(update={"id": f"e{at}", "parent": f"e{at - 1}" if at else None})
        for at, entry in enumerate([*said, made, after])
    ]
    return Session(format="demo", entries=tuple(entries), leaf=entries[-1].id)


def test_every_sentence_a_person_typed_is_a_fact_that_a_summary_quotes_or_does_not() -> None:
    """One summary quotes it in other marks, one has its words in other sentences, one none of them."""
    words = "rename the checkpoint branch, squash shadow commits, publish nightly metrics dashboard"
    found = []
    for summary in (
        f"The user: “{words.capitalize()}”.",
        "The dashboard with nightly metrics: publish.\nsquash shadow commits; rename checkpoint branch",
        "All is well.",
    ):
        session = told(words, summary=summary)
        (fact,) = session.facts.by_kind("statement")
        assert (fact.form, fact.said[0].by) == (words, "user")
        traced = trace_recorded(session, session.facts)[0]["statement", words]
        found.append(traced.outcome)
    assert found == ["quoted", "unclear", "absent"]


def test_an_answer_to_a_question_is_one_choice_of_the_user() -> None:
    asked = Entry(id="", role="assistant", blocks=(ToolCall(id="1", name="AskUserQuestion", input={}),))
    words = 'User has answered your questions: "Which store?"="Redis". You can now continue with it.'
    answer = ToolOutput(call_id="1", parts=(Text(text=words),))
    session = told("Store it", asked, Entry(id="", role="tool", blocks=(answer,)), summary="All is well.")
    (choice,) = session.facts.by_kind("choice")
    assert (choice.form, choice.said[0].by) == ('"Which store?"="Redis"', "user")
    said = choice.said[0]
    assert words[said.start : said.end] == choice.form
    assert [fact.form for fact in session.facts.by_kind("statement")] == ["Store it"]


RULES = """
Nothing goes to production without my sign-off.
Hands off the generated files.
Kindly refrain from editing anything under vendor.
Tabs are banned in this codebase.
We use tabs here, spaces are not allowed.
Every public function gets a docstring.
Each commit gets its own test.
Types are plain JSON here.
Errors are values in this repo, we don't throw.
Dates are ISO 8601 everywhere.
All amounts are in cents.
The API stays backwards compatible.
The public interface is frozen.
Consider the schema fixed.
Only Alice may approve a release.
Releases need two approvals.
A reviewer has to approve before anything gets merged.
Wait for my OK before you run a migration.
Check with me first before touching the database.
Ask before installing packages.
Run the linter after each change.
Tests first, then the code.
Keep the diff as small as possible.
Small commits please.
No more than three retries.
Retry three times at most.
The bundle has to stay under 200 kB.
Responses must come back within 200 ms.
Stay below 80 columns.
Use pnpm instead of npm.
pnpm, not npm.
Prefer composition over inheritance.
I'd rather have a longer function than a clever one.
I want plain SQL, not an ORM.
I don't want any comments in the code.
I need every change to be covered by a test.
It's essential that the order of the events is preserved.
Make sure the migration can be rolled back.
Be careful not to break the public API.
Do it without adding dependencies.
Leave the config file alone.
Don't bother with Windows support.
Windows support isn't needed.
We still have to support Node 18.
Python 3.9 is the minimum.
The minimum version is 3.9.
From here on, answer in French.
Answer in bullet points.
Your replies should be short.
Speak to me in German.
When in doubt, ask me.
If a test fails, stop and tell me.
Whenever you change a model, regenerate the schema.
Unless I say otherwise, work on the dev branch.
Log messages go to stderr, not stdout.
Secrets belong in the vault, never in the repo.
Customer data may not leave the EU.
Nobody but the bot pushes to main.
Pushing to main is off the table.
Force pushes are a no-go.
You're not supposed to touch the lock file.
You may only read from the replica.
Treat every warning as an error.
Stick with the existing naming scheme.
Name branches feature/<ticket>.
Commit messages follow the conventional format.
Test names start with the name of the function.
Budget is $500, tops.
Spend no more than $50 on this.
Anything above $100 requires my approval.
Delete nothing.
Touch only the parser.
Changes are limited to the parser.
Restrict yourself to the standard library.
Just the standard library, nothing else.
Avoid global state.
Steer clear of regexes for HTML.
Under no circumstances run this against prod.
Remember to update the changelog with every change.
Always rebase, never merge.
Please always cite the file and line.
Mock nothing in the integration tests.
Rename variables only if it helps.
Feature flags default to off.
The default must be off.
New endpoints need authentication.
Passwords are never logged.
It is forbidden to log passwords.
Do the backend before the frontend.
First the backend, the frontend comes later.
No commits on the weekend.
I'd like you to ask before you delete things.
It's not okay to skip the tests.
We don't do squash merges here.
Everything gets reviewed by Bob.
Each PR has to be reviewed.
Code without tests won't be merged.
The lock file is generated, so don't edit it by hand.
Logs are in English.
Write all comments in English.
Replies in one paragraph.
Give me short answers.
Keep answers under 100 words.
Do not run anything destructive.
Any destructive command needs a confirmation.
Get my confirmation before you drop a table.
Tell me before you change the schema.
Run the whole suite before every push.
A push requires a green build.
Main is protected; open a PR for everything.
All changes go through a PR.
Use the staging database for tests, the production one is taboo.
Production is read-only for you.
You can read production but not write to it.
Don't you dare touch production.
Whatever you do, leave production alone.
The deadline is Friday.
Version 2 of the protocol has to keep working.
Old clients need to keep working.
Breaking changes are unacceptable.
I hate abbreviations in names.
Spell out names, abbreviations confuse people.
One class per file.
Functions: 30 lines max.
Indent with two spaces.
Double quotes for strings, please.
Currency amounts carry two decimals.
The UI text is German, the code is English.
Time zones: UTC throughout.
Only use libraries that are already installed.
Nothing new gets installed.
Your budget is 20 dollars.
Stop after three failed attempts.
After three failures, give up.
If you are unsure, ask instead of guessing.
Always explain why.
Explain every change in the commit message.
Mention the ticket in each commit.
Pin all versions.
Versions have to be pinned exactly.
"""
NO_RULES = """
Add a test for the parser.
Fix the bug in the login page.
Why does the build fail?
The build fails on Windows.
It always crashes when I open the page.
The server never answers.
I never saw that before.
I only changed one file.
We only have three users right now.
I don't know what happened.
I don't understand this error.
It doesn't work on my machine.
It does not find the file.
The tests don't pass yet.
That's what I meant, thanks.
Looks good to me.
Great, let's continue.
Can you explain how the cache works?
Please explain the cache.
Show me the diff.
Run the tests and tell me what fails.
Update the README with the new commands.
I think the problem is in the parser.
Maybe the token has expired.
It must have been a network problem.
The file should be there now.
That should fix it.
It should work now.
I ran it before you changed the file.
I was looking at the logs before lunch.
Implement the export button on the settings page.
Create a new branch and open a PR.
Look at the open issues and pick the most urgent.
Rename getUser to fetchUser in the service.
Move the helpers to utils.ts.
Refactor the session code so it is easier to read.
The page is slow when the list is long.
There is a race between the two writers.
There are no results on the second page.
No idea why this happens.
No errors in the console.
Nothing happens when I click the button.
The button is on the left and nobody finds it.
My colleague says the API is slow.
Users complain that the export is slow.
I got a 500 after the last deploy.
The last run took 20 minutes.
We have 40 tests in this folder.
Yesterday it was fine.
I just merged the other PR.
I've pushed the fix to the branch.
Summarise what we did so far.
Write a script that counts the lines.
Write the release notes for 1.4.
Compare the two approaches.
Continue with the next step.
Yes please.
ok
thanks, that helped
Now do the same for the other page.
Do you see the same error?
What is the difference between the two?
The first approach looks simpler.
I'd like to see the numbers for May.
I want to know which tests are slow.
I need a list of all open tickets.
Give me a summary of the changes.
Let's look at the failing test.
Let's start with the API.
The customer asked for a dark mode.
We use Postgres 14 and it is slow.
We moved to pnpm last year.
This is the log from the server.
Here are the numbers from the last run.
The config is in settings.toml.
The service runs on port 8080.
The function returns None if the user is missing.
It returns null unless the cache is warm.
The timeout is 30 seconds, which seems long.
Install the dependencies and start the app.
Check if the migration was applied.
Find all usages of the old function and remove them.
Try again with the new token.
Delete the old branch.
Add pagination to the users endpoint.
Make the header blue.
Sort the table by date.
Add a column for the price.
Translate the page to French.
Deploy it to staging.
Could you have a look at the login test?
The login test is red again.
I restarted the server and it works now.
Can we try the other branch?
What about the other files?
Please open the PR now.
Add the missing import.
Remove the print statements.
Revert the last commit.
The page shows the wrong date.
The date is one day off.
It takes 10 seconds until the page loads.
I see three warnings in the log.
That looks right.
Perfect, thank you!
Here is the stack trace.
The error is in line 42.
This is the second time that it happens.
I use Firefox on a Mac.
We deploy with GitHub Actions.
The tests are in the tests folder.
Start the dev server.
Open the settings page and take a screenshot.
Which version of Node do you use?
Extract the parsing into its own function.
Replace the loop with a comprehension.
Implement the second item of the plan.
Fix all failing tests.
Merge it.
I wonder whether the cache is the reason.
The cache is probably stale.
Bob will review it tomorrow.
We released 1.3 last week.
Upgrade React to 19.
Bump the version to 1.5.0.
Generate the types from the schema.
Check the other files too.
Do you want me to restart it?
I pasted the output below.
Write a test that reproduces it.
The customer wants a refund for the order.
We talked about this before.
It also affects the mobile app.
Describe what the function does.
List the files that you changed.
Run it again.
Try it without the cache.
The API returns 404 for unknown ids.
My laptop has 16 GB of memory.
Nice, the graph looks much better.
it should be fixed now
add a flag to skip the cache
there must be a bug somewhere
the server must have crashed
you must have misread it
check if the tests pass before and after
see if we can avoid it
no tests failed
no changes since yesterday
no chart visible, and the axis is gone
I suspect two of them should be merged
I'm curious if it always picks the first
I'd expect that the totals should match
We need to work on this
You should read the plan and tell me what is wrong
right now, we don't use the full range
the table still needs to be filled
use grep to find where it is set
list every file in the folder
explain what happens if the file is missing
For example, a draft should be sent later, but that is another story
It is a tool I planned for years, but then never got to build
Once this is done, update the page
I want to make sure the numbers are right
unless you had planned that anyway
update the names to avoid the clash
it seems the file has to be created first
"""
SENTENCES = sorted(
    set(RULES.split("\n")[1:-1] + NO_RULES.split("\n")[1:-1] + ["ok", "Yes", "B)", "いいえ。"])
)


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=8, unique=True))
def test_each_sentence_is_one_fact_of_the_user_whatever_it_is_marked_as(lines: list[str]) -> None:
    text = "\n".join(lines)
    session = read_session([{"role": "user", "content": text}])
    stated = [fact for fact in session.facts.values() if fact.kind in STATED]
    spans = [(said.start, said.end) for fact in stated for said in fact.said]
    assert all(said.by == "user" for fact in stated for said in fact.said)
    assert all(text[said.start : said.end] == fact.form for fact in stated for said in fact.said)
    assert all(one[1] <= two[0] for one, two in pairwise(sorted(spans)))
    left = "".join(c for at, c in enumerate(text) if not any(start <= at < end for start, end in spans))
    assert not any(c.isalpha() for c in left)


def test_a_bare_consent_ranks_last() -> None:
    facts = read_session([{"role": "user", "content": "ok\nThe page is slow.\nNever push."}]).facts
    assert [facts.rank[facts[form].number] for form in ("ok", "The page is slow.", "Never push.")] == [
        0,
        1,
        3,
    ]


def test_the_labels_of_typed_words_are_well_formed() -> None:
    labels = read_labels()
    assert len(labels) >= 100 and len(set(labels)) == len(labels)
    assert len({label.file for label in labels}) >= 10
    assert not {f.file for f in read_labels("dev")} & {f.file for f in read_labels("clean")}
    for label in labels:
        assert label.half in HALVES and label.kind in KINDS and 0 <= label.start < label.end


@needs_shared
@pytest.mark.parametrize("half", HALVES)
def test_rules_and_choices_of_each_half_are_found(half: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert {label.file for label in read_labels(half)} <= {hash_file(f) for f in FILES[half]}
    tallies = score(half)
    print_table(half, tallies)
    table = capsys.readouterr().out
    for kind, (precision, recall) in FLOORS[half].items():
        assert tallies[kind].precision >= precision and tallies[kind].recall >= recall, table
    assert write_scores(half, tallies) == read_scores(half), "run `make accuracy`"


@needs_shared
@pytest.mark.parametrize("half", HALVES)
def test_a_model_that_is_asked_finds_more_and_the_product_loses_none_of_it(half: str) -> None:
    by_patterns, read = score(half), score(half, read=True)
    for kind in KINDS:
        assert (
            read[kind].recall > by_patterns[kind].recall
            and read[kind].precision > by_patterns[kind].precision
        )
    found = sum(len(marks) for file in FILES[half] for marks in find_marks(file, read=True).values())
    assert found == len(read_labels(half, READ))
    assert write_scores(f"{half}-read", read) == read_scores(f"{half}-read"), "run `make accuracy`"


@needs_shared
def test_a_session_lists_what_its_person_typed_in_every_turn() -> None:
    session = open_shared(SHARED / "sessions" / "claude-code--entire-sem" / "cc-2.1.210-1404l.jsonl")
    stated = [fact for fact in session.facts.values() if fact.kind in STATED]
    entries = {said.ref.entry for fact in stated for said in fact.said if said.by == "user"}
    assert len(session.turns) == 23 and len(entries) >= 23


# Wordings of real sessions and their like: the rule is another's, what follows is the person's.
QUOTED = [
    "> Never use a mutex here.",
    ">Always rebase before you merge",
    'He said: "never push to main".',
    "the reviewer wrote: you must never swallow this error",
    'copilot says "Always close the file before you return".',
    'got this feedback: \n\nThe comment should be updated to: "Lines added by agent" to reflect it.',
    "Here is the review:\n\nThe retry is wrong.\n\nNote: callers must always close the handle.",
    (
        "I've plenty of warning in the console: arning: Encountered two children with the same "
        "key, `SKILL.md`. Keys should be unique so that components maintain their identity across updates."
    ),
    (
        'this results in\n\n Error: 400 {"type":"error","error":{"message":"`tool_use`\n ids. Each\n '
        '`tool_use` block must have a corresponding `tool_result` block in the next."},"id":"r1"}'
    ),
    'Look at it:\n<file path="AGENTS.md">\nNever edit generated files.\n</file>',
]


@pytest.mark.parametrize("words", QUOTED)
def test_a_rule_in_a_quote_is_not_the_persons_own(words: str) -> None:
    own = "Never rename the branch."
    facts = read_session([{"role": "user", "content": f"{words}\n\n{own}"}]).facts
    assert [fact.form for fact in facts.by_kind("constraint")] == [own]
    alone = read_session([{"role": "user", "content": words}]).facts
    assert alone.by_kind("constraint") == ()


# In the shape of what people paste without a word: an advisory, a review, a comment on a line.
DOCUMENTS = [
    "Summary\nThe loader evaluates names.\n\nDetails\nNames must be escaped.\n\nImpact\nOnly local files.",
    "## Overview\nIt is good.\n\n## Issues\n- The lock must always be released.\n- Never swallow an error.\n",
    "Look.\n\n- **[High]** Never hold the lock, we should release it.\n- [Nit] Always sort imports.",
    "1. store.go:14: the handle must be closed\n2. store.go:20: never ignore the error\n",
    "This loop repeats what sync.go does at lines 20-31. Both must always handle renames. Avoid the copy.",
]


@pytest.mark.parametrize("words", DOCUMENTS)
def test_what_is_shaped_like_a_report_states_no_rules_of_the_person(words: str) -> None:
    """Its sentences are statements, which no check misses; what the person says around it is theirs."""
    own = "Please never rename the branch."
    session = told(f"{words}\n\n{own}", "Go on.", summary="All is well.")
    assert [fact.form for fact in session.facts.by_kind("constraint")] == [own]
    assert [fact.fact.form for fact in lint(session) if fact.fact is not None] == [own]
    assert session.find_facts(words.splitlines()[-1].lstrip("-12. *"))[0].fact.kind == "statement"


@pytest.mark.parametrize(
    "words",
    [
        "## Task\nAdd the export.\n\n## Summary\nOnly touch the parser.\n\n## Results\nNever write to main.",
        "Rules:\n- never push to main\n- always rebase",
        "The schema is frozen.\nNever push to main.\nDates must be in UTC.",
        "## Backend\nNever push to main.\n## Frontend\nAlways use tabs.",
    ],
)
def test_a_brief_with_headings_keeps_its_rules(words: str) -> None:
    forms = marks(words, "constraint")
    assert any("ever" in form for form in forms) and len(forms) >= 2


def test_an_item_of_a_list_of_questions_is_no_rule() -> None:
    words = "Look at:\n- `a.json`: which fields has it?\n- Any other files in the folder that hold changes\n"
    assert marks(f"{words}\nDo not implement anything.", "constraint") == ["Do not implement anything."]
    assert marks(f"{words}- Never push to main.", "constraint") == ["Never push to main."]
    shape = "- Types are plain JSON here"
    assert marks(f"{words}{shape}", "constraint") == []
    assert marks(f"{words}\nMind:\n{shape}", "constraint") == [shape[2:]]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("On point 1, do not copy the full folder, but only add the two that are already here", "constraint"),
        ("They did not copy the folder, but only the two that were already here", "statement"),
        ("Before we commit, run the tests.", "constraint"),
        ("Before we make any changes to the parser, describe how it works.", "statement"),
    ],
)
def test_not_this_but_only_that_is_a_rule_and_a_first_step_is_none(words: str, kind: str) -> None:
    assert marks(words, kind) == [words]


def test_a_command_over_several_lines_is_no_rule() -> None:
    words = "❯ sync replicate \\\n  --max-bytes 1024 \\\n  --only-new $URL\nNever push."
    assert marks(words, "constraint") == ["Never push."]


@pytest.mark.parametrize("piece", ["Let's use it.\n", "Use 5, not 6. ", "- [ ] Never do it.\n"])
def test_choices_and_rules_over_and_over_take_no_time_squared(piece: str) -> None:
    def find(many: int) -> None:
        facts = read_session([{"role": "user", "content": piece * many}]).facts
        assert facts.by_kind("constraint") or facts.by_kind("choice")

    with limit_work():
        assert count_calls(lambda: find(4_000)) < 6 * count_calls(lambda: find(1_000))


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        # A description of what is, a report, and an order about what was just spoken of bind nothing.
        ("That list is always complete and we're just now ending step 8.", "statement"),
        ("All reviewers of this module have read the older plans.", "statement"),
        ("leave that one.", "statement"),
        ("under budget, lovely.", "statement"),
        ("Das hat keiner gesagt.", "statement"),
        # What forbids may stand behind a description, and "always" may come last.
        ("ACM0 is the board of the other lab, don't erase it!", "constraint"),
        ("the example host is web-03, never restart web-01 at night.", "constraint"),
        ("it failed twice, never worked again.", "statement"),
        ("All of them are in metres, always.", "constraint"),
        ("We try to change foreign sources as little as possible.", "constraint"),
        ("it will be there as soon as possible", "statement"),
    ],
)
def test_a_description_is_no_rule_and_a_rule_may_stand_behind_one(said: str, kind: str) -> None:
    assert marks(said, *STATED) == marks(said, kind) != []


@pytest.mark.parametrize(
    "words",
    [
        "Ask Dr. Vane before any release.",
        "Never page Mrs. Ito at night.",
        "Use a lock, e.g. Redis, in all jobs.",
        "Bitte nimm z.B. Redis als Cache.",
        "Write to Prof. Oe (oe@lab.example) only on Mondays.",
    ],
)
def test_a_title_or_an_abbreviation_ends_no_sentence(words: str) -> None:
    assert marks(f"{words} Then stop.", *STATED) == [words, "Then stop."]
    session = told(f"{words} Then stop.", summary=f"The user said: {words} All is well.")
    (traced,) = [item for item in trace_recorded(session, session.facts)[0] if item.fact.form == words]
    assert traced.outcome == "quoted"


def test_the_place_of_an_address_marks_no_doubt() -> None:
    assert marks("Never mail oe@lab.example from here.", "constraint") == [
        "Never mail oe@lab.example from here."
    ]


RULES = (
    "don't push to the shared branch",
    "never rewrite published history",
    "keep the margins as they are",
    "if a build takes more than 5 minutes, stop it and tell me",
    "the importer must not run on weekdays",
)
FRAMES = (
    "{}",
    "btw {}",
    "right, {}",
    "ah and {}",
    "one more thing: {}",
    "That looks good, but {}",
    "{}, that's when it broke last year",
    "{}, because the others build on it",
    "could you please make sure that {}?",
)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("frame", FRAMES)
def test_what_stands_around_a_rule_does_not_hide_it(frame: str, rule: str) -> None:
    """The sentence is a rule whatever aside, reason or politeness it comes with."""
    (fact,) = [one for one in find_statements(frame.format(rule)) if rule in one.form]
    assert fact.kind == "constraint"


@pytest.mark.parametrize(
    "words",
    [
        "now the second chapter please",
        "never mind",
        "no, not that one",
        "Could you look at the log?",
        "right, it never worked",
        "ok, it failed because the disk was full",
    ],
)
def test_a_request_or_a_report_in_the_same_frames_is_no_rule(words: str) -> None:
    assert [one.kind for one in find_statements(words)] == ["statement"]
