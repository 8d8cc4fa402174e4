"""Checks that distinguish secrets from words, references, placeholders and identifiers."""

from __future__ import annotations

import math
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

_PLACEHOLDER = re.compile(
    r"(?i)x{4,}|\*{3,}|\.{3}|…|example|placeholder|changeme|change[_-](?:me|this|it)|your[_-]|redacted|dummy|"
    r"fake|sample|^<.*>$|<[\w -]+>|^-?\$|\$[{(]|\{\{|%\(|^%\w+%$|^(?:none|null|true|false|undefined)$|"
    r"^process\.env|^os\.|^(?:import\.meta|system|env|config|settings|self|this|secrets|vars|var|local|data|params?)\.|"
    r"test[_-]?(?:key|token|secret|pass)|^(?:op|vault|ref|keychain|ssm|kms|awskms|gcpkms|env)(?:\+\w+)?:|^arn:|"
    r"^enc[\[(]|^!|secretkeyref|^(?:todo|tbd|fixme|insert|replace|enter|put|my|some|dein|votre)[_-]"
)
# Placeholders in the format of a service's token. Random tokens do not contain these words.
_BLANK_TOKEN = re.compile(
    r"(?i)x{6,}|\*{3,}|\.{3}|…|example|your[_-]|placeholder|redacted|changeme|(?:1234567890){2}"
)
_WORDS = re.compile(r"[A-Za-z]+(?:[_.:/-][A-Za-z]+)*\d{0,2}|[\w.-]+\(.*")
_NAMED_WORDS = re.compile(r"[A-Za-z]{0,18}\d{0,4}(?:[_.:/@-]+(?:[A-Za-z]{1,18}\d{0,3}|v?\d{1,6}))*[_.:/-]?")
# Names of types and algorithms, which occur as values in code and settings.
_TYPES = re.compile(
    r"(?i)(?:big)?(?:u?int|float)\d{1,3}(?:clamped)?(?:array)?|(?:bytes|string|base|sha|hmac|aes|ed|x|md|rsa|oauth|p|utf)"
    r"-?\d{1,6}(?:[_-]?[a-z]{2,12}){0,3}"
)
# In code, an "!" or "$" at the end of a name is part of it.
_MARKED = re.compile(r"[A-Za-z]{3,}[!#%^$]+[A-Za-z!#%^$]*")
_RUNS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[^A-Za-z0-9]")
_PATH = re.compile(r"(?:[~.]{0,2}/[A-Za-z_.-]{0,24}\d{0,4})+")
_REFERENCE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?:[\[(].*)?")
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_GENERIC_NAMES = re.compile(
    r"(?i)git|no-?reply|do-?not-?reply|info|support|hello|contact|admin|root|postmaster|actions|users?|me|you|"
    r"security|help|sales|team|e?mail|test"
)
_NOWHERE = re.compile(
    r"(?i)(?:^|\.)(?:example\.(?:com|org|net)|example|test|invalid|local|localhost|internal|noreply\.\S+)$"
)
_SUFFIXES = re.compile(r"(?i)png|jpe?g|gif|svg|webp|py|[jt]sx?|go|rs|md|json|ya?ml|txt|html|css|sh|toml|lock")
_ANYONE = re.compile(
    r"(?i)root|users?|username|name|me|you|your(?:name)?|example|someone|alice|bob|john(?:doe)?|jane|shared|public|"
    r"runner|ubuntu|debian|node|app|admin|guest|default|circleci|vscode|codespace|jovyan|coder|agent|dev(?:eloper)?|"
    r"work(?:space)?|projects?|test|home|local|lib|bin"
)
_WEAK = re.compile(r"(?i)pass(?:word|wd)?|secret|postgres|root|admin|user|guest|test|token|changeme")
_ELSEWHERE = re.compile(r"[/~.@]|[A-Za-z]:\\|\w+://|[\w-]+/[\w./-]+$")


def is_telling(value: str) -> bool:
    """Whether a value is distinctive enough to be redacted wherever it occurs."""
    return len(value) >= 8 and any(c.isdigit() or not c.isalnum() for c in value) and entropy(value) >= 2.5


def entropy(value: str) -> float:
    """Compute the entropy of a text in bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _is_token(value: str) -> bool:
    """Whether a value in the format of a service's token is not a placeholder."""
    return not _BLANK_TOKEN.search(value)


def _is_value(value: str) -> bool:
    """Whether a value assigned to the name of a secret is one, not a word or a placeholder."""
    return any(c.isdigit() for c in value) and _is_no_word(value)


def _is_quoted(value: str) -> bool:
    """Like `_is_value` for a quoted value, which is not code: special characters count like digits."""
    return any(c.isdigit() or c in "!#%^&*+=~?$" for c in value) and _is_no_word(value)


def _is_no_word(value: str) -> bool:
    return (
        any(c.isalpha() for c in value)
        and not _PLACEHOLDER.search(value)
        and not _WORDS.fullmatch(value)
        and not _TYPES.fullmatch(value)
        and not _PATH.fullmatch(value)
        and entropy(value) >= 2.8
    )


def _is_marked(value: str) -> bool:
    """Whether a value without a digit is a password: capital and small letters, and a mark."""
    return (
        bool(_MARKED.fullmatch(value)) and not value.islower() and not value.isupper() and _is_no_word(value)
    )


def _is_sentence(value: str) -> bool:
    """Whether the word of a sentence is a password, its full stop apart."""
    return _is_bare(value.rstrip(".!?*)"))


def _is_mixed_word(value: str) -> bool:
    """Whether a word has digits, small and capital letters, in shorter runs than a name has."""
    return (
        any(c.isdigit() for c in value)
        and any(c.islower() for c in value)
        and any(c.isupper() for c in value)
        and (len(_RUNS.findall(value)) * 3 >= len(value) or any(c in "!#%^&*$" for c in value))
        and _is_value(value)
        and not _NAMED_WORDS.fullmatch(value)
        and not _ELSEWHERE.match(value)
    )


def _is_bare(value: str) -> bool:
    """Like `_is_value` for a value without quotes, which may be code or a path."""
    marked = _is_marked(value) and value[-1] not in "!$"
    return (_is_value(value) or marked) and not _ELSEWHERE.match(value)


def _is_setting(value: str) -> bool:
    """Whether the value of a variable with the name of a secret is one, not a reference or a path."""
    return (
        not _PLACEHOLDER.search(value)
        and not _WEAK.fullmatch(value)
        and not value.startswith(("/", "./", "~"))
        and not (_REFERENCE.fullmatch(value) and not any(c.isdigit() for c in value))
    )


def _is_random(value: str) -> bool:
    """Whether a value is not a name, word, UUID, number or path, so that a hint in its name suffices."""
    return (
        len(value) >= 16
        and any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and not _PLACEHOLDER.search(value)
        and not _NAMED_WORDS.fullmatch(value)
        and not _UUID.fullmatch(value)
        and not _ELSEWHERE.match(value)
        and entropy(value) >= 3
    )


def _is_mixed(value: str) -> bool:
    """Whether the last part of a name mixes digits, small and capital letters too much for words."""
    run = value.rpartition("_")[2]
    classes = [1 if c.isdigit() else 2 if c.islower() else 3 for c in run]
    changes = sum(a != b for a, b in pairwise(classes))
    mixed = changes * 2 >= len(run) or (classes.count(1) >= 3 and changes * 5 >= len(run) * 2)
    return len({*classes}) == 3 and mixed and _is_token(value)


def _is_login(value: str) -> bool:
    return not _WEAK.fullmatch(value) and not _PLACEHOLDER.search(value)


def _is_password(value: str) -> bool:
    """Whether the argument of a password option is a password, not a file, a port or a word."""
    return (
        _is_login(value) and any(c.isalpha() for c in value) and not value.startswith(("/", "./", "~", "-"))
    )


def _is_mixed_password(value: str) -> bool:
    """Like `_is_password` for ambiguous options: the value must contain a digit and not be a word."""
    return _is_password(value) and any(c.isdigit() for c in value) and not _WORDS.fullmatch(value)


def _is_coded_login(value: str) -> bool:
    """Whether a value is the base64 of "user:password"."""
    plain = value.rstrip("=")
    decoded = b64decode(plain + "=" * (-len(plain) % 4)) if len(plain) % 4 != 1 else b""
    return decoded.isascii() and b":" in decoded and decoded.decode("ascii").isprintable()


def _is_email(value: str) -> bool:
    who, _, where = value.rpartition("@")
    return (
        not _GENERIC_NAMES.fullmatch(who)
        and not _NOWHERE.search(where)
        and not _SUFFIXES.fullmatch(where.rpartition(".")[2])
    )


def _is_user(value: str) -> bool:
    return not _ANYONE.fullmatch(value) and not value.startswith((".", "redacted"))


JUDGES: dict[str, Callable[[str], bool]] = {
    "key": lambda value: True,
    "plain": _is_token,
    "value": _is_value,
    "quoted": _is_quoted,
    "bare": _is_bare,
    "marked": _is_marked,
    "sentence": _is_sentence,
    "mixed-word": _is_mixed_word,
    "words": lambda value: any(_is_mixed_word(word) for word in value.split()),
    "setting": _is_setting,
    "random": _is_random,
    "mixed": _is_mixed,
    "login": _is_login,
    "password": _is_password,
    "mixed-password": _is_mixed_password,
    "coded-login": _is_coded_login,
    "email": _is_email,
    "user": _is_user,
}
