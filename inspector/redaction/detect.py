"""Text -> where secrets stand in it: known tokens by the rules of detect-secrets, the rest by our own.

detect-secrets (Yelp, Apache-2.0) knows what many services' tokens look like. Our rules add the services it
does not know, keys that span lines, and what is secret only by what stands before it. Nothing is asked of a
network: only its patterns are used.
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b64decode
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

from ..errors import RedactionError
from .patterns import JUDGES, OURS, Grade, Pattern, is_telling

# What these know, we know better, or they take much that is no secret, or time without end.
_LEFT_OUT = frozenset(
    {
        *("Base64 High Entropy String", "Hex High Entropy String", "Secret Keyword", "Public IP (ipv4)"),
        *("Artifactory Credentials", "JSON Web Token", "Private Key", "Basic Auth Credentials"),
        *("Slack Token", "GitHub Token", "AWS Access Key", "NPM tokens", "OpenAI Token"),
    }
)
# Theirs and the same said swiftly: what is slow tries every way to share out a run of spaces.
_SWIFT = {
    "(?: *)(?:=|:|:=|=>| +|::)(?: *)": "(?: *(?:=>|:=|::|=|:) *| +)",
    r"(?:(?<=\W)|(?<=^))": r"(?<!\w)",
}
# Of the very patterns of detect-secrets 1.5.0. Others are tried on every text.
_KNOWN = "dd69cb2f4ed0519f"
_NEEDS = {
    "azure-storage-account-access-key": "accountkey=",
    "cloudant-credentials": (
        "cloudant cl_ cl- clapi clkey clpw clpass cltoken clou_ clou- clouapi cloukey cloupw cloupass "
        "cloutoken"
    ),
    "gitlab-token": "glpat- gldt- glft- glsoat- glrt- glcbt- glimt- glptt- glagent- gloas- gr1348941",
    "ibm-cos-hmac-credentials": "secret",
    "ibm-cloud-iam-key": "key pwd pass token",
    "mailchimp-access-key": "-us",
    "pypi-token": "pypi-",
    "sendgrid-api-key": "sg.",
    "softlayer-credentials": "softlayer sl_ sl- slapi slkey slpw slpass sltoken",
    "square-oauth-secret": "sq0csp-",
    "stripe-access-key": "k_live_",
    "twilio-api-key": "ac sk",
}
_INVISIBLE = re.compile(
    "[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
)
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_CODED = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_COMMON = str.maketrans("-_", "+/")
_MOST_CODED = 20_000
_UNPRINTABLE = re.compile(rb"[^\t\n\r\x20-\x7e]")


class Span(NamedTuple):
    """A secret at text[start:end]. `alone` says that its words are a secret wherever else they stand too."""

    start: int
    end: int
    kind: str
    grade: Grade
    alone: bool


def find_spans(text: str) -> list[Span]:
    """Every secret in a text, in order and apart from each other; two that overlap are one.

    Letters that look alike are read as what they look like, and invisible ones are not there. What is only
    personal stands back where it overlaps a secret.

    Raises `RedactionError` when the detector cannot be had or fails.

    >>> [(span.kind, span.grade) for span in find_spans("AKIAIOSFODNN7ABCDEFG in /home/ann-lee/x")]
    [('aws-access-key', 'secret'), ('user', 'personal')]
    """
    try:
        plain, places = _read(text)
        return _part(_all_spans(plain), places)
    except RedactionError:
        raise
    except Exception as error:
        # Whatever goes wrong here, nothing may pass as looked through.
        raise RedactionError(f"the detector of secrets failed: {type(error).__name__}") from error


def _part(spans: Iterator[Span], places: Sequence[int] | None) -> list[Span]:
    found = sorted(spans, key=lambda span: (span.start, -span.end))
    graver = [span for span in found if span.grade == "secret"]
    out: list[Span] = []
    for span in found:
        if span.grade != "secret" and any(s.start < span.end and span.start < s.end for s in graver):
            continue
        if out and span.start < out[-1].end:
            last = out[-1]
            # Two that overlap are hidden together, under the name of the first.
            out[-1] = last._replace(end=max(last.end, span.end), alone=last.alone and span.end <= last.end)
        else:
            out.append(span)
    if places is None:
        return out
    return [span._replace(start=places[span.start], end=places[span.end - 1] + 1) for span in out]


def _read(text: str) -> tuple[str, Sequence[int] | None]:
    """The text as a person reads it, and where each of its characters stands, where that differs."""
    if text.isascii():
        return text, None
    alike = {}
    for letter in set(_FOREIGN.findall(text)):
        plain = "i" if letter in "\u0130\u0131" else unicodedata.normalize("NFKC", letter)
        if plain != letter and len(plain) == 1:
            alike[ord(letter)] = plain
    text = text.translate(alike) if alike else text
    if not _INVISIBLE.search(text):
        return text, None
    places = [at for at, letter in enumerate(text) if not _INVISIBLE.match(letter)]
    return "".join(text[at] for at in places), places


def _all_spans(text: str, coded: bool = True) -> Iterator[Span]:
    lower = text.lower()
    if len(lower) != len(text):
        raise RedactionError("a text changes its length in lower case")
    # Most texts hold none of the needs, so each is looked for once, before any pattern.
    there = {need for need in _needs() if need in lower}
    for pattern in _patterns():
        if pattern.needs and there.isdisjoint(pattern.needs):
            continue
        for match in pattern.regex.finditer(lower if pattern.lower else text):
            group = 1 if pattern.regex.groups and match.group(1) is not None else 0
            start, end = match.span(group)
            value = text[start:end]
            if start == end or not JUDGES[pattern.judge](value):
                continue
            alone = pattern.judge == "plain" or is_telling(value)
            yield Span(start, end, pattern.kind, pattern.grade, alone)
    if coded:
        yield from _coded_spans(text)


def _coded_spans(text: str) -> Iterator[Span]:
    """What is base64 of words with a secret in them."""
    for match in _CODED.finditer(text):
        run = match.group().rstrip("=").translate(_COMMON)[:_MOST_CODED]
        run = run[: len(run) - (len(run) % 4 == 1)]
        if _UNPRINTABLE.search(b64decode(run[:24])):
            continue
        words = b64decode(run + "=" * (-len(run) % 4))
        told = _UNPRINTABLE.split(words, maxsplit=1)[0].decode("ascii")
        kinds = [span.kind for span in _all_spans(told, coded=False) if span.grade == "secret"]
        if kinds:
            yield Span(*match.span(), kinds[0], "secret", True)


@cache
def _needs() -> tuple[str, ...]:
    """All that patterns need to stand in a text, each once."""
    return tuple(dict.fromkeys(need for pattern in _patterns() for need in pattern.needs))


@cache
def _patterns() -> tuple[Pattern, ...]:
    """Ours and those of detect-secrets. Imported late: it loads a web client that is never used here."""
    try:
        from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    except ImportError as error:
        raise RedactionError("the detector of secrets, detect-secrets, cannot be imported") from error
    plugins: dict[str, Any] = get_mapping_from_secret_type_to_class()
    theirs = [
        (re.sub(r"[^a-z0-9]+", "-", kind.lower()).strip("-"), regex)
        for kind, plugin in sorted(plugins.items())
        if kind not in _LEFT_OUT
        for regex in plugin().denylist
    ]
    if not theirs:
        raise RedactionError("detect-secrets has no rules")
    return *OURS, *_adopt(theirs)


def _adopt(theirs: Sequence[tuple[str, re.Pattern[str]]]) -> Iterator[Pattern]:
    version = sha256("\n".join(f"{kind} {regex.pattern}" for kind, regex in theirs).encode()).hexdigest()
    for kind, regex in theirs:
        told = regex.pattern
        for slow, swift in _SWIFT.items():
            told = told.replace(slow, swift)
        # With a group it is a name and what is assigned to it, which may be any word.
        judge = "value" if regex.groups else "plain"
        needs = tuple(_NEEDS.get(kind, "").split()) if version.startswith(_KNOWN) else ()
        yield Pattern(kind, re.compile(told, regex.flags), judge, needs=needs)
