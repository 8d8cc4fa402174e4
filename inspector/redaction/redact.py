"""Remove secrets from texts, and list the removed secrets without showing them.

A secret is named by its kind and the beginning of its SHA-256, so that the same secret has the same name in
every session. All findings are removed except those that the user keeps by name.
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
_KEY_EDGE = re.compile(
    r"-*BEGIN [A-Z ]*PRIVATE KEY\b(?:(?!END [A-Z ]*PRIVATE KEY).)*\Z"
    r"|\A(?:(?!BEGIN [A-Z ]*PRIVATE KEY).)*?END [A-Z ]*PRIVATE KEY\b-*",
    re.DOTALL,
)
"""A private key that a piece of a text begins or ends in."""
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
    "assigned-value": "a value assigned to the name of a secret",
    "url-password": "the password in an address",
    "email": "an e-mail address",
    "environment-secret": "a secret of this machine's environment",
    "user": "a user's name in the path of a home directory",
}


class SecretFinding(NamedTuple):
    """A secret: its name, how many times it occurs, and its first occurrences.

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
        """A description of the kind."""
        return HINTS.get(self.kind, f"a known form: {self.kind.replace('-', ' ')}")


class Cut(NamedTuple):
    """A part of a text, and what stands in its place."""

    start: int
    end: int
    placeholder: str


@dataclass
class Redactor:
    """Finds secrets in texts, then removes them from any text.

    First `look` at everything that will be shown, then `clean` it. A secret found in one text is removed from
    all, if it is distinctive enough to be recognised without its surroundings.

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
    _given_secrets: dict[str, str] = field(default_factory=dict, repr=False)
    # Secrets that only their surroundings reveal, such as "password = moth".
    _bound: dict[str, str] = field(default_factory=dict, repr=False)

    def know(self, secret: str, kind: str) -> None:
        """Treat this text as a secret of this kind everywhere."""
        self._cleaned.clear()
        name = self._names.setdefault(secret, name_secret(kind, secret))
        self._grades.setdefault(name, (kind, "secret"))
        self._given_secrets[secret] = kind

    def look(self, where: str, value: Any) -> None:
        """Find the secrets in a text, or in all texts of a JSON-like value, at the place `where`.

        Raises `RedactionError` if that fails.
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
                    elif span.grade == "secret":
                        self._bound[secret] = name
                self._count(name, where)
                if span.kind == "private-key":
                    # Tools show files in pieces, which do not identify a key by themselves.
                    for line in _BETWEEN_LINES.split(secret):
                        self._learn(line, name)

    def look_across(self, where: str, texts: Sequence[str]) -> None:
        """Find secrets that are split over consecutive texts. Their parts are then secrets everywhere.

        Raises `RedactionError` if that fails.
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
        """A redactor with the same secrets that keeps none."""
        return replace(self, keep=frozenset(), _cleaned={})

    def fork(self, keep: frozenset[str]) -> Redactor:
        """Return a copy with the same secrets that keeps other names and is updated independently."""
        return replace(
            self,
            keep=keep,
            _spans=dict(self._spans),
            _names=dict(self._names),
            _grades=dict(self._grades),
            _counts=dict(self._counts),
            _places={name: dict(where) for name, where in self._places.items()},
            _cleaned={},
            _given_secrets=dict(self._given_secrets),
            _bound=dict(self._bound),
        )

    @property
    def findings(self) -> tuple[SecretFinding, ...]:
        """The secrets found, then personal data; the most frequent first."""
        redact = self.bare.clean
        findings = [
            SecretFinding(
                name, *self._grades[name], times, tuple(map(redact, [*self._places[name]][:MOST_PLACES]))
            )
            for name, times in self._counts.items()
        ]
        return tuple(sorted(findings, key=lambda item: (item.grade != "secret", -item.times, item.name)))

    def check_keep(self) -> None:
        """Raise `EditError` if a name to keep was not found."""
        for name in sorted(self.keep - self._counts.keys()):
            raise EditError("keep", name, "nothing of this name was found")

    def clean(self, text: str) -> str:
        """Return the text without its secrets."""
        cleaned = self._cleaned.get(text)
        if cleaned is None:
            cleaned = self._cleaned[text] = _put_in(text, self._find_cuts(text))
        return cleaned

    def clean_excerpt(self, text: str, offsets: Sequence[int] = ()) -> tuple[str, list[int]]:
        """Return a piece of a longer text without its secrets, and where some of its offsets are now.

        A secret that only the surroundings of the piece reveal is removed too.

        >>> redactor = Redactor()
        >>> redactor.look("e1/0", "DB_PASSWORD=mothwing")
        >>> redactor.clean_excerpt("not mothwing, the other", [4, 14])
        ('not [redacted environment-value dec89d2f], the other', [4, 43])
        >>> redactor.clean_excerpt("it is:; -----BEGIN RSA PRIVATE KEY-----; MII")[0]
        'it is:; [redacted private-key]'
        """
        bound = [
            (*match.span(), name)
            for secret, name in self._bound.items()
            if secret in text
            for match in re.finditer(rf"(?<!\w){re.escape(secret)}(?!\w)", text)
        ]
        if "PRIVATE KEY" in text:
            bound += [(*match.span(), "private-key") for match in _KEY_EDGE.finditer(text)]
        cuts = [*self._find_cuts(text, bound)]
        return _put_in(text, cuts), [_move(at, cuts) for at in offsets]

    def _find_cuts(self, text: str, more: Iterable[tuple[int, int, str]] = ()) -> Iterator[Cut]:
        """Yield the parts of a text to remove, in order and without overlaps."""
        cuts = [
            (span.start, span.end, self._names.get(secret) or name_secret(span.kind, secret))
            for span in self._find(text)
            for secret in (text[span.start : span.end],)
        ]
        cuts += [(*match.span(), self._names[match.group()]) for match in self._known_in(text)]
        cuts += [*self._find_pieces(text), *more]
        at = 0
        for start, end, name in sorted(cuts, key=lambda cut: (cut[0], -cut[1])):
            if end > at and name not in self.keep:
                yield Cut(max(start, at), end, write_placeholder(name))
                at = end

    def clean_tree(self, value: Any) -> Any:
        """Redact every text in a JSON-like value, including keys."""
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
        """Raise `RedactionError` if a text of a JSON-like value still contains a secret that was found."""
        for match in self._known_in("\0".join(_texts_of(value))):
            if self._names[match.group()] not in self.keep:
                raise RedactionError(f"{self._names[match.group()]} was found, but is still there")

    def _known_in(self, text: str) -> Iterable[re.Match[str]]:
        """Return the matches of known secrets, the longest first."""
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
                cut = _CUT_HERE.match(text, end) or end == len(text) >= _LEAST_CUT
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
        """Treat a part of a secret as a secret everywhere, unless it could occur by chance."""
        if len(part) >= _LEAST_PART and is_telling(part):
            self._names.setdefault(part, name)

    def _find(self, text: str) -> tuple[Span, ...]:
        spans = self._spans.get(text)
        if spans is None:
            spans = self._spans[text] = tuple(find_spans(text))
        return (*spans, *self._find_given_secrets(text)) if self._given_secrets else spans

    def _find_given_secrets(self, text: str) -> Iterator[Span]:
        for secret, kind in self._given_secrets.items():
            for match in re.finditer(re.escape(secret), text) if secret in text else ():
                yield Span(*match.span(), kind, "secret", True)

    def _clean_member(self, key: Any, value: Any) -> Any:
        if not isinstance(value, str):
            return self.clean_tree(value)
        spans = _assigned(key, value, self._find)
        if spans and (name := name_secret(spans[0].kind, value)) not in self.keep:
            return write_placeholder(self._names.get(value, name))
        return self.clean(value)


def _put_in(text: str, cuts: Iterable[Cut]) -> str:
    """Return a text with placeholders in the place of some of its parts."""
    pieces, at = list[str](), 0
    for cut in cuts:
        pieces += [text[at : cut.start], cut.placeholder]
        at = cut.end
    return "".join([*pieces, text[at:]]) if pieces else text


def _move(offset: int, cuts: Iterable[Cut]) -> int:
    """Return where an offset of a text is once its parts are replaced: inside of one, at its nearer end."""
    moved = offset
    for cut in cuts:
        if offset >= cut.end:
            moved += len(cut.placeholder) - (cut.end - cut.start)
        elif offset > cut.start:
            near = len(cut.placeholder) if 2 * offset >= cut.start + cut.end else 0
            moved += cut.start - offset + near
    return moved


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


def _is_piece(piece: str) -> bool:
    """Whether a piece of a secret is too long and too random to occur by chance."""
    return len(piece) >= _LEAST_PART and is_telling(piece)


PLACEHOLDER = re.compile(r"\[redacted [\w.-]+ [0-9a-f]{8}\]|redacted-user-[0-9a-f]{8}")
"""The placeholder of a secret in a text; see `write_placeholder`."""


def write_placeholder(name: str) -> str:
    """Return the placeholder for a secret. The one for a user's name may be part of a path, which must stay a
    path, so that a cleaned text has the same findings.

    >>> write_placeholder("github-token 63ae26e9"), write_placeholder("user 7011fb86")
    ('[redacted github-token 63ae26e9]', 'redacted-user-7011fb86')
    """
    return f"redacted-{name.replace(' ', '-')}" if name.startswith("user ") else f"[redacted {name}]"


def name_secret(kind: str, secret: str) -> str:
    """Return the name of a secret: its kind and the first 8 digits of its SHA-256."""
    return f"{kind} {sha256(secret.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _walk(value: Any, find: Any) -> Iterator[tuple[str, Iterable[Span]]]:
    """Yield every text in a value with its secrets. A value counts as assigned to its key."""
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


def _texts_of(value: Any) -> Iterator[str]:
    """Yield every text in a JSON-like value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts_of(key)
            yield from _texts_of(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts_of(item)


def _assigned(key: Any, value: str, find: Any) -> list[Span]:
    """Return the whole value as a secret if its key is the name of one."""
    if not isinstance(key, str) or not 6 <= len(value) <= 400 or len(key) > _LONGEST_KEY or find(value):
        return []
    head = f'"{key}":"'
    for span in find(f'{head}{value}"'):
        if span.start >= len(head) and span.end <= len(head) + len(value):
            return [Span(0, len(value), span.kind, span.grade, span.alone)]
    return []


def keep_names(keep: Collection[str]) -> frozenset[str]:
    """Return the names to keep; a single text is one name."""
    return frozenset(expect_items("redact", "keep", [keep] if isinstance(keep, str) else keep, str))
