"""While reading one file hangs, other documents open and answer; closing the hanging one frees its place."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from inspector.demo import read_demo
from inspector.jupyter.threads import ServerRefusal, Workers
from tests.jupyter.test_server import FEW, Answer, Server, start
from tests.work import PATIENCE

SHORT = b"".join(read_demo().splitlines(keepends=True)[:20])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with start(tmp_path_factory.mktemp("hanging")) as started:
        (started.root / "short.jsonl").write_bytes(SHORT)
        # Modules that open a document are loaded now.
        started.open("short.jsonl")
        yield started


@contextmanager
def hang(path: Path) -> Iterator[None]:
    """Block every process that opens the file, until the block ends or Linux breaks the lease."""
    fcntl = pytest.importorskip("fcntl", reason="this system has no leases on files")
    if not hasattr(fcntl, "F_SETLEASE"):
        pytest.skip("this system has no leases on files")
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)
    handle = os.open(path, os.O_RDWR)
    try:
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        yield
    finally:
        os.close(handle)
        signal.signal(signal.SIGIO, before)


def connect_to_open(server: Server, path: str) -> HTTPConnection:
    """Send a request to open a file, without waiting for the answer."""
    line = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    body = json.dumps({"path": path, "wanted": {}})
    line.request("POST", f"{server.base}inspector/open", body, {"Authorization": f"token {server.token}"})
    return line


def check_others(server: Server) -> None:
    """Open another document and check the answers to the messages of a screen."""
    first = server.open("short.jsonl", policy="flue")
    document = first["document"]
    assert server.question(document, type="rows", id=1, **{"from": 0, "to": 2})["rows"]
    assert server.change(document, cut="end", _seq=1)["_plan"]["seq"] == 1
    for kind in ("review", "regret"):
        assert server.question(document, type=kind, id=2)["type"] == kind
    assert server.ask("GET", "inspector/sessions").status == 200
    assert server.ask("DELETE", f"inspector/documents/{document}").status == 204


def test_files_that_hang_while_they_are_opened_keep_no_other_waiting(server: Server) -> None:
    path = server.root / "hanging.jsonl"
    path.write_bytes(SHORT)
    with ThreadPoolExecutor(12) as pool:
        with hang(path):
            lines = [connect_to_open(server, "hanging.jsonl") for _ in range(12)]
            answers = [pool.submit(line.getresponse) for line in lines]
            check_others(server)
            assert not any(answer.done() for answer in answers), "the lease ended early"
            # A browser closes the connection when its tab is closed.
            for line in lines[1:]:
                assert line.sock is not None
                line.sock.shutdown(2)
            check_others(server)
            assert not answers[0].done()
        assert answers[0].result().status == 200
        for answer in answers[1:]:
            assert answer.exception() is not None
    for line in lines:
        line.close()
    # None of the cancelled documents is open, so all places are free.
    documents = [server.open("hanging.jsonl")["document"] for _ in range(FEW)]
    for document in documents:
        assert server.ask("DELETE", f"inspector/documents/{document}").status == 204


def test_an_open_document_whose_file_hangs_answers_and_can_be_closed(server: Server) -> None:
    path = server.root / "growing.jsonl"
    path.write_bytes(SHORT)
    first = server.open("growing.jsonl")
    document = first["document"]
    with ThreadPoolExecutor(1) as pool:
        with path.open("ab") as file:
            file.write(read_demo().splitlines(keepends=True)[20])
        with hang(path):
            # The first check of the file hangs, and with it all later ones.
            poll: Future[Answer] = pool.submit(
                server.ask, "GET", f"inspector/documents/{document}/news?rev={first['rev']}"
            )
            assert server.question(document, type="rows", id=1, **{"from": 0, "to": 2})["rows"]
            assert server.change(document, cut="end", _seq=1)["_plan"]["seq"] == 1
            check_others(server)
            assert server.ask("DELETE", f"inspector/documents/{document}").status == 204
            assert poll.result().status == 404
            assert server.ask("POST", f"inspector/documents/{document}/ask", {"type": "regret"}).status == 404


def test_reading_that_takes_too_long_is_given_up_with_a_sentence() -> None:
    hanging = threading.Event()

    async def run() -> None:
        workers, never = Workers("a.jsonl"), asyncio.Event()
        with pytest.raises(ServerRefusal, match=r"a\.jsonl took more than 0 seconds") as refused:
            await workers.run(hanging.wait, never, seconds=0.01)
        assert refused.value.status == 422
        hanging.set()

    asyncio.run(run())
