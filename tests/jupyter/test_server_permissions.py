"""Permissions, fields and sizes of the messages that a real Jupyter server accepts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import pytest

from tests.browser.screen import ROOT
from tests.jupyter.test_server import Answer, Server, start, wait_for_summary
from tests.loopback import KEY, Loopback

BY_HEADER = """
from jupyter_server.auth import Authorizer

class ByHeader(Authorizer):
    def is_authorized(self, handler, user, action, resource):
        return f"{action}:{resource}" in handler.request.headers.get("X-Permissions", "").split()
"""
READER = "read:contents"
WRITER = "read:contents write:contents"
RUNNER = "read:contents execute:kernels"
OWNER = "read:contents write:contents execute:kernels"


@pytest.fixture(scope="module")
def provider() -> Iterator[Loopback]:
    with Loopback() as started:
        yield started


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, provider: Loopback) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("permissions")
    (home / "permissions.py").write_text(BY_HEADER)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_API_KEY", KEY)
        patch.setenv("ANTHROPIC_BASE_URL", provider.url)
        patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        with start(home, "--ServerApp.authorizer_class=permissions.ByHeader") as started:
            yield started


def ask_as(server: Server, who: str, route: str, body: object) -> Answer:
    headers = {"Authorization": f"token {server.token}", "X-Permissions": who}
    return server.ask("POST", f"inspector/{route}", body, headers)


def ask_of(server: Server, who: str, document: str, **body: Any) -> Answer:
    """Ask a question of an open document."""
    return ask_as(server, who, f"documents/{document}/ask", body)


def open_as(server: Server, who: str) -> str:
    body = {"path": "story.jsonl", "wanted": {"policy": "flue", "cut": "end"}}
    document: str = ask_as(server, who, "open", body).frame["document"]
    return document


def is_kept(server: Server) -> bool:
    return any((server.root.parent / "cache").rglob("written/*.json"))


FIELDS = {"by": "extractive", "model": "", "focus": "", "keep": []}
READING: dict[str, dict[str, Any]] = {
    "rows": {"from": 0, "to": 2},
    "body": {"row": 0, "place": 3},
    "summary": {"place": 3, "versus": False},
    "search": {"query": "tide"},
    "lesson": {"place": 3},
    "settings_file": {"name": "settings.json", "text": '{"compaction": {"warn": 0.7}}'},
    "compactions": {"place": 3},
    "selection": {"place": 3, "look": "", "from": 0, "to": 2},
    "context": {"place": 3, "from": 0, "to": 2, "most": 100},
    "context_facts": {"place": 3, "pair": "before"},
    "summaries": {"place": 3},
    "facts": {"place": 3, "query": "", "kind": "", "outcome": "", "from": 0, "to": 2},
    "findings": {"place": 3, "look": ""},
    "story": {"place": 3, "number": 0, "pick": ""},
    "regret": {},
    "grounding": {"row": 0},
    "losses": {"place": 3},
    "rules": {},
    "policies": {},
    "policy_results": {"from": 0, "to": 1},
    "review": {},
    "export": {"keep": [], "policies": ["flue"]},
    "plans": {},
    "open_plan": {"name": "none.plan.json"},
    "preview_file": {"kind": "compacted", "at": ""},
    "sending": FIELDS,
    "writing": {"from": 0},
    "stop": {"what": "summary"},
}
WRITING: dict[str, dict[str, Any]] = {
    "judge": {"place": 3, "number": 0, "pick": "", "verdict": "right"},
    "summarise": {**FIELDS, "digest": "", "text": ""},
    "unsummarise": {},
}
ELSEWHERE = {"save", "write_file", "code"}
"""Messages that are not questions: two write files, and only a kernel answers the third."""


def test_every_message_of_the_screen_is_known_to_need_reading_or_writing() -> None:
    text = (ROOT / "js/src/payloads/requests.ts").read_text("utf-8")
    questions = text[text.index("interface Questions {") :]
    listed = re.findall(r"^  (\w+):", questions[: questions.index("\n}")], re.MULTILINE)
    assert len(listed) > 25
    assert {*listed} == {*READING, *WRITING, *ELSEWHERE} - {"stop"}


def test_who_may_read_may_ask(server: Server) -> None:
    document = open_as(server, READER)
    for kind, fields in READING.items():
        body = {"type": kind, "id": 1, **fields}
        answer = ask_of(server, READER, document, **body)
        assert answer.status == 200, (kind, answer.body)
        assert ask_as(server, "", f"documents/{document}/ask", body).status == 403
    assert not is_kept(server)


def test_who_may_not_read_the_servers_files_is_told_of_no_session(server: Server) -> None:
    headers = {"Authorization": f"token {server.token}", "X-Permissions": "write:contents"}
    assert server.ask("GET", "inspector/sessions", headers=headers).status == 403
    known = {"known": str(server.root / "story.jsonl"), "wanted": {}}
    assert ask_as(server, "write:contents", "open", known).status == 403


@pytest.mark.parametrize("kind", WRITING)
@pytest.mark.parametrize("who", [READER, RUNNER])
def test_what_is_kept_needs_permission_to_write(server: Server, kind: str, who: str) -> None:
    document = open_as(server, who)
    answer = ask_of(server, who, document, type=kind, id=1, **WRITING[kind])
    assert answer.status == 403 and "write" in answer.json["message"]
    assert not is_kept(server)


@pytest.mark.parametrize("by", ["model", "extractive", "pasted"])
def test_no_file_is_written_and_no_summary_kept_for_a_reader(server: Server, by: str) -> None:
    document = open_as(server, READER)
    request = {**FIELDS, "type": "summarise", "by": by, "digest": "", "text": "So far: a calendar."}
    assert ask_of(server, READER, document, **request).status == 403
    for kind in ("save", "write_file"):
        body = {"type": kind, "id": 1, "name": "story.plan.json"}
        assert ask_as(server, READER, f"documents/{document}/save", body).status == 403
    assert not is_kept(server) and not list(server.root.glob("*.plan.json"))


OTHERS = ("Model", "MODEL", " model", "model ", "model\u200b", "claude", "", "None")


@pytest.mark.parametrize("who", [READER, WRITER, RUNNER, OWNER])
def test_only_a_writer_that_is_named_exactly_is_accepted(
    server: Server, provider: Loopback, who: str
) -> None:
    document = open_as(server, who)
    preview = ask_of(server, who, document, **FIELDS | {"type": "sending", "by": "model"}).json
    before = len(provider.received)
    others = (*OTHERS, None, 7, True, [], ["model"], {"model": 1})
    for request in ({}, *({"by": by} for by in others)):
        body = {"type": "summarise", "model": "", "digest": preview["digest"], **request}
        answer = ask_of(server, who, document, **body)
        assert answer.status == 400 and "by" in answer.json["message"]
        other = {"type": "sending", "model": "", **request}
        assert ask_of(server, who, document, **other).status == 400
    assert ask_of(server, who, document, type="writing").json["state"] == "none"
    assert len(provider.received) == before and not is_kept(server)


def test_calling_a_model_needs_permission_to_run_code_and_to_write(
    server: Server, provider: Loopback
) -> None:
    def call_model(who: str) -> Answer:
        document = open_as(server, who)
        request = {**FIELDS, "by": "model", "model": "claude-opus-4-5"}
        preview = ask_of(server, who, document, **request | {"type": "sending"}).json
        body = {**request, "type": "summarise", "digest": preview["digest"], "text": ""}
        answer = ask_of(server, who, document, **body)
        if answer.status == 200:
            wait_for_summary(lambda: ask_of(server, who, document, type="writing").json)
        return answer

    for who, word in ((READER, "run code"), (WRITER, "run code"), (RUNNER, "write")):
        answer = call_model(who)
        assert answer.status == 403 and word in answer.json["message"]
    assert not provider.asked
    assert call_model(OWNER).status == 200
    assert provider.asked
    document = open_as(server, OWNER)
    ask_of(server, OWNER, document, type="unsummarise")
    assert not is_kept(server)


UNKNOWN = (None, [], {}, 7, True, 0.5, "", "dance", "Rows", "save", "write_file", "code", "__class__", "é")


def test_a_message_of_an_unknown_type_is_refused(server: Server) -> None:
    document = open_as(server, OWNER)
    for kind in UNKNOWN:
        answer = ask_of(server, OWNER, document, type=kind, id="q")
        assert answer.status == 400, kind
        assert (answer.json["type"], answer.json["id"]) == ("error", "q") and answer.json["message"]
        if kind not in ("save", "write_file"):
            assert ask_as(server, OWNER, f"documents/{document}/save", {"type": kind}).status == 400, kind
    assert not list(server.root.glob("*.plan.json"))


WRONG: dict[type, tuple[object, ...]] = {
    int: ("7", 1.5, True, None, [0], {"0": 0}),
    str: (7, True, None, ["tide"], {"a": 1}),
    bool: ("yes", 0, None, []),
    list: ("cut", 7, None, {"0": "cut"}, [7], ["cut", None], [["cut"]]),
}


def test_every_field_has_its_type(server: Server) -> None:
    document = open_as(server, OWNER)
    for kind, fields in (READING | WRITING).items():
        for name, right in fields.items():
            for wrong in WRONG[type(right)]:
                body = {"type": kind, "id": 1, **fields, name: wrong}
                answer = ask_of(server, OWNER, document, **body)
                assert answer.status == 400, (kind, name, wrong, answer.body)
                assert name in answer.json["message"]
    assert not is_kept(server)


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("open", []),
        ("open", {}),
        ("open", {"path": 7}),
        ("open", {"path": ["story.jsonl"]}),
        ("open", {"path": "story.jsonl", "wanted": []}),
        ("open", {"path": "story.jsonl", "wanted": {"_seq": "1"}}),
        ("open", {"path": "story.jsonl", "wanted": {"replay": 1}}),
        ("open", {"path": "story.jsonl", "wanted": {"scenario": "perhaps"}}),
        ("open", {"path": "story.jsonl", "wanted": {"scenario": ["accepts"]}}),
        ("open", {"bundled": "yes"}),
        ("open", {"bundled": 1}),
        ("open", {"path": "story.jsonl", "wanted": None}),
        ("open", {"path": "story.jsonl", "wanted": {"tab": 7}}),
        ("open", {"path": "story.jsonl", "wanted": {"dock": True}}),
        ("open", {"path": "story.jsonl", "wanted": {"scenario": []}}),
        ("documents/ID", {"wanted": "cut"}),
        ("documents/ID", {"wanted": {"_seq": None}}),
        ("documents/ID/stop", {"what": []}),
        ("documents/ID/save", {"type": "write_file", "name": 7}),
        ("documents/ID/save", {"type": "write_file"}),
        ("documents/ID/ask", {"type": "writing", "id": [1]}),
        ("documents/ID/ask", ["writing"]),
    ],
)
def test_other_bodies_are_validated_too(server: Server, route: str, body: object) -> None:
    document = open_as(server, OWNER)
    answer = ask_as(server, OWNER, route.replace("ID", document), body)
    assert answer.status == 400 and answer.json["message"]


def send(server: Server, route: str, body: bytes, type: str = "application/json") -> Answer:
    line = HTTPConnection("127.0.0.1", server.port, timeout=120)
    headers = {"Authorization": f"token {server.token}", "X-Permissions": OWNER, "Content-Type": type}
    try:
        line.request("POST", f"{server.base}inspector/{route}", body, headers)
        answer = line.getresponse()
        return Answer(answer.status, answer.headers.get_content_type(), answer.read())
    finally:
        line.close()


MOST = 4_000_000
ROUTES = ("open", "documents/ID", "documents/ID/ask", "documents/ID/save", "documents/ID/stop")


def pad(message: dict[str, Any], size: int) -> bytes:
    bare = len(json.dumps({**message, "pad": ""}))
    return json.dumps({**message, "pad": "x" * (size - bare)}).encode()


@pytest.mark.parametrize("route", ROUTES)
def test_a_body_above_4_mb_is_refused(server: Server, route: str) -> None:
    document = open_as(server, OWNER)
    for size in (MOST + 1, 24_000_000):
        answer = send(server, route.replace("ID", document), pad({}, size))
        assert answer.status == 413 and "4,000,000" in answer.json["message"]
