"""I/O: one call of the Anthropic API, by the `anthropic` package, that can be cancelled at any time.

The call runs in its own thread, which the caller polls: cancelling takes effect at once, whatever the network
does, and nothing is sent afterwards. If the provider asks to wait longer than `LONGEST_WAIT`, the request is
not repeated. At most the bytes that `max_tokens` can have are read of an answer. The key is read from the
environment for each call and not stored. Failures are raised as errors of this package that quote nothing of
the request.
"""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from email.utils import mktime_tz, parsedate_tz
from typing import Any

from ...errors import AnswerRefused, InspectorError, KeyMissing, RequestRefused, Stopped
from ...redaction.cut import cut_text
from ...session.entries import Usage
from ...session.overflow import classify_refusal

Json = dict[str, Any]

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
"""Environment variables that may hold the key, in order of precedence; no other source is read."""
LONGEST_WAIT = 60.0
"""Seconds that a provider may ask to wait before a request is repeated."""
_MOST_SHOWN, _MOST_READ = 300, 20_000
_FRAME, _BYTES_PER_TOKEN = 1 << 20, 1_000
"""The most bytes of an answer: a fixed part, and a part per token, whose event has about 150 bytes."""
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:api_?key|key|token|secret|pass(?:word|wd)?|pwd|credentials?)(?:_|$)", re.I
)
_LEAST_SECRET = 8

# By the type that an error names itself, for errors that arrive inside a stream, where HTTP said 200.
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_KINDS = {401: "authentication", 403: "permission", 404: "not_found", 429: "rate_limit", 529: "overloaded"}
_SAYS = {
    "token_overflow": "The request is too long for the model",
    "byte_overflow": "The request has too many bytes for the provider",
    "rate_limit": "The provider asks to wait before more is asked of it",
    "overloaded": "The provider has too much to do at the moment",
    "server": "The provider failed",
    "authentication": "The provider does not accept the key in the environment",
    "permission": "The key in the environment may not do this",
    "not_found": "The provider does not know what was asked for; the model's name may be wrong",
    "redirect": "The address leads elsewhere, and the key is not taken there",
    "invalid": "The provider does not accept the request",
}


class _GivenUp(BaseException):
    """Ends the call's thread; no `Exception`, which the client would take for a reason to try again."""


class ApiCall:
    """One call, streamed: its text so far, the model that writes it, and in the end its stop reason, usage
    and what else came."""

    def __init__(
        self, scrub: Callable[[str], str], base_url: str | None, retries: int, timeout: float
    ) -> None:
        self.scrub, self._base_url, self._retries, self._timeout = scrub, base_url, retries, timeout
        self.text, self.stop_reason, self.usage = "", "", Usage()
        self.model = ""
        self.details: Json = {}
        self.blocks: list[Json] = []
        self._sums: dict[str, int] = {}
        self._apart: dict[str, int] = {}
        self.tries, self.statuses, self.waits = 0, list[int](), list[float]()
        self._most_bytes = _FRAME
        self._begun = self._ended = self._given_up = False
        self._error: InspectorError | None = None
        self._socket: Any = None
        self._done = threading.Event()

    def start(self, body: Json, betas: tuple[str, ...] = ()) -> None:
        """Send a Messages request, and read the stream that answers it, in a thread of its own."""

        def run() -> None:
            try:
                self._listen(body, betas)
            except BaseException as error:
                self._error = self._translate(error)
            self._done.set()

        threading.Thread(target=run, name="anthropic", daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Whether it is over by then. Raises what went wrong, and `Stopped` once it was given up."""
        over = self._done.wait(seconds)
        if self._given_up:
            raise Stopped
        if over and self._error is not None:
            raise self._error
        return over

    def give_up(self) -> None:
        """End it from any thread: the connection is cut, and nothing more is sent."""
        self._given_up = True
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def _listen(self, body: Json, betas: tuple[str, ...]) -> None:
        self._most_bytes = _FRAME + _BYTES_PER_TOKEN * int(body["max_tokens"])
        with self._open() as client:
            for event in _stream(client, body, betas):
                if self._given_up:
                    raise _GivenUp
                self._hear(event)
        if not self._begun:
            raise AnswerRefused("broken", "The answer is not a message of the provider; none of it was kept.")
        if not self._ended or not self.stop_reason:
            raise AnswerRefused("interrupted", _interrupted(self.text), self.usage)

    def _hear(self, event: Any) -> None:
        kind = getattr(event, "type", None)
        if kind == "message_start":
            self._begun = True
            self.model = str(getattr(event.message, "model", "") or "")
            self._use(event.message.usage)
        elif kind == "content_block_start":
            block = event.content_block
            self.blocks.append(block.to_dict() if hasattr(block, "to_dict") else dict(block))
            if block.type == "text":
                self.text += ("\n" if self.text else "") + (block.text or "")
        elif kind == "content_block_delta":
            self._grow(event.delta)
        elif kind == "message_delta":
            self.stop_reason = event.delta.stop_reason or self.stop_reason
            details: Any = getattr(event.delta, "stop_details", None)
            self.details = details.to_dict() if hasattr(details, "to_dict") else {}
            self._use(event.usage)
        elif kind == "message_stop":
            self._ended = True

    def _grow(self, delta: Any) -> None:
        if delta.type == "text_delta":
            self.text += delta.text
        elif delta.type == "compaction_delta" and self.blocks:
            self.blocks[-1] |= {key: value for key, value in delta.to_dict().items() if key != "type"}

    def _use(self, usage: Any) -> None:
        """Figures of a stream are of the whole so far, so the last word counts.

        What a compaction at the provider costs is in none of its sums (CLAUDE §5.1), so it is added.
        """
        fields = usage.to_dict() if hasattr(usage, "to_dict") else {}
        self._sums |= {name: fields[field] for name, field in _USAGE.items() if fields.get(field) is not None}
        apart = [part for part in fields.get("iterations") or () if part.get("type") == "compaction"]
        if apart:
            self._apart = {
                name: sum(part.get(field) or 0 for part in apart) for name, field in _USAGE.items()
            }
        self.usage = Usage(**{name: self._sums.get(name, 0) + self._apart.get(name, 0) for name in _USAGE})

    def _open(self) -> Any:
        try:
            import anthropic
        except ImportError:
            raise KeyMissing(
                "package",
                "The anthropic package is not installed: pip install 'compaction-inspector[claude]'.",
            ) from None
        hooks: dict[str, Any] = {"request": [self._before], "response": [self._after]}
        return anthropic.Anthropic(
            **_read_key(),
            base_url=self._base_url,
            max_retries=self._retries,
            timeout=self._timeout,
            # A redirect would take the key along to whatever host it names.
            http_client=anthropic.DefaultHttpxClient(
                follow_redirects=False, timeout=self._timeout, event_hooks=hooks
            ),
        )

    def _before(self, request: Any) -> None:
        if self._given_up:
            raise _GivenUp
        self.tries += 1
        request.extensions["trace"] = self._trace

    def _after(self, response: Any) -> None:
        self.statuses.append(response.status_code)
        wait = read_wait(response.headers)
        self.waits.append(wait)
        if wait > LONGEST_WAIT:
            response.headers["x-should-retry"] = "false"  # the client then does not repeat the request
        read = response.iter_bytes
        response.iter_bytes = lambda *arguments: self._limit(read(*arguments))

    def _limit(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the pieces of an answer. Raises `AnswerRefused` if there are more bytes than it can have."""
        size = 0
        for piece in pieces:
            size += len(piece)
            if size > self._most_bytes:
                reason = f"The answer is longer than {self._most_bytes:,} bytes; none of it was kept."
                raise AnswerRefused("too_long", reason, self.usage)
            yield piece

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._socket = info["return_value"].get_extra_info("socket")

    def _translate(self, error: BaseException) -> InspectorError:
        """Convert an exception to an error of this package. The provider's message is redacted."""
        if isinstance(error, InspectorError):
            return error
        if self._given_up or isinstance(error, _GivenUp):
            return Stopped()
        names = {kind.__name__ for kind in type(error).__mro__}
        if "APIStatusError" in names:
            return self._refused(error)
        if any("Timeout" in name for name in names):
            reason = f"The provider did not answer within {self._timeout:g} seconds"
            return RequestRefused("timeout", f"{reason}{self._tried}.", self.usage)
        if self._begun and "TransportError" in names:
            return AnswerRefused("interrupted", _interrupted(self.text), self.usage)
        if "APIConnectionError" in names:
            return RequestRefused("connection", f"The provider could not be reached{self._tried}.")
        reason = "The answer could not be read as a message of the provider; none of it was kept."
        return AnswerRefused("broken", reason, self.usage)

    def _refused(self, error: Any) -> RequestRefused:
        details = error.body.get("error") if isinstance(error.body, dict) else None
        details = details if isinstance(details, dict) else {"message": error.body}
        message, named = details.get("message"), details.get("type")
        message = message if isinstance(message, str) else ""
        status = error.status_code if error.status_code >= 300 else _STATUS.get(str(named), 500)
        kind = classify_refusal(status, f"{named or ''} {message}".strip()) or _KINDS.get(status)
        if kind is None:
            kind = "server" if status >= 500 else "redirect" if status < 400 else "invalid"
        message = cut_text(self.scrub(message[:_MOST_READ]), _MOST_SHOWN).strip()
        tail = f": {message.rstrip('.')}" if message else ""
        wait = read_wait(error.response.headers)
        pause = f"; it asks to wait {_format_seconds(wait)}" if wait > LONGEST_WAIT else ""
        reason = f"{_SAYS[kind]} ({status}){self._tried}{pause}{tail}."
        return RequestRefused(kind, reason, self.usage, status)

    @property
    def _tried(self) -> str:
        return f", after {self.tries} tries" if self.tries > 1 else ""


def _stream(client: Any, body: Json, betas: tuple[str, ...]) -> Any:
    """Send a Messages request; parts of the body that the client does not know are sent as they are."""
    plain, names = dict(body), ("model", "max_tokens", "messages", "system", "tools")
    known: Json = {key: plain.pop(key) for key in names if key in plain}
    api, headers = (client.beta.messages, {"betas": list(betas)}) if betas else (client.messages, {})
    return api.create(**known, **headers, extra_body=plain or None, stream=True)


_USAGE = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}


def read_wait(headers: Mapping[str, str]) -> float:
    """Parse the seconds to wait from the headers of an answer, a number or a date; 0 if there are none.

    >>> read_wait({"retry-after": "90"}), read_wait({"retry-after": "soon"})
    (90.0, 0.0)
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        with suppress(ValueError):
            seconds = float(headers.get(name, "")) / unit
            return seconds if seconds > 0 else 0.0
    date = parsedate_tz(headers.get("retry-after", ""))
    with suppress(ValueError, OverflowError, TypeError):
        return max(mktime_tz(date) - time.time(), 0.0) if date is not None else 0.0
    return 0.0


def _format_seconds(seconds: float) -> str:
    """Format a duration in the largest unit of which it has at least two."""
    for size, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{min(seconds / size, 1e9):,.0f} {unit}"
    return f"{seconds:,.0f} seconds"


def _interrupted(text: str) -> str:
    came = f"after {len(text):,} characters of it" if text else "before anything of it came"
    return f"The connection ended before the answer did, {came}; none of it was kept."


def _read_key() -> Json:
    for name, argument in zip(KEYS, ("api_key", "auth_token"), strict=True):
        if value := os.environ.get(name, "").strip():
            return {argument: value}
    raise KeyMissing(
        "key",
        f"There is no key for the provider: set {KEYS[0]} in the environment before Jupyter starts. "
        "It is read for each call, and kept nowhere.",
    )


def read_secrets() -> tuple[str, ...]:
    """Values of the environment that their names call secret, so that none is sent (S0-113); never shown."""
    return tuple(
        value
        for name, value in os.environ.items()
        if name in KEYS or (_SECRET_NAME.search(name) and not value.startswith(("/", ".", "~")))
        if len(value) >= _LEAST_SECRET and not value.isalpha()
    )
