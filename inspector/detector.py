"""Text -> where secrets stand in it: known tokens by the rules of detect-secrets, the rest by our own.

detect-secrets (Yelp, Apache-2.0) knows what many services' tokens look like. Our rules add the services it
does not know, keys that span lines, and what is secret only by what stands before it. Nothing is asked of a
network: only its patterns are used.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, NamedTuple

from .errors import RedactionError

Grade = Literal["secret", "personal"]


class Span(NamedTuple):
    """A secret at text[start:end]. `alone` says that its words are a secret wherever else they stand too."""

    start: int
    end: int
    kind: str
    grade: Grade
    alone: bool


class Pattern(NamedTuple):
    """What a kind of secret looks like. The secret is group 1, or all of it where there is none.

    `judge` names the doubt that a match has to pass: "plain" none, "value" that of something assigned.
    """

    kind: str
    regex: re.Pattern[str]
    judge: str = "plain"
    grade: Grade = "secret"


_TOKENS = {
    "anthropic-key": r"sk-ant-[\w-]{20,}",
    "openai-key": r"sk-(?:proj|svcacct|admin|None|or-v1)-[\w-]{20,}|sk-[A-Za-z0-9]{32,}",
    "github-token": r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{22,}",
    "google-key": r"AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{20,}",
    "slack-token": r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}",
    "huggingface-token": r"hf_[A-Za-z]{30,}(?!\w)",
    "npm-token": r"npm_[A-Za-z0-9]{36}",
    "gitlab-token": r"gl(?:pat|ptt|rt|dt|cbt|soat|ft)-[\w-]{20,}",
    "stripe-key": r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{24,}",
    "groq-key": r"gsk_[A-Za-z0-9]{40,}",
    "xai-key": r"xai-[A-Za-z0-9]{60,}",
    "replicate-token": r"r8_[A-Za-z0-9]{37}",
    "perplexity-key": r"pplx-[A-Za-z0-9]{40,}",
    "tavily-key": r"tvly-[\w-]{20,}",
    "linear-key": r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}",
    "databricks-token": r"dapi[0-9a-f]{32}",
    "digitalocean-token": r"do[opr]_v1_[0-9a-f]{64}",
    "age-key": r"AGE-SECRET-KEY-1[0-9A-Z]{58}",
    "sentry-token": r"sntry[su]_[\w+/=-]{40,}",
    "docker-token": r"dckr_(?:pat|oat)_[\w-]{27,}",
    "shopify-token": r"shp(?:at|ca|pa|ss)_[0-9a-f]{32}",
    "new-relic-key": r"NRAK-[A-Z0-9]{27}",
    "doppler-token": r"dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9._-]{40,}",
    "vault-token": r"hv[sbr]\.[\w-]{24,}",
    "aws-access-key": r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}",
    "json-web-token": r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}",
    "slack-webhook": r"(?<=hooks\.slack\.com/services/)T\w+/B\w+/\w+",
}
# A key's lines may be real ones, or spelt \n inside a string; one that was cut short ends with the text.
_PRIVATE_KEY = (
    r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----)[\s\S])*"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)"
    r"|PuTTY-User-Key-File-\d:[\s\S]*?Private-MAC: ?\w+"
)
_NAMES = (
    r"pass(?:word|wd|phrase)|passwd|pwd|secret(?:[_-]?(?:access[_-]?)?key)?|(?:api|access|auth|private|client|"
    r"account|service|signing|encryption|master|session|webhook)[_-]?(?:key|token|secret|password)|apikey|token|"
    r"credentials?"
)
_QUOTE = r"(?:\\?[\"'`])?"

_OURS = (
    Pattern("private-key", re.compile(_PRIVATE_KEY)),
    *(Pattern(kind, re.compile(rf"(?<![A-Za-z0-9_])(?:{token})")) for kind, token in _TOKENS.items()),
    Pattern(
        "authorization",
        re.compile(
            rf"(?i:authorization){_QUOTE}\s*[:=]\s*{_QUOTE}(?i:bearer|basic|token|apikey)\s+([\w.+/=~-]{{12,}})"
        ),
        "value",
    ),
    Pattern("authorization", re.compile(r"(?<!\w)(?i:bearer)\s+([\w.+/=~-]{20,})"), "value"),
    Pattern(
        "header",
        re.compile(rf"(?i:x-api-key|api-key|x-auth-token){_QUOTE}\s*:\s*{_QUOTE}([\w.+/=~-]{{12,}})"),
    ),
    # NAME=value as the shell and .env files write it.
    Pattern(
        "environment-value",
        re.compile(
            r"(?<![A-Za-z0-9_])[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PWD|CREDENTIALS?)"
            r"=\\?[\"']?([^\s\"'`\\$<>(){},;|&]{6,})"
        ),
        "setting",
    ),
    Pattern(
        "assigned-value",
        re.compile(
            rf"(?i:{_NAMES})[\w-]{{0,20}}{_QUOTE}\s*(?:=>|:=|[:=])\s*\\?[\"'`]"
            r"([^\s\"'`\\]{8,})\\?[\"'`]"
        ),
        "value",
    ),
    Pattern(
        "aws-secret-key",
        re.compile(
            r"(?i:aws_?(?:secret)?_?(?:access)?_?key)\w*[\"']?\s*[:=]\s*[\"']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])"
        ),
        "value",
    ),
    Pattern(
        "url-password",
        re.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s:/?#@\"'<>]*:([^\s:/?#@\"'<>]{3,})@"),
        "login",
    ),
    Pattern(
        "email",
        re.compile(r"(?<![\w.+-])[A-Za-z0-9][\w.+-]*@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}(?![\w-])"),
        "email",
        "personal",
    ),
    Pattern(
        "user",
        re.compile(
            r"(?:(?<![\w.])/(?:home|Users)/|[A-Za-z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/))([A-Za-z0-9][\w.-]*)"
        ),
        "user",
        "personal",
    ),
    # A home directory as folder names of some harnesses spell it, and as its last part in a path.
    Pattern(
        "user", re.compile(r"(?<![\w-])-(?:home|Users)-([A-Za-z0-9][A-Za-z0-9_]*)(?=-)"), "user", "personal"
    ),
)

# What these know, we know better, or they take much that is no secret.
_LEFT_OUT = frozenset(
    {
        *("Base64 High Entropy String", "Hex High Entropy String", "Secret Keyword", "Public IP (ipv4)"),
        *(
            "Artifactory Credentials",
            "JSON Web Token",
            "Private Key",
            "Basic Auth Credentials",
            "Slack Token",
        ),
        *("GitHub Token", "AWS Access Key"),
    }
)
_PLACEHOLDER = re.compile(
    r"(?i)x{4,}|\*{3,}|\.{3}|…|example|placeholder|changeme|change-me|your[_-]|redacted|dummy|fake|sample|<|>|\$\{|"
    r"^\$|\{\{|%\(|^(?:none|null|true|false|undefined)$|^process\.env|^os\.|test[_-]?(?:key|token|secret|pass)"
)
_WORDS = re.compile(r"(?:[A-Za-z][a-z]*|[A-Z]+)(?:[_.:/-]?(?:[A-Za-z][a-z]*|[A-Z]+))*\d{0,2}|[\w.-]+\(.*")
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


def find_spans(text: str) -> list[Span]:
    """Every secret in a text, in order and apart from each other; two that overlap are one.

    What is only personal stands back where it overlaps a secret.

    Raises `RedactionError` when the detector cannot be had or fails.

    >>> [(span.kind, span.grade) for span in find_spans("AKIAIOSFODNN7ABCDEFG in /home/ann-lee/x")]
    [('aws-access-key', 'secret'), ('user', 'personal')]
    """
    try:
        found = sorted(_all_spans(text), key=lambda span: (span.start, -span.end))
        graver = [span for span in found if span.grade == "secret"]
        found = [
            span
            for span in found
            if span.grade == "secret" or not any(s.start < span.end and span.start < s.end for s in graver)
        ]
    except RedactionError:
        raise
    except Exception as error:
        # Whatever goes wrong here, nothing may pass as looked through.
        raise RedactionError(f"the detector of secrets failed: {type(error).__name__}") from error
    out: list[Span] = []
    for span in found:
        if out and span.start < out[-1].end:
            last = out[-1]
            # Two that overlap are hidden together, under the name of the first.
            out[-1] = last._replace(end=max(last.end, span.end), alone=last.alone and span.end <= last.end)
        else:
            out.append(span)
    return out


def _all_spans(text: str) -> Iterator[Span]:
    for pattern in (*_OURS, *_theirs()):
        for match in pattern.regex.finditer(text):
            group = 1 if pattern.regex.groups and match.group(1) is not None else 0
            start, end = match.span(group)
            value = text[start:end]
            if start == end or not _JUDGES[pattern.judge](value):
                continue
            alone = pattern.judge == "plain" or _is_telling(value)
            yield Span(start, end, pattern.kind, pattern.grade, alone)


@cache
def _theirs() -> tuple[Pattern, ...]:
    """The patterns of detect-secrets. Imported late: it loads a web client that is never used here."""
    try:
        from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    except ImportError as error:
        raise RedactionError("the detector of secrets, detect-secrets, cannot be imported") from error
    out = []
    plugins: dict[str, Any] = get_mapping_from_secret_type_to_class()
    for kind, plugin in sorted(plugins.items()):
        for regex in () if kind in _LEFT_OUT else plugin().denylist:
            # With a group it is a name and what is assigned to it, which may be any word.
            name = re.sub(r"[^a-z0-9]+", "-", kind.lower()).strip("-")
            out.append(Pattern(name, regex, "value" if regex.groups else "plain"))
    if not out:
        raise RedactionError("detect-secrets has no rules")
    return tuple(out)


def _is_value(value: str) -> bool:
    """Whether what is assigned to a telling name is a secret rather than a word or a placeholder."""
    letters = any(c.isalpha() for c in value)
    return (
        letters
        and any(c.isdigit() for c in value)
        and not _PLACEHOLDER.search(value)
        and not _WORDS.fullmatch(value)
        and _entropy(value) >= 2.8
    )


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


_JUDGES = {
    "plain": lambda value: True,
    "value": _is_value,
    "setting": _is_setting,
    "login": _is_login,
    "email": _is_email,
    "user": _is_user,
}


def _is_telling(value: str) -> bool:
    """Whether a value is so much its own that it can be looked for everywhere."""
    return len(value) >= 8 and any(c.isdigit() or not c.isalnum() for c in value) and _entropy(value) >= 2.5


def _entropy(value: str) -> float:
    """Bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
