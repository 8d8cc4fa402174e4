"""The doubts that a found value has to pass before it counts as a secret: most words are none."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable

_PLACEHOLDER = re.compile(
    r"(?i)x{4,}|\*{3,}|\.{3}|…|example|placeholder|changeme|change-me|your[_-]|redacted|dummy|fake|sample|"
    r"^<.*>$|<[\w -]+>|^\$|\$[{(]|\{\{|%\(|^(?:none|null|true|false|undefined)$|^process\.env|^os\.|"
    r"test[_-]?(?:key|token|secret|pass)"
)
_WORDS = re.compile(r"[A-Za-z]+(?:[_.:/-][A-Za-z]+)*\d{0,2}|[\w.-]+\(.*")
_NOBODY = re.compile(
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
    """Whether a value is so much its own that it can be looked for everywhere."""
    return len(value) >= 8 and any(c.isdigit() or not c.isalnum() for c in value) and _entropy(value) >= 2.5


def _is_value(value: str) -> bool:
    """Whether what is assigned to a telling name is a secret rather than a word or a placeholder."""
    return any(c.isdigit() for c in value) and _is_no_word(value)


def _is_quoted(value: str) -> bool:
    """The same where quotes tell that it is no code: marks will do in place of digits."""
    return any(c.isdigit() or c in "!#%^&*+=~?" for c in value) and _is_no_word(value)


def _is_no_word(value: str) -> bool:
    return (
        any(c.isalpha() for c in value)
        and not _PLACEHOLDER.search(value)
        and not _WORDS.fullmatch(value)
        and _entropy(value) >= 2.8
    )


def _is_bare(value: str) -> bool:
    """The same without quotes, where code and paths stand too."""
    return _is_value(value) and not _ELSEWHERE.match(value)


def _is_setting(value: str) -> bool:
    return (
        not _PLACEHOLDER.search(value)
        and not _WEAK.fullmatch(value)
        and not value.startswith(("/", "./", "~"))
    )


def _is_login(value: str) -> bool:
    return not _WEAK.fullmatch(value) and not _PLACEHOLDER.search(value)


def _is_email(value: str) -> bool:
    who, _, where = value.rpartition("@")
    return (
        not _NOBODY.fullmatch(who)
        and not _NOWHERE.search(where)
        and not _SUFFIXES.fullmatch(where.rpartition(".")[2])
    )


def _is_user(value: str) -> bool:
    return not _ANYONE.fullmatch(value) and not value.startswith(".")


def _entropy(value: str) -> float:
    """Bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


JUDGES: dict[str, Callable[[str], bool]] = {
    "plain": lambda value: True,
    "value": _is_value,
    "quoted": _is_quoted,
    "bare": _is_bare,
    "setting": _is_setting,
    "login": _is_login,
    "email": _is_email,
    "user": _is_user,
}
