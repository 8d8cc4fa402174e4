"""Requests as the provider would receive them: how a context renders, and what each rule refuses.

Every rule has one request that it takes and one that it refuses, written so that they differ by little.
"""

from __future__ import annotations

import copy
import json
import re
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from inspector import count_tokens, live_context, open_session, read_session
from inspector.planning.context import Context, Piece
from inspector.session.blocks import BlockRef, Document, Image, Reasoning, Text, ToolCall, ToolOutput, Unknown
from inspector.session.entries import Provided, Tool
from inspector.wire.checks import CHECKS, check_context, check_request
from inspector.wire.render import Size, render_request
from tests.shared import SHARED, needs_shared

Json = dict[str, Any]


# A request, shortly. A string is a text block.


def message(role: str, *blocks: str | Json) -> Json:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return {"role": role, "content": content}


def user(*blocks: str | Json) -> Json:
    return message("user", *blocks)


def assistant(*blocks: str | Json) -> Json:
    return message("assistant", *blocks)


def system(*blocks: str | Json) -> Json:
    return message("system", *blocks)


def body(*messages: Json, model: str = "claude-opus-4-6", **more: Any) -> Json:
    return {"model": model, "max_tokens": 100, "messages": list(messages), **more}


def call(name: str = "t1", **given: Any) -> Json:
    return {"type": "tool_use", "id": name, "name": "Bash", "input": given}


def result(name: str = "t1", *parts: Json, **more: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": name, "content": list(parts), **more}


def think(words: str = "Hm.", signature: str = "sealed") -> Json:
    return {"type": "thinking", "thinking": words, "signature": signature}


def search(name: str = "s1") -> Json:
    return {"type": "server_tool_use", "id": name, "name": "web_search", "input": {}}


def found(name: str = "s1") -> Json:
    return {"type": "web_search_tool_result", "tool_use_id": name, "content": []}


def image(media_type: str = "image/png", data: str = "iVBORw0KGgo=") -> Json:
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def document(media_type: str = "application/pdf") -> Json:
    return {"type": "document", "source": {"type": "base64", "media_type": media_type, "data": "JVBERi0="}}


def tool(name: str, type: str = "object") -> Json:
    return {"name": name, "input_schema": {"type": type}}


def marked(life: str | None = None) -> Json:
    mark = {"type": "ephemeral", "ttl": life} if life else {"type": "ephemeral"}
    return {"type": "text", "text": "Remember.", "cache_control": mark}


MARK: Json = {"cache_control": {"type": "ephemeral"}}
COMPACTION: Json = {"type": "compaction", "content": "What happened.", "encrypted_content": "x"}
LOOP = (user("Go."), assistant(think(), call()), user(result()))


ASK, GO, THANKS = user("Hi."), user("Go."), user("Thanks.")
HI = body(ASK)
CALLED = body(GO, assistant(call()), user(result()))
THINKS: Json = {"type": "enabled", "budget_tokens": 1024}
SEALED: Json = {"type": "redacted_thinking", "data": "x"}


def called(*after: Json, **more: Any) -> Json:
    """A request in which a tool was called, and what follows."""
    return body(GO, assistant(call()), *after, **more)


FORCED = body(ASK, tools=[tool("a")]) | {"max_tokens": 4_000}


def choose(kind: str, **more: Any) -> Json:
    return {"tool_choice": {"type": kind, **more}}


# A rule, and where it is broken ("1.0" is the first block of the second message): a request that the rule
# takes, one that it refuses, and what else the check is told. Sonnet 5 is younger than Opus 4.8 and takes no
# system message all the same.
CASES: dict[str, tuple[Json, ...]] = {
    "malformed 1": (HI, body(ASK, {"role": "user"})),
    "no_message messages": (HI, body()),
    "unknown_role messages.1.role": (HI, body(ASK, message("developer", "Be brief."), user("Hm?"))),
    "first_not_user 0": (HI, body(assistant("Hello."), ASK)),
    "first_not_user 0 #2": (
        body(assistant(COMPACTION, "Done so far."), user("Go on.")),
        body(assistant("Done so far.", COMPACTION), user("Go on.")),
    ),
    "empty_message 1": (body(ASK, assistant("Hello."), GO), body(ASK, assistant(), GO)),
    "empty_text 0.1": (HI, body(user("Hi.", ""))),
    "empty_text 0.0": (body(user(" ", "Hi.")), body(user(" ", "\n"))),
    "empty_text 2.0.0": (CALLED, called(user(result("t1", {"type": "text", "text": ""})))),
    "misplaced_tool_block 0.1 0.2": (
        body(GO, assistant(search(), found()), THANKS),
        body(user("Go.", search(), found()), assistant("Found."), THANKS),
    ),
    "misshapen_id 1.0 2.0": (
        body(GO, assistant(call("call_1-a")), user(result("call_1-a"))),
        body(GO, assistant(call("call_1|fc")), user(result("call_1|fc"))),
    ),
    "repeated_id 3.0": (
        body(GO, assistant(call("a")), user(result("a")), assistant(call("b")), user(result("b"))),
        body(GO, assistant(call("a")), user(result("a")), assistant(call("a")), user(result("a"))),
    ),
    "input_not_object 1.0": (
        body(GO, assistant(call(command="ls")), user(result())),
        body(GO, assistant({**call(), "input": "ls"}), user(result())),
    ),
    "unanswered_call 1.1": (
        body(GO, assistant(call("a"), call("b")), user(result("a"), result("b"))),
        body(GO, assistant(call("a"), call("b")), user(result("a"), "Go on.")),
    ),
    "unanswered_call 1.0": (
        body(GO, assistant(call("a")), assistant(call("b")), user(result("a")), user(result("b"))),
        body(GO, assistant(call("a")), user("And?"), assistant("Hm."), GO),
    ),
    "orphan_result 2.0": (CALLED, body(GO, assistant("No."), user(result(), "Go on."))),
    "orphan_result 0.0": (body(GO), body(user(result(), "Go."))),
    "repeated_result 2.1": (CALLED, called(user(result(), result()))),
    "late_result 2.1": (called(user(result(), "And quickly.")), called(user("And quickly.", result()))),
    "unexplained_error 2.0": (
        called(user(result("t1", image(), is_error=True))),
        called(user(result(is_error=True))),
    ),
    "unpaired_server_tool 1.0 1.1": (
        body(GO, assistant(search("a"), found("a"), "Done."), THANKS),
        body(GO, assistant(search("a"), found("b"), "Done."), THANKS),
    ),
    "misplaced_system 1": (
        body(ASK, system("Be brief."), model="claude-opus-4-8"),
        body(ASK, system("Be brief."), model="claude-opus-4-7"),
    ),
    "misplaced_system 1 #2": (
        body(ASK, system("Be brief."), assistant("Hi."), GO, model="claude-opus-5"),
        body(ASK, system("Be brief."), GO, model="claude-opus-5"),
    ),
    "misplaced_system 1 #3": (
        body(ASK, system("Be brief."), model="claude-opus-4-8"),
        body(ASK, system("Be brief."), model="claude-sonnet-5"),
    ),
    "empty_compaction 0.0": (
        body(assistant({**COMPACTION, "content": None}), user("Go on.")),
        body(assistant({**COMPACTION, "content": ""}), user("Go on.")),
    ),
    "misplaced_thinking 0.1": (
        body(GO, assistant(think(), "Yes."), user("Good.")),
        body(user("Go.", think())),
    ),
    "unsealed_thinking 1.0": (
        body(GO, assistant(think("", "sealed"), "Yes."), user("Good.")),
        body(GO, assistant(think("Hm.", ""), "Yes."), user("Good.")),
    ),
    "unsealed_thinking 1.0 #2": (
        body(GO, assistant(SEALED, "Yes."), user("Good.")),
        body(GO, assistant({"type": "redacted_thinking"}, "Yes."), user("Good.")),
    ),
    "loop_without_thinking 1.0": (
        body(*LOOP, assistant(call("t2")), user(result("t2")), model="claude-sonnet-4-5"),
        body(
            GO,
            assistant(call()),
            user(result()),
            assistant(think(), call("t2")),
            user(result("t2")),
            model="claude-sonnet-4-5",
        ),
    ),
    "loop_without_thinking 1.0 #2": (
        body(*LOOP, max_tokens=4096, thinking=THINKS),
        body(*(LOOP[0], assistant(call()), LOOP[2]), max_tokens=4096, thinking=THINKS),
    ),
    "altered_thinking 1": (
        body(*LOOP, assistant(think("New."), call("t2")), user(result("t2"))),
        body(LOOP[0], assistant(call()), LOOP[2]),
        {"previous": body(*LOOP)},
    ),
    "unbound_thinking 1.0 3.0": (
        body(*LOOP, assistant(think("New."), "Done."), THANKS),
        body(user("Go!"), *LOOP[1:], assistant(think("New."), "Done."), THANKS),
        {"previous": body(*LOOP), "model_class": "bound"},
    ),
    "prefill 1": (
        body(ASK, assistant("Well,"), model="claude-sonnet-4-5"),
        body(ASK, assistant("Well,"), model="claude-sonnet-4-6"),
    ),
    "prefill 1 #2": (
        body(ASK, assistant("Well,"), model="gpt-4o"),
        body(ASK, assistant("Well,"), model="mine"),
    ),
    "lone_surrogate 0.0": (body(user("Hi \U0001f600")), body(user("Hi \ud83d"))),
    "lone_surrogate system": (body(ASK, system="é"), body(ASK, system="\udc00")),
    "unknown_media 0.0": (body(user(image("image/webp"))), body(user(image("image/bmp")))),
    "unknown_media 0.0 #2": (body(user(document())), body(user(document("text/csv")))),
    "too_many_images 0.100": (
        body(user(*[image()] * 100), model="claude-opus-4-5"),
        body(user(*[image()] * 101), model="claude-opus-4-5"),
    ),
    "too_many_images 0.600": (body(user(*[image()] * 600)), body(user(*[image()] * 601))),
    "oversized_image 0.3": (
        body(user(*[image()] * 20)),
        body(user(*[image()] * 21)),
        {"sizes": [Size("messages.0.content.2", 2000, 2000), Size("messages.0.content.3", 2001, 10)]},
    ),
    "heavy_image 2.0": (
        body(user(image(data="A" * 5_242_880))),
        body(user(image()), assistant("Yes."), user(image(data="A" * 5_242_884))),
    ),
    "heavy_image 2.0.0": (
        called(user(result("t1", image()))),
        called(user(result("t1", image(data="A" * 5_242_884)))),
    ),
    "misplaced_media 1.0 1.1": (
        body(user(image(), document()), assistant("Nice."), user("So?")),
        body(user("Draw."), assistant(image(), document(), "There."), user("So?")),
    ),
    "unknown_block 0.0": (
        body(user({"type": "search_result", "source": "x", "title": "x", "content": []})),
        body(user({"type": "hologram"})),
    ),
    "unknown_block 2.0.0": (
        called(user(result("t1", {"type": "tool_reference", "tool_name": "x"}))),
        called(user(result("t1", call("t2")))),
    ),
    "trailing_space 1.0": (
        body(ASK, assistant("Well,"), model="claude-sonnet-4-5"),
        body(ASK, assistant("Well, "), model="claude-sonnet-4-5"),
    ),
    "final_thinking 3.1": (
        body(*LOOP, assistant(think(), "Done."), THANKS),
        body(*LOOP, assistant("Done.", think()), THANKS),
    ),
    "final_thinking 2.0": (
        body(GO, assistant(SEALED), assistant("Done."), user("So?")),
        body(GO, assistant("Hm."), assistant(SEALED), user("So?")),
    ),
    "large_budget thinking": (
        body(ASK, max_tokens=1025, thinking=THINKS),
        body(ASK, max_tokens=1024, thinking=THINKS),
    ),
    "large_budget thinking #2": (
        body(ASK, thinking={"type": "adaptive"}),
        body(ASK, thinking={"type": "enabled", "budget_tokens": 99}),
    ),
    "misnamed_tool tools.0 tools.1 tools.2": (
        body(ASK, tools=[tool("mcp__db-1"), tool("x" * 128)]),
        body(ASK, tools=[tool("db.query"), tool("x" * 129), tool("")]),
    ),
    "misnamed_tool 1.0": (CALLED, body(GO, assistant({**call(), "name": "functions.read"}), user(result()))),
    "repeated_tool tools.2": (
        body(ASK, tools=[tool("read"), tool("write")]),
        body(ASK, tools=[tool("read"), tool("write"), tool("read")]),
    ),
    "malformed_tool tools.0 tools.1 tools.2 tools.3": (
        body(ASK, tools=[{"type": "memory_20250818", "name": "memory"}, {"type": "custom", **tool("a")}]),
        body(
            ASK, tools=["bash", {"name": "a"}, {"input_schema": {"type": "object"}}, tool("b", type="string")]
        ),
    ),
    "malformed_tool tools": (body(ASK, tools=[]), body(ASK, tools={"a": 1})),
    "too_many_marks 2.1": (
        body(
            user("Hi.", marked()),
            tools=[{**tool("a"), **MARK}],
            system=[{"type": "text", "text": "Be kind.", **MARK}],
            **MARK,
        ),
        body(
            GO,
            assistant(call()),
            user(result("t1", marked()), marked()),
            tools=[{**tool("a"), **MARK}],
            system=[{"type": "text", "text": "Be kind.", **MARK}],
            **MARK,
        ),
    ),
    "late_long_mark 0.1": (
        body(user(marked("1h"), marked("5m"), marked())),
        body(user(marked(), marked("1h")), tools=[{**tool("a"), **MARK}]),
    ),
    "late_long_mark cache_control": (
        body(user("Hi.", marked("1h")), cache_control={"type": "ephemeral", "ttl": "1h"}),
        body(user("Hi.", marked("1h")), **MARK),
    ),
    "marked_thinking 1.0": (
        body(*LOOP[:1], assistant(think(), {**call(), **MARK}), *LOOP[2:]),
        body(*LOOP[:1], assistant({**think(), **MARK}, call()), *LOOP[2:]),
    ),
    "unknown_cache_life tools.0 0.1": (
        body(user("Hi.", marked("1h"), marked("5m"))),
        body(
            user("Hi.", marked("2h")),
            tools=[{**tool("a"), "cache_control": {"type": "ephemeral", "ttl": 300}}],
        ),
    ),
    "unknown_cache_life cache_control": (
        body(ASK, cache_control={"type": "ephemeral", "ttl": "1h"}),
        body(ASK, cache_control={"type": "ephemeral", "ttl": "24h"}),
    ),
    "body_too_large": (body(user("x" * 31_000_000)), body(user("é" * 16_000_000))),
    "too_many_messages 100000": (body(*[user("x")] * 100_000), body(*[user("x")] * 100_001)),
    **{
        f"forced_tool_with_thinking tool_choice #{kind}{at}": (FORCED | taken, FORCED | refused)
        for kind, on in enumerate(({"type": "enabled", "budget_tokens": 2_000}, {"type": "adaptive"}))
        for at, (taken, refused) in enumerate(
            (
                ({"thinking": on, **choose("auto")}, {"thinking": on, **choose("tool", name="a")}),
                ({"thinking": {"type": "disabled"}, **choose("any")}, {"thinking": on, **choose("any")}),
            )
        )
    },
    **{
        f"malformed_length max_tokens #{most!r}": (HI, {**HI, "max_tokens": most})
        for most in (-1, 100.5, "100", True, None)
    },
}


def rules(request: Json, **options: Any) -> list[tuple[str, str]]:
    return [(violation.rule, violation.path) for violation in check_request(request, **options)]


def spell(path: str) -> str:
    """The whole path of a message or a block in it."""
    return f"messages.{path.replace('.', '.content.')}" if path.replace(".", "").isdigit() else path


@pytest.mark.parametrize("case", CASES)
def test_a_rule_takes_one_request_and_refuses_the_other(case: str) -> None:
    rule, *places = case.partition(" #")[0].split(" ")
    taken, refused, *more = CASES[case]
    options = more[0] if more else {}
    assert rules(taken, **options) == []
    assert rules(refused, **options) == [(rule, spell(place)) for place in places or [""]]


def test_every_rule_has_a_case() -> None:
    assert {check.__name__ for check in CHECKS} == {f"find_{case.partition(' ')[0]}" for case in CASES}


def test_every_rule_cites_its_source() -> None:
    cited = re.compile(r"§\d|[\w-]+#\d+")
    assert [check.__name__ for check in CHECKS if not cited.search(check.__doc__ or "")] == []


def test_no_image_may_have_an_edge_over_8000_pixels() -> None:
    sizes = [Size("messages.0.content.0", 8000, 8000), Size("messages.0.content.1", 8001, 1)]
    assert rules(body(user(image(), image())), sizes=sizes) == [("oversized_image", "messages.0.content.1")]


def test_a_violation_tells_what_the_provider_would_answer() -> None:
    (violation,) = check_request(body(user("Go."), assistant(call()), user("And?")))
    assert violation.sentence == "the call 't1' of 'Bash' is not answered in the next message"
    assert violation.provider_error == (
        "400 invalid_request_error: messages.1: `tool_use` ids were found without `tool_result` blocks "
        "immediately after: t1"
    )


def test_too_large_a_body_is_not_the_error_of_too_many_tokens() -> None:
    (violation,) = check_request(body(user("x" * 33_000_000)))
    assert violation.provider_error.startswith("413 request_too_large")
    assert violation.sentence == "the body has 33.0 MB, more than 32"


words = st.sampled_from(
    "role content type text user assistant tool_use tool_result id tool_use_id input thinking signature data "
    "image source base64 media_type compaction server_tool_use t1 name system is_error".split()
)
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)
# Nearly a request: junk where a value belongs.
pieces = junk | st.dictionaries(words, junk | words, max_size=5).map(lambda d: {"type": "text", **d})
contents = junk | st.lists(pieces, max_size=3)
talks = st.lists(junk | st.fixed_dictionaries({"role": junk | words, "content": contents}), max_size=4)
near = st.fixed_dictionaries(
    {"messages": junk | talks},
    optional={"model": junk, "system": junk, "tools": junk, "thinking": junk},
)


@given(near, near)
def test_a_request_of_any_shape_is_checked_and_nothing_is_raised(request: Json, previous: Json) -> None:
    for violation in check_request(request, previous=previous, model_class="bound"):
        assert violation.sentence
        assert violation.provider_error.startswith("4")


# Thinking.


def test_adaptive_thinking_may_begin_a_loop_with_a_call() -> None:
    late = [
        user("Go."),
        assistant(call()),
        user(result()),
        assistant(think(), call("t2")),
        user(result("t2")),
    ]
    assert rules(body(*late, model="claude-opus-4-6")) == []
    assert rules(body(*late, model="claude-sonnet-4-5", thinking={"type": "adaptive"})) == []


def bound(*messages: Json, **head: Any) -> list[str]:
    violations = check_request(body(*messages, **head), model_class="bound", previous=PREVIOUS)
    assert {violation.rule for violation in violations} <= {"unbound_thinking"}
    return [violation.path for violation in violations]


TURNS = (
    user("Go."),
    assistant(think("A"), "Yes."),
    user("More."),
    assistant(think("B"), "Yes."),
    user("End."),
)
PREVIOUS = body(*TURNS, system="Be good.", tools=[tool("a"), tool("b")])
HEAD: Json = {"system": "Be good.", "tools": [tool("a"), tool("b")]}


def test_bound_thinking_goes_where_its_prefix_is_whole() -> None:
    assert bound(*TURNS, **HEAD) == []
    assert bound(*TURNS, assistant(think("C"), "Yes."), user("Bye."), **HEAD) == []
    assert bound(*TURNS[:3], **HEAD) == []


def test_bound_thinking_is_lost_behind_an_edit_and_kept_before_it() -> None:
    assert bound(*TURNS[:2], user("Less."), *TURNS[3:], **HEAD) == ["messages.3.content.0"]
    assert bound(user("A summary."), *TURNS[3:], **HEAD) == ["messages.1.content.0"]
    assert bound(TURNS[0], assistant("Yes."), *TURNS[2:], **HEAD) == ["messages.3.content.0"]


def test_bound_thinking_is_lost_when_the_head_changes() -> None:
    both = ["messages.1.content.0", "messages.3.content.0"]
    assert bound(*TURNS, system="Be bad.", tools=HEAD["tools"]) == both
    assert bound(*TURNS, system="Be good.", tools=[tool("a")]) == both


def test_the_servers_own_compaction_keeps_the_binding() -> None:
    kept = (assistant(COMPACTION), user("More."), *TURNS[3:])
    assert bound(*kept, **HEAD) == []
    edited = (assistant(COMPACTION), user("More."), assistant("No."), *TURNS[3:])
    assert bound(*edited, **HEAD) == ["messages.3.content.0"]


def test_behind_a_compaction_that_was_sent_before_what_followed_it_must_still_follow() -> None:
    sent = (assistant(COMPACTION), user("More."), *TURNS[3:])
    for now, lost in ((sent, []), ((sent[0], *sent[2:]), ["messages.1.content.0"])):
        found = check_request(body(*now), model_class="bound", previous=body(*sent))
        assert [violation.path for violation in found] == lost


def test_a_late_result_far_into_the_talk_names_the_message_of_its_call() -> None:
    talk = [user("Go."), assistant("Yes."), user("On."), assistant(call())]
    (violation,) = check_request(body(*talk, user("Look:", result())))
    assert violation.provider_error.startswith("400 invalid_request_error: messages.3: `tool_use` ids were")


SHORT_MARK = {"type": "ephemeral"}
LONG_MARK = {"type": "ephemeral", "ttl": "1h"}


@pytest.mark.parametrize(
    ("marks", "automatic", "refused"),
    [
        ((SHORT_MARK, None), SHORT_MARK, False),
        ((SHORT_MARK, None), LONG_MARK, True),
        ((LONG_MARK, None), SHORT_MARK, False),
        ((LONG_MARK, None), LONG_MARK, False),
        ((None, SHORT_MARK), SHORT_MARK, False),
        ((None, SHORT_MARK), LONG_MARK, True),
        ((None, LONG_MARK), SHORT_MARK, True),
        ((None, LONG_MARK), LONG_MARK, False),
        ((None, None), LONG_MARK, False),
    ],
)
def test_the_automatic_cache_mark_is_the_last_of_its_request(
    marks: tuple[Json | None, Json | None], automatic: Json, refused: bool
) -> None:
    """It stands on the last block: no other life there, and no hour after five minutes."""
    blocks = [
        {"type": "text", "text": "Go."} | ({"cache_control": mark} if mark is not None else {})
        for mark in marks
    ]
    sentences = [one.sentence for one in check_request(body(user(*blocks), cache_control=automatic))]
    said = "the automatic cache mark and the last differ in ttl"
    assert sentences == ([said] if refused else [])


# Rendering.


def piece(role: str, block: Any, at: int = 0) -> Piece:
    block = Text(text=block) if isinstance(block, str) else block
    return Piece(block, role, at, (BlockRef(f"e{at}", 0),), "verbatim", 1)


def context(*pieces: tuple[str, Any], **head: Any) -> Context:
    made = tuple(piece(role, block, at) for at, (role, block) in enumerate(pieces))
    return Context(
        head.get("system", ()), head.get("tools", ()), head.get("provided", ()), made, 0, "claude-opus-4-6"
    )


def output(name: str, *parts: Any, **more: Any) -> ToolOutput:
    texts = tuple(Text(text=part) if isinstance(part, str) else part for part in parts)
    return ToolOutput(call_id=name, parts=texts, **more)


def bash(name: str) -> ToolCall:
    return ToolCall(id=name, name="Bash", input={})


def test_a_context_renders_to_a_request() -> None:
    whole = context(
        ("user", "Look."),
        ("assistant", Reasoning(text="Hm.", signature="sealed")),
        ("assistant", Reasoning(encrypted="secret")),
        ("assistant", "I look."),
        ("assistant", ToolCall(id="t1", name="Read", input={"path": "a.png"})),
        ("tool", output("t1", "A picture.", Image(media_type="image/png", width=3, height=4, data="iVBO"))),
        ("user", Document(media_type="text/plain", title="Notes", text="note")),
        ("user", Image(url="https://example.org/a.png")),
        system=(Text(text="Be good."),),
        tools=(Tool(name="Read", description="Reads.", input_schema={"type": "object"}), Tool(name="Now")),
        provided=(Provided(name="clock", text="Noon."),),
    )
    rendered = render_request(whole, max_tokens=100)
    note = {"type": "text", "media_type": "text/plain", "data": "note"}
    assert rendered.request == {
        "model": "claude-opus-4-6",
        "max_tokens": 100,
        "system": [{"type": "text", "text": "Be good."}, {"type": "text", "text": "[clock]\nNoon."}],
        "tools": [
            {"name": "Read", "description": "Reads.", "input_schema": {"type": "object"}},
            {"name": "Now", "input_schema": {"type": "object"}},
        ],
        "messages": [
            user("Look."),
            assistant(
                *(think(), {"type": "redacted_thinking", "data": "secret"}, "I look."),
                {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a.png"}},
            ),
            user(
                result("t1", {"type": "text", "text": "A picture."}, image(data="iVBO")),
                {"type": "document", "source": note, "title": "Notes"},
                {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
            ),
        ],
    }
    assert (rendered.left_out, rendered.replaced) == ((), ())
    assert rendered.sizes == (Size("messages.2.content.0.content.1", 3, 4),)
    assert check_context(whole) == ()


def test_all_results_of_parallel_calls_come_first_in_the_next_message() -> None:
    parallel = context(
        ("user", "Go."),
        ("assistant", bash("a")),
        ("assistant", bash("b")),
        ("tool", output("a", "1")),
        ("user", "A reminder."),
        ("tool", output("b", "2")),
    )
    one, two = {"type": "text", "text": "1"}, {"type": "text", "text": "2"}
    assert render_request(parallel).request["messages"][2] == user(
        result("a", one), result("b", two), "A reminder."
    )
    assert check_context(parallel) == ()


def test_what_cannot_be_sent_is_left_out_and_named() -> None:
    rendered = render_request(
        context(
            ("user", "Go."),
            ("assistant", Reasoning(text="Unsigned.")),
            ("developer", "Be brief."),
            ("user", Unknown(type="hologram", raw={"type": "hologram"})),
            ("user", Image(media_type="image/png")),
            ("user", " \n"),
            ("user", output("a", "1", Unknown(type="ui", raw={"type": "ui"}))),
            system=(Image(url="https://example.org/a.png"),),
            tools=(Tool(name="Odd", input_schema="none"),),
            provided=(Provided(name="clock", text=" "),),
        )
    )
    assert [(left.where, left.reason) for left in rendered.left_out] == [
        ("system.0", "the system prompt can hold only text"),
        ("provided.0", "a text of white space alone is refused"),
        ("tools.0.input_schema", "a tool's schema must be an object"),
        ("pieces.1", "reasoning without its signature cannot be sent as thinking"),
        ("pieces.2", "there is no role 'developer' on the wire"),
        ("pieces.3", "the wire has no block of type 'hologram' here"),
        ("pieces.4", "this image has neither data with its media type nor an address"),
        ("pieces.5", "a text of white space alone is refused"),
        ("pieces.6.parts.1", "the wire has no block of type 'ui' here"),
    ]
    assert rendered.left_out[3].origin == (BlockRef("e1", 0),)


def test_unknown_blocks_of_the_wire_pass_untouched() -> None:
    raw = {
        "type": "compaction",
        "content": "So far.",
        "encrypted_content": "x",
        "new_field": [1, {"a": None}],
    }
    passed = context(
        ("assistant", Unknown(type="compaction", raw=raw)),
        ("assistant", Unknown(type="server_tool_use", raw=search())),
        ("assistant", Unknown(type="web_search_tool_result", raw=found())),
        ("user", "Go on."),
    )
    assert render_request(passed).request["messages"][0] == assistant(raw, search(), found())
    assert check_context(passed) == ()


def test_bound_thinking_is_found_from_contexts() -> None:
    before = context(
        ("user", "Go."), ("assistant", Reasoning(signature="s")), ("assistant", "Yes."), ("user", "More.")
    )
    after = context(
        ("user", "Went."), ("assistant", Reasoning(signature="s")), ("assistant", "Yes."), ("user", "More.")
    )
    assert check_context(before, model="claude-opus-5-5", previous=before) == ()
    (violation,) = check_context(after, model="claude-opus-5-5", previous=before)
    assert (violation.rule, violation.path) == ("unbound_thinking", "messages.1.content.0")
    assert check_context(after, model="claude-opus-5", previous=before) == ()


def test_inputs_of_any_depth_are_rendered_and_checked() -> None:
    deep: Any = "\ud800"
    for _ in range(5_000):
        deep = [deep]
    nested = context(
        ("user", "Go."),
        ("assistant", ToolCall(id="a", name="Bash", input={"x": deep})),
        ("user", output("a", "1")),
    )
    assert len(render_request(nested).replaced) == 1
    assert check_context(nested) == ()


# Laws.

texts = st.text(st.characters() | st.characters(categories=["Cs"]), max_size=8)
names = st.sampled_from(["t1", "t2", "t3"])
parts = st.builds(Text, text=texts) | st.builds(
    Image,
    media_type=st.none() | st.just("image/png"),
    data=st.none() | st.just("iVBO"),
    url=st.none() | texts,
)
blocks = (
    parts
    | st.builds(Reasoning, text=texts, signature=st.none() | texts, encrypted=st.none() | texts)
    | st.builds(
        ToolCall, id=names, name=st.just("Bash"), input=st.none() | st.dictionaries(texts, texts, max_size=2)
    )
    | st.builds(
        ToolOutput, call_id=names, parts=st.lists(parts, max_size=2).map(tuple), is_error=st.booleans()
    )
    | st.builds(Document, media_type=st.just("text/plain"), text=texts, title=st.none() | texts)
    | st.builds(
        Unknown, type=texts, raw=st.none() | st.fixed_dictionaries({"type": texts | st.just("fallback")})
    )
)
roles = st.sampled_from(["user", "assistant", "tool", "system", "other"])
contexts = st.builds(
    lambda pieces, sent, contributed: Context(
        tuple(Text(text=text) for text in sent),
        (),
        tuple(Provided(name=text, text=text) for text in contributed),
        tuple(piece(role, block, at) for at, (role, block) in enumerate(pieces)),
    ),
    st.lists(st.tuples(roles, blocks), max_size=12),
    st.lists(texts, max_size=2),
    st.lists(texts, max_size=2),
)
ALWAYS_KEPT = {
    *("malformed", "unknown_role", "empty_message", "empty_text", "late_result", "lone_surrogate"),
    *("unsealed_thinking", "input_not_object"),
}


@given(contexts)
def test_a_rendered_request_never_breaks_the_rules_that_rendering_keeps(drawn: Context) -> None:
    rendered = render_request(drawn)
    assert {violation.rule for violation in check_request(rendered.request)}.isdisjoint(ALWAYS_KEPT)
    json.dumps(rendered.request, ensure_ascii=False).encode()


@given(contexts)
def test_every_piece_is_sent_or_left_out_or_empty(drawn: Context) -> None:
    rendered = render_request(drawn)
    sent = set(rendered.pieces.values())
    named = {int(left.where.split(".")[1]) for left in rendered.left_out if left.where.startswith("pieces.")}
    silent = {at for at, piece in enumerate(drawn.pieces) if piece.block == Text(text="")}
    assert sent | named | silent == set(range(len(drawn.pieces)))
    spread = {
        (i, j)
        for i, message in enumerate(rendered.request["messages"])
        for j in range(len(message["content"]))
    }
    assert spread == set(rendered.pieces)


@given(contexts)
def test_rendering_leaves_the_context_alone(drawn: Context) -> None:
    before = copy.deepcopy(drawn)
    rendered = render_request(drawn)
    check_request(rendered.request, previous=rendered.request, model_class="bound")
    assert drawn == before


@given(contexts)
def test_an_unedited_request_keeps_all_its_thinking(drawn: Context) -> None:
    request = render_request(drawn).request
    violations = check_request(request, previous=request, model_class="bound")
    assert {violation.rule for violation in violations}.isdisjoint({"unbound_thinking", "altered_thinking"})


@cache
def provider_types() -> Any:
    beta = pytest.importorskip("anthropic.types.beta")
    return TypeAdapter(beta.BetaContentBlockParam)


def test_the_providers_own_types_refuse_what_is_none() -> None:
    with pytest.raises(ValidationError):
        provider_types().validate_python({"type": "hologram"})
    with pytest.raises(ValidationError):
        provider_types().validate_python({"type": "thinking", "thinking": "Hm."})


@given(contexts)
def test_a_rendered_block_is_one_the_providers_own_types_take(drawn: Context) -> None:
    takes = provider_types().validate_python
    for message in render_request(drawn).request["messages"]:
        for block in message["content"]:
            # Foreign blocks are passed on as they are, whole or not.
            if block["type"] != "fallback":
                takes(block)
                for part in block.get("content", []):
                    takes(part)


@given(contexts)
def test_S0_39_reasoning_on_the_wire_is_reasoning_of_the_context_to_the_byte(drawn: Context) -> None:
    reasoning = [piece.block for piece in drawn.pieces if isinstance(piece.block, Reasoning)]
    sealed = {(block.text, block.signature) for block in reasoning}
    redacted = {block.encrypted for block in reasoning}
    for message in render_request(drawn).request["messages"]:
        for block in message["content"]:
            if block["type"] == "thinking":
                assert (block["thinking"], block["signature"]) in sealed
            if block["type"] == "redacted_thinking":
                assert block["data"] in redacted


# Real transcripts, and what a published system makes of one.


@needs_shared
def test_S3_5_a_dropped_middle_that_orphans_a_result_is_refused() -> None:
    path = SHARED / "vectors" / "tiered" / "035-drop-middle-orphans-result.json"
    vector = json.loads(path.read_text("utf-8"))

    def spelt(block: Any) -> Any:
        if isinstance(block, dict) and block["type"] == "tool_use":
            used = block["toolUse"]
            return ToolCall(id=used["id"], name=used["name"], input=used["input"])
        if isinstance(block, dict) and block["type"] == "tool_result":
            answered = block["result"]
            return output(answered["toolUseId"], answered["content"])
        return block if isinstance(block, str) else block["text"]

    def found_in(messages: list[Json]) -> list[tuple[str, str]]:
        contents = [(message["role"], message["content"]) for message in messages]
        said = [
            (role, spelt(block))
            for role, content in contents
            for block in ([content] if isinstance(content, str) else content)
        ]
        violations = check_context(context(*said), awaits_user=True)
        return [(violation.rule, violation.sentence) for violation in violations]

    assert found_in(vector["input"]["messages"]) == []
    assert found_in(vector["output"]["messages"]) == [
        ("orphan_result", "nothing in the previous message made the call 'cut'")
    ]


@needs_shared
def test_what_claude_code_sent_breaks_no_rule() -> None:
    """Only a call that was interrupted stands open: the tool's answer is written when the user goes on."""
    paths = sorted((SHARED / "sessions").glob("claude-code*/*.jsonl"))
    small = [path for path in paths if path.stat().st_size < 800_000]
    assert small
    for path in small:
        session = open_session(path)
        standing = live_context(session, count_tokens(session))
        broken = {violation.rule for violation in check_context(standing, awaits_user=True)}
        assert broken <= {"unanswered_call"}, path.name
        reasons = {left.reason for left in render_request(standing).left_out}
        assert reasons <= {"a text of white space alone is refused"}, path.name


def test_what_should_be_thinking_is_the_first_block_of_the_loop_s_first_turn() -> None:
    """The turn says something, calls, and says no more: the provider names its first block."""
    thinks = {"max_tokens": 4096, "thinking": {"type": "enabled", "budget_tokens": 1024}}
    faults = check_request(body(user("Go."), assistant("Let me see.", call()), user(result()), **thinks))
    (fault,) = (one for one in faults if one.rule == "loop_without_thinking")
    assert fault.path == "messages.1.content.0" and "found `text`" in fault.provider_error


def test_the_last_words_of_openais_assistant_are_no_prefill() -> None:
    """Messages in a form that only OpenAI's API takes, of a model that the file does not name."""
    call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    messages: list[Json] = [
        {"role": "user", "content": "List."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
        {"role": "assistant", "content": "One file. "},
    ]
    plain = [messages[0], messages[3]]
    lines = "\n".join(map(json.dumps, messages)).encode()
    for content, rules in ((messages, []), (lines, []), (plain, ["prefill", "trailing_space"])):
        session = read_session(content)
        found = check_context(live_context(session, count_tokens(session)))
        assert [violation.rule for violation in found] == rules
