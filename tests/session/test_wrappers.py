"""Text that editors and hosts add to a prompt or send in its place is not typed; text that a user pastes is.

The wrappers are those of Codex in an editor, Cursor, VS Code, Claude's desktop app and Copilot CLI, and
invented ones: they are read by their structure.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector import Session, read_session
from inspector.session.speakers import find_speech, typed_words
from tests.codex_rows import META, codex_message, row
from tests.rows import dump
from tests.session.test_mixed_messages import make_rows
from tests.work import limit_work

IDE = (
    "# Context from my IDE setup:\n\n## Active file: src/legacy/billing.py\n\n## Open tabs:\n"
    "- billing.py: src/legacy/billing.py\n- never use float for money: docs/RULES.md\n\n"
    "## My request for Codex:\n"
)
PAGE = (
    "<external_links>\nSkip to content. Refrain from saying hello. You must never fork.\n</external_links>\n"
)
EVENT = (
    "<ci-monitor-event>\nCI failed on main. End content reply with a status. Never skip replies for checks.\n"
    "</ci-monitor-event>"
)
BROWSER = (
    '<in-app-browser-context source="ambient-ui-state">\nSent with each message. You must never obey it.\n'
    "# In app browser:\n- Current URL: http://localhost:3000/\n</in-app-browser-context>\n"
)
PROMPT = "Rename `total_due` to `amount_due` in src/invoice.py. Never touch the migrations."


def claude(*prompts: Any, **fields: Any) -> Session:
    """Return a Claude Code session with a reply to each prompt; `fields` are added to the last prompt."""
    return read_session(dump(*make_rows(*prompts, **fields)))


def codex(words: str) -> Session:
    shown = row("event_msg", type="user_message", message=words, images=[])
    return read_session(dump(META, codex_message("user", words), shown))


def lines(words: str) -> Session:
    return read_session(json.dumps({"model": "m", "messages": [{"role": "user", "content": words}]}).encode())


def prompts(session: Session) -> list[str]:
    """Return the typed text of each turn."""
    return [typed_words(session.entries[session.path[turn.first]]) for turn in session.turns]


WRAPPED = {
    "codex-ide": IDE + PROMPT + "\n",
    "codex-windows": (IDE + PROMPT).replace("\n", "\r\n"),
    "codex-files": f"# Files mentioned by the user:\n\n## a.png: /a\n\n## My request for Codex:\n{PROMPT}",
    "codex-app-files": f"\n# Files mentioned by the user:\n\n## a.png: /a\n\n## My request:\n{PROMPT}",
    "codex-app-chats": f"## Referenced chats with Codex:\nNever f.\n\n## My request:\n{PROMPT}",
    "codex-app-browser": f"\n{BROWSER}\n## My request:\n{PROMPT}\n",
    "codex-app-browser-named": f"{BROWSER}\n## My request for Codex:\n{PROMPT}",
    "codex-app-both": f"# Files mentioned by the user:\n\n{BROWSER}\n## My request:\n{PROMPT}",
    "another-editor": f"\n# Selected text:\n\nnever use tabs here\n\n## My request for Zed:\n\n{PROMPT}\n",
    "cursor": f"{PAGE}<user_query>\n{PROMPT}\n</user_query>",
    "cursor-later": f"<timestamp>Mon</timestamp>\n<user_query>\n{PROMPT}\n</user_query>\n\n<rules></rules>",
    "cursor-reminded": f"<system_reminder>Never say hi.</system_reminder>\n<user_query>{PROMPT}</user_query>",
    "vs-code": f"<editorContext>\nNever a.\n</editorContext>\n<userRequest>\n{PROMPT}\n</userRequest>",
    "unseen": f"<open-panes at='2'>Never b.</open-panes><pins/>\n<user-prompt id='4'>{PROMPT}</user-prompt>",
    "nested": f"<shown><shown>x</shown><user_query>y</user_query></shown>\n<user_query>{PROMPT}</user_query>",
    "cut-off": f"<attached_files>\nYou must never c.\n</attached_files>\n<user_query>\n{PROMPT}",
}


@pytest.mark.parametrize("make", [claude, codex, lines], ids=["claude-code", "codex", "request"])
@pytest.mark.parametrize("words", WRAPPED.values(), ids=list(WRAPPED))
def test_the_words_inside_a_wrapper_are_typed_and_the_rest_is_not(make: Any, words: str) -> None:
    session = make(words)
    assert prompts(session) == [PROMPT]
    (entry,) = [entry for entry in session.entries if entry.role == "user"]
    (span,) = [span for span in find_speech(entry, entry.blocks[0]) if span.speaker == "user"]
    assert (span.start, span.end) == (words.rindex(PROMPT), words.rindex(PROMPT) + len(PROMPT))
    typed_rules = [fact for fact in session.facts.by_kind("constraint") if fact.said[0].by == "user"]
    assert [fact.form for fact in typed_rules] == ["Never touch the migrations."]
    (message,) = typed_rules[0].said
    assert entry.text[message.start : message.end] == "Never touch the migrations."


BESIDE = {
    "browser-after": f"{PROMPT}\n\n{BROWSER}",
    "browser-before": f"{BROWSER}\n{PROMPT}",
    "plugins": f"<recommended_plugins>\nNever g.\n</recommended_plugins>\n{PROMPT}",
}


@pytest.mark.parametrize("make", [claude, codex, lines], ids=["claude-code", "codex", "request"])
@pytest.mark.parametrize("words", BESIDE.values(), ids=list(BESIDE))
def test_what_codex_adds_beside_a_prompt_is_not_typed(make: Any, words: str) -> None:
    session = make(words)
    assert [typed.strip() for typed in prompts(session)] == [PROMPT]
    typed_rules = [fact for fact in session.facts.by_kind("constraint") if fact.said[0].by == "user"]
    assert [fact.form for fact in typed_rules] == ["Never touch the migrations."]


def test_a_message_of_the_apps_browser_alone_opens_no_turn() -> None:
    assert prompts(claude("Fix the build", BROWSER)) == ["Fix the build"]


@pytest.mark.parametrize("words", ["Fix the header", ""])
def test_the_tags_around_a_picture_are_not_typed(words: str) -> None:
    name = '<image name=[Image #1] path="/tmp/clip.png">'
    picture = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}
    session = read_session(
        dump(META, codex_message("user", name, picture, "</image>", *filter(None, [words])))
    )
    assert prompts(session) == [words]
    assert "user" not in [fact.said[0].by for fact in session.facts.by_kind("file")]


PASTED = [
    "<div>\n<p>You must never nest these.</p>\n</div>",
    "<config>\n  <timeout>5</timeout>\n</config>\nNever change the timeout.",
    "<my-button>Never press</my-button>\nWhy does this not render?",
    "Explain <user_query>Never d</user_query> to me",
    "Explain this:\n<user_query>\nNever d\n</user_query>",
    "Why do I get <system-reminder> rows? Never hide them.",
    "<calendar-event>Never at noon</calendar-event>\nParse this.",
    "# Task:\nNever use tabs.\n\n## My requests:\nFast code.",
    "# Notes\n\n## My request for Codex:\nNever e",
    "# Task:\nNever use tabs.\n\n## My request:\nFast code.",
    "Explain <in-app-browser-context> and why it must never be sent.",
    "<user_id>Never f</user_id>",
    "<string-array name='a'><item>Never g</item></string-array>",
    "<unclosed-event>\nNever h",
]


@pytest.mark.parametrize("words", PASTED)
@pytest.mark.parametrize("make", [claude, codex, lines], ids=["claude-code", "codex", "request"])
def test_tags_and_headings_that_a_person_pastes_are_typed(make: Any, words: str) -> None:
    session = make(words)
    assert prompts(session) == [words]


@pytest.mark.parametrize(
    ("words", "source"),
    [
        (EVENT, "sdk"),
        (EVENT, None),
        ("<deploy_status_update>Never roll back.</deploy_status_update>", None),
        ("<scheduled-task name='nightly'>\nNever ask.\n</scheduled-task>", "sdk"),
        ("<scheduled-task name='nightly'>\nNever ask.\n</scheduled-task>", None),
        (f"{EVENT}\n<selected-lines/>", "sdk"),
    ],
)
def test_an_event_that_a_host_sends_as_a_prompt_opens_no_turn(words: str, source: str | None) -> None:
    fields = {"origin": {"kind": "human"}} | ({"promptSource": source} if source else {})
    session = claude("Fix the build", words, **fields)
    assert prompts(session) == ["Fix the build"]
    assert [fact for fact in session.facts.by_kind("constraint") if fact.said[0].by == "user"] == []


def test_a_message_of_many_tags_is_read_in_a_time_that_grows_with_it() -> None:
    """Searching the end of a tag again from each of 60,000 tags without an end would take minutes."""
    words = "<a_b>\n<system-reminder> " * 30_000
    with limit_work():
        assert prompts(claude(words)) != []
