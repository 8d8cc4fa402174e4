"""Summary jobs -> what a model would be sent for them: without secrets, counted and priced.

This module sends nothing. The bodies are exact: the same jobs give the same bytes, and a body's digest
equals the digest of the bytes that the server receives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Literal, NamedTuple

from ...errors import RedactionError
from ...planning.summary_jobs import Kind, SummaryJob
from ...redaction.clean import clean_session, look_through
from ...redaction.redact import Redactor, SecretFinding, write_placeholder
from ...session.json_text import stringify
from ...session.session import Session
from ...text import plural, printed
from ...tokens.counter import Counter
from ...tokens.prices import TTL, Money, Price, add_money
from ...wire.surrogates import replace_lone_surrogates
from ..prompts import write_prompt
from .allowance import NOTHING, SpendingLimit
from .shorten import take_part

Json = dict[str, Any]
RequestKind = Kind | Literal["compaction", "labels"]

LONGEST = 16_000
"""Tokens that a summary may have if its job sets no limit: the most that Flue requests."""
MOST_PASSES = 4
"""How often a request is looked through until nothing more is found in it."""
NAME = "checkpoint"


@dataclass(frozen=True)
class RequestOptions:
    """Options of the requests, the same for all jobs.

    `keep` are names of secrets to send unredacted; `personal` redacts e-mail addresses and users' names too.
    `secrets` are texts to redact even if no detector finds them; they are never shown.
    """

    model: str
    focus: str = ""
    additions: Mapping[str, str] = field(default_factory=dict)
    cache: TTL | None = "5m"
    effort: str | None = None
    prompt: str = NAME
    keep: frozenset[str] = frozenset()
    personal: bool = False
    secrets: tuple[str, ...] = field(default=(), repr=False)


class PreviewedRequest(NamedTuple):
    """One request: its purpose, its body, and its tokens by a counter; `cached` of them are written to the
    provider's cache."""

    kind: RequestKind
    body: Json
    tokens: int
    cached: int

    @property
    def digest(self) -> str:
        """SHA-256 of the body as compact JSON with sorted keys, without `stream`."""
        return digest_body(self.body)

    @property
    def text(self) -> str:
        """Everything the model would read."""
        return "\n\n".join(read_texts(self.body))


@dataclass(frozen=True)
class RequestPreview:
    """The requests that would be sent for a plan. Nothing has been sent.

    `tokens` and `price` are for sending each request once, with the longest possible answer and nothing read
    from a cache. A run may repeat requests within `limit`, which costs at most `most`. `price` and `most` are
    None if no price is known; `price_note` says why. Requests that the provider refuses are free and do not
    count towards the limit. An attempt that ends without an answer may be charged, and is repeated
    `max_retries` times. `counter` is the token counter. `redacted` lists the secrets removed, `kept` those
    kept by name, `personal` the personal data that was not removed. `notes` are further remarks.
    """

    model: str
    requests: tuple[PreviewedRequest, ...]
    counter: str
    counter_note: str
    price: Money | None
    price_note: str
    redacted: tuple[SecretFinding, ...] = ()
    kept: tuple[str, ...] = ()
    personal: tuple[SecretFinding, ...] = ()
    notes: tuple[str, ...] = ()
    limit: SpendingLimit = NOTHING
    most: Money | None = None

    @property
    def tokens(self) -> int:
        return sum(request.tokens for request in self.requests)

    @property
    def digest(self) -> str:
        """One hash for all the requests, in order."""
        return sha256("".join(request.digest for request in self.requests).encode()).hexdigest()

    @printed
    def __repr__(self) -> str:
        if not self.requests:
            return f"Sending({self.model}, nothing to send)"
        price = "price not known"
        if self.price is not None and self.most is not None:
            price = f"{self.price} for asking once, at most {self.most}"
        many = plural(len(self.requests), "request")
        lines = [f"Sending({self.model}, {many}, {self.tokens:,} tokens by {self.counter}, {price})"]
        lines += [f"  redacted {item.name:<34} ×{item.times:<5,} {item.hint}" for item in self.redacted]
        lines += [f"  kept     {name}" for name in self.kept]
        lines.append(
            f"  limit: {plural(self.limit.requests, 'answer')}, {self.limit.sent:,} tokens sent, "
            f"{self.limit.output:,} tokens answered"
        )
        lines += [f"  {note}" for note in self.notes]
        return "\n".join(lines)


class RequestRedactor:
    """Takes secrets out of what is sent for a session; one found anywhere on its path is known in all of it.

    Raises `RedactionError` when that cannot be done: then nothing is sent.
    """

    def __init__(self, session: Session, asking: RequestOptions, redactor: Redactor | None = None) -> None:
        self._personal, self._keep = asking.personal, asking.keep
        self._redactor = (redactor or look_at(session)).fork(asking.keep)
        for secret in asking.secrets:
            self._redactor.know(secret, "environment-secret")

    def clean(self, job: SummaryJob, session: Session) -> tuple[SummaryJob, Session]:
        """The job and a session of its entries alone, without secrets."""
        job, part = take_part(session, job)
        shown = range(len(part.entries))
        self._look(lambda: look_through(part, shown, self._redactor))
        self._look(lambda: self._redactor.look("previous", job.previous or ""))
        tidy = self._redactor.clean
        entries = tuple(tidy(name) for name in job.entries)
        previous = None if job.previous is None else tidy(job.previous)
        cleaned = clean_session(part, shown, self._redactor)
        return job.model_copy(update={"entries": entries, "previous": previous}), cleaned

    def check_body(self, body: Json) -> Json:
        """Return the body unchanged. Raises `RedactionError` if it still holds a secret that was found."""
        _guard(lambda: self._redactor.check(body))
        return body

    def clean_text(self, text: str) -> str:
        """Return a whole text without its secrets: a part of a secret is not recognised."""
        self._look(lambda: self._redactor.look("typed", text))
        return self._redactor.clean(text)

    def clean_body(self, body: Json) -> Json:
        """The body without secrets, looked through until nothing more is found."""
        for _ in range(MOST_PASSES):
            self._look(lambda: self._redactor.look("request", body))  # noqa: B023 - called at once
            cleaned: Json = self._redactor.clean_tree(body)
            if cleaned == body:
                _guard(lambda: self._redactor.check(body))  # noqa: B023 - called at once
                return body
            body = cleaned
        raise RedactionError("new matches appeared after every redaction", "sent")

    def findings(
        self, bodies: Iterable[Json]
    ) -> tuple[tuple[SecretFinding, ...], tuple[str, ...], tuple[SecretFinding, ...]]:
        """What was taken out of these bodies, what was kept by name, what is personal and stays."""
        text = "\0".join(part for body in bodies for part in read_texts(body))
        secrets = self._redactor.findings
        counted = ((item, text.count(write_placeholder(item.name))) for item in secrets)
        redacted = tuple(item._replace(times=times) for item, times in counted if times)
        kept_names = tuple(sorted(self._keep & {item.name for item in secrets}))
        personal = () if self._personal else tuple(item for item in secrets if item.grade != "secret")
        return redacted, kept_names, personal

    def check_keep(self) -> None:
        """Raise `EditError` for a name to be kept that nothing found has."""
        replace(self._redactor, keep=self._keep).check_keep()

    def scrub(self, text: str) -> str:
        """A text from elsewhere without secrets, all of them and what is personal too."""
        bare = self._redactor.bare
        self._look(lambda: bare.look("error", text))
        return bare.clean(text)

    def _look(self, look: Callable[[], None]) -> None:
        _guard(look)
        if not self._personal:
            secrets = self._redactor.findings
            keep = self._keep | {item.name for item in secrets if item.grade != "secret"}
            if keep != self._redactor.keep:
                self._redactor = replace(self._redactor, keep=keep, _cleaned={})


def look_at(session: Session) -> Redactor:
    """Return a redactor with each secret on the session's path. Raises `RedactionError` if the search
    fails."""
    redactor = Redactor()
    _guard(lambda: look_through(session, session.path, redactor))
    return redactor


def _guard(look: Callable[[], None]) -> None:
    try:
        look()
    except RedactionError as error:
        raise RedactionError(error.reason, "sent") from error
    except RecursionError as error:
        raise RedactionError("it is nested too deep to be looked through", "sent") from error


def choose_prompt(name: str, limit: int | None) -> str:
    """The name of the prompt that is used: an answer that was too long is asked for again by a tight one."""
    return "checkpoint-tight" if limit is not None and name == NAME else name


def write_body(
    job: SummaryJob,
    session: Session,
    asking: RequestOptions,
    cleaner: RequestRedactor,
    *,
    limit: int | None = None,
) -> Json:
    """The body of a Messages request for a job, without secrets.

    The material comes first and the instruction last, each marked so that the provider caches all before it
    for a request with another instruction. `limit` is the length that the instruction requests, if that is
    less than the answer may have.
    """
    job, session = cleaner.clean(job, session)
    may = LONGEST if job.max_tokens is None else job.max_tokens
    limited_job = job if limit is None else job.model_copy(update={"max_tokens": limit})
    name = choose_prompt(asking.prompt, limit)
    prompt = write_prompt(limited_job, session, focus=asking.focus, additions=asking.additions, name=name)
    material, instruction = prompt.parts
    content = [_mark(material, asking.cache)] if material.strip() else []
    body: Json = {
        "model": asking.model,
        "max_tokens": may,
        "system": [_mark(prompt.system, asking.cache)],
        "messages": [{"role": "user", "content": [*content, _mark(instruction, None)]}],
    }
    if asking.effort is not None:
        body["output_config"] = {"effort": asking.effort}
    for part in ("system", "messages"):
        replace_lone_surrogates(body, part, part)
    return cleaner.clean_body(body)


def _mark(text: str, cache: TTL | None) -> Json:
    block: Json = {"type": "text", "text": text}
    if cache is not None:
        block["cache_control"] = {"type": "ephemeral"} | ({"ttl": cache} if cache == "1h" else {})
    return block


def read_texts(body: Json) -> list[str]:
    """The texts of a body, in the order in which the model reads them; arguments of calls are JSON."""
    edits = (body.get("context_management") or {}).get("edits", ())
    instructions = [part.get("instructions") for part in (body.get("compaction") or {}, *edits)]
    tools = [stringify(tool) for tool in body.get("tools", ())]
    texts = [text for block in _blocks(body) for text in _read_block(block)]
    return [*tools, *texts, *(text for text in instructions if text)]


def _read_block(block: Json) -> Iterator[str]:
    match block:
        case {"type": "text", "text": str(text)} | {"type": "thinking", "thinking": str(text)}:
            yield text
        case {"type": "tool_use" | "server_tool_use" | "mcp_tool_use", "name": name, "input": arguments}:
            yield f"{name} {stringify(arguments)}"
        case {"type": "compaction", "content": str(text)}:
            yield text
        case {"type": "document", "source": {"type": "text", "data": str(text)}}:
            yield text
        case {"type": "tool_result", "content": [*parts]}:
            for part in parts:
                yield from _read_block(part)
        case {"type": str(kind), "content": content} if kind.endswith("_tool_result"):
            yield content if isinstance(content, str) else stringify(content)


def digest_body(body: Mapping[str, Any]) -> str:
    """SHA-256 of a body as compact JSON with sorted keys, without `stream`: how the answer travels."""
    plain = _sort({key: value for key, value in body.items() if key != "stream"})
    return sha256(stringify(plain).encode("utf-8", "surrogatepass")).hexdigest()


def _sort(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _sort(value[key]) for key in sorted(value)}
    return [_sort(item) for item in value] if isinstance(value, list | tuple) else value


def count_body(kind: RequestKind, body: Json, counter: Counter) -> PreviewedRequest:
    """The request with its tokens by a counter of texts."""
    sizes = counter.count(read_texts(body)).tolist()
    marked = [at for at, block in enumerate(_blocks(body)) if "cache_control" in block]
    return PreviewedRequest(kind, body, sum(sizes), sum(sizes[: marked[-1] + 1]) if marked else 0)


def _blocks(body: Json) -> list[Json]:
    blocks = (block for message in body.get("messages", ()) for block in message["content"])
    return [*body.get("system", ()), *blocks]


def price_requests(
    requests: Sequence[PreviewedRequest], price: Price | None, ttl: TTL | None
) -> Money | None:
    """The most that asking once for each can cost; None without a price."""
    if price is None:
        return None
    totals: list[Money | None] = []
    for request in requests:
        written = request.cached if ttl is not None and request.cached >= (price.minimum or 0) else 0
        output = request.body["max_tokens"]
        charges = price.charge(request.tokens - written, 0, written, output, ttl or "5m")
        totals.append(price.amount(float(charges)))
    return add_money(totals)
