"""The events of a replay, each under a neutral name and each system's own.

Seven kinds come from S0 (its changelog 1.1.0), four from S1, the rest from S2, TIERED §5, FLUE §9 and the
needs of a replay (K14). An event holds counts, names and references, and never a message's words: any text in
its payload has to be a single word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from .event_names import BY_REASON, FIELDS, NAMES, REASONS, RETENTION_NAMES, TRANSITION, Fields
from .harness import STATES, Dialect, name_state

Channel = Literal["audit", "diagnostic", "event"]


class Kind(NamedTuple):
    """A kind of event: its channel, its meaning, and the fields its record must have (S0-100)."""

    channel: Channel
    meaning: str
    needs: tuple[str, ...] = ()


_REQUEST_FIELDS = ("provider", "before", "correlation")
_DONE = (*_REQUEST_FIELDS, "after")
_CROSSED = ("ratio", "from", "to")

KINDS: dict[str, Kind] = {
    "threshold_hit": Kind(
        "audit", "The context reached the size at which the policy compacts", (*_REQUEST_FIELDS, "limit")
    ),
    "warned": Kind("audit", "The context reached the size from which the harness warns", _CROSSED),
    "required": Kind("audit", "The context reached the size at which a compaction is required", _CROSSED),
    "blocked": Kind("event", "The context reached the size at which calls are blocked", _CROSSED),
    "recovered": Kind("event", "The context fell under a threshold, which can fire again"),
    "state_changed": Kind("event", "The harness changed its state", ("from", "to")),
    "asked": Kind("event", "The user was asked whether to compact"),
    "overridden": Kind("audit", "The user insisted on one request in spite of the requirement", ("turn",)),
    "refused": Kind("event", "A request was not composed: the session is paused"),
    "deferred": Kind("event", "A compaction was put off"),
    "forced": Kind("event", "A state machine asked for a compaction"),
    "token_overflow": Kind("event", "The provider refused the request: too many tokens"),
    "byte_overflow": Kind("event", "The provider refused the request: too many bytes"),
    "overran": Kind(
        "event", "The provider accepted a request above the window; this harness treats it as an overflow"
    ),
    "max_output": Kind("event", "The reply ran into its limit of tokens and was not taken"),
    "leaf_removed": Kind("event", "The failed reply was taken off the path"),
    "switched": Kind("event", "Another model or another window from now on"),
    "started": Kind(
        "audit", "The summariser is called, or the rules are applied", (*_REQUEST_FIELDS, "reason")
    ),
    "retried": Kind("event", "The summariser failed and is called again", ("attempt", "limit")),
    "summary_oversize": Kind(
        "diagnostic", "The summary is larger than its budget", ("before", "size", "budget")
    ),
    "summary_truncated": Kind("diagnostic", "The summary was cut to its budget", ("budget",)),
    "reasoning_downgraded": Kind(
        "diagnostic",
        "Reasoning was given to the summariser; any words of the summary about it are ordinary text",
        (*_DONE, "blocks"),
    ),
    "stage": Kind("event", "A stage of the policy ran or was skipped", ("stage", "ran")),
    "prefix_reset": Kind(
        "event", "The provider's cached prefix ends at the first rewritten block", ("before", "after")
    ),
    "completed": Kind("audit", "Compaction applied", (*_DONE, "reason")),
    "applied": Kind("audit", "The compaction tool completed successfully"),
    "discarded": Kind("event", "The result was not smaller and was not adopted"),
    "failed": Kind("audit", "The summariser failed; there is no summary", (*_DONE, "error")),
    "surfaced": Kind("event", "The turn ends with an error the user sees", ("error",)),
    "breaker_opened": Kind(
        "diagnostic",
        "Too many compactions failed in a row; automatic compaction has stopped",
        ("failures", "limit"),
    ),
    "no_progress": Kind("diagnostic", "Compactions make no progress", _DONE),
    "irreducible": Kind("diagnostic", "The parts that are never compacted exceed the threshold"),
    "capped": Kind("event", "The stage made as many requests as its turn cap allows", ("requests", "limit")),
    "double_configured": Kind(
        "audit", "The harness and the provider both compact on one provider entry", ("provider_entry",)
    ),
    "double_ran": Kind(
        "event", "The harness and the provider both compacted on one turn", (*_DONE, "core", "wire")
    ),
    "reset_asked": Kind("event", "The user was asked whether /reset may clear the history"),
    "suggested": Kind("diagnostic", "There is no compaction tool: only /reset helps"),
    "reset": Kind("event", "The history was cleared down to the current user input", ("before", "after")),
}
"""Every kind, in the order in which they tend to happen."""

_BRACES = re.compile(r"\{(\w+)\}")
_WORD = re.compile(r"[\w.:/@+\-\[\]()#]{0,120}", re.ASCII)
_NO_WORD = re.compile(r"[^\w.:/@+\-\[\]()#]+", re.ASCII)
OWN = (
    *("estimated", "estimated_after", "messages_before", "messages_after"),
    *("usage_input", "usage_output"),
)
"""Figures of the harness itself; the sentence about an event names its estimate apart."""
SIZES = ("beforeTokens", "afterTokens")
"""Names of the tokens before and after in published records."""
UNKNOWN = "unknown"
"""The provider of a model that nothing names: neither the file, nor the model's name, nor a summariser."""
BY_RULES = "rules"
"""The provider of a compaction that calls no summariser."""
RULES = ("verbatim", "summarised", "dropped", "cleared")
"""The four retention rules of reasoning (S0-97). `cleared` is the provider's, at the wire."""


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """One event of a replay.

    `step` and `turn` count from 0; they are None at the session's start. `correlation` is the id of the turn
    that caused the event, `entry` the id of the entry before it. `before` and `after` are tokens of the
    context; None if unknown, or not known yet. `data` holds the rest: numbers, single words, and mappings or
    lists of them. Raises `ValueError` for an unknown kind, and for a text of several words in `data`.

    >>> event = AuditEvent("completed", turn=2, before=180_000, after=40_000, data={"reason": "auto"})
    >>> event.channel, event.sentence
    ('audit', 'Compaction applied: 180,000 -> 40,000 tokens, reason auto, turn 3.')
    """

    kind: str
    step: int | None = None
    turn: int | None = None
    entry: str | None = None
    correlation: str | None = None
    provider: str | None = None
    model: str | None = None
    before: int | None = None
    after: int | None = None
    data: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind!r} is not a kind of event; known: {', '.join(KINDS)}")
        _refuse_words(self.kind, self.data)

    def __hash__(self) -> int:
        return hash((self.kind, self.step, self.turn, self.entry, self.before, self.after))

    @property
    def channel(self) -> Channel:
        """Its channel: the audit log, a diagnostic, or an event for observers."""
        return KINDS[self.kind].channel

    def name_in(self, dialect: Dialect) -> str | None:
        """Return a system's own name for this event; None if it has none.

        >>> event = AuditEvent("completed", data={"reason": "auto"})
        >>> event.name_in("mini-claude-code"), event.name_in("stud-warning"), event.name_in("neutral")
        ('compaction', None, 'completed')
        """
        name = name_kind(self.kind, dialect)
        name = BY_REASON.get((dialect, self.kind, str(self.data.get("reason"))), name)
        filled = name and self._filled(name, dialect)
        # A transition is named by its states; out of a compaction that came to nothing it is not a success.
        outcome = self.data.get("outcome") if name == TRANSITION else None
        return f"{filled} ({outcome})" if filled and outcome else filled

    def record_in(self, dialect: Dialect) -> dict[str, Any] | None:
        """The record a system itself would write, as far as its fields are known; None if it writes none, as
        of a stage that did not run."""
        name = self.name_in(dialect)
        if name is None or (self.kind == "stage" and self.data.get("ran") is False):
            return None
        fields = FIELDS.get((dialect, self.kind), {})
        return {"type": name, **self._fill(fields, dialect)}

    def _fill(self, fields: Fields, dialect: Dialect) -> dict[str, Any]:
        """The known fields of a record; a nested record is included if any of its fields is known."""
        record = {
            native_name: self._value(ours, dialect)
            if isinstance(ours, str)
            else self._fill(ours, dialect) or None
            for native_name, ours in fields.items()
        }
        return {native_name: value for native_name, value in record.items() if value is not None}

    def _value(self, name: str, dialect: Dialect) -> Any:
        """A field by name, else the payload's entry; words in braces are filled."""
        if "{" in name:
            return self._filled(name, dialect)
        if name in self.__slots__:
            return getattr(self, name)
        value = self.data.get(name)
        if isinstance(value, str):
            if name == "reason":
                names = REASONS.get(dialect, {})
                value = names.get(str(self.data.get("by")), names.get(value, value))
            return name_state(value, dialect) if value in STATES and name in ("from", "to") else value
        if name == "retention" and isinstance(value, Mapping):
            names = RETENTION_NAMES.get(dialect, {})
            return {turn: {names.get(key, key): n for key, n in row.items()} for turn, row in value.items()}
        return value

    def _filled(self, name: str, dialect: Dialect) -> str | None:
        words = {key: self._value(key, dialect) for key in _BRACES.findall(name)}
        return None if None in words.values() else _BRACES.sub(lambda match: str(words[match[1]]), name)

    def line_in(self, dialect: Dialect) -> str:
        """Return a line for a log: the system's name in brackets, then the figures of its own record, or the
        event's figures if the system has no record (S3-25)."""
        record = self.record_in(dialect) or {}
        name = record.pop("type", self.kind)
        sizes = [f"{record.pop(key):,}" for key in SIZES if key in record]
        if not sizes:
            return f"[{name}] {self._figures}".rstrip()
        more = (f"{key} {value}" for key, value in record.items() if isinstance(value, int | float | str))
        return f"[{name}] {', '.join((' -> '.join(sizes) + ' tokens', *more))}"

    @property
    def sentence(self) -> str:
        """The moment in words, with its figures; turns are counted from 1 for who reads them."""
        figures, meaning = self._figures, KINDS[self.kind].meaning
        if self.kind == "stage" and "stage" in self.data:
            meaning = f"Stage {self.data['stage']} {'ran' if self.data.get('ran') else 'was skipped'}"
        return f"{meaning}{f': {figures}' if figures else ''}."

    @property
    def _figures(self) -> str:
        tokens = " -> ".join(f"{n:,}" for n in (self.before, self.after) if n is not None)
        parts = [f"{tokens} tokens"] if tokens else []
        own = [self.data[key] for key in OWN[:2] if key in self.data]
        if own and own != [n for n in (self.before, self.after) if n is not None]:
            parts.append(f"{' -> '.join(f'{n:,}' for n in own)} by the harness's own estimate")
        for key, value in self.data.items():
            if key in ("stage", *OWN):
                continue
            if key == "ratio" and value is not None:
                parts.append(f"{value:.0%} of the window")
            elif isinstance(value, int | float | str) and not isinstance(value, bool):
                parts.append(f"{key.replace('_', ' ')} {value if isinstance(value, str) else f'{value:,}'}")
        if self.turn is not None:
            parts.append(f"turn {self.turn + 1}")
        return ", ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, the same keys for every kind."""
        fields = {name: getattr(self, name) for name in self.__slots__ if name != "data"}
        return {"kind": self.kind, "channel": self.channel, **fields, "data": _plain(self.data)}


def write_word(name: str) -> str:
    """A name someone gave, as the single word an event's payload may hold.

    >>> write_word("tool result budget")
    'tool-result-budget'
    """
    return _NO_WORD.sub("-", name)[:120]


def _refuse_words(kind: str, value: Any) -> None:
    if isinstance(value, str):
        if not _WORD.fullmatch(value):
            raise ValueError(f"an event holds no message text: {kind} was given more than a word")
    elif isinstance(value, Mapping):
        for key, part in value.items():
            _refuse_words(kind, key)
            _refuse_words(kind, part)
    elif isinstance(value, list | tuple):
        for part in value:
            _refuse_words(kind, part)
    elif value is not None and not isinstance(value, int | float):
        raise ValueError(f"an event holds numbers and words: {kind} was given a {type(value).__name__}")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value


def name_kind(kind: str, dialect: Dialect) -> str | None:
    """A system's name for a kind of event; None if it has none."""
    return kind if dialect == "neutral" else NAMES[dialect].get(kind)


def count_retention(blocks: Iterable[tuple[int, str]]) -> dict[int, dict[str, int]]:
    """How often each retention rule applied, per turn, from (turn, fate) of every reasoning block (S0-97).

    A replacement other than the block's own words, such as a pointer, counts as summarised.

    >>> count_retention([(0, "summarised"), (0, "dropped"), (3, "verbatim")])[0]
    {'verbatim': 0, 'summarised': 1, 'dropped': 1, 'cleared': 0}
    """
    turns: dict[int, dict[str, int]] = {}
    for turn, fate in blocks:
        row = turns.setdefault(int(turn), dict.fromkeys(RULES, 0))
        row[fate if fate in RULES else "summarised"] += 1
    return turns
