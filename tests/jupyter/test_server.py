"""The routes of a real Jupyter server: who may ask, what may be asked for, and what comes back."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from pathlib import Path
from socket import IPPROTO_TCP, TCP_NODELAY, create_connection
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from tornado.ioloop import IOLoop
from tornado.web import Application
from tornado.websocket import WebSocketHandler, websocket_connect

import inspector.jupyter.server as server_routes
from inspector.demo import read_demo
from inspector.files import open_plan, open_session
from inspector.policies.registry import POLICIES
from inspector.workbench.payloads.columns import unpack
from tests.quick_imports import path_without_grammar
from tests.work import PATIENCE

STARTUP = 180  # seconds; a busy machine has needed more than 60


class Answer(NamedTuple):
    status: int
    type: str
    body: bytes
    cookies: dict[str, str] = {}

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def frame(self) -> dict[str, Any]:
        """The traits of a frame, its buffers among them, and `rev` and `document`."""
        assert (self.status, self.type) == (200, "application/octet-stream"), self.body[:300]
        start = 4 + int.from_bytes(self.body[:4], "little")
        head = json.loads(self.body[4:start])
        assert start % 4 == 0 and all(offset % 4 == 0 for offset, _ in head["data"].values())
        buffers = {
            name: self.body[start + at : start + at + size] for name, (at, size) in head["data"].items()
        }
        assert all(len(buffers[name]) == size for name, (_, size) in head["data"].items())
        return {**head, **head["traits"], **buffers}


FEW = 4
"""Documents that the server of these tests holds open at a time."""


class Server(NamedTuple):
    port: int
    token: str
    root: Path
    base: str

    def ask(
        self,
        method: str,
        route: str,
        body: object = None,
        headers: dict[str, str] | None = None,
        timeout: float = PATIENCE,
    ) -> Answer:
        line = HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            known = {"Authorization": f"token {self.token}"} if headers is None else headers
            line.request(method, f"{self.base}{route}", None if body is None else json.dumps(body), known)
            answer = line.getresponse()
            jar = SimpleCookie("; ".join(answer.headers.get_all("Set-Cookie") or []))
            cookies = {name: morsel.value for name, morsel in jar.items()}
            return Answer(answer.status, answer.headers.get_content_type(), answer.read(), cookies)
        finally:
            line.close()

    def open(self, path: str, **inputs: Any) -> dict[str, Any]:
        return self.ask("POST", "inspector/open", {"path": path, "wanted": inputs}).frame

    def change(self, opened: str, **inputs: Any) -> dict[str, Any]:
        return self.ask("POST", f"inspector/documents/{opened}", {"wanted": inputs}).frame

    def question(self, opened: str, **question: Any) -> Any:
        return self.ask("POST", f"inspector/documents/{opened}/ask", question).json

    def news(self, opened: str, rev: int) -> dict[str, Any]:
        return self.ask("GET", f"inspector/documents/{opened}/news?rev={rev}").frame


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with start(tmp_path_factory.mktemp("server")) as started:
        yield started


@contextmanager
def start(home: Path, *options: str) -> Iterator[Server]:
    root = home / "root"
    root.mkdir(exist_ok=True)
    (root / "story.jsonl").write_bytes(read_demo())
    shutil.copy(root / "story.jsonl", home / "outside.jsonl")
    token, base, port_file = secrets.token_hex(16), "/user/ann/", home / "run"
    environment = {
        **os.environ,
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(port_file),
        "JUPYTER_NO_CONFIG": "1",
        "PYTHONPATH": path_without_grammar(home),
    }
    environment.setdefault("XDG_CACHE_HOME", str(home / "cache"))
    command = [
        *(sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
        *("--port=0", f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}"),
        *(f"--ServerApp.base_url={base}", "--ServerApp.jpserver_extensions={'inspector': True}"),
        f"--CompactionInspector.most_documents={FEW}",
        *options,
    ]
    with (home / "log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            yield Server(find_port(process, port_file, home / "log"), token, root, base)
        finally:
            process.terminate()
            process.wait(120)


def find_port(process: subprocess.Popen[bytes], runtime: Path, log: Path) -> int:
    end = time.monotonic() + STARTUP
    while time.monotonic() < end and process.poll() is None:
        for file in runtime.glob("jpserver-*.json"):
            port = json.loads(file.read_text() or "{}").get("port")
            # It says so a moment before it listens.
            if port and "is running at" in log.read_text():
                with suppress(ConnectionRefusedError):
                    create_connection(("127.0.0.1", port), 10).close()
                    return int(port)
        time.sleep(0.05)
    raise RuntimeError(f"the server did not start:\n{log.read_text()}")


def test_a_session_is_opened_planned_and_asked_about(server: Server) -> None:
    first = server.open("story.jsonl", policy="flue")
    assert first["document"] and first["policy"] == "flue" and first["_error"] == ""
    columns = unpack(first["_scene"]["columns"], first["_scene_data"])
    assert len(columns["entry_step"]) == len(first["_scene"]["entryIds"])
    legal = [at for at, is_legal in enumerate(columns["place_legal"].tolist()) if is_legal]
    cut = first["_scene"]["entryIds"][legal[3]]
    moved = server.change(first["document"], cut=cut, _seq=5)
    assert (moved["_plan"]["seq"], moved["_plan"]["cut"]["place"]) == (5, legal[3])
    assert set(moved["traits"]) == {"_plan"} and "_scene_data" not in moved, "only what has changed is sent"
    assert moved["rev"] == first["rev"] + 1
    rows = server.question(first["document"], type="rows", id="a", **{"from": 0, "to": 3})
    assert (rows["type"], rows["id"], len(rows["rows"])) == ("rows", "a", 3)
    assert server.question(first["document"], type="dance", id="b")["type"] == "error"


def test_a_server_that_starts_does_not_wait_for_what_reads_and_plans() -> None:
    code = "import sys, inspector.jupyter.server; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    light = {
        f"inspector.{name}" for name in ("errors", "jupyter", "jupyter.server", "jupyter.threads", "text")
    }
    assert {name for name in loaded if name.startswith("inspector.")} <= light
    assert "numpy" not in loaded


def test_what_cannot_be_planned_is_told_and_taken_back(server: Server) -> None:
    opened = server.open("story.jsonl")["document"]
    refused = server.change(opened, cut="nowhere", _seq=1)
    assert "nowhere" in refused["_error"] and refused["cut"] == "" and refused["_plan"]["seq"] == 1
    refused = server.change(opened, settings=["no", "object"], _seq=2)
    assert "settings" in refused["_error"] and refused["settings"] == {}
    assert server.change(opened, policy="claude-code-analysis", _seq=3)["_error"] == ""


def test_a_replay_and_a_plan_b_come_with_the_answer(server: Server) -> None:
    opened = server.open("story.jsonl", policy="flue")["document"]
    both = server.change(opened, replay=True, versus={"policy": "claude-code-analysis"})
    assert both["_run"]["policy"] == "flue" and both["_run_data"]
    assert (
        both["_other"]["policy"] == "claude-code-analysis" and both["_other"]["label"] and both["_other_data"]
    )
    accepts = server.change(opened, scenario={"provider": "accepts"})
    runs = [one["_run"]["scenario"]["values"]["provider"] for one in (both, accepts)]
    assert runs == ["refuses", "accepts"] and accepts["scenario"]["provider"] == "accepts"
    refused = server.change(opened, scenario={"acts": [{"at": "turn 900", "do": "compact"}]})
    assert "turn 900" in refused["_error"] and refused["scenario"]["acts"] == []


def test_a_document_opens_as_it_was_left_and_also_where_that_no_longer_fits(server: Server) -> None:
    again = server.open(
        "story.jsonl", policy="keep-recent-turns", tab="rules", settings={"trigger.ratio": 0.5}
    )
    assert (again["policy"], again["tab"]) == ("keep-recent-turns", "rules")
    assert again["settings"] == {"trigger.ratio": 0.5}
    lost = server.open("story.jsonl", at="an entry that is gone")
    assert lost["_plan"]["policy"] == "recorded" and "an entry that is gone" in lost["_error"]


def test_a_plan_is_saved_beside_its_session_and_never_over_another_file(server: Server) -> None:
    folder = server.root / "kept"
    folder.mkdir()
    shutil.copy(server.root / "story.jsonl", folder / "run.session.jsonl")
    opened = server.open("kept/run.session.jsonl", settings={"dedupe-reads.enabled": True})["document"]

    def save() -> Any:
        return server.ask("POST", f"inspector/documents/{opened}/save", {"type": "save", "id": "s"}).json

    saved = {"type": "save", "id": "s", "name": "run.plan.json", "path": "kept/run.plan.json"}
    assert save() == saved
    assert save() == saved, "what stands there already is not written twice"
    before = (folder / "run.plan.json").read_bytes()
    server.change(opened, cut="end")
    assert save()["name"] == "run-2.plan.json"
    assert (folder / "run.plan.json").read_bytes() == before
    plan = open_plan(folder / "run.plan.json", folder / "run.session.jsonl")
    assert plan.edits.settings == {"dedupe-reads.enabled": True}
    assert plan.policy.rules[3].kind == "dedupe-reads"
    assert open_plan(folder / "run-2.plan.json", folder / "run.session.jsonl").edits.cut == "end"


def test_a_written_summary_survives_a_restart_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What somebody wrote or paid for is there again, and gone once it was taken back."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def read_summary(server: Server) -> Any:
        opened = server.open("story.jsonl", policy="flue", cut="end")
        plan = opened["_plan"]
        return opened["document"], (plan["summary"] or {}).get("by"), plan["after"]["total"]

    with start(tmp_path) as server:
        opened, by, before = read_summary(server)
        assert by is None
        wish = {
            "by": "pasted",
            "text": "So far: a calendar.",
            "digest": "",
            "model": "",
            "focus": "",
            "keep": [],
        }
        assert server.question(opened, type="summarise", id="a", **wish)["state"] in ("writing", "done")
        wait_for_summary(lambda: server.question(opened, type="writing", id="c"))
        written = read_summary(server)[1:]
        assert written[0] is not None and written[1] < before
    (file,) = (tmp_path / "cache").rglob("written/*.json")
    assert file.stat().st_mode & 0o777 == 0o600
    with start(tmp_path) as server:
        opened, *again = read_summary(server)
        assert tuple(again) == written
        server.question(opened, type="unsummarise", id="b")
        assert not file.exists()
        assert read_summary(server)[1:] == (None, before)


def wait_for_summary(ask: Callable[[], Any]) -> Any:
    """Wait until a summary is written, and return its state."""
    end = time.monotonic() + STARTUP
    while (summary := ask())["state"] == "writing":
        assert time.monotonic() < end
        time.sleep(0.05)
    assert summary["state"] == "done", summary["sentence"]
    return summary


ROUTES = (
    ("GET", "inspector/format?path=story.jsonl"),
    ("GET", "inspector/sessions"),
    ("POST", "inspector/open"),
    ("POST", "inspector/documents/x"),
    ("POST", "inspector/documents/x/ask"),
    ("POST", "inspector/documents/x/save"),
    ("GET", "inspector/documents/x/news?rev=0"),
    ("POST", "inspector/documents/x/stop"),
    ("DELETE", "inspector/documents/x"),
)


@pytest.mark.parametrize(("method", "route"), ROUTES)
@pytest.mark.parametrize("header", [{}, {"Authorization": "token wrong"}])
def test_no_route_answers_without_the_token(
    server: Server, method: str, route: str, header: dict[str, str]
) -> None:
    answer = server.ask(method, route, {"path": "story.jsonl"} if method == "POST" else None, header)
    assert answer.status == 403 and b"document" not in answer.body and b"format" not in answer.body


def test_a_cookie_alone_changes_nothing_without_the_xsrf_token(server: Server) -> None:
    """A page of somebody else carries the cookie, but cannot read the token in it."""
    cookies = server.ask("GET", f"lab?token={server.token}", headers={}).cookies
    cookies |= server.ask("GET", f"tree?token={server.token}", headers={}).cookies
    assert "_xsrf" in cookies, cookies
    jar = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
    body = {"path": "story.jsonl"}
    assert server.ask("POST", "inspector/open", body, jar).status == 403
    allowed = server.ask("POST", "inspector/open", body, {**jar, "X-XSRFToken": cookies["_xsrf"]})
    assert allowed.status == 200


@pytest.mark.parametrize(
    "path",
    [
        "../outside.jsonl",
        "/../outside.jsonl",
        "folder/../../outside.jsonl",
        "%2e%2e/outside.jsonl",
        "nothing.jsonl",
    ],
)
def test_nothing_outside_the_root_is_read(server: Server, path: str) -> None:
    (server.root / "folder").mkdir(exist_ok=True)
    answer = server.ask("POST", "inspector/open", {"path": path})
    assert answer.status == 404 and answer.json["message"]
    assert server.ask("GET", f"inspector/format?path={path}").status == 404


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"Dear diary,\n", "not a session"),
        (b'{"half": ', "not a session"),
        (b"\x00\xff" * 99, "not a session"),
    ],
)
def test_what_is_no_session_gets_a_sentence(server: Server, content: bytes, words: str) -> None:
    (server.root / "diary.jsonl").write_bytes(content)
    answer = server.ask("POST", "inspector/open", {"path": "diary.jsonl"})
    assert answer.status == 422 and answer.json["reason"] == "ReadError"
    assert answer.json["message"].startswith("diary.jsonl") and words in answer.json["message"]
    assert str(server.root) not in answer.body.decode()


def test_a_session_file_is_told_from_others_without_opening_it(server: Server) -> None:
    (server.root / "package.json").write_text('{"name": "tide", "version": "1.0.0"}')
    asked = {
        path: server.ask("GET", f"inspector/format?path={path}") for path in ("story.jsonl", "package.json")
    }
    assert {path: answer.json for path, answer in asked.items()} == {
        "story.jsonl": {"format": "claude-code"},
        "package.json": {"format": ""},
    }
    assert server.ask("GET", "inspector/format?path=folder").status in (404, 422)
    assert server.ask("GET", "inspector/format").status == 400


def test_a_link_leads_as_far_as_the_contents_manager_lets_it(server: Server) -> None:
    link = server.root / "link.jsonl"
    if not link.exists():
        link.symlink_to(server.root.parent / "outside.jsonl")
    contents = server.ask("GET", "api/contents/link.jsonl?content=0").status
    assert server.ask("POST", "inspector/open", {"path": "link.jsonl"}).status == contents


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_a_pipe_does_not_keep_the_server_waiting(server: Server) -> None:
    os.mkfifo(server.root / "pipe.jsonl")
    answer = server.ask("POST", "inspector/open", {"path": "pipe.jsonl"})
    assert answer.status == 422 and "not a regular file" in answer.json["message"]
    assert server.ask("GET", "inspector/format?path=pipe.jsonl").status == 422


def test_a_growing_file_is_followed_at_its_end_and_nowhere_else(server: Server) -> None:
    lines = read_demo().splitlines(keepends=True)
    file = server.root / "growing.jsonl"
    file.write_bytes(b"".join(lines[:200]))
    first = server.open("growing.jsonl", at=open_session(file).leaf)
    with file.open("ab") as handle:
        handle.write(b"".join(lines[200:240]) + lines[240][:40])
    news = server.news(first["document"], first["rev"])
    assert news["at"] == open_session(file).leaf != first["at"]
    assert len(news["_scene"]["entryIds"]) > len(first["_scene"]["entryIds"])
    moved = server.change(first["document"], at=first["at"])
    with file.open("ab") as handle:
        handle.write(lines[240][40:] + b"".join(lines[241:280]))
    later = server.news(first["document"], moved["rev"])
    assert "at" not in later["traits"], "the moment that the user chose stays"
    assert later["_scene"]["entryIds"] == first["_scene"]["entryIds"]
    assert later["_scene"]["overview"]["steps"] > news["_scene"]["overview"]["steps"]


def test_a_file_that_is_gone_is_told_once_and_stays_readable(server: Server) -> None:
    file = server.root / "gone.jsonl"
    shutil.copy(server.root / "story.jsonl", file)
    first = server.open("gone.jsonl")
    file.unlink()
    news = server.news(first["document"], first["rev"])
    assert "can no longer be read" in news["_error"]
    assert server.question(first["document"], type="body", id="1", row=0)["before"]["text"]


def test_documents_that_nobody_looks_at_make_room(server: Server) -> None:
    first = server.open("story.jsonl")["document"]
    for _ in range(FEW):
        last = server.open("story.jsonl")["document"]
    assert server.ask("POST", f"inspector/documents/{first}", {"wanted": {}}).status == 404
    assert server.ask("POST", f"inspector/documents/{last}", {"wanted": {}}).status == 200


def test_too_many_documents_that_are_looked_at_are_refused(server: Server) -> None:
    documents = [server.open("story.jsonl") for _ in range(FEW)]
    polls = []
    for opened in documents:
        polls.append(HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE))
        route = f"{server.base}inspector/documents/{opened['document']}/news?rev={opened['rev']}"
        polls[-1].request("GET", route, headers={"Authorization": f"token {server.token}"})
    # The server's event loop receives the polls before these requests, which it answers.
    for _ in range(20):
        server.ask("GET", "api/status")
    answer = server.ask("POST", "inspector/open", {"path": "story.jsonl"})
    for opened in documents:
        server.ask("DELETE", f"inspector/documents/{opened['document']}")
    assert {poll.getresponse().status for poll in polls} == {404}
    for poll in polls:
        poll.close()
    assert answer.status == 409 and "Too many sessions" in answer.json["message"]
    assert server.ask("POST", "inspector/open", {"path": "story.jsonl"}).status == 200


class KernelConnection:
    """What Jupyter's server makes for each browser that is connected to a kernel."""

    def __init__(self, websocket_handler: WebSocketHandler) -> None:
        self.websocket_handler = websocket_handler
        self.connected = False

    async def connect(self) -> None:
        self.connected = True


@pytest.mark.parametrize(("config", "expected"), [({}, True), ({"no_delay": "False"}, False)])
def test_a_kernel_s_answers_do_not_wait_for_the_browser_to_acknowledge_the_message_before(
    config: dict[str, Any], expected: bool
) -> None:
    """TCP's option, on a real connection: each answer would come 40 ms late on Linux."""

    class Channels(WebSocketHandler):
        async def open(self, *args: str, **kwargs: str) -> None:
            connection = self.settings["kernel_websocket_connection_class"](websocket_handler=self)
            await connection.connect()
            assert self.ws_connection is not None and connection.connected
            option = self.ws_connection.stream.socket.getsockopt(IPPROTO_TCP, TCP_NODELAY)
            await self.write_message("prompt" if option else "late")

    async def ask() -> str | bytes | None:
        web_app = Application([("/channels", Channels)], base_url="/")
        web_app.settings["kernel_websocket_connection_class"] = KernelConnection
        loop = IOLoop.current()
        app = SimpleNamespace(config={"CompactionInspector": config}, web_app=web_app, io_loop=loop)
        server_routes._load_jupyter_server_extension(app)
        http = web_app.listen(0, "127.0.0.1")
        port = next(iter(http._sockets.values())).getsockname()[1]
        client = await websocket_connect(f"ws://127.0.0.1:{port}/channels")
        said = await client.read_message()
        client.close()
        http.stop()
        return said

    assert asyncio.run(ask()) == ("prompt" if expected else "late")


def test_every_policy_crosses_the_wire_as_json(server: Server) -> None:
    opened = server.open("story.jsonl")["document"]
    # The server is a process of its own: it knows what is built in, not what another test has added here.
    for name in [policy.name for policy in POLICIES]:
        assert server.change(opened, policy=name)["_plan"]["policy"] == name
