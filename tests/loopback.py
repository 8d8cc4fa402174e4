"""A small HTTP server on 127.0.0.1 that speaks the Messages API, and fails on cue.

Each request takes the next cue, and without one is answered well. What arrived is kept to the byte. It counts
a token for every four characters, keeps marked prefixes like the provider's cache, and refuses what is longer
than `window`, or what no provider would take.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from inspector.summaries.claude.labeller import INSTRUCTION
from inspector.wire.checks import check_request

Json = dict[str, Any]

KEY = "sk-" + "ant-api03-" + "lO0pB4ck_" * 10
"""The only key that is let in; put together here, so that no scanner takes this file for a leak."""
TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
SUMMARY = "\n\n".join(
    f"## {title}\n- none"
    for title in ("Goal", "Constraints", "Progress", "Decisions", "Next steps", "Critical context")
)


@dataclass(frozen=True)
class Cue:
    """The answer to one request.

    `after` is the number of pieces before the fault: the answer is cut off, hangs until the server closes, or
    waits for `Loopback.released` and then continues ("waits").
    """

    status: int = 200
    message: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    text: str = SUMMARY
    stop_reason: str = "end_turn"
    details: Json | None = None
    fault: str = ""
    after: int = 0


def fail(status: int, message: str = "", **headers: str) -> Cue:
    """An error the provider tells by HTTP; tried again after a millisecond where it is tried again at all."""
    wait = {"retry-after-ms": "1"} if status in (429, 500, 529) else {}
    return Cue(
        status, message, {**wait, **{name.replace("_", "-"): value for name, value in headers.items()}}
    )


@dataclass(frozen=True)
class Received:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Json:
        body: Json = json.loads(self.raw)
        return body

    @property
    def text(self) -> str:
        """Everything the model would read."""
        return "\n\n".join(text for text, _ in _texts(self.body))


class Loopback:
    """The server, from `with` to the end of it."""

    def __init__(self, *cues: Cue, window: int | None = None) -> None:
        self.cues, self.window = deque(cues), window
        self.received: list[Received] = []
        self.cached: set[str] = set()
        self.hanging, self.released = threading.Event(), threading.Event()
        self.lock = threading.Lock()
        self.together, self.most_together = 0, 0
        self.barrier: threading.Barrier | None = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.loopback = self  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def asked(self) -> list[Received]:
        """The requests for a message; not those for a count."""
        return [one for one in self.received if one.path.split("?")[0] == "/v1/messages"]

    @property
    def bytes(self) -> bytes:
        """Everything that ever arrived: paths, headers but the key's own, and bodies."""
        parts = []
        for one in self.received:
            own = ("x-api-key", "authorization")
            headers = {name: value for name, value in one.headers.items() if name not in own}
            parts += [one.path.encode(), json.dumps(headers).encode(), one.raw]
        return b"\n".join(parts)

    def use(self, body: Json) -> Json:
        """Usage of a request, and its marked prefixes kept."""
        texts = _texts(body)
        ends = [at + 1 for at, (_, marked) in enumerate(texts) if marked]
        prefixes = {end: "\0".join(text for text, _ in texts[:end]) for end in ends}
        sizes = [len(text) // 4 for text, _ in texts]
        with self.lock:
            read = max((end for end in ends if prefixes[end] in self.cached), default=0)
            self.cached |= set(prefixes.values())
        written = max(ends, default=0)
        return {
            "input_tokens": sum(sizes[max(written, read) :]),
            "cache_read_input_tokens": sum(sizes[:read]),
            "cache_creation_input_tokens": sum(sizes[read:written]),
            "output_tokens": 1,
        }


def _texts(body: Json) -> list[tuple[str, bool]]:
    """Every text of a request, and whether the provider is to keep all up to it."""
    out = []
    system = body.get("system") or []
    blocks = [{"type": "text", "text": system}] if isinstance(system, str) else [*system]
    for message in body["messages"]:
        content = message["content"]
        blocks += [{"type": "text", "text": content}] if isinstance(content, str) else content
    for block in blocks:
        text = block["text"] if block["type"] == "text" else json.dumps(block)
        out.append((text, "cache_control" in block))
    return out


def _events(body: Json, cue: Cue, usage: Json) -> Iterator[Json]:
    """A well-formed stream for an answer."""
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": []}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}}
    yield {"type": "ping"}
    told: Json = {"output_tokens": max(len(cue.text) // 4, 1)}
    edits = (body.get("context_management") or {}).get("edits", [])
    if "compaction" in body or any(edit["type"].startswith("compact") for edit in edits):
        block = {"type": "compaction", "content": None}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        delta = {"type": "compaction_delta", "content": cue.text or None, "encrypted_content": "c2VhbGVk"}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        part = {"type": "compaction", "input_tokens": 900, "output_tokens": 70, "cache_read_input_tokens": 5}
        told = {"output_tokens": 0, "iterations": [{**part, "cache_creation_input_tokens": 0}]}
        yield {"type": "content_block_stop", "index": 0}
    elif cue.text:
        start = {"type": "text", "text": ""}
        yield {"type": "content_block_start", "index": 0, "content_block": start}
        for at in range(0, len(cue.text), 16):
            delta = {"type": "text_delta", "text": cue.text[at : at + 16]}
            yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
    delta = {"stop_reason": cue.stop_reason, "stop_sequence": None}
    delta |= {"stop_details": cue.details} if cue.details else {}
    yield {"type": "message_delta", "delta": delta, "usage": told}
    yield {"type": "message_stop"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def loopback(self) -> Loopback:
        return self.server.loopback  # type: ignore[attr-defined, no-any-return]

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        here, headers = self.loopback, {name.lower(): value for name, value in self.headers.items()}
        with here.lock:
            here.received.append(Received(self.path, headers, raw))
            here.together += 1
            here.most_together = max(here.most_together, here.together)
        try:
            if here.barrier is not None:
                here.barrier.wait(120)
            self._answer(json.loads(raw), headers)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with here.lock:
                here.together -= 1

    def _answer(self, body: Json, headers: dict[str, str]) -> None:
        here, path = self.loopback, self.path.split("?")[0]
        with here.lock:
            # Who asks for a list of rules and choices is told that there are none.
            well = Cue(text="[]") if any(text == INSTRUCTION for text, _ in _texts(body)) else Cue()
            cue = here.cues.popleft() if here.cues else well
        if KEY not in (headers.get("x-api-key"), headers.get("authorization", "").removeprefix("Bearer ")):
            self._fail(Cue(401, "invalid x-api-key"))
        elif "anthropic-version" not in headers or path not in ("/v1/messages", "/v1/messages/count_tokens"):
            self._fail(Cue(404, "Not found"))
        elif cue.fault == "silent":
            self._hang()
        elif cue.status != 200:
            self._fail(cue)
        elif fault := self._find_fault(body, headers):
            self._fail(Cue(400, fault))
        elif path.endswith("count_tokens"):
            self._count(body)
        elif body.get("stream"):
            self._stream(body, cue)
        else:
            self._whole(body, cue)

    def _find_fault(self, body: Json, headers: dict[str, str]) -> str:
        window, size = self.loopback.window, sum(len(text) for text, _ in _texts(body)) // 4
        if window is not None and size > window:
            return f"prompt is too long: {size} tokens > {window} maximum"
        betas = headers.get("anthropic-beta", "")
        if ("compaction" in body or "context_management" in body) and "20" not in betas:
            return "Extra inputs are not permitted"
        faults = check_request(body)
        return "" if not faults or faults[0].rule == "prefill" else f"{faults[0].path}: {faults[0].sentence}"

    def _fail(self, cue: Cue) -> None:
        error = {"type": TYPES.get(cue.status, "api_error"), "message": cue.message}
        content = json.dumps({"type": "error", "error": error, "request_id": "req_1"}).encode()
        if cue.fault == "page":
            content = cue.message.encode()
        self._send(cue.status, content, cue.headers)

    def _count(self, body: Json) -> None:
        size = sum(len(text) for text, _ in _texts(body)) // 3
        answer: Json = {"input_tokens": size}
        if "context_management" in body:
            answer = {"input_tokens": size // 2, "context_management": {"original_input_tokens": size}}
        self._send(200, json.dumps(answer).encode())

    def _whole(self, body: Json, cue: Cue) -> None:
        usage = self.loopback.use(body) | {"output_tokens": max(len(cue.text) // 4, 1)}
        content = [{"type": "text", "text": cue.text}] if cue.text else []
        answer = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "usage": usage,
        }
        self._send(200, json.dumps({**answer, "content": content, "stop_reason": cue.stop_reason}).encode())

    def _stream(self, body: Json, cue: Cue) -> None:
        if cue.fault == "garbage":
            return self._send(
                200, b"\x00<html>proxy says hello</html>", {"content-type": "text/event-stream"}
            )
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        # Without chunks a stream that is cut short ends like one that is whole.
        chunked = cue.fault != "ends early"
        self.send_header(*(("transfer-encoding", "chunked") if chunked else ("connection", "close")))
        self.end_headers()
        for number, event in enumerate(_events(body, cue, self.loopback.use(body))):
            if cue.fault == "waits" and number == cue.after:
                self.loopback.hanging.set()
                self.loopback.released.wait(120)
            elif cue.fault and number == cue.after:
                if cue.fault == "hangs":
                    self._hang()
                elif cue.fault == "bad json":
                    self._piece(b"event: content_block_delta\ndata: {not json\n\n", chunked)
                elif cue.fault.endswith("_error"):
                    error = {"type": "error", "error": {"type": cue.fault, "message": cue.message}}
                    self._piece(b"event: error\ndata: " + json.dumps(error).encode() + b"\n\n", chunked)
                self.close_connection = True
                return None
            line = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
            self._piece(line.encode(), chunked)
        self._piece(b"", chunked)
        return None

    def _piece(self, piece: bytes, chunked: bool) -> None:
        self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n" if chunked else piece)
        self.wfile.flush()

    def _hang(self) -> None:
        self.loopback.hanging.set()
        self.loopback.released.wait(120)
        self.close_connection = True

    def _send(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        told = {"content-type": "application/json", "content-length": str(len(content)), **(headers or {})}
        for name, value in told.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
