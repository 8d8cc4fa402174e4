"""The values of a session: entries with their usage, boundaries of compactions, notes and turns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, cast

from pydantic import Field

from ..text import plural
from .blocks import Block, Chars, Number, Value, fields_of


class Cost(Value):
    """Cost per kind of token, in the currency of the file (US dollars unless it names another one)."""

    input: Number = 0
    output: Number = 0
    cache_read: Number = 0
    cache_write: Number = 0
    total: Number = 0

    def __add__(self, other: Cost) -> Cost:
        """Add kind by kind. A total that only one of them states is added to the parts of the other."""
        sums = {name: getattr(self, name) + getattr(other, name) for name in Cost.model_fields}
        return Cost(**sums | ({"total": self.amount + other.amount} if sums["total"] else {}))

    @property
    def amount(self) -> Number:
        """The whole cost: `total` if it is stated and not zero, else the four parts added."""
        return self.total or self.input + self.output + self.cache_read + self.cache_write


class Request(Value):
    """One of several requests for a reply; `kind` is the provider's name for it (CLAUDE §5.1).

    `model` is set if it differs from the reply's. The figures are those of `Usage`.
    """

    kind: Chars = "message"
    model: Chars | None = None
    input: Number = 0
    output: Number = 0
    cache_read: Number = 0
    cache_write: Number = 0
    cache_write_1h: Number | None = None


class Terms(Value):
    """Reported terms, other than tokens, that change the price of requests.

    `speed`, `service_tier` and `inference_geo` have the provider's values, None for the standard price.
    `web_searches` are charged per search; `other_tools` counts uses of other server tools.
    """

    speed: Chars | None = None
    service_tier: Chars | None = None
    inference_geo: Chars | None = None
    web_searches: int = 0
    other_tools: int = 0


class Usage(Value):
    """Tokens of one reply, as the provider reported them. `total` is the provider's own sum, if reported.

    Of `cache_write`, `cache_write_1h` tokens were written for an hour and the others for five minutes; None
    if the lifetime is not reported. If a reply took several `requests`, the figures describe the last
    one, whose size is the context, and the reply is charged for all of them. `terms` apply to all requests;
    the sum of two usages has no terms.

    >>> usage = Usage(input=10, cache_read=9_000, cache_write=990, output=200)
    >>> usage.prompt, usage.tokens, (usage + usage).output
    (10000, 10200, 400)
    """

    input: Number = 0
    output: Number = 0
    cache_read: Number = 0
    cache_write: Number = 0
    cache_write_1h: Number | None = None
    total: Number | None = None
    cost: Cost | None = None
    requests: tuple[Request, ...] = ()
    terms: Terms | None = None

    @property
    def prompt(self) -> Number:
        """Tokens charged for a request: input + cache_read + cache_write."""
        fields = fields_of(self)
        return cast(Number, fields["input"] + fields["cache_read"] + fields["cache_write"])

    @property
    def request(self) -> Number:
        """Size of the request: `prompt`, or `total` without the output if the parts add up to more.

        Some files sum the parts over all requests of a turn; `total` is then the context after the last one.

        >>> Usage(input=12, cache_read=600_000, output=5_000, total=125_000).request
        120000
        """
        prompt, total, output = self.prompt, fields_of(self)["total"], fields_of(self)["output"]
        if total and (not prompt or total < prompt + output):
            return cast(Number, max(total - output, 0))
        return prompt

    @property
    def tokens(self) -> Number:
        """The context after the reply: `total` if given and not zero, else the four added (FLUE §3)."""
        return cast(Number, fields_of(self)["total"] or self.prompt + self.output)

    def __add__(self, other: Usage) -> Usage:
        """Add field by field, including costs (FLUE §11.1). A missing value counts as zero.

        A total that only one of them reports is added to the tokens of the other.

        >>> (Usage(input=10, output=1, total=11) + Usage(input=5_000, output=7)).tokens
        5018
        """
        cost = (self.cost or Cost()) + (other.cost or Cost()) if self.cost or other.cost else None
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            cache_write_1h=_add_known(self.cache_write_1h, other.cache_write_1h),
            total=self.tokens + other.tokens
            if self.total or other.total
            else _add_known(self.total, other.total),
            cost=cost,
            requests=self.requests + other.requests,
        )


def _add_known(first: Number | None, other: Number | None) -> Number | None:
    return None if first is None and other is None else (first or 0) + (other or 0)


MOST_TOKENS = 2**53
"""The largest accepted number of tokens: up to here JSON's numbers are exact."""


def is_tokens(value: Number) -> bool:
    """Return whether a value can be a number of tokens: finite, and from 0 to `MOST_TOKENS`.

    >>> [is_tokens(value) for value in (3_000_000_000, -1, float("nan"), float("inf"), 10**400)]
    [True, False, False, False, False]
    """
    return 0 <= value <= MOST_TOKENS


CUT_SHORT = ("aborted", "error")
"""Stop reasons of replies that were aborted or failed."""


SYNTHETIC = "<synthetic>"
"""The model that Claude Code names for messages that no model wrote, such as "API Error …"."""


class Source(NamedTuple):
    """The position of a record in the file: 1-based line (or element), byte offset and size in bytes."""

    line: int
    offset: int
    size: int


class Boundary(Value):
    """A compaction that is recorded in the file.

    `compact`: everything before this entry was replaced by the entry's own text, except the path from
    `first_kept` on (if given) and the entries in `kept`, earlier summaries among them. The text is placed
    before those, or after them with `summary_last`. `micro`: the outputs of the calls in `cleared` were
    cleared in place. `summary` is the text in the file, if it differs from what the model is shown. Token
    figures are the file's own.

    >>> from inspector import Session
    >>> asked, answered = Entry(id="a"), Entry(id="b", parent="a", role="assistant")
    >>> summary = Entry(id="c", parent="b", kind="compaction", boundary=Boundary(first_kept="b"))
    >>> Session(format="demo", entries=(asked, answered, summary), leaf="c").live_names
    ['c', 'b']
    """

    kind: Literal["compact", "micro"] = "compact"
    trigger: Chars | None = None
    tokens_before: Number | None = None
    tokens_after: Number | None = None
    tokens_saved: Number | None = None
    first_kept: Chars | None = None
    kept: tuple[Chars, ...] = ()
    summary_last: bool = False
    cleared: tuple[Chars, ...] = ()
    summary: Chars | None = None
    files_read: tuple[Chars, ...] = ()
    files_modified: tuple[Chars, ...] = ()
    extra: dict[str, Any] = Field(default_factory=dict)

    @property
    def left(self) -> Number | None:
        """Tokens after it as the harness recorded them; Claude Code counts only the conversation."""
        recorded = self.extra.get("postTokens") if self.tokens_after is None else self.tokens_after
        if isinstance(recorded, bool) or not isinstance(recorded, int | float):
            return None
        return recorded if is_tokens(recorded) else None


def count_recorded(boundaries: Iterable[Boundary], noun: str = "compaction") -> str:
    """How many compactions are recorded, and how many clearings of outputs if there are any, in words.

    >>> count_recorded([Boundary(), Boundary(kind="micro")])
    '1 compaction, 1 clearing'
    """
    kinds = [boundary.kind for boundary in boundaries]
    clearings = [plural(kinds.count("micro"), "clearing")] if "micro" in kinds else []
    return ", ".join([plural(kinds.count("compact"), noun), *clearings])


class Entry(Value):
    """One message, or one recorded compaction.

    `role` is user, assistant, tool, system, or the file's own. An entry of role `tool` contains only tool
    outputs. A `note` is a record in the chain of parents that the model never sees. `meta` marks a user
    message that the harness wrote. `sidechain` names the sub-agent of an entry; sidechains are never on the
    main path. `extra["speaker"]` and `extra["way"]` give the origin of text that is neither a prompt nor the
    harness's (`speakers`). `extra["file"]` of a Claude Code output has the `chars` and `lines` of the file
    that was read or changed. `copied_from` names the session that a fork copied a reply or a compaction from.
    The request is in the bill of that session.

    >>> from inspector.session.blocks import Text, ToolOutput
    >>> asked = Entry(id="e1", blocks=(Text(text="Run the tests."),))
    >>> output = ToolOutput(call_id="c1", parts=(Text(text="4 passed"),))
    >>> answered = Entry(id="e3", role="tool", blocks=(output,))
    >>> asked.text, asked.opens_turn, answered.opens_turn
    ('Run the tests.', True, False)
    """

    id: Chars
    parent: Chars | None = None
    role: Chars = "user"
    kind: Literal["message", "compaction", "branch_summary", "micro", "note"] = "message"
    blocks: tuple[Block, ...] = ()
    usage: Usage | None = None
    model: Chars | None = None
    provider: Chars | None = None
    stop_reason: Chars | None = None
    error: Chars | None = None
    timestamp: Chars | None = None
    meta: bool = False
    sidechain: Chars | None = None
    copied_from: Chars | None = None
    boundary: Boundary | None = None
    aliases: tuple[Chars, ...] = ()
    sources: tuple[Source, ...] = ()
    extra: dict[str, Any] = Field(default_factory=dict)

    @property
    def text(self) -> str:
        """The entry's own text: its text blocks, one per line."""
        return "\n".join(block.text for block in self.blocks if block.kind == "text")

    @property
    def cut_short(self) -> bool:
        """Whether a reply was aborted or failed: its usage is ignored."""
        return self.stop_reason in CUT_SHORT

    @property
    def opens_turn(self) -> bool:
        """Whether a user (not the harness) asks for something here.

        A shell command that the user runs is in the context, but does not ask the model for anything. Neither
        does white space.
        """
        return (
            self.role == "user"
            and self.kind == "message"
            and not self.meta
            and self.extra.get("way") != "shell"
            and any(map(_asks, self.blocks))
        )


def _asks(block: Block) -> bool:
    """Return whether a block of a user message is more than an output or white space."""
    return block.kind != "tool_output" and (block.kind != "text" or not (block.text or " ").isspace())


class StatedTotal(Value):
    """A total that a file states for several requests: the tokens of one model, or the cost of a run.

    `usage` holds the sums; `requests` is their number, None if the file does not state it. The figures cover
    the entries after `after` (None: from the first one) up to `until`, including requests whose replies are
    not in the file.
    """

    model: Chars | None = None
    requests: int | None = None
    usage: Usage
    after: Chars | None = None
    until: Chars | None = None


class SubAgent(Value):
    """A sub-agent, as far as a file describes it outside of the entries; the model is shown none of it.

    `replies` are complete in the file, without duplicates. `results` are replies known only from the result
    of the call: the last text and its usage. `silent`: the sub-agent made requests that are not in the file.
    """

    id: Chars
    replies: tuple[Entry, ...] = ()
    results: tuple[Entry, ...] = ()
    silent: bool = False


class Tool(Value):
    """A tool definition. `input_schema` is JSON Schema.

    `provider_fields` holds other fields of the provider's definition, such as the `type` of a tool that the
    provider runs itself.
    """

    name: Chars
    description: Chars = ""
    input_schema: Any = None
    provider_fields: dict[str, Any] | None = None


class Provided(Value):
    """Text that a context provider adds to each request; recomputed every time, never compacted.

    `origin` is what the provider reads: a project file, a memory; "" if unknown.
    """

    name: Chars
    text: Chars
    origin: Chars = ""


class Note(Value):
    """A record that is not a message: bookkeeping if `known`, otherwise of an unknown type."""

    type: Chars
    known: bool
    source: Source


class Corrupt(Value):
    """A record that could not be read, and the reason."""

    line: int
    offset: int
    reason: str


class Turn(NamedTuple):
    """A user message and the entries up to the next one. `first` and `last` are positions on the path.

    `number` is its index in `session.turns`, from 0: names such as "turn 1" and all texts count from 1.

    >>> from inspector import read_session
    >>> said = ("user", "assistant", "assistant", "user")
    >>> session = read_session([{"role": role, "content": "…"} for role in said])
    >>> session.turns == (Turn(number=0, first=0, last=2), Turn(number=1, first=3, last=3))
    True
    """

    number: int
    first: int
    last: int
