"""Every error this package raises on purpose. Each class takes values and writes its own sentence.

    InspectorError
    ├── ArgumentError          an argument of the wrong type, checked at the call; also a TypeError
    ├── ReadError              the bytes are not a session that a reader understands
    │   ├── EmptySession       a transcript was recognised, but it holds no message
    │   ├── UnreadFormat       the format is known, and no reader reads it, or none reads this version of it
    │   ├── ClaimedTwice       several readers accept the file
    │   ├── SeveralSessions    the file holds more than one session, and none was named
    │   └── ManifestVersion    a session manifest newer than this package
    ├── CounterError           a token counter that does not exist, or whose ranks are missing or altered
    ├── PolicyError            a policy that does not exist, or settings it does not accept
    ├── PromptMissing          a prompt for a summariser that does not exist
    ├── EditError              an edit that points at nothing in this session
    ├── PlanError              a saved plan that cannot be made again
    │   └── OtherSession       a plan, saved or not, or a ledger is of another session or moment
    ├── RedactionError         a text could not be checked for secrets, so it is not passed on
    ├── SummaryError           a model gave no summary that can be used
    │   ├── KeyMissing         the environment holds no key for the provider
    │   ├── RequestRefused     the provider refused the request, or could not be asked
    │   └── AnswerRefused      the answer is not usable as a summary
    ├── WriteConflict          another writer changes, or has changed, the file to be written
    ├── EscapeError            a file's path leads out of the folder it belongs to
    ├── LessonError            a lesson that cannot be read, or an expression that is not allowed in one
    ├── FigureError            a figure of an unknown kind, or plotly is not installed
    ├── FrameError             no pandas to make a data frame with
    └── Stopped                long work was stopped before it was finished

An outcome is not an error: a plan that cannot reach its target is a `Plan` with `fits=False`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from typing import Any, Self

from .text import printable

MOST_NAMES = 5
"""Names of the possible values that an error lists."""


class InspectorError(Exception):
    """Base of all errors of this package.

    >>> from inspector import count_tokens, read_session
    >>> try:
    ...     count_tokens(read_session([{"role": "user", "content": "Go on."}]), "words")
    ... except InspectorError as error:
    ...     print(type(error).__name__, error.known_names[0])
    CounterError o200k_base
    """

    def __str__(self) -> str:
        # The sentence may quote file names and transcripts, which may hold control characters.
        return printable(self._sentence())

    def _sentence(self) -> str:
        return super().__str__()


class ArgumentError(InspectorError, TypeError):
    """An argument of a public function has the wrong type.

    >>> from inspector import count_tokens
    >>> count_tokens("talk.json")
    Traceback (most recent call last):
    inspector.errors.ArgumentError: count_tokens: session must be a Session, not the string 'talk.json'
    """

    def __init__(self, call: str, argument: str, value: object, expected: str) -> None:
        self.call, self.argument, self.value, self.expected = call, argument, value, expected
        super().__init__(call, argument, value, expected)

    def _sentence(self) -> str:
        return f"{self.call}: {self.argument} must be {self.expected}, not {_name_value(self.value)}"


COUNT = "a number of tokens, whole and not below 0"


def expect(call: str, **arguments: tuple[object, ...]) -> None:
    """Raise `ArgumentError` unless each argument has one of the types given with it.

    None in the types allows None. A boolean does not count as a number; a whole number does.

    >>> expect("pay", price=(1, float), by=(None, str, None))
    >>> expect("pay", price=(True, float))
    Traceback (most recent call last):
    inspector.errors.ArgumentError: pay: price must be a number, not True
    """
    for argument, (value, *kinds) in arguments.items():
        if not any(_is_a(value, kind) for kind in kinds):
            names = [_KINDS.get(kind) or f"a {kind.__name__}" for kind in kinds if isinstance(kind, type)]
            if None in kinds:
                names.append("None")
            raise ArgumentError(call, argument, value, " or ".join(names))


def expect_items(call: str, argument: str, value: object, *kinds: object) -> list[Any]:
    """Return the items of a list.

    Raises `ArgumentError` if the value is not a list, or if an item has none of the types. A string is not a
    list of its characters.

    >>> expect_items("pay", "names", ("a", "b"), str)
    ['a', 'b']
    >>> expect_items("pay", "names", [None], str)
    Traceback (most recent call last):
    inspector.errors.ArgumentError: pay: names must be a string, not None
    """
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise ArgumentError(call, argument, value, "a list")
    items = [*value]
    for item in items:
        expect(call, **{argument: (item, *kinds)})
    return items


def expect_count(call: str, **arguments: object) -> None:
    """Raise `ArgumentError` unless each argument is a number of tokens."""
    for argument, value in arguments.items():
        if not _is_a(value, int) or int(str(value)) < 0:
            raise ArgumentError(call, argument, value, COUNT)


_KINDS: dict[object, str] = {
    int: "a whole number",
    float: "a number",
    str: "a string",
    dict: "a dict",
    bytes: "bytes",
    Callable: "a function",
    Mapping: "a dict",
}


def _is_a(value: object, kind: object) -> bool:
    if kind is None:
        return value is None
    if isinstance(value, bool):
        return kind is bool
    if kind is float:
        return isinstance(value, int | float)
    return isinstance(kind, type) and isinstance(value, kind)


def _name_value(value: object) -> str:
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, str):
        return f"the string {value!r}" if len(value) <= 40 else f"a string of {len(value):,} characters"
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"


RECOGNISED = "recognised"
"""The reason of a reader that took the file for its own."""


class ReadError(InspectorError):
    """No reader understood the bytes.

    `tried` holds (reader name, reason it refused) in order. The message says what the file is; it includes a
    reader's reason only if the caller named that reader.

    >>> from inspector import read_session
    >>> read_session(b"Dear diary", "diary.txt")
    Traceback (most recent call last):
    inspector.errors.ReadError: diary.txt is not a session this package can read — it is plain text
    """

    def __init__(self, name: str, tried: Sequence[tuple[str, str]] = (), detail: str = "") -> None:
        self.name, self.tried, self.detail = name, tuple(tried), detail
        super().__init__(name, self.tried, detail)

    def _sentence(self) -> str:
        # These reasons repeat the detail.
        reasons = [reason for _, reason in self.tried if reason not in (self.detail, RECOGNISED)]
        single_reason = f"{self.tried[0][0]}: {reasons[0]}" if len(self.tried) == 1 and reasons else ""
        parts = [f"{self.name} is not a session this package can read", self.detail, single_reason]
        return " — ".join(part for part in parts if part)


class EmptySession(ReadError):
    """The format was recognised, but the file holds no message.

    >>> from inspector import read_session
    >>> read_session(b'{"type": "summary", "summary": "A talk", "leafUuid": "m1"}')
    Traceback (most recent call last):
    inspector.errors.EmptySession: data was recognised as claude-code, but it holds no message
    (its only record is not a message)
    """

    def _sentence(self) -> str:
        reader_names = ", ".join(reader for reader, _ in self.tried)
        more = f" ({self.detail})" if self.detail else ""
        return f"{self.name} was recognised as {reader_names}, but it holds no message{more}"


class UnreadFormat(ReadError):
    """A file of a known format that no reader here takes: `kind` says what it is and how much it holds.

    >>> from inspector import read_session
    >>> read_session(b'{"type": "user.message", "data": {}}')
    Traceback (most recent call last):
    inspector.errors.UnreadFormat: data is a Copilot CLI log of 1 row, 0 compactions, which cannot be
    opened yet
    """

    def __init__(self, name: str, kind: str, advice: str = "", tried: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(name, tried, advice)
        self.kind = kind
        self.args = (name, kind, advice, self.tried)

    def _sentence(self) -> str:
        more = f" — {self.detail}" if self.detail else ""
        return f"{self.name} is {self.kind}, which cannot be opened yet{more}"


class ClaimedTwice(ReadError):
    """Several readers take a file for theirs: `readers` are their names.

    >>> print(ClaimedTwice("talk.jsonl", ["pi", "codex"]))
    talk.jsonl may be read by pi and codex: name one by format=
    """

    def __init__(self, name: str, readers: Sequence[str]) -> None:
        super().__init__(name, [(reader, RECOGNISED) for reader in readers])
        self.readers = tuple(readers)
        self.args = (name, self.readers)

    def _sentence(self) -> str:
        names = " and ".join(self.readers)
        return f"{self.name} may be read by {names}: name one by format="


class SeveralSessions(ReadError):
    """A file holds more than one session: `kind` says what it is, `parts` are their names.

    >>> print(SeveralSessions("talks.zip", "an archive", ["a.jsonl", "b.jsonl"]))
    talks.zip is an archive of 2 sessions: 'a.jsonl', 'b.jsonl' — name one by part=, or list them with
    open_sessions
    """

    def __init__(self, name: str, kind: str, parts: Sequence[str]) -> None:
        super().__init__(name)
        self.kind, self.parts = kind, tuple(parts)
        self.args = (name, kind, self.parts)

    def _sentence(self) -> str:
        some = ", ".join(repr(part) for part in self.parts[:MOST_NAMES])
        some += ", …" if len(self.parts) > MOST_NAMES else ""
        return (
            f"{self.name} is {self.kind} of {len(self.parts):,} sessions: {some} — name one by part=, "
            "or list them with open_sessions"
        )


class ManifestVersion(ReadError):
    """A session manifest written by a newer package.

    >>> from inspector import read_session
    >>> read_session(b'{"manifest": "session-manifest/9"}')
    Traceback (most recent call last):
    inspector.errors.ManifestVersion: data is a session manifest of a version this package does not know:
    session-manifest/9, and this package knows session-manifest/1
    """

    def _sentence(self) -> str:
        return f"{self.name} is a session manifest of a version this package does not know: {self.detail}"


class CounterError(InspectorError):
    """A token counter cannot be had.

    >>> from inspector import count_tokens, read_session
    >>> count_tokens(read_session([{"role": "user", "content": "Go on."}]), "words")
    Traceback (most recent call last):
    inspector.errors.CounterError: token counter 'words': no such counter; known counters: o200k_base, ...
    """

    def __init__(self, name: str, reason: str, known_names: Iterable[str] = ()) -> None:
        self.name, self.reason, self.known_names = name, reason, tuple(known_names)
        super().__init__(name, reason, self.known_names)

    def _sentence(self) -> str:
        hint = f"; known counters: {', '.join(self.known_names)}" if self.known_names else ""
        return f"token counter {self.name!r}: {self.reason}{hint}"


class PolicyError(InspectorError):
    """A policy, or a setting of one of its rules, cannot be used.

    `known` lists the valid names. `meant` is the invalid one, if not `name`, which is "" for an argument.

    >>> from inspector import find_policy
    >>> find_policy("fluee")
    Traceback (most recent call last):
    inspector.errors.PolicyError: policy 'fluee': no such policy (did you mean 'flue'?); known: flue, ...
    """

    def __init__(self, name: str, reason: str, known_names: Iterable[str] = (), meant: str = "") -> None:
        self.name, self.reason, self.known_names, self.meant = name, reason, tuple(known_names), meant
        super().__init__(name, reason, self.known_names, meant)

    def _sentence(self) -> str:
        names = _list_names(self.known_names, self.meant or self.name)
        hint = f"; known: {names}" if names else ""
        return f"policy {self.name!r}: {self.reason}{hint}" if self.name else f"{self.reason}{hint}"

    @classmethod
    def of_rule(cls, kind: str, reason: str, known_names: Iterable[str] = ()) -> Self:
        """Return the error of a rule, which the message names instead of a policy."""
        return cls("", f"rule {kind!r}: {reason}", known_names, kind)


class PromptMissing(InspectorError):
    """No prompt has the requested name.

    >>> from inspector import ClaudeSummariser
    >>> ClaudeSummariser("claude-opus-4-5", prompt="haiku")
    Traceback (most recent call last):
    inspector.errors.PromptMissing: prompt 'haiku': no such prompt; known: checkpoint, ...
    """

    def __init__(self, name: str, known_names: Iterable[str] = ()) -> None:
        self.name, self.known_names = name, tuple(known_names)
        super().__init__(name, self.known_names)

    def _sentence(self) -> str:
        hint = f"; known: {', '.join(self.known_names)}" if self.known_names else ""
        return f"prompt {self.name!r}: no such prompt{hint}"


class EditError(InspectorError):
    """An edit names an entry, a block or a place that is not in the context being planned.

    >>> from inspector import count_tokens, make_plan, read_session
    >>> session = read_session([{"role": "user", "content": "Go on."}])
    >>> make_plan(session, count_tokens(session), "flue", {"cut": "m9"})
    Traceback (most recent call last):
    inspector.errors.EditError: cut 'm9': no such entry in this context
    """

    def __init__(self, edit: str, target: str, reason: str) -> None:
        self.edit, self.target, self.reason = edit, target, reason
        super().__init__(edit, target, reason)

    def _sentence(self) -> str:
        return f"{self.edit} {self.target!r}: {self.reason}"


class PlanError(InspectorError):
    """A saved plan cannot be made again: the file has no plan, or what it was made by has changed since.

    >>> print(PlanError("talk.plan.json", "this file has no saved plan"))
    saved plan talk.plan.json: this file has no saved plan
    """

    def __init__(self, name: str, reason: str) -> None:
        self.name, self.reason = name, reason
        super().__init__(name, reason)

    def _sentence(self) -> str:
        return f"saved plan {self.name}: {self.reason}" if self.name else self.reason


class OtherSession(PlanError):
    """A plan belongs to another session than the one it is used on, or to another moment; `name` of a saved
    one is its file's, else "".

    >>> from inspector import count_tokens, find_regret, read_session
    >>> one, other = (read_session([{"role": "user", "content": text}]) for text in ("Go on.", "Stop."))
    >>> find_regret(one, one.facts, count_tokens(other))
    Traceback (most recent call last):
    inspector.errors.OtherSession: the ledger was counted of another session: count this one
    """


class RedactionError(InspectorError):
    """A text could not be checked for secrets, or holds one that must not leave: nothing is written or sent.

    >>> print(RedactionError("it is nested too deeply", "sent"))
    Nothing was sent, because the content may hold secrets: it is nested too deeply.
    """

    def __init__(self, reason: str, done: str = "written") -> None:
        self.reason, self.done = reason, done
        super().__init__(reason, done)

    def _sentence(self) -> str:
        return f"Nothing was {self.done}, because the content may hold secrets: {self.reason}."


class SummaryError(InspectorError):
    """A model wrote no usable summary. `used` is the usage that was paid for it.

    >>> error = SummaryError("unknown", "The model wrote no summary.")
    >>> str(error), error.kind, error.used
    ('The model wrote no summary.', 'unknown', None)
    """

    def __init__(self, kind: str, reason: str, used: Any = None) -> None:
        self.kind, self.reason, self.used = kind, reason, used
        super().__init__(kind, reason, used)

    def _sentence(self) -> str:
        return self.reason


class KeyMissing(SummaryError):
    """The environment holds no key for the provider, or the package that asks it is not installed.

    >>> error = KeyMissing("key", "ANTHROPIC_API_KEY is not set.")
    >>> error.kind, str(error)
    ('key', 'ANTHROPIC_API_KEY is not set.')
    """


class RequestRefused(SummaryError):
    """The provider refused the request, failed, or could not be reached. `status` is HTTP's, `kind` one of:

    token_overflow, byte_overflow, rate_limit, overloaded, server, authentication, permission, not_found,
    redirect, invalid, timeout, connection.

    >>> error = RequestRefused("byte_overflow", "The request has too many bytes.", status=413)
    >>> error.kind, error.status
    ('byte_overflow', 413)
    """

    def __init__(self, kind: str, reason: str, used: Any = None, status: int | None = None) -> None:
        super().__init__(kind, reason, used)
        self.status = status
        self.args = (kind, reason, used, status)


class AnswerRefused(SummaryError):
    """A summariser's answer cannot be used as a summary and is discarded. `kind` is the reason:

    cut_off, empty, refusal, tool, interrupted, broken, too_long, unknown.

    >>> error = AnswerRefused("cut_off", "The answer was cut off.")
    >>> error.kind, str(error)
    ('cut_off', 'The answer was cut off.')
    """


class WriteConflict(InspectorError):
    """Two writers in one folder: the second writes nothing.

    >>> print(WriteConflict("talks", "another writer is at work there"))
    Nothing was written to talks: another writer is at work there
    """

    def __init__(self, folder: str, reason: str) -> None:
        self.folder, self.reason = folder, reason
        super().__init__(folder, reason)

    def _sentence(self) -> str:
        return f"Nothing was written to {self.folder}: {self.reason}"


class EscapeError(InspectorError):
    """A path that comes from a transcript or a policy leads out of its folder: nothing is written.

    >>> print(EscapeError("../a.txt", "outputs"))
    Nothing was written: '../a.txt' is not inside outputs
    """

    def __init__(self, path: str, folder: str) -> None:
        self.path, self.folder = path, folder
        super().__init__(path, folder)

    def _sentence(self) -> str:
        return f"Nothing was written: {self.path!r} is not inside {self.folder}"


class LessonError(InspectorError):
    """A lesson cannot be read or shown. `line` counts the lines of its file from 1; 0 if unknown.

    >>> print(LessonError("the lesson has no title", line=1))
    line 1: the lesson has no title
    """

    def __init__(self, reason: str, line: int = 0) -> None:
        self.reason, self.line = reason, line
        super().__init__(reason, line)

    def _sentence(self) -> str:
        return f"line {self.line}: {self.reason}" if self.line else self.reason


class FigureError(InspectorError):
    """A figure cannot be drawn.

    >>> from inspector.corpus import ScanTable, draw_pareto
    >>> draw_pareto(ScanTable(lambda: [], 0))
    Traceback (most recent call last):
    inspector.errors.FigureError: figure 'pareto': no row of the table has facts and tokens
    """

    def __init__(self, kind: str, reason: str, known_names: Iterable[str] = ()) -> None:
        self.kind, self.reason, self.known_names = kind, reason, tuple(known_names)
        super().__init__(kind, reason, self.known_names)

    def _sentence(self) -> str:
        hint = f"; known: {', '.join(self.known_names)}" if self.known_names else ""
        return f"figure {self.kind!r}: {self.reason}{hint}"


class FrameError(InspectorError):
    """A data frame was requested, but pandas is not installed.

    >>> print(FrameError("Facts"))
    Facts.to_pandas() needs pandas: pip install pandas, or use to_columns()
    """

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(what)

    def _sentence(self) -> str:
        return f"{self.what}.to_pandas() needs pandas: pip install pandas, or use to_columns()"


class Stopped(InspectorError):
    """Long work was stopped. To stop `count_tokens`, `replay` or `compare_policies`, raise it from their
    progress callback; no partial result remains.

    >>> str(Stopped())
    'Stopped before it was finished.'
    """

    def _sentence(self) -> str:
        return "Stopped before it was finished."


_STOPPED: ContextVar[Callable[[], bool] | None] = ContextVar("stopped", default=None)


@contextmanager
def stopping(stopped: Callable[[], bool]) -> Iterator[None]:
    """Let `check_stopped` raise `Stopped` in this context as soon as `stopped` returns True."""
    before = _STOPPED.set(stopped)
    try:
        yield
    finally:
        _STOPPED.reset(before)


def check_stopped() -> None:
    """Raise `Stopped` if the work of this context was cancelled. For a long loop without a progress callback.

    >>> with stopping(lambda: True):
    ...     check_stopped()
    Traceback (most recent call last):
    ...
    inspector.errors.Stopped: Stopped before it was finished.
    """
    stopped = _STOPPED.get()
    if stopped is not None and stopped():
        raise Stopped


def _list_names(known_names: Sequence[str], meant: str) -> str:
    """List the names most similar to `meant`, or the first few, and the number of the others.

    >>> _list_names(["drop", "keep", "merge", "point", "shorten", "summarise"], "keeep")
    'keep, … and 5 more'
    """
    if len(known_names) <= MOST_NAMES:
        return ", ".join(known_names)
    names = get_close_matches(meant, known_names, MOST_NAMES) or known_names[:MOST_NAMES]
    return ", ".join([*names, f"… and {len(known_names) - len(names)} more"])
