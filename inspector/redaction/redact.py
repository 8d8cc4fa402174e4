"""Texts -> the same without secrets, and a list of what was taken out that shows none of it.

A secret is called by its kind and the beginning of its SHA-256, so that the same one has the same name
wherever it stands, in every session. All that is found is taken out but what is kept by name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from ..errors import EditError, RedactionError, expect_items
from .detect import Span, find_spans
from .patterns import Grade, is_telling

MOST_PLACES = 5
_LONGEST_KEY = 80
_LEAST_PART = 10
_ANCHOR = 4
# Marks of truncation: after the remaining beginning of a text, and before its remaining end.
_CUT_HERE = re.compile(r"\s*[\[(<]?\s*(?:…|\.\.\.|\d[\d,]* \w+ (?:left out|truncated|omitted))")
_CUT_BEFORE = re.compile(r"(?:…|\.\.\.|left out|truncated|omitted)[\])>…]*\s*\Z")
_LEAST_CUT = 30
"""Characters of the shortest text that may have been truncated without a mark."""
_BETWEEN_LINES = re.compile(r"\\[nr]|[^A-Za-z0-9+/=]+")

HINTS = {
    "private-key": "a private key",
    "authorization": "the credentials of an HTTP request",
    "cookie": "the cookies of an HTTP request",
    "login": "a password in a command or a file of logins",
    "password-hash": "the hash of a password",
    "service-token": "a token of a service",
    "signed-address": "the signature of an address",
    "environment-value": "a value set in the environment",
    "assigned-value": "a value assigned to a name that tells of a secret",
    "url-password": "the password in an address",
    "email": "an e-mail address",
    "environment-secret": "a secret of this machine's environment",
    "user": "a user's name in the path of a home directory",
}


class SecretFinding(NamedTuple):
    """One secret: its name, how many times it stands, and the first places where it does.

    >>> redactor = Redactor()
    >>> redactor.look("m1/0", "TOKEN=hf_abcdefghijklmnopqrstuvwxyzABCDEFGH")
    >>> found: SecretFinding = redactor.findings[0]
    >>> found.name, found.hint, found.times, found.where
    ('huggingface-token 63ae26e9', 'a known form: huggingface token', 1, ('m1/0',))
    """

    name: str
    kind: str
    grade: Grade
    times: int
    where: tuple[str, ...]

    @property
    def hint(self) -> str:
        """What it is, in words."""
        return HINTS.get(self.kind, f"a known form: {self.kind.replace('-', ' ')}")


class Replaced(NamedTuple):
    """Characters of a text that were taken out, and the placeholder that stands for them."""

    start: int
    end: int
    words: str


class CleanedText(NamedTuple):
    """A text without what is secret in it, and what was replaced in the original, in order."""

    text: str
    replaced: tuple[Replaced, ...]

    @property
    def placeholders(self) -> Iterator[tuple[int, int]]:
        """Where the placeholders stand in the cleaned text."""
        moved = 0
        for cut in self.replaced:
            yield cut.start + moved, cut.start + moved + len(cut.words)
            moved += len(cut.words) - (cut.end - cut.start)

    def find_origin(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the original that these of the cleaned text stand for. A stretch that begins or
        ends within a placeholder holds all that it stands for."""
        first, last, moved = -1, -1, 0
        for cut in self.replaced:
            here = cut.start + moved
            behind = here + len(cut.words)
            if first < 0 and start < behind:
                first = start - moved if start <= here else cut.start
            if last < 0 and end <= behind:
                last = end - moved if end <= here else cut.end
            moved += len(cut.words) - (cut.end - cut.start)
        return first if first >= 0 else start - moved, last if last >= 0 else end - moved


@dataclass
class Redactor:
    """Finds secrets in the texts it is given, then takes them out of any text.

    First `look` at everything that is to be handed on, then `clean` it. A secret found in one text is taken
    out of all, where it is telling enough to be known again without what stood around it.

    >>> redactor = Redactor()
    >>> redactor.look("e1/0", "export TOKEN=hf_abcdefghijklmnopqrstuvwxyzABCDEFGH")
    >>> redactor.clean("then hf_abcdefghijklmnopqrstuvwxyzABCDEFGH again")
    'then [redacted huggingface-token 63ae26e9] again'
    """

    keep: frozenset[str] = frozenset()
    _spans: dict[str, tuple[Span, ...]] = field(default_factory=dict, repr=False)
    _names: dict[str, str] = field(default_factory=dict, repr=False)
    _grades: dict[str, tuple[str, Grade]] = field(default_factory=dict, repr=False)
    _counts: dict[str, int] = field(default_factory=dict, repr=False)
    _places: dict[str, dict[str, None]] = field(default_factory=dict, repr=False)
    _cleaned: dict[str, str] = field(default_factory=dict, repr=False)
    _told: dict[str, str] = field(default_factory=dict, repr=False)

    def know(self, secret: str, kind: str) -> None:
        """From now on these very words are a secret of that kind, wherever they stand."""
        self._cleaned.clear()
        name = self._names.setdefault(secret, name_secret(kind, secret))
        self._grades.setdefault(name, (kind, "secret"))
        self._told[secret] = kind

    def look(self, where: str, value: Any) -> None:
        """Find what is secret in a text, or in every text of a JSON-like value, which stands at `where`.

        Raises `RedactionError` when that cannot be done.
        """
        self._cleaned.clear()
        for text, spans in _walk(value, self._find):
            for span in spans:
                secret = text[span.start : span.end]
                name = self._names.get(secret) if span.alone else None
                if name is None:
                    name = name_secret(span.kind, secret)
                    self._grades[name] = span.kind, span.grade
                    if span.alone:
                        self._names[secret] = name
                self._count(name, where)
                if span.kind == "private-key":
                    # Tools show files in pieces, which have nothing about them that tells of a key.
                    for line in _BETWEEN_LINES.split(secret):
                        self._learn(line, name)

    def look_across(self, where: str, texts: Sequence[str]) -> None:
        """Find what is secret only where texts stand side by side; its parts are then known everywhere.

        Raises `RedactionError` when that cannot be done.
        """
        self._cleaned.clear()
        whole = "".join(texts)
        ends = list(accumulate(map(len, texts)))
        for span in self._find(whole) if len(texts) > 1 else ():
            seams = [end for end in ends if span.start < end < span.end]
            if not seams or span.grade != "secret":
                continue
            name = name_secret(span.kind, whole[span.start : span.end])
            self._grades.setdefault(name, (span.kind, span.grade))
            self._count(name, where)
            for start, end in pairwise([span.start, *seams, span.end]):
                self._learn(whole[start:end], name)

    @property
    def bare(self) -> Redactor:
        """The same with nothing kept."""
        return replace(self, keep=frozenset(), _cleaned={})

    def fork(self, keep: frozenset[str]) -> Redactor:
        """Another that knows the same, keeps other names, and learns for itself."""
        return replace(
            self,
            keep=keep,
            _spans=dict(self._spans),
            _names=dict(self._names),
            _grades=dict(self._grades),
            _counts=dict(self._counts),
            _places={name: dict(where) for name, where in self._places.items()},
            _cleaned={},
            _told=dict(self._told),
        )

    @property
    def findings(self) -> tuple[SecretFinding, ...]:
        """What was found, secrets before what is only personal, the most frequent first."""
        tell = self.bare.clean
        found = [
            SecretFinding(
                name, *self._grades[name], times, tuple(map(tell, [*self._places[name]][:MOST_PLACES]))
            )
            for name, times in self._counts.items()
        ]
        return tuple(sorted(found, key=lambda item: (item.grade != "secret", -item.times, item.name)))

    def check_keep(self) -> None:
        """Raise `EditError` for a name to be kept that nothing found has."""
        for name in sorted(self.keep - self._counts.keys()):
            raise EditError("keep", name, "nothing of this name was found")

    def clean(self, text: str) -> str:
        """The text without what is secret in it."""
        known = self._cleaned.get(text)
        if known is None:
            known = self._cleaned[text] = self._clean(text)
        return known

    def clean_in_place(self, text: str) -> CleanedText:
        """The same, and where in the text each place of what is left of it was.

        >>> redactor = Redactor()
        >>> redactor.look("e1/0", "Use hf_abcdefghijklmnopqrstuvwxyzABCDEFGH, only that.")
        >>> cleaned = redactor.clean_in_place("Use hf_abcdefghijklmnopqrstuvwxyzABCDEFGH, only that.")
        >>> cleaned.text, cleaned.find_origin(0, 9)
        ('Use [redacted huggingface-token 63ae26e9], only that.', (0, 41))
        """
        replaced = tuple(self._replace(text))
        return CleanedText(_join(text, replaced), replaced)

    def _clean(self, text: str) -> str:
        return _join(text, tuple(self._replace(text)))

    def _replace(self, text: str) -> Iterator[Replaced]:
        """What is taken out of a text, in order and apart from each other, and what stands for it."""
        cuts = [
            (span.start, span.end, self._names.get(text[span.start : span.end]) or _name(text, span))
            for span in self._find(text)
        ]
        cuts += [(*match.span(), self._names[match.group()]) for match in self._known_in(text)]
        cuts += self._find_pieces(text)
        at = 0
        for start, end, name in sorted(cuts, key=lambda cut: (cut[0], -cut[1])):
            if end > at and name not in self.keep:
                yield Replaced(max(start, at), end, write_placeholder(name))
                at = end

    def clean_tree(self, value: Any) -> Any:
        """The same for every text in a JSON-like value, keys too."""
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, dict):
            return {
                self.clean(key) if isinstance(key, str) else key: self._clean_member(key, item)
                for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.clean_tree(item) for item in value]
        return value

    def check(self, value: Any) -> None:
        """Raise `RedactionError` when a secret that was found still stands in a text of a JSON-like value."""
        for match in self._known_in("\0".join(_texts_of(value))):
            if self._names[match.group()] not in self.keep:
                raise RedactionError(f"{self._names[match.group()]} was found, but is still there")

    def _known_in(self, text: str) -> Iterable[re.Match[str]]:
        """Where stands what is known to be secret by itself, the longest first."""
        values = sorted((value for value in self._names if value in text), key=lambda v: (-len(v), v))
        return re.finditer("|".join(map(re.escape, values)), text) if values else ()

    def _find_pieces(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Find truncated known secrets, as (start, end, name of the secret).

        A long piece of a secret is found anywhere, a short one only next to a mark of truncation.
        """
        for secret, name in self._names.items():
            if len(secret) < 2 * _ANCHOR or self._grades[name][1] != "secret" or secret.startswith("-----"):
                continue
            for at in _find_all(text, secret[:_ANCHOR]):
                end = at + _shared(text[at : at + len(secret)], secret)
                cut = _CUT_HERE.match(text, end) or _is_at_end(text, end)
                if end - at < len(secret) and (cut or _is_piece(text[at:end])):
                    yield at, end, name
            for start in _find_all(text, secret[-_ANCHOR:]):
                end = start + _ANCHOR
                at = end - _shared(text[max(end - len(secret), 0) : end][::-1], secret[::-1])
                cut = _CUT_BEFORE.search(text[max(at - 20, 0) : at]) or (not at and len(text) >= _LEAST_CUT)
                if end - at < len(secret) and (cut or _is_piece(text[at:end])):
                    yield at, end, name

    def _count(self, name: str, where: str) -> None:
        self._counts[name] = self._counts.get(name, 0) + 1
        self._places.setdefault(name, {})[where] = None

    def _learn(self, part: str, name: str) -> None:
        """A part of a secret is one wherever it stands, when it cannot stand there by chance."""
        if len(part) >= _LEAST_PART and is_telling(part):
            self._names.setdefault(part, name)

    def _find(self, text: str) -> tuple[Span, ...]:
        found = self._spans.get(text)
        if found is None:
            found = self._spans[text] = tuple(find_spans(text))
        return (*found, *self._find_told(text)) if self._told else found

    def _find_told(self, text: str) -> Iterator[Span]:
        for secret, kind in self._told.items():
            for match in re.finditer(re.escape(secret), text) if secret in text else ():
                yield Span(*match.span(), kind, "secret", True)

    def _clean_member(self, key: Any, value: Any) -> Any:
        if not isinstance(value, str):
            return self.clean_tree(value)
        spans = _assigned(key, value, self._find)
        if spans and (name := name_secret(spans[0].kind, value)) not in self.keep:
            return write_placeholder(self._names.get(value, name))
        return self.clean(value)


def _find_all(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _shared(text: str, other: str) -> int:
    """Return the length of the common beginning of two texts."""
    return next(
        (at for at, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other))
    )


def _is_at_end(text: str, at: int) -> bool:
    """Whether the offset is the end of a text that may have been truncated there."""
    return len(text) >= _LEAST_CUT and at == len(text)


def _is_piece(piece: str) -> bool:
    """Whether a piece of a secret is too long and too random to occur by chance."""
    return len(piece) >= _LEAST_PART and is_telling(piece)


def _join(text: str, replaced: Sequence[Replaced]) -> str:
    out, at = [], 0
    for start, end, words in replaced:
        out += [text[at:start], words]
        at = end
    return "".join([*out, text[at:]]) if out else text


def write_placeholder(name: str) -> str:
    """What stands in the place of a secret of this name. That of a user's name may stand in a path, which
    stays one path, so that what is found in a cleaned text is what was found before.

    >>> write_placeholder("github-token 63ae26e9"), write_placeholder("user 7011fb86")
    ('[redacted github-token 63ae26e9]', 'redacted-user-7011fb86')
    """
    return f"redacted-{name.replace(' ', '-')}" if name.startswith("user ") else f"[redacted {name}]"


def name_secret(kind: str, secret: str) -> str:
    """The name of a secret: its kind and the first 8 digits of its SHA-256."""
    return f"{kind} {sha256(secret.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _name(text: str, span: Span) -> str:
    return name_secret(span.kind, text[span.start : span.end])


def _walk(value: Any, find: Any) -> Iterator[tuple[str, Iterable[Span]]]:
    """Every text in a value with what is found in it; a value counts as assigned to its key."""
    if isinstance(value, str):
        yield value, find(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(key, str):
                yield key, find(key)
            if isinstance(item, str) and (spans := _assigned(key, item, find)):
                yield item, spans
            else:
                yield from _walk(item, find)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _walk(item, find)


def _texts_of(value: Any) -> list[str]:
    texts: list[str] = []
    _collect(value, texts)
    return texts


def _collect(value: Any, texts: list[str]) -> None:
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            _collect(key, texts)
            _collect(item, texts)
    elif isinstance(value, list | tuple):
        for item in value:
            _collect(item, texts)


def _assigned(key: Any, value: str, find: Any) -> list[Span]:
    """The whole value as a secret, where its key says that it is one."""
    if not isinstance(key, str) or not 6 <= len(value) <= 400 or len(key) > _LONGEST_KEY or find(value):
        return []
    head = f'"{key}":"'
    for span in find(f'{head}{value}"'):
        if span.start >= len(head) and span.end <= len(head) + len(value):
            return [Span(0, len(value), span.kind, span.grade, span.alone)]
    return []


def keep_names(keep: Collection[str]) -> frozenset[str]:
    """The names to be kept; a single text is one name, not its letters."""
    return frozenset(expect_items("redact", "keep", [keep] if isinstance(keep, str) else keep, str))
